//! Dialects: families of ops and types under one prefix, and how they treat undeclared names.

/// Facts of a dialect that no declaration of an op can state.
///
/// ```
/// use tfrt_ods::dialect::{DialectDef, UnknownTypes};
///
/// static TS: DialectDef = DialectDef {
///     types: &["shape", "partial_shape"],
///     unknown_types: UnknownTypes::Rejected("unknown shape type: "),
///     allows_unknown_ops: false,
///     ..DialectDef::new("ts")
/// };
/// assert!(TS.accepts_type("shape") && !TS.accepts_type("form"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DialectDef {
    /// The prefix, without its dot.
    pub name: &'static str,
    /// What its ops are about, in one sentence; may be empty.
    pub summary: &'static str,
    /// The rest of the documentation, in Markdown; may be empty.
    pub description: &'static str,
    /// The types it declares, without the prefix.
    pub types: &'static [&'static str],
    /// What it does with other types.
    pub unknown_types: UnknownTypes,
    /// Whether undeclared ops with its prefix are allowed.
    pub allows_unknown_ops: bool,
    /// Whether its ops may move from the body of a function into the body of a caller.
    pub allows_inlining: bool,
    /// The keyword of its shape attributes, if it has such: `#name.keyword<2x?>`.
    pub shape_attribute: Option<&'static str>,
    /// Whether tools list it among the dialects that they know. A prefix that kernels share, and that is stated only to say what they
    /// are about, is none of these.
    pub is_listed: bool,
}

/// What a dialect does with a type that it does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownTypes {
    /// Keeps the type as it is written.
    Opaque,
    /// Reports an error: this text, then the name.
    Rejected(&'static str),
}

impl DialectDef {
    /// A dialect that accepts everything, and whose ops stay where they are: the base for struct update syntax.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            summary: "",
            description: "",
            types: &[],
            unknown_types: UnknownTypes::Opaque,
            allows_unknown_ops: true,
            allows_inlining: false,
            shape_attribute: None,
            is_listed: true,
        }
    }

    /// Whether a type of this name, without the prefix, may be written.
    #[must_use]
    pub fn accepts_type(&self, name: &str) -> bool {
        self.unknown_types == UnknownTypes::Opaque || self.types.contains(&name)
    }
}
