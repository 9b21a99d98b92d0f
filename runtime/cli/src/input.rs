//! Input files: their sources and their formats.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use tfrt_host::kernel::KernelRegistry;

use crate::diagnostics::SourceMap;
use crate::failure::Failure;

/// The first two bytes of a BEF file.
pub(crate) const BEF_MAGIC: [u8; 2] = [0x0B, 0xEF];

/// An input that was read.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its name in locations: the path as given, or `<stdin>`.
    pub(crate) name: String,
    /// All of it.
    pub(crate) bytes: Vec<u8>,
}

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A program in MLIR text.
    Text,
    /// A BEF file, or unrecognisable data.
    Bef,
}

impl Input {
    /// Reads a file whole; `-` is standard input.
    pub(crate) fn read(path: &str) -> Result<Self, Failure> {
        let (name, read) = if path == "-" {
            let mut bytes = Vec::new();
            (
                "<stdin>",
                std::io::stdin()
                    .lock()
                    .read_to_end(&mut bytes)
                    .map(|_| bytes),
            )
        } else {
            (path, std::fs::read(path))
        };
        match read {
            Ok(bytes) => Ok(Self {
                name: name.to_owned(),
                bytes,
            }),
            Err(error) => Err(Failure::caused(
                format!("cannot open input file '{path}'"),
                error,
            )),
        }
    }

    /// Reads a program whole. A model of another system is imported, with the ops of `kernels`, and
    /// becomes the text of its program.
    #[cfg_attr(
        not(feature = "onnx"),
        allow(unused_variables, reason = "programs need no kernels")
    )]
    pub(crate) fn read_program(path: &str, kernels: &Arc<KernelRegistry>) -> Result<Self, Failure> {
        #[cfg(feature = "onnx")]
        if let Some(kind) = crate::model_file::model_kind(path) {
            return crate::model_file::imported(path, kind, kernels);
        }
        Self::read(path)
    }

    /// Returns the format of the input, detected by its first bytes.
    ///
    /// Only text can be text: an input with other control characters than blanks is treated as a
    /// BEF file, whose reader reports the errors. An empty input is text only if it is called
    /// `.mlir`.
    pub(crate) fn kind(&self) -> Kind {
        let is_plain = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace();
        if self.bytes.starts_with(&BEF_MAGIC) {
            Kind::Bef
        } else if self.bytes.is_empty() {
            let has_text_extension = Path::new(&self.name)
                .extension()
                .is_some_and(|extension| extension == "mlir");
            if has_text_extension {
                Kind::Text
            } else {
                Kind::Bef
            }
        } else if self.bytes.iter().all(is_plain) {
            Kind::Text
        } else {
            Kind::Bef
        }
    }

    /// Returns the sources of the lines in diagnostics about a program: `text`, a part of the
    /// input, called `name`, and files beside the input.
    pub(crate) fn sources_with(&self, name: &str, text: &str) -> SourceMap {
        let mut sources = self.sources();
        sources.insert(name, text);
        sources
    }

    /// Returns the sources of the lines in diagnostics that do not refer to the text of the input:
    /// files beside it.
    pub(crate) fn sources(&self) -> SourceMap {
        SourceMap::beside(&self.name)
    }

    /// Returns the text of an input that should be text.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        let is_bef = self.bytes.starts_with(&BEF_MAGIC);
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let before = &self.bytes[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let column = before
                .iter()
                .rev()
                .take_while(|byte| **byte != b'\n')
                .count()
                + 1;
            Failure::new(format!(
                "{}:{line}:{column}: error: expected UTF-8 text{}",
                self.name,
                if is_bef {
                    ", found a BEF file: `tfrt translate --bef-to-mlir` converts it to text"
                } else {
                    ""
                }
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> Kind {
        Input {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        }
        .kind()
    }

    #[test]
    fn magic_tells_files_from_text() {
        assert_eq!(kind("x", b"\x0B\xEF\x00"), Kind::Bef);
        assert_eq!(
            kind("x.bef", b"func @f() {\n\ttfrt.return\r\n}"),
            Kind::Text
        );
        assert_eq!(kind("x", "// é".as_bytes()), Kind::Text);
    }

    #[test]
    fn damaged_files_are_not_text() {
        for bytes in [&b""[..], b"\x0B", b"\x0B\xEE\0", b"func\0"] {
            assert_eq!(kind("x", bytes), Kind::Bef, "{bytes:?}");
        }
        assert_eq!(kind("empty.mlir", b""), Kind::Text);
    }

    #[test]
    fn invalid_utf8_is_located() {
        let input = Input {
            name: "p".to_owned(),
            bytes: b"ab\nc\xFF".to_vec(),
        };
        let Err(Failure::Error(error)) = input.text() else {
            panic!("accepted")
        };
        assert_eq!(error.to_string(), "p:2:2: error: expected UTF-8 text");
    }

    #[test]
    fn a_file_in_place_of_text_is_recognised() {
        let input = Input {
            name: "p".to_owned(),
            bytes: b"\x0B\xEF\x00".to_vec(),
        };
        let Err(Failure::Error(error)) = input.text() else {
            panic!("accepted")
        };
        assert!(error.to_string().contains("found a BEF file"), "{error}");
    }
}
