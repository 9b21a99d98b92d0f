//! Reading models and making programs of them: one binary, since linking one for each module would
//! take much longer.

#[path = "../common/mod.rs"]
mod common;

mod folding;
mod messages;
mod packing;
mod quantized;
mod reading;
mod rewrite_conditions;
mod supported_ops;
