//! Numeric routines over slices: what the kernels for the processor compute with.
//!
//! No tensors, no threads, no memory of its own: a routine takes slices and the shapes that give them meaning, checks them once,
//! and then runs through its loops. Kernels own the tensors, and decide who runs what.
//!
//! ```text
//!   shape ──new──► plan ──run(Parallel)──────────────► output          the caller waits
//!                   └─────Job::run_block(0), (1), …──► output          nobody waits: tasks of a work queue
//! ```
//!
//! # How fast, how exact
//! The routines that matter for speed ([`matmul`], [`convolution`]) end in one micro-kernel, `tile`, in the registers of the
//! processor at hand; the loops of the others are compiled for each instruction set, and the best one is chosen when the program
//! runs. Beside each fast routine is one that says what it means ([`matmul::plain`], [`convolution::plain`], the scalar
//! functions of [`math`] and [`element`]): the oracle of the tests, which state their bounds.
//!
//! Results do not depend on the number of threads or blocks, and on the processor only where the width of its registers divides
//! dot products: [`matmul`] with few rows and a transposed right factor.
//!
//! # Unsafe code
//! Blocks write disjoint parts of one output; [`job`] says how that is made sure of. Nothing else is unsafe.
#![deny(unsafe_code)]

mod error;

pub mod parallel;

pub mod job;

pub mod rows;

mod lanes;

pub mod element;

pub mod math;

pub mod unary;

pub mod broadcast;

pub mod binary;

pub mod cast;

pub mod transpose;

pub mod assemble;

pub mod resize;

pub mod reduction;

pub mod softmax;

pub mod normalization;

mod activation;

mod tile;

pub mod matmul;

pub mod convolution;

pub mod pooling;

#[cfg(test)]
mod other_processors;

pub use activation::Activation;
pub use error::ShapeError;
