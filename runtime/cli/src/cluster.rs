//! `tfrt cluster`: shows the state of the tasks of a cluster.

use std::sync::Weak;
use std::sync::mpsc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tfrt::distributed::fabric::{self, CallOptions};
use tfrt::distributed::message::{GetDevicesRequest, GetDevicesResponse};
use tfrt::distributed::{ClusterInfo, Server, TaskInfo};
use tfrt_host::HostContext;
use tfrt_support::escape::escaped;

use crate::cluster_arguments::ClusterArguments;
use crate::failure::Failure;
use crate::output::print_line;

const EXAMPLES: &str = "\
Examples:
  tfrt cluster status --cluster worker=a:7700,b:7700      show the state of two tasks

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
    Status(StatusArguments),
}

#[derive(Debug, Parser)]
struct StatusArguments {
    #[command(flatten)]
    cluster: ClusterArguments,

    /// How long to wait for the answer of each task, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    timeout: u32,
}

/// Runs the tool.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Command::Status(arguments) = &arguments.command;
    status(arguments)
}

fn status(arguments: &StatusArguments) -> Result<(), Failure> {
    let config = arguments.cluster.observed()?;
    let tasks = ClusterInfo::new(&config).map_err(|error| Failure::new(error.to_string()))?;
    let queue = tfrt_queue::create_queue("mstd:1")
        .map_err(|error| Failure::caused("cannot create a work queue", error))?;
    let host = HostContext::builder().queue(queue).build();
    // Answers come back on connections of this process; nobody connects to it.
    let nobody: Weak<Server> = Weak::new();
    let communicator = arguments.cluster.network()?;
    let communicator = communicator
        .listen(&host, "127.0.0.1:0", nobody)
        .map_err(|error| Failure::new(error.message()))?;
    let ask = |task: &TaskInfo| {
        let (sender, answer) = mpsc::channel();
        let options = CallOptions {
            timeout: Some(Duration::from_secs(arguments.timeout.into())),
            ..CallOptions::default()
        };
        let client = communicator.client_of(&task.name, &task.address);
        fabric::call(&*client, options, GetDevicesRequest {}, move |answer| {
            // Nobody is gone: the answers are awaited below.
            let _ = sender.send(answer);
        });
        answer
    };
    let asked: Vec<_> = tasks.tasks().iter().map(ask).collect();
    let mut num_silent = 0;
    for (task, answer) in tasks.tasks().iter().zip(asked) {
        let shown = match answer.recv() {
            Ok(Ok(response)) => load(&response),
            Ok(Err(errors)) => {
                num_silent += 1;
                format!("down  {errors}")
            }
            Err(_) => {
                num_silent += 1;
                "no response".to_owned()
            }
        };
        // What a task says may hold anything.
        let shown = escaped(&shown);
        print_line(&format!("{}  {}  {shown}", task.name, task.address))?;
    }
    match num_silent {
        0 => Ok(()),
        _ => Err(Failure::Reported),
    }
}

fn load(response: &GetDevicesResponse) -> String {
    let devices = response.devices.iter();
    let devices: Vec<&str> = devices.map(|device| device.name.as_str()).collect();
    let mut shown = format!("up  devices: {}", devices.join(", "));
    if let Some(load) = &response.load {
        shown += &format!(
            "; contexts: {}, objects: {}, unclaimed payloads: {}",
            load.num_contexts, load.num_objects, load.num_unclaimed
        );
    }
    shown
}
