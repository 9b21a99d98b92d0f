//! The errors of the macros for every way to misuse them.
//!
//! The folders of `ui` are topics. Each file in them fails to compile, and the text next to it has the errors of the compiler.
//! `TRYBUILD=overwrite` records the texts again.

#[test]
fn misuse_is_explained_at_its_location() {
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}
