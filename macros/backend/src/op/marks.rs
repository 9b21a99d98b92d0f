//! Markers that only operands of ops have: `#[host]` and `#[resource]`.
//!
//! Kernel expansion does not support them. This module removes them from the parameters first, and
//! passes them to the registration: which operands are needed in host memory, and which are
//! resources.

use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Meta, Type};

use crate::function::{self, FunctionItem};
use crate::kernel::{KernelModel, Marker};
use crate::op::Form;
use crate::problems::Problems;
use crate::signature::types::{last_name, ungrouped};

/// A parameter with one of the markers.
#[derive(Debug)]
pub(super) struct Mark {
    /// Its index among the parameters.
    pub(super) parameter: usize,
    /// The kind of the marker.
    pub(super) kind: MarkKind,
    /// The name of the marker, where mistakes are reported.
    pub(super) at: Ident,
}

/// The meaning of a marker.
#[derive(Clone, Debug)]
pub(super) enum MarkKind {
    /// It is needed in host memory, regardless of the device that runs the op.
    Host,
    /// It is a resource, whose object is of this type.
    Resource(Box<Type>),
}

/// An operand with one of the markers, for the registration.
#[derive(Clone, Copy, Debug)]
pub struct MarkedOperand {
    /// Its index among the operands.
    pub operand: usize,
    /// Whether all following operands have the marker, too.
    pub is_rest: bool,
    /// Whether it is a resource, rather than needed in host memory.
    pub is_resource: bool,
}

/// Types that are never those of resources.
const NO_RESOURCES: &[&str] = &[
    "AnyRef",
    "AsyncValueRef",
    "CooHostTensor",
    "DenseHostTensor",
    "ExecutionContext",
    "HostContext",
    "RequestContext",
    "ResourceTensor",
    "ScalarHostTensor",
    "StringHostTensor",
    "str",
];

/// Returns the function without these markers, and their content.
pub(super) fn read(function: &FunctionItem, problems: &mut Problems) -> (FunctionItem, Vec<Mark>) {
    let mut signature = function.signature.clone();
    let mut marks = Vec::new();
    for (parameter, input) in signature.inputs.iter_mut().enumerate() {
        let FnArg::Typed(input) = input else {
            continue;
        };
        let (own, others): (Vec<Attribute>, Vec<Attribute>) = std::mem::take(&mut input.attrs)
            .into_iter()
            .partition(function::is_op_marker);
        let is_marked = others.iter().any(function::is_marker);
        input.attrs = others;
        let Some(at) = own
            .first()
            .and_then(|marker| marker.path().get_ident())
            .cloned()
        else {
            continue;
        };
        if let Some(second) = own.get(1) {
            let message = if second.path().is_ident(&at) {
                format!("`#[{at}]` is given twice")
            } else {
                "resources are never copied between devices: remove `#[host]`".to_owned()
            };
            problems.at(second.path(), message);
            continue;
        }
        if !matches!(own[0].meta, Meta::Path(_)) {
            problems.at(&own[0].meta, "this marker has no options");
            continue;
        }
        if is_marked {
            problems.at(
                &at,
                format!(
                    "`#[{at}]` is only for operands, and cannot be combined with another marker"
                ),
            );
            continue;
        }
        let kind = if at == "host" {
            Some(MarkKind::Host)
        } else {
            let object = problems.note(object_of(&input.ty));
            object.map(|object| MarkKind::Resource(Box::new(object)))
        };
        marks.extend(kind.map(|kind| Mark {
            parameter,
            kind,
            at,
        }));
    }
    let stripped = FunctionItem {
        attributes: function.attributes.clone(),
        visibility: function.visibility.clone(),
        signature,
        body: function.body.clone(),
    };
    (stripped, marks)
}

/// Returns the type of the object that a parameter with `#[resource]` is.
fn object_of(ty: &Type) -> syn::Result<Type> {
    let refused = |message: &str| Err(syn::Error::new(ty.span(), message));
    let Type::Reference(reference) = ungrouped(ty) else {
        return refused("a resource is shared: take it as `&T`");
    };
    if reference.mutability.is_some() {
        return refused("a resource is shared: take it as `&T`, and use interior mutability");
    }
    let object = ungrouped(&reference.elem);
    match last_name(object) {
        Some(name) if !NO_RESOURCES.contains(&name.as_str()) => Ok(object.clone()),
        _ => refused("a resource must be a type of your own: take it as `&T`"),
    }
}

/// Rejects markers on ops without operands.
pub(super) fn refuse(marks: &[Mark], problems: &mut Problems) {
    for Mark { at, .. } in marks {
        problems.at(
            at,
            format!("`#[{at}]` is only for operands, but this op declares none"),
        );
    }
}

/// Returns the operands that have the markers, in a form that was checked.
pub(super) fn of_operands(marks: &[Mark], form: &Form) -> Vec<MarkedOperand> {
    let Form::Kernels(kernels) = form else {
        return Vec::new();
    };
    let Some(variant) = kernels.first().and_then(|op| op.kernel.variants.first()) else {
        return Vec::new();
    };
    let marked = marks.iter().filter_map(|mark| {
        let Marker::Operand(operand, index, _) = &variant.parameters.get(mark.parameter)?.marker
        else {
            return None;
        };
        Some(MarkedOperand {
            operand: *index,
            is_rest: operand.is_variadic(),
            is_resource: matches!(mark.kind, MarkKind::Resource(_)),
        })
    });
    marked.collect()
}

/// Checks the markers against the bindings of the parameters.
pub(super) fn check(marks: &[Mark], kernel: &KernelModel, problems: &mut Problems) {
    for Mark {
        parameter,
        kind,
        at,
    } in marks
    {
        for variant in &kernel.variants {
            let marker = variant
                .parameters
                .get(*parameter)
                .map(|bound| &bound.marker);
            if !matches!(marker, Some(Marker::Operand(..))) {
                problems.at(
                    at,
                    format!("`#[{at}]` is only for operands, but this parameter is not an operand"),
                );
                return;
            }
            let declared = &variant.declaration;
            let is_free = declared.traits.contains(tfrt_ods::OpTraits::PURE)
                || declared.traits.contains(tfrt_ods::OpTraits::EFFECT_FREE);
            if matches!(kind, MarkKind::Resource(_)) && !declared.has_added_chain && !is_free {
                problems.at(
                    at,
                    "the effects of an op with a resource must be ordered: add `effect = \"…\"`, \
                     `reads = \"…\"` or `side_effecting`, or `effect_free` if the resource never \
                     changes",
                );
                return;
            }
        }
    }
}
