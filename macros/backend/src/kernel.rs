//! The model of a kernel, checked as a whole.
//!
//! What [`crate::expand`] needs is decided here: positions, names, defaults, whether there is a chain.

mod check;

mod declare;

mod format;

mod instances;

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, ItemFn, LitStr, Path, ReturnType, Type, Visibility};

use crate::options::{Options, RawType};
use crate::problems::Problems;
use crate::signature::{self, Binding, Operand, Output};

pub use instances::Instance;

/// A kernel, with nothing left to decide.
#[derive(Debug)]
pub struct Kernel {
    /// The function.
    pub ident: Ident,
    /// How visible the function is.
    pub visibility: Visibility,
    /// The `#[cfg]`s of the function.
    pub conditions: Vec<Attribute>,
    /// The root of paths in the expansion, if it is not `::tfrt`.
    pub crate_path: Option<Path>,
    /// What runs it.
    pub form: Form,
    /// The instances; one without values if the function is not generic.
    pub instances: Vec<Instance>,
    /// The parameters, as markers, and where their types stand.
    pub parameters: Vec<(Marker, Span)>,
    /// Where the list of parameters stands.
    pub parameters_span: Span,
    /// Where the return type stands.
    pub output_span: Span,
    /// What it gives.
    pub output: Output,
    /// The declaration.
    pub declaration: Declaration,
    /// Payload types that must be mutable.
    pub mutable_types: Vec<Type>,
    /// Payload types that must not be.
    pub immutable_types: Vec<Type>,
}

/// What runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The executor, inline.
    Plain,
    /// The interpreter of synchronous functions.
    Sync,
    /// The blocking pool.
    Blocking,
    /// The work queue, as a future.
    Future,
    /// The executor; the function takes its frame.
    Raw,
    /// The interpreter; the function takes its frame.
    RawSync,
}

/// How one parameter is bound, with its position.
#[derive(Debug)]
pub enum Marker {
    /// The operand at this position; the chain follows a variadic one.
    Operand(Operand, usize, bool),
    /// The attribute at this position.
    Attribute(Box<Type>, usize),
    /// The function at this position.
    Function {
        /// From the start, or from the end.
        index: usize,
        /// Which of the two.
        is_from_end: bool,
        /// Whether the parameter is a reference.
        is_lent: bool,
    },
    /// The functions between these many at the start and at the end.
    Functions {
        /// At the start.
        before: usize,
        /// At the end.
        after: usize,
        /// Whether the parameter is a reference.
        is_lent: bool,
    },
    /// A context.
    Context(&'static str),
}

/// The declaration, apart from what types say.
#[derive(Debug)]
pub struct Declaration {
    /// The first paragraph of the doc comment.
    pub summary: String,
    /// The rest of it.
    pub description: String,
    /// The operands, without the chain that the macro adds.
    pub operands: Vec<OperandEntry>,
    /// The attributes, in byte order of their names.
    pub attributes: Vec<AttributeEntry>,
    /// The functions, in order.
    pub functions: Vec<FunctionEntry>,
    /// The results, without the chain that the macro adds.
    pub results: Vec<ResultEntry>,
    /// Names of constants of `OpTraits`.
    pub traits: Vec<&'static str>,
    /// The class of its effect.
    pub effect: Option<String>,
    /// The custom syntax.
    pub format: Option<LitStr>,
    /// Further rules.
    pub verify: Option<Path>,
    /// Whether the macro adds a chain operand and result.
    pub has_added_chain: bool,
}

/// An operand in the declaration.
#[derive(Debug)]
pub enum OperandEntry {
    /// That of a parameter, by its index among the parameters.
    OfParameter(String, usize),
    /// As an option describes it.
    Raw(String, RawEntry),
}

/// A result in the declaration.
#[derive(Debug)]
pub enum ResultEntry {
    /// That of a leaf of the output, by its index; and the operand that it shares memory with.
    OfOutput(String, usize, Option<String>),
    /// As an option describes it.
    Raw(String, RawEntry),
}

/// A value as an option describes it.
#[derive(Debug)]
pub struct RawEntry {
    /// Its type.
    pub ty: RawType,
    /// Whether there may be any number.
    pub is_variadic: bool,
    /// Whether it is written.
    pub is_mutated: bool,
    /// Whether it is taken as a reference.
    pub is_reference: bool,
}

/// An attribute in the declaration.
#[derive(Debug)]
pub struct AttributeEntry {
    /// Its name.
    pub name: String,
    /// The type that it is read as.
    pub ty: Type,
    /// Its default.
    pub default: Option<AttributeDefault>,
}

/// The default of an attribute, with its place.
#[derive(Debug)]
pub struct AttributeDefault {
    /// The constructor of `AttrDefault`.
    pub kind: &'static str,
    /// What it holds.
    pub value: Option<TokenStream>,
    /// Its place.
    pub span: Span,
}

/// A function in the declaration.
#[derive(Debug)]
pub struct FunctionEntry {
    /// Its name.
    pub name: String,
    /// The variant of `FunctionForm`.
    pub form: &'static str,
}

/// Where the return type stands; without one, where the function is named.
fn output_span(function: &ItemFn) -> Span {
    match &function.sig.output {
        ReturnType::Default => function.sig.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    }
}

impl Form {
    /// Whether the function takes its frame.
    pub(crate) fn is_raw(self) -> bool {
        matches!(self, Self::Raw | Self::RawSync)
    }

