//! Ops that do nothing, and several ops that are one.

use super::*;

#[test]
fn conversions_to_other_types_stay() {
    let mut b = Builder::new(231);
    let x = b.input("x", &[2, 3]);
    let y = b.op_with("Cast", &[&x], &[int("to", 11)]);
    let y = b.op_with("Cast", &[&y], &[int("to", 1)]);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

#[test]
fn ops_that_do_nothing_go() {
    let mut b = Builder::new(90);
    let x = b.input("x", &[2, 3]);
    let (one, zero) = (b.number(1.0), b.number(0.0));
    let y = b.op("Mul", &[&one, &x]);
    let y = b.op("Add", &[&y, &zero]);
    let y = b.op("Sub", &[&y, &zero]);
    let y = b.op("Div", &[&y, &one]);
    let y = b.op("Relu", &[&y]);
    assert_eq!(
        b.check(&[&y]),
        [
            "drop-difference-from-zero",
            "drop-product-with-one",
            "drop-quotient-by-one",
            "drop-sum-with-zero"
        ]
    );

    // What changes the shape stays.
    let mut b = Builder::new(91);
    let x = b.input("x", &[2, 3]);
    let one = b.given(&[1, 1, 1], &[1.0]);
    let y = b.op("Mul", &[&one, &x]);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

#[test]
fn powers_are_products_and_roots() {
    let mut b = Builder::new(92);
    let x = b.input("x", &[2, 3]);
    let (two, half) = (b.number(2.0), b.number(0.5));
    let square = b.op("Pow", &[&x, &two]);
    let y = b.op("Pow", &[&square, &half]);
    assert_eq!(b.check(&[&y]), [CHAIN, "power-to-product"]);
}

#[test]
fn transposes_join_and_move_into_products() {
    let mut b = Builder::new(93);
    let x = b.input("x", &[2, 3, 4]);
    let y = b.op_with("Transpose", &[&x], &[ints("perm", &[1, 2, 0])]);
    let y = b.op_with("Transpose", &[&y], &[ints("perm", &[2, 0, 1])]);
    let y = b.op("Abs", &[&y]);
    assert_eq!(b.check(&[&y]), ["join-transposes"]);

    for side in 0..2 {
        let mut b = Builder::new(94);
        let x = b.input("x", &[2, 3, 4]);
        let z = b.input("z", &[2, 3, 4]);
        let turned = b.op_with("Transpose", &[&x], &[ints("perm", &[0, 2, 1])]);
        let operands: [&str; 2] = if side == 0 {
            [&turned, &z]
        } else {
            [&z, &turned]
        };
        let y = b.op("MatMul", &operands);
        assert_eq!(b.check(&[&y]), ["transpose-into-product"]);
    }
}

#[test]
fn reshapes_join_if_the_first_cannot_fail() {
    let mut b = Builder::new(95);
    let x = b.input("x", &[2, 3, 4]);
    let (first, second) = (b.integers(&[6, -1]), b.integers(&[4, 6]));
    let y = b.op("Reshape", &[&x, &first]);
    let y = b.op("Reshape", &[&y, &second]);
    assert_eq!(b.check(&[&y]), ["join-reshapes"]);
}

#[test]
fn padding_joins_convolutions_and_means() {
    let mut b = Builder::new(96);
    let x = b.input("x", &[1, 2, 5, 4]);
    let pads = b.integers(&[0, 0, 1, 2, 0, 0, 0, 1]);
    let w = b.weight(&[3, 2, 3, 3]);
    let y = b.op("Pad", &[&x, &pads]);
    let y = b.op_with("Conv", &[&y, &w], &[ints("pads", &[0, 1, 0, 0])]);
    assert_eq!(
        b.check(&[&y]),
        ["channels-last-convolution", "pad-into-window"]
    );

    let mut b = Builder::new(97);
    let x = b.input("x", &[1, 2, 5, 4]);
    let pads = b.integers(&[0, 0, 1, 1, 0, 0, 1, 1]);
    let y = b.op("Pad", &[&x, &pads]);
    let y = b.op_with("AveragePool", &[&y], &[ints("kernel_shape", &[3, 3])]);
    assert_eq!(b.check(&[&y]), ["pad-into-window"]);
}

#[test]
fn equal_ops_are_computed_once() {
    let mut b = Builder::new(98);
    let x = b.input("x", &[2, 3]);
    let (two, other_two) = (b.number(3.0), b.number(3.0));
    let first = b.op("Mul", &[&x, &two]);
    let second = b.op("Mul", &[&x, &other_two]);
    let y = b.op("Sub", &[&first, &second]);
    assert_eq!(b.check(&[&y]), [CHAIN, "join-equal-ops"]);
}
