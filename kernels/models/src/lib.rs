//! Models as programs: what they are made of, and what makes their weights.
//!
//! Nothing is downloaded: data is drawn and weights are trained, or drawn, by the project itself, from documented seeds.
//!
//! A model is a folder beside this crate's manifest, with its program in MLIR text and its weights, and a module here with what
//! the program needs and no other has. What several models need has modules of its own:
//!
//! | modules | kernels |
//! |---|---|
//! | [`training`] | `models.*` that make first weights, and measure how wrong, or how right, a model is |
//! | [`weights`] | `models.*` that read and write tensors by name, beside the program |
//! | [`report`] | `models.report`, which prints numbers in a sentence |
//! | [`pictures`] | `models.show_images`, for those who run a program with `--show` |
//! | [`digits`] | `digits.*`: digits as if written by hand |
//! | [`resnet50`] | none: it writes a program of kernels that others have |
//!
//! All of them are ordinary kernels: what they can do, every user's kernels can do.
#![forbid(unsafe_code)]

pub mod random;

pub mod training;

pub mod weights;

pub mod report;

pub mod pictures;

pub mod digits;

pub mod resnet50;

mod dialects;

mod error;
