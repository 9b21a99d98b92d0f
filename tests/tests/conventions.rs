//! Conventions that a reader of one file cannot check: one name for one concept, one compiler
//! version, imports without cycles, one path for each public item, and lines that fit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod conventions {
    mod homes;
    mod imports;
    pub mod sources;
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder whose names end so, without build results, as paths from the root.
fn files_below(folder: &str, ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if !name.starts_with('.') && name != "target" && name != "golden" {
                    walk(&path, ending, found);
                }
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(folder), ending, &mut found);
    found
        .into_iter()
        .map(|path| {
            path.strip_prefix(root())
                .expect("below the root")
                .to_owned()
        })
        .collect()
}

/// The folder of the crate that a file belongs to, from the root.
fn crate_of(file: &Path) -> PathBuf {
    file.ancestors()
        .skip(1)
        .find(|folder| root().join(folder).join("Cargo.toml").exists())
        .expect("every source file is in a crate")
        .to_owned()
}

/// The public type that a line of a file defines outside of any block, if it defines one.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (keyword, rest) = rest.split_once(' ')?;
    if !["struct", "enum", "trait", "type", "union"].contains(&keyword) {
        return None;
    }
    let end = rest
        .find(|char: char| !(char.is_alphanumeric() || char == '_'))
        .unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Names with one definition in each of several crates, for words of different fields that only
/// their crate can tell apart. Do not add to this list: find a name that says more.
const SHARED_NAMES: &[&str] = &[
    "Attribute",
    "BindError",
    "Binding",
    "ByValue",
    "Collective",
    "Convolution",
    "Element",
    "Elements",
    "Example",
    "Fallible",
    "Fault",
    "Format",
    "Function",
    "Limits",
    "Module",
    "Operand",
    "Options",
    "Parameter",
    "Payload",
    "Plan",
    "Program",
    "ProgramBuilder",
    "Reduction",
    "Rendezvous",
    "Scalar",
    "Schema",
    "Scope",
    "Serial",
    "Shared",
    "Source",
    "Stream",
    "Tensor",
    "TextForm",
    "Value",
];

/// Names that only one crate of the workspace may define.
#[test]
fn public_types_have_names_of_their_own() {
    let mut defined: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    let sources = ["runtime", "kernels", "ods", "macros"]
        .iter()
        .flat_map(|folder| files_below(folder, ".rs"))
        .filter(|file| {
            let inside = file
                .strip_prefix(crate_of(file))
                .expect("it is in its crate");
            inside.starts_with("src")
        });
    for file in sources {
        let text = fs::read_to_string(root().join(&file)).expect("it can be read");
        for name in text.lines().filter_map(public_type) {
            defined
                .entry(name.to_owned())
                .or_default()
                .insert(crate_of(&file));
        }
    }
    assert!(defined.len() > 500, "the types of the workspace are found");
    let shared: BTreeMap<&str, Vec<String>> = defined
        .iter()
        .filter(|(_, crates)| crates.len() > 1)
        .map(|(name, crates)| {
            let crates = crates.iter().map(|path| path.display().to_string());
            (name.as_str(), crates.collect())
        })
        .collect();
    let new: Vec<_> = shared
        .iter()
        .filter(|(name, _)| !SHARED_NAMES.contains(name))
        .collect();
    assert!(
        new.is_empty(),
        "several crates define these names; call one of the types something else: {new:#?}"
    );
    let unused: Vec<_> = SHARED_NAMES
        .iter()
        .filter(|name| !shared.contains_key(**name))
        .collect();
    assert!(
        unused.is_empty(),
        "no longer shared, so they leave SHARED_NAMES: {unused:?}"
    );
}

#[test]
fn definitions_of_public_types_are_recognised() {
    assert_eq!(public_type("pub struct Kernel<A> {"), Some("Kernel"));
    assert_eq!(
        public_type("pub unsafe trait Sealed: Send {}"),
        Some("Sealed")
    );
    assert_eq!(public_type("pub type Place = u32;"), Some("Place"));
    assert_eq!(public_type("pub(crate) struct Kernel;"), None);
    assert_eq!(public_type("    pub struct Kernel;"), None);
    assert_eq!(public_type("pub fn kernel() {}"), None);
}

