//! The entry point of a GPU program: the function to call, and the sizes of its buffers.

use tfrt::prelude::*;

use crate::enums::Platform;

/// The version of entry points that this crate supports.
pub const VERSION: i64 = 410_724_080;

/// The description of a program for the executor of GPU programs.
#[derive(Clone, Debug, PartialEq, Eq, Value)]
#[value("!tfrt_gpu.entry_point")]
pub struct EntryPoint {
    /// The platform that it runs on.
    pub platform: Platform,
    /// The function to call: with a chain, a stream and buffers.
    pub function_name: String,
    /// The sizes of the buffers.
    pub buffer_sizes: Vec<i64>,
}

/// Returns the entry point of a program. It has no custom syntax.
///
/// # Errors
/// `Expected version 410724080, got N`.
#[tfrt_kernel("tfrt_gpu.get_entry_point", chain = none, results(entry_point))]
fn get_entry_point(
    #[attr] buffer_sizes: &[i64],
    #[attr] function_name: &str,
    #[attr] platform: Platform,
    #[attr] version: i64,
) -> Result<EntryPoint> {
    if version != VERSION {
        return Err(
            Error::new(format!("Expected version {VERSION}, got {version}"))
                .with_code(ErrorCode::FailedPrecondition),
        );
    }
    Ok(EntryPoint {
        platform,
        function_name: function_name.to_owned(),
        buffer_sizes: buffer_sizes.to_vec(),
    })
}
