//! Sums, and rows of tables, with the normalization of their rows.

use super::*;
use tfrt::prelude::DType;
use tfrt_onnx::proto::TensorProto;

const SUM: &str = "sum-into-norm";
const GATHER: &str = "gather-into-norm";

/// Adds a normalization of rows of a length: of layers, or by the root mean square.
fn norm(b: &mut Builder, x: &str, len: usize, is_centred: bool) -> String {
    let scale = b.weight(&[len]);
    if is_centred {
        let bias = b.weight(&[len]);
        return b.op("LayerNormalization", &[x, &scale, &bias]);
    }
    let (epsilon, two) = (b.number(1e-6), b.number(2.0));
    let squares = b.op("Pow", &[x, &two]);
    let mean = b.op_with("ReduceMean", &[&squares], &[ints("axes", &[-1])]);
    let sum = b.op("Add", &[&mean, &epsilon]);
    let root = b.op("Sqrt", &[&sum]);
    let y = b.op("Div", &[x, &root]);
    b.op("Mul", &[&y, &scale])
}

/// Adds an operand of indices.
fn indices(b: &mut Builder, dims: &[i64], values: &[i64]) -> String {
    let name = b.integers(values);
    b.weights.last_mut().unwrap().dims = dims.to_vec();
    name
}

/// Adds the rows of a table that numbers name. They are computed from an input, so that nothing is
/// known but their shape.
fn embedding(b: &mut Builder, input: &str, table: &str, dims: &[usize]) -> String {
    let x = b.input(input, dims);
    let four = b.number(4.0);
    let x = b.op("Mul", &[&x, &four]);
    let ids = b.op_with("Cast", &[&x], &[int("to", 7)]);
    b.op_with("Gather", &[table, &ids], &[int("axis", 0)])
}

fn has(rules: &[&str], rule: &str) -> bool {
    rules.contains(&rule)
}

#[test]
fn sums_are_added_where_their_rows_are_normalized() {
    // Few rows, and so many that several threads take part; rows of odd lengths.
    for (seed, (dims, other)) in [
        ([2, 3, 20], &[2, 3, 20][..]),
        ([2, 3, 20], &[3, 20]),
        ([2, 3, 20], &[1, 20]),
        ([2, 3, 20], &[20]),
        ([2, 3, 20], &[2, 1, 20]),
        ([1, 1, 1], &[1]),
        ([3, 200, 129], &[3, 200, 129]),
    ]
    .into_iter()
    .enumerate()
    {
        for is_centred in [true, false] {
            for is_kept in [false, true] {
                let mut b = Builder::new(500 + seed as u64);
                let (x, skip) = (b.input("x", &dims), b.input("skip", other));
                let x = b.op("Tanh", &[&x]);
                let sum = b.op("Add", &[&x, &skip]);
                let y = norm(&mut b, &sum, dims[2], is_centred);
                // The sum has another user, as that of the next block.
                let z = b.op("Add", &[&y, &sum]);
                let outputs: &[&str] = if is_kept { &[&z] } else { &[&y] };
                let rules = b.check(outputs);
                assert!(has(&rules, SUM), "{dims:?}, {other:?}: {rules:?}");
                b.check_threads(outputs);
            }
        }
    }
}

#[test]
fn sums_that_are_asked_for_stay_outputs() {
    let mut b = Builder::new(520);
    let (x, skip) = (b.input("x", &[2, 3, 8]), b.input("skip", &[2, 3, 8]));
    let sum = b.op("Add", &[&x, &skip]);
    let y = norm(&mut b, &sum, 8, true);
    let rules = b.check(&[&sum, &y]);
    assert!(has(&rules, SUM), "{rules:?}");
    b.check_bits(SUM, 1, &[&sum, &y]);
}

