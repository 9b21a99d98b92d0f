//! Unsupported features of ONNX.
//!
//! `tfrt import model.onnx` lists all unsupported parts of a model at once.
//! [`supported_ops`](crate::import::supported_ops) returns the supported ops.
//!
//! | not supported | instead |
//! |---|---|
//! | elements of 8-bit floating point and of fewer than 8 bits; texts | convert the weights |
//! | complex elements; sequences in sequences | |
//! | domains other than `ai.onnx`, unless the model defines their functions | |
//! | training: gradients and optimizers | |
//!
//! Models of opset 1 to 27 are read. An op is interpreted in the version that the model uses; later
//! changes are translated.
