//! Functions of elements between transpositions.

use super::*;

const RULE: &str = "drop-transposes-around-elements";

fn transpose(b: &mut Builder, x: &str, perm: &[i64]) -> String {
    b.op_with("Transpose", &[x], &[ints("perm", perm)])
}

#[test]
fn transpositions_around_functions_of_elements_go() {
    let perms: [(&[i64], &[i64]); 3] = [
        (&[1, 0, 2], &[1, 0, 2]),
        (&[2, 0, 1], &[1, 2, 0]),
        (&[-1, 1, 0], &[2, 1, -3]),
    ];
    for (seed, (there, back)) in perms.into_iter().enumerate() {
        for case in 0..5 {
            let mut b = Builder::new(800 + seed as u64);
            let (x, z) = (b.input("x", &[2, 3, 4]), b.input("z", &[2, 3, 4]));
            let y = transpose(&mut b, &x, there);
            let z = transpose(&mut b, &z, there);
            let number = b.number(0.25);
            let y = match case {
                0 => b.op("Tanh", &[&y]),
                1 => {
                    let y = b.op("Tanh", &[&y]);
                    let y = b.op("Sub", &[&number, &y]);
                    b.op("Exp", &[&y])
                }
                2 => b.op("Sub", &[&y, &z]),
                3 => {
                    let z = b.op("Sigmoid", &[&z]);
                    let y = b.op("Mul", &[&z, &y]);
                    b.op("Neg", &[&y])
                }
                _ => b.op("Mul", &[&y, &y]),
            };
            let y = transpose(&mut b, &y, back);
            b.check_bits(RULE, 1, &[&y]);
            assert!(b.check(&[&y]).contains(&RULE), "{case}");
            assert!(!b.rewritten(&[&y]).text.contains("nn.Transpose"), "{case}");
        }
    }
}

#[test]
fn tensors_are_broadcast_without_transpositions() {
    let mut b = Builder::new(810);
    let (x, z) = (b.input("x", &[2, 3, 4]), b.input("z", &[2, 1, 4]));
    let (y, z) = (
        transpose(&mut b, &x, &[2, 0, 1]),
        transpose(&mut b, &z, &[2, 0, 1]),
    );
    let y = b.op("Add", &[&y, &z]);
    let y = transpose(&mut b, &y, &[1, 2, 0]);
    b.check_bits(RULE, 1, &[&y]);
}

#[test]
fn other_transpositions_around_functions_stay() {
    let stays = |change: &dyn Fn(&mut Builder, &str) -> Vec<String>| {
        let mut b = Builder::new(820);
        let x = b.input("x", &[2, 3, 4]);
        let y = transpose(&mut b, &x, &[2, 0, 1]);
        let outputs = change(&mut b, &y);
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        b.check_bits(RULE, 0, &outputs);
        b.check(&outputs);
    };
    // Another order, another user, a tensor of another rank, a function along an axis.
    stays(&|b, y| {
        let y = b.op("Tanh", &[y]);
        vec![transpose(b, &y, &[2, 0, 1])]
    });
    stays(&|b, y| {
        let y = b.op("Tanh", &[y]);
        vec![transpose(b, &y, &[1, 2, 0]), y]
    });
    stays(&|b, y| {
        let z = b.weight(&[3]);
        let y = b.op("Add", &[y, &z]);
        vec![transpose(b, &y, &[1, 2, 0])]
    });
    stays(&|b, y| {
        let z = b.input("z", &[4, 2, 3]);
        let y = b.op("Add", &[y, &z]);
        vec![transpose(b, &y, &[1, 2, 0])]
    });
    stays(&|b, y| {
        let y = b.op_with("Softmax", &[y], &[int("axis", -1)]);
        vec![transpose(b, &y, &[1, 2, 0])]
    });
}
