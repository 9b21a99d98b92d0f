//! Op handlers, which make ops from names. Handlers form a chain: a handler passes unknown ops to
//! its fallback.
//!
//! ```text
//!  logging ──► cpu ──► null
//! ```

mod cpu;

mod logging;

mod null;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use tfrt_async::identity::TypeIdentity;
use tfrt_async::{Immutable, Value};
use tfrt_support::Error;

use crate::core_op::CoreRuntimeOp;
use crate::identity;

pub use cpu::CpuOpHandler;
pub use logging::{LogResults, LoggingOpHandler};
pub use null::NullOpHandler;

/// Executes the ops of one device, or adds behaviour and delegates to another handler.
///
/// ```
/// use tfrt_core::{CoreRuntimeOp, OpHandler, OpHandlerRef};
/// use tfrt_support::Error;
///
/// /// Knows each op under a longer name.
/// #[derive(Debug)]
/// struct Prefixed(OpHandlerRef);
///
/// impl OpHandler for Prefixed {
///     fn name(&self) -> &str {
///         "prefixed"
///     }
///
///     fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
///         self.0.make_op(op_name.strip_prefix("long.").unwrap_or(op_name))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an op handler",
    label = "does not implement `OpHandler`"
)]
pub trait OpHandler: Send + Sync + fmt::Debug {
    /// Returns the name of the kind of handler: `cpu`, for instance.
    fn name(&self) -> &str;

    /// Returns the op of this name.
    ///
    /// # Errors
    /// If neither the handler nor its fallbacks know it.
    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error>;
}

/// A shared reference to a handler: the value of type `!corert.ophandler`.
///
/// ```
/// use tfrt_core::{NullOpHandler, OpHandlerRef};
///
/// let handler = OpHandlerRef::new(NullOpHandler);
/// let error = handler.make_op("my.op").unwrap_err();
/// assert_eq!(error.message(), "my.op was not supported by NullOpHandler.");
/// ```
#[derive(Clone, Debug)]
pub struct OpHandlerRef(Arc<dyn OpHandler>);

impl OpHandlerRef {
    /// Creates a reference to a handler.
    #[must_use]
    pub fn new(handler: impl OpHandler + 'static) -> Self {
        Self(Arc::new(handler))
    }
}

impl Deref for OpHandlerRef {
    type Target = dyn OpHandler;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Value for OpHandlerRef {
    const MLIR_TYPE: &'static str = "!corert.ophandler";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for OpHandlerRef {}
