//! Inputs and outputs of models: files, literals, and numbers that are made.

use std::path::Path;
use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_import::names::shown;
use tfrt_import::{InputDim, InputType, Limits, ModelValue};
use tfrt_onnx::graph::ValueType;
use tfrt_onnx::tensor_file;
use tfrt_support::DType;
use tfrt_support::escape::escaped;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_tensor::file::{FileError, FileFormat, NamedTensor};
use tfrt_tensor::half::{bf16, f16};
use tfrt_tensor::statistics::Statistics;
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, I1, Shape, Tensor};

use crate::failure::Failure;
use crate::output;

/// The number of elements that the summary of an output shows.
const MAX_SHOWN_ELEMENTS: usize = 6;

/// The deepest nesting of lists in a literal.
const MAX_LITERAL_DEPTH: usize = 32;

/// What a model says of an input or output.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredValue {
    pub(crate) name: String,
    /// The declaration, for messages.
    pub(crate) shown: String,
    /// Its type in ONNX, which says what a file contains.
    pub(crate) ty: ValueType,
}

/// How the numbers of an input are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Zeros,
    Random(u64),
}

impl Made {
    /// Returns what a value of an option asks for, unless it is a file or a literal.
    fn of(given: &str) -> Option<Self> {
        match given {
            "zeros" => Some(Self::Zeros),
            "random" => Some(Self::Random(1)),
            _ => given
                .strip_prefix("random:")?
                .parse()
                .ok()
                .map(Self::Random),
        }
    }

    /// Returns a tensor of the declared type: zeros, or random numbers that depend only on the
    /// seed, from -1 to 1, or 0 and 1 for integers.
    pub(crate) fn tensor(
        self,
        declared: Option<&InputType>,
        bound: &[String],
    ) -> Result<DenseHostTensor, String> {
        let dims = declared.and_then(|declared| declared.dims.as_ref());
        let (Some(dims), Some(dtype)) = (dims, declared.and_then(|declared| declared.dtype)) else {
            return Err("the model does not declare its element type and shape".to_owned());
        };
        let extents = dims.iter().map(|dim| extent_of(dim, bound));
        let extents = extents.collect::<Result<Vec<usize>, _>>()?;
        let shape = Shape::new(&extents).map_err(|error| error.to_string())?;
        let Self::Random(seed) = self else {
            let zeros = DenseHostTensor::zeroed(&malloc(), dtype, shape);
            return zeros.map_err(|error| error.to_string());
        };
        let mut state = seed;
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 40
        };
        macro_rules! made {
            ($($dtype:ident => $number:expr),* $(,)?) => {
                match dtype {
                    $(DType::$dtype => {
                        let number = $number;
                        DenseHostTensor::from_fn(&malloc(), shape, |_| number(next()))
                    })*
                    other => {
                        return Err(format!("random numbers of type {other} are not supported"));
                    }
                }
            };
        }
        let real = |bits: u64| bits as f64 / f64::from(1 << 23) - 1.0;
        let tensor = made! {
            F32 => |bits| real(bits) as f32,
            F64 => real,
            F16 => |bits| f16::from_f64(real(bits)),
            Bf16 => |bits| bf16::from_f64(real(bits)),
            I64 => |bits: u64| (bits % 2) as i64,
            I32 => |bits: u64| (bits % 2) as i32,
            I16 => |bits: u64| (bits % 2) as i16,
            I8 => |bits: u64| (bits % 2) as i8,
            Ui64 => |bits: u64| bits % 2,
            Ui32 => |bits: u64| (bits % 2) as u32,
            Ui16 => |bits: u64| (bits % 2) as u16,
            Ui8 => |bits: u64| (bits % 2) as u8,
            I1 => |bits: u64| I1::from(bits % 2 == 1),
        };
        tensor.map_err(|error| error.to_string())
    }
}

fn extent_of(dim: &InputDim, bound: &[String]) -> Result<usize, String> {
    let name = match dim {
        InputDim::Fixed(extent) => return Ok(*extent),
        InputDim::Unknown => return Ok(1),
        InputDim::Symbol(name) => name,
    };
    let value = bound
        .iter()
        .find_map(|bound| bound.strip_prefix(name.as_str())?.strip_prefix('='));
    match value.map(str::parse) {
        None => Ok(1),
        Some(Ok(extent)) => Ok(extent),
        Some(Err(_)) => Err(format!("`--dim {}` is not a number", shown(name))),
    }
}

fn malloc() -> Arc<dyn HostAllocator> {
    Arc::new(Malloc)
}

