//! `btf.*`: tensors of binary tensor files. Files are read on the blocking pool, because reading
//! may take long.

use std::fs::File;

use tfrt::prelude::*;
use tfrt_tensor::file::Stream;
use tfrt_tensor::file::btf::{BtfError, BtfReader};
use tfrt_tensor::{CooHostTensor, DenseHostTensor, Element};

/// Opens a file and reads from it.
fn read_file<T>(
    path: &str,
    ctx: &ExecutionContext,
    read: impl FnOnce(&mut BtfReader<Stream<File>>) -> Result<T, BtfError>,
) -> Result<T> {
    BtfReader::open(path, ctx.allocator())
        .map_err(|_| Error::new(format!("failed to open file {path} for reading")))?
        .and_then(|mut reader| read(&mut reader))
        .map_err(|error| Error::new(error.text(path)))
}

/// Reads a dense tensor of a file.
///
/// # Errors
/// The errors of [`BtfError`], and `failed to open file P for reading`.
#[tfrt_kernel(
    "btf.read_dense_tensor.{T}.{R}",
    T = [f32, i32, i64, i8, u8 as "ui8"],
    R = [0, 1, 2, 3, 4],
    blocking,
    results(tensor)
)]
fn read_dense_tensor<T: Element, const R: usize>(
    path: &str,
    index: i32,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    read_file(path, ctx, |reader| {
        reader.read_dense_as(i64::from(index), T::DTYPE, R)
    })
}

/// Reads a sparse tensor of a file.
///
/// # Errors
/// The errors of [`BtfError`], and `failed to open file P for reading`.
#[tfrt_kernel(
    "btf.read_coo_tensor.{T}.{R}",
    T = [f32, i32, i8],
    R = [0, 1, 2, 3, 4],
    blocking,
    results(tensor)
)]
fn read_coo_tensor<T: Element, const R: usize>(
    path: &str,
    index: i32,
    ctx: &ExecutionContext,
) -> Result<CooHostTensor> {
    read_file(path, ctx, |reader| {
        reader.read_coo_as(i64::from(index), T::DTYPE, R)
    })
}