#[test]
fn sums_of_several_tensors_keep_their_order() {
    // The second summand is the sum of others in two of three cases.
    for order in 0..3 {
        let mut b = Builder::new(530 + order);
        let [u, v, w] = ["u", "v", "w"].map(|name| b.input(name, &[4, 6, 24]));
        let inner = b.op("Add", &[&u, &v]);
        let sum = match order {
            0 => b.op("Add", &[&inner, &w]),
            1 => b.op("Add", &[&w, &inner]),
            _ => {
                let other = b.op("Add", &[&w, &u]);
                b.op("Add", &[&other, &inner])
            }
        };
        let y = norm(&mut b, &sum, 24, true);
        b.check_bits(SUM, 2, &[&y]);
        b.check_bits(SUM, 2, &[&sum, &y]);
        b.check(&[&y]);
    }
}

#[test]
fn parts_of_sums_that_have_other_users_stay() {
    let mut b = Builder::new(540);
    let [u, v, w] = ["u", "v", "w"].map(|name| b.input(name, &[2, 3, 8]));
    let inner = b.op("Add", &[&u, &v]);
    let sum = b.op("Add", &[&inner, &w]);
    let y = norm(&mut b, &sum, 8, true);
    b.check_bits(SUM, 1, &[&inner, &y]);
    // A part that is broadcast later is added once.
    let mut b = Builder::new(541);
    let [u, v] = ["u", "v"].map(|name| b.input(name, &[8]));
    let w = b.input("w", &[2, 3, 8]);
    let inner = b.op("Add", &[&u, &v]);
    let sum = b.op("Add", &[&inner, &w]);
    let y = norm(&mut b, &sum, 8, true);
    b.check_bits(SUM, 1, &[&y]);
}

#[test]
fn sums_stay_where_nothing_is_saved_or_rows_are_not_theirs() {
    let rules_of =
        |dims: &[usize], other: &[usize], dtype, change: &dyn Fn(&mut Builder, &str) -> String| {
            let mut b = Builder::new(550);
            let (x, skip) = (
                b.input_of("x", dtype, dims),
                b.input_of("skip", dtype, other),
            );
            let sum = b.op("Add", &[&x, &skip]);
            let y = change(&mut b, &sum);
            b.check(&[&y])
        };
    let layer = |axis: i64, dims: &'static [usize]| {
        move |b: &mut Builder, sum: &str| {
            let scale = b.weight(dims);
            b.op_with("LayerNormalization", &[sum, &scale], &[int("axis", axis)])
        }
    };
    assert!(has(
        &rules_of(&[2, 3, 8], &[2, 3, 8], DType::F32, &layer(-1, &[8])),
        SUM
    ));
    assert!(has(
        &rules_of(&[2, 3, 8], &[2, 3, 8], DType::F32, &layer(2, &[8])),
        SUM
    ));
    // Rows over several axes, a summand that is stretched within rows, a scale for other rows.
    assert!(!has(
        &rules_of(&[2, 3, 8], &[2, 3, 8], DType::F32, &layer(1, &[3, 8])),
        SUM
    ));
    assert!(!has(
        &rules_of(&[2, 3, 8], &[2, 3, 1], DType::F32, &layer(-1, &[8])),
        SUM
    ));
    assert!(!has(
        &rules_of(&[2, 3, 8], &[2, 3, 8], DType::F32, &layer(-1, &[3, 8])),
        SUM
    ));
    assert!(!has(
        &rules_of(&[2, 3, 8], &[2, 3, 8], DType::F32, &layer(-1, &[1])),
        SUM
    ));
    // A product adds its summand itself.
    let mut b = Builder::new(551);
    let (x, skip) = (b.input("x", &[2, 3, 8]), b.input("skip", &[2, 3, 8]));
    let w = b.weight(&[8, 8]);
    let product = b.op("MatMul", &[&x, &w]);
    let sum = b.op("Add", &[&product, &skip]);
    let y = norm(&mut b, &sum, 8, true);
    let rules = b.check(&[&y]);
    assert!(has(&rules, "fuse-sum") && !has(&rules, SUM), "{rules:?}");
    // The scale is computed from the sum.
    let mut b = Builder::new(552);
    let (x, skip) = (b.input("x", &[1, 8]), b.input("skip", &[1, 8]));
    let sum = b.op("Add", &[&x, &skip]);
    let shape = b.integers(&[8]);
    let scale = b.op("Reshape", &[&sum, &shape]);
    let y = b.op("LayerNormalization", &[&sum, &scale]);
    let rules = b.check(&[&y]);
    assert!(!has(&rules, SUM), "{rules:?}");
}

