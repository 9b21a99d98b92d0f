//! Functions of tensors that are broadcast to one shape, row by row.

use super::*;
use tfrt_tensor::I1;

const DIMS: [usize; 4] = [2, 3, 4, 5];

/// Returns dimensions of which some are 1 or missing: those of which the bits are not set.
fn part(bits: usize) -> Vec<usize> {
    let dims = DIMS.iter().enumerate();
    let dims: Vec<usize> = dims
        .map(|(axis, &extent)| if bits >> axis & 1 == 1 { extent } else { 1 })
        .collect();
    let missing = dims.iter().take_while(|&&extent| extent == 1).count();
    // Some leading ones stay.
    dims[missing / 2..].to_vec()
}

/// Returns the place in a tensor of an element of the common shape.
fn place(dims: &[usize], mut at: usize) -> usize {
    let (mut place, mut stride) = (0, 1);
    for (axis, &extent) in DIMS.iter().enumerate().rev() {
        let index = at % extent;
        at /= extent;
        if let Some(own) = (axis + dims.len()).checked_sub(DIMS.len()) {
            if dims[own] != 1 {
                place += index * stride;
            }
            stride *= dims[own];
        }
    }
    place
}

fn numbers(dims: &[usize], first: usize) -> Vec<f32> {
    let len = dims.iter().product::<usize>();
    (first..first + len).map(|x| x as f32).collect()
}

#[test]
fn choices_are_broadcast_in_every_way() {
    let host = HostContext::builder();
    let host = host
        .registry(Arc::new(KernelRegistry::from_link().unwrap()))
        .build();
    let choose = node("Where", &["a", "b", "c"], &["y"]);
    let model = model(graph(&["a", "b", "c"], vec![choose], &["y"]));
    let session = Session::load(imported(&model).unwrap(), "model.onnx", &host).unwrap();
    for bits in (0..1 << 12).step_by(7) {
        let [a, b, c] = [bits & 15, bits >> 4 & 15, bits >> 8 & 15].map(part);
        // The common shape has all dimensions.
        let c = if bits % 2 == 0 { DIMS.to_vec() } else { c };
        let b = if bits % 2 == 1 { DIMS.to_vec() } else { b };
        let truths: Vec<bool> = (0..a.iter().product::<usize>())
            .map(|x| x * x % 3 == 1)
            .collect();
        let (x, y) = (numbers(&b, 1), numbers(&c, 1000));
        let flags: Vec<I1> = truths.iter().map(|&truth| I1::from(truth)).collect();
        let inputs = [
            ("a", tensor(&a, &flags)),
            ("b", tensor(&b, &x)),
            ("c", tensor(&c, &y)),
        ];
        let found = session.run(&inputs).unwrap();
        for (at, &found) in found[0].elements::<f32>().unwrap().iter().enumerate() {
            let expected = match truths[place(&a, at)] {
                true => x[place(&b, at)],
                false => y[place(&c, at)],
            };
            assert_eq!(found, expected, "{at} of {a:?}, {b:?}, {c:?}");
        }
    }
}

#[test]
fn quotients_and_expansions_are_broadcast_in_every_way() {
    for bits in 0..16 {
        let dims = part(bits);
        let (x, y) = (numbers(&DIMS, 7), numbers(&dims, 1));
        let inputs = [("a", tensor(&DIMS, &x)), ("b", tensor(&dims, &y))];
        let expected = |of: &dyn Fn(usize) -> f32| {
            let numbers = (0..120).map(|at| f64::from(of(at)));
            format!("f32 [2, 3, 4, 5] {:?}", numbers.collect::<Vec<f64>>())
        };
        let by = expected(&|at| x[at] / y[place(&dims, at)]);
        check(node("Div", &["a", "b"], &["y"]), &inputs, &[&by]);
        let of = expected(&|at| y[place(&dims, at)] / x[at]);
        check(node("Div", &["b", "a"], &["y"]), &inputs, &[&of]);
        let inputs = [
            ("a", tensor(&dims, &y)),
            ("b", tensor(&[4], &DIMS.map(|extent| extent as i64))),
        ];
        let expanded = expected(&|at| y[place(&dims, at)]);
        check(node("Expand", &["a", "b"], &["y"]), &inputs, &[&expanded]);
    }
}

#[test]
fn simple_exponents_have_the_results_of_others() {
    let x = [
        -2.5_f32,
        -0.0,
        0.0,
        0.3,
        1.7,
        1e30,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];
    for exponent in [1.0_f32, 2.0, 3.0, -1.0, 0.5] {
        let expected = x.map(|x| f64::from(f64::from(x).powf(exponent.into()) as f32));
        let inputs = [("a", tensor(&[8], &x)), ("b", tensor(&[1, 1], &[exponent]))];
        check(
            node("Pow", &["a", "b"], &["y"]),
            &inputs,
            &[&format!("f32 [1, 8] {expected:?}")],
        );
    }
}

#[test]
fn pads_of_rows_are_those_of_elements() {
    let x = numbers(&[2, 3], 1);
    for (mode, expected) in [
        (
            "constant",
            "[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0]",
        ),
        (
            "edge",
            "[1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 6.0]",
        ),
        (
            "reflect",
            "[5.0, 4.0, 5.0, 6.0, 2.0, 1.0, 2.0, 3.0, 5.0, 4.0, 5.0, 6.0]",
        ),
    ] {
        let pad = with(node("Pad", &["a", "b"], &["y"]), &[text("mode", mode)]);
        let inputs = [
            ("a", tensor(&[2, 3], &x)),
            ("b", tensor(&[4], &[1_i64, 1, 0, 0])),
        ];
        check(pad, &inputs, &[&format!("f32 [3, 4] {expected}")]);
    }
    // Two rows more, one column less at each end.
    let pad = node("Pad", &["a", "b", "c"], &["y"]);
    let inputs = [
        ("a", tensor(&[2, 3], &x)),
        ("b", tensor(&[4], &[0_i64, -1, 1, -1])),
        ("c", tensor(&[], &[9.0_f32])),
    ];
    check(pad, &inputs, &["f32 [3, 1] [2.0, 5.0, 9.0]"]);
}
