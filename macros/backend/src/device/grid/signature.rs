//! The parameters of a grid kernel.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, FnArg, GenericArgument, Ident, Lit, Pat, PathArguments, ReturnType, Type};

use super::GridOptions;
use crate::device::Parameter;
use crate::device::body::grid::{Array, ArrayKind};
use crate::device::scalar::Scalar;
use crate::function::FunctionItem;
use crate::problems::Problems;

/// A parameter of the function, in the order in which it is written.
pub(super) enum Role {
    Grid,
    /// A number.
    Number,
    Array(Array),
}

/// The parameters of the function.
pub(super) struct Signature {
    /// The names, types and roles.
    pub(super) all: Vec<(Ident, Type, Role)>,
    pub(super) grid: Ident,
    pub(super) operands: Vec<Parameter>,
    pub(super) result: Array,
}

impl Signature {
    pub(super) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.all.iter().filter_map(|(_, _, role)| match role {
            Role::Array(array) => Some(array),
            _ => None,
        })
    }

    /// Returns the numbers of dimensions of the operands; none for numbers.
    pub(super) fn ranks(&self) -> Vec<Option<usize>> {
        let mut ranks = vec![None; self.operands.len()];
        for array in self.arrays() {
            if let ArrayKind::Operand(number) = array.kind {
                ranks[number] = Some(array.rank);
            }
        }
        ranks
    }
}

/// Checks the parameters.
pub(super) fn parameters(
    options: &GridOptions,
    function: &FunctionItem,
    problems: &mut Problems,
) -> Option<Signature> {
    if let ReturnType::Type(_, ty) = &function.signature.output {
        problems.at(
            ty,
            "a grid kernel has no value: take the result as `result: &mut OutView<f32, 1>`",
        );
    }
    let (mut all, mut operands): (Vec<(Ident, Type, Role)>, _) = (Vec::new(), Vec::new());
    let (mut grid, mut result, mut num_shared) = (None, None, 0);
    for input in &function.signature.inputs {
        let FnArg::Typed(input) = input else {
            problems.at(input, "a grid kernel is a free function: remove `self`");
            continue;
        };
        if let Some(attribute) = input.attrs.first() {
            problems.at(attribute, "parameters of grid kernels have no attributes");
        }
        let Pat::Ident(pattern) = &*input.pat else {
            problems.at(&input.pat, "give the parameter a name");
            continue;
        };
        if pattern.mutability.is_some() || pattern.by_ref.is_some() || pattern.subpat.is_some() {
            problems.at(
                pattern,
                "the parameters of a grid kernel do not change: write `let mut x = …;` in the body",
            );
        }
        let ident = pattern.ident.clone();
        let Some(kind) = problems.note(Kind::of(&input.ty)) else {
            continue;
        };
        let role = match kind {
            Kind::Grid => {
                if !all.is_empty() {
                    problems.at(input, "the grid is the first parameter: `grid: &Grid`");
                }
                grid = Some(ident.clone());
                Role::Grid
            }
            Kind::Number(ty) => {
                operands.push(Parameter {
                    ident: ident.clone(),
                    ty,
                });
                Role::Number
            }
            Kind::View(ty, rank) => {
                operands.push(Parameter {
                    ident: ident.clone(),
                    ty,
                });
                let kind = ArrayKind::Operand(operands.len() - 1);
                Role::Array(Array {
                    ident: ident.clone(),
                    kind,
                    ty,
                    rank,
                })
            }
            Kind::OutView(ty, rank) => {
                let array = Array {
                    ident: ident.clone(),
                    kind: ArrayKind::Result {
                        has_initial: options.initial.is_some(),
                    },
                    ty,
                    rank,
                };
                if result.is_some() {
                    problems.at(
                        input,
                        "a grid kernel has one result: write one kernel for each",
                    );
                }
                result = Some(array.clone());
                Role::Array(array)
            }
            Kind::Shared(ty) => {
                num_shared += 1;
                Role::Array(Array {
                    ident: ident.clone(),
                    kind: ArrayKind::Shared(num_shared - 1),
                    ty,
                    rank: 1,
                })
            }
        };
        all.push((ident, (*input.ty).clone(), role));
    }
    let name = &function.signature.ident;
    if grid.is_none() {
        problems.at(
            name,
            "the first parameter of a grid kernel is the grid: `grid: &Grid`",
        );
    }
    if result.is_none() {
        problems.at(
            name,
            "a grid kernel writes a result: add the parameter `result: &mut OutView<f32, 1>`",
        );
    }
    Some(Signature {
        all,
        grid: grid?,
        operands,
        result: result?,
    })
}

/// What a type stands for.
enum Kind {
    Grid,
    Number(Scalar),
    View(Scalar, usize),
    OutView(Scalar, usize),
    Shared(Scalar),
}

