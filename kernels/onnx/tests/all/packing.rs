//! Weights that are packed when a program is loaded.

use crate::common::tensor;
use tfrt_import::program::{Attr, ProgramBuilder, Value};
use tfrt_import::{InputDim, InputType, Session};
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

fn load(builder: ProgramBuilder, result: Value) -> Session {
    crate::common::builder::load(builder.finish(&[("y", result)]))
}

/// Numbers that differ and are not exact in binary.
fn numbers(dims: &[usize]) -> DenseHostTensor {
    let len = dims.iter().product::<usize>();
    let numbers: Vec<f32> = (0..len).map(|at| (at % 97) as f32 / 9.7 - 5.0).collect();
    tensor(dims, &numbers)
}

fn typed(dims: &[usize]) -> InputType {
    InputType {
        dtype: Some(tfrt::prelude::DType::F32),
        dims: Some(dims.iter().map(|&extent| InputDim::Fixed(extent)).collect()),
    }
}

/// Runs an op on an input and a weight, and on two inputs: only weights are packed. Both must
/// compute the same bits. Returns the size of the packed weight.
#[track_caller]
fn check(op: &str, x: &[usize], w: &[usize], attrs: &[(&str, Attr)]) -> usize {
    let (given, weight) = (numbers(x), numbers(w));
    let mut plain = ProgramBuilder::default();
    let operands = [
        plain.declared_input("x", typed(x)),
        plain.declared_input("w", typed(w)),
    ];
    let result = plain.call(op, &operands, attrs, 1, "node");
    let plain = load(plain, result[0]);
    assert_eq!(plain.packed_bytes(), 0);
    let expected = plain.run(&[("x", given.clone()), ("w", weight.clone())]);

    let mut packed = ProgramBuilder::default();
    let operands = [
        packed.declared_input("x", typed(x)),
        packed.weight("w", weight),
    ];
    let result = packed.call(op, &operands, attrs, 1, "node");
    let packed = load(packed, result[0]);
    let found = packed.run(&[("x", given)]);
    let (expected, found) = (&expected.unwrap()[0], &found.unwrap()[0]);
    assert_eq!(found.metadata(), expected.metadata());
    let bits = |tensor: &DenseHostTensor| -> Vec<u32> {
        let elements = tensor.elements::<f32>().unwrap();
        elements.iter().map(|x| x.to_bits()).collect()
    };
    assert_eq!(bits(found), bits(expected));
    packed.packed_bytes()
}

fn channels_last() -> (&'static str, Attr) {
    ("channels_last", Attr::Bool(true))
}

#[test]
fn packed_filters_change_no_bit() {
    let pads = || ("pads", Attr::Ints(vec![1, 1, 1, 1]));
    let bytes = check("nn.Conv", &[2, 6, 5, 7], &[1, 1, 7, 33], &[channels_last()]);
    assert!(bytes >= 4 * 7 * 33);
    let window = [channels_last(), pads()];
    assert!(check("nn.Conv", &[1, 6, 5, 7], &[3, 3, 7, 33], &window) > 0);
    let strides = [channels_last(), pads(), ("strides", Attr::Ints(vec![2, 2]))];
    assert!(check("nn.Conv", &[1, 9, 9, 3], &[3, 3, 3, 16], &strides) > 0);
}

#[test]
fn filters_whose_order_depends_on_images_stay_as_they_are() {
    let pads = ("pads", Attr::Ints(vec![1, 1, 1, 1]));
    let window = [channels_last(), pads];
    let bytes = check("nn.Conv", &[1, 12, 12, 32], &[3, 3, 32, 32], &window);
    assert_eq!(bytes, 0);
    // Channels first, and one filter for each channel.
    assert_eq!(check("nn.Conv", &[1, 7, 6, 5], &[9, 7, 1, 1], &[]), 0);
    let group = [channels_last(), ("group", Attr::Int(5))];
    assert_eq!(check("nn.Conv", &[1, 7, 6, 5], &[3, 3, 1, 5], &group), 0);
}

#[test]
fn packed_factors_change_no_bit() {
    assert!(check("nn.MatMul", &[2, 9, 24], &[24, 37], &[]) > 0);
    let transposed = [("transpose_b", Attr::Bool(true))];
    assert!(check("nn.MatMul", &[40, 24], &[37, 24], &transposed) > 0);
    assert!(check("nn.Gemm", &[40, 24], &[37, 24], &transposed) > 0);
    assert!(check("nn.Gemm", &[1, 24], &[24, 37], &[]) > 0);
    // Vectors and other orders read the factor where it is.
    assert_eq!(check("nn.MatMul", &[24], &[24, 37], &[]), 0);
    let transposed = [("transpose_a", Attr::Bool(true))];
    assert_eq!(check("nn.Gemm", &[24, 40], &[24, 37], &transposed), 0);
    assert_eq!(check("nn.MatMul", &[3, 20, 24], &[3, 24, 37], &[]), 0);
}

