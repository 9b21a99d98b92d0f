//! Ops of a program, as seen by the rules of their declarations.

use std::borrow::Cow;
use std::cell::RefCell;

use tfrt_ods::OpTraits;
use tfrt_ods::instance::{AttrInstance, OpInstance, RegionInstance, Signature};

use crate::attribute::{AttrId, Attribute};
use crate::module::{Module, OpId, ValueId};
use crate::print::number::float_value;
use crate::symbols::{SYNC_ATTRIBUTE, SymbolTable};
use crate::types::{FloatType, Signedness, Type, TypeId};

/// An op of a program.
pub(crate) struct Instance<'a> {
    pub(crate) module: &'a Module,
    pub(crate) op: OpId,
    pub(crate) symbols: &'a RefCell<SymbolTable>,
}

impl<'a> Instance<'a> {
    fn types_of(&self, values: &[ValueId]) -> Vec<Cow<'a, str>> {
        values
            .iter()
            .map(|value| Cow::Borrowed(self.module.type_spelling(self.module.value_type(*value))))
            .collect()
    }

    fn spellings(&self, types: &[TypeId]) -> Vec<Cow<'a, str>> {
        types
            .iter()
            .map(|ty| Cow::Borrowed(self.module.type_spelling(*ty)))
            .collect()
    }

    fn signature(&self, func: OpId) -> Option<Signature<'a>> {
        let (arguments, results) = self.module.signature(func)?;
        Some(Signature {
            arguments: self.spellings(arguments),
            results: self.spellings(results),
            is_sync: self.module.has_attr(func, SYNC_ATTRIBUTE),
        })
    }
}

impl OpInstance for Instance<'_> {
    fn name(&self) -> &str {
        self.module.op_name(self.op)
    }

    fn operand_types(&self) -> Vec<Cow<'_, str>> {
        self.types_of(self.module.operands(self.op))
    }

    fn result_types(&self) -> Vec<Cow<'_, str>> {
        self.types_of(self.module.results(self.op))
    }

    fn attribute_names(&self) -> Vec<Cow<'_, str>> {
        let attributes = self.module.attributes(self.op).iter();
        attributes
            .map(|&(name, _)| Cow::Borrowed(self.module.name(name)))
            .collect()
    }

    fn attribute(&self, name: &str) -> Option<AttrInstance<'_>> {
        Some(attr_instance(self.module, self.module.attr(self.op, name)?))
    }

    fn regions(&self) -> Vec<RegionInstance<'_>> {
        self.module
            .regions(self.op)
            .iter()
            .map(|&region| {
                let blocks = self.module.blocks(region);
                let last = blocks.last().and_then(|block| self.module.last_op(*block));
                RegionInstance {
                    arguments: blocks
                        .first()
                        .map(|block| self.types_of(self.module.block_arguments(*block)))
                        .unwrap_or_default(),
                    returns: last
                        .filter(|op| is_terminator(self.module, *op))
                        .map(|op| self.types_of(self.module.operands(op))),
                }
            })
            .collect()
    }

    fn resolve(&self, symbol: &str) -> Option<Signature<'_>> {
        let table = self.module.nearest_symbol_table(self.op)?;
        self.signature(
            self.symbols
                .borrow_mut()
                .lookup(self.module, table, symbol)?,
        )
    }

    fn enclosing_function(&self) -> Option<Signature<'_>> {
        self.signature(self.module.parent_op(self.op)?)
    }

    fn producer(&self, operand: usize) -> Option<Box<dyn OpInstance + '_>> {
        let &operand = self.module.operands(self.op).get(operand)?;
        Some(Box::new(Instance {
            module: self.module,
            op: self.module.defining_op(operand)?,
            symbols: self.symbols,
        }))
    }
}

/// Returns `true` if the op is declared to end its block.
pub(crate) fn is_terminator(module: &Module, op: OpId) -> bool {
    module
        .op_def(op)
        .is_some_and(|def| def.traits.contains(OpTraits::TERMINATOR))
}

/// Returns an attribute, in the detail that rules need.
pub(crate) fn attr_instance(module: &Module, attribute: AttrId) -> AttrInstance<'_> {
    match module.attribute(attribute) {
        Attribute::Integer { value, ty } => match module.ty(*ty) {
            Type::Integer {
                width: 1,
                signedness: Signedness::Signless,
            } => AttrInstance::Bool(*value != 0),
            _ => AttrInstance::Int(*value, module.type_spelling(*ty).into()),
        },
        Attribute::Float { bits, ty } => {
            let format = match module.ty(*ty) {
                Type::Float(format) => *format,
                _ => FloatType::F64,
            };
            AttrInstance::Float(float_value(format, *bits), module.type_spelling(*ty).into())
        }
        Attribute::String(text) => AttrInstance::String(String::from_utf8_lossy(text)),
        Attribute::Type(ty) => AttrInstance::Type(module.type_spelling(*ty).into()),
        Attribute::Array(elements) => AttrInstance::Array(
            elements
                .iter()
                .map(|element| attr_instance(module, *element))
                .collect(),
        ),
        Attribute::Dense { ty, .. } => AttrInstance::Dense(module.type_spelling(*ty).into()),
        Attribute::Shape { .. } => AttrInstance::Shape,
        Attribute::SymbolRef { root, nested } => {
            AttrInstance::Symbol((&**root).into(), !nested.is_empty())
        }
        Attribute::Unit
        | Attribute::Dictionary(_)
        | Attribute::Opaque { .. }
        | Attribute::Elements { .. }
        | Attribute::DenseArray { .. }
        | Attribute::Resource { .. }
        | Attribute::Location(_)
        | Attribute::Layout { .. } => AttrInstance::Other,
    }
}
