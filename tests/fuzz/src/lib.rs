//! What fuzzers and tests share: what to do with bytes, and how to damage them.
//!
//! Stable Rust without a fuzzer: `runtime/bef/tests/fuzz` compiles the same files.
#![forbid(unsafe_code)]

pub mod mutate;

pub mod targets;
