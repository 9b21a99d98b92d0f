//! The host device: a GPU implemented with threads and memory of this process.
//!
//! ```text
//!   calls ──► streams: one thread each, in order ──► memory: blocks with gaps between, which nobody else reaches
//!                                                └── kernels: PTX, interpreted (`tfrt_ptx`)
//! ```
//!
//! It is for programs and tests without a GPU, and for finding mistakes: it reports what a GPU
//! leaves undefined.
//!
//! - Work is asynchronous: a call returns once its work is enqueued, and a program that does not
//!   synchronize reads old data here, too.
//! - Addresses of device memory mean nothing to the host. They are never reused, and there are gaps
//!   between blocks, so an access outside of a block, or after it was freed, is an error that names
//!   the block and the access. New memory is filled with the byte 0xFF.
//! - A fault of a kernel makes the context unusable, as on a GPU: every later call of the context
//!   fails with the same status and a description of the fault.
//! - If [`Options::checks_order`] is set, an access that nothing orders after the last write of
//!   another stream is reported: neither an event nor a wait of the host lies between.
//! - Calls fail on request: see [`Options::failures`].
//!
//! Limitations: it is not fast, and it runs one piece of work at a time, so two streams never
//! access memory at the same time. A missing event between streams shows as a wrong order, not as
//! torn data.

mod memory;

mod stream;

mod order;

mod driver;

mod graphs;

mod fault;

mod numbers;

mod blas;

mod solver;

mod fft;

mod dnn;

mod ccl;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tfrt::prelude::*;

use crate::api::handle::{ContextHandle, DeviceId, FunctionHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::failures::{self, Failure, Failures};
use crate::platform::Gpu;
use crate::values::lock;

use fault::Fault;
use memory::DeviceMemory;
use order::Seen;
use stream::Queue;

/// The options of a host device.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of devices.
    pub num_devices: i32,
    /// The memory of each device, in bytes.
    pub memory_bytes: usize,
    /// The number of instructions after which a launch counts as endless.
    pub max_steps: u64,
    /// Whether accesses are reported that nothing orders after the last write of another stream.
    /// The cost of each piece of work then grows with the number of streams.
    pub checks_order: bool,
    /// The calls that fail.
    pub failures: Vec<Failure>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            num_devices: 2,
            memory_bytes: 4 << 30,
            max_steps: 1 << 30,
            checks_order: false,
            failures: Vec::new(),
        }
    }
}

impl Options {
    /// Returns the default options, with the failures that the environment requests.
    ///
    /// # Errors
    /// If the variable is malformed.
    pub fn from_environment() -> Result<Self> {
        Ok(Self {
            failures: failures::from_environment()?,
            ..Self::default()
        })
    }
}

/// A host device and its libraries.
#[derive(Debug)]
pub struct HostDevice {
    identity: usize,
    options: Options,
    memory: Mutex<DeviceMemory>,
    seen: Mutex<Seen>,
    objects: Mutex<driver::Objects>,
    libraries: Mutex<Libraries>,
    failures: Failures,
    next_handle: AtomicU64,
    groups: ccl::Groups,
}

/// The objects of libraries.
#[derive(Debug, Default)]
struct Libraries {
    /// Handles of BLAS, DNN and solver, and the streams that they work on.
    streams: HashMap<u64, (ContextHandle, Option<StreamHandle>)>,
    plans: HashMap<u64, fft::HostPlan>,
    descriptors: HashMap<u64, Arc<crate::api::dnn::Descriptor>>,
    convolutions: HashMap<u64, Arc<crate::api::dnn::ConvolutionPlan>>,
    comms: HashMap<u64, Arc<ccl::Comm>>,
}

/// Memory of the host that the device accesses in place.
///
/// The owner may access the memory at the same time. As with memory that is shared with a real
/// device, a byte is then old or new.
pub trait HostMemory: fmt::Debug + Send {
    /// Returns the number of bytes.
    fn len_bytes(&self) -> usize;

    /// Copies the bytes from `offset` on to `bytes`. The range lies inside the memory.
    ///
    /// # Errors
    /// If the host has the memory for itself now, with the reason.
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), String>;

    /// Copies `bytes` to the memory from `offset` on. The range lies inside the memory.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), String>;
}

impl HostDevice {
    /// Creates a host device.
    #[must_use]
    pub fn open(options: Options) -> Arc<Gpu> {
        Self::gpu(&Self::new(options))
    }

    /// Returns the implementation that calls a device.
    #[must_use]
    pub fn gpu(device: &Arc<Self>) -> Arc<Gpu> {
        let shared = Arc::new(driver::Shared(Arc::clone(device)));
        Arc::new(Gpu {
            name: "host device",
            driver: Arc::clone(&shared) as _,
            blas: Arc::clone(&shared) as _,
            dnn: Arc::clone(&shared) as _,
            solver: Arc::clone(&shared) as _,
            fft: Arc::clone(&shared) as _,
            ccl: shared,
        })
    }

