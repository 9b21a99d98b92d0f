//! Dialects: families of ops and types with a common prefix, and their treatment of undeclared
//! names.

/// Properties of a dialect that declarations of ops cannot express.
///
/// ```
/// use tfrt_ods::{DialectDef, UnknownTypes};
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
    /// The subject of its ops, in one sentence; may be empty.
    pub summary: &'static str,
    /// The rest of the documentation, in Markdown; may be empty.
    pub description: &'static str,
    /// The types it declares, without the prefix.
    pub types: &'static [&'static str],
    /// Older names of types, each with the name that replaced it, without the prefix. Text may
    /// contain either, and means the same type.
    pub older_types: &'static [(&'static str, &'static str)],
    /// The treatment of other types.
    pub unknown_types: UnknownTypes,
    /// `true` to allow undeclared ops with its prefix.
    pub allows_unknown_ops: bool,
    /// `true` if its ops may move from the body of a function into the body of a caller.
    pub allows_inlining: bool,
    /// The keyword of its shape attributes, if it has any: `#name.keyword<2x?>`.
    pub shape_attribute: Option<&'static str>,
    /// `true` if tools list it among the dialects that they know. Not for a prefix shared by
    /// kernels that is declared only for its documentation.
    pub is_listed: bool,
}

/// The treatment of a type that a dialect does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownTypes {
    /// Keep the type as it is written.
    Opaque,
    /// Report an error: this text, then the name.
    Rejected(&'static str),
}

impl DialectDef {
    /// Creates a dialect that accepts everything and does not allow inlining: the base for struct
    /// update syntax.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            summary: "",
            description: "",
            types: &[],
            older_types: &[],
            unknown_types: UnknownTypes::Opaque,
            allows_unknown_ops: true,
            allows_inlining: false,
            shape_attribute: None,
            is_listed: true,
        }
    }

    /// Returns the present name of a type, without the prefix.
    #[must_use]
    pub fn present_type<'a>(&self, name: &'a str) -> &'a str {
        let mut older = self.older_types.iter();
        let found = older.find(|(older, _)| *older == name);
        found.map_or(name, |(_, present)| present)
    }

    /// Returns `true` if a type with this name, without the prefix, is accepted.
    #[must_use]
    pub fn accepts_type(&self, name: &str) -> bool {
        self.unknown_types == UnknownTypes::Opaque || self.types.contains(&name)
    }
}
