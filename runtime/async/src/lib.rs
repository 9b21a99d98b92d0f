//! AsyncValue: a typed, reference-counted value that may not be there yet.
//!
//! A value is made by somebody who has a [`Promise`] for it and read by everybody who holds a reference to it: an
//! [`AsyncValueRef<T>`] when the type of the payload is known, an [`AnyRef`] when it is not. Once, and only once, it
//! becomes *available*: it then holds a payload, or an [error](tfrt_support::Error), for ever. Nobody blocks: who needs
//! the payload of a value that is not available leaves a waiter, or awaits the reference.
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
//! 1. A promise and a first reference are made together. Each holds one count.
//! 2. A waiter is pushed on the list that the state word holds.
//! 3. The promise publishes: the word changes from a list of waiters to the outcome in one step, and the waiters that
//!    were on the list run on the publishing thread, newest first. An indirect value publishes a link to a value
//!    that has a payload.
//! 4. As 3, with an error. The promise may do it, and so may anybody who [tries](AnyRef::try_set_error): edges 3 and 4
//!    race for one compare-and-swap, and who loses it leaves the value as it is.
//! 5. The last reference goes away. A promise holds a reference, so this never happens to an unavailable value.
//! 6. A value is born available.
//!
//! The models under `cfg(loom)` name the edges that they explore.
//!
//! # Who may touch what
//!
//! | part | unavailable | available |
//! |---|---|---|
//! | payload | the promise, alone | everybody, to read; to write under a [`WriteGuard`] if the type is [mutable](Value::IS_MUTABLE) |
//! | error, link | nobody, there is none | everybody, to read |
//! | waiters | pushed by anybody, taken by the one who publishes | nobody, there are none |
//! | type, kind | everybody, to read: written before the value is shared | the same |
#![deny(unsafe_code)]

pub mod value;

pub mod any_ref;

pub mod typed_ref;

pub mod promise;

pub mod borrow;

pub mod byte_string;

pub mod type_index;

pub mod identity;

#[cfg(not(loom))]
pub mod shared;

mod join;

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

pub use any_ref::AnyRef;
pub use borrow::{BorrowError, ReadGuard, WriteGuard};
pub use byte_string::ByteString;
pub use future::{AnyFuture, ValueFuture};
pub use join::run_when_ready;
pub use live::{LiveScope, live_values};
pub use promise::{ConstructedPromise, IndirectPromise, Promise};
pub use type_index::TypeIndex;
pub use typed_ref::AsyncValueRef;
pub use value::{Chain, Immutable, Passing, Value};
