//! The page of the guide that lists ops is what the declarations say. `TFRT_BLESS=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tfrt_onnx::{import, opset};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/supported_ops.rs");

/// Returns the page.
fn page() -> String {
    let mut text = String::from(
        "//! The ops of ONNX that are supported.\n\
         //!\n\
         //! This page is written by a test, from ONNX's declarations and ours: `TFRT_BLESS=1 \
         cargo test -p\n\
         //! tfrt-onnx`. A version is the opset that introduced it; an op in a model of another \
         opset has the\n\
         //! greatest version below. See [`not_supported`](super::not_supported) for element \
         types and other\n\
         //! limits.\n\
         //!\n\
         //! | op | versions |\n\
         //! |---|---|\n",
    );
    let supported: BTreeSet<&str> = import::supported_ops().into_iter().collect();
    for op in &supported {
        let versions = opset::versions(op).iter();
        let versions: Vec<String> = versions
            .map(|schema| match schema.is_dropped {
                true => format!("{} (deprecated)", schema.since),
                false => schema.since.to_string(),
            })
            .collect();
        let _ = writeln!(text, "//! | `{op}` | {} |", versions.join(", "));
    }
    let all: BTreeSet<&str> = opset::op_names().collect();
    let others: Vec<String> = all
        .difference(&supported)
        .map(|op| format!("//! - `{op}`\n"))
        .collect();
    let _ = write!(
        text,
        "//!\n//! These {} of {} ops are supported. The others of the domain `ai.onnx` are:\n//!\n{}",
        supported.len(),
        all.len(),
        others.concat()
    );
    text
}

#[test]
fn the_page_of_supported_ops_is_what_the_declarations_say() {
    let page = page();
    if std::env::var_os("TFRT_BLESS").is_some() {
        std::fs::write(PATH, &page).unwrap();
    }
    let found = std::fs::read_to_string(PATH).unwrap();
    assert!(
        found == page,
        "`src/guide/supported_ops.rs` is out of date; TFRT_BLESS=1 writes it anew"
    );
}
