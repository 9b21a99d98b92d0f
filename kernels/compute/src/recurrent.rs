//! Recurrent layers: plain ones, gated recurrent units and long short-term memory.
//!
//! The products with the input are one matrix product for all steps and directions; those with the
//! state are one for each step, whose matrix is packed once.
//!
//! ```text
//!  x ──► input_product, + bias ──► from_input ─┐
//!                                              ▼   for each direction, some sequences at a time
//!       initial state ──► state ──► · Rᵀ ──► gates ──► functions ──► state after the step ──► output
//!                           ▲                                              │
//!                           └──────────────────────────────────────────────┘
//! ```
//!
//! Sequences do not depend on one another: a block computes all steps of some of them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use tfrt_support::share::share;

use crate::Activation;
use crate::error::{ComputeError, check_len, checked_product};
use crate::job::{Plan, SharedSlice};
use crate::lanes::vectorised;
use crate::matmul::{Matmul, MatmulElement, MatmulOperands, MatmulShape};
use crate::parallel::block_count;

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

/// The extents of a layer, and how its sequences lie.
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
    /// Whether the input is `[batch, steps, input]` and the states are `[batch, directions,
    /// hidden]`, rather than `[steps, batch, input]` and `[directions, batch, hidden]`.
    pub is_batch_first: bool,
}

/// A function of a gate.
#[derive(Clone)]
pub enum GateFunction {
    /// Applied to many numbers at a time, in the precision of the layer.
    Fast(Activation),
    /// Applied to one number at a time, in double precision.
    Each(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl GateFunction {
    fn apply<T: MatmulElement>(&self, numbers: &mut [T]) {
        match self {
            Self::Fast(function) => function.apply_in_place(numbers),
            Self::Each(function) => {
                for number in numbers {
                    *number = T::from_f64(function(number.to_f64()));
                }
            }
        }
    }
}

impl fmt::Debug for GateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fast(function) => f.debug_tuple("Fast").field(function).finish(),
            Self::Each(_) => f.debug_tuple("Each").finish_non_exhaustive(),
        }
    }
}

/// What a layer computes.
#[derive(Clone, Debug)]
pub struct RecurrentLayer {
    /// The cell.
    pub cell: RecurrentCell,
    /// The extents.
    pub shape: RecurrentShape,
    /// For each direction, whether each sequence is read from its end.
    pub is_reverse: Vec<bool>,
    /// The functions of each direction, as many as the cell has.
    pub functions: Vec<GateFunction>,
    /// The maximum absolute value of the gates' arguments, which are clamped to it.
    pub clip: Option<f64>,
}

/// The operands of the steps of a layer.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentOperands<'a, T> {
    /// `[steps, batch, directions · gates · hidden]`: the result of
    /// [`Recurrent::input_product`], to which [`Recurrent::input_bias`] has been added. The first
    /// two dimensions are those of the input.
    pub from_input: &'a [T],
    /// `[directions, gates · hidden, hidden]`, packed by [`Recurrent::pack_state`] if
    /// [`Recurrent::packs_state`].
    pub state_weights: &'a [T],
    /// `[directions, 2 · gates · hidden]`: the biases of the input, then those of the state. May be
    /// empty. Only those behind a reset gate are read.
    pub bias: &'a [T],
    /// `[directions, 3 · hidden]`: the weights of the memory in the gates `i`, `o` and `f`. May be
    /// empty.
    pub peepholes: &'a [T],
    /// The length of each sequence.
    pub lengths: &'a [usize],
    /// The states before the first step. May be empty, for zeros.
    pub hidden: &'a [T],
    /// The memory of long short-term memory before the first step. May be empty, for zeros.
    pub memory: &'a [T],
}