/// The value of `key = "value"` in a manifest.
fn value_of<'t>(text: &'t str, key: &str) -> &'t str {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='))
        .map(|value| value.trim().trim_matches('"'))
        .unwrap_or_else(|| panic!("`{key}` is set"))
}

/// So every test runs with the oldest compiler that we promise.
#[test]
fn pinned_compiler_is_the_oldest_supported_one() {
    let read = |file: &str| fs::read_to_string(root().join(file)).expect("it can be read");
    let (manifest, pinned) = (read("Cargo.toml"), read("rust-toolchain.toml"));
    let (oldest, pinned) = (
        value_of(&manifest, "rust-version"),
        value_of(&pinned, "channel"),
    );
    assert!(
        pinned == oldest || pinned == format!("{oldest}.0"),
        "rust-version is {oldest}, but the tests run with {pinned}"
    );
}

/// Pages in Markdown. The changelog is a list of entries of any length.
#[test]
fn pages_wrap_at_100_columns() {
    let pages = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ];
    let pages = pages.iter().map(PathBuf::from);
    let folders = ["docs", "kernels/models", "tests/fuzz", "tests/minimal"];
    let others = folders.iter().flat_map(|folder| files_below(folder, ".md"));
    let mut too_long = String::new();
    for page in pages.chain(others) {
        let text = fs::read_to_string(root().join(&page)).expect("it can be read");
        let mut is_code = false;
        for (index, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            let may_be_long = is_code || line.starts_with('|') || !line.contains(' ');
            if !may_be_long && line.chars().count() > 100 {
                too_long += &format!("{}:{}\n", page.display(), index + 1);
            }
        }
    }
    assert!(too_long.is_empty(), "more than 100 columns:\n{too_long}");
}

/// Returns the numbers of the lines of a file with a comment that is too long. Examples, tables,
/// drawings, productions of a grammar and words without a space may be long.
fn long_comments(text: &str) -> Vec<usize> {
    let mut is_example = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_example = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        is_example ^= comment.starts_with("```");
        let is_production =
            comment.starts_with('`') && comment.trim_end_matches(['.', ',']).ends_with('`');
        let is_drawing = comment.starts_with(['|', '[']) || comment.contains("   ");
        let may_be_long = is_example || is_production || is_drawing || !comment.contains(' ');
        if !may_be_long && line.chars().count() > 100 {
            found.push(index + 1);
        }
    }
    found
}

#[test]
fn comments_wrap_at_100_columns() {
    let mut too_long = String::new();
    // What these hold is input or output of the macros, compared byte for byte.
    let is_compared = |file: &PathBuf| {
        file.starts_with("tests/compile_errors/ui")
            || file
                .components()
                .any(|part| part.as_os_str() == "expansions")
    };
    for file in files_below("", ".rs") {
        if is_compared(&file) {
            continue;
        }
        let text = fs::read_to_string(root().join(&file)).expect("it can be read");
        for line in long_comments(&text) {
            too_long += &format!("{}:{line}\n", file.display());
        }
    }
    assert!(too_long.is_empty(), "more than 100 columns:\n{too_long}");
}

#[test]
fn long_comments_are_found_where_they_are_prose() {
    let words = "word ".repeat(25);
    for mark in ["//", "    ///", "//!"] {
        assert_eq!(long_comments(&format!("fn f() {{}}\n{mark} {words}")), [2]);
        let example = format!("{mark} ```\n{mark} {words}\n{mark} ```");
        assert!(long_comments(&example).is_empty());
        assert!(long_comments(&format!("{mark} | {words}")).is_empty());
    }
    assert!(long_comments(&format!("let x = \"{words}\";")).is_empty());
}
