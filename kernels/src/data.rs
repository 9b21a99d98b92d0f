//! `tfrt_data.*`: input pipelines.
//!
//! [`tfrt::data`] explains datasets, iterators and draws; this module contains the kernels through
//! which programs use them. The kernels create datasets, which does no work, draw from iterators,
//! and save and restore them. The file formats are those of [`tfrt_readers`]; some need a cargo
//! feature.

pub mod sources;

pub mod files;

pub mod stages;

pub mod extensions;

pub mod grouping;

pub mod device;

pub mod log;

pub mod checkpoint;

pub mod iterate;

pub mod enumerate;

mod attributes;

mod model;

mod op_verifiers;
