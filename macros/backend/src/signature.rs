//! The signature of the function, interpreted as that of a kernel: the bindings of its parameters,
//! and its results.
//!
//! Macros only see the spelling of types, so types are recognised by the last segment of their
//! path. An unrecognised type is the payload of a value, and the compiler checks that it can be
//! one.

pub(crate) mod output;

mod markers;

pub(crate) mod types;

use syn::{Attribute, Expr, FnArg, GenericParam, Ident, LitStr, Pat, PatType, Type};

use crate::function::{self, FunctionItem};
use crate::problems::{Problems, did_you_mean};

pub use output::Output;
use types::{
    expect_argument, is_string, last_name, payload, payload_argument, payload_trait, type_argument,
    type_arguments, ungrouped,
};

/// One parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The name that declarations use.
    pub name: String,
    /// The name in the function.
    pub ident: Ident,
    /// The type as written.
    pub ty: Type,
    /// Its binding.
    pub binding: Binding,
}

/// The binding of a parameter.
#[derive(Debug)]
pub enum Binding {
    /// An operand.
    Operand(Operand),
    /// An attribute.
    Attribute {
        /// Its name in programs.
        name: LitStr,
        /// The type that it is read as: the type of the parameter, without a reference and with
        /// `'static` for lifetimes.
        marker: Box<Type>,
        /// Whether programs may leave it out, and nothing stands in for it.
        is_optional: bool,
        /// The value if programs leave it out.
        default: Option<Box<Expr>>,
    },
    /// All attributes.
    AllAttributes,
    /// A function.
    Function(FunctionBinding),
    /// A resource: its type, and whether the parameter is a reference.
    Resource(Box<Type>, bool),
    /// A preallocated result.
    Out(Box<Type>),
    /// Memory for the duration of the call: the type of its elements.
    Workspace(Box<Type>),
    /// A context.
    Context(Context),
    /// The frame.
    Frame,
}

/// A context, and the form in which it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// `&ExecutionContext`
    Execution,
    /// `ExecutionContext`
    OwnedExecution,
    /// `&HostContext`
    Host,
    /// `&Arc<HostContext>`
    SharedHost,
    /// `Arc<HostContext>`
    OwnedHost,
    /// `&RequestContext`
    Request,
    /// `&Arc<RequestContext>`
    SharedRequest,
    /// `Arc<RequestContext>`
    OwnedRequest,
}

/// A parameter that is a function, or a list of them.
#[derive(Debug)]
pub struct FunctionBinding {
    /// The attribute or region.
    pub name: LitStr,
    /// Whether it is a region.
    pub is_region: bool,
    /// Whether it is a list.
    pub is_list: bool,
    /// Whether the op may leave it out.
    pub is_optional: bool,
    /// Whether the parameter is a reference.
    pub is_lent: bool,
    /// Its type, if the type specifies the signature.
    pub callable: Option<Box<Type>>,
}

/// The form in which an operand is taken.
#[derive(Clone, Debug)]
pub enum Operand {
    /// `T`
    ByValue(Box<Type>),
    /// `&T`
    ByRef(Box<Type>),
    /// `&mut T`
    ByMut(Box<Type>),
    /// `&str`, `String`, `&[u8]`
    Text(TextForm),
    /// `&dyn Trait`
    Dyn(Box<Type>),
    /// `AnyRef` or `&AnyRef`
    Any {
        /// Whether it is the latter.
        is_lent: bool,
    },
    /// `AsyncValueRef<T>`
    Reference(Box<Type>),
    /// `Option<T>`
    Optional(Box<Type>),
    /// `Option<&T>`
    OptionalRef(Box<Type>),
    /// `Option<&str>`, `Option<String>`, `Option<&[u8]>`
    OptionalText(TextForm),
    /// `T`, with a value for programs that omit the operand: its form as an `Option`, and the value
    Defaulted(Box<Operand>, Box<Expr>),
    /// `&[AnyRef]`
    AnyRest,
    /// `Operands<'_, T>`
    Rest(Box<Type>),
}

/// The form in which a byte string is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// `&str`
    Str,
    /// `String`
    String,
    /// `&[u8]`
    Bytes,
}

impl TextForm {
    /// Returns the form of a reference to `elem`, if that is a byte string.
    fn of_reference(elem: &Type) -> Option<Self> {
        match elem {
            Type::Slice(slice) if last_name(&slice.elem)? == "u8" => Some(Self::Bytes),
            elem if last_name(elem)? == "str" => Some(Self::Str),
            _ => None,
        }
    }
}

impl Operand {
    /// Returns `true` if it takes all remaining operands.
    pub(crate) fn is_variadic(&self) -> bool {
        matches!(self, Self::AnyRest | Self::Rest(_))
    }

