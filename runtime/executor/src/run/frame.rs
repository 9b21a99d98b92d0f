//! The frame of a running function: the memory of its registers.
//!
//! Each runner of a function has a frame of its code: a run on one path has it on its stack, an
//! invocation that outlives its call in its block. Only this module accesses that memory.
//!
//! # Access
//!
//! A place goes through three phases. *Empty*: it is not read (C1). *Put*: the producer of its
//! register writes the cell once, or writes the slot once, with as many references as are taken
//! from it. *Taken*: each use that takes copies the reference out of the slot and owns it; the
//! other uses read the cell.
//!
//! - F1. The write of a place happens before every read. In a run on one path, both are on one
//!   thread, in the order of the schedule. In an invocation, the producer writes, then counts its
//!   users down (release), and a user reads after its count reached zero (acquire); or the kernels
//!   run in the order of segments, and each position is taken (acquire) after the one before has
//!   been finished (release), see [`super::turn`]; or a run goes on in its schedule in the waiter
//!   of a value, which it has registered (release) before the value was published (acquire).
//! - F2. A slot is read as often as it holds references: C2 says how often, and each kernel runs
//!   once. So every reference is owned by exactly one use. Uses that follow an exact schedule may
//!   [share](crate::lower::shared) references: as long as uses are to come, there is at least one.
//! - F3. The memory has as many words as the code asks for, and is aligned. Its owner outlives
//!   every [`Frame`] of it.
//!
//! The methods are safe for runners that respect the phases. [`super::path`], [`super::in_order`]
//! and [`super::sequence`] argue that they do.
#![expect(
    unsafe_code,
    reason = "a frame holds values of types that are only known when a function is loaded"
)]

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use tfrt_async::{AnyRef, TypeIndex};
use tfrt_host::__runtime::{DirectCall, DirectFn};
use tfrt_support::Error;

use crate::lower::code::{BoolCell, Code, Offset, Register};

/// One word of a frame.
pub(crate) type Word = MaybeUninit<u64>;

/// Frames of up to this many words are on the native stack.
const MAX_STACK_WORDS: usize = 32;

/// The number of words that a thread keeps for its next frames: 2 MiB in all.
const MAX_SPARE_WORDS: usize = 1 << 18;

/// A reference to a value. Once put, it owns one count for each use that takes it.
type Slot = MaybeUninit<AnyRef>;

/// A slot that a kernel has written that fills cells: a reference, or nothing if the payload is in
/// the cell. From then on until it is settled, only [`Frame::take_later`] and
/// [`Frame::peek_later`] read it.
type LaterSlot = MaybeUninit<Option<AnyRef>>;

thread_local! {
    /// The frames that are not in use. Nested runs take one each.
    static SPARE: RefCell<Vec<Box<[Word]>>> = const { RefCell::new(Vec::new()) };
}

/// The frame of one running function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    base: NonNull<u8>,
    pub(crate) code: &'a Code,
}

impl<'a> Frame<'a> {
    /// Returns the frame at `base`.
    ///
    /// # Safety
    /// 1. F3: there are `code.frame.num_words` words, aligned as words, for as long as the frame is
    ///    used.
    /// 2. Its users respect the phases, F1 and F2.
    #[inline]
    pub(crate) unsafe fn new(base: NonNull<u8>, code: &'a Code) -> Self {
        Self { base, code }
    }

