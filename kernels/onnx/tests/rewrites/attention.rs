//! Attention from pieces.

use super::*;
use tfrt::prelude::DType;
use tfrt_onnx::proto::{NodeProto, TensorProto};

#[test]
fn attention_is_recognised() {
    for (seed, with_mask) in [(80, false), (81, true)] {
        let mut b = Builder::new(seed);
        let (length, heads, size) = (70, 3, 8);
        let x = b.input("x", &[2, length, heads * size]);
        let shape = b.integers(&[0, 0, heads as i64, size as i64]);
        let side = |b: &mut Builder, perm: &[i64]| {
            let w = b.weight(&[heads * size, heads * size]);
            let y = b.op("MatMul", &[&x, &w]);
            let y = b.op("Reshape", &[&y, &shape]);
            b.op_with("Transpose", &[&y], &[ints("perm", perm)])
        };
        let q = side(&mut b, &[0, 2, 1, 3]);
        let k = side(&mut b, &[0, 2, 3, 1]);
        let v = side(&mut b, &[0, 2, 1, 3]);
        let scores = b.op("MatMul", &[&q, &k]);
        let root = b.number((size as f32).sqrt());
        let mut scores = b.op("Div", &[&scores, &root]);
        if with_mask {
            let mask = b.input("mask", &[2, 1, 1, length]);
            scores = b.op("Add", &[&scores, &mask]);
        }
        let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
        let y = b.op("MatMul", &[&weights, &v]);
        let y = b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])]);
        let rules = b.check(&[&y]);
        for rule in ["attention-from-pieces", "transpose-into-product"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
    }
}

#[test]
fn attention_is_recognised_as_torch_writes_it() {
    for (seed, zeroes) in [(90, false), (91, true)] {
        let mut b = Builder::new(seed);
        let (length, heads, size) = (9, 2, 8);
        let x = b.input("x", &[2, length, heads * size]);
        // Embeddings of positions are the first rows of a table.
        let table = b.weight(&[1, 2 * length, heads * size]);
        let (start, end, axis) = (
            b.integers(&[0]),
            b.integers(&[length as i64]),
            b.integers(&[1]),
        );
        let positions = b.op("Slice", &[&table, &start, &end, &axis]);
        let x = b.op("Add", &[&x, &positions]);
        let w = b.weight(&[heads * size, 3 * heads * size]);
        let all = b.op("MatMul", &[&x, &w]);
        let sizes = b.integers(&[(heads * size) as i64; 3]);
        let split = NodeProto {
            name: Some("split".into()),
            output: vec!["q".into(), "k".into(), "v".into()],
            ..with(node("Split", &[&all, &sizes], &[]), &[int("axis", -1)])
        };
        b.nodes.push(split);
        let shape = b.integers(&[0, -1, heads as i64, size as i64]);
        let side = |b: &mut Builder, x: &str, perm: &[i64]| {
            let y = b.op("Reshape", &[x, &shape]);
            b.op_with("Transpose", &[&y], &[ints("perm", perm)])
        };
        let (q, k, v) = (
            side(&mut b, "q", &[0, 2, 1, 3]),
            side(&mut b, "k", &[0, 2, 3, 1]),
            side(&mut b, "v", &[0, 2, 1, 3]),
        );
        let root = b.number((size as f32).powf(-0.25));
        let (q, k) = (b.op("Mul", &[&q, &root]), b.op("Mul", &[&root, &k]));
        let scores = b.op("MatMul", &[&q, &k]);
        // With the mask, all keys of the first query are hidden.
        let mut hidden = vec![0.0; length * length];
        if zeroes {
            hidden[..length].fill(f32::NEG_INFINITY);
        }
        let mask = b.given(&[length, length], &hidden);
        let scores = b.op("Add", &[&scores, &mask]);
        let mut weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
        if zeroes {
            let is_nan = b.op("IsNaN", &[&weights]);
            let zero = b.number(0.0);
            weights = b.op("Where", &[&is_nan, &zero, &weights]);
        }
        let y = b.op("MatMul", &[&weights, &v]);
        let rules = b.check(&[&y]);
        for rule in ["attention-from-pieces", "scale-before-transpose"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
    }
}

#[test]
fn attention_is_recognised_behind_computed_shapes() {
    let mut b = Builder::new(93);
    let (length, heads, size) = (5, 2, 8);
    let x = b.input("x", &[3, length, heads * size]);
    // As many examples as the input has, counted again for each reshape.
    let zero = b.integers(&[0]);
    let first = b.given(&[], &[0.0]);
    b.weights.pop();
    let index = TensorProto {
        name: Some(first.clone()),
        data_type: Some(7),
        raw_data: Some(0_i64.to_le_bytes().to_vec().into()),
        ..Default::default()
    };
    b.weights.push(index);
    let rest = b.integers(&[-1, heads as i64, size as i64]);
    let one = b.integers(&[1]);
    let side = |b: &mut Builder, slices: bool| {
        let w = b.weight(&[heads * size, heads * size]);
        let y = b.op("MatMul", &[&x, &w]);
        let shape = b.op("Shape", &[&y]);
        let count = if slices {
            b.op("Slice", &[&shape, &zero, &one])
        } else {
            let count = b.op_with("Gather", &[&shape, &first], &[int("axis", 0)]);
            b.op("Unsqueeze", &[&count, &zero])
        };
        let shape = b.op_with("Concat", &[&count, &rest], &[int("axis", 0)]);
        let y = b.op("Reshape", &[&y, &shape]);
        b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])])
    };
    let (q, k, v) = (side(&mut b, false), side(&mut b, true), side(&mut b, true));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
}

