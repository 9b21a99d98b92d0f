//! What starting a kernel costs.
//!
//! A runtime exists so that kernels cost nothing to start. This crate has programs whose kernels do
//! next to nothing, so that what is measured is the runtime, and measures them in two ways:
//!
//! - **Instructions**, counted by valgrind: `cargo run --release -p tfrt-benches -- instructions`
//!   prints what each kernel of each program costs, next to what it cost when that was last
//!   [accepted](baseline), and fails if it costs more. Counts do not depend on how busy the machine
//!   is. `--only NAME` measures the rows whose names begin so.
//! - **Wall time** of programs that threads share, and of functions of any size: `parallel` and
//!   `sizes` in place of `instructions` print tables of what is measured in processes of their own;
//!   `load` prints how long small requests wait that come steadily.
//!
//! Two smaller questions have a command each: `adapter` runs what the macro derives from a function
//! beside the same by hand, and `kernels` writes a crate of many kernels, to time its compilation.
#![deny(unsafe_code)]

pub mod programs;

pub mod user;

pub mod digits;

pub mod eager;

pub mod functions;

pub mod gpu;

pub mod library;

pub mod session;

pub mod instructions;

pub mod wall;

pub mod load;

mod spin;

pub mod baseline;

#[expect(
    unsafe_code,
    reason = "a kernel in the form that the macro derives, by hand"
)]
pub mod adapter;

pub mod compile_time;
