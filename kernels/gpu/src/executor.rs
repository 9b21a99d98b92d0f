//! Running programs that describe themselves, for embedders.
//!
//! A program for this executor has a function `get_tfrt_gpu_entry_point`, which returns an
//! [`EntryPoint`]: the name of the function to call, and the sizes of the buffers that it takes.
//! `tfrt opt --tfrt-set-entry-point` adds it. The function takes a chain, a stream and the buffers,
//! and returns a chain.
//!
//! ```text
//!   program ──► entry_point ──► preload ──► execute(chain, stream, buffers) ──► chain: everything is enqueued
//!                                 │                    │                          │
//!                             context            create_stream            stream.synchronize: it is done
//!                                              allocate_buffer
//! ```
//!
//! Buffers may be used for the next call once the chain is ready: work on one stream runs in order.
//!
//! An embedder that already has contexts and streams lends them to programs with `borrowed`.

pub(crate) mod borrowed;

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::prelude::*;

use crate::enums::Platform;
use crate::kernels::entry_point::EntryPoint;
use crate::platform::Gpu;
use crate::values::memory::allocation_size;
use crate::values::{Allocator, Buffer, GpuContext, GpuDevice, Stream};

pub use borrowed::{BorrowedStream, CachedContext, ContextCache};

/// The name of the function that returns the entry point of a program.
pub const ENTRY_POINT: &str = "get_tfrt_gpu_entry_point";

/// The name of the function that creates all objects that a program creates once for a context.
pub const PRELOAD: &str = "tfrt_gpu_preload_resources";

/// Runs a function of a program and waits for its only result.
fn result_of(
    program: &Arc<Program>,
    name: &str,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
) -> Result<AnyRef> {
    let function = program
        .function(name)
        .ok_or_else(|| Error::new(format!("{name} not found")).with_code(ErrorCode::NotFound))?;
    let mut results = function.execute(ctx, arguments);
    ctx.host().await_values(&results)?;
    match (results.pop(), results.is_empty()) {
        (Some(result), true) => Ok(result),
        _ => Err(Error::new("Expected single result").with_code(ErrorCode::InvalidArgument)),
    }
}

/// Returns the entry point of a program.
///
/// # Errors
/// `get_tfrt_gpu_entry_point not found`; `Expected version 410724080, got N`; if the function
/// returns something else.
pub fn entry_point(program: &Arc<Program>, ctx: &ExecutionContext) -> Result<EntryPoint> {
    let result = result_of(program, ENTRY_POINT, ctx, &[])?;
    result.get::<EntryPoint>().cloned().ok_or_else(|| {
        Error::new(format!(
            "Expected {ENTRY_POINT} to return !tfrt_gpu.entry_point"
        ))
        .with_code(ErrorCode::InvalidArgument)
    })
}

/// Creates all objects that a program creates once for a context: modules, globals, handles of
/// libraries. They are kept in the resource context of the request, where calls in other requests
/// with the same resource context find them.
///
/// # Errors
/// `tfrt_gpu_preload_resources not found`; the errors of the kernels that create them.
pub fn preload(program: &Arc<Program>, ctx: &ExecutionContext, context: &GpuContext) -> Result<()> {
    let context = AnyRef::available(context.clone());
    result_of(program, PRELOAD, ctx, &[context]).map(drop)
}

/// Creates a stream in the primary context of a device.
///
/// # Errors
/// `Invalid platform NONE`, `Unsupported platform ROCm`, and those of the driver.
pub fn create_stream(gpu: &Arc<Gpu>, platform: Platform, ordinal: i32) -> Result<Stream> {
    platform.expect_cuda()?;
    gpu.driver.init()?;
    let id = gpu.driver.device(ordinal)?;
    let gpu = Arc::clone(gpu);
    let context = GpuContext::primary(&GpuDevice { gpu, id })?;
    let current = context.set_current()?;
    let handle = context.gpu().driver.stream_create(&current)?;
    Ok(Stream::new(&context, handle))
}