#[test]
fn attention_keeps_nan_that_the_model_keeps() {
    // The choice is between other values than those that are asked.
    let mut b = Builder::new(92);
    let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[2, 3, 4]));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 2, 1])]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let is_nan = b.op("IsNaN", &[&scores]);
    let zero = b.number(0.0);
    let weights = b.op("Where", &[&is_nan, &zero, &weights]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(!rules.contains(&"attention-from-pieces"), "{rules:?}");
}

/// What hides scores: a choice between them and a number.
struct Choice {
    number: f32,
    /// Whether scores are chosen where the mask is true.
    keeps: bool,
    /// Whether a mask is added before scores are hidden, or after, or not at all.
    adds: Option<bool>,
}

#[test]
fn attention_hides_scores_by_a_choice() {
    let choices = [
        (f32::NEG_INFINITY, false, None),
        (f32::NEG_INFINITY, true, Some(true)),
        (-1e4, true, None),
        (f32::MIN, false, Some(false)),
        (-1e9, true, Some(true)),
        (-1e9, true, Some(false)),
    ];
    for (seed, (number, keeps, adds)) in choices.into_iter().enumerate() {
        let choice = Choice {
            number,
            keeps,
            adds,
        };
        for (queries, keys) in [(5, 5), (70, 9)] {
            check_choice(200 + seed as u64, &choice, queries, keys);
        }
    }
}

fn check_choice(seed: u64, choice: &Choice, queries: usize, keys: usize) {
    let mut b = Builder::new(seed);
    let [q, k, v] = [("q", queries), ("k", keys), ("v", keys)]
        .map(|(name, length)| b.input(name, &[2, 3, length, 8]));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let mut scores = b.op("MatMul", &[&q, &k]);
    let root = b.number(8.0);
    let root = b.op("Sqrt", &[&root]);
    scores = b.op("Div", &[&scores, &root]);
    let added = b.input("added", &[2, 1, 1, keys]);
    if choice.adds == Some(true) {
        scores = b.op("Add", &[&scores, &added]);
    }
    // Some scores are hidden in each row.
    let asked = b.weight(&[queries, keys]);
    let limit = b.number(0.5);
    let mut mask = b.op("Less", &[&asked, &limit]);
    if !choice.keeps {
        mask = b.op("Not", &[&mask]);
    }
    let hidden = b.number(choice.number);
    scores = match choice.keeps {
        true => b.op("Where", &[&mask, &scores, &hidden]),
        false => b.op("Where", &[&mask, &hidden, &scores]),
    };
    if choice.adds == Some(false) {
        scores = b.op("Add", &[&added, &scores]);
    }
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", 3)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
}

