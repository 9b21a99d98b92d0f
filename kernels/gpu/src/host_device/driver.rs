//! The driver of the host device.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Instant;

use tfrt::host::log;
use tfrt_ptx::{KernelId, Launch, Module, Program};
use tfrt_tensor::HostBuffer;

use super::fault::Fault;
use super::graphs::HostGraph;
use super::memory::{Kind, Owner, in_use};
use super::order::Clock;
use super::stream::{HostEvent, Queue, Refusal, Work};
use super::{HostDevice, HostMemory};
use crate::api::driver::{
    Argument, CopyEndpoint, Driver, HOST_COPY, LaunchConfig, check_arguments,
};
use crate::api::handle::{
    ContextHandle, DeviceId, EventHandle, FunctionHandle, GraphHandle, ModuleHandle, StreamHandle,
};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

/// The most threads of a block.
const MAX_BLOCK_THREADS: u64 = 1024;

/// The most dynamic shared memory of a launch, in bytes.
const MAX_SHARED_BYTES: u32 = 232_448;

thread_local! {
    /// The current contexts of this thread, by device.
    static CURRENT: RefCell<Vec<(usize, ContextHandle)>> = const { RefCell::new(Vec::new()) };
}

/// An object that streams have passed.
type Passed = Box<dyn Any + Send>;

/// The way to the thread that drops such objects.
type Reaper = mpsc::Sender<Passed>;

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

    fn reaper(&self, call: &'static str) -> GpuResult<Reaper> {
        let mut objects = lock(&self.0.objects);
        if let Some(reaper) = &objects.reaper {
            return Ok(reaper.clone());
        }
        let (sender, receiver) = mpsc::channel::<Passed>();
        let thread = std::thread::Builder::new().name("gpu reaper".into());
        let spawned = thread.spawn(move || {
            for object in receiver {
                if catch_unwind(AssertUnwindSafe(|| drop(object))).is_err() {
                    log::error!("dropping an object after GPU work panicked");
                }
            }
        });
        if spawned.is_err() {
            return Err(error(call, Status::OPERATING_SYSTEM).with_details("cannot start a thread"));
        }
        objects.reaper = Some(sender.clone());
        Ok(sender)
    }
}

/// Returns the memory that a copy reads or writes.
fn read_location(
    device: &HostDevice,
    location: &CopyEndpoint,
    num_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    match location {
        CopyEndpoint::Device(pointer) => {
            super::read_bytes(&lock(&device.memory), *pointer, num_bytes)
        }
        CopyEndpoint::Host(buffer) => {
            let bytes = buffer.read().map_err(in_use)?;
            let part = bytes.get(..num_bytes);
            Ok(part.ok_or_else(|| too_small(buffer, num_bytes))?.to_vec())
        }
    }
}

