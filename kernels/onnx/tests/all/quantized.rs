//! Quantised models: integer kernels compute what the kernels between dequantization and
//! quantization compute, up to one step.

use crate::common::builder::{Builder, load};
use crate::common::*;
use prost::Message;
use tfrt::prelude::DType;
use tfrt_import::Limits;
use tfrt_import::rewrite::RewriteRules;
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::*;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

const UINT8: i32 = 2;
const INT8: i32 = 3;
const INT32: i32 = 6;

/// Bytes that look random.
fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Adds a constant of a type that floating-point numbers are not.
fn constant(b: &mut Builder, data_type: i32, dims: &[usize], bytes: Vec<u8>) -> String {
    let name = format!("w{}", b.weights.len());
    b.weights.push(TensorProto {
        name: Some(name.clone()),
        data_type: Some(data_type),
        dims: dims.iter().map(|&extent| extent as i64).collect(),
        raw_data: Some(bytes.into()),
        ..Default::default()
    });
    name
}

/// How a tensor is quantised.
#[derive(Clone, Copy)]
struct Scale(f32, i32, u8);

/// Unsigned bytes and signed ones.
const SCALES: [Scale; 2] = [Scale(0.02, UINT8, 117), Scale(0.02, INT8, 0xf3)];

impl Scale {
    fn operands(self, b: &mut Builder) -> [String; 2] {
        let scale = b.number(self.0);
        [scale, constant(b, self.1, &[], vec![self.2])]
    }

    fn quantize(self, b: &mut Builder, x: &str) -> String {
        let [scale, zero] = self.operands(b);
        b.op("QuantizeLinear", &[x, &scale, &zero])
    }

    fn dequantize(self, b: &mut Builder, x: &str) -> String {
        let [scale, zero] = self.operands(b);
        b.op("DequantizeLinear", &[x, &scale, &zero])
    }

    /// Quantises a value, and dequantises it again.
    fn both(self, b: &mut Builder, x: &str) -> String {
        let bytes = self.quantize(b, x);
        self.dequantize(b, &bytes)
    }
}

/// Adds a filter of signed bytes with one scale for each index along an axis.
fn filter(b: &mut Builder, dims: &[usize], axis: usize) -> String {
    let len = dims.iter().product();
    let bytes = constant(b, INT8, dims, random(len, 5));
    let scales: Vec<f32> = (0..dims[axis])
        .map(|at| 0.001 + 0.0003 * at as f32)
        .collect();
    let scale = b.given(&[dims[axis]], &scales);
    let zero = constant(b, INT8, &[dims[axis]], vec![0; dims[axis]]);
    b.op_with(
        "DequantizeLinear",
        &[&bytes, &scale, &zero],
        &[int("axis", axis as i64)],
    )
}

/// Adds a bias in steps of the sums.
fn bias(b: &mut Builder, len: usize) -> String {
    let bytes = (0..len as i32).flat_map(|at| (900 * at - 2000).to_le_bytes());
    let bytes = constant(b, INT32, &[len], bytes.collect());
    let scales: Vec<f32> = (0..len)
        .map(|at| 0.02 * (0.001 + 0.0003 * at as f32))
        .collect();
    let scale = b.given(&[len], &scales);
    b.op_with("DequantizeLinear", &[&bytes, &scale], &[int("axis", 0)])
}

fn whole_numbers(tensor: &DenseHostTensor) -> Vec<i32> {
    match tensor.dtype() {
        DType::Ui8 => tensor
            .elements::<u8>()
            .unwrap()
            .iter()
            .map(|&x| x.into())
            .collect(),
        DType::I8 => tensor
            .elements::<i8>()
            .unwrap()
            .iter()
            .map(|&x| x.into())
            .collect(),
        other => panic!("expected bytes, found {other}"),
    }
}

