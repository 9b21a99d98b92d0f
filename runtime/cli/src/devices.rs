//! `tfrt devices`: lists the processor and the GPUs that programs can use, and the libraries that
//! are installed or missing.

use std::fmt::Write as _;

use clap::Parser;
use tfrt_gpu::api::GpuResult;
use tfrt_gpu::cuda;
use tfrt_gpu::platform::{Gpu, GpuChoice};
use tfrt_host::device::CpuSpeed;

use crate::failure::Failure;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt devices             list the processor, the CUDA devices, the libraries of CUDA, and the
                           host device";

/// List the processor, the GPUs that programs can use, and the libraries of CUDA
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

pub(crate) fn run(_program: &str, _arguments: &Arguments) -> Result<(), Failure> {
    let mut text = format!("CPU: {}\n", CpuSpeed::of_this_machine());
    for choice in [GpuChoice::Cuda, GpuChoice::Host] {
        match Gpu::open(choice) {
            Ok(gpu) => {
                let listed = list(&gpu).unwrap_or_else(|error| format!("  {error}\n"));
                let _ = write!(text, "--gpu={choice}: {}\n{listed}", gpu.name);
            }
            Err(error) => {
                let _ = writeln!(text, "--gpu={choice}: {}", error.message());
            }
        }
        if choice == GpuChoice::Cuda {
            text += &library_versions();
        }
    }
    output::write("-", text.as_bytes())
}

/// Returns the libraries of CUDA, one in each line, with their versions.
pub(crate) fn library_versions() -> String {
    let libraries = cuda::libraries().into_iter();
    libraries.map(|library| format!("  {library}\n")).collect()
}

/// Returns the devices of an implementation, one in each line.
fn list(gpu: &Gpu) -> GpuResult<String> {
    let driver = &gpu.driver;
    driver.init()?;
    let mut text = String::new();
    for ordinal in 0..driver.device_count()? {
        let device = driver.device(ordinal)?;
        let name = driver.device_name(device)?;
        let (major, minor) = driver.device_capability(device)?;
        let gib = driver.device_total_memory(device)? as f64 / f64::from(1 << 30);
        let memory = driver.device_memory(device).ok();
        let speed = memory.and_then(|memory| memory.bytes_per_microsecond());
        let speed = speed.map_or_else(String::new, |rate| {
            format!(" at {:.0} GB/s", rate / 1_000.0)
        });
        let _ = writeln!(
            text,
            "  {ordinal}: {name}, {gib:.2} GiB{speed}, compute capability {major}.{minor}"
        );
    }
    Ok(text)
}
