//! Numeric kernels, held against what NumPy makes of the same random tensors.
//!
//! `numpy/record.py` wrote `numpy/recorded.npz`, once and by hand, and says how its arrays are
//! named: nothing here needs Python. Shapes are random, empty and of rank 0 among them, and
//! broadcast where a kernel broadcasts; numbers are of all magnitudes, with NaN, infinities, zeros
//! of both signs and denormals among them; half of the arrays lie column by column in the file.
//!
//! What must agree, by the first kernel of this table whose name begins so. ε is the gap between 1
//! and the next number.
//!
//! | kernels | agree with NumPy |
//! |---|---|
//! | `tf_sync.Log.`, `tf_sync.Rsqrt.` | 2 ULP |
//! | `tf_sync.Log1p.`, `tf_sync.Sigmoid.` | 4 ULP |
//! | `tf_sync.Softmax.` | 24 · ε · (1 + the distance from the greatest of the row) of the number; a row is at most 300 long |
//! | `tfrt_test.softmax_inplace.` | 32 · ε of the number, for at most 400 elements |
//! | `tf_sync.LogSoftmax.` | 16 · ε · (1 + the greatest magnitude of the row) |
//! | `tf_sync._FusedMatMul.` | 24 · ε · (│a│ · │b│ + │bias│): sums of at most 9 products |
//! | `tfrt_test.matmul.f32.`, `tfrt_test_sync.matmul.f32.` | 24 · ε · (│α│ · │a│ · │b│ + │β · c│) |
//! | `tfrt_test.gradient_descent.` | 1 ULP of the number before: a product and a sum may be rounded once or twice |
//! | `tfrt_test.reduce_mean.f32.`, `tfrt_test.mean_axis_zero.`, `tfrt_test.global_average_pooling.` | 16 · ε · the mean of magnitudes |
//! | all others | bit for bit, and NaN where NumPy has NaN |
//!
//! Bounds in ULP hold from the exact result; half a unit is added, because what is recorded is
//! rounded.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt::prelude::*;
use tfrt::testing::{self, Operand};
use tfrt_tensor::file::FileFormat;
use tfrt_tensor::{
    DenseHostTensor, Element, HostBuffer, I1, ScalarHostTensor, Shape, Sizes, with_element,
};

tfrt::link!(tfrt_kernels);

/// One run of a kernel.
#[derive(Default)]
struct Case {
    kernel: String,
    attributes: String,
    /// By position.
    operands: BTreeMap<usize, (Role, DenseHostTensor)>,
    /// Where the tensor is that is written, if it is an operand.
    written: Option<usize>,
    expected: Option<DenseHostTensor>,
    magnitudes: Option<DenseHostTensor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Dense,
    Scalar,
    Number,
    Shape,
    Written,
}

fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

fn read_cases() -> BTreeMap<usize, Case> {
    let file = include_bytes!("../numpy/recorded.npz");
    let buffer = HostBuffer::copied(&malloc(), file).unwrap();
    let arrays = FileFormat::Npz.read(&buffer, &malloc()).unwrap();
    let mut cases: BTreeMap<usize, Case> = BTreeMap::new();
    for named in arrays {
        let array: DenseHostTensor = named
            .tensor
            .downcast_ref::<DenseHostTensor>()
            .unwrap()
            .clone();
        let mut parts = named.name.split('|');
        let case = cases
            .entry(parts.next().unwrap().parse().unwrap())
            .or_default();
        let role = parts.next().unwrap();
        let (position, role) = role.split_at(role.len() - 1);
        let position = position.parse::<usize>().ok();
        let role = match role {
            "e" => {
                case.kernel = parts.next().unwrap().to_owned();
                case.attributes = parts.next().unwrap().to_owned();
                case.written = position;
                case.expected = Some(array);
                continue;
            }
            "m" => {
                case.magnitudes = Some(array);
                continue;
            }
            "i" => Role::Dense,
            "x" => Role::Scalar,
            "s" => Role::Number,
            "h" => Role::Shape,
            "w" => Role::Written,
            other => panic!("`{other}` is not a role"),
        };
        case.operands.insert(position.unwrap(), (role, array));
    }
    cases
}

/// Returns a tensor of its own, as kernels may write into it.
fn copied(tensor: &DenseHostTensor) -> DenseHostTensor {
    let buffer = HostBuffer::copied(&malloc(), &tensor.buffer().read().unwrap()).unwrap();
    DenseHostTensor::from_buffer(tensor.dtype(), tensor.shape().clone(), buffer).unwrap()
}

