//! The features that a text may use.

/// The maximum nesting depth of regions, types, attributes and locations.
pub const MAX_NESTING: usize = 128;

/// The features that a text may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// `true` to accept ops and types of unknown dialects.
    pub allow_unregistered_dialects: bool,
}
