//! `tfrt_dist.test_*`: clusters inside a process, for tests.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use tfrt::async_value::IndirectPromise;
use tfrt::bef::BefFile;
use tfrt::distributed::RequestGate;
use tfrt::distributed::fabric::{CommunicatorType, in_process};
use tfrt::distributed::function::{CompilerPass, CompilerPasses, ParsedProgram};
use tfrt::distributed::message::DistributedContextConfiguration;
use tfrt::distributed::{
    DistContext, LocalCluster, RemoteChains, RemoteErrors, RemoteExecuteSpec, RemoteObjectId,
    Server, ServerConfig,
};
use tfrt::host::device::DeviceRef;
use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::Breach;
use tfrt::prelude::*;
use tfrt::text::ir::Module;

use crate::text_pass::{read, to_file};

/// The environment variable that names the communicator of test servers, if it is not the one
/// inside the process.
const COMMUNICATOR_VARIABLE: &str = "TFRT_TEST_COMMUNICATOR";

/// The id of the contexts of tests.
const CONTEXT_ID: u64 = 0;

fn communicator() -> Result<&'static CommunicatorType> {
    let name =
        std::env::var(COMMUNICATOR_VARIABLE).unwrap_or_else(|_| in_process::TYPE_NAME.to_owned());
    CommunicatorType::find(&name).ok_or_else(|| {
        let message = format!("{COMMUNICATOR_VARIABLE} names the unknown communicator `{name}`");
        Error::new(message).with_code(ErrorCode::NotFound)
    })
}

/// Creates the configurations of a cluster inside this process: one for each task of the job
/// `worker`. All tasks are in the group `group1`.
#[tfrt_kernel(
    "tfrt_dist.test_create_configurations",
    raw,
    printed_generically,
    results(configurations: variadic DistributedContextConfiguration),
    format = "attr-dict (`:` result-count($configurations))?"
)]
fn test_create_configurations(frame: &mut KernelFrame<'_>) -> Result<()> {
    let communicator = communicator()?;
    let addresses: Vec<String> = (0..frame.num_results())
        .map(|_| (communicator.free_address)())
        .collect::<Result<_>>()?;
    let configurations = DistributedContextConfiguration::local_cluster(&addresses);
    for (slot, configuration) in frame.results().iter_mut().zip(configurations) {
        *slot = Some(AnyRef::available(configuration));
    }
    Ok(())
}

/// Starts a server for each configuration, and initializes a context on all of them from the first.
/// The servers live as long as one of the contexts is used, or a request between them needs an
/// answer.
///
/// # Errors
/// Failures of the initialization.
#[tfrt_kernel(
    "tfrt_dist.test_create_distributed_context",
    raw,
    effect = "io",
    chain = none,
    operands(configurations: variadic DistributedContextConfiguration),
    results(contexts: variadic DistContext),
    format = "$configurations attr-dict `:` signature($configurations, $contexts)",
    verify = verify_create
)]
fn test_create_distributed_context(frame: &mut KernelFrame<'_>) -> Result<()> {
    let configurations = (0..frame.num_arguments())
        .map(|index| {
            frame
                .value::<DistributedContextConfiguration>(index)
                .cloned()
        })
        .collect::<Result<Vec<_>>>()?;
    let host = frame.exec_ctx().host();
    let (promises, values): (Vec<_>, Vec<_>) =
        configurations.iter().map(|_| AnyRef::indirect()).unzip();
    for (slot, value) in frame.results().iter_mut().zip(values) {
        *slot = Some(value);
    }
    let communicator = communicator()?;
    let mut servers = Vec::with_capacity(configurations.len());
    for configuration in &configurations {
        let address = configuration.own_address().unwrap_or_default();
        let config = ServerConfig {
            gate: Some(RequestGate::new()),
            // Test programs close contexts in any order and may be slow: neither loses a task.
            failure_timeout: Duration::from_secs(3600),
            // Programs close their contexts while ids of objects are alive, as the reference
            // allows.
            reports_leftovers: false,
            ..ServerConfig::new(communicator.name, address)
        };
        match Server::new(host, config) {
            Ok(server) => servers.push(server),
            Err(error) => {
                fail_all(promises, error);
                return Ok(());
            }
        }
    }
    let (Some(client), Some(configuration)) = (servers.first().cloned(), configurations.first())
    else {
        return Ok(());
    };
    let host = Arc::clone(host);
    client.initialize_single_client(Some(CONTEXT_ID), configuration, move |outcome| {
        let contexts = outcome.and_then(|_| {
            let cluster = LocalCluster::new(servers.clone());
            let of_server = |server: Arc<Server>| {
                let context = server.context(CONTEXT_ID)?;
                let context = DistContext::with_server(context, server);
                Ok(context.in_local_cluster(Arc::clone(&cluster)))
            };
            let contexts: Result<Vec<_>, RemoteErrors> =
                servers.into_iter().map(of_server).collect();
            contexts
        });
        match contexts {
            Ok(contexts) => {
                for (promise, context) in promises.into_iter().zip(contexts) {
                    promise.forward_to(AnyRef::available(context));
                }
            }
            Err(errors) => fail_all(promises, errors.to_value(&host)),
        }
    });
    Ok(())
}

