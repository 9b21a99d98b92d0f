//! Names of crates, which are also names of dialects.

use std::path::Path;

use crate::failure::CliError;

/// Crates that a crate of kernels depends on, and those that every crate has.
const TAKEN: [&str; 8] = [
    "tfrt",
    "tfrt_cli",
    "tfrt_kernels",
    "std",
    "core",
    "alloc",
    "test",
    "proc_macro",
];

/// Keywords of Rust, which cannot be names of crates.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The name of a crate of kernels.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CrateName(String);

impl CrateName {
    /// The last part of a path.
    pub(super) fn of_folder(path: &Path) -> Result<Self, CliError> {
        let Some(name) = path.file_name() else {
            return Err(CliError::new(format!(
                "`{}`: expected the name of the crate as the last component of the path",
                path.display()
            )));
        };
        let Some(name) = name.to_str() else {
            return Err(CliError::new(format!(
                "`{}`: the name of a crate must be valid Unicode",
                path.display()
            )));
        };
        let wrong = |reason: &str| {
            Err(CliError::new(format!(
                "`{name}` cannot be the name of a crate: {reason}"
            )))
        };
        if !name.starts_with(|char: char| char.is_ascii_alphabetic()) {
            return wrong("expected a letter at the start");
        }
        let is_fit = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        if let Some(odd) = name.chars().find(|char| !is_fit(*char)) {
            return wrong(&format!(
                "found `{odd}`, expected letters, digits, `-` and `_`"
            ));
        }
        let in_rust = name.replace('-', "_");
        if KEYWORDS.contains(&in_rust.as_str()) {
            return wrong("it is a Rust keyword");
        }
        if TAKEN.contains(&in_rust.as_str()) {
            return wrong("a dependency of the crate has this name");
        }
        Ok(Self(name.to_owned()))
    }

    /// The name in a manifest.
    pub(super) fn package(&self) -> &str {
        &self.0
    }

    /// The name in Rust, which is also that of the dialect.
    pub(super) fn in_rust(&self) -> String {
        self.0.replace('-', "_")
    }

    /// The file of the kernel library.
    pub(super) fn library_file(&self) -> String {
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        format!("{prefix}{}{suffix}", self.in_rust())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_part_of_the_path() {
        let name = CrateName::of_folder(Path::new("work/my-ops/"));
        let name = name.expect("the path ends in a name");
        assert_eq!((name.package(), &*name.in_rust()), ("my-ops", "my_ops"));
    }

    #[test]
    fn what_cargo_or_rust_would_refuse_is_refused() {
        for (path, reason) in [
            ("..", "`..`: expected the name of the crate"),
            ("/", "`/`: expected the name of the crate"),
            (
                "9lives",
                "`9lives` cannot be the name of a crate: expected a letter at the start",
            ),
            (
                "-ops",
                "`-ops` cannot be the name of a crate: expected a letter at the start",
            ),
            (
                "my ops",
                "`my ops` cannot be the name of a crate: found ` `, expected",
            ),
            (
                "my.ops",
                "`my.ops` cannot be the name of a crate: found `.`, expected",
            ),
            (
                "x/match",
                "`match` cannot be the name of a crate: it is a Rust keyword",
            ),
            (
                "tfrt-cli",
                "`tfrt-cli` cannot be the name of a crate: a dependency",
            ),
            ("test", "`test` cannot be the name of a crate: a dependency"),
        ] {
            let refused = CrateName::of_folder(Path::new(path));
            assert!(
                refused
                    .as_ref()
                    .is_err_and(|error| error.to_string().starts_with(reason)),
                "{path}: {refused:?}"
            );
        }
    }
}
