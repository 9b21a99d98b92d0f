//! Recurrent layers.

use std::sync::Arc;

use tfrt::prelude::*;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{MatmulElement, MatmulOperands};
use tfrt_compute::recurrent::{
    GateFunction, Recurrent, RecurrentCell, RecurrentLayer, RecurrentOperands, RecurrentShape,
};
use tfrt_kernels::numeric::{report_work, start, width};
use tfrt_kernels::packed_weights::{self, Order};
use tfrt_tensor::{DenseHostTensor, Element, OwnedElements};

use crate::element_wise::activation_of;
use crate::number::{Number, with_number, with_real};
use crate::products::MIN_PACKED_ROWS;
use crate::{
    Slots, allocate, epilogue, invalid, made, real_numbers, scratch, unspecified, unsupported,
    whole_numbers,
};

const OP: &str = "nn.Recurrent";

/// Returns the functions of a layer, by the names that attributes list. Those of single precision
/// are fast where this is possible.
fn functions(
    names: &str,
    alphas: Option<&[f32]>,
    betas: Option<&[f32]>,
    count: usize,
    is_single: bool,
) -> Result<Vec<GateFunction>> {
    let mut alphas = alphas.unwrap_or_default().iter().copied();
    let mut betas = betas.unwrap_or_default().iter().copied();
    let functions = names.split(',').map(|name| {
        let lower = name.to_ascii_lowercase();
        // What each is called here, and its parameters if they are not given.
        let (known, alpha, beta) = match lower.as_str() {
            "leakyrelu" => ("leaky_relu", Some(0.01), None),
            "thresholdedrelu" => ("thresholded_relu", Some(1.0), None),
            "scaledtanh" => ("scaled_tanh", Some(1.0), Some(1.0)),
            "hardsigmoid" => ("hard_sigmoid", Some(0.2), Some(0.5)),
            "affine" => ("affine", Some(1.0), Some(0.0)),
            "elu" => ("elu", Some(1.0), None),
            other @ ("relu" | "tanh" | "sigmoid" | "softsign" | "softplus") => (other, None, None),
            _ => return Err(invalid(format!("`{OP}`: unknown function `{name}`"))),
        };
        let alpha = alpha.map(|missing| alphas.next().unwrap_or(missing));
        let beta = beta.map(|missing| betas.next().unwrap_or(missing));
        let (alpha, beta) = (alpha.unwrap_or(0.0), beta.unwrap_or(0.0));
        if is_single && let Some(fast) = epilogue::activation_of(known, alpha, beta) {
            return Ok(GateFunction::Fast(fast));
        }
        let function = activation_of(known)
            .ok_or_else(|| invalid(format!("`{OP}`: unknown function `{name}`")))?;
        let (alpha, beta) = (f64::from(alpha), f64::from(beta));
        Ok(GateFunction::Each(Arc::new(move |x| {
            function(x, alpha, beta)
        })))
    });
    let functions = functions.collect::<Result<Vec<_>>>()?;
    if functions.len() == count {
        return Ok(functions);
    }
    Err(invalid(format!(
        "`{OP}`: expected {count} activation functions, found {}",
        functions.len()
    )))
}

