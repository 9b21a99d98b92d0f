//! Resized tensors, whose extents and coordinates are those of ONNX Runtime.

use super::*;

/// Returns the numbers from 0 on, resized by a model of a version, by a factor or to an extent.
fn resized(
    version: i64,
    len: usize,
    factor: Result<f32, i64>,
    attributes: &[AttributeProto],
) -> Vec<f32> {
    let numbers: Vec<f32> = (0..len).map(|at| at as f32).collect();
    let x = tensor(&[1, len], &numbers);
    let (operands, last) = match factor {
        Ok(factor) if version == 10 => (vec!["x", "y"], tensor(&[2], &[1.0_f32, factor])),
        Ok(factor) => (vec!["x", "", "y"], tensor(&[2], &[1.0_f32, factor])),
        Err(extent) => (vec!["x", "", "", "y"], tensor(&[2], &[1_i64, extent])),
    };
    let resize = with(node("Resize", &operands, &["z"]), attributes);
    let mut model = model(graph(&["x", "y"], vec![resize], &["z"]));
    model.opset_import[0].version = Some(version);
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let session = Session::load(imported(&model).unwrap(), "model.onnx", &host).unwrap();
    let outputs = session.run(&[("x", x), ("y", last)]).unwrap();
    outputs[0].elements::<f32>().unwrap().to_vec()
}

fn nearest(nearest: &str) -> [AttributeProto; 3] {
    [
        text("mode", "nearest"),
        text("coordinate_transformation_mode", "asymmetric"),
        text("nearest_mode", nearest),
    ]
}

#[test]
fn extents_are_rounded_to_single_precision() {
    // In double precision, ten times this factor is less than 7.
    assert_eq!(
        resized(13, 10, Ok(0.7), &nearest("floor")),
        [0.0, 1.0, 2.0, 4.0, 5.0, 7.0, 8.0]
    );
}

#[test]
fn coordinates_are_rounded_to_single_precision() {
    // In double precision, the quotient of the last place but two is less than 10.
    let found = resized(13, 12, Ok(1.7), &nearest("floor"));
    assert_eq!(found.len(), 20);
    assert_eq!(found[17], 10.0);
    let found = resized(13, 14, Err(16), &nearest("floor"));
    let scale = 16.0_f32 / 14.0;
    let expected: Vec<f32> = (0..16).map(|at| (at as f32 / scale).floor()).collect();
    assert_eq!(found, expected);
    // In double precision, this is 7.
    assert_eq!(found[8], 6.0);
}

#[test]
fn aligned_corners_are_those_of_the_whole_extent_before_version_19() {
    let aligned = [
        text("mode", "linear"),
        text("coordinate_transformation_mode", "align_corners"),
    ];
    for (version, last) in [(13, 11.0), (18, 11.0), (19, 26.0 * 11.0 / 26.6)] {
        let found = resized(version, 12, Ok(2.3), &aligned);
        assert_eq!(found.len(), 27);
        assert!((found[26] - last).abs() < 1e-5, "{version}: {}", found[26]);
    }
    assert_eq!(resized(13, 12, Ok(0.1), &aligned), [0.0]);
}

#[test]
fn the_first_version_takes_elements_above_where_an_axis_shrinks() {
    assert_eq!(
        resized(10, 5, Ok(0.6), &[text("mode", "nearest")]),
        [0.0, 2.0, 4.0]
    );
    assert_eq!(
        resized(10, 3, Ok(2.0), &[text("mode", "nearest")]),
        [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    );
}

#[test]
fn large_planes_are_resized_row_by_row_to_the_same_numbers() {
    // The factors of these are sums of powers of two, so that double precision is exact too. All
    // rows of the wide plane exceed what is in memory at once.
    let (rows, columns) = (1030, 1025);
    let numbers: Vec<f32> = (0..rows * columns)
        .map(|at| (at * 37 % 101) as f32 - 50.0)
        .collect();
    let exact: Vec<f64> = numbers.iter().map(|&number| number.into()).collect();
    let run = |x: DenseHostTensor, factors: [f32; 2], attributes: &[AttributeProto]| {
        let resize = with(node("Resize", &["x", "", "f"], &["y"]), attributes);
        let model = newest(graph(&["x", "f"], vec![resize], &["y"]));
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let host = HostContext::builder().registry(kernels).build();
        let session = Session::load(imported(&model).unwrap(), "model.onnx", &host).unwrap();
        let factors = tensor(&[4], &[1.0, 1.0, factors[0], factors[1]]);
        session.run(&[("x", x), ("f", factors)]).unwrap().remove(0)
    };
    let linear = [text("mode", "linear")];
    let cubic = [text("mode", "cubic"), float("cubic_coeff_a", -0.5)];
    let narrowing = [text("mode", "linear"), int("antialias", 1)];
    for (factors, attributes) in [
        ([2.0, 2.0], &linear[..]),
        ([0.5, 2.0], &linear),
        ([2.0, 2.0], &cubic),
        ([0.5, 2.0], &narrowing),
    ] {
        let dims = [1, 1, rows, columns];
        let found = run(tensor(&dims, &numbers), factors, attributes);
        let expected = run(tensor(&dims, &exact), factors, attributes);
        let expected = expected.elements::<f64>().unwrap();
        let expected: Vec<f32> = expected.iter().map(|&number| number as f32).collect();
        assert!(
            *found.elements::<f32>().unwrap() == expected,
            "{attributes:?}"
        );
    }
}
