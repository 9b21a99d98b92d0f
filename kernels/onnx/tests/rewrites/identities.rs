//! Ops that do nothing, and several ops that are one.

use super::*;
use tfrt::prelude::DType;
use tfrt_onnx::proto::AttributeProto;
use tfrt_tensor::DenseHostTensor;

/// The types of ONNX by number, as far as inputs of tests can be converted to them.
const TYPES: [(i64, &str); 13] = [
    (1, "f32"),
    (2, "u8"),
    (3, "i8"),
    (4, "u16"),
    (5, "i16"),
    (6, "i32"),
    (7, "i64"),
    (9, "bool"),
    (10, "f16"),
    (11, "f64"),
    (12, "u32"),
    (13, "u64"),
    (16, "bf16"),
];

/// The numbers at the ends of types, and some that only wide types have.
const ENDS: [f32; 12] = [
    0.0,
    -1.0,
    127.0,
    -128.0,
    255.0,
    32767.0,
    65535.0,
    -32769.0,
    1e9,
    4e9,
    3e38,
    1.000_000_1,
];

/// For each pair of types: their names, whether numbers of a type that are converted to the second
/// one by way of the first one are what they are if they are converted at once, and whether the two
/// conversions are joined.
fn conversions_from(from: i64) -> Vec<([&'static str; 2], bool, bool)> {
    let mut b = Builder::new(231);
    let x = b.input_of("x", DType::F64, &[2]);
    let cast = |b: &mut Builder, x: &str, to: i64| b.op_with("Cast", &[x], &[int("to", to)]);
    let ends = b.given(&[ENDS.len()], &ENDS);
    let ends = cast(&mut b, &ends, 11);
    let column = b.integers(&[2, 1]);
    let x = b.op("Reshape", &[&x, &column]);
    let x = b.op("Mul", &[&x, &ends]);
    let own = cast(&mut b, &x, from);
    let (mut outputs, mut pairs) = (Vec::new(), Vec::new());
    for (through, inner) in TYPES {
        for (to, last) in TYPES {
            let narrow = cast(&mut b, &own, through);
            let y = cast(&mut b, &narrow, to);
            pairs.push(([inner, last], format!("'Cast_{}'", b.nodes.len() - 1)));
            let direct = cast(&mut b, &own, to);
            outputs.extend([y, direct].map(|y| cast(&mut b, &y, 11)));
        }
    }
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let program = b.program(&outputs);
    let mut rewritten = program.clone();
    let applied = rewritten.rewrite(&RewriteRules::only(["join-casts"]).unwrap());
    let found = common::builder::load(program).run(&b.tensors()).unwrap();
    let bits = |tensor: &DenseHostTensor| {
        let elements = tensor.elements::<f64>().unwrap();
        elements.iter().map(|x| x.to_bits()).collect::<Vec<u64>>()
    };
    let found = found.as_chunks::<2>().0.iter().zip(pairs);
    let found = found.map(|([y, direct], (names, place))| {
        let is_joined = applied.iter().any(|applied| applied.place.contains(&place));
        (names, bits(y) == bits(direct), is_joined)
    });
    found.collect()
}

#[test]
fn conversions_that_lose_nothing_are_joined() {
    let mut num_joined = 0;
    for (from, name) in TYPES {
        for ([inner, last], is_equal, is_joined) in conversions_from(from) {
            assert!(is_equal || !is_joined, "{name} by way of {inner} to {last}");
            num_joined += usize::from(is_joined);
        }
    }
    assert!(num_joined > 400, "{num_joined}");
}

#[test]
fn conversions_that_lose_digits_stay() {
    for (dtype, through) in [
        (DType::F64, 1),
        (DType::F32, 10),
        (DType::F32, 6),
        (DType::F16, 16),
    ] {
        let mut b = Builder::new(231);
        let x = b.input_of("x", dtype, &[2, 3]);
        let y = b.op_with("Cast", &[&x], &[int("to", through)]);
        let y = b.op_with("Cast", &[&y], &[int("to", 11)]);
        assert_eq!(b.check(&[&y]), [""; 0]);
    }
    let mut b = Builder::new(232);
    let x = b.input("x", &[2, 3]);
    let wide = b.op_with("Cast", &[&x], &[int("to", 11)]);
    let y = b.op_with("Cast", &[&wide], &[int("to", 1)]);
    let y = b.op("Neg", &[&y]);
    assert_eq!(b.check(&[&y]), ["join-casts"]);
    assert_eq!(b.check(&[&y, &wide]), ["join-casts"]);
}

#[test]
fn ops_that_no_output_needs_go() {
    let mut b = Builder::new(233);
    let x = b.input("x", &[2, 3]);
    let y = b.op("Neg", &[&x]);
    // An error of these would not be seen, either.
    let index = b.integers(&[7]);
    let unused = b.op_with("Gather", &[&y, &index], &[int("axis", 0)]);
    let other = b.op("Abs", &[&unused]);
    assert_eq!(b.check(&[&y]), ["drop-unused-ops"]);
    let text = b.rewritten(&[&y]).text;
    assert!(
        !text.contains("nn.Gather") && !text.contains("nn.Abs"),
        "{text}"
    );
    let [plain, rewritten] = b.check_failure(&[&y, &other]);
    assert_eq!(plain, rewritten);
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
fn means_of_padding_are_zero_without_a_sign() {
    let mut b = Builder::new(100);
    let x = b.input("x", &[1, 2, 5, 5]);
    let pads = b.integers(&[0, 0, 5, 5, 0, 0, 5, 5]);
    let y = b.op("Pad", &[&x, &pads]);
    let y = b.op_with("AveragePool", &[&y], &[ints("kernel_shape", &[3, 3])]);
    b.check_bits("pad-into-window", 1, &[&y]);
}

#[test]
fn permutations_of_more_axes_than_tensors_have_stay() {
    use tfrt_import::program::{Attr, ProgramBuilder};
    use tfrt_import::{InputDim, InputType};
    for (rank, num_dropped) in [(32, 1), (33, 0)] {
        let mut builder = ProgramBuilder::default();
        let declared = InputType {
            dtype: Some(DType::F32),
            dims: Some(vec![InputDim::Fixed(1); rank]),
        };
        let x = builder.declared_input("x", declared);
        let perm = [("perm", Attr::Ints((0..rank as i64).collect()))];
        let y = builder.call("nn.Transpose", &[x], &perm, 1, "an op");
        let mut program = builder.finish(&[("y", y[0])]);
        let applied = program.rewrite(&RewriteRules::default());
        assert_eq!(applied.len(), num_dropped, "{rank} axes");
    }
}

#[test]
fn padding_joins_maxima() {
    // What is padded, with what, and attributes of the pooling.
    let infinity = f32::NEG_INFINITY;
    let cases: [(&[i64], f32, Vec<AttributeProto>, bool); 6] = [
        (&[0, 0, 1, 2, 0, 0, 0, 1], infinity, vec![], true),
        // A whole window of padding, and pads of its own.
        (
            &[0, 0, 4, 0, 0, 0, 3, 5],
            infinity,
            vec![ints("pads", &[1, 0, 0, 1])],
            true,
        ),
        (
            &[0, 0, 1, 1, 0, 0, 1, 1],
            infinity,
            vec![int("ceil_mode", 1)],
            false,
        ),
        (&[0, 0, 1, 1, 0, 0, 1, 1], 0.0, vec![], false),
        (&[0, 1, 1, 1, 0, 0, 1, 1], infinity, vec![], false),
        (&[0, 0, -1, 1, 0, 0, 1, 1], infinity, vec![], false),
    ];
    for (pads, filler, attributes, is_joined) in cases {
        for channels in [2, 16] {
            let mut b = Builder::new(99);
            let x = b.input("x", &[1, channels, 5, 4]);
            let (pads, filler) = (b.integers(pads), b.number(filler));
            let y = b.op("Pad", &[&x, &pads, &filler]);
            let window = [ints("kernel_shape", &[3, 2]), ints("strides", &[2, 1])];
            let y = b.op_with("MaxPool", &[&y], &[&window[..], &attributes].concat());
            let y = b.op("Exp", &[&y]);
            let found = b.check(&[&y]).contains(&"pad-into-window");
            assert_eq!(found, is_joined, "{attributes:?}");
        }
    }
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
