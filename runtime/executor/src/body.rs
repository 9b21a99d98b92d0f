//! A function body in the form that the executor runs: decoded once, when the function is first used.
//!
//! Everything of variable length lies in one pool of words; a kernel holds ranges into it. What the ready loop looks at for
//! every kernel is 32 bytes of [`Kernel`]; the rest is in [`KernelDetails`].
//!
//! # Where values are
//!
//! A register has up to two places in the state of an invocation. In its *slot* is a reference to an AsyncValue, owned once for
//! each use that takes it. In its *cell* is a copy of the payload, for a register of a
//! [copied](tfrt_async::value::is_copied) type that direct kernels read or write. A register that only direct kernels touch
//! needs no AsyncValue at all.
//!
//! ```text
//!    direct kernel ──payload──► cell ──payload──► direct kernels (no count, no allocation)
//!                                 │ wrapped if anybody takes references
//!                                 ▼
//!    framed kernel ──AnyRef──►  slot ──AnyRef───► framed kernels (a count for each)
//!                                 │ copied if direct kernels read
//!                                 └──payload──► cell
//! ```

use std::ops::Range;

use tfrt_async::TypeIndex;
use tfrt_host::kernel::KernelDescriptor;
use tfrt_host::kernel::direct::DirectFn;

use crate::batch::GroupCost;
use crate::call_loop::CallLoop;
use crate::constants::Constants;
use crate::invocation::BlockLayout;
use crate::nest::Nest;

/// The body of an asynchronous function.
///
/// Invariants, proven by verification of the file and by decoding, and relied upon by `invocation` and `call`:
/// - B1. A register is the result of exactly one kernel, or an argument, and is not read before.
/// - B2. `num_references` of a register is the number of times that its slot is taken from.
/// - B3. A strict kernel's ready count equals the number of times that it occurs among the users of registers; that of a
///   kernel that waits for some operands, the number of times that it occurs for these. A kernel that waits for any occurs
///   once for each operand and has a ready count of 1, which the first arrival takes.
/// - B4. Every index is in range, and every offset is that of a slot or a cell of the block.
/// - B5. The offsets of a direct kernel lead to what its [`DirectFn`] demands, and its operands have, when they are available
///   and in their places, the payload types that it reads: either their producer gives these, or
///   [publication](crate::publish) has looked.
#[derive(Debug)]
pub(crate) struct Body {
    /// The function as a loop of calls, if it can be one: for arguments that are available, while nothing is traced.
    pub(crate) call_loop: Option<CallLoop>,
    /// The function as a nest, if it can be one: for arguments that are available, while nothing is traced.
    pub(crate) nest: Option<Nest>,
    /// Runs first, before any kernel: it has no operands, and its results are the start of everything.
    pub(crate) start: Start,
    /// The kernels in program order. Their numbers in `users` count from 1, as in the file, where 0 is the pseudo kernel.
    pub(crate) kernels: Box<[Kernel]>,
    /// What is looked up when a kernel is not as plain as can be.
    pub(crate) details: Box<[KernelDetails]>,
    pub(crate) registers: Box<[Register]>,
    /// The register of each result of the function.
    pub(crate) results: Box<[u32]>,
    /// For each result, the first one that is of the same register: itself, for most.
    pub(crate) first_results: Box<[u32]>,
    /// The registers that are results of the function, each once.
    pub(crate) returned: Box<[u32]>,
    /// The registers that a kernel may read before they are there: they hold an indirect value from the start.
    pub(crate) early: Box<[u32]>,
    /// The ready counts of an invocation that has just begun.
    pub(crate) ready_counts: Box<[u32]>,
    pub(crate) words: Box<[u32]>,
    pub(crate) block: BlockLayout,
    /// Streams are numbered below this.
    pub(crate) num_streams: usize,
    /// How long batches take.
    pub(crate) group_cost: GroupCost,
    pub(crate) constants: Constants,
}

/// What the pseudo kernel of the file says.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) stream: u32,
    /// The kernels without operands.
    pub(crate) roots: Words,
    /// The arguments; argument `i` is register `i`.
    pub(crate) arguments: Box<[KernelResult]>,
    /// What these come to when all arguments are available.
    pub(crate) at_once: AtOnce,
}