/// Runs a recurrent layer: `rnn`, `gru` or `lstm`. Operands are the sequences
/// `[steps, batch, input]`, the weights of the input `[directions, gates · hidden, input]`, those
/// of the state `[directions, gates · hidden, hidden]`, a bias `[directions, 2 · gates · hidden]`,
/// the length of each sequence, the state and for `lstm` the memory `[directions, batch, hidden]`
/// before the first step, and peepholes `[directions, 3 · hidden]`; the bias and all following
/// operands may be omitted. Returns the states after each step
/// `[steps, directions, batch, hidden]`, the last state, and for `lstm` the last memory. With
/// `batch_first`, the batch is the first dimension of all of these.
///
/// A sequence is read `forward`, in `reverse`, or `bidirectional`, in both directions.
/// `activations` lists the functions of each direction, separated by commas. `clip` clamps the
/// arguments of the functions, unless it is 0.
///
/// # Errors
/// If the operands do not match, or a function does not exist.
#[tfrt_op("nn.Recurrent")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn recurrent(
    operands: &[AnyRef],
    #[attr] cell: &str,
    #[attr] activations: &str,
    #[attr] alphas: Option<&[f32]>,
    #[attr] betas: Option<&[f32]>,
    #[attr(default = 0.0)] clip: f32,
    #[attr] direction: &str,
    #[attr(default = false)] batch_first: bool,
    #[attr(default = false)] linear_before_reset: bool,
    #[attr(default = false)] input_forget: bool,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    let slots = Slots::new(OP, operands, slots);
    let (x, w, r) = (
        slots.need(0, "x")?,
        slots.need(1, "w")?,
        slots.need(2, "r")?,
    );
    let cell = match cell {
        "rnn" => RecurrentCell::Plain,
        "gru" => RecurrentCell::Gated {
            resets_after_product: linear_before_reset,
        },
        "lstm" => RecurrentCell::LongShort {
            couples_input_and_forget: input_forget,
        },
        other => return Err(invalid(format!("`{OP}`: unknown cell `{other}`"))),
    };
    let directions: &[bool] = match direction {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(invalid(format!("`{OP}`: unknown direction `{other}`"))),
    };
    let refused = || {
        invalid(format!(
            "`{OP}`: weights of {} and {} are incompatible with {}",
            w.metadata(),
            r.metadata(),
            x.metadata()
        ))
    };
    let &[first, second, input] = x.shape().dims() else {
        return Err(refused());
    };
    let (steps, batch) = if batch_first {
        (second, first)
    } else {
        (first, second)
    };
    let &[num_directions, wide, hidden] = r.shape().dims() else {
        return Err(refused());
    };
    let gates = cell.gates();
    if num_directions != directions.len()
        || hidden.checked_mul(gates) != Some(wide)
        || w.shape().dims() != [num_directions, wide, input]
    {
        return Err(refused());
    }
    let optional = |slot: usize, dims: &[usize], name: &str| match slots.get(slot)? {
        Some(found) if found.shape().dims() != dims => Err(invalid(format!(
            "`{OP}`: expected `{name}` of shape {dims:?}, found {}",
            found.metadata()
        ))),
        found => Ok(found),
    };
    let state_dims = match batch_first {
        true => [batch, num_directions, hidden],
        false => [num_directions, batch, hidden],
    };
    let is_long_short = matches!(cell, RecurrentCell::LongShort { .. });
    let bias = optional(3, &[num_directions, 2 * wide], "bias")?;
    let lengths = match slots.get(4)? {
        None => vec![steps; batch],
        Some(lengths) => crate::extents(OP, &whole_numbers(OP, &lengths)?)?,
    };
    let states = optional(5, &state_dims, "initial_h")?;
    let memories = optional(6, &state_dims, "initial_c")?;
    let peepholes = optional(7, &[num_directions, 3 * hidden], "peepholes")?;
    let functions = functions(
        activations,
        alphas,
        betas,
        cell.activations() * num_directions,
        x.dtype() != DType::F64,
    )?;
    let layer = RecurrentLayer {
        cell,
        shape: RecurrentShape {
            steps,
            batch,
            input,
            hidden,
            is_batch_first: batch_first,
        },
        is_reverse: directions.to_vec(),
        functions,
        clip: (clip > 0.0).then_some(f64::from(clip)),
    };
    let operands = Operands {
        x,
        w,
        r,
        bias,
        lengths,
        states,
        // Other cells have neither.
        memories: memories.filter(|_| is_long_short),
        peepholes: peepholes.filter(|_| is_long_short),
    };
    match operands.x.dtype() {
        DType::F64 => operands.start::<f64>(layer, ctx),
        DType::F32 | DType::F16 | DType::Bf16 => operands.start::<f32>(layer, ctx),
        other => Err(unsupported(OP, other)),
    }
}

/// The operands of a layer, whose extents have been checked.
struct Operands {
    x: DenseHostTensor,
    w: DenseHostTensor,
    r: DenseHostTensor,
    bias: Option<DenseHostTensor>,
    lengths: Vec<usize>,
    states: Option<DenseHostTensor>,
    memories: Option<DenseHostTensor>,
    peepholes: Option<DenseHostTensor>,
}

/// A type that layers are computed in.
trait LayerElement: Element + MatmulElement + Number {}

impl LayerElement for f32 {}

impl LayerElement for f64 {}

