//! Parameters with a marker: `#[attr]`, `#[function]`, `#[operand]`, `#[out]`, `#[region]`,
//! `#[workspace]`.

use syn::meta::ParseNestedMeta;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, LitStr, Meta, Type};

use crate::problems::{Problems, did_you_mean};
use crate::signature::types::{
    StaticLifetimes, expect_argument, fixed_size, last_name, payload, ungrouped,
};
use crate::signature::{Binding, FunctionBinding, Operand, by_type};

/// Returns the binding of a parameter of type `ty` with this marker.
pub(super) fn marked(marker: &Attribute, ty: &Type, named: LitStr) -> syn::Result<Binding> {
    let path = marker.path();
    if path.is_ident("attr") {
        attribute(marker, ty, named)
    } else if path.is_ident("operand") {
        operand(marker, ty)
    } else if path.is_ident("out") {
        out(marker, ty)
    } else if path.is_ident("workspace") {
        workspace(marker, ty)
    } else {
        function(marker, ty, named)
    }
}

/// The content of a marker's parentheses.
#[derive(Default)]
struct Given {
    name: Option<LitStr>,
    default: Option<Box<Expr>>,
}

impl Given {
    /// Parses `(key = …, …)` with these keys, and reports every mistake.
    fn parse(marker: &Attribute, keys: &[&str]) -> syn::Result<Self> {
        let mut given = Self::default();
        let mut problems = Problems::default();
        let parsed = marker.parse_nested_meta(|meta| {
            problems.note(given.parse_key(&meta, keys));
            // The rest of the list is read even behind a mistake.
            if !meta.input.is_empty() && !meta.input.peek(syn::Token![,]) {
                let _ = meta.value().and_then(|value| value.parse::<Expr>());
            }
            Ok(())
        });
        problems.note(parsed);
        problems.finish(given)
    }

    fn parse_key(&mut self, meta: &ParseNestedMeta<'_>, keys: &[&str]) -> syn::Result<()> {
        let Some(key) = meta.path.get_ident().map(ToString::to_string) else {
            return Err(meta.error("expected the name of an option"));
        };
        if !keys.contains(&key.as_str()) {
            let hint = did_you_mean(&key, keys);
            return Err(meta.error(format!("unknown option `{key}`: {hint}")));
        }
        if !meta.input.peek(syn::Token![=]) {
            let example = if key == "name" { "\"…\"" } else { "…" };
            return Err(meta.error(format!("`{key}` needs a value: write `{key} = {example}`")));
        }
        let is_twice = match key.as_str() {
            "name" => self.name.replace(meta.value()?.parse()?).is_some(),
            _ => self
                .default
                .replace(Box::new(meta.value()?.parse()?))
                .is_some(),
        };
        if is_twice {
            return Err(meta.error(format!("`{key}` is given twice")));
        }
        Ok(())
    }
}

/// `#[attr]`, `#[attr("name")]`, `#[attr(name = "…", default = …)]`.
fn attribute(marker: &Attribute, ty: &Type, named: LitStr) -> syn::Result<Binding> {
    let given = match &marker.meta {
        Meta::Path(_) => Given::default(),
        Meta::NameValue(meta) => {
            return Err(syn::Error::new_spanned(
                meta,
                "write `#[attr(\"name\")]` or `#[attr(name = \"…\", default = …)]`",
            ));
        }
        Meta::List(list) => match list.parse_args::<LitStr>() {
            Ok(name) => Given {
                name: Some(name),
                default: None,
            },
            Err(_) => Given::parse(marker, &["name", "default"])?,
        },
    };
    let mut bare = match ungrouped(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => {
            return Err(syn::Error::new_spanned(
                ty,
                "an attribute is a constant: take it by value or as `&T`",
            ));
        }
        Type::Reference(reference) => {
            lies_in_file(ty, &reference.elem)?;
            (*reference.elem).clone()
        }
        ty if last_name(ty).as_deref() == Some("Option") => {
            optional(ty, given.default.as_deref())?;
            ty.clone()
        }
        ty => {
            fixed_size(ty)?;
            ty.clone()
        }
    };
    let is_optional = last_name(&bare).as_deref() == Some("Option");
    StaticLifetimes.visit_type_mut(&mut bare);
    Ok(Binding::Attribute {
        name: given.name.unwrap_or(named),
        marker: Box::new(bare),
        is_optional,
        default: given.default,
    })
}

/// Checks `Option<T>`, an attribute that is `None` where programs leave it out.
fn optional(ty: &Type, default: Option<&Expr>) -> syn::Result<()> {
    if let Some(default) = default {
        return Err(syn::Error::new_spanned(
            default,
            "an `Option` is `None` if the program leaves the attribute out: remove the `Option` \
             or the default",
        ));
    }
    match ungrouped(&expect_argument(ty)?) {
        Type::Reference(reference) if reference.mutability.is_some() => Err(
            syn::Error::new_spanned(ty, "an attribute is a constant: take it as an `Option<&T>`"),
        ),
        Type::Reference(reference) => lies_in_file(ty, &reference.elem),
        inner => fixed_size(inner),
    }
}