    /// Calls `f` with an empty frame of `code`, for a run that ends before `f` returns. `f` must
    /// not leave a reference in a slot.
    #[inline]
    pub(crate) fn with<R>(code: &Code, f: impl FnOnce(Frame<'_>) -> R) -> R {
        match SmallFrame::fits(code) {
            true => f(SmallFrame::new().frame(code)),
            false => Self::with_spare(code, f),
        }
    }

    #[inline(never)]
    fn with_spare<R>(code: &Code, f: impl FnOnce(Frame<'_>) -> R) -> R {
        let num_words = code.frame.num_words;
        let mut words = SPARE
            .try_with(|spare| spare.borrow_mut().pop())
            .ok()
            .flatten()
            .filter(|words| words.len() >= num_words)
            .unwrap_or_else(|| Box::new_uninit_slice(num_words.next_power_of_two()));
        // SAFETY: duty 1: there are at least as many words. Duty 2: they belong to this run alone.
        let outcome = f(unsafe { Frame::new(NonNull::from(&mut *words).cast(), code) });
        let _ = SPARE.try_with(|spare| {
            let spare = &mut *spare.borrow_mut();
            let num_kept: usize = spare.iter().map(|words| words.len()).sum();
            if num_kept + words.len() <= MAX_SPARE_WORDS {
                spare.push(words);
            }
        });
        outcome
    }

    /// Calls a direct kernel whose first offset is word `offsets` of the code.
    ///
    /// # Safety
    /// 1. The places of its results are empty, and nothing else writes them.
    /// 2. The places of its operands hold values that are available and of the types that the
    ///    kernel reads.
    #[inline]
    pub(crate) unsafe fn run(
        self,
        offsets: u32,
        run: DirectFn,
        call: &DirectCall<'_>,
    ) -> Result<(), Error> {
        debug_assert!(offsets as usize <= self.code.words.len());
        // SAFETY: C4: the offsets are a range of the words.
        let offsets = unsafe { self.code.words.as_ptr().add(offsets as usize) };
        // SAFETY: it points into the words, or to their end.
        let offsets = unsafe { NonNull::new_unchecked(offsets.cast_mut()) };
        // SAFETY: duties 1 to 3 of the kernel follow from C5 and our duties 1 and 2: the offsets
        // are its own. Its attributes were accepted when the body was checked (4).
        unsafe { run(call, self.base, offsets) }
    }

    /// Puts a value into a slot, which then holds `num_held` references. Called by the producer,
    /// once.
    #[inline]
    pub(crate) fn put(self, slot: Offset, value: AnyRef, num_held: u32) {
        if num_held == 0 {
            return;
        }
        if num_held > 1 {
            // A use owns its count, without a handle, until it takes it out of the slot.
            value.leak_clones(num_held - 1);
        }
        // SAFETY: C4 and F3: a slot, aligned. F1: no other thread reads or writes it yet.
        unsafe { self.slot(slot).write(Slot::new(value)) };
    }

    /// Like [`put`](Self::put), for a value that a direct kernel has left in its slot.
    #[inline]
    pub(crate) fn keep(self, slot: Offset, num_held: u32) {
        match num_held {
            0 => drop(self.take(slot)),
            1 => {}
            more => self.peek(slot).leak_clones(more - 1),
        }
    }

    /// Takes the reference of one use out of a slot. Called once for every use.
    #[inline]
    pub(crate) fn take(self, slot: Offset) -> AnyRef {
        // SAFETY: C4 and F3: a slot, aligned. F1: no longer written.
        let value = unsafe { self.slot(slot).read() };
        // SAFETY: F1: initialised; F2: only this copy owns the reference.
        unsafe { value.assume_init() }
    }

    /// Takes the references of one kernel out of the slots at these offsets, and drops them.
    #[inline(always)]
    pub(crate) fn drop_taken(self, slots: &[u32]) {
        for &slot in slots {
            // SAFETY: C4 and F3: the place is in the frame.
            let slot = unsafe { self.base.byte_add(slot as usize) }.cast::<Slot>();
            // SAFETY: as in `take`.
            let value = unsafe { slot.read() };
            // SAFETY: as in `take`.
            drop(unsafe { value.assume_init() });
        }
    }

    /// Returns the value in a slot from which at least one use has not taken it yet.
    #[inline]
    pub(crate) fn peek(&self, slot: Offset) -> &AnyRef {
        // SAFETY: C4 and F3: a slot, aligned. F1: no longer written.
        let value = unsafe { self.slot(slot).as_ref() };
        // SAFETY: F1: initialised; the use that has not taken it keeps it alive.
        unsafe { value.assume_init_ref() }
    }

    /// Like [`take`](Self::take), for a slot that a kernel has just written, which may be empty
    /// because the payload is in the cell.
    #[inline]
    pub(crate) fn take_later(self, slot: Offset) -> Option<AnyRef> {
        // SAFETY: as in `take`; a reference that is there is not null.
        let value = unsafe { self.slot(slot).cast::<LaterSlot>().read() };
        // SAFETY: as in `take`: initialised (D3 of `direct`), and only this copy owns it.
        unsafe { value.assume_init() }
    }

    /// Like [`peek`](Self::peek), for a slot that a kernel has just written, which may be empty
    /// because the payload is in the cell.
    #[inline]
    pub(crate) fn peek_later(&self, slot: Offset) -> Option<&AnyRef> {
        // SAFETY: as in `peek`; a reference that is there is not null.
        let value = unsafe { self.slot(slot).cast::<LaterSlot>().as_ref() };
        // SAFETY: as in `peek`: initialised (D3 of `direct`).
        unsafe { value.assume_init_ref() }.as_ref()
    }

    /// Returns the payload in the cell of a register as a value, marked as handed to a caller if
    /// `is_given`.
    #[inline]
    pub(crate) fn wrap(self, cell: Offset, ty: TypeIndex, is_given: bool) -> AnyRef {
        let payload = self.place(cell).as_ptr();
        if is_given {
            // SAFETY: F1 and C6: a payload of this type, which is copied.
            unsafe { AnyRef::given_from_copied(ty, payload) }
        } else {
            // SAFETY: as above.
            unsafe { AnyRef::from_copied(ty, payload) }
        }
    }

    /// Copies the payload of a value into the cell of a register. Returns `false` without doing
    /// anything if the value is not of the type of the cell. Called by the producer, once.
    #[inline]
    pub(crate) fn fill(self, register: &Register, value: &AnyRef) -> bool {
        let (Some(cell), Some(ty)) = (register.cell, register.ty) else {
            return false;
        };
        // SAFETY: C6: the type is copied, and the cell has room for a payload of it; F1: nothing
        // else accesses it.
        unsafe { value.copy_payload_of(ty, self.place(cell).as_ptr()) }
    }

    /// Copies the cell of a register of another frame into the cell of a register of this frame.
    /// Returns `false` without doing anything unless both have cells of the same type. Called by
    /// the producer, once.
    #[inline]
    pub(crate) fn copy_cell(self, to: &Register, source: Frame<'_>, from: &Register) -> bool {
        let copy = CellCopy::between(from, to);
        if let Some(copy) = copy {
            self.copy_cells(&[copy], source);
        }
        copy.is_some()
    }

    /// Copies cells of registers of another frame into cells of registers of this one. Called by
    /// the producer, once.
    #[inline]
    pub(crate) fn copy_cells(self, copies: &[CellCopy], source: Frame<'_>) {
        for copy in copies {
            let (to, from) = (self.place(copy.to), source.place(copy.from));
            // Most payloads are numbers. If the compiler knows the size, the copy is not a function
            // call.
            match copy.num_bytes {
                // SAFETY: C6: both cells have room for a payload of the type; F1: the source is
                // written, and nothing else accesses the target. The cells are in different frames.
                4 => unsafe { to.copy_from_nonoverlapping(from, 4) },
                // SAFETY: as above.
                8 => unsafe { to.copy_from_nonoverlapping(from, 8) },
                // SAFETY: as above.
                num_bytes => unsafe { to.copy_from_nonoverlapping(from, num_bytes as usize) },
            }
        }
    }

    /// Returns the `bool` in a cell.
    #[inline]
    pub(crate) fn is_true(self, cell: BoolCell) -> bool {
        // SAFETY: C6: the cell is that of a register of this type; F1: written.
        unsafe { self.place(cell.offset()).cast::<bool>().read() }
    }

    /// Returns the words of the frame from number `first` on.
    #[inline]
    pub(crate) fn words_from(self, first: usize) -> NonNull<Word> {
        debug_assert!(first <= self.code.frame.num_words);
        // SAFETY: F3.
        unsafe { self.base.cast::<Word>().add(first) }
    }

    /// Writes the words of constants, which have fixed places in the frame's layout.
    #[inline]
    pub(crate) fn fill_constants(self, constants: &[Word]) {
        let range = &self.code.frame.constants;
        assert_eq!(
            range.len(),
            constants.len(),
            "constants are those of the code"
        );
        let place = self.words_from(range.start);
        if let &[word] = constants {
            // Copied without a function call, which would cost more than the copy.
            // SAFETY: F3: the range is in the frame; F1: nothing else accesses it before the first
            // kernel runs.
            return unsafe { place.write(word) };
        }
        // SAFETY: as above.
        unsafe {
            place
                .as_ptr()
                .copy_from_nonoverlapping(constants.as_ptr(), constants.len())
        };
    }

    /// Copies all words of another frame of the same code, which must not be used afterwards.
    pub(crate) fn move_from(self, other: Frame<'_>) {
        assert!(
            std::ptr::eq(self.code, other.code),
            "a frame is copied to one of the same code"
        );
        let (to, from) = (self.words_from(0), other.words_from(0));
        // SAFETY: F3: both have that many words, some of which may be uninitialised, and they are
        // different frames.
        unsafe { to.copy_from_nonoverlapping(from, self.code.frame.num_words) };
    }

    #[inline]
    fn slot(&self, slot: Offset) -> NonNull<Slot> {
        self.place(slot).cast()
    }

    /// Returns the place at an offset, which is in the frame (C4).
    #[inline]
    fn place(&self, offset: Offset) -> NonNull<u8> {
        // SAFETY: C4 and F3.
        unsafe { self.base.byte_add(offset.get() as usize) }
    }
}

/// The copy of a payload from a cell of one frame to a cell of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellCopy {
    from: Offset,
    to: Offset,
    num_bytes: u32,
}

impl CellCopy {
    /// Returns the copy from the cell of one register to that of another, or `None` unless both
    /// have cells of the same type.
    #[inline]
    pub(crate) fn between(from: &Register, to: &Register) -> Option<Self> {
        let is_same = from.ty == to.ty;
        let (from, to_cell) = (from.cell?, to.cell?);
        is_same.then_some(Self {
            from,
            to: to_cell,
            num_bytes: to.num_bytes.into(),
        })
    }
}

/// The memory of one short run, on the native stack.
#[derive(Debug)]
pub(crate) struct SmallFrame {
    words: [Word; MAX_STACK_WORDS],
}

impl SmallFrame {
    /// Returns memory without content.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            words: [Word::uninit(); MAX_STACK_WORDS],
        }
    }

    /// Returns `true` if a frame of `code` is small enough.
    #[inline]
    pub(crate) fn fits(code: &Code) -> bool {
        code.frame.num_words <= MAX_STACK_WORDS
    }

    /// Returns an empty frame of `code`, which must be small enough, for one run. The run must not
    /// leave a reference in a slot.
    #[inline]
    pub(crate) fn frame<'a>(&'a mut self, code: &'a Code) -> Frame<'a> {
        assert!(Self::fits(code), "a large frame is not on the native stack");
        // SAFETY: duty 1: just asserted. Duty 2: the memory is lent to one run.
        unsafe { Frame::new(NonNull::from(&mut self.words).cast(), code) }
    }
}

/// The memory of a function that runs repeatedly, one run at a time.
#[derive(Debug)]
pub(crate) struct KeptFrame {
    words: Box<[Word]>,
}

impl KeptFrame {
    /// Returns the memory for a frame of `code`.
    pub(crate) fn new(code: &Code) -> Self {
        Self {
            words: Box::new_uninit_slice(code.frame.num_words),
        }
    }

    /// Returns the frame, of the same code.
    #[inline]
    pub(crate) fn frame<'a>(&'a mut self, code: &'a Code) -> Frame<'a> {
        assert!(
            self.words.len() >= code.frame.num_words,
            "a frame is kept for one function"
        );
        // SAFETY: duty 1: just asserted. Duty 2: the memory is lent to one run at a time.
        unsafe { Frame::new(NonNull::from(&mut *self.words).cast(), code) }
    }
}
