//! What is known of an op before it is called: it is found out once for each device and name.
//!
//! ```text
//!  OpCache ─ device, name ─► KnownOp ─ attributes ─► AttributeSet ─ operand metadata ─► Answers
//! ```
//!
//! A call by name finds all three, so that it costs little more than a call of an op that was
//! looked up once.

use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;
use tfrt_attr::OpAttrArgument;
use tfrt_ods::{Arity, OpDef};

use super::scope::EffectClass;
use crate::attrs::{Match, Matched, OpAttrs, OpAttrsRef};
use crate::core_op::CoreRuntimeOp;
use crate::device_op::{Admitted, Answers};
use crate::op::OperandSet;
use crate::registry::{RegisteredOp, Runner};

/// The number of attribute sets that are kept for an op.
const NUM_SETS: usize = 4;

/// The size of the largest attributes that are kept for an op.
const MAX_SET_BYTES: usize = 256;

/// An op on a device.
#[derive(Debug)]
pub(super) struct KnownOp {
    pub(super) name: SmolStr,
    pub(super) op: CoreRuntimeOp,
    /// The calls with one result that may run at once, as far as this is known before.
    pub(super) admitted: Admitted,
    pub(super) facts: Facts,
    /// Whether the registry refuses the op of this name, which a handler has made nevertheless.
    pub(super) is_refused: bool,
    sets: [OnceLock<Arc<AttributeSet>>; NUM_SETS],
}

/// What calls depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The number of results, if the declaration fixes it.
    pub(super) num_results: Option<usize>,
    /// The declaration, if the op is a kernel.
    pub(super) declared: Option<&'static OpDef>,
    pub(super) has_side_effects: bool,
    /// The effects that the op is ordered with, if it has any.
    pub(super) effect_class: EffectClass,
    /// Whether the op may write to its operands.
    pub(super) may_write: bool,
    /// The operands that the op is declared to write to.
    pub(super) written: OperandSet,
}

/// The attributes of an op, and the metadata of its results for them.
#[derive(Debug)]
pub(super) struct AttributeSet {
    pub(super) attrs: OpAttrsRef,
    pub(super) answers: Answers,
}

impl AttributeSet {
    pub(super) fn new(attrs: OpAttrsRef) -> Arc<Self> {
        let answers = Answers::default();
        Arc::new(Self { attrs, answers })
    }

    /// Returns the approximate number of bytes that the set takes, with all answers that it may
    /// come to keep.
    pub(super) fn num_bytes(&self) -> usize {
        size_of::<Self>() + size_of::<OpAttrs>() + self.attrs.num_bytes() + Answers::MAX_BYTES
    }
}

impl Facts {
    /// Returns the facts about an op with this registration. An op without one may do anything.
    pub(super) fn of(registered: Option<&RegisteredOp>) -> Self {
        let declared = registered.and_then(|op| match &op.runner {
            Runner::Kernel(kernel) => Some(kernel.descriptor().op()),
            _ => None,
        });
        let has_side_effects = registered.is_none_or(RegisteredOp::has_side_effects);
        Self {
            num_results: declared.and_then(|op| num_results(op, has_side_effects)),
            declared,
            has_side_effects,
            effect_class: declared.and_then(effect_class),
            may_write: registered.is_none_or(may_write),
            written: registered.map_or(OperandSet::NONE, RegisteredOp::written_operands),
        }
    }
}

impl KnownOp {
    pub(super) fn new(name: SmolStr, op: CoreRuntimeOp, facts: Facts) -> Self {
        Self {
            name,
            admitted: op.admitted(),
            op,
            facts,
            is_refused: false,
            sets: [const { OnceLock::new() }; NUM_SETS],
        }
    }

    /// Returns the kept sets, from the first one.
    #[inline]
    pub(super) fn sets(&self) -> impl Iterator<Item = &Arc<AttributeSet>> {
        self.sets.iter().map_while(OnceLock::get)
    }

    /// Returns the kept set at `index`, if there is one.
    #[inline]
    pub(super) fn set(&self, index: usize) -> Option<&Arc<AttributeSet>> {
        self.sets.get(index)?.get()
    }

    /// Returns the kept set with these attributes, if there is one.
    pub(super) fn find_set(&self, attrs: &OpAttrs) -> Option<&Arc<AttributeSet>> {
        self.sets().find(|set| set.attrs.is_same(attrs))
    }

