//! Collectives over MPI, for clusters that `mpirun` starts.
//!
//! [`MpiCollectives`] is a back end of [`Collectives`]. Link this crate, and choose `mpi` as the
//! collectives of a server. MPI is loaded at run time: programs build and run without it.
//!
//! ```text
//!  operations ──► commands ──► the thread of MPI ──► MPI_Isend, MPI_Irecv, MPI_Iprobe, MPI_Test
//! ```
//!
//! # Which MPI
//!
//! | library | file |
//! |---|---|
//! | Open MPI 4 and 5 | `libmpi.so.40`, `libmpi.so` |
//! | the standard ABI of MPI 5, for example MPICH 5 | `libmpi_abi.so.1`, `libmpi_abi.so` |
//!
//! The variable `TFRT_MPI` names another file. Versions of MPICH without the standard ABI have
//! other types and are refused.
//!
//! # What is used of MPI
//!
//! Messages between two ranks of `MPI_COMM_WORLD`, with two tags of our own. Members start
//! operations in any order, many at a time, which collectives of MPI do not allow; so the exchanges
//! are those of [`tfrt_distributed::collective::direct`], with their order of combining
//! elements, and the same bits as on every other back end.
//!
//! A task is a rank. Tasks still need addresses: contexts, programs and heartbeats use the network
//! of the server.
//!
//! # Threads
//!
//! One thread initializes MPI and makes every call: `MPI_THREAD_FUNNELED`. It polls with pauses
//! that grow to a millisecond while nothing moves, and is woken by commands; MPI has no way to wait
//! for both. A process that has initialized MPI itself must have asked for `MPI_THREAD_MULTIPLE`.
//!
//! # Failures
//!
//! What `mpirun` does when a rank dies is up to it: by default, it ends all others. If it does not,
//! the heartbeats of the context find the lost task, and every operation of its groups fails.
//! Transfers with the dead rank that are in progress stay with MPI, and their memory with them; the
//! operations that they belong to fail. [`finalize`] then waits for MPI only briefly.
//! Errors that MPI reports fail the group; this crate never calls `MPI_Abort`.
//!
//! `MPI_Init_thread` waits for all ranks, so every rank has to create a server with these
//! collectives. A process that ends without [`finalize`] is a failure to `mpirun`.

mod library;

mod world;

mod links;

pub use world::{finalize, finalize_within};

use std::sync::Arc;

use tfrt_distributed::DistributedContext;
use tfrt_distributed::collective::direct::{self, Links};
use tfrt_distributed::collective::{BackEnd, Collectives, GroupMember};
use tfrt_support::Error;

use links::MpiLinks;
use world::World;

/// The name of the back end.
const NAME: &str = "mpi";

/// The back end for clusters that `mpirun` starts: `mpi`.
///
/// ```no_run
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let config = ServerConfig {
///     collectives: "mpi".to_owned(),
///     ..ServerConfig::new("grpc_communicator", "127.0.0.1:4000")
/// };
/// let server = Server::new(&host, config)?;
/// // … collectives of the contexts of the server use MPI …
/// drop(server);
/// tfrt_mpi::finalize()?;
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MpiCollectives {
    world: &'static World,
}

impl MpiCollectives {
    /// Loads and initializes MPI, once in a process. Waits for the other ranks.
    ///
    /// # Errors
    /// If there is no MPI, or it cannot be initialized.
    pub fn new() -> Result<Self, Error> {
        Ok(Self {
            world: World::get()?,
        })
    }

    /// Returns the rank of this process, and the number of ranks.
    #[must_use]
    pub fn rank(&self) -> (usize, usize) {
        self.world.rank()
    }
}

impl Collectives for MpiCollectives {
    fn name(&self) -> &'static str {
        NAME
    }

    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        let connect = |events, place| {
            let links = MpiLinks::new(self.world, events, place)?;
            Ok(Arc::new(links) as Arc<dyn Links>)
        };
        direct::open(group, exchange, Box::new(connect))
    }
}

inventory::submit! {
    BackEnd {
        name: NAME,
        make: || Ok(Arc::new(MpiCollectives::new()?)),
        suits: |_, _| false,
    }
}
