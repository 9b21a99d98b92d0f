//! Shared code of the file tests: starting a tool, comparing its output, and the lists of recorded
//! commands.
//!
//! A test binary that drives the tools contains them: it starts itself under the name of a tool,
//! see [`tool`]. The tests therefore run what was just built, with the standard kernels linked, and
//! do not need another binary.
#![forbid(unsafe_code)]

pub mod tool;

pub mod compare;

pub mod golden;

pub mod programs;

pub mod partitioned;
