//! Collectives over NCCL, for clusters whose tasks have GPUs.
//!
//! [`NcclCollectives`] is a back end of [`Collectives`]. Link this crate, and choose `nccl` as the
//! collectives of a server. NCCL is loaded at run time: programs build and run without it.
//!
//! ```text
//!  operations ──► agreed on, in one order ──► commands ──► the thread of a member ──► NCCL, copies, events
//!                 (collective::lockstep)                        │ polls: events, errors of NCCL,
//!                                                               ▼        aborts and lost members
//!                                                          results, or the end of the group
//! ```
//!
//! NCCL is used through the [`Ccl`](tfrt_gpu::api::ccl::Ccl) of the host's GPU. So the same code
//! runs on the host device, for programs and tests without a GPU; its ranks are in one process.
//!
//! # Tensors
//!
//! The collectives of programs have tensors in host memory. They are copied to the device and back,
//! in the order of a stream; no thread waits for the device. [`DeviceCollectives`] are for tensors
//! in device memory: they are ordered with a stream of the caller by events, and nothing is copied.
//!
//! | | |
//! |---|---|
//! | order of reductions | that of NCCL: the last bits may differ from those of other back ends |
//! | functions of reductions | `sum`, `prod`, `min`, `max`, `mean`; none of programs |
//! | minimum and maximum of NaN | undefined |
//! | integers of 16 bits | reduced as integers of 32 bits, since NCCL has none; the same results |
//! | sends, receives, barriers | through the ring of the context: NCCL would hold up the stream |
//!
//! # Devices
//!
//! A task uses one device: the tasks of a group that have the same machine in their addresses count
//! through its devices in the order of the group. `CUDA_VISIBLE_DEVICES` limits the devices of a
//! task, as always. NCCL refuses two members on one device.
//!
//! # Failures
//!
//! Communicators do not block. The thread of a member looks for errors of NCCL, for an abort of the
//! group and for lost members, about every millisecond while something is in progress. It then
//! aborts the communicator, and every operation of the group fails on all members.
#![forbid(unsafe_code)]

mod device;

mod engine;

mod progress;

mod staging;

use std::sync::Arc;

use tfrt_distributed::DistributedContext;
use tfrt_distributed::collective::lockstep::{self, Control, Engine};
use tfrt_distributed::collective::{BackEnd, Collectives, GroupMember};
use tfrt_support::Error;

pub use device::DeviceCollectives;

use engine::NcclEngine;

/// The name of the back end.
const NAME: &str = "nccl";

/// The back end for tasks with GPUs: `nccl`. The GPU is that of the host.
///
/// ```no_run
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let config = ServerConfig {
///     collectives: "nccl".to_owned(),
///     ..ServerConfig::new("grpc_communicator", "127.0.0.1:4000")
/// };
/// let server = Server::new(&host, config)?;
/// // … collectives of the contexts of the server use NCCL …
/// # drop(server);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NcclCollectives;

impl Collectives for NcclCollectives {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        let connect = |control: &Control, place| {
            let engine = NcclEngine::open(group, exchange, control, place)?;
            Ok(Arc::new(engine) as Arc<dyn Engine>)
        };
        Ok(lockstep::open(group, exchange, Box::new(connect))?)
    }
}

inventory::submit! {
    BackEnd {
        name: NAME,
        make: || Ok(Arc::new(NcclCollectives)),
        suits: |_, _| false,
    }
}
