//! The state of one invocation: one block of memory, sized when the function was loaded.
//!
//! ```text
//!  ┌────────┬───────────────────────────┬─────────────────────┬──────────────────────────────────┐
//!  │ Header │ a ready count per kernel  │ a slot per register │ a promise per promised register │
//!  └────────┴───────────────────────────┴─────────────────────┴──────────────────────────────────┘
//! ```
//!
//! # Who may touch what
//!
//! A register goes through three phases. *Empty*: nobody reads it (B1). *Put*: its producer writes the slot, once, with as
//! many references as the register has uses. *Taken*: each use copies the reference out of the slot, and owns it.
//!
//! - I1. The write of a slot happens before every read: the producer writes, then counts its users down
//!   ([`InvocationRef::count_down`], release); a user reads after its count reached zero (acquire). What
//!   [`InvocationRef::new`] writes happens before the block is shared.
//! - I2. A slot is read as often as it holds references: B2 says that there are `num_uses` uses, B3 that each kernel runs
//!   once. So every reference is owned by exactly one use.
//! - I3. A promise is taken once, by the producer of its register (B1).
//! - I4. The arrays are where [`BlockLayout`] says, as long as the body says, and initialised by [`InvocationRef::new`]
//!   (slots excepted).
//!
//! Only this module knows the layout. Its unsafe blocks spend B1 to B4 of [`crate::body`], which the verification of the
//! file proves.
#![expect(
    unsafe_code,
    reason = "one block holds arrays whose lengths are only known when the function is loaded"
)]

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_host::{ExecutionContext, tracing};

use crate::body::Body;
use crate::program::Program;

/// The first part of the block.
struct Header {
    num_owners: AtomicU32,
    program: Arc<Program>,
    body: Arc<Body>,
    ctx: ExecutionContext,
    /// What traces call the invocation, once one wants to know.
    number: OnceLock<u64>,
}

/// A register: several owned references to one value, once it is put.
type Slot = UnsafeCell<MaybeUninit<AnyRef>>;

type PromiseSlot = UnsafeCell<Option<IndirectPromise>>;

/// Where the arrays of a block lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLayout {
    layout: Layout,
    ready_counts: usize,
    slots: usize,
    promises: usize,
}

impl BlockLayout {
    /// The layout for so many kernels, registers and promised registers; nothing if it is beyond the address space.
    pub(crate) fn new(
        num_kernels: usize,
        num_registers: usize,
        num_promised: usize,
    ) -> Option<Self> {
        let layout = Layout::new::<Header>();
        let (layout, ready_counts) = layout
            .extend(Layout::array::<AtomicU32>(num_kernels).ok()?)
            .ok()?;
        let (layout, slots) = layout
            .extend(Layout::array::<Slot>(num_registers).ok()?)
            .ok()?;
        let (layout, promises) = layout
            .extend(Layout::array::<PromiseSlot>(num_promised).ok()?)
            .ok()?;
        Some(Self {
            layout: layout.pad_to_align(),
            ready_counts,
            slots,
            promises,
        })
    }
}

/// A shared reference to the state of one invocation.
pub(crate) struct InvocationRef {
    block: NonNull<Header>,
}

// SAFETY: of the header, the count is atomic and the rest is `Send + Sync` and never moves; slots and promises pass
// from thread to thread as I1 to I3 say, and what they hold is `Send`.
unsafe impl Send for InvocationRef {}
// SAFETY: as above: `&InvocationRef` gives no more than `InvocationRef`, which can be cloned from it.
unsafe impl Sync for InvocationRef {}

impl InvocationRef {
    /// The state at the start of an invocation, or nothing if the host has no memory for it.
    ///
    /// Promised registers hold indirect values from now on, and `results` gets a reference to each that is returned; it
    /// must be empty, and as long as the function has results.
    pub(crate) fn new(
        program: Arc<Program>,
        body: Arc<Body>,
        ctx: ExecutionContext,
        results: &mut [Option<AnyRef>],
    ) -> Option<Self> {
        let block = ctx
            .host()
            .allocator()
            .allocate(body.block.layout)?
            .cast::<Header>();
        let header = Header {
            num_owners: AtomicU32::new(1),
            program,
            body,
            ctx,
            number: OnceLock::new(),
        };
        // SAFETY: the block is ours alone, and begins with room for a header.
        unsafe { block.write(header) };
        let this = Self { block };
        let body = this.body();
        for (index, kernel) in body.kernels.iter().enumerate() {
            // SAFETY: I4; the block is ours alone.
            unsafe {
                this.ready_count(index)
                    .write(AtomicU32::new(kernel.ready_count))
            };
        }
        for (index, promised) in body.promised.iter().enumerate() {
            let (promise, value) = AnyRef::indirect();
            // SAFETY: I4; the block is ours alone.
            unsafe { this.promise(index).write(UnsafeCell::new(Some(promise))) };
            if let Some(first_result) = promised.first_result {
                results[first_result as usize] = Some(value.clone());
            }
            this.put(promised.register, value);
        }
        for (index, &register) in body.results.iter().enumerate() {
            if results[index].is_none()
                && let Some(promise) = body.registers[register as usize].promise
                && let Some(first_result) = body.promised[promise as usize].first_result
            {
                results[index] = results[first_result as usize].clone();
            }
        }
        Some(this)
    }

