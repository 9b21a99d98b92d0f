//! Summations as products.

use super::*;

#[test]
fn summations_over_one_letter_are_products() {
    let cases: [(&str, &[usize], &[usize]); 8] = [
        ("ij,jk->ik", &[3, 4], &[4, 5]),
        ("ij,kj->ki", &[3, 4], &[5, 4]),
        ("bij,bjk->bik", &[2, 3, 4], &[2, 4, 5]),
        ("ijb,jbk->kbi", &[3, 4, 2], &[4, 2, 5]),
        ("i j, j k -> k i", &[3, 4], &[4, 5]),
        ("abij,bakj->baik", &[2, 6, 3, 4], &[6, 2, 5, 4]),
        // Some batches are broadcast.
        ("bij,bjk->bik", &[1, 3, 4], &[2, 4, 5]),
        ("bij,bjk->bik", &[2, 3, 4], &[1, 4, 5]),
    ];
    for (equation, of_x, of_z) in cases {
        let mut b = Builder::new(220);
        let (x, z) = (b.input("x", of_x), b.input("z", of_z));
        let y = b.op_with("Einsum", &[&x, &z], &[text("equation", equation)]);
        let y = b.op("Abs", &[&y]);
        let rules = b.check(&[&y]);
        assert!(
            rules.contains(&"product-from-einsum"),
            "{equation}: {rules:?}"
        );
    }
}

#[test]
fn other_summations_stay() {
    let cases: [(&str, &[usize], &[usize]); 7] = [
        ("ij,ij->", &[3, 4], &[3, 4]),
        ("ij,jk->i", &[3, 4], &[4, 5]),
        ("ijk,jk->i", &[3, 4, 2], &[4, 2]),
        ("ii,ij->ij", &[3, 3], &[3, 4]),
        ("...ij,...jk->...ik", &[2, 3, 4], &[2, 4, 5]),
        ("i,j->ij", &[3], &[4]),
        // What is summed over is broadcast.
        ("ij,jk->ik", &[3, 1], &[4, 5]),
    ];
    for (equation, of_x, of_z) in cases {
        let mut b = Builder::new(221);
        let (x, z) = (b.input("x", of_x), b.input("z", of_z));
        let y = b.op_with("Einsum", &[&x, &z], &[text("equation", equation)]);
        assert_eq!(b.check(&[&y]), [""; 0], "{equation}");
    }
}
