//! Checks for contradictions among options, and between options and the signature.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Safety, Type};
use tfrt_ods::OpTraits;
use tfrt_ods::TraitDef;

use crate::function::{self, FunctionItem};
use crate::kernel::Form;
use crate::options::{AttributeNames, AttributeType, Flag, Options};
use crate::problems::Problems;
use crate::signature::types::is_chain;
use crate::signature::{Binding, FunctionBinding, Operand, Output, Parameter};

/// The maximum number of parameters.
const MAX_PARAMETERS: usize = 12;

/// Rejects unsupported forms of functions.
pub(super) fn function(function: &FunctionItem, problems: &mut Problems) {
    if let Some(second) = function
        .attributes
        .iter()
        .find(|attribute| function::is_kernel(attribute))
    {
        let is_op = second
            .path()
            .segments
            .iter()
            .any(|segment| segment.ident == "tfrt_op");
        let message = if is_op {
            "a function can have only one `#[tfrt_op]`, with all of its names; it is also a kernel"
        } else {
            "a function can have only one `#[tfrt_kernel]`, with all of its names: \
             `#[tfrt_kernel(\"a.b\", \"a.c\")]`"
        };
        problems.at(second, message);
    }
    let signature = &function.signature;
    if let Some(keyword) = first_self_type(signature.to_token_stream()) {
        problems.at(
            &keyword,
            "a kernel must be a free function: move it out of the `impl` or trait, and write the \
             type instead of `Self`",
        );
    }
    if let Some(abi) = &signature.abi {
        problems.at(abi, "a kernel must be a Rust function: remove `extern`");
    }
    if let Safety::Unsafe(keyword) = &signature.safety {
        problems.at(
            keyword,
            "a kernel must be a safe function: wrap the unsafe function in a safe one",
        );
    }
    if let Some(variadic) = &signature.variadic {
        problems.at(
            variadic,
            "take all remaining operands as `Operands<'_, T>` or `&[AnyRef]`",
        );
    }
}

/// Returns the first `Self` in a signature.
fn first_self_type(tokens: TokenStream) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => Some(ident),
        TokenTree::Group(group) => first_self_type(group.stream()),
        _ => None,
    })
}

/// Pairs of flags that exclude each other, and why. Those of traits are in the table of
/// [`OpTraits`].
const CONFLICTS: &[(Flag, Flag, &str)] = &[
    (
        Flag::Trait(OpTraits::PURE),
        Flag::SideEffecting,
        "a pure kernel has no effects",
    ),
    (
        Flag::Trait(OpTraits::EFFECT_FREE),
        Flag::SideEffecting,
        "it declares that the kernel has no effects",
    ),
    (
        Flag::Trait(OpTraits::SYNC),
        Flag::SideEffecting,
        "it adds a chain, but synchronous functions run in program order, without chains; use \
         `effect = \"io\"` to declare an effect without a chain",
    ),
    (
        Flag::Raw,
        Flag::Trait(OpTraits::BLOCKING),
        "a frame does not outlive the call: enqueue the work yourself, and move owned data into \
         it",
    ),
];

/// Returns all pairs of flags that exclude each other, and why.
fn conflicts() -> impl Iterator<Item = (Flag, Flag, &'static str)> {
    let of_traits = TraitDef::all().iter().flat_map(|def| {
        let excluded = def.excludes.iter();
        excluded.map(|(other, reason)| (def.set.into(), (*other).into(), *reason))
    });
    of_traits.chain(CONFLICTS.iter().copied())
}