/// Refuses references to what is made when an attribute is read, instead of lying in the file as
/// texts and lists do.
fn lies_in_file(ty: &Type, elem: &Type) -> syn::Result<()> {
    let message = match last_name(elem).as_deref() {
        Some("String") => String::from("take a string as `&str`, or as a `String` by value"),
        Some("Vec") => String::from("take a list as `&[T]`, or as a `Vec<T>` by value"),
        Some(
            name @ ("bool"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "f16"
            | "bf16"
            | "f32"
            | "f64"
            | "DType"
            | "DenseView"
            | "ShapeView"
            | "AggregateView"
            | "CompilationUnitView"),
        ) => format!("take this attribute by value: write `{name}`"),
        _ => return fixed_size(elem),
    };
    Err(syn::Error::new_spanned(ty, message))
}

/// `#[operand(default = …)]`.
fn operand(marker: &Attribute, ty: &Type) -> syn::Result<Binding> {
    let example =
        "to set the value of an operand that a program leaves out, write `#[operand(default = …)]`";
    let given = match &marker.meta {
        Meta::List(_) => Given::parse(marker, &["default"])?,
        _ => return Err(syn::Error::new_spanned(marker, example)),
    };
    let Some(default) = given.default else {
        return Err(syn::Error::new_spanned(marker, example));
    };
    let optional = match by_type(ty, LitStr::new("", marker.pound_token.span))? {
        Binding::Operand(Operand::ByValue(ty)) => Operand::Optional(ty),
        Binding::Operand(Operand::Text(form)) => Operand::OptionalText(form),
        _ => {
            return Err(syn::Error::new_spanned(
                ty,
                "an operand with a default must be taken by value",
            ));
        }
    };
    Ok(Binding::Operand(Operand::Defaulted(
        Box::new(optional),
        default,
    )))
}

/// Returns a marker without options.
fn expect_bare(marker: &Attribute) -> syn::Result<()> {
    match &marker.meta {
        Meta::Path(_) => Ok(()),
        meta => Err(syn::Error::new_spanned(meta, "this marker has no options")),
    }
}

/// `#[out] name: &mut T`.
fn out(marker: &Attribute, ty: &Type) -> syn::Result<Binding> {
    expect_bare(marker)?;
    match ungrouped(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => {
            let elem = ungrouped(&reference.elem);
            payload(elem)?;
            Ok(Binding::Out(Box::new(elem.clone())))
        }
        ty => Err(syn::Error::new_spanned(
            ty,
            "a preallocated result must be taken as `&mut T`",
        )),
    }
}

/// `#[workspace] name: &mut [T]`.
fn workspace(marker: &Attribute, ty: &Type) -> syn::Result<Binding> {
    expect_bare(marker)?;
    if let Type::Reference(reference) = ungrouped(ty)
        && reference.mutability.is_some()
        && let Type::Slice(slice) = ungrouped(&reference.elem)
    {
        return Ok(Binding::Workspace(slice.elem.clone()));
    }
    Err(syn::Error::new_spanned(
        ty,
        "a workspace must be taken as `&mut [T]`, where `T` is a number",
    ))
}

/// `#[function]`, `#[function("name")]`, `#[region]`, `#[region("name")]`.
fn function(marker: &Attribute, ty: &Type, named: LitStr) -> syn::Result<Binding> {
    let is_region = marker.path().is_ident("region");
    let given = match &marker.meta {
        Meta::Path(_) => named,
        _ => marker.parse_args::<LitStr>().map_err(|error| {
            let marker = if is_region { "region" } else { "function" };
            syn::Error::new(
                error.span(),
                format!("write `#[{marker}]` or `#[{marker}(\"name\")]`"),
            )
        })?,
    };
    let binding = match by_type(ty, given)? {
        Binding::Function(binding) if !(is_region && binding.is_optional) => binding,
        _ => {
            return Err(syn::Error::new_spanned(
                ty,
                "take a function as a `FunctionRef`, a `&FunctionRef` or a `&[FunctionRef]`, or \
                 as a `Function<…>` or `Region<…>` with its signature",
            ));
        }
    };
    if is_region && binding.is_list {
        return Err(syn::Error::new_spanned(
            ty,
            "a list of functions can only contain symbols: take regions one by one",
        ));
    }
    if binding.callable.is_some() && binding.is_region != is_region {
        let (is, wanted) = if is_region {
            ("Function", "Region")
        } else {
            ("Region", "Function")
        };
        return Err(syn::Error::new_spanned(
            ty,
            format!("the marker contradicts the type: expected a `{wanted}<…>`, found a `{is}<…>`"),
        ));
    }
    Ok(Binding::Function(FunctionBinding {
        is_region,
        ..binding
    }))
}
