//! The ops of the standard kernel library: a GPU computes what the processor does.

use std::sync::Arc;

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::prelude::*;
use tfrt_tensor::{I1, Shape};

use crate::arrays::{Array, Random};
use crate::common::{assert_nothing_is_left, eager};

/// How often each op is tried with each element type.
const ROUNDS: u64 = 4;

const REALS: [DType; 2] = [DType::F32, DType::F64];
const NUMBERS: [DType; 4] = [DType::F32, DType::F64, DType::I32, DType::I64];

/// Calls an op on a device.
fn call(
    eager: &Arc<EagerContext>,
    device: &str,
    (op, keep_dims): (&str, Option<bool>),
    operands: &[&TensorHandle],
) -> Result<TensorHandle> {
    let _scope = eager.device(device)?;
    let mut op = eager.op(op)?;
    if let Some(keep_dims) = keep_dims {
        op = op.attr("keep_dims", keep_dims)?;
    }
    Ok(op.ready()?.call_all(operands)?.remove(0))
}

/// Returns the shape and the elements of a tensor; integers and Booleans as themselves, and numbers
/// with a point as ordered integers, so that neighbours differ by 1.
fn elements(eager: &Arc<EagerContext>, tensor: &TensorHandle) -> (Vec<usize>, Vec<i128>) {
    let host = eager.copy_to(tensor, "CPU:0").unwrap();
    eager.wait(&host).unwrap();
    let metadata = host.metadata().unwrap();
    let ordered = |bits: i64| i128::from(if bits < 0 { i64::MIN - bits } else { bits });
    let narrow = |bits: i32| i128::from(if bits < 0 { i32::MIN - bits } else { bits });
    let elements = match metadata.dtype {
        // All NaNs are one.
        DType::F32 => {
            let numbers = eager.to_vec::<f32>(&host).unwrap();
            let bits = numbers
                .iter()
                .map(|x| if x.is_nan() { f32::NAN } else { *x }.to_bits());
            bits.map(|bits| narrow(bits.cast_signed())).collect()
        }
        DType::F64 => {
            let numbers = eager.to_vec::<f64>(&host).unwrap();
            let bits = numbers
                .iter()
                .map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits());
            bits.map(|bits| ordered(bits.cast_signed())).collect()
        }
        DType::I32 => {
            let numbers = eager.to_vec::<i32>(&host).unwrap();
            numbers.into_iter().map(i128::from).collect()
        }
        DType::I1 => {
            let numbers = eager.to_vec::<I1>(&host).unwrap();
            numbers
                .into_iter()
                .map(|x| i128::from(bool::from(x)))
                .collect()
        }
        _ => {
            let numbers = eager.to_vec::<i64>(&host).unwrap();
            numbers.into_iter().map(i128::from).collect()
        }
    };
    (metadata.extents.to_vec(), elements)
}

/// Checks that an op computes the same on both devices, up to a number of units in the last place.
#[track_caller]
fn check(
    eager: &Arc<EagerContext>,
    op: (&str, Option<bool>),
    operands: &[&TensorHandle],
    ulps: i128,
) {
    let what = format!("{op:?} of {operands:?}");
    let on_device = |device| {
        let result = call(eager, device, op, operands);
        let result = result.unwrap_or_else(|error| panic!("{what} on {device}: {error}"));
        assert_eq!(result.device().unwrap().0.name(), device, "{what}");
        elements(eager, &result)
    };
    let ((dims, expected), (found_dims, found)) = (on_device("CPU:0"), on_device("GPU:0"));
    assert_eq!(dims, found_dims, "{what}");
    for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let difference = (expected - found).abs();
        assert!(
            difference <= ulps,
            "{what}: number {index} differs by {difference} units"
        );
    }
}

/// Returns an array with special numbers among its first ones.
fn special(random: &mut Random, dims: &[usize], dtype: DType) -> Array {
    let mut array = random.array(dims);
    let numbers: &[f64] = match dtype {
        DType::F32 | DType::F64 => &[f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY],
        DType::I32 => &[0.0, i32::MIN as f64, i32::MAX as f64, -1.0],
        _ => &[0.0, i64::MIN as f64, -1.0],
    };
    let start = random.below(numbers.len());
    let numbers = numbers.iter().cycle().skip(start);
    for (to, number) in array.numbers.iter_mut().zip(numbers.take(6)) {
        *to = *number;
    }
    array
}

