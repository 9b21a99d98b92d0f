//! A function body in executable form: laid out once, when the function is first used, and never
//! changed.
//!
//! The code does not know how it is run. Everything of variable length is in one pool of words; a
//! kernel holds ranges into it. A runner looks at the 32 bytes of [`Kernel`] for every kernel; the
//! rest is in [`KernelDetails`].
//!
//! # Where values are
//!
//! A register has up to two places in a *frame*, the memory of one running function. Its *slot*
//! holds a reference to an AsyncValue, which owns one count for each use that takes it. Its *cell*
//! holds a copy of the payload, for a register of a [copied](tfrt_async::is_copied) type
//! that direct kernels read or write. A register that only direct kernels and calls access does not
//! need an AsyncValue at all.
//!
//! ```text
//!    direct kernel ──payload──► cell ──payload──► direct kernels, calls (no count, no allocation)
//!                                 │ wrapped if a framed kernel or the caller takes references
//!                                 ▼
//!    framed kernel ──AnyRef──►  slot ──AnyRef───► framed kernels (a count for each)
//!                                 │ copied if direct kernels read
//!                                 └──payload──► cell
//! ```

use std::ops::Range;

use tfrt_async::TypeIndex;
use tfrt_host::__runtime::DirectFn;
use tfrt_host::kernel::KernelDescriptor;
use tfrt_support::entity::EntityId;

pub(crate) use super::ids::{KernelId, RegisterId, StreamId};
use super::segments::Segments;

/// The code of a function.
///
/// Invariants, proven by verification of the file and by lowering:
/// - C1. A register is the result of exactly one kernel, or an argument, and is not read before it
///   is written.
/// - C2. `num_references` of a register is the number of times that kernels take from its slot. In
///   a run that follows an exact schedule, the slot holds [fewer](super::shared) than that.
/// - C3. The ready count of a strict kernel equals the number of times that it occurs among the
///   users of registers; that of a kernel that waits for some operands, the number of times that it
///   occurs for these. A kernel that waits for any operand occurs once for each operand and has a
///   ready count of 1, which the first arrival takes.
/// - C4. Every id is in range, and every offset is that of a slot or a cell of the frame.
/// - C5. The offsets of a direct kernel lead to the places that its [`DirectFn`] requires. Once its
///   operands are available and in their places, they have the payload types that it reads: either
///   their producer returns these types, or the code that put the value into its place has checked
///   the type.
/// - C6. A register with a cell has a copied type, and its cell has room for a payload of it.
#[derive(Debug)]
pub(crate) struct Code {
    /// If the code has a schedule, its kernels are in this order.
    pub(crate) schedule: Option<Schedule>,
    /// What precedes all kernels: it has no operands, and its results make the first kernels ready.
    pub(crate) start: Start,
    pub(crate) kernels: Box<[Kernel]>,
    /// The parts of kernels that are needed only for kernels that are not plain.
    pub(crate) details: Box<[KernelDetails]>,
    pub(crate) registers: Box<[Register]>,
    /// The register of each result of the function.
    pub(crate) results: Box<[RegisterId]>,
    /// For each result, the first result of the same register: for most, itself.
    pub(crate) first_results: Box<[u32]>,
    /// The registers that are results of the function, each once.
    pub(crate) returned: Box<[RegisterId]>,
    /// The registers that a kernel may read before they are available: they hold an indirect value
    /// from the start.
    pub(crate) early: Box<[RegisterId]>,
    /// The ready counts before any value is available.
    pub(crate) ready_counts: Box<[u32]>,
    pub(crate) words: Box<[u32]>,
    pub(crate) frame: FrameLayout,
    /// Whether there are [shared](super::shared) registers.
    pub(crate) has_shared: bool,
    /// An upper bound of the stream numbers.
    pub(crate) num_streams: usize,
    /// For a leaf, its kernels except for constants. A function is a leaf if its schedule is exact
    /// and each of its kernels is a constant, or runs in place on copied payloads and uses nothing
    /// else.
    pub(crate) leaf: Option<Box<[LeafKernel]>>,
    /// The number of links from kernels that only call a function to the functions that they call.
    pub(crate) num_links: u32,
}