#[test]
fn embeddings_are_looked_up_where_their_rows_are_normalized() {
    for (seed, is_kept) in [(560, false), (561, true)] {
        let mut b = Builder::new(seed);
        let len = 24;
        let tables = [b.weight(&[9, len]), b.weight(&[9, len])];
        let words = embedding(&mut b, "words", &tables[0], &[2, 5]);
        let kinds = embedding(&mut b, "kinds", &tables[1], &[1, 5]);
        let positions = b.weight(&[1, 5, len]);
        let sum = b.op("Add", &[&words, &positions]);
        let sum = b.op("Add", &[&kinds, &sum]);
        let y = norm(&mut b, &sum, len, true);
        let outputs: &[&str] = if is_kept { &[&sum, &y] } else { &[&y] };
        let rules = b.check(outputs);
        assert!(has(&rules, SUM) && has(&rules, GATHER), "{rules:?}");
        b.check_bits(SUM, 2, outputs);
        assert!(!b.rewritten(outputs).text.contains("nn.Gather"));
        b.check_threads(outputs);
    }
}

#[test]
fn one_embedding_is_normalized_without_a_sum() {
    let mut b = Builder::new(570);
    let table = b.weight(&[9, 16]);
    let words = embedding(&mut b, "words", &table, &[2, 3]);
    let y = norm(&mut b, &words, 16, false);
    let rules = b.check(&[&y]);
    assert!(has(&rules, GATHER) && !has(&rules, SUM), "{rules:?}");
    b.check_bits(GATHER, 0, &[&words, &y]);
}

#[test]
fn other_gathers_stay() {
    // Along another axis, from a table of another rank, and with another user.
    for case in 0..3 {
        let mut b = Builder::new(580 + case);
        let x = b.input("x", &[2, 3, 8]);
        let (ids, y) = match case {
            0 => {
                let table = b.input("table", &[3, 8]);
                (indices(&mut b, &[8], &[1; 8]), (table, 1))
            }
            1 => {
                let table = b.input("table", &[4, 3, 8]);
                (indices(&mut b, &[2], &[3, -1]), (table, 0))
            }
            _ => {
                let table = b.input("table", &[4, 8]);
                (indices(&mut b, &[2, 3], &[0, 1, 2, 3, -1, -4]), (table, 0))
            }
        };
        let (table, axis) = y;
        let rows = b.op_with("Gather", &[&table, &ids], &[int("axis", axis)]);
        let sum = b.op("Add", &[&x, &rows]);
        let y = norm(&mut b, &sum, 8, true);
        let other = b.op("Neg", &[&rows]);
        let rules = b.check(&[&y, &other]);
        assert!(
            has(&rules, SUM) && !has(&rules, GATHER),
            "{case}: {rules:?}"
        );
        let rules = b.check(&[&y]);
        assert_eq!(has(&rules, GATHER), case == 2, "{case}: {rules:?}");
    }
}

#[test]
fn indices_out_of_range_are_errors_of_looking_up() {
    for index in [9, -10] {
        let mut b = Builder::new(590);
        let table = b.input("table", &[9, 16]);
        let ids = TensorProto {
            name: Some("ids".into()),
            data_type: Some(7),
            dims: vec![1],
            raw_data: Some(i64::to_le_bytes(index).to_vec().into()),
            ..Default::default()
        };
        b.weights.push(ids);
        let rows = b.op_with("Gather", &[&table, "ids"], &[int("axis", 0)]);
        let y = norm(&mut b, &rows, 16, true);
        let text = b.rewritten(&[&y]).text;
        assert!(!text.contains("nn.Gather\""), "{text}");
        let [plain, rewritten] = b.check_failure(&[&y]);
        assert_eq!(plain, rewritten);
        assert!(
            plain.contains(&format!("index {index} is out of range")),
            "{plain}"
        );
    }
}
