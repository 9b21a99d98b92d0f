//! What the tools share of the text front end: the declarations that are linked, and the ways between text and file.
//!
//! Every way reports what it finds to a [`Reporter`] and stops with [`Failure::Reported`] if that was an error. Tools show
//! the first failing op only, however many there are.

use std::io::Write;
use std::sync::Arc;

use tfrt_bef::BefFile;
use tfrt_compiler::EncodeOptions;
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::registry::DialectRegistration;
use tfrt_ir::{Module, ParseOptions, PrintOptions, Registry, VerifyOptions};
use tfrt_ods::OpDef;
use tfrt_support::Diagnostic;

use crate::arguments::PrintingArguments;
use crate::diagnostics::Reporter;
use crate::failure::Failure;
use crate::input::Input;

/// The kernels and declarations that are linked into this binary.
#[derive(Debug)]
pub(crate) struct FrontEnd {
    kernels: Arc<KernelRegistry>,
    registry: Arc<Registry>,
}

/// What `tfrt opt` does with a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptOptions {
    /// Whether unknown dialects are accepted.
    pub(crate) allow_unregistered_dialects: bool,
    /// Whether to report the streams.
    pub(crate) print_stream: bool,
    /// How to print.
    pub(crate) printing: PrintingArguments,
}

impl FrontEnd {
    /// Collects what is linked. `program` is the name that complaints start with.
    pub(crate) fn from_link(program: &str) -> Result<Self, Failure> {
        let complain =
            |error: &dyn std::fmt::Display| Failure::Message(format!("{program}: {error}"));
        let kernels = KernelRegistry::from_link().map_err(|error| complain(&error))?;
        let registry = Registry::new(kernels.ops(), DialectRegistration::linked())
            .map_err(|error| complain(&error))?;
        Ok(Self {
            kernels: Arc::new(kernels),
            registry: Arc::new(registry),
        })
    }

    /// The kernels.
    pub(crate) fn kernels(&self) -> &Arc<KernelRegistry> {
        &self.kernels
    }

    /// The declarations of all ops, in order of their names.
    pub(crate) fn op_defs(&self) -> impl Iterator<Item = &'static OpDef> {
        let mut defs: Vec<_> = self.registry.ops().collect();
        defs.sort_unstable_by_key(|def| def.name);
        defs.into_iter()
    }

    /// The names of the dialects that are known, in order.
    pub(crate) fn dialect_names(&self) -> Vec<&'static str> {
        self.registry.dialect_names()
    }

    /// Makes a BEF file of a program.
    pub(crate) fn translate(
        &self,
        text: &str,
        name: &str,
        with_optional_sections: bool,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Vec<u8>, Failure> {
        let module = self.check(text, name, true, reporter)?;
        let options = EncodeOptions {
            optional_sections: with_optional_sections,
            notes: !reporter.is_verifying(),
        };
        tfrt_compiler::encode(&module, &options).map_err(|found| report_all(&found, reporter))
    }

    /// Makes text of a BEF file.
    pub(crate) fn decode(
        &self,
        input: &Input,
        printing: PrintingArguments,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<String, Failure> {
        let file = BefFile::from_bytes(&input.bytes);
        let decoded = tfrt_compiler::decode(&file, &input.name, &self.registry);
        decoded
            .diagnostics
            .iter()
            .for_each(|diagnostic| reporter.report(diagnostic));
        let module = decoded.module.ok_or(Failure::Reported)?;
        verify(&module, reporter)?;
        Ok(tfrt_ir::print(&module, &print_options(printing)))
    }

    /// Checks a program, does with it what the options say, and prints it.
    pub(crate) fn optimize(
        &self,
        text: &str,
        name: &str,
        options: OptOptions,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<String, Failure> {
        let module = self.check(text, name, options.allow_unregistered_dialects, reporter)?;
        if options.print_stream {
            let remarks = tfrt_compiler::stream_analysis::print_streams(&module);
            remarks.iter().for_each(|remark| reporter.report(remark));
        }
        Ok(tfrt_ir::print(&module, &print_options(options.printing)))
    }

    /// Parses a program and verifies it.
    fn check(
        &self,
        text: &str,
        name: &str,
        allow_unregistered_dialects: bool,
        reporter: &mut Reporter<impl Write>,
    ) -> Result<Module, Failure> {
        let options = ParseOptions {
            allow_unregistered_dialects,
        };
        let module = tfrt_ir::parse(text, name, &self.registry, &options)
            .map_err(|found| report_all(&found, reporter))?;
        verify(&module, reporter)?;
        Ok(module)
    }
}

fn verify(module: &Module, reporter: &mut Reporter<impl Write>) -> Result<(), Failure> {
    let options = VerifyOptions {
        stops_at_first: true,
        shows_op: !reporter.is_verifying(),
    };
    let found = tfrt_ir::verify(module, &options);
    if found.is_empty() {
        Ok(())
    } else {
        Err(report_all(&found, reporter))
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
    } = printing;
    PrintOptions {
        generic: op_generic,
        debug_info,
        local_scope,
        ..PrintOptions::default()
    }
}
