//! The text front end of the tools: the linked declarations, and the conversions between text and
//! file.
//!
//! Every conversion reports its diagnostics to a [`Reporter`] and stops with [`Failure::Reported`]
//! after an error. Tools show only the first failing op.

use std::collections::HashSet;
use std::io::Write;
use std::sync::{Arc, OnceLock};

use tfrt_bef::BefFile;
use tfrt_compiler::passes::{Pipeline, thread_chains};
use tfrt_compiler::{EncodeOptions, LinkedSyntaxes};
use tfrt_host::kernel::DialectRegistration;
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::library::LoadedLibrary;
use tfrt_ir::symbols::COMPILED_ATTRIBUTE;
use tfrt_ir::{Module, ParseOptions, PrintOptions, Registry, VerifyOptions};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::nearest::did_you_mean;
use tfrt_support::{Diagnostic, Severity};

use crate::arguments::PrintingArguments;
use crate::diagnostics::Reporter;
use crate::failure::Failure;
use crate::input::Input;
use crate::libraries::LibraryArguments;

/// The kernels and declarations that are linked into this binary.
#[derive(Debug)]
pub(crate) struct FrontEnd {
    /// The name that complaints start with.
    program: String,
    kernels: Arc<KernelRegistry>,
    /// The declarations for parsing and printing text. Created on demand, because running a file
    /// does not need them.
    registry: OnceLock<Arc<Registry>>,
}

/// The options of `tfrt opt` for a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptOptions<'a> {
    /// Whether unknown dialects are accepted.
    pub(crate) allow_unregistered_dialects: bool,
    /// The passes to run.
    pub(crate) pipeline: &'a Pipeline,
    /// Whether to verify after each of them.
    pub(crate) verify_each: bool,
    /// The printing options.
    pub(crate) printing: PrintingArguments,
}

/// The purpose of a translation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// For running it immediately.
    Run,
    /// To be written to a file, with the sections that only decoding and messages need or without
    /// them.
    File { optional_sections: bool },
}

impl FrontEnd {
    /// Collects everything that is linked. `program` is the name that complaints start with.
    pub(crate) fn from_link(program: &str) -> Result<Self, Failure> {
        let kernels =
            KernelRegistry::from_link().map_err(|error| Failure::caused(program, error))?;
        Ok(Self::of_kernels(program, kernels))
    }

    /// Collects everything that is linked, and also loads kernel libraries.
    pub(crate) fn new(program: &str, libraries: &LibraryArguments) -> Result<Self, Failure> {
        Self::from_link(program)?.with_libraries(libraries)
    }

    /// Loads kernel libraries besides.
    pub(crate) fn with_libraries(self, libraries: &LibraryArguments) -> Result<Self, Failure> {
        if libraries.paths().is_empty() {
            return Ok(self);
        }
        let mut kernels = KernelRegistry::clone(&self.kernels);
        libraries.load(&self.program, &mut kernels)?;
        Ok(Self::of_kernels(&self.program, kernels))
    }

    fn of_kernels(program: &str, kernels: KernelRegistry) -> Self {
        Self {
            program: program.to_owned(),
            kernels: Arc::new(kernels),
            registry: OnceLock::new(),
        }
    }

    /// Returns the declarations, for text.
    fn registry(&self) -> Result<&Arc<Registry>, Failure> {
        if let Some(registry) = self.registry.get() {
            return Ok(registry);
        }
        let libraries = self.kernels.libraries().iter();
        let dialects =
            DialectRegistration::linked().chain(libraries.flat_map(LoadedLibrary::dialects));
        let kernels: Arc<KernelRegistry> = Arc::clone(&self.kernels);
        let registry = Registry::of_table(kernels, dialects)
            .map_err(|error| Failure::caused(&*self.program, error))?;
        let registry = registry.with_syntaxes(LinkedSyntaxes::all());
        Ok(self.registry.get_or_init(|| Arc::new(registry)))
    }

    /// Returns the kernels.
    pub(crate) fn kernels(&self) -> &Arc<KernelRegistry> {
        &self.kernels
    }

