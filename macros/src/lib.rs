//! The kernel macros: entry points only. What they do lives in `tfrt-macros-backend`.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Turns a function into a kernel: adapter, declaration and registration are derived from it.
///
/// The function itself stays as it is. The documentation of the crate `tfrt` has all forms and options.
///
/// ```text
/// /// Returns the sum of two numbers.
/// #[tfrt_kernel("my.add.{T}", T = [i32, i64])]
/// fn add<T: WrappingAdd>(a: T, b: T) -> T {
///     a.wrapping_add(b)
/// }
/// ```
#[proc_macro_attribute]
pub fn tfrt_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    tfrt_macros_backend::kernel(options.into(), item.into()).into()
}

/// Makes a type one that values can have: `#[value("!my.type")]`, or `#[value("!my.type", mutable)]` for one that kernels
/// change in place.
#[proc_macro_derive(Value, attributes(value))]
pub fn derive_value(item: TokenStream) -> TokenStream {
    tfrt_macros_backend::derive_value(item.into()).into()
}
