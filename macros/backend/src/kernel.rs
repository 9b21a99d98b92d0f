//! The model of a kernel, checked as a whole.
//!
//! This module decides everything that [`crate::expand`] needs: positions, names, defaults, and
//! whether there is a chain.

mod check;

pub(crate) mod declare;

pub(crate) mod rules;

pub(crate) mod instances;

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Expr, Ident, LitStr, Path, Type, Visibility};
use tfrt_ods::{Arity, FunctionForm, OpTraits};

use crate::function::FunctionItem;
use crate::options::{AttributeType, Flag, Options, RawType, Subject};
use crate::problems::Problems;
use crate::signature::{self, Binding, Context, Operand, Output};

pub use instances::Instance;

/// A function as a kernel, completely resolved.
#[derive(Debug)]
pub struct KernelModel {
    /// The function.
    pub ident: Ident,
    /// The visibility of the function.
    pub visibility: Visibility,
    /// The `#[cfg]`s of the function.
    pub conditions: Vec<Attribute>,
    /// The path of the facade, if the author gives one.
    pub crate_path: Option<Path>,
    /// The name of a type that stands for the kernels of the function.
    pub kernel_set: Option<Ident>,
    /// The span of the return type.
    pub output_span: Span,
    /// The results of the function.
    pub output: Output,
    /// The ways to run it: one variant, or one for the executor and one for the interpreter.
    pub variants: Vec<Variant>,
}

/// One way to run a kernel, with separate names.
#[derive(Debug)]
pub struct Variant {
    /// The component that runs it.
    pub form: Form,
    /// The instances; one without values if the function is not generic.
    pub instances: Vec<Instance>,
    /// The parameters.
    pub parameters: Vec<Bound>,
    /// Functions that prepare the call.
    pub preparation: Preparation,
    /// The declaration.
    pub declaration: Declaration,
}

/// The component that runs a kernel.
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

/// A parameter, and the span of its type.
#[derive(Debug)]
pub struct Bound {
    /// Its binding, with its position.
    pub marker: Marker,
    /// The span of its type.
    pub span: Span,
}

/// The binding of one parameter, with its position.
#[derive(Debug)]
pub enum Marker {
    /// The operand at this position; a chain may follow an optional one.
    Operand(Operand, usize, bool),
    /// The attribute at this position.
    Attribute(Box<Type>, usize),
    /// All attributes.
    AllAttributes,
    /// The function at this position.
    Function {
        /// From the start, or from the end.
        index: usize,
        /// Whether it counts from the end.
        is_from_end: bool,
        /// Whether the parameter is a reference.
        is_lent: bool,
        /// The type of the parameter, if it specifies the signature.
        callable: Option<Box<Type>>,
    },
    /// The function at this position, if the op has it.
    OptionalFunction(usize),
    /// The functions without this many at the start and at the end.
    Functions {
        /// At the start.
        before: usize,
        /// At the end.
        after: usize,
        /// Whether the parameter is a reference.
        is_lent: bool,
    },
    /// A resource, and whether the parameter is a reference.
    Resource(Box<Type>, bool),
    /// The preallocated result at this position.
    Out(Box<Type>, usize),
    /// The workspace: the type of its elements.
    Workspace(Box<Type>),
    /// A context.
    Context(Context),
}

/// The functions that an adapter calls before the kernel.
#[derive(Debug, Default)]
pub struct Preparation {
    /// The metadata function.
    pub metadata: Option<Path>,
    /// The workspace function.
    pub workspace: Option<Path>,
    /// The parameters whose memory the only preallocated result may take: operands that are taken
    /// as `&AnyRef`.
    pub forward: Vec<usize>,
    /// Whether they receive the metadata of every operand, rather than only of borrowed ones:
    /// operands of ops are all tensors.
    pub asks_all: bool,
}

impl Preparation {
    /// Returns `true` if there is something to prepare.
    pub(crate) fn is_needed(&self) -> bool {
        self.metadata.is_some() || self.workspace.is_some()
    }
}

/// The declaration, except for the parts that types determine.
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
    /// The properties of the op as a whole.
    pub traits: OpTraits,
    /// The class of its effect.
    pub effect: Option<String>,
    /// The class of the effects that it depends on, if it has no effect.
    pub reads: Option<String>,
    /// The custom syntax.
    pub format: Option<LitStr>,
    /// Further rules.
    pub verify: Option<Path>,
    /// `fold = path`.
    pub fold: Option<Path>,
    /// Whether the macro adds a chain operand and result.
    pub has_added_chain: bool,
}

/// An operand in the declaration.
#[derive(Debug)]
pub enum OperandEntry {
    /// The operand of a parameter, given by its index among the parameters.
    OfParameter(String, usize),
    /// Described by an option.
    Raw(String, RawEntry),
}

/// A result in the declaration.
#[derive(Debug)]
pub enum ResultEntry {
    /// The result of a leaf of the output, given by its index; and the operand that it shares
    /// memory with.
    OfOutput(String, usize, Option<String>),
    /// The preallocated result of a parameter, with its type.
    Out(String, Box<Type>),
    /// Described by an option.
    Raw(String, RawEntry),
}

