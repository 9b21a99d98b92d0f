//! What the ops of the library compute, and what they refuse.

use std::sync::Arc;

use tfrt::attr::ToOpAttr;
use tfrt::core::{EagerContext, TensorHandle, ToTensor};
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

/// A context, and what its ops say.
struct Ops(Arc<EagerContext>);

impl Ops {
    fn new() -> Self {
        let registry = KernelRegistry::from_link().expect("names are unique");
        let host = HostContext::builder().registry(Arc::new(registry)).build();
        Self(EagerContext::builder(host).build().expect("one device"))
    }

    fn tensor(&self, value: impl ToTensor) -> TensorHandle {
        self.0.tensor(value).unwrap()
    }

    fn of_shape(&self, dims: &[i64], elements: impl ToTensor) -> TensorHandle {
        let operands = [self.tensor(elements), self.tensor(dims)];
        self.results("tf.Reshape", &operands, 1).unwrap().remove(0)
    }

    fn results(
        &self,
        op: &str,
        operands: &[TensorHandle],
        count: usize,
    ) -> Result<Vec<TensorHandle>> {
        let operands: Vec<&TensorHandle> = operands.iter().collect();
        self.0.op(op)?.results(count).ready()?.call_all(&operands)
    }

    /// Returns the results of an op, or its error.
    fn says<const N: usize>(&self, op: &str, operands: [TensorHandle; N]) -> String {
        shown(self.results(op, &operands, 1))
    }

    /// Returns the same, with an attribute.
    fn says_with<const N: usize>(
        &self,
        op: &str,
        (name, value): (&str, impl ToOpAttr),
        operands: [TensorHandle; N],
    ) -> String {
        let operands: Vec<&TensorHandle> = operands.iter().collect();
        let call = || {
            self.0
                .op(op)?
                .attr(name, value)?
                .ready()?
                .call_all(&operands)
        };
        shown(call())
    }
}

/// Types, shapes and elements, or the error.
fn shown(outcome: Result<Vec<TensorHandle>>) -> String {
    let shown = |handle: TensorHandle| {
        let text = handle.to_string();
        let text = text
            .replace("DenseHostTensor dtype = ", "")
            .replace(", shape = ", " ");
        text.replace(", values = ", " ")
    };
    match outcome {
        Ok(handles) => handles
            .into_iter()
            .map(shown)
            .collect::<Vec<_>>()
            .join("; "),
        Err(error) => error.message().to_owned(),
    }
}

#[test]
fn functions_of_one_tensor() {
    let ops = Ops::new();
    let cases = [
        ("tf.Exp", [0.0_f32, 1.0], "[1.000000e+00, 2.718282e+00]"),
        ("tf.Sqrt", [4.0, 2.25], "[2.000000e+00, 1.500000e+00]"),
        ("tf.Abs", [-1.0, 2.0], "[1.000000e+00, 2.000000e+00]"),
        ("tf.Neg", [0.0, 2.0], "[-0.000000e+00, -2.000000e+00]"),
        ("tf.Square", [-3.0, 2.0], "[9.000000e+00, 4.000000e+00]"),
        ("tf.Relu6", [-3.0, 9.0], "[0.000000e+00, 6.000000e+00]"),
        ("tf.Elu", [0.5, -1000.0], "[5.000000e-01, -1.000000e+00]"),
        ("tfrt.Tanh", [0.0, 1000.0], "[0.000000e+00, 1.000000e+00]"),
    ];
    for (op, operand, expected) in cases {
        assert_eq!(
            ops.says(op, [ops.tensor(operand)]),
            format!("f32 [2] {expected}"),
            "{op}"
        );
    }
    assert_eq!(
        ops.says("tf.Neg", [ops.tensor([i8::MIN, 5])]),
        "i8 [2] [-128, -5]"
    );
    assert_eq!(
        ops.says("tf.Square", [ops.tensor([16_u8, 3])]),
        "u8 [2] [0, 9]"
    );
    assert_eq!(
        ops.says(
            "tf.Square",
            [ops.tensor([true.into(), tfrt_tensor::I1::from(false)])]
        ),
        "`tf.Square` does not support i1"
    );
}

