//! State that outlives a call.
//!
//! A kernel is a function of its operands and attributes. Where to keep other state depends on its
//! lifetime:
//!
//! | lives as long as | kind | access |
//! |---|---|---|
//! | the values that refer to it | a value, [mutable](super::values#values-that-change) or behind a lock | operands |
//! | a request | data of the request | [`RequestContext::context_data`](crate::prelude::RequestContext::context_data) |
//! | a client, over many requests | a resource | [`ExecutionContext::resources`](crate::prelude::ExecutionContext::resources) |
//! | the host | a shared context | [`HostContext::shared_context`](crate::prelude::HostContext::shared_context) |
//!
//! The latter three can also be a parameter, [`Res<T>`](#a-resource-as-a-parameter).
//!
//! Do not use statics: two hosts in one process, such as two tests, would share them.
//!
//! # A resource as a parameter
//!
//! The attribute on the type gives the scope in which its object is shared. A parameter of type
//! [`Res<T>`](crate::prelude::Res) refers to that object, which is created on first use:
//!
//! ```
//! use std::sync::atomic::{AtomicI64, Ordering};
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// The number of tickets issued to a client.
//! #[derive(Default, Resource)]
//! #[resource(client)]
//! struct Tickets(AtomicI64);
//!
//! /// Returns the number of a ticket.
//! #[tfrt_kernel("resources.ticket", effect = "resources.tickets")]
//! fn ticket(tickets: Res<Tickets>) -> i64 {
//!     tickets.0.fetch_add(1, Ordering::Relaxed) + 1
//! }
//!
//! testing::program(
//!     r#"
//!     func @two(%ready: !tfrt.chain) -> (i64, i64) {
//!       %first, %then = "resources.ticket"(%ready) : (!tfrt.chain) -> (i64, !tfrt.chain)
//!       %second, %done = "resources.ticket"(%then) : (!tfrt.chain) -> (i64, !tfrt.chain)
//!       tfrt.return %first, %second : i64, i64
//!     }
//!     "#,
//! )
//! .under_every_queue()
//! .call("two", (Chain,))
//! .expect_values((1_i64, 2_i64));
//! ```
//!
//! The scope is `host`, `client` or `request`. A type without a default, or whose creation can
//! fail, implements [`Resource`](crate::kernel::Resource) by hand.
//!
//! # Named resources
//!
//! A [`ResourceContext`](crate::host::ResourceContext) is a table of named objects that the
//! requests of one client share. Objects are looked up by name and type, and must be safe to use
//! from several threads:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicI64, Ordering};
//! use tfrt::host::ResourceContext;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Counts its calls with this name.
//! #[tfrt_kernel("resources.count", effect = "resources.counter")]
//! fn count(#[attr] name: &str, ctx: &ExecutionContext) -> Result<i64> {
//!     let resources = ctx.resources().ok_or_else(|| Error::new("the request has no resources"))?;
//!     let counter = resources.get_or_create(name, AtomicI64::default)?;
//!     Ok(counter.fetch_add(1, Ordering::Relaxed) + 1)
//! }
//!
//! // Every run of a test has resources of its own, ...
//! let count = || testing::kernel("resources.count").attribute("name", "visits");
//! count().run().expect_value(1_i64);
//! count().run().expect_value(1_i64);
//!
//! // ... unless they are given to the request.
//! let client = Arc::new(ResourceContext::new());
//! let of_client = || {
//!     let client = client.clone();
//!     count().request(move |request| request.resources(client.clone())).run()
//! };
//! of_client().expect_value(1_i64);
//! of_client().expect_value(2_i64);
//!
//! // A name has one type.
//! client.create("text", String::new())?;
//! let client = client.clone();
//! let wrong = count().attribute("name", "text");
//! # let wrong = testing::kernel("resources.count").attribute("name", "text");
//! wrong.request(move |request| request.resources(client.clone())).run().expect_error("resource `text`: expected");
//! # Ok::<(), tfrt::Error>(())
//! ```
//!
//! The effect has its own class: counts are ordered relative to each other, but not relative to
//! prints.
//!
//! # Data of the request
//!
//! The program that builds a [request](super::embedding#requests) can attach data to it, one object
//! for each type, and kernels look it up by type. Use this to pass objects of the embedding program
//! to kernels: credentials, a logger, a budget.
//!
//! ```
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! struct User(String);
//!
//! /// Greets the user of the request.
//! #[tfrt_kernel("resources.greet")]
//! fn greet(request: &RequestContext) -> Result<String> {
//!     let user = request.context_data::<User>().ok_or_else(RequestContext::missing_context_data::<User>)?;
//!     Ok(format!("hello, {}", user.0))
//! }
//!
//! let greet = testing::kernel("resources.greet").request(|request| request.context_data(User(String::from("ada"))));
//! greet.run().expect_value("hello, ada");
//! ```
//!
//! # Shared contexts of the host
//!
//! [`shared_context`](crate::prelude::HostContext::shared_context) creates one object of a type for
//! the whole host, on first use: a cache of compiled code, a connection, a thread that drives
//! sockets.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::Mutex;
//! use tfrt::prelude::*;
//! use tfrt::testing;
//!
//! /// Earlier results, for all requests.
//! type Cache = Mutex<HashMap<i32, i32>>;
//!
//! /// Returns the square, computed once for each number.
//! #[tfrt_kernel("resources.square")]
//! fn square(number: i32, host: &HostContext) -> Result<i32> {
//!     let cache = host.shared_context(Cache::default);
//!     let mut cache = cache.lock().map_err(|_| Error::new("a kernel panicked in the cache"))?;
//!     Ok(*cache.entry(number).or_insert_with(|| number * number))
//! }
//!
//! testing::kernel("resources.square").operands((7,)).run().expect_value(49);
//! ```
