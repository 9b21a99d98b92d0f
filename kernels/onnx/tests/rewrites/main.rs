//! Rewrites of imported models: each rule on random inputs, in the spellings of exporters. A
//! rewritten model must compute what the model as it is computes.

#[path = "../common/mod.rs"]
mod common;

mod activations;
mod attention;
mod batch_norm;
mod chains;
mod damaged;
mod einsum;
mod epilogues;
mod expansions;
mod heads;
mod identities;
mod known_sizes;
mod layout;
mod long;
mod misfits;
mod moves;
mod normalizations;
mod rotary;
mod sums;
mod widen;

use std::sync::Arc;

use common::builder::{Builder, folding};
use common::*;
use prost::Message;
use tfrt::host::HostContext;
use tfrt_import::Limits;
use tfrt_import::rewrite::RewriteRules;
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::ModelProto;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

/// The rule for ops that no other rule takes.
const CHAIN: &str = "fuse-element-wise";

/// Applies an activation, as a node or as pieces.
fn activation(b: &mut Builder, x: &str, name: &str) -> String {
    match name {
        "Clip" => {
            let (low, high) = (b.number(-0.25), b.number(0.5));
            b.op("Clip", &[x, &low, &high])
        }
        "LeakyRelu" => b.op_with("LeakyRelu", &[x], &[float("alpha", 0.1)]),
        "Silu" => {
            let gate = b.op("Sigmoid", &[x]);
            b.op("Mul", &[&gate, x])
        }
        "Gelu" => gelu(b, x, 0),
        "Mish" => {
            let inner = b.op("Softplus", &[x]);
            let gate = b.op("Tanh", &[&inner]);
            b.op("Mul", &[x, &gate])
        }
        other => b.op(other, &[x]),
    }
}

/// Gelu by the error function, in one of the spellings.
fn gelu(b: &mut Builder, x: &str, spelling: usize) -> String {
    let (one, half) = (b.number(1.0), b.number(0.5));
    let inner = match spelling % 2 {
        0 => {
            let root = b.number(std::f32::consts::SQRT_2);
            b.op("Div", &[x, &root])
        }
        _ => {
            let factor = b.number(std::f32::consts::FRAC_1_SQRT_2);
            b.op("Mul", &[&factor, x])
        }
    };
    let erf = b.op("Erf", &[&inner]);
    let sum = b.op("Add", &[&one, &erf]);
    match spelling / 2 {
        0 => {
            let product = b.op("Mul", &[x, &sum]);
            b.op("Mul", &[&product, &half])
        }
        1 => {
            let halved = b.op("Mul", &[&half, x]);
            b.op("Mul", &[&sum, &halved])
        }
        _ => {
            let two = b.number(2.0);
            let halved = b.op("Div", &[&sum, &two]);
            b.op("Mul", &[x, &halved])
        }
    }
}

#[test]
fn rules_that_are_switched_off_do_not_apply() {
    let mut b = Builder::new(101);
    let x = b.input("x", &[1, 3, 4, 4]);
    let w = b.weight(&[2, 3, 1, 1]);
    let y = b.op("Conv", &[&x, &w]);
    let y = b.op("Relu", &[&y]);
    let program = b.program(&[&y]);
    let count = |rules: &RewriteRules| {
        let mut program = program.clone();
        let applied = program.rewrite(rules);
        (applied.len(), program.num_ops)
    };
    assert_eq!(count(&RewriteRules::none()), (0, 2));
    let layouts = RewriteRules::default();
    assert_eq!(count(&layouts), (2, 3));
    let without = RewriteRules::without(["fuse-activation", "channels-last-convolution"]).unwrap();
    assert_eq!(count(&without), (0, 2));
}
