//! The state of one invocation: one block of memory, sized when the function was loaded.
//!
//! ```text
//!  ┌────────┬─────────────────┬───────────────┬──────────────────┬────────────────────┬───────┐
//!  │ Header │ a result slot   │ a promise per │ slots: references│ a ready count per  │ cells │
//!  │        │ per result      │ early register│ to values        │ kernel             │       │
//!  └────────┴─────────────────┴───────────────┴──────────────────┴────────────────────┴───────┘
//! ```
//!
//! # Who may touch what
//!
//! A register goes through three phases. *Empty*: nobody reads it (B1). *Put*: its producer writes its cell, or its slot with as
//! many references as it is taken from, once. *Taken*: each use that takes copies the reference out of the slot, and owns it;
//! the others read the cell.
//!
//! - I1. The write of a place happens before every read: the producer writes, then counts its users down
//!   ([`InvocationRef::count_down`], release); a user reads after its count reached zero (acquire). What
//!   [`InvocationRef::new`] writes happens before the block is shared.
//! - I2. A slot is read as often as it holds references: B2 says how often, B3 that each kernel runs once. So every reference
//!   is owned by exactly one use.
//! - I3. A promise is taken once, by the producer of its register (B1).
//! - I4. The arrays are where [`BlockLayout`] says, as long as the body says, and initialised by [`InvocationRef::new`]
//!   (slots and cells excepted).
//! - I5. The body is the program's, and the program is the table, which the header keeps alive.
//!
//! Only this module knows the layout. Its unsafe blocks spend B1 to B5 of [`crate::body`].
#![expect(
    unsafe_code,
    reason = "one block holds arrays whose lengths are only known when the function is loaded"
)]

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use tfrt_async::{AnyRef, IndirectPromise, TypeIndex};
use tfrt_host::function::FunctionTable;
use tfrt_host::{ExecutionContext, tracing};

use crate::body::{Body, NonZeroOffset};
use crate::constants::Word;
use crate::failures::Failures;
use crate::outcome::ResultSlot;
use crate::program::Program;
use crate::ready_count::ReadyCount;

/// The first part of the block.
struct Header {
    num_owners: AtomicU32,
    /// I5.
    body: NonNull<Body>,
    /// I5.
    program: NonNull<Program>,
    /// The program, as kernels see it.
    table: Arc<dyn FunctionTable>,
    ctx: ExecutionContext,
    failures: Failures,
    /// Whether all arguments were available when it began.
    starts_at_once: bool,
    /// What traces call the invocation, once one wants to know.
    number: OnceLock<u64>,
}

/// A reference to a value, owned as often as it is to be taken, once it is put.
type Slot = UnsafeCell<MaybeUninit<AnyRef>>;

type PromiseSlot = UnsafeCell<Option<IndirectPromise>>;

/// Where the arrays of a block lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLayout {
    layout: Layout,
    results: u32,
    promises: u32,
    ready_counts: u32,
}

/// Lays out a block: first what every body has, then places one by one.
#[derive(Debug)]
pub(crate) struct BlockBuilder {
    layout: Layout,
    results: u32,
    promises: u32,
}

impl BlockBuilder {
    /// A block with room for so many results and promises; nothing if it is beyond what offsets can say.
    pub(crate) fn new(num_results: usize, num_promises: usize) -> Option<Self> {
        let layout = Layout::new::<Header>();
        let (layout, results) = layout
            .extend(Layout::array::<ResultSlot>(num_results).ok()?)
            .ok()?;
        let (layout, promises) = layout
            .extend(Layout::array::<PromiseSlot>(num_promises).ok()?)
            .ok()?;
        Some(Self {
            layout,
            results: u32::try_from(results).ok()?,
            promises: u32::try_from(promises).ok()?,
        })
    }

    /// A block of cells alone.
    pub(crate) fn without_header() -> Self {
        Self {
            // No place is at offset 0.
            layout: Layout::new::<u64>(),
            results: 0,
            promises: 0,
        }
    }

    /// Room for a slot.
    pub(crate) fn slot(&mut self) -> Option<NonZeroOffset> {
        self.place(Layout::new::<Slot>())
    }

    /// Room for a cell of a payload.
    pub(crate) fn cell(&mut self, payload: Layout) -> Option<NonZeroOffset> {
        self.place(payload)
    }

