//! Conditions of rewrites: where a rule that looks only at the names of ops would change a result
//! or hide an error.

use std::sync::Arc;

use crate::common::builder::Builder;
use crate::common::*;
use prost::Message;
use tfrt::host::HostContext;
use tfrt::prelude::{DType, KernelRegistry};
use tfrt_import::program::{Program, Weight};
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::{AttributeProto, ValueInfoProto};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

#[test]
fn batch_norm_behind_groups_that_do_not_divide_stays() {
    let mut b = Builder::new(1);
    let x = b.input("x", &[1, 4, 3, 3]);
    let w = b.weight(&[4, 3, 2, 2]);
    let y = b.op_with("ConvTranspose", &[&x, &w], &[int("group", 3)]);
    let y = b.batch_norm(&y, 9);
    let [plain, rewritten] = b.check_failure(&[&y]);
    assert_eq!(plain, rewritten);
}

#[test]
fn batch_norm_scales_only_vectors_of_a_product() {
    for (dims, is_folded) in [
        (&[5][..], true),
        (&[1, 5], true),
        (&[3, 5], false),
        (&[3, 1], false),
        (&[1], false),
    ] {
        let mut b = Builder::new(2);
        let x = b.input("x", &[3, 4]);
        let (w, c) = (b.weight(&[4, 5]), b.weight(dims));
        let y = b.op("Gemm", &[&x, &w, &c]);
        let y = b.batch_norm(&y, 5);
        let rules = b.check(&[&y]);
        assert_eq!(rules.contains(&"fold-batch-norm"), is_folded, "{dims:?}");
    }
}

#[test]
fn a_bias_stays_outside_of_a_product_that_would_scale_it() {
    for (beta, is_fused) in [(1.0, true), (0.5, false)] {
        let mut b = Builder::new(3);
        let x = b.input("x", &[3, 4]);
        let (w, bias) = (b.weight(&[4, 5]), b.weight(&[5]));
        let y = b.op_with("Gemm", &[&x, &w], &[float("beta", beta)]);
        let y = b.op("Add", &[&y, &bias]);
        let rules = b.check(&[&y]);
        assert_eq!(rules.contains(&"fuse-bias"), is_fused, "{beta}");
    }
}

#[test]
fn images_of_other_numbers_are_pooled_as_they_lie() {
    let pools: [(&str, &[AttributeProto]); 3] = [
        ("MaxPool", &[ints("kernel_shape", &[2, 2])]),
        ("AveragePool", &[ints("kernel_shape", &[2, 2])]),
        ("GlobalAveragePool", &[]),
    ];
    for (op, attributes) in pools {
        // Half precision is converted to single precision first.
        for (dtype, is_moved) in [(DType::F32, true), (DType::F64, false), (DType::F16, true)] {
            let mut b = Builder::new(4);
            let x = b.input_of("x", dtype, &[1, 3, 4, 2]);
            let y = b.op_with("Transpose", &[&x], &[ints("perm", &[0, 3, 1, 2])]);
            let y = b.op_with(op, &[&y], attributes);
            let rules = b.check(&[&y]);
            assert_eq!(
                rules.contains(&"channels-last-window"),
                is_moved,
                "{op} of {dtype}"
            );
        }
    }
}

#[test]
fn masks_that_are_larger_than_the_scores_broadcast_them() {
    for (dims, is_fused) in [
        (&[2, 2, 5, 5][..], false),
        (&[1, 2, 5, 5], true),
        (&[1, 1, 1, 5], true),
    ] {
        let mut b = Builder::new(5);
        let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[1, 2, 5, 4]));
        let mask = b.input("mask", dims);
        let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
        let scores = b.op("MatMul", &[&q, &k]);
        let scores = b.op("Add", &[&scores, &mask]);
        let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
        let y = b.op("MatMul", &[&weights, &v]);
        let rules = b.check(&[&y]);
        assert_eq!(
            rules.contains(&"attention-from-pieces"),
            is_fused,
            "{dims:?}"
        );
    }
}

#[test]
fn squares_of_bfloat16_stay_powers() {
    let of_half = &["power-to-product", "widen-half-precision"][..];
    for (dtype, rules) in [(DType::Bf16, &[][..]), (DType::F16, of_half)] {
        let mut b = Builder::new(6);
        let x = b.input_of("x", dtype, &[2, 3]);
        let two = b.number(2.0);
        let y = b.op("Pow", &[&x, &two]);
        assert_eq!(b.check(&[&y]), rules, "{dtype}");
    }
}

#[test]
fn attention_scales_queries_and_keys() {
    let mut b = Builder::new(13);
    let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[1, 2, 5, 4]));
    let (of_q, of_k) = (b.number(0.25), b.number(3.0));
    let q = b.op("Mul", &[&q, &of_q]);
    let k = b.op("Mul", &[&k, &of_k]);
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
}

