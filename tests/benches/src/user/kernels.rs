//! Kernels as a user writes them: ordinary functions that declare nothing about themselves.
//!
//! None says that it is pure or quick, and none is of the standard library, so that what the
//! runtime saves with declared kernels does not show here.

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

#[tfrt_kernel("user.one")]
fn one() -> i32 {
    1
}

#[tfrt_kernel("user.add")]
fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

#[tfrt_kernel("user.less_equal")]
fn less_equal(a: i32, b: i32) -> bool {
    a <= b
}

#[tfrt_kernel("user.effect", side_effecting)]
fn effect() {
    black_box(());
}

/// The sum, which a task of the queue makes.
#[tfrt_kernel("user.add_later")]
fn add_later(a: i32, b: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, sum) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(a.wrapping_add(b)));
    sum
}

/// Is ready when it is first polled.
#[tfrt_kernel("user.add_async")]
async fn add_async(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

/// Is ready when it is polled again.
#[tfrt_kernel("user.add_async_waiting")]
async fn add_async_waiting(a: i32, b: i32) -> i32 {
    let mut has_waited = false;
    poll_fn(|task| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(a.wrapping_add(b)),
        false => {
            task.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

#[tfrt_kernel("user.tensor")]
fn tensor(ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    Ok(DenseHostTensor::filled(
        ctx.allocator(),
        Shape::new(&[16])?,
        1.0_f32,
    )?)
}

/// Another handle of the first tensor: what remains is the way of handles through the runtime.
#[tfrt_kernel("user.first_tensor")]
fn first_tensor(a: &DenseHostTensor, _b: &DenseHostTensor) -> DenseHostTensor {
    a.clone()
}

#[tfrt_kernel("user.increment_first")]
fn increment_first(tensor: &mut DenseHostTensor) -> Result<()> {
    tensor.elements_mut::<f32>()?[0] += 1.0;
    Ok(())
}

/// Eight numbers: more than a cell holds.
#[derive(Clone, Debug, Value)]
#[value("!user.numbers")]
pub struct Numbers([u64; 8]);

#[tfrt_kernel("user.numbers")]
fn numbers() -> Numbers {
    Numbers([1; 8])
}

#[tfrt_kernel("user.add_numbers")]
fn add_numbers(a: &Numbers, b: &Numbers) -> Numbers {
    Numbers(std::array::from_fn(|index| {
        a.0[index].wrapping_add(b.0[index])
    }))
}
