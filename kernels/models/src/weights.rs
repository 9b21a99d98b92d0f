//! Weights in files: tensors by name.
//!
//! Any format with names serves (`safetensors`, `npz`); one that has none goes by positions, `0`,
//! `1`, …. The contents of a file are checked against its size and against the expectations of the
//! program before they are used.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use half::{bf16, f16};
use tfrt::host::ProgramFolder;
use tfrt::host::allocator::HostAllocator;
use tfrt::prelude::*;
use tfrt_tensor::file::{FileFormat, NamedTensor, ReadAt};
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, Shape, TensorError};

use crate::error::invalid;

/// Returns the path of a file that lies in the folder of the program, wherever the process was
/// started. For a program that was not read from a file, it is the path itself.
///
/// # Errors
/// If the folder has a name that is not text.
#[tfrt_kernel("models.beside_program", results(path), format = "$file attr-dict")]
fn beside_program(#[attr] file: &str, request: &RequestContext) -> Result<String> {
    let path = ProgramFolder::beside(request, file);
    path.into_os_string()
        .into_string()
        .map_err(|path| invalid(format!("the path {} is not valid UTF-8", path.display())))
}

/// Reads a tensor of a file by its name, as numbers of type f32. In the file they may be of any
/// type of floating-point numbers.
///
/// # Errors
/// If the file cannot be read or is damaged; if it has no such tensor, or one of another shape, or
/// other elements. The text begins with the path.
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
    let file = read_file(path, ctx.allocator());
    let tensor = file.and_then(|file| find(&file, name, &shape, ctx.allocator()));
    tensor.map_err(|error| of_file(path, &error))
}

fn read_file(path: &str, allocator: &Arc<dyn HostAllocator>) -> Result<HostBuffer> {
    let mut file = File::open(path)?;
    let len_bytes = usize::try_from(file.total_bytes()?)?;
    Ok(file.read_buffer_at(0, len_bytes, allocator)?)
}

/// Returns the error of a file, prefixed with its path.
#[cold]
fn of_file(path: &str, error: &Error) -> Error {
    Error::new(format!("{path}: {}", error.message())).with_code(error.code())
}

/// Returns the tensor of a name, if it matches the expectations of the program.
fn find(
    file: &HostBuffer,
    name: &str,
    shape: &Shape,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor> {
    let format = FileFormat::detect(&file.read()?);
    let tensors = format.read(file, allocator)?;
    let named = tensors.iter().find(|tensor| tensor.name == name);
    let tensor = &named.ok_or_else(|| no_such_tensor(name, &tensors))?.tensor;
    if tensor.shape() != shape {
        return Err(invalid(format!(
            "expected tensor `{name}` of shape {shape}, found shape {}",
            tensor.shape()
        )));
    }
    let dense = tensor.downcast_ref().ok_or_else(|| {
        invalid(format!(
            "expected a dense tensor `{name}`, found a {}",
            tensor.tensor_type().name()
        ))
    })?;
    widened(dense, allocator).map_err(|error| invalid(format!("tensor `{name}`: {error}")))
}

/// So many names are listed where one is missed: a file may have any number of them.
const MAX_LISTED: usize = 8;

#[cold]
fn no_such_tensor(name: &str, tensors: &[NamedTensor]) -> Error {
    let listed = tensors.iter().take(MAX_LISTED);
    let mut names: Vec<String> = listed.map(|tensor| format!("`{}`", tensor.name)).collect();
    match tensors.len().saturating_sub(MAX_LISTED) {
        0 if names.is_empty() => names.push("none".to_owned()),
        0 => {}
        num_more => names.push(format!("and {num_more} more")),
    }
    invalid(format!(
        "expected a tensor `{name}`, found {}",
        names.join(", ")
    ))
}

/// Returns the same numbers, as those of type f32.
fn widened(
    tensor: &DenseHostTensor,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor, TensorError> {
    match tensor.dtype() {
        DType::F16 => tensor.map(allocator, f16::to_f32),
        DType::Bf16 => tensor.map(allocator, bf16::to_f32),
        DType::F32 => tensor.copied(allocator),
        DType::F64 => tensor.map(allocator, |element: f64| element as f32),
        found => Err(TensorError::WrongDType {
            expected: DType::F32,
            found,
        }),
    }
}

/// Writes a file of tensors, each under its name. Their elements are of type f32; in the file they
/// are of the type that the kernel is named for, rounded to the nearest number of it.
///
/// The extension of the file determines its format: `safetensors`, `npz`, …. It replaces an
/// existing file once it is completely written.
///
/// # Errors
/// If there are not as many names as tensors, no format has such an ending, or the file cannot be
/// written.
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
    let tensors: Vec<&DenseHostTensor> = tensors.iter().collect();
    write::<T>(path, names, &tensors, ctx.allocator()).map_err(|error| of_file(path, &error))?;
    Ok(Chain)
}

fn write<T: Stored>(
    path: &str,
    names: AggregateView<'_>,
    tensors: &[&DenseHostTensor],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<()> {
    if names.len() != tensors.len() {
        return Err(invalid(format!(
            "expected a name for each of {} tensors, found {}",
            tensors.len(),
            names.len()
        )));
    }
    let format = format_of(path)?;
    let named = names.iter().zip(tensors).map(|(name, tensor)| {
        let stored = tensor.map(allocator, T::from_f32)?;
        Ok(NamedTensor::new(name.read::<&str>()?, stored))
    });
    let file = format.write(&named.collect::<Result<Vec<_>>>()?)?;
    Ok(replace(Path::new(path), &file)?)
}

fn format_of(path: &str) -> Result<FileFormat> {
    let ending = Path::new(path).extension().and_then(OsStr::to_str);
    ending.and_then(FileFormat::from_name).ok_or_else(|| {
        let names: Vec<&str> = FileFormat::ALL.iter().map(|format| format.name()).collect();
        invalid(format!(
            "expected a name that ends with one of {}",
            names.join(", ")
        ))
    })
}

/// Writes a temporary file next to the one that it replaces, so that readers never see a partial
/// file.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
