//! Calls on streams, blocks and functions that the driver knows.
//!
//! What is known of an object is a weak reference to it, as threads remember it, or the flag of its
//! block: see [`live`](super::super::live). So a handle that was destroyed is not found here, and
//! an object in use outlives its handle.

use std::sync::{Arc, Weak};

use super::super::object::{Function, Kind, Object};
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
    stream: Weak<Object>,
    /// The list of blocks that calls on the stream may use.
    blocks: usize,
}

impl CudaDriver {
    /// Returns a stream for calls on it, if its handle is known.
    pub(super) fn stream_of(&self, stream: StreamHandle) -> Option<CudaStream> {
        let stream = self.live(Kind::Stream).get(stream.0)?;
        Some(CudaStream {
            stream: Arc::downgrade(&stream),
            blocks: self.blocks.id(),
        })
    }

    /// Returns a kernel for launches, if its handle is known.
    pub(super) fn function_of(&self, function: FunctionHandle) -> Option<KnownFunction> {
        let function = self.kernels.get(function.0)?;
        Some(KnownFunction::new(Arc::downgrade(&function)))
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
        let stream = self.stream.upgrade()?;
        Some(copy_plain(
            &stream,
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
        let stream = self.stream.upgrade()?;
        Some(set_plain(&stream, pointer, value, count))
    }

    fn launch(
        &self,
        _current: &Current,
        function: &KnownFunction,
        config: &LaunchConfig,
        arguments: &[Argument],
    ) -> Option<GpuResult<()>> {
        let function = function.get::<Weak<Function>>()?.upgrade()?;
        let stream = self.stream.upgrade()?;
        let (context, module) = (&stream.context, &function.module.context);
        // Contexts of two drivers may have one number.
        if !Arc::ptr_eq(context, module) && !Arc::ptr_eq(&context.functions, &module.functions) {
            return None;
        }
        Some(launch_on(&stream, &function, config, arguments))
    }
}
