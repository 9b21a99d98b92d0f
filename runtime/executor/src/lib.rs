//! The executor: loads verified BEF files and runs their functions.
//!
//! ```text
//!  BefFile ──verify──► names resolved ──► Program ──first look-up──► body: verified, proven, decoded
//!                                                                       │
//!                 execute ──► invocation (one block of state) ──► ready loop ──► kernels ──► values
//!                 execute_sync ──► interpreter ──► kernels ──► registers
//! ```
//!
//! Nothing here blocks and nothing here locks, but for the first look-up of a function. The ready loop does not recurse.
//!
//! The executor knows no kernel by name and no MLIR text. Unsafe code is denied but where a module expects it: `invocation` holds
//! the state of a running function, `outcome` and `failures` what it gives and what has failed, `call`, `constants`, `call_loop`
//! and `nest::run` spend the proof of types, and `plain` that of a verified body.
#![deny(unsafe_code)]

mod program;

mod signature;

mod decode;

mod proof;

mod attributes;

mod requirements;

mod places;

mod body;

mod invoke;

mod invocation;

mod ready_count;

mod outcome;

mod failures;

mod constants;

mod ready;

mod plain;

mod publish;

mod batch;

mod call;

mod traced;

mod interpreter;

mod call_loop;

mod nest;

mod company;

mod sync;

pub use program::Program;