    /// Looks for another set that has the attributes that were matched with the one at `index`, and
    /// this one, too. Returns `false` if there is none.
    #[cold]
    pub(super) fn match_others(
        &self,
        index: &mut usize,
        matched: &mut Matched,
        name: &str,
        argument: &OpAttrArgument<'_>,
    ) -> bool {
        let Some(current) = self.set(*index) else {
            return false;
        };
        for (other, set) in self.sets().enumerate().filter(|(other, _)| other != index) {
            if current.attrs.agrees_on(*matched, &set.attrs)
                && let Match::Same(more) = set.attrs.match_next(*matched, name, argument)
            {
                (*index, *matched) = (other, more);
                return true;
            }
        }
        false
    }

    /// Keeps a set for later calls, unless it is large or other sets have taken the room. Returns
    /// `true` if the set is kept.
    #[must_use]
    pub(super) fn keep_set(&self, set: &Arc<AttributeSet>) -> bool {
        if set.attrs.num_bytes() > MAX_SET_BYTES {
            return false;
        }
        let mut kept = Arc::clone(set);
        for place in &self.sets {
            match place.set(kept) {
                Ok(()) => return true,
                Err(refused) => kept = refused,
            }
        }
        false
    }

    /// Returns the approximate number of bytes that the kept sets take.
    pub(super) fn num_set_bytes(&self) -> usize {
        self.sets().map(|set| set.num_bytes()).sum()
    }
}

/// Returns the effects that a kernel is ordered with: all effects if it writes to its operands,
/// because other ops read them.
fn effect_class(op: &'static OpDef) -> EffectClass {
    let writes = op.operands.iter().any(|operand| operand.is_mutated);
    op.effect.class().filter(|_| !writes)
}

/// Returns `true` if an op may write to its operands: a kernel that declares it, or any other op
/// with effects.
fn may_write(op: &RegisteredOp) -> bool {
    match &op.runner {
        Runner::Kernel(_) => op.writes_to_operands(),
        Runner::Function(_) | Runner::Nothing => op.has_side_effects(),
    }
}

/// Returns the number of results that a kernel declares, if it is fixed.
fn num_results(op: &OpDef, has_side_effects: bool) -> Option<usize> {
    let is_one = |arity: Arity| matches!(arity, Arity::One);
    let is_fixed = op.results.iter().all(|result| is_one(result.arity));
    // The last result of a kernel with effects is its chain.
    is_fixed.then_some(op.results.len() - usize::from(has_side_effects))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core_op::{OpInvocation, RunOp};

    #[derive(Debug)]
    struct Nothing;

    impl RunOp for Nothing {
        fn run(&self, _invocation: &mut OpInvocation<'_>) {}
    }

    fn attrs(axis: i64) -> OpAttrs {
        let mut attrs = OpAttrs::new();
        attrs.set("axis", axis).unwrap();
        attrs
    }

    fn set(attrs: OpAttrs) -> Arc<AttributeSet> {
        AttributeSet::new(OpAttrsRef::of_one_op(Arc::new(attrs)))
    }

    #[test]
    fn few_small_sets_are_kept() {
        let known = KnownOp::new("my.Op".into(), CoreRuntimeOp::new(Nothing), Facts::of(None));
        let mut large = attrs(-1);
        large.set("values", &[0_i64; MAX_SET_BYTES][..]).unwrap();
        assert!(!known.keep_set(&set(large.clone())));
        assert!(known.find_set(&large).is_none());
        let axes = 0..NUM_SETS as i64 + 2;
        for axis in axes.clone() {
            let is_kept = known.keep_set(&set(attrs(axis)));
            assert_eq!(is_kept, axis < NUM_SETS as i64);
        }
        let found: Vec<i64> = axes
            .filter(|&axis| known.find_set(&attrs(axis)).is_some())
            .collect();
        assert_eq!(found, [0, 1, 2, 3]);
    }

    #[test]
    fn a_set_is_for_equal_names_types_and_values() {
        let known = KnownOp::new("my.Op".into(), CoreRuntimeOp::new(Nothing), Facts::of(None));
        let kept = set(attrs(1));
        assert!(known.keep_set(&kept));
        assert!(Arc::ptr_eq(known.find_set(&attrs(1)).unwrap(), &kept));
        let other = |name: &str, more: bool| {
            let mut other = OpAttrs::new();
            other.set(name, 1_i64).unwrap();
            if more {
                other.set("keep_dims", false).unwrap();
            }
            other
        };
        assert!(known.find_set(&other("axis", false)).is_some());
        let mut of_another_type = OpAttrs::new();
        of_another_type.set("axis", 1_i32).unwrap();
        for different in [
            attrs(2),
            other("axes", false),
            other("axis", true),
            of_another_type,
            OpAttrs::new(),
        ] {
            assert!(known.find_set(&different).is_none(), "{different:?}");
        }
    }
}
