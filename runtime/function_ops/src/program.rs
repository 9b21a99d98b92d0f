//! The program that functions are taken from.

use std::panic::Location;
use std::sync::Arc;

use tfrt_bef::BefFile;
use tfrt_compiler::{LinkedSyntaxes, decode};
use tfrt_core::metadata::partial::PartialMetadata;
use tfrt_core::{CoreRuntimeOp, EagerContext, OpRegistration, OpRegistry, ReadyOp, TensorHandle};
use tfrt_host::kernel::DialectRegistration;
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::library::LoadedLibrary;
use tfrt_ir::{Attribute, Module, OpId, ParseOptions, Registry, VerifyOptions, parse, verify};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Diagnostic, Diagnostics, Error, ErrorCode, Place, Severity, TensorMetadata};

use crate::call::{is_chain, is_handle};
use crate::calls::{has_effects, writes_to_operands};
use crate::infer::infer_metadata;
use crate::instance::{FunctionOp, simplify};
use crate::place::placement_tables;
use crate::rewrite::{Rule, explain_rewrites};
use crate::{metadata, names};

/// A program whose functions can be called as ops.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_function_ops::FunctionProgram;
/// use tfrt_host::kernel::KernelRegistry;
///
/// let kernels = Arc::new(KernelRegistry::default());
/// let error = FunctionProgram::from_text("func @f(", "f.mlir", &kernels).unwrap_err();
/// assert!(error.to_string().starts_with("f.mlir:1:9: error: "), "{error}");
/// ```
///
/// [`FunctionOps::function_op`] has an example of a call.
#[derive(Clone, Debug)]
pub struct FunctionProgram {
    module: Arc<Module>,
}

