//! The values that may share memory that is written.
//!
//! Only types that a threaded op of the program writes matter. A result that is declared to alias
//! an operand may be of another type than the operand: such types form a group, and a write to a
//! value of one type is visible in values of the others.
//!
//! Within a body, a value represents places: arguments of the body, or values that an op created.
//! Two arguments of one group may be the same value, because callers outside the program are
//! unknown; the results of two ops never are.

use std::collections::{BTreeSet, HashMap, HashSet};

use tfrt_ir::{Module, OpId, TypeId, ValueId};
use tfrt_ods::OpDef;

use super::bodies::{Bodies, BodyKind};
use super::declared::{
    ChainPolicy, Use, chain_policy, declared_operands, declared_results, is_generic, use_of,
};

/// The types that matter.
#[derive(Debug, Default)]
pub(super) struct WrittenTypes {
    /// For each of them, the type that represents its group.
    groups: HashMap<TypeId, TypeId>,
}

impl WrittenTypes {
    /// Examines every op of every body.
    pub(super) fn of(module: &Module, bodies: &Bodies, chain: TypeId) -> Self {
        let mut groups = Groups::default();
        let mut written: HashSet<TypeId> = HashSet::new();
        for body in bodies.all.values() {
            for &op in module.block_ops(body.block) {
                let Some(def) = module.op_def(op) else {
                    continue;
                };
                groups.join_aliases(module, op, def);
                let is_ordered = match body.kind {
                    BodyKind::Sync => true,
                    _ => chain_policy(module, op, def, false, chain) == ChainPolicy::Threaded,
                };
                let operands = module.operands(op).iter();
                for (value, declared) in operands.zip(declared_operands(module, op, def)) {
                    if is_ordered && use_of(declared) == Use::Writes {
                        written.insert(module.value_type(*value));
                    }
                }
            }
        }
        let written: HashSet<TypeId> = written.into_iter().map(|ty| groups.find(ty)).collect();
        let known: HashSet<TypeId> = groups.parents.keys().chain(&written).copied().collect();
        let groups = known
            .into_iter()
            .map(|ty| (ty, groups.find(ty)))
            .filter(|(_, group)| written.contains(group))
            .collect();
        Self { groups }
    }

    /// Returns the group of a type, if its values matter.
    pub(super) fn group_of(&self, ty: TypeId) -> Option<TypeId> {
        self.groups.get(&ty).copied()
    }

    /// Returns `true` if no type matters.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// Groups of types whose values may share memory.
#[derive(Default)]
struct Groups {
    parents: HashMap<TypeId, TypeId>,
}

impl Groups {
    fn find(&self, mut ty: TypeId) -> TypeId {
        while let Some(&parent) = self.parents.get(&ty) {
            if parent == ty {
                break;
            }
            ty = parent;
        }
        ty
    }

    fn join_aliases(&mut self, module: &Module, op: OpId, def: &'static OpDef) {
        let results = module.results(op).iter();
        for (result, declared) in results.zip(declared_results(module, op, def)) {
            let Some(of) = declared.and_then(|declared| declared.alias_of) else {
                continue;
            };
            for operand in operands_called(module, op, def, of) {
                let operand = self.find(module.value_type(operand));
                let result = self.find(module.value_type(*result));
                self.parents.insert(operand, operand);
                self.parents.insert(result, operand);
            }
        }
    }
}

/// A place in memory, as seen by one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// The places that an argument represents.
    Argument(usize),
    /// A value that an op created.
    Made(OpId),
}

/// The places that a value may stand for.
pub(super) type Labels = BTreeSet<Label>;

/// Returns the places that the results of an op without functions stand for, in terms of those of
/// its operands.
pub(super) fn labels_of_results(
    module: &Module,
    op: OpId,
    def: &'static OpDef,
    types: &WrittenTypes,
    labels: &HashMap<ValueId, Labels>,
) -> Vec<(ValueId, Labels)> {
    let mut found = Vec::new();
    let results = module.results(op).iter();
    for (result, declared) in results.zip(declared_results(module, op, def)) {
        let ty = module.value_type(*result);
        if types.group_of(ty).is_none() {
            continue;
        }
        let sources: Vec<ValueId> = match declared {
            Some(declared) => match declared.alias_of {
                Some(of) => operands_called(module, op, def, of),
                // An op that does not know a type cannot make a value of it.
                None if is_generic(declared.ty) => generic_operands(module, op, def, ty),
                None => Vec::new(),
            },
            None => Vec::new(),
        };
        let mut of_result: Labels = sources
            .iter()
            .filter_map(|source| labels.get(source))
            .flatten()
            .copied()
            .collect();
        if of_result.is_empty() {
            of_result.insert(Label::Made(op));
        }
        found.push((*result, of_result));
    }
    found
}

/// Returns the operands named `name`.
fn operands_called(module: &Module, op: OpId, def: &'static OpDef, name: &str) -> Vec<ValueId> {
    let declared = declared_operands(module, op, def);
    let operands = module.operands(op).iter().zip(declared);
    operands
        .filter(|(_, declared)| declared.is_some_and(|declared| declared.name == name))
        .map(|(value, _)| *value)
        .collect()
}

/// Returns the operands of type `ty` that are declared to be of any type.
fn generic_operands(module: &Module, op: OpId, def: &'static OpDef, ty: TypeId) -> Vec<ValueId> {
    let declared = declared_operands(module, op, def);
    let operands = module.operands(op).iter().zip(declared);
    operands
        .filter(|(value, declared)| {
            declared.is_some_and(|declared| is_generic(declared.ty))
                && module.value_type(**value) == ty
        })
        .map(|(value, _)| *value)
        .collect()
}
