//! What the macros say about every way to misuse them.
//!
//! Each file of `ui` does not compile; the texts beside it are what the compiler says. `TRYBUILD=overwrite` records them
//! anew.

#[test]
fn misuse_is_explained_where_it_stands() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
