//! Operand buffers are used again where a kernel holds the last reference to them, and nowhere
//! else.

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::host::allocator::{HostAllocator, ProfiledAllocator};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_tensor::{DenseHostTensor, Shape};

tfrt::link!(tfrt_kernels);

const NUM_ELEMENTS: usize = 100_000;

/// Returns a tensor of ones.
#[tfrt_kernel("reuse.ones")]
fn ones(ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let shape = Shape::new(&[NUM_ELEMENTS])?;
    Ok(DenseHostTensor::filled(ctx.allocator(), shape, 1.0_f32)?)
}

/// Returns twice the tensor.
#[tfrt_kernel("reuse.double")]
fn double(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let mut y = DenseHostTensor::make_exclusive(x, ctx.allocator())?;
    y.elements_mut::<f32>()?.iter_mut().for_each(|y| *y *= 2.0);
    Ok(y)
}

/// Returns the first element.
#[tfrt_kernel("reuse.first")]
fn first(x: &DenseHostTensor) -> Result<f32> {
    x.elements::<f32>()?
        .first()
        .copied()
        .ok_or_else(|| Error::new("no element"))
}

/// Runs a program; the results, and how many tensors were alive at once.
fn run(queue: &str, body: &str) -> (Vec<f32>, usize) {
    let source = format!("func @main() -> (f32, f32) {{\n{body}\n}}\n");
    let allocator: Arc<dyn HostAllocator> = Arc::new(ProfiledAllocator::default());
    let host = HostContext::builder()
        .registry(Arc::new(
            KernelRegistry::from_link().expect("names are unique"),
        ))
        .queue(create_queue(queue).expect("a known queue"))
        .allocator(Arc::clone(&allocator))
        .build();
    let file =
        tfrt::text::compile(&source, "reuse.mlir", host.registry()).expect("a sound program");
    let program = Program::load(&host, &file).expect("a sound program");
    let main = program.function("main").expect("it is there");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = main.execute(&ctx, &[]);
    host.await_available(&results).expect("not a worker");
    host.quiesce().expect("not a worker");
    let numbers = results
        .iter()
        .map(|value| *value.get::<f32>().expect("a number"));
    let max_bytes = allocator.profile().expect("it counts").max_bytes;
    (
        numbers.collect(),
        max_bytes / (NUM_ELEMENTS * size_of::<f32>()),
    )
}

#[test]
fn a_line_of_kernels_works_in_one_buffer() {
    for queue in ["s", "mstd:2"] {
        let found = run(
            queue,
            "%a = \"reuse.ones\"() : () -> !t.tensor
             %b = \"reuse.double\"(%a) : (!t.tensor) -> !t.tensor
             %c = \"reuse.double\"(%b) : (!t.tensor) -> !t.tensor
             %d = \"reuse.double\"(%c) : (!t.tensor) -> !t.tensor
             %x = \"reuse.first\"(%d) : (!t.tensor) -> f32
             tfrt.return %x, %x : f32, f32",
        );
        assert_eq!(found, (vec![8.0, 8.0], 1), "under {queue}");
    }
}

#[test]
fn what_somebody_else_reads_stays_what_it_is() {
    for queue in ["s", "mstd:2"] {
        let (numbers, num_tensors) = run(
            queue,
            "%a = \"reuse.ones\"() : () -> !t.tensor
             %b = \"reuse.double\"(%a) : (!t.tensor) -> !t.tensor
             %x = \"reuse.first\"(%b) : (!t.tensor) -> f32
             %y = \"reuse.first\"(%a) : (!t.tensor) -> f32
             tfrt.return %x, %y : f32, f32",
        );
        assert_eq!(numbers, [2.0, 1.0], "under {queue}");
        assert!(num_tensors <= 2, "{num_tensors} tensors under {queue}");
    }
}
