//! Coming from the C++ TFRT.
//!
//! Programs, files and tools are the same: MLIR text and BEF files run unchanged, and the tools
//! keep their names and flags. Writing kernels and embedding the runtime are different.
//!
//! | C++ | here |
//! |---|---|
//! | a function, its `TFRT_KERNEL(…)`, `registry->AddKernel("my.add", …)`, and an op in `.td` | a function with `#[tfrt_kernel("my.add")]` |
//! | `TFRT_STATIC_KERNEL_REGISTRATION` | nothing: linking registers; [`tfrt::link!`](crate::link) names the crate |
//! | `-alwayslink` libraries | [`tfrt::link!`](crate::link) |
//! | `RegisterKernels` in a shared library | [`tfrt::export_kernels!`](crate::export_kernels), with a check of how it was built |
//! | `AddSyncKernel`, `TFRT_SYNC_KERNEL` | the option `sync` |
//! | `Argument<T>`, `T`, `const T&` | `T`, `&T` |
//! | `T*`, an operand that the kernel writes | `&mut T` of a mutable type; the macro adds the chain, and the borrow is checked |
//! | `Argument<T>` whose value may be unavailable | [`AsyncValueRef<T>`](crate::prelude::AsyncValueRef), [`AnyRef`](crate::prelude::AnyRef) with `non_strict` |
//! | `RepeatedArguments<T>`, `RemainingArguments` | [`Operands<'_, T>`](crate::prelude::Operands), `&[AnyRef]` |
//! | `Result<T>` parameter, `result.Emplace(…)` | the return value |
//! | `RemainingResults` | `Vec<AnyRef>` as return value; [`KernelFrame::results`](crate::prelude::KernelFrame::results) |
//! | `Attribute<T>`, `StringAttribute`, `ArrayAttribute<T>`, `AggregateAttr` | `#[attr]`: `T`, `&str`, `&[T]`, [`AggregateView`](crate::prelude::AggregateView) |
//! | attributes by position | attributes by name, in any order of parameters, with defaults |
//! | `Attribute<Function>`, `RemainingFunctions` | [`FunctionRef`](crate::prelude::FunctionRef), `&[FunctionRef]`, `#[region]` |
//! | `KernelErrorHandler`, `frame->ReportError` | `return Err(…)` |
//! | `llvm::Expected<T>`, `Expected<std::tuple<…>>` | `Result<T>`, `Result<(…)>` |
//! | `RCReference<AsyncValue>` | [`AnyRef`](crate::prelude::AnyRef) |
//! | `AsyncValueRef<T>`, `MakeUnconstructedAsyncValueRef`, `MakeAvailableAsyncValueRef` | [`AsyncValueRef<T>`](crate::prelude::AsyncValueRef): `unconstructed()`, `available(…)` |
//! | `value.emplace(…)`, `value.SetStateConcrete()`, `SetError` | methods of the [promise](crate::async_value::Promise), which can be used once |
//! | `IndirectAsyncValue`, `ForwardTo` | [`AnyRef::indirect`](crate::prelude::AnyRef::indirect), [`forward_to`](crate::async_value::IndirectPromise::forward_to) |
//! | `AndThen` | `.await`; [`and_then`](crate::prelude::AnyRef::and_then) |
//! | `RunWhenReady` | `.await` in turn; [`run_when_ready`](crate::async_value::run_when_ready) |
//! | `EnqueueWork`, `EnqueueBlockingWork` | an `async fn`, the option `blocking`; [`ExecutionContext::enqueue`](crate::prelude::ExecutionContext::enqueue) |
//! | `HostContext(diag_handler, allocator, work_queue)` | [`HostContext::builder()`](crate::prelude::HostContext::builder) |
//! | `RequestContextBuilder`, `ResourceContext`, `SharedContext` | the same names, in [`host`](crate::host) |
//! | `BEFFile::Open`, `GetFunction`, `Execute` | [`Program::load`](crate::executor::Program::load), `function`, `execute` |
//! | `host->Await(values)`, `Quiesce` | [`await_values`](crate::prelude::HostContext::await_values), [`quiesce`](crate::prelude::HostContext::quiesce) |
//! | `DecodedDiagnostic`, `EmitError` | [`Error`](crate::Error), with a place; returned, or [`emit_error`](crate::prelude::ExecutionContext::emit_error) |
//! | `bef_executor`, `tfrt_translate`, `tfrt_opt` | `tfrt run`, `tfrt translate`, `tfrt opt`; or the binary under those names |
//! | lit tests with FileCheck | they run as they are; [`tfrt::testing`](crate::testing) for tests in Rust |
//!
//! # A kernel in both
//!
//! ```cpp
//! static void TestDivide(Argument<int32_t> x, Argument<int32_t> y, Result<int32_t> quotient, KernelErrorHandler handler) {
//!   if (*y == 0) { handler.ReportError("division by zero"); return; }
//!   quotient.Emplace(*x / *y);
//! }
//! // … registry->AddKernel("from_cpp.divide", TFRT_KERNEL(TestDivide)); and an op in a .td file
//! ```
//!
//! ```
//! use tfrt::prelude::*;
//!
//! /// Divides.
//! #[tfrt_kernel("from_cpp.divide", results(quotient))]
//! fn divide(x: i32, y: i32) -> Result<i32> {
//!     x.checked_div(y).ok_or_else(|| Error::new("division by zero"))
//! }
//! # tfrt::testing::kernel("from_cpp.divide").operands((7, 2)).run().expect_value(3);
//! ```
//!
//! # What behaves differently
//!
//! - *Types are checked.* A type error, which C++ detects by an assertion in debug builds or not at
//!   all, is an error: at load if the types are known, otherwise as a value.
//! - *Panics are errors.* A kernel that panics fails, and the process continues.
//! - *Writes are guarded.* If two kernels use a mutable value at the same time without an order,
//!   one fails; there is no data race.
//! - *Missing results are errors.* If a kernel does not set a result, the result is an error.
//! - *Names are unique.* The C++ registry aborts on a duplicate name; here, start-up reports all
//!   duplicates with both locations.
//! - *Files are verified.* A malformed file is refused with section and offset before anything
//!   runs.
//! - *Kernels can be non-strict*, as the design documents of TFRT described: see [late
//!   operands](super::asynchrony#late-operands).
