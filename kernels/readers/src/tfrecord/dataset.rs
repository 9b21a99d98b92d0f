//! The dataset of the records of files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use tfrt_async::ByteString;
use tfrt_data::{Dataset, ElementTypes, StageDescription, require_positive};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::read::{MAX_RECORD_BYTES, RecordError, RecordReader, Verify};
use crate::example::{ExampleColumns, check_batches, check_types, parse_example};
use crate::files::{Compression, Files, NUM_MARK_BYTES, OpenFile, Stream};
use crate::policy::OnError;
use crate::read_ahead::{self, Element, Format, ReadElements};
use crate::schema::Schema;

/// A dataset of the records of files, each a string with one component.
///
/// The files are opened for each iterator, as draws come to them. A wrong checksum takes the place
/// of its record; a record that is cut off, and a file that cannot be read, are followed by the
/// next file, or the end.
///
/// # Errors
/// None at present: what is wrong with a file shows when it is read.
pub fn tf_record_dataset(files: impl Into<Files>) -> Result<Dataset, Error> {
    TfRecordOptions::default().dataset(files)
}

/// How records are read.
///
/// ```
/// use tfrt_readers::policy::OnError;
/// use tfrt_readers::tfrecord::{TfRecordOptions, Verify};
///
/// let options = TfRecordOptions { verify: Verify::Header, on_error: OnError::Skip { max: 10 }, ..Default::default() };
/// assert_eq!(options.dataset("train-*.tfrecord")?.name(), "tf_record");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TfRecordOptions {
    /// How the files are compressed.
    pub compression: Compression,
    /// Which checksums are compared.
    pub verify: Verify,
    /// The longest record that is read, in bytes; by default 256 MiB in a compressed file, which
    /// may claim to hold far more than its own size. A longer one is an error, and the rest of its
    /// file is left out.
    pub max_record_bytes: Option<u64>,
    /// What follows an error.
    pub on_error: OnError,
    /// Whether errors say which record of which file they are in. Otherwise, the errors of a single
    /// file have the texts of the reference, such as `data corruption at position 24`.
    pub names_file: bool,
}

impl Default for TfRecordOptions {
    fn default() -> Self {
        Self {
            compression: Compression::Auto,
            verify: Verify::All,
            max_record_bytes: None,
            on_error: OnError::Fail,
            names_file: true,
        }
    }
}

impl TfRecordOptions {
    /// The dataset of the records of files.
    ///
    /// # Errors
    /// None at present: what is wrong with a file shows when it is read.
    pub fn dataset(self, files: impl Into<Files>) -> Result<Dataset, Error> {
        let files = files.into();
        let format = Records {
            options: self,
            content: Content::Bytes,
            names_files: self.names_file || files.single().is_none(),
        };
        read_ahead::dataset(format, &files, self.on_error)
    }

    /// The dataset of the features of records, each of which is a `tf.Example`: the components that
    /// the columns of the schema describe, as [`parse_examples`](crate::example::parse_examples)
    /// returns them.
    ///
    /// Records are parsed where they are read, on the blocking pool, so a record that is not what
    /// the schema says is an error with its number and its file, subject to
    /// [`on_error`](Self::on_error).
    ///
    /// ```
    /// use tfrt_readers::tfrecord::TfRecordOptions;
    ///
    /// let schema = "image: str, label: i64 = -1".parse()?;
    /// let samples = TfRecordOptions::default().examples("train-*.tfrecord", schema)?;
    /// assert_eq!(samples.name(), "tf_record");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a column is of a type that no feature has: these are `i64`, `f32` and `str`.
    pub fn examples(self, files: impl Into<Files>, schema: Schema) -> Result<Dataset, Error> {
        check_types(&schema)?;
        let format = Records {
            options: self,
            content: Content::Examples(Arc::new(schema)),
            names_files: true,
        };
        read_ahead::dataset(format, &files.into(), self.on_error)
    }

    /// The dataset of the features of records, in batches: each component is a tensor with a row
    /// for each of `batch_size` examples. The last batch of a file may have fewer.
    ///
    /// The elements are those of [`examples`](Self::examples) in batches, but take a fraction of
    /// the time: features go straight into tensors, without a value for each. An error stands in
    /// front of the batch that lacks its record; if it ends the pass, as
    /// [`on_error`](Self::on_error) may say, the examples in front of it are delivered first, as
    /// the last batch. Where workers share the records of a file, as [`Dataset::auto_shard`] may
    /// let them, these examples are a part of the next batch instead, and are lost if the pass of
    /// the worker of that batch has ended.
    ///
    /// ```
    /// use tfrt_readers::tfrecord::TfRecordOptions;
    ///
    /// let schema = "pixels: f32 [28, 28], label: i64 = -1".parse()?;
    /// let batches = TfRecordOptions::default().example_batches("train-*.tfrecord", schema, 32)?;
    /// assert_eq!(batches.element_types().to_string(), "(!t.tensor, !t.tensor)");
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `examples`; if the batch size is zero, or the number of values of a feature is not
    /// known.
    pub fn example_batches(
        self,
        files: impl Into<Files>,
        schema: Schema,
        batch_size: u64,
    ) -> Result<Dataset, Error> {
        check_types(&schema)?;
        check_batches(&schema)?;
        require_positive("batch_size", batch_size)?;
        let format = Records {
            options: self,
            content: Content::Batches {
                columns: ExampleColumns::new(Arc::new(schema)),
                batch_size,
            },
            names_files: true,
        };
        read_ahead::dataset(format, &files.into(), self.on_error)
    }
}