    /// Where the next place will be, which is as aligned as a word.
    pub(crate) fn next_word(&mut self) -> Option<usize> {
        let (whole, offset) = self.layout.extend(Layout::new::<Word>()).ok()?;
        // The word itself is not taken, but what is in front of it.
        let unused = Layout::from_size_align(offset, whole.align()).ok()?;
        self.layout = unused;
        Some(offset)
    }

    fn place(&mut self, layout: Layout) -> Option<NonZeroOffset> {
        let (whole, offset) = self.layout.extend(layout).ok()?;
        self.layout = whole;
        NonZeroOffset::new(u32::try_from(offset).ok()?)
    }

    /// The layout, with room for so many ready counts.
    pub(crate) fn finish(self, num_kernels: usize) -> Option<BlockLayout> {
        let counts = Layout::array::<ReadyCount>(num_kernels).ok()?;
        let (layout, ready_counts) = self.layout.extend(counts).ok()?;
        let layout = layout.pad_to_align();
        u32::try_from(layout.size()).ok()?;
        Some(BlockLayout {
            layout,
            results: self.results,
            promises: self.promises,
            ready_counts: u32::try_from(ready_counts).ok()?,
        })
    }
}

impl BlockLayout {
    /// How many bytes a block has.
    pub(crate) fn size(&self) -> usize {
        self.layout.size()
    }
}

/// A shared reference to the state of one invocation.
pub(crate) struct InvocationRef {
    block: NonNull<Header>,
}

// SAFETY: of the header, the count is atomic and the rest is `Send + Sync` and never moves; places and promises pass
// from thread to thread as I1 to I3 say, and what they hold is `Send`.
unsafe impl Send for InvocationRef {}
// SAFETY: as above: `&InvocationRef` gives no more than `InvocationRef`, which can be cloned from it.
unsafe impl Sync for InvocationRef {}

/// The context of an invocation, with a location of its own, for one path.
///
/// A bitwise copy: it owns nothing, and what it refers to is kept alive by the invocation that it is borrowed from.
pub(crate) struct PathContext<'a> {
    copy: ManuallyDrop<ExecutionContext>,
    original: std::marker::PhantomData<&'a ExecutionContext>,
}

impl Deref for PathContext<'_> {
    type Target = ExecutionContext;

    #[inline]
    fn deref(&self) -> &ExecutionContext {
        &self.copy
    }
}

impl InvocationRef {
    /// The state at the start of an invocation, or nothing if there is no memory for it. `body` is one of `program`'s.
    /// `starts_at_once` if all arguments are available.
    ///
    /// Early registers hold indirect values from now on, and constants are in their cells.
    pub(crate) fn new(
        program: Arc<Program>,
        body: NonNull<Body>,
        ctx: ExecutionContext,
        starts_at_once: bool,
    ) -> Option<Self> {
        // SAFETY: I5.
        let layout = unsafe { body.as_ref() }.block.layout;
        let block = ctx.host().allocator().allocate(layout)?.cast::<Header>();
        let header = Header {
            num_owners: AtomicU32::new(1),
            body,
            program: NonNull::from(&*program),
            table: program as _,
            ctx,
            failures: Failures::new(),
            starts_at_once,
            number: OnceLock::new(),
        };
        // SAFETY: the block is ours alone, and begins with room for a header.
        unsafe { block.write(header) };
        let this = Self { block };
        let body = this.body();
        let counts = this.array::<ReadyCount>(body.block.ready_counts).as_ptr();
        let ready_counts = match starts_at_once {
            true => &body.start.at_once.ready_counts,
            false => &body.ready_counts,
        };
        for (index, &count) in ready_counts.iter().enumerate() {
            let place = counts.wrapping_add(index);
            // SAFETY: I4; the block is ours alone.
            unsafe { place.write(ReadyCount::starting_at(count)) };
        }
        let constants = body.constants.get_or_make(this.program(), body, this.ctx());
        if let Some((first_word, constants)) = constants {
            let place = this.block.cast::<Word>().as_ptr().wrapping_add(first_word);
            // SAFETY: Z1: the range is in the block, which is ours alone, and as aligned as any cell.
            unsafe { place.copy_from_nonoverlapping(constants.as_ptr(), constants.len()) };
        }
        for index in 0..body.returned.len() {
            // SAFETY: I4; the block is ours alone.
            unsafe { this.result_slot_place(index).write(ResultSlot::new()) };
        }
        for (index, &register) in body.early.iter().enumerate() {
            let (promise, value) = AnyRef::indirect();
            // SAFETY: I4; the block is ours alone.
            unsafe { this.promise(index).write(UnsafeCell::new(Some(promise))) };
            let register = &body.registers[register as usize];
            if let Some(returned) = register.returned {
                this.result_slot(returned).give(value.clone());
            }
            if let Some(slot) = register.slot {
                this.put(slot, value, register.num_references);
            }
        }
        Some(this)
    }

