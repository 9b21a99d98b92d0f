//! Ops on constants are computed when a program is loaded, with the results of a run.

use std::sync::Arc;

use crate::common::builder::{Builder, load};
use crate::common::*;
use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt_import::program::Program;
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_import::{Limit, Limits};
use tfrt_onnx::proto::TensorProto;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

/// Numbers that look random, the same in every run.
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn of<'a>(&mut self, values: &'a [String]) -> &'a str {
        &values[self.below(values.len())]
    }
}

/// Computes the ops on constants of a program, and applies no other rule. Returns how many there
/// were.
fn fold(program: &mut Program, limits: &Limits) -> usize {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let folding = Folding::new(&host, limits).unwrap();
    let rules = RewriteRules::only(["fold-constants"]).unwrap();
    program.rewrite_and_fold(&rules, folding).applied.len()
}

/// Returns the number of ops that are left of a model.
fn num_ops_left(b: &Builder, outputs: &[&str], limits: &Limits) -> usize {
    let mut program = b.program(outputs);
    fold(&mut program, limits);
    program.num_ops
}

fn bytes(tensor: &DenseHostTensor) -> Vec<u8> {
    tensor.buffer().read().unwrap().to_vec()
}

/// Runs a model as it is and with constants folded. The results must have the same bits.
#[track_caller]
fn check(b: &Builder, outputs: &[&str]) -> Program {
    let program = b.program(outputs);
    let mut folded = program.clone();
    fold(&mut folded, &Limits::default());
    let inputs = b.tensors();
    let expected = load(program).run(&inputs).unwrap();
    let found = load(folded.clone()).run(&inputs).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.metadata(), expected.metadata());
        assert_eq!(bytes(found), bytes(expected), "{}", folded.text);
    }
    folded
}

/// A matrix of some rows and columns, made by some op from others of these sizes.
fn matrix(b: &mut Builder, choices: &mut Choices, known: &[String], axes: &[String; 2]) -> String {
    let (x, y) = (choices.of(known), choices.of(known));
    match choices.below(12) {
        0 => b.op("Add", &[x, y]),
        1 => b.op("Mul", &[x, y]),
        2 => b.op("Sub", &[x, y]),
        3 => b.op("Div", &[x, y]),
        4 => b.op("Max", &[x, y]),
        5 => b.op("Sigmoid", &[x]),
        6 => b.op("Exp", &[x]),
        7 => {
            let is_less = b.op("Less", &[x, y]);
            b.op("Where", &[&is_less, y, x])
        }
        8 => {
            let turned = b.op_with("Transpose", &[x], &[ints("perm", &[1, 0])]);
            let turned = b.op("Erf", &[&turned]);
            b.op_with("Transpose", &[&turned], &[ints("perm", &[1, 0])])
        }
        9 => {
            let mean = b.op_with(
                "ReduceMean",
                &[x],
                &[ints("axes", &[choices.below(2) as i64])],
            );
            b.op("Sub", &[x, &mean])
        }
        10 => {
            let shape = b.op("Shape", &[x]);
            let count = b.op_with(
                "Gather",
                &[&shape, &axes[choices.below(2)]],
                &[int("axis", 0)],
            );
            let count = b.op_with("Cast", &[&count], &[int("to", 1)]);
            let root = b.op("Sqrt", &[&count]);
            b.op("Div", &[x, &root])
        }
        _ => {
            let both = b.op_with("Concat", &[x, y], &[int("axis", 0)]);
            let (start, end) = (b.integers(&[1]), b.integers(&[6]));
            b.op("Slice", &[&both, &start, &end])
        }
    }
}

