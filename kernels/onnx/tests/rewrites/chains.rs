//! Chains of element-wise ops.

use super::*;
use tfrt::prelude::DType;

/// Adds a function of one or two values.
fn function(b: &mut Builder, number: usize, x: &str, other: &str) -> String {
    match number % 22 {
        0 => b.op("Add", &[x, other]),
        1 => b.op("Sub", &[other, x]),
        2 => b.op("Mul", &[x, other]),
        3 => b.op("Div", &[x, other]),
        4 => b.op("Max", &[other, x]),
        5 => b.op("Min", &[x, other]),
        6 => b.op("Abs", &[x]),
        7 => b.op("Exp", &[x]),
        8 => b.op("Log", &[x]),
        9 => b.op("Neg", &[x]),
        10 => b.op("Sigmoid", &[x]),
        11 => b.op("Sqrt", &[x]),
        12 => b.op("Tanh", &[x]),
        13 => b.op("Erf", &[x]),
        14 => b.op("Reciprocal", &[x]),
        15 => b.op("Relu", &[x]),
        16 => b.op("Softplus", &[x]),
        17 => b.op("HardSwish", &[x]),
        18 => b.op_with("LeakyRelu", &[x], &[float("alpha", 0.1)]),
        19 => b.op_with("Elu", &[x], &[]),
        20 => activation(b, x, "Clip"),
        _ => b.op("Mul", &[x, x]),
    }
}

#[test]
fn each_function_is_a_step_that_changes_no_bit() {
    for number in 0..22 {
        let mut b = Builder::new(300 + number as u64);
        let x = b.input("x", &[2, 3, 700]);
        let other = b.input("other", &[3, 700]);
        let y = function(&mut b, number, &x, &other);
        // The square root makes NaN of some numbers.
        let y = b.op("Sqrt", &[&y]);
        let y = function(&mut b, number, &y, &other);
        b.check_bits(CHAIN, 2, &[&y]);
    }
}

#[test]
fn chains_broadcast_as_their_ops_do() {
    let shapes: &[&[usize]] = &[
        &[],
        &[1],
        &[1, 1, 1],
        &[70],
        &[1, 70],
        &[3, 70],
        &[2, 3, 70],
        &[3, 1],
        &[2, 1, 1],
        &[2, 3, 1],
        &[2, 1, 70],
    ];
    let mut state = 5_usize;
    let mut random = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    for round in 0..60 {
        let mut b = Builder::new(400 + round);
        let x = b.input("x", &[2, 3, 70]);
        let mut made = vec![x.clone()];
        let num_ops = 2 + random(7);
        for at in 0..num_ops {
            let shape = shapes[random(shapes.len())];
            let other = match random(4) {
                0 => made[random(made.len())].clone(),
                1 => b.weight(shape),
                _ => b.input(&format!("i{at}"), shape),
            };
            let last = made.last().unwrap().clone();
            let next = function(&mut b, random(22), &last, &other);
            made.push(next);
        }
        let y = made.last().unwrap().clone();
        // Values that two ops of a chain use are in it, too.
        b.check_bits(CHAIN, num_ops - 1, &[&y]);
    }
}

#[test]
fn long_chains_are_several() {
    let mut b = Builder::new(500);
    let mut y = b.input("x", &[4, 5]);
    for _ in 0..40 {
        y = b.op("Tanh", &[&y]);
    }
    b.check_bits(CHAIN, 37, &[&y]);
    let mut program = b.program(&[&y]);
    program.rewrite(&RewriteRules::only([CHAIN]).unwrap());
    assert_eq!(program.num_ops, 3);
}

#[test]
fn chains_end_where_values_are_used_elsewhere_or_change_shape() {
    // A result of the model.
    let mut b = Builder::new(501);
    let x = b.input("x", &[4, 5]);
    let inner = b.op("Tanh", &[&x]);
    let y = b.op("Exp", &[&inner]);
    b.check_bits(CHAIN, 0, &[&y, &inner]);
    // Another op.
    let z = b.op_with("Softmax", &[&inner], &[int("axis", 0)]);
    b.check_bits(CHAIN, 0, &[&y, &z]);
    // Fewer elements, which would be computed again for each row.
    let mut b = Builder::new(502);
    let (x, row) = (b.input("x", &[4, 5]), b.input("row", &[5]));
    let row = b.op("Exp", &[&row]);
    let y = b.op("Add", &[&x, &row]);
    b.check_bits(CHAIN, 0, &[&y]);
    // Other element types.
    for dtype in [DType::F64, DType::F16] {
        let mut b = Builder::new(503);
        let x = b.input_of("x", dtype, &[4, 5]);
        let y = b.op("Tanh", &[&x]);
        let y = b.op("Exp", &[&y]);
        b.check_bits(CHAIN, 0, &[&y]);
    }
}

#[test]
fn chains_of_no_elements_have_none() {
    let mut b = Builder::new(504);
    let x = b.input("x", &[4, 0, 5]);
    let y = b.op("Tanh", &[&x]);
    let y = b.op("Exp", &[&y]);
    b.check_bits(CHAIN, 1, &[&y]);
}

#[test]
fn operands_that_cannot_be_broadcast_are_errors_in_chains_too() {
    let mut b = Builder::new(505);
    let x = b.input("x", &[4, 5]);
    let y = b.op("Tanh", &[&x]);
    let other = b.input("other", &[3, 5]);
    b.symbolic(&[0]);
    let y = b.op("Add", &[&y, &other]);
    assert!(b.rewritten(&[&y]).text.contains("nn.ElementWise"));
    let [plain, rewritten] = b.check_failure(&[&y]);
    assert!(
        plain.contains("Dimensions must be equal, but are 4 and 3"),
        "{plain}"
    );
    assert!(
        rewritten.contains("`nn.ElementWise`: [4, 5] and [3, 5] cannot be broadcast"),
        "{rewritten}"
    );
}

#[test]
fn a_chain_says_where_it_comes_from() {
    let mut b = Builder::new(506);
    let x = b.input("x", &[4, 5]);
    let y = b.op("Tanh", &[&x]);
    let y = b.op("Exp", &[&y]);
    let mut program = b.program(&[&y]);
    let applied = program.rewrite(&RewriteRules::default());
    let shown: Vec<String> = applied.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["`fuse-element-wise` at node 'Exp_1' (Exp)"]);
    assert!(
        program
            .text
            .contains("node 'Tanh_0' (Tanh), node 'Exp_1' (Exp)"),
        "{}",
        program.text
    );
}