    /// The program that the function is of.
    pub(crate) fn program(&self) -> &Program {
        // SAFETY: I5.
        unsafe { self.header().program.as_ref() }
    }

    /// The functions of the program.
    pub(crate) fn table(&self) -> &Arc<dyn FunctionTable> {
        &self.header().table
    }

    /// The body of the function.
    #[inline]
    pub(crate) fn body(&self) -> &Body {
        // SAFETY: I5.
        unsafe { self.header().body.as_ref() }
    }

    /// The context that the invocation was started in.
    #[inline]
    pub(crate) fn ctx(&self) -> &ExecutionContext {
        &self.header().ctx
    }

    /// The same context with a location of its own.
    #[inline]
    pub(crate) fn path_ctx(&self) -> PathContext<'_> {
        // SAFETY: a context is read where there is one. The copy is never dropped or moved out of, and what it owns is alive
        // as long as the original is, which the lifetime says.
        let copy = unsafe { ptr::read(self.ctx()) };
        PathContext {
            copy: ManuallyDrop::new(copy),
            original: std::marker::PhantomData,
        }
    }

    /// A number that no other invocation of the process has.
    pub(crate) fn number(&self) -> u64 {
        *self
            .header()
            .number
            .get_or_init(tracing::next_invocation_number)
    }

    /// What direct kernels cannot read.
    #[inline]
    pub(crate) fn failures(&self) -> &Failures {
        &self.header().failures
    }

    /// Whether all arguments were available when the invocation began.
    pub(crate) fn starts_at_once(&self) -> bool {
        self.header().starts_at_once
    }

    /// Whether the results of constant kernels are in their cells.
    #[inline]
    pub(crate) fn has_constants(&self) -> bool {
        self.body().constants.are_made()
    }

    /// Whether nobody else can touch the state. Whoever owns this reference decides whether that changes.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        // Acquire pairs with the release in `drop`: what former owners did happened before.
        self.header().num_owners.load(Ordering::Acquire) == 1
    }

    /// Counts one of the operands of kernel `index` as available. True if the kernel is ready.
    ///
    /// `is_alone` is what [`is_alone`](Self::is_alone) said, if that is still so.
    #[inline]
    pub(crate) fn count_down(&self, index: usize, is_alone: bool) -> bool {
        let counts = self.array::<ReadyCount>(self.body().block.ready_counts);
        // SAFETY: I4, and `index` is a user of a result, so it is in range (B4).
        let count = unsafe { counts.add(index) };
        // SAFETY: I4: initialised.
        unsafe { count.as_ref() }.count_down(is_alone)
    }

    /// Puts a value into a slot that is taken from `num_references` times. Called by the producer, once, before it counts down.
    #[inline]
    pub(crate) fn put(&self, slot: NonZeroOffset, value: AnyRef, num_references: u32) {
        if num_references == 0 {
            return;
        }
        if num_references > 1 {
            // Each use owns one count without a handle of its own, until it takes it out of the slot.
            value.leak_clones(num_references - 1);
        }
        // SAFETY: B4 and I4: a slot.
        let slot = unsafe { self.slot(slot).as_ref() };
        // SAFETY: I1: nobody reads or writes it before its producer has counted its users down.
        unsafe { slot.get().write(MaybeUninit::new(value)) };
    }

    /// Takes the reference of one use out of a slot. Called by a kernel that is ready, once for every operand.
    #[inline]
    pub(crate) fn take(&self, slot: NonZeroOffset) -> AnyRef {
        // SAFETY: B4 and I4: a slot.
        let slot = unsafe { self.slot(slot).as_ref() };
        // SAFETY: I1: no longer written.
        let value = unsafe { &*slot.get() };
        // SAFETY: I1: initialised; I2: the reference that the copy owns is nobody else's.
        unsafe { value.assume_init_read() }
    }

    /// What a direct kernel has left in the cell of a result, as a value.
    #[inline]
    pub(crate) fn wrap_cell(&self, cell: NonZeroOffset, ty: TypeIndex, is_given: bool) -> AnyRef {
        let payload = self.place(cell).as_ptr();
        if is_given {
            // SAFETY: B5: the kernel has written a payload of this type, which is copied.
            unsafe { AnyRef::given_from_copied(ty, payload) }
        } else {
            // SAFETY: as above.
            unsafe { AnyRef::from_copied(ty, payload) }
        }
    }

    /// Copies the payload of `value` into a cell. Called by the producer, once, before it counts down. The value must be one
    /// that has a payload, and of the type that the cell was made for.
    #[inline]
    pub(crate) fn fill_cell(&self, cell: NonZeroOffset, ty: TypeIndex, value: &AnyRef) {
        assert!(
            value.is_concrete() && value.type_id() == ty,
            "publication has looked at the type of what it puts into a cell"
        );
        // SAFETY: just asserted; B4: the cell was made for the type; I1: nobody else touches it.
        unsafe { value.copy_payload_to(self.place(cell).as_ptr()) };
    }

    /// Where registers begin, for direct kernels: their offsets count from here.
    #[inline]
    pub(crate) fn registers(&self) -> NonNull<u8> {
        self.block.cast()
    }

    /// Takes the promise of an early register. Called by the producer of the register.
    pub(crate) fn take_promise(&self, index: u32) -> Option<IndirectPromise> {
        // SAFETY: I4 and B4: in range.
        let promise = unsafe { &*self.promise(index as usize) };
        // SAFETY: I3: only the producer comes here.
        unsafe { (*promise.get()).take() }
    }

    /// What the function returns, at a place of [`Body::returned`].
    #[inline]
    pub(crate) fn result_slot(&self, index: u32) -> &ResultSlot {
        // SAFETY: I4 and B4: in range.
        unsafe { &*self.result_slot_place(index as usize) }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the block lives as long as it has an owner, and `self` is one; of the header only the count, the failures and
        // the number change, which are made for that.
        unsafe { self.block.as_ref() }
    }

    #[inline]
    fn slot(&self, offset: NonZeroOffset) -> NonNull<Slot> {
        self.place(offset).cast()
    }

    /// The place at an offset that is in the block (B4).
    #[inline]
    fn place(&self, offset: NonZeroOffset) -> NonNull<u8> {
        self.array(offset.get())
    }

    /// Where promise `index` is, by I4.
    #[inline]
    fn promise(&self, index: usize) -> *mut PromiseSlot {
        self.array::<PromiseSlot>(self.body().block.promises)
            .as_ptr()
            .wrapping_add(index)
    }

    /// Where result slot `index` is, by I4.
    #[inline]
    fn result_slot_place(&self, index: usize) -> *mut ResultSlot {
        self.array::<ResultSlot>(self.body().block.results)
            .as_ptr()
            .wrapping_add(index)
    }

    /// The array that begins `offset` bytes into the block, which is not beyond its end.
    #[inline]
    fn array<T>(&self, offset: u32) -> NonNull<T> {
        // SAFETY: the offset is inside of the block (B4, I4).
        unsafe { self.block.byte_add(offset as usize) }.cast()
    }
}

