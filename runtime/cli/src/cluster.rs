//! `tfrt cluster`: shows the state of the tasks of a cluster, and merges their traces.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use tfrt::distributed::fabric::{self, CallOptions, FabricCommunicator};
use tfrt::distributed::message::{GetDevicesRequest, GetDevicesResponse};
use tfrt::distributed::name::device_name;
use tfrt::distributed::{Answer, ClusterInfo, Server, TaskInfo};
use tfrt_host::HostContext;
use tfrt_support::escape::escaped;

use crate::cluster_arguments::ClusterArguments;
use crate::cluster_trace;
use crate::failure::Failure;
use crate::output::print_line;

const EXAMPLES: &str = "\
Examples:
  tfrt cluster status --cluster worker=a:7700,b:7700      show the state of two tasks
  tfrt cluster ping --count 20 --cluster worker=a:7700    measure how long a task takes to answer
  tfrt cluster trace all.json task0.json task1.json       the same as `tfrt trace --cluster …`

The exit status is 1 if a task does not answer.";

/// Show the state of a running cluster
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the tasks with their addresses, devices and contexts
    Status(Observer),
    /// Measure how long each task takes to answer
    Ping(PingArguments),
    /// List the devices of all tasks, with their names in the cluster
    Devices(Observer),
    /// List the programs that tasks have received, with their contexts
    Programs(Observer),
    /// Merge the traces of tasks into one file, with aligned clocks and arrows between tasks
    Trace(cluster_trace::Arguments),
}

#[derive(Debug, Parser)]
struct Observer {
    #[command(flatten)]
    cluster: ClusterArguments,

    /// How long to wait for the answer of each task, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    timeout: u32,
}

#[derive(Debug, Parser)]
struct PingArguments {
    #[command(flatten)]
    observer: Observer,

    /// The number of requests to each task, one after another
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
}

/// Runs the tool.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Status(observer) => Observed::new(observer)?
            .tell(|task, response| print_task(task, &format!("up  {}", load(response)))),
        Command::Ping(arguments) => ping(arguments),
        Command::Devices(observer) => Observed::new(observer)?.tell(print_devices),
        Command::Trace(arguments) => cluster_trace::run(arguments),
        Command::Programs(observer) => Observed::new(observer)?.tell(print_programs),
    }
}

/// The tasks of a cluster, as a process sees them that is not one of them.
struct Observed {
    tasks: ClusterInfo,
    communicator: Arc<dyn FabricCommunicator>,
    timeout: Duration,
}

impl Observed {
    fn new(observer: &Observer) -> Result<Self, Failure> {
        let config = observer.cluster.observed()?;
        let tasks = ClusterInfo::new(&config).map_err(|error| Failure::new(error.to_string()))?;
        let queue = tfrt_queue::create_queue("mstd:1")
            .map_err(|error| Failure::caused("cannot create a work queue", error))?;
        let host = HostContext::builder().queue(queue).build();
        // Answers come back on connections of this process; nobody connects to it.
        let nobody: Weak<Server> = Weak::new();
        let network = observer.cluster.network()?;
        let communicator = network
            .listen(&host, "127.0.0.1:0", nobody)
            .map_err(|error| Failure::new(error.message()))?;
        Ok(Self {
            tasks,
            communicator,
            timeout: Duration::from_secs(observer.timeout.into()),
        })
    }

    fn ask(&self, task: &TaskInfo) -> Receiver<Answer<GetDevicesResponse>> {
        let (sender, answer) = mpsc::channel();
        let options = CallOptions {
            timeout: Some(self.timeout),
            ..CallOptions::default()
        };
        let client = self.communicator.client_of(&task.name, &task.address);
        fabric::call(&*client, options, GetDevicesRequest {}, move |answer| {
            // Nobody is gone: the answers are awaited.
            let _ = sender.send(answer);
        });
        answer
    }

    /// Asks all tasks at once, and prints what they answer in the order of the configuration.
    fn tell(
        &self,
        print: impl Fn(&TaskInfo, &GetDevicesResponse) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let asked: Vec<_> = self
            .tasks
            .tasks()
            .iter()
            .map(|task| self.ask(task))
            .collect();
        let mut num_silent = 0;
        for (task, answer) in self.tasks.tasks().iter().zip(asked) {
            match answer.recv() {
                Ok(Ok(response)) => print(task, &response)?,
                failed => {
                    num_silent += 1;
                    print_down(task, failed)?;
                }
            }
        }
        outcome(num_silent)
    }
}

/// The outcome of a command with so many tasks that did not answer.
fn outcome(num_silent: usize) -> Result<(), Failure> {
    match num_silent {
        0 => Ok(()),
        _ => Err(Failure::Reported),
    }
}

fn print_task(task: &TaskInfo, shown: &str) -> Result<(), Failure> {
    // What a task says may hold anything.
    let shown = escaped(shown);
    print_line(&format!("{}  {}  {shown}", task.name, task.address))
}

fn print_down<T>(
    task: &TaskInfo,
    failed: Result<Answer<T>, mpsc::RecvError>,
) -> Result<(), Failure> {
    match failed {
        Ok(Err(errors)) => print_task(task, &format!("down  {errors}")),
        _ => print_task(task, "no response"),
    }
}

fn load(response: &GetDevicesResponse) -> String {
    let devices = response.devices.iter();
    let devices: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
    let mut shown = format!("devices: {}", devices.join(", "));
    if let Some(load) = &response.load {
        shown += &format!(
            "; contexts: {}, objects: {}, unclaimed payloads: {}, waiting receivers: {}",
            load.num_contexts, load.num_objects, load.num_unclaimed, load.num_unserved
        );
    }
    shown
}

fn print_devices(task: &TaskInfo, response: &GetDevicesResponse) -> Result<(), Failure> {
    for device in &response.devices {
        let name = device_name(&task.name.to_string(), &device.name);
        print_line(&format!("{}  {}", escaped(&name), escaped(&device.r#type)))?;
    }
    Ok(())
}

fn print_programs(task: &TaskInfo, response: &GetDevicesResponse) -> Result<(), Failure> {
    let programs = response.load.iter().flat_map(|load| &load.programs);
    for program in programs {
        let name = escaped(&program.name);
        print_line(&format!(
            "{}  context {}  `{name}`  {} bytes",
            task.name, program.context_id, program.num_bytes
        ))?;
    }
    Ok(())
}

fn ping(arguments: &PingArguments) -> Result<(), Failure> {
    let observed = Observed::new(&arguments.observer)?;
    let mut num_silent = 0;
    'tasks: for task in observed.tasks.tasks() {
        let mut times = Vec::with_capacity(arguments.count as usize);
        // The first request connects.
        for round in 0..=arguments.count {
            let sent = Instant::now();
            match observed.ask(task).recv() {
                Ok(Ok(_)) if round == 0 => {}
                Ok(Ok(_)) => times.push(sent.elapsed()),
                failed => {
                    num_silent += 1;
                    print_down(task, failed)?;
                    continue 'tasks;
                }
            }
        }
        times.sort_unstable();
        let median = times[times.len() / 2];
        let (Some(min), Some(max)) = (times.first(), times.last()) else {
            continue;
        };
        print_task(
            task,
            &format!("min {min:.1?}, median {median:.1?}, max {max:.1?}"),
        )?;
    }
    outcome(num_silent)
}
