//! Ops that are ready to be called: the op of each device, and its operands there.

use std::fmt;
use std::sync::{Arc, OnceLock};

use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::EagerContext;
use super::known::{AttributeSet, Facts, KnownOp};
use crate::attrs::OpAttrsRef;
use crate::core_op::CoreRuntimeOp;
use crate::device_op::Admitted;
use crate::handle::TensorHandle;
use crate::op::OperandSet;

/// An op with its attributes. Repeated calls look nothing up.
///
/// See [`EagerContext`] for an example.
pub struct ReadyOp {
    pub(super) eager: Arc<EagerContext>,
    pub(super) found: Found,
    pub(super) set: Arc<AttributeSet>,
    pub(super) num_results: usize,
    /// The calls that may run [at once](CoreRuntimeOp::call_at_once), as far as this is known
    /// before.
    pub(super) admitted: Admitted,
    /// The operands that it writes to.
    pub(super) written: OperandSet,
    /// For each device, the op that runs there or `None` if the device has none, once that is
    /// known. Empty if there is only one device, or if the op itself decides where it runs.
    pub(super) made: Box<[OnceLock<Option<Arc<KnownOp>>>]>,
}

/// The first device that has an op, and the op there.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) device: usize,
    pub(super) known: Arc<KnownOp>,
}

impl EagerContext {
    /// Wraps an op that was made elsewhere, such as a function, so that it can be called like any
    /// other. It has no attributes, accepts operands on any device, and decides itself where it
    /// runs.
    ///
    /// ```
    /// use tfrt_core::{CoreRuntimeOp, EagerContext, OpInvocation, RunOp};
    /// use tfrt_host::HostContext;
    ///
    /// /// Returns its argument.
    /// #[derive(Debug)]
    /// struct Identity;
    ///
    /// impl RunOp for Identity {
    ///     fn run(&self, invocation: &mut OpInvocation<'_>) {
    ///         invocation.results[0] = std::mem::take(&mut invocation.arguments[0]);
    ///     }
    /// }
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let identity = eager.made_elsewhere("identity", CoreRuntimeOp::new(Identity), 1, false);
    /// let same = identity.call(&[&eager.tensor([1, 2])?])?;
    /// assert_eq!(eager.to_vec::<i32>(&same)?, [1, 2]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn made_elsewhere(
        self: &Arc<Self>,
        name: &str,
        op: CoreRuntimeOp,
        num_results: usize,
        has_side_effects: bool,
    ) -> ReadyOp {
        let facts = Facts {
            num_results: Some(num_results),
            declared: None,
            has_side_effects,
            effect_class: None,
            may_write: has_side_effects,
            written: OperandSet::NONE,
        };
        ReadyOp {
            eager: Arc::clone(self),
            // The same op serves all devices.
            found: Found {
                device: 0,
                known: Arc::new(KnownOp::new(name.into(), op, facts)),
            },
            set: AttributeSet::new(OpAttrsRef::of_one_op(Arc::default())),
            num_results,
            admitted: Admitted::NONE,
            written: OperandSet::NONE,
            made: Box::default(),
        }
    }
}

impl ReadyOp {
    /// Orders the op with other ops on the same tensors, as one that may write to each of its
    /// operands. It then follows calls on its operands that were made after this one, and later
    /// calls on them follow it. Registered ops are ordered by their declarations.
    #[must_use]
    pub fn writes_to_operands(self) -> Self {
        self.eager.runtime.order_calls();
        Self {
            written: OperandSet::NONE.with_all_from(0),
            ..self
        }
    }

    /// Returns the number of results of the op.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.num_results
    }

    /// Returns the device that a call on these operands runs on.
    pub(super) fn device(&self, operands: &[&TensorHandle]) -> Result<usize, Error> {
        if self.made.is_empty() {
            return Ok(0);
        }
        let has_op = |device| self.made_for(device).is_some();
        let (name, attrs) = (&self.found.known.name, &self.set.attrs);
        let placed = self.eager.place(name, operands, attrs, has_op)?;
        Ok(placed.0)
    }

    /// Returns a copy of an operand where the op on a device needs it, or `None` if the operand is
    /// already there.
    pub(super) fn copy_of_operand(
        &self,
        ctx: &ExecutionContext,
        device: usize,
        index: usize,
        operand: &TensorHandle,
    ) -> Option<TensorHandle> {
        if self.made.is_empty() {
            return None;
        }
        let needed = self
            .made_for(device)
            .and_then(|op| op.device_of_operand(index));
        let needed = needed.unwrap_or(&self.eager.devices[device].device);
        if !operand.may_be_elsewhere(needed) {
            return None;
        }
        Some(match self.found.known.facts.may_write {
            // The op writes to a copy that nothing else shares.
            true => operand.transfer_to_inferred(ctx, needed),
            false => operand.kept_copy(ctx, needed, &self.eager.copies),
        })
    }

    /// Returns the op on a device, if the device has it. The lookup happens once.
    pub(super) fn made_for(&self, device: usize) -> Option<&CoreRuntimeOp> {
        let Found {
            device: found,
            known,
        } = &self.found;
        if device == *found {
            return Some(&known.op);
        }
        let make = || self.eager.made_op(device, &known.name).ok();
        let made = self.made.get(device)?.get_or_init(make);
        made.as_ref().map(|known| &known.op)
    }

    /// Invalidates copies of tensors that the op may have written to, or may write to until the
    /// chain is available.
    pub(super) fn outdate_copies(&self, chain: Option<&AnyRef>) {
        self.eager.copies.outdate();
        if let Some(chain) = chain.filter(|chain| !chain.is_available()) {
            let copies = Arc::clone(&self.eager.copies);
            chain.and_then(move |_| copies.outdate());
        }
    }
}

impl fmt::Debug for ReadyOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ReadyOp");
        shown.field("name", &self.found.known.name);
        shown.field("attrs", &self.set.attrs);
        shown.finish_non_exhaustive()
    }
}