/// The known order of all kernels, in which one path runs them, provided that their results are
/// available when they return.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// The order is the same under every queue: kernels of two streams are never ready at the same
    /// time.
    Exact,
    /// The order is one of several that a queue may choose unless it promises an order. A queue
    /// that runs tasks in order has that of the segments.
    Segmented(Segments),
}

/// The memory of a running function, in words.
#[derive(Clone, Debug)]
pub(crate) struct FrameLayout {
    pub(crate) num_words: usize,
    /// Whether there are slots.
    pub(crate) has_slots: bool,
    /// The words that hold only cells of constants.
    pub(crate) constants: Range<usize>,
}

impl FrameLayout {
    /// Returns `true` if there are cells of constants.
    #[inline]
    pub(crate) fn has_constants(&self) -> bool {
        self.constants.start < self.constants.end
    }
}

/// The contents of the file's pseudo kernel.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) stream: StreamId,
    /// The kernels without operands.
    pub(crate) roots: Words,
    /// The arguments.
    pub(crate) arguments: Box<[KernelResult]>,
    /// The state after these, if all arguments are available.
    pub(crate) at_once: AtOnce,
}

/// The initial state of an invocation whose arguments are all available: the result of counting
/// them down one by one.
#[derive(Debug)]
pub(crate) struct AtOnce {
    pub(crate) ready_counts: Box<[u32]>,
    /// The stream that the path begins with.
    pub(crate) stream: StreamId,
    /// The ready kernels of that stream; the last one runs first.
    pub(crate) inline: Words,
    /// The other ready kernels, ordered by stream.
    pub(crate) outline: Box<[KernelId]>,
}

/// The parts of a kernel that a runner needs for every kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Runs the kernel in place; `None` if it needs a frame of references.
    pub(crate) direct: Option<DirectFn>,
    /// The first offset of a direct kernel, among the words.
    pub(crate) offsets: u32,
    /// The users of the results of a direct kernel, if nothing has to be published in between.
    pub(crate) users: Words,
    pub(crate) stream: StreamId,
    /// What has to be done beyond calling a direct kernel and counting its users down. Zero for
    /// most kernels.
    pub(crate) extras: Extras,
    /// From how many slots a direct kernel drops a reference, in a run that follows its schedule:
    /// the words before its first offset.
    pub(crate) num_released: u8,
    /// How many slots of results do not hold exactly one reference in such a run: two words for
    /// each, the slot and the number of references, before those of `num_released`.
    pub(crate) num_kept: u8,
}

/// The number of slots from which a direct kernel may take so that those from which it drops a
/// reference are among the words before its first offset. Otherwise, it drops one for each.
pub(crate) const MAX_LISTED: usize = u8::MAX as usize;

/// A kernel of a leaf that is not a constant.
#[derive(Debug)]
pub(crate) struct LeafKernel {
    pub(crate) run: DirectFn,
    /// Its first offset, among the words.
    pub(crate) offsets: u32,
    pub(crate) id: KernelId,
}

impl Kernel {
    /// Returns the kernel, which has this id, as one of a leaf. Returns `None` for a constant.
    pub(crate) fn in_leaf(&self, id: KernelId) -> Option<LeafKernel> {
        let run = self
            .direct
            .filter(|_| !self.extras.contains(Extras::CONSTANT));
        Some(LeafKernel {
            run: run?,
            offsets: self.offsets,
            id,
        })
    }

    /// Returns `true` if it is a constant, or a call of a direct kernel that uses only its
    /// operands.
    pub(crate) fn is_plain(&self) -> bool {
        let most = match self.extras.contains(Extras::CONSTANT) {
            true => Extras::CONSTANT.and(Extras::READS_CALL),
            false => Extras::NONE,
        };
        self.direct.is_some() && self.extras.is_within(most.and(Extras::RETURNS))
    }
}

/// What has to be done for a kernel besides calling it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras(u8);

