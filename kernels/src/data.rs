//! `tfrt_data.*`: input pipelines.
//!
//! What a dataset, an iterator and a draw are, [`tfrt::data`] says; here is what programs see of it. The kernels make datasets, which does
//! no work, and draw from iterators.

pub mod sources;

pub mod stages;

pub mod extensions;

pub mod log;

pub mod iterate;

pub mod enumerate;

mod rules;
