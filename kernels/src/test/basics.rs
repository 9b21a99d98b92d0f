//! Kernels that pass values on, count, and print.

use std::io;

use tfrt::host::log::{self, Level};
use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::Breach;
use tfrt::prelude::*;

use crate::text::print_line;

/// Prints `hello host executor!`.
#[tfrt_kernel("tfrt_test.print_hello", side_effecting)]
fn print_hello() -> io::Result<()> {
    print_line("hello host executor!")
}

/// Prints `true` or `false`.
#[tfrt_kernel("tfrt_test.print_bool", effect = "io")]
fn print_bool(chain: Chain, value: bool) -> io::Result<Chain> {
    print_line(value)?;
    Ok(chain)
}

/// Returns the operands after the chain.
#[tfrt_kernel("tfrt_test.identity")]
fn identity(_chain: Chain, values: &[AnyRef]) -> Vec<AnyRef> {
    values.to_vec()
}

/// Returns the operands.
#[tfrt_kernel("tfrt_test.multi_arg_result")]
fn multi_arg_result(values: &[AnyRef]) -> Vec<AnyRef> {
    values.to_vec()
}

/// Returns each operand as an indirect value.
#[tfrt_kernel("tfrt_test.make_indirect")]
fn make_indirect(values: &[AnyRef]) -> Vec<AnyRef> {
    values
        .iter()
        .map(|value| {
            let (promise, indirect) = AnyRef::indirect();
            promise.forward_to(value.clone());
            indirect
        })
        .collect()
}

/// Returns for each operand whether the kernel holds the only reference.
#[tfrt_kernel("tfrt_test.get_uniqueness")]
fn get_uniqueness(values: &[AnyRef]) -> Vec<bool> {
    values.iter().map(AnyRef::is_unique).collect()
}

/// Returns the number after the operand, and the two after that.
#[tfrt_kernel(
    "tfrt_test.count3.{T}",
    T = [i32, i64],
    pure,
    chain = none,
    results(first, second, third),
    format = "operands attr-dict"
)]
fn count3<T: Successor>(value: T) -> (T, T, T) {
    (value.after(1), value.after(2), value.after(3))
}

/// Numbers that have others after them.
trait Successor: Copy {
    /// Returns the number that comes `steps` later. Numbers wrap around.
    fn after(self, steps: u8) -> Self;
}

impl Successor for i32 {
    fn after(self, steps: u8) -> Self {
        self.wrapping_add(steps.into())
    }
}

impl Successor for i64 {
    fn after(self, steps: u8) -> Self {
        self.wrapping_add(steps.into())
    }
}

/// Returns the sum of one number or more.
#[tfrt_kernel("tfrt_test.sum")]
fn sum(first: i32, rest: Operands<'_, i32>) -> i32 {
    rest.iter()
        .fold(first, |sum, number| sum.wrapping_add(*number))
}

/// Prints `id: N` and returns zero. Stream analysis reads the cost of the op from its attribute
/// `_tfrt_cost`.
#[tfrt_kernel(
    "tfrt_test.test_cost",
    cost_attribute,
    effect = "io",
    chain = none,
    format = "$values attr-dict `:` type($values)",
    verify = verify_cost
)]
fn test_cost(_values: &[AnyRef], #[attr] id: i64) -> io::Result<i32> {
    print_line(format_args!("id: {id}"))?;
    Ok(0)
}

fn verify_cost(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    match op.attribute("_tfrt_cost") {
        Some(AttrInstance::Int(1.., _)) => {}
        Some(AttrInstance::Int(..)) => {
            breaches.push(Breach::op("cost value must be larger than 0"))
        }
        _ => breaches.push(Breach::op("cost attribute not found")),
    }
}

/// Allocates four bytes from the allocator of the host and never frees them.
// Without a declared effect, so that programs may order it with a chain or leave that out.
#[tfrt_kernel("tfrt_test.memory_leak_one_int32")]
fn memory_leak_one_int32(host: &HostContext) -> Result<()> {
    let memory = host.allocator().allocate(std::alloc::Layout::new::<i32>());
    memory.map(|_| ()).ok_or_else(|| {
        Error::new("cannot allocate 4 bytes").with_code(ErrorCode::ResourceExhausted)
    })
}

/// Logs the text at each level, once unconditionally and once under a condition that is true. Bytes
/// that are not text are shown as U+FFFD.
#[tfrt_kernel("tfrt_test.logging", side_effecting)]
fn logging(text: &ByteString) {
    const LEVELS: [(Level, &str); 3] = [
        (Level::Info, "INFO"),
        (Level::Warning, "WARNING"),
        (Level::Error, "ERROR"),
    ];
    for (level, name) in LEVELS {
        log::write_line(
            level,
            file!(),
            line!(),
            format_args!("from TFRT_LOG({name}): {text}"),
        );
    }
    for condition in [true, false] {
        for (level, name) in LEVELS.into_iter().filter(|_| condition) {
            log::write_line(
                level,
                file!(),
                line!(),
                format_args!("from TFRT_LOG_IF({name}, {condition}): {text}"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, verdict};

    #[test]
    fn a_cost_is_a_positive_number() {
        let check = |cost: Option<AttrInstance<'static>>, expected: &str| {
            let attributes = cost.map(|cost| ("_tfrt_cost", cost)).into_iter().collect();
            assert_eq!(
                verdict(
                    verify_cost,
                    &SampleOp {
                        attributes,
                        ..SampleOp::default()
                    }
                ),
                expected
            );
        };
        check(Some(AttrInstance::Int(2, "i64".into())), "");
        check(
            Some(AttrInstance::Int(0, "i64".into())),
            "cost value must be larger than 0",
        );
        check(
            Some(AttrInstance::String("2".into())),
            "cost attribute not found",
        );
        check(None, "cost attribute not found");
    }
}
