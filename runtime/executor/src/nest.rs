//! Nests: functions without effects, and the functions that they call, run to their end as one.
//!
//! A function whose kernels are all free of effects, run in place and give copied payloads has nothing to tell but its results. Nobody can see
//! in which order its kernels run, or that none of them was ever a task. If the functions that it calls are such functions, too,
//! all of them need no more than a stack of frames, where a frame is the registers of one function:
//!
//! ```text
//!            ┌─ frame of @fib(2) ───────────┬─ of its region ─────────────┬─ of @fib(1) ──┬───
//!   words    │ %n │ %is_small │ %r │ 1     │ %n │ %x │ %y │ %s │ 1  -1   │ %n │ …        │
//!            └──────────────────────────────┴─────────────────────────────┴───────────────┴───
//!               arguments first                            constants last
//! ```
//!
//! A nest has no word for anything out of the ordinary: a kernel that fails or panics, a request that is cancelled, calls that nest
//! too deep, an argument of another type. It is abandoned then, and the function runs in the general way, which tells what is
//! wrong. That nothing was done before is what being free of effects means.
//!
//! # When a nest is run
//!
//! - A queue that runs tasks in order keeps an order of side effects that users rely on. There, a nest of several streams is run
//!   only if nothing else could happen before its results come: see [`crate::company`], and only if these would surely come from
//!   tasks in the general way; those of a nest come from one.
//! - A queue of several threads may be faster in the general way. There, a nest is run as long as it is [worth it](Worth).
//! - Where all functions are of one stream, results are there when the call returns, in the general way, too.
//!
//! The hook of panics hears of a panic in a nest twice, as the kernel panics twice.

mod layout;
mod run;
mod worth;

use std::sync::OnceLock;

use tfrt_async::TypeIndex;
use tfrt_bef::FunctionId;
use tfrt_host::kernel::direct::DirectFn;

use crate::body::Words;
use crate::constants::Word;
use worth::Worth;

/// A function as a nest, on its own: whether the functions that it calls are nests, too, is found out
/// [when it is first run](Nest::is_whole).
///
/// Invariants, by `layout`:
/// - N1. A frame has `num_words` words. The offsets of a kernel lead to words of the frame, which are what its [`DirectFn`] demands.
/// - N2. A register is written by one step, by the caller as an argument, or with the constants, before any step reads it, in the
///   order of the steps, and holds a payload of the type that all of them give and read.
///
/// and, if the nest is whole:
/// - N3. At every call, the callee is a nest, and its arguments and results have as many words, of the same types, as the
///   caller's registers.
#[derive(Debug)]
pub(crate) struct Nest {
    steps: Box<[Step]>,
    /// Kernels that read attributes.
    readers: Box<[Reader]>,
    /// Kernels that are calls.
    calls: Box<[Call]>,
    /// Kernels that give the same in every run.
    constant_kernels: Box<[Reader]>,
    words: Box<[u32]>,
    num_words: u32,
    /// From here on, a frame holds constants.
    first_constant: u32,
    /// The types of the arguments, which are the first words of a frame.
    arguments: Box<[TypeIndex]>,
    results: Box<[Cell]>,
    /// The words of the results.
    result_words: Words,
    timing: Timing,
    /// What is known of the nest as a whole, when it was first run: nothing if it is none.
    whole: OnceLock<Option<Whole>>,
    /// The constants of a frame; nothing if one could not be made.
    constants: OnceLock<Option<Box<[Word]>>>,
    worth: Worth,
}

/// When the results of a function are there in the general way, if its arguments are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// Whether all kernels are of one stream, so that results are there when the call returns.
    pub(crate) is_one_stream: bool,
    /// Whether none of the results is there when the call returns.
    pub(crate) is_late: bool,
}

/// What is known of a nest with all that it calls.
#[derive(Clone, Copy, Debug)]
struct Whole {
    /// Whether all functions are of one stream.
    is_in_order: bool,
}

/// What a nest does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Calls a kernel that reads nothing but its operands; its offsets begin here.
    Run(DirectFn, u32),
    /// Calls a kernel that reads attributes.
    Read(u32),
    /// Calls a function.
    Call(u32),
}

/// A kernel that reads attributes.
#[derive(Clone, Copy, Debug)]
struct Reader {
    run: DirectFn,
    offsets: Words,
    attributes: Words,
}

/// A call of a function.
#[derive(Debug)]
struct Call {
    callee: Callee,
    /// The words of the frame that the arguments are in, and those that the results go to.
    arguments: Words,
    results: Words,
    argument_types: Box<[TypeIndex]>,
    result_types: Box<[TypeIndex]>,
}

#[derive(Clone, Copy, Debug)]
enum Callee {
    Always(FunctionId),
    /// The first one if there is a true value in this word.
    Either(u32, [FunctionId; 2]),
}

/// A register of a frame.
#[derive(Clone, Copy, Debug)]
struct Cell {
    word: u32,
    ty: TypeIndex,
}

impl Callee {
    /// The functions that may be called.
    fn functions(&self) -> &[FunctionId] {
        match self {
            Self::Always(function) => std::slice::from_ref(function),
            Self::Either(_, functions) => functions,
        }
    }
}
