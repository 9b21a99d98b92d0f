//! `tfrt.call`.

use tfrt::prelude::*;

/// Calls a function. The results are those of the function, and may become available later.
#[tfrt_kernel(
    "tfrt.call",
    raw,
    non_strict,
    call,
    forwards,
    operands(arguments: ref variadic any),
    results(values: variadic any),
    symbols(callee),
    format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $values)",
    verify = tfrt::ods::verify::callee::call
)]
fn call(frame: &mut KernelFrame<'_>) {
    match frame.function(0) {
        Ok(callee) => callee.execute_into(frame.exec_ctx(), frame.arguments(), frame.results()),
        Err(error) => frame.report_error(error),
    }
}
