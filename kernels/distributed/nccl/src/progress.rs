//! The thread of a member: it makes all calls of NCCL, and finds out what has become of them.
//!
//! ```text
//!   waiting ──► enqueued ──► running ──► done         a job; `enqueued`: NCCL accepts it, perhaps later
//! ```
//!
//! A communicator exists once the id of the ranks has come, and takes jobs once all ranks have
//! joined. The thread sleeps while there is nothing to find out, and otherwise polls with pauses
//! that grow to a millisecond.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tfrt_distributed::collective::direct::MemberPlace;
use tfrt_distributed::collective::lockstep::{Control, TransferKind};
use tfrt_gpu::api::ccl::UniqueId;
use tfrt_gpu::api::driver::CopyEndpoint;
use tfrt_gpu::api::{CommHandle, DevicePtr, GpuResult};
use tfrt_gpu::eager::EagerGpu;
use tfrt_gpu::values::Buffer;
use tfrt_host::log;
use tfrt_support::Error;
use tfrt_tensor::HostBuffer;

use crate::device::Mark;
use crate::engine::{Command, Job, Memory, collectives};
use crate::staging::{Block, Staging};

/// The pauses between two looks at what is in progress.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// What the thread knows.
pub(crate) struct Progress {
    device: EagerGpu,
    control: Control,
    place: MemberPlace,
    told: Receiver<Command>,
    comm: Option<CommHandle>,
    have_joined: bool,
    waiting: VecDeque<Job>,
    staging: Staging,
    /// The job whose calls NCCL has not completed.
    enqueued: Option<(Job, OnDevice)>,
    /// The jobs that the device runs, in order.
    running: VecDeque<Running>,
    /// Why the group is over.
    failure: Option<Error>,
}

/// The memory of a job.
struct OnDevice {
    input: Buffer,
    output: Buffer,
    /// The pinned memory of copies to the device.
    blocks: Vec<Block>,
}

/// A job that the device runs.
struct Running {
    ending: Ending,
    done: Done,
}

/// The end of a job that the device runs.
struct Ending {
    /// Its place in the stream.
    mark: Mark,
    /// The pinned memory of copies to the device.
    blocks: Vec<Block>,
    output: Option<OutputOnWay>,
}

/// An output on its way to the host.
struct OutputOnWay {
    block: Block,
    to: HostBuffer,
}

impl Progress {
    pub(crate) fn new(
        device: EagerGpu,
        control: Control,
        place: MemberPlace,
        told: Receiver<Command>,
    ) -> Self {
        Self {
            staging: Staging::new(device.stream()),
            device,
            control,
            place,
            told,
            comm: None,
            have_joined: false,
            waiting: VecDeque::new(),
            enqueued: None,
            running: VecDeque::new(),
            failure: None,
        }
    }

    /// Runs jobs until the member is closed and all of them are done.
    pub(crate) fn run(mut self) {
        let mut pause = SHORTEST;
        loop {
            let (command, is_closed) = self.next_command(pause);
            let mut has_moved = command.is_some();
            if let Some(command) = command {
                self.follow(command);
            } else if is_closed && !self.has_jobs() {
                break;
            }
            match self.advance() {
                Ok(moved) => has_moved |= moved,
                Err(error) => self.fail(&error),
            }
            pause = if has_moved {
                SHORTEST
            } else {
                LONGEST.min(pause * 2)
            };
        }
        if let Some(comm) = self.comm.take() {
            let ccl = &self.device.context().gpu().ccl;
            let ended = self.device.context().set_current();
            let ended = ended.and_then(|_current| match self.have_joined {
                true => ccl.destroy(comm),
                false => ccl.abort(comm),
            });
            report(ended);
        }
    }

