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
    let rows = b.op("Reshape", &[&x, &sizes]);
    let outputs = [&*heads, &*rows];
    assert_eq!(
        inferred(&b.program(&outputs)),
        ["f32 [x0, x1, 3, 4]", "f32 [x0*x1, 12]"]
    );
    let rules = b.check(&outputs);
    assert!(rules.contains(&"reshape-to-known-sizes"), "{rules:?}");
    let program = b.rewritten(&outputs);
    assert_eq!(program.num_ops, 2, "{}", program.text);
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
