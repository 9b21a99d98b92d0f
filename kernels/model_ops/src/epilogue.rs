//! What convolutions and products do to each element of their results: a summand and a function.
//!
//! If the summand has the shape of the result, both are part of the kernel. Otherwise they follow
//! it.

use tfrt::prelude::*;
use tfrt_compute::Activation;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::broadcast::Broadcast;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::{Slots, dense, invalid, unspecified};

/// The slot of the summand.
const SUMMAND: usize = 3;

/// A summand and a function.
pub(crate) struct Epilogue {
    op: &'static str,
    summand: Option<DenseHostTensor>,
    /// Whether the memory of the summand may be reused for the result.
    is_free: bool,
    activation: Activation,
}

impl Epilogue {
    /// Returns what an op does to its result.
    pub(crate) fn new(
        slots: &Slots<'_>,
        activation: Option<&str>,
        alpha: f32,
        beta: f32,
    ) -> Result<Self> {
        let op = slots.op;
        let activation = match activation {
            None => Activation::None,
            Some(name) => activation_of(name, alpha, beta)
                .ok_or_else(|| invalid(format!("`{op}`: unknown activation `{name}`")))?,
        };
        let operand = slots.operand(SUMMAND);
        let is_free = operand.is_some_and(is_unshared);
        Ok(Self {
            op,
            summand: operand.map(dense).transpose()?,
            is_free,
            activation,
        })
    }

    /// Returns `true` if there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.summand.is_none() && self.activation == Activation::None
    }

    /// Checks that a result of this type can be worked on.
    pub(crate) fn check(&self, dtype: DType) -> Result<()> {
        let is_single = dtype == DType::F32;
        let fits = (self.summand.iter()).all(|summand| summand.dtype() == dtype);
        match self.is_empty() || (is_single && fits) {
            true => Ok(()),
            false => Err(invalid(format!(
                "`{}`: a summand or an activation needs elements of type f32, found {dtype}",
                self.op
            ))),
        }
    }

    /// Returns memory for a result, and what is left to be done by the kernel: whether it adds to
    /// the content of the memory, and the function that it applies.
    pub(crate) fn begin(
        &mut self,
        dims: &[usize],
        ctx: &ExecutionContext,
    ) -> Result<(DenseHostTensor, bool, Activation)> {
        match self
            .summand
            .take_if(|summand| summand.shape().dims() == dims)
        {
            Some(summand) => {
                let result = match self.is_free {
                    true => summand,
                    false => copied(&summand, ctx)?,
                };
                let activation = std::mem::take(&mut self.activation);
                Ok((result, true, activation))
            }
            None => {
                let activation = match self.summand {
                    Some(_) => Activation::None,
                    None => std::mem::take(&mut self.activation),
                };
                Ok((unspecified(ctx, DType::F32, dims)?, false, activation))
            }
        }
    }

    /// Does what the kernel has not done.
    pub(crate) fn finish(
        self,
        result: DenseHostTensor,
        ctx: &ExecutionContext,
    ) -> Result<DenseHostTensor> {
        if self.is_empty() {
            return Ok(result);
        }
        self.check(result.dtype())?;
        let mut result = match &self.summand {
            Some(summand) => sum(self.op, &result, summand, ctx)?,
            None => result,
        };
        self.activation
            .apply_in_place(&mut result.elements_mut::<f32>()?);
        Ok(result)
    }
}

/// Returns the sum of two tensors, broadcast to one shape.
fn sum(
    op: &'static str,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let dims = crate::pairs::common(op, a.shape().dims(), b.shape().dims())?;
    let broadcast = Broadcast::new(a.shape().dims(), b.shape().dims())?;
    let mut result = unspecified(ctx, DType::F32, &dims)?;
    let (a, b) = (a.elements::<f32>()?, b.elements::<f32>()?);
    binary::broadcast(Binary::Add, &broadcast, &a, &b, &mut result.elements_mut()?)?;
    Ok(result)
}

/// Returns `true` if nothing else uses the memory of an operand.
pub(crate) fn is_unshared(operand: &AnyRef) -> bool {
    let tensor = operand.try_read::<DenseHostTensor>();
    operand.is_unique_through_links() && tensor.is_ok_and(|tensor| tensor.is_exclusive())
}

/// Returns a copy of a tensor.
pub(crate) fn copied(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let mut copy = unspecified(ctx, x.dtype(), x.shape().dims())?;
    copy.buffer_mut()
        .write()?
        .copy_from_slice(&x.buffer().read()?);
    Ok(copy)
}

/// Applies a function to the elements of an operand of single precision, in its own memory if
/// nothing else uses it.
pub(crate) fn applied(
    operand: &AnyRef,
    activation: Activation,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let is_free = is_unshared(operand);
    let x = dense(operand)?;
    let mut y = match is_free {
        true => x,
        false => copied(&x, ctx)?,
    };
    activation.apply_in_place(&mut y.elements_mut::<f32>()?);
    Ok(y)
}

/// Returns the function of a name.
pub(crate) fn activation_of(name: &str, alpha: f32, beta: f32) -> Option<Activation> {
    Some(match name {
        "relu" => Activation::Relu,
        "clip" => Activation::Clip(alpha, beta),
        "elu" if alpha == 1.0 => Activation::Elu,
        "leaky_relu" => Activation::LeakyRelu(alpha),
        "sigmoid" => Activation::Sigmoid,
        "tanh" => Activation::Tanh,
        "hard_sigmoid" => Activation::HardSigmoid(alpha, beta),
        "hard_swish" => Activation::HardSwish,
        "swish" => Activation::Swish(alpha),
        "gelu" => Activation::Gelu,
        "gelu_tanh" => Activation::GeluTanh,
        "mish" => Activation::Mish,
        "softplus" => Activation::Softplus,
        _ => return None,
    })
}

/// Returns the elements of a bias of single precision for this many channels.
pub(crate) fn bias_of(
    op: &str,
    bias: Option<&DenseHostTensor>,
    channels: usize,
) -> Result<Option<Vec<f32>>> {
    let Some(bias) = bias else {
        return Ok(None);
    };
    if bias.dtype() != DType::F32 || bias.shape() != &Shape::new(&[channels])? {
        return Err(invalid(format!(
            "`{op}`: expected a bias of f32 [{channels}], found {}",
            bias.metadata()
        )));
    }
    Ok(Some(bias.elements::<f32>()?.to_vec()))
}
