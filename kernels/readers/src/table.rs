//! Files of rows, whatever their format: for tools, and for programs that take what they are given.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use tfrt_async::{AnyRef, ByteString};
use tfrt_data::{Dataset, Outcome};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor, TensorError};

use crate::column::Values;
use crate::columnar::{self, ColumnarFormat, ColumnarOptions, Nulls};
use crate::files::{Compression, OpenFile};
use crate::schema::{Cell, Column, ColumnShape, Schema};
use crate::tar::TarOptions;
use crate::tensor_files::{TensorFileOptions, TensorFormat, read_tensors};
use crate::text::text_line_dataset;
use crate::tfrecord::masked_crc32c;
use crate::write::{Rows, WriteColumns, invalid, num_rows_of};

/// A format of files of rows.
///
/// ```
/// use tfrt_readers::table::TableFormat;
///
/// assert_eq!(TableFormat::of_name("prices.csv.gz"), Some(TableFormat::Csv));
/// assert_eq!(TableFormat::of_name("prices"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Records; each a `tf.Example`, or bytes.
    TfRecord,
    /// Comma-separated values with a header.
    Csv,
    /// Lines of text.
    Text,
    /// Parquet.
    Parquet,
    /// Arrow IPC, a file or a stream.
    Arrow,
    /// A tar archive, whose files are the rows. It can only be read.
    Tar,
    /// A file of tensors that have as many rows.
    Tensors(TensorFormat),
}

impl TableFormat {
    /// The names of all formats, in the order of help texts.
    pub const NAMES: [&'static str; 10] = [
        "tfrecord",
        "csv",
        "txt",
        "parquet",
        "arrow",
        "tar",
        "btf",
        "npy",
        "npz",
        "safetensors",
    ];

    /// The name, which is the extension of files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TfRecord => "tfrecord",
            Self::Csv => "csv",
            Self::Text => "txt",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Tar => "tar",
            Self::Tensors(format) => format.name(),
        }
    }

    /// The format of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "tfrecord" | "tfrecords" => Self::TfRecord,
            "csv" => Self::Csv,
            "txt" => Self::Text,
            "parquet" => Self::Parquet,
            "arrow" | "feather" => Self::Arrow,
            "tar" | "tgz" => Self::Tar,
            _ => Self::Tensors(TensorFormat::from_name(name)?),
        })
    }

    /// The format that the name of a file says, behind which may be that of a compression.
    #[must_use]
    pub fn of_name(path: &str) -> Option<Self> {
        let path = Path::new(path);
        let extension = path.extension()?.to_str()?;
        let inner = || Path::new(path.file_stem()?).extension()?.to_str();
        match extension {
            "gz" | "zst" => Self::from_name(inner()?),
            extension => Self::from_name(extension),
        }
    }

    /// The format of a file: what its first bytes say, then its name. A file that neither says
    /// anything of is text.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn detect(file: &OpenFile) -> Result<Self, Error> {
        let mut start = Vec::new();
        let mut stream = std::io::Read::take(file.read(Compression::Auto)?, NUM_START_BYTES);
        std::io::Read::read_to_end(&mut stream, &mut start)
            .map_err(|error| file.read_error(&error))?;
        let is_record = start
            .split_at_checked(8)
            .is_some_and(|(length, rest)| rest.starts_with(&masked_crc32c(length).to_le_bytes()));
        Ok(match &start[..] {
            _ if is_record => Self::TfRecord,
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Self::Arrow,
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Self::Tensors(TensorFormat::Npy),
            [b'P', b'K', 3 | 5, ..] => Self::Tensors(TensorFormat::Npz),
            _ => match Self::of_name(file.path()) {
                Some(format) => format,
                None if start.get(TAR_MARK_AT..) == Some(TAR_MARK) => Self::Tar,
                None if start.get(8) == Some(&b'{') => Self::Tensors(TensorFormat::Safetensors),
                None => Self::Text,
            },
        })
    }
}

/// What a tar archive has in the header of its first file, and where.
const TAR_MARK: &[u8] = b"ustar";
const TAR_MARK_AT: usize = 257;

/// How many bytes of a file are looked at.
const NUM_START_BYTES: u64 = (TAR_MARK_AT + TAR_MARK.len()) as u64;

