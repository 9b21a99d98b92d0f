//! The executor: loads verified BEF files and runs their functions.
//!
//! ```text
//!  BefFile ──► load ──► lower ──► run
//!              names     places     schedule followed in a frame ──► values
//!              types     order      ready loop on an invocation  ──► values
//! ```
//!
//! Each of the three layers knows those before it and none after it. A file is loaded once; a function is checked and lowered when it
//! is first looked up.
//!
//! Nothing here blocks and nothing here locks, but for the first look-up of a function. The ready loop does not recurse.
//!
//! The executor knows no kernel by name and no MLIR text. Unsafe code is denied but where a module expects it.
#![deny(unsafe_code)]

mod load;

mod lower;

mod run;

pub use run::Program;
#[doc(hidden)]
pub use run::follow_schedules;
