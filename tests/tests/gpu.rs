//! GPU programs, function by function: the calls of each kernel, and what becomes of a program when
//! one of them fails.
//!
//! A process opens the libraries of CUDA once, so tests on the emulated libraries run in a child of
//! this process.

#[path = "gpu/calls.rs"]
mod calls;

#[path = "gpu/failures.rs"]
mod failures;

#[path = "gpu/program.rs"]
mod program;

#[path = "gpu/bad_input.rs"]
mod bad_input;

#[path = "gpu/debugging.rs"]
mod debugging;