#[test]
fn masks_of_each_query_reach_beyond_the_first_tile() {
    let (queries, keys) = (150, 7);
    let mut b = Builder::new(14);
    let q = b.input("q", &[1, 2, queries, 4]);
    let [k, v] = ["k", "v"].map(|name| b.input(name, &[1, 2, keys, 4]));
    let mask = b.input("mask", &[queries, keys]);
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let scores = b.op("MatMul", &[&q, &k]);
    let scores = b.op("Add", &[&scores, &mask]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
}

#[test]
fn constants_that_make_a_result_larger_stay() {
    let mut b = Builder::new(15);
    let x = b.input("x", &[1, 3]);
    let ones = b.given(&[2, 3], &[1.0; 6]);
    let y = b.op("Mul", &[&x, &ones]);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

#[test]
fn weights_are_packed_for_each_direction_in_which_they_are_read() {
    // As many rows as make packing worthwhile, and a square weight, which fits both ways.
    let mut b = Builder::new(16);
    let x = b.input("x", &[40, 24]);
    let w = b.weight(&[24, 24]);
    let plain = b.op("Gemm", &[&x, &w]);
    let transposed = b.op_with("Gemm", &[&x, &w], &[int("transB", 1)]);
    let y = b.op("Sub", &[&plain, &transposed]);
    b.check(&[&y]);
}

#[test]
fn ops_that_replace_made_ops_come_before_their_users() {
    // The channels of the sum move twice: the second time, the sum that the first one has made is
    // replaced, and what is made for it comes later than what uses it.
    let mut b = Builder::new(7);
    let sides = ["a", "b"].map(|name| {
        let x = b.input(name, &[2, 3, 4, 5]);
        let y = b.op_with("Transpose", &[&x], &[ints("perm", &[0, 3, 1, 2])]);
        let y = b.op("Relu", &[&y]);
        b.op_with("Transpose", &[&y], &[ints("perm", &[0, 3, 1, 2])])
    });
    let y = b.op("Add", &[&sides[0], &sides[1]]);
    let rules = b.compare(&[&y]);
    assert!(rules.contains(&"channels-last-pairs"), "{rules:?}");
}

#[test]
fn transpositions_of_unknown_ranks_stay() {
    let mut b = Builder::new(8);
    let x = b.input("x", &[2, 3, 4]);
    let y = b.op_with("Transpose", &[&x], &[ints("perm", &[0, 3, 1, 2])]);
    let y = b.op("Relu", &[&y]);
    let y = b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 3, 1])]);
    let undeclared = |value: &mut ValueInfoProto| value.r#type = None;
    let [plain, rewritten] = b.check_failure_of(&[&y], undeclared);
    assert!(plain.contains("Transpose"), "{plain}");
    assert!(rewritten.contains("Transpose"), "{rewritten}");
}

#[test]
fn rules_that_do_not_apply_are_not_told() {
    let mut b = Builder::new(9);
    let x = b.input("x", &[3, 4]);
    let y = b.op("Relu", &[&x]);
    let mut program = b.program(&[&y]);
    assert_eq!(program.rewrite(&RewriteRules::default()), []);
}

/// The bytes of the weights of a program before and after all rewrites.
fn weights_bytes(b: &Builder, outputs: &[&str]) -> [usize; 2] {
    let mut program = b.program(outputs);
    let bytes = |program: &Program| {
        let weights = program.weights.iter();
        weights.map(Weight::len_bytes).sum()
    };
    let before = bytes(&program);
    program.rewrite(&RewriteRules::default());
    [before, bytes(&program)]
}

#[test]
fn filters_that_many_convolutions_use_are_moved_once() {
    let mut b = Builder::new(10);
    let mut y = b.input("x", &[1, 4, 5, 5]);
    let w = b.weight(&[4, 4, 1, 1]);
    for _ in 0..5 {
        y = b.op("Conv", &[&y, &w]);
    }
    assert_eq!(weights_bytes(&b, &[&y]), [64, 64]);
    b.check(&[&y]);
}

#[test]
fn many_filters_are_scaled_and_moved() {
    let mut b = Builder::new(17);
    let x = b.input("x", &[1, 5, 6, 6]);
    let w = b.weight(&[40, 5, 3, 2]);
    let y = b.op("Conv", &[&x, &w]);
    let y = b.batch_norm(&y, 40);
    assert_eq!(
        b.check(&[&y]),
        ["channels-last-convolution", "fold-batch-norm"]
    );
}

#[test]
fn copies_of_weights_that_many_ops_use_are_bounded() {
    let mut b = Builder::new(11);
    let mut y = b.input("x", &[1, 16, 2, 2]);
    let w = b.weight(&[16, 16, 1, 1]);
    for _ in 0..20 {
        y = b.op("Conv", &[&y, &w]);
        y = b.batch_norm(&y, 16);
    }
    assert!(b.check(&[&y]).contains(&"fold-batch-norm"));
    let [before, after] = weights_bytes(&b, &[&y]);
    assert!(after <= 2 * before, "{before} bytes became {after}");
}

/// Bytes that tell when nothing refers to them any more.
struct Watched {
    bytes: Vec<u8>,
    _watch: Arc<()>,
}

impl AsRef<[u8]> for Watched {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[test]
fn the_file_goes_once_most_weights_are_others() {
    let mut b = Builder::new(12);
    let x = b.input("x", &[1, 8, 3, 3]);
    // The filter is made anew, and outweighs the others, of which some are aligned in the file:
    // their names have one or two digits.
    let w = b.weight(&[8, 8, 3, 3]);
    let mut y = b.op("Conv", &[&x, &w]);
    for _ in 0..20 {
        let other = b.weight(&[1]);
        y = b.op("Mul", &[&y, &other]);
    }
    let watch = Arc::new(());
    let bytes = Watched {
        bytes: b.model(&[&y]).encode_to_vec(),
        _watch: Arc::clone(&watch),
    };
    let model = Model::from_bytes(bytes, &Limits::default()).unwrap();
    let program = model.import(&Options::default()).unwrap();
    drop(model);
    assert!(Arc::strong_count(&watch) > 1, "weights lie in the file");
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let session = Session::load(program, "model.onnx", &host).unwrap();
    assert_eq!(Arc::strong_count(&watch), 1, "{session:?} keeps the file");
}