    /// Returns `true` if programs may omit it.
    pub(crate) fn is_optional(&self) -> bool {
        matches!(
            self,
            Self::Optional(_) | Self::OptionalRef(_) | Self::OptionalText(_) | Self::Defaulted(..)
        )
    }

    /// Returns `true` if it is taken as a reference, which need not be available.
    pub(crate) fn is_reference(&self) -> bool {
        matches!(self, Self::Any { .. } | Self::Reference(_) | Self::AnyRest)
    }

    /// Returns `true` if a metadata function receives it: whether its payload is lent.
    pub(crate) fn is_shaped(&self) -> bool {
        matches!(self, Self::ByRef(_) | Self::ByMut(_))
    }

    /// Returns the type of its payload, if that is written.
    pub(crate) fn payload(&self) -> Option<&Type> {
        match self {
            Self::ByValue(ty)
            | Self::ByRef(ty)
            | Self::ByMut(ty)
            | Self::Reference(ty)
            | Self::Optional(ty)
            | Self::OptionalRef(ty)
            | Self::Rest(ty) => Some(ty),
            Self::Defaulted(operand, _) => operand.payload(),
            Self::Text(_)
            | Self::OptionalText(_)
            | Self::Dyn(_)
            | Self::Any { .. }
            | Self::AnyRest => None,
        }
    }
}

/// Reads the parameters.
pub(crate) fn parameters(function: &FunctionItem, problems: &mut Problems) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for input in &function.signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                problems.at(
                    receiver,
                    "a kernel must be a free function: it cannot take `self`",
                );
            }
            FnArg::Typed(parameter) => {
                // What a misspelled marker would have meant is not known.
                if check_attributes(&parameter.attrs, problems)
                    && let Some(parameter) = problems.note(read_parameter(parameter))
                {
                    parameters.push(parameter);
                }
            }
        }
    }
    parameters
}

/// Reports unknown attributes on parameters, and attributes that would change the parameters of the
/// kernel. Returns whether there are none.
fn check_attributes(attributes: &[Attribute], problems: &mut Problems) -> bool {
    let mut is_sound = true;
    for attribute in attributes {
        if attribute.path().is_ident("cfg") {
            problems.at(
                attribute,
                "a kernel must take the same parameters under every configuration",
            );
            is_sound = false;
        }
        if let Some(name) = function::unknown_marker(attribute) {
            let message = if function::is_op_marker(attribute) {
                format!(
                    "`#[{name}]` is only for operands of ops: write `#[tfrt_op]`, or remove the \
                     marker"
                )
            } else {
                let hint = did_you_mean(&name, function::MARKERS);
                format!("unknown marker `{name}`: {hint}")
            };
            problems.at(attribute.path(), message);
            is_sound = false;
        }
    }
    is_sound
}

fn read_parameter(parameter: &PatType) -> syn::Result<Parameter> {
    let ident = match &*parameter.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() => &pattern.ident,
        pattern => {
            return Err(syn::Error::new_spanned(
                pattern,
                "a parameter needs a name for the declaration of the op",
            ));
        }
    };
    let text = ident.to_string();
    let text = text.strip_prefix("r#").unwrap_or(&text);
    // A leading underscore says that the function does not use the parameter; programs need not
    // know.
    let name = text.trim_start_matches('_');
    let name = if name.is_empty() { text } else { name };
    let named = LitStr::new(name, ident.span());

    let markers: Vec<&Attribute> = parameter
        .attrs
        .iter()
        .filter(|attribute| function::is_marker(attribute))
        .collect();
    let binding = match markers.as_slice() {
        [] => by_type(&parameter.ty, named)?,
        [marker] => markers::marked(marker, &parameter.ty, named)?,
        [_, second, ..] => {
            return Err(syn::Error::new_spanned(
                second,
                "a parameter can have only one marker: remove one of them",
            ));
        }
    };
    Ok(Parameter {
        name: name.to_owned(),
        ident: ident.clone(),
        ty: (*parameter.ty).clone(),
        binding,
    })
}

/// Returns the binding of a parameter without a marker, by its type.
fn by_type(ty: &Type, name: LitStr) -> syn::Result<Binding> {
    match ungrouped(ty) {
        Type::Reference(reference) => by_reference(ty, reference, name),
        ty => by_value(ty, name),
    }
}