/// Rejects options that contradict each other, or repeat the signature.
pub(super) fn options(
    options: &Options,
    form: Form,
    function: &FunctionItem,
    problems: &mut Problems,
) {
    for (first, second, reason) in conflicts() {
        if let (Some(first), Some(second)) = (options.flag(first), options.flag(second)) {
            problems.at(
                second,
                format!("`{second}` cannot be combined with `{first}`: {reason}"),
            );
        }
    }
    if let Some(flag) = options.flag(OpTraits::TERMINATOR) {
        problems.at(
            flag,
            "a kernel cannot end a block: declare a terminator with `declare_op!`",
        );
    }
    if let (Some(pure), Some(effect)) = (options.flag(OpTraits::PURE), &options.effect) {
        problems.at(
            effect,
            format!("`{pure}` cannot be combined with an effect: a pure kernel has no effects"),
        );
    }
    if let Some(reads) = &options.reads {
        for flag in [
            OpTraits::PURE.into(),
            OpTraits::EFFECT_FREE.into(),
            Flag::SideEffecting,
        ] {
            if let Some(flag) = options.flag(flag) {
                problems.at(
                    flag,
                    format!(
                        "`reads = \"{}\"` cannot be combined with `{flag}`: it declares that the \
                         kernel has no effects of its own, but depends on those of other kernels",
                        reads.value()
                    ),
                );
            }
        }
        if let Some(effect) = &options.effect {
            problems.at(
                effect,
                "a kernel with an effect is always ordered: remove `reads` or the effect",
            );
        }
    }
    if let (Some(flag), Some(effect)) = (options.flag(OpTraits::EFFECT_FREE), &options.effect) {
        problems.at(
            effect,
            format!("`{flag}` cannot be combined with an effect"),
        );
    }
    if let (Some(flag), Some(effect)) = (options.flag(Flag::SideEffecting), &options.effect) {
        problems.at(
            flag,
            format!(
                "`effect = \"{}\"` already declares the effect: remove this option",
                effect.value()
            ),
        );
    }
    if let Some(keyword) = &function.signature.asyncness {
        for flag in [OpTraits::SYNC.into(), Flag::Raw, OpTraits::BLOCKING.into()] {
            if let Some(flag) = options.flag(flag) {
                problems.at(
                    keyword,
                    format!("an `async fn` runs on the work queue: remove `{flag}`"),
                );
            }
        }
    }
    if let (Some(span), true) = (options.chain_none, form.is_sync()) {
        problems.at_span(span, "a synchronous kernel never has a chain");
    }
    sync_twin(options, form, problems);
    if let (Some(AttributeNames::Free(span)), Some(_)) = (options.attribute_names, &options.format)
    {
        problems.at_span(span, "an assembly format fixes the names of the attributes");
    }
    if form.is_raw() {
        for attribute in options.attrs.iter().flat_map(|(_, attributes)| attributes) {
            if !matches!(attribute.ty, AttributeType::Rust(_)) {
                problems.at(
                    &attribute.name,
                    "an attribute of a kernel has a Rust type: `any` is only for ops without \
                     kernels",
                );
            }
        }
        if let Some(names) = options.attribute_names {
            let attributes = options.attrs.iter().flat_map(|(_, attributes)| attributes);
            let defaults = attributes
                .clone()
                .filter(|attribute| attribute.default.is_some());
            attribute_names(names, attributes.count(), defaults.count(), problems);
        }
        for (option, path) in [
            ("metadata", &options.metadata),
            ("workspace", &options.workspace),
        ] {
            if let Some(path) = path {
                let message = format!(
                    "`{option}` is only for kernels with `#[out]` parameters; a raw kernel fills \
                     result slots"
                );
                problems.at(path, message);
            }
        }
        if let Some((result, _)) = options.alias.first() {
            problems.at(
                result,
                "`alias` refers to the results of a function; a raw kernel fills result slots",
            );
        }
        return;
    }
    let by_signature = [
        (
            options.operands.as_ref().map(|list| list.0),
            "operands",
            "unmarked parameters",
        ),
        (
            options.attrs.as_ref().map(|list| list.0),
            "attrs",
            "parameters with `#[attr]`",
        ),
        (
            options.symbols.as_ref().map(|list| list.0),
            "symbols",
            "parameters of type `FunctionRef`",
        ),
        (
            options.symbol_list.as_ref().map(|list| list.0),
            "symbol_list",
            "a parameter of type `&[FunctionRef]`",
        ),
        (
            options.regions.as_ref().map(|list| list.0),
            "regions",
            "parameters with `#[region]`",
        ),
    ];
    for (span, option, meaning) in by_signature {
        if let Some(span) = span {
            problems.at_span(
                span,
                format!(
                    "the signature declares them as {meaning}; `{option}` is only for `raw` \
                     kernels"
                ),
            );
        }
    }
    for value in options.results.iter().flat_map(|list| &list.1) {
        if value.ty.is_some() {
            problems.at(
                &value.name,
                "the signature declares the types of the results: list only their names",
            );
        }
    }
}