    /// Whether the interpreter of synchronous functions runs it.
    pub(crate) fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::RawSync)
    }

    fn of(options: &Options, function: &ItemFn) -> Self {
        match (options.has("raw"), options.has("sync")) {
            (true, true) => Self::RawSync,
            (true, false) => Self::Raw,
            (false, true) => Self::Sync,
            _ if function.sig.asyncness.is_some() => Self::Future,
            _ if options.has("blocking") => Self::Blocking,
            _ => Self::Plain,
        }
    }
}

impl Kernel {
    /// The model of `function` under `options`.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn new(options: TokenStream, function: &ItemFn) -> syn::Result<Self> {
        let mut problems = Problems::default();
        let options = Options::parse(options, &mut problems);
        let form = Form::of(&options, function);
        let parameters = signature::parameters(function, &mut problems);
        let output = signature::output(&function.sig.output, &mut problems);
        let instances = instances::instances(&options, function, &mut problems);

        check::function(function, &mut problems);
        check::options(&options, form, function, &mut problems);
        check::parameters(&options, form, function, &parameters, &mut problems);
        check::output(form, function, &output, &mut problems);

        let types_where = |select: fn(&Operand) -> Option<&Type>| {
            let operands = parameters
                .iter()
                .filter_map(|parameter| match &parameter.binding {
                    Binding::Operand(operand) => select(operand),
                    _ => None,
                });
            operands.cloned().collect()
        };
        let mutable_types = types_where(|operand| match operand {
            Operand::ByMut(ty) => Some(ty),
            _ => None,
        });
        let immutable_types = types_where(|operand| match operand {
            Operand::Rest(ty) => Some(ty),
            _ => None,
        });
        let crate_path = options.crate_path.clone();
        let (markers, declaration) =
            declare::declare(options, form, function, parameters, &output, &mut problems);
        format::check(&declaration, &markers, &output, &mut problems);
        problems.finish(Self {
            ident: function.sig.ident.clone(),
            visibility: function.vis.clone(),
            conditions: function
                .attrs
                .iter()
                .filter(|attribute| attribute.path().is_ident("cfg"))
                .cloned()
                .collect(),
            crate_path,
            form,
            instances,
            parameters: markers,
            parameters_span: function.sig.paren_token.span.join(),
            output_span: output_span(function),
            output,
            declaration,
            mutable_types,
            immutable_types,
        })
    }
}
