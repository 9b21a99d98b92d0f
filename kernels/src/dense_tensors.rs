//! `tfrt_dht.*` and `tfrt_dht_sync.*`: dense tensors in host memory, and the buffers that they lie
//! in.
//!
//! A kernel comes once for each type of elements. Those of a type for which programs have a custom
//! syntax are listed apart from the others, which are written in generic form. Tensors of other
//! kinds than dense ones can be printed here, too.

pub mod create;

pub mod fill;

pub mod compare;

pub mod buffers;

pub mod print;
