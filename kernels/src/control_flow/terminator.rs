//! `tfrt.return`: the terminator of functions and regions. Not a kernel.

use tfrt::ods::verify::region;

tfrt::declare_op! {
    /// Returns values to the caller of the function or region.
    "tfrt.return",
    terminator,
    cheap,
    operands(values: variadic any),
    format = "($values `:` type($values))?",
    verify = region::function_return
}
