//! How chains are threaded. The behaviour of threaded programs at run time is tested with the
//! kernels.

mod ops;

mod order;

mod bodies;

mod refusals;

mod minimal;

use tfrt_compiler::passes::thread_chains;
use tfrt_ir::{
    Module, ParseOptions, PrintOptions, VerifyOptions, parse_without_chains, print, verify,
};

use crate::support::lines;
use ops::registry;

/// Parses a program that is written without chains.
fn read(source: &str) -> Module {
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let module = match parse_without_chains(source, "p.mlir", &registry(), &options) {
        Ok(module) => module,
        Err(errors) => panic!("{}\n{source}", lines(&errors)),
    };
    let errors = verify(&module, &VerifyOptions::default());
    assert!(errors.is_empty(), "{}\n{source}", lines(&errors));
    module
}

fn text_of(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

/// Returns the threaded program. It must be well formed, and threading it again must not change it.
fn thread(source: &str) -> Module {
    let mut module = read(source);
    let root = module.root();
    if let Err(errors) = thread_chains(&mut module, root) {
        panic!("{}\n{source}", lines(&errors));
    }
    assert!(!module.leaves_out_chains());
    let errors = verify(&module, &VerifyOptions::default());
    assert!(
        errors.is_empty(),
        "{}\n{}",
        lines(&errors),
        text_of(&module)
    );
    let mut again = module.clone();
    assert!(thread_chains(&mut again, root).is_ok());
    assert_eq!(text_of(&again), text_of(&module));
    module
}

/// Compares a threaded program with the expected one.
fn check(source: &str, expected: &str) {
    let threaded = text_of(&thread(source));
    let body = threaded
        .strip_prefix("module {\n")
        .and_then(|text| text.strip_suffix("}\n"))
        .unwrap_or(&threaded);
    let unindented: String = body
        .lines()
        .map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned() + "\n")
        .collect();
    assert_eq!(unindented, expected);
}

/// Compares the diagnostics for a program, which must not change, with the expected ones.
fn check_refusal(source: &str, expected: &str) {
    let mut module = read(source);
    let before = text_of(&module);
    let root = module.root();
    let errors = match thread_chains(&mut module, root) {
        Ok(()) => panic!("{}", text_of(&module)),
        Err(errors) => errors,
    };
    let found: String = errors
        .iter()
        .map(|error| {
            let notes = error
                .notes
                .iter()
                .map(|note| format!("  {}: {}\n", note.place, note.message));
            format!("{error}\n{}", notes.collect::<String>())
        })
        .collect();
    assert_eq!(found, expected);
    assert_eq!(text_of(&module), before);
    assert!(module.leaves_out_chains());
}