#[test]
fn rules_list_ops_that_exist() {
    let kernels = KernelRegistry::from_link().unwrap();
    let is_missing = |name: &&str| kernels.get(name).is_none();
    let missing: Vec<&str> = tfrt_import::rewrite::listed_ops()
        .filter(is_missing)
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn results_have_the_same_bits() {
    for seed in 0..40 {
        let mut b = Builder::new(seed);
        let mut choices = Choices(seed);
        let axes = [b.integers(&[0]), b.integers(&[1])];
        let mut constants = vec![b.weight(&[5, 7]), b.positive(&[5, 7]), b.positive(&[5, 7])];
        let mut others = vec![b.input("x", &[5, 7])];
        for _ in 0..12 {
            let made = matrix(&mut b, &mut choices, &constants, &axes);
            constants.push(made);
        }
        for _ in 0..6 {
            let x = choices.of(&others).to_owned();
            let constant = choices.of(&constants).to_owned();
            others.push(b.op("Add", &[&x, &constant]));
            let known: Vec<String> = others.iter().chain(&constants).cloned().collect();
            others.push(matrix(&mut b, &mut choices, &known, &axes));
        }
        let outputs = [constants.last().unwrap(), others.last().unwrap()];
        let folded = check(&b, &outputs.map(String::as_str));
        // The first output is a constant, and nothing is left that could be computed.
        assert_eq!(
            fold(&mut folded.clone(), &Limits::default()),
            0,
            "{}",
            folded.text
        );
    }
}

#[test]
fn shapes_of_declared_inputs_are_constants() {
    let mut b = Builder::new(1);
    let x = b.input("x", &[2, 3, 4]);
    let scale = {
        let shape = b.op("Shape", &[&x]);
        let last = b.integers(&[-1]);
        let size = b.op_with("Gather", &[&shape, &last], &[int("axis", 0)]);
        let size = b.op_with("Cast", &[&size], &[int("to", 1)]);
        b.op("Sqrt", &[&size])
    };
    let y = b.op("Div", &[&x, &scale]);
    let folded = check(&b, &[&y]);
    assert_eq!(folded.num_ops, 1, "{}", folded.text);
    let names: Vec<&str> = folded.weights.iter().map(|weight| &*weight.name).collect();
    assert_eq!(names, ["folded/node 'Sqrt_3' (Sqrt)"]);
}

#[test]
fn ops_that_fail_stay() {
    let mut b = Builder::new(2);
    let x = b.input("x", &[2]);
    let (table, index) = (b.weight(&[3]), b.integers(&[5]));
    let row = b.op("Gather", &[&table, &index]);
    let y = b.op("Add", &[&x, &row]);
    let mut program = b.program(&[&y]);
    assert_eq!(fold(&mut program, &Limits::default()), 0);
    let error = load(program).run(&b.tensors()).unwrap_err();
    assert!(error.message().contains("5 is out of range"), "{error}");
}

#[test]
fn shapes_do_not_hide_errors() {
    // Nobody but the shape asks for the product, which fails.
    let mut b = Builder::new(3);
    let (x, z) = (b.input("x", &[2, 3]), b.input("z", &[2, 3]));
    let product = b.op("MatMul", &[&x, &z]);
    let shape = b.op("Shape", &[&product]);
    let y = b.op_with("Cast", &[&shape], &[int("to", 1)]);
    let mut program = b.program(&[&y]);
    assert_eq!(fold(&mut program, &Limits::default()), 0);
    assert!(load(program).run(&b.tensors()).is_err());

    // The other output fails in any case.
    let mut program = b.program(&[&y, &product]);
    assert_eq!(fold(&mut program, &Limits::default()), 2);
    assert!(load(program).run(&b.tensors()).is_err());
}

#[test]
fn large_results_are_computed_in_each_run() {
    let mut b = Builder::new(4);
    let x = b.input("x", &[1000]);
    let (value, dims) = (b.weight(&[1]), b.integers(&[1000]));
    let row = b.op("Expand", &[&value, &dims]);
    let row = b.op("Exp", &[&row]);
    let y = b.op("Mul", &[&x, &row]);
    let left = |limit, bytes| num_ops_left(&b, &[&y], &Limits::default().with(limit, bytes));
    assert_eq!(num_ops_left(&b, &[&y], &Limits::default()), 1);
    assert_eq!(left(Limit::FoldedResultBytes, 4000), 1);
    assert_eq!(left(Limit::FoldedResultBytes, 3999), 3);
    // The first op reads 12 bytes and writes 4000, the second one reads and writes 4000.
    assert_eq!(left(Limit::FoldedBytes, 12_013), 1);
    assert_eq!(left(Limit::FoldedBytes, 12_012), 2);
    assert_eq!(left(Limit::FoldedBytes, 4000), 3);
    assert_eq!(left(Limit::FoldedBytes, 0), 3);
}

#[test]
fn results_that_no_memory_holds_are_refused_before_they_are_made() {
    let mut b = Builder::new(5);
    let x = b.input("x", &[1]);
    let (value, dims) = (b.weight(&[1]), b.integers(&[1 << 40]));
    let row = b.op("Expand", &[&value, &dims]);
    let y = b.op_with("ReduceMean", &[&row], &[ints("axes", &[0])]);
    let y = b.op("Mul", &[&x, &y]);
    assert_eq!(num_ops_left(&b, &[&y], &Limits::default()), 3);
}

#[test]
fn dequantized_weights_stay_quantised() {
    let mut b = Builder::new(6);
    let x = b.input("x", &[2, 8]);
    let weights = TensorProto {
        name: Some("bytes".into()),
        data_type: Some(3),
        dims: vec![8, 3],
        raw_data: Some(vec![7; 24].into()),
        ..Default::default()
    };
    b.weights.push(weights);
    let scale = b.number(0.5);
    let w = b.op("DequantizeLinear", &["bytes", &scale]);
    let y = b.op("MatMul", &[&x, &w]);
    assert_eq!(num_ops_left(&b, &[&y], &Limits::default()), 2);
}

#[test]
fn products_read_transposed_weights_in_place() {
    let mut b = Builder::new(7);
    let x = b.input("x", &[2, 8]);
    let w = b.weight(&[3, 8]);
    let turned = b.op_with("Transpose", &[&w], &[ints("perm", &[1, 0])]);
    let y = b.op("MatMul", &[&x, &turned]);
    assert_eq!(num_ops_left(&b, &[&y], &Limits::default()), 2);
    // Other ops would transpose it in each run.
    let z = b.op("Exp", &[&turned]);
    assert_eq!(num_ops_left(&b, &[&y, &z], &Limits::default()), 1);
}
