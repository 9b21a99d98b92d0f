//! AsyncValue: a typed, reference-counted value that may become available later.
//!
//! The holder of the [`Promise`] produces the value, and every holder of a reference can read it:
//! an [`AsyncValueRef<T>`] if the payload type is known, an [`AnyRef`] otherwise. A value becomes
//! *available* exactly once; from then on it holds a payload or an [error](tfrt_support::Error). No
//! thread blocks: a consumer of an unavailable value registers a waiter, or awaits the reference.
//!
//! ```
//! use tfrt_async::AsyncValueRef;
//!
//! let (promise, value) = AsyncValueRef::<i32>::unconstructed();
//! assert_eq!(value.get(), None);
//! value.and_then(|value| assert_eq!(value.get(), Some(&42)));
//! promise.emplace(42);
//! assert_eq!(value.get(), Some(&42));
//! ```
//!
//! # Life cycle
//!
//! ```text
//!                    ┌─2─┐ a waiter registers
//!            1       ▼   │        3 publish a payload            ┌──────────┐
//!  (nothing) ───► Unavailable ─────────────────────────────────► │ Payload  │──5──┐
//!      │             │   │                                       └──────────┘     │
//!      │             │   │        3'publish a link (indirect)    ┌──────────┐     ▼
//!      │             │   └─────────────────────────────────────► │   Link   │──5──► destroyed by the
//!      │             │                                           └──────────┘     ▲ last reference
//!      │             │   4 publish an error                      ┌──────────┐     │
//!      │             └─────────────────────────────────────────► │  Error   │──5──┘
//!      └──6 made available─────────────────────────────────────► └──────────┘
//! ```
//!
//! 1. A promise and a first reference are created together. Each holds one count.
//! 2. A waiter is pushed onto the list in the state word.
//! 3. The promise publishes: the word changes from a list of waiters to the outcome in one step,
//!    and the waiters run on the publishing thread, newest first. An indirect value publishes a
//!    link to a value that has a payload.
//! 4. Like 3, with an error. The promise can publish it, or any holder of a reference with
//!    [`try_set_error`](AnyRef::try_set_error): edges 3 and 4 race for one compare-and-swap, and
//!    the loser leaves the value unchanged.
//! 5. The last reference is dropped. A promise holds a reference, so an unavailable value is never
//!    destroyed.
//! 6. A value is created available.
//!
//! The models under `cfg(loom)` name the edges that they explore.
//!
//! # Access rights
//!
//! | part | unavailable | available |
//! |---|---|---|
//! | payload | the promise only | all references may read; a [`WriteGuard`] may write if the type is [mutable](Value::IS_MUTABLE) |
//! | error, link | does not exist | all references may read |
//! | waiters | any thread may push, the publisher takes them | do not exist |
//! | type, kind | all references may read: written before the value is shared | the same |
#![deny(unsafe_code)]

mod value;

mod room;

mod any_ref;

mod any_payload;

mod typed_ref;

mod promise;

mod borrow;

mod byte_string;

mod type_index;

mod index_cell;

pub mod identity;

#[cfg(not(loom))]
pub mod shared;

mod join;

mod rendezvous;

mod published;

pub mod display;

mod outcome;

mod future;

mod cell;

pub mod pool;

pub mod dropping;

mod word;

mod count;

mod waiter;

mod nesting;

mod live;

mod sync;

#[cfg(all(test, loom))]
mod loom_models;

pub use any_payload::AnyPayload;
pub use any_ref::AnyRef;
pub use borrow::{BorrowError, ReadGuard, WriteGuard};
pub use byte_string::{ByteString, NotText};
pub use future::{AnyFuture, ValueFuture};
pub use index_cell::IndexCell;
pub use join::{run_when_ready, run_when_ready_for};
pub use live::{LiveScope, live_values};
pub use promise::{ConstructedPromise, IndirectPromise, Promise, Promises};
pub use published::Published;
pub use rendezvous::Rendezvous;
pub use room::{BlockOwners, Room};
pub use type_index::TypeIndex;
pub use typed_ref::AsyncValueRef;
pub use value::{
    Chain, DisplayFn, Immutable, MAX_COPIED_ALIGN, MAX_COPIED_BYTES, Passing, Value, is_copied,
};
