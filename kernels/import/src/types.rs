//! What a model declares of its inputs, and the checks of what callers provide.

use std::collections::HashMap;
use std::fmt::Write;

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use crate::error::ImportError;
use crate::names::shown;

/// A dimension that a model declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InputDim {
    /// A number.
    Fixed(usize),
    /// A name: dimensions of one name are equal.
    Symbol(String),
    /// Any number.
    Unknown,
}

/// The declared type of a tensor.
///
/// ```
/// use tfrt_import::{InputDim, InputType};
///
/// let ids = InputType {
///     dtype: Some(tfrt_support::DType::I64),
///     dims: Some(vec![InputDim::Fixed(1), InputDim::Symbol("length".into())]),
/// };
/// assert_eq!(ids.to_string(), "i64 [1, length]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputType {
    /// The type of its elements, if it is declared.
    pub dtype: Option<DType>,
    /// Its dimensions, if their number is declared.
    pub dims: Option<Vec<InputDim>>,
}

/// The type of an input or output that is a list of tensors, or may be absent.
///
/// ```
/// use tfrt_import::ListType;
///
/// let boxes = ListType {
///     is_sequence: true,
///     is_optional: false,
///     dtype: Some(tfrt_support::DType::F32),
/// };
/// assert_eq!(boxes.form(), "sequence");
/// assert_eq!(ListType::of_form("optional sequence", None).unwrap().form(), "optional sequence");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListType {
    /// Whether it is a list.
    pub is_sequence: bool,
    /// Whether it may be absent.
    pub is_optional: bool,
    /// The element type of its tensors, if it is declared.
    pub dtype: Option<DType>,
}

impl ListType {
    /// Returns the name of its form in programs.
    #[must_use]
    pub fn form(&self) -> &'static str {
        match (self.is_optional, self.is_sequence) {
            (false, _) => "sequence",
            (true, false) => "optional",
            (true, true) => "optional sequence",
        }
    }

    /// Returns the type of a form in programs, or `None` if there is no such form.
    #[must_use]
    pub fn of_form(form: &str, dtype: Option<DType>) -> Option<Self> {
        let (is_optional, is_sequence) = match form {
            "sequence" => (false, true),
            "optional" => (true, false),
            "optional sequence" => (true, true),
            _ => return None,
        };
        Some(Self {
            is_sequence,
            is_optional,
            dtype,
        })
    }
}

impl std::fmt::Display for InputType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = match self.dtype {
            Some(dtype) => dtype.to_string(),
            None => "tensor".to_owned(),
        };
        if let Some(dims) = &self.dims {
            let dims: Vec<String> = dims
                .iter()
                .map(|dim| match dim {
                    InputDim::Fixed(extent) => extent.to_string(),
                    InputDim::Symbol(name) => shown(name).to_string(),
                    InputDim::Unknown => "?".to_owned(),
                })
                .collect();
            let _ = write!(text, " [{}]", dims.join(", "));
        }
        f.write_str(&text)
    }
}

/// Checks tensors for the inputs of a program against what the model declares.
///
/// # Errors
/// Another element type or rank, another number than the declared one, or one symbol with two
/// values.
pub(crate) fn check<'a>(
    inputs: impl Iterator<Item = (&'a str, &'a InputType, &'a DenseHostTensor)>,
) -> Result<(), ImportError> {
    let mut bound: HashMap<&str, (usize, &str)> = HashMap::new();
    for (name, declared, tensor) in inputs {
        let found = tensor.shape().dims();
        let has_dtype = declared.dtype.is_none_or(|dtype| dtype == tensor.dtype());
        let has_rank = (declared.dims.as_ref()).is_none_or(|dims| dims.len() == found.len());
        if !has_dtype || !has_rank {
            return Err(ImportError::new(format!(
                "input `{}`: expected {declared}, found {}",
                shown(name),
                tensor.metadata()
            )));
        }
        let dims = declared.dims.iter().flatten();
        for (axis, (dim, &extent)) in dims.zip(found).enumerate() {
            match dim {
                InputDim::Fixed(expected) if *expected != extent => {
                    return Err(ImportError::new(format!(
                        "input `{}`: expected {declared}, found {}: dimension {axis} differs",
                        shown(name),
                        tensor.metadata()
                    )));
                }
                InputDim::Symbol(symbol) => {
                    let &mut (first, by) = bound.entry(symbol).or_insert((extent, name));
                    if first != extent {
                        return Err(ImportError::new(format!(
                            "input `{}`: dimension {axis} (`{}`) is {extent}, but {first} by \
                             input `{}`",
                            shown(name),
                            shown(symbol),
                            shown(by)
                        )));
                    }
                }
                InputDim::Fixed(_) | InputDim::Unknown => {}
            }
        }
    }
    Ok(())
}

/// Checks a result of a program against what the model declares. A symbol stands for any extent.
///
/// # Errors
/// Another element type, rank or extent than declared.
pub(crate) fn check_output(
    name: &str,
    declared: &InputType,
    tensor: &DenseHostTensor,
) -> Result<(), ImportError> {
    let found = tensor.shape().dims();
    let has_dtype = declared.dtype.is_none_or(|dtype| dtype == tensor.dtype());
    let has_dims = declared.dims.as_ref().is_none_or(|dims| {
        let fits = |(dim, extent): (&InputDim, &usize)| match dim {
            InputDim::Fixed(expected) => expected == extent,
            InputDim::Symbol(_) | InputDim::Unknown => true,
        };
        dims.len() == found.len() && dims.iter().zip(found).all(fits)
    });
    match has_dtype && has_dims {
        true => Ok(()),
        false => Err(ImportError::new(format!(
            "output `{}`: the model declares {declared}, but computes {}",
            shown(name),
            tensor.metadata()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use tfrt_tensor::Shape;

    use super::*;

    fn declared(dims: &[InputDim]) -> InputType {
        InputType {
            dtype: Some(DType::F32),
            dims: Some(dims.to_vec()),
        }
    }

    fn zeros(dims: &[usize]) -> DenseHostTensor {
        let shape = Shape::new(dims).unwrap();
        DenseHostTensor::zeroed(&crate::malloc(), DType::F32, shape).unwrap()
    }

    #[test]
    fn inputs_must_be_what_is_declared() {
        let length = || InputDim::Symbol("length".to_owned());
        let ids = declared(&[InputDim::Fixed(1), length()]);
        let mask = declared(&[InputDim::Unknown, length()]);
        let check = |ids_dims: &[usize], mask_dims: &[usize]| {
            let (first, second) = (zeros(ids_dims), zeros(mask_dims));
            let inputs = [("ids", &ids, &first), ("mask", &mask, &second)];
            super::check(inputs.into_iter()).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[1, 64], &[7, 64]), Ok(()));
        assert_eq!(
            check(&[1, 64], &[7, 128]).unwrap_err(),
            "input `mask`: dimension 1 (`length`) is 128, but 64 by input `ids`"
        );
        assert_eq!(
            check(&[2, 64], &[7, 64]).unwrap_err(),
            "input `ids`: expected f32 [1, length], found f32 [2, 64]: dimension 0 differs"
        );
        assert_eq!(
            check(&[64], &[7, 64]).unwrap_err(),
            "input `ids`: expected f32 [1, length], found f32 [64]"
        );
    }
}
