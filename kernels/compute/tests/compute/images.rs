//! Pooling and its gradients against their definitions.

use tfrt_compute::convolution::{Padding, Window};
use tfrt_compute::job::Plan;
use tfrt_compute::parallel::ScopedThreads;
use tfrt_compute::pooling::{AverageOf, Pooling};
use tfrt_compute::rows::RowPlan;

use crate::support::Random;

fn random_pooling(random: &mut Random) -> Pooling {
    let mut window = || {
        let padding = if random.chance(2) {
            Padding::Same
        } else {
            Padding::Valid
        };
        let size = 1 + random.below(4);
        Window::new(
            size + random.below(8),
            size,
            1 + random.below(3),
            1,
            padding,
        )
        .expect("large enough")
    };
    let (rows, columns) = (window(), window());
    Pooling::new(1 + random.below(2), rows, columns, 1 + random.below(20)).expect("a shape")
}

/// Returns the elements of the window of each output element: `None` in the padding.
fn windows(pooling: &Pooling) -> Vec<Vec<Option<usize>>> {
    let mut all = Vec::new();
    for line in 0..pooling.lines() {
        let (image, row) = (line / pooling.rows.output, line % pooling.rows.output);
        for column in 0..pooling.columns.output {
            for channel in 0..pooling.channels {
                let mut window = Vec::new();
                for row_tap in 0..pooling.rows.size {
                    for column_tap in 0..pooling.columns.size {
                        let row =
                            (row * pooling.rows.stride + row_tap).checked_sub(pooling.rows.before);
                        let column = (column * pooling.columns.stride + column_tap)
                            .checked_sub(pooling.columns.before);
                        let inside = row.zip(column).filter(|&(row, column)| {
                            row < pooling.rows.input && column < pooling.columns.input
                        });
                        window.push(inside.map(|(row, column)| {
                            ((image * pooling.rows.input + row) * pooling.columns.input + column)
                                * pooling.channels
                                + channel
                        }));
                    }
                }
                all.push(window);
            }
        }
    }
    all
}

#[test]
fn pooling_agrees_with_its_definition() {
    let mut random = Random::new(40);
    for _ in 0..200 {
        let pooling = random_pooling(&mut random);
        let windows = windows(&pooling);
        let input = random.f64s(pooling.input_len());
        let mut output = vec![f64::NAN; pooling.output_len()];
        pooling
            .max(f64::NEG_INFINITY, &input, &mut output)
            .expect("lengths");
        for (window, &found) in windows.iter().zip(&output) {
            let expected = window
                .iter()
                .flatten()
                .map(|&place| input[place])
                .fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(found, expected, "{pooling:?}");
        }
        for of in [AverageOf::Image, AverageOf::Window] {
            pooling.average(of, &input, &mut output).expect("lengths");
            for (window, &found) in windows.iter().zip(&output) {
                let sum: f64 = window.iter().flatten().map(|&place| input[place]).sum();
                let count = if of == AverageOf::Image {
                    window.iter().flatten().count()
                } else {
                    window.len()
                };
                assert!(
                    (found - sum / count as f64).abs() < 1e-14,
                    "{pooling:?} {of:?}"
                );
            }
        }
    }
}

#[test]
fn gradients_of_pooling_agree_with_their_definition() {
    let mut random = Random::new(41);
    for _ in 0..150 {
        let pooling = random_pooling(&mut random);
        let windows = windows(&pooling);
        // Few different values, so that there are equal maxima.
        let input: Vec<f64> = random
            .f64s(pooling.input_len())
            .iter()
            .map(|x| (x * 3.0).round())
            .collect();
        let gradient = random.f64s(pooling.output_len());
        let mut found = vec![f64::NAN; input.len()];
        pooling
            .max_gradient(f64::NEG_INFINITY, &input, &gradient, &mut found)
            .expect("lengths");
        let mut expected = vec![0.0; input.len()];
        for (window, gradient) in windows.iter().zip(&gradient) {
            let places: Vec<usize> = window.iter().flatten().copied().collect();
            let greatest = places
                .iter()
                .map(|&place| input[place])
                .fold(f64::NEG_INFINITY, f64::max);
            if let Some(&first) = places.iter().find(|&&place| input[place] == greatest) {
                expected[first] += gradient;
            }
        }
        assert!(
            found
                .iter()
                .zip(&expected)
                .all(|(a, b)| (a - b).abs() < 1e-13),
            "{pooling:?}"
        );

        for of in [AverageOf::Image, AverageOf::Window] {
            pooling
                .average_gradient(of, &gradient, &mut found)
                .expect("lengths");
            let mut expected = vec![0.0; input.len()];
            for (window, gradient) in windows.iter().zip(&gradient) {
                let count = if of == AverageOf::Image {
                    window.iter().flatten().count()
                } else {
                    window.len()
                };
                window
                    .iter()
                    .flatten()
                    .for_each(|&place| expected[place] += gradient / count as f64);
            }
            assert!(
                found
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| (a - b).abs() < 1e-13),
                "{pooling:?} {of:?}"
            );
        }
    }
}

