//! The model of an op: a kernel, and how it is registered.
//!
//! ```text
//!  options ──► those of ops ──┐
//!     └──────► those of kernels ─┐
//!  function ──► adapted ─────────┴─► KernelModel ──► expand
//! ```
//!
//! A function whose operands are elements rather than tensors gets an adapter, a function of
//! tensors that borrows them: see `elements`. Kernel expansion only sees the adapter.

mod elements;

mod marks;

mod check;

mod options;

mod typed;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Ident, LitStr, Path};

use crate::function::FunctionItem;
use crate::kernel::KernelModel;
use crate::kernel::instances::{self, Instance};
use crate::problems::Problems;
use crate::signature;

pub use marks::MarkedOperand;
use marks::{Mark, MarkKind};
use options::OpOptions;
pub use typed::{CallerFunction, TypedInput, TypedResults};

/// A function as an op, completely resolved.
#[derive(Debug)]
pub struct OpModel {
    /// The function.
    pub ident: Ident,
    /// The `#[cfg]`s of the function.
    pub conditions: Vec<Attribute>,
    /// The path of the facade, if the author gives one.
    pub crate_path: Option<Path>,
    /// The type of device that it supports, if it is not the processor.
    pub device: Option<LitStr>,
    /// Its flags, each once.
    pub flags: Vec<OpFlag>,
    /// Operands that are needed in host memory or are resources.
    pub marks: Vec<MarkedOperand>,
    /// The Rust function that calls it, if there is one.
    pub typed: Option<CallerFunction>,
    /// The registered form.
    pub form: Form,
}

/// A flag of an op: a constant of `OpFlags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpFlag {
    /// Takes scalar tensors unconverted.
    AcceptsScalar,
    /// Takes sparse tensors unconverted.
    AcceptsSparse,
    /// Takes tensors of strings unconverted.
    AcceptsString,
    /// Takes resources.
    AcceptsResource,
    /// Has no effects.
    NoSideEffects,
}

impl OpFlag {
    /// Returns the name of the constant.
    pub(crate) fn constant(self) -> &'static str {
        match self {
            Self::AcceptsScalar => "ACCEPTS_SCALAR",
            Self::AcceptsSparse => "ACCEPTS_SPARSE",
            Self::AcceptsString => "ACCEPTS_STRING",
            Self::AcceptsResource => "ACCEPTS_RESOURCE",
            Self::NoSideEffects => "NO_SIDE_EFFECTS",
        }
    }
}

/// The component that runs an op.
#[derive(Debug)]
pub enum Form {
    /// Kernels: one for all names, or one for each if its adapter needs the name.
    Kernels(Vec<OpKernel>),
    /// The function itself, which takes its call.
    Function {
        /// The names.
        instances: Vec<Instance>,
        /// The metadata function.
        metadata: Option<Path>,
    },
    /// Nothing: the function computes metadata from the parameters of a kernel.
    Metadata(Box<OpKernel>),
    /// Nothing: the function computes metadata from a query.
    MetadataOfQuery(Vec<Instance>),
}

/// A kernel that runs an op.
#[derive(Debug)]
pub struct OpKernel {
    /// The kernel.
    pub kernel: KernelModel,
    /// The function that the kernel calls, if it is not the annotated one.
    pub adapter: Option<TokenStream>,
    /// The metadata function, if it is not part of the kernel's declaration.
    pub metadata: Option<Path>,
    /// The metadata function for partially known metadata.
    pub partial: Option<Path>,
    /// The function that estimates the time of the op.
    pub cost: Option<Path>,
    /// The suffix that distinguishes names of kernels from those of ops.
    pub suffix: String,
}

impl OpModel {
    /// Creates the model of `function` with `options`.
    ///
    /// # Errors
    /// Returns all errors of the op.
    pub fn new(options: TokenStream, function: &FunctionItem) -> syn::Result<Self> {
        let mut problems = Problems::default();
        let options = OpOptions::parse(options, function, &mut problems);
        let (function, marks) = &marks::read(function, &mut problems);
        let form = match (options.metadata_only.clone(), options.raw.clone()) {
            (Some(flag), None) => metadata_only(&options, &flag, function, &mut problems),
            (flag, Some(raw)) => takes_call(&options, flag, &raw, function, &mut problems),
            (None, None) => kernels(&options, function, marks, &mut problems),
        };
        let first = match &form {
            Some(Form::Kernels(kernels)) => {
                options.refuse_without_metadata(&mut problems);
                kernels.first()
            }
            Some(_) => {
                marks::refuse(marks, &mut problems);
                options.refuse_without_operands(&mut problems);
                None
            }
            // What is wrong with it was said.
            None => None,
        };
        if let Some(first) = first {
            marks::check(marks, &first.kernel, &mut problems);
        }
        let typed = first.zip(options.function.as_ref());
        let typed = typed.and_then(|(op, ident)| {
            let name = &options.names[0];
            typed::typed(ident, name, &op.kernel, function, &mut problems)
        });
        let mut flags = options.accepted.clone();
        let is_resource = |mark: &Mark| matches!(mark.kind, MarkKind::Resource(_));
        if marks.iter().any(is_resource) {
            flags.push(OpFlag::AcceptsResource);
        }
        if let Some(Form::Kernels(kernels)) = &form {
            for kernel in kernels.iter().flat_map(|op| &op.kernel.variants) {
                flags.extend(check::implied_flags(kernel));
                if !kernel.declaration.has_added_chain {
                    flags.push(OpFlag::NoSideEffects);
                }
            }
        } else if options.side_effecting.is_none() {
            flags.push(OpFlag::NoSideEffects);
        }
        flags.sort_unstable();
        flags.dedup();
        let Some(form) = form else {
            return Err(problems.into_error());
        };
        let marks = marks::of_operands(marks, &form);
        problems.finish(Self {
            ident: function.signature.ident.clone(),
            conditions: function.conditions(),
            crate_path: options.crate_path,
            device: options.device,
            flags,
            marks,
            typed,
            form,
        })
    }
}

