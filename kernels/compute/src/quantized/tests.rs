//! Compares convolutions of bytes with their definition, on all that this processor can stand in
//! for.

use super::*;
use crate::convolution::{Padding, Window};
use crate::lanes::forced;
use crate::parallel::{ScopedThreads, Serial};

/// Bytes that look random.
fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A convolution of random bytes.
struct Problem {
    shape: Conv2dShape,
    input: Vec<u8>,
    filter: Vec<u8>,
    starts: Vec<i32>,
    factors: Vec<f32>,
    zero: u8,
    is_signed: bool,
}

const REQUANTIZATION: Requantization = Requantization {
    zero: 7,
    least: 3.0,
    greatest: 250.0,
};

impl Problem {
    fn new(shape: Conv2dShape, is_signed: bool) -> Self {
        let filters = shape.out_channels;
        let starts = (0..filters).map(|filter| filter as i32 * 1000 - 3000);
        let factors = (0..filters).map(|filter| 1e-3 / (filter + 1) as f32);
        Self {
            shape,
            input: bytes(shape.input_len(), 1),
            filter: bytes(shape.filter_len(), 2),
            starts: starts.collect(),
            factors: factors.collect(),
            zero: 131,
            is_signed,
        }
    }

    /// The number at a place of a filter: filters lie one behind the other.
    fn weight(&self, place: usize, filter: usize) -> i8 {
        let window_len = self.shape.taps() * self.shape.in_channels;
        self.filter[filter * window_len + place] as i8
    }

    /// The number that a byte of the input is.
    fn number(&self, byte: u8) -> i32 {
        match self.is_signed {
            // The routine adds this to signed numbers.
            true => i32::from(byte as i8) + 128,
            false => byte.into(),
        }
    }

    fn expected(&self) -> Vec<u8> {
        let Conv2dShape {
            batch,
            rows,
            columns,
            in_channels,
            out_channels,
            ..
        } = self.shape;
        let mut output = Vec::new();
        for image in 0..batch {
            for row in 0..rows.output {
                for column in 0..columns.output {
                    for filter in 0..out_channels {
                        let mut sum = self.starts[filter];
                        for place in 0..rows.size * columns.size * in_channels {
                            let (tap, channel) = (place / in_channels, place % in_channels);
                            let row = rows.source(row, tap / columns.size);
                            let column = columns.source(column, tap % columns.size);
                            let byte = row.zip(column).map(|(row, column)| {
                                let line = (image * rows.input + row) * columns.input;
                                self.input[(line + column) * in_channels + channel]
                            });
                            let x = self.number(byte.unwrap_or(self.zero));
                            sum = sum.wrapping_add(x * i32::from(self.weight(place, filter)));
                        }
                        output.push(REQUANTIZATION.byte(sum, self.factors[filter]));
                    }
                }
            }
        }
        output
    }

    fn found(&self, width: usize) -> Vec<u8> {
        let plan = ByteConvolution::new(self.shape, width).unwrap();
        let mut packed = vec![99; plan.packed_filter_len()];
        let sums = plan.pack_filter(|place, filter| self.weight(place, filter), &mut packed);
        let window_len = self.shape.taps() * self.shape.in_channels;
        let own: Vec<i32> = (0..self.shape.out_channels)
            .map(|filter| {
                (0..window_len)
                    .map(|place| i32::from(self.weight(place, filter)))
                    .sum()
            })
            .collect();
        assert_eq!(sums.unwrap(), own);
        let mut operands = ByteOperands::new(
            &self.input,
            &packed,
            &self.starts,
            &self.factors,
            REQUANTIZATION,
        )
        .zero(self.zero);
        if self.is_signed {
            operands = operands.signed_input();
        }
        let mut output = vec![55; plan.output_len()];
        let mut workspace = vec![44; plan.workspace_len() * plan.blocks()];
        let done = match width {
            1 => plan.run(&Serial, operands, &mut output, &mut workspace),
            _ => plan.run(
                &ScopedThreads::new(width),
                operands,
                &mut output,
                &mut workspace,
            ),
        };
        done.unwrap();
        output
    }
}

fn shapes() -> Vec<Conv2dShape> {
    let explicit = |before, after| Padding::Explicit { before, after };
    let mut shapes = Vec::new();
    for (input, size, stride, dilation, padding) in [
        (5, 1, 1, 1, Padding::Valid),
        (7, 3, 1, 1, Padding::Same),
        (9, 3, 2, 1, explicit(1, 1)),
        (9, 3, 1, 2, explicit(3, 0)),
        (8, 7, 2, 1, explicit(3, 3)),
        (2, 1, 1, 1, explicit(4, 1)),
    ] {
        let rows = Window::new(input, size, stride, dilation, padding).unwrap();
        let columns = Window::new(input + 2, size, stride, dilation, padding).unwrap();
        for (channels, filters) in [(1, 1), (3, 33), (4, 32), (16, 70), (0, 2)] {
            shapes.push(Conv2dShape::new(2, rows, columns, channels, filters).unwrap());
        }
    }
    shapes
}

#[test]
fn convolutions_are_exact_on_every_processor() {
    for shape in shapes() {
        for is_signed in [false, true] {
            let problem = Problem::new(shape, is_signed);
            let expected = problem.expected();
            for instructions in forced::all() {
                forced::run(instructions, || {
                    assert!(problem.found(1) == expected, "{shape:?}, {instructions:?}");
                });
            }
        }
    }
}