fn by_reference(ty: &Type, reference: &syn::TypeReference, name: LitStr) -> syn::Result<Binding> {
    let operand = |operand| Ok(Binding::Operand(operand));
    let elem = ungrouped(&reference.elem);
    if let Some(form) = TextForm::of_reference(elem) {
        return unless_mut(reference, Binding::Operand(Operand::Text(form)));
    }
    if let Type::TraitObject(_) = elem {
        payload_trait(elem)?;
        if reference.mutability.is_some() {
            return Err(syn::Error::new_spanned(
                ty,
                "a value behind `&dyn Trait` is read-only: to write to it, take its concrete type \
                 as `&mut T`",
            ));
        }
        return operand(Operand::Dyn(Box::new(elem.clone())));
    }
    if let Type::Slice(slice) = elem {
        return match last_name(&slice.elem).as_deref() {
            Some("AnyRef") => operand(Operand::AnyRest),
            Some("FunctionRef") => Ok(functions(name, true)),
            _ => Err(syn::Error::new_spanned(
                ty,
                "a slice is not a value: take all remaining operands as `Operands<'_, T>` or \
                 `&[AnyRef]`, or mark a constant list with `#[attr]`",
            )),
        };
    }
    let known = last_name(elem);
    if let Some("KernelFrame") = known.as_deref() {
        if reference.mutability.is_none() {
            return Err(syn::Error::new_spanned(
                ty,
                "a frame must be taken as `&mut`",
            ));
        }
        return Ok(Binding::Frame);
    }
    if let Some(binding) = context(elem, true) {
        return unless_mut(reference, binding);
    }
    if let Some(binding) = callable(elem, &name, true) {
        return unless_mut(reference, binding);
    }
    match known.as_deref() {
        Some("AnyRef") => unless_mut(reference, Binding::Operand(Operand::Any { is_lent: true })),
        Some("FunctionRef") => unless_mut(reference, function(name, true)),
        Some("Res") => {
            let resource = Box::new(expect_argument(elem)?);
            unless_mut(reference, Binding::Resource(resource, true))
        }
        Some(name @ ("AsyncValueRef" | "Operands" | "Attributes")) if has_arguments(elem) => Err(
            syn::Error::new_spanned(ty, format!("take the `{name}` by value")),
        ),
        Some("Option") => Err(syn::Error::new_spanned(
            ty,
            "an optional operand must be an `Option<T>` or an `Option<&T>`",
        )),
        Some("String") => Err(syn::Error::new_spanned(ty, "take the string as `&str`")),
        _ => {
            payload(elem)?;
            let elem = Box::new(elem.clone());
            operand(if reference.mutability.is_some() {
                Operand::ByMut(elem)
            } else {
                Operand::ByRef(elem)
            })
        }
    }
}

fn by_value(ty: &Type, name: LitStr) -> syn::Result<Binding> {
    let operand = |operand| Ok(Binding::Operand(operand));
    if let Some(binding) = context(ty, false) {
        return Ok(binding);
    }
    if let Some(binding) = callable(ty, &name, false) {
        return Ok(binding);
    }
    match last_name(ty).as_deref() {
        Some("AnyRef") => operand(Operand::Any { is_lent: false }),
        Some("String") => operand(Operand::Text(TextForm::String)),
        Some("FunctionRef") => Ok(function(name, false)),
        Some("Vec")
            if type_argument(ty)
                .is_some_and(|elem| last_name(elem).as_deref() == Some("FunctionRef")) =>
        {
            Ok(functions(name, false))
        }
        Some("AsyncValueRef") => operand(Operand::Reference(Box::new(payload_argument(ty)?))),
        Some("Operands") => operand(Operand::Rest(Box::new(payload_argument(ty)?))),
        Some("Attributes") if has_arguments(ty) => Ok(Binding::AllAttributes),
        Some("Res") => Ok(Binding::Resource(Box::new(expect_argument(ty)?), false)),
        Some("KernelFrame") => Err(syn::Error::new_spanned(
            ty,
            "a frame must be taken as `&mut`",
        )),
        Some("ExecutionContext" | "HostContext" | "RequestContext") => Err(
            syn::Error::new_spanned(ty, "a context must be taken as `&` or in an `Arc`"),
        ),
        Some("Option")
            if type_argument(ty)
                .is_some_and(|elem| last_name(elem).as_deref() == Some("FunctionRef")) =>
        {
            Ok(optional_function(name))
        }
        Some("Option") => operand(optional(&expect_argument(ty)?)?),
        _ => {
            payload(ty)?;
            operand(Operand::ByValue(Box::new(ty.clone())))
        }
    }
}

