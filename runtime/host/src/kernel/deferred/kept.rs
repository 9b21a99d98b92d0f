//! The parts of a call that the future of an `async fn` keeps.
//!
//! A future may outlive the frame or the registers that hold its operands. So it has its own
//! places, and each operand is copied there when its marker holds it, while the future is polled
//! for the first time inside the call:
//!
//! ```text
//!  registers of a function, or a frame ──hold──► Kept ──lend──► the author's function
//!  (gone after the call)                         (in the future)
//! ```
//!
//! A payload of a [copied](tfrt_async::is_copied) type is copied; for any other value,
//! another reference is taken. Everything else a kernel may read (its context, attributes and
//! functions) is copied on first use: most kernels use none of it.
#![expect(unsafe_code, reason = "copies payloads whose types were proven")]

use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use tfrt_async::is_copied;
use tfrt_async::pool::Pooled;
use tfrt_async::{AnyRef, Chain, ReadGuard, Value, WriteGuard};
use tfrt_attr::AlignedBytes;
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::kernel::attribute::{self, AttrParam};
use crate::kernel::direct::DirectCall;
use crate::kernel::frame::mismatch;
use crate::kernel::function_ref::FunctionTable;
use crate::kernel::inputs::{AttributeList, FileInputs, FunctionList};
use crate::kernel::operand_slot::{OperandContent, OperandSlot};
use crate::kernel::param::ParamList;
use crate::kernel::source::{Source, conflict};
use crate::services::execution::ExecutionContext;

/// A call in progress.
pub(super) struct Call<'c> {
    pub(super) op: &'static OpDef,
    /// The inputs besides operands.
    pub(super) inputs: &'c DirectCall<'c>,
    pub(super) operands: CallOperands<'c>,
}

/// The location of the operands of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallOperands<'c> {
    /// In a frame.
    Frame(&'c [AnyRef]),
    /// Among registers. Invariant O1: these are the registers of a [direct](crate::kernel::direct)
    /// call in progress, with the offsets of its operands.
    Registers {
        registers: NonNull<u8>,
        offsets: NonNull<u32>,
        num_operands: usize,
    },
}

impl CallOperands<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Frame(arguments) => arguments.len(),
            Self::Registers { num_operands, .. } => *num_operands,
        }
    }

    /// Returns the place of operand `index` among the registers of a direct call.
    ///
    /// # Safety
    /// 1. O1, and the kernel reads that many operands.
    #[inline]
    unsafe fn place<T>(registers: NonNull<u8>, offsets: NonNull<u32>, index: usize) -> NonNull<T> {
        // SAFETY: duty 1, with duty 1 of `DirectFn`.
        let offset = unsafe { offsets.add(index) };
        // SAFETY: as above.
        let offset = unsafe { offset.read() };
        // SAFETY: duty 2 of `DirectFn`.
        unsafe { registers.byte_add(offset as usize) }.cast()
    }
}

/// A call that a future refers to during its first poll.
///
/// Invariant L1: [`get`](Self::get) is called only during the call, on its thread. Upheld by the
/// code that creates the future, which polls it immediately; the future calls `get` before it first
/// waits.
pub(super) struct Lent(NonNull<Call<'static>>);

// SAFETY: L1: it is not used on another thread.
unsafe impl Send for Lent {}

impl Lent {
    /// # Safety
    /// 1. L1.
    pub(super) unsafe fn new(call: &Call<'_>) -> Self {
        Self(NonNull::from(call).cast())
    }

    #[inline]
    pub(super) fn get(&self) -> &Call<'_> {
        // SAFETY: L1: the call is alive, and so is everything it refers to.
        unsafe { self.0.as_ref() }
    }
}

/// The parts of its call that a future keeps, for parameters `P`.
pub(super) struct Kept<P: ParamList> {
    /// By operand.
    places: P::Places,
    rest: OnceCell<Pooled<Rest>>,
}

/// The parts of a call other than operands that are read one by one.
struct Rest {
    exec_ctx: ExecutionContext,
    table: Option<Arc<dyn FunctionTable>>,
    /// The attribute section, for a frame without a file.
    section: Option<AlignedBytes>,
    attributes: Box<[u32]>,
    functions: Box<[u32]>,
    /// All operands, for a parameter that is a list of them.
    operands: OnceCell<Box<[AnyRef]>>,
}