    /// The program that the function is of.
    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.header().program
    }

    /// The body of the function.
    #[inline]
    pub(crate) fn body(&self) -> &Body {
        &self.header().body
    }

    /// The context that the invocation was started in.
    pub(crate) fn ctx(&self) -> &ExecutionContext {
        &self.header().ctx
    }

    /// A number that no other invocation of the process has.
    pub(crate) fn number(&self) -> u64 {
        *self
            .header()
            .number
            .get_or_init(tracing::next_invocation_number)
    }

    /// Counts one of the operands of kernel `index` as available. True if it was the last one: the kernel is ready.
    #[inline]
    pub(crate) fn count_down(&self, index: usize) -> bool {
        // SAFETY: I4; `index` is a user of a result, so it is in range (B4).
        let count = unsafe { &*self.ready_count(index) };
        // Whoever sees 1 is the only one left to count (B3), so nobody else writes. Acquire pairs with the release of those
        // who counted before, whose slots the kernel will read (I1).
        if count.load(Ordering::Acquire) == 1 {
            return true;
        }
        // Release: the slots written so far become visible to the thread that sees zero. Acquire: as above.
        count.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Takes the start of kernel `index`, which waits for any of its operands. True for the first one who does.
    #[inline]
    pub(crate) fn take_start(&self, index: usize) -> bool {
        // SAFETY: I4; `index` is a user of a result, so it is in range (B4).
        let count = unsafe { &*self.ready_count(index) };
        // Acquire and release as in `count_down`. The kernel reads promised slots, which were written before the block was
        // shared.
        count.swap(0, Ordering::AcqRel) == 1
    }

    /// Gives `register` its value, one reference for every use of it. Called by the producer, once, before it counts down.
    #[inline]
    pub(crate) fn put(&self, register: u32, value: AnyRef) {
        let num_uses = self.body().registers[register as usize].num_uses;
        if num_uses == 0 {
            return;
        }
        if num_uses > 1 {
            // Each use owns one count without a handle of its own, until it takes it out of the slot.
            value.leak_clones(num_uses - 1);
        }
        // SAFETY: I4 and B4: in range.
        let slot = unsafe { &*self.slot(register) };
        // SAFETY: I1: nobody reads or writes the slot before its producer has counted its users down.
        unsafe { (*slot.get()).write(value) };
    }

    /// Takes the reference of one use out of `register`. Called by a kernel that is ready, once for every operand.
    #[inline]
    pub(crate) fn take(&self, register: u32) -> AnyRef {
        // SAFETY: I4 and B4: in range.
        let slot = unsafe { &*self.slot(register) };
        // SAFETY: I1: no longer written.
        let value = unsafe { &*slot.get() };
        // SAFETY: I1: initialised; I2: the reference that the copy owns is nobody else's.
        unsafe { value.assume_init_read() }
    }

    /// Takes the promise of a promised register. Called by the producer of the register.
    pub(crate) fn take_promise(&self, index: u32) -> Option<IndirectPromise> {
        // SAFETY: I4 and B4: in range.
        let promise = unsafe { &*self.promise(index as usize) };
        // SAFETY: I3: only the producer comes here.
        unsafe { (*promise.get()).take() }
    }

    fn header(&self) -> &Header {
        // SAFETY: the block lives as long as it has an owner, and `self` is one; of the header only the count and the
        // number change, which are made for that.
        unsafe { self.block.as_ref() }
    }

    /// Where the ready count of kernel `index` is, by I4.
    #[inline]
    fn ready_count(&self, index: usize) -> *mut AtomicU32 {
        self.element(self.body().block.ready_counts, index)
    }

    /// Where the slot of `register` is, by I4.
    #[inline]
    fn slot(&self, register: u32) -> *mut Slot {
        self.element(self.body().block.slots, register as usize)
    }

    /// Where promise `index` is, by I4.
    #[inline]
    fn promise(&self, index: usize) -> *mut PromiseSlot {
        self.element(self.body().block.promises, index)
    }

    /// Element `index` of the array that begins `offset` bytes into the block.
    #[inline]
    fn element<T>(&self, offset: usize, index: usize) -> *mut T {
        self.block
            .as_ptr()
            .wrapping_byte_add(offset)
            .cast::<T>()
            .wrapping_add(index)
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
        // Release: what this owner did happens before the block goes away. Acquire, for the last one, pairs with that. A fence
        // in its place would be hidden from the thread sanitizer.
        if self.header().num_owners.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let num_promised = self.body().promised.len();
        for index in 0..num_promised {
            // SAFETY: I4; the block is ours alone by now. An unkept promise fails its result here.
            unsafe { self.promise(index).drop_in_place() };
        }
        // SAFETY: initialised by `new`; the block is ours alone, and nobody uses the header afterwards.
        let header = unsafe { self.block.read() };
        let host = Arc::clone(header.ctx.host());
        host.leave_invocation();
        let layout = header.body.block.layout;
        drop(header);
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
