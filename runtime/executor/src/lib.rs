//! The executor: loads verified BEF files and runs their functions.
//!
//! ```text
//!  BefFile ──► load ──► lower ──► run
//!              names     places     schedule followed in a frame ──► values
//!              types     order      ready loop on an invocation  ──► values
//! ```
//!
//! Each layer depends only on the layers before it. A file is loaded once; a function is checked
//! and lowered when it is first looked up. Kernel records are not run in place: lowering reads them
//! and writes code of the executor's own. Attributes and locations stay in the file.
//!
//! The executor does not block, and takes a lock only when a function is first looked up. The ready
//! loop does not recurse.
//!
//! The executor does not know kernels by name and does not know MLIR text. Unsafe code is denied
//! except in modules that expect it.
#![deny(unsafe_code)]

mod load;

mod lower;

mod run;

pub use run::Program;
#[doc(hidden)]
pub use run::follow_schedules;