#[test]
fn factors_are_packed_for_products_of_any_number_of_rows() {
    let load_with = |rows: Option<usize>| {
        let mut builder = ProgramBuilder::default();
        let rows = rows.map_or(InputDim::Unknown, InputDim::Fixed);
        let x = builder.declared_input(
            "x",
            InputType {
                dtype: Some(tfrt::prelude::DType::F32),
                dims: Some(vec![rows, InputDim::Fixed(24)]),
            },
        );
        let w = builder.weight("w", numbers(&[24, 37]));
        let result = builder.call("nn.MatMul", &[x, w], &[], 1, "node");
        load(builder, result[0])
    };
    let any = load_with(None);
    assert!(any.packed_bytes() > 0);
    for rows in [0, 1, 2, 12, 13, 40] {
        let fixed = load_with(Some(rows));
        let run = |session: &Session| session.run(&[("x", numbers(&[rows, 24]))]).unwrap();
        let (found, expected) = (run(&any), run(&fixed));
        assert_eq!(found[0].metadata(), expected[0].metadata());
        let bits = |tensor: &DenseHostTensor| -> Vec<u32> {
            let elements = tensor.elements::<f32>().unwrap();
            elements.iter().map(|x| x.to_bits()).collect()
        };
        assert_eq!(bits(&found[0]), bits(&expected[0]), "{rows} rows");
    }
}

#[test]
fn a_weight_with_another_use_stays_as_it_is() {
    let mut builder = ProgramBuilder::default();
    let x = builder.declared_input("x", typed(&[20, 24]));
    let w = builder.weight("w", numbers(&[24, 24]));
    let product = builder.call("nn.MatMul", &[x, w], &[], 1, "product");
    let sum = builder.call("tf.AddV2", &[w, w], &[], 1, "sum");
    let both = builder.call("nn.MatMul", &[product[0], sum[0]], &[], 1, "both");
    let session = load(builder, both[0]);
    assert_eq!(session.packed_bytes(), 0);
    session.run(&[("x", numbers(&[20, 24]))]).unwrap();

    // Two products that read it alike share the packed one.
    let mut builder = ProgramBuilder::default();
    let x = builder.declared_input("x", typed(&[20, 24]));
    let w = builder.weight("w", numbers(&[24, 24]));
    let first = builder.call("nn.MatMul", &[x, w], &[], 1, "first");
    let second = builder.call("nn.MatMul", &[first[0], w], &[], 1, "second");
    let session = load(builder, second[0]);
    assert_eq!(
        session.packed_bytes(),
        4 * 24 * 24_usize.next_multiple_of(32)
    );
    session.run(&[("x", numbers(&[20, 24]))]).unwrap();
}

/// Returns the error of an op on two inputs.
#[track_caller]
fn failure(op: &str, x: &[usize], w: &[usize], attrs: &[(&str, Attr)]) -> String {
    let mut builder = ProgramBuilder::default();
    let operands = [builder.input("x"), builder.input("w")];
    let result = builder.call(op, &operands, attrs, 1, "node");
    let session = load(builder, result[0]);
    let failure = session.run(&[("x", numbers(x)), ("w", numbers(w))]);
    failure.unwrap_err().message().to_owned()
}

#[test]
fn what_is_not_packed_is_refused() {
    let filter = [("filter", Attr::Ints(vec![1, 1, 3, 8]))];
    assert_eq!(
        failure("nn.PackedConv", &[1, 4, 4, 3], &[5], &filter),
        "`nn.PackedConv`: expected a packed filter of f32 [1, 1, 3, 8], found f32 [5]"
    );
    let filter = [("filter", Attr::Ints(vec![3, 8]))];
    assert_eq!(
        failure("nn.PackedConv", &[1, 4, 4, 3], &[5], &filter),
        "`nn.PackedConv`: expected a packed filter of f32 [3, 8], found f32 [5]"
    );
    let factor = [("packed_b", Attr::Ints(vec![3, 8]))];
    for op in ["nn.MatMul", "nn.Gemm"] {
        assert_eq!(
            failure(op, &[4, 3], &[3, 8], &factor),
            format!(
                "`{op}`: expected a packed factor of f32 [3, 8] that is not transposed, found f32 \
                 [3, 8]"
            )
        );
    }
    // Batches of transposed matrices are products of their own.
    let columns = 8_usize.next_multiple_of(32);
    let factor = [
        ("packed_b", Attr::Ints(vec![3, 8])),
        ("transpose_a", Attr::Bool(true)),
    ];
    assert_eq!(
        failure("nn.MatMul", &[2, 3, 4], &[3 * columns], &factor),
        "`nn.MatMul`: expected a left factor that is not transposed with a packed right factor"
    );
}

#[test]
fn weights_are_packed_alike_on_any_number_of_threads() {
    let mut builder = ProgramBuilder::default();
    let mut last = builder.declared_input("x", typed(&[64, 96]));
    for layer in 0..9 {
        let columns = 96 + 8 * layer;
        let rows = if layer == 0 { 96 } else { columns - 8 };
        let weight = builder.weight(&format!("w{layer}"), numbers(&[rows, columns]));
        last = builder.call("nn.MatMul", &[last, weight], &[], 1, "node")[0];
    }
    let program = builder.finish(&[("y", last)]);
    let form = |queue: &str| {
        let kernels = tfrt::prelude::KernelRegistry::from_link().unwrap();
        let host = tfrt::host::HostContext::builder()
            .registry(std::sync::Arc::new(kernels))
            .queue(tfrt::queue::create_queue(queue).unwrap())
            .build();
        let form = tfrt_import::PackedForm::of(&program, &host, "any").unwrap();
        let weights = form.weights().map(|(index, tensor)| {
            let bytes = tensor.buffer().read().unwrap().to_vec();
            (index, bytes)
        });
        weights.collect::<Vec<_>>()
    };
    let one = form("s");
    assert_eq!(one.len(), 9);
    assert!(one.iter().map(|(index, _)| *index).eq(0..9));
    for _ in 0..20 {
        assert!(form("mstd:3") == one);
    }
}
