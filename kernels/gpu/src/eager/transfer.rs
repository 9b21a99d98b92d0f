//! Tensors from and to the host, and between devices.
//!
//! | from | to | available |
//! |---|---|---|
//! | dense, scalar | GPU | at once; large tensors once the whole tensor is on its way |
//! | GPU | dense | once the copy is done |
//! | GPU | another GPU | at once |
//!
//! Host memory and device memory of a copy are kept until the copy is done: host memory by the
//! driver, device memory by the order of its stream.

use tfrt::core::CoreRuntime;
use tfrt::host::device::DeviceRef;
use tfrt::prelude::*;
use tfrt::queue::enqueue_blocking_value;
use tfrt_tensor::convert::{Conversion, ConversionContext, ConversionRegistration};
use tfrt_tensor::{ScalarHostTensor, Tensor, TensorError, TensorRef, TensorType};

use super::call::allocate_on;
use super::device::EagerGpu;
use super::staging::{BLOCK_BYTES, Block, MAX_DIRECT_BYTES};
use crate::api::driver::CopyEndpoint;
use crate::api::{DevicePtr, GpuError};
use crate::values::{DenseGpuTensor, Event};

const DENSE: TensorType = TensorType::DENSE_HOST;
const SCALAR: TensorType = TensorType::SCALAR_HOST;
const GPU: TensorType = TensorType::DENSE_GPU;

/// The name of a transfer in messages, where ops have theirs.
const TRANSFER: &str = "a transfer";

const fn registration(
    from: TensorType,
    to: TensorType,
    conversion: Conversion,
) -> ConversionRegistration {
    ConversionRegistration {
        from,
        to,
        conversion,
    }
}

inventory::submit! { registration(DENSE, GPU, |tensor, context| or_error(dense_to_gpu(tensor, context))) }
inventory::submit! { registration(SCALAR, GPU, |tensor, context| or_error(scalar_to_gpu(tensor, context))) }
inventory::submit! { registration(GPU, DENSE, |tensor, context| or_error(gpu_to_dense(tensor, context))) }
inventory::submit! { registration(GPU, GPU, |tensor, context| or_error(gpu_to_gpu(tensor, context))) }

fn or_error(converted: Result<AnyRef>) -> AnyRef {
    converted.unwrap_or_else(AnyRef::error)
}

fn dense_to_gpu(tensor: &dyn Tensor, context: ConversionContext<'_>) -> Result<AnyRef> {
    upload(tensor.expect(DENSE)?, context)
}

fn scalar_to_gpu(tensor: &dyn Tensor, context: ConversionContext<'_>) -> Result<AnyRef> {
    let scalar: &ScalarHostTensor = tensor.expect(SCALAR)?;
    upload(&scalar.to_dense(context.exec_ctx.allocator())?, context)
}

fn gpu_to_dense(tensor: &dyn Tensor, context: ConversionContext<'_>) -> Result<AnyRef> {
    download(tensor.expect(GPU)?, context)
}

/// Returns a tensor of one of these kinds: unchanged if it is of the kind, otherwise converted from
/// host memory to a device, or from a device to host memory.
pub(super) fn convert(
    ctx: &ExecutionContext,
    tensor: &AnyRef,
    device: &DeviceRef,
    host: &DeviceRef,
    to: TensorType,
) -> Result<AnyRef> {
    let guard = TensorRef::read(tensor).map_err(|error| Error::new(error.to_string()))?;
    if guard.tensor_type() == to {
        return Ok(tensor.clone());
    }
    let (source, destination) = match to {
        GPU => (host, device),
        _ => (device, host),
    };
    let context = ConversionContext {
        exec_ctx: ctx,
        source,
        destination,
    };
    let runtime = CoreRuntime::of(ctx.host());
    let converted = runtime.conversions().convert(&*guard, to, context);
    match converted.error_if_present() {
        Some(error) => Err(error.clone()),
        None => Ok(converted),
    }
}

/// Copies a tensor from host memory to a device.
fn upload(source: &DenseHostTensor, context: ConversionContext<'_>) -> Result<AnyRef> {
    let gpu = EagerGpu::of(context.destination)?;
    let target = allocate_on(gpu, TRANSFER, source.dtype(), source.shape().clone())?;
    let num_bytes = target.num_bytes();
    if num_bytes <= MAX_DIRECT_BYTES {
        upload_directly(gpu, source, &target)?;
        return Ok(AnyRef::available(target));
    }
    // Before blocks are taken: from then on, each of them goes back.
    let current = gpu.context().set_current()?;
    let bytes = source.buffer().read()?;
    if let Some(blocks) = gpu.staging().take_at_once(num_bytes)? {
        let mut failed = None;
        let mut address = target.pointer();
        for (block, chunk) in blocks
            .into_iter()
            .zip(bytes[..num_bytes].chunks(BLOCK_BYTES))
        {
            let copied = block.upload(&current, chunk, address, gpu.stream());
            match copied {
                Ok(()) => gpu.staging().give_back(block),
                Err(error) => {
                    gpu.staging().give_up(block);
                    failed = failed.or(Some(error));
                }
            }
            address = address.offset(chunk.len() as u64);
        }
        return match failed {
            None => Ok(AnyRef::available(target)),
            Some(error) => Err(error.into()),
        };
    }
    drop(bytes);
    // The blocks are in use: filling them means waiting.
    let (source, device) = (source.clone(), context.destination.clone());
    let (ctx, queue) = (context.exec_ctx.clone(), context.exec_ctx.queue());
    let uploaded = enqueue_blocking_value(&**queue, move || {
        let gpu = EagerGpu::of(&device)?;
        upload_in_turns(gpu, &source, &target).map_err(|error| ctx.emit_error(error))?;
        Ok(target)
    });
    Ok(uploaded.into())
}

