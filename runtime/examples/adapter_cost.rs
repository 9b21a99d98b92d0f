//! What does the adapter of `fn(i32, i32) -> i32` cost, beside a function that somebody writes by hand?
//!
//! Both are called as a proven function calls its kernels. Instructions of one call are the difference of two runs, divided by
//! the difference of their numbers of calls:
//!
//! ```text
//! cargo build --release -p tfrt --example adapter_cost
//! for form in derived by-hand; do for calls in 1000000 2000000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/adapter_cost $form $calls 2>&1 | grep Collected
//! done; done
//! ```
//!
//! `objdump --disassemble` shows the two functions themselves.

use std::hint::black_box;
use std::ptr::NonNull;

use tfrt::host::__runtime::{AttributeList, DirectCall, DirectFn, FunctionList};
use tfrt::host::RequestContextBuilder;
use tfrt::kernel::KernelSet;
use tfrt::prelude::*;

/// Returns the sum of two numbers.
#[tfrt_kernel("cost.add", kernel_set = Add)]
fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}

/// The same, by hand.
///
/// # Safety
/// The duties of [`DirectFn`], for two operands and one result that are `i32`.
unsafe fn add_by_hand(
    _call: &DirectCall<'_>,
    registers: NonNull<u8>,
    offsets: NonNull<u32>,
) -> Result<()> {
    let place = |index: usize| {
        // SAFETY: duty 1: there are offsets of one result and two operands.
        let offset = unsafe { offsets.add(index) };
        // SAFETY: as above.
        let offset = unsafe { offset.read() };
        // SAFETY: duty 2: the offset is one of a place.
        unsafe { registers.byte_add(offset as usize) }.cast::<i32>()
    };
    // SAFETY: duties 2 and 3: an operand is there, and is an `i32`.
    let a = unsafe { place(1).read() };
    // SAFETY: as above.
    let b = unsafe { place(2).read() };
    // SAFETY: duty 2: the place of the result is the caller's, for an `i32`.
    unsafe { place(0).write(a.wrapping_add(b)) };
    Ok(())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let form = arguments.next().unwrap_or_default();
    let num_calls: u32 = arguments
        .next()
        .and_then(|count| count.parse().ok())
        .unwrap_or(1000);
    let run: DirectFn = match form.as_str() {
        "by-hand" => add_by_hand,
        "derived" => {
            let direct = Add::KERNELS[0].direct();
            direct.expect("a function of numbers is direct").run
        }
        _ => {
            eprintln!("usage: adapter_cost derived|by-hand CALLS");
            return;
        }
    };

    let host = HostContext::builder().build();
    let exec_ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let call = DirectCall {
        exec_ctx: &exec_ctx,
        attributes: AttributeList::EMPTY,
        functions: FunctionList::default(),
    };
    let mut registers = [0_i32, 1, 2];
    // The result, then the operands.
    let mut offsets = [0_u32, 4, 8];
    let run = black_box(run);
    let registers_place = NonNull::from(&mut registers).cast();
    let offsets_place = NonNull::from(&mut offsets).cast();
    for _ in 0..num_calls {
        // SAFETY: duties 1 to 3: three offsets of three places, each an `i32`.
        unsafe { run(&call, registers_place, offsets_place) }.expect("nothing fails");
    }
    assert_eq!(black_box(registers)[0], 3);
    println!("{form}: {num_calls} calls");
}