fn write_location(
    device: &HostDevice,
    location: &mut CopyEndpoint,
    bytes: &[u8],
) -> Result<(), Fault> {
    match location {
        CopyEndpoint::Device(pointer) => lock(&device.memory).write(pointer.address(), bytes),
        CopyEndpoint::Host(buffer) => {
            if buffer.len_bytes() < bytes.len() {
                return Err(too_small(buffer, bytes.len()));
            }
            let mut target = buffer.write().map_err(in_use)?;
            target[..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }
}

fn too_small(buffer: &HostBuffer, wanted: usize) -> Fault {
    let found = buffer.len_bytes();
    Fault::illegal_address(format!(
        "copy of {wanted} bytes: the host buffer has {found}"
    ))
}

impl Driver for Shared {
    fn identity(&self) -> usize {
        self.0.identity
    }

    fn init(&self) -> GpuResult<()> {
        const CALL: &str = "cuInit(0)";
        if let Some(code) = self.0.count("cuInit") {
            return Err(error(CALL, Status::Driver(code)));
        }
        lock(&self.0.objects).is_initialized = true;
        Ok(())
    }

    fn version(&self) -> GpuResult<i32> {
        self.0
            .enter("cuDriverGetVersion", "cuDriverGetVersion(&version)")?;
        Ok(12080)
    }

    fn device_count(&self) -> GpuResult<i32> {
        self.0
            .enter("cuDeviceGetCount", "cuDeviceGetCount(&count)")?;
        Ok(self.0.options.num_devices)
    }

    fn device(&self, ordinal: i32) -> GpuResult<DeviceId> {
        const CALL: &str = "cuDeviceGet(&device, ordinal)";
        self.0.enter("cuDeviceGet", CALL)?;
        self.0.check_device(CALL, DeviceId(ordinal))?;
        Ok(DeviceId(ordinal))
    }

    fn device_name(&self, device: DeviceId) -> GpuResult<String> {
        const CALL: &str = "cuDeviceGetName(name, len, device)";
        self.0.enter("cuDeviceGetName", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok("host device".into())
    }

    fn device_total_memory(&self, device: DeviceId) -> GpuResult<usize> {
        const CALL: &str = "cuDeviceTotalMem(&bytes, device)";
        self.0.enter("cuDeviceTotalMem", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok(self.0.options.memory_bytes)
    }

    fn device_capability(&self, device: DeviceId) -> GpuResult<(i32, i32)> {
        const CALL: &str = "cuDeviceGetAttribute(&value, attribute, device)";
        self.0.enter("cuDeviceGetAttribute", CALL)?;
        self.0.check_device(CALL, device)?;
        Ok(CAPABILITY)
    }

    fn device_can_access_peer(&self, device: DeviceId, peer: DeviceId) -> GpuResult<bool> {
        const CALL: &str = "cuDeviceCanAccessPeer(&can_access, device, peer)";
        self.0.enter("cuDeviceCanAccessPeer", CALL)?;
        self.0.check_device(CALL, device)?;
        self.0.check_device(CALL, peer)?;
        Ok(device != peer)
    }

    fn primary_context_retain(&self, device: DeviceId) -> GpuResult<ContextHandle> {
        const CALL: &str = "cuDevicePrimaryCtxRetain(&context, device)";
        self.0.enter("cuDevicePrimaryCtxRetain", CALL)?;
        self.0.check_device(CALL, device)?;
        let new = ContextHandle(self.0.new_handle());
        let mut objects = lock(&self.0.objects);
        let (handle, count) = objects.primary.entry(device.0).or_insert((new, 0));
        *count += 1;
        let handle = *handle;
        objects.contexts.entry(handle.0).or_insert(HostContext {
            device,
            failure: None,
        });
        Ok(handle)
    }

    fn primary_context_release(&self, device: DeviceId) -> GpuResult<()> {
        const CALL: &str = "cuDevicePrimaryCtxRelease(device)";
        self.0.enter("cuDevicePrimaryCtxRelease", CALL)?;
        let mut objects = lock(&self.0.objects);
        let Some((handle, count)) = objects.primary.get_mut(&device.0) else {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        };
        *count -= 1;
        if *count > 0 {
            return Ok(());
        }
        let handle = *handle;
        // Who retains it from now on gets another one.
        objects.primary.remove(&device.0);
        drop(objects);
        self.0.wait_for_context(handle);
        let left = self.0.resources(handle);
        lock(&self.0.objects).contexts.remove(&handle.0);
        Current::forget();
        dangling(CALL, handle, &left)
    }

    fn context_create(&self, device: DeviceId) -> GpuResult<ContextHandle> {
        const CALL: &str = "cuCtxCreate(&context, flags, device)";
        self.0.enter("cuCtxCreate", CALL)?;
        self.0.check_device(CALL, device)?;
        let handle = ContextHandle(self.0.new_handle());
        let context = HostContext {
            device,
            failure: None,
        };
        lock(&self.0.objects).contexts.insert(handle.0, context);
        self.context_set_current(Some(handle))?;
        Current::forget();
        Ok(handle)
    }

    fn context_destroy(&self, context: ContextHandle) -> GpuResult<()> {
        const CALL: &str = "cuCtxDestroy(context)";
        self.0.enter("cuCtxDestroy", CALL)?;
        self.0.wait_for_context(context);
        let left = self.0.resources(context);
        let mut objects = lock(&self.0.objects);
        if objects
            .primary
            .values()
            .any(|(primary, _)| *primary == context)
        {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        }
        if objects.contexts.remove(&context.0).is_none() {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        }
        drop(objects);
        Current::forget();
        dangling(CALL, context, &left)
    }

    fn context_set_current(&self, context: Option<ContextHandle>) -> GpuResult<()> {
        const CALL: &str = "cuCtxSetCurrent(context)";
        self.0.enter("cuCtxSetCurrent", CALL)?;
        if let Some(context) = context
            && !lock(&self.0.objects).contexts.contains_key(&context.0)
        {
            return Err(error(CALL, Status::INVALID_CONTEXT));
        }
        CURRENT.with_borrow_mut(|contexts| {
            contexts.retain(|(device, _)| *device != self.0.identity);
            contexts.extend(context.map(|context| (self.0.identity, context)));
        });
        Ok(())
    }

    fn context_device(&self, current: &Current) -> GpuResult<DeviceId> {
        const CALL: &str = "cuCtxGetDevice(&device)";
        self.0.enter_context("cuCtxGetDevice", CALL, current)?;
        let objects = lock(&self.0.objects);
        let context = objects.contexts.get(&current.context().0);
        context
            .map(|context| context.device)
            .ok_or_else(|| error(CALL, Status::INVALID_CONTEXT))
    }

    fn context_synchronize(&self, current: &Current) -> GpuResult<()> {
        const CALL: &str = "cuCtxSynchronize()";
        self.0.enter_context("cuCtxSynchronize", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        self.0.wait_for_context(current.context());
        self.0.check_context(CALL, current.context())
    }

    fn stream_create(&self, current: &Current) -> GpuResult<StreamHandle> {
        const CALL: &str = "cuStreamCreate(&stream, flags)";
        self.0.enter_context("cuStreamCreate", CALL, current)?;
        let handle = self.0.new_handle();
        let queue = Arc::new(Queue::new(handle, current.context()));
        lock(&self.0.objects).streams.insert(handle, queue);
        Ok(StreamHandle(handle))
    }

    fn stream_destroy(&self, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamDestroy(stream)";
        self.0.enter("cuStreamDestroy", CALL)?;
        let mut objects = lock(&self.0.objects);
        let Some(queue) = objects.streams.remove(&stream.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        queue.close();
        if !queue.is_past(queue.end()) {
            objects.closed.push(queue);
        }
        drop(objects);
        // If the host has waited for all work of the stream, the stream is settled now.
        self.0.has_seen(&Clock::default());
        Ok(())
    }

    fn stream_synchronize(&self, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamSynchronize(stream)";
        self.0.enter("cuStreamSynchronize", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let (place, clock) = queue.now();
        queue.wait_for(place);
        self.0.has_seen(&clock);
        self.0.check_context(CALL, queue.context)
    }

    fn stream_query(&self, stream: StreamHandle) -> GpuResult<bool> {
        const CALL: &str = "cuStreamQuery(stream)";
        self.0.enter("cuStreamQuery", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let (place, clock) = queue.now();
        let is_past = queue.is_past(place);
        if is_past {
            self.0.has_seen(&clock);
        }
        Ok(is_past)
    }

    fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuStreamWaitEvent(stream, event, 0)";
        self.0.enter("cuStreamWaitEvent", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let objects = lock(&self.0.objects);
        let Some(event) = objects.events.get(&event.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        let Some((recorded, place)) = event.place.clone() else {
            return Ok(());
        };
        let clock = event.clock.clone();
        drop(objects);
        if Arc::ptr_eq(&recorded, &queue) {
            return Ok(());
        }
        queue.join(&clock);
        self.push_once(CALL, &queue, move |_| {
            recorded.wait_for(place);
            Ok(())
        })
    }

    fn keep_until_passed(
        &self,
        stream: StreamHandle,
        object: Box<dyn Any + Send>,
    ) -> GpuResult<()> {
        const CALL: &str = "cuLaunchHostFunc(stream, function, data)";
        self.0.enter("cuLaunchHostFunc", CALL)?;
        let reaper = self.reaper(CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        // Work of an unusable context is dropped without running, and with it the object: to the
        // reaper, too.
        let mut kept = Some(Kept(Some((object, reaper))));
        if queue.record(|recording| {
            let kept = kept.take().map(|kept| Box::new(kept) as _);
            recording.kept.extend(kept);
        }) {
            return Ok(());
        }
        self.push_once(CALL, &queue, move |_| {
            drop(kept);
            Ok(())
        })
    }

    fn event_create(&self, current: &Current, has_timing: bool) -> GpuResult<EventHandle> {
        const CALL: &str = "cuEventCreate(&event, flags)";
        self.0.enter_context("cuEventCreate", CALL, current)?;
        let handle = self.0.new_handle();
        let event = HostEvent {
            context: current.context(),
            has_timing,
            clock: Clock::default(),
            place: None,
            time: Arc::default(),
        };
        lock(&self.0.objects).events.insert(handle, event);
        Ok(EventHandle(handle))
    }

    fn event_destroy(&self, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventDestroy(event)";
        self.0.enter("cuEventDestroy", CALL)?;
        match lock(&self.0.objects).events.remove(&event.0) {
            Some(_) => Ok(()),
            None => Err(error(CALL, Status::INVALID_HANDLE)),
        }
    }

    fn event_record(&self, event: EventHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventRecord(event, stream)";
        self.0.enter("cuEventRecord", CALL)?;
        let queue = self.0.queue(CALL, stream)?;
        Self::refuse_capture(CALL, &queue)?;
        let (context, has_timing) = {
            let objects = lock(&self.0.objects);
            let event = objects.events.get(&event.0);
            let event = event.ok_or_else(|| error(CALL, Status::INVALID_HANDLE))?;
            (event.context, event.has_timing)
        };
        if context != queue.context {
            return Err(two_contexts(CALL, Status::INVALID_HANDLE));
        }
        let time = Arc::new(Mutex::new(None));
        if has_timing {
            let time = Arc::clone(&time);
            self.push_once(CALL, &queue, move |_| {
                *lock(&time) = Some(Instant::now());
                Ok(())
            })?;
        }
        if let Some(event) = lock(&self.0.objects).events.get_mut(&event.0) {
            let (place, clock) = queue.now();
            event.clock = clock;
            event.place = Some((Arc::clone(&queue), place));
            event.time = time;
        }
        Ok(())
    }

    fn event_query(&self, event: EventHandle) -> GpuResult<bool> {
        const CALL: &str = "cuEventQuery(event)";
        self.0.enter("cuEventQuery", CALL)?;
        match self.event_place(CALL, event)? {
            Some((queue, place, _)) if !queue.is_past(place) => Ok(false),
            Some((_, _, clock)) => {
                self.0.has_seen(&clock);
                Ok(true)
            }
            None => Ok(true),
        }
    }

    fn event_synchronize(&self, event: EventHandle) -> GpuResult<()> {
        const CALL: &str = "cuEventSynchronize(event)";
        self.0.enter("cuEventSynchronize", CALL)?;
        match self.event_place(CALL, event)? {
            None => Ok(()),
            Some((queue, place, clock)) => {
                queue.wait_for(place);
                self.0.has_seen(&clock);
                self.0.check_context(CALL, queue.context)
            }
        }
    }

    fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> GpuResult<f32> {
        const CALL: &str = "cuEventElapsedTime(&milliseconds, start, end)";
        self.0.enter("cuEventElapsedTime", CALL)?;
        let objects = lock(&self.0.objects);
        let time = |event: EventHandle| {
            let event = objects.events.get(&event.0);
            let event = event.ok_or_else(|| error(CALL, Status::INVALID_HANDLE))?;
            if !event.has_timing || event.place.is_none() {
                return Err(error(CALL, Status::INVALID_HANDLE));
            }
            lock(&event.time).ok_or_else(|| error(CALL, Status::NOT_READY))
        };
        let (start, end) = (time(start)?, time(end)?);
        Ok(end.saturating_duration_since(start).as_secs_f32() * 1000.0)
    }

    fn memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        const CALL: &str = "cuMemAlloc(&ptr, size)";
        let entered = self.0.enter_context("cuMemAlloc", CALL, current);
        let entered = entered.and_then(|()| self.0.refuse_in_capture(CALL));
        let owner = self.0.owner(CALL, current)?;
        let mut memory = lock(&self.0.memory);
        let info = memory.info(owner.device);
        let full = || GpuError::out_of_memory(num_bytes, Some(info), owner.device.0);
        match entered {
            // A failure that was asked for has the text of one that was not.
            Err(error) if error.status == Status::OUT_OF_MEMORY => return Err(full()),
            entered => entered?,
        }
        if num_bytes == 0 {
            return Err(error(CALL, Status::INVALID_VALUE));
        }
        let address = memory.allocate(num_bytes, 1, Kind::Device, owner);
        address.map(DevicePtr::new).ok_or_else(full)
    }

    fn memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        self.free("cuMemFree", "cuMemFree(ptr)", pointer, Kind::Device)
    }

    fn memory_info(&self, current: &Current) -> GpuResult<(usize, usize)> {
        const CALL: &str = "cuMemGetInfo(&free, &total)";
        self.0.enter_context("cuMemGetInfo", CALL, current)?;
        let owner = self.0.owner(CALL, current)?;
        Ok(lock(&self.0.memory).info(owner.device))
    }

    fn host_memory_allocate(&self, current: &Current, num_bytes: usize) -> GpuResult<DevicePtr> {
        const CALL: &str = "cuMemHostAlloc(&ptr, size, flags)";
        self.0.enter_context("cuMemHostAlloc", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        let owner = self.0.owner(CALL, current)?;
        let mut memory = lock(&self.0.memory);
        match memory.allocate(num_bytes, 1, Kind::Pinned, owner) {
            Some(address) => Ok(DevicePtr::new(address)),
            None => Err(error(CALL, Status::OUT_OF_MEMORY)),
        }
    }

    fn host_memory_free(&self, pointer: DevicePtr) -> GpuResult<()> {
        self.free("cuMemFreeHost", "cuMemFreeHost(ptr)", pointer, Kind::Pinned)
    }

    fn host_memory_register(&self, current: &Current, buffer: &HostBuffer) -> GpuResult<DevicePtr> {
        const CALL: &str = "cuMemHostRegister(ptr, size, flags)";
        self.0.enter_context("cuMemHostRegister", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        let address = buffer.address() as u64;
        let memory = Box::new(buffer.clone());
        self.0.register(CALL, current, address, memory)
    }

    fn host_memory_unregister(&self, pointer: DevicePtr) -> GpuResult<()> {
        const CALL: &str = "cuMemHostUnregister(ptr)";
        self.free("cuMemHostUnregister", CALL, pointer, Kind::Registered)
    }

    fn host_memory_read(&self, pointer: DevicePtr, bytes: &mut [u8]) -> GpuResult<()> {
        const CALL: &str = "cuPointerGetAttribute(&type, attribute, ptr)";
        self.0.enter("cuPointerGetAttribute", CALL)?;
        let memory = lock(&self.0.memory);
        if !is_host_memory(memory.kind_at(pointer.address())) {
            let details = "the memory cannot be read by the host";
            return Err(error(CALL, Status::INVALID_VALUE).with_details(details));
        }
        let read = memory.read(pointer.address(), bytes);
        read.map_err(|fault| error(CALL, fault.status).with_details(fault.message))
    }

    fn host_memory_write(&self, pointer: DevicePtr, bytes: &[u8]) -> GpuResult<()> {
        const CALL: &str = "cuPointerGetAttribute(&type, attribute, ptr)";
        self.0.enter("cuPointerGetAttribute", CALL)?;
        let mut memory = lock(&self.0.memory);
        if !is_host_memory(memory.kind_at(pointer.address())) {
            let details = "the memory cannot be written by the host";
            return Err(error(CALL, Status::INVALID_VALUE).with_details(details));
        }
        let written = memory.write(pointer.address(), bytes);
        written.map_err(|fault| error(CALL, fault.status).with_details(fault.message))
    }

    fn copy_async(
        &self,
        current: &Current,
        target: &CopyEndpoint,
        source: &CopyEndpoint,
        num_bytes: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuMemcpyAsync(dst, src, size, stream)";
        self.0.enter_context("cuMemcpyAsync", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        if let (CopyEndpoint::Device(target), CopyEndpoint::Device(source)) = (target, source) {
            let (target, source) = (*target, *source);
            let is_registered = |pointer: DevicePtr| {
                let kind = lock(&self.0.memory).kind_at(pointer.address());
                kind == Some(Kind::Registered)
            };
            if (is_registered(target) || is_registered(source)) && queue.refuse_recording(HOST_COPY)
            {
                return Ok(());
            }
            return self.push(CALL, &queue, move |device| {
                let mut memory = lock(&device.memory);
                let bytes = super::read_bytes(&memory, source, num_bytes)?;
                memory.write(target.address(), &bytes)
            });
        }
        if queue.refuse_recording(HOST_COPY) {
            return Ok(());
        }
        let (mut target, source) = (target.clone(), source.clone());
        self.push_once(CALL, &queue, move |device| {
            let bytes = read_location(device, &source, num_bytes)?;
            drop(source);
            write_location(device, &mut target, &bytes)
        })
    }

    fn set_u32_async(
        &self,
        current: &Current,
        pointer: DevicePtr,
        value: u32,
        count: usize,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "cuMemsetD32Async(ptr, value, count, stream)";
        self.0.enter_context("cuMemsetD32Async", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        if !pointer.address().is_multiple_of(4) {
            return Err(error(CALL, Status::INVALID_VALUE));
        }
        self.push(CALL, &queue, move |device| {
            lock(&device.memory).fill(pointer.address(), value, count)
        })
    }

    fn module_load(&self, current: &Current, image: &[u8]) -> GpuResult<ModuleHandle> {
        const CALL: &str = "cuModuleLoadDataEx(&module, image, options)";
        self.0.enter_context("cuModuleLoadDataEx", CALL, current)?;
        self.0.refuse_in_capture(CALL)?;
        let end = image.iter().position(|byte| *byte == 0);
        let image = &image[..end.unwrap_or(image.len())];
        if image.starts_with(b"\x7fELF") {
            let details = "the host device runs PTX, not machine code";
            return Err(error(CALL, Status::NO_BINARY_FOR_GPU).with_details(details));
        }
        let text = std::str::from_utf8(image).map_err(|_| error(CALL, Status::INVALID_IMAGE))?;
        if !starts_as_ptx(text) {
            return Err(error(CALL, Status::INVALID_IMAGE));
        }
        let invalid = |log: String| {
            error(CALL, Status::INVALID_PTX).with_details(format!("GPU JIT error log: {log}"))
        };
        let module = Module::parse(text).map_err(|error| invalid(error.to_string()))?;
        if module.version() > NEWEST_PTX {
            let ((major, minor), (newest_major, newest_minor)) = (module.version(), NEWEST_PTX);
            let details = format!(
                "expected at most PTX {newest_major}.{newest_minor}, found {major}.{minor}"
            );
            return Err(error(CALL, Status::UNSUPPORTED_PTX_VERSION).with_details(details));
        }
        check_target(module.target()).map_err(invalid)?;
        let owner = self.0.owner(CALL, current)?;
        let mut memory = lock(&self.0.memory);
        let mut variables = Vec::new();
        let mut is_full = false;
        let placed = Program::place(module, |variable| {
            if variable.is_extern() {
                return None;
            }
            let num_bytes = usize::try_from(variable.size()).ok()?.max(1);
            let address = memory.allocate(num_bytes, variable.align(), Kind::Global, owner);
            is_full |= address.is_none();
            variables.extend(address);
            address
        });
        let initialised = placed
            .map_err(|error| invalid(error.to_string()))
            .and_then(|program| match program.initialise(&mut *memory) {
                Ok(()) => Ok(program),
                Err(error) => Err(invalid(error.to_string())),
            });
        let program = initialised.map_err(|failure| {
            for address in &variables {
                memory.free(*address, Kind::Global);
            }
            match is_full {
                true => error(CALL, Status::OUT_OF_MEMORY),
                false => failure,
            }
        })?;
        drop(memory);
        let handle = self.0.new_handle();
        let module = HostModule {
            context: current.context(),
            program: Arc::new(program),
            variables,
        };
        lock(&self.0.objects).modules.insert(handle, module);
        Ok(ModuleHandle(handle))
    }

    fn module_unload(&self, module: ModuleHandle) -> GpuResult<()> {
        const CALL: &str = "cuModuleUnload(module)";
        self.0.enter("cuModuleUnload", CALL)?;
        self.0.refuse_in_capture(CALL)?;
        let found = lock(&self.0.objects)
            .modules
            .get(&module.0)
            .map(|module| module.context);
        if let Some(context) = found {
            self.0.wait_for_context(context);
        }
        let mut objects = lock(&self.0.objects);
        let Some(removed) = objects.modules.remove(&module.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        objects.functions.retain(|_, (_, _, of)| *of != module.0);
        drop(objects);
        let mut memory = lock(&self.0.memory);
        for address in removed.variables {
            memory.free(address, Kind::Global);
        }
        Ok(())
    }

    fn module_function(&self, module: ModuleHandle, name: &str) -> GpuResult<FunctionHandle> {
        const CALL: &str = "cuModuleGetFunction(&function, module, name)";
        self.0.enter("cuModuleGetFunction", CALL)?;
        let mut objects = lock(&self.0.objects);
        let Some(found) = objects.modules.get(&module.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        let program = Arc::clone(&found.program);
        let Some(kernel) = program.module().kernel(name) else {
            return Err(error(CALL, Status::NOT_FOUND));
        };
        let handle = self.0.new_handle();
        objects
            .functions
            .insert(handle, (program, kernel, module.0));
        Ok(FunctionHandle(handle))
    }

    fn module_global(&self, module: ModuleHandle, name: &str) -> GpuResult<(DevicePtr, usize)> {
        const CALL: &str = "cuModuleGetGlobal(&ptr, &size, module, name)";
        self.0.enter("cuModuleGetGlobal", CALL)?;
        let objects = lock(&self.0.objects);
        let Some(module) = objects.modules.get(&module.0) else {
            return Err(error(CALL, Status::INVALID_HANDLE));
        };
        let mut variables = module.program.module().variables();
        let variable = variables.find(|variable| variable.name() == name);
        let address = module.program.address(name);
        match (variable, address) {
            (Some(variable), Some(address)) => Ok((
                DevicePtr::new(address),
                usize::try_from(variable.size()).unwrap_or(0),
            )),
            _ => Err(error(CALL, Status::NOT_FOUND)),
        }
    }

    fn launch(
        &self,
        current: &Current,
        function: FunctionHandle,
        config: LaunchConfig,
        stream: StreamHandle,
        arguments: &[Argument],
    ) -> GpuResult<()> {
        const CALL: &str = "cuLaunchKernel(function, grid, block, shared, stream, arguments)";
        self.0.enter_context("cuLaunchKernel", CALL, current)?;
        let queue = self.0.queue(CALL, stream)?;
        let (program, kernel) = {
            let objects = lock(&self.0.objects);
            let unknown = || error(CALL, Status::INVALID_HANDLE);
            let found = objects.functions.get(&function.0).cloned();
            let (program, kernel, module) = found.ok_or_else(unknown)?;
            let module = objects.modules.get(&module).ok_or_else(unknown)?;
            if module.context != queue.context {
                return Err(two_contexts(CALL, Status::INVALID_HANDLE));
            }
            (program, kernel)
        };
        check_launch(CALL, config)?;
        if let Some((line, instruction)) = program.module().unsupported(kernel) {
            return Err(error(CALL, Status::NOT_SUPPORTED).with_details(format!(
                "line {line}: the host device does not support the instruction `{instruction}`"
            )));
        }
        let parameters = parameters(CALL, &program, kernel, arguments)?;
        let max_steps = self.0.options.max_steps;
        self.push(CALL, &queue, move |device| {
            let launch = Launch {
                dynamic_shared: config.shared_bytes,
                max_steps,
                ..Launch::new(config.grid, config.block, &parameters)
            };
            let mut memory = lock(&device.memory);
            let (printed, result) = match program.launch(kernel, &launch, &mut *memory) {
                Ok(report) => (report.printed, Ok(())),
                Err(fault) => (fault.printed().to_owned(), Err(fault.into())),
            };
            drop(memory);
            if !printed.is_empty() {
                let mut out = std::io::stdout().lock();
                let written = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
                written.map_err(|error| Fault::failed(format!("cannot print: {error}")))?;
            }
            result
        })
    }

    fn capture_begin(&self, current: &Current, stream: StreamHandle) -> GpuResult<()> {
        self.begin_capture(current, stream)
    }

    fn capture_end(&self, current: &Current, stream: StreamHandle) -> GpuResult<GraphHandle> {
        self.end_capture(current, stream)
    }

    fn graph_launch(
        &self,
        current: &Current,
        graph: GraphHandle,
        stream: StreamHandle,
    ) -> GpuResult<()> {
        self.launch_graph(current, graph, stream)
    }

    fn graph_destroy(&self, graph: GraphHandle) -> GpuResult<()> {
        self.destroy_graph(graph)
    }
}

impl Shared {
    /// Returns the last record of an event, if there is one: its stream, its place there, and what
    /// comes before it.
    fn event_place(
        &self,
        call: &'static str,
        event: EventHandle,
    ) -> GpuResult<Option<(Arc<Queue>, u64, Clock)>> {
        let objects = lock(&self.0.objects);
        match objects.events.get(&event.0) {
            Some(event) => {
                let place = event.place.clone();
                Ok(place.map(|(queue, place)| (queue, place, event.clock.clone())))
            }
            None => Err(error(call, Status::INVALID_HANDLE)),
        }
    }

    /// Frees a block, once no work uses it.
    fn free(
        &self,
        name: &'static str,
        call: &'static str,
        pointer: DevicePtr,
        kind: Kind,
    ) -> GpuResult<()> {
        self.0.enter(name, call)?;
        self.0.refuse_in_capture(call)?;
        let context = lock(&self.0.memory).context_of(pointer.address());
        if let Some(context) = context {
            self.0.wait_for_context(context);
        }
        let mut memory = lock(&self.0.memory);
        if context.is_some() && memory.free(pointer.address(), kind) {
            return Ok(());
        }
        Err(error(call, Status::INVALID_VALUE))
    }
}

/// An object that goes to the reaper when the work that holds it is done or dropped.
struct Kept(Option<(Passed, Reaper)>);

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some((object, reaper)) = self.0.take() {
            // Without a reaper the object is dropped here.
            drop(reaper.send(object));
        }
    }
}

/// Returns an error if a context that is gone has left objects behind.
fn dangling(call: &'static str, context: ContextHandle, left: &[String]) -> GpuResult<()> {
    if left.is_empty() {
        return Ok(());
    }
    Err(error(call, Status::INVALID_CONTEXT).with_details(format!(
        "Context {context} has dangling resources: {}",
        left.join(", ")
    )))
}

/// Returns the error of a call on objects of different contexts.
pub(super) fn two_contexts(call: &'static str, status: Status) -> GpuError {
    error(call, status).with_details("the objects belong to different contexts")
}

fn is_host_memory(kind: Option<Kind>) -> bool {
    matches!(kind, Some(Kind::Pinned | Kind::Registered))
}

fn check_launch(call: &'static str, config: LaunchConfig) -> GpuResult<()> {
    let LaunchConfig {
        grid,
        block,
        shared_bytes,
    } = config;
    let num_threads: u64 = block.iter().map(|size| u64::from(*size)).product();
    config.check(call)?;
    if num_threads > MAX_BLOCK_THREADS || block[2] > 64 {
        return Err(invalid(
            call,
            format!("expected a block of at most {MAX_BLOCK_THREADS} threads, found {num_threads}"),
        ));
    }
    if grid[0] > 0x7fff_ffff || grid[1] > 0xffff || grid[2] > 0xffff {
        return Err(invalid(call, format!("the grid {grid:?} is too large")));
    }
    if shared_bytes > MAX_SHARED_BYTES {
        return Err(invalid(
            call,
            format!(
                "expected at most {MAX_SHARED_BYTES} bytes of shared memory, found {shared_bytes}"
            ),
        ));
    }
    Ok(())
}

/// Returns the block of parameters of a kernel.
fn parameters(
    call: &'static str,
    program: &Program,
    kernel: KernelId,
    arguments: &[Argument],
) -> GpuResult<Vec<u8>> {
    let places = program.module().parameters(kernel);
    check_arguments(call, places.iter().map(|place| place.size), arguments)?;
    let len = places.iter().map(|place| place.offset + place.size).max();
    let mut block = vec![0; len.unwrap_or(0)];
    for (place, argument) in places.iter().zip(arguments) {
        block[place.offset..place.offset + place.size].copy_from_slice(&argument.to_bytes());
    }
    Ok(block)
}

/// The compute capability of the host device.
const CAPABILITY: (i32, i32) = (9, 0);

/// The newest version of PTX that the host device reads.
const NEWEST_PTX: (u32, u32) = (9, 5);

/// Checks that PTX is for an architecture that the host device has: its own, or an older one.
fn check_target(target: &str) -> Result<(), String> {
    let (major, minor) = CAPABILITY;
    let own = major * 10 + minor;
    let digits = target.strip_prefix("sm_").unwrap_or_default();
    let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
    match digits.parse::<i32>() {
        Ok(number) if number <= own => Ok(()),
        Ok(_) => Err(format!(
            "`.target {target}` is newer than the architecture of the device, which is `sm_{own}`"
        )),
        Err(_) => Err(format!(
            "expected a `.target` such as `sm_{own}`, found `{target}`"
        )),
    }
}

/// Returns `true` if the first word of a text is that of PTX. As drivers do, others are taken for
/// images of no known kind, and not compiled.
fn starts_as_ptx(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let end = match rest.get(..2) {
            Some("//") => rest.find('\n').map(|at| at + 1),
            Some("/*") => rest[2..].find("*/").map(|at| at + 4),
            _ => return rest.starts_with(".version"),
        };
        rest = rest[end.unwrap_or(rest.len())..].trim_start();
    }
}
