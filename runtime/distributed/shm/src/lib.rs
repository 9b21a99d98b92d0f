//! Collectives between tasks of one machine, through shared memory.
//!
//! [`ShmCollectives`] is a back end of [`Collectives`]. Link this crate, and choose `shm` or `auto`
//! as the collectives of a server.
//!
//! ```text
//!  member 0: segment ──write──► [ block │ block │ … ] ◄──read── members 1, 2, …
//!               └── socket to each of them: "a message of 3 blocks: 0, 1, 4" ──►  ◄── "block 0 is read"
//! ```
//!
//! Every member has a *segment*: anonymous memory of the kernel (`memfd`), divided into blocks. It
//! writes elements into free blocks and names the blocks to the receivers over sockets. A block is
//! free again when all its receivers have read it. So a message of any size passes through a few
//! megabytes that stay in the caches of the processor, elements that several members receive are
//! written once, and a sender that is too fast waits.
//!
//! Large elements do not pass through segments if the kernel lets the members read each other's
//! memory. A member *lends* them to another one, which copies them from where they are to where
//! they belong: see the module `lending`.
//!
//! Segments are read and written by system calls that copy, rather than mapped. So there is no
//! memory that another process changes while it is used: whatever a peer does, a read gives bytes
//! or fails. Numbers of blocks and lengths come over the socket, and each is checked.
//!
//! Each pair of members has a connection between Unix sockets, over which they exchange their
//! segments once. The name of a socket is random, and travels through the context with a secret
//! that the other member must know. Both must belong to the same user. The kernel closes the
//! connections of a process that ends, for whatever reason, so nobody waits for a dead member.
//! A member that is stopped is lost like any other task, by its missing heartbeats.
//!
//! A thread per member moves the data; it sleeps while there is nothing to do. It never waits for a
//! peer: sockets do not block, and heads of messages, blocks and connections are limited.
//!
//! | module | contents |
//! |---|---|
//! | `links` | the connections of a member, as its operations see them |
//! | `progress` | the thread that moves the data |
//! | `peer` | the connection to one member |
//! | `greeting` | the exchange of secrets and segments |
//! | `wire` | what is written to sockets |
//! | `segment` | blocks of shared memory |
//! | `lending` | elements that are read from the memory of another member |
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod links;

#[cfg(target_os = "linux")]
mod progress;

#[cfg(target_os = "linux")]
mod peer;

#[cfg(target_os = "linux")]
mod greeting;

#[cfg(any(target_os = "linux", test))]
mod wire;

#[cfg(target_os = "linux")]
mod segment;

#[cfg(target_os = "linux")]
mod lending;

use std::sync::Arc;

use tfrt_distributed::DistributedContext;
use tfrt_distributed::collective::{BackEnd, Collectives, GroupMember};
use tfrt_support::Error;

/// The back end for tasks of one machine: `shm`. Available on Linux.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::mpsc::channel;
/// use tfrt_distributed::collective::{Collectives, Reduction};
/// use tfrt_distributed::fabric::CommunicatorType;
/// use tfrt_distributed::message::DistributedContextConfiguration;
/// use tfrt_distributed::{Server, ServerConfig};
/// use tfrt_host::HostContext;
/// use tfrt_shm::ShmCollectives;
/// use tfrt_tensor::DenseHostTensor;
///
/// # if !cfg!(target_os = "linux") { return Ok(()); }
/// # let queue = tfrt_queue::create_queue("mstd:2")?;
/// # let host = HostContext::builder().queue(queue).build();
/// # let in_process = CommunicatorType::find("in_process").ok_or("it is always linked")?;
/// # let addresses = [(in_process.free_address)()?, (in_process.free_address)()?];
/// # let cluster = DistributedContextConfiguration::local_cluster(&addresses);
/// # let servers = addresses.map(|address| Server::new(&host, ServerConfig::new("in_process", address)));
/// # let [client, worker] = servers.map(Result::unwrap);
/// # let (sender, done) = channel();
/// # client.initialize_single_client(Some(7), &cluster[0], move |outcome| sender.send(outcome).unwrap());
/// # let contexts = [done.recv()?.unwrap(), worker.context(7).unwrap()];
/// // Both tasks, here in one process, are members of the group.
/// let members = contexts.each_ref().map(|context| ShmCollectives.open("group1", context).unwrap());
/// let sums = members.each_ref().map(|member| {
///     let number = DenseHostTensor::vector(&[20 + member.index() as i32]).unwrap();
///     (member.all_reduce("sum", Reduction::Sum, number.clone(), number.clone()), number)
/// });
/// for (done, sum) in sums {
///     host.await_values(&[done.into()])?;
///     assert_eq!(*sum.elements::<i32>()?, [41]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ShmCollectives;

/// The name of the back end.
const NAME: &str = "shm";

impl Collectives for ShmCollectives {
    fn name(&self) -> &'static str {
        NAME
    }

    #[cfg(target_os = "linux")]
    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        use tfrt_distributed::collective::direct::{self, Links};

        let connect = |events, place| {
            let links = links::ShmLinks::start(events, place)?;
            Ok(Arc::new(links) as Arc<dyn Links>)
        };
        direct::open(group, exchange, Box::new(connect))
    }

    #[cfg(not(target_os = "linux"))]
    fn open(
        &self,
        _group: &str,
        _exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        let message = "collectives through shared memory need Linux";
        Err(Error::new(message).with_code(tfrt_support::ErrorCode::Unimplemented))
    }
}

inventory::submit! {
    BackEnd {
        name: NAME,
        make: || Ok(Arc::new(ShmCollectives)),
        suits: |context, group| {
            cfg!(target_os = "linux") && context.is_on_this_machine(group)
        },
    }
}