impl Kind {
    fn of(ty: &Type) -> syn::Result<Self> {
        let refused = |message: &str| Err(syn::Error::new_spanned(ty, message));
        let (is_mutable, target) = match ty {
            Type::Group(group) => return Self::of(&group.elem),
            Type::Reference(reference) => (reference.mutability.is_some(), &*reference.elem),
            other => {
                let Some((name, _)) = named(other) else {
                    return refused(TYPES);
                };
                return match name.as_str() {
                    "Grid" => refused("write `&Grid`"),
                    "View" => refused("borrow the operand: `&View<f32, 1>`"),
                    "OutView" => refused("borrow the result mutably: `&mut OutView<f32, 1>`"),
                    "Shared" => refused("borrow the array mutably: `&mut Shared<f32, 256>`"),
                    _ => Scalar::of(other).map(Self::Number),
                };
            }
        };
        let Some((name, arguments)) = named(target) else {
            return refused(TYPES);
        };
        match (name.as_str(), is_mutable) {
            ("Grid", false) if arguments.is_empty() => Ok(Self::Grid),
            ("Grid", _) => refused("write `&Grid`"),
            ("View", false) => {
                let (ty, rank) = element_and_rank(target, &arguments)?;
                Ok(Self::View(ty, rank))
            }
            ("View", true) => refused("operands are only read: write `&View<f32, 1>`"),
            ("OutView", true) => {
                let (ty, rank) = element_and_rank(target, &arguments)?;
                Ok(Self::OutView(ty, rank))
            }
            ("OutView", false) => refused("the result is written: `&mut OutView<f32, 1>`"),
            ("Shared", true) => match arguments.as_slice() {
                [GenericArgument::Type(ty), len] => {
                    let ty = Scalar::of(ty)?;
                    check_len(ty, len)?;
                    Ok(Self::Shared(ty))
                }
                _ => refused("write the type and the number of elements: `&mut Shared<f32, 256>`"),
            },
            ("Shared", false) => refused("a shared array is written: `&mut Shared<f32, 256>`"),
            _ => refused(TYPES),
        }
    }
}

const TYPES: &str = "a grid kernel takes `&Grid`, operands `&View<f32, 1>` or numbers, shared \
                     arrays `&mut Shared<f32, 256>`, and the result `&mut OutView<f32, 1>`";

/// Returns the last name of a path, with its arguments.
fn named(ty: &Type) -> Option<(String, Vec<GenericArgument>)> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::None => Vec::new(),
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().cloned().collect(),
        PathArguments::Parenthesized(_) => return None,
    };
    Some((last.ident.to_string(), arguments))
}

/// Refuses a number of elements that is too large for the memory of a block. The compiler checks
/// those that are computed.
fn check_len(ty: Scalar, len: &GenericArgument) -> syn::Result<()> {
    let GenericArgument::Const(Expr::Lit(literal)) = len else {
        return Ok(());
    };
    let Lit::Int(number) = &literal.lit else {
        return Ok(());
    };
    let most = MAX_SHARED_BYTES / ty.size_bytes();
    match number.base10_parse::<usize>() {
        Ok(len) if (1..=most).contains(&len) => Ok(()),
        _ => Err(syn::Error::new_spanned(
            len,
            format!("expected a number of elements from 1 to {most}, which have 48 KiB"),
        )),
    }
}

/// The memory of a block, in bytes.
const MAX_SHARED_BYTES: usize = 48 << 10;

/// Returns the element type and the number of dimensions of a view.
fn element_and_rank(ty: &Type, arguments: &[GenericArgument]) -> syn::Result<(Scalar, usize)> {
    let [GenericArgument::Type(element), rank] = arguments else {
        return Err(syn::Error::new_spanned(
            ty,
            "write the element type and the number of dimensions: `View<f32, 2>`",
        ));
    };
    let element = Scalar::of(element)?;
    let number = match rank {
        GenericArgument::Const(Expr::Lit(literal)) => match &literal.lit {
            Lit::Int(number) => number.base10_parse::<usize>().ok(),
            _ => None,
        },
        _ => None,
    };
    match number {
        Some(rank) if rank <= MAX_RANK => Ok((element, rank)),
        _ => Err(syn::Error::new_spanned(
            rank,
            format!("expected a number of dimensions from 0 to {MAX_RANK}"),
        )),
    }
}

/// The largest number of dimensions of an array.
const MAX_RANK: usize = 8;

/// Returns the number of elements of a shared array, as it is written.
pub(super) fn shared_len(ty: &Type) -> TokenStream {
    let target = match ty {
        Type::Reference(reference) => &*reference.elem,
        other => other,
    };
    let arguments = named(target).map(|(_, arguments)| arguments);
    let len = arguments.as_ref().and_then(|arguments| arguments.get(1));
    len.map(ToTokens::to_token_stream).unwrap_or_default()
}
