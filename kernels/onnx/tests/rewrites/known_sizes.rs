//! Sizes that are computed from shapes.

use tfrt_import::program::Program;

use super::*;

/// Returns the types of the outputs as they follow from the inputs.
fn inferred(program: &Program) -> Vec<String> {
    let outputs = program.inferred_outputs().into_iter();
    outputs.map(|output| output.to_string()).collect()
}

/// Adds what picks elements of the shape of a value.
fn picked(b: &mut Builder, x: &str, axes: &[i64]) -> String {
    let shape = b.op("Shape", &[x]);
    let axes = b.integers(axes);
    b.op_with("Gather", &[&shape, &axes], &[int("axis", 0)])
}

fn concatenated(b: &mut Builder, parts: &[&str]) -> String {
    b.op_with("Concat", parts, &[int("axis", 0)])
}

#[test]
fn reshapes_take_sizes_from_their_operand() {
    let mut b = Builder::new(211);
    let x = b.input("x", &[2, 5, 12]);
    b.symbolic(&[0, 1]);
    let (own, rest) = (picked(&mut b, &x, &[0, 1]), b.integers(&[3, 4]));
    let sizes = concatenated(&mut b, &[&own, &rest]);
    let heads = b.op("Reshape", &[&x, &sizes]);
    // The number of all rows is a product of sizes.
    let (first, second) = (picked(&mut b, &x, &[0]), picked(&mut b, &x, &[1]));
    let rows = b.op("Mul", &[&first, &second]);
    let width = b.integers(&[12]);
    let sizes = concatenated(&mut b, &[&rows, &width]);
    let rows = b.op_with("Reshape", &[&x, &sizes], &[int("allowzero", 1)]);
    // A size of 0 is that of the operand, which is 0 then.
    let all = b.integers(&[12]);
    let all = b.op("Mul", &[&second, &all]);
    let sizes = concatenated(&mut b, &[&first, &all]);
    let columns = b.op("Flatten", &[&x]);
    let columns = b.op("Relu", &[&columns]);
    let columns = b.op("Reshape", &[&columns, &sizes]);
    let outputs = [&*heads, &*rows, &*columns];
    assert_eq!(
        inferred(&b.program(&outputs)),
        ["f32 [x0, x1, 3, 4]", "f32 [x0*x1, 12]", "f32 [x0, 12*x1]"]
    );
    let rules = b.check(&outputs);
    assert!(rules.contains(&"reshape-to-known-sizes"), "{rules:?}");
    let program = b.rewritten(&outputs[..2]);
    assert_eq!(program.num_ops, 2, "{}", program.text);

    let mut b = Builder::new(217);
    let x = b.input("x", &[4, 5, 3]);
    b.symbolic(&[1]);
    let (count, three) = (picked(&mut b, &x, &[1]), b.integers(&[3]));
    let columns = b.op("Mul", &[&count, &three]);
    let four = b.integers(&[4]);
    let sizes = concatenated(&mut b, &[&four, &columns]);
    let y = b.op("Reshape", &[&x, &sizes]);
    assert_eq!(b.check(&[&y]), ["reshape-to-known-sizes"]);
}

#[test]
fn a_size_of_zero_stays_that_of_the_operand() {
    for allows_zero in [false, true] {
        let mut b = Builder::new(218);
        let x = b.input("x", &[5, 0]);
        b.symbolic(&[1]);
        let (count, five) = (picked(&mut b, &x, &[1]), b.integers(&[5]));
        let sizes = concatenated(&mut b, &[&count, &five]);
        let attributes = [int("allowzero", allows_zero.into())];
        let y = b.op_with("Reshape", &[&x, &sizes], &attributes);
        if allows_zero {
            assert_eq!(b.check(&[&y]), ["reshape-to-known-sizes"]);
            continue;
        }
        // `[0, 5]` is `[5, 5]`, which is too large.
        let [plain, rewritten] = b.check_failure(&[&y]);
        assert_eq!(plain, rewritten);
    }
}