/// The plan of the steps of a layer.
///
/// The output is a [record](Self::record_len) for each sequence of each direction, `[directions,
/// batch, record]`: the state after each step, `[steps, hidden]`, where steps beyond the length of
/// the sequence are zero; the last state, `[hidden]`; and for long short-term memory the last
/// memory, `[hidden]`.
///
/// Results depend neither on the number of threads nor on the other sequences.
///
/// ```
/// use tfrt_compute::Activation;
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::matmul::MatmulOperands;
/// use tfrt_compute::parallel::Serial;
/// use tfrt_compute::recurrent::{
///     GateFunction, Recurrent, RecurrentCell, RecurrentLayer, RecurrentOperands, RecurrentShape,
/// };
///
/// let layer = RecurrentLayer {
///     cell: RecurrentCell::Plain,
///     shape: RecurrentShape { steps: 2, batch: 1, input: 1, hidden: 1, is_batch_first: false },
///     is_reverse: vec![false],
///     functions: vec![GateFunction::Fast(Activation::Relu)],
///     clip: None,
/// };
/// let plan = Recurrent::<f32>::new(layer, 1)?;
/// let (x, w, r) = ([1.0, 2.0], [1.0], [10.0]);
/// let product = plan.input_product(1)?;
/// let mut from_input = [0.0; 2];
/// let mut workspace = vec![0.0; product.workspace_len()];
/// product.run(&Serial, MatmulOperands::new(&x, &w), &mut from_input, &mut workspace)?;
/// let operands = RecurrentOperands {
///     from_input: &from_input,
///     state_weights: &r,
///     bias: &[],
///     peepholes: &[],
///     lengths: &[2],
///     hidden: &[],
///     memory: &[],
/// };
/// let mut records = [0.0; 3];
/// let mut workspace = vec![0.0; plan.workspace_len()];
/// plan.run(&Serial, operands, &mut records, &mut workspace)?;
/// assert_eq!(records, [1.0, 12.0, 12.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recurrent<T> {
    layer: RecurrentLayer,
    /// Blocks over the sequences of a direction.
    row_blocks: usize,
    element: PhantomData<T>,
}

const NAME: &str = "recurrent layer";

/// With fewer products of a sequence and the weights of the state, packing them takes longer than
/// it saves, and the products read them where they are.
///
/// One more than the rows up to which [`Matmul`] does so: otherwise it would pack them in each
/// step.
const MIN_PACKED_PRODUCTS: usize = 13;

/// A block has at least this many sequences, as it reads the weights for each step.
const MIN_BLOCK_ROWS: usize = 4;

/// As for matrix products: the operations that take as long as one of other routines.
const OPERATIONS_PER_UNIT: usize = 4;

impl<T: MatmulElement> Recurrent<T> {
    /// Plans a layer for at most `width` threads.
    ///
    /// # Errors
    /// If the layer has more elements than can be addressed, or another number of functions than
    /// its cell.
    pub fn new(layer: RecurrentLayer, width: usize) -> Result<Self, ComputeError> {
        let RecurrentShape {
            steps,
            batch,
            input,
            hidden,
            ..
        } = layer.shape;
        let (directions, gates) = (layer.is_reverse.len(), layer.cell.gates());
        check_len(
            NAME,
            "functions",
            directions * layer.cell.activations(),
            layer.functions.len(),
        )?;
        for extents in [
            [directions, gates, 2 * hidden.max(input), hidden.max(input)],
            [
                directions,
                steps.saturating_add(2),
                batch,
                gates.saturating_mul(hidden),
            ],
        ] {
            checked_product(NAME, &extents)?;
        }
        checked_product(NAME, &[steps, batch, input.max(1)])?;
        let most_row_blocks = batch.div_ceil(MIN_BLOCK_ROWS).max(1);
        let factors = [directions, steps, batch, gates, hidden, 2 * hidden];
        let operations = factors.into_iter().fold(1, usize::saturating_mul) / OPERATIONS_PER_UNIT;
        let blocks = block_count(width, directions * most_row_blocks, operations).min(width.max(1));
        Ok(Self {
            row_blocks: blocks.div_ceil(directions.max(1)).min(most_row_blocks),
            layer,
            element: PhantomData,
        })
    }

    /// Returns the layer.
    #[must_use]
    pub fn layer(&self) -> &RecurrentLayer {
        &self.layer
    }