fn shape_of(sizes: &DenseHostTensor) -> Sizes {
    Sizes::from_signed(&sizes.elements::<i64>().unwrap()).unwrap()
}

fn operand(role: Role, array: &DenseHostTensor) -> Operand {
    let array = array.clone();
    match role {
        Role::Dense | Role::Written => testing::value_from(move || array.clone()),
        Role::Scalar => testing::value_from(move || {
            let shape = array.shape().clone();
            with_element!(array.dtype(), T => {
                ScalarHostTensor::new(shape, array.elements::<T>().unwrap()[0])
            })
            .unwrap()
        }),
        Role::Shape => testing::value_from(move || shape_of(&array)),
        Role::Number => match array.dtype() {
            DType::F32 => number::<f32>(&array),
            DType::I32 => number::<i32>(&array),
            DType::I64 => number::<i64>(&array),
            other => panic!("no kernel takes a number of type {other}"),
        },
    }
}

fn number<T: Element + Value>(array: &DenseHostTensor) -> Operand {
    let number = array.elements::<T>().unwrap()[0];
    testing::value_from(move || number)
}

impl Case {
    /// Runs the kernel: what it wrote, or gave.
    fn run(&self) -> DenseHostTensor {
        let expected = self.expected.as_ref().unwrap();
        let mut positions: BTreeMap<usize, Operand> = BTreeMap::new();
        for (&position, (role, array)) in &self.operands {
            if *role != Role::Written {
                positions.insert(position, operand(*role, array));
            }
        }
        let written = self.written.map(|position| {
            let before = match self.operands.get(&position) {
                Some((_, before)) => copied(before),
                None => {
                    let shape = expected.shape().clone();
                    DenseHostTensor::zeroed(&malloc(), expected.dtype(), shape).unwrap()
                }
            };
            positions.insert(position, operand(Role::Written, &before));
            before
        });
        // What is missing between operands is a chain.
        let last = positions.keys().max().copied().unwrap_or_default();
        for position in 0..last {
            positions
                .entry(position)
                .or_insert_with(|| testing::value_from(|| Chain));
        }
        let mut kernel = testing::kernel(&self.kernel).under(["s"]);
        for attribute in self.attributes.split(';').filter(|text| !text.is_empty()) {
            let (name, value) = attribute.split_once('=').unwrap();
            kernel = kernel.attribute(name, testing::mlir(value));
        }
        let operands: Vec<Operand> = positions.into_values().collect();
        let outcome = kernel.operands(operands).run();
        if let Some(written) = written {
            outcome.expect_done();
            return written;
        }
        let mut result = None;
        if expected.dtype() == DType::I1 {
            outcome.with_value(0, |value: &bool| {
                let truth = I1::from(*value);
                result = DenseHostTensor::filled(&malloc(), Shape::scalar(), truth).ok();
            });
            return result.unwrap();
        }
        outcome.with_value(0, |tensor: &DenseHostTensor| result = Some(tensor.clone()));
        result.unwrap()
    }
}

/// How far a kernel may be from NumPy.
#[derive(Clone, Copy, Debug)]
enum Bound {
    BitForBit,
    /// In units in the last place of the exact result.
    Ulps(f64),
    /// In units of ε, relative to the recorded magnitude.
    OfMagnitude(f64),
    /// In units in the last place of what was there before.
    OfBefore(f64),
}

/// The table of the module's documentation.
const BOUNDS: &[(&str, Bound)] = &[
    ("tf_sync.Log.", Bound::Ulps(2.0)),
    ("tf_sync.Rsqrt.", Bound::Ulps(2.0)),
    ("tf_sync.Log1p.", Bound::Ulps(4.0)),
    ("tf_sync.Sigmoid.", Bound::Ulps(4.0)),
    ("tf_sync.Softmax.", Bound::OfMagnitude(24.0)),
    ("tfrt_test.softmax_inplace.", Bound::OfMagnitude(32.0)),
    ("tf_sync.LogSoftmax.", Bound::OfMagnitude(16.0)),
    ("tf_sync._FusedMatMul.", Bound::OfMagnitude(24.0)),
    ("tfrt_test.matmul.f32.", Bound::OfMagnitude(24.0)),
    ("tfrt_test_sync.matmul.f32.", Bound::OfMagnitude(24.0)),
    ("tfrt_test.gradient_descent.", Bound::OfBefore(1.0)),
    ("tfrt_test.reduce_mean.f32.", Bound::OfMagnitude(16.0)),
    ("tfrt_test.mean_axis_zero.", Bound::OfMagnitude(16.0)),
    (
        "tfrt_test.global_average_pooling.",
        Bound::OfMagnitude(16.0),
    ),
];

