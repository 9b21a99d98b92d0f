//! Configurations, requests and responses, as protocol buffers of package `tfrt`.
//!
//! Fields above number 100 are extensions. Unknown fields are ignored, and absent ones have the
//! default of their type.
//!
//! | module | contents |
//! |---|---|
//! | `configuration` | what a task is told about its cluster and itself |
//! | `text` | configurations as text |
//! | `context` | devices, and the life of contexts |
//! | `object` | objects and payloads |
//! | `execution` | programs and ops |
//! | `method` | the table of methods, with requests and responses of any of them |

mod configuration;

mod text;

mod context;

mod object;

mod execution;

mod method;

pub use configuration::{
    ANY_ORDER, ClusterConfiguration, CollectiveGroupConfiguration, DistributedContextConfiguration,
    JobConfiguration, RING_ORDER,
};
pub use context::{
    CloseContextRequest, CloseContextResponse, CreateContextRequest, CreateContextResponse,
    DeviceInfo, GetDevicesRequest, GetDevicesResponse, HeartbeatRequest, HeartbeatResponse,
    KeepAliveRequest, KeepAliveResponse, LostTask, SendReadyChainsRequest, SendReadyChainsResponse,
    SentProgram, TaskLoad,
};
pub use execution::{
    AttributePlace, AttributeSet, CancelExecutionRequest, CancelExecutionResponse, OpAttribute,
    OutputError, ProgramKind, RegisterFunctionRequest, RegisterFunctionResponse,
    RemoteExecuteOpRequest, RemoteExecuteOpResponse, RemoteExecuteRequest, RemoteExecuteResponse,
    RemoteOutput,
};
pub use method::{Call, Method, Request, Response};
pub use object::{
    DeleteRemoteObjectsRequest, DeleteRemoteObjectsResponse, FetchObjectRequest,
    FetchObjectResponse, PutObjectRequest, PutObjectResponse, RemoteObjectIdProto, SendDataRequest,
    SendDataResponse,
};

#[cfg(test)]
mod tests;
