//! The end of every chain of handlers.

use tfrt_support::Error;

use super::OpHandler;
use crate::core_op::CoreRuntimeOp;

/// Knows no op.
///
/// ```
/// use tfrt_core::{NullOpHandler, OpHandler};
///
/// assert!(NullOpHandler.make_op("tf.AddV2").is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NullOpHandler;

impl OpHandler for NullOpHandler {
    fn name(&self) -> &str {
        "null"
    }

    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
        Err(Error::new(format!(
            "{op_name} was not supported by NullOpHandler."
        )))
    }
}
