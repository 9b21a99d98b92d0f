//! Objects that many calls name, as an implementation knows them.
//!
//! A C driver does not check handles and addresses, so an implementation looks up those of each
//! call. Nearly all calls use objects that values own. Such a value keeps what a look-up has found,
//! and its calls pass that on instead of the handle.
//!
//! What is known may keep the object. Once the handle is gone, a call by what is known does nothing
//! and says so. Its caller then makes the call by the handle, which fails as it should. An owner of
//! a handle first drops what it knows, so that the object ends with the handle.
//!
//! Records of blocks and functions are believed, so that only the implementations of this crate
//! create them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::current::Current;
use super::driver::{Argument, LaunchConfig};
use super::error::GpuResult;
use super::handle::DevicePtr;

/// A stream that an implementation knows.
///
/// Each method makes the call of its name, or does nothing and returns `None` if it does not know
/// an object well enough: because its handle is gone, it belongs to another driver, or it needs
/// more than the call.
pub trait KnownStream: Debug + Send + Sync {
    /// Makes the call [`copy_async`](super::driver::MemoryCalls::copy_async) on this stream.
    fn copy(
        &self,
        current: &Current,
        target: KnownBytes<'_>,
        source: KnownBytes<'_>,
        num_bytes: usize,
    ) -> Option<GpuResult<()>>;

    /// Makes the call [`set_u32_async`](super::driver::MemoryCalls::set_u32_async) on this stream.
    fn set_u32(
        &self,
        current: &Current,
        target: KnownBytes<'_>,
        value: u32,
        count: usize,
    ) -> Option<GpuResult<()>>;

    /// Makes the call [`launch`](super::driver::ModuleCalls::launch) on this stream.
    fn launch(
        &self,
        current: &Current,
        function: &KnownFunction,
        config: &LaunchConfig,
        arguments: &[Argument],
    ) -> Option<GpuResult<()>>;
}

/// A block of memory that an implementation knows.
#[derive(Clone, Debug)]
pub struct KnownBlock {
    list: usize,
    start: u64,
    num_bytes: u64,
    is_listed: Arc<AtomicBool>,
}

impl KnownBlock {
    /// Creates the record of a block in a list of the implementation, whose number no other list
    /// of the process has. `is_listed` becomes false when the list forgets the block.
    pub(crate) fn new(
        list: usize,
        start: DevicePtr,
        num_bytes: usize,
        is_listed: Arc<AtomicBool>,
    ) -> Self {
        Self {
            list,
            start: start.address(),
            num_bytes: num_bytes as u64,
            is_listed,
        }
    }

    /// Returns `true` if the block is in the list of this number, and contains these bytes.
    #[inline]
    #[must_use]
    pub fn contains(&self, list: usize, pointer: DevicePtr, num_bytes: usize) -> bool {
        // An address below the start is at an offset that no block has.
        let offset = pointer.address().wrapping_sub(self.start);
        let left = self.num_bytes.checked_sub(offset);
        self.list == list
            && left.is_some_and(|left| num_bytes as u64 <= left)
            // ordering: a call that runs meanwhile may find the block or not, as with the list.
            && self.is_listed.load(Ordering::Relaxed)
    }
}

/// Bytes from an address on, which are expected to be in a block.
#[derive(Clone, Copy, Debug)]
pub struct KnownBytes<'a> {
    /// The block.
    pub block: &'a KnownBlock,
    /// The address of the first byte.
    pub pointer: DevicePtr,
}

/// A kernel of a module that an implementation knows.
#[derive(Clone, Debug)]
pub struct KnownFunction {
    context: usize,
    number: u64,
    parameters: Arc<[usize]>,
    is_listed: Arc<AtomicBool>,
    _kept: Arc<dyn Any + Send + Sync>,
}

impl KnownFunction {
    /// Creates the record of a kernel: the number of its context, which no other context of the
    /// process has, its own number in the implementation, and the sizes of its parameters in bytes.
    /// `is_listed` becomes false when its handle is gone; `kept` keeps the kernel.
    pub(crate) fn new(
        context: usize,
        number: u64,
        parameters: Arc<[usize]>,
        is_listed: Arc<AtomicBool>,
        kept: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            context,
            number,
            parameters,
            is_listed,
            _kept: kept,
        }
    }

    /// Returns the number of the kernel and the sizes of its parameters, if it is of the context of
    /// this number, and its handle still exists.
    #[inline]
    #[must_use]
    pub fn get(&self, context: usize) -> Option<(u64, &[usize])> {
        // ordering: a call that runs meanwhile may find the kernel or not, as with its handle.
        let is_found = self.context == context && self.is_listed.load(Ordering::Relaxed);
        is_found.then(|| (self.number, &*self.parameters))
    }
}
