//! A function body in the form that runs: laid out once, when the function is first used, and never changed.
//!
//! The code knows nothing of how it is run. Everything of variable length lies in one pool of words; a kernel holds ranges into
//! it. What a runner looks at for every kernel is 32 bytes of [`Kernel`]; the rest is in [`KernelDetails`].
//!
//! # Where values are
//!
//! A register has up to two places in a *frame*, the memory of one running function. In its *slot* is a reference to an
//! AsyncValue, owned once for each use that takes it. In its *cell* is a copy of the payload, for a register of a
//! [copied](tfrt_async::value::is_copied) type that direct kernels read or write. A register that only direct kernels and calls
//! touch needs no AsyncValue at all.
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
use tfrt_host::kernel::KernelDescriptor;
use tfrt_host::kernel::direct::DirectFn;
use tfrt_support::define_id;
use tfrt_support::entity::EntityId;

use super::segments::Segments;

define_id! {
    /// A kernel of a body. The ids follow the order in which the kernels run, where that is known, else program order.
    pub(crate) struct KernelId("kernel");
}

define_id! {
    /// A register of a body. Argument `i` is register `i`.
    pub(crate) struct RegisterId("register");
}

define_id! {
    /// A stream: kernels of one stream prefer to run one after another on one thread.
    pub(crate) struct StreamId("stream");
}

/// The code of a function.
///
/// Invariants, proven by verification of the file and by lowering:
/// - C1. A register is the result of exactly one kernel, or an argument, and is not read before.
/// - C2. `num_references` of a register is the number of times that kernels take from its slot.
/// - C3. A strict kernel's ready count equals the number of times that it occurs among the users of registers; that of a
///   kernel that waits for some operands, the number of times that it occurs for these. A kernel that waits for any occurs
///   once for each operand and has a ready count of 1, which the first arrival takes.
/// - C4. Every id is in range, and every offset is that of a slot or a cell of the frame.
/// - C5. The offsets of a direct kernel lead to what its [`DirectFn`] demands, and its operands have, when they are available
///   and in their places, the payload types that it reads: either their producer returns these, or whoever puts a value into
///   the place has looked.
/// - C6. A register with a cell has a copied type, and its cell has room for a payload of it.
#[derive(Debug)]
pub(crate) struct Code {
    /// If the code has a schedule, its kernels are in this order.
    pub(crate) schedule: Option<Schedule>,
    /// Comes first, before any kernel: it has no operands, and its results are the start of everything.
    pub(crate) start: Start,
    pub(crate) kernels: Box<[Kernel]>,
    /// What is looked up when a kernel is not as plain as can be.
    pub(crate) details: Box<[KernelDetails]>,
    pub(crate) registers: Box<[Register]>,
    /// The register of each result of the function.
    pub(crate) results: Box<[RegisterId]>,
    /// For each result, the first one that is of the same register: itself, for most.
    pub(crate) first_results: Box<[u32]>,
    /// The registers that are results of the function, each once.
    pub(crate) returned: Box<[RegisterId]>,
    /// The registers that a kernel may read before they are there: they hold an indirect value from the start.
    pub(crate) early: Box<[RegisterId]>,
    /// The ready counts before anything is there.
    pub(crate) ready_counts: Box<[u32]>,
    pub(crate) words: Box<[u32]>,
    pub(crate) frame: FrameLayout,
    /// Streams are numbered below this.
    pub(crate) num_streams: usize,
    /// Whether the function is a leaf: its schedule is exact, and each of its kernels is a constant, or runs in place on copied
    /// payloads and looks at nothing else.
    pub(crate) is_leaf: bool,
    /// How many links there are from kernels to functions that they call and do nothing else.
    pub(crate) num_links: u32,
}

/// That the order of all kernels is known, provided that each has its results when it returns: one path runs them all.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// This is the order under every queue: at no time are kernels of two streams ready.
    Exact,
    /// It is one of the orders that a queue may choose which promises none. A queue that runs tasks in order has that of the segments.
    Segmented(Segments),
}

