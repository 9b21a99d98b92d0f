//! The state of an invocation that outlives its call: one block of memory, whose layout is computed
//! when the function is first used.
//!
//! - I1. The frame is used as [`super::frame`] says: the producer of a register writes its place,
//!   then counts its users down ([`ReadyCount::count_down`], release); a user reads after its count
//!   reached zero (acquire). The writes of [`InvocationRef::new`] happen before the block is
//!   shared.
//! - I2. A promise is taken once, by the producer of its register (C1).
//! - I3. The arrays are where [`BlockLayout`] says and as long as the code says.
//!   [`InvocationRef::new`] initialises them, except for the frame, and for the ready counts of a
//!   function that runs in the order of its segments.
//! - I4. The body belongs to the program, which the header keeps alive. The table is a copy of the
//!   reference to the program that does not own a count.
//! - I5. The ready counts are filled once, and read only after that: by [`InvocationRef::new`]
//!   before the block is shared (`is_counted`), or under `has_ready_counts`.
//!
//! Only this module accesses the block. Its unsafe blocks rely on C1 to C5 of
//! [`crate::lower::code`].
#![expect(
    unsafe_code,
    reason = "one block holds arrays whose lengths are only known when the function is loaded"
)]

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::{Arc, OnceLock};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_host::__runtime::{BorrowedContext, FunctionTable};
use tfrt_host::{ExecutionContext, tracing};

use super::block::{BlockLayout, PromiseSlot};
use super::body::Body;
use super::failures::Failures;
use super::frame::Frame;
use super::outcome::ResultSlot;
use super::owners::Owners;
use super::panics;
use super::program::Program;
use super::ready_count::ReadyCount;
use super::turn::{Position, Turn};
use crate::lower::code::Code;
use crate::lower::replay::Replay;

/// The first part of the block.
struct Header {
    owners: Owners,
    /// I4.
    body: NonNull<Body>,
    layout: BlockLayout,
    program: Arc<Program>,
    /// The program, as kernels see it (I4).
    table: ManuallyDrop<Arc<dyn FunctionTable>>,
    ctx: ExecutionContext,
    failures: Failures,
    /// Whose turn it is, while the function runs in the order of its segments.
    turn: Turn,
    /// Whether the ready counts are filled from the start: unless the function runs in the order of
    /// its segments or its schedule.
    is_counted: bool,
    /// Set once the ready counts of a function that has left that order are filled.
    has_ready_counts: OnceLock<()>,
    /// Whether the constants are in their cells.
    has_constants: bool,
    /// The number of the invocation in traces, assigned when a trace first needs it.
    number: OnceLock<u64>,
}

/// A shared reference to the state of one invocation.
pub(crate) struct InvocationRef {
    block: NonNull<Header>,
}

// SAFETY: in the header, the owner count and the failures are designed to be shared, and the rest
// is `Send + Sync` and never moves. Places and promises pass from thread to thread as I1 and I2
// say, and the values in them are `Send`.
unsafe impl Send for InvocationRef {}
// SAFETY: as above: `&InvocationRef` permits nothing that `InvocationRef`, which can be cloned from
// it, does not.
unsafe impl Sync for InvocationRef {}

impl InvocationRef {
    /// Returns the state of an invocation that has not begun, or `None` if there is no memory for
    /// it. `body` is a body of `program`, and `ctx` is the context inside it. `ready_counts` holds
    /// the number of operands that each kernel waits for; it is `None` if the function is to run in
    /// the order of its segments or goes on in its schedule.
    ///
    /// Early registers hold indirect values from now on. All other places of the frame are empty.
    pub(crate) fn new(
        program: Arc<Program>,
        body: &Body,
        ctx: ExecutionContext,
        ready_counts: Option<&[u32]>,
    ) -> Option<Self> {
        let make_layout = || BlockLayout::behind(Layout::new::<Header>(), &body.code);
        let layout = (*body.block.get_or_init(make_layout))?;
        let allocator = ctx.host().allocator();
        let block = allocator.allocate(layout.layout)?.cast::<Header>();
        // SAFETY: `program` is a valid reference, and the copy is never dropped (I4).
        let table = unsafe { ptr::read(&program) } as Arc<dyn FunctionTable>;
        let header = Header {
            owners: Owners::one(),
            body: NonNull::from(body),
            layout,
            program,
            table: ManuallyDrop::new(table),
            ctx,
            failures: Failures::none(),
            turn: Turn::new(),
            is_counted: ready_counts.is_some(),
            has_ready_counts: OnceLock::new(),
            has_constants: false,
            number: OnceLock::new(),
        };
        // SAFETY: the block is exclusively ours, and begins with room for a header.
        unsafe { block.write(header) };
        let this = Self { block };
        if let Some(ready_counts) = ready_counts {
            this.fill_ready_counts(ready_counts);
        }
        let code = this.code();
        for index in 0..code.returned.len() {
            // SAFETY: I3; the block is exclusively ours.
            unsafe { this.result_slot_place(index).write(ResultSlot::new()) };
        }
        for (index, &register) in code.early.iter().enumerate() {
            let (promise, value) = AnyRef::indirect();
            // SAFETY: I3; the block is exclusively ours.
            unsafe { this.promise(index).write(UnsafeCell::new(Some(promise))) };
            let register = code.register(register);
            if let Some(returned) = register.returned {
                this.result_slot(returned).give(value.clone());
            }
            if let Some(slot) = register.slot {
                this.frame().put(slot, value, register.num_references);
            }
        }
        Some(this)
    }