    /// Creates a device, for callers that need more than the [interface](Self::gpu) of all
    /// implementations.
    #[must_use]
    pub fn new(mut options: Options) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            // ordering: only distinctness counts.
            identity: NEXT.fetch_add(1, Ordering::Relaxed) as usize,
            memory: Mutex::new(
                DeviceMemory::new(options.memory_bytes).with_order_checks(options.checks_order),
            ),
            seen: Mutex::default(),
            failures: Failures::new(std::mem::take(&mut options.failures)),
            options,
            objects: Mutex::default(),
            libraries: Mutex::default(),
            next_handle: AtomicU64::new(0x10_0000),
            groups: ccl::Groups::default(),
        })
    }

    fn new_handle(&self) -> u64 {
        // ordering: only distinctness counts.
        self.next_handle.fetch_add(0x10, Ordering::Relaxed)
    }

    /// Counts a call of a function of the driver or a library, and returns the failure if one was
    /// requested.
    fn count(&self, name: &'static str) -> Option<u32> {
        self.failures.next(name)
    }

    /// Makes memory of the host accessible to the device at `address`, until
    /// `host_memory_unregister`.
    ///
    /// # Errors
    /// `HOST_MEMORY_ALREADY_REGISTERED` if a block overlaps it, `INVALID_VALUE` if it is empty.
    pub fn register_memory(
        &self,
        current: &Current,
        address: u64,
        memory: Box<dyn HostMemory>,
    ) -> GpuResult<DevicePtr> {
        self.register(
            "cuMemHostRegister(ptr, size, flags)",
            current,
            address,
            memory,
        )
    }

    /// Returns the offset and the size of each parameter of a kernel, in bytes.
    #[must_use]
    pub fn parameters(&self, function: FunctionHandle) -> Option<Vec<(usize, usize)>> {
        lock(&self.objects).parameters(function)
    }

    /// Returns the streams, events, modules and memory blocks of a context, as a message names
    /// them.
    #[must_use]
    pub fn resources(&self, context: ContextHandle) -> Vec<String> {
        let memory = lock(&self.memory).left_by(context);
        let objects = lock(&self.objects);
        driver::resources(&memory, &objects, context)
    }

    /// Returns the number of objects that programs have created and not destroyed: contexts,
    /// streams, events, modules, memory blocks, and handles and descriptors of libraries.
    #[must_use]
    pub fn num_live(&self) -> usize {
        let num_blocks = lock(&self.memory).num_blocks();
        let num_objects = lock(&self.objects).num_live();
        let libraries = lock(&self.libraries);
        let num_handles = libraries.streams.len() + libraries.plans.len();
        let num_descriptors = libraries.descriptors.len() + libraries.convolutions.len();
        num_blocks + num_objects + num_handles + num_descriptors + libraries.comms.len()
    }

    /// Returns the accesses that nothing orders after the last write of another stream, one for
    /// each memory block: see [`Options::checks_order`]. Each is also a line of the log.
    #[must_use]
    pub fn unordered_accesses(&self) -> Vec<String> {
        lock(&self.memory).unordered_accesses()
    }

    /// Returns a call of a library function, which may be meant to fail.
    fn enter_library(
        &self,
        name: &'static str,
        call: &'static str,
        status: fn(u32) -> Status,
    ) -> GpuResult<()> {
        match self.count(name) {
            Some(code) => Err(GpuError::new(call, status(code))),
            None => Ok(()),
        }
    }

    /// Refuses a call that multiplies more numbers than a kernel may execute instructions.
    fn check_work(
        &self,
        call: &'static str,
        factors: impl IntoIterator<Item = usize>,
        refusal: Status,
    ) -> GpuResult<()> {
        let max = self.options.max_steps;
        let num_products = factors
            .into_iter()
            .try_fold(1_u64, |all, factor| all.checked_mul(factor as u64));
        if num_products.is_some_and(|products| products <= max) {
            return Ok(());
        }
        Err(GpuError::new(call, refusal)
            .with_details(format!("the host device computes at most {max} products")))
    }

    /// Returns the number of a device.
    fn check_device(&self, call: &'static str, device: DeviceId) -> GpuResult<()> {
        if (0..self.options.num_devices).contains(&device.0) {
            return Ok(());
        }
        Err(GpuError::new(call, Status::INVALID_DEVICE))
    }

    /// Returns the queue that a library handle works on.
    fn library_queue(
        &self,
        call: &'static str,
        handle: u64,
        unknown: Status,
    ) -> GpuResult<Arc<Queue>> {
        let stream = lock(&self.libraries).streams.get(&handle).copied();
        match stream.and_then(|(_, stream)| stream) {
            Some(stream) => self.queue(call, stream),
            None => Err(GpuError::new(call, unknown)),
        }
    }

    fn create_library_handle(&self, current: &Current) -> u64 {
        let handle = self.new_handle();
        let entry = (current.context(), None);
        lock(&self.libraries).streams.insert(handle, entry);
        handle
    }

    fn destroy_library_handle(
        &self,
        call: &'static str,
        handle: u64,
        unknown: Status,
    ) -> GpuResult<()> {
        match lock(&self.libraries).streams.remove(&handle) {
            Some(_) => Ok(()),
            None => Err(GpuError::new(call, unknown)),
        }
    }

    /// Sets the stream of a library handle. `unknown` is the status for handles that do not exist,
    /// and `mixed` the one for a stream of another context.
    fn set_library_stream(
        &self,
        call: &'static str,
        handle: u64,
        stream: StreamHandle,
        unknown: Status,
        mixed: Status,
    ) -> GpuResult<()> {
        let queue = self.queue(call, stream)?;
        match lock(&self.libraries).streams.get_mut(&handle) {
            Some((context, _)) if *context != queue.context => {
                Err(driver::two_contexts(call, mixed))
            }
            Some((_, known)) => {
                *known = Some(stream);
                Ok(())
            }
            None => Err(GpuError::new(call, unknown)),
        }
    }
}

/// Numbers in device memory, of a type that is stored in some bytes.
fn read_bytes(
    memory: &DeviceMemory,
    pointer: DevicePtr,
    num_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    // A block has a limit; what a program asks for has none.
    memory.check("read", pointer.address(), num_bytes)?;
    let mut bytes = vec![0; num_bytes];
    memory.read(pointer.address(), &mut bytes)?;
    Ok(bytes)
}
