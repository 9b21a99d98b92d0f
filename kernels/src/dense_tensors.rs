//! `tfrt_dht.*` and `tfrt_dht_sync.*`: dense tensors in host memory, and their buffers.
//!
//! Each kernel has one instance for each element type. Instances with a custom syntax are listed
//! separately from those that are written in generic form. Tensors of other kinds can be printed
//! here, too.

pub mod create;

pub mod fill;

pub mod compare;

pub mod buffers;

pub mod print;
