//! What does the adapter of `fn(i32, i32) -> i32` cost, beside a function that somebody writes by
//! hand?
//!
//! Both are called as a proven function calls its kernels. Instructions of one call are the
//! difference of two runs, divided by the difference of their numbers of calls:
//!
//! ```text
//! cargo build --release -p tfrt-benches
//! for form in derived by-hand; do for calls in 1000000 2000000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/tfrt-benches adapter $form $calls 2>&1 | grep Collected
//! done; done
//! ```
//!
//! `objdump --disassemble` shows the two functions themselves.

use std::hint::black_box;
use std::ptr::NonNull;

use tfrt::host::__runtime::{DirectCall, DirectFn};
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

/// Which of the two functions is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The adapter that the macro derives.
    Derived,
    /// The function by hand.
    ByHand,
}

impl Form {
    /// Returns the form of this name: `derived` or `by-hand`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "derived" => Some(Self::Derived),
            "by-hand" => Some(Self::ByHand),
            _ => None,
        }
    }
}

/// Calls the function `num_calls` times.
///
/// # Panics
/// If the sum is wrong.
pub fn run(form: Form, num_calls: usize) {
    let run: DirectFn = match form {
        Form::ByHand => add_by_hand,
        Form::Derived => {
            let direct = Add::KERNELS[0].direct();
            direct.expect("a function of numbers is direct").run
        }
    };

    let host = HostContext::builder().build();
    let exec_ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let call = DirectCall::idle(&exec_ctx);
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
    assert_eq!(black_box(registers)[0], if num_calls == 0 { 0 } else { 3 });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_add() {
        run(Form::Derived, 2);
        run(Form::ByHand, 2);
    }
}
