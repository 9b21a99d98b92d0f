//! `tf_sync.*`: TensorFlow's ops in synchronous functions, on tensors in host memory. What they
//! compute is written to an operand; there are no results.

pub mod constant;

pub mod binary;

pub mod unary;

pub mod products;

pub mod assemble;
