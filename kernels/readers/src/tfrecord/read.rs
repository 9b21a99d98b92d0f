//! Reading records.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::str::FromStr;

use tfrt_support::{Error, ErrorCode};

use super::checksum::masked_crc32c;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The bytes before the data of a record.
const HEADER_BYTES: usize = 12;

/// The bytes behind the data of a record.
const FOOTER_BYTES: usize = 4;

/// So much is set aside for the data of a record before any of it was read: a damaged length must
/// not take all memory.
const MAX_EXPECTED_BYTES: u64 = 1 << 20;

/// The longest record of a stream whose length is not known: a small compressed file may claim to
/// hold an enormous one.
pub(super) const MAX_RECORD_BYTES: u64 = 1 << 28;

/// Reads the records of a stream, one after the other.
///
/// After a wrong checksum the next record is looked for: behind the header if that was wrong, and
/// behind the record otherwise. Nothing follows a record that is cut off, or a failure to read.
#[derive(Debug)]
pub struct RecordReader<R> {
    input: BufReader<R>,
    /// Where the next record begins.
    position: u64,
    verify: Verify,
    /// The longest record that is read.
    max_record_bytes: u64,
    /// A longer record than that must be cut off.
    max_left_bytes: u64,
    has_ended: bool,
}

/// Which checksums are compared.
///
/// ```
/// use tfrt_readers::tfrecord::Verify;
///
/// assert_eq!("header".parse::<Verify>()?, Verify::Header);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// That of the length and that of the data.
    #[default]
    All,
    /// That of the length: damaged data is handed on.
    Header,
    /// None: a damaged length may lead anywhere in the file.
    None,
}

impl FromStr for Verify {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "all" => Ok(Self::All),
            "header" => Ok(Self::Header),
            "none" => Ok(Self::None),
            _ => {
                let message = format!("expected `all`, `header` or `none`, found `{text}`");
                Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
            }
        }
    }
}

impl<R: Read> RecordReader<R> {
    /// A reader of the records of `input`, which need not be buffered.
    pub fn new(input: R) -> Self {
        Self::starting_at(0, input)
    }

    /// A reader of the rest of a stream: `input` begins with the record at `position`.
    pub fn starting_at(position: u64, input: R) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            position,
            verify: Verify::All,
            max_record_bytes: u64::MAX,
            max_left_bytes: u64::MAX,
            has_ended: false,
        }
    }

    /// The same reader, which compares these checksums.
    #[must_use]
    pub fn verifying(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// The same reader, which refuses longer records than that before it reads them. By default it
    /// reads them, whatever memory that takes.
    #[must_use]
    pub fn with_max_record_bytes(mut self, max_record_bytes: u64) -> Self {
        self.max_record_bytes = max_record_bytes;
        self
    }

    /// The same reader, of a stream that has so many bytes at most: a longer record is cut off,
    /// which is found out before it is read.
    pub(super) fn with_max_left_bytes(mut self, max_left_bytes: u64) -> Self {
        self.max_left_bytes = max_left_bytes;
        self
    }

    /// Where the next record begins, in bytes.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether nothing follows, although the stream may go on.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn read_record(&mut self) -> Result<Option<Vec<u8>>, RecordError> {
        let start = self.position;
        let truncated = RecordError::Truncated { position: start };
        let corrupt = RecordError::Corrupt { position: start };
        let mut header = [0; HEADER_BYTES];
        match read_up_to(&mut self.input, &mut header)? {
            0 => return Ok(None),
            HEADER_BYTES => {}
            _ => return Err(truncated),
        }
        let (length, checksum) = header.split_at(8);
        self.position = start.saturating_add(HEADER_BYTES as u64);
        if self.verify != Verify::None && masked_crc32c(length).to_le_bytes() != checksum {
            return Err(corrupt);
        }
        let length = length.try_into().map_or(0, u64::from_le_bytes);
        if length > self.max_record_bytes {
            return Err(RecordError::TooLong {
                position: start,
                length,
                max: self.max_record_bytes,
            });
        }
        if length > self.max_left_bytes {
            return Err(truncated);
        }
        let mut data = Vec::with_capacity(length.min(MAX_EXPECTED_BYTES) as usize);
        let num_read = self.input.by_ref().take(length).read_to_end(&mut data)?;
        let mut footer = [0; FOOTER_BYTES];
        if (num_read as u64) < length || read_up_to(&mut self.input, &mut footer)? < FOOTER_BYTES {
            return Err(truncated);
        }
        let record_bytes = length.saturating_add(FOOTER_BYTES as u64);
        self.position = self.position.saturating_add(record_bytes);
        if self.verify == Verify::All && masked_crc32c(&data).to_le_bytes() != footer {
            return Err(corrupt);
        }
        Ok(Some(data))
    }
}

/// The data of each record. Ends where the stream does.
impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<Vec<u8>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let record = self.read_record().transpose();
        self.has_ended = !matches!(record, Some(Ok(_) | Err(RecordError::Corrupt { .. })));
        record
    }
}

/// Fills `bytes` as far as the stream goes. Returns how many were read.
fn read_up_to(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut num_read = 0;
    while num_read < bytes.len() {
        match input.read(&mut bytes[num_read..]) {
            Ok(0) => break,
            Ok(count) => num_read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(num_read)
}

/// Why there is no record.
///
/// ```
/// use tfrt_readers::tfrecord::{RecordError, RecordReader};
///
/// let error = RecordReader::new(&b"seven b"[..]).next().unwrap().unwrap_err();
/// assert!(matches!(error, RecordError::Truncated { position: 0 }));
/// assert_eq!(error.to_string(), "truncated record at position 0");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// A checksum of the record that begins there is wrong.
    Corrupt {
        /// In bytes.
        position: u64,
    },
    /// The stream ends within the record that begins there.
    Truncated {
        /// In bytes.
        position: u64,
    },
    /// The record that begins there is longer than the reader allows.
    TooLong {
        /// In bytes.
        position: u64,
        /// What the record claims to be, in bytes.
        length: u64,
        /// What is allowed, in bytes.
        max: u64,
    },
    /// The stream could not be read.
    Io(io::Error),
}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt { position } => write!(f, "data corruption at position {position}"),
            Self::Truncated { position } => write!(f, "truncated record at position {position}"),
            Self::TooLong {
                position,
                length,
                max,
            } => write!(
                f,
                "expected a record of at most {max} bytes at position {position}, found one of {length}"
            ),
            Self::Io(error) => write!(f, "failed to read due to error: {error}"),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message says what the error itself says.
            Self::Io(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

impl From<RecordError> for Error {
    fn from(error: RecordError) -> Self {
        Self::new(error.to_string())
    }
}
