//! What a text may contain.

/// The maximum nesting depth of regions, types, attributes and locations.
pub const MAX_NESTING: usize = 128;

/// What a text may contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// `true` to accept ops and types of unknown dialects.
    pub allow_unregistered_dialects: bool,
}
