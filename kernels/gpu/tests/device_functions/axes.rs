//! Reductions along axes, on host tensors and on the host device: the same bits.

use tfrt::prelude::*;
use tfrt_gpu::host_device::Options;

use super::{Device, kernel, on_host, ramp, same, tensor};

macro_rules! sums {
    ($($name:ident $kernel:tt [$($axis:tt)+] $keep_dims:tt;)+) => {$(
        /// Returns the sums of the squares along the axes.
        #[tfrt_kernel(
            $kernel,
            reduce(identity = 0.0, combine = add, axes = [$($axis)+], keep_dims = $keep_dims)
        )]
        fn $name(x: f32) -> f32 {
            x * x
        }
    )+};
}

sums! {
    last "test.sum_last" [-1] false;
    first "test.sum_first" [0] true;
    middle "test.sum_middle" [1] false;
    ends "test.sum_ends" [0, 2] false;
    every "test.sum_every" [0, -1, 1] true;
}

/// Returns the largest difference of a row.
#[tfrt_kernel("test.farthest", reduce(identity = 0, combine = max, axes = [-1]))]
fn farthest(x: i64, y: i64) -> i64 {
    (x - y).abs()
}

/// Tells whether all numbers of a row are finite.
#[tfrt_kernel("test.finite_rows", reduce(identity = true, combine = and, axes = [-1]))]
fn finite_rows(x: f64) -> bool {
    x - x == 0.0
}

/// Returns the sums of the rows.
#[tfrt_kernel("test.sum_of_doubles", reduce(identity = 0.0, combine = add, axes = [-1]))]
fn sum_of_doubles(x: f64) -> f64 {
    x
}

/// Returns the products of the rows, which wrap around.
#[tfrt_kernel("test.product_of_words", reduce(identity = 1, combine = mul, axes = [-1]))]
fn product_of_words(x: u32) -> u32 {
    x
}

/// Returns the sums of the squares by plain loops.
fn plain(shape: [usize; 3], is_reduced: [bool; 3]) -> Vec<f64> {
    let extents = [0, 1, 2].map(|axis| if is_reduced[axis] { 1 } else { shape[axis] });
    let mut sums = vec![0.0; extents.iter().product()];
    for index in 0..shape.iter().product() {
        let places = [
            index / (shape[1] * shape[2]),
            index / shape[2] % shape[1],
            index % shape[2],
        ];
        // An extent of 1 has one place.
        let target = places
            .iter()
            .zip(&extents)
            .fold(0, |target, (place, extent)| {
                target * extent + place.min(&(extent - 1))
            });
        sums[target] += f64::from(ramp(index) * ramp(index));
    }
    sums
}

/// A kernel, the axes that it reduces, and those of its result; none has an extent of 1.
type Case = (&'static str, [bool; 3], &'static [Option<usize>]);

