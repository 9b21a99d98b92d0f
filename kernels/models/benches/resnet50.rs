//! How long does ResNet-50 take from the image to the probabilities, and how much memory?
//!
//! For each form of the program, on one thread and on two: the time of a run, and the processor
//! time of it, which says more where others compute as well; the least and the median of many runs.
//! Then the peak of the host's memory, and what of it are weights, packed weights, and the largest
//! set of tensors that must live at the same time. `cargo bench -p tfrt-models --bench resnet50`,
//! with `ROUNDS=100` where others compute and `PACKED_MB=512` to let all weights be packed.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tfrt::executor::Program;
use tfrt::host::allocator::AllocatorKind;
use tfrt::host::{RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt_kernels::packed_weights::{DEFAULT_MAX_BYTES, PackedWeights};
use tfrt_models::resnet50::program::{Chains, ProgramOptions, Shortcut, text};
use tfrt_models::resnet50::{Network, weights};

tfrt::link!(tfrt_kernels);

/// Returns the number that an environment variable holds.
fn variable(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns the processor time of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Least and median, in milliseconds.
fn summary(samples: &mut [Duration]) -> String {
    samples.sort();
    let text = |sample: Duration| format!("{:.2}", sample.as_secs_f64() * 1e3);
    format!(
        "{:>8} {:>8}",
        text(samples[0]),
        text(samples[samples.len() / 2])
    )
}

fn main() {
    let rounds = variable("ROUNDS").unwrap_or(20).max(1);
    let max_packed_bytes =
        variable("PACKED_MB").map_or(DEFAULT_MAX_BYTES, |megabytes| megabytes << 20);
    let network = Network::new(224, 64, 1000);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [weights_path, image_path] = ["resnet50.btf", "image.btf"].map(|file| folder.join(file));
    fs::create_dir_all(folder).expect("a folder");
    let write = |path: &Path, tensors: &[_]| {
        weights::write(&mut File::create(path).expect("a file"), tensors)
            .expect("tensors are written");
    };
    write(&weights_path, &weights::draw(&network, 1).expect("memory"));
    write(
        &image_path,
        &[weights::draw_images(&network, 1, 1).expect("memory")],
    );

    println!("                    wall ms           processor ms      peak MB  packed  needed");
    println!("               least   median     least   median");
    for shortcut in [Shortcut::Added, Shortcut::Fused] {
        for queue in ["s", "mstd:2"] {
            let options = ProgramOptions {
                chains: Chains::ByHand,
                shortcut,
                weights_path: &weights_path.to_string_lossy(),
                image_path: &image_path.to_string_lossy(),
            };
            let kernels = Arc::new(KernelRegistry::from_link().expect("names differ"));
            let file = tfrt::text::compile(&text(&network, &options), "resnet50.mlir", &kernels)
                .expect("the program is sound");
            let allocator = AllocatorKind::Profiled.create();
            let host = HostContext::builder()
                .registry(kernels)
                .queue(tfrt::queue::create_queue(queue).expect("a queue"))
                .allocator(Arc::clone(&allocator))
                .build();
            PackedWeights::of(&host).set_max_bytes(max_packed_bytes);
            let program = Program::load(&host, &file).expect("the program is loaded");
            let infer = program.function("infer").expect("the program has it");
            let resources = Arc::new(ResourceContext::new());
            let (mut wall, mut processor) = (Vec::new(), Vec::new());
            // The first two read and pack the weights.
            for round in 0..rounds + 2 {
                let request = RequestContextBuilder::new(Arc::clone(&host))
                    .resources(Arc::clone(&resources))
                    .build();
                let ctx = ExecutionContext::new(request);
                let (start, processor_start) = (Instant::now(), processor_time());
                let results = infer.execute(&ctx, &[]);
                host.await_available(&results).expect("it ends");
                let (took, processor_took) = (start.elapsed(), processor_time() - processor_start);
                assert!(results.iter().all(|result| !result.is_error()));
                host.quiesce().expect("nothing is left");
                if round >= 2 {
                    wall.push(took);
                    processor.push(processor_took);
                }
            }
            let megabytes = |bytes: usize| bytes as f64 / 1e6;
            let needed = 4 * network.num_parameters() + network.largest_live_set_bytes();
            let peak = allocator.profile().expect("it counts").max_bytes;
            println!(
                "{shortcut:<6} {queue:<6} {} {}   {:>6.1}  {:>6.1}  {:>6.1}",
                summary(&mut wall),
                summary(&mut processor),
                megabytes(peak),
                megabytes(PackedWeights::of(&host).num_bytes()),
                megabytes(needed),
                shortcut = format!("{shortcut:?}"),
            );
        }
    }
}
