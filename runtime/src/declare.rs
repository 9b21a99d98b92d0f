//! Ops without kernels, and facts of dialects: what a crate declares beside its kernels.

/// Declares ops that have no kernel.
///
/// An op is written as a static of type [`OpDef`](crate::ods::OpDef), the record that `#[tfrt_kernel]` derives from functions.
/// Everything that a declaration can say goes into its fields; what the macro adds is
///
/// * the documentation, from the doc comment: its first paragraph is the summary, the rest the description;
/// * the place;
/// * the [rules](crate::ods::OpDef::check) of declarations, the assembly format included: a wrong one does not compile;
/// * the registration, so that [`KernelRegistry::from_link`](crate::kernel::KernelRegistry::from_link) finds it.
///
/// ```
/// use tfrt::ods::{AttrDef, AttrKind, Effect, OpDef, OperandDef, ResultDef, TypeConstraint};
///
/// tfrt::declare_op! {
///     /// Sends a matrix to another machine.
///     ///
///     /// The machine must be known by the name `to`.
///     pub static SEND: OpDef = OpDef {
///         operands: &[OperandDef::new("matrix", TypeConstraint::Exact("!algebra.matrix"))],
///         attributes: &[AttrDef::new("to", AttrKind::String)],
///         results: &[ResultDef::new("is_there", TypeConstraint::Exact("i1"))],
///         effect: Effect::Ordered("network"),
///         assembly_format: Some("$matrix `to` $to attr-dict"),
///         ..OpDef::new("algebra.send")
///     };
/// }
///
/// let registry = tfrt::kernel::KernelRegistry::from_link()?;
/// let send = registry.op("algebra.send").expect("it is linked");
/// assert_eq!(send.summary, "Sends a matrix to another machine.");
/// assert!(send.place.line != 0 && registry.get("algebra.send").is_none());
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
///
/// Ops that differ in their names only are declared together, from a constant whose own name counts for nothing:
///
/// ```
/// use tfrt::ods::{OpDef, OpTraits};
///
/// tfrt::declare_op! {
///     /// Ends a function.
///     #[names("algebra.return", "algebra.give")]
///     const END: OpDef = OpDef { traits: OpTraits::TERMINATOR, ..OpDef::new("") };
/// }
///
/// let registry = tfrt::kernel::KernelRegistry::from_link()?;
/// assert!(registry.op("algebra.return").is_some() && registry.op("algebra.give").is_some());
/// # Ok::<(), tfrt::kernel::DuplicateKernels>(())
/// ```
///
/// What makes no sense is an error where it is written:
///
/// ```compile_fail
/// use tfrt::ods::{OpDef, OperandDef, TypeConstraint};
///
/// tfrt::declare_op! {
///     /// Shows an operand that it does not have.
///     static WRONG: OpDef = OpDef {
///         operands: &[OperandDef::new("a", TypeConstraint::Exact("i32"))],
///         assembly_format: Some("$b attr-dict"),
///         ..OpDef::new("algebra.wrong")
///     };
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! declare_op {
    () => {};
    (
        $(#[doc = $doc:literal])*
        $visibility:vis static $op:ident: $ty:ty = $def:expr;
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        $visibility static $op: $ty = $crate::__documented!($def, $($doc)*);

        $crate::declare_ops!($op);
        $crate::declare_op!($($rest)*);
    };
    (
        $(#[doc = $doc:literal])*
        #[names($($name:expr),+ $(,)?)]
        $visibility:vis const $op:ident: $ty:ty = $def:expr;
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        $visibility const $op: $ty = $crate::__documented!($def, $($doc)*);

        const _: () = {
            const OPS: &[&$ty] = &[$(&$crate::ods::OpDef { name: $name, ..$op }),+];
            $crate::__register_ops!(OPS);
        };
        $crate::declare_op!($($rest)*);
    };
}

/// Registers declarations of ops that have no kernel, from statics of type [`OpDef`](crate::ods::OpDef) that were made
/// elsewhere; [`declare_op!`](crate::declare_op) declares and registers them at once. A wrong declaration does not compile.
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
            $crate::__register_ops!(OPS);
        };
    };
}

/// Checks a constant list of declarations, and registers it.
#[doc(hidden)]
#[macro_export]
macro_rules! __register_ops {
    ($ops:ident) => {
        const _: () = $crate::ods::assert_all_valid($ops);
        $crate::__private::submit! { $crate::kernel::registry::OpRegistration($ops) }
    };
}

/// A declaration with the place and the documentation of where it stands.
#[doc(hidden)]
#[macro_export]
macro_rules! __documented {
    ($def:expr, ) => {
        $crate::ods::OpDef {
            place: $crate::__here!(),
            ..$def
        }
    };
    ($def:expr, $($doc:literal)+) => {{
        use $crate::ods::doc::{self, Part};

        const DOC: &str = ::core::concat!($($doc, "\n"),+);
        const SUMMARY: [u8; doc::len(DOC, Part::Summary)] = doc::part(DOC, Part::Summary);
        const DESCRIPTION: [u8; doc::len(DOC, Part::Description)] = doc::part(DOC, Part::Description);
        $crate::ods::OpDef {
            summary: doc::text(&SUMMARY),
            description: doc::text(&DESCRIPTION),
            place: $crate::__here!(),
            ..$def
        }
    }};
}

/// The place where a macro was used.
#[doc(hidden)]
#[macro_export]
macro_rules! __here {
    () => {
        $crate::ods::SourcePlace {
            file: ::core::file!(),
            line: ::core::line!(),
        }
    };
}

/// States facts of dialects that no declaration of an op can state, from a constant list of
/// [`DialectDef`](crate::ods::DialectDef).
///
/// ```
/// use tfrt::kernel::registry::DialectRegistration;
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
        $crate::__private::submit! { $crate::kernel::registry::DialectRegistration($dialects) }
    };
}
