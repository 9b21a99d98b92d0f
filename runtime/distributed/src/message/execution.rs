//! Programs and ops that tasks execute for others.

use prost::Message;
use prost::bytes::Bytes;

use super::RemoteObjectIdProto;

/// The format of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub enum ProgramKind {
    /// A text that a compiler pass reads.
    Text = 0,
    /// A BEF file.
    Bef = 1,
}

/// Sends a program to a task.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterFunctionRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name of the program, and of its entry function.
    #[prost(string, tag = "2")]
    pub program_name: String,
    /// The program.
    #[prost(bytes = "bytes", tag = "3")]
    pub program: Bytes,
    /// Whether a pass compiles it.
    #[prost(bool, tag = "4")]
    pub need_compilation: bool,
    /// The format of the program.
    #[prost(enumeration = "ProgramKind", tag = "101")]
    pub program_kind: i32,
}

/// The program can be executed.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterFunctionResponse {
    /// The devices of its results, if it was compiled.
    #[prost(string, repeated, tag = "1")]
    pub output_device: Vec<String>,
}

/// The destination of a result.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteOutput {
    /// The object that the result becomes.
    #[prost(message, optional, tag = "1")]
    pub id: Option<RemoteObjectIdProto>,
    /// Whether the client requests the metadata of the tensor.
    #[prost(bool, tag = "2")]
    pub need_metadata: bool,
}

/// Executes a program.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name of the program.
    #[prost(string, tag = "2")]
    pub program_name: String,
    /// Its arguments.
    #[prost(message, repeated, tag = "3")]
    pub input: Vec<RemoteObjectIdProto>,
    /// Its results.
    #[prost(message, repeated, tag = "4")]
    pub output: Vec<RemoteOutput>,
    /// The number by which the client may cancel the execution; 0 if it never does.
    #[prost(fixed64, tag = "101")]
    pub execution_id: u64,
    /// The invocation of a function over several tasks that the execution is a part of; 0 if it is
    /// none.
    #[prost(fixed64, tag = "102")]
    pub invocation: u64,
}

/// The reason why a result has no metadata.
#[derive(Clone, PartialEq, Message)]
pub struct OutputError {
    /// The index among the results whose metadata was requested.
    #[prost(uint32, tag = "1")]
    pub index: u32,
    /// The number of the code of the error.
    #[prost(int32, tag = "2")]
    pub code: i32,
    /// The error message.
    #[prost(string, tag = "3")]
    pub message: String,
}

/// The program was executed.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteResponse {
    /// The requested metadata, in the order of the results. Empty for a result without metadata.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub metadata: Vec<Bytes>,
    /// The reason why there is none.
    #[prost(message, repeated, tag = "101")]
    pub metadata_errors: Vec<OutputError>,
}

/// An attribute of an op: numbers.
#[derive(Clone, PartialEq, Message)]
pub struct OpAttribute {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its values.
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
    /// Whether it is an array.
    #[prost(bool, tag = "3")]
    pub is_array: bool,
}

/// The location of an attribute.
#[derive(Clone, PartialEq, Message)]
pub struct AttributePlace {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The number of its type.
    #[prost(uint32, tag = "2")]
    pub code: u32,
    /// Its offset in the section.
    #[prost(uint32, tag = "3")]
    pub offset: u32,
}

/// Attributes of any kinds, in the encoding of BEF files.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeSet {
    /// The values.
    #[prost(bytes = "bytes", tag = "1")]
    pub section: Bytes,
    /// The locations of the attributes.
    #[prost(message, repeated, tag = "2")]
    pub places: Vec<AttributePlace>,
}

/// Executes an op of the Core Runtime.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteOpRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The name that the handler of the op has on the task.
    #[prost(string, tag = "2")]
    pub op_handler_name: String,
    /// The op.
    #[prost(string, tag = "3")]
    pub op_name: String,
    /// The chain that the op follows.
    #[prost(message, optional, tag = "4")]
    pub in_chain: Option<RemoteObjectIdProto>,
    /// The chain that follows the op.
    #[prost(message, optional, tag = "5")]
    pub out_chain: Option<RemoteObjectIdProto>,
    /// Its arguments.
    #[prost(message, repeated, tag = "6")]
    pub input: Vec<RemoteObjectIdProto>,
    /// Its results.
    #[prost(message, repeated, tag = "7")]
    pub output: Vec<RemoteOutput>,
    /// Its attributes, if all of them are numbers.
    #[prost(message, repeated, tag = "8")]
    pub attributes: Vec<OpAttribute>,
    /// Its attributes, of any kinds.
    #[prost(message, optional, tag = "101")]
    pub attribute_set: Option<AttributeSet>,
}

/// The op was executed.
#[derive(Clone, PartialEq, Message)]
pub struct RemoteExecuteOpResponse {
    /// The metadata of the results for which it was requested. Empty for a result without metadata.
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub metadata: Vec<Bytes>,
    /// The reason why there is none.
    #[prost(message, repeated, tag = "101")]
    pub metadata_errors: Vec<OutputError>,
}

/// Cancels an execution, which may arrive later.
#[derive(Clone, PartialEq, Message)]
pub struct CancelExecutionRequest {
    /// The context.
    #[prost(fixed64, tag = "1")]
    pub context_id: u64,
    /// The number of the execution.
    #[prost(fixed64, tag = "2")]
    pub execution_id: u64,
}

/// The execution is cancelled, unless it was over.
#[derive(Clone, PartialEq, Message)]
pub struct CancelExecutionResponse {}
