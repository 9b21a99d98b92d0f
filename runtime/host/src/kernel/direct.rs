//! Direct kernels: functions that read and write the registers of a running function in place.
//!
//! A frame gathers references before a kernel runs, and passes references on afterwards. If a
//! loader has proven the types of registers, none of that is needed: each register has a fixed
//! place, where the adapter of a kernel reads its operands and writes its results.
//!
//! ```text
//!              registers ──►┌──────────┬──────────┬──────────┬───
//!                           │ AnyRef   │ i32      │ f64      │ …
//!                           └──────────┴──────────┴──────────┴───
//!                                ▲          ▲          ▲
//!   offsets, in bytes: [ result 0, …, operand 0, operand 1, … ]
//! ```
//!
//! The content of a place follows from how the kernel is declared to take or return the value:
//!
//! - D1. A payload of a [copied](tfrt_async::is_copied) type: the payload itself.
//! - D2. A payload of another type, or a reference: an [`AnyRef`], which owns one count.
//! - D3. A result of a kernel that [fills cells](Direct::fills_cells): an [`AnyRef`] as in D2, or
//!   nothing (null) if the payload is in the cell of the result, as in D1.
//!
//! Operands stay where they are; results overwrite the previous content, which the caller no longer
//! owns. A chain added by the macro has no place, since there is nothing to read or write.
//!
//! - D4. An operand of a tail of references: an [`AnyRef`], as in D2. Their number, at most
//!   [`MAX_TAIL`](Direct::MAX_TAIL), is a word before their offsets.
//!
//! Kernels with optional operands, with a variable number of payloads as operands, with a variable
//! number of results, or that take their frame, are not direct.
//!
//! D5. A direct kernel does not unwind: its adapter catches a panic and returns it as an error. So
//! kernels of a [library](crate::kernel::library) can also be direct, although no panic may
//! propagate from the library to the program.
#![expect(unsafe_code, reason = "reads and writes places that were proven")]

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use tfrt_async::is_copied;
use tfrt_async::{AnyRef, ReadGuard, Value, WriteGuard};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::attribute::AttrParam;
use crate::kernel::call::{Kernel, call_function};
use crate::kernel::inputs::{AttributeList, FileInputs, FunctionList, NO_FILE_INPUTS};
use crate::kernel::panic::panicked;
use crate::kernel::param::{ParamList, Sealed};
use crate::kernel::result::{ResultPart, Sink};
use crate::kernel::source::{Source, conflict};
use crate::kernel::tail::{MAX_TAIL, Tail};
use crate::kernel::type_list::TypeList;
use crate::services::execution::ExecutionContext;

/// The inputs of a direct kernel besides its operands. A kernel that does not
/// [read](Direct::reads_call) any of them may be passed those of another kernel of the same
/// function, and one that reads [nothing of its file](Direct::reads_file) may be passed none but
/// its context.
#[derive(Clone, Copy, Debug)]
pub struct DirectCall<'a> {
    /// The context of the kernel.
    pub exec_ctx: &'a ExecutionContext,
    /// Its attributes and functions. A reference, because most kernels read none of it.
    pub file: &'a FileInputs<'a>,
}

impl<'a> DirectCall<'a> {
    /// Creates the value for kernels that read none of it, or only the context.
    #[inline]
    #[must_use]
    pub fn idle(exec_ctx: &'a ExecutionContext) -> Self {
        Self {
            exec_ctx,
            file: &NO_FILE_INPUTS,
        }
    }
}

