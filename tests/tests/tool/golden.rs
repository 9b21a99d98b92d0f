//! Every recorded command is a test, and so is each thing that we do otherwise than the recording.
//! A run of a file is also tried with the text that the file was made of.

use libtest_mimic::{Failed, Trial};
use tfrt_tests::golden::{self, Case};

pub(crate) fn trials() -> Vec<Trial> {
    let cases = match golden::cases() {
        Ok(cases) => cases,
        Err(error) => {
            let unreadable = Trial::test("recorded_commands", move || Err(error.into()));
            return vec![unreadable];
        }
    };
    let from_text: Vec<Case> = cases.iter().filter_map(Case::from_text).collect();
    let over_grpc: Vec<Case> = cases.iter().flat_map(Case::over_grpc).collect();
    let all = cases.into_iter().chain(from_text).chain(over_grpc);
    let mut trials: Vec<Trial> = all.map(trial).collect();
    trials.push(Trial::test(
        "each_unchecked_mistake_is_an_error",
        each_unchecked_mistake_is_an_error,
    ));
    trials.push(Trial::test(
        "symbols_beside_regions_are_decoded",
        symbols_beside_regions_are_decoded,
    ));
    trials.push(Trial::test(
        "a_branch_out_of_range_is_an_error_value",
        a_branch_out_of_range_is_an_error_value,
    ));
    trials
}

fn trial(case: Case) -> Trial {
    Trial::test(case.name(), move || {
        golden::check(&case).map_err(Failed::from)
    })
}

/// The pieces of program 74: the first line of each, and what the line at fault starts with.
const UNCHECKED_MISTAKES: &[(&str, &str)] = &[
    ("At the inner module", "module @inner"),
    ("At any.leaf: a region", "\"any.leaf\""),
    ("At the inner return", "tfrt.return %x"),
    (
        "At any.op: `BEF files cannot encode the 'a' attribute`.",
        "\"any.op\"",
    ),
    (
        "`BEF files cannot encode the 'a' attribute`, for the third element",
        "\"any.op\"",
    ),
    ("since a list of functions starts with one", "\"any.op\""),
    ("inside a list as outside of one", "\"any.op\""),
    ("At tfrt.while", "%a = tfrt.while"),
    ("At tfrt.once", "%a = tfrt.once"),
    ("At tfrt.case", "%d, %a = tfrt.case"),
    ("At tfrt_test.benchmark", "%c = tfrt_test.benchmark"),
    ("a kernel outside of any function", "\"any.op\""),
];

fn each_unchecked_mistake_is_an_error() -> Result<(), Failed> {
    let file = "74-bad-unchecked.mlir";
    let text = std::fs::read_to_string(golden::path(file))?;
    let output = golden::run(&format!(
        "tfrt_translate --mlir-to-bef --split-input-file {file}"
    ))?;
    golden::require_status(1, &output)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut line_of_piece = 1;
    for ((comment, culprit), piece) in UNCHECKED_MISTAKES.iter().zip(text.split("// -----")) {
        if !piece.contains(comment) {
            return Err(format!("expected a piece about `{comment}`, found:\n{piece}").into());
        }
        let prefix = format!("within split at {file}:{line_of_piece} offset :");
        let lines: Vec<&str> = piece.lines().collect();
        let is_reported = stderr.lines().any(|line| {
            let Some((number, rest)) = line
                .strip_prefix(&prefix)
                .and_then(|rest| rest.split_once(':'))
            else {
                return false;
            };
            let at = number
                .parse::<usize>()
                .ok()
                .and_then(|number| lines.get(number.checked_sub(1)?));
            rest.contains(" error: ") && at.is_some_and(|at| at.trim_start().starts_with(culprit))
        });
        if !is_reported {
            return Err(format!(
                "no error at the line of `{culprit}` about `{comment}` in:\n{stderr}"
            )
            .into());
        }
        line_of_piece += piece.matches('\n').count();
    }
    let num_pieces = text.matches("// -----").count() + 1;
    if num_pieces != UNCHECKED_MISTAKES.len() {
        return Err(format!(
            "{num_pieces} pieces, but {} are checked",
            UNCHECKED_MISTAKES.len()
        )
        .into());
    }
    Ok(())
}

fn symbols_beside_regions_are_decoded() -> Result<(), Failed> {
    let output = golden::run("tfrt_translate --bef-to-mlir 28-symbols-beside-regions.bef")?;
    golden::require_status(0, &output).map_err(Failed::from)
}

fn a_branch_out_of_range_is_an_error_value() -> Result<(), Failed> {
    let output = golden::run("bef_executor 54-case-out-of-range.bef")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    for index in ["2", "-1"] {
        let value = format!("<<error: branch_index invalid. branch index: {index} # branches: 2>>");
        if !stdout.contains(&value) {
            return Err(format!("`{value}` is not part of:\n{stdout}").into());
        }
    }
    golden::require_status(0, &output).map_err(Failed::from)
}
