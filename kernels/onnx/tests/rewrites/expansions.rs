//! Expansions that users broadcast in any case.

use super::*;

const DROPPED: &str = "drop-expansion";
const LATER: &str = "expand-after-elements";
const MASK: &str = "expansion-into-attention";

/// Expands a tensor to a constant shape.
fn expand(b: &mut Builder, x: &str, dims: &[i64]) -> String {
    let shape = b.integers(dims);
    b.op("Expand", &[x, &shape])
}

/// The expanded tensor, the shape, the other operand, and whether the expansion goes.
type Case = (&'static [usize], &'static [i64], &'static [usize], bool);

#[test]
fn users_broadcast_what_was_expanded_for_them() {
    let cases: [Case; 9] = [
        (&[2, 1, 4], &[2, 3, 4], &[2, 3, 4], true),
        (&[4], &[2, 3, 4], &[2, 3, 4], true),
        (&[4], &[1, 3, 4], &[2, 3, 4], true),
        (&[1, 3, 1], &[2, 1, 4], &[2, 1, 4], true),
        (&[2, 1, 1], &[1, 1, 1], &[2, 3, 4], true),
        // Nobody else has these extents.
        (&[2, 1, 4], &[2, 3, 4], &[2, 1, 4], false),
        (&[4], &[2, 3, 4], &[3, 4], false),
        (&[1], &[1, 1, 1], &[4], false),
        (&[1], &[3], &[1, 1], false),
    ];
    for (seed, (dims, shape, other, goes)) in cases.into_iter().enumerate() {
        for op in ["Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Pow"] {
            for is_first in [false, true] {
                let mut b = Builder::new(700 + seed as u64);
                let (x, y) = (b.input("x", dims), b.input("y", other));
                let x = b.op("Abs", &[&x]);
                let x = b.op("Exp", &[&x]);
                let x = expand(&mut b, &x, shape);
                let mut z = match is_first {
                    true => b.op(op, &[&x, &y]),
                    false => b.op(op, &[&y, &x]),
                };
                if op == "Less" {
                    z = b.op_with("Cast", &[&z], &[int("to", 1)]);
                }
                let found = b.check(&[&z]).contains(&DROPPED);
                assert_eq!(found, goes, "{op}: {dims:?} to {shape:?}, beside {other:?}");
            }
        }
    }
}

#[test]
fn an_expansion_goes_if_all_of_its_users_broadcast() {
    let mut b = Builder::new(720);
    let (x, y) = (b.input("x", &[2, 1, 4]), b.input("y", &[2, 3, 4]));
    let expanded = expand(&mut b, &x, &[2, 3, 4]);
    let sum = b.op("Add", &[&expanded, &y]);
    let product = b.op("Mul", &[&y, &expanded]);
    b.check(&[&sum, &product]);
    let text = b.rewritten(&[&sum, &product]).text;
    assert!(!text.contains("nn.Expand"), "{text}");
    // An output has its shape, and so has what an op that does not broadcast reads.
    let text = b.rewritten(&[&sum, &product, &expanded]).text;
    assert!(text.contains("nn.Expand"), "{text}");
    b.check(&[&sum, &product, &expanded]);
}

#[test]
fn a_choice_broadcasts_its_operands() {
    let mut b = Builder::new(725);
    let (x, y) = (b.input("x", &[4]), b.input("y", &[3, 1]));
    let limit = b.weight(&[3, 4]);
    let mask = b.op("Less", &[&x, &limit]);
    let (x, y) = (expand(&mut b, &x, &[3, 4]), expand(&mut b, &y, &[3, 4]));
    let z = b.op("Where", &[&mask, &x, &y]);
    assert!(b.check(&[&z]).contains(&DROPPED));
    assert!(!b.rewritten(&[&z]).text.contains("nn.Expand"));
}

#[test]
fn expansions_to_shapes_of_other_values_go() {
    for is_same in [true, false] {
        let mut b = Builder::new(730);
        let x = b.input("x", &[1, 5]);
        let [y, z] = ["y", "z"].map(|name| {
            let input = b.input(name, &[3, 5]);
            b.symbolic(&[0, 1]);
            input
        });
        let shape = b.op("Shape", &[&y]);
        let x = b.op_with("ReduceMax", &[&x], &[ints("axes", &[1])]);
        let expanded = b.op("Expand", &[&x, &shape]);
        let sum = b.op("Add", &[&expanded, if is_same { &y } else { &z }]);
        let found = b.check(&[&sum]).contains(&DROPPED);
        assert_eq!(found, is_same);
    }
}

#[test]
fn expansions_that_may_fail_stay() {
    let mut b = Builder::new(735);
    let x = b.input("x", &[1, 4]);
    let y = b.input("y", &[3, 5]);
    b.symbolic(&[0, 1]);
    let shape = b.op("Shape", &[&y]);
    let expanded = b.op("Expand", &[&x, &shape]);
    let z = b.input("z", &[3, 4]);
    let sum = b.op("Add", &[&expanded, &z]);
    let [plain, rewritten] = b.check_failure(&[&sum]);
    assert_eq!(plain, rewritten);
}

#[test]
fn functions_of_elements_come_before_expansions() {
    for case in 0..6 {
        let mut b = Builder::new(740 + case);
        let x = b.input("x", &[2, 1, 4]);
        let y = expand(&mut b, &x, &[2, 3, 4]);
        let number = b.number(0.5);
        let y = match case {
            0 => b.op("Tanh", &[&y]),
            1 => b.op("Sub", &[&number, &y]),
            2 => b.op_with("Cast", &[&y], &[int("to", 11)]),
            3 => b.op("Clip", &[&y, "", &number]),
            4 => {
                let numbers = b.given(&[1, 1], &[3.0]);
                b.op("Mul", &[&y, &numbers])
            }
            _ => {
                let mask = b.op("Less", &[&y, &number]);
                let other = b.number(f32::MIN);
                b.op("Where", &[&mask, &number, &other])
            }
        };
        let rules = b.check(&[&y]);
        assert!(rules.contains(&LATER), "{case}: {rules:?}");
    }
}

#[test]
fn other_functions_of_expanded_tensors_stay() {
    for case in 0..4 {
        let mut b = Builder::new(750 + case);
        let x = b.input("x", &[1, 4]);
        let y = expand(&mut b, &x, &[3, 4]);
        let (y, other) = match case {
            // More dimensions, an operand of the full shape, other users, nothing to expand.
            0 => {
                let number = b.given(&[1, 1, 1], &[0.5]);
                (b.op("Mul", &[&y, &number]), None)
            }
            1 => {
                let numbers = b.weight(&[3, 4]);
                (b.op("Mul", &[&y, &numbers]), None)
            }
            2 => (b.op("Tanh", &[&y]), Some(y)),
            _ => {
                let x = b.input("whole", &[3, 4]);
                let y = expand(&mut b, &x, &[3, 1]);
                (b.op("Tanh", &[&y]), None)
            }
        };
        let outputs: Vec<&str> = std::iter::once(&y)
            .chain(&other)
            .map(String::as_str)
            .collect();
        let rules = b.check(&outputs);
        assert!(!rules.contains(&LATER), "{case}: {rules:?}");
    }
}

#[test]
fn an_expansion_to_a_matrix_of_sizes_stays_an_error() {
    let mut b = Builder::new(755);
    let (x, y) = (b.input("x", &[1, 4]), b.input("y", &[3, 4]));
    let shape = b.integers(&[3, 4]);
    b.weights.last_mut().unwrap().dims = vec![1, 2];
    let expanded = b.op("Expand", &[&x, &shape]);
    let sum = b.op("Add", &[&expanded, &y]);
    let [plain, rewritten] = b.check_failure(&[&sum]);
    assert_eq!(plain, rewritten);
}

#[test]
fn integers_are_not_divided_by_zero_if_there_are_none() {
    for is_dividend in [true, false] {
        let mut b = Builder::new(756);
        let x = b.input("x", &[1]);
        let x = b.op_with("Cast", &[&x], &[int("to", 7)]);
        let (number, none) = (b.integers(&[0]), b.integers(&[0]));
        let zero = b.op("Mul", &[&x, &number]);
        let zeros = b.op("Expand", &[&zero, &none]);
        let y = match is_dividend {
            true => b.op("Div", &[&zeros, &number]),
            false => b.op("Div", &[&number, &zeros]),
        };
        let y = b.op_with("Cast", &[&y], &[int("to", 1)]);
        let rules = b.check(&[&y]);
        assert!(!rules.contains(&LATER), "{rules:?}");
    }
}

#[test]
fn attention_broadcasts_masks_that_were_expanded() {
    for dims in [[2, 3, 5, 5], [2, 1, 5, 5]] {
        for is_hiding in [false, true] {
            let mut b = Builder::new(760);
            let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[2, 3, 5, 8]));
            let mask = b.input("mask", &[2, 1, 1, 5]);
            let mask = match is_hiding {
                true => {
                    let limit = b.weight(&[2, 1, 1, 5]);
                    b.op("Less", &[&mask, &limit])
                }
                false => mask,
            };
            let mask = expand(&mut b, &mask, &dims);
            let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
            let scores = b.op("MatMul", &[&q, &k]);
            let scores = match is_hiding {
                true => {
                    let hidden = b.number(-1e4);
                    b.op("Where", &[&mask, &scores, &hidden])
                }
                false => b.op("Add", &[&scores, &mask]),
            };
            let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
            let y = b.op("MatMul", &[&weights, &v]);
            let rules = b.check(&[&y]);
            assert!(
                rules.contains(&MASK) || rules.contains(&DROPPED),
                "{rules:?}"
            );
            assert!(!b.rewritten(&[&y]).text.contains("nn.Expand"));
        }
    }
}
