//! The execution of routines of [`tfrt_compute`] on the elements of tensors, for kernels of this
//! library and of others.
//!
//! A kernel borrows the elements of its tensors for the duration of the work, starts the work, and
//! returns a chain that is ready when it is done. No thread waits: the work is divided into blocks,
//! which the workers of the queue claim. The thread that starts the work runs the first block, so
//! work that fits into one block needs no task.
//!
//! ```text
//!   kernel ── borrows, plan ──► start ──► chain ──────────────────────────────► ready, or the error
//!                                 ├─ block 0, on the thread of the kernel ──┤     ▲
//!                                 └─ blocks 1, 2, …, on the work queue ─────┘─────┘ borrows end
//! ```

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt::host::allocator::HostAllocator;
use tfrt::host::parallel::{BlockSize, FailedBlock, parallel_for_with};
use tfrt::host::tracing::{self, Work};
use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_compute::element::Ordered;
use tfrt_compute::job::{Job, Plan, Progress};
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape, naive};
use tfrt_compute::parallel::Serial;
use tfrt_compute::rows::RowPlan;
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, OwnedElementsMut, TensorError};

use crate::scratch::{Scratch, Workspace};

/// Work that is shared by workers: it owns the output.
///
/// ```
/// use tfrt::host::allocator::{HostAllocator, Malloc};
/// use tfrt_compute::job::Plan;
/// use tfrt_compute::rows::RowPlan;
/// use tfrt_kernels::numeric::SharedJob;
/// use tfrt_tensor::HostBuffer;
///
/// let allocator: std::sync::Arc<dyn HostAllocator> = std::sync::Arc::new(Malloc);
/// let mut buffer = HostBuffer::copied(&allocator, &[0.0_f32; 4])?;
/// let output = buffer.elements_mut_owned::<f32>()?;
/// let job: SharedJob<RowPlan<f32>> = SharedJob::new(RowPlan::new(2, 2, 4, 1)?, output)?;
/// assert_eq!(job.blocks(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SharedJob<P> = Job<P, OwnedElementsMut<<P as Plan>::Element>>;

/// Returns how many threads a plan should divide its work for.
pub fn width(ctx: &ExecutionContext) -> usize {
    ctx.queue().parallelism_level()
}

/// Tells profilers how many operations a kernel takes, and how many `T` it reads and writes. Only
/// where one thread is at work: there, all of it is done when the kernel returns, and its time is
/// the time of that.
pub fn report_work<T>(ctx: &ExecutionContext, operations: usize, numbers: usize) {
    if width(ctx) == 1 {
        tracing::report_work(|| Work {
            flops: operations as u64,
            bytes: (numbers * size_of::<T>()) as u64,
        });
    }
}

/// Starts the blocks of a plan. `run_block` runs one of them, on operands that it owns.
///
/// # Errors
/// If the output does not have the length of the plan.
pub fn start<P>(
    ctx: &ExecutionContext,
    plan: P,
    output: OwnedElementsMut<P::Element>,
    run_block: impl Fn(&SharedJob<P>, usize, &mut [P::Element]) -> Result<Progress, ComputeError>
    + Send
    + Sync
    + 'static,
) -> Result<AsyncValueRef<Chain>>
where
    P: Plan<Element: Element> + Send + 'static,
{
    let job = Job::new(plan, output)?;
    let (num_blocks, workspace_len) = (job.blocks(), job.workspace_len());
    let (scratch, owner) = (Scratch::of(ctx.host()), ctx.clone());
    let make_workspace = move || scratch.take::<P::Element>(&owner, workspace_len);
    let run_blocks = move |workspace: &mut Result<Workspace, TensorError>, blocks: Range<usize>| {
        let workspace = workspace.as_mut().map_err(|error| error.clone())?;
        let mut workspace = workspace.elements_mut()?;
        let workspace = workspace.as_deref_mut().unwrap_or_default();
        for block in blocks {
            run_block(&job, block, workspace)?;
        }
        Ok(())
    };
    if width(ctx) == 1 && num_blocks > 1 {
        // Here and now: nobody else could run a block, and profilers see the whole kernel.
        let mut workspace = make_workspace();
        for block in 0..num_blocks {
            if block > 0
                && let Some(cancelled) = ctx.request().cancel_value()
            {
                let cancelled = cancelled.error_if_present().cloned();
                return Ok(AsyncValueRef::error(
                    cancelled.unwrap_or_else(Error::cancelled),
                ));
            }
            run_blocks(&mut workspace, block..block + 1)?;
        }
        return Ok(AsyncValueRef::available(Chain));
    }
    let (promise, done) = AsyncValueRef::unconstructed();
    // Nothing is borrowed any more when the loop ends: what owns the borrows is dropped first.
    let on_done = move |outcome: std::result::Result<(), FailedBlock>| match outcome {
        Ok(()) => promise.emplace(Chain),
        Err(failed) => promise.set_error(failed.error),
    };
    parallel_for_with(
        ctx,
        num_blocks,
        BlockSize::Fixed(1),
        make_workspace,
        run_blocks,
        on_done,
    );
    Ok(done)
}

