//! Macros that register hand-written declarations of ops and dialects.

/// Registers declarations of ops that have no kernel, from hand-written statics of type
/// [`OpDef`](crate::ods::OpDef).
///
/// Nothing checks such a record: call [`OpDef::check`](crate::ods::OpDef::check) in a test.
/// [`declare_op!`](crate::declare_op) declares, checks and registers an op at once.
///
/// ```
/// use tfrt::ods::{OpDef, OpTraits};
///
/// static RETURN: OpDef = OpDef { traits: OpTraits::TERMINATOR, ..OpDef::new("my.return") };
///
/// tfrt::declare_ops!(RETURN);
///
/// let registry = tfrt::kernel::KernelRegistry::from_link()?;
/// assert!(registry.op("my.return").is_some() && registry.get("my.return").is_none());
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
#[macro_export]
macro_rules! declare_ops {
    ($($op:path),+ $(,)?) => {
        const _: () = {
            const OPS: &[&$crate::ods::OpDef] = &[$(&$op),+];
            $crate::__private::submit! { $crate::__private::DeclaredOps(OPS) }
        };
    };
}

/// Declares properties of whole dialects, from a constant list of
/// [`DialectDef`](crate::ods::DialectDef).
///
/// ```
/// use tfrt::kernel::DialectRegistration;
/// use tfrt::ods::DialectDef;
///
/// const DIALECTS: &[DialectDef] = &[DialectDef { types: &["matrix"], ..DialectDef::new("my_algebra") }];
///
/// tfrt::declare_dialects!(DIALECTS);
///
/// assert!(DialectRegistration::linked().any(|dialect| dialect.name == "my_algebra"));
/// ```
#[macro_export]
macro_rules! declare_dialects {
    ($dialects:expr) => {
        $crate::__private::submit! { $crate::kernel::DialectRegistration($dialects) }
    };
}
