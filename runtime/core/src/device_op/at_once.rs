//! The fast path of a call: all operands are available, and nothing needs conversion, ordering or
//! tracing.
//!
//! ```text
//!  handles of the caller ─► dense tensors here? ─no─► the general way, from its beginning
//!                                 │ yes
//!            metadata of results: asked before with the same metadata? ─no─► metadata function
//!                                 │ yes                                            │
//!                             kernel, in a frame on the stack ◄────────────────────┘
//!                                 │
//!                     result as was told? ─► handle
//! ```
//!
//! This path allocates nothing and copies no handle: beyond its kernel, a call costs one reference
//! to each operand and one handle for each result.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tfrt_async::AnyRef;
use tfrt_host::__runtime::{AttributeList, CountedKernel, FunctionList, catch};
use tfrt_host::ExecutionContext;
use tfrt_host::kernel::KernelFrame;
use tfrt_host::tracing::{self, TracingLevel};
use tfrt_support::TensorMetadata;
use tfrt_tensor::{DenseHostTensor, TensorRef};

use super::dispatch::is_as_told;
use super::{DeviceOp, OperandMetadata, Tensors};
use crate::attrs::OpAttrs;
use crate::handle::{DenseOperand, Operand, TensorHandle};
use crate::op::ResultMetadata;
use crate::registry::Runner;

/// The number of remembered results of a metadata function, each for other operand metadata.
const NUM_ANSWERS: usize = 4;

/// The earlier results of the metadata function of an op, for the same attributes.
///
/// A metadata function depends only on metadata and attributes, so its results can be reused.
/// Results are kept from the second query on, because an op that is made for one call queries only
/// once.
#[derive(Default)]
pub(crate) struct Answers {
    /// Whether there has been a query.
    is_asked: AtomicBool,
    kept: OnceLock<Box<[OnceLock<Answer>; NUM_ANSWERS]>>,
}

struct Answer {
    operands: OperandMetadata,
    /// The first result, if something is known of it.
    result: Option<TensorMetadata>,
}

/// The numbers of operands of an op whose calls may run at once, with one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    least: usize,
    most: usize,
}

impl Admitted {
    /// No calls.
    pub(crate) const NONE: Self = Self { least: 1, most: 0 };

    #[inline]
    pub(crate) fn contains(self, num_operands: usize) -> bool {
        (self.least..=self.most).contains(&num_operands)
    }
}

/// What became of a call that was to run at once.
#[derive(Debug)]
pub(crate) enum AtOnce {
    /// It has run, and its result is this dense tensor on the device of the op.
    Dense(AnyRef),
    /// The same for an available tensor of another kind.
    Available(AnyRef),
    /// It has run, and its result is pending or an error.
    Other(Box<TensorHandle>),
    /// Nothing was done.
    Refused,
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answers({})", self.kept().count())
    }
}

impl Answers {
    /// The number of bytes that kept results take beyond the object itself.
    pub(crate) const MAX_BYTES: usize = size_of::<[OnceLock<Answer>; NUM_ANSWERS]>();

    #[inline]
    fn kept(&self) -> impl Iterator<Item = &Answer> {
        let kept = self.kept.get().map_or(&[][..], |kept| &kept[..]);
        kept.iter().map_while(OnceLock::get)
    }

    /// Returns the remembered result for operands whose metadata `is_same` accepts, if there is
    /// one: what is known of it.
    #[inline(always)]
    fn find(&self, is_same: impl Fn(&[TensorMetadata]) -> bool) -> Option<Option<&TensorMetadata>> {
        let found = self.kept().find(|answer| is_same(&answer.operands))?;
        Some(found.result.as_ref())
    }

    /// Keeps a result, if there is room.
    #[cold]
    fn keep(&self, operands: &[TensorMetadata], results: &ResultMetadata) {
        // Relaxed: the flag orders nothing; any query may count as the first.
        if !self.is_asked.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut answer = Answer {
            operands: operands.into(),
            result: results.first().cloned().flatten(),
        };
        for place in self.kept.get_or_init(Box::default).iter() {
            match place.set(answer) {
                Ok(()) => return,
                Err(refused) => answer = refused,
            }
        }
    }
}

impl DeviceOp {
    /// Returns the calls that [`call_at_once`](Self::call_at_once) may run.
    pub(crate) fn admitted(&self) -> Admitted {
        match (&self.op.runner, self.op.counts.operands_for(1)) {
            (Runner::Kernel(_), Some((least, most))) if self.may_run_at_once => {
                Admitted { least, most }
            }
            _ => Admitted::NONE,
        }
    }

    /// Returns `true` if nothing that changes from call to call keeps the op from running at once.
    #[inline(always)]
    fn may_run_now(ctx: &ExecutionContext) -> bool {
        !tracing::is_active(TracingLevel::Default) && ctx.request().cancel_value().is_none()
    }

