//! Folding of one op: the constant that its declaration computes, as an attribute of the program.

use std::cell::RefCell;

use tfrt_ods::{AttrPath, OpDef};

use crate::attribute::{AttrId, Attribute};
use crate::module::{Module, OpId};
use crate::symbols::SymbolTable;
use crate::verify::instance::Instance;

/// The constant that an op returns.
#[derive(Clone, Copy, Debug)]
pub struct FoldedConstant {
    /// The op that returns the constant.
    pub op: &'static OpDef,
    /// The attribute of that op.
    pub value: AttrId,
    /// `true` if users must not start before the operands of the folded op are available.
    pub is_ordered: bool,
}

impl Module {
    /// Returns the constant that the only result of an op is known to be from its declaration. The
    /// op itself is not changed.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tfrt_ir::{Module, OpState, Registry, Type};
    /// use tfrt_ods::{AttrDef, AttrKind, AttrPath, Fold, OpDef};
    ///
    /// static CONSTANT: OpDef = OpDef { attributes: &[AttrDef::new("value", AttrKind::I64)], ..OpDef::new("my.constant") };
    /// static SAME: OpDef = OpDef {
    ///     folder: Some(|_| Some(Fold { constant: &CONSTANT, value: AttrPath { attribute: "of", indices: vec![] }, is_ordered: true })),
    ///     ..OpDef::new("my.same")
    /// };
    ///
    /// let mut module = Module::new(Arc::new(Registry::new([&SAME], [])?));
    /// let mut state = OpState::new("my.same", module.unknown_location());
    /// let seven = module.integer_attr(7, 64);
    /// state.attributes.push(("of".into(), seven));
    /// state.result_types.push(module.intern_type(Type::Index));
    /// let op = module.create_op(state);
    /// assert_eq!(module.fold_op(op).map(|folded| (folded.op.name, folded.value)), Some(("my.constant", seven)));
    /// # Ok::<(), tfrt_ir::RegistryError>(())
    /// ```
    #[must_use]
    pub fn fold_op(&self, op: OpId) -> Option<FoldedConstant> {
        let folder = self.op_def(op)?.folder?;
        if self.results(op).len() != 1 {
            return None;
        }
        let symbols = RefCell::new(SymbolTable::default());
        let fold = folder(&Instance {
            module: self,
            op,
            symbols: &symbols,
        })?;
        Some(FoldedConstant {
            op: fold.constant,
            value: self.attribute_at(op, &fold.value)?,
            is_ordered: fold.is_ordered,
        })
    }

    /// Returns the attribute at the end of a path, if there is one.
    fn attribute_at(&self, op: OpId, path: &AttrPath) -> Option<AttrId> {
        let mut found = self.attr(op, path.attribute)?;
        for &index in &path.indices {
            let Attribute::Array(elements) = self.attribute(found) else {
                return None;
            };
            found = *elements.get(index)?;
        }
        Some(found)
    }
}
