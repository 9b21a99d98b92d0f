//! Collectives of tensors in device memory.

use std::sync::Arc;

use tfrt_async::{AsyncValueRef, Chain};
use tfrt_distributed::DistributedContext;
use tfrt_distributed::collective::direct::MemberPlace;
use tfrt_distributed::collective::lockstep::{
    self, Announcement, Combine, Control, Engine, LockstepMember, TransferKind, Turn,
};
use tfrt_distributed::collective::{GroupMember, Reduction};
use tfrt_gpu::api::EventHandle;
use tfrt_gpu::values::{Buffer, GpuContext, Stream};
use tfrt_support::{DType, Error, ErrorCode};

use crate::engine::{Job, Memory, NcclEngine, reducible};

/// Announces a reduction of so many elements.
type Announce = fn(Reduction, DType, usize) -> Announcement;

/// A place in a stream.
#[derive(Debug)]
pub(crate) struct Mark {
    event: EventHandle,
    stream: Stream,
}

impl Mark {
    /// Marks the end of the work that is now in a stream.
    pub(crate) fn record(stream: &Stream) -> Result<Self, Error> {
        let current = stream.context().set_current()?;
        let driver = &stream.context().gpu().driver;
        let mark = Self {
            event: driver.event_create(&current, false)?,
            stream: stream.clone(),
        };
        driver.event_record(mark.event, stream.handle())?;
        Ok(mark)
    }

    pub(crate) fn has_passed(&self) -> Result<bool, Error> {
        let driver = &self.stream.context().gpu().driver;
        Ok(driver.event_query(self.event)?)
    }

    /// Makes later work of a stream wait for the mark.
    pub(crate) fn precede(&self, later: &Stream) -> Result<(), Error> {
        let driver = &later.context().gpu().driver;
        Ok(driver.stream_wait_event(later.handle(), self.event)?)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let context = self.stream.context();
        let destroyed = context.set_current();
        // The driver keeps the event as long as a stream waits for it. An error is that of the
        // context, which its next call reports.
        let _ = destroyed.and_then(|_current| context.gpu().driver.event_destroy(self.event));
    }
}

/// A member of a group whose collectives have tensors in device memory.
///
/// An operation follows the work that is in `stream` when it is called, and precedes work that is
/// enqueued on it once the returned chain is ready. Nothing waits for the device. The caller leaves
/// the buffers alone in between. All members start the same operations, in any order, each under a
/// key that no other operation in progress has.
///
/// ```
/// use tfrt_distributed::collective::Reduction;
/// use tfrt_nccl::DeviceCollectives;
/// use tfrt_support::DType;
/// # use std::sync::mpsc::channel;
/// # use tfrt_distributed::fabric::CommunicatorType;
/// # use tfrt_distributed::message::DistributedContextConfiguration;
/// # use tfrt_distributed::{Server, ServerConfig};
/// # use tfrt_gpu::eager::EagerGpu;
/// # use tfrt_gpu::host_device::{HostDevice, Options};
/// # use tfrt_gpu::platform::Gpu;
/// # use tfrt_host::HostContext;
/// # let host = HostContext::builder().queue(tfrt_queue::create_queue("mstd:2")?).build();
/// # let gpu = HostDevice::open(Options::default());
/// # Gpu::install(&host, gpu.clone());
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?];
/// # let cluster = DistributedContextConfiguration::local_cluster(&addresses);
/// # let server = Server::new(&host, ServerConfig::new("in_process", &addresses[0]))?;
/// # let (sender, done) = channel();
/// # server.initialize_single_client(Some(7), &cluster[0], move |outcome| sender.send(outcome).unwrap());
/// # let context = done.recv()?.unwrap();
/// # let device = EagerGpu::open(&gpu, 0)?;
/// # let (input, output) = (device.allocator().allocate(16, device.stream())?, device.allocator().allocate(16, device.stream())?);
/// let group = DeviceCollectives::open("group1", &context)?;
/// let sum = group.all_reduce("sum", Reduction::Sum, DType::F32, (&input, &output), device.stream());
/// host.await_available(&[sum.clone().into()])?;
/// assert!(sum.as_result().is_ok());
/// // … later work on the stream uses the output …
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceCollectives {
    member: Arc<LockstepMember>,
    engine: Arc<NcclEngine>,
}

