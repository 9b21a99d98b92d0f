//! One task of a benchmark of collectives: `tests/benches/distributed/run` starts several, and
//! compares their times with those of other libraries. With the argument `transport`, this program
//! measures the transport beside tonic: see [`transport`].
//!
//! Arguments: the back end, then pairs of a collective and a number of elements, such as
//! `allreduce:1024`. The environment describes the cluster, as for every task. Each line from
//! standard input names a case by its number; the task answers with the nanoseconds that it took.
//! So the script can alternate between libraries.

mod transport;

use std::io::{BufRead, Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

use tfrt_distributed::collective::{BackEnd, GroupMember, Reduction};
use tfrt_distributed::discovery::{ALL_TASKS, Told, discover};
use tfrt_distributed::{Server, ServerConfig};
use tfrt_host::HostContext;
use tfrt_queue::create_queue;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

// Links its back end.
use tfrt_shm as _;

fn main() -> ExitCode {
    let outcome = match std::env::args().nth(1).as_deref() {
        Some("transport") => transport::run(),
        Some(transport::WORKER) => transport::serve(),
        _ => run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.message());
            ExitCode::FAILURE
        }
    }
}

/// A collective and the tensors that it works on.
struct Case {
    collective: String,
    input: DenseHostTensor,
    output: DenseHostTensor,
}

impl Case {
    fn parse(argument: &str, num_tasks: usize) -> Result<Self, Error> {
        let wrong = || Error::new(format!("expected COLLECTIVE:ELEMENTS, found `{argument}`"));
        let (collective, len) = argument.split_once(':').ok_or_else(wrong)?;
        let len: usize = len.parse().map_err(|_| wrong())?;
        let output = match collective {
            "allgather" => len * num_tasks,
            _ => len,
        };
        Ok(Self {
            collective: collective.to_owned(),
            input: DenseHostTensor::vector(&vec![1.0_f32; len])?,
            output: DenseHostTensor::vector(&vec![0.0_f32; output])?,
        })
    }

    fn run(&self, host: &HostContext, member: &dyn GroupMember, key: &str) -> Result<(), Error> {
        let (input, output) = (self.input.clone(), self.output.clone());
        let done = match &*self.collective {
            "allreduce" => member.all_reduce(key, Reduction::Sum, input.clone(), input),
            "broadcast" => member.broadcast(key, input, 0),
            "allgather" => member.all_gather(key, input, output, 0),
            "barrier" => member.barrier(key),
            other => return Err(Error::new(format!("no collective `{other}`"))),
        };
        host.await_values(&[done.into()])
    }
}

fn run() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    let config = discover(&Told::default(), &variable).map_err(Error::other)?;
    let queue = create_queue("mstd:1").map_err(Error::other)?;
    let host = HostContext::builder().queue(queue).build();
    let address = config.own_address().unwrap_or_default();
    let server = Server::new(&host, ServerConfig::new(tfrt_grpc::TYPE_NAME, address))?;
    let (sender, receiver) = channel();
    server.initialize_multi_client(&config, move |outcome| {
        // This thread waits for it.
        let _ = sender.send(outcome);
    });
    let context = receiver.recv().map_err(Error::other)?;
    let context = context.map_err(|errors| errors.to_value(&host))?;
    let back_end = BackEnd::find(&name);
    let back_end = back_end.ok_or_else(|| Error::new(format!("no back end `{name}`")))?;
    let member: Arc<dyn GroupMember> = (back_end.make)()?.open(ALL_TASKS, &context)?;
    let cases: Result<Vec<Case>, Error> = arguments
        .map(|argument| Case::parse(&argument, member.size()))
        .collect();
    let cases = cases?;
    println!("ready");
    for (step, line) in stdin().lock().lines().enumerate() {
        let line = line.map_err(Error::other)?;
        let case = line
            .trim()
            .parse()
            .ok()
            .and_then(|number: usize| cases.get(number));
        let case = case.ok_or_else(|| Error::new(format!("no case `{line}`")))?;
        // All begin together.
        host.await_values(&[member.barrier(&format!("begin {step}")).into()])?;
        let start = Instant::now();
        case.run(&host, &*member, &format!("step {step}"))?;
        let elapsed = start.elapsed().as_nanos();
        let mut out = stdout().lock();
        writeln!(out, "{elapsed}")
            .and_then(|()| out.flush())
            .map_err(Error::other)?;
    }
    // Nobody leaves before the others are done, and have their answers.
    host.await_values(&[member.barrier("end").into()])?;
    let (sender, receiver) = channel();
    server.shut_down_then(move |outcome| {
        // This thread waits for it.
        let _ = sender.send(outcome);
    });
    let ended = receiver.recv().map_err(Error::other)?;
    ended.map_err(|errors| errors.to_value(&host))
}
