//! Passes that lower GPU programs of MLIR to programs of GPU kernels.
//!
//! ```text
//!   gpu.memset async [%t]        tokens: what a stream will have done
//!        │
//!        ├── inside a block: a token is a chain and a stream
//!        └── across blocks and functions: a token is a chain and an event
//!        ▼
//!   tfrt_gpu.mem.set %s, %ch     kernels
//! ```
//!
//! The input is written in MLIR's dialects `gpu`, `memref`, `arith`, `async` and `cf`. The module
//! [`dialects`] has only their syntax: it parses and prints the ops that the [`passes`] read or
//! keep, and does not model what these ops mean.
#![forbid(unsafe_code)]

pub mod dialects;

pub mod passes;