#[test]
fn sums_are_those_that_become_bytes() {
    for shape in shapes() {
        for is_signed in [false, true] {
            let problem = Problem::new(shape, is_signed);
            let convolution = ByteConvolution::new(shape, 1).unwrap();
            let mut packed = vec![0; convolution.packed_filter_len()];
            let weight = |place, filter| problem.weight(place, filter);
            convolution.pack_filter(weight, &mut packed).unwrap();
            let plan = ByteSums::new(convolution);
            let run = |operands: ByteOperands<'_>| {
                let operands = operands.zero(problem.zero);
                let operands = match is_signed {
                    true => operands.signed_input(),
                    false => operands,
                };
                let mut sums = vec![7; plan.output_len()];
                plan.run(&Serial, operands, &mut sums, &mut []).unwrap();
                sums
            };
            let operands = ByteOperands::of_sums(&problem.input, &packed, &problem.starts);
            let sums = run(operands);
            let factors = problem.factors.iter().cycle();
            let bytes: Vec<u8> = sums
                .iter()
                .zip(factors)
                .map(|(&sum, &factor)| REQUANTIZATION.byte(sum, factor))
                .collect();
            assert_eq!(bytes, problem.expected(), "{shape:?}");
            // Filters whose numbers are 5 less.
            let zeros = vec![5; shape.out_channels];
            let less = run(operands.filter_zeros(&zeros));
            let weight = |place, filter| problem.weight(place, filter).wrapping_sub(5);
            if (0..shape.taps() * shape.in_channels)
                .all(|place| (0..shape.out_channels).all(|f| problem.weight(place, f) >= -123))
            {
                plan.convolution().pack_filter(weight, &mut packed).unwrap();
                let operands = ByteOperands::of_sums(&problem.input, &packed, &problem.starts);
                assert_eq!(run(operands), less, "{shape:?}");
            }
        }
    }
}

#[test]
fn the_greatest_products_do_not_saturate() {
    let pixels = Window::new(13, 1, 1, 1, Padding::Valid).unwrap();
    let row = Window::new(1, 1, 1, 1, Padding::Valid).unwrap();
    for byte in [127_u8, 128] {
        let mut problem = Problem::new(Conv2dShape::new(1, row, pixels, 64, 2).unwrap(), false);
        problem.input.fill(255);
        problem.filter.fill(byte);
        problem.factors.fill(1e-4);
        let expected = problem.expected();
        for instructions in forced::all() {
            forced::run(instructions, || assert_eq!(problem.found(1), expected));
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let window = Window::new(24, 3, 1, 1, Padding::Same).unwrap();
    let problem = Problem::new(Conv2dShape::new(1, window, window, 64, 96).unwrap(), false);
    let plan = ByteConvolution::new(problem.shape, 3).unwrap();
    assert!(plan.blocks() > 1);
    assert!(problem.found(1) == problem.found(3));
}

#[test]
fn operands_of_other_lengths_are_refused() {
    let window = Window::new(3, 1, 1, 1, Padding::Valid).unwrap();
    let plan = ByteConvolution::new(Conv2dShape::new(1, window, window, 2, 1).unwrap(), 1).unwrap();
    let (input, filter) = ([0; 18], vec![0; plan.packed_filter_len()]);
    let check = |input: &[u8], filter: &[i8], starts: &[i32], factors: &[f32]| {
        let operands = ByteOperands::new(input, filter, starts, factors, REQUANTIZATION);
        plan.check(operands).map_err(|error| error.to_string())
    };
    assert_eq!(check(&input, &filter, &[0], &[1.0]), Ok(()));
    assert!(check(&input[1..], &filter, &[0], &[1.0]).is_err());
    assert!(check(&input, &filter[1..], &[0], &[1.0]).is_err());
    assert!(check(&input, &filter, &[], &[1.0]).is_err());
    assert!(check(&input, &filter, &[0], &[]).is_err());
}

#[test]
fn bytes_are_those_of_a_conversion_of_the_limited_number() {
    let bounds = [[0.0, 255.0], [-128.0, 127.0], [3.0, 200.0], [7.0, 7.0]];
    let special = [
        f32::NAN,
        -f32::NAN,
        f32::from_bits(0x7fc0_0155),
        f32::INFINITY,
    ];
    let special = special.iter().flat_map(|&number| [number, -number]);
    let steps = (-1200..1200).map(|step| step as f32 / 4.0);
    let numbers: Vec<f32> = special
        .chain(steps)
        .chain([0.0, -0.0, 1e30, -1e30])
        .collect();
    for [least, greatest] in bounds {
        for zero in [-3, 0, 130] {
            let scale = ByteScale::new(0.75, zero, least < 0.0);
            let mut found = vec![0; numbers.len()];
            scale
                .quantize(&numbers, [least, greatest], &mut found)
                .unwrap();
            for (&number, &found) in numbers.iter().zip(&found) {
                let rounded = (number / 0.75).round_ties_even() + zero as f32;
                let expected = match rounded.is_nan() {
                    true => least as i32 as u8,
                    false => rounded.clamp(least, greatest) as i32 as u8,
                };
                assert_eq!(
                    found, expected,
                    "{number} in {least}..{greatest}, zero {zero}"
                );
            }
        }
        for zero in [-3, 0, 131] {
            let requantization = Requantization {
                zero,
                least,
                greatest,
            };
            for sum in (-1000..1000).chain([i32::MIN, i32::MAX]) {
                for factor in [0.5, 0.25, 0.1, -3.0, f32::INFINITY, f32::NAN] {
                    let rounded = (sum as f32 * factor).round_ties_even() + f32::from(zero);
                    let expected = match rounded.is_nan() {
                        true => least as i32 as u8,
                        false => rounded.clamp(least, greatest) as i32 as u8,
                    };
                    let found = requantization.byte(sum, factor);
                    assert_eq!(found, expected, "{sum} by {factor}, zero {zero}");
                }
            }
        }
    }
}
