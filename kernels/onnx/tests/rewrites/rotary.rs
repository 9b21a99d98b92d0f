//! Rotary embeddings from pieces.

use super::*;

/// Rotates the halves of a tensor, in one of the spellings of exporters.
fn rotary(b: &mut Builder, x: &str, size: i64, tables: [&str; 2], spelling: usize) -> String {
    let [cos, sin] = tables;
    let (first, second) = match spelling % 3 {
        0 => {
            let (zero, half, end) = (
                b.integers(&[0]),
                b.integers(&[size / 2]),
                b.integers(&[i64::MAX]),
            );
            let axis = b.integers(&[-1]);
            let first = b.op("Slice", &[x, &zero, &half, &axis]);
            (first, b.op("Slice", &[x, &half, &end, &axis]))
        }
        1 => {
            let (zero, half, end) = (
                b.integers(&[0]),
                b.integers(&[-size / 2]),
                b.integers(&[size]),
            );
            let (axis, one) = (b.integers(&[3]), b.integers(&[1]));
            let first = b.op("Slice", &[x, &zero, &half, &axis, &one]);
            (first, b.op("Slice", &[x, &half, &end, &axis, &one]))
        }
        _ => {
            let names = ["first", "second"].map(|name| format!("{x}_{name}"));
            let sizes = b.integers(&[size / 2, size / 2]);
            let mut split = with(node("Split", &[x, &sizes], &[]), &[int("axis", -1)]);
            split.output = names.iter().map(|name| name.as_str().into()).collect();
            b.nodes.push(split);
            let [first, second] = names;
            (first, second)
        }
    };
    let negated = b.op("Neg", &[&second]);
    let turned = b.op_with("Concat", &[&negated, &first], &[int("axis", -1)]);
    let turned = b.op("Mul", &[&turned, sin]);
    if spelling < 3 {
        let straight = b.op("Mul", &[x, cos]);
        b.op("Add", &[&straight, &turned])
    } else {
        let straight = b.op("Mul", &[cos, x]);
        b.op("Add", &[&turned, &straight])
    }
}

#[test]
fn rotary_embeddings_are_recognised() {
    for spelling in 0..6 {
        for dims in [&[1, 1, 5, 8][..], &[5, 8], &[2, 1, 5, 8], &[8]] {
            let mut b = Builder::new(250);
            let x = b.input("x", &[2, 3, 5, 8]);
            let (cos, sin) = (b.weight(dims), b.input("sin", dims));
            let y = rotary(&mut b, &x, 8, [&cos, &sin], spelling);
            assert_eq!(
                b.check(&[&y]),
                ["rotary-from-pieces"],
                "spelling {spelling}, {dims:?}"
            );
        }
    }
}

#[test]
fn other_rotations_stay() {
    // The tables have one column, the halves are exchanged, or another tensor is turned.
    let mut b = Builder::new(251);
    let x = b.input("x", &[2, 3, 5, 8]);
    let (cos, sin) = (b.weight(&[5, 1]), b.weight(&[5, 1]));
    let y = rotary(&mut b, &x, 8, [&cos, &sin], 0);
    assert_eq!(b.check(&[&y]), [CHAIN]);

    let mut b = Builder::new(252);
    let (x, z) = (b.input("x", &[2, 3, 5, 8]), b.input("z", &[2, 3, 5, 8]));
    let (cos, sin) = (b.weight(&[5, 8]), b.weight(&[5, 8]));
    let turned = rotary(&mut b, &x, 8, [&cos, &sin], 0);
    let product = b
        .nodes
        .iter()
        .position(|node| node.input[0] == x.as_str() && node.input[1] == cos.as_str());
    b.nodes[product.unwrap()].input[0] = z.as_str().into();
    assert_eq!(b.check(&[&turned]), [CHAIN]);

    let mut b = Builder::new(253);
    let x = b.input("x", &[2, 3, 5, 8]);
    let (cos, sin) = (b.weight(&[5, 8]), b.weight(&[5, 8]));
    let y = rotary(&mut b, &x, 8, [&cos, &sin], 2);
    let split = b.nodes.iter_mut().find(|node| node.output.len() == 2);
    split.unwrap().output.swap(0, 1);
    assert_eq!(b.check(&[&y]), [CHAIN]);
}

#[test]
fn tables_may_have_more_rows_than_what_is_rotated() {
    for spelling in [0, 1] {
        let mut b = Builder::new(83);
        let x = b.input("x", &[1, 2, 1, 8]);
        b.symbolic(&[2]);
        let cos = b.input("cos", &[5, 8]);
        b.symbolic(&[0]);
        let sin = b.input("sin", &[1, 8]);
        b.symbolic(&[0]);
        let y = rotary(&mut b, &x, 8, [&cos, &sin], spelling);
        let rules = b.check(&[&y]);
        assert!(rules.contains(&"rotary-from-pieces"), "{rules:?}");
    }
}
