//! Writing rows.

use std::fmt;
use std::io::Write;

use ::csv::{QuoteStyle, Writer, WriterBuilder};
use tfrt_async::AnyRef;
use tfrt_support::Error;

use crate::schema::Cell;
use crate::write::{WriteColumns, invalid, rows_of};

/// Writes rows, with a header.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_readers::csv::CsvWriter;
/// use tfrt_readers::write::WriteColumns;
/// use tfrt_tensor::DenseHostTensor;
///
/// let mut file = Vec::new();
/// let mut writer = CsvWriter::new(&mut file, &["x", "y"])?;
/// let x = AnyRef::available(DenseHostTensor::vector(&[1_i64, 2])?);
/// let y = AnyRef::available(DenseHostTensor::vector(&[0.5_f32, -1.0])?);
/// writer.write(&[x, y])?;
/// writer.finish()?;
/// drop(writer);
/// assert_eq!(file, b"x,y\n1,0.5\n2,-1\n");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub struct CsvWriter<W: Write> {
    writer: Writer<W>,
    names: Vec<String>,
}

impl<W: Write> CsvWriter<W> {
    /// A writer to `output`, which need not be buffered.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(output: W, names: &[impl AsRef<str>]) -> Result<Self, Error> {
        let mut writer = WriterBuilder::new()
            .quote_style(QuoteStyle::Necessary)
            .from_writer(output);
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        writer.write_record(&names).map_err(Error::other)?;
        Ok(Self { writer, names })
    }
}

impl<W: Write> WriteColumns for CsvWriter<W> {
    fn write(&mut self, columns: &[AnyRef]) -> Result<(), Error> {
        let (rows, num_rows) = rows_of(columns, self.names.len())?;
        for index in 0..num_rows {
            for (rows, name) in rows.iter().zip(&self.names) {
                let cells = rows.row(index)?;
                let [cell] = &cells[..] else {
                    let found = cells.len();
                    return Err(invalid(format!(
                        "column `{name}`: expected one value in a field, found {found}"
                    )));
                };
                let field = match cell {
                    Cell::Truth(truth) => truth.to_string().into_bytes(),
                    Cell::Integer(number) => number.to_string().into_bytes(),
                    Cell::Float(number) if rows.dtype() == tfrt_support::DType::F32 => {
                        // As short as the type permits.
                        (*number as f32).to_string().into_bytes()
                    }
                    Cell::Float(number) => number.to_string().into_bytes(),
                    Cell::Bytes(bytes) => bytes.clone(),
                };
                self.writer.write_field(field).map_err(Error::other)?;
            }
            self.writer
                .write_record(None::<&[u8]>)
                .map_err(Error::other)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(Error::other)
    }
}

impl<W: Write> fmt::Debug for CsvWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvWriter")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}
