//! The engine of a member: its device, and the way of transfers to its thread.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tfrt_distributed::DistributedContext;
use tfrt_distributed::collective::direct::MemberPlace;
use tfrt_distributed::collective::lockstep::{Combine, Control, Engine, Transfer, TransferKind};
use tfrt_gpu::api::ccl::{Collective, UniqueId};
use tfrt_gpu::eager::EagerGpu;
use tfrt_gpu::platform::Gpu;
use tfrt_gpu::values::{Buffer, GpuContext, Stream};
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::HostBuffer;

use crate::device::Mark;
use crate::progress::Progress;

/// The engine of a member.
#[derive(Debug)]
pub(crate) struct NcclEngine {
    commands: Sender<Command>,
    context: GpuContext,
}

/// What the thread of a member is told. It ends when nobody can tell it anything any more.
pub(crate) enum Command {
    /// The id that the ranks share.
    Join(Result<UniqueId, Error>),
    Start(Job),
    End(Error),
}

/// A transfer with its memory.
pub(crate) struct Job {
    pub(crate) kind: TransferKind,
    pub(crate) memory: Memory,
    pub(crate) done: Box<dyn FnOnce(Result<(), Error>) + Send>,
}

/// The memory of a transfer.
pub(crate) enum Memory {
    /// Memory of the host, which is copied. The transfer is done once the output is written.
    Host {
        input: HostBuffer,
        output: HostBuffer,
    },
    /// Memory of the device. The transfer is done once it is enqueued: later work of the stream
    /// comes after it.
    Device {
        input: Buffer,
        output: Buffer,
        stream: Stream,
        /// After the work that the transfer has to follow.
        before: Mark,
    },
}

impl NcclEngine {
    /// Starts the thread of a member.
    pub(crate) fn open(
        group: &str,
        context: &Arc<DistributedContext>,
        control: &Control,
        place: MemberPlace,
    ) -> Result<Self, Error> {
        let gpu = Gpu::of_host(context.host())?;
        gpu.driver.init()?;
        let count = gpu.driver.device_count()?.max(0) as usize;
        if count == 0 {
            let message = format!("expected a GPU for the collectives of {}", gpu.name);
            return Err(Error::new(message).with_code(ErrorCode::Unavailable));
        }
        let ordinal = i32::try_from(place_on_machine(group, context, place)? % count);
        let device = EagerGpu::open(&gpu, ordinal.unwrap_or(0))?;
        let (commands, told) = channel();
        let own_context = device.context().clone();
        let progress = Progress::new(device, control.clone(), place, told);
        thread::Builder::new()
            .name("tfrt-nccl".to_owned())
            .spawn(move || progress.run())
            .map_err(Error::other)?;
        let engine = Self {
            commands,
            context: own_context,
        };
        engine.share_id(&gpu, control, place)?;
        Ok(engine)
    }

    /// Shares the id of member 0 with all.
    fn share_id(&self, gpu: &Gpu, control: &Control, place: MemberPlace) -> Result<(), Error> {
        let id = match place.index {
            0 => gpu.ccl.unique_id()?,
            _ => [0; 128],
        };
        let commands = self.commands.clone();
        control.share(&id, move |id| {
            let id = id.and_then(|id| {
                let id: Result<UniqueId, _> = id.try_into();
                id.map_err(|_| Error::new("the id of the ranks is malformed"))
            });
            // The member may be gone.
            let _ = commands.send(Command::Join(id));
        })
    }

    /// Returns the context of the member's device.
    pub(crate) fn context(&self) -> &GpuContext {
        &self.context
    }

    pub(crate) fn run(&self, job: Job) {
        if let Err(refused) = self.commands.send(Command::Start(job))
            && let Command::Start(job) = refused.0
        {
            (job.done)(Err(Error::new("the group is closed")));
        }
    }
}

/// Returns the number of members before this one on the same machine.
fn place_on_machine(
    group: &str,
    context: &DistributedContext,
    place: MemberPlace,
) -> Result<usize, Error> {
    let plain = tfrt_distributed::RemoteError::into_plain;
    let members = context.group(group).map_err(plain)?;
    let machine = |index: usize| -> Result<String, Error> {
        let task = context.cluster().task(members[index]).map_err(plain)?;
        Ok(machine_of(&task.address).to_owned())
    };
    let own = machine(place.index)?;
    let mut before = 0;
    for index in 0..place.index {
        before += usize::from(machine(index)? == own);
    }
    Ok(before)
}

