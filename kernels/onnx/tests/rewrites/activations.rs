//! Activations from pieces.

use super::*;

#[test]
fn activations_are_recognised_in_every_spelling() {
    for spelling in 0..6 {
        let mut b = Builder::new(60);
        let x = b.input("x", &[3, 50]);
        let y = gelu(&mut b, &x, spelling);
        assert_eq!(
            b.check(&[&y]),
            ["activation-from-product"],
            "spelling {spelling}"
        );
    }
    for (spelling, cubes) in [(0, "Pow"), (1, "Mul"), (2, "Square")] {
        let mut b = Builder::new(61);
        let x = b.input("x", &[3, 50]);
        let (one, half) = (b.number(1.0), b.number(0.5));
        let (factor, root) = (b.number(0.044_715), b.number(0.797_884_6));
        let inner = match cubes {
            "Pow" => {
                let three = b.number(3.0);
                let cube = b.op("Pow", &[&x, &three]);
                let cube = b.op("Mul", &[&factor, &cube]);
                let sum = b.op("Add", &[&x, &cube]);
                b.op("Mul", &[&root, &sum])
            }
            "Mul" => {
                let square = b.op("Mul", &[&x, &x]);
                let cube = b.op("Mul", &[&square, &x]);
                let cube = b.op("Mul", &[&cube, &factor]);
                let sum = b.op("Add", &[&cube, &x]);
                b.op("Mul", &[&sum, &root])
            }
            _ => {
                let two = b.number(2.0);
                let square = b.op("Pow", &[&x, &two]);
                let square = b.op("Mul", &[&square, &factor]);
                let sum = b.op("Add", &[&square, &one]);
                let product = b.op("Mul", &[&x, &sum]);
                b.op("Mul", &[&product, &root])
            }
        };
        let tanh = b.op("Tanh", &[&inner]);
        let sum = b.op("Add", &[&tanh, &one]);
        let product = b.op("Mul", &[&x, &sum]);
        let y = b.op("Mul", &[&product, &half]);
        let rules = b.check(&[&y]);
        assert!(
            rules.contains(&"activation-from-product"),
            "spelling {spelling}: {rules:?}"
        );
    }
    for name in ["Silu", "Mish"] {
        let mut b = Builder::new(62);
        let x = b.input("x", &[3, 50]);
        let y = activation(&mut b, &x, name);
        assert_eq!(b.check(&[&y]), ["activation-from-product"], "{name}");
    }
    for divides_first in [false, true] {
        let mut b = Builder::new(63);
        let x = b.input("x", &[3, 50]);
        let (three, zero, six) = (b.number(3.0), b.number(0.0), b.number(6.0));
        let sum = b.op("Add", &[&x, &three]);
        let clipped = b.op("Clip", &[&sum, &zero, &six]);
        let y = if divides_first {
            let gate = b.op("Div", &[&clipped, &six]);
            b.op("Mul", &[&x, &gate])
        } else {
            let product = b.op("Mul", &[&x, &clipped]);
            b.op("Div", &[&product, &six])
        };
        let rules = b.check(&[&y]);
        let expected = match divides_first {
            true => vec!["activation-from-product", "hard-sigmoid-from-pieces"],
            false => vec!["activation-from-product"],
        };
        assert_eq!(rules, expected);
    }
    let mut b = Builder::new(64);
    let x = b.input("x", &[3, 50]);
    let one = b.number(1.0);
    let power = b.op("Exp", &[&x]);
    let sum = b.op("Add", &[&power, &one]);
    let y = b.op("Log", &[&sum]);
    assert_eq!(b.check(&[&y]), ["softplus-from-pieces"]);
}

