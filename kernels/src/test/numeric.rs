//! Kernels that compute with dense tensors: what programs for tests are made of, and what a small
//! neural network needs.
//!
//! Those that write a tensor of the program run as tasks and return a chain, unless they say
//! otherwise.

pub mod element_wise;

pub mod products;

pub mod rows;

pub mod network;