/// Returns an op that is a kernel.
fn kernels(
    options: &OpOptions,
    function: &FunctionItem,
    marks: &[Mark],
    problems: &mut Problems,
) -> Option<Form> {
    let suffix = options
        .device
        .as_ref()
        .map_or_else(String::new, |device| format!(".{}", device.value()));
    let named = |name: &LitStr| LitStr::new(&(name.value() + &suffix), name.span());
    let names: Vec<LitStr> = options.names.iter().map(named).collect();
    if check::takes_frame(function, problems) {
        return None;
    }
    let found = elements::found_parameters(function, options);
    let Some(adapted) = problems.note(elements::adapt(function, options, marks)) else {
        check::function(function, problems);
        return None;
    };
    let Some(adapted) = adapted else {
        check::function(function, problems);
        options.refuse_without_family(problems);
        let kernel = kernel(options, &names, &[], function, problems)?;
        return Some(Form::Kernels(vec![OpKernel {
            kernel,
            adapter: None,
            metadata: options.own_metadata(),
            partial: options.partial.clone(),
            cost: options.cost.clone(),
            suffix,
        }]));
    };
    if !adapted.is_family() {
        options.refuse_without_family(problems);
    }
    // The adapter tells the name, so that each name has its own.
    let mut kernels = Vec::new();
    for (index, (op_name, name)) in options.names.iter().zip(&names).enumerate() {
        let adapter = adapted.adapter(op_name, index);
        if index == 0 {
            check::function(&adapter.function, problems);
        }
        let name = std::slice::from_ref(name);
        let mut kernel = kernel(options, name, &found, &adapter.function, problems)?;
        for variant in &mut kernel.variants {
            variant.preparation.forward = adapted.forwarded();
        }
        kernels.push(OpKernel {
            kernel,
            adapter: Some(adapter.tokens),
            metadata: options.own_metadata(),
            partial: options.partial.clone(),
            cost: options.cost.clone(),
            suffix: suffix.clone(),
        });
    }
    Some(Form::Kernels(kernels))
}

/// Returns the kernel of an adapted function; lists of types for parameters that are `found` at run
/// time are handled elsewhere.
fn kernel(
    options: &OpOptions,
    names: &[LitStr],
    found: &[&Ident],
    function: &FunctionItem,
    problems: &mut Problems,
) -> Option<KernelModel> {
    let others = options.of_kernel(found);
    let kernel = KernelModel::new(quote!(#(#names,)* #(#others),*), function);
    let mut kernel = problems.note(kernel)?;
    for variant in &mut kernel.variants {
        variant.preparation.asks_all = true;
    }
    Some(kernel)
}

/// Returns an op that takes its call, or the query of a metadata function.
fn takes_call(
    options: &OpOptions,
    metadata_only: Option<Ident>,
    raw: &Ident,
    function: &FunctionItem,
    problems: &mut Problems,
) -> Option<Form> {
    options.refuse_with_raw(problems);
    options.refuse_without_family(problems);
    let names = names(options, function, problems);
    if let Some(flag) = metadata_only {
        options.refuse_with_metadata_only(&flag, problems);
        check::takes(function, raw, &check::QUERY, problems);
        return Some(Form::MetadataOfQuery(names));
    }
    check::takes(function, raw, &check::CALL, problems);
    check::gives_nothing(function, problems);
    Some(Form::Function {
        instances: names,
        metadata: options.metadata.clone(),
    })
}

/// Returns a metadata function.
fn metadata_only(
    options: &OpOptions,
    flag: &Ident,
    function: &FunctionItem,
    problems: &mut Problems,
) -> Option<Form> {
    options.refuse_with_metadata_only(flag, problems);
    options.refuse_without_family(problems);
    let of_tensors = problems.note(check::of_tensors(function))?;
    let kernel = kernel(options, &options.names, &[], &of_tensors, problems)?;
    Some(Form::Metadata(Box::new(OpKernel {
        kernel,
        adapter: None,
        metadata: Some(function.signature.ident.clone().into()),
        partial: None,
        cost: None,
        suffix: String::new(),
    })))
}

/// Returns the names of an op without a kernel.
fn names(options: &OpOptions, function: &FunctionItem, problems: &mut Problems) -> Vec<Instance> {
    let names = &options.names;
    let parsed = options::of_names(names, problems);
    for parameter in signature::generic_parameters(function) {
        problems.at(
            parameter,
            "a `raw` op has one function for all tensors: remove the generic parameters",
        );
    }
    if signature::generic_parameters(function).is_empty() {
        instances::instances(&parsed, names, function, problems)
    } else {
        Vec::new()
    }
}

impl OpOptions {
    /// Returns the metadata function, if it is not part of the kernel's declaration.
    fn own_metadata(&self) -> Option<Path> {
        self.metadata.clone().filter(|_| !self.is_prepared)
    }
}