#[test]
fn a_start_above_the_window_stays_and_nan_is_passed_over() {
    let window = Window::new(4, 2, 2, 1, Padding::Valid).expect("a window");
    let row = Window::new(1, 1, 1, 1, Padding::Valid).expect("a window");
    let pooling = Pooling::new(1, row, window, 1).expect("a shape");
    let mut output = [0.0_f32; 2];
    pooling
        .max(f32::MIN_POSITIVE, &[-1.0, 0.0, f32::NAN, 3.0], &mut output)
        .expect("lengths");
    assert_eq!(output, [f32::MIN_POSITIVE, 3.0]);
    let mut gradient = [9.0; 4];
    pooling
        .max_gradient(
            f32::MIN_POSITIVE,
            &[-1.0, 0.0, f32::NAN, 3.0],
            &[1.0, 2.0],
            &mut gradient,
        )
        .expect("lengths");
    assert_eq!(gradient, [0.0, 0.0, 0.0, 2.0]);
}

#[test]
fn lines_are_computed_apart() {
    let mut random = Random::new(42);
    let window = Window::new(31, 3, 2, 1, Padding::Same).expect("a window");
    let pooling = Pooling::new(2, window, window, 9).expect("a shape");
    let input = random.f32s(pooling.input_len());
    let (mut whole, mut parts) = (
        vec![0.0; pooling.output_len()],
        vec![0.0; pooling.output_len()],
    );
    pooling.max(-2.0, &input, &mut whole).expect("lengths");
    // As if it were a lot of work, so that there are several blocks.
    let plan = RowPlan::new(pooling.lines(), pooling.line_len(), usize::MAX, 4).expect("a shape");
    assert!(plan.blocks() > 4);
    let routine = |lines: std::ops::Range<usize>, part: &mut [f32]| {
        pooling
            .max_lines(-2.0, &input, lines, part)
            .expect("lengths");
    };
    plan.run(&ScopedThreads::new(2), &routine, &mut parts, &mut [])
        .expect("lengths");
    assert_eq!(parts, whole);
    assert!(
        pooling
            .max_lines(0.0, &input, 0..pooling.lines() + 1, &mut whole)
            .is_err()
    );
}

/// Windows that are mostly padding: without clipping, no one would see the end of this test.
#[test]
fn windows_are_clipped_to_the_image() {
    const HUGE: usize = 1 << 40;
    let window = |input| Window::new(input, HUGE, 1, 1, Padding::Same).expect("addressable");
    let pooling = Pooling::new(1, window(3), window(2), 1).expect("a shape");
    let input = [1.0, 4.0, 2.0, 6.0, 3.0, 5.0];
    let mut output = [0.0; 6];
    pooling.max(0.0, &input, &mut output).expect("lengths");
    assert_eq!(output, [6.0; 6]);
    pooling
        .average(AverageOf::Image, &input, &mut output)
        .expect("lengths");
    assert_eq!(output, [3.5; 6]);
    let mut gradient = [0.0; 6];
    pooling
        .max_gradient(0.0, &input, &[1.0; 6], &mut gradient)
        .expect("lengths");
    assert_eq!(gradient, [0.0, 0.0, 0.0, 6.0, 0.0, 0.0]);
    pooling
        .average_gradient(AverageOf::Image, &[1.0; 6], &mut gradient)
        .expect("lengths");
    assert!(gradient.iter().all(|x| (x - 1.0_f64).abs() < 1e-12));
}

#[test]
fn images_without_elements_take_no_time() {
    const HUGE: usize = 1 << 60;
    let window = |input| Window::new(input, 1, 1, 1, Padding::Same).expect("a window");
    for (batch, rows, columns, channels) in [
        (HUGE, HUGE, 1, 0),
        (HUGE, 1, 0, HUGE),
        (0, HUGE, HUGE, HUGE),
    ] {
        let pooling =
            Pooling::new(batch, window(rows), window(columns), channels).expect("a shape");
        assert_eq!((pooling.input_len(), pooling.output_len()), (0, 0));
        assert!(pooling.max(0.0_f32, &[], &mut []).is_ok());
        assert!(
            pooling
                .average::<f32>(AverageOf::Image, &[], &mut [])
                .is_ok()
        );
    }
}