/// A file of rows.
///
/// ```no_run
/// use tfrt_readers::table::Table;
/// # fn show(ctx: &tfrt_host::ExecutionContext) -> Result<(), tfrt_support::Error> {
/// let table = Table::open("prices.csv", None, ctx)?;
/// println!("{}: {}", table.format().name(), table.schema());
/// let rows = table.rows().batch(32)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Table {
    format: TableFormat,
    schema: Schema,
    num_rows: Option<u64>,
    rows: Dataset,
}

impl Table {
    /// Opens a file of a format; by default, that which it [seems to have](TableFormat::detect).
    ///
    /// # Errors
    /// If the file cannot be read, is damaged where it is looked at, or the feature of its format
    /// is off.
    pub fn open(
        path: &str,
        format: Option<TableFormat>,
        ctx: &ExecutionContext,
    ) -> Result<Self, Error> {
        let file = OpenFile::of(path, ctx);
        let format = match format {
            Some(format) => format,
            None => TableFormat::detect(&file)?,
        };
        let (schema, num_rows, rows) = open_rows(&file, format, ctx).map_err(|error| {
            // What is said of a format whose feature is off names no file.
            match error.code() {
                ErrorCode::Unimplemented => file
                    .error(error.message())
                    .with_code(ErrorCode::Unimplemented),
                _ => error,
            }
        })?;
        Ok(Self {
            format,
            schema,
            num_rows,
            rows,
        })
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> TableFormat {
        self.format
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many rows there are, if the file says so.
    #[must_use]
    pub fn num_rows(&self) -> Option<u64> {
        self.num_rows
    }

    /// The rows, with one component for each column.
    #[must_use]
    pub fn rows(&self) -> &Dataset {
        &self.rows
    }

    /// Writes the rows, and calls `progress` with the number of rows every now and then. Returns
    /// how many there are.
    ///
    /// # Errors
    /// The first error of a row, and those of the writer.
    pub fn write_to(
        &self,
        writer: &mut dyn WriteColumns,
        ctx: &ExecutionContext,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        const ROWS_AT_ONCE: usize = 1024;
        let columns = self.schema.columns();
        let mut gathered: Vec<Values> = columns
            .iter()
            .map(|column| Values::new(column.dtype))
            .collect();
        let (mut num_gathered, mut num_rows) = (0, 0);
        let mut iterator = self.rows.iterator();
        loop {
            let row = next_row(&mut iterator, ctx)?;
            let is_end = row.is_none();
            if let Some(row) = row {
                for ((values, value), column) in gathered.iter_mut().zip(&row).zip(columns) {
                    for cell in cells_of(value, column)? {
                        values.push(cell);
                    }
                }
                num_gathered += 1;
                num_rows += 1;
            }
            if num_gathered == ROWS_AT_ONCE || (is_end && num_gathered > 0) {
                let tensor = |(values, column): (&mut Values, &Column)| {
                    let mut dims = vec![num_gathered];
                    if let ColumnShape::Fixed(row_dims) = &column.shape {
                        dims.extend(row_dims);
                    }
                    values.take_tensor(&dims, ctx.allocator())
                };
                let tensors = gathered.iter_mut().zip(columns).map(tensor);
                writer.write(&tensors.collect::<Result<Vec<_>, _>>()?)?;
                progress(num_rows);
                num_gathered = 0;
            }
            if is_end {
                writer.finish()?;
                return Ok(num_rows);
            }
        }
    }
}

/// The values of the next row; nothing at the end. Waits for them.
///
/// # Errors
/// Those of the row.
pub fn next_row(
    iterator: &mut tfrt_data::DataIterator,
    ctx: &ExecutionContext,
) -> Result<Option<tfrt_data::Values>, Error> {
    let outcome = match iterator.draw(ctx).into_outcome() {
        Ok(outcome) => outcome,
        Err(pending) => {
            ctx.host()
                .await_available(&[pending.as_any().clone()])
                .map_err(Error::other)?;
            Outcome::of_available(&pending)
        }
    };
    match outcome {
        Outcome::End(_) => Ok(None),
        Outcome::Error(error) => Err(error_of(&error)),
        Outcome::Element(values) => {
            ctx.host().await_available(&values).map_err(Error::other)?;
            match values.iter().find(|value| value.is_error()) {
                Some(failed) => Err(error_of(failed)),
                None => Ok(Some(values)),
            }
        }
    }
}

fn error_of(value: &AnyRef) -> Error {
    let error = value.error_if_present().cloned();
    error.unwrap_or_else(|| Error::new("a row is missing"))
}

type Opened = (Schema, Option<u64>, Dataset);

fn open_rows(
    file: &OpenFile,
    format: TableFormat,
    ctx: &ExecutionContext,
) -> Result<Opened, Error> {
    match format {
        TableFormat::TfRecord => open_records(file),
        TableFormat::Text => {
            let schema = Schema::new(vec![Column::new("line", DType::String)])?;
            Ok((schema, None, text_line_dataset(&**file.path())?))
        }
        TableFormat::Csv => open_csv(file),
        TableFormat::Parquet => open_columns(file, ColumnarFormat::Parquet, ctx),
        TableFormat::Arrow => open_columns(file, ColumnarFormat::Arrow, ctx),
        TableFormat::Tar => {
            let columns = ["path", "contents"].map(|name| Column::new(name, DType::String));
            let schema = Schema::new(columns.to_vec())?;
            Ok((schema, None, TarOptions::default().dataset(&**file.path())?))
        }
        TableFormat::Tensors(format) => open_tensors(file, format, ctx),
    }
}

#[cfg(feature = "messages")]
fn open_records(file: &OpenFile) -> Result<Opened, Error> {
    use crate::example::{infer_example_schema, parse_examples};
    use crate::tfrecord::{RecordReader, tf_record_dataset};

    /// How many records are looked at to tell what they are.
    const NUM_SAMPLES: usize = 100;

    let records = tf_record_dataset(&**file.path())?;
    let mut samples = Vec::new();
    // What is wrong with a record is told when it is read.
    let reader = RecordReader::new(file.read(Compression::Auto)?);
    for record in reader.take(NUM_SAMPLES).map_while(Result::ok) {
        samples.push(record);
    }
    match infer_example_schema(&samples) {
        Ok(schema) => {
            let examples = parse_examples(&records, schema.clone())?;
            Ok((schema, None, examples))
        }
        Err(_) => {
            let schema = Schema::new(vec![Column::new("record", DType::String)])?;
            Ok((schema, None, records))
        }
    }
}

#[cfg(not(feature = "messages"))]
fn open_records(_file: &OpenFile) -> Result<Opened, Error> {
    Err(missing_messages())
}

#[cfg(feature = "csv")]
fn open_csv(file: &OpenFile) -> Result<Opened, Error> {
    let mut options = crate::csv::CsvOptions::default();
    let schema = crate::csv::infer_schema(file, &options)?;
    options.schema = Some(schema.clone());
    Ok((schema, None, options.dataset(&**file.path())?))
}

#[cfg(not(feature = "csv"))]
fn open_csv(_file: &OpenFile) -> Result<Opened, Error> {
    Err(crate::feature::missing("CSV files", "csv"))
}

fn open_columns(
    file: &OpenFile,
    format: ColumnarFormat,
    ctx: &ExecutionContext,
) -> Result<Opened, Error> {
    let summary = columnar::summarize(format, file)?;
    let options = ColumnarOptions {
        nulls: Nulls::Default,
        ..ColumnarOptions::default()
    };
    let rows = options.dataset(format, &**file.path())?;
    // The types are those of the tensors, which the first row shows. Without rows, those of the
    // format are all there is.
    let first = next_row(&mut rows.iterator(), ctx)?.unwrap_or_default();
    let column = |(index, (name, data_type)): (usize, &(String, String))| {
        let (dtype, shape) = first
            .get(index)
            .map_or_else(|| (dtype_of(data_type), ColumnShape::Scalar), type_of);
        Column {
            shape,
            ..Column::new(name.clone(), dtype)
        }
    };
    let columns = summary.columns.iter().enumerate().map(column);
    let schema = Schema::new(columns.collect()).map_err(|error| file.error(error.message()))?;
    Ok((schema, summary.num_rows, rows))
}

/// The type of the elements of a column, from what Arrow calls it.
fn dtype_of(data_type: &str) -> DType {
    match data_type {
        "Boolean" => DType::I1,
        "Int8" => DType::I8,
        "Int16" => DType::I16,
        "Int32" => DType::I32,
        "Int64" => DType::I64,
        "UInt8" => DType::Ui8,
        "UInt16" => DType::Ui16,
        "UInt32" => DType::Ui32,
        "UInt64" => DType::Ui64,
        "Float32" => DType::F32,
        "Float64" => DType::F64,
        _ => DType::String,
    }
}

fn open_tensors(
    file: &OpenFile,
    format: TensorFormat,
    ctx: &ExecutionContext,
) -> Result<Opened, Error> {
    let options = TensorFileOptions {
        format: Some(format),
        ..TensorFileOptions::default()
    };
    let rows = options.dataset(&**file.path())?.unbatch()?;
    let tensors = read_tensors(file, Some(format.file_format()?), ctx)?;
    let num_rows = tensors
        .first()
        .and_then(|named| named.tensor.shape().dim(0));
    let column = |named: &tfrt_tensor::file::NamedTensor| {
        let shape = match named.tensor.shape().dims() {
            [] | [_] => ColumnShape::Scalar,
            [_, row @ ..] => ColumnShape::Fixed(row.to_vec()),
        };
        Column {
            shape,
            ..Column::new(named.name.clone(), named.tensor.dtype())
        }
    };
    let schema = Schema::new(tensors.iter().map(column).collect());
    let schema = schema.map_err(|error| file.error(error.message()))?;
    Ok((schema, num_rows.map(|num| num as u64), rows))
}

macro_rules! scalars {
    ($value:ident, $($ty:ty => $dtype:ident, |$x:ident| $cell:expr;)+) => {
        $(if let Some(&$x) = $value.get::<$ty>() {
            return Some((DType::$dtype, $cell));
        })+
    };
}

/// The type of a single value, and the value.
fn scalar_of(value: &AnyRef) -> Option<(DType, Cell)> {
    scalars! {
        value,
        i64 => I64, |x| Cell::Integer(x.into());
        i32 => I32, |x| Cell::Integer(x.into());
        i16 => I16, |x| Cell::Integer(x.into());
        i8 => I8, |x| Cell::Integer(x.into());
        u64 => Ui64, |x| Cell::Integer(x.into());
        u32 => Ui32, |x| Cell::Integer(x.into());
        u16 => Ui16, |x| Cell::Integer(x.into());
        u8 => Ui8, |x| Cell::Integer(x.into());
        f32 => F32, |x| Cell::Float(x.into());
        f64 => F64, |x| Cell::Float(x);
        bool => I1, |x| Cell::Truth(x);
    }
    let string = value.get::<ByteString>()?;
    Some((DType::String, Cell::Bytes(string.as_bytes().to_vec())))
}

fn type_of(value: &AnyRef) -> (DType, ColumnShape) {
    if let Some((dtype, _)) = scalar_of(value) {
        return (dtype, ColumnShape::Scalar);
    }
    match value.get::<DenseHostTensor>() {
        Some(tensor) => (
            tensor.dtype(),
            ColumnShape::Fixed(tensor.shape().dims().to_vec()),
        ),
        None => (DType::String, ColumnShape::Variable),
    }
}

/// The values of a column in a row.
///
/// # Errors
/// If they are not of the type of the column, or are not as many as its shape says.
pub fn cells_of(value: &AnyRef, column: &Column) -> Result<Vec<Cell>, Error> {
    let name = &column.name;
    let (dtype, cells) = if let Some((dtype, cell)) = scalar_of(value) {
        (dtype, vec![cell])
    } else if let Some(tensor) = value.get::<DenseHostTensor>() {
        let row = Shape::new(&[1, tensor.num_elements()]).map_err(TensorError::from)?;
        let row = AnyRef::available(tensor.reshaped(row)?);
        (tensor.dtype(), Rows::of(&row)?.row(0)?)
    } else if let Ok(strings) = value.try_read::<StringHostTensor>() {
        let cells = strings.strings().iter().cloned().map(Cell::Bytes);
        (DType::String, cells.collect())
    } else {
        let found = value.mlir_type().unwrap_or("none");
        return Err(invalid(format!(
            "column `{name}`: expected a value of a row, found `{found}`"
        )));
    };
    let num_expected = match &column.shape {
        ColumnShape::Scalar => Some(1),
        ColumnShape::Fixed(dims) => Some(dims.iter().product()),
        ColumnShape::Variable => None,
    };
    if let Some(expected) = num_expected
        && expected != cells.len()
    {
        let found = cells.len();
        return Err(invalid(format!(
            "column `{name}`: expected {expected} values in a row, found {found}"
        )));
    }
    if dtype != column.dtype {
        let expected = column.dtype;
        return Err(invalid(format!(
            "column `{name}`: expected {expected}, found {dtype}"
        )));
    }
    Ok(cells)
}

/// A new file of rows.
///
/// # Errors
/// If the file cannot be made, there can be no such column in it, or the feature of the format is
/// off.
pub fn create(
    path: &str,
    format: TableFormat,
    schema: &Schema,
) -> Result<Box<dyn WriteColumns>, Error> {
    for Column { name, shape, .. } in schema.columns() {
        if *shape == ColumnShape::Variable {
            return Err(invalid(format!(
                "column `{name}`: rows of variable length cannot be written"
            )));
        }
    }
    let names: Vec<&str> = schema
        .columns()
        .iter()
        .map(|column| &*column.name)
        .collect();
    let create = || {
        let file = fs::File::create(path);
        let failed =
            |error| Error::other(error).with_note(format_args!(": cannot create `{path}`"));
        file.map(BufWriter::new).map_err(failed)
    };
    let types = || {
        schema
            .columns()
            .iter()
            .map(|column| (column.name.clone(), column.dtype))
    };
    let writer: Box<dyn WriteColumns> = match format {
        TableFormat::TfRecord => create_records(create()?, &names)?,
        TableFormat::Csv => create_csv(create()?, &names)?,
        TableFormat::Text => match schema.columns() {
            [
                Column {
                    dtype: DType::String,
                    ..
                },
            ] => Box::new(LineWriter(create()?)),
            _ => {
                return Err(invalid(
                    "expected one column of strings for a text file".to_owned(),
                ));
            }
        },
        TableFormat::Tar => return Err(invalid("tar archives cannot be written".to_owned())),
        TableFormat::Parquet => columnar::write_columns(
            ColumnarFormat::Parquet,
            create()?,
            &types().collect::<Vec<_>>(),
        )?,
        TableFormat::Arrow => columnar::write_columns(
            ColumnarFormat::Arrow,
            create()?,
            &types().collect::<Vec<_>>(),
        )?,
        TableFormat::Tensors(format) => {
            return Err(invalid(format!(
                "files of format {} are written by `tfrt tensors`, from tensors",
                format.name()
            )));
        }
    };
    Ok(Box::new(NamedWriter {
        writer,
        path: path.to_owned(),
        num_rows: 0,
    }))
}

/// A writer whose errors name the file, and the first row that may be missing in it.
struct NamedWriter {
    writer: Box<dyn WriteColumns>,
    path: String,
    num_rows: usize,
}

impl NamedWriter {
    fn named(&self, error: Error) -> Error {
        let Self { path, num_rows, .. } = self;
        error.with_note(format_args!(": cannot write `{path}` after row {num_rows}"))
    }
}

impl WriteColumns for NamedWriter {
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error> {
        let written = self.writer.write(columns);
        written.map_err(|error| self.named(error))?;
        self.num_rows += columns.first().map_or(0, num_rows_of);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        let finished = self.writer.finish();
        finished.map_err(|error| self.named(error))
    }
}

#[cfg(feature = "messages")]
fn create_records(
    output: BufWriter<fs::File>,
    names: &[&str],
) -> Result<Box<dyn WriteColumns>, Error> {
    Ok(Box::new(crate::example::ExampleWriter::new(output, names)))
}

#[cfg(not(feature = "messages"))]
fn create_records(
    _output: BufWriter<fs::File>,
    _names: &[&str],
) -> Result<Box<dyn WriteColumns>, Error> {
    Err(missing_messages())
}

#[cfg(not(feature = "messages"))]
fn missing_messages() -> Error {
    crate::feature::missing("records of `tf.Example`", "messages")
}

#[cfg(feature = "csv")]
fn create_csv(output: BufWriter<fs::File>, names: &[&str]) -> Result<Box<dyn WriteColumns>, Error> {
    Ok(Box::new(crate::csv::CsvWriter::new(output, names)?))
}

#[cfg(not(feature = "csv"))]
fn create_csv(
    _output: BufWriter<fs::File>,
    _names: &[&str],
) -> Result<Box<dyn WriteColumns>, Error> {
    Err(crate::feature::missing("CSV files", "csv"))
}

/// Writes strings as lines.
struct LineWriter(BufWriter<fs::File>);

impl WriteColumns for LineWriter {
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error> {
        let (rows, num_rows) = crate::write::rows_of(columns, 1)?;
        for (index, rows) in (0..num_rows).zip(std::iter::repeat(&rows[0])) {
            for cell in rows.row(index)? {
                if let Cell::Bytes(line) = cell {
                    if line.contains(&b'\n') {
                        return Err(invalid(
                            "a line of text cannot contain line breaks".to_owned(),
                        ));
                    }
                    self.0.write_all(&line).map_err(Error::other)?;
                }
                self.0.write_all(b"\n").map_err(Error::other)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.0.flush().map_err(Error::other)
    }
}