impl Schedule {
    /// The schedule of code whose kernels are in the order of one path.
    pub(crate) fn of(code: &Code) -> Self {
        let segments = Segments::of(code);
        match segments.len() {
            0 | 1 => Self::Exact,
            _ => Self::Segmented(segments),
        }
    }
}

/// The memory of a running function, in words.
#[derive(Clone, Debug)]
pub(crate) struct FrameLayout {
    pub(crate) num_words: usize,
    /// Whether there are slots.
    pub(crate) has_slots: bool,
    /// The words that are cells of constants, and nothing else.
    pub(crate) constants: Range<usize>,
}

impl FrameLayout {
    /// Whether there are cells of constants.
    #[inline]
    pub(crate) fn has_constants(&self) -> bool {
        self.constants.start < self.constants.end
    }
}

/// What the pseudo kernel of the file says.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) stream: StreamId,
    /// The kernels without operands.
    pub(crate) roots: Words,
    /// The arguments.
    pub(crate) arguments: Box<[KernelResult]>,
    /// What these come to when all arguments are available.
    pub(crate) at_once: AtOnce,
}

/// The state of an invocation whose arguments were all available: what counting them down one by one would come to.
#[derive(Debug)]
pub(crate) struct AtOnce {
    pub(crate) ready_counts: Box<[u32]>,
    /// The stream that the path begins with.
    pub(crate) stream: StreamId,
    /// The ready kernels of that stream, the one to run first last.
    pub(crate) inline: Words,
    /// The other ready kernels, ordered by stream.
    pub(crate) outline: Box<[KernelId]>,
}

/// What a runner needs of every kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Runs the kernel in place; none if it needs a frame of references.
    pub(crate) direct: Option<DirectFn>,
    /// The first offset of a direct kernel, among the words.
    pub(crate) offsets: u32,
    /// The users of the results of a direct kernel, if nothing is to be published in between.
    pub(crate) users: Words,
    pub(crate) stream: StreamId,
    /// What is to be done beyond calling a direct kernel and counting its users down. Zero for most.
    pub(crate) extras: Extras,
}

impl Kernel {
    /// Whether it is a call of a direct kernel that looks at nothing but its operands, or a constant.
    pub(crate) fn is_plain(&self) -> bool {
        let most = match self.extras.contains(Extras::CONSTANT) {
            true => Extras::CONSTANT.and(Extras::READS_CALL),
            false => Extras::NONE,
        };
        self.direct.is_some() && self.extras.is_within(most.and(Extras::RETURNS))
    }
}

/// What is to be done for a kernel besides calling it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extras(u8);

impl Extras {
    pub(crate) const NONE: Self = Self(0);
    /// The kernel looks at its context, attributes or functions.
    pub(crate) const READS_CALL: Self = Self(1);
    /// Operands are in slots, and have to be taken out of them afterwards.
    pub(crate) const TAKES_SLOTS: Self = Self(2);
    /// Results need more than to be in their cells: they are taken as references, or may be unavailable.
    pub(crate) const PUBLISHES: Self = Self(4);
    /// Results in cells are results of the function.
    pub(crate) const RETURNS: Self = Self(8);
    /// The kernel is a constant: its results are in their cells from the start, if the constants could be made.
    pub(crate) const CONSTANT: Self = Self(16);
    /// The kernel calls a function of the program and does nothing else.
    pub(crate) const CALLS: Self = Self(32);

    #[inline]
    pub(crate) fn contains(self, extra: Self) -> bool {
        self.0 & extra.0 != 0
    }

    /// Whether nothing but these is to be done.
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
    pub(crate) strictness: Strictness,
    pub(crate) location: u32,
    /// Registers.
    pub(crate) operands: Words,
    pub(crate) attributes: Words,
    pub(crate) functions: Words,
    /// The number of this kernel's link to its first function; those to its other functions follow. Meaningless unless the kernel
    /// calls functions and does nothing else.
    pub(crate) first_link: u32,
    pub(crate) results: Box<[KernelResult]>,
    /// How a direct kernel or a call leaves each of `results`.
    pub(crate) forms: Box<[ResultForm]>,
    /// The registers whose slots a direct kernel or a call takes from.
    pub(crate) taken: Words,
}