impl Operands {
    /// Starts a layer, whose results are available when all steps are done.
    fn start<T: LayerElement>(
        self,
        layer: RecurrentLayer,
        ctx: &ExecutionContext,
    ) -> Result<Vec<AnyRef>> {
        let shape = layer.shape;
        let num_results = num_results(layer.cell);
        let plan = Recurrent::<T>::new(layer, width(ctx))?;
        let numbers = |tensor: &DenseHostTensor| numbers::<T>(tensor, ctx);
        let optional = |tensor: &Option<DenseHostTensor>| tensor.as_ref().map(numbers).transpose();
        let (x, w) = (numbers(&self.x)?, numbers(&self.w)?);
        let bias = optional(&self.bias)?;
        let product = plan.input_product(width(ctx))?;
        let input_bias = plan.input_bias(bias.as_deref().unwrap_or_default())?;
        let mut packed = None;
        if shape.steps * shape.batch >= MIN_PACKED_ROWS {
            let order = Order::Matmul {
                k: shape.input,
                n: w.len() / shape.input.max(1),
                transposed: true,
            };
            let pack = |packed: &mut [T]| Ok(product.pack_b(&w, packed)?);
            packed = packed_weights::find(ctx, &w, order, product.packed_b_len(), pack)?;
        }
        let mut from_input = unspecified(ctx, T::DTYPE, &[product.output_len()])?;
        let output = from_input.elements_mut_owned::<T>()?;
        let operations = (2 * product.output_len()).saturating_mul(shape.input + shape.hidden);
        let num_weights = w.len() + self.r.num_elements();
        report_work::<T>(ctx, operations, x.len() + num_weights + plan.output_len());
        let done = start(ctx, product, output, move |job, block, workspace| {
            let factors = match &packed {
                Some(packed) => MatmulOperands::packed(&x, packed),
                None => MatmulOperands::new(&x, &w),
            };
            job.run_block(block, factors.shift(&input_bias), workspace)
        })?;
        let state_weights = state_weights(&plan, numbers(&self.r)?, ctx)?;
        let (states, memories) = (optional(&self.states)?, optional(&self.memories)?);
        let peepholes = optional(&self.peepholes)?;
        let (dtype, lengths) = (self.x.dtype(), self.lengths);
        let own = ctx.clone();
        let steps = move || {
            let ctx = &own;
            let from_input = from_input.elements_owned::<T>()?;
            let mut records = unspecified(ctx, T::DTYPE, &[plan.output_len()])?;
            let output = records.elements_mut_owned::<T>()?;
            let layer = plan.layer().clone();
            let done = start(ctx, plan, output, move |job, block, workspace| {
                let operands = RecurrentOperands {
                    from_input: &from_input,
                    state_weights: &state_weights,
                    bias: bias.as_deref().unwrap_or_default(),
                    peepholes: peepholes.as_deref().unwrap_or_default(),
                    lengths: &lengths,
                    hidden: states.as_deref().unwrap_or_default(),
                    memory: memories.as_deref().unwrap_or_default(),
                };
                job.run_block(block, operands, workspace)
            })?;
            let own = ctx.clone();
            after_all(done, num_results, ctx, move || {
                results::<T>(&layer, dtype, &records, &own)
            })
        };
        after_all(done, num_results, ctx, steps)
    }
}

/// Returns the number of results of a layer: the states, the last one, and the last memory.
fn num_results(cell: RecurrentCell) -> usize {
    match cell {
        RecurrentCell::LongShort { .. } => 3,
        RecurrentCell::Plain | RecurrentCell::Gated { .. } => 2,
    }
}

