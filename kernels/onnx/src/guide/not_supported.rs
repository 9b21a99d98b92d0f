//! What is not supported.
//!
//! `tfrt import model.onnx` lists everything that a model needs and that is not there, at once. [`supported_ops`](crate::import::supported_ops)
//! names the ops that are.
//!
//! | not supported | instead |
//! |---|---|
//! | control flow (`If`, `Loop`, `Scan`), sequences and optionals | export with fixed shapes and control flow unrolled |
//! | quantized ops (`QuantizeLinear`, `QLinearMatMul`, …) | export in single precision |
//! | recurrent layers (`LSTM`, `GRU`, `RNN`), `Einsum`, `GridSample`, signal processing | |
//! | elements of 8-bit floating point and of fewer than 8 bits; texts | convert the weights |
//! | complex elements | |
//! | domains other than `ai.onnx`, unless the model defines their functions | |
//! | training: `Dropout` with a ratio above 0, losses, optimizers | |
//! | binary ops before version 7 with an `axis` | convert the model to a newer opset |
//!
//! Models of opset 1 to 27 are read. An op is taken in the version that the model means: what changed since is translated.
