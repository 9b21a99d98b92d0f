//! Lines of text.
//!
//! A line ends with `\n` or `\r\n`, which is not part of it; the last one may lack it. Lines need
//! not be UTF-8. A file that ends within a line cannot be told from one that was cut off;
//! compressed files can.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use tfrt_async::ByteString;
use tfrt_data::{Dataset, ElementTypes, StageDescription};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use crate::files::{Compression, Files, OpenFile, Stream};
use crate::policy::OnError;
use crate::read_ahead::{self, Element, Format, ReadElements};

/// A dataset of the lines of files, each a string.
///
/// # Errors
/// None at present: what is wrong with a file shows when it is read.
pub fn text_line_dataset(files: impl Into<Files>) -> Result<Dataset, Error> {
    TextLineOptions::default().dataset(files)
}

/// The longest line, in bytes, unless the options say otherwise.
pub const MAX_LINE_BYTES: u64 = 1 << 28;

/// How lines are read.
///
/// ```
/// use tfrt_readers::text::TextLineOptions;
///
/// let options = TextLineOptions { max_line_bytes: 1000, ..TextLineOptions::default() };
/// assert_eq!(options.dataset("words.txt.gz")?.name(), "text_line");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TextLineOptions {
    /// How the files are compressed.
    pub compression: Compression,
    /// What follows an error.
    pub on_error: OnError,
    /// A longer line is an error: a small compressed file may be one enormous line.
    pub max_line_bytes: u64,
}

impl Default for TextLineOptions {
    fn default() -> Self {
        Self {
            compression: Compression::Auto,
            on_error: OnError::Fail,
            max_line_bytes: MAX_LINE_BYTES,
        }
    }
}

impl TextLineOptions {
    /// The dataset of the lines of files.
    ///
    /// # Errors
    /// None at present: what is wrong with a file shows when it is read.
    pub fn dataset(self, files: impl Into<Files>) -> Result<Dataset, Error> {
        read_ahead::dataset(Lines { options: self }, &files.into(), self.on_error)
    }
}

#[derive(Debug)]
struct Lines {
    options: TextLineOptions,
}

impl Format for Lines {
    fn name(&self) -> &'static str {
        "text_line"
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::of::<ByteString>()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        let TextLineOptions {
            compression,
            max_line_bytes,
            ..
        } = self.options;
        to.changed_attribute("compression", &compression, &Compression::Auto);
        to.changed_attribute("max_line_bytes", &max_line_bytes, &MAX_LINE_BYTES);
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let stream = file.read(self.options.compression)?;
        Ok(Box::new(FileLines {
            input: BufReader::with_capacity(BUFFER_BYTES, stream),
            file,
            max_bytes: self.options.max_line_bytes,
            position: 0,
            num_read: 0,
            has_ended: false,
        }))
    }
}

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The lines of one file.
struct FileLines {
    input: BufReader<Stream>,
    file: OpenFile,
    max_bytes: u64,
    /// Where the next line begins, in bytes.
    position: u64,
    num_read: u64,
    has_ended: bool,
}

impl ReadElements for FileLines {
    fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if self.has_ended {
            return None;
        }
        let mut line = Vec::new();
        // With its end, which is two bytes at most.
        let limit = self.max_bytes.saturating_add(2);
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut line);
        let (number, position) = (self.num_read, self.position);
        self.num_read += 1;
        self.position += line.len() as u64;
        let failed = |this: &Self, message: String| {
            Some(Err(this.file.record_error(number, position, message)))
        };
        match read {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => {
                self.has_ended = true;
                return failed(self, format!("failed to read: {error}"));
            }
        }
        if line.ends_with(b"\n") {
            line.pop();
            if line.ends_with(b"\r") {
                line.pop();
            }
        }
        if line.len() as u64 > self.max_bytes {
            // Where the next line begins is not known without reading on.
            self.has_ended = true;
            let max_bytes = self.max_bytes;
            return failed(
                self,
                format!("expected a line of at most {max_bytes} bytes"),
            );
        }
        line.shrink_to_fit();
        let len_bytes = line.len();
        Some(Ok(Element::one(ByteString::from(line), len_bytes)))
    }
}

/// A dataset of the paths of files, each a string: of the names that are given, those in folders,
/// and those that match patterns, in the order that [`Files`] says.
///
/// # Errors
/// None at present: what is wrong with a name shows when it is looked up.
pub fn list_files_dataset(files: impl Into<Files>) -> Result<Dataset, Error> {
    read_ahead::dataset(Names, &files.into(), OnError::Fail)
}

#[derive(Debug)]
struct Names;

impl Format for Names {
    fn name(&self) -> &'static str {
        "list_files"
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::of::<ByteString>()
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        Ok(Box::new(Name(Some(file))))
    }
}

struct Name(Option<OpenFile>);

impl ReadElements for Name {
    fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        let path = Arc::clone(self.0.take()?.path());
        Some(Ok(Element::one(ByteString::from(&*path), path.len())))
    }
}
