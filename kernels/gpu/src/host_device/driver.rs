//! The driver of the host device: its state, and what its families of calls share.

mod devices;

mod streams;

mod memory;

mod modules;

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt_ptx::{KernelId, Program};

use super::fault::Fault;
use super::graphs::HostGraph;
use super::memory::Owner;
use super::order::Clock;
use super::stream::{HostEvent, Queue, Refusal, Work};
use super::{HostDevice, HostMemory};
use crate::api::driver::{DeviceMemory, Driver};
use crate::api::handle::{ContextHandle, DeviceId, FunctionHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;
use streams::Reaper;

thread_local! {
    /// The current contexts of this thread, by device.
    static CURRENT: RefCell<Vec<(usize, ContextHandle)>> = const { RefCell::new(Vec::new()) };
}

/// The device, as all its threads share it.
#[derive(Clone, Debug)]
pub(super) struct Shared(pub(super) Arc<HostDevice>);

/// The objects of the driver, by handle.
#[derive(Debug, Default)]
pub(super) struct Objects {
    is_initialized: bool,
    contexts: HashMap<u64, HostContext>,
    /// The primary contexts, by device, and how often they are retained.
    primary: HashMap<i32, (ContextHandle, usize)>,
    streams: HashMap<u64, Arc<Queue>>,
    /// Streams that were destroyed while work was left.
    closed: Vec<Arc<Queue>>,
    events: HashMap<u64, HostEvent>,
    modules: HashMap<u64, HostModule>,
    functions: HashMap<u64, (Arc<Program>, KernelId, u64)>,
    pub(super) graphs: HashMap<u64, HostGraph>,
    /// The thread that drops objects that streams have passed. It may wait for streams.
    reaper: Option<Reaper>,
}

#[derive(Debug)]
struct HostContext {
    device: DeviceId,
    /// The fault that made the context unusable.
    failure: Option<Fault>,
}

#[derive(Debug)]
struct HostModule {
    context: ContextHandle,
    program: Arc<Program>,
    variables: Vec<u64>,
}

impl Objects {
    /// Returns the number of contexts, streams, events, modules and graphs.
    pub(super) fn num_live(&self) -> usize {
        let num_streams = self.streams.len() + self.graphs.len();
        self.contexts.len() + num_streams + self.events.len() + self.modules.len()
    }

    /// Returns the offset and the size of each parameter of a kernel, in bytes.
    pub(super) fn parameters(&self, function: FunctionHandle) -> Option<Vec<(usize, usize)>> {
        let (program, kernel, _) = self.functions.get(&function.0)?;
        let places = program.module().parameters(*kernel).into_iter();
        Some(places.map(|place| (place.offset, place.size)).collect())
    }
}

/// Returns the objects of a context, as a message names them.
pub(super) fn resources(memory: &[u64], objects: &Objects, context: ContextHandle) -> Vec<String> {
    let streams = objects.streams.iter();
    let streams = streams.filter(|(_, queue)| queue.context == context);
    let events = objects.events.iter();
    let events = events.filter(|(_, event)| event.context == context);
    let modules = objects.modules.iter();
    let modules = modules.filter(|(_, module)| module.context == context);
    let graphs = objects.graphs.iter();
    let graphs = graphs.filter(|(_, graph)| graph.context == context);
    let memory = memory.iter().map(|address| (address, "device memory"));
    let mut all: Vec<(&u64, &str)> = memory
        .chain(streams.map(|(handle, _)| (handle, "stream")))
        .chain(events.map(|(handle, _)| (handle, "event")))
        .chain(modules.map(|(handle, _)| (handle, "module")))
        .chain(graphs.map(|(handle, _)| (handle, "graph")))
        .collect();
    // In order of creation.
    all.sort_unstable();
    let shown = all.iter();
    let shown = shown.map(|(handle, kind)| format!("{handle:#x} (CUDA) ({kind})"));
    shown.collect()
}

pub(super) fn error(call: &'static str, status: Status) -> GpuError {
    GpuError::new(call, status)
}

fn invalid(call: &'static str, details: impl Into<String>) -> GpuError {
    error(call, Status::INVALID_VALUE).with_details(details)
}

impl HostDevice {
    /// Counts a call, and fails it if that was requested or the driver is not initialized.
    pub(super) fn enter(&self, name: &'static str, call: &'static str) -> GpuResult<()> {
        if let Some(code) = self.count(name) {
            return Err(error(call, Status::Driver(code)));
        }
        if lock(&self.objects).is_initialized {
            return Ok(());
        }
        Err(error(call, Status::NOT_INITIALIZED))
    }

    /// Fails calls of a context that is unusable, or that does not exist.
    pub(super) fn check_context(
        &self,
        call: &'static str,
        context: ContextHandle,
    ) -> GpuResult<()> {
        let objects = lock(&self.objects);
        match objects.contexts.get(&context.0) {
            None => Err(error(call, Status::INVALID_CONTEXT)),
            Some(HostContext {
                failure: Some(fault),
                ..
            }) => Err(error(call, fault.status).with_details(fault.message.clone())),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn enter_context(
        &self,
        name: &'static str,
        call: &'static str,
        current: &Current,
    ) -> GpuResult<()> {
        self.enter(name, call)?;
        let is_current =
            CURRENT.with_borrow(|contexts| contexts.contains(&(self.identity, current.context())));
        if !is_current {
            return Err(error(call, Status::INVALID_CONTEXT));
        }
        self.check_context(call, current.context())
    }

    /// Returns the owner of memory that is allocated in the current context.
    fn owner(&self, call: &'static str, current: &Current) -> GpuResult<Owner> {
        let context = current.context();
        let objects = lock(&self.objects);
        let device = objects.contexts.get(&context.0).map(|found| found.device);
        let device = device.ok_or_else(|| error(call, Status::INVALID_CONTEXT))?;
        Ok(Owner { context, device })
    }

    /// Makes memory of the host a block.
    pub(super) fn register(
        &self,
        call: &'static str,
        current: &Current,
        address: u64,
        memory: Box<dyn HostMemory>,
    ) -> GpuResult<DevicePtr> {
        if memory.len_bytes() == 0 {
            return Err(error(call, Status::INVALID_VALUE));
        }
        let owner = self.owner(call, current)?;
        if lock(&self.memory).register(address, memory, owner) {
            return Ok(DevicePtr::new(address));
        }
        Err(error(call, Status::HOST_MEMORY_ALREADY_REGISTERED))
    }

    /// Returns the queue of a stream, if the stream exists.
    pub(super) fn find_queue(&self, stream: StreamHandle) -> Option<Arc<Queue>> {
        lock(&self.objects).streams.get(&stream.0).cloned()
    }

    /// Returns the queue of a stream.
    pub(super) fn queue(&self, call: &'static str, stream: StreamHandle) -> GpuResult<Arc<Queue>> {
        let queue = self.find_queue(stream);
        let queue = queue.ok_or_else(|| error(call, Status::INVALID_HANDLE))?;
        self.check_context(call, queue.context)?;
        Ok(queue)
    }

    /// Runs one piece of work, unless the context is unusable, and records its failure.
    pub(super) fn run(&self, context: ContextHandle, work: Work) {
        let is_usable = |objects: &Objects| {
            let context = objects.contexts.get(&context.0);
            context.is_some_and(|context| context.failure.is_none())
        };
        if !is_usable(&lock(&self.objects)) {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| work(self)))
            .unwrap_or_else(|_| Err(Fault::failed("the host device panicked")));
        if let Err(fault) = result
            && let Some(context) = lock(&self.objects).contexts.get_mut(&context.0)
        {
            context.failure.get_or_insert(fault);
        }
    }

    /// Notes work that the host has waited for.
    fn has_seen(&self, clock: &Clock) {
        if self.options.checks_order {
            lock(&self.seen).add(clock);
        }
    }

    /// Waits for all work that is enqueued on the streams of a context. Work of other contexts may
    /// wait for this thread, as the ranks of a collective operation do.
    fn wait_for_context(&self, context: ContextHandle) {
        let places: Vec<_> = {
            let mut objects = lock(&self.objects);
            objects.closed.retain(|queue| !queue.is_past(queue.end()));
            let queues = objects.streams.values().chain(&objects.closed);
            queues
                .filter(|queue| queue.context == context)
                .map(|queue| (Arc::clone(queue), queue.now()))
                .collect()
        };
        for (queue, (place, clock)) in places {
            queue.wait_for(place);
            self.has_seen(&clock);
        }
    }
}

impl Shared {
    /// Enqueues work, or records it if the stream is being captured.
    pub(super) fn push(
        &self,
        call: &'static str,
        queue: &Arc<Queue>,
        work: impl Fn(&HostDevice) -> Result<(), Fault> + Send + Sync + 'static,
    ) -> GpuResult<()> {
        let mut work = Some(work);
        let is_recorded = queue.record(|recording| {
            let work = work.take().map(|work| Box::new(work) as _);
            recording.work.extend(work);
        });
        match work {
            Some(work) if !is_recorded => self.push_once(call, queue, work),
            _ => Ok(()),
        }
    }

    /// Enqueues work that cannot be recorded.
    pub(super) fn push_once(
        &self,
        call: &'static str,
        queue: &Arc<Queue>,
        work: impl FnOnce(&HostDevice) -> Result<(), Fault> + Send + 'static,
    ) -> GpuResult<()> {
        let pushed = queue.push(&self.0, Box::new(work));
        pushed.map_err(|refusal| match refusal {
            Refusal::Closed => error(call, Status::INVALID_HANDLE),
            Refusal::NoThread => {
                error(call, Status::OPERATING_SYSTEM).with_details("cannot start a thread")
            }
        })
    }
}

/// Returns the error of a call on objects of different contexts.
pub(super) fn two_contexts(call: &'static str, status: Status) -> GpuError {
    error(call, status).with_details("the objects belong to different contexts")
}

/// The compute capability of the host device.
const CAPABILITY: (i32, i32) = (9, 0);

/// What the memory of the host device is said to do: 64 GB a second, beyond a bus, as that of a
/// small GPU.
const MEMORY: DeviceMemory = DeviceMemory {
    clock_khz: 2_000_000,
    bus_bits: 128,
    is_integrated: false,
};

impl Driver for Shared {
    fn identity(&self) -> usize {
        self.0.identity
    }
}