/// That there is no memory for a tensor, in the words of a kernel, and how much it takes. Other
/// errors are returned unchanged.
#[cold]
pub(crate) fn no_memory(words: &str, error: TensorError) -> Error {
    match error {
        TensorError::OutOfMemory { size_bytes } => {
            Error::new(format!("{words}: it takes {size_bytes} bytes"))
                .with_code(ErrorCode::ResourceExhausted)
        }
        error => error.into(),
    }
}

/// Starts a routine that computes the output row by row. It is given rows, and their part of the
/// output.
///
/// # Errors
/// If the output has more elements than can be addressed.
pub fn start_rows<T: Element>(
    ctx: &ExecutionContext,
    output: OwnedElementsMut<T>,
    row_len: usize,
    operations: usize,
    routine: impl Fn(Range<usize>, &mut [T]) + Send + Sync + 'static,
) -> Result<AsyncValueRef<Chain>> {
    try_start_rows(ctx, output, row_len, operations, move |rows, part| {
        routine(rows, part);
        Ok(())
    })
}

/// Starts a routine like [`start_rows`], whose error becomes that of the chain.
///
/// # Errors
/// If the output has more elements than can be addressed.
pub fn try_start_rows<T: Element>(
    ctx: &ExecutionContext,
    output: OwnedElementsMut<T>,
    row_len: usize,
    operations: usize,
    routine: impl Fn(Range<usize>, &mut [T]) -> Result<(), ComputeError> + Send + Sync + 'static,
) -> Result<AsyncValueRef<Chain>> {
    let num_rows = output.len().checked_div(row_len).unwrap_or(0);
    let plan = RowPlan::new(num_rows, row_len, operations, width(ctx))?;
    start(ctx, plan, output, move |job, block, workspace| {
        // A block is one call, on this thread; the type of routines of plans needs the lock.
        let outcome = Mutex::new(Ok(()));
        let run = |rows: Range<usize>, part: &mut [T]| {
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = routine(rows, part);
        };
        let progress = job.run_block(block, &run, workspace)?;
        outcome
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)?;
        Ok(progress)
    })
}

/// Starts a routine that computes the output element by element.
#[cfg(feature = "test-kernels")]
pub(crate) fn start_elements<T: Element>(
    ctx: &ExecutionContext,
    output: OwnedElementsMut<T>,
    routine: impl Fn(Range<usize>, &mut [T]) + Send + Sync + 'static,
) -> Result<AsyncValueRef<Chain>> {
    let operations = output.len();
    start_rows(ctx, output, 1, operations, routine)
}

/// So many operations are done at once: handing them to another thread would cost more than they
/// do.
const MAX_OPERATIONS_AT_ONCE: usize = 1 << 15;

/// Starts work that does not divide: as a task, unless it is little.
pub(crate) fn start_whole(
    ctx: &ExecutionContext,
    operations: usize,
    work: impl FnOnce() -> Result<()> + Send + 'static,
) -> Result<AsyncValueRef<Chain>> {
    let (promise, done) = AsyncValueRef::unconstructed();
    if operations <= MAX_OPERATIONS_AT_ONCE {
        work()?;
        promise.emplace(Chain);
    } else {
        ctx.enqueue(move || match work() {
            Ok(()) => promise.emplace(Chain),
            Err(error) => promise.set_error(error),
        });
    }
    Ok(done)
}

/// Returns a tensor that is available when a chain is.
#[must_use]
pub fn after(chain: AsyncValueRef<Chain>, tensor: DenseHostTensor) -> AnyRef {
    if let Some(error) = chain.error_if_present() {
        return AnyRef::error(error.clone());
    }
    if chain.is_available() {
        return AnyRef::available(tensor);
    }
    let (promise, result) = AnyRef::indirect();
    chain.and_then(move |chain| {
        promise.forward_to(match chain.error_if_present() {
            Some(error) => AnyRef::error(error.clone()),
            None => AnyRef::available(tensor),
        });
    });
    result
}

/// Runs a plan on this thread.
///
/// # Errors
/// If operands do not match the plan, or there is no memory for its workspace.
pub fn run<P: Plan<Element: Element>>(
    ctx: &ExecutionContext,
    plan: &P,
    operands: P::Operands<'_>,
    output: &mut [P::Element],
) -> Result<()> {
    let len = plan.workspace_len() * plan.blocks();
    if len == 0 {
        return Ok(plan.run(&Serial, operands, output, &mut [])?);
    }
    let mut workspace = workspace::<P::Element>(ctx.allocator(), len)?;
    Ok(plan.run(&Serial, operands, output, &mut workspace.elements_mut()?)?)
}

/// Scratch memory, which the request is charged for.
pub(crate) fn workspace<T: Element>(
    allocator: &Arc<dyn HostAllocator>,
    len: usize,
) -> Result<HostBuffer, TensorError> {
    let size_bytes = len.saturating_mul(size_of::<T>());
    HostBuffer::zeroed(allocator, size_bytes, align_of::<T>())
}

