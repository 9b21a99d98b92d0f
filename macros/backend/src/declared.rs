//! The model of an op without a kernel: a declaration and its names.
//!
//! A doc comment precedes the options, which are those of a kernel that takes its frame.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Path};
use tfrt_ods::OpTraits;

use crate::kernel::instances::{self, Instance};
use crate::kernel::{Declaration, declare, rules};
use crate::options::{Flag, Options, Subject};
use crate::problems::Problems;

/// An op without a kernel, completely resolved.
#[derive(Debug)]
pub struct DeclaredOp {
    /// The `#[cfg]`s.
    pub conditions: Vec<Attribute>,
    /// The path of the facade, if the author gives one.
    pub crate_path: Option<Path>,
    /// The names.
    pub instances: Vec<Instance>,
    /// The declaration.
    pub declaration: Declaration,
}

impl DeclaredOp {
    /// Parses the tokens in the braces of the macro.
    ///
    /// # Errors
    /// Returns all errors of the declaration.
    pub fn new(tokens: TokenStream) -> syn::Result<Self> {
        let split = |input: ParseStream<'_>| {
            Ok((
                input.call(Attribute::parse_outer)?,
                input.parse::<TokenStream>()?,
            ))
        };
        let (attributes, options) = split.parse2(tokens)?;
        let mut problems = Problems::default();
        let (docs, others): (Vec<_>, Vec<_>) = attributes
            .into_iter()
            .partition(|attribute| attribute.path().is_ident("doc"));
        for attribute in &others {
            if !attribute.path().is_ident("cfg") {
                problems.at(
                    attribute,
                    "expected a doc comment or `#[cfg(…)]` before the name of the op",
                );
            }
        }
        let options = Options::parse(options, Subject::DeclaredOp, &mut problems);
        refuse(&options, &mut problems);
        let instances = instances::of_declared_op(&options, &mut problems);
        for instance in &instances {
            rules::check_name(&instance.name, instance.span, &mut problems);
        }
        let declaration = declare::declare_op(&options, &docs, &mut problems);
        problems.finish(Self {
            conditions: others,
            crate_path: options.crate_path,
            instances,
            declaration,
        })
    }
}

/// Options that are about kernels.
fn refuse(options: &Options, problems: &mut Problems) {
    let flags = [
        (
            Flag::Raw,
            "this declaration has no function to take a frame",
        ),
        (
            OpTraits::BLOCKING.into(),
            "this declaration has no function that could block",
        ),
    ];
    for (flag, reason) in flags {
        if let Some(place) = options.flag(flag) {
            problems.at(place, format!("`{place}` is only for kernels: {reason}"));
        }
    }
    let preparations = [
        ("metadata", &options.metadata),
        ("workspace", &options.workspace),
    ];
    for (option, path) in preparations {
        if let Some(path) = path {
            problems.at(
                path,
                format!("`{option}` is only for kernels: this declaration has no calls to prepare"),
            );
        }
    }
    if let Some(set) = &options.kernel_set {
        problems.at(
            set,
            "`kernel_set` is only for kernels: this declaration has no kernels to collect",
        );
    }
    if let Some(name) = options.sync_names.first() {
        problems.at(
            name,
            "`sync` with a name is only for kernels: declare the op of synchronous functions \
             separately, with `sync`",
        );
    }
    if let Some(span) = options.chain_none {
        problems.at_span(
            span,
            "`chain` is only for kernels: declare the chains of this op among its operands and \
             results",
        );
    }
}