impl DeviceCollectives {
    /// Opens a group.
    ///
    /// # Errors
    /// If there is no such group, this task is not a member or has opened the group already, or it
    /// has no GPU.
    pub fn open(group: &str, exchange: &Arc<DistributedContext>) -> Result<Self, Error> {
        let mut opened = None;
        let connect = |control: &Control, place: MemberPlace| {
            let engine = Arc::new(NcclEngine::open(group, exchange, control, place)?);
            opened = Some(Arc::clone(&engine));
            Ok(engine as Arc<dyn Engine>)
        };
        let member = lockstep::open(group, exchange, Box::new(connect))?;
        let engine = opened.ok_or_else(|| Error::new("the group has no engine"))?;
        Ok(Self { member, engine })
    }

    /// Returns the member of the group, whose collectives have tensors in host memory.
    #[must_use]
    pub fn member(&self) -> &dyn GroupMember {
        &*self.member
    }

    /// Combines the inputs of all members by `sum`, `prod`, `min` or `max`, and writes the result
    /// into the output, which may be the input.
    ///
    /// # Errors
    /// Buffers of different sizes or on another device than that of the member, other reductions,
    /// elements that NCCL does not reduce, members that differ, and failures between tasks.
    pub fn all_reduce(
        &self,
        key: &str,
        reduction: Reduction,
        dtype: DType,
        (input, output): (&Buffer, &Buffer),
        stream: &Stream,
    ) -> AsyncValueRef<Chain> {
        let prepare = |combine| {
            require_bytes("output", input.num_bytes(), output)?;
            Ok(TransferKind::AllReduce { dtype, combine })
        };
        let announce = Announcement::all_reduce;
        let prepared = reduction_of(reduction, dtype, input, (announce, prepare));
        self.start(key, prepared, (input, output), stream)
    }

    /// Combines the inputs of all members, and writes one of as many blocks of one size as there
    /// are members into the output.
    ///
    /// # Errors
    /// Those of an all-reduce.
    pub fn reduce_scatter(
        &self,
        key: &str,
        reduction: Reduction,
        dtype: DType,
        (input, output): (&Buffer, &Buffer),
        stream: &Stream,
    ) -> AsyncValueRef<Chain> {
        let prepare = |combine| {
            num_elements(dtype, output)?;
            let size = self.member.size();
            require_bytes("input", output.num_bytes().saturating_mul(size), input)?;
            Ok(TransferKind::ReduceScatter { dtype, combine })
        };
        let announce = Announcement::reduce_scatter;
        let prepared = reduction_of(reduction, dtype, input, (announce, prepare));
        self.start(key, prepared, (input, output), stream)
    }

    /// Concatenates the inputs of all members, which have one size, in the output.
    ///
    /// # Errors
    /// An output of another size, members that differ, and failures between tasks.
    pub fn all_gather(
        &self,
        key: &str,
        (input, output): (&Buffer, &Buffer),
        stream: &Stream,
    ) -> AsyncValueRef<Chain> {
        let len = input.num_bytes();
        let expected = len.saturating_mul(self.member.size());
        let prepared = require_bytes("output", expected, output).map(|()| {
            let announcement = Announcement::all_gather(0, DType::Ui8, len);
            (announcement, TransferKind::AllGather)
        });
        self.start(key, prepared, (input, output), stream)
    }

    /// Copies the buffer of the member at position `sender` to those of the others.
    ///
    /// # Errors
    /// A position beyond the group, members that differ, and failures between tasks.
    pub fn broadcast(
        &self,
        key: &str,
        sender: usize,
        buffer: &Buffer,
        stream: &Stream,
    ) -> AsyncValueRef<Chain> {
        let place = self.member.place();
        let len = buffer.num_bytes();
        let prepared = match sender < place.size {
            false => Err(invalid(format!(
                "expected a member below {}, found {sender}",
                place.size
            ))),
            true => {
                let announcement = Announcement::broadcast(sender, DType::Ui8, len);
                Ok((announcement, TransferKind::broadcast(place, sender, len)))
            }
        };
        self.start(key, prepared, (buffer, buffer), stream)
    }

