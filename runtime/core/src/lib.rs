//! The Core Runtime: ops that run one by one, by name, on tensor handles.
//!
//! ```text
//!                 OpHandler ── make_op ──► CoreRuntimeOp ── run ──► TensorHandle …
//!   logging ──► cpu ──► null                    ▲
//!                │                              │ composite
//!             OpRegistry                    functions of a program
//! ```
//!
//! A graph knows all of its kernels before the first one runs. Here a caller names one op at a
//! time, passes handles and attributes to it, and gets handles at once: of tensors that are
//! available, or will be. The metadata of results is known early where possible.
//!
//! | module | contents |
//! |---|---|
//! | `handle` | [`TensorHandle`]: a tensor, its metadata and its device, each known or pending; transfers |
//! | `attrs` | [`OpAttrs`]: the attributes of a call |
//! | [`metadata`](mod@metadata) | metadata functions for the common cases |
//! | `op`, `registry` | registered ops |
//! | `code`, `library` | the code that calls functions of ops; the ops of kernel libraries |
//! | [`device_op`] | the steps of a call of a registered op |
//! | `handler` | handlers, which make ops from names |
//! | `core_op`, [`composite`] | ops that can be called; functions as ops |
//! | `eager` | ops called from Rust |
//! | `order` | the order of ops that write to tensors with those that read them |
//! | `exchange` | how the parts of a function on several devices exchange values |
//! | `runtime` | the handlers, ops and conversions of a host |
//!
//! Handlers and ops do not depend on programs or text: kernels that run ops are in the kernel
//! library.
#![deny(unsafe_code)]

mod attrs;

mod handle;

pub mod metadata;

mod op;

mod registry;

mod code;

mod library;

mod core_op;

pub mod device_op;

pub mod composite;

mod handler;

mod runtime;

mod eager;

mod device_name;

mod exchange;

mod order;

mod identity;

mod authoring;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use attrs::{OpAttrs, OpAttrsRef};
pub use authoring::forward::Forwarded;
pub use core_op::{CoreRuntimeOp, OpInvocation, RunOp};
pub use device_name::{DevicePattern, no_such_device};
pub use eager::{
    CacheStats, EagerContext, EagerContextBuilder, Op, Placement, PlacementRow, PlacementRule,
    ReadyOp, Scope, ToTensor, TypedCall, cheapest_device, placement_table,
};
pub use exchange::RendezvousRef;
pub use handle::{
    CopyStats, DevicePart, HandlePromise, MetadataPart, MetadataValue, PendingMetadata,
    TensorHandle, inferred_tensor_type,
};
pub use handler::{
    CpuOpHandler, LogResults, LoggingOpHandler, NullOpHandler, OpHandler, OpHandlerRef,
};
pub use op::{
    Implementation, OpCall, OpCostFunction, OpFlags, OpFunction, OpMetadataFunction,
    OpPartialFunction, OpQuery, OpRegistration, OperandSet, PartialQuery, ResultMetadata,
};
pub use registry::{OpRegistry, RegisteredOp};
pub use runtime::CoreRuntime;
