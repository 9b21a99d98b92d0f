//! The language of comments, documentation and help: phrases that a native speaker would not write
//! are found here.
//!
//! The test knows only a few patterns that are easy to recognise. Comments that need one of them
//! for a good reason are listed in [`ALLOWED`].

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files of the repository whose text is checked.
const ROOTS: &[&str] = &[
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "docs",
    "examples",
    "kernels",
    "macros",
    "ods",
    "runtime",
    "tests",
];

/// Paths that are not checked: recorded outputs, build results, and the tests of this test.
const SKIPPED: &[&str] = &[
    "target",
    "tests/golden",
    "tests/tests/prose.rs",
    // Generated from the sources.
    "kernels/REFERENCE.md",
    "kernels/src/dialects/core_runtime.rs",
];

/// Phrases that are right where they stand: the end of a path, and a part of the line.
const ALLOWED: &[(&str, &str)] = &[];

/// What to write instead of a phrase, if the line contains it.
fn advice(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line
        .split(|char: char| !(char.is_alphanumeric() || char == '\'' || char == '`'))
        .filter(|word| !word.is_empty())
        .collect();
    for (index, window) in words.windows(3).enumerate() {
        let before = index.checked_sub(1).map_or("", |before| words[before]);
        match window {
            ["is" | "are" | "was" | "were", "no", noun]
                if !before.eq_ignore_ascii_case("there") && !IDIOMS.contains(noun) =>
            {
                return Some("write `is not a …` instead of `is no …`");
            }
            ["no", "more", "than"] => return Some("write `at most`"),
            ["takes", "and", "gives"] | ["take", "and", "give"] => {
                return Some("a function takes and *returns* values");
            }
            [_, "gives", "back"] => return Some("write `returns`"),
            _ => {}
        }
    }
    match words[..] {
        ["Gives", "a" | "an" | "the", ..] => Some("a function *returns* its result"),
        _ => None,
    }
}

/// What may follow `is no`: comparatives and idioms.
const IDIOMS: &[&str] = &[
    "better",
    "different",
    "doubt",
    "earlier",
    "further",
    "greater",
    "larger",
    "later",
    "less",
    "longer",
    "lower",
    "more",
    "need",
    "older",
    "one",
    "other",
    "shorter",
    "slower",
    "smaller",
    "such",
    "use",
    "worse",
    "deeper",
    "wider",
];

/// The text of a line of a source file that people read: comments in Rust, everything in Markdown.
fn prose(path: &Path, line: &str) -> Option<String> {
    match path.extension()?.to_str()? {
        "md" => Some(line.to_owned()),
        "rs" | "in" => {
            let text = line.trim_start();
            let text = ["//!", "///", "//"]
                .iter()
                .find_map(|mark| text.strip_prefix(mark))?;
            Some(text.to_owned())
        }
        _ => None,
    }
}

fn files(root: &Path, path: &Path, found: &mut Vec<PathBuf>) {
    let relative = path.strip_prefix(root).expect("it is below the root");
    let is_skipped =
        |skipped: &&str| relative == Path::new(skipped) || relative.ends_with("target");
    if SKIPPED.iter().any(is_skipped) {
        return;
    }
    if !path.is_dir() {
        found.push(path.to_owned());
        return;
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .expect("the folder can be read")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    entries.sort();
    for entry in entries {
        files(root, &entry, found);
    }
}

#[test]
fn texts_avoid_phrases_that_no_native_speaker_writes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for path in ROOTS {
        let path = root.join(path);
        if path.exists() {
            files(&root, &path, &mut found);
        }
    }
    assert!(found.len() > 500, "the files of the repository are found");
    let mut complaints = String::new();
    for path in found {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let shown = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .display()
            .to_string();
        for (index, line) in text.lines().enumerate() {
            let is_allowed = ALLOWED
                .iter()
                .any(|(end, part)| shown.ends_with(end) && line.contains(part));
            if is_allowed {
                continue;
            }
            if let Some(advice) = prose(&path, line).as_deref().and_then(advice) {
                complaints += &format!("{shown}:{}: {}: {advice}\n", index + 1, line.trim());
            }
        }
    }
    assert!(complaints.is_empty(), "\n{complaints}");
}

#[test]
fn phrases_are_recognised() {
    for wrong in [
        "`T` is no kernel.",
        "Those are no values.",
        "At most, and no more than three.",
        "It takes and gives a chain.",
        "Gives the sum of two numbers.",
        "A body gives back a chain.",
    ] {
        assert!(advice(wrong).is_some(), "{wrong}");
    }
    for right in [
        "There is no kernel of this name.",
        "It is no longer available.",
        "The guide gives examples.",
        "Gives every op a number.",
        "`T` is not a kernel.",
    ] {
        assert!(advice(right).is_none(), "{right}");
    }
}
