//! The lines of a dump, in the order of the bytes they describe.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::ops::Range;

use crate::error::Fault;

/// The number of bytes of a record next to each line.
const BYTES_PER_LINE: usize = 8;

/// Prints records with their offsets, and errors in between.
pub(super) struct Listing<'a, W> {
    file: &'a [u8],
    is_hex: bool,
    /// The errors that are not printed yet: offset and text.
    errors: BTreeSet<(usize, String)>,
    /// The errors that are printed already.
    printed: BTreeSet<(usize, String)>,
    out: W,
}

impl<'a, W: io::Write> Listing<'a, W> {
    /// Creates a listing of `file`, in which `errors` were found.
    pub(super) fn new(
        file: &'a [u8],
        is_hex: bool,
        errors: BTreeSet<(usize, String)>,
        out: W,
    ) -> Self {
        Self {
            file,
            is_hex,
            errors,
            printed: BTreeSet::new(),
            out,
        }
    }

    /// Prints a record of one line.
    pub(super) fn line(
        &mut self,
        depth: usize,
        range: Range<usize>,
        text: impl Display,
    ) -> io::Result<()> {
        self.record(depth, range, &[text.to_string()])
    }

    /// Prints a record; lines after the first are indented.
    pub(super) fn record(
        &mut self,
        depth: usize,
        range: Range<usize>,
        lines: &[String],
    ) -> io::Result<()> {
        self.errors_before(range.start)?;
        let mut bytes = self
            .file
            .get(range.clone())
            .unwrap_or_default()
            .chunks(BYTES_PER_LINE);
        let mut lines = lines.iter();
        let mut offset = range.start;
        let mut indent = 2 * depth;
        loop {
            let chunk = if self.is_hex { bytes.next() } else { None };
            let line = lines.next();
            if chunk.is_none() && line.is_none() && offset != range.start {
                return Ok(());
            }
            let mut row = match chunk {
                None if offset != range.start => " ".repeat(8),
                _ => format!("{offset:08x}"),
            };
            if self.is_hex {
                let hex: Vec<String> = chunk
                    .unwrap_or_default()
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                row += &format!("  {:width$}", hex.join(" "), width = 3 * BYTES_PER_LINE - 1);
            }
            if let Some(line) = line {
                row += &format!("  {:indent$}{line}", "");
            }
            writeln!(self.out, "{}", row.trim_end())?;
            if offset == range.start {
                indent += 4;
            }
            offset += BYTES_PER_LINE;
        }
    }

    /// Prints the bytes of `range`, if there are any, as a count of `what`.
    pub(super) fn bytes(
        &mut self,
        depth: usize,
        range: Range<usize>,
        what: &str,
    ) -> io::Result<()> {
        match range.len() {
            0 => Ok(()),
            1 => self.line(depth, range, format_args!("1 byte {what}")),
            len => self.line(depth, range, format_args!("{len} bytes {what}")),
        }
    }

    /// Prints a remark on the previous record.
    pub(super) fn remark(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{:8}  remark: {text}", "")
    }

    /// Prints an error that stops the dump of a part, unless it was printed already.
    pub(super) fn fault(&mut self, fault: &Fault) -> io::Result<()> {
        self.errors_before(fault.offset)?;
        self.error((fault.offset, fault.message.clone()))
    }

    /// Prints the errors at offsets below `end`.
    pub(super) fn errors_before(&mut self, end: usize) -> io::Result<()> {
        while let Some(error) = self.errors.pop_first() {
            if error.0 >= end {
                self.errors.insert(error);
                return Ok(());
            }
            self.error(error)?;
        }
        Ok(())
    }

    /// Prints the remaining errors, and returns the total number of errors.
    pub(super) fn finish(mut self) -> io::Result<usize> {
        self.errors_before(usize::MAX)?;
        self.out.flush()?;
        Ok(self.printed.len())
    }

    fn error(&mut self, error: (usize, String)) -> io::Result<()> {
        self.errors.remove(&error);
        if self.printed.contains(&error) {
            return Ok(());
        }
        writeln!(self.out, "{:8}  error at {:#x}: {}", "", error.0, error.1)?;
        self.printed.insert(error);
        Ok(())
    }
}
