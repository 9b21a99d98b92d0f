//! Recurrent layers.

use tfrt::prelude::*;
use tfrt_compute::recurrent::{
    Recurrent, RecurrentCell, RecurrentShape, RecurrentState, RecurrentWeights,
};
use tfrt_tensor::DenseHostTensor;

use crate::element_wise::activation_of;
use crate::number::{Number, with_real};
use crate::{Slots, allocate, invalid, made, real_numbers, whole_numbers};

/// A function of a gate's argument.
type Function = Box<dyn Fn(f64) -> f64>;

/// Returns the functions of a layer, by the names that attributes list.
fn functions(
    op: &str,
    names: &str,
    alphas: Option<&[f32]>,
    betas: Option<&[f32]>,
    count: usize,
) -> Result<Vec<Function>> {
    let mut alphas = alphas.unwrap_or_default().iter().copied().map(f64::from);
    let mut betas = betas.unwrap_or_default().iter().copied().map(f64::from);
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
            _ => return Err(invalid(format!("`{op}`: unknown function `{name}`"))),
        };
        let function = activation_of(known)
            .ok_or_else(|| invalid(format!("`{op}`: unknown function `{name}`")))?;
        let alpha = alpha.map(|missing| alphas.next().unwrap_or(missing));
        let beta = beta.map(|missing| betas.next().unwrap_or(missing));
        let (alpha, beta) = (alpha.unwrap_or(0.0), beta.unwrap_or(0.0));
        Ok(Box::new(move |x: f64| function(x, alpha, beta)) as Function)
    });
    let functions = functions.collect::<Result<Vec<_>>>()?;
    if functions.len() == count {
        return Ok(functions);
    }
    Err(invalid(format!(
        "`{op}`: expected {count} activation functions, found {}",
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
    const OP: &str = "nn.Recurrent";
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
    let numbers = |slot: usize, dims: &[usize], name: &str| -> Result<Vec<f64>> {
        match slots.get(slot)? {
            None => Ok(Vec::new()),
            Some(found) if found.shape().dims() == dims => real_numbers(OP, &found),
            Some(found) => Err(invalid(format!(
                "`{OP}`: expected `{name}` of shape {dims:?}, found {}",
                found.metadata()
            ))),
        }
    };
    let state_dims = match batch_first {
        true => [batch, num_directions, hidden],
        false => [num_directions, batch, hidden],
    };
    let is_long_short = matches!(cell, RecurrentCell::LongShort { .. });
    let bias = numbers(3, &[num_directions, 2 * wide], "bias")?;
    let lengths = match slots.get(4)? {
        None => vec![steps; batch],
        Some(lengths) => crate::extents(OP, &whole_numbers(OP, &lengths)?)?,
    };
    let states = numbers(5, &state_dims, "initial_h")?;
    let memories = numbers(6, &state_dims, "initial_c")?;
    let peepholes = numbers(7, &[num_directions, 3 * hidden], "peepholes")?;
    let (w, r) = (real_numbers(OP, &w)?, real_numbers(OP, &r)?);
    let all = functions(
        OP,
        activations,
        alphas,
        betas,
        cell.activations() * num_directions,
    )?;
    // The steps outside, the batch inside.
    let mut sequences = real_numbers(OP, &x)?;
    if batch_first {
        let from = std::mem::take(&mut sequences);
        for step in 0..steps {
            for row in 0..batch {
                sequences.extend_from_slice(&from[(row * steps + step) * input..][..input]);
            }
        }
    }
    let y_dims = match batch_first {
        true => [batch, steps, num_directions, hidden],
        false => [steps, num_directions, batch, hidden],
    };
    let mut tensors = vec![allocate(ctx, x.dtype(), &y_dims)?];
    for _ in 0..if is_long_short { 2 } else { 1 } {
        tensors.push(allocate(ctx, x.dtype(), &state_dims)?);
    }
    let size = batch * hidden;
    for (number, &is_reverse) in directions.iter().enumerate() {
        let part = |numbers: &[f64]| -> Vec<f64> {
            if numbers.is_empty() {
                return vec![0.0; size];
            }
            let row = |row: usize| match batch_first {
                true => &numbers[(row * num_directions + number) * hidden..][..hidden],
                false => &numbers[(number * batch + row) * hidden..][..hidden],
            };
            (0..batch).flat_map(row).copied().collect()
        };
        let own = |numbers: &'_ [f64], len: usize| -> Vec<f64> {
            numbers
                .get(number * len..)
                .unwrap_or_default()
                .iter()
                .take(len)
                .copied()
                .collect()
        };
        let activations: Vec<&dyn Fn(f64) -> f64> = all[number * cell.activations()..]
            [..cell.activations()]
            .iter()
            .map(|function| &**function)
            .collect();
        let (own_bias, own_peepholes) = (own(&bias, 2 * wide), own(&peepholes, 3 * hidden));
        let layer = Recurrent {
            cell,
            shape: RecurrentShape {
                steps,
                batch,
                input,
                hidden,
            },
            weights: RecurrentWeights {
                input: &w[number * wide * input..][..wide * input],
                state: &r[number * wide * hidden..][..wide * hidden],
                bias: &own_bias,
                peepholes: &own_peepholes,
            },
            activations: &activations,
            clip: (clip > 0.0).then_some(f64::from(clip)),
            is_reverse,
        };
        let (mut state, mut memory) = (part(&states), part(&memories));
        let mut y = vec![0.0; steps * size];
        let before = RecurrentState {
            hidden: &mut state,
            memory: &mut memory,
        };
        layer.run(&sequences, &lengths, before, &mut y)?;
        with_real!(OP, x.dtype(), T => {
            for (tensor, numbers) in tensors.iter_mut().zip([&y, &state, &memory]) {
                let is_y = std::ptr::eq(numbers, &y);
                let mut to = tensor.elements_mut::<T>()?;
                for (at, &value) in numbers.iter().enumerate() {
                    let (step, row, unit) = (at / size, at / hidden % batch, at % hidden);
                    let place = match (is_y, batch_first) {
                        (true, true) => ((row * steps + step) * num_directions + number) * hidden,
                        (true, false) => ((step * num_directions + number) * batch + row) * hidden,
                        (false, true) => (row * num_directions + number) * hidden,
                        (false, false) => (number * batch + row) * hidden,
                    };
                    to[place + unit] = T::of_f64(value);
                }
            }
            Ok(())
        })?;
    }
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
    let numbers = |tensor: &DenseHostTensor| real_numbers(OP, tensor);
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
        None => vec![0.0; present.num_elements()],
    };
    let scale = match scale {
        0.0 => 1.0 / (key as f64).sqrt(),
        scale => f64::from(scale),
    };
    let y = allocate(ctx, q.dtype(), &[batch, len, q_heads * value])?;
    let mut result = vec![0.0; y.num_elements()];
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
        for (to, &value) in present.elements_mut::<T>()?.iter_mut().zip(&state) {
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
    let numbers = |tensor: &DenseHostTensor| real_numbers(OP, tensor);
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