    /// Checks that something is of the device that the group has on this member.
    fn require_own(&self, what: &str, context: &GpuContext) -> Result<(), Error> {
        let own = self.engine.context();
        if is_same(own, context) {
            return Ok(());
        }
        let (expected, other) = (own.device().to_string(), context.device().to_string());
        let found = match expected == other {
            true => "in another context of it".to_owned(),
            false => format!("on device {other}"),
        };
        Err(invalid(format!(
            "expected the {what} in the primary context of device {expected}, found it {found}"
        )))
    }

    fn start(
        &self,
        key: &str,
        prepared: Result<(Announcement, TransferKind), Error>,
        (input, output): (&Buffer, &Buffer),
        stream: &Stream,
    ) -> AsyncValueRef<Chain> {
        let prepared = prepared.and_then(|(announcement, kind)| {
            for (what, buffer) in [("input", input), ("output", output)] {
                // The context of adopted memory is unknown, so it is not checked.
                if let Some(context) = buffer.context() {
                    self.require_own(what, &context)?;
                }
            }
            self.require_own("stream", stream.context())?;
            let whole = |buffer: &Buffer| buffer.view(0, buffer.num_bytes() as u64);
            let memory = Memory::Device {
                input: whole(input)?,
                output: whole(output)?,
                stream: stream.clone(),
                before: Mark::record(stream)?,
            };
            Ok((announcement, kind, memory))
        });
        let (announcement, kind, memory) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let abandoned = self.member.abandon(key, &error);
                return AsyncValueRef::error(abandoned.err().unwrap_or(error));
            }
        };
        let (promise, chain) = AsyncValueRef::unconstructed();
        let later = self.member.later();
        let engine = Arc::clone(&self.engine);
        let is_empty = input.num_bytes() == 0;
        self.member
            .take_turn(key, &announcement, move |turn: Result<Turn, Error>| {
                let (turn, refused) = match turn {
                    Ok(turn) => (Some(turn), None),
                    Err(error) => (None, Some(error)),
                };
                let done = move |outcome: Result<(), Error>| {
                    // Waiters run on the work queue.
                    later(Box::new(move || {
                        drop(turn);
                        match outcome {
                            Ok(()) => promise.emplace(Chain),
                            Err(error) => promise.set_error(error),
                        }
                    }));
                };
                match refused {
                    Some(error) => done(Err(error)),
                    // On all members: there is nothing to transfer.
                    None if is_empty => done(Ok(())),
                    None => engine.run(Job {
                        kind,
                        memory,
                        done: Box::new(done),
                    }),
                }
            });
        chain
    }
}

/// Returns `true` if two contexts are one for the driver.
fn is_same(one: &GpuContext, other: &GpuContext) -> bool {
    Arc::ptr_eq(one.gpu(), other.gpu()) && one.handle() == other.handle()
}

/// Announces the element-wise reduction of a buffer, of a kind that `prepare` returns.
fn reduction_of(
    reduction: Reduction,
    dtype: DType,
    input: &Buffer,
    (announce, prepare): (
        Announce,
        impl FnOnce(Combine) -> Result<TransferKind, Error>,
    ),
) -> Result<(Announcement, TransferKind), Error> {
    let combine = device_combine(reduction)?;
    let len = num_elements(dtype, input)?;
    let kind = prepare(combine)?;
    Ok((announce(reduction, dtype, len), kind))
}

fn device_combine(reduction: Reduction) -> Result<Combine, Error> {
    if reduction == Reduction::Mean {
        return Err(invalid(
            "expected `sum`, `prod`, `min` or `max` of device memory, found the reduction `mean`",
        ));
    }
    Combine::of(reduction)
}

fn num_elements(dtype: DType, buffer: &Buffer) -> Result<usize, Error> {
    let (_, width) = reducible(dtype)?;
    let num_bytes = buffer.num_bytes();
    match num_bytes.is_multiple_of(width) {
        true => Ok(num_bytes / width),
        false => Err(invalid(format!(
            "expected whole elements of type {dtype}, found {num_bytes} bytes"
        ))),
    }
}

fn require_bytes(what: &str, expected: usize, buffer: &Buffer) -> Result<(), Error> {
    let found = buffer.num_bytes();
    match found == expected {
        true => Ok(()),
        false => Err(invalid(format!(
            "expected {expected} bytes as {what}, found {found}"
        ))),
    }
}

#[cold]
fn invalid(message: impl Into<String>) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}
