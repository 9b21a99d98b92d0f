//! A kernel library: kernels that a program loads at run time.
#![forbid(unsafe_code)]

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use tfrt::host::device::DeviceRef;
use tfrt::kernel::NativeCall;
use tfrt::ods::{OpDef, OpTraits};
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::DenseHostTensor;

tfrt::export_kernels!();

mod ops;

/// A type that only this library knows.
#[derive(Value)]
#[value("!plugin.tally")]
struct Tally {
    entries: Mutex<Vec<i32>>,
}

/// A type that cannot go without a panic.
#[derive(Value)]
#[value("!plugin.bomb")]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the bomb went off");
    }
}

/// Adds two numbers.
#[tfrt_kernel("plugin.add", format = "operands attr-dict")]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

/// Adds two numbers in a synchronous function.
#[tfrt_kernel("plugin.add_sync", sync)]
fn add_sync(a: i32, b: i32) -> i32 {
    a + b
}

/// Greets somebody.
#[tfrt_kernel("plugin.greet")]
fn greet(name: &str) -> String {
    format!("hello, {name}")
}

/// Starts a tally.
#[tfrt_kernel("plugin.tally")]
fn tally(#[attr] first: i32) -> Tally {
    Tally {
        entries: Mutex::new(vec![first]),
    }
}

/// Enters a number.
#[tfrt_kernel("plugin.enter", side_effecting)]
fn enter(tally: &Tally, number: i32) -> Result<()> {
    let mut entries = tally.entries.lock().map_err(|_| Error::new("poisoned"))?;
    entries.push(number);
    Ok(())
}

/// Prints all numbers of a tally, without ending the line.
#[tfrt_kernel("plugin.print", side_effecting)]
fn print(tally: &Tally) -> Result<()> {
    let entries = tally.entries.lock().map_err(|_| Error::new("poisoned"))?;
    print!("tally = {entries:?};");
    Ok(())
}

/// Fails.
#[tfrt_kernel("plugin.fail")]
fn fail(reason: &str) -> Result<i32> {
    Err(Error::new(format!("failed: {reason}")).with_code(ErrorCode::NotFound))
}

/// Panics.
#[tfrt_kernel("plugin.panic")]
fn panic() -> i32 {
    panic!("at the library")
}

/// Panics with something that panics once more as it goes.
#[tfrt_kernel("plugin.panic_twice")]
fn panic_twice(_number: i32) -> i32 {
    std::panic::panic_any(Bomb)
}

/// Panics in a synchronous function.
#[tfrt_kernel("plugin.panic_sync", sync)]
fn panic_sync() -> i32 {
    panic!("at the library, in step")
}

/// Panics on the blocking pool.
#[tfrt_kernel("plugin.panic_blocking", blocking)]
fn panic_blocking() -> i32 {
    panic!("at the library, on the pool")
}

/// Panics in a future that had to wait.
#[tfrt_kernel("plugin.panic_async")]
async fn panic_async(value: AsyncValueRef<i32>) -> i32 {
    match value.await {
        Ok(value) => panic!(
            "at the library, awaiting {}",
            value.get().copied().unwrap_or_default()
        ),
        Err(_) => 0,
    }
}

/// Makes something that panics as it goes.
#[tfrt_kernel("plugin.bomb")]
fn bomb() -> Bomb {
    Bomb
}

/// Returns the number a little later, from a task of the work queue.
#[tfrt_kernel("plugin.later")]
fn later(value: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(value));
    result
}

/// Returns the number later, once a waiter, a task and a timer of its own have panicked.
#[tfrt_kernel("plugin.careless")]
fn careless(value: i32, ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, result) = AsyncValueRef::unconstructed();
    result.and_then(|_| panic!("a careless waiter"));
    ctx.enqueue(|| panic!("a careless task"));
    let (firing, has_fired) = mpsc::channel::<()>();
    ctx.host().timers().schedule_after(Duration::ZERO, move || {
        let _firing = firing;
        panic!("a careless timer")
    });
    ctx.enqueue(move || {
        // The sender goes with the timer, whatever becomes of that.
        let _ = has_fired.recv();
        promise.emplace(value);
    });
    result
}

/// Adds later.
#[tfrt_kernel("plugin.add_later")]
async fn add_later(a: AsyncValueRef<i32>, b: i32) -> Result<i32> {
    let a = a.await?;
    Ok(a.get().copied().unwrap_or_default() + b)
}

/// Tells the name of a device, which the runtime made.
#[tfrt_kernel("plugin.device_name")]
fn device_name(device: &DeviceRef) -> String {
    device.0.name().to_owned()
}

/// Turns a complex number by a quarter.
#[tfrt_kernel("plugin.turn")]
fn turn(number: Complex<f32>) -> Complex<f32> {
    Complex {
        re: -number.im,
        im: number.re,
    }
}

/// The first operand that is an error, as text.
#[tfrt_kernel("plugin.explain", non_strict)]
fn explain(value: AnyRef) -> String {
    match value.error_if_present() {
        Some(error) => format!("{} ({})", error.message(), error.code()),
        None => "no error".to_owned(),
    }
}

/// How many elements a tensor has.
#[tfrt_kernel("plugin.num_elements")]
fn num_elements(tensor: &DenseHostTensor) -> i32 {
    tensor.num_elements() as i32
}

/// Makes what only looks like a tensor.
#[tfrt_kernel("plugin.mismatched")]
fn look_alike() -> mismatched::dense::DenseHostTensor {
    mismatched::dense::DenseHostTensor::default()
}

/// Registers what is registered already.
#[cfg(feature = "duplicate")]
#[tfrt_kernel("tfrt.add.i32")]
fn add_again(a: i32, b: i32) -> i32 {
    a + b
}

fn native_sub(call: NativeCall<'_>) {
    let numbers: Vec<i32> = call
        .arguments
        .iter()
        .filter_map(AnyRef::get::<i32>)
        .copied()
        .collect();
    call.results[0] = Some(AnyRef::available(numbers[0] - numbers[1]));
}

tfrt::native_function!("plugin_sub", native_sub);

static RETURN: OpDef = OpDef {
    traits: OpTraits::TERMINATOR,
    ..OpDef::new("plugin.return")
};

tfrt::declare_ops!(RETURN);