/// Checks `attribute_names` against the declaration.
fn attribute_names(
    names: AttributeNames,
    num_declared: usize,
    num_defaults: usize,
    problems: &mut Problems,
) {
    match names {
        AttributeNames::Free(span) if num_defaults > 0 => problems.at_span(
            span,
            "an optional attribute needs a fixed name: otherwise a missing attribute is ambiguous",
        ),
        AttributeNames::Any(span) if num_declared > 0 => problems.at_span(
            span,
            "a kernel that takes any attributes cannot declare attributes: `attribute_names = \
             free` allows free names for declared ones",
        ),
        AttributeNames::Free(_) | AttributeNames::Any(_) => {}
    }
}

/// Names for the interpreter, of a function that it cannot run.
fn sync_twin(options: &Options, form: Form, problems: &mut Problems) {
    let Some(name) = options.sync_names.first() else {
        return;
    };
    if let Some(flag) = options.flag(OpTraits::NON_STRICT) {
        problems.at(
            flag,
            "operands of a synchronous kernel are always available: a `non_strict` kernel cannot \
             be synchronous",
        );
    }
    let message = match form {
        Form::Plain | Form::Raw => return,
        Form::Sync | Form::RawSync => {
            "`sync` without a name makes this a kernel of the interpreter: list this name first, \
             with the others"
        }
        Form::Blocking => {
            "the interpreter cannot wait for it: a `blocking` kernel cannot be synchronous"
        }
        Form::Future => "an `async fn` runs on the work queue: it cannot be synchronous",
    };
    problems.at(name, message);
}

/// Parameters that contradict each other, or the form.
pub(super) fn parameters(
    options: &Options,
    form: Form,
    function: &FunctionItem,
    parameters: &[Parameter],
    problems: &mut Problems,
) {
    if form.is_raw() {
        return raw_parameters(function, parameters, problems);
    }
    let is_bound = |parameter: &&Parameter| {
        !matches!(parameter.binding, Binding::Out(_) | Binding::Workspace(_))
    };
    if let Some(extra) = parameters.iter().filter(is_bound).nth(MAX_PARAMETERS) {
        problems.at(
            &extra.ty,
            format!(
                "a kernel can have at most {MAX_PARAMETERS} parameters; with `raw`, it takes the \
                 frame instead"
            ),
        );
    }
    operands(options, parameters, problems);
    chain_parameters(options, form, parameters, problems);
    attributes_and_functions(parameters, problems);
    if let Some(names) = options.attribute_names {
        signature_attribute_names(names, parameters, problems);
    }
    prepared(options, parameters, problems);
}