#[test]
fn comparisons_stretch() {
    let ops = Ops::new();
    let (a, b) = (|| ops.tensor([[1, 2], [3, 4]]), || ops.tensor([2, 3]));
    let cases = [
        ("tf.Less", "[1, 1, 0, 0]"),
        ("tf.LessEqual", "[1, 1, 0, 0]"),
        ("tf.Greater", "[0, 0, 1, 1]"),
        ("tf.GreaterEqual", "[0, 0, 1, 1]"),
        ("tf.Equal", "[0, 0, 0, 0]"),
        ("tf.NotEqual", "[1, 1, 1, 1]"),
    ];
    for (op, expected) in cases {
        assert_eq!(
            ops.says(op, [a(), b()]),
            format!("i1 [2, 2] {expected}"),
            "{op}"
        );
    }
    assert_eq!(
        ops.says("tf.Equal", [a(), ops.tensor(3)]),
        "i1 [2, 2] [0, 0, 1, 0]"
    );
    assert_eq!(
        ops.says("tf.LessEqual", [a(), ops.tensor(2)]),
        "i1 [2, 2] [1, 1, 0, 0]"
    );
    assert_eq!(
        ops.says("tf.GreaterEqual", [a(), ops.tensor(2)]),
        "i1 [2, 2] [0, 1, 1, 1]"
    );
    assert_eq!(
        ops.says("tf.Maximum", [a(), b()]),
        "i32 [2, 2] [2, 3, 3, 4]"
    );
    assert_eq!(
        ops.says("tf.Minimum", [a(), b()]),
        "i32 [2, 2] [1, 2, 2, 3]"
    );
    assert_eq!(
        ops.says("tf.Maximum", [a(), ops.tensor([1, 2, 3])]),
        "Dimensions must be equal, but are 2 and 3"
    );
}

#[test]
fn truth_values_choose() {
    let ops = Ops::new();
    let truths = |values: [bool; 2]| ops.tensor(values.map(tfrt_tensor::I1::from));
    let (a, b) = (
        || truths([true, false]),
        || ops.of_shape(&[2, 1], [true, false].map(tfrt_tensor::I1::from)),
    );
    assert_eq!(
        ops.says("tf.LogicalAnd", [a(), b()]),
        "i1 [2, 2] [1, 0, 0, 0]"
    );
    assert_eq!(
        ops.says("tf.LogicalOr", [a(), b()]),
        "i1 [2, 2] [1, 1, 1, 0]"
    );
    assert_eq!(ops.says("tf.LogicalNot", [a()]), "i1 [2] [0, 1]");
    assert_eq!(
        ops.says("tf.LogicalNot", [ops.tensor([1])]),
        "`tf.LogicalNot` does not support i32"
    );
    let rows = || ops.tensor([[1_i64, 2], [3, 4]]);
    assert_eq!(
        ops.says("tf.SelectV2", [a(), rows(), ops.tensor(9_i64)]),
        "i64 [2, 2] [1, 9, 3, 9]"
    );
    assert_eq!(
        ops.says("tf.SelectV2", [b(), rows(), ops.tensor(9_i64)]),
        "i64 [2, 2] [1, 2, 9, 9]"
    );
    assert_eq!(
        ops.says("tf.SelectV2", [rows(), rows(), rows()]),
        "`tf.SelectV2`: expected a condition of type i1, found i64"
    );
}

#[test]
fn casts_are_those_of_rust() {
    let ops = Ops::new();
    let cast = |to: DType, x: TensorHandle| ops.says_with("tfrt.Cast", ("DstT", to), [x]);
    assert_eq!(
        cast(DType::I8, ops.tensor([1.9_f32, -1.9, 300.0, f32::NAN])),
        "i8 [4] [1, -1, 127, 0]"
    );
    assert_eq!(cast(DType::Ui8, ops.tensor([300, -1])), "u8 [2] [44, 255]");
    assert_eq!(
        cast(DType::I1, ops.tensor([0.0_f64, -0.5])),
        "i1 [2] [0, 1]"
    );
    assert_eq!(
        cast(
            DType::I64,
            ops.tensor([true.into(), tfrt_tensor::I1::from(false)])
        ),
        "i64 [2] [1, 0]"
    );
    // Rounded once: by way of f64 it would be 9007199791611904.
    let large = (1_i64 << 53) + (1 << 29) + 1;
    let expected = shown(Ok(vec![ops.tensor([large as f32])]));
    assert_eq!(cast(DType::F32, ops.tensor([large])), expected);
    assert_eq!(
        ops.says("tfrt.Cast", [ops.tensor([1])]),
        "cannot get destination type"
    );
    assert_eq!(
        cast(DType::String, ops.tensor([1])),
        "`tfrt.Cast` does not support str"
    );
}

