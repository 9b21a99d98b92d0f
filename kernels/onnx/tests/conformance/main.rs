//! The recorded cases of the ONNX project: each model computes the recorded outputs, also when it
//! is written in another way.
//!
//! `ONNX_TEST_DATA` is the folder `onnx/backend/test/data` of the Python package:
//!
//! ```text
//! pip download onnx==1.22.0 --no-deps && unzip onnx-*.whl
//! ONNX_TEST_DATA=$PWD/onnx/backend/test/data cargo test -p tfrt-onnx --test conformance
//! ```
//!
//! `pending.txt` lists what does not pass, one case a line: its name, the variant if the case
//! passes as it is, and the outcome. A case that fails without being listed is a failure, and so is
//! one that is listed and passes. `TFRT_BLESS=1` writes the outcomes of this run to the list.
//!
//! All but two cases in the list need what `kernels/onnx/src/guide/not_supported.rs` lists. The
//! outputs of `test_dft_inverse` and `test_dft_inverse_opset19` were computed in single precision:
//! where they should be 0 they are 1.9e-7, which is more than the tolerance of 1e-7.
//!
//! Large models run only if `TFRT_LONG_TESTS` is set, as they take minutes without optimisation:
//! `TFRT_LONG_TESTS=1 cargo test --release -p tfrt-onnx --test conformance`.

mod cases;
mod pending;
mod run;
mod variants;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use cases::Case;
use pending::Pending;
use run::{Hosts, Outcome};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let Some(data) = std::env::var_os("ONNX_TEST_DATA") else {
        println!("skipped: no ONNX test data");
        return ExitCode::SUCCESS;
    };
    let is_long = std::env::var_os("TFRT_LONG_TESTS").is_some();
    let cases = cases::find(Path::new(&data), is_long);
    let hosts = Arc::new(Hosts::new());
    let pending = Arc::new(Pending::read());
    let unknown = pending.unknown(cases.iter().map(|case| case.name.as_str()));
    let mut trials = vec![Trial::test("listed_cases_exist", move || {
        match unknown.is_empty() {
            true => Ok(()),
            false => Err(format!("no such cases: {}", unknown.join(", ")).into()),
        }
    })];
    for case in cases {
        let (hosts, pending) = (Arc::clone(&hosts), Arc::clone(&pending));
        trials.push(Trial::test(case.title(), move || {
            check(&case, &hosts, &pending)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if std::env::var_os("TFRT_BLESS").is_some() {
        pending.write();
    }
    conclusion.exit_code()
}

/// Runs a case, and its variants if it passes, and compares the outcomes with the list.
fn check(case: &Case, hosts: &Hosts, pending: &Pending) -> Result<(), Failed> {
    let mut surprises = Vec::new();
    let mut compare = |variant: Option<&str>, outcome: &Outcome| {
        let listed = pending.listed(&case.name, variant);
        pending.record(&case.name, variant, outcome.status);
        if listed != outcome.status {
            let (found, message) = (outcome.status, &outcome.message);
            let variant = variant.unwrap_or("as it is");
            surprises.push(format!(
                "{variant}: {listed} is listed, but it is {found}: {message}"
            ));
        }
    };
    let outcome = run::case(case, hosts);
    compare(None, &outcome);
    if outcome.is_pass() {
        for variant in variants::ALL {
            if let Some(outcome) = (variant.run)(case, hosts) {
                compare(Some(variant.name), &outcome);
            }
        }
    }
    match surprises.is_empty() {
        true => Ok(()),
        false => Err(surprises.join("\n").into()),
    }
}
