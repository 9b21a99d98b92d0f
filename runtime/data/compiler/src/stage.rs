//! Ops that make datasets, as the rewrites see them.

use tfrt_ir::{AttrId, Attribute, Module, OpId, OpState, ValueId, parse_type};

/// The ops of the dialect.
pub(crate) const MAP: &str = "tfrt_data.map_dataset";
pub(crate) const PARALLEL_MAP: &str = "tfrt_data.parallel_map_dataset";
pub(crate) const FILTER: &str = "tfrt_data.filter_dataset";
pub(crate) const BATCH: &str = "tfrt_data.batch_dataset";
pub(crate) const BATCH_OF_TENSORS: &str = "tfrt_data.batch_dataset.tensor";
pub(crate) const MAP_AND_BATCH: &str = "tfrt_data.map_and_batch_dataset";
pub(crate) const PREFETCH: &str = "tfrt_data.prefetch_dataset";
pub(crate) const SKIP: &str = "tfrt_data.skip_dataset";
pub(crate) const TAKE: &str = "tfrt_data.take_dataset";
pub(crate) const REPEAT: &str = "tfrt_data.repeat_dataset";
pub(crate) const SHARD: &str = "tfrt_data.shard_dataset";

/// The attributes of several of them.
pub(crate) const FUNCTION: &str = "function";
pub(crate) const ON_ERROR: &str = "on_error";

/// The attributes that declare a state of the function: an op has both or neither.
pub(crate) const STATE: [&str; 2] = ["restore", "save"];

/// The attribute of a function that computes each element of its results from the elements at the
/// same place of its arguments, whatever their shape.
pub(crate) const ELEMENTWISE: &str = "tfrt_data.elementwise";

/// The op of a number.
const CONSTANT: &str = "tfrt.constant.i64";
const VALUE: &str = "value";

/// Returns the number that a value is, if it is a constant.
pub(crate) fn constant(module: &Module, value: ValueId) -> Option<i64> {
    let op = module.defining_op(value)?;
    if module.op_name(op) != CONSTANT {
        return None;
    }
    let number = module.attribute_int(module.attr(op, VALUE)?)?;
    i64::try_from(number).ok()
}

/// Returns the value of a new constant in front of an op.
pub(crate) fn constant_before(module: &mut Module, op: OpId, number: i64) -> Option<ValueId> {
    let ty = parse_type(module, "i64")?;
    let value = module.intern_attribute(Attribute::Integer {
        value: number.into(),
        ty,
    });
    let mut state = OpState::new(CONSTANT, module.op_location(op));
    state.attributes.push((VALUE.to_owned(), value));
    state.result_types.push(ty);
    let constant = module.create_op(state);
    let (block, index) = (module.op_block(op)?, module.op_index(op)?);
    module.insert_op(block, index, constant);
    module.results(constant).first().copied()
}

/// Returns the op below a stage, if it has this name and no policy for errors: a policy applies to
/// the stages up to it, and to no others.
pub(crate) fn input_stage(module: &Module, op: OpId, name: &str) -> Option<OpId> {
    let &input = module.operands(op).first()?;
    let below = module.defining_op(input)?;
    let is_it = module.op_name(below) == name && !module.has_attr(below, ON_ERROR);
    is_it.then_some(below)
}

/// Returns the attributes of an op, with others for some of them.
pub(crate) fn attributes(
    module: &Module,
    op: OpId,
    others: &[(&str, AttrId)],
) -> Vec<(String, AttrId)> {
    let others = others.iter().map(|&(name, value)| (name.to_owned(), value));
    let own = module.attributes(op).iter();
    // The first of several with one name counts.
    others
        .chain(own.map(|&(name, value)| (module.name(name).to_owned(), value)))
        .collect()
}

/// Creates an op in front of another one that makes a dataset, and returns its dataset.
pub(crate) fn dataset_before(
    module: &mut Module,
    op: OpId,
    name: &str,
    operands: Vec<ValueId>,
    attributes: Vec<(String, AttrId)>,
) -> Option<ValueId> {
    let &old = module.results(op).first()?;
    let (block, index) = (module.op_block(op)?, module.op_index(op)?);
    let mut state = OpState::new(name, module.op_location(op));
    state.operands = operands;
    state.attributes = attributes;
    state.result_types = vec![module.value_type(old)];
    let new = module.create_op(state);
    module.insert_op(block, index, new);
    module.results(new).first().copied()
}

/// Puts a new op in the place of a stage, whose users then use it. Removes the stage, and those of
/// the stages below it that nobody uses any more.
pub(crate) fn replace(
    module: &mut Module,
    op: OpId,
    name: &str,
    operands: Vec<ValueId>,
    attributes: Vec<(String, AttrId)>,
) -> Option<OpId> {
    let result = dataset_before(module, op, name, operands, attributes)?;
    replace_by(module, op, result);
    module.defining_op(result)
}

/// Lets the users of a stage use another value. Removes the stage, and the stage below it if nobody
/// uses it any more.
pub(crate) fn replace_by(module: &mut Module, op: OpId, value: ValueId) {
    let below = module.operands(op).first().copied();
    let Some(&old) = module.results(op).first() else {
        return;
    };
    module.replace_all_uses(old, value);
    module.erase_op(op);
    let below = below.filter(|&below| module.uses(below).len() == 0);
    if let Some(below) = below.and_then(|below| module.defining_op(below))
        && module.results(below).len() == 1
        && [MAP, FILTER, PREFETCH].contains(&module.op_name(below))
    {
        module.erase_op(below);
    }
}