#[test]
fn every_cast_agrees_with_the_routine() {
    fn check<T, U>(ops: &Ops, values: &[T])
    where
        T: tfrt_tensor::Element + tfrt_compute::cast::CastTo<U>,
        U: tfrt_tensor::Element + Default + PartialEq + std::fmt::Debug,
        for<'a> &'a [T]: ToTensor,
    {
        let op = ops
            .0
            .op("tfrt.Cast")
            .unwrap()
            .attr("DstT", U::DTYPE)
            .unwrap();
        let handle = op.call(&[&ops.tensor(values)]).unwrap();
        let mut expected = vec![U::default(); values.len()];
        tfrt_compute::cast::cast(values, &mut expected);
        assert_eq!(
            ops.0.to_vec::<U>(&handle).unwrap(),
            expected,
            "{} to {}",
            T::DTYPE,
            U::DTYPE
        );
    }
    macro_rules! check_all {
        ($ops:ident, $($T:ty = $values:expr),+ $(,)?) => {
            $(check_all!(@from $ops, $T, $values, u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);)+
        };
        (@from $ops:ident, $T:ty, $values:expr, $($U:ty)+) => {
            $(check::<$T, $U>(&$ops, &$values);)+
        };
    }
    let ops = Ops::new();
    check_all!(
        ops,
        u8 = [0, 1, 127, 128, 255],
        u16 = [0, 255, 256, 65_535],
        u32 = [0, 65_536, u32::MAX, 16_777_217],
        u64 = [0, u64::MAX, (1 << 53) + 1, (1 << 53) + (1 << 29) + 1],
        i8 = [0, -1, i8::MIN, i8::MAX],
        i16 = [0, -1, i16::MIN, i16::MAX],
        i32 = [0, -1, i32::MIN, i32::MAX, 16_777_217],
        i64 = [0, -1, i64::MIN, i64::MAX, (1 << 53) + (1 << 29) + 1],
        f32 = [0.0, -0.5, 1.5, 300.7, -300.7, 1e30, -1e30, f32::INFINITY],
        f64 = [0.0, -0.5, 1.5, 300.7, -300.7, 1e300, -1e300, 1.0 + 1e-12],
    );
}

#[test]
fn reductions_take_any_dimensions() {
    let ops = Ops::new();
    let x = || ops.tensor([[1, 2, 3], [4, 5, 6]]);
    assert_eq!(
        ops.says("tf.Sum", [x(), ops.tensor([0])]),
        "i32 [3] [5, 7, 9]"
    );
    assert_eq!(ops.says("tf.Sum", [x(), ops.tensor([0, 1])]), "i32 [] [21]");
    assert_eq!(
        ops.says("tf.Prod", [x(), ops.tensor([-1_i64])]),
        "i32 [2] [6, 120]"
    );
    assert_eq!(
        ops.says_with("tf.Max", ("keep_dims", true), [x(), ops.tensor(1)]),
        "i32 [2, 1] [3, 6]"
    );
    assert_eq!(ops.says("tf.Min", [x(), ops.tensor([1])]), "i32 [2] [1, 4]");
    assert_eq!(
        ops.says("tf.Min", [x(), ops.tensor(&[][..] as &[i32])]),
        "i32 [2, 3] [1, 2, 3, 4, 5, 6]"
    );
    assert_eq!(
        ops.says("tf.Min", [x(), ops.tensor([2])]),
        "`tf.Min`: axis 2 is out of range for a tensor of rank 2"
    );
    assert_eq!(
        ops.says("tf.Min", [x(), ops.tensor([2.0_f32])]),
        "`tf.Min`: expected `reduction_indices` of type i32 or i64, found f32"
    );
    assert_eq!(
        ops.says("tf.Sum", [x(), ops.tensor([0, -2])]),
        "reduction: axis 0 is given twice in [0, 0]"
    );
    assert_eq!(
        ops.says("tf.ArgMax", [x(), ops.tensor(0)]),
        "i64 [3] [1, 1, 1]"
    );
    assert_eq!(
        ops.says_with(
            "tf.ArgMax",
            ("output_type", DType::I32),
            [x(), ops.tensor(-1)]
        ),
        "i32 [2] [2, 2]"
    );
    assert_eq!(
        ops.says_with(
            "tf.ArgMax",
            ("output_type", DType::F32),
            [x(), ops.tensor(0)]
        ),
        "`tf.ArgMax`: expected a result type i32 or i64, found f32"
    );
    let empty = ops.of_shape(&[2, 0], &[][..] as &[i32]);
    assert_eq!(
        ops.says("tf.ArgMax", [empty, ops.tensor(1)]),
        "argmax: expected elements along axis 1, found the shape [2, 0]"
    );
}