#[test]
fn what_is_left_beside_a_size_of_zero_is_zero() {
    for rows in [0, 2] {
        let mut b = Builder::new(219);
        let x = b.input("x", &[rows, 4]);
        b.symbolic(&[0]);
        let (count, rest) = (picked(&mut b, &x, &[0]), b.integers(&[-1]));
        let sizes = concatenated(&mut b, &[&count, &rest]);
        let y = b.op("Reshape", &[&x, &sizes]);
        let columns = b.integers(&[-1, 2]);
        let pairs = b.op("Reshape", &[&x, &columns]);
        assert_eq!(
            inferred(&b.program(&[&y, &pairs])),
            ["f32 [x0, ?]", "f32 [2*x0, 2]"]
        );
        let sum = b.op_with("ReduceSum", &[&y], &[int("keepdims", 0)]);
        let list = b.weight(&[4]);
        let list = b.op("Add", &[&sum, &list]);
        let (zero, end) = (b.integers(&[0]), picked(&mut b, &y, &[1]));
        let part = b.op("Slice", &[&list, &zero, &end, &zero]);
        b.check(&[&part]);
    }
}

/// Adds integers as a matrix of one row.
fn row(b: &mut Builder, values: &[i64]) -> String {
    let name = b.integers(values);
    let weight = b.weights.last_mut().expect("there is a weight");
    weight.dims.insert(0, 1);
    name
}

#[test]
fn ops_that_compute_sizes_keep_their_errors() {
    /// Makes sizes of a matrix from its shape, by an op that fails.
    type Sizes = fn(&mut Builder, &str) -> String;
    let cases: [(&str, Sizes); 10] = [
        ("the axis of a slice", |b, shape| {
            let [zero, two, axis] = [0, 2, 5].map(|number| b.integers(&[number]));
            b.op("Slice", &[shape, &zero, &two, &axis])
        }),
        ("the axis of a gather", |b, shape| {
            let indices = b.integers(&[0, 1]);
            b.op_with("Gather", &[shape, &indices], &[int("axis", 1)])
        }),
        ("sizes in a row", |b, shape| {
            let indices = row(b, &[0, 1]);
            b.op("Gather", &[shape, &indices])
        }),
        ("an index", |b, shape| {
            let indices = b.integers(&[0, 2]);
            b.op("Gather", &[shape, &indices])
        }),
        ("a list of another length", |b, shape| {
            let (rows, three) = (b.integers(&[0]), b.integers(&[3]));
            let rows = b.op("Gather", &[shape, &rows]);
            let rows = b.op("Reshape", &[&rows, &three]);
            let columns = b.integers(&[-1]);
            concatenated(b, &[&rows, &columns])
        }),
        ("the axis of a new dimension", |b, shape| {
            let (rows, axis) = (b.integers(&[0]), b.integers(&[7]));
            let rows = b.op("Gather", &[shape, &rows]);
            let rows = b.op("Unsqueeze", &[&rows, &axis]);
            let columns = b.integers(&[-1]);
            concatenated(b, &[&rows, &columns])
        }),
        ("a matrix of sizes", |b, shape| {
            let (rows, axis) = (b.integers(&[0]), b.integers(&[0]));
            let rows = b.op("Gather", &[shape, &rows]);
            b.op("Unsqueeze", &[&rows, &axis])
        }),
        ("the axis of a dropped dimension", |b, shape| {
            let (rows, axis) = (b.integers(&[0]), b.integers(&[3]));
            let rows = b.op("Gather", &[shape, &rows]);
            b.op("Squeeze", &[&rows, &axis])
        }),
        ("the axis of lists", |b, shape| {
            let (rows, columns) = (b.integers(&[0]), b.integers(&[-1]));
            let rows = b.op("Gather", &[shape, &rows]);
            b.op_with("Concat", &[&rows, &columns], &[int("axis", 1)])
        }),
        ("a division by 0, whose result is not taken", |b, shape| {
            let (by, rows) = (b.integers(&[1, 0]), b.integers(&[0]));
            let quotients = b.op("Div", &[shape, &by]);
            let rows = b.op("Gather", &[&quotients, &rows]);
            let columns = b.integers(&[-1]);
            concatenated(b, &[&rows, &columns])
        }),
    ];
    for (case, sizes) in cases {
        for user in ["Reshape", "Expand"] {
            let mut b = Builder::new(220);
            let x = b.input("x", &[2, 3]);
            b.symbolic(&[0, 1]);
            let shape = b.op("Shape", &[&x]);
            let sizes = sizes(&mut b, &shape);
            let y = b.op(user, &[&x, &sizes]);
            let [plain, rewritten] = b.check_failure(&[&y]);
            assert_eq!(plain, rewritten, "{case}: {user}");
        }
    }
}