impl FunctionProgram {
    /// Creates a program from MLIR text, checked against the declarations of `kernels`. `file_name`
    /// is the file name in its locations.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn from_text(
        source: &str,
        file_name: &str,
        kernels: &KernelRegistry,
    ) -> Result<Self, Diagnostics> {
        let options = ParseOptions {
            allow_unregistered_dialects: true,
        };
        let module = parse(source, file_name, &registry(kernels)?, &options)?;
        Self::of_module(module).map_err(|found| found.with_source(source))
    }

    /// Creates a program in a BEF file, which must have the sections that decoding needs.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn from_bef(
        file: &BefFile,
        file_name: &str,
        kernels: &KernelRegistry,
    ) -> Result<Self, Diagnostics> {
        let decoded = decode(file, file_name, &registry(kernels)?);
        match decoded.module {
            Some(module) => Self::of_module(module),
            None => Err(decoded.diagnostics.into()),
        }
    }

    /// Returns the functions of the program, as they were read.
    ///
    /// ```
    /// use tfrt_function_ops::FunctionProgram;
    /// use tfrt_host::kernel::KernelRegistry;
    ///
    /// let text = "func @f() { \"tfrt.return\"() : () -> () }";
    /// let program = FunctionProgram::from_text(text, "f.mlir", &KernelRegistry::default()).unwrap();
    /// let module = program.module();
    /// assert!(module.lookup_symbol(module.root(), "f").is_some());
    /// ```
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    fn of_module(module: Module) -> Result<Self, Diagnostics> {
        let options = VerifyOptions {
            stops_at_first: false,
            shows_op: false,
            refuses_stray_attributes: true,
        };
        match verify(&module, &options) {
            found if found.is_empty() => Ok(Self {
                module: Arc::new(module),
            }),
            found => Err(found.into()),
        }
    }

    /// Returns the rules that apply to a function called with tensors of this metadata, in order,
    /// and where they apply: one text for each.
    ///
    /// # Errors
    /// If there is no such function, if it cannot be instantiated for such tensors, or if rewrite
    /// rules do not terminate.
    pub fn rewrites(
        &self,
        name: &str,
        arguments: &[TensorMetadata],
        ops: &OpRegistry,
    ) -> Result<Vec<String>, Error> {
        let func = self.function(name)?;
        let mut module = Module::clone(&self.module);
        let known = arguments.iter().cloned().map(PartialMetadata::from);
        let known: Vec<_> = known.collect();
        let known = metadata::to_attribute(&mut module, &known);
        module.set_attr(func, names::ARGUMENTS, known);
        let mut findings = simplify(&mut module, func, ops);
        if findings.is_empty() {
            findings = explain_rewrites(&mut module, func, ops, &Rule::all());
        }
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        match findings.iter().find(is_error) {
            Some(error) => Err(Error::new(error.to_string()).with_code(ErrorCode::InvalidArgument)),
            None => Ok(findings.iter().map(ToString::to_string).collect()),
        }
    }

    /// Returns where the ops of the program would run, and why: a table for each op that runs by
    /// its name on a handler for a type of devices, in the order of the program. The metadata of
    /// arguments is that in the attributes of their functions. A function that does not name its
    /// devices may use all of `devices`, the host's first.
    ///
    /// ```
    /// use tfrt_function_ops::FunctionProgram;
    /// use tfrt_host::kernel::KernelRegistry;
    ///
    /// let kernels = KernelRegistry::default();
    /// let text = "func @f() { \"tfrt.return\"() : () -> () }";
    /// let program = FunctionProgram::from_text(text, "f.mlir", &kernels);
    /// assert_eq!(program.unwrap().explain_placement(&kernels, &["CPU:0"]), "");
    /// ```
    #[must_use]
    pub fn explain_placement(&self, kernels: &KernelRegistry, devices: &[&str]) -> String {
        let ops = OpRegistry::new(OpRegistration::linked(), kernels);
        let mut module = Module::clone(&self.module);
        let functions: Vec<OpId> = module.functions(module.root()).collect();
        let mut text = String::new();
        for func in functions {
            if module.attr(func, names::DEVICES).is_none() {
                let devices = devices.iter().map(|device| module.string_attr(device));
                let devices = Attribute::Array(devices.collect());
                let devices = module.intern_attribute(devices);
                module.set_attr(func, names::DEVICES, devices);
            }
            // What contradicts is found again when the op runs.
            let _ = infer_metadata(&mut module, func, &ops);
            text.extend(placement_tables(&module, func, &ops));
        }
        text
    }

    pub(crate) fn shared_module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Returns the function of a name.
    fn function(&self, name: &str) -> Result<OpId, Error> {
        let module = &self.module;
        let found = module.lookup_symbol(module.root(), name);
        found.filter(|&op| module.is_func(op)).ok_or_else(|| {
            let functions = module.functions(module.root());
            let known = functions.filter_map(|func| module.symbol_name(func));
            let hint = did_you_mean(&nearest(name, known));
            let message = format!("the program has no function `{name}`{hint}");
            Error::new(message).with_code(ErrorCode::NotFound)
        })
    }
}

/// The signature of a function that is an op.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub(crate) has_chain: bool,
    pub(crate) num_arguments: usize,
    pub(crate) num_results: usize,
}

impl Signature {
    fn of(module: &Module, func: OpId, name: &str) -> Result<Self, Error> {
        let refuse = |what: String| {
            let message = format!("function `{name}` cannot be an op: {what}");
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        };
        let Some(block) = module.entry_block(func) else {
            return refuse("it has no body".to_owned());
        };
        let arguments = module.block_arguments(block);
        let results = match module.block_ops(block).last() {
            Some(&last) if module.op_name(last) == names::RETURN => module.operands(last),
            _ => return refuse("it does not end in a return".to_owned()),
        };
        let starts_with_chain = |values: &[tfrt_ir::ValueId]| {
            values.first().is_some_and(|&value| is_chain(module, value))
        };
        let has_chain = starts_with_chain(arguments);
        if has_chain != starts_with_chain(results) {
            return refuse("it takes a chain or returns one, but not both".to_owned());
        }
        let skipped = usize::from(has_chain);
        for (values, what) in [(arguments, "argument"), (results, "result")] {
            for (index, &value) in values.iter().enumerate().skip(skipped) {
                if !is_handle(module, value) {
                    let ty = module.type_spelling(module.value_type(value));
                    return refuse(format!(
                        "{what} {index}: expected a tensor handle, found `{ty}`"
                    ));
                }
            }
        }
        Ok(Self {
            has_chain,
            num_arguments: arguments.len() - skipped,
            num_results: results.len() - skipped,
        })
    }
}

