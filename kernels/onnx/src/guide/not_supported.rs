//! Unsupported features of ONNX.
//!
//! `tfrt import model.onnx` lists all unsupported parts of a model at once.
//! [`supported_ops`](super::supported_ops) lists the supported ops, and
//! [`import::supported_ops`](crate::import::supported_ops) returns them.
//!
//! | not supported | instead |
//! |---|---|
//! | elements of 8-bit floating point and of fewer than 8 bits (`Cast`, `CastLike`, `QuantizeLinear` and `DequantizeLinear` of them) | convert the weights |
//! | texts: `RegexFullMatch`, `StringConcat`, `StringNormalizer`, `StringSplit`, `TfIdfVectorizer`, `Cast` and `Equal` of texts | prepare them before the model |
//! | `FlexAttention`, whose operands are graphs | `Attention` with masks |
//! | `ImageDecoder` | decode images before the model, see `tfrt data` |
//! | complex elements; sequences in sequences | |
//! | ops of domains other than `ai.onnx`, among them `ai.onnx.ml`, unless the model defines them as functions | write them yourself, see [`add_an_op`](super::add_an_op) |
//! | importer functions of kernel libraries | `#[onnx_op]` on a `#[tfrt_op]` |
//! | training: gradients and optimizers (`Adagrad`, `Adam`, `Momentum`) | |
//!
//! Models of opset 1 to 27 are read. An op is interpreted in the version that the model uses; later
//! changes are translated.
