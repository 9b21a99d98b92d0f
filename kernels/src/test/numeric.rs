//! Kernels on dense tensors, for test programs and small neural networks.
//!
//! Kernels that write a tensor of the program run as tasks and return a chain, unless documented
//! otherwise.

pub mod element_wise;

pub mod products;

pub mod rows;

pub mod network;