/// Runs a model as it is and rewritten, and compares the bytes of its output, which may differ by
/// `steps`. Returns the rules that were applied.
#[track_caller]
fn check(b: &Builder, output: &str, steps: i32) -> Vec<&'static str> {
    let model = Model::from_bytes(b.model(&[output]).encode_to_vec(), &Limits::default());
    let program = model.unwrap().import(&Options::default()).unwrap();
    let mut rewritten = program.clone();
    let applied = rewritten.rewrite(&RewriteRules::default());
    assert!(
        rewritten
            .clone()
            .rewrite(&RewriteRules::default())
            .is_empty()
    );
    let inputs = b.tensors();
    let expected = load(program).run(&inputs).unwrap();
    let found = load(rewritten).run(&inputs).unwrap();
    assert_eq!(found[0].metadata(), expected[0].metadata());
    let (found, expected) = (whole_numbers(&found[0]), whole_numbers(&expected[0]));
    let differ = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
    assert!(differ <= found.len() / 50, "{differ} of {}", found.len());
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let is_near = (found - expected).abs() <= steps;
        assert!(is_near, "element {at}: found {found}, expected {expected}");
    }
    // Otherwise, the comparison would say little.
    let mut different = expected.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 8 || expected.len() < 50, "{different:?}");
    let mut rules: Vec<&str> = applied.iter().map(|applied| applied.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn convolutions_compute_on_integers() {
    for (seed, from) in SCALES.into_iter().enumerate() {
        for to in [Scale(0.1, UINT8, 90), Scale(0.1, INT8, 0xf6)] {
            for (size, stride, pads) in [
                (1, 1, [0, 0, 0, 0]),
                (3, 1, [1, 1, 1, 1]),
                (3, 2, [0, 1, 2, 1]),
            ] {
                for function in ["", "Relu", "Clip"] {
                    for channels in [3, 8] {
                        let mut b = Builder::new(seed as u64 + 1);
                        let x = b.input("x", &[2, channels, 9, 7]);
                        let x = from.both(&mut b, &x);
                        let w = filter(&mut b, &[40, channels, size, size], 0);
                        let bias = bias(&mut b, 40);
                        let attributes = [ints("pads", &pads), ints("strides", &[stride, stride])];
                        let y = b.op_with("Conv", &[&x, &w, &bias], &attributes);
                        let y = match function {
                            "" => y,
                            "Clip" => {
                                let (least, greatest) = (b.number(-1.0), b.number(2.0));
                                b.op("Clip", &[&y, &least, &greatest])
                            }
                            function => b.op(function, &[&y]),
                        };
                        let y = to.quantize(&mut b, &y);
                        let rules = check(&b, &y, 1);
                        assert_eq!(rules, ["channels-last-quantized", "quantize-convolution"]);
                    }
                }
            }
        }
    }
}

#[test]
fn products_compute_on_integers() {
    for from in SCALES {
        let to = Scale(0.05, UINT8, 120);
        for is_transposed in [false, true] {
            let mut b = Builder::new(3);
            let x = b.input("x", &[20, 24]);
            let x = from.both(&mut b, &x);
            let (dims, axis) = if is_transposed {
                ([37, 24], 0)
            } else {
                ([24, 37], 1)
            };
            let (w, bias) = (filter(&mut b, &dims, axis), bias(&mut b, 37));
            let attributes = [int("transB", is_transposed.into())];
            let y = b.op_with("Gemm", &[&x, &w, &bias], &attributes);
            let y = b.op("Relu", &[&y]);
            let y = to.quantize(&mut b, &y);
            assert_eq!(check(&b, &y, 1), ["quantize-product"]);
        }
        for rows in [1, 5] {
            let mut b = Builder::new(4);
            let x = b.input("x", &[2, rows, 24]);
            let x = from.both(&mut b, &x);
            let (w, bias) = (filter(&mut b, &[24, 37], 1), bias(&mut b, 37));
            let y = b.op("MatMul", &[&x, &w]);
            let y = b.op("Add", &[&bias, &y]);
            let y = to.quantize(&mut b, &y);
            assert_eq!(check(&b, &y, 1), ["quantize-product"]);
        }
    }
}

#[test]
fn sums_and_moves_keep_every_bit() {
    for from in SCALES {
        for dims in [[1, 3, 4, 5], [1, 1, 4, 1]] {
            let mut b = Builder::new(5);
            let (x, z) = (b.input("x", &[1, 3, 4, 5]), b.input("z", &dims));
            let (x, z) = (
                from.both(&mut b, &x),
                Scale(0.01, UINT8, 99).both(&mut b, &z),
            );
            let y = b.op("Add", &[&x, &z]);
            let y = b.op("Relu", &[&y]);
            let y = Scale(0.015, INT8, 0x90).quantize(&mut b, &y);
            assert_eq!(check(&b, &y, 0), ["quantize-sum"]);
        }
        let mut b = Builder::new(6);
        let x = b.input("x", &[1, 3, 8, 9]);
        let x = from.both(&mut b, &x);
        let attributes = [ints("kernel_shape", &[3, 3]), ints("pads", &[1, 1, 1, 1])];
        let y = b.op_with("MaxPool", &[&x], &attributes);
        let y = from.both(&mut b, &y);
        let y = b.op_with("Flatten", &[&y], &[int("axis", 2)]);
        let y = from.quantize(&mut b, &y);
        assert_eq!(check(&b, &y, 0), ["quantize-moves"]);
        // Elements of another scale become other bytes.
        let mut b = Builder::new(6);
        let x = b.input("x", &[1, 3, 8, 9]);
        let x = from.both(&mut b, &x);
        let y = Scale(0.03, UINT8, 117).both(&mut b, &x);
        let y = b.op_with("Flatten", &[&y], &[int("axis", 2)]);
        let y = from.quantize(&mut b, &y);
        assert_eq!(check(&b, &y, 0), [""; 0]);
    }
}

#[test]
fn a_residual_block_stays_in_bytes() {
    let mut b = Builder::new(7);
    let x = b.input("x", &[1, 8, 12, 12]);
    let scale = Scale(0.05, UINT8, 100);
    let x = scale.both(&mut b, &x);
    let window = [ints("pads", &[1, 1, 1, 1])];
    let w = filter(&mut b, &[8, 8, 3, 3], 0);
    let y = b.op_with("Conv", &[&x, &w], &window);
    let y = b.op("Relu", &[&y]);
    let y = scale.both(&mut b, &y);
    let attributes = [ints("kernel_shape", &[3, 3]), window[0].clone()];
    let y = b.op_with("MaxPool", &[&y], &attributes);
    let y = scale.both(&mut b, &y);
    let w = filter(&mut b, &[8, 8, 1, 1], 0);
    let y = b.op("Conv", &[&y, &w]);
    let y = scale.both(&mut b, &y);
    let y = b.op("Add", &[&y, &x]);
    let y = b.op("Relu", &[&y]);
    let y = scale.quantize(&mut b, &y);
    let model = Model::from_bytes(b.model(&[&y]).encode_to_vec(), &Limits::default());
    let mut program = model.unwrap().import(&Options::default()).unwrap();
    program.rewrite(&RewriteRules::default());
    for op in ["nn.Dequantize", "nn.Conv", "nn.Relu", "tf.AddV2"] {
        assert!(!program.text.contains(op), "{}", program.text);
    }
    // Channels move at the ends only.
    assert_eq!(
        program.text.matches("nn.Transpose").count(),
        2,
        "{}",
        program.text
    );
    check(&b, &y, 2);
}

#[test]
fn what_integers_cannot_compute_stays() {
    let to = Scale(0.005, UINT8, 120);
    let conv = |b: &mut Builder, w: &str, attributes: &[AttributeProto]| {
        let x = b.input("x", &[1, 4, 5, 5]);
        let x = SCALES[0].both(b, &x);
        b.op_with("Conv", &[&x, w], attributes)
    };
    // Filters with a zero point, unsigned ones, and several groups.
    for (data_type, zero) in [(INT8, 3), (UINT8, 0)] {
        let mut b = Builder::new(8);
        let bytes = constant(&mut b, data_type, &[8, 4, 1, 1], random(32, 9));
        let scale = b.number(0.01);
        let zero = constant(&mut b, data_type, &[], vec![zero]);
        let w = b.op("DequantizeLinear", &[&bytes, &scale, &zero]);
        let y = conv(&mut b, &w, &[]);
        let y = to.quantize(&mut b, &y);
        assert_eq!(check(&b, &y, 0), [""; 0]);
    }
    let mut b = Builder::new(9);
    let w = filter(&mut b, &[8, 2, 1, 1], 0);
    let y = conv(&mut b, &w, &[int("group", 2)]);
    let y = to.quantize(&mut b, &y);
    assert_eq!(check(&b, &y, 0), [""; 0]);
    // A bias for each row, where there are as many rows as columns.
    let mut b = Builder::new(11);
    let x = b.input("x", &[4, 24]);
    let x = SCALES[0].both(&mut b, &x);
    let (w, column) = (filter(&mut b, &[24, 4], 1), b.weight(&[4, 1]));
    let y = b.op("Gemm", &[&x, &w, &column]);
    let y = to.quantize(&mut b, &y);
    assert_eq!(check(&b, &y, 0), [""; 0]);
    // A bias so large that sums would not fit.
    let mut b = Builder::new(12);
    let x = b.input("x", &[4, 24]);
    let x = SCALES[0].both(&mut b, &x);
    let (w, large) = (filter(&mut b, &[24, 4], 1), b.given(&[4], &[42_949.0; 4]));
    let y = b.op("Gemm", &[&x, &w, &large]);
    let y = to.quantize(&mut b, &y);
    assert_eq!(check(&b, &y, 0), [""; 0]);
    // A convolution whose numbers something else uses.
    let mut b = Builder::new(10);
    let w = filter(&mut b, &[8, 4, 1, 1], 0);
    let y = conv(&mut b, &w, &[]);
    let bytes = to.quantize(&mut b, &y);
    let other = b.op("Sigmoid", &[&y]);
    let other = to.quantize(&mut b, &other);
    let y = b.op("Max", &[&bytes, &other]);
    assert_eq!(check(&b, &y, 0), [""; 0]);
}

#[test]
fn quantised_convolutions_of_exporters_read_channels_last() {
    for scale in SCALES {
        let mut b = Builder::new(11);
        let x = b.input("x", &[2, 5, 9, 7]);
        let x = scale.quantize(&mut b, &x);
        let [x_scale, x_zero] = scale.operands(&mut b);
        let w = constant(&mut b, INT8, &[33, 5, 3, 3], random(33 * 45, 12));
        let (w_scale, w_zero) = (b.number(0.004), constant(&mut b, INT8, &[], vec![0]));
        let [y_scale, y_zero] = Scale(0.1, UINT8, 100).operands(&mut b);
        let steps = (0..33_i32).flat_map(|at| (700 * at - 9000).to_le_bytes());
        let bias = constant(&mut b, INT32, &[33], steps.collect());
        let operands = [
            &x, &x_scale, &x_zero, &w, &w_scale, &w_zero, &y_scale, &y_zero, &bias,
        ];
        let operands = operands.map(String::as_str);
        let y = b.op_with("QLinearConv", &operands, &[ints("pads", &[1, 0, 2, 1])]);
        assert_eq!(check(&b, &y, 0), ["channels-last-quantized"]);
    }
}
