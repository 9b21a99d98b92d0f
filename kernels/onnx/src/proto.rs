//! The messages of ONNX, generated from their definition `proto/onnx-ml.proto` (ONNX 1.22.0,
//! Apache-2.0).
//!
//! Fields of type `bytes` are slices of the source of a message. A test compares the code in the
//! tree with the generated one.
#![expect(
    missing_docs,
    clippy::doc_markdown,
    reason = "the definition documents them"
)]

include!("proto/messages.rs");