/// The adapter of a direct kernel.
///
/// # Errors
/// The kernel failed as a whole or panicked: no result was written, and the error has not been
/// reported yet.
///
/// # Safety
/// 1. The pointer to offsets is followed by one offset for each result that the kernel can return,
///    except for an added chain; for a kernel that [fills cells](Direct::fills_cells), then by the
///    offset of the cell of each result, which is 0 if there is none; then by one offset for each
///    operand that it reads; for a kernel [with a tail](Direct::has_tail), then by the number of
///    operands of the tail, at most [`MAX_TAIL`](Direct::MAX_TAIL), and one offset for each of
///    them.
/// 2. Each is the offset from `registers` of a place as D1 to D4 specify, aligned, of the type that
///    the kernel is declared to take or return there. Places of operands are initialised and not
///    written; only the caller accesses places of results.
/// 3. Operands that are read as payloads are available and not errors.
/// 4. Unless the kernel reads [nothing of its file](Direct::reads_file), the attributes in its call
///    are its own, and
///    [`check_attributes`](crate::kernel::descriptor::KernelTypes::check_attributes) has accepted
///    them.
pub type DirectFn =
    unsafe fn(&DirectCall<'_>, registers: NonNull<u8>, offsets: NonNull<u32>) -> Result<(), Error>;

/// A kernel that reads and writes registers in place.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    /// Its adapter.
    pub run: DirectFn,
    /// `true` if it reads its [`DirectCall`].
    pub reads_call: bool,
    /// `true` if it reads attributes or functions there.
    pub reads_file: bool,
    /// `true` if it reads more of that than its own attributes.
    pub reads_context: bool,
    /// `true` if it reads only what the file specifies: a pure kernel of this kind is a constant.
    pub is_fixed: bool,
    /// `true` if each result is a reference, which may be to a value that becomes available later,
    /// unless the kernel puts its payload into a cell (D3).
    pub fills_cells: bool,
    /// The number of results, except for an added chain.
    pub num_results: usize,
    /// The number of operands it reads, without those of a tail.
    pub num_operands: usize,
    /// `true` if it reads references to all other operands, too.
    pub has_tail: bool,
}

impl Direct {
    /// The most operands of a tail. A kernel with more of them is not run as a direct one.
    pub const MAX_TAIL: usize = MAX_TAIL;

    /// Returns the kernel as a direct one, if it can be one.
    pub(crate) const fn of<K: Kernel>() -> Option<Self> {
        if !K::Params::IS_DIRECT || !K::Results::IS_DIRECT {
            return None;
        }
        Some(Self {
            run: run::<K>,
            reads_call: K::Params::READS_CALL,
            reads_file: K::Params::READS_FILE,
            reads_context: K::Params::READS_CONTEXT,
            is_fixed: K::Params::IS_FIXED,
            fills_cells: false,
            num_results: K::Results::SLOTS,
            num_operands: K::Params::NUM_OPERANDS,
            has_tail: K::Params::HAS_TAIL,
        })
    }

    /// Returns `true` if the kernel, which reads operands of these types, takes the operand at
    /// `index` as a reference: a value of any type.
    #[must_use]
    pub fn takes_reference(&self, operands: &TypeList, index: usize) -> bool {
        let is_in_tail = self.has_tail && index >= self.num_operands;
        is_in_tail || operands.is_reference(index)
    }
}

/// Adapts a function.
///
/// # Safety
/// The duties of [`DirectFn`].
unsafe fn run<K: Kernel>(
    call: &DirectCall<'_>,
    registers: NonNull<u8>,
    offsets: NonNull<u32>,
) -> Result<(), Error> {
    // SAFETY: the caller fulfils the duties.
    let run = || unsafe { run_unguarded::<K>(call, registers, offsets) };
    // Operands and results left behind by a panic are not read: results are overwritten, and
    // whatever a panic can break in an operand is guarded by a borrow of that operand.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(panicked(K::OP.name, payload)))
}

/// Like [`run`], but unwinds if the function does.
///
/// # Safety
/// The duties of [`DirectFn`].
#[inline]
unsafe fn run_unguarded<K: Kernel>(
    call: &DirectCall<'_>,
    registers: NonNull<u8>,
    offsets: NonNull<u32>,
) -> Result<(), Error> {
    // SAFETY: duty 1: the offsets of operands follow those of results.
    let operands = unsafe { offsets.add(K::Results::SLOTS) };
    let source = Registers::<K> {
        call,
        registers,
        operands,
        kernel: PhantomData,
    };
    // SAFETY: duties 2 and 3 imply for every operand what `check` verifies. Attributes are duty 4.
    let returned = unsafe { call_function::<K, _, _>(source, |returned| returned) }?;
    // SAFETY: duties 1 and 2.
    let mut sink = unsafe { Places::new(registers, offsets) };
    K::Results::put(returned, &mut sink);
    sink.finish()
}