/// The state of an invocation whose arguments were all available: what counting them down one by one would come to.
#[derive(Debug)]
pub(crate) struct AtOnce {
    pub(crate) ready_counts: Box<[u32]>,
    /// The stream that the path begins with.
    pub(crate) stream: u32,
    /// The ready kernels of that stream, the one to run first last.
    pub(crate) inline: Words,
    /// The other ready kernels, ordered by stream.
    pub(crate) outline: Words,
    /// Of how many streams they are.
    pub(crate) num_outline_groups: usize,
}

/// What the ready loop needs of every kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Runs the kernel in place; none if it needs a frame.
    pub(crate) direct: Option<DirectFn>,
    /// The first offset of a direct kernel, among the words.
    pub(crate) offsets: u32,
    /// Who waits for the results of a direct kernel.
    pub(crate) users: Words,
    pub(crate) stream: u32,
    /// What is to be done beyond calling a direct kernel and counting its users down. Zero for most.
    pub(crate) extras: Extras,
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
    /// Results have to be published: they are wanted as references, or returned, or may be unavailable.
    pub(crate) const PUBLISHES: Self = Self(4);
    /// The kernel is a constant: its results are in their cells from the start, if [`Constants`] could be made.
    pub(crate) const CONSTANT: Self = Self(8);

    #[inline]
    pub(crate) fn contains(self, extra: Self) -> bool {
        self.0 & extra.0 != 0
    }

    /// Whether nothing is to be done for a constant that is in its cells already but to count its users down.
    #[inline]
    pub(crate) fn is_plain_constant(self) -> bool {
        self.0 & !Self::READS_CALL.0 == Self::CONSTANT.0
    }

    /// Whether a kernel takes nothing from slots, and is called even if it is a constant.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.0 & (Self::TAKES_SLOTS.0 | Self::CONSTANT.0) == 0
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
    pub(crate) operands: Words,
    pub(crate) attributes: Words,
    pub(crate) functions: Words,
    pub(crate) results: Box<[KernelResult]>,
    /// How a direct kernel gives each of `results`.
    pub(crate) forms: Box<[ResultForm]>,
    /// The registers whose slots a direct kernel has to be taken out of.
    pub(crate) taken: Words,
}

/// One result of a kernel, or an argument of the function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelResult {
    pub(crate) register: u32,
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
    /// How often its slot is taken from.
    pub(crate) num_references: u32,
    /// Where its slot is in the block, if it has one.
    pub(crate) slot: Option<NonZeroOffset>,
    /// Where its cell is in the block, if it has one.
    pub(crate) cell: Option<NonZeroOffset>,
    /// The payload type that direct kernels read, if there are such kernels, or that a direct kernel gives.
    pub(crate) ty: Option<TypeIndex>,
    /// Whether direct kernels read it.
    pub(crate) has_direct_readers: bool,
    /// Whether anybody takes references to its value: kernels, the caller of the function, who reads early.
    pub(crate) is_wanted: bool,
    /// Its place among [`Body::returned`], if it is there.
    pub(crate) returned: Option<u32>,
    /// Its place among [`Body::early`], if it is there.
    pub(crate) early: Option<u32>,
}

/// An offset into the block of an invocation. The header is at offset 0.
pub(crate) type NonZeroOffset = std::num::NonZeroU32;

/// A range of words in the pool of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    start: u32,
    len: u32,
}

impl Body {
    /// The words of a range.
    #[inline]
    pub(crate) fn words(&self, range: Words) -> &[u32] {
        &self.words[range.as_range()]
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

    /// The first `at` words, and the others.
    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        let at = u32::try_from(at).map_or(self.len, |at| at.min(self.len));
        let (start, len) = (self.start + at, self.len - at);
        (Self { len: at, ..self }, Self { start, len })
    }
}

/// Collects the words of a body.
#[derive(Debug, Default)]
pub(crate) struct WordPool(Vec<u32>);

impl WordPool {
    /// Appends `words`.
    pub(crate) fn push(&mut self, words: &[u32]) -> Words {
        let start = self.0.len();
        self.0.extend_from_slice(words);
        let to_u32 =
            |n: usize| u32::try_from(n).expect("a verified body is far smaller than 4 GiB");
        Words {
            start: to_u32(start),
            len: to_u32(self.0.len() - start),
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
