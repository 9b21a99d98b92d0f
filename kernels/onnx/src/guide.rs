//! The guide to models of other systems: pages without code.
//!
//! | page | answers |
//! |---|---|
//! | [`run_your_model`] | How do I run an ONNX model, from the command line and from Rust? |
//! | [`supported_ops`] | Which ops are supported, and in which versions? |
//! | [`not_supported`] | Which features are unsupported, and how do I find out? |
//! | [`add_an_op`] | How do I add an ONNX op? |

pub mod run_your_model;

pub mod supported_ops;

pub mod not_supported;

pub mod add_an_op;