/// Returns the value of an option `--input NAME=VALUE`.
pub(crate) fn read(
    given: &str,
    ty: &ValueType,
    declared: Option<&InputType>,
    dims: &[String],
    limits: &Limits,
) -> Result<ModelValue, Failure> {
    if let Some(made) = Made::of(given) {
        let tensor = made.tensor(declared, dims);
        return Ok(tensor
            .map_err(|what| Failure::new(format!("error: `{}`: {what}", escaped(given))))?
            .into());
    }
    let first = given.bytes().next();
    let is_literal = matches!(given, "true" | "false")
        || first.is_some_and(|byte| byte == b'[' || byte == b'-' || byte.is_ascii_digit());
    // A file may have such a name, too.
    if is_literal && !Path::new(given.split('#').next().unwrap_or(given)).exists() {
        let dtype = declared.and_then(|declared| declared.dtype);
        let tensor = literal(given, dtype);
        return Ok(tensor
            .map_err(|what| Failure::new(format!("error: `{}`: {what}", escaped(given))))?
            .into());
    }
    read_file(given, ty, limits)
}

/// Returns the tensor of a literal: a number, a Boolean, or nested lists of them.
fn literal(given: &str, dtype: Option<DType>) -> Result<DenseHostTensor, String> {
    let value: serde_json::Value =
        serde_json::from_str(given).map_err(|error| format!("not a literal: {error}"))?;
    let (mut dims, mut elements) = (Vec::new(), Vec::new());
    flatten(&value, 0, &mut dims, &mut elements)?;
    let dtype = dtype.unwrap_or_else(|| match elements.first() {
        Some(serde_json::Value::Bool(_)) => DType::I1,
        _ if elements.iter().all(|element| element.is_i64()) => DType::I64,
        _ => DType::F32,
    });
    let shape = Shape::new(&dims).map_err(|error| error.to_string())?;
    let unfit = |element: &serde_json::Value| format!("expected {dtype}, found {element}");
    fn made<T: Element>(
        shape: Shape,
        elements: &[&serde_json::Value],
        of: impl Fn(&serde_json::Value) -> Result<T, String>,
    ) -> Result<DenseHostTensor, String> {
        let elements = elements.iter().map(|element| of(element));
        let elements = elements.collect::<Result<Vec<T>, _>>()?;
        DenseHostTensor::from_elements(&malloc(), shape, &elements)
            .map_err(|error| error.to_string())
    }
    macro_rules! integer {
        ($element:ty) => {
            made::<$element>(shape, &elements, |element| {
                let number = element.as_i64().and_then(|number| number.try_into().ok());
                let large = || element.as_u64().and_then(|number| number.try_into().ok());
                number.or_else(large).ok_or_else(|| unfit(element))
            })
        };
    }
    macro_rules! real {
        ($element:ty, $of:expr) => {
            made::<$element>(shape, &elements, |element| {
                let number = element.as_f64().map($of);
                // A number beyond the greatest of its type would become an infinity.
                let number = number.filter(|number| number.is_finite());
                number.ok_or_else(|| unfit(element))
            })
        };
    }
    match dtype {
        DType::F32 => real!(f32, |number| number as f32),
        DType::F64 => real!(f64, |number| number),
        DType::F16 => real!(f16, f16::from_f64),
        DType::Bf16 => real!(bf16, bf16::from_f64),
        DType::I8 => integer!(i8),
        DType::I16 => integer!(i16),
        DType::I32 => integer!(i32),
        DType::I64 => integer!(i64),
        DType::Ui8 => integer!(u8),
        DType::Ui16 => integer!(u16),
        DType::Ui32 => integer!(u32),
        DType::Ui64 => integer!(u64),
        DType::I1 => made::<I1>(shape, &elements, |element| {
            element
                .as_bool()
                .map(I1::from)
                .ok_or_else(|| unfit(element))
        }),
        other => Err(format!("literals of {other} are not supported")),
    }
}

/// Collects the elements of nested lists, whose extents must agree.
fn flatten<'v>(
    value: &'v serde_json::Value,
    depth: usize,
    dims: &mut Vec<usize>,
    elements: &mut Vec<&'v serde_json::Value>,
) -> Result<(), String> {
    let uneven = || "lists of different lengths".to_owned();
    let serde_json::Value::Array(items) = value else {
        elements.push(value);
        // The first element tells how deep lists are nested.
        return match dims.len() == depth {
            true => Ok(()),
            false => Err(uneven()),
        };
    };
    if depth >= MAX_LITERAL_DEPTH {
        return Err(format!("more than {MAX_LITERAL_DEPTH} dimensions"));
    }
    if depth == dims.len() {
        if !elements.is_empty() {
            return Err(uneven());
        }
        dims.push(items.len());
    } else if dims[depth] != items.len() {
        return Err(uneven());
    }
    items
        .iter()
        .try_for_each(|item| flatten(item, depth + 1, dims, elements))
}

