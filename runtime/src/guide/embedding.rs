//! Running programs from Rust.
//!
//! ```text
//!   text ──compile──► BefFile ──Program::load──► functions ──execute──► values
//!                        ▲            │               │
//!                     a file       HostContext   ExecutionContext of a request
//! ```
//!
//! # The whole of it
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::executor::Program;
//! use tfrt::host::{RequestContextBuilder, ResourceContext};
//! use tfrt::prelude::*;
//!
//! /// Scales.
//! #[tfrt_kernel("embedding.scale")]
//! fn scale(number: f32, by: f32) -> f32 {
//!     number * by
//! }
//!
//! let source = r#"
//!     func @scale(%number: f32, %by: f32) -> f32 {
//!       %scaled = "embedding.scale"(%number, %by) : (f32, f32) -> f32
//!       tfrt.return %scaled : f32
//!     }
//! "#;
//!
//! // Once per process: what requests share.
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let host = HostContext::builder()
//!     .registry(Arc::clone(&kernels))
//!     .queue(tfrt::queue::create_queue("mstd:2")?)
//!     .diagnostic_handler(|error| eprintln!("{}", error.located()))
//!     .build();
//!
//! // Once per program: text to a file, and the file to functions. Everything that can be checked is checked here.
//! let file = tfrt::text::compile(source, "scale.mlir", &kernels)
//!     .map_err(|found| tfrt::text::render(&found, source))?;
//! let program = Program::load(&host, &file).map_err(|error| error.to_string())?;
//! let scale = program.function("scale").ok_or("no function `scale`")?;
//!
//! // Once per client, and once per request.
//! let resources = Arc::new(ResourceContext::new());
//! let request = RequestContextBuilder::new(Arc::clone(&host)).resources(resources).build();
//! let results = scale.execute(&ExecutionContext::new(request), &[AnyRef::available(2.0_f32), AnyRef::available(1.5_f32)]);
//!
//! host.await_values(&results)?;
//! assert_eq!(results[0].get::<f32>(), Some(&3.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Host, program and functions are shared freely between threads; executing the same function many times at once is what
//! they are for.
//!
//! # Results
//!
//! `execute` returns at once. The results may be awaited by a thread, as above, by an `async` block
//! (`results[0].clone().await`), or by a callback ([`and_then`](crate::prelude::AnyRef::and_then)). A result is a value or
//! an error: ask [`error_if_present`](crate::prelude::AnyRef::error_if_present) before
//! [`get`](crate::prelude::AnyRef::get).
//!
//! # Queues
//!
//! | `create_queue` of | is |
//! |---|---|
//! | `s` | no threads: kernels run on the thread that calls, tasks while it waits |
//! | `mstd` | as many threads as the machine has, stealing work from each other |
//! | `mstd:4,16` | 4 threads, and at most 16 for work that blocks |
//!
//! A queue of one's own implements [`ConcurrentWorkQueue`](crate::queue::ConcurrentWorkQueue);
//! [`queue::testing::conformance`](crate::queue::testing::conformance) is its test.
//!
//! # Requests
//!
//! A request is one piece of work for one client: it can be cancelled, has a priority and a deadline, and carries [data and
//! resources](super::resources) for kernels. Make one for each piece of work, and let it go when that is done.
//!
//! # Files
//!
//! `tfrt translate --mlir-to-bef` compiles ahead of time. A program that only executes files leaves the text front end and
//! the compiler out of the binary:
//!
//! ```toml
//! tfrt = { version = "…", default-features = false }
//! ```
//!
//! [`BefFile::open`](crate::bef::BefFile::open) reads a file. A file is verified before anything in it runs, whoever wrote
//! it: a damaged or hostile one is an error that says where.
//!
//! # Programs without text
//!
//! A front end in Rust builds files directly, with [`bef::build`](crate::bef::build): functions, kernels and registers as
//! handles, without printing and parsing.
//!
//! # Limits
//!
//! [`Limits`](crate::host::Limits) bound what a program may use: depth of calls, live invocations. Exceeding one is an
//! error value. They guard against programs, not against kernels: a kernel that loops for ever is its author's.