    /// Returns the plan of the product of the input, `[steps · batch, input]`, and the weights of
    /// the input, `[directions · gates · hidden, input]`, for at most `width` threads.
    ///
    /// # Errors
    /// If the product has more elements than can be addressed.
    pub fn input_product(&self, width: usize) -> Result<Matmul<T>, ComputeError> {
        let RecurrentShape {
            steps,
            batch,
            input,
            ..
        } = self.layer.shape;
        let columns = self.layer.is_reverse.len() * self.wide();
        let shape = MatmulShape::new(steps * batch, columns, input).transposed(false, true);
        Matmul::new(shape, width)
    }

    /// Returns what is added to each row of the product of the input: all of the bias but for the
    /// numbers behind a reset gate.
    ///
    /// # Errors
    /// If the bias does not have the right length.
    pub fn input_bias(&self, bias: &[T]) -> Result<Vec<T>, ComputeError> {
        let (directions, wide, hidden) = (
            self.layer.is_reverse.len(),
            self.wide(),
            self.layer.shape.hidden,
        );
        if bias.is_empty() {
            return Ok(vec![T::default(); directions * wide]);
        }
        check_len(NAME, "bias", directions * 2 * wide, bias.len())?;
        let num_added = wide
            - if self.resets_after_product() {
                hidden
            } else {
                0
            };
        let mut sums = Vec::with_capacity(directions * wide);
        for own in bias.chunks_exact(2 * wide) {
            let (of_input, of_state) = own.split_at(wide);
            sums.extend(
                of_input
                    .iter()
                    .zip(of_state)
                    .enumerate()
                    .map(|(at, (&a, &b))| if at < num_added { a + b } else { a }),
            );
        }
        Ok(sums)
    }

    /// Returns `true` if the weights of the state are packed.
    #[must_use]
    pub fn packs_state(&self) -> bool {
        let RecurrentShape { steps, batch, .. } = self.layer.shape;
        steps * batch >= MIN_PACKED_PRODUCTS
    }

    /// Returns the number of elements of the packed weights of the state.
    #[must_use]
    pub fn packed_state_len(&self) -> usize {
        let products = self.state_products(1);
        let own: usize = products.iter().flatten().map(Matmul::packed_b_len).sum();
        own * self.layer.is_reverse.len()
    }

    /// Packs the weights of the state, `[directions, gates · hidden, hidden]`. The layout depends
    /// on the processor.
    ///
    /// # Errors
    /// If a slice does not have the right length.
    pub fn pack_state(&self, weights: &[T], packed: &mut [T]) -> Result<(), ComputeError> {
        check_len(NAME, "state weights", self.state_len(), weights.len())?;
        check_len(
            NAME,
            "packed state weights",
            self.packed_state_len(),
            packed.len(),
        )?;
        let (mut weights, mut packed) = (weights, packed);
        for _ in &self.layer.is_reverse {
            for product in self.state_products(1).iter().flatten() {
                let (own, others) = weights.split_at(product.shape().n * product.shape().k);
                let (to, rest) = packed.split_at_mut(product.packed_b_len());
                product.pack_b(own, to)?;
                (weights, packed) = (others, rest);
            }
        }
        Ok(())
    }

    /// Returns the number of elements of a record, see [`Recurrent`].
    #[must_use]
    pub fn record_len(&self) -> usize {
        let RecurrentShape { steps, hidden, .. } = self.layer.shape;
        (steps + if self.is_long_short() { 2 } else { 1 }) * hidden
    }

    /// Returns the number of arguments of functions of a step of a sequence.
    fn wide(&self) -> usize {
        self.layer.cell.gates() * self.layer.shape.hidden
    }

    fn state_len(&self) -> usize {
        self.layer.is_reverse.len() * self.wide() * self.layer.shape.hidden
    }

    fn is_long_short(&self) -> bool {
        matches!(self.layer.cell, RecurrentCell::LongShort { .. })
    }

    fn resets_after_product(&self) -> bool {
        self.layer.cell
            == RecurrentCell::Gated {
                resets_after_product: true,
            }
    }

    /// Returns `true` if the last gate has a product of its own, as a reset gate precedes it.
    #[must_use]
    pub fn resets_before_product(&self) -> bool {
        self.layer.cell
            == RecurrentCell::Gated {
                resets_after_product: false,
            }
    }