#[test]
fn a_slice_along_one_axis_twice_stays_an_error() {
    let mut b = Builder::new(221);
    let x = b.input("x", &[2, 3]);
    b.symbolic(&[0, 1]);
    let (start, end, axes) = (
        b.integers(&[0, 0]),
        picked(&mut b, &x, &[0, 0]),
        b.integers(&[0, -2]),
    );
    let y = b.op("Slice", &[&x, &start, &end, &axes]);
    let [plain, rewritten] = b.check_failure(&[&y]);
    assert_eq!(plain, rewritten);
}

#[test]
fn integers_that_wrap_are_not_followed() {
    for (factor, is_followed) in [(1 << 62, false), (1 << 20, true)] {
        let mut b = Builder::new(222);
        let x = b.input("x", &[4]);
        b.symbolic(&[0]);
        let (shape, factor, zero) = (
            b.op("Shape", &[&x]),
            b.integers(&[factor]),
            b.integers(&[0]),
        );
        let end = b.op("Mul", &[&shape, &factor]);
        let end = b.op("Div", &[&end, &factor]);
        let y = b.op("Slice", &[&x, &zero, &end, &zero]);
        assert_eq!(b.check(&[&y]).contains(&"drop-slice"), is_followed);
    }
}

#[test]
fn ranges_may_have_steps_of_any_size() {
    let mut b = Builder::new(223);
    let x = b.input("x", &[6]);
    b.symbolic(&[0]);
    let numbers = [6, 8, 1 << 60].map(|number| {
        let name = b.integers(&[number]);
        b.weights
            .last_mut()
            .expect("there is a weight")
            .dims
            .clear();
        name
    });
    let sizes = b.op("Range", &numbers.each_ref().map(String::as_str));
    let y = b.op("Reshape", &[&x, &sizes]);
    assert_eq!(inferred(&b.program(&[&y])), ["f32 [6]"]);
    b.check(&[&y]);
}

#[test]
fn sizes_that_may_be_zero_stay_computed() {
    let mut b = Builder::new(212);
    let x = b.input("x", &[0, 6, 4]);
    b.symbolic(&[0, 1]);
    // `-1` would stand for no row at all: `[0, 6, 4]` has `[0, 24]`, not `[0, 0]`.
    let (first, second) = (picked(&mut b, &x, &[0]), picked(&mut b, &x, &[1]));
    let width = b.integers(&[4]);
    let width = b.op("Mul", &[&second, &width]);
    let sizes = concatenated(&mut b, &[&first, &width]);
    let y = b.op("Reshape", &[&x, &sizes]);
    assert_eq!(inferred(&b.program(&[&y])), ["f32 [x0, 4*x1]"]);
    let rules = b.check(&[&y]);
    assert!(!rules.contains(&"reshape-to-known-sizes"), "{rules:?}");
}