/// Returns the part of an address that names a machine.
fn machine_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    match host {
        "127.0.0.1" | "[::1]" | "unix" => "localhost",
        host => host,
    }
}

/// Returns the number of a type among those of NCCL, and the size of its elements in bytes.
fn data_type(dtype: DType) -> Option<(i32, usize)> {
    Some(match dtype {
        DType::I8 => (0, 1),
        DType::Ui8 => (1, 1),
        DType::I32 => (2, 4),
        DType::Ui32 => (3, 4),
        DType::I64 => (4, 8),
        DType::Ui64 => (5, 8),
        DType::F16 => (6, 2),
        DType::F32 => (7, 4),
        DType::F64 => (8, 8),
        DType::Bf16 => (9, 2),
        _ => return None,
    })
}

/// The type of bytes.
const BYTES: i32 = 1;

fn reduction(combine: Combine) -> i32 {
    match combine {
        Combine::Sum => 0,
        Combine::Prod => 1,
        Combine::Max => 2,
        Combine::Min => 3,
    }
}

/// Returns the type of a reduction.
///
/// # Errors
/// If NCCL does not reduce it.
pub(crate) fn reducible(dtype: DType) -> Result<(i32, usize), Error> {
    data_type(dtype).ok_or_else(|| {
        let message = format!("expected elements that NCCL reduces, found {dtype}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    })
}

/// Returns the operations of NCCL for a transfer, which form one group.
pub(crate) fn collectives(
    kind: &TransferKind,
    input: &Buffer,
    output: &Buffer,
) -> Result<Vec<Collective>, Error> {
    let part = |buffer: &Buffer, range: &std::ops::Range<usize>| -> Result<_, Error> {
        let part = buffer.view(range.start as u64, range.len() as u64)?;
        Ok(part.pointer())
    };
    let peer = |member: usize| i32::try_from(member).map_err(Error::other);
    Ok(match kind {
        TransferKind::AllReduce { dtype, combine } => {
            let (data_type, width) = reducible(*dtype)?;
            vec![Collective::AllReduce {
                input: input.pointer(),
                output: output.pointer(),
                count: input.num_bytes() / width,
                data_type,
                reduction: reduction(*combine),
            }]
        }
        TransferKind::ReduceScatter { dtype, combine } => {
            let (data_type, width) = reducible(*dtype)?;
            vec![Collective::ReduceScatter {
                input: input.pointer(),
                output: output.pointer(),
                count: output.num_bytes() / width,
                data_type,
                reduction: reduction(*combine),
            }]
        }
        TransferKind::AllGather => vec![Collective::AllGather {
            input: input.pointer(),
            output: output.pointer(),
            count: input.num_bytes(),
            data_type: BYTES,
        }],
        TransferKind::Exchange { sends, receives } => {
            let mut operations = Vec::with_capacity(sends.len() + receives.len());
            for (to, range) in sends {
                operations.push(Collective::Send {
                    buffer: part(input, range)?,
                    count: range.len(),
                    data_type: BYTES,
                    peer: peer(*to)?,
                });
            }
            for (from, range) in receives {
                operations.push(Collective::Receive {
                    buffer: part(output, range)?,
                    count: range.len(),
                    data_type: BYTES,
                    peer: peer(*from)?,
                });
            }
            operations
        }
    })
}

impl Engine for NcclEngine {
    fn reduces(&self, dtype: DType) -> bool {
        data_type(dtype).is_some()
    }

    fn start(&self, transfer: Transfer) {
        let Transfer {
            kind,
            input,
            output,
            done,
        } = transfer;
        self.run(Job {
            kind,
            memory: Memory::Host { input, output },
            done,
        });
    }

    fn end(&self, error: &Error) {
        // Without its thread, nothing is in progress.
        let _ = self.commands.send(Command::End(error.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_machines() {
        for (address, machine) in [
            ("node3:4000", "node3"),
            ("127.0.0.1:1", "localhost"),
            ("[::1]:1", "localhost"),
            ("unix:/tmp/socket", "localhost"),
            ("[fe80::2]:70", "[fe80::2]"),
        ] {
            assert_eq!(machine_of(address), machine);
        }
    }
}