    /// Returns the products of the states of so many sequences with the weights: one for all gates,
    /// and one for those behind a reset gate that precedes the product.
    fn state_products(&self, rows: usize) -> [Option<Matmul<T>>; 2] {
        let hidden = self.layer.shape.hidden;
        let plan = |columns: usize| {
            let shape = MatmulShape::new(rows, columns, hidden).transposed(false, true);
            Some(Matmul::new(shape, 1).expect("the extents have been checked"))
        };
        match self.resets_before_product() {
            true => [plan(2 * hidden), plan(hidden)],
            false => [plan(self.wide()), None],
        }
    }

    /// Returns the most sequences of a block.
    fn block_rows(&self) -> usize {
        self.layer.shape.batch.div_ceil(self.row_blocks)
    }
}

// SAFETY: 1. A block's elements are the records of its share of sequences of its direction: a
// partition of the output. 2. Nobody changes the fields.
#[expect(unsafe_code, reason = "the trait promises disjoint blocks")]
unsafe impl<T: MatmulElement> Plan for Recurrent<T> {
    type Element = T;
    type Operands<'a> = RecurrentOperands<'a, T>;

    fn name(&self) -> &'static str {
        NAME
    }

    fn blocks(&self) -> usize {
        self.layer.is_reverse.len() * self.row_blocks
    }

    fn output_len(&self) -> usize {
        self.layer.is_reverse.len() * self.layer.shape.batch * self.record_len()
    }

    fn workspace_len(&self) -> usize {
        let rows = self.block_rows();
        let products = self.state_products(rows);
        let of_products = products
            .iter()
            .flatten()
            .map(Matmul::workspace_len_alone)
            .max();
        let hidden = self.layer.shape.hidden;
        let of_resets = match self.resets_before_product() {
            true => hidden,
            false => 0,
        };
        rows * (self.wide() + hidden + of_resets) + of_products.unwrap_or(0)
    }

    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError> {
        let RecurrentShape {
            steps,
            batch,
            hidden,
            ..
        } = self.layer.shape;
        let (directions, wide) = (self.layer.is_reverse.len(), self.wide());
        let state_len = match self.packs_state() {
            true => self.packed_state_len(),
            false => self.state_len(),
        };
        let all = steps * batch * directions * wide;
        check_len(
            NAME,
            "products with the input",
            all,
            operands.from_input.len(),
        )?;
        check_len(
            NAME,
            "state weights",
            state_len,
            operands.state_weights.len(),
        )?;
        check_len(NAME, "lengths", batch, operands.lengths.len())?;
        for (name, expected, values) in [
            ("bias", 2 * wide, operands.bias),
            ("peepholes", 3 * hidden, operands.peepholes),
            ("hidden", batch * hidden, operands.hidden),
            ("memory", batch * hidden, operands.memory),
        ] {
            if !values.is_empty() {
                check_len(NAME, name, directions * expected, values.len())?;
            }
        }
        if let Some(&length) = operands.lengths.iter().find(|&&length| length > steps) {
            return Err(ComputeError::new(format!(
                "{NAME}: expected a sequence of at most {steps} steps, found {length}"
            )));
        }
        Ok(())
    }

    fn compute(
        &self,
        block: usize,
        operands: Self::Operands<'_>,
        output: &SharedSlice<'_, T>,
        workspace: &mut [T],
    ) {
        let (batch, record_len) = (self.layer.shape.batch, self.record_len());
        let direction = block / self.row_blocks;
        let rows = share(batch, self.row_blocks, block % self.row_blocks);
        if rows.is_empty() || record_len == 0 {
            return;
        }
        let start = direction * batch + rows.start;
        let range = start * record_len..(start + rows.len()) * record_len;
        // SAFETY: the records of this block's share (duty 1 of `Plan`), in one slice.
        #[expect(unsafe_code, reason = "the blocks share the output")]
        let records = unsafe { output.slice_mut(range) };
        let block = Block {
            plan: self,
            operands,
            direction,
            products: self.state_products(rows.len()),
            rows,
        };
        block.run(records, workspace);
    }
}

