//! The facts that the inliner needs about a function before it copies the body.

use std::collections::HashMap;

use tfrt_ir::{BlockId, Module, OpId, ValueDef, ValueId};
use tfrt_ods::{Effect, OpTraits};

use crate::passes::has_traits;
use crate::{NON_STRICT_ATTRIBUTE, SYNC_ATTRIBUTE};

/// A function whose body may replace a call.
pub(super) struct Callee {
    body: BlockId,
    num_ops: usize,
    is_sync: bool,
    /// Whether the function has any op besides its terminator.
    runs_kernels: bool,
    /// For each argument, whether every op that may have an effect waits for it.
    effects_wait_for: Vec<bool>,
}

impl Callee {
    /// Examines a function. Returns `None` if it has no body, or one that must not be copied (I2).
    pub(super) fn new(module: &Module, func: OpId) -> Option<Self> {
        let [region] = *module.regions(func) else {
            return None;
        };
        let [body] = *module.blocks(region) else {
            return None;
        };
        let last = module.last_op(body)?;
        let ops = &module.walk(func)[1..];
        let may_move = has_traits(module, last, OpTraits::TERMINATOR)
            && ops.iter().all(|&op| may_be_copied(module, op));
        may_move.then(|| Self {
            body,
            num_ops: ops.len(),
            is_sync: module.has_attr(func, SYNC_ATTRIBUTE),
            runs_kernels: module.block_ops(body).len() > 1,
            effects_wait_for: effects_wait_for(module, body),
        })
    }

    pub(super) fn body(&self) -> BlockId {
        self.body
    }

    pub(super) fn num_ops(&self) -> usize {
        self.num_ops
    }

    /// Returns `true` if the body may replace this call in this function (I3, I4).
    pub(super) fn may_replace(&self, module: &Module, caller: OpId, call: OpId) -> bool {
        let fits_kind =
            !self.runs_kernels || self.is_sync == module.has_attr(caller, SYNC_ATTRIBUTE);
        fits_kind && self.has_signature(module, call) && self.keeps_order(module, call)
    }

    fn has_signature(&self, module: &Module, call: OpId) -> bool {
        let same_types = |ours: &[ValueId], theirs: &[ValueId]| {
            let types = |values: &[ValueId]| -> Vec<_> {
                values
                    .iter()
                    .map(|value| module.value_type(*value))
                    .collect()
            };
            types(ours) == types(theirs)
        };
        let returned = module.last_op(self.body).map(|last| module.operands(last));
        same_types(module.block_arguments(self.body), module.operands(call))
            && returned.is_some_and(|returned| same_types(returned, module.results(call)))
    }

    /// I4. A call starts when all its operands are available, unless it is marked as non-strict.
    fn keeps_order(&self, module: &Module, call: OpId) -> bool {
        module.has_attr(call, NON_STRICT_ATTRIBUTE)
            || module
                .operands(call)
                .iter()
                .zip(&self.effects_wait_for)
                .all(|(operand, effects_wait)| *effects_wait || is_there_at_once(module, *operand))
    }
}

/// Returns `true` if a value does not wait for anything: it comes from a pure op without operands.
fn is_there_at_once(module: &Module, value: ValueId) -> bool {
    module
        .defining_op(value)
        .is_some_and(|op| has_traits(module, op, OpTraits::PURE) && module.operands(op).is_empty())
}

/// I2 for one op.
fn may_be_copied(module: &Module, op: OpId) -> bool {
    let dialect = module.op_name(op).split_once('.').map(|(prefix, _)| prefix);
    let allows_inlining = dialect
        .and_then(|dialect| module.registry().dialect(dialect))
        .is_some_and(|dialect| dialect.allows_inlining);
    let has_one_block = |region: &tfrt_ir::RegionId| module.blocks(*region).len() == 1;
    allows_inlining
        && module.successors(op).is_empty()
        && module.regions(op).iter().all(has_one_block)
}

/// Returns, for each argument of a body, whether every op that may have an effect starts only when
/// that argument is available.
fn effects_wait_for(module: &Module, body: BlockId) -> Vec<bool> {
    let num_arguments = module.block_arguments(body).len();
    let mut common = vec![true; num_arguments];
    // For the results of each op, the arguments that they wait for.
    let mut waits: HashMap<OpId, Vec<bool>> = HashMap::new();
    for &op in module.block_ops(body) {
        let mut awaited = vec![false; num_arguments];
        let is_strict = !module.has_attr(op, NON_STRICT_ATTRIBUTE);
        for &operand in module.operands(op).iter().filter(|_| is_strict) {
            match module.value_def(operand) {
                ValueDef::Argument { index, .. } => awaited[index] = true,
                ValueDef::Result { op, .. } => {
                    let theirs = waits.get(&op).into_iter().flatten();
                    awaited
                        .iter_mut()
                        .zip(theirs)
                        .for_each(|(awaited, theirs)| *awaited |= theirs);
                }
            }
        }
        if may_have_effect(module, op) {
            common
                .iter_mut()
                .zip(&awaited)
                .for_each(|(common, awaited)| *common &= awaited);
        }
        waits.insert(op, awaited);
    }
    common
}

/// Returns `true` if it may be observable when the op runs: it is declared to have an effect or to
/// write, it runs functions, or it is not declared.
fn may_have_effect(module: &Module, op: OpId) -> bool {
    module.op_def(op).is_none_or(|def| {
        let is_quiet =
            def.traits.contains(OpTraits::PURE) || def.traits.contains(OpTraits::TERMINATOR);
        let writes = def.operands.iter().any(|operand| operand.is_mutated);
        !is_quiet && (def.effect != Effect::None || writes || !def.functions.is_empty())
    })
}
