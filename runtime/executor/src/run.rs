//! Running code.
//!
//! Two runners share the frame of a function and what is done with one kernel. [`sequence`] follows a schedule, in which nothing is
//! counted; [`ready`] runs what has become ready, and knows what becomes of values that are not available and of failures. A run
//! of the first kind goes on as one of the second where it has to.

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

mod body;

mod program;

mod invocation;

mod path;

mod plain;

mod publish;

mod ready;

mod turn;

mod in_order;

mod sequence;

mod start;

mod synchronous;

mod table;

pub use program::Program;
#[doc(hidden)]
pub use sequence::follow_schedules;
