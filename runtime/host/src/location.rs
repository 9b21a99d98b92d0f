//! Where a kernel stands in its program: a token that only its file can decode.

use std::fmt;

use tfrt_support::Place;

/// Decodes the location tokens of one file.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot give the location of an op",
    label = "does not implement `LocationSource`"
)]
pub trait LocationSource: Send + Sync + fmt::Debug {
    /// The place that `token` stands for.
    fn place(&self, token: u32) -> Place;

    /// The name that the program gave to the op at `token`, if it gave one.
    fn debug_name(&self, token: u32) -> Option<String>;
}
