//! Tensors that no operand determines, or only by its shape.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;
use tfrt_import::report::UnsupportedKind;
use tfrt_tensor::DenseHostTensor;

use super::super::Known;
use super::super::call::scalar;
use super::{Call, Family, Lowered, one};
use crate::element_type::ElementType;

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("Constant", constant),
    ("ConstantOfShape", constant_of_shape),
    ("EyeLike", eye_like),
];

fn constant_of_shape(call: &mut Call<'_, '_>) -> Lowered {
    let value = match call.tensor("value") {
        Some(tensor) => tensor.dense().cloned(),
        None => Some(scalar(0.0_f32)?),
    };
    let Some(value) = value else {
        call.reason = Some((
            UnsupportedKind::Type,
            "ConstantOfShape of an unsupported type".to_owned(),
        ));
        return Ok(None);
    };
    let (shape, value) = (call.operand(0)?, call.weight(value));
    one(call.emit_one("nn.Fill", &[shape, value], &[]))
}

fn eye_like(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = vec![("k", Attr::Int(call.int("k").unwrap_or(0)))];
    if let Some(code) = call.int("dtype") {
        let dtype = i32::try_from(code).ok().and_then(ElementType::from_code);
        let Some(dtype) = dtype.and_then(ElementType::dtype) else {
            call.reason = Some((
                UnsupportedKind::Type,
                "EyeLike of an unsupported type".to_owned(),
            ));
            return Ok(None);
        };
        attrs.push(("dtype", Attr::Type(dtype)));
    }
    let x = call.operand(0)?;
    one(call.emit_one("nn.EyeLike", &[x], &attrs))
}

/// The attributes that are the value of a constant, each in a form of its own.
const FORMS: &[&str] = &[
    "sparse_value",
    "value",
    "value_float",
    "value_floats",
    "value_int",
    "value_ints",
    "value_string",
    "value_strings",
];

/// Returns the value of a constant, in whichever of its forms.
fn constant(call: &mut Call<'_, '_>) -> Lowered {
    let failed = |error: tfrt_tensor::TensorError| ImportError::new(error.to_string());
    let of = |tensor: DenseHostTensor| -> Lowered {
        Ok(Some(vec![Known::Constant(crate::tensor::Tensor::of(
            "", tensor,
        )?)]))
    };
    let given = FORMS.iter().filter(|name| call.attribute(name).is_some());
    let given: Vec<&&str> = given.collect();
    if let [first, second, ..] = given[..] {
        return Err(ImportError::new(format!(
            "expected one value, found the attributes `{first}` and `{second}`"
        )));
    }
    for name in ["value", "sparse_value"] {
        if let Some(tensor) = call.tensor(name) {
            if tensor.dense().is_none() || !tensor.element_type.is_supported() {
                call.reason = Some((
                    UnsupportedKind::Type,
                    format!("tensors of {}", tensor.element_type),
                ));
                return Ok(None);
            }
            return Ok(Some(vec![Known::Constant(tensor.clone())]));
        }
    }
    if let Some(value) = call.float("value_float") {
        return of(scalar(value)?);
    }
    if let Some(value) = call.int("value_int") {
        return of(scalar(value)?);
    }
    if let Some(values) = call.floats("value_floats") {
        return of(DenseHostTensor::vector(values).map_err(failed)?);
    }
    if let Some(values) = call.ints("value_ints") {
        return of(DenseHostTensor::vector(values).map_err(failed)?);
    }
    call.reason = Some((UnsupportedKind::Type, "Constant of strings".to_owned()));
    Ok(None)
}
