//! Edits shared by the passes: types by their spelling, ops at the end of a block, casts,
//! functions.

use tfrt_ir::parse_type;
use tfrt_ir::symbols::{FUNC_OP, FUNCTION_TYPE, SYMBOL_NAME};
use tfrt_ir::{AttrId, Attribute, BlockId, LocationId, Module, OpId, OpState, TypeId, ValueId};

pub(super) const CHAIN: &str = "!tfrt.chain";
pub(super) const STREAM: &str = "!tfrt_gpu.stream";
pub(super) const EVENT: &str = "!tfrt_gpu.event";
pub(super) const CONTEXT: &str = "!tfrt_gpu.context";
pub(super) const BUFFER: &str = "!tfrt_gpu.buffer";
pub(super) const MODULE: &str = "!tfrt_gpu.module";
pub(super) const TOKEN: &str = "!gpu.async.token";

/// The op that changes the types of values and nothing else.
pub(super) const CAST: &str = "builtin.unrealized_conversion_cast";
/// The op that ends functions and regions.
pub(super) const RETURN: &str = "tfrt.return";
/// The ops that end functions in the input.
pub(super) const RETURNS: [&str; 2] = [RETURN, "func.return"];
/// The two spellings of a region on a stream.
pub(super) const STREAMIFY: [&str; 2] = ["tfrt_gpu.streamify", "tfrt_gpu_conversion.async.execute"];

/// Returns the type of a spelling.
pub(super) fn type_of(module: &mut Module, spelling: &str) -> TypeId {
    parse_type(module, spelling).expect("the spelling is a type")
}

/// Returns `true` if a value is of the type of a spelling.
pub(super) fn is_a(module: &Module, value: ValueId, spelling: &str) -> bool {
    module.type_spelling(module.value_type(value)) == spelling
}

/// Returns `true` if the op is a region on a stream.
pub(super) fn is_streamify(module: &Module, op: OpId) -> bool {
    STREAMIFY.contains(&module.op_name(op))
}

/// Appends ops to a block.
pub(super) struct Builder<'m> {
    pub(super) module: &'m mut Module,
    pub(super) block: BlockId,
    pub(super) location: LocationId,
}

impl Builder<'_> {
    /// Appends an op with results of these types, and returns them.
    pub(super) fn op(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &[(&str, AttrId)],
        results: &[&str],
    ) -> Vec<ValueId> {
        let results = results.iter().map(|ty| type_of(self.module, ty)).collect();
        self.typed(name, operands, attributes, results)
    }

    /// As [`op`](Self::op), with one result.
    pub(super) fn value(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &[(&str, AttrId)],
        result: &str,
    ) -> ValueId {
        self.op(name, operands, attributes, &[result])[0]
    }

    /// As [`op`](Self::op), with types instead of spellings.
    pub(super) fn typed(
        &mut self,
        name: &str,
        operands: &[ValueId],
        attributes: &[(&str, AttrId)],
        result_types: Vec<TypeId>,
    ) -> Vec<ValueId> {
        let mut state = OpState::new(name, self.location);
        state.operands = operands.to_vec();
        state.result_types = result_types;
        let attributes = attributes.iter();
        state.attributes = attributes
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        let op = self.module.create_op(state);
        self.module.append_op(self.block, op);
        self.module.results(op).to_vec()
    }

    /// Returns these values as values of other types. If they are the results of the inverse cast,
    /// they are what that was made of.
    pub(super) fn cast(&mut self, values: &[ValueId], types: &[TypeId]) -> Vec<ValueId> {
        match cast_source(self.module, values) {
            Some(source) if types_of(self.module, &source) == types => source,
            _ => self.typed(CAST, values, &[], types.to_vec()),
        }
    }

    /// Returns a chain and a stream, or a chain and an event, as a token.
    pub(super) fn token(&mut self, chain: ValueId, place: ValueId) -> ValueId {
        let token = type_of(self.module, TOKEN);
        self.typed(CAST, &[chain, place], &[], vec![token])[0]
    }

    /// Returns memory as a buffer.
    pub(super) fn buffer(&mut self, memory: ValueId) -> ValueId {
        let buffer = type_of(self.module, BUFFER);
        self.cast(&[memory], &[buffer])[0]
    }

    /// Appends the constant `value` of an integer type.
    pub(super) fn constant(&mut self, ty: &str, value: i128) -> ValueId {
        let name = format!("tfrt.constant.{ty}");
        let id = type_of(self.module, ty);
        let value = self
            .module
            .intern_attribute(Attribute::Integer { value, ty: id });
        self.value(&name, &[], &[("value", value)], ty)
    }

    /// Merges chains into one. None of them is none.
    pub(super) fn merge(&mut self, chains: &[ValueId]) -> ValueId {
        match *chains {
            [] => self.value("tfrt.new.chain", &[], &[], CHAIN),
            [chain] => chain,
            _ => self.value("tfrt.merge.chains", chains, &[], CHAIN),
        }
    }

    /// Appends the call of a function whose results are kept.
    pub(super) fn once(&mut self, function: &str, context: ValueId, result: &str) -> ValueId {
        let function = self.module.flat_symbol_attr(function);
        self.value("tfrt.once", &[context], &[("function", function)], result)
    }
}