/// Numbers of tensors that kernels add and compare.
pub(crate) trait Number: Element + Ordered {}

impl<T: Element + Ordered> Number for T {}

/// Returns the shape of a product of matrices that may be passed transposed, and which `c` is to
/// hold.
///
/// # Errors
/// `MatMul input tensors inner dimension mismatch: A vs. B`,
/// `MatMul output shape C does not match product shape of inputs: A * B`.
pub(crate) fn product_shape(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    c: &DenseHostTensor,
    [transposes_a, transposes_b]: [bool; 2],
) -> Result<MatmulShape> {
    let [mut m, mut k] = a.shape().to_array()?;
    let [mut inner, mut n] = b.shape().to_array()?;
    if transposes_a {
        (m, k) = (k, m);
    }
    if transposes_b {
        (inner, n) = (n, inner);
    }
    if k != inner {
        return Err(Error::new(format!(
            "MatMul input tensors inner dimension mismatch: {} vs. {}",
            a.shape(),
            b.shape()
        )));
    }
    if c.shape().dims() != [m, n] {
        return Err(Error::new(format!(
            "MatMul output shape {} does not match product shape of inputs: {} * {}",
            c.shape(),
            a.shape(),
            b.shape()
        )));
    }
    Ok(MatmulShape::new(m, n, k).transposed(transposes_a, transposes_b))
}

/// Matrices of a product `c = alpha · a · b + beta · c`.
pub(crate) struct Factors<'a, T> {
    pub(crate) shape: MatmulShape,
    pub(crate) alpha: T,
    pub(crate) a: &'a DenseHostTensor,
    pub(crate) b: &'a DenseHostTensor,
    pub(crate) beta: T,
}

/// Numbers of tensors that kernels multiply matrices of.
pub(crate) trait Multiply: Number {
    /// Computes a product on this thread.
    #[cfg(feature = "test-kernels")]
    fn run_product(
        ctx: &ExecutionContext,
        factors: &Factors<'_, Self>,
        c: &mut DenseHostTensor,
    ) -> Result<()>;

    /// Starts a product.
    fn start_product(
        ctx: &ExecutionContext,
        factors: &Factors<'_, Self>,
        c: &mut DenseHostTensor,
    ) -> Result<AsyncValueRef<Chain>>;
}

impl Multiply for f32 {
    #[cfg(feature = "test-kernels")]
    fn run_product(
        ctx: &ExecutionContext,
        factors: &Factors<'_, Self>,
        c: &mut DenseHostTensor,
    ) -> Result<()> {
        let plan = Matmul::new(factors.shape, 1)?;
        let (a, b) = (factors.a.elements()?, factors.b.elements()?);
        let operands = MatmulOperands::new(&a, &b)
            .alpha(factors.alpha)
            .beta(factors.beta);
        run(ctx, &plan, operands, &mut c.elements_mut()?)
    }

    fn start_product(
        ctx: &ExecutionContext,
        factors: &Factors<'_, Self>,
        c: &mut DenseHostTensor,
    ) -> Result<AsyncValueRef<Chain>> {
        let plan = Matmul::new(factors.shape, width(ctx))?;
        let (a, b) = (factors.a.elements_owned()?, factors.b.elements_owned()?);
        let (alpha, beta) = (factors.alpha, factors.beta);
        start(
            ctx,
            plan,
            c.elements_mut_owned()?,
            move |job, block, workspace| {
                let operands = MatmulOperands::new(&a, &b).alpha(alpha).beta(beta);
                job.run_block(block, operands, workspace)
            },
        )
    }
}

macro_rules! impl_multiply_whole_numbers {
    ($($number:ty),+) => {$(
        impl Multiply for $number {
            #[cfg(feature = "test-kernels")]
            fn run_product(
                _ctx: &ExecutionContext,
                factors: &Factors<'_, Self>,
                c: &mut DenseHostTensor,
            ) -> Result<()> {
                let (a, b) = (factors.a.elements()?, factors.b.elements()?);
                let &Factors { shape, alpha, beta, .. } = factors;
                Ok(naive::matmul(&shape, alpha, &a, &b, beta, &mut c.elements_mut()?)?)
            }

            fn start_product(
                ctx: &ExecutionContext,
                factors: &Factors<'_, Self>,
                c: &mut DenseHostTensor,
            ) -> Result<AsyncValueRef<Chain>> {
                let &Factors { shape, alpha, beta, .. } = factors;
                let (a, b) = (factors.a.elements_owned::<Self>()?, factors.b.elements_owned::<Self>()?);
                let c = c.elements_mut_owned()?;
                shape.check_lengths(a.len(), b.len(), c.len())?;
                let operations = c.len().saturating_mul(shape.k);
                start_rows(ctx, c, shape.n, operations, move |rows, part| {
                    let shape = MatmulShape::new(rows.len(), shape.n, shape.k);
                    let a = &a[rows.start * shape.k..rows.end * shape.k];
                    naive::matmul(&shape, alpha, a, &b, beta, part).expect("the lengths have been checked");
                })
            }
        }
    )+};
}

impl_multiply_whole_numbers!(i32, i64);