/// Runs a test with random numbers for each element type.
fn for_each(dtypes: &[DType], mut try_one: impl FnMut(&Arc<EagerContext>, DType, &mut Random)) {
    let eager = eager();
    for &dtype in dtypes {
        for round in 0..ROUNDS {
            try_one(&eager, dtype, &mut Random::new(round + 1));
        }
    }
    assert_nothing_is_left(&eager);
}

#[test]
fn functions_of_one_tensor() {
    for_each(&REALS, |eager, dtype, random| {
        let rank = random.below(4);
        let dims = random.dims(rank, 9);
        let x = special(random, &dims, dtype).tensor(eager, dtype);
        for (op, ulps) in [
            ("tf.Log", 4),
            ("tf.Log1p", 4),
            ("tf.Exp", 4),
            ("tf.Sqrt", 0),
            ("tf.Rsqrt", 1),
            ("tf.Sigmoid", 4),
            ("tfrt.Tanh", 4),
            ("tf.Abs", 0),
            ("tf.Relu6", 0),
            ("tf.Elu", 4),
        ] {
            check(eager, (op, None), &[&x], ulps);
        }
    });
    for_each(&NUMBERS, |eager, dtype, random| {
        let dims = random.dims(2, 7);
        let x = special(random, &dims, dtype).tensor(eager, dtype);
        check(eager, ("tf.Neg", None), &[&x], 0);
        check(eager, ("tf.Square", None), &[&x], 0);
    });
}

#[test]
fn functions_of_two_tensors_are_broadcast() {
    for_each(&NUMBERS, |eager, dtype, random| {
        let mut dims = random.dims(3, 4);
        let a = special(random, &dims, dtype).tensor(eager, dtype);
        // The other operand has fewer dimensions, and one of extent 1.
        dims.remove(0);
        dims[random.below(2)] = 1;
        let b = special(random, &dims, dtype).tensor(eager, dtype);
        for op in [
            "tf.AddV2",
            "tf.Sub",
            "tf.Mul",
            "tf.RealDiv",
            "tf.Maximum",
            "tf.Minimum",
            "tf.Less",
            "tf.LessEqual",
            "tf.Greater",
            "tf.GreaterEqual",
            "tf.Equal",
            "tf.NotEqual",
        ] {
            check(eager, (op, None), &[&a, &b], 0);
            check(eager, (op, None), &[&b, &a], 0);
        }
        let condition = call(eager, "CPU:0", ("tf.Less", None), &[&a, &b]).unwrap();
        check(eager, ("tf.SelectV2", None), &[&condition, &a, &b], 0);
        let other = special(random, &dims, dtype).tensor(eager, dtype);
        check(eager, ("tf.ReluGrad", None), &[&b, &other], 0);
    });
}

#[test]
fn logic_of_booleans() {
    let eager = eager();
    let tensor = |elements: &[bool]| {
        let elements: Vec<I1> = elements.iter().copied().map(I1::from).collect();
        let shape = Shape::new(&[elements.len()]).unwrap();
        let allocator: &Arc<_> = eager.host().allocator();
        let tensor = DenseHostTensor::from_elements(allocator, shape, &elements).unwrap();
        eager.tensor(tensor).unwrap()
    };
    let (a, b) = (
        tensor(&[false, false, true, true]),
        tensor(&[false, true, false, true]),
    );
    for op in ["tf.LogicalAnd", "tf.LogicalOr"] {
        check(&eager, (op, None), &[&a, &b], 0);
    }
    check(&eager, ("tf.LogicalNot", None), &[&a], 0);
    drop((a, b));
    assert_nothing_is_left(&eager);
}

#[test]
fn reductions_along_the_axes_of_the_call() {
    for_each(&NUMBERS, |eager, dtype, random| {
        let dims = random.dims(4, 6);
        let x = random.array(&dims).tensor(eager, dtype);
        let lists: [&[f64]; 5] = [&[], &[0.0], &[-1.0], &[1.0, 3.0], &[0.0, 1.0, 2.0, 3.0]];
        for list in lists {
            let indices = Array::new(&[list.len()], list.to_vec());
            let indices = indices.tensor(eager, [DType::I32, DType::I64][random.below(2)]);
            for keep_dims in [false, true] {
                // The numbers are eighths, so that their sums are exact in any order.
                for op in ["tf.Sum", "tf.Max", "tf.Min"] {
                    check(eager, (op, Some(keep_dims)), &[&x, &indices], 0);
                }
                // Products round, in an order that differs.
                let ulps = if REALS.contains(&dtype) { 2000 } else { 0 };
                check(eager, ("tf.Prod", Some(keep_dims)), &[&x, &indices], ulps);
            }
        }
        // An axis without elements.
        let empty = Array::new(&[2, 0], Vec::new()).tensor(eager, dtype);
        let axis = Array::new(&[1], vec![1.0]).tensor(eager, DType::I32);
        for op in ["tf.Sum", "tf.Prod", "tf.Max", "tf.Min"] {
            check(eager, (op, None), &[&empty, &axis], 0);
        }
    });
}