impl<P: ParamList> Kept<P> {
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            places: P::Places::default(),
            rest: OnceCell::new(),
        }
    }

    /// Returns the source from which markers hold parameters during the first poll.
    #[inline]
    pub(super) fn source<'k, 'c>(&'k self, call: &'c Call<'c>) -> Keeping<'k, 'c, P> {
        Keeping { kept: self, call }
    }
}

impl Rest {
    fn of(call: &Call<'_>) -> Self {
        let DirectCall { exec_ctx, file } = *call.inputs;
        let FileInputs {
            attributes,
            functions,
        } = *file;
        let is_copied = functions.table.is_none() && !attributes.offsets.is_empty();
        Self {
            exec_ctx: exec_ctx.clone(),
            table: functions.table.cloned(),
            section: is_copied.then(|| AlignedBytes::from(attributes.section)),
            attributes: attributes.offsets.into(),
            functions: functions.ids.into(),
            operands: OnceCell::new(),
        }
    }
}

/// Reads operands of a call, and keeps what it reads.
///
/// K1: an operand is read as one type, which determines the content of its place: marker lists that
/// read one operand as two types [admit](crate::kernel::TypeList::admits) no value.
pub(super) struct Keeping<'k, 'c, P: ParamList> {
    kept: &'k Kept<P>,
    call: &'c Call<'c>,
}

impl<P: ParamList> Clone for Keeping<'_, '_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ParamList> Copy for Keeping<'_, '_, P> {}

impl<'k, P: ParamList> Keeping<'k, '_, P> {
    fn rest(self) -> &'k Rest {
        let make = || Pooled::new(Rest::of(self.call));
        self.kept.rest.get_or_init(make)
    }

    #[inline]
    fn place(self, index: usize) -> &'k OperandSlot {
        &self.kept.places.as_ref()[index]
    }

    /// Returns the payload of an operand of a copied type, in its place.
    ///
    /// # Safety
    /// 1. The duty of [`Source::get`].
    /// 2. `T` is copied.
    #[inline]
    unsafe fn copied<T: Value>(self, index: usize) -> &'k T {
        let place = self.place(index);
        if place.get().is_none() {
            // SAFETY: the caller fulfils both duties.
            let words = unsafe { self.copy::<T>(index) };
            // It was empty, and nothing else fills it.
            let _ = place.set(OperandContent::Copied(words));
        }
        let Some(OperandContent::Copied(words)) = place.get() else {
            unreachable!("an operand is read as one type");
        };
        // SAFETY: K1: the place was filled above with a `T`.
        unsafe { &*words.as_ptr().cast::<T>() }
    }

    /// Returns a copy of the payload of an operand of a copied type.
    ///
    /// # Safety
    /// 1. The duty of [`Source::get`].
    /// 2. `T` is copied.
    #[inline]
    unsafe fn copy<T: Value>(self, index: usize) -> [MaybeUninit<u64>; 2] {
        let mut words = [MaybeUninit::uninit(); 2];
        let place = words.as_mut_ptr().cast::<T>();
        match self.call.operands {
            CallOperands::Frame(arguments) => {
                // SAFETY: duty 1: it is concrete and of type `T`, which fits (duty 2).
                unsafe { arguments[index].copy_payload_to(place.cast()) };
            }
            CallOperands::Registers {
                registers, offsets, ..
            } => {
                // SAFETY: O1: the call is in progress (L1), and its markers read only its operands.
                let source = unsafe { CallOperands::place::<T>(registers, offsets, index) };
                // SAFETY: D1: a payload of type `T`; it fits (duty 2), and a copied payload may be
                // copied bytewise.
                unsafe { place.copy_from_nonoverlapping(source.as_ptr(), 1) };
            }
        }
        words
    }

    /// Returns the operand as a reference, in its place.
    #[inline]
    fn shared(self, index: usize) -> Result<&'k AnyRef, Error> {
        let place = self.place(index);
        let content = match place.get() {
            Some(content) => content,
            None => {
                let operand = match self.call.operands {
                    CallOperands::Frame(arguments) => arguments
                        .get(index)
                        .ok_or_else(|| mismatch(self.call.op, index, "a value", None))?,
                    CallOperands::Registers {
                        registers, offsets, ..
                    } => {
                        // SAFETY: O1: the call is in progress (L1), and its markers read only its
                        // operands.
                        let place =
                            unsafe { CallOperands::place::<AnyRef>(registers, offsets, index) };
                        // SAFETY: D2, as the markers read references and payloads that are not
                        // copied.
                        unsafe { place.as_ref() }
                    }
                };
                place.get_or_init(|| OperandContent::Shared(operand.clone()))
            }
        };
        match content {
            OperandContent::Shared(value) => Ok(value),
            OperandContent::Copied(_) => unreachable!("an operand is read as one type"),
        }
    }
}