    // Called once, before any thread reads a count.
    #[cfg(not(loom))]
    fn fill_ready_counts(&self, ready_counts: &[u32]) {
        assert_eq!(
            ready_counts.len(),
            self.code().kernels.len(),
            "each kernel has a count"
        );
        let counts = self.array::<u32>(self.layout().ready_counts).as_ptr();
        // SAFETY: I3: a count is a number in memory, and there is one for each kernel; no thread
        // reads them before (I5).
        unsafe { counts.copy_from_nonoverlapping(ready_counts.as_ptr(), ready_counts.len()) };
    }

    /// A modelled count is more than a number.
    #[cfg(loom)]
    fn fill_ready_counts(&self, ready_counts: &[u32]) {
        let counts = self
            .array::<ReadyCount>(self.layout().ready_counts)
            .as_ptr();
        for (index, &count) in ready_counts.iter().enumerate() {
            // SAFETY: I3; no thread reads them before (I5).
            unsafe { counts.add(index).write(ReadyCount::starting_at(count)) };
        }
    }

    /// Sets whether the results of constant kernels are in their cells. Called before the block is
    /// shared.
    pub(crate) fn set_constants(&mut self, has_constants: bool) {
        // SAFETY: the block is exclusively ours.
        unsafe { self.block.as_mut() }.has_constants = has_constants;
    }

    /// Takes over the trace number of a run that continues as this invocation.
    pub(crate) fn set_number(&self, number: u64) {
        let _ = self.header().number.set(number);
    }

