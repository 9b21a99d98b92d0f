//! Numeric routines over slices, used by the CPU kernels.
//!
//! A routine takes slices and their shapes, checks them once, and then runs its loops. It does not
//! know tensors, start threads or allocate memory. Kernels own the tensors and decide which thread
//! runs which part.
//!
//! ```text
//!   shape ──new──► plan ──run(Parallel)──────────────► output          the caller waits
//!                   └─────Job::run_block(0), (1), …──► output          tasks of a work queue, without waiting
//! ```
//!
//! # Speed and precision
//! The routines that dominate run time ([`matmul`], [`convolution`]) share one micro-kernel,
//! `tile`, which works in vector registers. The loops of the other routines are compiled for
//! several instruction sets, and the best one is selected at run time. Each fast routine has a
//! naive counterpart that defines its meaning ([`matmul::naive`], [`convolution::naive`], the
//! scalar functions of [`math`] and [`element`]). The tests compare the two within stated bounds.
//!
//! Results do not depend on the number of threads or blocks. They depend on the processor only if
//! the width of its registers splits dot products: in [`matmul`] with few rows and a transposed
//! right factor.
//!
//! # Unsafe code
//! Blocks write disjoint parts of one output; [`job`] explains how this is ensured. The products of
//! bytes use instructions that not every processor has. Nothing else is unsafe.
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

pub mod sampling;

pub mod fourier;

pub mod reduction;

pub mod wide_reduction;

pub mod softmax;

pub mod normalization;

mod special;

mod activation;

mod tile;

pub mod matmul;

pub mod convolution;

pub mod quantized;

pub mod recurrent;

pub mod pooling;

#[cfg(test)]
mod other_processors;

pub use activation::Activation;
pub use error::ComputeError;
pub use tile::packed_layout;
