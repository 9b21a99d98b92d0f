//! The Rust function that calls an op: `function = name`.
//!
//! ```text
//! #[tfrt_op("my.MatMul", function = multiply, …)]
//! fn matmul(a: TensorView<'_, f32, 2>, b: …, #[attr] transpose_a: bool, #[out] c: …)
//!     ──► fn multiply(eager: &Arc<EagerContext>, a: &TensorHandle, b: &TensorHandle, transpose_a: bool) -> Result<TensorHandle>
//! ```

use proc_macro2::Ident;
use syn::visit_mut::VisitMut;
use syn::{Attribute, FnArg, Lifetime, LitStr, Type, TypeReference, Visibility, visit_mut};

use crate::function::FunctionItem;
use crate::kernel::{KernelModel, Marker};
use crate::problems::Problems;
use crate::signature::types::{last_name, ungrouped};

/// A function that calls an op.
#[derive(Debug)]
pub struct CallerFunction {
    /// Its name.
    pub ident: Ident,
    /// The visibility of the function of the op.
    pub visibility: Visibility,
    /// The documentation of the function of the op.
    pub docs: Vec<Attribute>,
    /// The name of the op.
    pub name: LitStr,
    /// Its parameters after the context.
    pub inputs: Vec<(Ident, TypedInput)>,
    /// Its results.
    pub results: TypedResults,
}

/// A parameter of a function that calls an op.
#[derive(Debug)]
pub enum TypedInput {
    /// A tensor.
    Operand,
    /// An optional tensor.
    Optional,
    /// All remaining tensors.
    Rest,
    /// The attribute of this name: its type, and whether that is an `Option`.
    Attribute(String, Box<Type>, bool),
}

/// The results of a function that calls an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedResults {
    /// This number of tensors.
    Count(usize),
    /// As many as the caller requests.
    AnyNumber,
}

/// Returns the function of this name that calls an op of this kernel.
pub(super) fn typed(
    ident: &Ident,
    name: &LitStr,
    kernel: &KernelModel,
    function: &FunctionItem,
    problems: &mut Problems,
) -> Option<CallerFunction> {
    let [variant] = kernel.variants.as_slice() else {
        problems.at(ident, "`function` is only for ops with one kernel");
        return None;
    };
    if name.value().contains('{') {
        problems.at(
            ident,
            "the function can call only one op, but there is one op for each type: write a \
             function for each type, or remove `{T}` from the name",
        );
        return None;
    }
    if *ident == function.signature.ident {
        problems.at(
            ident,
            format!("the function of the op already has the name `{ident}`: choose another name"),
        );
        return None;
    }
    let mut inputs = Vec::new();
    for (input, bound) in function.signature.inputs.iter().zip(&variant.parameters) {
        let FnArg::Typed(written) = input else {
            continue;
        };
        let syn::Pat::Ident(pattern) = &*written.pat else {
            continue;
        };
        let input = match &bound.marker {
            Marker::Operand(operand, ..) if operand.is_variadic() => TypedInput::Rest,
            Marker::Operand(operand, ..) if operand.is_optional() => TypedInput::Optional,
            Marker::Operand(..) => TypedInput::Operand,
            Marker::Attribute(_, index) => {
                let mut ty = written.ty.clone();
                ElidedLifetimes.visit_type_mut(&mut ty);
                let is_optional = last_name(ungrouped(&ty)).as_deref() == Some("Option");
                let name = variant.declaration.attributes[*index].name.clone();
                TypedInput::Attribute(name, ty, is_optional)
            }
            _ => continue,
        };
        inputs.push((pattern.ident.clone(), input));
    }
    let results = if kernel.output.leaves().iter().any(|leaf| leaf.is_tail()) {
        TypedResults::AnyNumber
    } else {
        TypedResults::Count(variant.declaration.results.len())
    };
    let docs = function.attributes.iter();
    let docs = docs.filter(|attribute| attribute.path().is_ident("doc"));
    Some(CallerFunction {
        ident: ident.clone(),
        visibility: function.visibility.clone(),
        docs: docs.cloned().collect(),
        name: name.clone(),
        inputs,
        results,
    })
}

/// Replaces every lifetime by the elided one: the function declares none.
struct ElidedLifetimes;

impl VisitMut for ElidedLifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'_", lifetime.span());
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = None;
        visit_mut::visit_type_mut(self, &mut reference.elem);
    }
}
