use super::*;
use crate::math::Real;
use crate::parallel::{Parallel, ScopedThreads, Serial};

const CELLS: [RecurrentCell; 5] = [
    RecurrentCell::Plain,
    RecurrentCell::Gated {
        resets_after_product: false,
    },
    RecurrentCell::Gated {
        resets_after_product: true,
    },
    RecurrentCell::LongShort {
        couples_input_and_forget: false,
    },
    RecurrentCell::LongShort {
        couples_input_and_forget: true,
    },
];

/// Returns numbers of single precision, at most a bound.
fn numbers(len: usize, salt: usize, bound: f64) -> Vec<f64> {
    let number = |at: usize| ((at * 7 + at / 13 + salt * 5) % 29) as f64 / 29.0 - 0.5;
    (0..len)
        .map(|at| f64::from((2.0 * bound * number(at)) as f32))
        .collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A layer and its operands, in double precision.
struct Case {
    cell: RecurrentCell,
    shape: RecurrentShape,
    is_reverse: Vec<bool>,
    clip: Option<f64>,
    lengths: Vec<usize>,
    x: Vec<f64>,
    w: Vec<f64>,
    r: Vec<f64>,
    b: Vec<f64>,
    p: Vec<f64>,
    h: Vec<f64>,
    c: Vec<f64>,
}

impl Case {
    /// Creates a case with all operands that its cell may have.
    fn new(cell: RecurrentCell, [steps, batch, input, hidden]: [usize; 4]) -> Self {
        let is_reverse = vec![false, true];
        let (gates, directions) = (cell.gates(), is_reverse.len());
        let (of_input, of_state) = (1.0 / (input as f64).sqrt(), 2.0 / (hidden as f64).sqrt());
        let is_long_short = matches!(cell, RecurrentCell::LongShort { .. });
        let of_memory = if is_long_short {
            directions * hidden
        } else {
            0
        };
        Self {
            cell,
            shape: RecurrentShape {
                steps,
                batch,
                input,
                hidden,
                is_batch_first: false,
            },
            clip: None,
            // From nothing to all steps.
            lengths: (0..batch)
                .map(|row| (steps + row * 2) % (steps + 1))
                .collect(),
            x: numbers(steps * batch * input, 1, 1.0),
            w: numbers(directions * gates * hidden * input, 2, of_input),
            r: numbers(directions * gates * hidden * hidden, 3, of_state),
            b: numbers(directions * 2 * gates * hidden, 4, 0.5),
            p: numbers(3 * of_memory, 5, 0.5),
            h: numbers(directions * batch * hidden, 6, 1.0),
            c: numbers(batch * of_memory, 7, 1.0),
            is_reverse,
        }
    }

    fn layer(&self, functions: &[GateFunction]) -> RecurrentLayer {
        let own = &functions[..self.cell.activations()];
        RecurrentLayer {
            cell: self.cell,
            shape: self.shape,
            is_reverse: self.is_reverse.clone(),
            functions: vec![own; self.is_reverse.len()].concat(),
            clip: self.clip,
        }
    }

    /// Returns the functions of the cell, as those that [`Self::definition`] has.
    fn functions(&self, is_fast: bool) -> Vec<GateFunction> {
        let (gate, tanh) = match is_fast {
            true => (
                GateFunction::Fast(Activation::Sigmoid),
                GateFunction::Fast(Activation::Tanh),
            ),
            false => (
                GateFunction::Each(Arc::new(sigmoid)),
                GateFunction::Each(Arc::new(f64::tanh)),
            ),
        };
        match self.cell {
            RecurrentCell::Plain => vec![tanh],
            _ => vec![gate, tanh.clone(), tanh],
        }
    }

    fn run<T: MatmulElement>(&self, width: usize, is_fast: bool) -> Vec<T> {
        let plan = Recurrent::<T>::new(self.layer(&self.functions(is_fast)), width).unwrap();
        self.run_plan(&plan, width)
    }

    fn run_plan<T: MatmulElement>(&self, plan: &Recurrent<T>, width: usize) -> Vec<T> {
        let of = |numbers: &[f64]| -> Vec<T> { numbers.iter().map(|&x| T::from_f64(x)).collect() };
        let threads = ScopedThreads::new(width);
        let parallel: &dyn Parallel = if width == 1 { &Serial } else { &threads };
        let run = |len| vec![T::from_f64(f64::NAN); len];
        let product = plan.input_product(width).unwrap();
        let bias = plan.input_bias(&of(&self.b)).unwrap();
        let (x, w) = (of(&self.x), of(&self.w));
        let mut from_input = run(product.output_len());
        let mut workspace = run(product.workspace_len() * product.blocks());
        let factors = MatmulOperands::new(&x, &w).shift(&bias);
        product
            .run(parallel, factors, &mut from_input, &mut workspace)
            .unwrap();
        let mut state_weights = of(&self.r);
        if plan.packs_state() {
            let mut packed = run(plan.packed_state_len());
            plan.pack_state(&state_weights, &mut packed).unwrap();
            state_weights = packed;
        }
        let operands = RecurrentOperands {
            from_input: &from_input,
            state_weights: &state_weights,
            bias: &of(&self.b),
            peepholes: &of(&self.p),
            lengths: &self.lengths,
            hidden: &of(&self.h),
            memory: &of(&self.c),
        };
        let mut records = run(plan.output_len());
        let mut workspace = run(plan.workspace_len() * plan.blocks());
        plan.run(parallel, operands, &mut records, &mut workspace)
            .unwrap();
        records
    }

    /// Returns the products of one gate of one sequence with the input and with the state.
    fn gate(&self, direction: usize, x: &[f64], h: &[f64], gate: usize, unit: usize) -> [f64; 2] {
        let RecurrentShape { input, hidden, .. } = self.shape;
        let wide = self.cell.gates() * hidden;
        let at = gate * hidden + unit;
        let row = direction * wide + at;
        let of = |m: &[f64], v: &[f64]| m.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
        let bias = |at: usize| {
            self.b
                .get(direction * 2 * wide + at)
                .copied()
                .unwrap_or(0.0)
        };
        [
            of(&self.w[row * input..][..input], x) + bias(at),
            of(&self.r[row * hidden..][..hidden], h) + bias(wide + at),
        ]
    }

    /// Computes a step of one sequence, number by number.
    fn step(&self, direction: usize, x: &[f64], state: &mut [f64], memory: &mut [f64]) {
        let hidden = self.shape.hidden;
        let cut = |x: f64| self.clip.map_or(x, |clip| x.clamp(-clip, clip));
        let (sigmoid, tanh) = (|x: f64| sigmoid(cut(x)), |x: f64| cut(x).tanh());
        let h = state.to_vec();
        let both = |h: &[f64], gate: usize, unit: usize| {
            let [a, b] = self.gate(direction, x, h, gate, unit);
            a + b
        };
        let peephole = |gate: usize, unit: usize| {
            let at = (direction * 3 + gate) * hidden + unit;
            self.p.get(at).copied().unwrap_or(0.0)
        };
        let reset: Vec<f64> = match self.cell {
            RecurrentCell::Gated { .. } => {
                (0..hidden).map(|unit| sigmoid(both(&h, 1, unit))).collect()
            }
            _ => Vec::new(),
        };
        let reset_state: Vec<f64> = reset.iter().zip(&h).map(|(r, h)| r * h).collect();
        for unit in 0..hidden {
            state[unit] = match self.cell {
                RecurrentCell::Plain => tanh(both(&h, 0, unit)),
                RecurrentCell::Gated {
                    resets_after_product,
                } => {
                    let z = sigmoid(both(&h, 0, unit));
                    let candidate = if resets_after_product {
                        let [a, b] = self.gate(direction, x, &h, 2, unit);
                        a + reset[unit] * b
                    } else {
                        both(&reset_state, 2, unit)
                    };
                    (1.0 - z) * tanh(candidate) + z * h[unit]
                }
                RecurrentCell::LongShort {
                    couples_input_and_forget,
                } => {
                    let c = memory[unit];
                    let i = sigmoid(both(&h, 0, unit) + peephole(0, unit) * c);
                    let f = if couples_input_and_forget {
                        1.0 - i
                    } else {
                        sigmoid(both(&h, 2, unit) + peephole(2, unit) * c)
                    };
                    let c = f * c + i * tanh(both(&h, 3, unit));
                    memory[unit] = c;
                    let o = sigmoid(both(&h, 1, unit) + peephole(1, unit) * c);
                    o * c.tanh()
                }
            };
        }
    }

    /// Returns the records, step by step.
    fn definition(&self) -> Vec<f64> {
        let RecurrentShape {
            steps,
            batch,
            input,
            hidden,
            is_batch_first,
        } = self.shape;
        let mut records = Vec::new();
        for (direction, &is_reverse) in self.is_reverse.iter().enumerate() {
            for row in 0..batch {
                let index = match is_batch_first {
                    true => row * self.is_reverse.len() + direction,
                    false => direction * batch + row,
                };
                let initial = |numbers: &[f64]| match numbers {
                    [] => vec![0.0; hidden],
                    numbers => numbers[index * hidden..][..hidden].to_vec(),
                };
                let (mut state, mut memory) = (initial(&self.h), initial(&self.c));
                let mut states = vec![0.0; steps * hidden];
                for step in 0..self.lengths[row] {
                    let place = match is_reverse {
                        true => self.lengths[row] - 1 - step,
                        false => step,
                    };
                    let index = match is_batch_first {
                        true => row * steps + place,
                        false => place * batch + row,
                    };
                    let x = &self.x[index * input..][..input];
                    self.step(direction, x, &mut state, &mut memory);
                    states[place * hidden..][..hidden].copy_from_slice(&state);
                }
                records.extend(states);
                records.extend(state);
                if matches!(self.cell, RecurrentCell::LongShort { .. }) {
                    records.extend(memory);
                }
            }
        }
        records
    }

    #[track_caller]
    fn check(&self) {
        let expected = self.definition();
        for is_fast in [false, true] {
            self.check_near(&self.run::<f64>(1, is_fast), &expected, 1e-13);
            self.check_near(&self.run::<f32>(1, is_fast), &expected, 4e-6);
        }
    }

    #[track_caller]
    fn check_near<T: Real>(&self, found: &[T], expected: &[f64], bound: f64) {
        assert_eq!(found.len(), expected.len());
        let errors = found
            .iter()
            .zip(expected)
            .map(|(a, b)| (a.to_f64() - b).abs());
        // Also false of a NaN.
        let is_near = errors.clone().all(|error| error <= bound);
        let worst = errors.fold(0.0, f64::max);
        let (cell, shape) = (self.cell, self.shape);
        assert!(is_near, "{cell:?} {shape:?} {:?}: {worst:e}", self.lengths);
    }
}

#[test]
fn every_cell_computes_its_definition() {
    for cell in CELLS {
        for extents in [
            // Weights of the state that are read in place, and packed ones.
            [3, 1, 2, 1],
            [3, 4, 2, 17],
            [20, 1, 5, 17],
            [2, 7, 3, 64],
            [5, 5, 3, 1],
            [3, 14, 70, 64],
            [7, 2, 9, 200],
        ] {
            Case::new(cell, extents).check();
        }
    }
}

#[test]
fn operands_may_be_left_out() {
    for cell in CELLS {
        for hidden in [3, 40] {
            let mut case = Case::new(cell, [4, 5, 3, hidden]);
            case.b.clear();
            case.check();
            case.p.clear();
            case.check();
            case.h.clear();
            case.c.clear();
            case.check();
        }
    }
}

#[test]
fn arguments_of_gates_are_clipped() {
    for cell in CELLS {
        let mut case = Case::new(cell, [4, 5, 3, 17]);
        let before = case.definition();
        case.clip = Some(0.25);
        case.check();
        assert_ne!(case.definition(), before);
    }
}

#[test]
fn batches_may_be_the_first_dimension() {
    for cell in CELLS {
        for is_reverse in [vec![false], vec![true], vec![true, false]] {
            let mut case = Case::new(cell, [4, 5, 3, 17]);
            case.is_reverse = is_reverse;
            case.shape.is_batch_first = true;
            for numbers in [
                &mut case.w,
                &mut case.r,
                &mut case.b,
                &mut case.p,
                &mut case.h,
                &mut case.c,
            ] {
                numbers.truncate(numbers.len() / 2 * case.is_reverse.len());
            }
            case.check();
        }
    }
}

#[test]
fn nothing_is_computed_for_empty_extents() {
    for cell in CELLS {
        for extents in [[0, 5, 3, 4], [4, 0, 3, 4], [4, 5, 3, 0]] {
            Case::new(cell, extents).check();
        }
        let mut case = Case::new(cell, [4, 5, 1, 4]);
        (case.shape.input, case.x, case.w) = (0, Vec::new(), Vec::new());
        case.check();
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for cell in CELLS {
        for is_bidirectional in [false, true] {
            let mut case = Case::new(cell, [70, 13, 20, 64]);
            if !is_bidirectional {
                case.is_reverse.pop();
                for numbers in [
                    &mut case.w,
                    &mut case.r,
                    &mut case.b,
                    &mut case.p,
                    &mut case.h,
                    &mut case.c,
                ] {
                    numbers.truncate(numbers.len() / 2);
                }
            }
            let expected = case.run::<f32>(1, true);
            for width in [2, 3, 8] {
                let plan = Recurrent::<f32>::new(case.layer(&case.functions(true)), width).unwrap();
                assert!(plan.blocks() > 1, "{cell:?}");
                assert!(case.run_plan(&plan, width) == expected, "{cell:?} {width}");
            }
        }
    }
}

#[test]
fn operands_of_other_lengths_are_errors() {
    let case = Case::new(RecurrentCell::Plain, [3, 2, 2, 2]);
    let functions = case.functions(true);
    let plan = Recurrent::<f32>::new(case.layer(&functions), 1).unwrap();
    let numbers = [0.0; 24];
    let operands = RecurrentOperands {
        from_input: &numbers,
        state_weights: &numbers[..8],
        bias: &[],
        peepholes: &[],
        lengths: &[3, 3],
        hidden: &[],
        memory: &[],
    };
    let error = |operands| plan.check(operands).unwrap_err().to_string();
    plan.check(operands).unwrap();
    assert_eq!(
        error(RecurrentOperands {
            lengths: &[3, 4],
            ..operands
        }),
        "recurrent layer: expected a sequence of at most 3 steps, found 4"
    );
    assert_eq!(
        error(RecurrentOperands {
            hidden: &numbers[..7],
            ..operands
        }),
        "recurrent layer: expected 8 elements in `hidden`, found 7"
    );
    assert!(plan.input_bias(&numbers[..7]).is_err());
    let layer = RecurrentLayer {
        functions: [&functions[..]; 3].concat(),
        ..case.layer(&functions)
    };
    assert_eq!(
        Recurrent::<f32>::new(layer, 1).unwrap_err().to_string(),
        "recurrent layer: expected 2 elements in `functions`, found 3"
    );
}