#[test]
fn rows_are_normalized() {
    let ops = Ops::new();
    let x = || ops.tensor([[1.0_f32, 3.0], [7.0, 5.0]]);
    let row = |values: [f32; 2]| ops.tensor(values);
    assert_eq!(
        ops.says_with(
            "tf._FusedLayerNorm",
            ("epsilon", 0.0_f32),
            [x(), row([1.0, 2.0]), row([0.0, 10.0])]
        ),
        "f32 [2, 2] [-1.000000e+00, 1.200000e+01, 1.000000e+00, 8.000000e+00]"
    );
    assert_eq!(
        ops.says("tf._FusedLayerNorm", [x(), x(), row([0.0, 10.0])]),
        "`tf._FusedLayerNorm`: expected `scale` and `offset` of the size of a row of f32 [2, 2], \
         found f32 [2, 2] and f32 [2]"
    );
}

#[test]
fn shapes_change_and_elements_stay() {
    let ops = Ops::new();
    let x = || ops.tensor([[1, 2, 3], [4, 5, 6]]);
    assert_eq!(
        ops.says("tf.Reshape", [x(), ops.tensor([3, -1])]),
        "i32 [3, 2] [1, 2, 3, 4, 5, 6]"
    );
    assert_eq!(
        ops.says("tf.Reshape", [x(), ops.tensor([-1_i64])]),
        "i32 [6] [1, 2, 3, 4, 5, 6]"
    );
    for wanted in [[4, 2], [-1, -1], [-1, 0], [-1, 4], [-2, 3]] {
        let expected = format!("`tf.Reshape` cannot reshape i32 [2, 3] to {wanted:?}");
        assert_eq!(ops.says("tf.Reshape", [x(), ops.tensor(wanted)]), expected);
    }
    let huge = [i64::MAX, i64::MAX];
    let expected = format!("`tf.Reshape` cannot reshape i32 [2, 3] to {huge:?}");
    assert_eq!(ops.says("tf.Reshape", [x(), ops.tensor(huge)]), expected);
    let ones = || ops.tensor([[[1], [2]]]);
    assert_eq!(ops.says("tf.Squeeze", [ones()]), "i32 [2] [1, 2]");
    assert_eq!(
        ops.says_with("tf.Squeeze", ("squeeze_dims", [-1_i64]), [ones()]),
        "i32 [1, 2] [1, 2]"
    );
    assert_eq!(
        ops.says_with("tf.Squeeze", ("squeeze_dims", [1_i64]), [ones()]),
        "`tf.Squeeze`: expected dimension 1 of i32 [1, 2, 1] to be 1, found 2"
    );
    assert_eq!(
        ops.says("tfrt.Transpose", [x(), ops.tensor([1, 0])]),
        "i32 [3, 2] [1, 4, 2, 5, 3, 6]"
    );
    for permutation in [[0, 0], [1, 1]] {
        let said = ops.says("tfrt.Transpose", [x(), ops.tensor(permutation)]);
        assert_eq!(
            said,
            format!(
                "`tfrt.Transpose`: expected a permutation of 2 dimensions, found {permutation:?}"
            )
        );
    }
    assert_eq!(
        ops.says("tfrt.Transpose", [x(), ops.tensor([0, 1, 1])]),
        "`tfrt.Transpose`: expected a permutation of 2 dimensions, found [0, 1, 1]"
    );
}