/// `Option<T>`, `Option<&T>`.
fn optional(ty: &Type) -> syn::Result<Operand> {
    let is_of_references = matches!(last_name(ty).as_deref(), Some("AnyRef" | "AsyncValueRef"));
    match ungrouped(ty) {
        Type::Reference(reference) => {
            if let Some(mutability) = &reference.mutability {
                return Err(syn::Error::new_spanned(
                    mutability,
                    "an operand that the kernel writes cannot be optional: take it as `&mut T`",
                ));
            }
            let elem = ungrouped(&reference.elem);
            if let Some(form) = TextForm::of_reference(elem) {
                return Ok(Operand::OptionalText(form));
            }
            if let Type::TraitObject(_) = elem {
                return Err(syn::Error::new_spanned(
                    elem,
                    "an operand of several types cannot be optional: take it as `&dyn Trait`",
                ));
            }
            if is_string(elem) {
                return Err(syn::Error::new_spanned(
                    elem,
                    "take the string as `Option<&str>`",
                ));
            }
            payload(elem)?;
            Ok(Operand::OptionalRef(Box::new(elem.clone())))
        }
        ty if is_of_references => Err(syn::Error::new_spanned(
            ty,
            "an optional reference must be the last parameter, as `&[AnyRef]`",
        )),
        ty if types::is_chain(ty) => Err(syn::Error::new_spanned(
            ty,
            "programs may pass a chain to any kernel: remove this parameter",
        )),
        ty if is_string(ty) => Ok(Operand::OptionalText(TextForm::String)),
        ty => {
            payload(ty)?;
            Ok(Operand::Optional(Box::new(ty.clone())))
        }
    }
}

fn has_arguments(ty: &Type) -> bool {
    types::arguments(ty).next().is_some()
}

fn function(name: LitStr, is_lent: bool) -> Binding {
    Binding::Function(FunctionBinding {
        name,
        is_region: false,
        is_list: false,
        is_optional: false,
        is_lent,
        callable: None,
    })
}

fn optional_function(name: LitStr) -> Binding {
    Binding::Function(FunctionBinding {
        name,
        is_region: false,
        is_list: false,
        is_optional: true,
        is_lent: false,
        callable: None,
    })
}

fn functions(name: LitStr, is_lent: bool) -> Binding {
    Binding::Function(FunctionBinding {
        name,
        is_region: false,
        is_list: true,
        is_optional: false,
        is_lent,
        callable: None,
    })
}

/// `Function<(A,), (R,)>`, `Region<(A,), (R,)>`.
fn callable(ty: &Type, name: &LitStr, is_lent: bool) -> Option<Binding> {
    let known = last_name(ty)?;
    let is_region = known == "Region";
    let is_callable = (is_region || known == "Function") && type_arguments(ty).count() == 2;
    is_callable.then(|| {
        Binding::Function(FunctionBinding {
            name: name.clone(),
            is_region,
            is_list: false,
            is_optional: false,
            is_lent,
            callable: Some(Box::new(ty.clone())),
        })
    })
}

/// Returns the context that a type names, by reference or by value.
fn context(ty: &Type, is_lent: bool) -> Option<Binding> {
    let name = last_name(ty)?;
    let shared = if name == "Arc" {
        type_argument(ty).and_then(last_name)
    } else {
        None
    };
    let context = match (name.as_str(), shared.as_deref(), is_lent) {
        ("ExecutionContext", _, true) => Context::Execution,
        ("ExecutionContext", _, false) => Context::OwnedExecution,
        ("HostContext", _, true) => Context::Host,
        ("Arc", Some("HostContext"), true) => Context::SharedHost,
        ("Arc", Some("HostContext"), false) => Context::OwnedHost,
        ("RequestContext", _, true) => Context::Request,
        ("Arc", Some("RequestContext"), true) => Context::SharedRequest,
        ("Arc", Some("RequestContext"), false) => Context::OwnedRequest,
        _ => return None,
    };
    Some(Binding::Context(context))
}

fn unless_mut(reference: &syn::TypeReference, binding: Binding) -> syn::Result<Binding> {
    match reference.mutability {
        Some(mutability) => Err(syn::Error::new_spanned(
            mutability,
            "a kernel cannot change this object: take it as `&`",
        )),
        None => Ok(binding),
    }
}

/// Returns the generic parameters that need a list of values.
pub(crate) fn generic_parameters(function: &FunctionItem) -> Vec<&Ident> {
    let parameters = function.signature.generics.params.iter();
    parameters
        .filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(&parameter.ident),
            GenericParam::Const(parameter) => Some(&parameter.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect()
}

/// Returns the type of a const parameter.
pub(crate) fn const_type<'a>(function: &'a FunctionItem, name: &Ident) -> Option<&'a Type> {
    let mut parameters = function.signature.generics.const_params();
    let parameter = parameters.find(|parameter| parameter.ident == *name)?;
    Some(&parameter.ty)
}