impl Extras {
    pub(crate) const NONE: Self = Self(0);
    /// The kernel uses its context, attributes or functions.
    pub(crate) const READS_CALL: Self = Self(1);
    /// Operands are in slots, and have to be taken out of them after the call.
    pub(crate) const TAKES_SLOTS: Self = Self(2);
    /// It is not enough that results are in their cells: they are taken as references, or may be
    /// unavailable.
    pub(crate) const PUBLISHES: Self = Self(4);
    /// Results are results of the function.
    pub(crate) const RETURNS: Self = Self(8);
    /// The kernel is a constant: its results are in their cells from the start, if the constants
    /// could be computed.
    pub(crate) const CONSTANT: Self = Self(16);
    /// The kernel calls a function of the program and does nothing else.
    pub(crate) const CALLS: Self = Self(32);
    /// The actions for the results are not all known before the results are available.
    pub(crate) const LOOKS: Self = Self(64);
    /// In a run that follows a schedule, a direct kernel drops or keeps references after the call.
    pub(crate) const SETTLES: Self = Self(128);

    #[inline]
    pub(crate) fn contains(self, extra: Self) -> bool {
        self.0 & extra.0 != 0
    }

    /// Returns `true` if nothing beyond `most` has to be done.
    #[inline]
    pub(crate) fn is_within(self, most: Self) -> bool {
        self.0 & !most.0 == 0
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn with_if(self, condition: bool, extra: Self) -> Self {
        Self(self.0 | if condition { extra.0 } else { 0 })
    }
}

/// The rest of a kernel.
#[derive(Debug)]
pub(crate) struct KernelDetails {
    pub(crate) descriptor: KernelDescriptor,
    /// Whether the types of its operands were proven when the body was loaded.
    pub(crate) is_proven: bool,
    /// Whether a direct kernel reads its attributes or functions.
    pub(crate) reads_file: bool,
    pub(crate) strictness: Strictness,
    pub(crate) location: u32,
    /// The registers of the operands.
    pub(crate) operands: Words,
    pub(crate) attributes: Words,
    pub(crate) functions: Words,
    /// For a kernel that calls one of two functions and does nothing else, the operand that decides
    /// which one.
    pub(crate) condition: Option<BoolCell>,
    /// The number of this kernel's link to its first function; the links to its other functions
    /// follow. Meaningful only for a kernel that calls functions and does nothing else.
    pub(crate) first_link: u32,
    pub(crate) results: Box<[KernelResult]>,
    /// How a direct kernel or a call leaves each of `results`.
    pub(crate) forms: Box<[ResultForm]>,
    /// Whether the kernel has one result, which has users, and no other kernel but constants can
    /// run until that is available. `false` if that is not known, as it is only in an
    /// [exact](Schedule::Exact) schedule.
    pub(crate) is_bottleneck: bool,
    /// The slot of the result of a bottleneck that runs in place, if the result may be unavailable.
    pub(crate) awaited_slot: Option<Offset>,
    /// The action of a run that follows a schedule for each of `results`. Empty if there are none.
    pub(crate) settlings: Box<[Settling]>,
    /// The registers whose slots a direct kernel or a call takes from.
    pub(crate) taken: Words,
    /// The offsets of these slots.
    pub(crate) taken_slots: Words,
}

impl KernelDetails {
    /// Returns `true` if the kernel is known to take the operand at `index` as a reference: a value
    /// of any type. The tail of a kernel that can never run in place does not count.
    pub(crate) fn takes_reference(&self, index: usize) -> bool {
        let operands = &self.descriptor.types().operands;
        match self.descriptor.direct() {
            Some(direct) => direct.takes_reference(operands, index),
            None => operands.is_reference(index),
        }
    }
}

/// One result of a kernel, or an argument of the function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelResult {
    pub(crate) register: RegisterId,
    pub(crate) users: Words,
}

/// The form in which a direct kernel leaves one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultForm {
    /// The payload, in the cell.
    Cell,
    /// A value that is available, in the slot.
    Slot,
    /// A value that may become available later, in the slot; or nothing in the slot, and the
    /// payload in the cell.
    LaterSlot,
}

