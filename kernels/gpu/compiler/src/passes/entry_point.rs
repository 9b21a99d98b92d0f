//! `--tfrt-set-entry-point=platform=CUDA function_name=f buffer_sizes=64,128`: adds the function
//! that describes the entry point to an executor.

use std::fmt;

use tfrt_compiler::passes::{Pass, PassOptions, PassScope};
use tfrt_gpu::enums::Platform;
use tfrt_gpu::kernels::entry_point::VERSION;
use tfrt_ir::{Attribute, Module, OpDiagnostics, OpId};
use tfrt_support::Diagnostic;

use super::edit::{self, Builder, RETURN};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tfrt-set-entry-point",
    summary: "Add the function that describes the entry point of the program",
    scope: PassScope::Module,
    options: &["platform", "function_name", "buffer_sizes"],
    run: |module, root, options| {
        let added = add(module, root, options);
        let found = added
            .err()
            .map(|error| OpDiagnostics { shows_op: false }.error(module, root, error.to_string()));
        found.into_iter().collect::<Vec<Diagnostic>>()
    },
    ..super::NO_PASS
};

/// The pass as it was called before.
pub const OLDER_PASS: Pass = Pass {
    name: "test-set-entry-point",
    ..PASS
};

/// The function that is added.
const ENTRY_POINT: &str = "get_tfrt_gpu_entry_point";

/// The reasons why no entry point is added.
#[derive(Debug)]
enum EntryPointError {
    NoPlatform,
    UnknownPlatform(String),
    /// A buffer size is not a number.
    BufferSize(String),
    UnknownFunction(String),
    /// The option does not name a function, and there is not exactly one.
    SeveralFunctions,
    /// The module has one.
    Exists,
}

impl fmt::Display for EntryPointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPlatform => f.write_str("Unspecified 'platform' option"),
            Self::UnknownPlatform(name) => write!(f, "Invalid platform: {name}"),
            Self::BufferSize(text) => write!(
                f,
                "expected sizes in bytes in the option 'buffer_sizes', found `{text}`"
            ),
            Self::UnknownFunction(name) => write!(f, "Function '{name}' not found"),
            Self::SeveralFunctions => f.write_str("Expected exactly one function"),
            Self::Exists => write!(f, "Function '{ENTRY_POINT}' exists already"),
        }
    }
}

impl std::error::Error for EntryPointError {}

fn add(module: &mut Module, root: OpId, options: &PassOptions) -> Result<(), EntryPointError> {
    let platform = match options.get("platform") {
        None | Some("") => return Err(EntryPointError::NoPlatform),
        Some(name) => {
            let known = [Platform::None, Platform::Cuda, Platform::Rocm];
            let place = known.iter().position(|platform| platform.name() == name);
            place.ok_or_else(|| EntryPointError::UnknownPlatform(name.into()))?
        }
    };
    let function = function_name(module, root, options.get("function_name"))?;
    if module.lookup_symbol(root, ENTRY_POINT).is_some() {
        return Err(EntryPointError::Exists);
    }
    let mut sizes = Vec::new();
    for text in options.list("buffer_sizes") {
        let size = text.parse::<i64>();
        let size = size.map_err(|_| EntryPointError::BufferSize(text.into()))?;
        sizes.push(module.integer_attr(size.into(), 64));
    }
    let Some(body) = module.entry_block(root) else {
        return Ok(());
    };
    let location = module.op_location(root);
    let ty = "!tfrt_gpu.entry_point";
    let (func, block) = edit::create_function(module, ENTRY_POINT, &[], &[ty], location);
    let signed = edit::type_of(module, "si32");
    let platform = module.intern_attribute(Attribute::Integer {
        value: platform as i128,
        ty: signed,
    });
    let sizes = module.intern_attribute(Attribute::Array(sizes.into()));
    let function = module.string_attr(function);
    let version = module.integer_attr(VERSION.into(), 64);
    let mut builder = Builder {
        module,
        block,
        location,
    };
    let attributes = [
        ("buffer_sizes", sizes),
        ("function_name", function),
        ("platform", platform),
        ("version", version),
    ];
    let value = builder.value("tfrt_gpu.get_entry_point", &[], &attributes, ty);
    builder.op(RETURN, &[value], &[], &[]);
    module.insert_op(body, 0, func);
    Ok(())
}

/// Returns the function to call: the one of the option, or the only one.
fn function_name(
    module: &Module,
    root: OpId,
    name: Option<&str>,
) -> Result<String, EntryPointError> {
    let mut functions = module.functions(root);
    match name {
        Some(name) if !name.is_empty() => {
            let found = functions.any(|func| module.symbol_name(func) == Some(name));
            match found {
                true => Ok(name.to_owned()),
                false => Err(EntryPointError::UnknownFunction(name.into())),
            }
        }
        _ => match (functions.next(), functions.next()) {
            (Some(only), None) => Ok(module.symbol_name(only).unwrap_or_default().to_owned()),
            _ => Err(EntryPointError::SeveralFunctions),
        },
    }
}
