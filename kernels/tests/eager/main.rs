//! Ops called from Rust.

mod calls;

mod errors;

mod bad_input;

mod effects;

mod scopes;

mod strings;

mod devices;

mod costs;

mod lifetimes;

mod caches;

mod programs;

mod arrays;

mod random;

mod writers;

use std::sync::Arc;

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::host::device::CpuDevice;
use tfrt::prelude::*;
use tfrt::queue::create_queue;

tfrt::link!(tfrt_kernels);

fn host(queue: &str) -> Arc<HostContext> {
    HostContext::builder()
        .registry(Arc::new(
            KernelRegistry::from_link().expect("names are unique"),
        ))
        .queue(create_queue(queue).expect("a known queue"))
        .build()
}

fn eager(queue: &str) -> Arc<EagerContext> {
    EagerContext::builder(host(queue))
        .build()
        .expect("one device")
}

/// Returns the error of a call.
fn message<T>(outcome: Result<T>) -> String {
    match outcome {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.message().to_owned(),
    }
}

/// Returns the handle that a call returns, or one of its error: which of them depends on how fast
/// the queue is.
fn handle(outcome: Result<TensorHandle>) -> TensorHandle {
    outcome.unwrap_or_else(TensorHandle::error)
}

/// Drives a future to its end, with the work of the queue.
fn block_on<F: Future>(eager: &EagerContext, mut future: std::pin::Pin<&mut F>) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        eager.host().quiesce().expect("not a worker");
    }
}

/// Returns a context with two processors.
fn two_devices(queue: &str) -> Arc<EagerContext> {
    EagerContext::builder(host(queue))
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()
        .expect("two devices")
}

fn device_of(handle: &TensorHandle) -> &str {
    handle.device().expect("it is known").0.name()
}

/// Returns where the elements of a tensor are.
fn address(eager: &EagerContext, handle: &TensorHandle) -> *const f32 {
    eager
        .with_elements(handle, |elements: &tfrt_tensor::Elements<'_, f32>| {
            elements.as_ptr()
        })
        .expect("a dense tensor")
}