/// Returns what `values` were cast from, if they are all the results of one cast.
pub(super) fn cast_source(module: &Module, values: &[ValueId]) -> Option<Vec<ValueId>> {
    let cast = module.defining_op(*values.first()?)?;
    let is_whole = module.op_name(cast) == CAST && module.results(cast) == values;
    is_whole.then(|| module.operands(cast).to_vec())
}

pub(super) fn types_of(module: &Module, values: &[ValueId]) -> Vec<TypeId> {
    let values = values.iter();
    values.map(|&value| module.value_type(value)).collect()
}

/// Returns a function to be filled.
pub(super) fn create_function(
    module: &mut Module,
    name: &str,
    inputs: &[&str],
    results: &[&str],
    location: LocationId,
) -> (OpId, BlockId) {
    let inputs: Vec<_> = inputs.iter().map(|ty| type_of(module, ty)).collect();
    let results: Vec<_> = results.iter().map(|ty| type_of(module, ty)).collect();
    create_typed_function(module, name, &inputs, &results, location)
}

/// As [`create_function`], with types instead of spellings.
pub(super) fn create_typed_function(
    module: &mut Module,
    name: &str,
    inputs: &[TypeId],
    results: &[TypeId],
    location: LocationId,
) -> (OpId, BlockId) {
    let ty = module.function_type(inputs, results);
    let ty = module.intern_attribute(Attribute::Type(ty));
    let name = module.string_attr(name);
    let region = module.create_region();
    let block = module.create_block(region, inputs);
    let mut state = OpState::new(FUNC_OP, location);
    state.attributes.push((SYMBOL_NAME.into(), name));
    state.attributes.push((FUNCTION_TYPE.into(), ty));
    state.regions.push(region);
    (module.create_op(state), block)
}

/// Sets the type of a function.
pub(super) fn set_signature(
    module: &mut Module,
    func: OpId,
    inputs: &[TypeId],
    results: &[TypeId],
) {
    let ty = module.function_type(inputs, results);
    let ty = module.intern_attribute(Attribute::Type(ty));
    module.set_attr(func, FUNCTION_TYPE, ty);
}

/// Puts an op with other operands and results in the place of `op`, from which it takes everything
/// else. `op` stays, without a block and without regions, until its results have no users and
/// [`Module::erase_op`] removes it.
pub(super) fn recreate(
    module: &mut Module,
    op: OpId,
    operands: Vec<ValueId>,
    result_types: Vec<TypeId>,
) -> OpId {
    let mut state = OpState::new(module.op_name(op), module.op_location(op));
    let attributes = module.attributes(op).iter();
    state.attributes = attributes
        .map(|(name, value)| (module.name(*name).to_owned(), *value))
        .collect();
    state.operands = operands;
    state.result_types = result_types;
    state.regions = module.take_regions(op);
    state.successors = module.successors(op).to_vec();
    let new = module.create_op(state);
    if let (Some(block), Some(index)) = (module.op_block(op), module.op_index(op)) {
        module.detach_op(op);
        module.insert_op(block, index, new);
    }
    new
}

/// Erases casts without users, and constants that only such casts used.
pub(super) fn erase_unused_casts(module: &mut Module, root: OpId) {
    for op in module.walk(root).into_iter().rev() {
        let is_removable = [CAST, "arith.constant"].contains(&module.op_name(op));
        let mut results = module.results(op).iter();
        if is_removable && results.all(|&result| module.uses(result).len() == 0) {
            module.erase_op(op);
        }
    }
}

/// Returns the blocks inside an op: those of its own regions, then those inside their ops.
pub(super) fn blocks_inside(module: &Module, op: OpId) -> Vec<BlockId> {
    let ops = module.walk(op).into_iter();
    let regions = ops.flat_map(|op| module.regions(op).to_vec());
    regions
        .flat_map(|region| module.blocks(region).to_vec())
        .collect()
}
