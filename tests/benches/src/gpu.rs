//! Work that is enqueued on a stream: what it costs beside the driver's own call.
//!
//! The CUDA implementation calls a driver that does nothing, so that what is counted is the
//! runtime: starting the kernel or the op, its checks, and the call.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use tfrt::core::EagerContext;
use tfrt::executor::Program;
use tfrt::host::{FunctionRef, RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_gpu::platform::{Gpu, GpuChoice};

tfrt::link!(tfrt_kernels, tfrt_gpu);

/// How often a run enqueues work.
pub const NUM_PIECES: usize = 100;

/// What is enqueued.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name that the command line and the baseline know it by.
    pub name: &'static str,
    work: Work,
}

/// A piece of work.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// A kernel, between the results of the piece of work before and of this one.
    Kernel(&'static str),
    /// An op of one tensor of one element, called from Rust.
    Op(&'static str),
}

/// What is measured.
pub const CASES: &[Case] = &[
    Case {
        name: "gpu/copy",
        work: Work::Kernel("tfrt_gpu.mem.copy %a, %b, %s, IN : !tfrt_gpu.buffer, !tfrt_gpu.buffer"),
    },
    Case {
        name: "gpu/set",
        work: Work::Kernel("tfrt_gpu.mem.set %a, %x, %s, IN : f32"),
    },
    Case {
        name: "gpu/launch",
        work: Work::Kernel(
            "tfrt_gpu.function.launch %s, %f, blocks in (%one, %one, %one), \
             threads in (%one, %one, %one), %shared, IN, args(%a, %x) \
             : (!tfrt_gpu.buffer, f32)",
        ),
    },
    Case {
        name: "gpu/op",
        work: Work::Op("tf.Relu"),
    },
];

/// The work has all it needs as arguments, which are made once.
const SETUP: &str = "\
func.func @setup() -> (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, \
!tfrt_gpu.function, ui64, ui32, f32) {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %bytes = tfrt.constant.i64 64
  %a = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %b = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %m = tfrt_gpu.module.load %ctx {data = \"image\\00\"}
  %f = tfrt_gpu.module.get_function %m {name = \"kernel\"}
  %one = tfrt.constant.ui64 1
  %shared = tfrt.constant.ui32 0
  %x = tfrt.constant.f32 1.5
  tfrt.return %ch, %s, %a, %b, %f, %one, %shared, %x : !tfrt.chain, !tfrt_gpu.stream, \
!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.function, ui64, ui32, f32
}
";

impl Case {
    /// The case of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CASES.iter().copied().find(|case| case.name == name)
    }

    /// Returns a program that enqueues a kernel again and again.
    fn text(kernel: &str) -> String {
        let mut text = format!(
            "{SETUP}func.func @work(%ch0: !tfrt.chain, %s: !tfrt_gpu.stream, \
             %a: !tfrt_gpu.buffer, %b: !tfrt_gpu.buffer, %f: !tfrt_gpu.function, %one: ui64, \
             %shared: ui32, %x: f32) -> !tfrt.chain {{\n"
        );
        for piece in 0..NUM_PIECES {
            let kernel = kernel.replace("IN", &format!("%ch{piece}"));
            text += &format!("  %ch{} = {kernel}\n", piece + 1);
        }
        text += &format!("  tfrt.return %ch{NUM_PIECES} : !tfrt.chain\n}}\n");
        text
    }

    /// Enqueues the pieces of work so often, on a work queue of this name.
    ///
    /// # Errors
    /// If there is no driver, or a kernel fails.
    pub fn run(&self, num_runs: usize, queue: &str) -> Result<()> {
        let kernels = Arc::new(KernelRegistry::from_link().map_err(Error::other)?);
        let host = HostContext::builder()
            .registry(kernels)
            .queue(create_queue(queue).map_err(Error::other)?)
            .build();
        Gpu::install(&host, Gpu::open(GpuChoice::Cuda)?);
        match self.work {
            Work::Kernel(kernel) => Self::run_program(&host, self.name, kernel, num_runs),
            Work::Op(op) => Self::call_op(&host, op, num_runs),
        }
    }

    fn run_program(
        host: &Arc<HostContext>,
        name: &str,
        kernel: &str,
        num_runs: usize,
    ) -> Result<()> {
        let file = tfrt::text::compile(&Self::text(kernel), name, host.registry())
            .map_err(|found| Error::new(format!("{found:?}")))?;
        let program = Program::load(host, &file)?;
        let request = RequestContextBuilder::new(Arc::clone(host));
        let request = request.resources(Arc::new(ResourceContext::new()));
        let ctx = ExecutionContext::new(request.build());
        let function = |name| {
            let function = program.function(name);
            function.ok_or_else(|| Error::new(format!("the program has no `{name}`")))
        };
        let run = |function: &FunctionRef, arguments: &[AnyRef]| {
            let results = function.execute(&ctx, arguments);
            host.await_available(&results).map_err(Error::other)?;
            match results.iter().find_map(AnyRef::error_if_present) {
                Some(error) => Err(error.clone()),
                None => Ok(results),
            }
        };
        let arguments = run(&function("setup")?, &[])?;
        let work = function("work")?;
        (0..num_runs).try_for_each(|_| run(&work, &arguments).map(drop))
    }

    fn call_op(host: &Arc<HostContext>, op: &str, num_runs: usize) -> Result<()> {
        let device = host.device("GPU:0").map_err(Error::other)?;
        let eager = EagerContext::builder(Arc::clone(host))
            .device(device.0)
            .build()?;
        let x = eager.copy_to(&eager.tensor([-1.0_f32])?, "GPU:0")?;
        eager.wait(&x)?;
        let _scope = eager.device("GPU:0")?;
        let op = eager.op(op)?.ready()?;
        (0..num_runs * NUM_PIECES).try_for_each(|_| op.call(&[&x]).map(drop))
    }
}

/// Returns the folder of the driver that does nothing, once this process has [built](build_driver)
/// it. A process finds the driver there if `LD_LIBRARY_PATH` names the folder.
#[must_use]
pub fn driver_folder() -> PathBuf {
    std::env::temp_dir().join(format!("tfrt_empty_driver_{}", std::process::id()))
}

/// Compiles the driver that does nothing.
///
/// # Errors
/// If the compiler fails.
pub fn build_driver() -> Result<(), String> {
    let folder = driver_folder();
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/gpu/empty_driver.rs");
    let status = Command::new("rustc")
        .args(["--edition", "2024", "-O", "--crate-type", "cdylib", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(source)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the empty driver does not compile".to_owned()),
        Err(error) => Err(format!("rustc: {error}")),
    }
}