/// What the elements are. The records of each file have a copy of their own.
#[derive(Clone, Debug)]
enum Content {
    /// Records as they are.
    Bytes,
    /// The features of a record each.
    Examples(Arc<Schema>),
    /// The features of so many records each. The columns have those of the next element, as far as
    /// its records were read.
    Batches {
        columns: ExampleColumns,
        batch_size: u64,
    },
}

impl Content {
    /// Returns the element that a record completes.
    fn element(
        &mut self,
        record: Vec<u8>,
        ctx: &ExecutionContext,
    ) -> Option<Result<Element, Error>> {
        let len_bytes = record.len();
        match self {
            Self::Bytes => Some(Ok(Element::one(ByteString::from(record), len_bytes))),
            Self::Examples(schema) => {
                let values = parse_example(&record, schema, ctx.allocator());
                Some(values.map(|values| Element { values, len_bytes }))
            }
            Self::Batches {
                columns,
                batch_size,
            } => {
                if let Err(error) = columns.add(&record) {
                    return Some(Err(error));
                }
                let is_complete = columns.num_rows() as u64 >= *batch_size;
                is_complete.then(|| take_batch(columns, ctx))
            }
        }
    }

    /// Returns the batch that no record has completed.
    fn rest(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        match self {
            Self::Batches { columns, .. } if columns.num_rows() > 0 => {
                Some(take_batch(columns, ctx))
            }
            _ => None,
        }
    }

    /// Returns `true` if a part of the next element was read.
    fn is_within_element(&self) -> bool {
        matches!(self, Self::Batches { columns, .. } if columns.num_rows() > 0)
    }
}

#[derive(Debug)]
struct Records {
    options: TfRecordOptions,
    content: Content,
    /// Whether errors say which record of which file they are in.
    names_files: bool,
}

impl Format for Records {
    fn name(&self) -> &'static str {
        "tf_record"
    }

    fn element_types(&self) -> ElementTypes {
        match &self.content {
            Content::Bytes => ElementTypes::of::<ByteString>(),
            Content::Examples(schema) => schema.element_types(),
            Content::Batches { columns, .. } => columns.schema().types_of_batches(),
        }
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let (stream, num_left) = match file.open_file()? {
            Some(local) => self.open_local(&file, local)?,
            None => (self.decompressed(&file, file.open()?)?, None),
        };
        Ok(Box::new(self.records(file, stream, 0, num_left)))
    }

    fn open_at(
        &self,
        file: &OpenFile,
        num_read: u64,
        position: u64,
        _ctx: &ExecutionContext,
    ) -> Result<Option<Box<dyn ReadElements>>, Error> {
        let Some(local) = file.open_file()? else {
            return Ok(None);
        };
        let Some((mut local, len_bytes)) = self.if_plain(file, local)?.ok() else {
            return Ok(None);
        };
        local
            .seek(SeekFrom::Start(position))
            .map_err(|error| file.read_error(&error))?;
        let num_left = len_bytes.saturating_sub(position);
        let mut reader = self.records(file.clone(), Box::new(local), position, Some(num_left));
        // How many records the batches had is not known.
        reader.number = match self.content {
            Content::Batches { .. } => None,
            Content::Bytes | Content::Examples(_) => Some(num_read),
        };
        Ok(Some(Box::new(reader)))
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        let TfRecordOptions {
            compression,
            verify,
            ..
        } = self.options;
        to.changed_attribute("compression", &compression, &Compression::Auto);
        to.changed_attribute("verify", &verify, &Verify::All);
        match &self.content {
            Content::Bytes => {}
            Content::Examples(schema) => to.attribute("schema", schema),
            Content::Batches {
                columns,
                batch_size,
            } => {
                to.attribute("schema", columns.schema());
                to.attribute("batch_size", batch_size);
            }
        }
    }
}

impl Records {
    /// The records of a stream that begins at a position of the file, with so many bytes, if that
    /// is known.
    fn records(
        &self,
        file: OpenFile,
        stream: Stream,
        position: u64,
        num_left: Option<u64>,
    ) -> FileRecords {
        let unlimited = num_left.map_or(MAX_RECORD_BYTES, |_| u64::MAX);
        let max_record_bytes = self.options.max_record_bytes.unwrap_or(unlimited);
        // Somebody may still be writing the file.
        let max_left_bytes = num_left.map_or(u64::MAX, |num| num.max(MAX_RECORD_BYTES));
        let reader = RecordReader::starting_at(position, stream)
            .verifying(self.options.verify)
            .with_max_record_bytes(max_record_bytes)
            .with_max_left_bytes(max_left_bytes);
        FileRecords {
            reader,
            file,
            content: self.content.clone(),
            names_files: self.names_files,
            number: Some(0),
        }
    }

