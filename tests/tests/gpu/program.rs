//! Running the functions of programs, each with a host and a GPU of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::{RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_gpu::platform::Gpu;

tfrt::link!(tfrt_kernels, tfrt_gpu);

/// The programs of `tests/programs` whose functions are run, and the queue that each needs.
const PROGRAMS: [(&str, &str); 6] = [
    ("gpu-host", "s"),
    ("gpu-host-memory", "s"),
    ("gpu-host-algebra", "s"),
    ("gpu-host-networks", "s"),
    ("gpu-graphs", "s"),
    ("gpu-collectives", "mstd:2,4"),
];

/// A program, ready to be run any number of times.
#[derive(Debug)]
pub struct Compiled {
    pub name: &'static str,
    queue: &'static str,
    kernels: Arc<KernelRegistry>,
    file: tfrt::bef::BefFile,
    /// The functions that need no arguments.
    pub functions: Vec<String>,
}

impl Compiled {
    /// Returns the programs.
    pub fn all() -> Vec<Self> {
        PROGRAMS
            .into_iter()
            .map(|(name, queue)| Self::new(name, queue))
            .collect()
    }

    fn new(name: &'static str, queue: &'static str) -> Self {
        let path = tfrt_tests::programs::directory().join(format!("{name}.mlir"));
        let text = std::fs::read_to_string(path).unwrap();
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let file =
            tfrt::text::compile(&text, name, &kernels).unwrap_or_else(|errors| panic!("{errors}"));
        let host = HostContext::builder()
            .registry(Arc::clone(&kernels))
            .build();
        let program = Program::load(&host, &file).unwrap();
        let functions = program.functions();
        let functions = functions.filter(|function| function.argument_types().is_empty());
        let functions = functions.map(|function| function.name().to_owned());
        Self {
            name,
            queue,
            kernels,
            functions: functions.collect(),
            file,
        }
    }

    /// Runs a function, and returns its first error. Everything is gone when it returns.
    pub fn run(&self, function: &str, gpu: Arc<Gpu>) -> Option<Error> {
        let host = HostContext::builder()
            .registry(Arc::clone(&self.kernels))
            .queue(create_queue(self.queue).unwrap())
            .diagnostic_handler(|_| {})
            .build();
        assert!(Gpu::install(&host, gpu));
        let program = Program::load(&host, &self.file).unwrap();
        let request = RequestContextBuilder::new(Arc::clone(&host));
        let request = request.resources(Arc::new(ResourceContext::new()));
        let ctx = ExecutionContext::new(request.build());
        let results = program.function(function).unwrap().execute(&ctx, &[]);
        host.await_available(&results).unwrap();
        host.quiesce().unwrap();
        let error = results.iter().find_map(|result| result.error_if_present());
        let error = error.cloned();
        drop((results, ctx, program));
        // The last task may still be dropping what it held.
        while Arc::strong_count(&host) > 1 {
            std::thread::yield_now();
        }
        error
    }
}

/// In the child: `true`. In this process: runs the test in a child, over the emulated libraries,
/// and returns the path of their log.
pub fn over_emulated_cuda(test: &str) -> Result<PathBuf, ()> {
    if std::env::var_os(tfrt_emulated_cuda::LOG_VARIABLE).is_some() {
        return Err(());
    }
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.log"));
    let _ = std::fs::remove_file(&log);
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--nocapture"])
        .env(
            "LD_LIBRARY_PATH",
            tfrt_tests::programs::emulated_cuda().unwrap(),
        )
        .env(tfrt_emulated_cuda::LOG_VARIABLE, &log)
        .env(tfrt_emulated_cuda::MAX_STEPS_VARIABLE, "100000")
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}");
    assert!(!stderr.contains("emulated CUDA:"), "{stderr}");
    Ok(log)
}
