//! The guide: how to write kernels and run programs made of them, from the first line to
//! performance tuning.
//!
//! These modules contain no code, only pages. The tests of this crate compile and run every example
//! and check every error that an example expects.
//!
//! | page | answers |
//! |---|---|
//! | [`tutorial`] | How do I get from nothing to a program that runs my kernels? |
//! | [`kernels`] | How do I write a kernel? All forms of signatures, names, families |
//! | [`values`] | What can flow between kernels? User-defined types, types that change in place |
//! | [`attributes`] | How does a program pass constants to a kernel? |
//! | [`errors`] | What happens when a kernel fails, or panics? |
//! | [`chains`] | In which order do effects happen, and what determines it? |
//! | [`asynchrony`] | How do I wait without blocking? `async fn`, the blocking pool, promises, late operands |
//! | [`functions`] | How does a kernel call functions and regions of the program? How do I define control flow? |
//! | [`tensor_program`] | How do I get an array into a program, through my kernel, and out again? |
//! | [`tensors`] | How do I write a kernel on arrays of numbers? |
//! | [`shapes`] | How are results allocated before a kernel runs? |
//! | `ops` | How do I run single operations by name, without a program? |
//! | `data` | How do samples get from files to batches? Input pipelines |
//! | `tfrt_onnx::guide` | How do I run models of other systems? |
//! | `tfrt_gpu::guide` | How do I run programs on GPUs, and without one? |
//! | `tfrt_distributed_kernels::guide` | How do I run one program over many processes or machines? |
//! | [`resources`] | Where do I keep state that outlives a call or a request? |
//! | [`testing`](crate::testing) | How do I test kernels and programs? |
//! | [`libraries`] | How do kernels get into a program? Crates, plug-ins, and why a kernel is missing |
//! | [`embedding`] | How do I run programs from Rust? |
//! | [`dialects`] | Ops without kernels, custom syntax, verification |
//! | [`performance`] | What does a kernel cost? |
//! | [`mistakes`] | What does this error mean? Twelve common mistakes |
//! | [`from_cpp`] | What corresponds to this part of the C++ TFRT? |
//!
//! Linked kernels and ops are self-describing: `tfrt ops` lists them, `tfrt ops NAME` documents
//! one, and `tfrt ops --format markdown` writes a reference of all of them, from the same
//! declarations that programs are checked against.
//!
//! # The execution model
//!
//! A *program* is a graph. Its nodes are *kernels*, which are functions written in Rust. Its edges
//! are *values*. A kernel runs once its operands are available, on the thread that made the last of
//! them available. Kernels that are not connected by a value may run at the same time. No thread
//! blocks or polls.
//!
//! ```text
//!        %x ──────┐
//!                 ├─► my.multiply ──► %product ──┐
//!        %y ──┬───┘                              ├─► my.add ──► %sum
//!             └─────► my.negate ────► %minus_y ──┘
//! ```
//!
//! Three consequences explain most of the rest:
//!
//! - *Order is data.* If kernels must run in a fixed order but no value connects them, a
//!   [chain](chains) does: a value that only says "everything before me is done".
//! - *Errors are data.* A kernel that fails returns errors as its results. Kernels that depend on
//!   them are skipped and return the same error; all other kernels run. See [errors].
//! - *Pending work is data.* A reference to a value may exist before the value is available. A
//!   kernel that has to wait returns such references, and the thread continues with other work. See
//!   [asynchrony].

pub mod tutorial;

pub mod kernels;

pub mod values;

pub mod attributes;

pub mod errors;

pub mod chains;

pub mod asynchrony;

pub mod functions;

pub mod tensor_program;

pub mod tensors;

pub mod shapes;

#[cfg(feature = "core")]
pub mod ops;

#[cfg(all(feature = "data", feature = "core"))]
pub mod data;

pub mod resources;

pub mod libraries;

pub mod embedding;

pub mod dialects;

pub mod performance;

pub mod mistakes;

pub mod from_cpp;
