//! New ops in front of another one.

use tfrt_ir::{AttrId, Attribute, LocationId, Module, OpId, OpState, Type, TypeId, ValueId};

use crate::names;

/// Creates ops in front of `anchor`, at its location.
pub(crate) struct Builder<'module> {
    pub(crate) module: &'module mut Module,
    anchor: OpId,
    location: LocationId,
    /// The attribute of the new ops that says where they run, if they run on another task.
    device: Option<AttrId>,
}

impl<'module> Builder<'module> {
    pub(crate) fn before(module: &'module mut Module, anchor: OpId) -> Self {
        let location = module.op_location(anchor);
        Self {
            module,
            anchor,
            location,
            device: None,
        }
    }

    /// Says that the new ops run on a task, if it is another one than the function's own.
    pub(crate) fn on_task(mut self, task: Option<&str>) -> Self {
        self.device = task.map(|task| {
            let device = format!("{task}{}", names::FIRST_CPU);
            self.module.string_attr(device)
        });
        self
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
        if let Some(device) = self.device {
            state
                .attributes
                .push((names::VALUE_DEVICE.to_owned(), device));
        }
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

    /// Returns the attributes of an op that is given errors.
    pub(crate) fn non_strict(&mut self) -> Vec<(String, AttrId)> {
        let unit = self.module.intern_attribute(Attribute::Unit);
        vec![(names::NON_STRICT.to_owned(), unit)]
    }

    /// Cancels the request if a chain becomes an error. What follows the returned chain sees the
    /// request cancelled then.
    pub(crate) fn cancel_if_error(&mut self, chain: ValueId) -> ValueId {
        let attributes = self.non_strict();
        self.value(
            names::CANCEL_IF_ERROR,
            vec![chain],
            attributes,
            names::CHAIN_TYPE,
        )
    }

    /// Finds a task by its name.
    pub(crate) fn task(&mut self, context: ValueId, name: &str) -> ValueId {
        let name = self.module.string_attr(name);
        let name = vec![(names::TASK_NAME.to_owned(), name)];
        self.value(names::GET_TASK, vec![context], name, names::TASK_TYPE)
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