fn wrong(path: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failure {
    Failure::caused(format!("error: {}", escaped(path)), cause)
}

fn read_file(given: &str, ty: &ValueType, limits: &Limits) -> Result<ModelValue, Failure> {
    let (path, key) = match given.split_once('#') {
        Some((path, key)) => (path, Some(key)),
        None => (given, None),
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(path, error))?;
    if extension(path) == Some("pb") {
        return tensor_file::read_value(bytes, ty, limits).map_err(|error| wrong(path, error));
    }
    let allocator = malloc();
    let file = HostBuffer::copied(&allocator, &bytes).map_err(|error| wrong(path, error))?;
    let tensors = FileFormat::detect(&bytes)
        .read(&file, &allocator)
        .map_err(|error| wrong(path, error))?;
    let found = match key {
        Some(key) => tensors.iter().find(|tensor| tensor.name == key),
        None if tensors.len() == 1 => tensors.first(),
        None => {
            return Err(wrong(
                path,
                format!(
                    "expected one tensor, found {}; select one with `#KEY`",
                    tensors.len()
                ),
            ));
        }
    };
    let found = found.ok_or_else(|| wrong(path, "no tensor has this name"))?;
    let dense = (&*found.tensor as &dyn Tensor).downcast_ref::<DenseHostTensor>();
    let dense = dense.ok_or_else(|| wrong(path, "expected a dense tensor"))?;
    Ok(dense.clone().into())
}

fn extension(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

/// Writes an output to a file, in the format of its extension.
pub(crate) fn write(
    path: &str,
    name: &str,
    value: &ModelValue,
    ty: &ValueType,
) -> Result<(), Failure> {
    let extension = extension(path);
    let bytes = match (extension, value) {
        (Some("pb"), _) => {
            tensor_file::write_value(name, value, ty).map_err(|error| wrong(path, error))?
        }
        (_, ModelValue::List(_)) => {
            return Err(wrong(path, "a list of tensors needs the extension `.pb`"));
        }
        (Some("txt"), ModelValue::Tensor(tensor)) => {
            let elements = tensor.elements_text();
            let elements = elements.map_err(|error| wrong(path, error))?;
            format!("{}\n{elements}\n", tensor.metadata()).into_bytes()
        }
        (_, ModelValue::Tensor(tensor)) => {
            let format = extension.and_then(FileFormat::from_name);
            let format = format.ok_or_else(|| {
                wrong(
                    path,
                    "unknown extension: expected `.npy`, `.npz`, `.safetensors`, `.pb` or `.txt`",
                )
            })?;
            let tensors = [NamedTensor::new(name, tensor.clone())];
            format.write(&tensors).map_err(|error| {
                let is_type = matches!(error, FileError::NoDType { .. });
                let help = match is_type {
                    true => "; `.pb` and `.safetensors` files have more element types",
                    false => "",
                };
                wrong(path, format!("{error}{help}"))
            })?
        }
    };
    output::write(path, &bytes)
}

/// Returns the type of an output, its least, mean and greatest element, how many are NaN, and the
/// first ones.
pub(crate) fn summary(value: &ModelValue) -> String {
    let tensor = match value {
        ModelValue::Tensor(tensor) => tensor,
        ModelValue::List(list) => {
            return match list.tensors() {
                None => "absent".to_owned(),
                Some(tensors) => {
                    let shown = tensors.iter().take(MAX_SHOWN_ELEMENTS);
                    let shown: Vec<String> =
                        shown.map(|tensor| tensor.metadata().to_string()).collect();
                    let more = if tensors.len() > shown.len() {
                        ", …"
                    } else {
                        ""
                    };
                    format!("{} in a list: {}{more}", tensors.len(), shown.join(", "))
                }
            };
        }
    };
    let metadata = tensor.metadata();
    if tensor.num_elements() == 0 {
        return format!("{metadata}, no elements");
    }
    let numbers = match Statistics::of(tensor) {
        Ok(Some(found)) => {
            // 64-bit integers are not rounded.
            let (min, max) = whole_bounds(tensor)
                .unwrap_or_else(|| (found.min.to_string(), found.max.to_string()));
            format!(
                ", minimum {min}, mean {}, maximum {max}, {} NaN",
                found.mean, found.num_nan
            )
        }
        _ => String::new(),
    };
    let elements = first_elements(tensor).map_or_else(String::new, |text| format!(": {text}"));
    format!("{metadata}{numbers}{elements}")
}

fn whole_bounds(tensor: &DenseHostTensor) -> Option<(String, String)> {
    fn bounds<T: Element + Ord + ToString>(tensor: &DenseHostTensor) -> Option<(String, String)> {
        let elements = tensor.elements::<T>().ok()?;
        let (min, max) = (elements.iter().min()?, elements.iter().max()?);
        Some((min.to_string(), max.to_string()))
    }
    match tensor.dtype() {
        DType::I64 => bounds::<i64>(tensor),
        DType::Ui64 => bounds::<u64>(tensor),
        _ => None,
    }
}

fn first_elements(tensor: &DenseHostTensor) -> Option<String> {
    let (dtype, count) = (tensor.dtype(), tensor.num_elements());
    let num_shown = count.min(MAX_SHOWN_ELEMENTS);
    let len_bytes = num_shown * dtype.size_bytes()?;
    let bytes = tensor.buffer().slice(0, len_bytes).ok()?;
    let shape = Shape::new(&[num_shown]).ok()?;
    let first = DenseHostTensor::from_buffer(dtype, shape, bytes).ok()?;
    let more = if count > num_shown { ", …" } else { "" };
    Some(format!("{}{more}", first.elements_text().ok()?))
}

/// `NAME=FILE`: a name may contain `=`, so that the longest one that is known counts.
pub(crate) fn split<'a>(
    given: &'a str,
    known: &'a [String],
    what: &str,
) -> Result<(&'a str, &'a str), Failure> {
    let fits = |name: &&String| {
        given
            .strip_prefix(name.as_str())
            .is_some_and(|rest| rest.starts_with('='))
    };
    if let Some(name) = known.iter().filter(fits).max_by_key(|name| name.len()) {
        return Ok((name.as_str(), &given[name.len() + 1..]));
    }
    let name = given.split('=').next().unwrap_or_default();
    let hint = did_you_mean(&nearest(name, known.iter().map(String::as_str)));
    Err(Failure::Usage(format!(
        "error: unknown {what} `{}`{hint}",
        shown(name)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, dtype: Option<DType>, expected: &str) {
        let found = literal(given, dtype);
        let found = found.map(|tensor| summary(&tensor.into()).replace(", 0 NaN", ""));
        assert_eq!(found.unwrap_or_else(|error| error), expected, "{given}");
    }

    #[test]
    fn literals_have_the_declared_type() {
        check("3", None, "i64 [], minimum 3, mean 3, maximum 3: 3");
        check(
            "[[1,2],[3,4]]",
            Some(DType::Ui8),
            "u8 [2, 2], minimum 1, mean 2.5, maximum 4: 1, 2, 3, 4",
        );
        check("[300]", Some(DType::Ui8), "expected u8, found 300");
        check("[1.5]", Some(DType::I32), "expected i32, found 1.5");
        check("[1e39]", Some(DType::F32), "expected f32, found 1e+39");
        check("[65520]", Some(DType::F16), "expected f16, found 65520");
        check(
            "1e39",
            Some(DType::F64),
            "f64 [], minimum 1000000000000000000000000000000000000000, mean \
             1000000000000000000000000000000000000000, maximum \
             1000000000000000000000000000000000000000: 1.000000e+39",
        );
        check("[]", Some(DType::F32), "f32 [0], no elements");
        check("[[1],[2,3]]", None, "lists of different lengths");
        check("[[1],2]", None, "lists of different lengths");
        check("[1,[2]]", None, "lists of different lengths");
        check(
            "[-9223372036854775808, 18446744073709551615]",
            Some(DType::I64),
            "expected i64, found 18446744073709551615",
        );
        let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
        check(&deep, None, "more than 32 dimensions");
    }

    #[test]
    fn bounds_of_whole_numbers_are_exact() {
        let least = i64::MIN;
        let tensor = DenseHostTensor::vector(&[least, 7, 1, 2, 3, 4, 5]).unwrap();
        let found = summary(&tensor.into());
        assert!(found.contains("minimum -9223372036854775808, "), "{found}");
        assert!(
            found.ends_with("maximum 7, 0 NaN: -9223372036854775808, 7, 1, 2, 3, 4, …"),
            "{found}"
        );
    }

    #[test]
    fn random_numbers_depend_on_their_seed() {
        let declared = InputType {
            dtype: Some(DType::F32),
            dims: Some(vec![InputDim::Symbol("n".into())]),
        };
        let made = |given: &str| {
            let tensor = Made::of(given)
                .unwrap()
                .tensor(Some(&declared), &["n=4".into()]);
            tensor.unwrap().elements_text().unwrap()
        };
        assert_eq!(made("random"), made("random:1"));
        assert_ne!(made("random"), made("random:2"));
        assert_ne!(made("random"), made("zeros"));
        assert_eq!(Made::of("random:x"), None);
    }
}
