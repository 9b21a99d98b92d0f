//! Running code.
//!
//! Two runners share the frame of a function and the code that runs one kernel. [`sequence`]
//! follows a schedule and counts nothing. [`ready`] runs kernels as they become ready; it alone
//! handles values that are not yet available and failures. A run that cannot follow its schedule
//! any further continues in the ready loop.

mod sync;

mod panics;

mod nesting;

mod frame;

mod framed;

mod traced;

mod ready_count;

mod outcome;

mod failures;

mod owners;

mod constants;

mod pace;

mod batch;

mod block;

mod links;

mod habit;

mod body;

mod program;

mod invocation;

mod position;

mod path;

mod plain;

mod publish;

mod ready;

mod turn;

mod in_order;

mod sequence;

mod start;

mod synchronous;

mod digest;

mod table;

pub use program::Program;
#[doc(hidden)]
pub use sequence::follow_schedules;
