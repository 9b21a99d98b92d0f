//! Running programs from Rust.
//!
//! ```text
//!   text ──compile──► BefFile ──Program::load──► functions ──execute──► values
//!                        ▲            │               │
//!                     a file       HostContext   ExecutionContext of a request
//! ```
//!
//! # A complete program
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::executor::Program;
//! use tfrt::host::{RequestContextBuilder, ResourceContext};
//! use tfrt::prelude::*;
//!
//! /// Multiplies by a factor.
//! #[tfrt_kernel("embedding.scale")]
//! fn scale(number: f32, by: f32) -> Result<f32> {
//!     if by.is_nan() {
//!         return Err(Error::new("the factor is not a number").with_code(ErrorCode::InvalidArgument));
//!     }
//!     Ok(number * by)
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
//! let file = tfrt::text::compile(source, "scale.mlir", &kernels)?;
//! let program = Program::load(&host, &file)?;
//! let scale = program.function("scale").ok_or("no function `scale`")?;
//!
//! // Once per client, and once per request.
//! let resources = Arc::new(ResourceContext::new());
//! let request = RequestContextBuilder::new(Arc::clone(&host)).resources(resources).build();
//! let ctx = ExecutionContext::new(request);
//! let results = scale.execute(&ctx, &[AnyRef::available(2.0_f32), AnyRef::available(1.5_f32)]);
//! host.await_values(&results)?;
//! assert_eq!(results[0].as_result::<f32>()?, &3.0);
//!
//! // A kernel that fails: the error has the message of the kernel and its location.
//! let results = scale.execute(&ctx, &[AnyRef::available(2.0_f32), AnyRef::available(f32::NAN)]);
//! let error = host.await_values(&results).unwrap_err();
//! assert_eq!((error.code(), error.kernel()), (ErrorCode::InvalidArgument, Some("embedding.scale")));
//! assert_eq!(error.located().to_string(), "scale.mlir:3:17: the factor is not a number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Host, program and functions can be shared between threads, and a function can be executed many
//! times concurrently.
//!
//! # Results
//!
//! `execute` returns at once. The results may be awaited by a thread, as above, by an `async` block
//! (`results[0].clone().await?`), or by a callback
//! ([`and_then`](crate::prelude::AnyRef::and_then)). A result is a value or an error, and
//! [`as_result`](crate::prelude::AnyRef::as_result) returns either. `await_values` returns the
//! error of a failed value, so that it cannot be overlooked;
//! [`await_available`](crate::prelude::HostContext::await_available) only waits.
//!
//! # Errors
//!
//! [`Error`](crate::Error), the diagnostics of [compiling](crate::text::compile), and every other
//! error of the runtime is a [`std::error::Error`] that is `Send + Sync`, so that `?` passes it on
//! in functions that return `Box<dyn Error>` or `anyhow::Result`. `{error}` is the message,
//! [`located`](crate::Error::located) adds the location, and [`source`](std::error::Error::source)
//! returns the cause.
//!
//! # Queues
//!
//! | argument of `create_queue` | queue |
//! |---|---|
//! | `s` | no threads: kernels run on the calling thread, and tasks while it waits |
//! | `mstd` | work stealing, with as many threads as the machine has |
//! | `mstd:4,16` | 4 threads, and at most 16 for blocking work |
//!
//! You can implement another queue as a [`ConcurrentWorkQueue`](crate::queue::ConcurrentWorkQueue),
//! and test it with [`queue::testing::conformance`](crate::queue::testing::conformance).
//!
//! # Requests
//!
//! A request is one piece of work for one client: it can be cancelled, has a priority and a
//! deadline, and carries [data and resources](super::resources) for kernels. Create one for each
//! piece of work, and drop it when the work is done.
//!
//! The waiting tasks of a request run before those of requests with a lower priority, on every
//! queue of the table above. A request of low priority still makes progress under load.
//!
//! # Files
//!
//! `tfrt translate --mlir-to-bef` compiles ahead of time. A program that only executes BEF files
//! does not need the text front end and the compiler:
//!
//! ```toml
//! tfrt = { version = "…", default-features = false }
//! ```
//!
//! [`BefFile::open`](crate::bef::BefFile::open) reads a file. Every file is verified before
//! anything in it runs. A damaged or hostile file is an error with an offset.
//!
//! # Programs without text
//!
//! A front end in Rust can build files directly with [`bef::builder`](crate::bef::builder), without
//! a detour through text.
//!
//! # Limits
//!
//! [`Limits`](crate::host::Limits) bound the resources of a program: depth of calls, live
//! invocations, memory. Exceeding a limit is an error value. Limits protect against programs, not
//! against kernels: they cannot stop a kernel that loops forever.
