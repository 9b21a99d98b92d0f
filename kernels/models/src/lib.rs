//! Models as programs, and the generators of their data and weights.
//!
//! Nothing is downloaded: the project draws the data, and trains or draws the weights, from
//! documented seeds.
//!
//! A model consists of a folder next to this crate's manifest, with its program in MLIR text and
//! its weights, and of a module here with the kernels that only this model needs. Kernels of
//! several models are in separate modules:
//!
//! | modules | kernels |
//! |---|---|
//! | [`training`] | `models.*` for initial weights, loss and accuracy |
//! | [`weights`] | `models.*` that read and write named tensors next to the program |
//! | [`report`] | `models.report`, which prints numbers in a sentence |
//! | [`pictures`] | `models.show_images`, for `tfrt run --show` |
//! | [`digits`] | `digits.*`: simulated handwritten digits |
//! | [`resnet50`] | none: a generator of a program from existing kernels |
//!
//! All of them are ordinary kernels without special access to the runtime.
#![forbid(unsafe_code)]

pub mod command;

pub mod random;

pub mod training;

pub mod weights;

pub mod report;

pub mod pictures;

pub mod digits;

pub mod resnet50;

mod dialects;

mod error;
