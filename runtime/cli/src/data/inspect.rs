//! `tfrt data inspect` and `tfrt data head`: what a file contains.

use tfrt_async::AnyRef;
use tfrt_readers::schema::{Cell, Column};
use tfrt_readers::table::{Table, cells_of, next_row};
use tfrt_support::Error;
use tfrt_support::escape::escaped;

use super::progress::Progress;
use super::{FileArguments, context, failed, open};
use crate::failure::Failure;
use crate::output;

/// Prints the format, the columns, the first rows and the number of rows of a file.
pub(super) fn inspect(file: &FileArguments) -> Result<(), Failure> {
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let mut text = format!("format: {}\n", table.format().name());
    for column in table.schema().columns() {
        // As a schema of one column.
        let shown = tfrt_readers::schema::Schema::new(vec![column.clone()]);
        let shown = shown.map_or_else(|_| column.name.clone(), |schema| schema.to_string());
        text.push_str(&format!("column: {}\n", escaped(&shown)));
    }
    output::write("-", text.as_bytes())?;
    let progress = Progress::new(table.num_rows(), "reading", &ctx);
    let (mut num_rows, mut num_errors) = (0_u64, 0_u64);
    let mut iterator = table.rows().iterator();
    let mut first_error = None;
    loop {
        match next_row(&mut iterator, &ctx) {
            Ok(Some(row)) => {
                if num_rows < NUM_INSPECTED {
                    let line = shown_row(&table, &row).map_err(|error| failed(&error))?;
                    output::print_line(&format!("row {num_rows}: {line}"))?;
                }
                num_rows += 1;
            }
            Ok(None) => break,
            Err(error) => {
                num_errors += 1;
                first_error.get_or_insert(error);
            }
        }
        progress.advance_to(num_rows);
    }
    drop(progress);
    output::print_line(&format!("rows: {num_rows}"))?;
    match first_error {
        None => Ok(()),
        Some(error) => Err(Failure::new(format!(
            "error: {} (errors: {num_errors} in total)",
            error.message()
        ))),
    }
}

/// Prints the first rows of a file.
pub(super) fn head(file: &FileArguments, max_rows: u64) -> Result<(), Failure> {
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let mut iterator = table.rows().iterator();
    for _ in 0..max_rows {
        let Some(row) = next_row(&mut iterator, &ctx).map_err(|error| failed(&error))? else {
            break;
        };
        let line = shown_row(&table, &row).map_err(|error| failed(&error))?;
        output::print_line(&line)?;
    }
    Ok(())
}

/// A row in one line.
fn shown_row(table: &Table, row: &[AnyRef]) -> Result<String, Error> {
    let columns = table.schema().columns().iter().zip(row);
    let fields = columns.map(|(column, value)| {
        let cells = cells_of(value, column)?;
        Ok(format!(
            "{}: {}",
            escaped(&column.name),
            shown(column, &cells)
        ))
    });
    let fields: Vec<String> = fields.collect::<Result<_, Error>>()?;
    Ok(fields.join(", "))
}

/// The number of rows that `inspect` prints.
const NUM_INSPECTED: u64 = 2;

/// The maximum numbers of printed values of a row and characters of a string.
const MAX_VALUES: usize = 8;
const MAX_CHARACTERS: usize = 60;

/// Returns the values of a column in a row, in one line.
fn shown(column: &Column, cells: &[Cell]) -> String {
    let one = |cell: &Cell| match cell {
        Cell::Truth(truth) => truth.to_string(),
        Cell::Integer(number) => number.to_string(),
        Cell::Float(number) if column.dtype == tfrt_support::DType::F32 => {
            (*number as f32).to_string()
        }
        Cell::Float(number) => number.to_string(),
        Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().count() <= MAX_CHARACTERS => format!("\"{}\"", escaped(text)),
            Ok(text) => {
                let start: String = text.chars().take(MAX_CHARACTERS).collect();
                format!("\"{}…\" ({} bytes)", escaped(&start), bytes.len())
            }
            Err(_) => format!("{} bytes", bytes.len()),
        },
    };
    match cells {
        [cell] => one(cell),
        cells => {
            let shown: Vec<String> = cells.iter().take(MAX_VALUES).map(one).collect();
            let dots = if cells.len() > MAX_VALUES {
                ", …"
            } else {
                ""
            };
            format!("[{}{dots}]", shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_support::DType;

    #[test]
    fn long_values_are_cut() {
        let numbers = Column::new("x", DType::I64);
        let many: Vec<Cell> = (0..9).map(Cell::Integer).collect();
        assert_eq!(shown(&numbers, &many), "[0, 1, 2, 3, 4, 5, 6, 7, …]");
        assert_eq!(shown(&numbers, &many[..1]), "0");
        let text = Column::new("s", DType::String);
        let long = Cell::Bytes("é".repeat(61).into_bytes());
        let expected = format!("\"{}…\" (122 bytes)", "é".repeat(60));
        assert_eq!(shown(&text, &[long]), expected);
        assert_eq!(shown(&text, &[Cell::Bytes(vec![0xff; 3])]), "3 bytes");
        assert_eq!(
            shown(&text, &[Cell::Bytes(b"\x1b[2J".to_vec())]),
            "\"\\1B[2J\""
        );
        let float = Column::new("f", DType::F32);
        assert_eq!(shown(&float, &[Cell::Float(f64::from(0.1_f32))]), "0.1");
    }
}
