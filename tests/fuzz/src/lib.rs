//! What fuzzers and tests share: what to do with bytes, how to damage them, and what to start from.
//!
//! Stable Rust without a fuzzer: `runtime/bef/tests/fuzz` compiles [`mutate`] and [`targets`], `tests/tests/fuzz.rs` links all
//! of it, and the binary `soak` runs a target for as long as one likes.
#![forbid(unsafe_code)]

pub mod mutate;

pub mod mutate_text;

pub mod mutate_data;

pub mod targets;

pub mod programs;

pub mod data_files;

pub mod seeds;

pub mod catalog;
