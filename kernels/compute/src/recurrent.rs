//! Recurrent layers: plain ones, gated recurrent units and long short-term memory, one direction at
//! a time.
//!
//! The products with the input are one matrix product for all steps; those with the state are one
//! for each step.

use std::fmt;

use crate::error::{ComputeError, check_len, checked_product};
use crate::job::Plan;
use crate::matmul::{Matmul, MatmulOperands, MatmulShape};
use crate::parallel::Serial;

/// The computation of a step from the input and the previous state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecurrentCell {
    /// `h = f(x·Wᵀ + h·Rᵀ + b)`.
    Plain,
    /// A gated recurrent unit, with the gates `z`, `r` and `h` in this order.
    Gated {
        /// Whether the reset gate applies after the product with the state and its bias.
        resets_after_product: bool,
    },
    /// Long short-term memory, with the gates `i`, `o`, `f` and `c` in this order.
    LongShort {
        /// Whether the forget gate is one minus the input gate.
        couples_input_and_forget: bool,
    },
}

impl RecurrentCell {
    /// Returns the number of gates, which is how often the weights repeat.
    #[must_use]
    pub fn gates(self) -> usize {
        match self {
            Self::Plain => 1,
            Self::Gated { .. } => 3,
            Self::LongShort { .. } => 4,
        }
    }

    /// Returns the number of activation functions.
    #[must_use]
    pub fn activations(self) -> usize {
        match self {
            Self::Plain => 1,
            Self::Gated { .. } => 2,
            Self::LongShort { .. } => 3,
        }
    }
}

/// The extents of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecurrentShape {
    /// The maximum number of steps.
    pub steps: usize,
    /// The number of sequences.
    pub batch: usize,
    /// The size of the input of a step.
    pub input: usize,
    /// The size of the state.
    pub hidden: usize,
}

/// The weights of a direction.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentWeights<'a> {
    /// `[gates · hidden, input]`.
    pub input: &'a [f64],
    /// `[gates · hidden, hidden]`.
    pub state: &'a [f64],
    /// `[2 · gates · hidden]`: the biases of the input, then those of the state. May be empty.
    pub bias: &'a [f64],
    /// `[3 · hidden]`: the weights of the memory in the gates `i`, `o` and `f`. May be empty.
    pub peepholes: &'a [f64],
}

/// A direction of a layer.
pub struct Recurrent<'a> {
    /// The cell.
    pub cell: RecurrentCell,
    /// The extents.
    pub shape: RecurrentShape,
    /// The weights.
    pub weights: RecurrentWeights<'a>,
    /// The activation functions, as many as the cell has.
    pub activations: &'a [&'a dyn Fn(f64) -> f64],
    /// The maximum absolute value of the functions' arguments, which are clamped to it.
    pub clip: Option<f64>,
    /// Whether each sequence is read from its end.
    pub is_reverse: bool,
}

impl fmt::Debug for Recurrent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recurrent")
            .field("cell", &self.cell)
            .field("shape", &self.shape)
            .field("clip", &self.clip)
            .field("is_reverse", &self.is_reverse)
            .finish_non_exhaustive()
    }
}

/// The state of a direction before and after a run.
#[derive(Debug)]
pub struct RecurrentState<'a> {
    /// `[batch, hidden]`.
    pub hidden: &'a mut [f64],
    /// `[batch, hidden]`: the memory of long short-term memory; otherwise empty.
    pub memory: &'a mut [f64],
}

