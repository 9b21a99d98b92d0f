//! Writing records.

use std::io::{self, Write};

use super::checksum::masked_crc32c;

/// Writes records to a stream, one after the other.
///
/// Each record is three writes: give it a buffered stream, or memory.
#[derive(Debug)]
pub struct RecordWriter<W> {
    output: W,
}

impl<W: Write> RecordWriter<W> {
    /// A writer to `output`.
    pub fn new(output: W) -> Self {
        Self { output }
    }

    /// Writes one record.
    ///
    /// # Errors
    /// Those of the stream. What was written before is a file whose last record is cut off.
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        let mut header = [0; 12];
        header[..8].copy_from_slice(&length);
        header[8..].copy_from_slice(&masked_crc32c(&length).to_le_bytes());
        self.output.write_all(&header)?;
        self.output.write_all(data)?;
        self.output.write_all(&masked_crc32c(data).to_le_bytes())
    }

    /// Flushes the stream.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Flushes the stream and returns it.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}