#[test]
fn parts_are_picked() {
    let ops = Ops::new();
    let x = || ops.tensor([[1, 2, 3], [4, 5, 6]]);
    assert_eq!(
        ops.says("tf.Slice", [x(), ops.tensor([0, 1]), ops.tensor([2, -1])]),
        "i32 [2, 2] [2, 3, 5, 6]"
    );
    for (begin, size) in [
        ([0, 4], [1, 0]),
        ([-1, 0], [1, 1]),
        ([0, 1], [1, 3]),
        ([0, 0], [1, -2]),
    ] {
        let said = ops.says("tf.Slice", [x(), ops.tensor(begin), ops.tensor(size)]);
        let expected = format!("`tf.Slice`: a window of {size:?} at {begin:?} exceeds [2, 3]");
        assert_eq!(said, expected);
    }
    let split = |axis: i32, count| shown(ops.results("tf.Split", &[ops.tensor(axis), x()], count));
    assert_eq!(
        split(1, 3),
        "i32 [2, 1] [1, 4]; i32 [2, 1] [2, 5]; i32 [2, 1] [3, 6]"
    );
    assert_eq!(split(-2, 2), "i32 [1, 3] [1, 2, 3]; i32 [1, 3] [4, 5, 6]");
    assert_eq!(
        split(1, 2),
        "`tf.Split` cannot split i32 [2, 3] into 2 equal parts along dimension 1"
    );
    let gather = |indices: TensorHandle, axis: i32| {
        ops.says("tf.GatherV2", [x(), indices, ops.tensor(axis)])
    };
    assert_eq!(
        gather(ops.tensor([1, 0, 1]), 0),
        "i32 [3, 3] [4, 5, 6, 1, 2, 3, 4, 5, 6]"
    );
    assert_eq!(
        gather(ops.tensor([[2_i64], [0]]), 1),
        "i32 [2, 2, 1] [3, 1, 6, 4]"
    );
    assert_eq!(gather(ops.tensor(1), -1), "i32 [2] [2, 5]");
    assert_eq!(
        gather(ops.tensor([0, 2]), 0),
        "`tf.GatherV2`: expected indices below 2, found 2 at position 1"
    );
    assert_eq!(
        gather(ops.tensor([-1]), 0),
        "`tf.GatherV2`: expected indices below 2, found -1 at position 0"
    );
    let hot = |depth: i32| {
        ops.says(
            "tf.OneHot",
            [
                ops.tensor([1, 7]),
                ops.tensor(depth),
                ops.tensor(1.0_f32),
                ops.tensor(0.0_f32),
            ],
        )
    };
    assert_eq!(
        hot(2),
        "f32 [2, 2] [0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00]"
    );
    assert_eq!(
        hot(-1),
        "`tf.OneHot`: expected a non-negative depth, found -1"
    );
    let packed = |axis: i64| {
        ops.says_with(
            "tf.Pack",
            ("axis", axis),
            [ops.tensor([1, 2]), ops.tensor([3, 4])],
        )
    };
    assert_eq!(packed(0), "i32 [2, 2] [1, 2, 3, 4]");
    assert_eq!(packed(-1), "i32 [2, 2] [1, 3, 2, 4]");
    assert_eq!(
        packed(3),
        "`tf.Pack`: axis 3 is out of range for a tensor of rank 2"
    );
    assert_eq!(
        ops.says("tf.Pack", [ops.tensor([1]), ops.tensor([1, 2])]),
        "`tf.Pack`: i32 [1] and i32 [2] are incompatible"
    );
    let filled = ops
        .results("tf.Fill", &[ops.tensor([2, 2]), ops.tensor(7)], 1)
        .unwrap();
    assert_eq!(
        ops.says("tf.Maximum", [filled[0].clone(), ops.tensor([8, 1])]),
        "i32 [2, 2] [8, 7, 8, 7]"
    );
    assert_eq!(
        ops.says("tf.Fill", [ops.tensor([2]), ops.tensor([1, 2])]),
        "`tf.Fill`: expected a scalar, found i32 [2]"
    );
}

