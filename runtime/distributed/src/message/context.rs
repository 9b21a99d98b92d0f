//! Devices, and the life of contexts: how they begin, stay and end.

use prost::Message;

use super::{DistributedContextConfiguration, RemoteObjectIdProto};

/// A device of a task.
#[derive(Clone, PartialEq, Message)]
pub struct DeviceInfo {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its type.
    #[prost(string, tag = "2")]
    pub r#type: String,
}

/// Asks for the devices of a task.
#[derive(Clone, PartialEq, Message)]
pub struct GetDevicesRequest {}

/// The devices of a task, as it calls them.
#[derive(Clone, PartialEq, Message)]
pub struct GetDevicesResponse {
    /// The devices.
    #[prost(message, repeated, tag = "1")]
    pub devices: Vec<DeviceInfo>,
    /// The load of the task.
    #[prost(message, optional, tag = "101")]
    pub load: Option<TaskLoad>,
}

/// The load of a task, over all contexts.
#[derive(Clone, PartialEq, Message)]
pub struct TaskLoad {
    /// The number of contexts in which it takes part.
    #[prost(uint64, tag = "1")]
    pub num_contexts: u64,
    /// The number of objects on it.
    #[prost(uint64, tag = "2")]
    pub num_objects: u64,
    /// The number of payloads that no receiver has requested yet.
    #[prost(uint64, tag = "3")]
    pub num_unclaimed: u64,
    /// The programs that other tasks have sent.
    #[prost(message, repeated, tag = "4")]
    pub programs: Vec<SentProgram>,
    /// The number of receivers that wait for a payload.
    #[prost(uint64, tag = "5")]
    pub num_unserved: u64,
}

/// A program that a task has received.
#[derive(Clone, PartialEq, Message)]
pub struct SentProgram {
    /// The context that it belongs to.
    #[prost(uint64, tag = "1")]
    pub context_id: u64,
    /// Its name.
    #[prost(string, tag = "2")]
    pub name: String,
    /// The size of its text or file.
    #[prost(uint64, tag = "3")]
    pub num_bytes: u64,
}

/// Creates a context on a task.
#[derive(Clone, PartialEq, Message)]
pub struct CreateContextRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The configuration of the receiver.
    #[prost(message, optional, tag = "2")]
    pub dist_config: Option<DistributedContextConfiguration>,
    /// All devices of the cluster, by their names in the cluster.
    #[prost(message, repeated, tag = "3")]
    pub devices: Vec<DeviceInfo>,
    /// Whether every task runs a client.
    #[prost(bool, tag = "4")]
    pub is_multi_client: bool,
    /// The task that owns the context, if it has a single client: the context ends with it.
    #[prost(string, tag = "101")]
    pub owner: String,
    /// The number that all ids have which the owner creates.
    #[prost(fixed64, tag = "102")]
    pub owner_prefix: u64,
}

/// A context was created.
#[derive(Clone, PartialEq, Message)]
pub struct CreateContextResponse {
    /// The first chain of the task.
    #[prost(message, optional, tag = "1")]
    pub ready_chain: Option<RemoteObjectIdProto>,
}

/// Closes a context.
#[derive(Clone, PartialEq, Message)]
pub struct CloseContextRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
}

/// A context was closed.
#[derive(Clone, PartialEq, Message)]
pub struct CloseContextResponse {}

/// Tells a client the first chains of all tasks.
#[derive(Clone, PartialEq, Message)]
pub struct SendReadyChainsRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The chains, in the order of the configuration.
    #[prost(message, repeated, tag = "2")]
    pub ready_chains: Vec<RemoteObjectIdProto>,
}

/// The chains are known.
#[derive(Clone, PartialEq, Message)]
pub struct SendReadyChainsResponse {}

/// Says that a context is in use.
#[derive(Clone, PartialEq, Message)]
pub struct KeepAliveRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
}

/// The context lives on.
#[derive(Clone, PartialEq, Message)]
pub struct KeepAliveResponse {}

/// Asks for a sign of life. Not an access to the context.
#[derive(Clone, PartialEq, Message)]
pub struct HeartbeatRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name of the task that asks.
    #[prost(string, tag = "2")]
    pub sender: String,
    /// The tasks that are lost to it.
    #[prost(message, repeated, tag = "3")]
    pub lost: Vec<LostTask>,
}

/// A lost task.
#[derive(Clone, PartialEq, Message)]
pub struct LostTask {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The reason why it counts as lost.
    #[prost(string, tag = "2")]
    pub cause: String,
}

/// The task lives, and has the context.
#[derive(Clone, PartialEq, Message)]
pub struct HeartbeatResponse {
    /// A random number that the task drew when it started.
    #[prost(fixed64, tag = "1")]
    pub incarnation: u64,
    /// Whether the task that asks is lost to this one.
    #[prost(bool, tag = "2")]
    pub is_lost: bool,
    /// The tasks that are lost to this one.
    #[prost(message, repeated, tag = "3")]
    pub lost: Vec<LostTask>,
}
