//! Blocks that several threads run on one output.
//!
//! A [`Plan`] is the division of a routine: pure data. A [`Job`] is a plan with the output that it
//! writes; every thread that shares it may run any of its blocks, each once. So a kernel can pass
//! the blocks to a work queue and return: the task that finishes the last block takes the output.
//!
//! Invariant J1: two blocks of one plan write disjoint elements. Upheld by each implementation of
//! [`Plan`], an unsafe trait. Invariant J2: a block runs at most once in a job. Upheld by
//! [`Job::run_block`], which claims it. Together they ensure that two threads never write the same
//! element.
#![expect(
    unsafe_code,
    reason = "several threads write disjoint parts of one slice, in rows that are not contiguous"
)]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::error::{ComputeError, check_len};
use crate::parallel::Parallel;

/// A routine divided into blocks.
///
/// # Safety
/// 1. Two different blocks never access a common element of the [`SharedSlice`].
/// 2. [`blocks`](Self::blocks) does not change.
pub unsafe trait Plan: Sync {
    /// Returns the number of elements of the output.
    type Element: Send + Sync + 'static;
    /// The inputs, usually slices.
    type Operands<'a>: Copy + Sync;

    /// Returns the name of the routine for error messages.
    fn name(&self) -> &'static str;

    /// Returns the number of blocks.
    fn blocks(&self) -> usize;

    /// Returns the number of elements of the output.
    fn output_len(&self) -> usize;

    /// Returns the number of elements of scratch memory that one block needs.
    fn workspace_len(&self) -> usize {
        0
    }

    /// Checks that the lengths of the operands match the plan.
    ///
    /// # Errors
    /// If one does not match.
    fn check(&self, operands: Self::Operands<'_>) -> Result<(), ComputeError>;

    /// Computes one block. The operands have been checked; `workspace` has at least
    /// [`workspace_len`](Self::workspace_len) elements of any content.
    fn compute(
        &self,
        block: usize,
        operands: Self::Operands<'_>,
        output: &SharedSlice<'_, Self::Element>,
        workspace: &mut [Self::Element],
    );

    /// Computes the whole routine and returns when it is done.
    ///
    /// # Errors
    /// If the length of a slice does not match the plan; `workspace` needs
    /// [`workspace_len`](Self::workspace_len) · [`blocks`](Self::blocks) elements. The output is
    /// then untouched.
    fn run(
        &self,
        parallel: &dyn Parallel,
        operands: Self::Operands<'_>,
        output: &mut [Self::Element],
        workspace: &mut [Self::Element],
    ) -> Result<(), ComputeError>
    where
        Self: Sized,
    {
        self.check(operands)?;
        check_len(self.name(), "output", self.output_len(), output.len())?;
        if output.is_empty() {
            return Ok(());
        }
        let (blocks, scratch_len) = (self.blocks(), self.workspace_len());
        if workspace.len() < blocks * scratch_len {
            return Err(short_workspace(
                self.name(),
                blocks * scratch_len,
                workspace.len(),
            ));
        }
        let output = SharedSlice::new(output);
        if blocks == 1 {
            self.compute(0, operands, &output, workspace);
            return Ok(());
        }
        let claims = Claims::new(blocks);
        let scratch = SharedSlice::new(workspace);
        parallel.run(blocks, &|block| {
            claims.claim(block);
            // SAFETY: J2, as `claim` lets each block pass once, so that its part of the scratch
            // memory is nobody else's.
            let scratch =
                unsafe { scratch.slice_mut(block * scratch_len..(block + 1) * scratch_len) };
            self.compute(block, operands, &output, scratch);
        });
        assert_eq!(
            claims.claimed(),
            blocks,
            "a `Parallel` returned before it had run every block"
        );
        Ok(())
    }
}

#[cold]
fn short_workspace(routine: &str, expected: usize, found: usize) -> ComputeError {
    ComputeError::new(format!(
        "{routine}: expected at least {expected} elements of workspace, found {found}"
    ))
}

/// A slice that blocks write in parallel, each its own elements.
pub struct SharedSlice<'a, T> {
    data: NonNull<T>,
    len: usize,
    owner: PhantomData<&'a mut [T]>,
}

