//! Operands and attributes that do not fit the ops that rules make: programs are texts, in which
//! anything may stand.

use super::common::builder::load;
use super::*;
use tfrt_import::program::{Attr, ProgramBuilder};
use tfrt_tensor::DenseHostTensor;

/// Returns the error of an op on operands.
#[track_caller]
fn error(op: &str, operands: &[DenseHostTensor], attrs: &[(&str, Attr)]) -> String {
    let mut builder = ProgramBuilder::default();
    let names: Vec<String> = (0..operands.len()).map(|at| format!("x{at}")).collect();
    let inputs: Vec<_> = names.iter().map(|name| builder.input(name)).collect();
    let y = builder.call(op, &inputs, attrs, 1, "an op");
    let program = builder.finish(&[("y", y[0])]);
    let named = names
        .iter()
        .map(String::as_str)
        .zip(operands.iter().cloned());
    let inputs: Vec<(&str, DenseHostTensor)> = named.collect();
    let error = load(program).run(&inputs).unwrap_err();
    error.message().to_owned()
}

fn of(dims: &[usize]) -> DenseHostTensor {
    tensor(dims, &vec![0.5_f32; dims.iter().product()])
}

#[test]
fn normalizations_of_sums_check_their_operands() {
    let check = |operands: &[DenseHostTensor], gathers: &[i64], expected: &str| {
        let attrs = [
            ("gathers", Attr::Ints(gathers.to_vec())),
            ("epsilon", Attr::Float(1e-5)),
        ];
        let found = error("nn.SumNormalization", operands, &attrs);
        assert!(found.contains(expected), "{found}");
    };
    let indices = || tensor(&[3], &[0_i64, 1, -1]);
    check(&[], &[], "expected rows, found none");
    check(&[of(&[2, 8])], &[0, 0], "expected more summands");
    check(&[of(&[2, 8])], &[1], "expected more summands");
    check(&[of(&[])], &[0], "expected rows of f32, found");
    check(&[tensor(&[2], &[0.5_f64; 2])], &[0], "expected rows of f32");
    let table = [of(&[2, 3, 8]), indices()];
    check(&table, &[1], "expected a matrix of f32");
    check(
        &[of(&[2, 8]), indices(), of(&[2, 8])],
        &[1, 0],
        "cannot be broadcast",
    );
    check(
        &[of(&[2, 8]), of(&[2, 1])],
        &[0, 0],
        "expected rows of 8 elements",
    );
    check(&[of(&[2, 8]), of(&[7])], &[0], "with 8 elements, found");
    check(&[of(&[2, 8]), of(&[1, 8])], &[0], "with 8 elements, found");
    let parameters = [of(&[2, 8]), of(&[8]), of(&[8]), of(&[8])];
    check(&parameters, &[0], "found 3 operands");
    let wrong = [of(&[2, 8]), tensor(&[1], &[2_i32])];
    check(&wrong, &[1], "`nn.Gather`: index 2 is out of range");
    check(&[of(&[2, 8]), of(&[1])], &[1], "f32");
}

#[test]
fn attention_checks_where_heads_are() {
    let check = |dims: &[usize], inside: &[i64], expected: &str| {
        let operands = [of(dims), of(&[2, 2, 3, 4]), of(&[2, 2, 3, 4])];
        let attrs = [("inside", Attr::Ints(inside.to_vec()))];
        let found = error("nn.DotProductAttention", &operands, &attrs);
        assert!(found.contains(expected), "{found}");
    };
    let sides = |numbers: [i64; 3]| [&numbers[..], &[0; 6]].concat();
    let misfit = "expected matrices with heads";
    check(&[2, 3, 8], &sides([2, 1, 4]), misfit);
    check(&[2, 3, 8], &sides([i64::MAX, 0, 4]), misfit);
    check(&[2, 3, 8], &sides([2, i64::MAX, 4]), misfit);
    check(&[8], &sides([2, 0, 4]), misfit);
    check(&[2, 3, 8], &[2, 0], misfit);
    check(
        &[2, 3, 8],
        &sides([2, -1, 4]),
        "expected a valid dimension, found -1",
    );
    check(
        &[2, 3, 8],
        &sides([-2, 0, 4]),
        "expected a valid dimension, found -2",
    );
    // They fit by themselves, but not each other.
    check(&[2, 3, 8], &sides([4, 0, 2]), "are incompatible");
    check(&[2, 3, 8], &sides([1, 0, 4]), "are incompatible");
}
