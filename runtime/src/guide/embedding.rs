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
//! // A kernel that fails: the error has what the kernel said, and where.
//! let results = scale.execute(&ctx, &[AnyRef::available(2.0_f32), AnyRef::available(f32::NAN)]);
//! let error = host.await_values(&results).unwrap_err();
//! assert_eq!((error.code(), error.kernel()), (ErrorCode::InvalidArgument, Some("embedding.scale")));
//! assert_eq!(error.located().to_string(), "scale.mlir:3:17: the factor is not a number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Host, program and functions are shared freely between threads; executing the same function many times at once is what
//! they are for.
//!
//! # Results
//!
//! `execute` returns at once. The results may be awaited by a thread, as above, by an `async` block
//! (`results[0].clone().await?`), or by a callback ([`and_then`](crate::prelude::AnyRef::and_then)). A result is a value or
//! an error: [`as_result`](crate::prelude::AnyRef::as_result) is both. Awaiting gives the error of a value that is one, so that
//! it cannot be overlooked; [`await_available`](crate::prelude::HostContext::await_available) waits for errors, too, and returns
//! nothing of them.
//!
//! # Errors
//!
//! [`Error`](crate::Error), what [compiling](crate::text::compile) finds, and every other error of the runtime is a
//! [`std::error::Error`] that is `Send + Sync`, so that `?` passes it on in functions that return `Box<dyn Error>` or
//! `anyhow::Result`. `{error}` is the message, [`located`](crate::Error::located) has the place before it, and
//! [`source`](std::error::Error::source) the causes.
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
//! The waiting tasks of a request run before those of requests with a lower priority, on every queue of the table above. A
//! request of low priority still makes progress while others are busy.
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