/// What text is read against.
fn registry(kernels: &KernelRegistry) -> Result<Arc<Registry>, Diagnostics> {
    let of_libraries = kernels.libraries().iter().flat_map(LoadedLibrary::dialects);
    let dialects = DialectRegistration::linked().chain(of_libraries);
    Registry::of_table(Arc::new(kernels.clone()), dialects)
        .map(|registry| Arc::new(registry.with_syntaxes(LinkedSyntaxes::all())))
        .map_err(|error| Diagnostics::error(Place::Unknown, error.to_string()))
}

/// Functions as ops of a context.
pub trait FunctionOps {
    /// Returns the op that a function of a program is: from tensor handles to tensor handles, with
    /// a leading chain at both ends or at neither.
    ///
    /// The function is instantiated at the first call with tensors of given element types, shapes
    /// and devices; the call returns the errors of the instantiation. In the program, its ops
    /// belong to the handlers of device types, such as `cpu`; they run on the devices of the
    /// context that the scopes of the calling thread allow.
    ///
    /// # Errors
    /// If the program has no such function, or it cannot be an op.
    #[track_caller]
    fn function_op(&self, program: &FunctionProgram, name: &str) -> Result<ReadyOp, Error>;

    /// Returns where the ops of a function would run if it were called now with these operands, and
    /// why: a table for each op. Ops that are simplified away are not listed. The costs of copies
    /// and the speeds are those of the devices of the context.
    ///
    /// # Errors
    /// Those of [`function_op`](Self::function_op); an error if the function cannot be instantiated
    /// for such operands.
    #[track_caller]
    fn explain_function(
        &self,
        program: &FunctionProgram,
        name: &str,
        operands: &[&TensorHandle],
    ) -> Result<String, Error>;
}

impl FunctionOps for Arc<EagerContext> {
    fn function_op(&self, program: &FunctionProgram, name: &str) -> Result<ReadyOp, Error> {
        let at_caller = at_caller();
        let (func, signature) = signature_of(program, name).map_err(at_caller)?;
        let module = program.module();
        let runtime = tfrt_core::CoreRuntime::of(self.host());
        let has_effects = signature.has_chain && has_effects(module, func, runtime.ops());
        let op = FunctionOp::new(self, program.clone(), name, signature);
        let made = CoreRuntimeOp::new(op);
        let made = self.made_elsewhere(name, made, signature.num_results, has_effects);
        // It is unknown which tensors end up as operands of such ops.
        Ok(
            match has_effects && writes_to_operands(module, runtime.ops()) {
                true => made.writes_to_operands(),
                false => made,
            },
        )
    }

    fn explain_function(
        &self,
        program: &FunctionProgram,
        name: &str,
        operands: &[&TensorHandle],
    ) -> Result<String, Error> {
        let at_caller = at_caller();
        let signature = signature_of(program, name);
        let explained = signature.and_then(|(_, signature)| {
            FunctionOp::new(self, program.clone(), name, signature).explain(self, operands)
        });
        explained.map_err(at_caller)
    }
}

/// Returns a function that locates errors without a location at the caller.
#[track_caller]
fn at_caller() -> impl Fn(Error) -> Error {
    let caller = Location::caller();
    move |error| {
        error.set_place_if_unset(Place::from(caller));
        error
    }
}

/// Returns the function of a name and its signature as an op.
fn signature_of(program: &FunctionProgram, name: &str) -> Result<(OpId, Signature), Error> {
    let func = program.function(name)?;
    let signature = Signature::of(program.module(), func, name)?;
    Ok((func, signature))
}