/// Some sequences of a direction, at least one, of states with elements.
struct Block<'a, T> {
    plan: &'a Recurrent<T>,
    operands: RecurrentOperands<'a, T>,
    direction: usize,
    rows: Range<usize>,
    products: [Option<Matmul<T>>; 2],
}

/// What the parts of a step hand on.
struct Scratch<'a, T> {
    /// `[rows, hidden]`.
    state: &'a mut [T],
    /// The state behind the reset gates that precede a product: `[rows, hidden]`, or empty.
    reset: &'a mut [T],
    /// The gates of the first product, row by row.
    gates: &'a mut [T],
    /// The gates of the second product, row by row.
    candidates: &'a mut [T],
    of_products: &'a mut [T],
}

impl<T: MatmulElement> Block<'_, T> {
    fn run(&self, records: &mut [T], workspace: &mut [T]) {
        let RecurrentShape { steps, hidden, .. } = self.plan.layer.shape;
        let (num_rows, record_len) = (self.rows.len(), self.plan.record_len());
        let columns = self.products.each_ref().map(|product| match product {
            Some(product) => product.shape().n,
            None => 0,
        });
        let (state, workspace) = workspace.split_at_mut(num_rows * hidden);
        let num_reset = if columns[1] > 0 { num_rows * hidden } else { 0 };
        let (reset, workspace) = workspace.split_at_mut(num_reset);
        let (gates, workspace) = workspace.split_at_mut(num_rows * columns[0]);
        let (candidates, of_products) = workspace.split_at_mut(num_rows * columns[1]);
        let rows = self.rows.clone().zip(records.chunks_exact_mut(record_len));
        for ((row, record), state) in rows.zip(state.chunks_exact_mut(hidden)) {
            self.begin(row, self.operands.hidden, state);
            let (states, last) = record.split_at_mut(steps * hidden);
            states[self.operands.lengths[row] * hidden..].fill(T::default());
            self.begin(row, self.operands.memory, &mut last[hidden..]);
        }
        let mut scratch = Scratch {
            state,
            reset,
            gates,
            candidates,
            of_products,
        };
        let lengths = &self.operands.lengths[self.rows.clone()];
        for step in 0..lengths.iter().copied().max().unwrap_or(0) {
            self.step(step, records, &mut scratch);
        }
        let states = scratch.state.chunks_exact(hidden);
        for (record, state) in records.chunks_exact_mut(record_len).zip(states) {
            record[steps * hidden..][..hidden].copy_from_slice(state);
        }
    }

    /// Computes a step of all sequences that are not shorter.
    fn step(&self, step: usize, records: &mut [T], scratch: &mut Scratch<'_, T>) {
        let RecurrentShape { steps, hidden, .. } = self.plan.layer.shape;
        let (weights, weights_behind_reset) = self.state_weights();
        let [Some(product), behind_reset] = &self.products else {
            unreachable!("every cell has gates");
        };
        let columns = product.shape().n;
        let factors = self.factors(scratch.state, weights);
        product.run_alone(factors, scratch.gates, scratch.of_products);
        if let Some(product) = behind_reset {
            let gates = scratch.gates.chunks_exact_mut(columns);
            let resets = scratch.reset.chunks_exact_mut(hidden);
            let states = scratch.state.chunks_exact(hidden);
            for (((row, gates), reset), state) in
                self.rows.clone().zip(gates).zip(resets).zip(states)
            {
                if let Some(place) = self.place(row, step) {
                    add(gates, &self.input_row(row, place)[..columns]);
                    self.activate(0, gates);
                    multiply(reset, &gates[hidden..], state);
                }
            }
            let factors = self.factors(scratch.reset, weights_behind_reset);
            product.run_alone(factors, scratch.candidates, scratch.of_products);
        }
        let records = records.chunks_exact_mut(self.plan.record_len());
        for (at, (row, record)) in self.rows.clone().zip(records).enumerate() {
            let Some(place) = self.place(row, step) else {
                continue;
            };
            let gates = &mut scratch.gates[at * columns..][..columns];
            let state = &mut scratch.state[at * hidden..][..hidden];
            let input = self.input_row(row, place);
            match self.plan.layer.cell {
                RecurrentCell::Plain => {
                    add(gates, input);
                    self.activate(0, gates);
                    state.copy_from_slice(gates);
                }
                RecurrentCell::Gated {
                    resets_after_product: false,
                } => {
                    let candidates = &mut scratch.candidates[at * hidden..][..hidden];
                    add(candidates, &input[columns..]);
                    self.activate(1, candidates);
                    blend(state, &gates[..hidden], candidates);
                }
                RecurrentCell::Gated {
                    resets_after_product: true,
                } => self.reset_and_blend(gates, input, state),
                RecurrentCell::LongShort {
                    couples_input_and_forget,
                } => {
                    add(gates, input);
                    let memory = &mut record[(steps + 1) * hidden..];
                    self.remember(gates, memory, couples_input_and_forget, state);
                }
            }
            record[place * hidden..][..hidden].copy_from_slice(state);
        }
    }

    /// Updates the state of a gated unit that resets after the product.
    fn reset_and_blend(&self, gates: &mut [T], input: &[T], state: &mut [T]) {
        let hidden = state.len();
        let (gates, candidates) = gates.split_at_mut(2 * hidden);
        let (input, input_of_candidates) = input.split_at(2 * hidden);
        add(gates, input);
        self.activate(0, gates);
        let (update, reset) = gates.split_at(hidden);
        if let Some(bias) = self.bias_behind_reset() {
            add(candidates, bias);
        }
        scale_and_add(candidates, reset, input_of_candidates);
        self.activate(1, candidates);
        blend(state, update, candidates);
    }

    /// Updates the memory and the state of a cell of long short-term memory.
    fn remember(
        &self,
        gates: &mut [T],
        memory: &mut [T],
        couples_input_and_forget: bool,
        state: &mut [T],
    ) {
        let hidden = memory.len();
        let peepholes = match self.operands.peepholes {
            [] => None,
            all => Some(&all[self.direction * 3 * hidden..][..3 * hidden]),
        };
        if let Some(peepholes) = peepholes {
            add_products(&mut gates[..hidden], &peepholes[..hidden], memory);
            add_products(
                &mut gates[2 * hidden..3 * hidden],
                &peepholes[2 * hidden..],
                memory,
            );
        }
        let (input, gates) = gates.split_at_mut(hidden);
        let (output, gates) = gates.split_at_mut(hidden);
        let (forget, candidates) = gates.split_at_mut(hidden);
        self.activate(0, input);
        if couples_input_and_forget {
            rest_of_one(forget, input);
        } else {
            self.activate(0, forget);
        }
        self.activate(1, candidates);
        forget_and_add(memory, forget, input, candidates);
        if let Some(peepholes) = peepholes {
            add_products(output, &peepholes[hidden..2 * hidden], memory);
        }
        self.activate(0, output);
        candidates.copy_from_slice(memory);
        self.function(2).apply(candidates);
        multiply(state, output, candidates);
    }

    /// Returns the number of the step of a sequence in the input that is read in a step, if there
    /// is one.
    fn place(&self, row: usize, step: usize) -> Option<usize> {
        let length = self.operands.lengths[row];
        match self.plan.layer.is_reverse[self.direction] {
            _ if step >= length => None,
            true => Some(length - 1 - step),
            false => Some(step),
        }
    }

    /// Returns the products of a step with the input.
    fn input_row(&self, row: usize, place: usize) -> &[T] {
        let RecurrentShape {
            steps,
            batch,
            is_batch_first,
            ..
        } = self.plan.layer.shape;
        let index = match is_batch_first {
            true => row * steps + place,
            false => place * batch + row,
        };
        let (directions, wide) = (self.plan.layer.is_reverse.len(), self.plan.wide());
        &self.operands.from_input[(index * directions + self.direction) * wide..][..wide]
    }

    /// Copies what a sequence begins with.
    fn begin(&self, row: usize, given: &[T], to: &mut [T]) {
        let RecurrentShape {
            batch,
            hidden,
            is_batch_first,
            ..
        } = self.plan.layer.shape;
        let index = match is_batch_first {
            true => row * self.plan.layer.is_reverse.len() + self.direction,
            false => self.direction * batch + row,
        };
        match given {
            [] => to.fill(T::default()),
            // None of the memory, of other cells.
            given => to.copy_from_slice(&given[index * hidden..][..to.len()]),
        }
    }

    /// Returns the weights of the two products with the state.
    fn state_weights(&self) -> (&[T], &[T]) {
        let [first, second] = self.products.each_ref().map(|product| match product {
            None => 0,
            Some(product) if self.plan.packs_state() => product.packed_b_len(),
            Some(product) => product.shape().n * product.shape().k,
        });
        let start = self.direction * (first + second);
        self.operands.state_weights[start..start + first + second].split_at(first)
    }

    fn factors<'a>(&self, rows: &'a [T], weights: &'a [T]) -> MatmulOperands<'a, T> {
        match self.plan.packs_state() {
            true => MatmulOperands::packed(rows, weights),
            false => MatmulOperands::new(rows, weights),
        }
    }

    /// Returns the bias of the state that a reset gate applies to, behind the product.
    fn bias_behind_reset(&self) -> Option<&[T]> {
        let (wide, hidden) = (self.plan.wide(), self.plan.layer.shape.hidden);
        let own = self.operands.bias.get(self.direction * 2 * wide..)?;
        own.get(2 * wide - hidden..2 * wide)
    }

    fn function(&self, number: usize) -> &GateFunction {
        let num_functions = self.plan.layer.cell.activations();
        &self.plan.layer.functions[self.direction * num_functions + number]
    }

    /// Applies a function to what is clipped first.
    fn activate(&self, number: usize, gates: &mut [T]) {
        if let Some(clip) = self.plan.layer.clip {
            let high = T::from_f64(clip);
            clamp(gates, -high, high);
        }
        self.function(number).apply(gates);
    }
}

