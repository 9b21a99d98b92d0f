//! What mutation starts from: the golden programs, whole and function by function.

use std::fs;
use std::path::{Path, PathBuf};

use tfrt_compiler::{EncodeOptions, encode};

use crate::programs;

/// Texts and files to start from.
#[derive(Debug)]
pub struct Seeds {
    /// Programs in text: the golden ones, and each function of them that is a program of its own.
    pub texts: Vec<String>,
    /// Files: the golden ones, damaged ones included, and those of the functions.
    pub files: Vec<Vec<u8>>,
    /// The golden programs that are too large, with their sizes in bytes.
    pub left_out: Vec<(String, usize)>,
}

impl Seeds {
    /// Reads the golden programs of at most `max_bytes`.
    ///
    /// # Panics
    /// If they are not there.
    #[must_use]
    pub fn read(max_bytes: usize) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
        let entries = |folder: PathBuf| {
            let entries = fs::read_dir(folder).expect("a folder of golden files");
            entries.map(|entry| entry.expect("a folder entry").path())
        };
        let mut left_out = Vec::new();
        let mut read_all = |extension: &str| {
            let families = entries(folder.clone()).filter(|path| path.is_dir());
            let mut paths: Vec<_> = families
                .flat_map(entries)
                .filter(|path| path.extension().is_some_and(|found| found == extension))
                .collect();
            // The order of names, whatever folders they are in.
            paths.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
            assert!(paths.len() > 40, "the golden files are there");
            let mut all = Vec::new();
            for path in paths {
                let bytes = fs::read(&path).expect("a golden file");
                if bytes.len() <= max_bytes {
                    all.push(bytes);
                } else {
                    let name = path.file_name().unwrap_or_default();
                    left_out.push((name.to_string_lossy().into_owned(), bytes.len()));
                }
            }
            all
        };
        let mut files = read_all("bef");
        let golden_texts = read_all("mlir");
        let mut texts = Vec::new();
        for text in golden_texts {
            let text = String::from_utf8(text).expect("a golden text in UTF-8");
            for function in functions(&text) {
                let Ok(module) = programs::read(function) else {
                    continue;
                };
                if let Ok(file) = encode(&module, &EncodeOptions::default()) {
                    texts.push(function.to_owned());
                    files.push(file);
                }
            }
            texts.push(text);
        }
        Self {
            texts,
            files,
            left_out,
        }
    }
}

/// The pieces of a text that begin with a function and end before the next one.
fn functions(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text
        .match_indices("\nfunc ")
        .map(|(at, _)| at + 1)
        .collect();
    if text.starts_with("func ") {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &text[start..end])
        .collect()
}