#[test]
fn gates_are_recognised() {
    // As MobileNet-v3 has them: between convolutions, and as factors of other values.
    for spelling in 0..5 {
        let mut b = Builder::new(66);
        let (x, z) = (b.input("x", &[3, 50]), b.input("z", &[3, 50]));
        let (three, zero, six) = (b.number(3.0), b.number(0.0), b.number(6.0));
        let (factor, half, one) = (b.number(0.2), b.number(0.5), b.number(1.0));
        let raised = |b: &mut Builder| b.op("Add", &[&x, &three]);
        let gate = match spelling {
            0 => {
                let sum = raised(&mut b);
                let clipped = b.op("Clip", &[&sum, &zero, &six]);
                b.op("Div", &[&clipped, &six])
            }
            1 => {
                let sum = raised(&mut b);
                let clipped = b.op("Clip", &[&sum, &zero, &six]);
                let sixth = b.number(1.0 / 6.0);
                b.op("Mul", &[&sixth, &clipped])
            }
            2 => {
                let sum = raised(&mut b);
                let clipped = b.op("Relu", &[&sum]);
                let clipped = b.op("Min", &[&clipped, &six]);
                b.op("Div", &[&clipped, &six])
            }
            3 => {
                let scaled = b.op("Mul", &[&factor, &x]);
                let sum = b.op("Add", &[&half, &scaled]);
                b.op("Clip", &[&sum, &zero, &one])
            }
            _ => {
                let scaled = b.op("Mul", &[&factor, &x]);
                let sum = b.op("Add", &[&half, &scaled]);
                let clipped = b.op("Max", &[&zero, &sum]);
                b.op("Min", &[&clipped, &one])
            }
        };
        let y = b.op("Mul", &[&z, &gate]);
        let rules = b.check(&[&y]);
        assert!(
            rules.contains(&"hard-sigmoid-from-pieces"),
            "{spelling}: {rules:?}"
        );
        // With the product.
        assert_eq!(b.rewritten(&[&y]).num_ops, 1, "{spelling}");
    }
    for divides in [false, true] {
        let mut b = Builder::new(67);
        let x = b.input("x", &[3, 50]);
        let one = b.number(1.0);
        let negated = b.op("Neg", &[&x]);
        let power = b.op("Exp", &[&negated]);
        let sum = b.op("Add", &[&one, &power]);
        let y = match divides {
            true => b.op("Div", &[&one, &sum]),
            false => b.op("Reciprocal", &[&sum]),
        };
        assert_eq!(b.check(&[&y]), ["sigmoid-from-pieces"]);
    }
}

#[test]
fn bounds_in_two_ops_are_one() {
    let of = |ops: [&str; 2], bounds: [f32; 2]| {
        let mut b = Builder::new(68);
        let x = b.input("x", &[3, 50]);
        let (first, second) = (b.number(bounds[0]), b.given(&[1], &bounds[1..]));
        let y = b.op(ops[0], &[&x, &first]);
        let y = b.op(ops[1], &[&second, &y]);
        b.check(&[&y])
    };
    assert_eq!(of(["Max", "Min"], [-0.5, 0.25]), ["clip-from-extremes"]);
    assert_eq!(of(["Min", "Max"], [0.25, -0.5]), ["clip-from-extremes"]);
    // The last one wins.
    assert_eq!(of(["Max", "Min"], [0.25, -0.5]), [CHAIN]);
    assert_eq!(of(["Max", "Max"], [-0.5, 0.25]), [CHAIN]);

    // What is between the two is an output, too.
    let mut b = Builder::new(69);
    let x = b.input("x", &[3, 50]);
    let (low, high) = (b.number(0.0), b.number(0.5));
    let z = b.op("Max", &[&x, &low]);
    let y = b.op("Min", &[&z, &high]);
    assert_eq!(b.check(&[&y, &z]), [""; 0]);
}

#[test]
fn products_of_other_values_are_no_activations() {
    let mut b = Builder::new(65);
    let (x, z) = (b.input("x", &[3, 50]), b.input("z", &[3, 50]));
    let gate = b.op("Sigmoid", &[&x]);
    let y = b.op("Mul", &[&gate, &z]);
    assert_eq!(b.check(&[&y]), [CHAIN]);
}
