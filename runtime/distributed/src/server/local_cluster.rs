//! Servers of one process that are tasks of one cluster.
//!
//! ```text
//!   DistContext values ─┐
//!   requests under way ─┼──► LocalCluster ──► Server 0 … Server n
//!   released executions ┘         ▲               │
//!                                 └──── weak ─────┘
//! ```
//!
//! A value of one task needs the servers of all of them: its requests are answered there. So every
//! value and all work that needs an answer keeps the cluster. A wait for a message does not: once
//! only waits are left, nobody can send it.
//!
//! A server that shuts down tells the others. The messages that it sent have arrived by then, and
//! waits for further ones become errors. The task is not lost to the others in the sense of
//! [`Health`](crate::health::Health): a collective whose messages are all there runs to completion.

use std::sync::{Arc, Weak};

use tfrt_queue::{ConcurrentWorkQueue, Task};

use super::Server;
use crate::context::DistributedContext;
use crate::health::lost_error;
use crate::last_reference::drop_on_queue;

/// The servers of a cluster inside this process. They end when the last reference is dropped,
/// unless they are kept elsewhere.
///
/// ```
/// use tfrt_distributed::{LocalCluster, Server, ServerConfig};
/// use tfrt_host::HostContext;
///
/// let host = HostContext::builder().build();
/// let server = Server::new(&host, ServerConfig::new("in_process", "of the example"))?;
/// let weak = std::sync::Arc::downgrade(&server);
/// let cluster = LocalCluster::new(vec![server]);
/// assert!(weak.upgrade().is_some());
/// drop(cluster);
/// assert!(weak.upgrade().is_none());
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct LocalCluster {
    servers: Vec<Arc<Server>>,
}

impl LocalCluster {
    /// Creates a cluster of servers, which belong to one cluster only.
    #[must_use]
    pub fn new(servers: Vec<Arc<Server>>) -> Arc<Self> {
        let this = Arc::new(Self { servers });
        for server in &this.servers {
            let others = this.servers.iter();
            let others = others.filter(|other| !Arc::ptr_eq(other, server));
            let companions = Companions {
                cluster: Arc::downgrade(&this),
                others: others.map(Arc::downgrade).collect(),
            };
            // A server that belongs to a cluster already stays there.
            let _ = server.companions.set(companions);
        }
        this
    }
}

/// The cluster of a server, and the other servers in it.
#[derive(Debug)]
pub(super) struct Companions {
    cluster: Weak<LocalCluster>,
    others: Vec<Weak<Server>>,
}

/// Keeps a server for work under way, together with its cluster in this process.
#[derive(Debug)]
pub(crate) struct KeptCluster {
    server: Arc<Server>,
    cluster: Option<Arc<LocalCluster>>,
}

impl KeptCluster {
    /// Drops the references. What ends with them ends in tasks of the work queue.
    pub(crate) fn drop_on_queue(self, queue: &Arc<dyn ConcurrentWorkQueue>) {
        drop_on_queue(queue, self.server);
        if let Some(cluster) = self.cluster {
            drop_on_queue(queue, cluster);
        }
    }
}

impl Server {
    /// Keeps the server and its cluster.
    pub(crate) fn keep(self: Arc<Self>) -> KeptCluster {
        let companions = self.companions.get();
        KeptCluster {
            cluster: companions.and_then(|companions| companions.cluster.upgrade()),
            server: self,
        }
    }

    /// Ends what the other servers of the process wait for in a context that this one has closed.
    pub(super) fn depart_from(&self, context: &DistributedContext) {
        let others = self.companions.get().map(|companions| &companions.others);
        let others = others.into_iter().flatten().filter_map(Weak::upgrade);
        for other in others {
            let name = context.cluster().own_name();
            let Ok(left) = other.context(context.id()) else {
                continue;
            };
            let Ok(task) = left.cluster().find(&name) else {
                continue;
            };
            let error = lost_error(&name, "its server was shut down");
            let callbacks = left.departed().mark_lost(task, error);
            if callbacks.is_empty() {
                continue;
            }
            // Waiters run on the work queue.
            let queue = Arc::clone(left.host().queue());
            queue.add_task(Task::new(move || {
                for callback in callbacks {
                    callback();
                }
                drop((left, other));
            }));
        }
    }
}