/// Enqueues a copy from pageable memory.
pub(super) fn upload_directly(
    gpu: &EagerGpu,
    source: &DenseHostTensor,
    target: &DenseGpuTensor,
) -> Result<()> {
    if target.num_bytes() == 0 {
        return Ok(());
    }
    let current = gpu.context().set_current()?;
    let driver = &gpu.context().gpu().driver;
    let (to, from) = (
        CopyEndpoint::Device(target.pointer()),
        CopyEndpoint::Host(source.buffer().clone()),
    );
    let stream = gpu.stream().handle();
    Ok(driver.copy_async(&current, &to, &from, target.num_bytes(), stream)?)
}

/// Copies through one block after another, waiting for each.
fn upload_in_turns(
    gpu: &EagerGpu,
    source: &DenseHostTensor,
    target: &DenseGpuTensor,
) -> Result<()> {
    let bytes = source.buffer().read()?;
    let mut address = target.pointer();
    for chunk in bytes[..target.num_bytes()].chunks(BLOCK_BYTES) {
        let current = gpu.context().set_current()?;
        let block = gpu.staging().take_and_wait()?;
        let copied = block.upload(&current, chunk, address, gpu.stream());
        if let Err(error) = copied {
            gpu.staging().give_up(block);
            return Err(error.into());
        }
        gpu.staging().give_back(block);
        address = address.offset(chunk.len() as u64);
    }
    Ok(())
}

/// Copies a tensor from a device to host memory.
fn download(source: &DenseGpuTensor, context: ConversionContext<'_>) -> Result<AnyRef> {
    let gpu = EagerGpu::of(context.source)?;
    let ctx = context.exec_ctx;
    let (dtype, shape) = (source.dtype(), source.shape().clone());
    let target = DenseHostTensor::zeroed(ctx.allocator(), dtype, shape).map_err(|error| {
        let error = match error {
            TensorError::OutOfMemory { .. } => Error::new("cannot allocate result tensor"),
            other => return Error::from(other),
        };
        error.with_code(ErrorCode::ResourceExhausted)
    })?;
    if source.num_bytes() == 0 {
        return Ok(AnyRef::available(target));
    }
    let (device, queue) = (context.source.clone(), ctx.queue());
    let ctx = ctx.clone();
    if source.num_bytes() > MAX_DIRECT_BYTES {
        let source = source.clone();
        let downloaded = enqueue_blocking_value(&**queue, move || {
            let copied =
                EagerGpu::of(&device).and_then(|gpu| download_in_turns(gpu, &source, target));
            copied.map_err(|error| ctx.emit_error(error))
        });
        return Ok(downloaded.into());
    }
    let copied = enqueue_download(gpu, source, &target)?;
    let downloaded = enqueue_blocking_value(&**queue, move || {
        let driver = &copied.context().gpu().driver;
        let waited = driver.event_synchronize(copied.handle());
        waited.map_err(|error| ctx.emit_error(failed("could not wait for event", error)))?;
        Ok(target)
    });
    Ok(downloaded.into())
}

fn failed(what: &str, error: GpuError) -> Error {
    let code = Error::from(error.clone()).code();
    Error::new(format!("{what}: {error}")).with_code(code)
}

/// Enqueues a copy to pageable memory, and returns the event behind it.
fn enqueue_download(
    gpu: &EagerGpu,
    source: &DenseGpuTensor,
    target: &DenseHostTensor,
) -> Result<Event> {
    let current = gpu.context().set_current()?;
    let (driver, stream) = (&gpu.context().gpu().driver, gpu.stream().handle());
    let (to, from) = (
        CopyEndpoint::Host(target.buffer().clone()),
        CopyEndpoint::Device(source.pointer()),
    );
    // The texts name the wrong direction, as those of the reference do.
    driver
        .copy_async(&current, &to, &from, source.num_bytes(), stream)
        .map_err(|error| failed("failed to enqueue host to device memcpy", error))?;
    let event = driver.event_create(&current, false).map_err(|error| {
        failed(
            "could not create event to wait for host to device memcpy",
            error,
        )
    })?;
    let event = Event::new(gpu.context(), event);
    driver
        .event_record(event.handle(), stream)
        .map_err(|error| {
            failed(
                "could not enqueue event to wait for host to device memcpy",
                error,
            )
        })?;
    Ok(event)
}

