//! Fuzz targets, mutators and seeds, shared by fuzzers and tests.
//!
//! This crate is stable Rust and does not need a fuzzer: `runtime/bef/tests/fuzz` compiles
//! [`mutate`] and [`targets`], `tests/tests/fuzz.rs` links the whole crate, and the binary `soak`
//! runs a target for a given time.
#![forbid(unsafe_code)]

pub mod mutate;

pub mod mutate_text;

pub mod mutate_data;

pub mod targets;

pub mod programs;

pub mod data_files;

pub mod stablehlo;

pub mod onnx;

pub mod mutate_message;

pub mod requests;

pub mod request_sequences;

pub mod seeds;

pub mod catalog;