impl<'k, P: ParamList> Source<'k> for Keeping<'k, '_, P> {
    fn op(self) -> &'static OpDef {
        self.call.op
    }

    fn exec_ctx(self) -> &'k ExecutionContext {
        &self.rest().exec_ctx
    }

    fn attributes(self) -> AttributeList<'k> {
        let kept = self.rest();
        let section = match (&kept.table, &kept.section) {
            (Some(table), _) => table.attribute_section(),
            (None, Some(section)) => section,
            (None, None) => &[],
        };
        AttributeList {
            section,
            offsets: &kept.attributes,
        }
    }

    fn attribute<A: AttrParam + ?Sized>(self, index: usize) -> Result<A::Value<'k>, Error> {
        attribute::read::<A>(self.call.op, self.attributes(), index)
    }

    fn functions(self) -> FunctionList<'k> {
        let kept = self.rest();
        FunctionList {
            table: kept.table.as_ref(),
            ids: &kept.functions,
        }
    }

    fn num_operands(self) -> usize {
        self.call.operands.len()
    }

    // The caller of the kernel has checked the operands.
    fn check<T: Value>(self, _index: usize) -> Result<(), Error> {
        Ok(())
    }

    fn is_chain(self, index: usize) -> bool {
        match self.call.operands {
            CallOperands::Frame(arguments) => arguments.get(index).is_some_and(AnyRef::is::<Chain>),
            // An `async fn` with a variable number of operands is not direct.
            CallOperands::Registers { .. } => false,
        }
    }

    #[inline]
    unsafe fn get<T: Value>(self, index: usize) -> &'k T {
        if is_copied::<T>() {
            // SAFETY: duty 1 of `get`; `T` is copied, as just checked.
            return unsafe { self.copied(index) };
        }
        let value = self.shared(index).expect("the operand was checked");
        // SAFETY: duties 1 and 2 of `get`: the value has a payload of this type, which is not being
        // written.
        unsafe { value.get_unchecked() }
    }

    #[inline]
    unsafe fn read<T: Value>(self, index: usize) -> Result<ReadGuard<'k, T>, Error> {
        if is_copied::<T>() {
            // SAFETY: duty 1 of `read`; `T` is copied, as just checked.
            return Ok(ReadGuard::of_borrowed(unsafe { self.copied(index) }));
        }
        // SAFETY: duty 1 of `read`: the value has a payload of this type.
        let guard = unsafe { self.shared(index)?.try_read_unchecked::<T>() };
        guard.map_err(|error| conflict(self.call.op, index, "read", error))
    }

    unsafe fn write<T: Value>(self, index: usize) -> Result<WriteGuard<'k, T>, Error> {
        self.shared(index)?
            .try_write::<T>()
            .map_err(|error| conflict(self.call.op, index, "write", error))
    }

    #[inline]
    fn reference(self, index: usize) -> Result<&'k AnyRef, Error> {
        self.shared(index)
    }

    fn tail(self, start: usize, end: usize) -> &'k [AnyRef] {
        let all = self
            .rest()
            .operands
            .get_or_init(|| match self.call.operands {
                CallOperands::Frame(arguments) => arguments.into(),
                CallOperands::Registers { .. } => Box::default(),
            });
        all.get(start..end).unwrap_or_default()
    }
}
