//! Conversions between element types.

use half::{bf16, f16};
use tfrt::core::metadata::partial::PartialMetadata;
use tfrt::prelude::*;
use tfrt_compute::cast::{self, Half};
use tfrt_tensor::{DenseHostTensor, Element, I1};

use super::{allocate, invalid, unsupported_dtype, with_dtype};

/// Converts numbers to the elements of a tensor.
macro_rules! narrow {
    ($wide:expr, $result:expr) => {
        with_dtype!(
            $result.dtype(),
            U in [u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64] => {
                cast::cast($wide, &mut $result.elements_mut::<U>()?);
                Ok(())
            },
            else if $result.dtype() == DType::I1 {
                let mut truths = vec![false; $result.num_elements()];
                cast::cast($wide, &mut truths);
                for (to, truth) in $result.elements_mut::<I1>()?.iter_mut().zip(truths) {
                    *to = I1::from(truth);
                }
                Ok(())
            } else {
                Err(unsupported_dtype("tfrt.Cast", $result.dtype()))
            }
        )
    };
}

/// Converts elements to the type that `DstT` names. Numbers that do not fit become the nearest
/// value that does, NaN becomes 0, integers keep their low bits; a Boolean is 0 or 1, and a number
/// is true if it is not zero. `tf.Cast` has only metadata, as in the reference.
///
/// # Errors
/// `cannot get destination type`; if one of the types does not support this conversion.
#[tfrt_op("tfrt.Cast", metadata = cast_metadata, partial = partial_cast, function = cast)]
pub fn compute_cast(
    x: &DenseHostTensor,
    #[attr("DstT")] dst_t: Option<DType>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let to = cast_metadata(&x.metadata(), dst_t)?.dtype;
    if to.size_bytes().is_none() {
        return Err(unsupported_dtype("tfrt.Cast", to));
    }
    let mut result = allocate(to, x.shape().clone(), ctx)?;
    if cast_at_once(x, &mut result)? {
        return Ok(result);
    }
    // By way of the widest type, which holds every value of `x`: so there is one loop for each type
    // rather than for each pair.
    with_dtype!(
        x.dtype(),
        T in [u8, u16, u32, u64] => narrow!(&widened::<T, u64>(x)?, result)?,
        else with_dtype!(
            x.dtype(),
            T in [i8, i16, i32, i64] => narrow!(&widened::<T, i64>(x)?, result)?,
            else with_dtype!(
                x.dtype(),
                T in [f16, bf16, f32, f64] => narrow!(&widened::<T, f64>(x)?, result)?,
                else if x.dtype() == DType::I1 {
                    let truths = x.elements::<I1>()?;
                    let truths = truths.iter().map(|&truth| u64::from(bool::from(truth)));
                    narrow!(&truths.collect::<Vec<_>>(), result)?;
                } else {
                    return Err(unsupported_dtype("tfrt.Cast", x.dtype()));
                }
            )
        )
    );
    Ok(result)
}

/// Converts elements without another tensor in between, if models often convert between these
/// types.
fn cast_at_once(x: &DenseHostTensor, result: &mut DenseHostTensor) -> Result<bool> {
    macro_rules! direct {
        ($T:ty, $U:ty, $routine:path) => {
            $routine(&x.elements::<$T>()?, &mut result.elements_mut::<$U>()?)
        };
    }
    match (x.dtype(), result.dtype()) {
        (DType::F16, DType::F32) => direct!(f16, f32, f16::widen),
        (DType::F32, DType::F16) => direct!(f32, f16, f16::narrow),
        (DType::Bf16, DType::F32) => direct!(bf16, f32, bf16::widen),
        (DType::F32, DType::Bf16) => direct!(f32, bf16, bf16::narrow),
        (DType::F32, DType::I64) => direct!(f32, i64, cast::cast),
        (DType::I64, DType::F32) => direct!(i64, f32, cast::cast),
        (DType::I64, DType::I32) => direct!(i64, i32, cast::cast),
        (DType::I32, DType::F32) => direct!(i32, f32, cast::cast),
        (DType::I32, DType::I64) => direct!(i32, i64, cast::cast),
        _ => return Ok(false),
    }
    Ok(true)
}

fn partial_cast(x: &PartialMetadata, dst_t: Option<DType>) -> Result<PartialMetadata> {
    let dtype = dst_t.ok_or_else(|| invalid("cannot get destination type"))?;
    Ok(PartialMetadata {
        dtype: Some(dtype),
        ..x.clone()
    })
}

fn cast_metadata(x: &TensorMetadata, dst_t: Option<DType>) -> Result<TensorMetadata> {
    let dtype = dst_t.ok_or_else(|| invalid("cannot get destination type"))?;
    Ok(TensorMetadata { dtype, ..x.clone() })
}

fn widened<T: Element + cast::CastTo<W>, W: Default + Clone>(
    x: &DenseHostTensor,
) -> Result<Vec<W>> {
    let x = x.elements::<T>()?;
    let mut wide = vec![W::default(); x.len()];
    cast::cast(&x, &mut wide);
    Ok(wide)
}
