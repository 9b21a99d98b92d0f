//! Compressed files.

use std::io::{self, BufReader, Cursor, Read};
use std::str::FromStr;

use tfrt_support::{Error, ErrorCode};

use super::Stream;

/// How the bytes of a file are compressed.
///
/// ```
/// use tfrt_readers::files::Compression;
///
/// assert_eq!("gzip".parse::<Compression>()?, Compression::Gzip);
/// let error = "bzip2".parse::<Compression>().unwrap_err();
/// assert_eq!(error.message(), "expected a compression `auto`, `none`, `gzip`, `zlib` or `zstd`, found `bzip2`");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As the first bytes of the file tell: gzip, zstd, or none. Where records have checksums, also
    /// zlib, whose mark alone says little.
    #[default]
    Auto,
    /// Not compressed.
    None,
    /// Any number of gzip members.
    Gzip,
    /// A zlib stream.
    Zlib,
    /// Zstandard frames.
    Zstd,
}

impl FromStr for Compression {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "auto" => Self::Auto,
            "none" => Self::None,
            "gzip" => Self::Gzip,
            "zlib" => Self::Zlib,
            "zstd" => Self::Zstd,
            _ => {
                let message = format!(
                    "expected a compression `auto`, `none`, `gzip`, `zlib` or `zstd`, found `{name}`"
                );
                return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
            }
        })
    }
}

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// So many bytes say how a file is compressed.
pub(crate) const NUM_MARK_BYTES: usize = 12;

impl Compression {
    /// What the first bytes of a file say.
    #[must_use]
    pub fn detect(start: &[u8]) -> Self {
        match start {
            // The third byte is the method; there is only one.
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// The bytes in a stream.
    pub(crate) fn decompress(self, stream: Stream) -> io::Result<Stream> {
        self.decompress_unless(stream, Self::detect)
    }

    /// The bytes in a stream; `detect` tells what `Auto` stands for.
    pub(crate) fn decompress_unless(
        self,
        mut stream: Stream,
        detect: impl FnOnce(&[u8]) -> Self,
    ) -> io::Result<Stream> {
        if self != Self::Auto {
            return self.reader(stream);
        }
        let mut start = Vec::with_capacity(NUM_MARK_BYTES);
        let num_wanted = NUM_MARK_BYTES as u64;
        stream.by_ref().take(num_wanted).read_to_end(&mut start)?;
        let found = detect(&start);
        found.reader(Box::new(Cursor::new(start).chain(stream)))
    }

    fn reader(self, stream: Stream) -> io::Result<Stream> {
        match self {
            Self::None | Self::Auto => Ok(stream),
            Self::Gzip => gzip(BufReader::with_capacity(BUFFER_BYTES, stream)),
            Self::Zlib => zlib(BufReader::with_capacity(BUFFER_BYTES, stream)),
            Self::Zstd => zstd(BufReader::with_capacity(BUFFER_BYTES, stream)),
        }
    }
}

#[cfg(feature = "gzip")]
fn gzip(stream: BufReader<Stream>) -> io::Result<Stream> {
    Ok(Box::new(flate2::bufread::MultiGzDecoder::new(stream)))
}

#[cfg(feature = "gzip")]
fn zlib(stream: BufReader<Stream>) -> io::Result<Stream> {
    Ok(Box::new(flate2::bufread::ZlibDecoder::new(stream)))
}

#[cfg(feature = "zstd")]
fn zstd(stream: BufReader<Stream>) -> io::Result<Stream> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(stream)?;
    // The decoder takes as much memory as a frame asks for; files of the tool `zstd` ask for no
    // more unless it is told to.
    decoder.window_log_max(27)?;
    Ok(Box::new(decoder))
}

#[cfg(not(feature = "gzip"))]
use no_gzip as gzip;
#[cfg(not(feature = "gzip"))]
use no_gzip as zlib;
#[cfg(not(feature = "zstd"))]
use no_zstd as zstd;

#[cfg(not(feature = "gzip"))]
fn no_gzip(_stream: BufReader<Stream>) -> io::Result<Stream> {
    Err(crate::feature::missing_io(
        "files compressed with gzip or zlib",
        "gzip",
    ))
}

#[cfg(not(feature = "zstd"))]
fn no_zstd(_stream: BufReader<Stream>) -> io::Result<Stream> {
    Err(crate::feature::missing_io(
        "files compressed with zstd",
        "zstd",
    ))
}
