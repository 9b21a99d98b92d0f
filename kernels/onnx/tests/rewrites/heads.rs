//! Heads of attention inside of the rows of products.

use super::*;
use tfrt::prelude::DType;
use tfrt_onnx::proto::NodeProto;

const HEADS: &str = "heads-into-attention";

/// The extents of an attention.
#[derive(Clone, Copy, Debug)]
struct Extents {
    batch: usize,
    queries: usize,
    keys: usize,
    heads: usize,
    /// The heads of keys and values.
    shared: usize,
    size: usize,
    value_size: usize,
}

/// Moves the heads of rows into matrices of their own.
fn split(b: &mut Builder, x: &str, shape: &[i64]) -> String {
    let shape = b.integers(shape);
    let y = b.op("Reshape", &[x, &shape]);
    b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])])
}

/// Repeats heads, as exporters do.
fn repeat(b: &mut Builder, x: &str, extents: Extents, size: usize) -> String {
    let Extents {
        batch,
        keys,
        heads,
        shared,
        ..
    } = extents;
    if heads == shared {
        return x.to_owned();
    }
    let axis = b.integers(&[2]);
    let y = b.op("Unsqueeze", &[x, &axis]);
    let dims = [batch, shared, heads / shared, keys, size].map(|extent| extent as i64);
    let shape = b.integers(&dims);
    let y = b.op("Expand", &[&y, &shape]);
    let dims = [batch, heads, keys, size].map(|extent| extent as i64);
    let shape = b.integers(&dims);
    b.op("Reshape", &[&y, &shape])
}

/// Adds attention to heads, and joins its heads again.
fn attention(b: &mut Builder, [q, k, v]: [&str; 3], mask: Option<&str>) -> String {
    let k = b.op_with("Transpose", &[k], &[ints("perm", &[0, 1, 3, 2])]);
    let mut scores = b.op("MatMul", &[q, &k]);
    if let Some(mask) = mask {
        scores = b.op("Add", &[&scores, mask]);
    }
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, v]);
    b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])])
}

/// Adds a product with a bias.
fn linear(b: &mut Builder, x: &str, inside: usize, outside: usize) -> String {
    let (w, bias) = (b.weight(&[inside, outside]), b.weight(&[outside]));
    let y = b.op("MatMul", &[x, &w]);
    b.op("Add", &[&bias, &y])
}

fn check_sides(seed: u64, extents: Extents, is_half: bool) {
    let Extents {
        batch,
        queries,
        keys,
        heads,
        shared,
        size,
        value_size,
    } = extents;
    let mut b = Builder::new(seed);
    let width = 24;
    let [x, memory] = [("x", queries), ("memory", keys)].map(|(name, rows)| {
        let dtype = if is_half { DType::F16 } else { DType::F32 };
        let x = b.input_of(name, dtype, &[batch, rows, width]);
        match is_half {
            true => b.op_with("Cast", &[&x], &[int("to", 1)]),
            false => x,
        }
    });
    let mut side = |x: &str, heads: usize, size: usize| {
        let mut y = linear(&mut b, x, width, heads * size);
        if is_half {
            y = b.op_with("Cast", &[&y], &[int("to", 10)]);
        }
        split(&mut b, &y, &[0, 0, heads as i64, size as i64])
    };
    let q = side(&x, heads, size);
    let (k, v) = (
        side(&memory, shared, size),
        side(&memory, shared, value_size),
    );
    let (k, v) = (
        repeat(&mut b, &k, extents, size),
        repeat(&mut b, &v, extents, value_size),
    );
    let y = attention(&mut b, [&q, &k, &v], None);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&HEADS), "{extents:?}: {rules:?}");
    let text = b.rewritten(&[&y]).text;
    assert_eq!(text.matches("nn.Transpose").count(), 1, "{text}");
    b.check_threads(&[&y]);
}

#[test]
fn heads_are_read_where_they_lie() {
    let all = [
        // Few queries read keys in one piece, more of them pack keys, and tiles have 64.
        [2, 3, 5, 3, 3, 8, 8],
        [1, 20, 7, 2, 2, 8, 4],
        [2, 70, 70, 3, 3, 16, 16],
        [1, 130, 9, 1, 1, 5, 7],
        // Grouped heads.
        [2, 20, 20, 6, 2, 8, 8],
        [1, 4, 70, 4, 2, 8, 3],
        [1, 1, 1, 2, 2, 1, 1],
    ];
    for (seed, numbers) in all.into_iter().enumerate() {
        let [batch, queries, keys, heads, shared, size, value_size] = numbers;
        let extents = Extents {
            batch,
            queries,
            keys,
            heads,
            shared,
            size,
            value_size,
        };
        for is_half in [false, true] {
            check_sides(600 + seed as u64, extents, is_half);
        }
    }
}

