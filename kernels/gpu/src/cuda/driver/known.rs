//! Calls on streams, blocks and functions that the driver knows.
//!
//! What is known of an object is the object, or the range of a block, and whether that is listed:
//! see [`live`](super::super::live). So a handle that was destroyed is not found here.

use std::sync::Arc;

use super::super::live::Known;
use super::super::object::{Kind, Object};
use super::CudaDriver;
use super::memory::{copy_plain, set_plain};
use super::modules::launch_on;
use crate::api::driver::{Argument, LaunchConfig};
use crate::api::handle::{FunctionHandle, StreamHandle};
use crate::api::known::{KnownBytes, KnownFunction, KnownStream};
use crate::api::{Current, GpuResult};

/// A stream, for calls on it.
#[derive(Debug)]
pub(super) struct CudaStream {
    stream: Known<Object>,
    /// The number of its context.
    context: usize,
    /// The number of the list of blocks that calls on the stream may use.
    blocks: usize,
}

impl CudaDriver {
    /// Returns a stream for calls on it, if its handle is known.
    pub(super) fn stream_of(&self, stream: StreamHandle) -> Option<CudaStream> {
        let stream = self.live(Kind::Stream).known(stream.0)?;
        Some(CudaStream {
            context: stream.object.context.id,
            stream,
            blocks: self.blocks.id(),
        })
    }

    /// Returns a kernel for launches, if its handle and its parameters are known.
    pub(super) fn function_of(&self, function: FunctionHandle) -> Option<KnownFunction> {
        let Known { object, is_listed } = self.kernels.known(function.0)?;
        let parameters = Arc::clone(object.parameters.as_ref()?);
        Some(KnownFunction::new(
            object.module.context.id,
            object.number,
            parameters,
            is_listed,
            object,
        ))
    }
}

impl KnownStream for CudaStream {
    fn copy(
        &self,
        _current: &Current,
        target: KnownBytes<'_>,
        source: KnownBytes<'_>,
        num_bytes: usize,
    ) -> Option<GpuResult<()>> {
        let is_inside = |bytes: KnownBytes<'_>| {
            let KnownBytes { block, pointer } = bytes;
            block.contains(self.blocks, pointer, num_bytes)
        };
        if !is_inside(target) || !is_inside(source) {
            return None;
        }
        let stream = self.stream.get()?;
        Some(copy_plain(
            stream,
            target.pointer,
            source.pointer,
            num_bytes,
        ))
    }

    fn set_u32(
        &self,
        _current: &Current,
        target: KnownBytes<'_>,
        value: u32,
        count: usize,
    ) -> Option<GpuResult<()>> {
        let KnownBytes { block, pointer } = target;
        if !block.contains(self.blocks, pointer, count.checked_mul(4)?) {
            return None;
        }
        let stream = self.stream.get()?;
        Some(set_plain(stream, pointer, value, count))
    }

    fn launch(
        &self,
        _current: &Current,
        function: &KnownFunction,
        config: &LaunchConfig,
        arguments: &[Argument],
    ) -> Option<GpuResult<()>> {
        let (number, parameters) = function.get(self.context)?;
        let stream = self.stream.get()?;
        // A capture keeps the modules of its kernels, which are not known here.
        if stream.is_captured() {
            return None;
        }
        Some(launch_on(stream, number, parameters, config, arguments))
    }
}