// SAFETY: it is a `&mut [T]` (owner) whose elements are handed out disjointly (J1, J2), as `&mut T`
// each to one thread: what `T: Send` permits.
unsafe impl<T: Send> Send for SharedSlice<'_, T> {}
// SAFETY: as above: a shared reference allows access only through `slice_mut`, whose callers keep
// to disjoint elements.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            len: slice.len(),
            data: NonNull::from(slice).cast(),
            owner: PhantomData,
        }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the address of an element, which need not exist, as a hint to the processor.
    #[must_use]
    #[inline(always)]
    pub(crate) fn place(&self, index: usize) -> *const T {
        self.data.as_ptr().wrapping_add(index)
    }

    /// Some elements, to write.
    ///
    /// # Panics
    /// If the range is not within the slice.
    ///
    /// # Safety
    /// 1. No other block accesses any of these elements.
    /// 2. The caller's own earlier slices of them are not used any more.
    #[expect(
        clippy::mut_from_ref,
        reason = "the elements are disjoint from everybody else's: the caller's duty"
    )]
    #[must_use]
    #[inline(always)]
    pub unsafe fn slice_mut(&self, range: Range<usize>) -> &mut [T] {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "a block writes outside of its output"
        );
        // SAFETY: `start <= len`, just checked, so the pointer stays within the slice that `new`
        // took.
        let start = unsafe { self.data.add(range.start) };
        let mut part = NonNull::slice_from_raw_parts(start, range.end - range.start);
        // SAFETY: within the slice (checked above), which lives for `'a`; nobody else uses these
        // elements: duties 1 and 2.
        unsafe { part.as_mut() }
    }
}

impl<T> fmt::Debug for SharedSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSlice")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// The blocks that have been started.
struct Claims {
    words: Box<[AtomicU64]>,
    claimed: AtomicUsize,
    blocks: usize,
}

impl Claims {
    fn new(blocks: usize) -> Self {
        Self {
            words: (0..blocks.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            claimed: AtomicUsize::new(0),
            blocks,
        }
    }

    /// # Panics
    /// If the block does not exist, or was claimed before.
    fn claim(&self, block: usize) {
        assert!(
            block < self.blocks,
            "there is no block {block} among {}",
            self.blocks
        );
        let bit = 1 << (block % 64);
        // Relaxed: only the atomicity of the claim counts; whoever hands blocks to threads orders
        // their memory.
        let before = self.words[block / 64].fetch_or(bit, Ordering::Relaxed);
        assert!(before & bit == 0, "block {block} ran twice");
        self.claimed.fetch_add(1, Ordering::Relaxed);
    }

    fn claimed(&self) -> usize {
        self.claimed.load(Ordering::Relaxed)
    }
}

/// A plan and the output that it writes, for sharing between tasks.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compute::job::{Job, Progress};
/// use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape};
///
/// let plan = Matmul::<f32>::new(MatmulShape::new(2, 2, 1), 1)?;
/// let (a, b) = ([1.0, 2.0], [3.0, 4.0]);
/// let job = Job::new(plan, vec![0.0; 4])?;
/// for block in 0..job.blocks() {
///     let mut workspace = vec![0.0; job.workspace_len()];
///     match job.run_block(block, MatmulOperands::new(&a, &b), &mut workspace)? {
///         Progress::Finished => assert_eq!(block + 1, job.blocks()),
///         Progress::Running => {}
///     }
/// }
/// assert_eq!(job.into_output(), [3.0, 4.0, 6.0, 8.0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub struct Job<P: Plan, O> {
    plan: P,
    claims: Claims,
    finished: AtomicUsize,
    output: SharedSlice<'static, P::Element>,
    /// The owner of the memory of `output`, from `Box::into_raw`: moving a box would assert unique
    /// access to it.
    owner: NonNull<O>,
}

// SAFETY: the owner is only touched when the job is given up, by one thread, which `O: Send`
// permits; the output: see `SharedSlice`; the rest is `Sync` itself.
unsafe impl<P: Plan + Send, O: Send> Send for Job<P, O> {}
// SAFETY: as above.
unsafe impl<P: Plan, O: Send> Sync for Job<P, O> {}