/// Adds queries, keys and values that are pieces of one product.
fn pieces(b: &mut Builder, x: &str, sizes: [usize; 3], axis: i64) -> [String; 3] {
    let sizes = b.integers(&sizes.map(|size| size as i64));
    let names = ["q", "k", "v"].map(|name| format!("{name} of {x}"));
    let split = NodeProto {
        name: Some("split".into()),
        output: names.to_vec(),
        ..with(node("Split", &[x, &sizes], &[]), &[int("axis", axis)])
    };
    b.nodes.push(split);
    names
}

#[test]
fn pieces_of_one_product_are_read_where_they_lie() {
    for axis in [-1, 2] {
        for mask in [None, Some([2, 1, 1, 19]), Some([2, 2, 19, 19])] {
            let mut b = Builder::new(620);
            let x = b.input("x", &[2, 19, 12]);
            let all = linear(&mut b, &x, 12, 16 + 16 + 8);
            let [q, k, v] = pieces(&mut b, &all, [16, 16, 8], axis);
            let [q, k, v] = [(q, 8), (k, 8), (v, 4)]
                .map(|(side, size)| split(&mut b, &side, &[0, -1, 2, size]));
            let mask = mask.map(|dims| b.input("mask", &dims));
            let y = attention(&mut b, [&q, &k, &v], mask.as_deref());
            let rules = b.check(&[&y]);
            assert!(rules.contains(&HEADS), "{rules:?}");
            let text = b.rewritten(&[&y]).text;
            assert!(!text.contains("nn.Split"), "{text}");
            b.check_threads(&[&y]);
        }
    }
}

#[test]
fn heads_are_read_where_they_lie_in_batches_of_any_size() {
    for (is_longer, heads) in [(false, 2), (true, 2)] {
        let mut b = Builder::new(630);
        let x = b.input("x", &[3, 5, 16]);
        b.symbolic(&[0, 1]);
        let [q, k, v] = [(); 3].map(|()| {
            let y = linear(&mut b, &x, 16, 16);
            split(&mut b, &y, &[0, 0, heads, 8])
        });
        // Nothing says that the mask does not have more heads or queries than the scores.
        let mask = b.input("mask", &[3, if is_longer { 2 } else { 1 }, 5, 5]);
        b.symbolic(&[1, 2]);
        let y = attention(&mut b, [&q, &k, &v], Some(&mask));
        let rules = b.check(&[&y]);
        assert!(rules.contains(&HEADS), "{rules:?}");
    }
}

#[test]
fn masks_with_more_queries_stretch_heads_inside_of_rows() {
    let mut b = Builder::new(640);
    let x = b.input("x", &[2, 1, 16]);
    b.symbolic(&[1]);
    let memory = b.input("memory", &[2, 6, 16]);
    let [q, k, v] = [&x, &memory, &memory].map(|x| {
        let y = linear(&mut b, x, 16, 16);
        split(&mut b, &y, &[0, 0, 2, 8])
    });
    let mask = b.input("mask", &[2, 1, 4, 6]);
    let y = attention(&mut b, [&q, &k, &v], Some(&mask));
    let rules = b.check(&[&y]);
    assert!(rules.contains(&HEADS), "{rules:?}");
}

/// Returns heads, and what else is an output of the model.
type Change = dyn Fn(&mut Builder, &str) -> (String, Option<String>);

#[test]
fn heads_with_other_users_and_other_shapes_stay() {
    let transposes = |change: &Change| {
        let mut b = Builder::new(650);
        let x = b.input("x", &[2, 6, 16]);
        let [k, v] = ["k", "v"].map(|name| b.input(name, &[2, 2, 6, 8]));
        let q = linear(&mut b, &x, 16, 16);
        let (q, other) = change(&mut b, &q);
        let y = attention(&mut b, [&q, &k, &v], None);
        let outputs: Vec<&str> = std::iter::once(&y)
            .chain(&other)
            .map(String::as_str)
            .collect();
        b.check(&outputs).contains(&HEADS)
    };
    assert!(transposes(&|b, q| (split(b, q, &[0, 0, 2, 8]), None)));
    assert!(transposes(&|b, q| (split(b, q, &[2, -1, 2, 8]), None)));
    assert!(transposes(&|b, q| (split(b, q, &[-1, 6, 2, 8]), None)));
    // Somebody else asks for the heads.
    assert!(!transposes(&|b, q| {
        let q = split(b, q, &[0, 0, 2, 8]);
        (q.clone(), Some(q))
    }));
    // Heads are not what a row consists of.
    assert!(!transposes(&|b, q| {
        let q = b.op_with("Transpose", &[q], &[ints("perm", &[1, 0, 2])]);
        (split(b, &q, &[2, 6, 2, 8]), None)
    }));
    assert!(!transposes(&|b, q| {
        let shape = b.integers(&[2, 2, 6, 8]);
        (b.op("Reshape", &[q, &shape]), None)
    }));
    // Pieces along another axis are not columns.
    assert!(transposes(&|b, q| {
        let all = b.op_with("Concat", &[q, q], &[int("axis", 1)]);
        let [q, ..] = pieces(b, &all, [6, 3, 3], 1);
        (split(b, &q, &[0, 0, 2, 8]), None)
    }));
}
