//! Functions as kernels, and calls of them.
#![expect(unsafe_code, reason = "reads operands whose types were proven")]

use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::param::{Arguments, ParamList};
use crate::kernel::result::{ResultPart, Returned};
use crate::kernel::source::Source;

/// A function as a kernel. Implemented by the types that `adapter` derives from a closure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not created by `#[tfrt_kernel]`",
    note = "add `#[tfrt_kernel(\"my.op\")]` to a function"
)]
pub trait Kernel: 'static {
    /// Its parameters, as markers.
    type Params: ParamList;
    /// Its results, as markers.
    type Results: ResultPart;
    /// Its declaration.
    const OP: &'static OpDef;

    /// Calls the function.
    fn call(arguments: Arguments<'_, '_, Self::Params>) -> Returned<Self::Results>;
}

/// An `async fn` as a kernel. Implemented by the types that `adapter` derives from a
/// closure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an asynchronous kernel",
    label = "not created by `#[tfrt_kernel]` on an `async fn`",
    note = "add `#[tfrt_kernel(\"my.op\")]` to an `async fn`"
)]
pub trait AsyncKernel: 'static {
    /// Its parameters, as markers.
    type Params: ParamList;
    /// Its results, as markers.
    type Results: ResultPart;
    /// Its declaration.
    const OP: &'static OpDef;

    /// Calls the function.
    fn call<'h, 'f: 'h>(
        arguments: Arguments<'h, 'f, Self::Params>,
    ) -> impl Future<Output = Returned<Self::Results>> + Send;
}

/// Calls the function of `K`, and passes on what it returns. Borrows end before that, so that the
/// results are not visible while they last.
///
/// What the function returns is not returned from here, because a tensor would be copied once more.
///
/// # Safety
/// 1. `K::Params::check` of the same source would succeed.
#[inline]
pub(crate) unsafe fn call_function<'f, K: Kernel, S: Source<'f>, R>(
    source: S,
    then: impl FnOnce(Returned<K::Results>) -> R,
) -> Result<R, Error> {
    // SAFETY: duty 1.
    let returned = unsafe { K::Params::with_arguments(source, |arguments| K::call(arguments)) }?;
    Ok(then(returned))
}