impl Clone for InvocationRef {
    fn clone(&self) -> Self {
        // A new owner is made from a living one, so nothing is ordered by the count: relaxed. There is one owner per task
        // or waiter, far fewer than would wrap the count.
        self.header().num_owners.fetch_add(1, Ordering::Relaxed);
        Self { block: self.block }
    }
}

impl Drop for InvocationRef {
    fn drop(&mut self) {
        // A single owner needs no read-modify-write: nobody else can add one. Release: what this owner did happens before the
        // block goes away. Acquire, for the last one, pairs with that. A fence in its place would be hidden from the thread
        // sanitizer.
        if !self.is_alone() && self.header().num_owners.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let (num_results, num_promises) = (self.body().returned.len(), self.body().early.len());
        for index in 0..num_results {
            // SAFETY: I4; the block is ours alone by now.
            unsafe { self.result_slot_place(index).drop_in_place() };
        }
        for index in 0..num_promises {
            // SAFETY: I4; the block is ours alone by now. An unkept promise fails its result here.
            unsafe { self.promise(index).drop_in_place() };
        }
        let layout = self.body().block.layout;
        // Alive beyond the context that is about to go away.
        let host = Arc::clone(self.ctx().host());
        host.leave_invocation();
        // SAFETY: initialised by `new`; the block is ours alone, and nobody uses the header afterwards.
        unsafe { self.block.drop_in_place() };
        // SAFETY: it came from this allocator with this layout (1), and nobody uses it any more (2).
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