/// Whether a job is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Other blocks have not finished.
    Running,
    /// This was the last block: the output is complete, and the caller's thread sees all of it.
    Finished,
}

impl<P: Plan, O: AsMut<[P::Element]>> Job<P, O> {
    /// Creates a job that writes `output`.
    ///
    /// # Errors
    /// If the length of the output does not match the plan.
    pub fn new(plan: P, output: O) -> Result<Self, ComputeError> {
        let mut owner = Box::new(output);
        check_len(
            plan.name(),
            "output",
            plan.output_len(),
            (*owner).as_mut().len(),
        )?;
        let mut owner = NonNull::from(Box::leak(owner));
        // SAFETY: just leaked, so it is valid and nobody else's; it does not move again until the
        // job is given up.
        let slice = unsafe { owner.as_mut() }.as_mut();
        let output = SharedSlice {
            len: slice.len(),
            data: NonNull::from(slice).cast(),
            owner: PhantomData,
        };
        Ok(Self {
            // Nothing is to be done for no elements, of however many rows or images they are.
            claims: Claims::new(if output.len == 0 { 0 } else { plan.blocks() }),
            finished: AtomicUsize::new(0),
            output,
            owner,
            plan,
        })
    }
}

impl<P: Plan, O> Job<P, O> {
    /// Returns the plan.
    pub fn plan(&self) -> &P {
        &self.plan
    }

    /// Returns the number of blocks to run: zero if the output has no elements.
    pub fn blocks(&self) -> usize {
        self.claims.blocks
    }

    /// Returns the number of elements of scratch memory that one block needs; zero if there are no
    /// blocks.
    pub fn workspace_len(&self) -> usize {
        match self.blocks() {
            0 => 0,
            _ => self.plan.workspace_len(),
        }
    }

    /// Runs one block.
    ///
    /// # Errors
    /// If the length of an operand or the workspace does not match the plan. The block then counts
    /// as not run.
    ///
    /// # Panics
    /// If there is no such block, or it ran before.
    pub fn run_block(
        &self,
        block: usize,
        operands: P::Operands<'_>,
        workspace: &mut [P::Element],
    ) -> Result<Progress, ComputeError> {
        self.plan.check(operands)?;
        if workspace.len() < self.plan.workspace_len() {
            return Err(short_workspace(
                self.plan.name(),
                self.plan.workspace_len(),
                workspace.len(),
            ));
        }
        self.claims.claim(block);
        self.plan.compute(block, operands, &self.output, workspace);
        // Acquire and release: the last block's thread sees what all the others wrote before they
        // counted themselves.
        let before = self.finished.fetch_add(1, Ordering::AcqRel);
        Ok(if before + 1 == self.claims.blocks {
            Progress::Finished
        } else {
            Progress::Running
        })
    }

    /// Returns the output, as far as it has been computed.
    pub fn into_output(self) -> O {
        let job = std::mem::ManuallyDrop::new(self);
        // The plan and the claims are taken out to be dropped; the owner is the result.
        // SAFETY: `job` is never used again, so its plan is dropped once.
        drop(unsafe { std::ptr::read(&raw const job.plan) });
        // SAFETY: as for the plan.
        drop(unsafe { std::ptr::read(&raw const job.claims) });
        // SAFETY: from `Box::leak` in `new`; `self` is consumed, so no block runs, and `Drop` does
        // not free it.
        *unsafe { Box::from_raw(job.owner.as_ptr()) }
    }
}

impl<P: Plan, O> Drop for Job<P, O> {
    fn drop(&mut self) {
        // SAFETY: from `Box::leak` in `new`; `into_output`, which also frees it, forgets `self`.
        drop(unsafe { Box::from_raw(self.owner.as_ptr()) });
    }
}

impl<P: Plan + fmt::Debug, O> fmt::Debug for Job<P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("plan", &self.plan)
            .field("claimed", &self.claims.claimed())
            .finish_non_exhaustive()
    }
}
