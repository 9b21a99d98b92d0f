//! Reading: one file per section, with the same names as the writers.
//!
//! The readers in this module parse the bytes of their section, lazily where it is a list of
//! entries, and check it in isolation. `crate::verify` checks the relations between sections.
//! [`crate::dump`] uses the same readers without the checks, so each section is parsed in one
//! place.

pub(crate) mod entries;

pub mod attribute_names;

pub mod attribute_types;

pub mod function_index;

pub mod functions;

pub mod kernel_flags;

pub mod locations;

pub mod names;

pub mod register_types;

pub mod sections;

pub mod strings;
