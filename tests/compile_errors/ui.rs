//! The errors of the macros for every way to misuse them.
//!
//! The folders of `ui` are topics. Each file in them fails to compile, and the text next to it has
//! the errors of the compiler. `TRYBUILD=overwrite` records the texts again.

#[test]
fn misuse_is_explained_at_its_location() {
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}

/// Files outside the folders would not be compiled.
#[test]
fn every_misuse_is_in_a_folder() {
    let ui = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let entries = std::fs::read_dir(ui).expect("the folder can be read");
    for entry in entries {
        let path = entry.expect("the entry can be read").path();
        assert!(path.is_dir(), "move it into a folder: {}", path.display());
    }
}