#[test]
fn batches_of_matrices_stretch() {
    let ops = Ops::new();
    let matrices = || ops.of_shape(&[2, 1, 1, 2], [1.0_f32, 2.0, 3.0, 4.0]);
    let others = || ops.of_shape(&[3, 2, 1], [1.0_f32, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let expected = "f32 [2, 3, 1, 1] [1.000000e+00, 2.000000e+00, 3.000000e+00, 3.000000e+00, \
                    4.000000e+00, 7.000000e+00]";
    assert_eq!(
        ops.says("tf.BatchMatMulV2", [matrices(), others()]),
        expected
    );
    let turned = ops.of_shape(&[3, 1, 2], [1.0_f32, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(
        ops.says_with("tf.BatchMatMulV2", ("adj_y", true), [matrices(), turned]),
        expected
    );
    let refused = "`tf.BatchMatMulV2`: f32 [2, 1, 1, 2] and f32 [2, 1, 1, 2] are incompatible";
    assert_eq!(
        ops.says("tf.BatchMatMulV2", [matrices(), matrices()]),
        refused
    );
    // No product for each of very many empty matrices.
    let empty = ops.of_shape(&[1 << 40, 0, 2], &[][..] as &[f32]);
    assert_eq!(
        ops.says("tf.BatchMatMulV2", [empty, others()]),
        "`tf.BatchMatMulV2`: f32 [1099511627776, 0, 2] and f32 [3, 2, 1] are incompatible"
    );
    let empty = ops.of_shape(&[1 << 40, 0, 2], &[][..] as &[f32]);
    let one = ops.of_shape(&[2, 1], [1.0_f32, 2.0]);
    assert_eq!(
        ops.says("tf.BatchMatMulV2", [empty, one]),
        "f32 [1099511627776, 0, 1] []"
    );
}

#[test]
fn means_of_windows_leave_out_padding() {
    let ops = Ops::new();
    let x = ops.of_shape(&[1, 2, 2, 1], [1.0_f32, 2.0, 3.0, 4.0]);
    let pool = ops.0.op("tf.AvgPool").unwrap();
    let pool = pool
        .attr("ksize", [1_i64, 2, 2, 1])
        .unwrap()
        .attr("strides", [1_i64, 1, 1, 1])
        .unwrap();
    let means = pool
        .attr("padding", "SAME")
        .unwrap()
        .ready()
        .unwrap()
        .call_all(&[&x]);
    assert_eq!(
        shown(means),
        "f32 [1, 2, 2, 1] [2.500000e+00, 3.000000e+00, 3.500000e+00, 4.000000e+00]"
    );
}

#[test]
fn windows_of_images_have_four_strides() {
    let ops = Ops::new();
    let x = ops.of_shape(&[1, 2, 2, 1], [1.0_f32, 2.0, 3.0, 4.0]);
    let said = |op: &str, strides: &[i64]| {
        let pool = || {
            ops.0
                .op(op)?
                .attr("ksize", [1_i64, 2, 2, 1])?
                .attr("strides", strides)
        };
        shown(pool().and_then(|pool| pool.attr("padding", "SAME")?.ready()?.call_all(&[&x])))
    };
    for strides in [&[1_i64][..], &[1; 3], &[1; 5]] {
        assert_eq!(said("tf.AvgPool", strides), said("tf.MaxPool", strides));
        assert!(
            !said("tf.AvgPool", strides).starts_with("f32"),
            "{strides:?}"
        );
    }
}

#[test]
fn gradients_are_those_of_differences() {
    let ops = Ops::new();
    let x = ops.tensor([[-1.0_f32, 2.0]]);
    let g = || ops.tensor([[3.0_f32, 4.0]]);
    assert_eq!(
        ops.says("tf.ReluGrad", [g(), x]),
        "f32 [1, 2] [0.000000e+00, 4.000000e+00]"
    );
    assert_eq!(
        ops.says("tf.ReluGrad", [g(), ops.tensor([1.0_f32])]),
        "expected operands of the same type and shape, found f32 [1, 2] and f32 [1]"
    );
    assert_eq!(
        ops.says("tf.BiasAddGrad", [ops.tensor([[1, 2], [3, 4]])]),
        "i32 [2] [4, 6]"
    );
    assert_eq!(
        ops.says("tf.BiasAddGrad", [ops.tensor(1)]),
        "`tf.BiasAddGrad`: expected rows of gradients, found i32 []"
    );
    const ENTROPY: &str = "tf.SparseSoftmaxCrossEntropyWithLogits";
    let entropy = |features: [f32; 3], label: i64| {
        let operands = [ops.tensor([features]), ops.tensor([label])];
        ops.results(ENTROPY, &operands, 2)
    };
    let features = [0.5_f32, -1.0, 2.0];
    let results = entropy(features, 2).unwrap();
    let loss = |features| {
        ops.0
            .to_vec::<f32>(&entropy(features, 2).unwrap()[0])
            .unwrap()[0]
    };
    let gradient = ops.0.to_vec::<f32>(&results[1]).unwrap();
    for column in 0..3 {
        let (mut more, mut less) = (features, features);
        more[column] += 1e-2;
        less[column] -= 1e-2;
        let slope = (loss(more) - loss(less)) / 2e-2;
        assert!(
            (slope - gradient[column]).abs() < 1e-3,
            "{column}: {slope} and {gradient:?}"
        );
    }
    assert_eq!(
        shown(entropy(features, 3)),
        format!("`{ENTROPY}`: expected labels below 3, found 3 at index 0")
    );
    assert_eq!(
        shown(entropy(features, -1)),
        format!("`{ENTROPY}`: expected labels below 3, found -1 at index 0")
    );
}

#[test]
fn ops_are_functions_of_rust_with_the_same_results() -> Result<()> {
    use tfrt_kernels::ops::{casts, comparisons, element_wise, images, products, reductions, rows};

    let ops = Ops::new();
    let eager = &ops.0;
    let x = ops.of_shape(&[2, 2], [1.0_f32, -2.0, 3.0, 4.0]);
    let row = ops.tensor([10.0_f32, 20.0]);
    let same = |typed: Result<TensorHandle>, named: String| {
        assert_eq!(shown(typed.map(|handle| vec![handle])), named);
    };
    let both = || [x.clone(), row.clone()];
    same(
        element_wise::add(eager, &x, &row),
        ops.says("tf.AddV2", both()),
    );
    same(
        element_wise::relu(eager, &x),
        ops.says("tf.Relu", [x.clone()]),
    );
    same(
        comparisons::maximum(eager, &x, &row),
        ops.says("tf.Maximum", both()),
    );
    same(
        rows::softmax(eager, &x),
        ops.says("tf.Softmax", [x.clone()]),
    );
    let axis = || ops.tensor([1]);
    let mean = reductions::mean(eager, &x, &axis(), Some(true));
    let named = ops.says_with("tf.Mean", ("keep_dims", true), [x.clone(), axis()]);
    same(mean, named);
    let whole = casts::cast(eager, &x, Some(DType::I32));
    same(
        whole,
        ops.says_with("tfrt.Cast", ("DstT", DType::I32), [x.clone()]),
    );
    let product = products::matmul(eager, &x, &x, Some(false), Some(true))?;
    assert_eq!(eager.to_vec::<f32>(&product)?, [5.0, -5.0, -5.0, 25.0]);
    let image = ops.of_shape(&[1, 2, 2, 1], [1.0_f32, -2.0, 3.0, 4.0]);
    let filter = ops.of_shape(&[2, 2, 1, 1], [1.0_f32; 4]);
    let ones = [1, 1, 1, 1];
    let sum = images::conv_2d(
        eager,
        &image,
        &filter,
        None,
        None,
        None,
        "VALID",
        Some(&ones),
    )?;
    assert_eq!(eager.to_vec::<f32>(&sum)?, [6.0]);
    // The place of an error is that of the call.
    let error = element_wise::add(eager, &x, &ops.tensor([1.0_f32; 3])).unwrap_err();
    let line = line!() - 1;
    let place = error.place().to_string();
    assert!(place.contains(&format!("op_library.rs:{line}:")), "{place}");
    Ok(())
}
