//! Objects of tasks, and the payloads that tasks send each other.

use prost::Message;
use prost::bytes::Bytes;

use crate::object::RemoteObjectId;

/// An object of a task.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteObjectIdProto {
    /// The task that created the id.
    #[prost(uint64, tag = "1")]
    pub prefix_id: u64,
    /// The number of the id on that task.
    #[prost(uint64, tag = "2")]
    pub local_id: u64,
    /// The device that the object lives on.
    #[prost(string, tag = "3")]
    pub device: String,
    /// The name of the task that produces the object, if the device is one of another task and the
    /// producer is known. Whoever waits for the object waits for that task, too.
    #[prost(string, tag = "101")]
    pub producer: String,
}

impl From<&RemoteObjectId> for RemoteObjectIdProto {
    fn from(id: &RemoteObjectId) -> Self {
        Self {
            prefix_id: id.prefix(),
            local_id: id.local(),
            device: id.device().to_owned(),
            producer: id.producer().unwrap_or_default().to_owned(),
        }
    }
}

impl From<&RemoteObjectIdProto> for RemoteObjectId {
    fn from(id: &RemoteObjectIdProto) -> Self {
        Self::new(id.prefix_id, id.local_id, id.device.as_str()).produced_by(&id.producer)
    }
}

/// Asks for the tensor of an object: it is sent as a payload, once it is available.
#[derive(Clone, PartialEq, Message)]
pub struct FetchObjectRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The object.
    #[prost(message, optional, tag = "2")]
    pub object: Option<RemoteObjectIdProto>,
    /// The name of the task that the payload goes to.
    #[prost(string, tag = "3")]
    pub receiver: String,
    /// The key that the receiver waits for.
    #[prost(string, tag = "4")]
    pub instance_key: String,
}

/// The payload has arrived: the tensor, or the reason why there is none.
#[derive(Clone, PartialEq, Message)]
pub struct FetchObjectResponse {}

/// Announces a payload with a tensor, which becomes an object.
#[derive(Clone, PartialEq, Message)]
pub struct PutObjectRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The object.
    #[prost(message, optional, tag = "2")]
    pub object: Option<RemoteObjectIdProto>,
    /// The name of the task that the payload comes from.
    #[prost(string, tag = "3")]
    pub sender: String,
    /// The key of the payload.
    #[prost(string, tag = "4")]
    pub instance_key: String,
}

/// The object is a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct PutObjectResponse {}

/// Deletes objects.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteRemoteObjectsRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The objects.
    #[prost(message, repeated, tag = "2")]
    pub input: Vec<RemoteObjectIdProto>,
}

/// The objects were deleted.
#[derive(Clone, PartialEq, Message)]
pub struct DeleteRemoteObjectsResponse {}

/// Sends a payload to the receiver of a key.
#[derive(Clone, PartialEq, Message)]
pub struct SendDataRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The key.
    #[prost(string, tag = "2")]
    pub instance_key: String,
    /// The buffers.
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub payload: Vec<Bytes>,
}

/// The payload arrived, with or without a waiting receiver.
#[derive(Clone, PartialEq, Message)]
pub struct SendDataResponse {}