/// What a run that follows a schedule does with a result that a kernel has left in its place. It
/// follows from the form of the result and from the places of its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settling {
    /// Nothing: the payload is in its cell, and is not taken as a reference; or the value is in its
    /// slot, which holds one reference.
    Done,
    /// This slot, which has the value, holds so many references.
    Keep(Offset, u32),
    /// Nothing if this slot is empty: the payload is then in its cell, and is not taken as a
    /// reference. Otherwise, the value in the slot has to be looked at.
    LookUnlessEmpty(Offset),
    /// The place has to be looked at.
    Look,
}

impl Settling {
    /// Returns what is to be done with a result of this form.
    pub(crate) fn of(form: ResultForm, register: &Register) -> Self {
        let is_referenced = register.slot.is_some() && register.num_references > 0;
        match (form, register.slot) {
            (ResultForm::Cell, _) if !is_referenced => Self::Done,
            (ResultForm::Slot, Some(slot)) => match register.num_held {
                1 => Self::Done,
                num_held => Self::Keep(slot, num_held),
            },
            (ResultForm::LaterSlot, Some(slot)) if !is_referenced => Self::LookUnlessEmpty(slot),
            _ => Self::Look,
        }
    }
}

/// Which operands a kernel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// All of them. An error among them skips the kernel.
    Strict,
    /// Those at these positions. An error among them skips the kernel; the others may be
    /// unavailable.
    Waits(Words),
    /// The first one that becomes available, whichever it is. Nothing skips the kernel.
    WaitsForAny,
}

/// What is known of a register before anything runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Register {
    /// The number of times that kernels take from its slot.
    pub(crate) num_references: u32,
    /// The number of references that its slot holds once it is put, in a run that follows its
    /// schedule, and whose caller takes the result from the frame.
    pub(crate) num_held: u32,
    /// The offset of its slot in the frame, if it has one.
    pub(crate) slot: Option<Offset>,
    /// The offset of its cell in the frame, if it has one.
    pub(crate) cell: Option<Offset>,
    /// The payload type that its readers expect, or that a direct kernel writes.
    pub(crate) ty: Option<TypeIndex>,
    /// The size of a payload in its cell.
    pub(crate) num_bytes: u16,
    /// Whether its cell is read, or its slot is read by direct kernels.
    pub(crate) has_typed_readers: bool,
    /// Whether anything takes references to its value: kernels, the caller of the function, an
    /// early reader.
    pub(crate) is_wanted: bool,
    /// Its position in [`Code::returned`], if any.
    pub(crate) returned: Option<u32>,
    /// Its position in [`Code::early`], if any.
    pub(crate) early: Option<u32>,
}

impl Register {
    /// Returns how often its slot is taken from in a run that follows its schedule, and whose
    /// caller takes the result from the frame.
    pub(crate) fn num_takes(&self) -> u32 {
        let is_taken_by_caller = self.returned.is_some() && self.cell.is_none();
        self.num_references + u32::from(is_taken_by_caller)
    }

    /// Returns `true` if the references in its slot are [shared](super::shared) by the uses to
    /// come, in a run that follows its schedule.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.num_held < self.num_takes()
    }

    /// Returns `true` if its readers accept a value whose payload is of this type.
    #[inline]
    pub(crate) fn accepts(&self, found: TypeIndex) -> bool {
        !self.has_typed_readers || self.ty.is_none_or(|ty| ty == found)
    }
}

// A multiplication by 40 takes fewer instructions than one by most other sizes.
const _: () = assert!(size_of::<Register>() == 40);

/// The cell of a register of type `bool`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoolCell(Offset);

impl BoolCell {
    /// Returns the cell of a register, or `None` if it has none or is of another type.
    pub(crate) fn of(register: &Register) -> Option<Self> {
        let is_bool = register.ty == Some(TypeIndex::of::<bool>());
        register.cell.filter(|_| is_bool).map(Self)
    }

    #[inline]
    pub(crate) fn offset(self) -> Offset {
        self.0
    }
}

/// An offset into a frame, in bytes. Its first word is never used.
pub(crate) type Offset = std::num::NonZeroU32;

/// A range of words in the pool of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    start: u32,
    len: u32,
}

