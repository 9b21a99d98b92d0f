//! The registrations that expansions of the macros submit, collected at link time.

use tfrt_ods::DialectDef;
use tfrt_ods::OpDef;

use crate::kernel::descriptor::KernelDescriptor;

/// A function marked with `#[tfrt_kernel]`, with all its instances. The macro implements this for
/// the type named by the option `kernel_set`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of kernels",
    label = "not the `kernel_set` of a `#[tfrt_kernel]` function",
    note = "add `#[tfrt_kernel(\"my.op\", kernel_set = {Self})]` to the function; the macro then \
            defines the type"
)]
pub trait KernelSet {
    /// One descriptor for each instance.
    const KERNELS: &'static [KernelDescriptor];
}

/// Kernels collected at link time. Submitted by `#[tfrt_kernel]`.
#[derive(Clone, Copy, Debug)]
pub struct KernelRegistration {
    kernels: &'static [KernelDescriptor],
}

impl KernelRegistration {
    /// Creates a registration of all instances of a function.
    #[must_use]
    pub const fn new(kernels: &'static [KernelDescriptor]) -> Self {
        Self { kernels }
    }

    pub(crate) fn kernels(&self) -> &'static [KernelDescriptor] {
        self.kernels
    }
}

inventory::collect!(KernelRegistration);

/// Declarations of ops without kernels, collected at link time. Submitted by `declare_op!`.
///
/// ```
/// use tfrt_host::__private::DeclaredOps;
/// use tfrt_ods::{OpDef, OpTraits};
///
/// static RETURN: OpDef = OpDef { traits: OpTraits::TERMINATOR, ..OpDef::new("my.return") };
///
/// tfrt_host::__private::submit! { DeclaredOps(&[&RETURN]) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeclaredOps(pub &'static [&'static OpDef]);

inventory::collect!(DeclaredOps);

/// Properties of dialects, collected at link time. Only the text front end uses them.
///
/// ```
/// use tfrt_host::kernel::DialectRegistration;
/// use tfrt_ods::DialectDef;
///
/// tfrt_host::__private::submit! { DialectRegistration(&[DialectDef::new("my_strange")]) }
///
/// assert!(DialectRegistration::linked().any(|dialect| dialect.name == "my_strange"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DialectRegistration(pub &'static [DialectDef]);

inventory::collect!(DialectRegistration);

impl DialectRegistration {
    /// Returns the linked properties, in unspecified order.
    pub fn linked() -> impl Iterator<Item = DialectDef> {
        inventory::iter::<Self>
            .into_iter()
            .flat_map(|registration| registration.0.iter().copied())
    }
}
