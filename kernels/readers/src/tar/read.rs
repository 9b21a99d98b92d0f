//! Reading archives: their entries, and the samples that these are.

use std::io::{self, BufReader, Read};

use tar::{EntryType, Header, PaxExtensions};
use tfrt_async::{AnyRef, ByteString, Value};
use tfrt_data::{ElementTypes, StageDescription, Values};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::{MAX_SAMPLE_BYTES, TarOptions};
use crate::files::{Compression, OpenFile, Stream};
use crate::read_ahead::{Element, Format, ReadElements};

/// Archives are sequences of blocks of this size.
const BLOCK_BYTES: usize = 512;

/// The greatest size of a record that describes the next entry.
const MAX_DESCRIPTION_BYTES: u64 = 1 << 20;

/// The message for files whose zeros are left out.
const SPARSE: &str = "the archive has a sparse file, which is not supported";

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The format of archives.
#[derive(Debug)]
pub(super) struct Tar {
    options: TarOptions,
}

impl Tar {
    pub(super) fn new(options: TarOptions) -> Self {
        Self { options }
    }
}

impl Format for Tar {
    fn name(&self) -> &'static str {
        "tar"
    }

    fn element_types(&self) -> ElementTypes {
        // The key of a sample and its files, or the path and the contents of one file.
        let num_files = self.options.extensions.len().max(1);
        ElementTypes::new(std::iter::repeat_n(
            Some(ByteString::MLIR_TYPE),
            1 + num_files,
        ))
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        let TarOptions {
            extensions,
            compression,
            max_sample_bytes,
            ..
        } = &self.options;
        to.attribute("extensions", extensions.join(", "));
        to.changed_attribute("compression", compression, &Compression::Auto);
        to.changed_attribute("max_sample_bytes", max_sample_bytes, &MAX_SAMPLE_BYTES);
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let stream = file.read(self.options.compression)?;
        let extensions = self.options.extensions.iter();
        let alternatives = |one: &String| one.split('|').map(str::to_ascii_lowercase).collect();
        Ok(Box::new(Samples {
            archive: Archive {
                input: BufReader::with_capacity(BUFFER_BYTES, stream),
                position: 0,
            },
            file,
            extensions: extensions.map(alternatives).collect(),
            max_sample_bytes: self.options.max_sample_bytes,
            sample: None,
            num_read: 0,
            after: After::Entries,
        }))
    }
}

/// An entry of an archive that is a file.
struct Entry {
    path: Vec<u8>,
    /// Where its header begins, in bytes.
    position: u64,
    len_bytes: u64,
}

/// Why an archive cannot be read on.
struct Fault {
    position: u64,
    message: String,
}

/// The entries of an archive. The contents of an entry are read or skipped before the next one.
struct Archive {
    input: BufReader<Stream>,
    position: u64,
}

impl Archive {
    /// Reads headers up to that of the next file; nothing at the end mark.
    fn next_file(&mut self) -> Result<Option<Entry>, Fault> {
        // What records in front of the header say instead of it.
        let (mut long_path, mut long_size) = (None, None);
        loop {
            let position = self.position;
            let fault = |message: String| Fault { position, message };
            let mut header = Header::new_old();
            let num_read = self.read_into(header.as_mut_bytes())?;
            match num_read {
                BLOCK_BYTES => {}
                0 => {
                    return Err(fault(
                        "expected the end mark of the archive, found none".into(),
                    ));
                }
                _ => return Err(fault(format!("expected a header, found {num_read} bytes"))),
            }
            if header.as_bytes().iter().all(|&byte| byte == 0) {
                return Ok(None);
            }
            let (found, computed) = (header.cksum(), checksum(&header));
            if found.as_ref().ok() != Some(&computed) {
                return Err(fault(format!(
                    "the checksum of the header is not {computed}"
                )));
            }
            let size = header.entry_size();
            let size = size.map_err(|error| fault(format!("the header is damaged: {error}")))?;
            match header.entry_type() {
                EntryType::GNULongName => {
                    let mut path = self.read_description(size)?;
                    // Up to the zero behind it.
                    path.truncate(
                        path.iter()
                            .position(|&byte| byte == 0)
                            .unwrap_or(path.len()),
                    );
                    long_path = Some(path);
                }
                EntryType::XHeader => {
                    let description = self.read_description(size)?;
                    for extension in PaxExtensions::new(&description) {
                        let damaged = |_| fault("the description of an entry is damaged".into());
                        let extension = extension.map_err(damaged)?;
                        match extension.key_bytes() {
                            b"path" => long_path = Some(extension.value_bytes().to_vec()),
                            b"size" => {
                                let size =
                                    extension.value().ok().and_then(|size| size.parse().ok());
                                let invalid = || fault("the size of an entry is no number".into());
                                long_size = Some(size.ok_or_else(invalid)?);
                            }
                            key if key.starts_with(b"GNU.sparse.") => {
                                return Err(fault(SPARSE.into()));
                            }
                            _ => {}
                        }
                    }
                }
                EntryType::GNUSparse => return Err(fault(SPARSE.into())),
                entry_type => {
                    let len_bytes = long_size.take().unwrap_or(size);
                    let path = long_path.take();
                    if entry_type.is_file() || entry_type.is_contiguous() {
                        let path = path.unwrap_or_else(|| header.path_bytes().into_owned());
                        return Ok(Some(Entry {
                            path,
                            position,
                            len_bytes,
                        }));
                    }
                    self.skip(len_bytes)?;
                }
            }
        }
    }