impl Recurrent<'_> {
    /// Runs the layer on `x`, `[steps, batch, input]`, and writes the state after each step to `y`,
    /// `[steps, batch, hidden]`: steps beyond the length of a sequence are unchanged. `lengths`
    /// contains the length of each sequence.
    ///
    /// # Errors
    /// If a slice does not have the right length, or a sequence is longer than there are steps.
    pub fn run(
        &self,
        x: &[f64],
        lengths: &[usize],
        state: RecurrentState<'_>,
        y: &mut [f64],
    ) -> Result<(), ComputeError> {
        const NAME: &str = "recurrent layer";
        let RecurrentShape {
            steps,
            batch,
            input,
            hidden,
        } = self.shape;
        let gates = self.cell.gates();
        let wide = checked_product(NAME, &[gates, hidden])?;
        let check = |name: &str, extents: &[usize], found: usize| {
            check_len(NAME, name, checked_product(NAME, extents)?, found)
        };
        check("x", &[steps, batch, input], x.len())?;
        check("w", &[wide, input], self.weights.input.len())?;
        check("r", &[wide, hidden], self.weights.state.len())?;
        check("y", &[steps, batch, hidden], y.len())?;
        check("lengths", &[batch], lengths.len())?;
        check("hidden", &[batch, hidden], state.hidden.len())?;
        check_len(
            NAME,
            "activations",
            self.cell.activations(),
            self.activations.len(),
        )?;
        let is_long_short = matches!(self.cell, RecurrentCell::LongShort { .. });
        if is_long_short {
            check("memory", &[batch, hidden], state.memory.len())?;
        }
        if !self.weights.bias.is_empty() {
            check("bias", &[2, wide], self.weights.bias.len())?;
        }
        if !self.weights.peepholes.is_empty() {
            check("peepholes", &[3, hidden], self.weights.peepholes.len())?;
        }
        if let Some(&length) = lengths.iter().find(|&&length| length > steps) {
            return Err(ComputeError::new(format!(
                "{NAME}: expected a sequence of at most {steps} steps, found {length}"
            )));
        }
        let from_input = product(x, self.weights.input, [steps * batch, input, wide])?;
        let bias = |at: usize| self.weights.bias.get(at).copied().unwrap_or(0.0);
        let peephole = |at: usize| self.weights.peepholes.get(at).copied().unwrap_or(0.0);
        let cut = |x: f64| match self.clip {
            Some(clip) => x.clamp(-clip, clip),
            None => x,
        };
        let activate = |number: usize, x: f64| (self.activations[number])(cut(x));
        let longest = lengths.iter().copied().max().unwrap_or(0);
        for step in 0..longest {
            let from_state = product(state.hidden, self.weights.state, [batch, hidden, wide])?;
            // The product with the state behind the reset gate, for units that reset before it.
            let mut candidates = Vec::new();
            let place = |row: usize| match self.is_reverse {
                true => lengths[row] - 1 - step,
                false => step,
            };
            let input_row = |row: usize| &from_input[(place(row) * batch + row) * wide..][..wide];
            let state_row = |row: usize| &from_state[row * wide..][..wide];
            let sum = |row: usize, at: usize| {
                input_row(row)[at] + state_row(row)[at] + bias(at) + bias(wide + at)
            };
            let rows = (0..batch).filter(|&row| step < lengths[row]);
            let resets_before = self.cell
                == RecurrentCell::Gated {
                    resets_after_product: false,
                };
            if resets_before {
                let mut reset = state.hidden.to_vec();
                for row in rows.clone() {
                    for (unit, value) in reset[row * hidden..][..hidden].iter_mut().enumerate() {
                        *value *= activate(0, sum(row, hidden + unit));
                    }
                }
                let last = &self.weights.state[2 * hidden * hidden..];
                candidates = product(&reset, last, [batch, hidden, hidden])?;
            }
            for row in rows {
                let to = (place(row) * batch + row) * hidden;
                for unit in 0..hidden {
                    let before = state.hidden[row * hidden + unit];
                    let after = match self.cell {
                        RecurrentCell::Plain => activate(0, sum(row, unit)),
                        RecurrentCell::Gated {
                            resets_after_product,
                        } => {
                            let update = activate(0, sum(row, unit));
                            let at = 2 * hidden + unit;
                            let of_input = input_row(row)[at] + bias(at);
                            let candidate = if resets_after_product {
                                let reset = activate(0, sum(row, hidden + unit));
                                of_input + reset * (state_row(row)[at] + bias(wide + at))
                            } else {
                                of_input + candidates[row * hidden + unit] + bias(wide + at)
                            };
                            (1.0 - update) * activate(1, candidate) + update * before
                        }
                        RecurrentCell::LongShort {
                            couples_input_and_forget,
                        } => {
                            let memory = &mut state.memory[row * hidden + unit];
                            let gate = |number: usize| sum(row, number * hidden + unit);
                            let seen = |number: usize| peephole(number * hidden + unit);
                            let input = activate(0, gate(0) + seen(0) * *memory);
                            let forget = if couples_input_and_forget {
                                1.0 - input
                            } else {
                                activate(0, gate(2) + seen(2) * *memory)
                            };
                            *memory = forget * *memory + input * activate(1, gate(3));
                            let output = activate(0, gate(1) + seen(1) * *memory);
                            output * (self.activations[2])(*memory)
                        }
                    };
                    y[to + unit] = after;
                }
                state.hidden[row * hidden..][..hidden].copy_from_slice(&y[to..to + hidden]);
            }
        }
        Ok(())
    }
}

