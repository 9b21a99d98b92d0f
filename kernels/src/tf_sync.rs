//! `tf_sync.*`: TensorFlow's ops in synchronous functions, on tensors in host memory. They write
//! their result to an operand, and have no results.

pub mod constant;

pub mod binary;

pub mod unary;

pub mod products;

pub mod assemble;
