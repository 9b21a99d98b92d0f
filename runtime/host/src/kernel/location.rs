//! The location of a kernel in its program: a token that only its file can decode.

use std::fmt;

use tfrt_support::Place;

/// Decodes the location tokens of one file.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot give the location of an op",
    label = "does not implement `LocationSource`"
)]
pub trait LocationSource: Send + Sync + fmt::Debug {
    /// Returns the place that `token` represents.
    fn place(&self, token: u32) -> Place;

    /// Returns the name that the program assigned to the op at `token`, if any.
    fn debug_name(&self, token: u32) -> Option<String>;
}
