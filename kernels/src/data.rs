//! `tfrt_data.*`: input pipelines.
//!
//! What a dataset, an iterator and a draw are, [`tfrt::data`] says; here is what programs see of it. The kernels make datasets, which does
//! no work, draw from iterators, and save and restore them.

pub mod sources;

pub mod stages;

pub mod extensions;

pub mod log;

pub mod checkpoint;

pub mod iterate;

pub mod enumerate;

mod rules;