    /// Runs an op that is a kernel with one result at once, on dense tensors that the caller keeps
    /// handles of, if this takes no waiting, conversion or ordering. The numbers of operands and
    /// results are [admitted](Self::admitted).
    // The parts of this path are always inlined: each of them runs once in a call, and passing
    // their arguments would cost as much as what they do.
    #[inline(always)]
    pub(crate) fn call_at_once(
        &self,
        ctx: &ExecutionContext,
        arguments: &[&TensorHandle],
        attrs: &OpAttrs,
        answers: &Answers,
    ) -> AtOnce {
        let Runner::Kernel(kernel) = &self.op.runner else {
            return AtOnce::Refused;
        };
        if !Self::may_run_now(ctx) {
            return AtOnce::Refused;
        }
        let Some(attributes) = attrs.bound(kernel.descriptor().op()) else {
            return AtOnce::Refused;
        };
        let call = KernelCall {
            ctx,
            kernel,
            attrs,
            attributes,
            answers,
        };
        match *arguments {
            [x] => self.run_kernel_of_1(&call, x),
            [x, y] => self.run_kernel_of_2(&call, x, y),
            [x, y, z] => self.run_kernel_of_3(&call, x, y, z),
            _ => AtOnce::Refused,
        }
    }

    /// Calls the metadata function, and then the kernel.
    #[cold]
    fn ask_and_run_kernel<const N: usize>(
        &self,
        call: &KernelCall<'_>,
        operands: [DenseOperand<'_>; N],
    ) -> AtOnce {
        let known = operands.map(|operand| operand.dense.metadata());
        let answer = match self.result_metadata(&known, call.attrs) {
            Ok(answer) => answer,
            Err(error) => {
                let error = TensorHandle::error(call.ctx.emit_error(error));
                return AtOnce::Other(Box::new(error));
            }
        };
        call.answers.keep(&known, &answer);
        let tensor = call.run(&operands.map(|operand| operand.tensor.clone()));
        self.outcome_of(call.ctx, answer.first().and_then(Option::as_ref), tensor)
    }

    /// Returns an argument as an operand, if the op accepts it unconverted.
    #[inline(always)]
    fn operand_of<'a>(&self, index: usize, argument: &'a TensorHandle) -> Option<Operand<'a>> {
        argument.operand_on(self.device_of_operand(index))
    }

    /// Returns the outcome of a call that has run: an error if the result does not match its
    /// inferred metadata.
    #[inline(always)]
    fn outcome_of(
        &self,
        ctx: &ExecutionContext,
        told: Option<&TensorMetadata>,
        tensor: Option<AnyRef>,
    ) -> AtOnce {
        // Nearly every tensor is dense.
        let dense = tensor.as_ref().and_then(AnyRef::get::<DenseHostTensor>);
        let is_usual = dense.is_some_and(|dense| told.is_none_or(|told| is_as_told(dense, told)));
        match tensor {
            Some(tensor) if is_usual => AtOnce::Dense(tensor),
            tensor => self.outcome_of_any(ctx, told, tensor),
        }
    }

    #[cold]
    fn outcome_of_any(
        &self,
        ctx: &ExecutionContext,
        told: Option<&TensorMetadata>,
        tensor: Option<AnyRef>,
    ) -> AtOnce {
        let told = [told.cloned()];
        let mut results = [tensor];
        self.check_results(ctx, &told, &mut results);
        match (told, results) {
            (_, [Some(tensor)]) if tensor.is_concrete() && TensorRef::read(&tensor).is_ok() => {
                AtOnce::Available(tensor)
            }
            ([told], [tensor]) => AtOnce::Other(Box::new(self.new_handle(told, tensor))),
        }
    }

    /// Does the work of [`call_at_once`](Self::call_at_once) for any op. Returns `false` if it did
    /// nothing.
    pub(crate) fn run_at_once(
        &self,
        ctx: &ExecutionContext,
        arguments: &[&TensorHandle],
        attrs: &OpAttrs,
        results: &mut [TensorHandle],
    ) -> bool {
        let is_admitted =
            self.may_run_at_once && self.op.counts.admit(arguments.len(), results.len());
        if !is_admitted || !Self::may_run_now(ctx) {
            return false;
        }
        let asks_first = !self.tells_metadata_itself;
        let mut tensors = Tensors::new();
        let mut operands = OperandMetadata::new();
        for (index, argument) in arguments.iter().enumerate() {
            let Some(operand) = self.operand_of(index, argument) else {
                return false;
            };
            tensors.push(operand.tensor.clone());
            if asks_first {
                operands.push(operand.metadata());
            }
        }
        let metadata = match asks_first {
            true => self.result_metadata(&operands, attrs),
            false => Ok(ResultMetadata::new()),
        };
        match metadata {
            Ok(metadata) => self.dispatch_now(ctx, attrs, tensors, metadata, &mut None, results),
            Err(error) => results.fill(TensorHandle::error(ctx.emit_error(error))),
        }
        true
    }
}

