//! What the file tests share: starting a tool, comparing what it prints, and the lists of recorded commands.
//!
//! A test binary that drives the tools *is* the tools: it starts itself under the name of one, see [`tool`]. So the tests
//! run what was just built, with the standard kernels linked, and need no other binary.
#![forbid(unsafe_code)]

pub mod tool;

pub mod compare;

pub mod golden;

pub mod programs;