#[test]
fn sizes_of_other_values_stay_if_their_errors_would_vanish() {
    let mut b = Builder::new(213);
    let x = b.input("x", &[2, 3]);
    b.symbolic(&[0]);
    let wrong = b.integers(&[7, 7]);
    let other = b.op("Reshape", &[&x, &wrong]);
    let product = b.op("MatMul", &[&x, &other]);
    let count = picked(&mut b, &product, &[0]);
    let rest = b.integers(&[3]);
    let sizes = concatenated(&mut b, &[&count, &rest]);
    let y = b.op("Reshape", &[&x, &sizes]);
    let [plain, rewritten] = b.check_failure(&[&y]);
    assert_eq!(plain, rewritten);
}

#[test]
fn what_changes_nothing_vanishes() {
    let mut b = Builder::new(214);
    let x = b.input("x", &[2, 5]);
    b.symbolic(&[0, 1]);
    let shape = b.op("Shape", &[&x]);
    let y = b.op("Expand", &[&x, &shape]);
    let y = b.op("Relu", &[&y]);
    let (zero, end, axis) = (b.integers(&[0]), picked(&mut b, &x, &[1]), b.integers(&[1]));
    let y = b.op("Slice", &[&y, &zero, &end, &axis]);
    let rules = b.check(&[&y]);
    for rule in ["drop-expand", "drop-slice"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    let program = b.rewritten(&[&y]);
    assert_eq!(program.num_ops, 1, "{}", program.text);

    // A part is a part, and a new dimension is one.
    let mut b = Builder::new(215);
    let x = b.input("x", &[4, 5]);
    b.symbolic(&[0, 1]);
    let (two, count) = (b.integers(&[2]), picked(&mut b, &x, &[0]));
    let end = b.op("Div", &[&count, &two]);
    let zero = b.integers(&[0]);
    let part = b.op("Slice", &[&x, &zero, &end, &zero]);
    let times = b.integers(&[3]);
    let own = b.op("Shape", &[&x]);
    let shape = concatenated(&mut b, &[&times, &own]);
    let wide = b.op("Expand", &[&x, &shape]);
    let outputs = [&*part, &*wide];
    assert_eq!(
        inferred(&b.program(&outputs)),
        ["f32 [x0 floordiv 2, x1]", "f32 [3, x0, x1]"]
    );
    let rules = b.check(&outputs);
    assert!(
        !rules.iter().any(|rule| rule.starts_with("drop-")),
        "{rules:?}"
    );
}

#[test]
fn sizes_follow_from_those_of_the_inputs() {
    let mut b = Builder::new(216);
    let past = b.input("past", &[1, 3, 8]);
    b.symbolic(&[1]);
    let step = b.input("step", &[1, 2, 8]);
    b.symbolic(&[1]);
    let all = b.op_with("Concat", &[&past, &step], &[int("axis", 1)]);
    let twice = b.integers(&[1, 2, 1]);
    let tiled = b.op("Tile", &[&all, &twice]);
    let flat = b.op_with("Flatten", &[&all], &[int("axis", 2)]);
    let (zero, one, two) = (b.integers(&[0]), b.integers(&[1]), b.integers(&[2]));
    let second = b.op("Slice", &[&all, &zero, &one, &one, &two]);
    let every = b.integers(&[i64::MAX]);
    let every = b.op("Slice", &[&all, &zero, &every, &one, &two]);
    let pads = b.integers(&[0, 1, 0, 0, 1, 0]);
    let padded = b.op("Pad", &[&step, &pads]);
    let outputs = [&*all, &*tiled, &*flat, &*second, &*every, &*padded];
    assert_eq!(
        inferred(&b.program(&outputs)),
        [
            "f32 [1, past1+step1, 8]",
            "f32 [1, 2*past1+2*step1, 8]",
            "f32 [past1+step1, 8]",
            "f32 [1, (min(1, past1+step1)+1) floordiv 2, 8]",
            "f32 [1, (past1+step1+1) floordiv 2, 8]",
            "f32 [1, step1+2, 8]",
        ]
    );
    b.check(&outputs);
}