    /// Returns the program of the function.
    #[inline]
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.header().program
    }

    /// Returns the functions of the program.
    pub(crate) fn table(&self) -> &Arc<dyn FunctionTable> {
        &self.header().table
    }

    /// Returns the body of the function.
    #[inline]
    pub(crate) fn body(&self) -> &Body {
        // SAFETY: I4.
        unsafe { self.header().body.as_ref() }
    }

    /// Returns the code of the function.
    #[inline]
    pub(crate) fn code(&self) -> &Code {
        &self.body().code
    }

    /// Returns the frame of the function.
    #[inline]
    pub(crate) fn frame(&self) -> Frame<'_> {
        let base = self.array(self.layout().frame);
        // SAFETY: duty 1: I3, and the block lives as long as `self`. Duty 2: I1.
        unsafe { Frame::new(base, self.code()) }
    }

    /// Returns the context inside the function.
    #[inline]
    pub(crate) fn ctx(&self) -> &ExecutionContext {
        &self.header().ctx
    }

    /// Returns the same context with its own location.
    #[inline]
    pub(crate) fn path_ctx(&self) -> BorrowedContext<'_> {
        BorrowedContext::of(self.ctx())
    }

    /// Returns a number that is unique among the invocations of the process.
    pub(crate) fn number(&self) -> u64 {
        *self
            .header()
            .number
            .get_or_init(tracing::next_invocation_number)
    }

    /// Returns the values that direct kernels cannot read.
    #[inline]
    pub(crate) fn failures(&self) -> &Failures {
        &self.header().failures
    }

    /// Returns `true` if the results of constant kernels are in their cells.
    #[inline]
    pub(crate) fn has_constants(&self) -> bool {
        self.header().has_constants
    }

    /// Returns `true` if nothing else can access the state. Only the owner of this reference can
    /// change that.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.header().owners.is_alone()
    }

    /// Returns the turn of a function that runs in the order of its segments.
    #[inline]
    pub(crate) fn turn(&self) -> &Turn {
        &self.header().turn
    }

    /// Leaves the order of the segments unless it was left already, and returns where it was left.
    /// Operands are counted from now on.
    #[cold]
    pub(crate) fn leave_order(&self) -> Position {
        let position = self.turn().leave();
        self.header().has_ready_counts.get_or_init(|| {
            let replay = Replay::at(self.code(), position.index, position.is_running);
            self.fill_ready_counts(&replay.ready_counts);
        });
        position
    }

    /// Counts operands from now on: `ready_counts` are those of the place where a run that follows
    /// the schedule of the function leaves it. Called once.
    pub(crate) fn count_from(&self, ready_counts: &[u32]) {
        let header = self.header();
        header
            .has_ready_counts
            .get_or_init(|| self.fill_ready_counts(ready_counts));
    }

    /// Returns, for each kernel, the number of operands that it still waits for. Empty as long as
    /// the function runs in the order of its segments.
    #[inline]
    pub(crate) fn ready_counts(&self) -> &[ReadyCount] {
        let header = self.header();
        if !header.is_counted && header.has_ready_counts.get().is_none() {
            return &[];
        }
        let counts = self.array::<ReadyCount>(self.layout().ready_counts);
        // SAFETY: I3: there is one for each kernel, and they are initialised (I5).
        unsafe { std::slice::from_raw_parts(counts.as_ptr(), self.code().kernels.len()) }
    }

    /// Takes the promise of an early register. Called by the producer of the register.
    pub(crate) fn take_promise(&self, index: u32) -> Option<IndirectPromise> {
        // SAFETY: I3 and C4: in range.
        let promise = unsafe { &*self.promise(index as usize) };
        // SAFETY: I2: only the producer calls this.
        unsafe { (*promise.get()).take() }
    }

    /// Returns the slot of a result of the function, by its position in [`Code::returned`].
    #[inline]
    pub(crate) fn result_slot(&self, index: u32) -> &ResultSlot {
        // SAFETY: I3 and C4: in range.
        unsafe { &*self.result_slot_place(index as usize) }
    }

    /// Returns a result of the function, by its position in [`Code::returned`].
    pub(crate) fn give_result(&self, returned: u32, value: AnyRef) {
        let result = value.into_given();
        if let Some((promise, result)) = self.result_slot(returned).give(result) {
            // The waiters of the caller may panic.
            panics::catch(|| promise.forward_to(result));
        }
    }

    /// Takes the results of the function, which may be unavailable. Results of the same register
    /// are the same value. Called once.
    pub(crate) fn take_results(&self, results: &mut [Option<AnyRef>]) {
        let code = self.code();
        for (index, &register) in code.results.iter().enumerate() {
            let first = code.first_results[index] as usize;
            results[index] = if first == index {
                let returned = code.register(register).returned;
                let returned = returned.expect("a register that is returned has a result slot");
                Some(self.result_slot(returned).take())
            } else {
                results[first].clone()
            };
        }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the block lives as long as it has an owner, and `self` is one. Once the header is
        // shared, only the owner count, the failures, the turn, `has_ready_counts` and the number
        // change, and these are designed to be shared.
        unsafe { self.block.as_ref() }
    }

    #[inline]
    fn layout(&self) -> &BlockLayout {
        &self.header().layout
    }

    /// Returns the address of promise `index`, by I3.
    #[inline]
    fn promise(&self, index: usize) -> *mut PromiseSlot {
        let promises = self.array::<PromiseSlot>(self.layout().promises);
        promises.as_ptr().wrapping_add(index)
    }

    /// Returns the address of result slot `index`, by I3.
    #[inline]
    fn result_slot_place(&self, index: usize) -> *mut ResultSlot {
        let results = self.array::<ResultSlot>(self.layout().results);
        results.as_ptr().wrapping_add(index)
    }

    /// Returns the array that begins `offset` bytes into the block. The offset must not lie beyond
    /// its end.
    #[inline]
    fn array<T>(&self, offset: u32) -> NonNull<T> {
        // SAFETY: the offset is inside the block (I3).
        unsafe { self.block.byte_add(offset as usize) }.cast()
    }
}

impl Clone for InvocationRef {
    fn clone(&self) -> Self {
        self.header().owners.join();
        Self { block: self.block }
    }
}

impl Drop for InvocationRef {
    fn drop(&mut self) {
        if !self.header().owners.leave() {
            return;
        }
        let (num_results, num_promises) = (self.code().returned.len(), self.code().early.len());
        for index in 0..num_results {
            // SAFETY: I3; the block is exclusively ours by now.
            unsafe { self.result_slot_place(index).drop_in_place() };
        }
        for index in 0..num_promises {
            // SAFETY: I3; the block is exclusively ours by now. Dropping an unresolved promise
            // makes its result an error.
            unsafe { self.promise(index).drop_in_place() };
        }
        let layout = self.layout().layout;
        // Keeps the host alive after the context is dropped.
        let host = Arc::clone(self.ctx().host());
        host.leave_invocation();
        // SAFETY: initialised by `new`; the block is exclusively ours, and the header is not used
        // afterwards.
        unsafe { self.block.drop_in_place() };
        // SAFETY: it came from this allocator with this layout (1), and is not used any more (2).
        unsafe { host.allocator().deallocate(self.block.cast(), layout) };
    }
}

impl fmt::Debug for InvocationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvocationRef")
            .field("ctx", self.ctx())
            .finish_non_exhaustive()
    }
}