/// Returns `a · bᵀ`, where `a` is `[m, k]` and `b` is `[n, k]`.
fn product(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Result<Vec<f64>, ComputeError> {
    let plan = Matmul::<f64>::new(MatmulShape::new(m, n, k).transposed(false, true), 1)?;
    let mut workspace = vec![0.0; plan.workspace_len() * plan.blocks()];
    let mut c = vec![0.0; m * n];
    if !c.is_empty() {
        plan.run(&Serial, MatmulOperands::new(a, b), &mut c, &mut workspace)?;
    }
    Ok(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: RecurrentShape = RecurrentShape {
        steps: 3,
        batch: 2,
        input: 2,
        hidden: 2,
    };

    fn numbers(len: usize, salt: usize) -> Vec<f64> {
        (0..len)
            .map(|at| ((at * 7 + salt * 5) % 13) as f64 / 13.0 - 0.5)
            .collect()
    }

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    struct Case {
        x: Vec<f64>,
        w: Vec<f64>,
        r: Vec<f64>,
        b: Vec<f64>,
        p: Vec<f64>,
    }

    impl Case {
        fn new(cell: RecurrentCell) -> Self {
            let gates = cell.gates();
            Self {
                x: numbers(12, 1),
                w: numbers(gates * 4, 2),
                r: numbers(gates * 4, 3),
                b: numbers(gates * 4, 4),
                p: numbers(6, 5),
            }
        }

        /// Returns one gate of one sequence before its function, but for peepholes: by the
        /// definition, number by number.
        fn gate(
            &self,
            cell: RecurrentCell,
            x: &[f64],
            h: &[f64],
            gate: usize,
            unit: usize,
        ) -> (f64, f64) {
            let row = gate * 2 + unit;
            let of = |m: &[f64], v: &[f64]| m[row * 2] * v[0] + m[row * 2 + 1] * v[1];
            let wide = cell.gates() * 2;
            (
                of(&self.w, x) + self.b[row],
                of(&self.r, h) + self.b[wide + row],
            )
        }

        fn run(
            &self,
            cell: RecurrentCell,
            lengths: &[usize],
            is_reverse: bool,
        ) -> (Vec<f64>, Vec<f64>) {
            let tanh: &dyn Fn(f64) -> f64 = &f64::tanh;
            let gate: &dyn Fn(f64) -> f64 = &sigmoid;
            let functions = match cell {
                RecurrentCell::Plain => vec![tanh],
                RecurrentCell::Gated { .. } => vec![gate, tanh],
                RecurrentCell::LongShort { .. } => vec![gate, tanh, tanh],
            };
            let layer = Recurrent {
                cell,
                shape: SHAPE,
                weights: RecurrentWeights {
                    input: &self.w,
                    state: &self.r,
                    bias: &self.b,
                    peepholes: &self.p,
                },
                activations: &functions,
                clip: None,
                is_reverse,
            };
            let (mut hidden, mut memory) = (numbers(4, 6), numbers(4, 7));
            let mut y = vec![0.0; 12];
            let state = RecurrentState {
                hidden: &mut hidden,
                memory: &mut memory,
            };
            layer.run(&self.x, lengths, state, &mut y).unwrap();
            (y, hidden)
        }

        /// Returns the same, step by step.
        fn plain(
            &self,
            cell: RecurrentCell,
            lengths: &[usize],
            is_reverse: bool,
        ) -> (Vec<f64>, Vec<f64>) {
            let (mut hidden, mut memory) = (numbers(4, 6), numbers(4, 7));
            let mut y = vec![0.0; 12];
            for row in 0..2 {
                for step in 0..lengths[row] {
                    let place = if is_reverse {
                        lengths[row] - 1 - step
                    } else {
                        step
                    };
                    let x = &self.x[(place * 2 + row) * 2..][..2];
                    let h = hidden[row * 2..][..2].to_vec();
                    let both = |h: &[f64], gate: usize, unit: usize| {
                        let (a, b) = self.gate(cell, x, h, gate, unit);
                        a + b
                    };
                    for unit in 0..2 {
                        let at = row * 2 + unit;
                        hidden[at] = match cell {
                            RecurrentCell::Plain => both(&h, 0, unit).tanh(),
                            RecurrentCell::Gated {
                                resets_after_product,
                            } => {
                                let z = sigmoid(both(&h, 0, unit));
                                let r: Vec<f64> =
                                    (0..2).map(|unit| sigmoid(both(&h, 1, unit))).collect();
                                let candidate = if resets_after_product {
                                    let (a, b) = self.gate(cell, x, &h, 2, unit);
                                    a + r[unit] * b
                                } else {
                                    both(&[r[0] * h[0], r[1] * h[1]], 2, unit)
                                };
                                (1.0 - z) * candidate.tanh() + z * h[unit]
                            }
                            RecurrentCell::LongShort {
                                couples_input_and_forget,
                            } => {
                                let c = memory[at];
                                let i = sigmoid(both(&h, 0, unit) + self.p[unit] * c);
                                let f = if couples_input_and_forget {
                                    1.0 - i
                                } else {
                                    sigmoid(both(&h, 2, unit) + self.p[4 + unit] * c)
                                };
                                let c = f * c + i * both(&h, 3, unit).tanh();
                                memory[at] = c;
                                let o = sigmoid(both(&h, 1, unit) + self.p[2 + unit] * c);
                                o * c.tanh()
                            }
                        };
                        y[(place * 2 + row) * 2 + unit] = hidden[at];
                    }
                }
            }
            (y, hidden)
        }
    }

    #[test]
    fn every_cell_computes_its_definition() {
        let cells = [
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
        for cell in cells {
            let mut case = Case::new(cell);
            if !matches!(cell, RecurrentCell::LongShort { .. }) {
                case.p.clear();
            }
            for lengths in [[3, 3], [1, 3], [0, 2]] {
                for is_reverse in [false, true] {
                    let found = case.run(cell, &lengths, is_reverse);
                    let expected = case.plain(cell, &lengths, is_reverse);
                    let all = |(a, b): &(Vec<f64>, Vec<f64>)| [&a[..], &b[..]].concat();
                    let (found, expected) = (all(&found), all(&expected));
                    let is_near = found
                        .iter()
                        .zip(&expected)
                        .all(|(a, b)| (a - b).abs() < 1e-12);
                    assert!(
                        is_near,
                        "{cell:?} {lengths:?} {is_reverse}\n{found:?}\n{expected:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn sequences_that_are_too_long_are_errors() {
        let case = Case::new(RecurrentCell::Plain);
        let tanh: &dyn Fn(f64) -> f64 = &f64::tanh;
        let layer = Recurrent {
            cell: RecurrentCell::Plain,
            shape: SHAPE,
            weights: RecurrentWeights {
                input: &case.w,
                state: &case.r,
                bias: &[],
                peepholes: &[],
            },
            activations: &[tanh],
            clip: None,
            is_reverse: false,
        };
        let state = RecurrentState {
            hidden: &mut [0.0; 4],
            memory: &mut [],
        };
        let error = layer.run(&case.x, &[3, 4], state, &mut [0.0; 12]);
        assert_eq!(
            error.unwrap_err().to_string(),
            "recurrent layer: expected a sequence of at most 3 steps, found 4"
        );
    }
}
