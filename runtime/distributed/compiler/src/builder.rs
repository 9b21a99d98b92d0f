//! New ops in front of another one.

use tfrt_ir::{AttrId, LocationId, Module, OpId, OpState, Type, TypeId, ValueId};

/// Creates ops in front of `anchor`, at its location.
pub(crate) struct Builder<'module> {
    pub(crate) module: &'module mut Module,
    anchor: OpId,
    location: LocationId,
}

impl<'module> Builder<'module> {
    pub(crate) fn before(module: &'module mut Module, anchor: OpId) -> Self {
        let location = module.op_location(anchor);
        Self {
            module,
            anchor,
            location,
        }
    }

    /// Creates an op, and returns it.
    pub(crate) fn op(
        &mut self,
        name: &str,
        operands: Vec<ValueId>,
        attributes: Vec<(String, AttrId)>,
        result_types: Vec<TypeId>,
    ) -> OpId {
        let mut state = OpState::new(name, self.location);
        state.operands = operands;
        state.attributes = attributes;
        state.result_types = result_types;
        let op = self.module.create_op(state);
        if let (Some(block), Some(index)) = (
            self.module.op_block(self.anchor),
            self.module.op_index(self.anchor),
        ) {
            self.module.insert_op(block, index, op);
        }
        op
    }

    /// Creates an op with one result, and returns that.
    pub(crate) fn value(
        &mut self,
        name: &str,
        operands: Vec<ValueId>,
        attributes: Vec<(String, AttrId)>,
        result_type: &str,
    ) -> ValueId {
        let result_type = dialect_type(self.module, result_type);
        let op = self.op(name, operands, attributes, vec![result_type]);
        self.module.results(op)[0]
    }
}

/// Returns the type of a dialect that is spelled so.
pub(crate) fn dialect_type(module: &mut Module, spelling: &str) -> TypeId {
    let (dialect, body) = spelling
        .trim_start_matches('!')
        .split_once('.')
        .unwrap_or((spelling, ""));
    module.intern_type(Type::Dialect {
        dialect: dialect.into(),
        body: body.into(),
    })
}

/// Returns `true` for a value whose type is spelled so.
pub(crate) fn is_of_type(module: &Module, value: ValueId, spelling: &str) -> bool {
    module.type_spelling(module.value_type(value)) == spelling
}