#[test]
fn windows_positions_and_gradients_of_biases() {
    for_each(&NUMBERS, |eager, dtype, random| {
        let dims = random.dims(3, 7);
        let x = special(random, &dims, dtype).tensor(eager, dtype);
        let (mut begin, mut size) = (Vec::new(), Vec::new());
        for &dim in &dims {
            let start = random.below(dim + 1);
            begin.push(start as f64);
            size.push(match random.below(3) {
                0 => -1.0,
                _ => random.below(dim - start + 1) as f64,
            });
        }
        let integers = [DType::I32, DType::I64][random.below(2)];
        let [begin, size] = [begin, size].map(|numbers| Array::new(&[3], numbers));
        let [begin, size] = [begin, size].map(|array| array.tensor(eager, integers));
        check(eager, ("tf.Slice", None), &[&x, &begin, &size], 0);
        for axis in -3..3 {
            let axis = Array::new(&[], vec![f64::from(axis)]).tensor(eager, integers);
            check(eager, ("tf.ArgMax", None), &[&x, &axis], 0);
        }
        // The numbers are eighths, so that their sums are exact in any order.
        let gradients = random.array(&dims).tensor(eager, dtype);
        check(eager, ("tf.BiasAddGrad", None), &[&gradients], 0);
    });
}

#[test]
fn windows_and_positions_out_of_range_are_errors() {
    let eager = eager();
    let x = Array::new(&[2, 3], vec![1.0; 6]).tensor(&eager, DType::F32);
    let vector = |numbers: &[f64]| Array::new(&[numbers.len()], numbers.to_vec());
    let vector = |numbers: &[f64]| vector(numbers).tensor(&eager, DType::I64);
    let scalar = Array::new(&[], vec![1.0]).tensor(&eager, DType::F32);
    let error_of = |op, operands: &[&TensorHandle]| {
        let result = call(&eager, "GPU:0", (op, None), operands);
        let read = result.and_then(|result| Array::read(&eager, &result));
        read.expect_err("the op does not take it")
            .message()
            .to_owned()
    };
    for (begin, size) in [
        ([0.0, 2.0], [2.0, 2.0]),
        ([3.0, 0.0], [-1.0, 1.0]),
        ([0.0, 0.0], [-2.0, 1.0]),
    ] {
        let error = error_of("tf.Slice", &[&x, &vector(&begin), &vector(&size)]);
        assert!(error.contains("`tf.Slice`: a window of"), "{error}");
    }
    let error = error_of("tf.ArgMax", &[&x, &vector(&[2.0])]);
    assert!(
        error.contains("axis 2 is out of range for a tensor of rank 2"),
        "{error}"
    );
    let empty = Array::new(&[2, 0], Vec::new()).tensor(&eager, DType::F32);
    let error = error_of("tf.ArgMax", &[&empty, &vector(&[1.0])]);
    assert!(error.contains("expected elements along axis 1"), "{error}");
    let error = error_of("tf.BiasAddGrad", &[&scalar]);
    assert!(error.contains("expected rows of gradients"), "{error}");
    drop((x, scalar, empty));
    assert_nothing_is_left(&eager);
}

#[test]
fn element_types_that_an_op_does_not_take_are_errors() {
    let eager = eager();
    let x = Array::new(&[2], vec![1.0, 2.0]).tensor(&eager, DType::F16);
    let error_of = |op, operands: &[&TensorHandle]| {
        let result = call(&eager, "GPU:0", (op, None), operands);
        let read = result.and_then(|result| Array::read(&eager, &result));
        read.expect_err("the op does not take it")
    };
    let error = error_of("tf.Sigmoid", &[&x]);
    assert!(
        error
            .message()
            .contains("`tf.Sigmoid` on a GPU: expected f32 or f64, found f16"),
        "{error}"
    );
    let axis = Array::new(&[1], vec![1.0]).tensor(&eager, DType::I32);
    let x = Array::new(&[2], vec![1.0, 2.0]).tensor(&eager, DType::F32);
    let error = error_of("tf.Max", &[&x, &axis]);
    assert!(
        error
            .message()
            .contains("`tf.Max`: expected an operand with an axis 1, found 1 dim"),
        "{error}"
    );
}