/// Operands that contradict each other, or the form.
fn operands(options: &Options, parameters: &[Parameter], problems: &mut Problems) {
    let operands = parameters
        .iter()
        .filter_map(|parameter| match &parameter.binding {
            Binding::Operand(operand) => Some((parameter, operand)),
            _ => None,
        });
    let mut last: Option<(&str, bool)> = None;
    let mut has_reference = false;
    for (parameter, operand) in operands {
        if let Some((name, is_variadic)) = last {
            let what = if is_variadic {
                "takes all remaining operands"
            } else {
                "may be left out"
            };
            problems.at(&parameter.ty, format!("`{name}` {what}: it must come last"));
        }
        if operand.is_variadic() || operand.is_optional() {
            last = Some((&parameter.name, operand.is_variadic()));
        }
        has_reference |= operand.is_reference();
        let free = options
            .flag(OpTraits::PURE)
            .or(options.flag(OpTraits::EFFECT_FREE));
        if let (Operand::ByMut(_), Some(free)) = (operand, free) {
            problems.at(
                free,
                format!("the kernel writes `{}`, which is an effect", parameter.name),
            );
        }
        if let (Operand::ByMut(_), Some(reads)) = (operand, &options.reads) {
            problems.at(
                reads,
                format!(
                    "the kernel writes `{}`, which is an effect, but `reads` declares that it has \
                     no effects",
                    parameter.name
                ),
            );
        }
    }
    if let (Some(flag), false) = (options.flag(OpTraits::NON_STRICT), has_reference) {
        problems.at(
            flag,
            "the kernel waits for all of its operands: take at least one as `AnyRef` or \
             `AsyncValueRef<T>`, or the remaining ones as `&[AnyRef]`",
        );
    }
}

/// Chains where there is none.
fn chain_parameters(
    options: &Options,
    form: Form,
    parameters: &[Parameter],
    problems: &mut Problems,
) {
    for parameter in parameters {
        let Binding::Operand(operand) = &parameter.binding else {
            continue;
        };
        if !operand.payload().is_some_and(is_chain) {
            continue;
        }
        if form.is_sync() {
            problems.at(&parameter.ty, NO_SYNC_CHAIN);
        } else if options.chain_none.is_some() {
            problems.at(
                &parameter.ty,
                "`chain = none` declares that the kernel takes no chain: remove the option or \
                 this parameter",
            );
        }
    }
}

const NO_SYNC_CHAIN: &str =
    "a synchronous kernel has no chain, because its ops run in program order: remove it";

/// Checks `attribute_names` against the parameters.
fn signature_attribute_names(
    names: AttributeNames,
    parameters: &[Parameter],
    problems: &mut Problems,
) {
    let (mut num_declared, mut num_defaults, mut takes_all) = (0, 0, false);
    for parameter in parameters {
        match &parameter.binding {
            Binding::Attribute {
                default,
                is_optional,
                ..
            } => {
                num_declared += 1;
                num_defaults += usize::from(default.is_some() || *is_optional);
            }
            Binding::AllAttributes => takes_all = true,
            _ => {}
        }
    }
    let (AttributeNames::Free(span) | AttributeNames::Any(span)) = names;
    if takes_all {
        let message = "`Attributes` takes all attributes, whatever their names: remove the option";
        problems.at_span(span, message);
    } else {
        attribute_names(names, num_declared, num_defaults, problems);
    }
}

fn attributes_and_functions(parameters: &[Parameter], problems: &mut Problems) {
    let mut has_list = false;
    let has_named_attribute = parameters
        .iter()
        .any(|parameter| matches!(parameter.binding, Binding::Attribute { .. }));
    let mut has_all_attributes = false;
    for parameter in parameters {
        match &parameter.binding {
            Binding::Frame => problems.at(&parameter.ty, "to take the frame, add the option `raw`"),
            Binding::Function(FunctionBinding { is_list: true, .. }) => {
                if has_list {
                    problems.at(
                        &parameter.ty,
                        "two lists of functions are ambiguous: take only one list",
                    );
                }
                has_list = true;
            }
            Binding::AllAttributes => {
                if has_named_attribute || has_all_attributes {
                    problems.at(
                        &parameter.ty,
                        "`Attributes` takes all attributes of the op: it cannot be combined with \
                         `#[attr]`",
                    );
                }
                has_all_attributes = true;
            }
            _ => {}
        }
    }
}

