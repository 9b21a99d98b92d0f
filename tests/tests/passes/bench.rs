//! What programs are read against and run on.

use std::sync::Arc;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tfrt::bef::BefFile;
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::kernel::DialectRegistration;
use tfrt::prelude::*;
use tfrt::queue::testing::RandomOrderQueue;
use tfrt::queue::{ConcurrentWorkQueue, create_queue};
use tfrt_compiler::passes::Pipeline;
use tfrt_compiler::{EncodeOptions, encode};
use tfrt_ir::{
    Module, ParseOptions, PrintOptions, Registry, VerifyOptions, parse, parse_without_chains,
    print, verify,
};

use crate::kernels::{Effects, observe};

/// What a program did: the first two results that are numbers, and its effects.
pub type Behaviour = (Vec<i32>, Effects);

/// How many programs a test tries.
pub fn num_programs(default: u32) -> u32 {
    let wanted = std::env::var("TFRT_STRESS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Programs that are the same in every run.
pub fn runner(num_programs: u32) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::with_cases(num_programs)
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Declarations, and hosts with work queues of their own.
pub struct Bench {
    registry: Arc<Registry>,
    kernels: Arc<KernelRegistry>,
    hosts: Vec<Arc<HostContext>>,
}

impl Bench {
    pub fn new() -> Self {
        let kernels = KernelRegistry::from_link().unwrap_or_else(|error| panic!("{error}"));
        let kernels = Arc::new(kernels);
        let registry = Registry::new(kernels.ops(), DialectRegistration::linked());
        let registry = Arc::new(registry.unwrap_or_else(|error| panic!("{error}")));
        let queues = ["s", "mstd:2"].map(|name| {
            let queue = create_queue(name);
            queue.unwrap_or_else(|error| panic!("{error}"))
        });
        let hosts = queues.map(|queue| host_with(&kernels, queue)).into();
        Self {
            registry,
            kernels,
            hosts,
        }
    }

    /// The program of a text; it must be well formed.
    pub fn read(&self, text: &str) -> Result<Module, TestCaseError> {
        let module = parse(text, "p.mlir", &self.registry, &ParseOptions::default());
        well_formed(module, text)
    }

    /// The program of a text that is written without chains.
    pub fn read_without_chains(&self, text: &str) -> Result<Module, TestCaseError> {
        let options = ParseOptions::default();
        let module = parse_without_chains(text, "p.mlir", &self.registry, &options);
        well_formed(module, text)
    }

    /// Runs `@main` on one thread and on several.
    pub fn run(&self, module: &Module) -> Result<Vec<Behaviour>, TestCaseError> {
        let bytes = bytes_of(module)?;
        self.hosts.iter().map(|host| run(host, &bytes)).collect()
    }

    /// Runs `@main` with the tasks in an order that the seed decides.
    pub fn run_in_random_order(
        &self,
        module: &Module,
        seed: u64,
    ) -> Result<Behaviour, TestCaseError> {
        let queue = Arc::new(RandomOrderQueue::new(seed));
        run(&host_with(&self.kernels, queue), &bytes_of(module)?)
    }
}

fn host_with(
    kernels: &Arc<KernelRegistry>,
    queue: Arc<dyn ConcurrentWorkQueue>,
) -> Arc<HostContext> {
    let host = HostContext::builder().registry(Arc::clone(kernels));
    host.queue(queue).build()
}

fn well_formed(
    module: Result<Module, tfrt::support::Diagnostics>,
    text: &str,
) -> Result<Module, TestCaseError> {
    let module = module.map_err(|errors| fail(format!("{}\n{text}", errors[0])))?;
    match verify(&module, &VerifyOptions::default()).first() {
        Some(error) => Err(fail(format!("{error}\n{text}"))),
        None => Ok(module),
    }
}

pub fn fail(message: String) -> TestCaseError {
    TestCaseError::fail(message)
}

pub fn text_of(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

pub fn run_pipeline(text: &str, module: &mut Module) -> Result<(), TestCaseError> {
    let pipeline = Pipeline::parse(text).map_err(|error| fail(error.to_string()))?;
    match pipeline.run(module, Some(VerifyOptions::default())).first() {
        Some(found) => Err(fail(format!("{text}: {found}\n{}", text_of(module)))),
        None => Ok(()),
    }
}

fn bytes_of(module: &Module) -> Result<Vec<u8>, TestCaseError> {
    encode(module, &EncodeOptions::default()).map_err(|errors| fail(errors[0].to_string()))
}

fn run(host: &Arc<HostContext>, file: &[u8]) -> Result<Behaviour, TestCaseError> {
    let (numbers, effects) = observe(|| results_of_main(host, file));
    Ok((numbers.map_err(|error| fail(error.to_string()))?, effects))
}

/// The results of `@main` that are numbers, when everything that it started is done.
fn results_of_main(host: &Arc<HostContext>, file: &[u8]) -> Result<Vec<i32>> {
    let program = Program::load(host, &BefFile::from_bytes(file))?;
    program.verify_all()?;
    let main = program
        .function("main")
        .ok_or_else(|| Error::new("no main"))?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let results = main.execute(&ctx, &[]);
    host.await_available(&results)?;
    host.quiesce()?;
    let mut numbers = Vec::new();
    for value in &results {
        if let Some(error) = value.error_if_present() {
            return Err(error.clone());
        }
        numbers.extend(value.get::<i32>().copied());
    }
    Ok(numbers)
}
