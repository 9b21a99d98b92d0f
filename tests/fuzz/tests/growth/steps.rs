//! The steps that inputs go through, each measured by itself.

use std::sync::{Arc, OnceLock};

use tfrt::async_value::AnyRef;
use tfrt::bef::BefFile;
use tfrt::bef::dump::{DumpOptions, dump};
use tfrt::executor::Program;
use tfrt::host::{FunctionKind, RequestContextBuilder};
use tfrt::kernel::DialectRegistration;
use tfrt::prelude::*;
use tfrt_cli::diagnostics::{Reporter, SourceMap};
use tfrt_compiler::passes::{PASSES, Pipeline};
use tfrt_compiler::{EncodeOptions, decode, encode};
use tfrt_fuzz::data_files::DataFormat;
use tfrt_ir::{
    Module, ParseOptions, PrintOptions, Registry, VerifyOptions, parse, parse_without_chains,
    print, verify,
};
use tfrt_support::{Diagnostic, Diagnostics};

use crate::cost::{self, Cost};

// Keeps the kernels in the program.
use tfrt_fuzz as _;

/// What locations call the input.
const FILE_NAME: &str = "growth.mlir";

/// The steps that one input went through, with their costs.
#[derive(Debug, Default)]
pub struct Steps {
    steps: Vec<(&'static str, Cost)>,
    /// The first error.
    found: Option<String>,
}

impl Steps {
    /// The steps that `run` takes.
    pub fn of(run: impl FnOnce(&mut Self)) -> Self {
        let mut steps = Self::default();
        run(&mut steps);
        steps
    }

    /// Takes a step.
    pub fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let (result, cost) = cost::measure(work);
        self.steps.push((name, cost));
        result
    }

    /// What is wrong with the input.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.iter().map(|(name, _)| name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Cost)> + '_ {
        self.steps.iter().copied()
    }

    /// Takes the lesser costs of two runs through the same steps.
    pub fn improve(&mut self, other: &Self) {
        for ((_, cost), (_, other)) in self.steps.iter_mut().zip(&other.steps) {
            *cost = cost.min(*other);
        }
    }
}

fn registry() -> &'static Arc<Registry> {
    static REGISTRY: OnceLock<Arc<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let kernels = KernelRegistry::from_link().expect("kernels of different names");
        let registry = Registry::new(kernels.ops(), DialectRegistration::linked());
        Arc::new(registry.expect("declarations that agree"))
    })
}

fn host() -> &'static Arc<HostContext> {
    static HOST: OnceLock<Arc<HostContext>> = OnceLock::new();
    HOST.get_or_init(|| {
        let kernels = KernelRegistry::from_link().expect("kernels of different names");
        HostContext::builder().registry(Arc::new(kernels)).build()
    })
}

const EVERY_BREACH: VerifyOptions = VerifyOptions {
    stops_at_first: false,
    shows_op: true,
    refuses_stray_attributes: true,
};

fn parsed(text: &str) -> Result<Module, Diagnostics> {
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    parse(text, FILE_NAME, registry(), &options)
}

/// A program in text: all the way to its results, or to the report of what is wrong with it.
pub fn program(text: &str, steps: &mut Steps) {
    let module = match steps.step("parse", || parsed(text)) {
        Ok(module) => module,
        Err(found) => return report(&found, text, steps),
    };
    let found = steps.step("verify", || verify(&module, &EVERY_BREACH));
    if !found.is_empty() {
        return report(&found, text, steps);
    }
    for (step, options) in printings() {
        steps.step(step, || print(&module, &options));
    }
    for pass in PASSES {
        let mut module = parsed(text).expect("what was read before");
        let pipeline = Pipeline::parse(pass.name).expect("the name of a pass");
        let found = steps.step(pass.name, || pipeline.run(&mut module, None));
        if !found.is_empty() {
            steps.step("report of a pass", || rendered(&found, text));
        }
        steps.step("drop", || drop(module));
    }
    match steps.step("encode", || encode(&module, &EncodeOptions::default())) {
        Ok(bytes) => file(&bytes, steps),
        Err(found) => report(&found, text, steps),
    }
}

/// A program that is written without chains.
pub fn program_without_chains(text: &str, steps: &mut Steps) {
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let parsed = steps.step("parse", || {
        parse_without_chains(text, FILE_NAME, registry(), &options)
    });
    let mut module = match parsed {
        Ok(module) => module,
        Err(found) => return report(&found, text, steps),
    };
    let pipeline = Pipeline::parse("thread-chains").expect("the name of a pass");
    let found = steps.step("thread-chains", || pipeline.run(&mut module, None));
    steps.found = found.first().map(ToString::to_string);
    let text = print(&module, &PrintOptions::default());
    program(&text, steps);
}

