//! What is not supported.
//!
//! `tfrt import model.onnx` lists everything that a model needs and that is not there, at once.
//! [`supported_ops`](crate::import::supported_ops) names the ops that are.
//!
//! | not supported | instead |
//! |---|---|
//! | elements of 8-bit floating point and of fewer than 8 bits; texts | convert the weights |
//! | complex elements; sequences in sequences | |
//! | domains other than `ai.onnx`, unless the model defines their functions | |
//! | training: gradients and optimizers | |
//! | `Scan` before version 9 | convert the model to a newer opset |
//! | binary ops before version 7 with an `axis` | convert the model to a newer opset |
//!
//! Models of opset 1 to 27 are read. An op is taken in the version that the model means: what
//! changed since is translated.