/// Computes `to += numbers`.
fn add<T: MatmulElement>(to: &mut [T], numbers: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (to, &number) in to.iter_mut().zip(numbers) {
                *to += number;
            }
        },
    );
}

/// Computes `to = a · b`.
fn multiply<T: MatmulElement>(to: &mut [T], a: &[T], b: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (to, (&a, &b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to = a * b;
            }
        },
    );
}

/// Computes `to += a · b`.
fn add_products<T: MatmulElement>(to: &mut [T], a: &[T], b: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (to, (&a, &b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to += a * b;
            }
        },
    );
}

/// Computes `to = to · factors + summands`.
fn scale_and_add<T: MatmulElement>(to: &mut [T], factors: &[T], summands: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (to, (&factor, &summand)) in to.iter_mut().zip(factors.iter().zip(summands)) {
                *to = *to * factor + summand;
            }
        },
    );
}

/// Computes `to = 1 - numbers`.
fn rest_of_one<T: MatmulElement>(to: &mut [T], numbers: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (to, &number) in to.iter_mut().zip(numbers) {
                *to = T::from(1) - number;
            }
        },
    );
}

/// Computes `state = (1 - update) · candidates + update · state`.
fn blend<T: MatmulElement>(state: &mut [T], update: &[T], candidates: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            for (state, (&update, &candidate)) in
                state.iter_mut().zip(update.iter().zip(candidates))
            {
                *state = (T::from(1) - update) * candidate + update * *state;
            }
        },
    );
}

/// Computes `memory = forget · memory + input · candidates`.
fn forget_and_add<T: MatmulElement>(memory: &mut [T], forget: &[T], input: &[T], candidates: &[T]) {
    vectorised(
        #[inline(always)]
        || {
            let gates = forget.iter().zip(input.iter().zip(candidates));
            for (memory, (&forget, (&input, &candidate))) in memory.iter_mut().zip(gates) {
                *memory = forget * *memory + input * candidate;
            }
        },
    );
}

/// Clamps to a range; NaN is kept.
fn clamp<T: MatmulElement>(numbers: &mut [T], low: T, high: T) {
    vectorised(
        #[inline(always)]
        || {
            for number in numbers {
                let floored = if *number < low { low } else { *number };
                *number = if floored > high { high } else { floored };
            }
        },
    );
}

#[cfg(test)]
mod tests;