/// Preallocated results and workspace: parameters and options belong together.
fn prepared(options: &Options, parameters: &[Parameter], problems: &mut Problems) {
    let mut has_out = false;
    let mut has_workspace = false;
    for parameter in parameters {
        match &parameter.binding {
            Binding::Out(_) => {
                has_out = true;
                if options.metadata.is_none() {
                    problems.at(
                        &parameter.ident,
                        "the size of the result is unknown: add the option `metadata = \
                         path::to::function`",
                    );
                }
            }
            Binding::Workspace(_) => {
                if has_workspace {
                    problems.at(&parameter.ident, "a kernel can have only one workspace");
                }
                has_workspace = true;
                if options.workspace.is_none() {
                    problems.at(
                        &parameter.ident,
                        "the size of the workspace is unknown: add the option `workspace = \
                         path::to::function`",
                    );
                }
            }
            _ => {}
        }
    }
    if let (Some((span, _)), true) = (&options.results, has_out) {
        problems.at_span(
            *span,
            "results are named after the parameters with `#[out]`",
        );
    }
    // A parameter that could not be read may be the one that the function is for.
    if !problems.is_empty() {
        return;
    }
    if let (Some(path), false) = (&options.metadata, has_out) {
        problems.at(
            path,
            "a metadata function is for preallocated results: mark one with `#[out]`",
        );
    }
    if let (Some(path), false) = (&options.workspace, has_workspace) {
        problems.at(
            path,
            "a workspace function needs a parameter `#[workspace] scratch: &mut [f32]`",
        );
    }
}

fn raw_parameters(function: &FunctionItem, parameters: &[Parameter], problems: &mut Problems) {
    let is_frame = |parameter: &Parameter| matches!(parameter.binding, Binding::Frame);
    match parameters {
        [frame] if is_frame(frame) => {}
        [] => problems.at(
            &function.signature.ident,
            "a `raw` kernel takes its frame: `frame: &mut KernelFrame<'_>`",
        ),
        [first, rest @ ..] => {
            let wrong = rest.first().filter(|_| is_frame(first)).unwrap_or(first);
            problems.at(
                &wrong.ty,
                "a `raw` kernel takes only its frame, `&mut KernelFrame<'_>`: declare operands in \
                 the options",
            );
        }
    }
}

/// A return type that the form cannot have.
pub(super) fn output(
    form: Form,
    function: &FunctionItem,
    output: &Output,
    parameters: &[Parameter],
    problems: &mut Problems,
) {
    let gives_nothing = match output {
        Output::Nothing => true,
        Output::Fallible { ok, .. } => matches!(**ok, Output::Nothing),
        _ => false,
    };
    let is_prepared = parameters
        .iter()
        .any(|parameter| matches!(parameter.binding, Binding::Out(_) | Binding::Workspace(_)));
    if is_prepared && !gives_nothing {
        problems.at(
            &function.signature.output,
            "a kernel with preallocated results or a workspace returns nothing or `Result<()>`: \
             mark all results with `#[out]`",
        );
    }
    if form.is_raw() {
        if !gives_nothing {
            problems.at(
                &function.signature.output,
                "a `raw` kernel fills the result slots of its frame: return nothing or \
                 `Result<()>`",
            );
        }
        return;
    }
    if form.is_sync() {
        for leaf in output.leaves() {
            let written: Option<&Type> = leaf.payload();
            if let Some(chain) = written.filter(|ty| is_chain(ty)) {
                problems.at(chain, NO_SYNC_CHAIN);
                continue;
            }
            if matches!(
                leaf,
                Output::Any | Output::AnyTail | Output::Later(_) | Output::LaterTail(_)
            ) {
                let message = "the results of a synchronous kernel are available when it returns: \
                               return the payload";
                match written {
                    Some(ty) => problems.at(ty, message),
                    None => problems.at(&function.signature.output, message),
                }
            }
        }
    }
}