/// A value described by an option.
#[derive(Debug)]
pub struct RawEntry {
    /// Its type.
    pub ty: RawType,
    /// The number of its occurrences.
    pub arity: Arity,
    /// Whether it is written.
    pub is_mutated: bool,
    /// Whether it is taken as a reference.
    pub is_reference: bool,
    /// The operand that it shares memory with, if it is a result.
    pub alias_of: Option<String>,
}

/// An attribute in the declaration.
#[derive(Debug)]
pub struct AttributeEntry {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: AttributeType,
    /// Its default.
    pub default: Option<AttributeDefault>,
}

/// The default of an attribute, with its place.
#[derive(Debug)]
pub struct AttributeDefault {
    /// The value.
    pub value: DefaultValue,
    /// Its place.
    pub span: Span,
}

/// The default of an attribute: a variant of `AttrDefault`, with its value as an expression.
#[derive(Debug)]
pub enum DefaultValue {
    /// A Boolean.
    Bool(TokenStream),
    /// An integer, or a case of an enum.
    Int(TokenStream),
    /// A number.
    Float(TokenStream),
    /// A string.
    String(TokenStream),
    /// `[]`
    EmptyArray,
    /// No value: the attribute is optional.
    Absent,
}

/// A function in the declaration.
#[derive(Debug)]
pub struct FunctionEntry {
    /// Its name.
    pub name: String,
    /// The way in which the op refers to it.
    pub form: FunctionForm,
    /// The type that specifies its signature.
    pub callable: Option<Type>,
}

impl Form {
    /// Returns `true` if the function takes its frame.
    pub(crate) fn is_raw(self) -> bool {
        matches!(self, Self::Raw | Self::RawSync)
    }

    /// Returns `true` if the interpreter of synchronous functions runs it.
    pub(crate) fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::RawSync)
    }

    /// Returns the form that runs the same function in the interpreter.
    fn in_sync_function(self) -> Self {
        match self {
            Self::Raw => Self::RawSync,
            _ => Self::Sync,
        }
    }

    fn of(options: &Options, function: &FunctionItem) -> Self {
        match (options.has(Flag::Raw), options.has(OpTraits::SYNC)) {
            (true, true) => Self::RawSync,
            (true, false) => Self::Raw,
            (false, true) => Self::Sync,
            _ if function.signature.asyncness.is_some() => Self::Future,
            _ if options.has(OpTraits::BLOCKING) => Self::Blocking,
            _ => Self::Plain,
        }
    }
}

impl KernelModel {
    /// Creates the model of `function` with `options`.
    ///
    /// # Errors
    /// Returns all errors of the kernel.
    pub fn new(options: TokenStream, function: &FunctionItem) -> syn::Result<Self> {
        let mut problems = Problems::default();
        let options = Options::parse(options, Subject::Kernel, &mut problems);
        let form = Form::of(&options, function);
        let output = signature::output::read(&function.signature.output, &mut problems);

        check::function(function, &mut problems);
        check::options(&options, form, function, &mut problems);
        let names = &options.names;
        let mut variants = vec![Variant::new(
            &options,
            names,
            form,
            function,
            &output,
            &mut problems,
        )];
        // What is wrong with the function is wrong in either form, and was said.
        if !options.sync_names.is_empty() && problems.is_empty() {
            let names = &options.sync_names;
            variants.push(Variant::new(
                &options,
                names,
                form.in_sync_function(),
                function,
                &output,
                &mut problems,
            ));
        }
        problems.finish(Self {
            ident: function.signature.ident.clone(),
            visibility: function.visibility.clone(),
            conditions: function.conditions(),
            crate_path: options.crate_path,
            kernel_set: options.kernel_set,
            output_span: function.output_span(),
            output,
            variants,
        })
    }
}

impl Variant {
    fn new(
        options: &Options,
        names: &[LitStr],
        form: Form,
        function: &FunctionItem,
        output: &Output,
        problems: &mut Problems,
    ) -> Self {
        let instances = instances::instances(options, names, function, problems);
        let parameters = signature::parameters(function, problems);
        check::parameters(options, form, function, &parameters, problems);
        check::output(form, function, output, &parameters, problems);
        let (parameters, declaration) =
            declare::declare(options, form, function, parameters, output, problems);
        Self {
            form,
            instances,
            parameters,
            preparation: Preparation {
                metadata: options.metadata.clone(),
                workspace: options.workspace.clone(),
                forward: Vec::new(),
                asks_all: false,
            },
            declaration,
        }
    }
}

impl Marker {
    /// Returns `true` if the adapter makes the argument, rather than the frame.
    pub(crate) fn is_prepared(&self) -> bool {
        matches!(self, Self::Out(..) | Self::Workspace(_))
    }

    /// Returns the default value of an omitted operand.
    pub(crate) fn default(&self) -> Option<&Expr> {
        match self {
            Self::Operand(Operand::Defaulted(_, default), ..) => Some(default),
            _ => None,
        }
    }
}

/// Returns `true` if a binding is an operand that is written.
pub(crate) fn is_written(binding: &Binding) -> bool {
    matches!(binding, Binding::Operand(Operand::ByMut(_)))
}
