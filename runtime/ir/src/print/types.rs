//! Types as text.

use std::fmt::Write as _;

use crate::attribute::Attribute;
use crate::ids::{AttrId, TypeId};
use crate::module::Module;
use crate::print::attributes::print_attribute;
use crate::types::{Signedness, Type};

impl Module {
    /// Returns the spelling of a type, whose parts are types of the program.
    pub(crate) fn spell(&self, ty: &Type) -> String {
        spell(self, ty)
    }
}

fn spell(module: &Module, ty: &Type) -> String {
    let mut out = String::new();
    match ty {
        Type::Integer { width, signedness } => {
            out.push_str(match signedness {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            });
            let _ = write!(out, "{width}");
        }
        Type::Index => out.push_str("index"),
        Type::Float(float) => out.push_str(float.spelling()),
        Type::None => out.push_str("none"),
        Type::Complex(element) => {
            let _ = write!(out, "complex<{}>", module.type_spelling(*element));
        }
        Type::Tensor {
            dims,
            element,
            encoding,
        } => {
            out.push_str("tensor<");
            spell_dims(&mut out, dims);
            out.push_str(module.type_spelling(*element));
            spell_trailing(module, &mut out, *encoding);
            out.push('>');
        }
        Type::UnrankedTensor(element) => {
            let _ = write!(out, "tensor<*x{}>", module.type_spelling(*element));
        }
        Type::Vector { dims, element } => {
            out.push_str("vector<");
            for dim in dims {
                let _ = write!(out, "{dim}x");
            }
            let _ = write!(out, "{}>", module.type_spelling(*element));
        }
        Type::MemRef {
            dims,
            element,
            layout,
            memory_space,
        } => {
            out.push_str("memref<");
            match dims {
                Some(dims) => spell_dims(&mut out, dims),
                None => out.push_str("*x"),
            }
            out.push_str(module.type_spelling(*element));
            spell_trailing(module, &mut out, *layout);
            spell_trailing(module, &mut out, *memory_space);
            out.push('>');
        }
        Type::Tuple(elements) => {
            out.push_str("tuple<");
            spell_list(module, &mut out, elements);
            out.push('>');
        }
        Type::Function { inputs, results } => {
            out.push('(');
            spell_list(module, &mut out, inputs);
            out.push_str(") -> ");
            spell_results(module, &mut out, results);
        }
        Type::Dialect { dialect, body } => {
            let dot = if body.starts_with('<') { "" } else { "." };
            let _ = write!(out, "!{dialect}{dot}{body}");
        }
    }
    out
}

/// Appends result types as after an arrow: in parentheses unless they are one type that is not a
/// function.
pub(crate) fn spell_results(module: &Module, out: &mut String, results: &[TypeId]) {
    match results {
        [one] if !matches!(module.ty(*one), Type::Function { .. }) => {
            out.push_str(module.type_spelling(*one))
        }
        _ => {
            out.push('(');
            spell_list(module, out, results);
            out.push(')');
        }
    }
}

/// Appends types separated by commas.
pub(crate) fn spell_list(module: &Module, out: &mut String, types: &[TypeId]) {
    for (index, ty) in types.iter().enumerate() {
        if index != 0 {
            out.push_str(", ");
        }
        out.push_str(module.type_spelling(*ty));
    }
}

fn spell_dims(out: &mut String, dims: &[Option<u64>]) {
    for dim in dims {
        match dim {
            Some(size) => {
                let _ = write!(out, "{size}x");
            }
            None => out.push_str("?x"),
        }
    }
}

fn spell_trailing(module: &Module, out: &mut String, attribute: Option<AttrId>) {
    if let Some(attribute) = attribute {
        out.push_str(", ");
        // The usual memory space is a number, written without its type.
        match module.attribute(attribute) {
            Attribute::Integer { value, .. } => {
                let _ = write!(out, "{value}");
            }
            _ => print_attribute(module, attribute, out),
        }
    }
}
