//! Objects that many calls name, as an implementation knows them.
//!
//! A C driver does not check handles and addresses, so an implementation looks up those of each
//! call. Nearly all calls use objects that values own. Such a value keeps what a look-up has found,
//! and its calls pass that on instead of the handle.
//!
//! What is known keeps no object alive. Once the object is gone, a call by what is known does
//! nothing and says so. Its caller then makes the call by the handle, which fails as it should.

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
/// an object well enough: because the object is gone, belongs to another driver, or needs more than
/// the call.
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
    #[must_use]
    pub fn new(
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
pub struct KnownFunction(Arc<dyn Any + Send + Sync>);

impl KnownFunction {
    /// Creates the record of a kernel, of a type of the implementation.
    #[must_use]
    pub fn new<T: Any + Send + Sync>(function: T) -> Self {
        Self(Arc::new(function))
    }

    /// Returns the record, if it is of this type.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        (*self.0).downcast_ref()
    }
}
