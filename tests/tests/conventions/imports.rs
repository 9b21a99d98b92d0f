//! Files do not import each other, not even by way of others: whoever reads one can begin with
//! those that it imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::sources::{CratePath, Sources};

/// The crates whose files have an order.
const CRATES: &[&str] = &[
    "runtime/executor",
    "runtime/host",
    "runtime/ir",
    "kernels/tensor",
];

/// The files that each file imports.
type Graph = BTreeMap<CratePath, BTreeSet<CratePath>>;

fn graph(sources: &Sources) -> Graph {
    let modules = sources.modules.iter();
    let edges = modules.map(|(module, source)| {
        let imported = source.named.iter().map(|path| sources.definer(path));
        let others = imported.filter(|imported| imported != module);
        (module.clone(), others.collect())
    });
    edges.collect()
}

fn reachable<'a>(graph: &'a Graph, from: &'a CratePath) -> BTreeSet<&'a CratePath> {
    let mut found = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(module) = pending.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if found.insert(next) {
                pending.push(next);
            }
        }
    }
    found
}

/// Returns the imports that are part of a cycle, one on each line.
fn cycles(sources: &Sources) -> String {
    let graph = graph(sources);
    let mut found = String::new();
    for (module, imported) in &graph {
        for other in imported {
            if reachable(&graph, other).contains(module) {
                let name = |path: &CratePath| match path.is_empty() {
                    true => "lib".to_owned(),
                    false => path.join("/"),
                };
                let _ = writeln!(found, "  {}.rs imports {}.rs", name(module), name(other));
            }
        }
    }
    found
}

#[test]
fn files_do_not_import_each_other() {
    let mut found = String::new();
    for folder in CRATES {
        let sources = Sources::read(&crate::root().join(folder).join("src"));
        assert!(
            sources.modules.len() > 10,
            "the files of {folder} are found"
        );
        let cycles = cycles(&sources);
        if !cycles.is_empty() {
            let _ = write!(found, "{folder}:\n{cycles}");
        }
    }
    assert!(
        found.is_empty(),
        "these imports form cycles; move what both files need to a place below them:\n{found}"
    );
}

fn sources(files: &[(&str, &str)]) -> Sources {
    let files = files.iter().map(|(module, text)| {
        let parts = module.split('/').filter(|part| !part.is_empty());
        (parts.map(str::to_owned).collect(), (*text).to_owned())
    });
    Sources::of(&files.collect())
}

#[test]
fn cycles_are_found_through_other_files_and_re_exports() {
    let found = cycles(&sources(&[
        ("", "mod a; mod b; mod c; pub use a::A;"),
        ("a", "use crate::b::{self, B}; pub struct A;"),
        ("b", "fn f() { crate::c::g() }"),
        ("c", "use crate::A; pub fn g() {}"),
    ]));
    assert_eq!(
        found,
        "  a.rs imports b.rs\n  b.rs imports c.rs\n  c.rs imports a.rs\n"
    );
    let found = cycles(&sources(&[
        ("", "mod outer;"),
        ("outer", "mod inner; use inner::Inner; struct Outer(Inner);"),
        ("outer/inner", "use super::Outer; pub struct Inner;"),
    ]));
    assert!(found.contains("outer.rs imports outer/inner.rs"), "{found}");
}

#[test]
fn fronts_and_tests_are_not_part_of_cycles() {
    let found = cycles(&sources(&[
        ("", "mod outer; #[cfg(all(test, not(loom)))] mod tests;"),
        (
            "outer",
            "mod inner; pub use inner::Inner; pub struct Outer;
            #[cfg(test)] mod tests { use super::inner::Inner; }",
        ),
        (
            "outer/inner",
            "use super::Outer; /// [`crate::tests`] \n pub struct Inner;",
        ),
        ("tests", "use crate::outer::{inner::Inner, Outer};"),
    ]));
    assert_eq!(found, "");
}

#[test]
fn conditions_that_only_tests_meet_are_recognised() {
    let is_for_tests = |attribute: &str| {
        let tokens = attribute.parse().expect("the attribute is made of tokens");
        super::sources::is_for_tests(tokens)
    };
    assert!(is_for_tests("cfg(test)"));
    assert!(is_for_tests("cfg(all(test, not(loom)))"));
    assert!(is_for_tests("cfg(any(test, loom))"));
    assert!(!is_for_tests("cfg(not(loom))"));
    assert!(!is_for_tests("cfg(feature = \"formats\")"));
    assert!(!is_for_tests("derive(Debug)"));
}
