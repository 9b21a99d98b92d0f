//! The methods of a task: the request and the response of each, in one table.

use prost::Message;
use prost::bytes::Bytes;

use super::{
    CancelExecutionRequest, CancelExecutionResponse, CloseContextRequest, CloseContextResponse,
    CreateContextRequest, CreateContextResponse, DeleteRemoteObjectsRequest,
    DeleteRemoteObjectsResponse, FetchObjectRequest, FetchObjectResponse, GetDevicesRequest,
    GetDevicesResponse, HeartbeatRequest, HeartbeatResponse, KeepAliveRequest, KeepAliveResponse,
    PutObjectRequest, PutObjectResponse, RegisterFunctionRequest, RegisterFunctionResponse,
    RemoteExecuteOpRequest, RemoteExecuteOpResponse, RemoteExecuteRequest, RemoteExecuteResponse,
    SendDataRequest, SendDataResponse, SendReadyChainsRequest, SendReadyChainsResponse,
};

impl Method {
    /// Returns `true` if the threads of the transport process a request themselves, on both sides,
    /// so that it never waits for kernels.
    #[must_use]
    pub fn is_urgent(self) -> bool {
        self == Self::Heartbeat
    }
}

/// A request with the response that belongs to it.
pub trait Call: Into<Request> {
    /// The method.
    const METHOD: Method;

    /// The response.
    type Response: TryFrom<Response>;
}

macro_rules! methods {
    ($($(#[$doc:meta])+ $name:ident: $request:ident => $response:ident, $context:expr;)+) => {
        /// The requests that a task answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[$doc])+ $name,)+
        }

        impl Method {
            /// Every method, in the order of their declaration.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the method of this name.
            #[must_use]
            pub fn find(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|method| method.name() == name)
            }

            /// Returns the name of the method.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }
        }

        /// A request of any method.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Request {
            $($(#[$doc])+ $name($request),)+
        }

        impl Request {
            /// Returns the method.
            #[must_use]
            pub const fn method(&self) -> Method {
                match self {
                    $(Self::$name(_) => Method::$name,)+
                }
            }

            /// Returns the context that the request refers to, if any.
            #[must_use]
            pub fn context_id(&self) -> Option<u64> {
                match self {
                    $(Self::$name(request) => {
                        let context_id: fn(&$request) -> Option<u64> = $context;
                        context_id(request)
                    })+
                }
            }

            /// Returns the number of bytes that [`encode`](Self::encode) returns.
            #[must_use]
            pub fn encoded_len(&self) -> usize {
                match self {
                    $(Self::$name(request) => request.encoded_len(),)+
                }
            }

            /// Returns the request as bytes.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(request) => request.encode_to_vec(),)+
                }
            }

            /// Returns the request of a method in bytes.
            ///
            /// # Errors
            /// If the bytes are not such a message.
            pub fn decode(method: Method, bytes: Bytes) -> Result<Self, prost::DecodeError> {
                Ok(match method {
                    $(Method::$name => Self::$name($request::decode(bytes)?),)+
                })
            }
        }

        /// A response of any method.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Response {
            $($(#[$doc])+ $name($response),)+
        }

        impl Response {
            /// Returns the response as bytes.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$name(response) => response.encode_to_vec(),)+
                }
            }

            /// Returns the response of a method in bytes.
            ///
            /// # Errors
            /// If the bytes are not such a message.
            pub fn decode(method: Method, bytes: Bytes) -> Result<Self, prost::DecodeError> {
                Ok(match method {
                    $(Method::$name => Self::$name($response::decode(bytes)?),)+
                })
            }
        }

        $(
            impl From<$request> for Request {
                fn from(request: $request) -> Self {
                    Self::$name(request)
                }
            }

            impl From<$response> for Response {
                fn from(response: $response) -> Self {
                    Self::$name(response)
                }
            }

            impl TryFrom<Response> for $response {
                type Error = Response;

                fn try_from(response: Response) -> Result<Self, Response> {
                    match response {
                        Response::$name(response) => Ok(response),
                        other => Err(other),
                    }
                }
            }

            impl Call for $request {
                const METHOD: Method = Method::$name;

                type Response = $response;
            }
        )+
    };
}

methods! {
    /// The devices of a task.
    GetDevices: GetDevicesRequest => GetDevicesResponse, |_| None;
    /// Creates a context.
    CreateContext: CreateContextRequest => CreateContextResponse, |request| Some(request.context_id);
    /// Closes a context.
    CloseContext: CloseContextRequest => CloseContextResponse, |request| Some(request.context_id);
    /// Tells the first chains of all tasks.
    SendReadyChains: SendReadyChainsRequest => SendReadyChainsResponse, |request| Some(request.context_id);
    /// Says that a context is in use.
    KeepAlive: KeepAliveRequest => KeepAliveResponse, |request| Some(request.context_id);
    /// Asks for a sign of life.
    Heartbeat: HeartbeatRequest => HeartbeatResponse, |request| Some(request.context_id);
    /// Sends a payload.
    SendData: SendDataRequest => SendDataResponse, |request| Some(request.context_id);
    /// Sends a program.
    RegisterFunction: RegisterFunctionRequest => RegisterFunctionResponse, |request| Some(request.context_id);
    /// Executes a program.
    RemoteExecute: RemoteExecuteRequest => RemoteExecuteResponse, |request| Some(request.context_id);
    /// Executes an op.
    RemoteExecuteOp: RemoteExecuteOpRequest => RemoteExecuteOpResponse, |request| Some(request.context_id);
    /// Cancels an execution.
    CancelExecution: CancelExecutionRequest => CancelExecutionResponse, |request| Some(request.context_id);
    /// Asks for the tensor of an object.
    FetchObject: FetchObjectRequest => FetchObjectResponse, |request| Some(request.context_id);
    /// Announces the tensor of an object.
    PutObject: PutObjectRequest => PutObjectResponse, |request| Some(request.context_id);
    /// Deletes objects.
    DeleteRemoteObjects: DeleteRemoteObjectsRequest => DeleteRemoteObjectsResponse, |request| Some(request.context_id);
}