/// Copies through one block after another: while one is read, the next one is being filled.
fn download_in_turns(
    gpu: &EagerGpu,
    source: &DenseGpuTensor,
    mut target: DenseHostTensor,
) -> Result<DenseHostTensor> {
    let mut bytes = target.buffer_mut().write()?;
    let mut address = source.pointer();
    let mut filling = None;
    let mut outcome: Result<()> = Ok(());
    for chunk in bytes[..source.num_bytes()].chunks_mut(BLOCK_BYTES) {
        let started = start_download(gpu, address, chunk.len());
        address = address.offset(chunk.len() as u64);
        let next = started.map(|block| (block, chunk));
        let (next, error) = match next {
            Ok(next) => (Some(next), None),
            Err(error) => (None, Some(error)),
        };
        if let Some((block, chunk)) = std::mem::replace(&mut filling, next) {
            outcome = outcome.and(finish_download(gpu, block, chunk));
        }
        if let Some(error) = error {
            outcome = outcome.and(Err(error));
        }
        if outcome.is_err() {
            break;
        }
    }
    if let Some((block, chunk)) = filling {
        outcome = outcome.and(finish_download(gpu, block, chunk));
    }
    drop(bytes);
    outcome.map(|()| target)
}

/// Enqueues a copy into a block.
fn start_download(gpu: &EagerGpu, source: DevicePtr, num_bytes: usize) -> Result<Block> {
    let current = gpu.context().set_current()?;
    let block = gpu.staging().take_and_wait()?;
    let copied = block.download(&current, source, num_bytes, gpu.stream());
    if let Err(error) = copied {
        gpu.staging().give_up(block);
        return Err(failed("failed to enqueue host to device memcpy", error));
    }
    Ok(block)
}

/// Reads a block once it is filled.
fn finish_download(gpu: &EagerGpu, block: Block, chunk: &mut [u8]) -> Result<()> {
    let read = block.read(chunk);
    gpu.staging().give_back(block);
    read.map_err(|error| failed("could not wait for event", error))
}

/// Copies a tensor to another device, without waiting: the streams of the two devices wait for each
/// other.
fn gpu_to_gpu(tensor: &dyn Tensor, context: ConversionContext<'_>) -> Result<AnyRef> {
    let source: &DenseGpuTensor = tensor.expect(GPU)?;
    let (from, to) = (
        EagerGpu::of(context.source)?,
        EagerGpu::of(context.destination)?,
    );
    let target = allocate_on(to, TRANSFER, source.dtype(), source.shape().clone())?;
    if source.num_bytes() == 0 {
        return Ok(AnyRef::available(target));
    }
    // The source is written.
    order(from, to)?;
    let driver = &to.context().gpu().driver;
    let current = to.context().set_current()?;
    driver.copy_async(
        &current,
        &CopyEndpoint::Device(target.pointer()),
        &CopyEndpoint::Device(source.pointer()),
        source.num_bytes(),
        to.stream().handle(),
    )?;
    // The memory of the source is not used again before it is read.
    order(to, from)?;
    Ok(AnyRef::available(target))
}

/// Makes later work of one device wait for the work that another one has now.
fn order(first: &EagerGpu, then: &EagerGpu) -> Result<()> {
    let driver = &first.context().gpu().driver;
    let current = first.context().set_current()?;
    let event = Event::new(first.context(), driver.event_create(&current, false)?);
    driver.event_record(event.handle(), first.stream().handle())?;
    Ok(driver.stream_wait_event(then.stream().handle(), event.handle())?)
}

#[cfg(test)]
mod tests {
    use crate::api::Current;
    use crate::eager::staging::NUM_BLOCKS;
    use crate::host_device::{HostDevice, Options};

    use super::*;

    #[test]
    fn blocks_come_back_if_the_context_cannot_be_set() {
        let options = Options {
            failures: vec![("cuCtxSetCurrent".to_owned(), 2, 700)],
            ..Options::default()
        };
        let gpu = EagerGpu::open(&HostDevice::open(options), 0).unwrap();
        let source = gpu.allocator().allocate(8, gpu.stream()).unwrap();
        let staging = gpu.staging();
        let blocks = staging.take_at_once(NUM_BLOCKS * BLOCK_BYTES).unwrap();
        for block in blocks.expect("nobody holds a block") {
            staging.give_back(block);
        }
        Current::forget();
        assert!(start_download(&gpu, source.pointer(), 8).is_err());
        assert_eq!(staging.counts(), (NUM_BLOCKS, NUM_BLOCKS));
    }
}