    /// Reads the contents of a record that describes the next entry.
    fn read_description(&mut self, len_bytes: u64) -> Result<Vec<u8>, Fault> {
        if len_bytes > MAX_DESCRIPTION_BYTES {
            return Err(Fault {
                position: self.position,
                message: format!("the description of an entry has {len_bytes} bytes"),
            });
        }
        self.contents(len_bytes)
    }

    /// Reads the contents of an entry.
    fn contents(&mut self, len_bytes: u64) -> Result<Vec<u8>, Fault> {
        // Grows with what is there, whatever the header says.
        let mut contents = Vec::new();
        let mut input = self.input.by_ref().take(len_bytes);
        let read = input.read_to_end(&mut contents);
        self.advance(read, len_bytes)?;
        self.skip_exactly(padding(len_bytes))?;
        Ok(contents)
    }

    /// Skips the contents of an entry.
    fn skip(&mut self, len_bytes: u64) -> Result<(), Fault> {
        self.skip_exactly(len_bytes)?;
        self.skip_exactly(padding(len_bytes))
    }

    fn skip_exactly(&mut self, num_bytes: u64) -> Result<(), Fault> {
        let mut input = self.input.by_ref().take(num_bytes);
        let read = io::copy(&mut input, &mut io::sink());
        self.advance(read.map(|read| read as usize), num_bytes)
    }

    /// Takes note of what was read, which must be all that was expected.
    fn advance(&mut self, read: io::Result<usize>, expected: u64) -> Result<(), Fault> {
        let position = self.position;
        let message = match read {
            Ok(read) if read as u64 == expected => {
                self.position = position.saturating_add(expected);
                return Ok(());
            }
            Ok(read) => format!("expected {expected} bytes, found {read} bytes"),
            Err(error) => format!("failed to read: {error}"),
        };
        Err(Fault { position, message })
    }

    /// Fills a block as far as the archive goes.
    fn read_into(&mut self, block: &mut [u8]) -> Result<usize, Fault> {
        let mut bytes = Vec::with_capacity(block.len());
        let mut input = self.input.by_ref().take(block.len() as u64);
        let read = input.read_to_end(&mut bytes).map_err(|error| Fault {
            position: self.position,
            message: format!("failed to read: {error}"),
        })?;
        block[..read].copy_from_slice(&bytes);
        self.position = self.position.saturating_add(read as u64);
        Ok(read)
    }
}

/// The sum of the bytes of a header, with spaces in the place of the sum.
fn checksum(header: &Header) -> u32 {
    const FIELD: std::ops::Range<usize> = 148..156;
    let bytes = header.as_bytes().iter().enumerate();
    let bytes = bytes.map(|(index, &byte)| match FIELD.contains(&index) {
        true => b' ',
        false => byte,
    });
    bytes.map(u32::from).sum()
}

/// How many bytes follow contents, up to the next block.
fn padding(len_bytes: u64) -> u64 {
    let block = BLOCK_BYTES as u64;
    (block - len_bytes % block) % block
}

/// The key and the extension of a path, if it has both.
fn split(path: &[u8]) -> Option<(&[u8], String)> {
    let name_start = path
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    let name = &path[name_start..];
    if name.starts_with(b"__") && name.split(|&byte| byte == b'.').next()?.ends_with(b"__") {
        return None;
    }
    let dot = name
        .iter()
        .position(|&byte| byte == b'.')
        .filter(|&dot| dot > 0)?;
    let extension = String::from_utf8_lossy(&name[dot + 1..]).to_ascii_lowercase();
    Some((&path[..name_start + dot], extension))
}

/// A sample whose files are being read.
struct Sample {
    key: Vec<u8>,
    /// Where the header of its first file begins.
    position: u64,
    /// The contents of its files, in the order of the extensions.
    contents: Vec<Option<Vec<u8>>>,
    len_bytes: u64,
    fault: Option<String>,
}

/// What follows the entries that were read.
enum After {
    Entries,
    Fault(Fault),
    End,
}

/// The samples of one archive, or its files.
struct Samples {
    archive: Archive,
    file: OpenFile,
    /// The extensions of the components, with their alternatives.
    extensions: Vec<Vec<String>>,
    max_sample_bytes: u64,
    sample: Option<Sample>,
    num_read: u64,
    after: After,
}