/// Allocates a buffer in the context of a stream. Its bytes are not set.
///
/// # Errors
/// Those of the driver: for a size that is not positive, or if there is not enough memory.
pub fn allocate_buffer(stream: &Stream, num_bytes: i64) -> Result<Buffer> {
    let num_bytes = allocation_size(num_bytes, "cuMemAlloc(&ptr, size)")?;
    Allocator::new(stream.context()).allocate(num_bytes, stream)
}

/// Starts a function that takes a chain, a stream and buffers. The chain that it returns is ready
/// once everything is enqueued.
///
/// Buffers are values, so that one buffer can be passed to several calls.
///
/// # Errors
/// Errors in the signature, such as `Expected at least two arguments`, and
/// `Incorrect number of arguments`. If the function fails while it runs, the chain is the error.
pub fn execute(
    function: &FunctionRef,
    ctx: &ExecutionContext,
    chain: AnyRef,
    stream: &AsyncValueRef<Stream>,
    buffers: &[AsyncValueRef<Buffer>],
) -> Result<AnyRef> {
    check_signature(
        &function.argument_types(),
        &function.result_types(),
        buffers.len(),
    )?;
    let buffers = buffers.iter().map(|buffer| buffer.as_any().clone());
    let leading = [chain, stream.as_any().clone()];
    let arguments: Vec<AnyRef> = leading.into_iter().chain(buffers).collect();
    let [chain] = function.execute_array(ctx, &arguments);
    Ok(chain)
}

/// Checks the types of a function against its arguments.
fn check_signature(arguments: &[&str], results: &[&str], num_buffers: usize) -> Result<()> {
    let problem = match (results, arguments) {
        ([], _) | ([_, _, ..], _) => "Expected single result",
        ([result], _) if *result != "!tfrt.chain" => "Expected result to be !tfrt.chain",
        (_, [] | [_]) => "Expected at least two arguments",
        (_, [chain, ..]) if *chain != "!tfrt.chain" => "Expected first argument to be !tfrt.chain",
        (_, [_, stream, ..]) if *stream != "!tfrt_gpu.stream" => {
            "Expected second argument to be !tfrt_gpu.stream"
        }
        (_, [_, _, tail @ ..]) if tail.iter().any(|ty| *ty != "!tfrt_gpu.buffer") => {
            "Expected tail arguments to be !tfrt_gpu.buffer"
        }
        (_, [_, _, tail @ ..]) if tail.len() != num_buffers => "Incorrect number of arguments",
        _ => return Ok(()),
    };
    Err(Error::new(problem).with_code(ErrorCode::InvalidArgument))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_checked_in_order() {
        let check = |arguments: &[&str], results: &[&str], num_buffers| {
            let checked = check_signature(arguments, results, num_buffers);
            checked.map_or_else(|error| error.message().to_owned(), |()| String::new())
        };
        let (chain, stream, buffer) = ("!tfrt.chain", "!tfrt_gpu.stream", "!tfrt_gpu.buffer");
        assert_eq!(check(&[], &[], 0), "Expected single result");
        assert_eq!(check(&[], &[chain, chain], 0), "Expected single result");
        assert_eq!(check(&[], &["i32"], 0), "Expected result to be !tfrt.chain");
        assert_eq!(
            check(&[chain], &[chain], 0),
            "Expected at least two arguments"
        );
        assert_eq!(
            check(&[stream, chain], &[chain], 0),
            "Expected first argument to be !tfrt.chain"
        );
        assert_eq!(
            check(&[chain, buffer], &[chain], 0),
            "Expected second argument to be !tfrt_gpu.stream"
        );
        assert_eq!(
            check(&[chain, stream, buffer, "i32"], &[chain], 2),
            "Expected tail arguments to be !tfrt_gpu.buffer"
        );
        assert_eq!(
            check(&[chain, stream, buffer], &[chain], 2),
            "Incorrect number of arguments"
        );
        assert_eq!(check(&[chain, stream, buffer], &[chain], 1), "");
    }
}
