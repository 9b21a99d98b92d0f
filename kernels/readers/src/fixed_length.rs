//! Records of a fixed length without separators, such as those of CIFAR-10 and MNIST.
//!
//! A file is a header, any number of records of the same length, and a footer. The header and the
//! footer are skipped. Nothing in such a file tells a record from damage, but a file of another
//! length is noticed.

use std::io::{BufReader, Read};

use tfrt_async::ByteString;
use tfrt_data::{Dataset, ElementTypes, StageDescription, require_positive};
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

use crate::files::{Compression, Files, OpenFile, Stream};
use crate::policy::OnError;
use crate::read_ahead::{self, Element, Format, ReadElements};

/// The greatest length of a record, a header or a footer, in bytes.
pub const MAX_RECORD_BYTES: u64 = 1 << 28;

/// How records of a fixed length are read.
///
/// ```
/// use tfrt_readers::fixed_length::FixedLengthOptions;
///
/// // The images of MNIST: 28 x 28 bytes each, after a header of 16 bytes.
/// let options = FixedLengthOptions { header_bytes: 16, ..FixedLengthOptions::new(28 * 28) };
/// assert_eq!(options.dataset("train-images-idx3-ubyte.gz")?.name(), "fixed_length_record");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedLengthOptions {
    /// The length of a record.
    pub record_bytes: u64,
    /// The length of what is in front of the first record.
    pub header_bytes: u64,
    /// The length of what follows the last record.
    pub footer_bytes: u64,
    /// How the files are compressed.
    pub compression: Compression,
    /// What follows an error.
    pub on_error: OnError,
}

impl FixedLengthOptions {
    /// Records of so many bytes, in files without a header and a footer.
    #[must_use]
    pub fn new(record_bytes: u64) -> Self {
        Self {
            record_bytes,
            header_bytes: 0,
            footer_bytes: 0,
            compression: Compression::Auto,
            on_error: OnError::Fail,
        }
    }

    /// The dataset of the records of files, each a string.
    ///
    /// # Errors
    /// If the length of a record is 0, or a length is above [`MAX_RECORD_BYTES`].
    pub fn dataset(self, files: impl Into<Files>) -> Result<Dataset, Error> {
        let lengths = [
            ("record_bytes", self.record_bytes),
            ("header_bytes", self.header_bytes),
            ("footer_bytes", self.footer_bytes),
        ];
        require_positive("record_bytes", self.record_bytes)?;
        if let Some((name, bytes)) = lengths.iter().find(|(_, bytes)| *bytes > MAX_RECORD_BYTES) {
            let message = format!("{name} must be at most {MAX_RECORD_BYTES}, not {bytes}");
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        }
        read_ahead::dataset(FixedLength { options: self }, &files.into(), self.on_error)
    }
}

#[derive(Debug)]
struct FixedLength {
    options: FixedLengthOptions,
}

impl Format for FixedLength {
    fn name(&self) -> &'static str {
        "fixed_length_record"
    }

    fn element_types(&self) -> ElementTypes {
        ElementTypes::of::<ByteString>()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        let FixedLengthOptions {
            record_bytes,
            header_bytes,
            footer_bytes,
            compression,
            ..
        } = self.options;
        to.attribute("record_bytes", record_bytes);
        to.changed_attribute("header_bytes", &header_bytes, &0);
        to.changed_attribute("footer_bytes", &footer_bytes, &0);
        to.changed_attribute("compression", &compression, &Compression::Auto);
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let stream = file.read(self.options.compression)?;
        let mut records = Records {
            input: BufReader::with_capacity(BUFFER_BYTES, stream),
            unread: Vec::new(),
            num_read: 0,
            has_ended: false,
            options: self.options,
            file,
        };
        let header_bytes = self.options.header_bytes;
        records
            .fill(header_bytes)
            .map_err(|error| records.file.read_error(&error))?;
        let found = records.unread.len() as u64;
        if found < header_bytes {
            let message = format!("expected a header of {header_bytes} bytes, found {found} bytes");
            return Err(records.file.error(message));
        }
        records.unread.clear();
        Ok(Box::new(records))
    }
}

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The records of one file.
struct Records {
    input: BufReader<Stream>,
    file: OpenFile,
    options: FixedLengthOptions,
    /// What has been read of the next record, and behind it, which may be the footer.
    unread: Vec<u8>,
    num_read: u64,
    has_ended: bool,
}

impl Records {
    /// Reads until so many bytes are there, or the file ends.
    fn fill(&mut self, num_bytes: u64) -> std::io::Result<()> {
        let missing = num_bytes.saturating_sub(self.unread.len() as u64);
        let mut input = self.input.by_ref().take(missing);
        input.read_to_end(&mut self.unread).map(|_| ())
    }
}

impl ReadElements for Records {
    fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if self.has_ended {
            return None;
        }
        let FixedLengthOptions {
            record_bytes,
            header_bytes,
            footer_bytes,
            ..
        } = self.options;
        let number = self.num_read;
        self.num_read += 1;
        let read = self.fill(record_bytes + footer_bytes);
        let found = self.unread.len() as u64;
        if read.is_ok() && found == record_bytes + footer_bytes {
            // In bounds: so many bytes are there.
            let footer = self.unread.split_off(record_bytes as usize);
            let record = std::mem::replace(&mut self.unread, footer);
            let len_bytes = record.len();
            return Some(Ok(Element::one(ByteString::from(record), len_bytes)));
        }
        self.has_ended = true;
        let message = match read {
            Err(error) => format!("failed to read: {error}"),
            Ok(()) if found == footer_bytes => return None,
            Ok(()) if footer_bytes == 0 => {
                format!("expected a record of {record_bytes} bytes, found {found} bytes")
            }
            Ok(()) => format!(
                "expected a record of {record_bytes} bytes and a footer of {footer_bytes} bytes, \
                 or only the footer, found {found} bytes"
            ),
        };
        let position = header_bytes.saturating_add(number.saturating_mul(record_bytes));
        Some(Err(self.file.record_error(number, position, message)))
    }
}