/// One result of a kernel, or an argument of the function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelResult {
    pub(crate) register: RegisterId,
    pub(crate) users: Words,
}

/// What a direct kernel leaves behind for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultForm {
    /// The payload, in the cell.
    Cell,
    /// A value that is available, in the slot.
    Slot,
    /// A value that may become available later, in the slot.
    LaterSlot,
}

/// Which operands a kernel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// All of them. An error among them skips the kernel.
    Strict,
    /// Those at these positions. An error among them skips the kernel; the others may be unavailable.
    Waits(Words),
    /// The first one that becomes available, whichever it is. Nothing skips the kernel.
    WaitsForAny,
}

/// What is known of a register before anything runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Register {
    /// How often kernels take from its slot.
    pub(crate) num_references: u32,
    /// Where its slot is in the frame, if it has one.
    pub(crate) slot: Option<Offset>,
    /// Where its cell is in the frame, if it has one.
    pub(crate) cell: Option<Offset>,
    /// The payload type that its readers expect, or that a direct kernel writes.
    pub(crate) ty: Option<TypeIndex>,
    /// The size of a payload in its cell.
    pub(crate) num_bytes: u32,
    /// Whether its cell is read, or its slot by direct kernels.
    pub(crate) has_typed_readers: bool,
    /// Whether anybody takes references to its value: kernels, the caller of the function, an early reader.
    pub(crate) is_wanted: bool,
    /// Its place among [`Code::returned`], if it is there.
    pub(crate) returned: Option<u32>,
    /// Its place among [`Code::early`], if it is there.
    pub(crate) early: Option<u32>,
}

impl Register {
    /// How often its slot is taken from in a run in which the caller takes the result from the frame.
    pub(crate) fn num_takes(&self) -> u32 {
        let is_taken_by_caller = self.returned.is_some() && self.cell.is_none();
        self.num_references + u32::from(is_taken_by_caller)
    }

    /// Whether its readers can go on with a value whose payload is of this type.
    #[inline]
    pub(crate) fn accepts(&self, found: TypeIndex) -> bool {
        !self.has_typed_readers || self.ty.is_none_or(|ty| ty == found)
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
    /// The words of a range.
    #[inline]
    pub(crate) fn words(&self, range: Words) -> &[u32] {
        &self.words[range.as_range()]
    }

    /// The kernels that a range lists.
    #[inline]
    pub(crate) fn kernel_ids(&self, range: Words) -> impl DoubleEndedIterator<Item = KernelId> {
        self.words(range)
            .iter()
            .map(|&id| KernelId::from_index(id as usize))
    }

    /// The registers that a range lists.
    #[inline]
    pub(crate) fn register_ids(&self, range: Words) -> impl DoubleEndedIterator<Item = RegisterId> {
        self.words(range)
            .iter()
            .map(|&id| RegisterId::from_index(id as usize))
    }

    /// Whether the function returns one register more than once.
    pub(crate) fn has_repeated_results(&self) -> bool {
        let repeats = |(index, &first): (usize, &u32)| first as usize != index;
        self.first_results.iter().enumerate().any(repeats)
    }

    /// The id of one of the kernels of the code.
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

    /// Where the range begins.
    pub(crate) fn start(self) -> u32 {
        self.start
    }

    /// How many words it has.
    pub(crate) fn len(self) -> usize {
        self.len as usize
    }
}

/// Collects the words of a body.
#[derive(Debug, Default)]
pub(crate) struct WordPool(Vec<u32>);

impl WordPool {
    /// Appends `words`.
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

    /// Replaces the ids of kernels, which all words so far must be.
    pub(crate) fn renumber(&mut self, new_ids: &[KernelId]) {
        for word in &mut self.0 {
            *word = new_ids[*word as usize].index() as u32;
        }
    }

    /// The words of a range.
    pub(crate) fn get(&self, range: Words) -> &[u32] {
        &self.0[range.as_range()]
    }

    /// The finished pool.
    pub(crate) fn finish(self) -> Box<[u32]> {
        self.0.into_boxed_slice()
    }
}