#[test]
fn attention_is_recognised_as_keras_writes_it() {
    // Queries, keys and values are [batch, length, heads, size].
    let mut b = Builder::new(210);
    let (length, heads, size) = (6, 3, 8);
    let x = b.input("x", &[2, length, heads * size]);
    let shape = b.integers(&[2, length as i64, heads as i64, size as i64]);
    let side = |b: &mut Builder| {
        let w = b.weight(&[heads * size, heads * size]);
        let y = b.op("MatMul", &[&x, &w]);
        b.op("Reshape", &[&y, &shape])
    };
    let (q, k, v) = (side(&mut b), side(&mut b), side(&mut b));
    let scale = b.number(1.0 / (size as f32).sqrt());
    let q = b.op("Mul", &[&q, &scale]);
    let scores = b.op_with("Einsum", &[&k, &q], &[text("equation", "aecd,abcd->acbe")]);
    let mask = b.input("mask", &[2, 1, 1, length]);
    let scores = b.op("Add", &[&scores, &mask]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op_with(
        "Einsum",
        &[&weights, &v],
        &[text("equation", "acbe,aecd->abcd")],
    );
    let shape = b.integers(&[2, length as i64, (heads * size) as i64]);
    let y = b.op("Reshape", &[&y, &shape]);
    let rules = b.check(&[&y]);
    for rule in ["attention-from-pieces", "product-from-einsum"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
}

#[test]
fn attention_has_scales_of_shapes() {
    let mut b = Builder::new(230);
    let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[2, 3, 5, 16]));
    let shape = b.op("Shape", &[&q]);
    let (start, end) = (b.integers(&[-1]), b.integers(&[i64::MAX]));
    let size = b.op("Slice", &[&shape, &start, &end]);
    let size = b.op_with("Cast", &[&size], &[int("to", 1)]);
    let root = b.op("Sqrt", &[&size]);
    let one = b.given(&[1], &[1.0]);
    let scale = b.op("Div", &[&one, &root]);
    let scale = b.op("Sqrt", &[&scale]);
    let q = b.op("Mul", &[&q, &scale]);
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let k = b.op("Mul", &[&k, &scale]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    // The type that the weights have already.
    let weights = b.op_with("Cast", &[&weights], &[int("to", 1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    for rule in ["attention-from-pieces", "drop-cast", "fold-constants"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
}

/// Returns the reasons why attention does not apply.
fn reasons(b: &Builder, outputs: &[&str]) -> Vec<String> {
    let mut program = b.program(outputs);
    let rewriting = program.rewrite_and_fold(&RewriteRules::default(), common::builder::folding());
    let missed = rewriting.missed.iter().map(ToString::to_string);
    missed.collect()
}

#[test]
fn a_near_miss_is_explained() {
    let attention = |change: &dyn Fn(&mut Builder, &str, &str) -> Vec<String>| {
        let mut b = Builder::new(240);
        let [q, k] = ["q", "k"].map(|name| b.input(name, &[2, 3, 5, 4]));
        let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
        let scores = b.op("MatMul", &[&q, &k]);
        let outputs = change(&mut b, &scores, &q);
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        b.check(&outputs);
        reasons(&b, &outputs)
    };
    let end = |b: &mut Builder, scores: &str, v: &str| {
        let weights = b.op_with("Softmax", &[scores], &[int("axis", -1)]);
        [b.op("MatMul", &[&weights, v]), weights]
    };
    let check = |found: Vec<String>, reason: &str| {
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = "`attention-from-pieces` does not apply at node 'MatMul_";
        assert!(
            found[0].starts_with(expected) && found[0].ends_with(reason),
            "{found:?}"
        );
    };
    let whole = attention(&|b, scores, q| {
        let [y, _] = end(b, scores, q);
        vec![y]
    });
    assert_eq!(whole, [""; 0]);
    let found = attention(&|b, scores, q| end(b, scores, q).to_vec());
    check(found, ": the weights have other users");
    let found = attention(&|b, scores, q| {
        let [y, _] = end(b, scores, q);
        vec![y, scores.to_owned()]
    });
    check(found, ": the scores have other users");
    let found = attention(&|b, scores, _| {
        let v = b.input("v", &[1, 3, 5, 4]);
        let [y, _] = end(b, scores, &v);
        vec![y]
    });
    check(
        found,
        ": queries, keys and values are not known to have the same batches and heads",
    );
    let found = attention(&|b, scores, q| {
        let mask = b.input("mask", &[2, 2, 3, 5, 5]);
        let scores = b.op("Add", &[scores, &mask]);
        let [y, _] = end(b, &scores, q);
        vec![y]
    });
    check(found, ": the mask is larger than the scores");
    let found = attention(&|b, scores, q| {
        let (limit, other) = (b.number(0.0), b.input("other", &[2, 3, 5, 5]));
        let mask = b.op("Less", &[&other, &limit]);
        let scores = b.op("Where", &[&mask, &other, scores]);
        let [y, _] = end(b, &scores, q);
        vec![y]
    });
    check(found, ": hidden scores are not all one constant");
}

#[test]
fn scores_that_are_an_output_stay() {
    let mut b = Builder::new(82);
    let (q, k) = (b.input("q", &[1, 2, 5, 4]), b.input("k", &[1, 2, 5, 4]));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let v = b.input("v", &[1, 2, 5, 4]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    assert_eq!(b.check(&[&y, &weights]), ["transpose-into-product"]);
    assert_eq!(
        b.check(&[&y]),
        ["attention-from-pieces", "transpose-into-product"]
    );
}

/// Adds `softmax(q · kᵀ) · v`.
fn plain_attention(b: &mut Builder, q: &str, k: &str, v: &str, mask: Option<&str>) -> String {
    let k = b.op_with("Transpose", &[k], &[ints("perm", &[0, 1, 3, 2])]);
    let mut scores = b.op("MatMul", &[q, &k]);
    if let Some(mask) = mask {
        scores = b.op("Add", &[&scores, mask]);
    }
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    b.op("MatMul", &[&weights, v])
}

#[test]
fn attention_of_half_precision_is_recognised() {
    for dtype in [DType::F16, DType::Bf16] {
        for has_mask in [false, true] {
            let mut b = Builder::new(240);
            let q = b.input_of("q", dtype, &[2, 3, 20, 8]);
            let k = b.input_of("k", dtype, &[2, 3, 7, 8]);
            let v = b.input_of("v", dtype, &[2, 3, 7, 5]);
            let mask = has_mask.then(|| b.input_of("mask", dtype, &[20, 7]));
            let y = plain_attention(&mut b, &q, &k, &v, mask.as_deref());
            let rules = b.check(&[&y]);
            assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
        }
    }
    // Kernels do not convert.
    let mut b = Builder::new(241);
    let [q, k, v] = ["q", "k", "v"].map(|name| b.input_of(name, DType::F64, &[1, 2, 5, 4]));
    let y = plain_attention(&mut b, &q, &k, &v, None);
    assert!(!b.check(&[&y]).contains(&"attention-from-pieces"));
}

/// Repeats each head, as exporters write it.
fn repeated(b: &mut Builder, x: &str, dims: [i64; 4], times: i64) -> String {
    let [batch, heads, rows, columns] = dims;
    let axis = b.integers(&[2]);
    let x = b.op("Unsqueeze", &[x, &axis]);
    let shape = b.integers(&[batch, heads, times, rows, columns]);
    let x = b.op("Expand", &[&x, &shape]);
    let shape = b.integers(&[batch, heads * times, rows, columns]);
    b.op("Reshape", &[&x, &shape])
}

#[test]
fn attention_shares_keys_and_values_between_heads() {
    // With few queries and with many, which are packed.
    for queries in [1, 5, 70] {
        for dtype in [DType::F32, DType::F16] {
            let mut b = Builder::new(242);
            let q = b.input_of("q", dtype, &[2, 6, queries, 8]);
            let k = b.input_of("k", dtype, &[2, 2, 7, 8]);
            let v = b.input_of("v", dtype, &[2, 2, 7, 5]);
            let mask = b.input_of("mask", dtype, &[2, 1, queries, 7]);
            let k = repeated(&mut b, &k, [2, 2, 7, 8], 3);
            let v = repeated(&mut b, &v, [2, 2, 7, 5], 3);
            let y = plain_attention(&mut b, &q, &k, &v, Some(&mask));
            let rules = b.check(&[&y]);
            assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
            let text = b.rewritten(&[&y]).text;
            assert!(text.contains("groups = 3"), "{text}");
            assert!(!text.contains("nn.Expand"), "{text}");
        }
    }
}

/// Repeats each head as [`repeated`] does, of `x` with these dimensions before the last two, and
/// joins all of them to one dimension of heads.
fn repeated_flat(b: &mut Builder, x: &str, outer: &[i64], matrix: [i64; 2], times: i64) -> String {
    let axis = b.integers(&[outer.len() as i64]);
    let x = b.op("Unsqueeze", &[x, &axis]);
    let shape = b.integers(&[outer, &[times], &matrix[..]].concat());
    let x = b.op("Expand", &[&x, &shape]);
    let heads = outer.iter().product::<i64>() * times;
    let shape = b.integers(&[&[heads], &matrix[..]].concat());
    b.op("Reshape", &[&x, &shape])
}

/// Attention of three dimensions, of which the first is that of heads.
fn flat_attention(b: &mut Builder, q: &str, k: &str, v: &str) -> String {
    let k = b.op_with("Transpose", &[k], &[ints("perm", &[0, 2, 1])]);
    let scores = b.op("MatMul", &[q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    b.op("MatMul", &[&weights, v])
}

#[test]
fn attention_of_three_dimensions_shares_keys_and_values_between_heads() {
    for outer in [&[4][..], &[2, 2]] {
        for (queries, dtype) in [(5, DType::F32), (70, DType::F16)] {
            let mut b = Builder::new(246);
            let dims = |matrix: [usize; 2]| {
                let outer = outer.iter().map(|&extent| extent as usize);
                outer.chain(matrix).collect::<Vec<usize>>()
            };
            let q = b.input_of("q", dtype, &[12, queries, 8]);
            let k = b.input_of("k", dtype, &dims([7, 8]));
            let v = b.input_of("v", dtype, &dims([7, 5]));
            let k = repeated_flat(&mut b, &k, outer, [7, 8], 3);
            let v = repeated_flat(&mut b, &v, outer, [7, 5], 3);
            let y = flat_attention(&mut b, &q, &k, &v);
            let rules = b.check(&[&y]);
            assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
            let text = b.rewritten(&[&y]).text;
            assert!(text.contains("groups = 3"), "{text}");
            assert!(!text.contains("nn.Expand"), "{text}");
        }
    }
}

#[test]
fn heads_of_three_dimensions_that_are_not_repeated_in_a_row_are_not_shared() {
    let mut b = Builder::new(247);
    let q = b.input("q", &[12, 5, 8]);
    let sides = ["k", "v"].map(|name| {
        let x = b.input(name, &[4, 7, 8]);
        let axis = b.integers(&[0]);
        let x = b.op("Unsqueeze", &[&x, &axis]);
        let shape = b.integers(&[3, 4, 7, 8]);
        let x = b.op("Expand", &[&x, &shape]);
        let shape = b.integers(&[12, 7, 8]);
        b.op("Reshape", &[&x, &shape])
    });
    let y = flat_attention(&mut b, &q, &sides[0], &sides[1]);
    assert!(b.check(&[&y]).contains(&"attention-from-pieces"));
    assert!(!b.rewritten(&[&y]).text.contains("groups"));
}

#[test]
fn attention_shares_the_only_head_of_keys_and_values() {
    let mut b = Builder::new(243);
    let q = b.input("q", &[2, 6, 5, 8]);
    let (k, v) = (b.input("k", &[2, 1, 7, 8]), b.input("v", &[2, 1, 7, 4]));
    let y = plain_attention(&mut b, &q, &k, &v, None);
    assert!(b.check(&[&y]).contains(&"attention-from-pieces"));
    assert!(b.rewritten(&[&y]).text.contains("groups = 6"));
}

#[test]
fn heads_that_are_repeated_differently_are_not_shared() {
    // Each head of keys twice in a row, and all heads of values twice.
    let mut b = Builder::new(244);
    let q = b.input("q", &[2, 4, 5, 8]);
    let (k, v) = (b.input("k", &[2, 2, 7, 8]), b.input("v", &[2, 2, 7, 8]));
    let k = repeated(&mut b, &k, [2, 2, 7, 8], 2);
    let axis = b.integers(&[1]);
    let v = b.op("Unsqueeze", &[&v, &axis]);
    let shape = b.integers(&[2, 2, 2, 7, 8]);
    let v = b.op("Expand", &[&v, &shape]);
    let shape = b.integers(&[2, 4, 7, 8]);
    let v = b.op("Reshape", &[&v, &shape]);
    let y = plain_attention(&mut b, &q, &k, &v, None);
    assert!(b.check(&[&y]).contains(&"attention-from-pieces"));
    assert!(!b.rewritten(&[&y]).text.contains("groups"));
}

#[test]
fn a_mask_may_have_more_queries_and_heads_than_the_scores() {
    for (mask_dims, axes) in [
        (&[1, 1, 5, 7][..], &[2][..]),
        (&[1, 2, 1, 7], &[1]),
        (&[3, 1, 5, 7], &[0, 2]),
    ] {
        let mut b = Builder::new(245);
        let heads = if mask_dims[1] == 1 { 2 } else { 1 };
        let q = b.input("q", &[1, heads, 1, 4]);
        b.symbolic(&[0, 1, 2]);
        let k = b.input("k", &[1, heads, 7, 4]);
        let v = b.input("v", &[1, heads, 7, 3]);
        // One symbol for the batch, and one for the heads.
        for input in &mut b.inputs[1..] {
            (input.symbolic, input.symbols) = (vec![0, 1], "q".into());
        }
        let mask = b.input("mask", mask_dims);
        b.symbolic(axes);
        let y = plain_attention(&mut b, &q, &k, &v, Some(&mask));
        let rules = b.check(&[&y]);
        assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
    }
}
