//! `tfrt worker`: a task of a cluster that serves the requests of other tasks.

use std::sync::mpsc::{self, Receiver};
use std::thread;

use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tfrt_host::{HostContext, log};

use crate::cluster_arguments::{ClusterArguments, TaskArguments};
use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::launch;
use crate::libraries::LibraryArguments;
use crate::output::print_line;
use crate::run::create_queue;
use crate::shut_down::shut_down;

const EXAMPLES: &str = "\
Examples:
  tfrt worker --cluster worker=a:7700,b:7700 --task 1     run the second task, at b:7700
  srun tfrt worker                                        run the tasks that SLURM assigns
  tfrt launch -n 4 -- tfrt worker                         run four tasks on this machine

The task prints `ready TASK ADDRESS` once it listens. SIGTERM and SIGINT stop the task: it cancels
what runs for other tasks, and waits for its end, up to 5 seconds. A second signal stops the task
immediately, and so does the first one while the task waits to meet the others in a folder or on an
etcd server. The exit status is 0 after the first signal to a task that has met the others, 1 if the
cluster description or the certificates are invalid, and 2 if the task cannot listen.";

/// Run a task of a cluster that serves the requests of other tasks
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    cluster: ClusterArguments,

    #[command(flatten)]
    task: TaskArguments,

    #[command(flatten)]
    libraries: LibraryArguments,

    /// The work queue: `mstd:N,B` runs kernels on N threads plus B threads for blocking work
    #[arg(
        long = "work_queue_type",
        value_name = "TYPE[:ARGUMENT]",
        default_value = "mstd"
    )]
    work_queue_type: String,

    /// Do not print the line that says that the task is ready
    #[arg(long)]
    quiet: bool,

    /// Die with the process of this number, which has started this one
    #[arg(long, value_name = "PID", hide = true)]
    under: Option<i32>,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    if let Some(launcher) = arguments.under {
        launch::die_with(launcher)?;
    }
    let found = arguments.cluster.configuration(&arguments.task)?;
    // Not before: a signal ends a process that waits for other tasks.
    let ended = first_signal()?;
    let config = &found.config;
    let front_end = FrontEnd::from_link(program)?.with_libraries(&arguments.libraries)?;
    let host = HostContext::builder()
        .registry(front_end.kernels().clone())
        .queue(create_queue(program, &arguments.work_queue_type)?)
        .diagnostic_handler(|error| log::error!("{}", error.message()))
        .build();
    let server = arguments.cluster.start(config, &arguments.task, &host)?;
    if !arguments.quiet {
        let address = config.own_address().unwrap_or_default();
        print_line(&format!("ready {} {address}", config.task_name()))?;
    }
    // An error means that the thread of the signals is gone, and nobody else could end the task.
    let _ = ended.recv();
    shut_down(&server, &host);
    Ok(())
}

/// Receives a message at the first signal that requests the end. A second signal ends the process.
fn first_signal() -> Result<Receiver<()>, Failure> {
    let (sender, ended) = mpsc::channel();
    let mut is_first = true;
    on_signals(move |signal| {
        if is_first {
            // Whoever waited may be gone, as the process ends.
            let _ = sender.send(());
        } else {
            // The process ends as it would without the thread of the signals.
            let _ = emulate_default_handler(signal);
        }
        is_first = false;
    })?;
    Ok(ended)
}

/// Calls back, on a thread, at each signal that requests the end.
pub(crate) fn on_signals(mut callback: impl FnMut(i32) + Send + 'static) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| Failure::caused("cannot wait for signals", error))?;
    thread::spawn(move || signals.forever().for_each(&mut callback));
    Ok(())
}
