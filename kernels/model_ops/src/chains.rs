//! Chains of element-wise functions in one pass over memory.
//!
//! ```text
//!  for each block of the result:   operands ──► step 0 ──► step 1 ──► … ──► last step ──► result
//!                                               └─ registers of a block, in the cache ─┘
//! ```
//!
//! Steps are those of the ops that they replace, on the same routines, so that no bit differs.

use std::ops::Range;

use tfrt::prelude::*;
use tfrt_compute::Activation;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::unary::{self, Unary};
use tfrt_kernels::numeric::{after, start_rows};
use tfrt_tensor::{DenseHostTensor, OwnedElements};

use crate::epilogue::activation_of;
use crate::pairs::common;
use crate::shapes::stretched;
use crate::{dense, invalid, product, unspecified};

/// The elements of a block: a register is 2 KiB, so that those of a chain fit into the cache.
const BLOCK: usize = 512;

/// The most steps of a chain.
const MAX_STEPS: usize = 64;

/// What a step does.
#[derive(Clone, Copy)]
enum Function {
    Binary(Binary),
    Extreme { is_greater: bool },
    Unary(Unary),
    Activation(Activation),
    Reciprocal,
}

impl Function {
    fn of_name(name: &str, alpha: f32, beta: f32) -> Option<Self> {
        Some(match name {
            "add" => Self::Binary(Binary::Add),
            "sub" => Self::Binary(Binary::Sub),
            "mul" => Self::Binary(Binary::Mul),
            "div" => Self::Binary(Binary::Div),
            "max" => Self::Extreme { is_greater: true },
            "min" => Self::Extreme { is_greater: false },
            "abs" => Self::Unary(Unary::Abs),
            "exp" => Self::Unary(Unary::Exp),
            "log" => Self::Unary(Unary::Ln),
            "neg" => Self::Unary(Unary::Neg),
            "sigmoid" => Self::Unary(Unary::Sigmoid),
            "sqrt" => Self::Unary(Unary::Sqrt),
            "tanh" => Self::Unary(Unary::Tanh),
            "erf" => Self::Activation(Activation::Erf),
            "reciprocal" => Self::Reciprocal,
            other => Self::Activation(activation_of(other, alpha, beta)?),
        })
    }

    /// Applies the function. Sides of functions of two tensors may have a single element.
    fn apply(self, left: &[f32], right: &[f32], to: &mut [f32]) {
        match self {
            Self::Binary(function) => binary::stretch(function, left, right, to),
            Self::Extreme { is_greater } => {
                let at = |side: &[f32], at: usize| side[if side.len() == 1 { 0 } else { at }];
                for (index, to) in to.iter_mut().enumerate() {
                    *to = extreme(at(left, index), at(right, index), is_greater);
                }
            }
            _ if left.len() < to.len() => {
                let mut single = [0.0];
                self.apply(left, left, &mut single);
                to.fill(single[0]);
            }
            Self::Unary(function) => unary::apply(function, left, to),
            Self::Activation(function) => {
                to.copy_from_slice(left);
                function.apply_in_place(to);
            }
            Self::Reciprocal => {
                for (to, &x) in to.iter_mut().zip(left) {
                    *to = (1.0 / f64::from(x)) as f32;
                }
            }
        }
    }
}

/// Returns the greater or lesser number, or NaN if one of them is NaN, as `nn.Max` and `nn.Min` do.
fn extreme(a: f32, b: f32, is_greater: bool) -> f32 {
    if a.is_nan() || (!b.is_nan() && (a > b) == is_greater) {
        return a;
    }
    b
}

/// A value that a step reads.
#[derive(Clone, Copy)]
enum Source {
    Operand(usize),
    Step(usize),
}

struct Step {
    function: Function,
    left: Source,
    right: Source,
}

/// Returns the steps that attributes describe.
fn steps_of(
    op: &str,
    functions: &str,
    arguments: &[i64],
    numbers: &[f32],
    num_operands: usize,
) -> Result<Vec<Step>> {
    let names: Vec<&str> = functions.split(' ').collect();
    let len = names.len();
    if len > MAX_STEPS || arguments.len() != 2 * len || numbers.len() != 2 * len {
        return Err(invalid(format!(
            "`{op}`: expected two arguments and two numbers for each of at most {MAX_STEPS} \
             functions, found {} and {} for {len}",
            arguments.len(),
            numbers.len()
        )));
    }
    let steps = names.into_iter().enumerate().map(|(at, name)| {
        let source = |argument: i64| {
            let found = match usize::try_from(argument) {
                Ok(operand) => (operand < num_operands).then_some(Source::Operand(operand)),
                Err(_) => {
                    let step = usize::try_from(-1 - argument).unwrap_or(usize::MAX);
                    (step < at).then_some(Source::Step(step))
                }
            };
            found.ok_or_else(|| {
                invalid(format!(
                    "`{op}`: step {at}: there is no value {argument} before it"
                ))
            })
        };
        let function = Function::of_name(name, numbers[2 * at], numbers[2 * at + 1])
            .ok_or_else(|| invalid(format!("`{op}`: unknown function `{name}`")))?;
        Ok(Step {
            function,
            left: source(arguments[2 * at])?,
            right: source(arguments[2 * at + 1])?,
        })
    });
    steps.collect()
}

/// The elements of an operand in the order of the result.
struct Operand {
    elements: OwnedElements<f32>,
    place: Place,
}