/// The places of the operands of `K`.
#[derive(Debug)]
struct Registers<'a, K> {
    call: &'a DirectCall<'a>,
    registers: NonNull<u8>,
    operands: NonNull<u32>,
    kernel: PhantomData<fn() -> K>,
}

impl<K> Clone for Registers<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Registers<'_, K> {}

impl<'a, K: Kernel> Registers<'a, K> {
    /// Returns the number of operands of the tail.
    #[inline]
    fn tail_len(self) -> usize {
        if !K::Params::HAS_TAIL {
            return 0;
        }
        // SAFETY: duty 1 of `DirectFn`: the number follows the offsets of the other operands.
        let len = unsafe { self.operands.add(K::Params::NUM_OPERANDS) };
        // SAFETY: as above.
        unsafe { len.read() as usize }
    }

    /// Returns the content of the place of the operand whose offset is word `index`.
    ///
    /// # Safety
    /// 1. There are so many words, and this one is the offset of an operand.
    /// 2. `P` is the type that D1 and D2 specify.
    #[inline]
    unsafe fn place<P>(self, index: usize) -> &'a P {
        // SAFETY: duty 1, with duty 1 of `DirectFn`.
        let offset = unsafe { self.operands.add(index) };
        // SAFETY: duty 1, with duty 1 of `DirectFn`.
        let offset = unsafe { offset.read() };
        // SAFETY: duty 2 of `DirectFn`.
        let place = unsafe { self.registers.byte_add(offset as usize) };
        // SAFETY: duty 2, with duty 2 of `DirectFn`: initialised, aligned, and not written while
        // the kernel runs.
        unsafe { place.cast::<P>().as_ref() }
    }
}

impl<'a, K: Kernel> Source<'a> for Registers<'a, K> {
    #[inline]
    fn op(self) -> &'static OpDef {
        K::OP
    }

    #[inline]
    fn exec_ctx(self) -> &'a ExecutionContext {
        self.call.exec_ctx
    }

    #[inline]
    fn attributes(self) -> AttributeList<'a> {
        self.call.file.attributes
    }

    #[inline]
    fn attribute<A: AttrParam + ?Sized>(self, index: usize) -> Result<A::Value<'a>, Error> {
        let AttributeList { section, offsets } = self.call.file.attributes;
        debug_assert!(index < offsets.len());
        // SAFETY: duty 4 of `DirectFn`: the markers of the kernel read the attributes that were
        // checked, so the index is in bounds.
        let offset = unsafe { *offsets.get_unchecked(index) };
        // SAFETY: duty 4 of `DirectFn`: the attribute was accepted as an `A`.
        Ok(unsafe { A::read_accepted(section, offset) })
    }

    #[inline]
    fn functions(self) -> FunctionList<'a> {
        self.call.file.functions
    }

    #[inline]
    fn num_operands(self) -> usize {
        K::Params::NUM_OPERANDS + self.tail_len()
    }

    fn check<T: Value>(self, _index: usize) -> Result<(), Error> {
        Ok(())
    }

    fn is_chain(self, _index: usize) -> bool {
        false
    }

    #[inline]
    unsafe fn get<T: Value>(self, index: usize) -> &'a T {
        if is_copied::<T>() {
            // SAFETY: duty 1 of `get`, and D1.
            return unsafe { self.place::<T>(index) };
        }
        // SAFETY: duty 1 of `get`, and D2.
        let value = unsafe { self.place::<AnyRef>(index) };
        // SAFETY: duty 1 of `get`: the value has a payload of this type.
        unsafe { value.get_unchecked() }
    }

    #[inline]
    unsafe fn read<T: Value>(self, index: usize) -> Result<ReadGuard<'a, T>, Error> {
        if is_copied::<T>() {
            // SAFETY: duty 1 of `read`, and D1.
            return Ok(ReadGuard::of_borrowed(unsafe { self.place::<T>(index) }));
        }
        // SAFETY: duty 1 of `read`, and D2.
        let value = unsafe { self.place::<AnyRef>(index) };
        // SAFETY: duty 1 of `read`: the value has a payload of this type.
        let guard = unsafe { value.try_read_unchecked::<T>() };
        guard.map_err(|error| conflict(K::OP, index, "read", error))
    }

    #[inline]
    unsafe fn write<T: Value>(self, index: usize) -> Result<WriteGuard<'a, T>, Error> {
        const {
            assert!(
                !is_copied::<T>(),
                "what a kernel writes into is never copied"
            )
        };
        // SAFETY: duty 1 of `write`; the type is not copied, so D2 applies.
        let value = unsafe { self.place::<AnyRef>(index) };
        // SAFETY: duty 1 of `write`: the value has a payload of this type.
        let guard = unsafe { value.try_write_unchecked::<T>() };
        guard.map_err(|error| conflict(K::OP, index, "write", error))
    }

    #[inline]
    fn reference(self, index: usize) -> Result<&'a AnyRef, Error> {
        // SAFETY: the markers of the kernel read its operands; D2 applies to references.
        Ok(unsafe { self.place::<AnyRef>(index) })
    }

    // The places are not in a row.
    fn tail(self, _start: usize, _end: usize) -> &'a [AnyRef] {
        &[]
    }

    #[inline]
    fn gather(self, _start: usize, _end: usize) -> Tail<'a> {
        // SAFETY: duty 1 of `DirectFn`: the offsets of the tail follow its length.
        let offsets = unsafe { self.operands.add(K::Params::NUM_OPERANDS + 1) };
        // SAFETY: duties 1 and 2 of `DirectFn`, and D4.
        unsafe { Tail::in_registers(self.registers, offsets, self.tail_len()) }
    }
}

