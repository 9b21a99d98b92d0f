//! The guide: how to author kernels and to run programs made of them, from the first line to the last percent.
//!
//! There is no code in these modules, only pages. Every example is compiled and run with the tests of this crate, and so is
//! every error that the examples expect.
//!
//! | page | answers |
//! |---|---|
//! | [`tutorial`] | How do I get from nothing to a program that runs my kernels? |
//! | [`kernels`] | How do I write a kernel? All forms of signatures, names, families |
//! | [`values`] | What can flow between kernels? Types of my own, types that change in place |
//! | [`attributes`] | How do constants get into a kernel? |
//! | [`errors`] | What happens when a kernel fails, or panics? |
//! | [`chains`] | In which order do effects happen, and who says so? |
//! | [`asynchrony`] | How do I wait without blocking? `async fn`, the blocking pool, promises, late operands |
//! | [`functions`] | How does a kernel call functions and regions of the program? Control flow of my own |
//! | [`tensor_program`] | How do I get an array into a program, through my kernel, and out again? |
//! | [`tensors`] | How do I write a kernel on arrays of numbers? |
//! | [`shapes`] | How are results allocated before a kernel runs? |
//! | `ops` | How do I call one operation after the other, by name, without a program? |
//! | [`resources`] | Where does state live that outlives a call, or a request? |
//! | [`testing`](crate::testing) | How do I test all that? |
//! | [`libraries`] | How do kernels get into a program? Crates, plug-ins, and why a kernel is missing |
//! | [`embedding`] | How do I run programs from Rust? |
//! | [`dialects`] | Ops without kernels, syntax of my own, what text may say about my types |
//! | [`performance`] | What costs what? |
//! | [`mistakes`] | What does this error mean? Twelve mistakes that everybody makes |
//! | [`from_cpp`] | What is the counterpart of this in the C++ TFRT? |
//!
//! The kernels and ops that a program has linked describe themselves: `tfrt ops` lists them, `tfrt ops NAME` documents one,
//! and `tfrt ops --format markdown` writes a reference of all, from the same declarations that programs are checked
//! against.
//!
//! # The picture to have in mind
//!
//! A *program* is a graph. Its nodes are *kernels*: functions that somebody wrote in Rust. Its edges are *values*. A kernel
//! runs when the values that it takes are there, on whatever thread made the last of them available; kernels that no value
//! connects may run at the same time. Nobody waits, and nothing polls.
//!
//! ```text
//!        %x ──────┐
//!                 ├─► my.multiply ──► %product ──┐
//!        %y ──┬───┘                              ├─► my.add ──► %sum
//!             └─────► my.negate ────► %minus_y ──┘
//! ```
//!
//! Three things follow, and explain most of what comes:
//!
//! - *Order is data.* Kernels that must not change places although no value connects them are connected by a value that
//!   says only "what came before me is done": a [chain](chains).
//! - *Errors are data.* A kernel that fails gives errors for results. What depends on them is skipped, and gives the same
//!   error; what does not, runs. See [errors].
//! - *Later is data.* A value may be given before it is there. A kernel that has to wait returns such values, and the
//!   thread goes on with something else. See [asynchrony].

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

pub mod resources;

pub mod libraries;

pub mod embedding;

pub mod dialects;

pub mod performance;

pub mod mistakes;

pub mod from_cpp;
