//! Weights in files: tensors by name.
//!
//! Any format with names serves (`safetensors`, `npz`); one that has none goes by positions, `0`, `1`, …. What a file claims is
//! checked against what it has, and against what the program expects, before anything is computed with it.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use half::{bf16, f16};
use tfrt::host::ProgramFolder;
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::file::{FileFormat, NamedTensor, ReadAt};
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, Shape};

/// Gives the path of a file that lies in the folder of the program, wherever the process was started. Of a program that does not
/// come from a file, it is the path as it stands.
///
/// # Errors
/// If the folder has a name that is no text.
#[tfrt_kernel("models.beside_program", results(path), format = "$file attr-dict")]
fn beside_program(#[attr] file: &str, request: &RequestContext) -> Result<String> {
    let path = ProgramFolder::beside(request, file);
    path.into_os_string().into_string().map_err(|path| {
        Error::new(format!("the path {} is no text", path.display()))
            .with_code(ErrorCode::InvalidArgument)
    })
}

/// Reads a tensor of a file by its name, as numbers of type f32. In the file they may be of any type of floating-point numbers.
///
/// # Errors
/// If the file cannot be read or is damaged; if it has no such tensor, or one of another shape, or other elements. The text
/// begins with the path.
#[tfrt_kernel(
    "models.read_tensor.f32",
    blocking,
    results(tensor),
    format = "operands $name $shape attr-dict"
)]
fn read_tensor(
    path: &str,
    #[attr] name: &str,
    #[attr] shape: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let shape = Shape::from_signed(shape)?;
    read(path, name, &shape, ctx.allocator()).map_err(|problem| {
        Error::new(format!("{path}: {problem}")).with_code(ErrorCode::InvalidArgument)
    })
}

fn read(
    path: &str,
    name: &str,
    shape: &Shape,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut file = File::open(path).map_err(|error| text(&error))?;
    let len_bytes = file.total_bytes().map_err(|error| text(&error))?;
    let len_bytes = usize::try_from(len_bytes).map_err(|error| text(&error))?;
    let bytes = file
        .read_buffer_at(0, len_bytes, allocator)
        .map_err(|error| text(&error))?;
    find(&bytes, name, shape, allocator)
}

/// The tensor of a name, if it is what the program expects.
fn find(
    file: &HostBuffer,
    name: &str,
    shape: &Shape,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor, String> {
    let format = FileFormat::detect(&file.read().map_err(|error| error.to_string())?);
    let tensors = format
        .read(file, allocator)
        .map_err(|error| error.to_string())?;
    let Some(found) = tensors.iter().find(|tensor| tensor.name == name) else {
        let names: Vec<String> = tensors
            .iter()
            .map(|tensor| format!("`{}`", tensor.name))
            .collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        return Err(format!("expected a tensor `{name}`, found {names}"));
    };
    if found.tensor.shape() != shape {
        return Err(format!(
            "expected tensor `{name}` of shape {shape}, found shape {}",
            found.tensor.shape()
        ));
    }
    let dense = found.tensor.downcast_ref::<DenseHostTensor>();
    let widened = dense.map(|tensor| match tensor.dtype() {
        DType::F16 => tensor.map(allocator, f16::to_f32),
        DType::Bf16 => tensor.map(allocator, bf16::to_f32),
        DType::F32 => tensor.map(allocator, |element: f32| element),
        DType::F64 => tensor.map(allocator, |element: f64| element as f32),
        found => Err(tfrt_tensor::TensorError::WrongDType {
            expected: DType::F32,
            found,
        }),
    });
    match widened {
        Some(Ok(tensor)) => Ok(tensor),
        Some(Err(error)) => Err(format!("tensor `{name}`: {error}")),
        None => Err(format!(
            "expected a dense tensor `{name}`, found one of kind {}",
            found.tensor.tensor_type().name()
        )),
    }
}

/// Writes a file of tensors, each under its name. Their elements are of type f32; in the file they are of the type that the
/// kernel is named for, rounded to the nearest number of it.
///
/// What the name of the file ends in says which format it has: `safetensors`, `npz`, …. It replaces what was there, once it is
/// written as a whole.
///
/// # Errors
/// If there are not as many names as tensors, no format has such an ending, or the file cannot be written.
#[tfrt_kernel(
    "models.write_tensors.{T}",
    T = [f16, f32],
    blocking,
    effect = "io",
    results(out_chain),
    format = "operands $names attr-dict"
)]
fn write_tensors<T: Stored>(
    path: &str,
    _in_chain: Chain,
    tensors: Operands<'_, DenseHostTensor>,
    #[attr] names: AggregateView<'_>,
    ctx: &ExecutionContext,
) -> Result<Chain> {
    let wrong = |problem: &dyn std::fmt::Display| {
        Error::new(format!("{path}: {problem}")).with_code(ErrorCode::InvalidArgument)
    };
    if names.len() != tensors.len() {
        return Err(wrong(&format_args!(
            "expected a name for each of {} tensors, found {}",
            tensors.len(),
            names.len()
        )));
    }
    let format = format_of(path).map_err(|problem| wrong(&problem))?;
    let named = names.iter().zip(tensors.iter()).map(|(name, tensor)| {
        let stored = tensor.map(ctx.allocator(), T::from_f32)?;
        Ok(NamedTensor::new(name.read::<&str>()?, stored))
    });
    let named = named.collect::<Result<Vec<_>>>()?;
    let file = format.write(&named).map_err(|error| wrong(&error))?;
    replace(Path::new(path), &file).map_err(|error| wrong(&error))?;
    Ok(Chain)
}

fn format_of(path: &str) -> Result<FileFormat, String> {
    let ending = Path::new(path)
        .extension()
        .and_then(|ending| ending.to_str());
    ending.and_then(FileFormat::from_name).ok_or_else(|| {
        let names: Vec<&str> = FileFormat::ALL.iter().map(|format| format.name()).collect();
        format!("expected a name that ends in one of {}", names.join(", "))
    })
}

/// Writes a file beside the one that it replaces, so that nobody ever finds a part of it.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{}", std::process::id()));
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, path).inspect_err(|_| {
        // It is of no use to anybody; the error tells of what matters.
        let _ = fs::remove_file(&unfinished);
    })
}

/// A type of elements that weights are stored as.
trait Stored: Element {
    fn from_f32(element: f32) -> Self;
}

impl Stored for f16 {
    fn from_f32(element: f32) -> Self {
        Self::from_f32(element)
    }
}

impl Stored for f32 {
    fn from_f32(element: f32) -> Self {
        element
    }
}