/// The places of the results of a kernel.
///
/// Invariant: the places are empty, and satisfy the duties of [`DirectFn`].
#[derive(Debug)]
struct Places {
    registers: NonNull<u8>,
    results: NonNull<u32>,
    next: usize,
    /// Dropped by `finish` alone, so that only a panic between an error and `finish` leaks it. If
    /// the places had to drop it, they would be in memory rather than in registers.
    failure: ManuallyDrop<Option<Error>>,
}

impl Places {
    /// Creates the places of a kernel, which writes no more results than it has.
    ///
    /// # Safety
    /// 1. Duties 1 and 2 of [`DirectFn`], as far as they concern results.
    #[inline]
    unsafe fn new(registers: NonNull<u8>, results: NonNull<u32>) -> Self {
        Self {
            registers,
            results,
            next: 0,
            failure: ManuallyDrop::new(None),
        }
    }

    /// Checks that all results were written.
    ///
    /// # Errors
    /// The first error of a result.
    #[inline]
    fn finish(self) -> Result<(), Error> {
        ManuallyDrop::into_inner(self.failure).map_or(Ok(()), Err)
    }

    /// Writes the next result. `P` must be the type that D1 and D2 specify for it.
    #[inline]
    fn write<P>(&mut self, result: P) {
        // SAFETY: a part returns as many results as its `SLOTS` states, and duty 1 of `DirectFn`
        // provides that many offsets.
        let offset = unsafe { self.results.add(self.next) };
        // SAFETY: as above.
        let offset = unsafe { offset.read() };
        // SAFETY: duty 2 of `DirectFn`.
        let place = unsafe { self.registers.byte_add(offset as usize) };
        // SAFETY: duty 2 of `DirectFn`: aligned, large enough, and not accessed otherwise.
        unsafe { place.cast::<P>().write(result) };
        self.next += 1;
    }
}

impl Sealed for Places {}

impl Sink for Places {
    fn remaining(&self) -> usize {
        0
    }

    #[inline]
    fn put_payload<T: Value>(&mut self, payload: T) {
        if is_copied::<T>() {
            self.write(payload);
        } else {
            self.write(AnyRef::available(payload));
        }
    }

    #[inline]
    fn put_reference(&mut self, value: AnyRef) {
        self.write(value);
    }

    // Parts that fail on their own, and tails, are not direct, so an error is that of the whole
    // call. Inlined, so that the places stay in registers of the processor.
    #[inline]
    fn put_error(&mut self, error: Error, _slots: usize) {
        self.fail(error);
    }

    #[inline]
    fn fail(&mut self, error: Error) {
        if self.failure.is_none() {
            self.failure = ManuallyDrop::new(Some(error));
        }
    }

    // An added chain has no place.
    #[inline]
    fn put_chain(&mut self) {}

    fn wrong_count(&mut self, _given: usize) {}
}
