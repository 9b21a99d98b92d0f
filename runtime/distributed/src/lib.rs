//! One program over many tasks: contexts, remote objects, remote functions, collectives, and the
//! transport between tasks.
//!
//! A *cluster* is a set of *jobs*, each a set of *tasks*. A task is a process with a host context;
//! every task is client and server at once. (Tests run several tasks in one process.)
//!
//! ```text
//!  kernel ──► DistributedContext ──► RemoteClient ──fabric──► Server ──► DistributedContext of the same id
//!             │ objects: id → value                             │ objects, functions, rendezvous of that task
//!             │ rendezvous: key → payload or receiver           │
//!             └ cluster, devices, groups                        └ contexts: id → DistributedContext
//! ```
//!
//! A client chooses the ids of remote objects before it sends the request that creates them. So a
//! request may use the results of an earlier one without waiting for its answer: until the object
//! exists, the task finds a placeholder. When the client drops its last copy of an id, the object
//! is deleted.
//!
//! | module | contents |
//! |---|---|
//! | [`name`] | names of tasks and devices |
//! | [`message`] | configurations, requests and responses: protocol buffers |
//! | `error` | typed errors of other tasks, and collections of them |
//! | `cluster`, [`device`] | the tasks of a cluster and their devices |
//! | [`discovery`] | discovery of the cluster: files, flags, the environment of SLURM, MPI and Kubernetes |
//! | [`fabric`] | [`RemoteClient`](fabric::RemoteClient) and [`FabricCommunicator`](fabric::FabricCommunicator): the transport, and the one inside a process |
//! | `creators` | which ids are those of which task |
//! | `object`, `tensor` | objects that live on a task, and tensors among them |
//! | [`rendezvous`] | the place where a payload meets its receiver |
//! | `last_reference` | the end of shared objects on the work queue |
//! | [`health`] | lost tasks, and the values that waited for them |
//! | [`function`](mod@function) | programs that are sent to a task and executed there |
//! | `execute` | the client's side of executing a remote function |
//! | `execution` | executions that other tasks started here, and their cancellation |
//! | `drain` | the end of a context: work under way ends by itself, or is cut |
//! | `payload_memory` | memory for payloads, used again |
//! | `chain` | the order of effects on other tasks |
//! | `op_handler` | ops of the Core Runtime on another task |
//! | `transfer` | tensors that move between tasks |
//! | [`collective`] | all-reduce, reduce-scatter, broadcast and all-gather |
//! | `context`, `server` | the state of one distributed execution, and of one task |
//!
//! # Threads
//!
//! No function here blocks. A message makes values available on the work queue of the host that
//! receives it. Callbacks and waiters run without a lock held. Only heartbeats bypass the work
//! queues.
//!
//! # Failures
//!
//! Nothing waits forever for a lost task. When a task of a context is [lost](health), the answers
//! to requests to it, the payloads expected from it, and the collectives of its groups become
//! errors that name it; everything else continues. A context whose only client is lost is closed.
//!
//! # The end of a context
//!
//! A context that is closed accepts nothing any more, cancels its requests, turns all waits into
//! the error `Cancelled: context X is closed`, and forgets its objects. What is under way then has
//! [a few seconds](DEFAULT_DRAIN_TIMEOUT) to end: kernels that run, and answers. The rest is cut.
#![forbid(unsafe_code)]

pub mod name;

pub mod message;

mod sync;

mod error;

mod cluster;

pub mod discovery;

pub mod device;

pub mod fabric;

mod object;

mod tensor;

mod payload;

mod payload_memory;

pub mod rendezvous;

mod last_reference;

pub mod health;

pub mod function;

mod context;

mod chain;

mod execute;

mod execution;

pub mod collective;

mod op_handler;

mod transfer;

mod server;

mod lease;

mod creators;

mod drain;

mod random;

mod allowed_programs;

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests;

pub use allowed_programs::AllowedPrograms;
pub use chain::RemoteChains;
pub use cluster::{ClusterInfo, TaskHandle, TaskInfo};
pub use context::{DistContext, DistributedContext, Leftovers, is_local_address};
pub use error::{Answer, Gather, RemoteError, RemoteErrors, TypedRemoteErrors};
pub use execute::{Outputs, RemoteExecuteSpec, RemoteExecution, RemoteResults, register_function};
pub use execution::{Executions, Running};
pub use object::{RemoteObjectId, RemoteObjects};
pub use op_handler::RemoteOpHandler;
pub use payload::Payload;
pub use payload_memory::PayloadMemory;
pub use server::{
    DEFAULT_COLLECTIVES, DEFAULT_DRAIN_TIMEOUT, DEFAULT_FAILURE_TIMEOUT, DEFAULT_GC_TIMEOUT,
    DEFAULT_INITIALIZATION_TIMEOUT, DEFAULT_MAX_UNCLAIMED_BYTES, LocalCluster, RequestGate, Server,
    ServerConfig,
};
pub use tensor::RemoteTensor;