impl Samples {
    /// Reads entries up to the end of a sample; nothing behind the last one.
    fn next_sample(&mut self) -> Result<Option<Sample>, Fault> {
        while let Some(entry) = self.archive.next_file()? {
            let Some((key, extension)) = split(&entry.path) else {
                self.archive.skip(entry.len_bytes)?;
                continue;
            };
            let is_new = self.sample.as_ref().is_none_or(|sample| sample.key != key);
            let mut finished = None;
            if is_new {
                let sample = Sample {
                    key: key.to_vec(),
                    position: entry.position,
                    contents: self.extensions.iter().map(|_| None).collect(),
                    len_bytes: 0,
                    fault: None,
                };
                finished = self.sample.replace(sample);
            }
            // What is wrong behind the sample is told after it.
            if let Err(fault) = self.add_file(&extension, entry.len_bytes) {
                if finished.is_none() {
                    return Err(fault);
                }
                self.after = After::Fault(fault);
            }
            if finished.is_some() {
                return Ok(finished);
            }
        }
        Ok(None)
    }

    /// Reads a file of the sample, unless nobody asks for it.
    fn add_file(&mut self, extension: &str, len_bytes: u64) -> Result<(), Fault> {
        let mut extensions = self.extensions.iter();
        let index = extensions.position(|any| any.iter().any(|one| one == extension));
        let (Some(index), Some(sample)) = (index, &mut self.sample) else {
            return self.archive.skip(len_bytes);
        };
        sample.len_bytes = sample.len_bytes.saturating_add(len_bytes);
        if sample.len_bytes > self.max_sample_bytes {
            let max_bytes = self.max_sample_bytes;
            sample.fault = Some(format!("expected a sample of at most {max_bytes} bytes"));
            return self.archive.skip(len_bytes);
        }
        let contents = self.archive.contents(len_bytes)?;
        if sample.contents[index].replace(contents).is_some() {
            let key = String::from_utf8_lossy(&sample.key);
            let message = format!("sample `{key}` has two files of extension `{extension}`");
            sample.fault = Some(message);
        }
        Ok(())
    }

    /// The element of a sample, or the error in its place.
    fn finish(&mut self, sample: Sample) -> Result<Element, Error> {
        let number = self.num_read;
        self.num_read += 1;
        let failed = |message: String| self.file.record_error(number, sample.position, message);
        if let Some(fault) = sample.fault {
            return Err(failed(fault));
        }
        let mut len_bytes = sample.key.len();
        let mut values = Values::new();
        let missing = sample.contents.iter().position(Option::is_none);
        if let Some(index) = missing {
            let key = String::from_utf8_lossy(&sample.key);
            let wanted = self.extensions[index].join("|");
            return Err(failed(format!(
                "sample `{key}` has no file of extension `{wanted}`"
            )));
        }
        values.push(AnyRef::available(ByteString::from(sample.key)));
        for contents in sample.contents.into_iter().flatten() {
            len_bytes += contents.len();
            values.push(AnyRef::available(ByteString::from(contents)));
        }
        Ok(Element { values, len_bytes })
    }

    /// The next file of the archive, as an element.
    fn next_file(&mut self) -> Result<Option<Result<Element, Error>>, Fault> {
        let Some(Entry {
            path,
            position,
            len_bytes,
        }) = self.archive.next_file()?
        else {
            return Ok(None);
        };
        let mut sample = Sample {
            key: path,
            position,
            contents: Vec::new(),
            len_bytes,
            fault: None,
        };
        if len_bytes > self.max_sample_bytes {
            let max_bytes = self.max_sample_bytes;
            self.archive.skip(len_bytes)?;
            sample.fault = Some(format!("expected a file of at most {max_bytes} bytes"));
        } else {
            sample.contents = vec![Some(self.archive.contents(len_bytes)?)];
        }
        Ok(Some(self.finish(sample)))
    }
}

impl ReadElements for Samples {
    fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        match std::mem::replace(&mut self.after, After::Entries) {
            After::Entries => {}
            After::Fault(fault) => return Some(Err(self.fail(&fault))),
            After::End => {
                self.after = After::End;
                return None;
            }
        }
        let fault = if self.extensions.is_empty() {
            match self.next_file() {
                Ok(element) => return element,
                Err(fault) => fault,
            }
        } else {
            match self.next_sample() {
                Ok(Some(sample)) => return Some(self.finish(sample)),
                Ok(None) => {
                    self.after = After::End;
                    let last = self.sample.take()?;
                    return Some(self.finish(last));
                }
                Err(fault) => fault,
            }
        };
        // A sample that is whole as far as is known is in front of the fault.
        let is_whole = |sample: &mut Sample| {
            sample.fault.is_none() && sample.contents.iter().all(Option::is_some)
        };
        match self.sample.take_if(is_whole) {
            Some(sample) => {
                self.after = After::Fault(fault);
                Some(self.finish(sample))
            }
            None => Some(Err(self.fail(&fault))),
        }
    }
}

impl Samples {
    /// The error of a fault, which ends the archive.
    fn fail(&mut self, fault: &Fault) -> Error {
        self.sample = None;
        self.after = After::End;
        let Fault { position, message } = fault;
        self.file.record_error(self.num_read, *position, message)
    }
}