impl Code {
    /// Returns the words of a range.
    #[inline]
    pub(crate) fn words(&self, range: Words) -> &[u32] {
        &self.words[range.as_range()]
    }

    /// Returns the kernels that a range lists.
    #[inline]
    pub(crate) fn kernel_ids(&self, range: Words) -> impl DoubleEndedIterator<Item = KernelId> {
        self.words(range)
            .iter()
            .map(|&id| KernelId::from_index(id as usize))
    }

    /// Returns the slots from which a direct kernel drops a reference in a run that follows its
    /// schedule, unless it [looks](Extras::LOOKS) and [takes](KernelDetails::taken_slots) from more
    /// than [`MAX_LISTED`].
    #[inline]
    pub(crate) fn released_slots(&self, kernel: &Kernel) -> &[u32] {
        let end = kernel.offsets as usize;
        &self.words[end - usize::from(kernel.num_released)..end]
    }

    /// Returns the slots in which a direct kernel leaves results that do not hold exactly one
    /// reference in such a run, each with the number of references, unless it
    /// [looks](Extras::LOOKS).
    #[inline]
    pub(crate) fn kept_slots(&self, kernel: &Kernel) -> &[[u32; 2]] {
        let end = kernel.offsets as usize - usize::from(kernel.num_released);
        let words = &self.words[end - 2 * usize::from(kernel.num_kept)..end];
        words.as_chunks().0
    }

    /// Returns the registers that a range lists.
    #[inline]
    pub(crate) fn register_ids(&self, range: Words) -> impl DoubleEndedIterator<Item = RegisterId> {
        self.words(range)
            .iter()
            .map(|&id| RegisterId::from_index(id as usize))
    }

    /// Returns `true` if the function returns one register more than once.
    pub(crate) fn has_repeated_results(&self) -> bool {
        let repeats = |(index, &first): (usize, &u32)| first as usize != index;
        self.first_results.iter().enumerate().any(repeats)
    }

    /// Returns the id of a kernel of this code.
    #[inline]
    pub(crate) fn id_of(&self, kernel: &Kernel) -> KernelId {
        let first = self.kernels.as_ptr();
        let num_bytes = std::ptr::from_ref(kernel).addr() - first.addr();
        KernelId::from_index(num_bytes / size_of::<Kernel>())
    }

    #[inline]
    pub(crate) fn kernel(&self, id: KernelId) -> &Kernel {
        &self.kernels[id.index()]
    }

    #[inline]
    pub(crate) fn details(&self, id: KernelId) -> &KernelDetails {
        &self.details[id.index()]
    }

    #[inline]
    pub(crate) fn register(&self, id: RegisterId) -> &Register {
        &self.registers[id.index()]
    }
}

impl Words {
    #[inline]
    pub(crate) fn as_range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// Returns the start of the range.
    pub(crate) fn start(self) -> u32 {
        self.start
    }

    /// Returns the number of words in the range.
    pub(crate) fn len(self) -> usize {
        self.len as usize
    }
}

/// Collects the words of a body.
#[derive(Debug, Default)]
pub(crate) struct WordPool(Vec<u32>);

impl WordPool {
    /// Appends `words` and returns their range.
    pub(crate) fn push(&mut self, words: impl IntoIterator<Item = u32>) -> Words {
        let start = self.0.len();
        self.0.extend(words);
        let to_u32 =
            |n: usize| u32::try_from(n).expect("a verified body is far smaller than 4 GiB");
        Words {
            start: to_u32(start),
            len: to_u32(self.0.len() - start),
        }
    }

    /// Renumbers kernels. All words so far must be ids of kernels.
    pub(crate) fn renumber(&mut self, new_ids: &[KernelId]) {
        for word in &mut self.0 {
            *word = new_ids[*word as usize].index() as u32;
        }
    }

    /// Returns the words of a range.
    pub(crate) fn get(&self, range: Words) -> &[u32] {
        &self.0[range.as_range()]
    }

    /// Returns the finished pool.
    pub(crate) fn finish(self) -> Box<[u32]> {
        self.0.into_boxed_slice()
    }
}
