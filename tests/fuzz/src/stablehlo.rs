//! The target of StableHLO text, and its seeds.

use std::fs;
use std::path::Path;

use tfrt_import::{Limit, Limits};
use tfrt_stablehlo::HloModel;
use tfrt_stablehlo::import::Options;

/// What separates the pieces of a file.
const SEPARATOR: &str = "// -----";

/// Reads a text, prints it in both forms, reads these, too, and imports every function. Returns
/// `true` if the text is a model.
///
/// What is printed need not be the same model: the parser accepts the use of a value of a later
/// function, whose name is another value's when it is printed.
pub fn import(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let Ok(model) = HloModel::from_text(text, "model.mlir") else {
        return false;
    };
    for is_generic in [true, false] {
        let printed = model.to_text(is_generic);
        // An error is as good as a model.
        let _ = HloModel::from_text(&printed, "printed.mlir");
    }
    let mut options = Options::default();
    options.limits = Limits::default()
        .with(Limit::Nodes, 10_000)
        .with(Limit::DenseBytes, 1 << 20)
        .with(Limit::ProgramBytes, 1 << 20);
    for has_checks in [false, true] {
        for function in model.functions() {
            options.function.clone_from(&function.name);
            options.has_checks = has_checks;
            // An error is as good as a program.
            let _ = model.import(&options);
        }
    }
    true
}

/// Returns the programs of at most `max_bytes` that the tests of the importer run.
///
/// # Panics
/// If they are not there.
#[must_use]
pub fn seeds(max_bytes: usize) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/stablehlo/tests/data");
    let entries = fs::read_dir(folder).expect("a folder of StableHLO files");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("a folder entry").path())
        .collect();
    paths.sort();
    let texts = paths
        .iter()
        .map(|path| fs::read_to_string(path).expect("a text"));
    let pieces: Vec<Vec<u8>> = texts
        .flat_map(|text| {
            let pieces = text.split(SEPARATOR).map(|piece| piece.as_bytes().to_vec());
            pieces.collect::<Vec<_>>()
        })
        .filter(|piece| piece.len() <= max_bytes)
        .collect();
    assert!(pieces.len() > 100, "the programs are there");
    pieces
}
