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
//! - Calls fail on request: see [`Options::failures`].
//!
//! Limitations: it is not fast, and it runs one piece of work at a time, so two streams never
//! access memory at the same time. A missing event between streams shows as a wrong order, not as
//! torn data.

mod memory;

mod stream;

mod driver;

mod fault;

mod numbers;

mod blas;

mod solver;

mod fft;

mod dnn;

mod ccl;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tfrt::prelude::*;

use crate::api::handle::{DeviceId, StreamHandle};
use crate::api::{DevicePtr, GpuError, GpuResult, Status};
use crate::platform::Gpu;
use crate::values::lock;

use fault::Fault;
use memory::DeviceMemory;
use stream::Queue;

/// The environment variable with [`Options::failures`].
pub const FAILURES_VARIABLE: &str = "TFRT_GPU_FAIL";

/// The options of a host device.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of devices.
    pub num_devices: i32,
    /// The memory of each device, in bytes.
    pub memory_bytes: usize,
    /// The number of instructions after which a launch counts as endless.
    pub max_steps: u64,
    /// Calls that fail: the name of the function, the number of the call counted from 1, and the
    /// status.
    ///
    /// As text, in the environment variable [`FAILURES_VARIABLE`]:
    /// `cuMemAlloc@3=2,cuLaunchKernel@1=719`.
    pub failures: Vec<(String, u64, u32)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            num_devices: 2,
            memory_bytes: 4 << 30,
            max_steps: 1 << 30,
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
        let text = std::env::var(FAILURES_VARIABLE).unwrap_or_default();
        let one = |text: &str| -> Option<(String, u64, u32)> {
            let (name, rest) = text.split_once('@')?;
            let (count, status) = rest.split_once('=')?;
            Some((name.to_owned(), count.parse().ok()?, status.parse().ok()?))
        };
        let entries = text.split(',').filter(|entry| !entry.is_empty());
        let failures = entries.map(|entry| {
            one(entry).ok_or_else(|| {
                Error::new(format!(
                    "expected `FUNCTION@COUNT=STATUS` in `{FAILURES_VARIABLE}`, found `{entry}`"
                ))
                .with_code(ErrorCode::InvalidArgument)
            })
        });
        Ok(Self {
            failures: failures.collect::<Result<_>>()?,
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
    objects: Mutex<driver::Objects>,
    libraries: Mutex<Libraries>,
    /// The number of calls of each function.
    counts: Mutex<HashMap<&'static str, u64>>,
    next_handle: AtomicU64,
    groups: ccl::Groups,
}

/// The objects of libraries.
#[derive(Debug, Default)]
struct Libraries {
    /// Handles of BLAS, DNN and solver, and the streams that they work on.
    streams: HashMap<u64, Option<StreamHandle>>,
    plans: HashMap<u64, fft::HostPlan>,
    descriptors: HashMap<u64, Arc<crate::api::dnn::Descriptor>>,
    convolutions: HashMap<u64, Arc<crate::api::dnn::ConvolutionPlan>>,
    comms: HashMap<u64, Arc<ccl::Comm>>,
}

impl HostDevice {
    /// Creates a host device.
    #[must_use]
    pub fn open(options: Options) -> Arc<Gpu> {
        let shared = driver::Shared(Self::new(options));
        let shared = Arc::new(shared);
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

    fn new(options: Options) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            // ordering: only distinctness counts.
            identity: NEXT.fetch_add(1, Ordering::Relaxed) as usize,
            memory: Mutex::new(DeviceMemory::new(options.memory_bytes)),
            options,
            objects: Mutex::default(),
            libraries: Mutex::default(),
            counts: Mutex::default(),
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
        let mut counts = lock(&self.counts);
        let count = counts.entry(name).or_insert(0);
        *count += 1;
        let failures = self.options.failures.iter();
        failures
            .filter(|(function, number, _)| function == name && number == count)
            .map(|(_, _, status)| *status)
            .next()
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
        match stream.flatten() {
            Some(stream) => self.queue(call, stream),
            None => Err(GpuError::new(call, unknown)),
        }
    }

    fn create_library_handle(&self) -> u64 {
        let handle = self.new_handle();
        lock(&self.libraries).streams.insert(handle, None);
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

    fn set_library_stream(
        &self,
        call: &'static str,
        handle: u64,
        stream: StreamHandle,
        unknown: Status,
    ) -> GpuResult<()> {
        self.queue(call, stream)?;
        match lock(&self.libraries).streams.get_mut(&handle) {
            Some(known) => {
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
