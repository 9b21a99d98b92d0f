//! What the columns of a file without a schema are.

use tfrt_support::{DType, Error};

use super::CsvOptions;
use super::input::open;
use crate::files::OpenFile;
use crate::schema::{Cell, Column, Missing, Schema};

/// How many rows are looked at.
const NUM_ROWS: usize = 1000;

/// What the first 1000 rows of a file say of its columns.
///
/// # Errors
/// If the file cannot be read, or has no columns.
pub fn infer_schema(file: &OpenFile, options: &CsvOptions) -> Result<Schema, Error> {
    let mut input = open(file, options)?;
    let mut guesses: Vec<Guess> = Vec::new();
    if options.has_header {
        let header = input.header(file)?;
        guesses.extend(header.iter().map(|name| Guess::new(name.clone())));
    }
    let mut record = ::csv::ByteRecord::new();
    for _ in 0..NUM_ROWS {
        // What is wrong with a row is told when it is read.
        match input.next_record(&mut record) {
            Ok(true) => {}
            Ok(false) | Err(_) => break,
        }
        while guesses.len() < record.len() && !options.has_header {
            guesses.push(Guess::new(guesses.len().to_string()));
        }
        for (guess, field) in guesses.iter_mut().zip(&record) {
            guess.look_at(field);
        }
    }
    if guesses.is_empty() {
        return Err(file.error("expected columns, found an empty file"));
    }
    let columns = guesses.into_iter().map(Guess::column).collect();
    Schema::new(columns).map_err(|error| file.error(error.message()))
}

/// What a column may be.
struct Guess {
    name: String,
    is_integer: bool,
    is_number: bool,
    has_values: bool,
    lacks_values: bool,
}

impl Guess {
    fn new(name: String) -> Self {
        Self {
            name,
            is_integer: true,
            is_number: true,
            has_values: false,
            lacks_values: false,
        }
    }

    fn look_at(&mut self, field: &[u8]) {
        // Blanks around a number do not count when it is read, either.
        let field = field.trim_ascii();
        if field.is_empty() {
            self.lacks_values = true;
            return;
        }
        self.has_values = true;
        self.is_integer = self.is_integer && Cell::parse(DType::I64, field).is_some();
        self.is_number = self.is_number && Cell::parse(DType::F64, field).is_some();
    }

    fn column(self) -> Column {
        let (dtype, default) = match self {
            Self {
                has_values: false, ..
            }
            | Self {
                is_number: false, ..
            } => (DType::String, Cell::Bytes(Vec::new())),
            // Whole numbers have no value that says that one is missing.
            Self {
                is_integer: true,
                lacks_values: false,
                ..
            } => {
                return Column::new(self.name, DType::I64);
            }
            _ => (DType::F64, Cell::Float(f64::NAN)),
        };
        Column {
            missing: Missing::Default(default),
            ..Column::new(self.name, dtype)
        }
    }
}