    /// Returns the declarations of all ops, in order of their names.
    pub(crate) fn op_defs(&self) -> impl Iterator<Item = &'static OpDef> {
        self.kernels.ops()
    }

    /// Returns the names of the dialects that are known, in order.
    pub(crate) fn dialect_names(&self) -> Result<Vec<&'static str>, Failure> {
        Ok(self.registry()?.dialect_names())
    }

    /// Makes a BEF file of a program.
    pub(crate) fn translate(
        &self,
        text: &str,
        name: &str,
        purpose: Purpose,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Vec<u8>, Failure> {
        let module = tfrt_ir::parse(text, name, self.registry()?, &ANY_DIALECT)
            .map_err(|found| report_all(&found, reporter))?;
        self.verify_for(purpose, &module, reporter)?;
        encode(&module, purpose, reporter)
    }

    /// Makes a BEF file of a program that may be written without chains, with the chains that keep
    /// it in order.
    pub(crate) fn translate_without_chains(
        &self,
        text: &str,
        name: &str,
        purpose: Purpose,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Vec<u8>, Failure> {
        let mut module = tfrt_ir::parse_without_chains(text, name, self.registry()?, &ANY_DIALECT)
            .map_err(|found| report_all(&found, reporter))?;
        self.verify_for(purpose, &module, reporter)?;
        let root = module.root();
        thread_chains(&mut module, root).map_err(|found| report_all(&found, reporter))?;
        encode(&module, purpose, reporter)
    }

    /// Verifies a program. One that is to be run, and that breaks a rule, hears of the kernels that
    /// are not there as well.
    fn verify_for(
        &self,
        purpose: Purpose,
        module: &Module,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<(), Failure> {
        let options = VerifyOptions {
            refuses_stray_attributes: matches!(purpose, Purpose::Run),
            ..verify_options(reporter)
        };
        let verified = verify_with(&options, module, reporter);
        if verified.is_err() && matches!(purpose, Purpose::Run) {
            self.report_unknown_kernels(module, reporter);
        }
        verified
    }

    /// Reports the first op of each name that no kernel has.
    fn report_unknown_kernels(&self, module: &Module, reporter: &mut Reporter<impl Write>) {
        let mut reported = HashSet::new();
        for op in module.walk(module.root()) {
            let name = module.op_name(op);
            let is_terminator = module
                .op_def(op)
                .is_some_and(|def| def.traits.contains(OpTraits::TERMINATOR));
            let is_kernel = is_terminator || self.kernels.get(name).is_some();
            let is_compiled = || {
                let mut around = module.ancestors(op);
                around.any(|around| module.has_attr(around, COMPILED_ATTRIBUTE))
            };
            if is_kernel
                || module.is_func(op)
                || module.is_module(op)
                || is_compiled()
                || !reported.insert(name)
            {
                continue;
            }
            let hint = did_you_mean(&self.kernels.suggest(name));
            let message = format!("unknown kernel name '{name}'{hint}");
            let place = module.place(module.op_location(op));
            reporter.report(&Diagnostic::error(place, message));
        }
    }

    /// Makes text of a BEF file.
    pub(crate) fn decode(
        &self,
        input: &Input,
        printing: PrintingArguments,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<String, Failure> {
        let module = self.decode_module(input, reporter)?;
        verify(&module, reporter)?;
        Ok(tfrt_ir::print(&module, &print_options(printing)))
    }

    /// Creates a program of a BEF file, unverified.
    pub(crate) fn decode_module(
        &self,
        input: &Input,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Module, Failure> {
        let file = BefFile::from_bytes(&input.bytes);
        let decoded = tfrt_compiler::decode(&file, &input.name, self.registry()?);
        decoded
            .diagnostics
            .iter()
            .for_each(|diagnostic| reporter.report(diagnostic));
        decoded.module.ok_or(Failure::Reported)
    }

    /// Checks a program, processes it according to the options, and prints it.
    pub(crate) fn optimize(
        &self,
        text: &str,
        name: &str,
        options: OptOptions<'_>,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<String, Failure> {
        let allows_unregistered = options.allow_unregistered_dialects;
        let mut module = if options.pipeline.fills_in_chains() {
            self.check_without_chains(text, name, allows_unregistered, reporter)?
        } else {
            self.check(text, name, allows_unregistered, reporter)?
        };
        let verify_each = options.verify_each.then(|| verify_options(reporter));
        let findings = options.pipeline.run(&mut module, verify_each);
        let failure = report_all(&findings, reporter);
        if findings
            .iter()
            .any(|found| found.severity == Severity::Error)
        {
            return Err(failure);
        }
        Ok(tfrt_ir::print(&module, &print_options(options.printing)))
    }

    /// Parses a program and verifies it.
    pub(crate) fn check(
        &self,
        text: &str,
        name: &str,
        allow_unregistered_dialects: bool,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Module, Failure> {
        let options = ParseOptions {
            allow_unregistered_dialects,
        };
        let module = tfrt_ir::parse(text, name, self.registry()?, &options)
            .map_err(|found| report_all(&found, reporter))?;
        verify(&module, reporter)?;
        Ok(module)
    }

    /// Parses a program that may be written without chains and verifies it.
    fn check_without_chains(
        &self,
        text: &str,
        name: &str,
        allow_unregistered_dialects: bool,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Module, Failure> {
        let options = ParseOptions {
            allow_unregistered_dialects,
        };
        let module = tfrt_ir::parse_without_chains(text, name, self.registry()?, &options)
            .map_err(|found| report_all(&found, reporter))?;
        verify(&module, reporter)?;
        Ok(module)
    }
}

const ANY_DIALECT: ParseOptions = ParseOptions {
    allow_unregistered_dialects: true,
};

fn encode(
    module: &Module,
    purpose: Purpose,
    reporter: &mut Reporter<impl Write>,
) -> Result<Vec<u8>, Failure> {
    let options = EncodeOptions {
        optional_sections: match purpose {
            Purpose::Run => true,
            Purpose::File { optional_sections } => optional_sections,
        },
        notes: !reporter.is_verifying(),
    };
    tfrt_compiler::encode(module, &options).map_err(|found| report_all(&found, reporter))
}

fn verify(module: &Module, reporter: &mut Reporter<impl Write>) -> Result<(), Failure> {
    verify_with(&verify_options(reporter), module, reporter)
}

fn verify_with(
    options: &VerifyOptions,
    module: &Module,
    reporter: &mut Reporter<impl Write>,
) -> Result<(), Failure> {
    let found = tfrt_ir::verify(module, options);
    if found.is_empty() {
        Ok(())
    } else {
        Err(report_all(&found, reporter))
    }
}

fn verify_options(reporter: &Reporter<impl Write>) -> VerifyOptions {
    VerifyOptions {
        stops_at_first: true,
        shows_op: !reporter.is_verifying(),
        ..VerifyOptions::default()
    }
}

fn report_all(found: &[Diagnostic], reporter: &mut Reporter<impl Write>) -> Failure {
    found
        .iter()
        .for_each(|diagnostic| reporter.report(diagnostic));
    Failure::Reported
}

fn print_options(printing: PrintingArguments) -> PrintOptions {
    let PrintingArguments {
        op_generic,
        debug_info,
        local_scope,
        func_dialect,
    } = printing;
    PrintOptions {
        generic: op_generic,
        debug_info,
        local_scope,
        func_dialect,
        ..PrintOptions::default()
    }
}