/// The ways to print a program.
fn printings() -> [(&'static str, PrintOptions); 4] {
    let plain = PrintOptions::default();
    let debug_info = PrintOptions {
        debug_info: true,
        ..plain
    };
    [
        ("print", plain),
        (
            "print generic",
            PrintOptions {
                generic: true,
                ..plain
            },
        ),
        ("print locations", debug_info),
        (
            "print in place",
            PrintOptions {
                local_scope: true,
                ..debug_info
            },
        ),
    ]
}

/// A BEF file: shown, decoded, loaded, and run.
pub fn file(bytes: &[u8], steps: &mut Steps) {
    let bef = BefFile::from_bytes(bytes);
    if !is_shown(&bef, bytes, steps) {
        return;
    }
    let decoded = steps.step("decode", || decode(&bef, FILE_NAME, registry()));
    if let Some(module) = decoded.module {
        steps.step("print decoded", || print(&module, &PrintOptions::default()));
    } else {
        steps.found = Some(decoded.diagnostics[0].to_string());
    }
    load(&bef, steps);
}

/// A BEF file that states something long once and uses it often, so that its text is much longer:
/// all but that.
pub fn dense_file(bytes: &[u8], steps: &mut Steps) {
    let bef = BefFile::from_bytes(bytes);
    if is_shown(&bef, bytes, steps) {
        steps.step("decode", || decode(&bef, FILE_NAME, registry()));
        load(&bef, steps);
    }
}

/// Verifies a file, and dumps it; whether it is sound.
fn is_shown(bef: &BefFile, bytes: &[u8], steps: &mut Steps) -> bool {
    let is_sound = steps.step("verify file", || {
        bef.verify()
            .is_ok_and(|tables| tables.verify_functions().is_ok())
    });
    for (step, hex) in [("dump", false), ("dump bytes", true)] {
        let options = DumpOptions {
            hex,
            ..DumpOptions::default()
        };
        let dumped = steps.step(step, || dump(bytes, options, &mut Vec::new()));
        dumped.expect("memory takes any output");
    }
    is_sound
}

fn load(bef: &BefFile, steps: &mut Steps) {
    let loaded = steps.step("load", || {
        let program = Program::load(host(), bef)?;
        program.verify_all()?;
        Ok::<_, Error>(program)
    });
    match loaded {
        Ok(program) => steps.step("run", || run(&program)),
        Err(error) => steps.found = Some(error.to_string()),
    }
}

/// Runs `main`, or every function that takes no arguments if there is none, on this thread.
fn run(program: &Arc<Program>) {
    let request = RequestContextBuilder::new(Arc::clone(host())).build();
    let ctx = ExecutionContext::new(request);
    let is_alone = program.function("main").is_some();
    for function in program.functions() {
        if function.num_arguments() != 0 || (is_alone && function.name() != "main") {
            continue;
        }
        if function.kind() == FunctionKind::Sync {
            let mut results = vec![None; function.num_results()];
            // An error is a result, too.
            let _ = function.execute_sync(&ctx, &[], &mut results);
        } else {
            let results: Vec<AnyRef> = function.execute(&ctx, &[]);
            host()
                .await_available(&results)
                .expect("somebody makes the results available");
        }
    }
    host().quiesce().expect("no task calls this");
}

fn report(found: &[Diagnostic], text: &str, steps: &mut Steps) {
    steps.found = found.first().map(ToString::to_string);
    steps.step("report", || rendered(found, text));
    steps.step("expect", || {
        let mut reporter = Reporter::verifying(sources(text), Vec::new());
        found.iter().for_each(|found| reporter.report(found));
        reporter.finish()
    });
}

/// What a tool prints of all that was found.
fn rendered(found: &[Diagnostic], text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut reporter = Reporter::printing(sources(text), &mut out).with_max_errors(0);
    found.iter().for_each(|found| reporter.report(found));
    let _ = reporter.finish();
    drop(reporter);
    out
}

fn sources(text: &str) -> SourceMap {
    let mut sources = SourceMap::new();
    sources.insert(FILE_NAME, text);
    sources
}

/// A file of data: read, printed, written, and read again.
pub fn data(format: DataFormat, bytes: &[u8], steps: &mut Steps) {
    let is_read = steps.step("read and write", || format.read(bytes));
    assert!(is_read, "the file is sound");
}
