//! A function body in the form that the executor runs: decoded once, when the function is first used.
//!
//! Everything of variable length lies in one pool of words; a kernel holds ranges into it.

use std::ops::Range;

use tfrt_host::kernel::KernelDescriptor;

use crate::invocation::BlockLayout;

/// The body of an asynchronous function.
///
/// Invariants, proven by verification of the file and relied upon by `invocation`:
/// - B1. A register is the result of exactly one kernel, or an argument, and is not read before.
/// - B2. A register is an operand of kernels exactly `num_uses` times in all.
/// - B3. A strict kernel's ready count equals the number of times that it occurs among the users of registers; that of a
///   kernel that waits for some operands, the number of times that it occurs for these. A kernel that waits for any occurs
///   once for each operand and has a ready count of 1, which the first arrival takes.
/// - B4. Every index is in range.
#[derive(Debug)]
pub(crate) struct Body {
    /// Runs first, before any kernel: it has no operands, and its results are the start of everything.
    pub(crate) start: Start,
    /// The kernels in program order. Their numbers in `users` count from 1, as in the file, where 0 is the pseudo kernel.
    pub(crate) kernels: Box<[Kernel]>,
    pub(crate) registers: Box<[Register]>,
    /// The register of each result of the function.
    pub(crate) results: Box<[u32]>,
    /// The registers that hold an indirect value from the start.
    pub(crate) promised: Box<[Promised]>,
    pub(crate) words: Box<[u32]>,
    pub(crate) block: BlockLayout,
}

/// What the pseudo kernel of the file says.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) stream: u32,
    /// The kernels without operands.
    pub(crate) roots: Words,
    /// The users of each argument; argument `i` is register `i`.
    pub(crate) argument_users: Box<[Words]>,
}

/// One kernel of a body.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) descriptor: KernelDescriptor,
    /// Whether the types of its operands were proven when the body was loaded.
    pub(crate) is_proven: bool,
    pub(crate) strictness: Strictness,
    pub(crate) stream: u32,
    pub(crate) ready_count: u32,
    pub(crate) location: u32,
    pub(crate) operands: Words,
    pub(crate) attributes: Words,
    pub(crate) functions: Words,
    pub(crate) results: Box<[KernelResult]>,
}

/// One result of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelResult {
    pub(crate) register: u32,
    pub(crate) users: Words,
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

/// A register that holds an indirect value from the start: because the function returns it, or because a kernel may read
/// it before it is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promised {
    pub(crate) register: u32,
    /// The first result of the function that it is, if it is one.
    pub(crate) first_result: Option<u32>,
}

/// What is known of a register before anything runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Register {
    /// How often it is an operand of kernels.
    pub(crate) num_uses: u32,
    /// Its place among [`Body::promised`], if it is there.
    pub(crate) promise: Option<u32>,
}

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

    /// The finished pool.
    pub(crate) fn finish(self) -> Box<[u32]> {
        self.0.into_boxed_slice()
    }
}