    /// The bytes of a file of this machine, and how many there are, if it is not compressed.
    fn open_local(&self, file: &OpenFile, local: File) -> Result<(Stream, Option<u64>), Error> {
        Ok(match self.if_plain(file, local)? {
            Ok((local, len_bytes)) => (Box::new(local), Some(len_bytes)),
            Err(local) => (self.decompressed(file, Box::new(local))?, None),
        })
    }

    /// The file and its length, if it has one and is not compressed; otherwise the file, at its
    /// start.
    fn if_plain(
        &self,
        file: &OpenFile,
        mut local: File,
    ) -> Result<Result<(File, u64), File>, Error> {
        let mut look = || {
            let metadata = local.metadata()?;
            // A pipe has no length, and what is read of it is gone.
            if !metadata.is_file() {
                return Ok(None);
            }
            let found = match self.options.compression {
                Compression::Auto => {
                    let mut start = Vec::new();
                    let mark = (&local).take(NUM_MARK_BYTES as u64);
                    { mark }.read_to_end(&mut start)?;
                    local.seek(SeekFrom::Start(0))?;
                    detect(&start)
                }
                stated => stated,
            };
            Ok((found == Compression::None).then_some(metadata.len()))
        };
        let len_bytes = look().map_err(|error: io::Error| file.read_error(&error))?;
        Ok(match len_bytes {
            Some(len_bytes) => Ok((local, len_bytes)),
            None => Err(local),
        })
    }

    fn decompressed(&self, file: &OpenFile, stream: Stream) -> Result<Stream, Error> {
        let compression = self.options.compression;
        let decompressed = compression.decompress_unless(stream, detect);
        decompressed.map_err(|error| file.read_error(&error))
    }
}

/// The compression of a file of records. A file that begins with a header whose checksum is right
/// is not compressed, although the length in it may look like the mark of a compression.
fn detect(start: &[u8]) -> Compression {
    if let Some((length, rest)) = start.split_at_checked(8)
        && rest.starts_with(&super::masked_crc32c(length).to_le_bytes())
    {
        return Compression::None;
    }
    match start {
        // The length of a record whose checksum is wrong: in a compressed file, no block could
        // begin like this.
        [_, _, 0, 0, 0, 0, 0, 0, ..] => Compression::None,
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Compression::Zlib,
        _ => Compression::detect(start),
    }
}

/// The records of one file.
struct FileRecords {
    reader: RecordReader<Stream>,
    file: OpenFile,
    content: Content,
    names_files: bool,
    /// That of the next record, if it is known.
    number: Option<u64>,
}

fn take_batch(columns: &mut ExampleColumns, ctx: &ExecutionContext) -> Result<Element, Error> {
    let (values, len_bytes) = columns.take(ctx.allocator())?;
    Ok(Element { values, len_bytes })
}

impl FileRecords {
    /// Names the record of an error, the last one that was read.
    fn failed(&self, number: Option<u64>, position: u64, error: RecordFailure) -> Error {
        let path = self.file.path();
        let record = number.map_or_else(
            || "a record".to_owned(),
            |number| format!("record {number}"),
        );
        let (error, note) = match error {
            RecordFailure::Parse(error) => {
                (error, format!(" ({record} of {path}, at byte {position})"))
            }
            RecordFailure::Read(RecordError::Io(error)) => (
                self.file.read_error(&error),
                format!(" ({record}, at byte {position})"),
            ),
            // These say at which byte.
            RecordFailure::Read(error) => (error.into(), format!(" ({record} of {path})")),
        };
        match self.names_files {
            true => error.with_note(note),
            false => error,
        }
    }
}

/// Why there is no element.
enum RecordFailure {
    Read(RecordError),
    Parse(Error),
}

impl ReadElements for FileRecords {
    fn position(&self) -> Option<u64> {
        let can_go_on = !self.reader.has_ended() && !self.content.is_within_element();
        can_go_on.then(|| self.reader.position())
    }

    fn take_incomplete(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        self.content.rest(ctx)
    }

    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        loop {
            let position = self.reader.position();
            let Some(record) = self.reader.next() else {
                return self.take_incomplete(ctx);
            };
            let number = self.number;
            self.number = number.map(|number| number + 1);
            let failure = match record {
                Ok(record) => match self.content.element(record, ctx) {
                    None => continue,
                    Some(Ok(element)) => return Some(Ok(element)),
                    Some(Err(error)) => RecordFailure::Parse(error),
                },
                Err(error) => RecordFailure::Read(error),
            };
            return Some(Err(self.failed(number, position, failure)));
        }
    }
}
