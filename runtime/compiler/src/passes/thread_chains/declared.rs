//! The properties of an op that follow from its declaration and that decide on its order.

use tfrt_ir::{Module, OpId, TypeId, ValueId};
use tfrt_ods::groups::Groups;
use tfrt_ods::verify::{leaves_out_operands, leaves_out_results};
use tfrt_ods::{Arity, OpDef, OpTraits, OperandDef, ResultDef, TypeConstraint};

/// The flow of values between an op and the functions that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The last operands are the arguments of a function, and its first results are those of the
    /// op.
    Forwards,
    /// Like `Forwards`, and the results of one run are the arguments of the next one.
    Loops,
    /// Two indices and the last operands are the arguments of runs that happen at the same time;
    /// the op returns one chain.
    Parallel,
}

impl Flow {
    /// Returns how an op with this declaration passes values, if the declaration says so.
    pub(super) fn of(def: &OpDef) -> Option<Self> {
        let has = |traits| def.traits.contains(traits);
        if has(OpTraits::PARALLEL) {
            Some(Self::Parallel)
        } else if has(OpTraits::LOOPS) {
            Some(Self::Loops)
        } else if has(OpTraits::FORWARDS) || has(OpTraits::CALL) {
            Some(Self::Forwards)
        } else {
            None
        }
    }
}

/// The position of an op's chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// At the position of its declared chain.
    Declared,
    /// After all declared operands.
    AtEnd,
    /// Nowhere.
    None,
}

/// The treatment of an op's order by the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainPolicy {
    /// The program already passes it a chain.
    Explicit,
    /// It has an effect or writes memory, so it always gets a chain.
    Threaded,
    /// It has an effect or writes memory, but is declared without a chain: its author does not want
    /// an order.
    OptedOut,
    /// It gets a chain only if it reads memory that others write, or if its signature requires one.
    Free,
}

/// The use of an operand's memory by an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It passes the reference on without accessing the value.
    Passes,
    /// It reads the value.
    Reads,
    /// It changes the value.
    Writes,
}

/// Returns `true` if a value is a chain, given the type of chains.
pub(super) fn is_chain(module: &Module, value: ValueId, chain: TypeId) -> bool {
    module.value_type(value) == chain
}

/// Returns `true` if the op has a chain among its operands.
pub(super) fn takes_chain(module: &Module, op: OpId, chain: TypeId) -> bool {
    let operands = module.operands(op).iter();
    operands
        .copied()
        .any(|value| is_chain(module, value, chain))
}

/// Returns `true` if the op has a chain among its results.
pub(super) fn gives_chain(module: &Module, op: OpId, chain: TypeId) -> bool {
    let results = module.results(op).iter();
    results.copied().any(|value| is_chain(module, value, chain))
}

/// Returns where an op that has no chain yet takes one.
pub(super) fn slot(module: &Module, op: OpId, def: &OpDef) -> Slot {
    if def.chain_operand().is_some() {
        return Slot::Declared;
    }
    let is_full = match def.operand_groups().open() {
        None => true,
        Some((_, Arity::Optional)) => module.operands(op).len() == def.operands.len(),
        Some(_) => false,
    };
    if def.traits.contains(OpTraits::EXTRA_CHAIN) && is_full {
        Slot::AtEnd
    } else {
        Slot::None
    }
}

/// Returns how to order an op that does not run functions. `has_effect` says whether it must be
/// ordered for other reasons than that it writes memory.
pub(super) fn chain_policy(
    module: &Module,
    op: OpId,
    def: &OpDef,
    has_effect: bool,
    chain: TypeId,
) -> ChainPolicy {
    let is_ordered = has_effect || def.operands.iter().any(|operand| operand.is_mutated);
    if takes_chain(module, op, chain) {
        ChainPolicy::Explicit
    } else if !is_ordered {
        ChainPolicy::Free
    } else if slot(module, op, def) == Slot::None {
        ChainPolicy::OptedOut
    } else {
        ChainPolicy::Threaded
    }
}

/// Returns the declaration of each operand of an op, with `None` for operands that are not
/// declared.
pub(super) fn declared_operands(
    module: &Module,
    op: OpId,
    def: &'static OpDef,
) -> Vec<Option<&'static OperandDef>> {
    let types = spellings(module, module.operands(op));
    let lacks_chains = leaves_out_operands(def, &types);
    let present: Vec<&OperandDef> = def
        .operands
        .iter()
        .filter(|operand| !(lacks_chains && operand.arity == Arity::One && operand.ty.is_chain()))
        .collect();
    let groups = Groups::of(present.iter().map(|operand| operand.arity));
    let mut declared: Vec<_> = groups
        .parts(types.len())
        .map(|index| Some(present[index]))
        .collect();
    declared.resize(types.len(), None);
    declared
}

/// Returns the declaration of each result of an op, with `None` for results that are not declared.
pub(super) fn declared_results(
    module: &Module,
    op: OpId,
    def: &'static OpDef,
) -> Vec<Option<&'static ResultDef>> {
    let types = spellings(module, module.results(op));
    let lacks_chains = leaves_out_results(def, &types);
    let present: Vec<&ResultDef> = def
        .results
        .iter()
        .filter(|result| !(lacks_chains && result.arity == Arity::One && result.ty.is_chain()))
        .collect();
    let groups = Groups::of(present.iter().map(|result| result.arity));
    let mut declared: Vec<_> = groups
        .parts(types.len())
        .map(|index| Some(present[index]))
        .collect();
    declared.resize(types.len(), None);
    declared
}

/// Returns what an op does with an operand that is declared like this. It cannot access the value
/// behind a reference of any type.
pub(super) fn use_of(operand: Option<&OperandDef>) -> Use {
    match operand {
        Some(operand) if operand.is_mutated => Use::Writes,
        Some(operand) if operand.is_reference && is_generic(operand.ty) => Use::Passes,
        Some(operand) if operand.ty.is_chain() => Use::Passes,
        Some(_) => Use::Reads,
        // Only a chain may follow the declared operands.
        None => Use::Passes,
    }
}

/// Returns `true` if values of every type satisfy a constraint.
pub(super) fn is_generic(ty: TypeConstraint) -> bool {
    matches!(ty, TypeConstraint::Any | TypeConstraint::SameAs(_))
}

/// Returns the spellings of the types of values.
pub(super) fn spellings<'a>(module: &'a Module, values: &[ValueId]) -> Vec<&'a str> {
    values
        .iter()
        .map(|value| module.type_spelling(module.value_type(*value)))
        .collect()
}
