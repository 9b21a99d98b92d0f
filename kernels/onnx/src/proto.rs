//! The messages of ONNX, as their definition `proto/onnx-ml.proto` makes them (ONNX 1.22.0,
//! Apache-2.0).
//!
//! Fields of type `bytes` are slices of what a message is read from. A test compares the code in
//! the tree with what the definition makes.
#![expect(
    missing_docs,
    clippy::doc_markdown,
    reason = "the definition documents them"
)]

include!("proto/messages.rs");