/// Returns the numbers of an operand, of any type.
fn numbers<T: LayerElement>(
    tensor: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<OwnedElements<T>> {
    if tensor.dtype() == T::DTYPE {
        return Ok(tensor.elements_owned()?);
    }
    let converted = with_number!(OP, tensor.dtype(), N => {
        let from = tensor.elements::<N>()?;
        made(ctx, tensor.shape().dims(), |at| <T as Number>::of_f64(Number::to_f64(from[at])))
    })?;
    Ok(converted.elements_owned()?)
}

/// Returns the weights of the state as a plan reads them.
fn state_weights<T: LayerElement>(
    plan: &Recurrent<T>,
    weights: OwnedElements<T>,
    ctx: &ExecutionContext,
) -> Result<OwnedElements<T>> {
    if !plan.packs_state() {
        return Ok(weights);
    }
    let RecurrentLayer {
        cell,
        shape,
        is_reverse,
        ..
    } = plan.layer();
    let order = Order::Recurrent {
        directions: is_reverse.len(),
        gates: cell.gates(),
        hidden: shape.hidden,
        resets_before_product: plan.resets_before_product(),
    };
    let len = plan.packed_state_len();
    let pack = |packed: &mut [T]| Ok(plan.pack_state(&weights, packed)?);
    packed_weights::find_or_pack(ctx, &weights, order, len, pack)
}

/// Returns results that are made when a chain is ready, or its error.
fn after_all(
    done: AsyncValueRef<Chain>,
    num_results: usize,
    ctx: &ExecutionContext,
    make: impl FnOnce() -> Result<Vec<AnyRef>> + Send + 'static,
) -> Result<Vec<AnyRef>> {
    if let Some(error) = done.error_if_present() {
        return Ok(vec![AnyRef::error(error.clone()); num_results]);
    }
    if done.is_available() {
        return make();
    }
    let (promises, later): (Vec<_>, Vec<_>) = (0..num_results).map(|_| AnyRef::indirect()).unzip();
    let ctx = ctx.clone();
    done.and_then(move |done| {
        let results = match done.error_if_present() {
            Some(error) => vec![AnyRef::error(error.clone()); num_results],
            None => make()
                .unwrap_or_else(|error| vec![AnyRef::error(ctx.emit_error(error)); num_results]),
        };
        for (promise, result) in promises.into_iter().zip(results) {
            promise.forward_to(result);
        }
    });
    Ok(later)
}

/// Copies the records of a layer into its results.
fn results<T: LayerElement>(
    layer: &RecurrentLayer,
    dtype: DType,
    records: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    let RecurrentShape {
        steps,
        batch,
        hidden,
        is_batch_first,
        ..
    } = layer.shape;
    let directions = layer.is_reverse.len();
    let (y_dims, state_dims) = match is_batch_first {
        true => (
            [batch, steps, directions, hidden],
            [batch, directions, hidden],
        ),
        false => (
            [steps, directions, batch, hidden],
            [directions, batch, hidden],
        ),
    };
    let mut tensors = vec![unspecified(ctx, dtype, &y_dims)?];
    for _ in 1..num_results(layer.cell) {
        tensors.push(unspecified(ctx, dtype, &state_dims)?);
    }
    let records = records.elements::<T>()?;
    let record_len = records.len() / (directions * batch).max(1);
    with_real!(OP, dtype, N => {
        for (number, tensor) in tensors.iter_mut().enumerate() {
            let mut to = tensor.elements_mut::<N>()?;
            // Of the first result all steps, and one part each of the others.
            let (first, parts) = match number {
                0 => (0, steps),
                state => (steps + state - 1, 1),
            };
            for (index, record) in records.chunks_exact(record_len.max(1)).enumerate() {
                let (direction, row) = (index / batch, index % batch);
                let record = &record[first * hidden..][..parts * hidden];
                for (part, from) in record.chunks_exact(hidden.max(1)).enumerate() {
                    let place = match is_batch_first {
                        true => (row * parts + part) * directions + direction,
                        false => (part * directions + direction) * batch + row,
                    };
                    for (to, &from) in to[place * hidden..][..hidden].iter_mut().zip(from) {
                        *to = N::of_f64(Number::to_f64(from));
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(tensors.into_iter().map(AnyRef::available).collect())
}

/// Computes attention with a state instead of scores. Operands are queries, keys and values
/// `[batch, length, heads · size]`, the state `[batch, heads, key size, value size]`, the decay and
/// the rate of each step; the state and all following operands may be omitted. The `rule` updates
/// the state in each step: it decays for `gated` and `gated_delta`, and `delta` and `gated_delta`
/// write only the difference from the state's prediction. Returns the result and the state.
///
/// # Errors
/// If the operands do not match, or the rule does not exist.
#[tfrt_op("nn.LinearAttention")]
fn linear_attention(
    operands: &[AnyRef],
    #[attr] q_heads: i64,
    #[attr] kv_heads: i64,
    #[attr] rule: &str,
    #[attr(default = 0.0)] scale: f32,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "nn.LinearAttention";
    let slots = Slots::new(OP, operands, slots);
    let (q, k, v) = (
        slots.need(0, "q")?,
        slots.need(1, "k")?,
        slots.need(2, "v")?,
    );
    let (past, decay, rate) = (slots.get(3)?, slots.get(4)?, slots.get(5)?);
    let (decays, corrects) = match rule {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => return Err(invalid(format!("`{OP}`: unknown rule `{other}`"))),
    };
    if decays != decay.is_some() || corrects != rate.is_some() {
        return Err(invalid(format!(
            "`{OP}`: the decay and the rate do not match the rule `{rule}`"
        )));
    }
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    let (q_heads, kv_heads) = (count(q_heads), count(kv_heads));
    let refused = || {
        invalid(format!(
            "`{OP}`: {}, {} and {} are incompatible with {q_heads} query heads and {kv_heads} key \
             heads",
            q.metadata(),
            k.metadata(),
            v.metadata()
        ))
    };
    let (&[batch, len, q_wide], &[_, _, k_wide], &[_, _, v_wide]) =
        (q.shape().dims(), k.shape().dims(), v.shape().dims())
    else {
        return Err(refused());
    };
    let divides = |heads: usize, wide: usize| heads > 0 && wide.is_multiple_of(heads);
    if !divides(q_heads, q_wide)
        || !divides(kv_heads, k_wide)
        || !divides(kv_heads, v_wide)
        || !q_heads.is_multiple_of(kv_heads)
        || q_wide / q_heads != k_wide / kv_heads
        || [k.shape().dims(), v.shape().dims()]
            .iter()
            .any(|dims| dims[..2] != [batch, len])
    {
        return Err(refused());
    }
    let (key, value) = (q_wide / q_heads, v_wide / kv_heads);
    let state_dims = [batch, kv_heads, key, value];
    let sized = |tensor: &DenseHostTensor, name: &str, sizes: &[usize]| -> Result<usize> {
        match *tensor.shape().dims() {
            [b, l, wide] if (b, l) == (batch, len) && sizes.contains(&wide) => Ok(wide),
            _ => Err(invalid(format!(
                "`{OP}`: `{name}` of {} is incompatible with the other operands",
                tensor.metadata()
            ))),
        }
    };
    let numbers = |tensor: &DenseHostTensor| real_numbers(OP, tensor, ctx);
    let decay = decay.map(|decay| {
        Ok::<_, Error>((
            sized(&decay, "decay", &[kv_heads, k_wide])?,
            numbers(&decay)?,
        ))
    });
    let decay = decay.transpose()?;
    let rate = rate
        .map(|rate| Ok::<_, Error>((sized(&rate, "beta", &[kv_heads, 1])?, numbers(&rate)?)))
        .transpose()?;
    let mut present = allocate(
        ctx,
        past.as_ref().map_or(q.dtype(), DenseHostTensor::dtype),
        &state_dims,
    )?;
    let mut state = match &past {
        Some(past) if past.shape().dims() == state_dims => numbers(past)?,
        Some(past) => {
            return Err(invalid(format!(
                "`{OP}`: expected a state of shape {state_dims:?}, found {}",
                past.metadata()
            )));
        }
        None => scratch::<f64>(ctx, present.num_elements())?,
    };
    let scale = match scale {
        0.0 => 1.0 / (key as f64).sqrt(),
        scale => f64::from(scale),
    };
    let y = allocate(ctx, q.dtype(), &[batch, len, q_heads * value])?;
    let mut result = scratch::<f64>(ctx, y.num_elements())?;
    let (q_numbers, k_numbers, v_numbers) = (numbers(&q)?, numbers(&k)?, numbers(&v)?);
    for image in 0..batch {
        for head in 0..kv_heads {
            let state = &mut state[(image * kv_heads + head) * key * value..][..key * value];
            for step in 0..len {
                let row = image * len + step;
                let k = &k_numbers[row * k_wide + head * key..][..key];
                let mut v = v_numbers[row * v_wide + head * value..][..value].to_vec();
                if let Some((wide, decay)) = &decay {
                    for (at, cells) in state.chunks_exact_mut(value.max(1)).enumerate() {
                        let at = if *wide == k_wide {
                            head * key + at
                        } else {
                            head
                        };
                        let factor = decay[row * wide + at].exp();
                        cells.iter_mut().for_each(|cell| *cell *= factor);
                    }
                }
                if let Some((wide, rate)) = &rate {
                    let rate = rate[row * wide + if *wide == 1 { 0 } else { head }];
                    for (at, v) in v.iter_mut().enumerate() {
                        let said: f64 = (0..key).map(|d| state[d * value + at] * k[d]).sum();
                        *v = rate * (*v - said);
                    }
                }
                for (k, cells) in k.iter().zip(state.chunks_exact_mut(value.max(1))) {
                    for (cell, v) in cells.iter_mut().zip(&v) {
                        *cell += k * v;
                    }
                }
                let shared = q_heads / kv_heads;
                for q_head in head * shared..(head + 1) * shared {
                    let q = &q_numbers[row * q_wide + q_head * key..][..key];
                    let to = &mut result[(row * q_heads + q_head) * value..][..value];
                    for (q, cells) in q.iter().zip(state.chunks_exact(value.max(1))) {
                        for (to, cell) in to.iter_mut().zip(cells) {
                            *to += scale * q * cell;
                        }
                    }
                }
            }
        }
    }
    let y =
        with_real!(OP, q.dtype(), T => made(ctx, y.shape().dims(), |at| T::of_f64(result[at])))?;
    with_real!(OP, present.dtype(), T => {
        for (to, &value) in present.elements_mut::<T>()?.iter_mut().zip(&*state) {
            *to = T::of_f64(value);
        }
        Ok(())
    })?;
    Ok((y, present))
}

/// Convolves each channel of sequences `[batch, channels, length]` with a separate causal filter,
/// `[channels, 1, taps]`. Operands are the sequences, the filters, a bias, and the `taps - 1`
/// elements before the first; the last two may be omitted. `silu` applies `x · sigmoid(x)` to the
/// result. Returns the result and the last `taps - 1` elements.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.CausalConv")]
fn causal_conv(
    operands: &[AnyRef],
    #[attr(default = false)] silu: bool,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor)> {
    const OP: &str = "nn.CausalConv";
    let slots = Slots::new(OP, operands, slots);
    let (x, w) = (slots.need(0, "x")?, slots.need(1, "w")?);
    let (bias, past) = (slots.get(2)?, slots.get(3)?);
    let (&[batch, channels, len], &[filters, 1, taps @ 1..=usize::MAX]) =
        (x.shape().dims(), w.shape().dims())
    else {
        return Err(invalid(format!(
            "`{OP}`: filters of {} are incompatible with sequences of {}",
            w.metadata(),
            x.metadata()
        )));
    };
    let before = taps - 1;
    let fits = filters == channels
        && bias
            .as_ref()
            .is_none_or(|bias| bias.shape().dims() == [channels])
        && past
            .as_ref()
            .is_none_or(|past| past.shape().dims() == [batch, channels, before]);
    if !fits {
        return Err(invalid(format!(
            "`{OP}`: the filters, the bias or the state are incompatible with sequences of {}",
            x.metadata()
        )));
    }
    let numbers = |tensor: &DenseHostTensor| real_numbers(OP, tensor, ctx);
    let (from, w) = (numbers(&x)?, numbers(&w)?);
    let bias = bias.as_ref().map(numbers).transpose()?;
    let past = past.as_ref().map(numbers).transpose()?;
    let element = |row: usize, at: usize| match at.checked_sub(before) {
        Some(at) => from[row * len + at],
        None => past.as_ref().map_or(0.0, |past| past[row * before + at]),
    };
    with_real!(OP, x.dtype(), T => {
        let y = made(ctx, x.shape().dims(), |at| {
            let (row, step) = (at / len, at % len);
            let channel = row % channels;
            let filter = &w[channel * taps..][..taps];
            let sum: f64 = filter.iter().enumerate().map(|(tap, w)| w * element(row, step + tap)).sum();
            let sum = sum + bias.as_ref().map_or(0.0, |bias| bias[channel]);
            if silu {
                // The sum is an element of its own before the function.
                let sum = T::of_f64(sum).to_f64();
                return T::of_f64(sum / (1.0 + (-sum).exp()));
            }
            T::of_f64(sum)
        })?;
        let state = made(ctx, &[batch, channels, before], |at| {
            T::of_f64(element(at / before, len + at % before))
        })?;
        Ok((y, state))
    })
}