fn fail_all(promises: Vec<IndirectPromise>, error: Error) {
    let error = AnyRef::error(error);
    for promise in promises {
        promise.forward_to(error.clone());
    }
}

/// Shuts the server of a context down.
#[tfrt_kernel(
    "tfrt_dist.test_close_distributed_context",
    results(out_chain),
    format = "operands attr-dict"
)]
fn test_close_distributed_context(dist_context: &DistContext, in_chain: Chain) -> Chain {
    if let Some(server) = dist_context.server() {
        server.shut_down();
    }
    in_chain
}

/// Releases the next request to execute a program that the context's server holds back. The chain
/// is ready once the request was answered.
///
/// # Errors
/// That the server was shut down before there was one.
#[tfrt_kernel("tfrt_dist.test_process_next_request", effect = "io")]
fn test_process_next_request(dist_context: &DistContext) -> Result<AsyncValueRef<Chain>> {
    let server = dist_context.server();
    let gate = server.and_then(|server| server.config().gate.as_ref());
    let gate = gate.ok_or_else(|| {
        Error::new("the server of the context holds no requests back")
            .with_code(ErrorCode::FailedPrecondition)
    })?;
    Ok(gate.release())
}

/// Makes the chains that effects on all tasks start with.
#[tfrt_kernel(
    "tfrt_dist.test_create_remote_chain_manager",
    chain = none,
    results(chain_manager),
    format = "operands attr-dict"
)]
fn test_create_remote_chain_manager(dist_context: &DistContext) -> RemoteChains {
    RemoteChains::new(dist_context.context())
}

/// Prints the id of a remote object.
#[tfrt_kernel("tfrt_dist.test_print_remote_object_id", side_effecting)]
fn test_print_remote_object_id(id: &RemoteObjectId) -> io::Result<()> {
    print_line(id)
}

/// Prints the devices of the results of a remote function.
#[tfrt_kernel("tfrt_dist.test_print_remote_execute_spec", side_effecting)]
fn test_print_remote_execute_spec(spec: &RemoteExecuteSpec) -> io::Result<()> {
    print_line(spec)
}

fn print_line(line: impl fmt::Display) -> io::Result<()> {
    // In one piece: lines of several threads do not mix.
    let line = format!("{line}\n");
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Registers a compiler pass that compiles every program to the text in its attribute, with results
/// on these devices.
#[tfrt_kernel(
    "tfrt_dist.test_register_fake_compiler_pass",
    results(out_chain),
    format = "$compiler_pass_name $compiled_program `(` $output_devices `)` attr-dict"
)]
fn test_register_fake_compiler_pass(
    output_devices: Operands<'_, ByteString>,
    #[attr] compiled_program: &str,
    #[attr] compiler_pass_name: &str,
    host: Arc<HostContext>,
) -> Chain {
    let devices = output_devices.iter();
    let devices = devices.map(|device| String::from_utf8_lossy(device.as_bytes()).into_owned());
    let pass = FakePass {
        compiled_program: compiled_program.to_owned(),
        output_devices: devices.collect(),
    };
    CompilerPasses::of(&host).register(compiler_pass_name, Arc::new(pass));
    Chain
}

/// Compiles every program to the same text.
#[derive(Clone, Debug)]
struct FakePass {
    compiled_program: String,
    output_devices: Vec<String>,
}

impl CompilerPass for FakePass {
    fn parse(&self, program: &str, host: &HostContext) -> Result<Box<dyn ParsedProgram>> {
        Ok(Box::new(FakeProgram {
            module: read(program, host)?,
            pass: self.clone(),
        }))
    }
}

struct FakeProgram {
    module: Module,
    pass: FakePass,
}

impl ParsedProgram for FakeProgram {
    fn compile(&mut self, host: &HostContext) -> Result<Vec<String>> {
        self.module = read(&self.pass.compiled_program, host)?;
        Ok(self.pass.output_devices.clone())
    }

    fn to_file(&self) -> Result<BefFile> {
        to_file(&self.module)
    }
}

/// Returns a device of the cluster.
///
/// # Errors
/// `cannot find remote device D`
#[tfrt_kernel("tfrt_dist.test_get_remote_device", results(device))]
fn test_get_remote_device(
    dist_context: &DistContext,
    #[attr] device_name: &str,
) -> Result<DeviceRef> {
    let device = dist_context.context().devices().get_ref(device_name);
    device.ok_or_else(|| {
        Error::new(format!("cannot find remote device {device_name}"))
            .with_code(ErrorCode::DeviceNotFound)
    })
}

/// There is a context for each configuration.
fn verify_create(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (num_configurations, num_contexts) = (op.operand_types().len(), op.result_types().len());
    if num_configurations == 0 {
        breaches.push(Breach::op("requires at least one configuration"));
    }
    if num_configurations != num_contexts {
        breaches.push(Breach::op(format!(
            "requires a context for each configuration, found {num_contexts} for \
             {num_configurations}"
        )));
    }
}