#[test]
fn reductions_along_axes_have_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    let cases: [Case; 5] = [
        ("test.sum_last", [false, false, true], &[Some(0), Some(1)]),
        (
            "test.sum_first",
            [true, false, false],
            &[None, Some(1), Some(2)],
        ),
        ("test.sum_middle", [false, true, false], &[Some(0), Some(2)]),
        ("test.sum_ends", [true, false, true], &[Some(1)]),
        ("test.sum_every", [true, true, true], &[None; 3]),
    ];
    for shape in [
        [2, 3, 5],
        [1, 1, 1],
        [4, 1, 70],
        [3, 9, 130],
        [5, 17, 8],
        [2, 3, 0],
        [0, 2, 2],
    ] {
        let input = tensor(&shape, ramp);
        for (name, is_reduced, kept) in &cases {
            let sums = same(&device, name, std::slice::from_ref(&input));
            let extents = kept.iter().map(|axis| axis.map_or(1, |axis| shape[axis]));
            assert_eq!(sums.shape().dims(), extents.collect::<Vec<_>>(), "{name}");
            let expected = plain(shape, *is_reduced);
            let found = sums.elements::<f32>().unwrap();
            assert_eq!(found.len(), expected.len(), "{name} of {shape:?}");
            for (found, expected) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected).abs();
                assert!(
                    error <= 1e-5 * expected,
                    "{name} of {shape:?}: {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn a_reduction_along_axes_takes_several_operands() {
    let device = Device::open(Options::default());
    let x = tensor(&[3, 21], |index| index as i64 * 5);
    let y = tensor(&[3, 21], |index| index as i64 * index as i64);
    let found = same(&device, "test.farthest", &[x, y]);
    let largest = |row: usize| {
        let numbers = row as i64 * 21..(row as i64 + 1) * 21;
        numbers.map(|x| (x * 5 - x * x).abs()).max().unwrap()
    };
    assert_eq!(
        *found.elements::<i64>().unwrap(),
        [largest(0), largest(1), largest(2)]
    );
}

/// The threads that share a result exchange numbers of every type, also if the last warp has too
/// few threads.
#[test]
fn rows_of_every_type_have_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    for shape in [[3, 21], [37, 8], [70, 9], [1, 200]] {
        let number = |index: usize| match index {
            30 => f64::INFINITY,
            50 => f64::NAN,
            _ => f64::from(ramp(index)) / 3.0,
        };
        let truths = same(&device, "test.finite_rows", &[tensor(&shape, number)]);
        let truths = truths.elements::<tfrt_tensor::I1>().unwrap();
        for (row, truth) in truths.iter().enumerate() {
            let is_finite =
                |index: usize| !(index / shape[1] == row && index < shape[0] * shape[1]);
            let expected = is_finite(30) && is_finite(50);
            assert_eq!(*truth, tfrt_tensor::I1::from(expected), "{shape:?}");
        }
        let doubles = tensor(&shape, |index| f64::from(ramp(index)) / 3.0);
        same(&device, "test.sum_of_doubles", &[doubles]);
        let words = tensor(&shape, |index| index as u32 * 2 + 1);
        let products = same(&device, "test.product_of_words", &[words]);
        for (row, product) in products.elements::<u32>().unwrap().iter().enumerate() {
            let row = (row * shape[1]) as u32..((row + 1) * shape[1]) as u32;
            let expected = row.fold(1_u32, |product, index| product.wrapping_mul(index * 2 + 1));
            assert_eq!(*product, expected, "{shape:?}");
        }
    }
}

/// A tensor without elements takes no time, however long its other axes are.
#[test]
fn long_axes_without_elements_are_not_walked() {
    let device = Device::open(Options::default());
    let empty = tensor(&[1 << 40, 3, 0], ramp);
    let sums = same(&device, "test.sum_ends", &[empty]);
    assert_eq!(*sums.elements::<f32>().unwrap(), [0.0; 3]);
}

/// The order of a reduction is part of its definition: eight lanes, then halves.
#[test]
fn a_reduction_along_axes_combines_eight_lanes() {
    let numbers: Vec<f32> = (0..20).map(ramp).collect();
    let mut lanes = [0.0_f32; 8];
    for (index, number) in numbers.iter().enumerate() {
        lanes[index % 8] += number * number;
    }
    let quarters = [0, 1, 2, 3].map(|lane| lanes[lane] + lanes[lane + 4]);
    let expected = (quarters[0] + quarters[2]) + (quarters[1] + quarters[3]);
    for (name, shape) in [
        ("test.sum_last", [1, 1, 20]),
        ("test.sum_middle", [1, 20, 1]),
    ] {
        on_host(name, &[tensor(&shape, ramp)]).with_value(0, |sum: &DenseHostTensor| {
            assert_eq!(*sum.elements::<f32>().unwrap(), [expected]);
        });
    }
}

#[test]
fn an_axis_out_of_range_is_an_error() {
    let device = Device::open(Options::default());
    let input = tensor(&[4], ramp);
    let message = "`test.sum_middle`: expected an operand with an axis 1, found 1 dimensions";
    on_host("test.sum_middle", std::slice::from_ref(&input)).expect_error(message);
    let result = TensorMetadata::new(DType::F32, [4]);
    let error = device
        .run(kernel("test.sum_middle"), &[input], &result)
        .unwrap_err();
    assert_eq!(error.message(), message);
}