    /// Returns the next command, if one comes before it is time to look again, and whether no more
    /// will come.
    fn next_command(&self, pause: Duration) -> (Option<Command>, bool) {
        let is_joining = self.comm.is_some() && !self.have_joined;
        if !is_joining && !self.has_jobs() {
            return match self.told.recv() {
                Ok(command) => (Some(command), false),
                Err(_) => (None, true),
            };
        }
        match self.told.recv_timeout(pause) {
            Ok(command) => (Some(command), false),
            Err(RecvTimeoutError::Timeout) => (None, false),
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(pause);
                (None, true)
            }
        }
    }

    fn has_jobs(&self) -> bool {
        !self.waiting.is_empty() || self.enqueued.is_some() || !self.running.is_empty()
    }

    fn follow(&mut self, command: Command) {
        match command {
            Command::Start(job) => match &self.failure {
                Some(error) => (job.done)(Err(error.clone())),
                None => self.waiting.push_back(job),
            },
            Command::Join(Ok(id)) if self.failure.is_none() => {
                if let Err(error) = self.join(&id) {
                    self.fail(&error);
                }
            }
            Command::Join(Ok(_)) => {}
            Command::Join(Err(error)) | Command::End(error) => self.fail(&error),
        }
    }

    fn join(&mut self, id: &UniqueId) -> Result<(), Error> {
        let context = self.device.context();
        let current = context.set_current()?;
        let MemberPlace { index, size } = self.place;
        let rank = i32::try_from(index).map_err(Error::other)?;
        let count = i32::try_from(size).map_err(Error::other)?;
        let ccl = &context.gpu().ccl;
        self.comm = Some(ccl.begin_init_rank(&current, rank, count, id)?);
        Ok(())
    }

    /// Does what can be done now. Returns whether there was anything.
    fn advance(&mut self) -> Result<bool, Error> {
        if self.failure.is_some() {
            return Ok(false);
        }
        let is_joining = self.comm.is_some() && !self.have_joined;
        if !is_joining && !self.has_jobs() {
            return Ok(false);
        }
        if let Some(error) = self.control.failure() {
            return Err(error);
        }
        let Some(comm) = self.comm else {
            return Ok(false);
        };
        // This also finds errors of jobs that run.
        let is_ready = self.device.context().gpu().ccl.progress(comm)?;
        let mut has_moved = false;
        if is_ready {
            has_moved |= !std::mem::replace(&mut self.have_joined, true);
            if let Some((job, memory)) = self.enqueued.take() {
                self.complete(job, memory)?;
                has_moved = true;
            }
            has_moved |= self.enqueue_waiting(comm)?;
        }
        while let Some(running) = self.running.front()
            && running.ending.mark.has_passed()?
        {
            if let Some(running) = self.running.pop_front() {
                self.finish(running);
            }
            has_moved = true;
        }
        Ok(has_moved)
    }

    /// Takes the output of a job that is done.
    fn finish(&mut self, running: Running) {
        let Ending { blocks, output, .. } = running.ending;
        let outcome = output.as_ref().map_or(Ok(()), |output| {
            let mut to = output.to.clone();
            let mut bytes = to.write()?;
            let driver = &self.device.context().gpu().driver;
            Ok(driver.host_memory_read(output.block.pointer(), &mut bytes)?)
        });
        let output = output.map(|output| output.block);
        self.staging.give_back(blocks.into_iter().chain(output));
        (running.done)(outcome);
    }

    /// Enqueues the waiting jobs, up to the first one that NCCL does not complete at once.
    fn enqueue_waiting(&mut self, comm: CommHandle) -> Result<bool, Error> {
        let mut has_moved = false;
        while let Some(job) = self.waiting.pop_front() {
            has_moved = true;
            let memory = match self.enqueue(comm, &job) {
                Ok(memory) => memory,
                Err(error) => {
                    (job.done)(Err(error.clone()));
                    return Err(error);
                }
            };
            if self.device.context().gpu().ccl.progress(comm)? {
                self.complete(job, memory)?;
            } else {
                self.enqueued = Some((job, memory));
                break;
            }
        }
        Ok(has_moved)
    }

    /// Enqueues the copies to the device, and the operations of NCCL.
    fn enqueue(&mut self, comm: CommHandle, job: &Job) -> Result<OnDevice, Error> {
        let mut blocks = Vec::new();
        let (input, output) = match &job.memory {
            Memory::Host { input, output } => {
                let (allocator, stream) = (self.device.allocator(), self.device.stream());
                let on_device = allocator.allocate(input.len_bytes(), stream)?;
                let result = allocator.allocate(output.len_bytes(), stream)?;
                blocks.extend(self.upload(&on_device, input)?);
                if let TransferKind::Exchange { .. } = job.kind {
                    // Parts of it stay as they are.
                    blocks.extend(self.upload(&result, output)?);
                }
                (on_device, result)
            }
            Memory::Device {
                input,
                output,
                before,
                ..
            } => {
                before.precede(self.device.stream())?;
                (whole(input)?, whole(output)?)
            }
        };
        let operations = collectives(&job.kind, &input, &output)?;
        if !operations.is_empty() {
            let (context, stream) = (self.device.context(), self.device.stream());
            let current = context.set_current()?;
            let ccl = &context.gpu().ccl;
            ccl.group(&current, comm, &operations, stream.handle())?;
        }
        Ok(OnDevice {
            input,
            output,
            blocks,
        })
    }

    /// Copies bytes to pinned memory, and enqueues the copy to the device. Returns the pinned
    /// memory.
    fn upload(&mut self, to: &Buffer, from: &HostBuffer) -> Result<Option<Block>, Error> {
        if from.is_empty() {
            return Ok(None);
        }
        let block = self.staging.take(from.len_bytes())?;
        let driver = &self.device.context().gpu().driver;
        driver.host_memory_write(block.pointer(), &from.read()?)?;
        self.copy(to.pointer(), block.pointer(), from.len_bytes())?;
        Ok(Some(block))
    }

    /// Enqueues a copy between memory of the device and pinned memory.
    fn copy(&self, to: DevicePtr, from: DevicePtr, num_bytes: usize) -> Result<(), Error> {
        let context = self.device.context();
        let current = context.set_current()?;
        Ok(context.gpu().driver.copy_async(
            &current,
            &CopyEndpoint::Device(to),
            &CopyEndpoint::Device(from),
            num_bytes,
            self.device.stream().handle(),
        )?)
    }

    /// Enqueues what follows the operations of NCCL.
    fn complete(&mut self, job: Job, memory: OnDevice) -> Result<(), Error> {
        match self.try_complete(&job, memory) {
            Ok(Some(ending)) => self.running.push_back(Running {
                ending,
                done: job.done,
            }),
            Ok(None) => (job.done)(Ok(())),
            Err(error) => {
                (job.done)(Err(error.clone()));
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns the end of the job in the stream, unless it is done when it is enqueued.
    fn try_complete(&mut self, job: &Job, memory: OnDevice) -> Result<Option<Ending>, Error> {
        let OnDevice {
            input,
            output,
            blocks,
        } = memory;
        match &job.memory {
            Memory::Host { output: to, .. } => {
                let on_way = match to.len_bytes() {
                    0 => None,
                    num_bytes => {
                        let block = self.staging.take(num_bytes)?;
                        self.copy(block.pointer(), output.pointer(), num_bytes)?;
                        Some(OutputOnWay {
                            block,
                            to: to.clone(),
                        })
                    }
                };
                // The memory of the device goes back to its allocator, in the order of the stream.
                drop((input, output));
                Ok(Some(Ending {
                    mark: Mark::record(self.device.stream())?,
                    blocks,
                    output: on_way,
                }))
            }
            Memory::Device { stream, .. } => {
                let own_stream = self.device.stream();
                let driver = &self.device.context().gpu().driver;
                driver.keep_until_passed(own_stream.handle(), Box::new((input, output)))?;
                Mark::record(own_stream)?.precede(stream)?;
                Ok(None)
            }
        }
    }

    /// Ends the group on all members.
    fn fail(&mut self, error: &Error) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some(error.clone());
        self.control.abort(error);
        if let Some(comm) = self.comm.take() {
            let context = self.device.context();
            let ended = context.set_current();
            report(ended.and_then(|_current| context.gpu().ccl.abort(comm)));
        }
        let enqueued = self.enqueued.take().map(|(job, ..)| job.done);
        let running = self.running.drain(..).map(|running| running.done);
        let waiting = self.waiting.drain(..).map(|job| job.done);
        let all: Vec<Done> = running.chain(enqueued).chain(waiting).collect();
        for done in all {
            done(Err(error.clone()));
        }
    }
}

/// Returns another handle of a buffer's memory.
fn whole(buffer: &Buffer) -> Result<Buffer, Error> {
    buffer.view(0, buffer.num_bytes() as u64)
}

/// Logs a failure to end a communicator, which is nobody's any more.
fn report(ended: GpuResult<()>) {
    if let Err(error) = ended {
        log::error!("{error}");
    }
}