/// Where the element for the position `i` of the result is.
#[derive(Clone, Copy)]
enum Place {
    /// At `i`.
    Same,
    /// Everywhere the only one.
    Single,
    /// At `i / inner % len`.
    Repeated { inner: usize },
}

impl Place {
    /// Returns the place for an operand of these dimensions; `None` if it must be stretched first.
    fn of(own: &[usize], dims: &[usize]) -> Option<Self> {
        if own == dims {
            return Some(Self::Same);
        }
        if own.iter().all(|&extent| extent == 1) {
            return Some(Self::Single);
        }
        // Extents of 1 before and behind the others.
        let missing = dims.len().checked_sub(own.len())?;
        let first = own.iter().position(|&extent| extent != 1)?;
        let last = own.iter().rposition(|&extent| extent != 1)?;
        let is_whole = own[first..=last] == dims[missing + first..=missing + last];
        is_whole.then(|| Self::Repeated {
            inner: product(&dims[missing + last + 1..]),
        })
    }
}

impl Operand {
    fn new(x: &DenseHostTensor, dims: &[usize], ctx: &ExecutionContext) -> Result<Self> {
        const OP: &str = "nn.ElementWise";
        let (x, place) = match Place::of(x.shape().dims(), dims) {
            Some(place) => (x.clone(), place),
            None => (stretched(OP, x, dims, ctx)?, Place::Same),
        };
        Ok(Self {
            elements: x.elements_owned()?,
            place,
        })
    }

    /// Returns the elements for a block, which may be a single one.
    fn block<'a>(&'a self, at: Range<usize>, copy: &'a mut Vec<f32>) -> &'a [f32] {
        let inner = match self.place {
            Place::Same => return &self.elements[at],
            Place::Single => return &self.elements[..1],
            Place::Repeated { inner } => inner,
        };
        copy.clear();
        let mut next = at.start;
        while next < at.end {
            let index = next / inner % self.elements.len();
            if inner == 1 {
                let len = (at.end - next).min(self.elements.len() - index);
                copy.extend_from_slice(&self.elements[index..index + len]);
                next += len;
            } else {
                let end = (next / inner + 1).saturating_mul(inner).min(at.end);
                copy.resize(copy.len() + (end - next), self.elements[index]);
                next = end;
            }
        }
        copy
    }
}

/// Computes a chain of functions of elements, on operands of single precision that are broadcast to
/// one shape. Step `i` applies the `i`-th of `functions`, which spaces separate, to two of
/// `arguments`: `n` is the operand `n`, and `-1 - n` the result of step `n`. Two of `numbers` are
/// its parameters. Functions of one element ignore their second argument. The result is that of the
/// last step.
///
/// # Errors
/// If the operands or attributes do not match.
#[tfrt_op("nn.ElementWise")]
fn element_wise(
    operands: &[AnyRef],
    #[attr] functions: &str,
    #[attr] arguments: &[i64],
    #[attr] numbers: &[f32],
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.ElementWise";
    let steps = steps_of(OP, functions, arguments, numbers, operands.len())?;
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let mut dims = Vec::new();
    for tensor in &tensors {
        if tensor.dtype() != DType::F32 {
            return Err(invalid(format!(
                "`{OP}`: expected operands of f32, found {}",
                tensor.metadata()
            )));
        }
        dims = common(OP, &dims, tensor.shape().dims())?;
    }
    let mut y = unspecified(ctx, DType::F32, &dims)?;
    if y.num_elements() == 0 {
        return Ok(AnyRef::available(y));
    }
    let tensors = tensors.iter();
    let operands = tensors.map(|tensor| Operand::new(tensor, &dims, ctx));
    let operands = operands.collect::<Result<Vec<_>>>()?;
    let output = y.elements_mut_owned::<f32>()?;
    let operations = output.len().saturating_mul(steps.len());
    let done = start_rows(ctx, output, 1, operations, move |range, part| {
        let mut copies = vec![Vec::new(); operands.len()];
        let mut registers = vec![vec![0.0; BLOCK]; steps.len() - 1];
        for (block, to) in part.chunks_mut(BLOCK).enumerate() {
            let start = range.start + block * BLOCK;
            compute(&steps, &operands, start, &mut copies, &mut registers, to);
        }
    })?;
    Ok(after(done, y))
}

/// Computes a block of the result.
fn compute(
    steps: &[Step],
    operands: &[Operand],
    start: usize,
    copies: &mut [Vec<f32>],
    registers: &mut [Vec<f32>],
    to: &mut [f32],
) {
    let at = start..start + to.len();
    let sources: Vec<&[f32]> = operands
        .iter()
        .zip(copies)
        .map(|(operand, copy)| operand.block(at.clone(), copy))
        .collect();
    let (last, others) = steps.split_last().expect("a chain has a step");
    for (number, step) in others.iter().enumerate() {
        let (before, rest) = registers.split_at_mut(number);
        let value = |source: Source| match source {
            Source::Operand(operand) => sources[operand],
            Source::Step(step) => &before[step][..at.len()],
        };
        let (left, right) = (value(step.left), value(step.right));
        step.function.apply(left, right, &mut rest[0][..at.len()]);
    }
    let value = |source: Source| match source {
        Source::Operand(operand) => sources[operand],
        Source::Step(step) => &registers[step][..at.len()],
    };
    last.function.apply(value(last.left), value(last.right), to);
}
