//! Normalizations by channel, which compute planes of single precision at once.

use super::*;

fn numbers(len: usize, seed: f32) -> Vec<f32> {
    (0..len)
        .map(|at| (at as f32 * seed).sin() * 3.0 + 100.0)
        .collect()
}

/// Returns the mean and the variance of numbers.
fn moments(numbers: &[f32]) -> (f64, f64) {
    let mean = numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / numbers.len() as f64;
    let squares = numbers.iter().map(|&x| (f64::from(x) - mean).powi(2));
    (mean, squares.sum::<f64>() / numbers.len() as f64)
}

/// Runs a node whose first output are single-precision numbers.
fn first(node: NodeProto, inputs: &[(&str, DenseHostTensor)]) -> Vec<f32> {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let outputs = node.output.clone();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let program = imported(&model(graph(&names, vec![node], &outputs))).unwrap();
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let session = Session::load(program, "model.onnx", &host).unwrap();
    let found = session.run(inputs).unwrap();
    found[0].elements::<f32>().unwrap().to_vec()
}

#[track_caller]
fn assert_near(found: &[f32], expected: impl Fn(usize) -> f64) {
    for (at, &found) in found.iter().enumerate() {
        let expected = expected(at);
        let error = (f64::from(found) - expected).abs();
        assert!(
            error <= 1e-6 * expected.abs().max(0.1),
            "{at}: {found}, {expected}"
        );
    }
}

#[test]
fn planes_of_every_size_are_normalized_by_channel() {
    for (batch, channels, plane) in [(2, 3, 40), (3, 5, 4), (4, 6, 1), (1, 1, 33)] {
        let x = numbers(batch * channels * plane, 0.7);
        let parameters: Vec<Vec<f32>> = (1..5)
            .map(|seed| {
                (0..channels)
                    .map(|at| 1.0 + (at * seed) as f32 * 0.25)
                    .collect()
            })
            .collect();
        let names = ["scale", "bias", "mean", "variance"];
        let mut inputs = vec![("x", tensor(&[batch, channels, plane], &x))];
        let vectors = parameters
            .iter()
            .map(|numbers| tensor(&[channels], numbers));
        inputs.extend(names.into_iter().zip(vectors));
        let operands = ["x", "scale", "bias", "mean", "variance"];
        let of = |parameter: usize, at: usize| f64::from(parameters[parameter][at]);
        let normal = |at: usize, (mean, variance): (f64, f64)| {
            let channel = at / plane % channels;
            let factor = of(0, channel) / (variance + f64::from(1e-5_f32)).sqrt();
            (f64::from(x[at]) - mean) * factor + of(1, channel)
        };
        let plain = node("BatchNormalization", &operands, &["y"]);
        assert_near(&first(plain, &inputs), |at| {
            let channel = at / plane % channels;
            normal(at, (of(2, channel), of(3, channel)))
        });
        let own = |channel: usize| -> Vec<f32> {
            let of_channel = |(at, _): &(usize, &f32)| at / plane % channels == channel;
            let numbers = x.iter().enumerate().filter(of_channel);
            numbers.map(|(_, &x)| x).collect()
        };
        let training = node("BatchNormalization", &operands, &["y", "m", "v"]);
        let training = with(training, &[int("training_mode", 1)]);
        assert_near(&first(training, &inputs), |at| {
            normal(at, moments(&own(at / plane % channels)))
        });
        let instances = node("InstanceNormalization", &operands[..3], &["y"]);
        assert_near(&first(instances, &inputs[..3]), |at| {
            normal(at, moments(&x[at / plane * plane..][..plane]))
        });
    }
}

#[test]
fn training_takes_time_in_proportion_to_the_elements() {
    // As many comparisons as the square of the channels would take minutes.
    let channels = 30_000;
    let ones = || tensor(&[channels], &vec![1.0_f32; channels]);
    let x = tensor(&[1, channels, 2], &numbers(2 * channels, 0.3));
    let inputs = [
        ("a", x),
        ("b", ones()),
        ("c", ones()),
        ("d", ones()),
        ("e", ones()),
    ];
    let training = node(
        "BatchNormalization",
        &["a", "b", "c", "d", "e"],
        &["y", "m", "v"],
    );
    let found = first(with(training, &[int("training_mode", 1)]), &inputs);
    // Of two numbers, one is as far above the mean as the other is below.
    let (pairs, _) = found.as_chunks::<2>();
    assert!(pairs.iter().all(|[a, b]| (a + b - 2.0).abs() < 1e-3));
}