/// Defines the methods of [`DeviceOp::call_at_once`] for fixed numbers of operands. Arrays of
/// operands, for any number, would be copied and passed to loops, which costs more than all else.
macro_rules! define_run_kernel {
    ($($method:ident($($index:literal $operand:ident $known:ident),+);)+) => {
        impl DeviceOp {$(
            fn $method(&self, call: &KernelCall<'_>, $($operand: &TensorHandle),+) -> AtOnce {
                $(let device = self.device_of_operand($index);
                let Some($operand) = $operand.dense_operand_on(device) else {
                    return AtOnce::Refused;
                };)+
                let told = if self.tells_metadata_itself {
                    None
                } else {
                    let found = call.answers.find(|known| match known {
                        [$($known),+] => $($operand.has($known))&&+,
                        _ => false,
                    });
                    match found {
                        Some(told) => told,
                        None => return self.ask_and_run_kernel(call, [$($operand),+]),
                    }
                };
                let tensors = [$($operand.tensor.clone()),+];
                let tensor = call.run(&tensors);
                // One by one, because the destructor of an array is a loop.
                let [$($operand),+] = tensors;
                $(drop($operand);)+
                self.outcome_of(call.ctx, told, tensor)
            }
        )+}
    };
}

define_run_kernel! {
    run_kernel_of_1(0 x of_x);
    run_kernel_of_2(0 x of_x, 1 y of_y);
    run_kernel_of_3(0 x of_x, 1 y of_y, 2 z of_z);
}

/// A call of a kernel.
struct KernelCall<'a> {
    ctx: &'a ExecutionContext,
    kernel: &'a CountedKernel,
    attrs: &'a OpAttrs,
    attributes: AttributeList<'a>,
    answers: &'a Answers,
}

impl KernelCall<'_> {
    /// Runs the kernel. Only a kernel that takes its frame may leave its result empty.
    #[inline]
    fn run(&self, operands: &[AnyRef]) -> Option<AnyRef> {
        let op = self.kernel.descriptor().op();
        let mut results = [None];
        let outcome = catch(op.name, || {
            let (attributes, functions) = (self.attributes, FunctionList::default());
            let results = &mut results;
            let mut frame =
                KernelFrame::new(self.ctx, op, operands, attributes, functions, results);
            self.kernel.invoke_checked(&mut frame);
            Ok(())
        });
        let [result] = results;
        match outcome {
            Ok(()) => result,
            Err(error) => Some(AnyRef::error(self.ctx.emit_error(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use tfrt_support::DType;

    use super::*;

    fn vector(extent: usize) -> TensorMetadata {
        TensorMetadata::new(DType::F32, [extent])
    }

    fn answer(extent: usize) -> ResultMetadata {
        ResultMetadata::from_buf([Some(vector(extent))])
    }

    /// Returns the remembered result for operands with this metadata.
    fn find<const N: usize>(
        answers: &Answers,
        operands: [&TensorMetadata; N],
    ) -> Option<TensorMetadata> {
        let found = answers.find(|known| known.iter().eq(operands));
        found.map(|found| found.unwrap().clone())
    }

    #[test]
    fn answers_are_for_equal_metadata() {
        let answers = Answers::default();
        answers.keep(&[vector(1)], &answer(10));
        assert_eq!(
            find(&answers, [&vector(1)]),
            None,
            "one question is no habit"
        );
        answers.keep(&[vector(1)], &answer(10));
        answers.keep(&[vector(1), vector(2)], &answer(20));
        assert_eq!(find(&answers, [&vector(1)]), Some(vector(10)));
        assert_eq!(find(&answers, [&vector(1), &vector(2)]), Some(vector(20)));
        let whole = TensorMetadata::new(DType::I32, [1]);
        for other in [&vector(2), &whole] {
            assert_eq!(find(&answers, [other]), None);
        }
        assert_eq!(find(&answers, []), None);
        assert_eq!(find(&answers, [&vector(2), &vector(1)]), None);
    }

    #[test]
    fn few_answers_are_kept() {
        let answers = Answers::default();
        for extent in 0..=2 * NUM_ANSWERS {
            answers.keep(&[vector(extent)], &answer(extent));
        }
        let found = |&extent: &usize| find(&answers, [&vector(extent)]) == Some(vector(extent));
        let kept: Vec<usize> = (0..=2 * NUM_ANSWERS).filter(found).collect();
        assert_eq!(kept, [1, 2, 3, 4]);
    }
}