fn bound_of(kernel: &str) -> Bound {
    let known = BOUNDS.iter().find(|(start, _)| kernel.starts_with(start));
    known.map_or(Bound::BitForBit, |(_, bound)| *bound)
}

/// A type that kernels compute approximately in.
trait Real: Element + Debug {
    const EPSILON: f64;
    const MIN_POSITIVE: f64;
    fn wide(self) -> f64;
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const MIN_POSITIVE: f64 = f32::MIN_POSITIVE as f64;
    fn wide(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const MIN_POSITIVE: f64 = f64::MIN_POSITIVE;
    fn wide(self) -> f64 {
        self
    }
}

/// Returns a unit in the last place of a number.
fn ulp<T: Real>(number: f64) -> f64 {
    let exponent = number.abs().max(T::MIN_POSITIVE).log2().floor();
    T::EPSILON * exponent.exp2()
}

/// Returns the first element that is not as near as it must be.
fn first_off<T: Real>(case: &Case, found: &DenseHostTensor, bound: Bound) -> Option<String> {
    let expected = case.expected.as_ref().unwrap();
    let elements = |tensor: &DenseHostTensor| tensor.elements::<T>().unwrap().to_vec();
    let magnitudes = case.magnitudes.as_ref().map(elements);
    let before = case
        .written
        .and_then(|position| case.operands.get(&position));
    let before = before.map(|(_, before)| elements(before));
    let pairs = elements(found).into_iter().zip(elements(expected));
    for (index, (found, expected)) in pairs.enumerate() {
        let (found, exact) = (found.wide(), expected.wide());
        if found == exact || found.is_nan() && exact.is_nan() {
            continue;
        }
        let allowed = match bound {
            Bound::BitForBit => 0.0,
            Bound::Ulps(ulps) => (ulps + 0.5) * ulp::<T>(exact),
            Bound::OfMagnitude(units) => {
                let magnitude = magnitudes.as_ref().unwrap()[index].wide();
                units * T::EPSILON * magnitude.max(T::MIN_POSITIVE)
            }
            Bound::OfBefore(ulps) => ulps * ulp::<T>(before.as_ref().unwrap()[index].wide()),
        };
        let distance = (found - exact).abs();
        // Neither holds if one of them is NaN.
        if distance <= allowed {
            continue;
        }
        return Some(format!(
            "element {index} is {found:e}, NumPy has {exact:e}: {distance:e} off, allowed are \
             {allowed:e}"
        ));
    }
    None
}

/// Returns the first element that has other bits, unless both are NaN.
fn first_different<T: Element>(
    found: &DenseHostTensor,
    expected: &DenseHostTensor,
) -> Option<String> {
    // What differs from itself is NaN, whatever the type.
    let is_nan = |element: &T| element.ne(element);
    let (found, expected) = (
        found.elements::<T>().unwrap(),
        expected.elements::<T>().unwrap(),
    );
    found
        .iter()
        .zip(&*expected)
        .enumerate()
        .find_map(|(index, (found, expected))| {
            let is_same =
                found.to_bytes() == expected.to_bytes() || is_nan(found) && is_nan(expected);
            (!is_same).then(|| format!("element {index} is {found:?}, NumPy has {expected:?}"))
        })
}

fn complaint(case: &Case) -> Option<String> {
    let (found, expected) = (case.run(), case.expected.as_ref().unwrap());
    if found.metadata() != expected.metadata() {
        let (found, expected) = (found.metadata(), expected.metadata());
        return Some(format!("the result is {found}, NumPy has {expected}"));
    }
    match (bound_of(&case.kernel), expected.dtype()) {
        (Bound::BitForBit, dtype) => {
            with_element!(dtype, T => first_different::<T>(&found, expected)).unwrap()
        }
        (bound, DType::F32) => first_off::<f32>(case, &found, bound),
        (bound, DType::F64) => first_off::<f64>(case, &found, bound),
        (bound, other) => panic!("{bound:?} for elements of type {other}"),
    }
}

#[test]
fn kernels_agree_with_numpy() {
    let cases = read_cases();
    assert!(cases.len() > 600, "the cases are there");
    let complaints: Vec<String> = cases
        .iter()
        .filter_map(|(number, case)| {
            let complaint = complaint(case)?;
            Some(format!("case {number}, {}: {complaint}", case.kernel))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_bound_is_of_kernels_that_are_compared() {
    let cases = read_cases();
    for (start, _) in BOUNDS {
        let is_used = cases.values().any(|case| case.kernel.starts_with(start));
        assert!(is_used, "`{start}`");
    }
}
