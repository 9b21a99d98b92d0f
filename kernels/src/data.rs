//! `tfrt_data.*`: input pipelines.
//!
//! What a dataset, an iterator and a draw are, [`tfrt::data`] says; here is what programs see of
//! it. The kernels make datasets, which does no work, draw from iterators, and save and restore
//! them. The file formats are those of [`tfrt_readers`]; some need a cargo feature.

pub mod sources;

pub mod files;

pub mod stages;

pub mod extensions;

pub mod log;

pub mod checkpoint;

pub mod iterate;

pub mod enumerate;

mod op_verifiers;
