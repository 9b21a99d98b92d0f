//! `tfrt data verify`: whether files are whole.

use tfrt_data::Dataset;
use tfrt_host::ExecutionContext;
use tfrt_readers::files::OpenFile;
use tfrt_readers::table::{Table, TableFormat, next_row};
use tfrt_readers::tfrecord::tf_record_dataset;
use tfrt_support::Error;

use super::context;
use super::progress::Progress;
use crate::failure::Failure;
use crate::output;

/// The number of errors of a file that are printed.
const NUM_PRINTED: u64 = 20;

/// Reads files and prints a line for each, and one for each of the first errors in it.
pub(super) fn verify(paths: &[String], format: Option<TableFormat>) -> Result<(), Failure> {
    let mut are_whole = true;
    for path in paths {
        let ctx = context()?;
        are_whole &= match rows_of(path, format, &ctx) {
            Ok((rows, num_rows)) => verify_rows(path, &rows, num_rows, &ctx)?,
            Err(error) => {
                output::print_line(&format!("{path}: error: {}", error.message()))?;
                false
            }
        };
    }
    are_whole.then_some(()).ok_or(Failure::Reported)
}

/// Returns the rows of a file, and their number, if it is known. Those of a file of records are its
/// records, whatever these contain.
fn rows_of(
    path: &str,
    format: Option<TableFormat>,
    ctx: &ExecutionContext,
) -> Result<(Dataset, Option<u64>), Error> {
    let format = match format {
        Some(format) => format,
        None => TableFormat::detect(&OpenFile::of(path, ctx))?,
    };
    if format == TableFormat::TfRecord {
        return Ok((tf_record_dataset(path)?, None));
    }
    let table = Table::open(path, Some(format), ctx)?;
    Ok((table.rows().clone(), table.num_rows()))
}

fn verify_rows(
    path: &str,
    rows: &Dataset,
    num_expected: Option<u64>,
    ctx: &ExecutionContext,
) -> Result<bool, Failure> {
    let progress = Progress::new(num_expected, "reading", ctx);
    let (mut num_rows, mut num_errors) = (0_u64, 0_u64);
    let mut iterator = rows.iterator();
    loop {
        match next_row(&mut iterator, ctx) {
            Ok(Some(_)) => num_rows += 1,
            Ok(None) => break,
            Err(error) => {
                if num_errors < NUM_PRINTED {
                    output::print_line(&format!("{path}: error: {}", error.message()))?;
                }
                num_errors += 1;
            }
        }
        progress.advance_to(num_rows);
    }
    drop(progress);
    output::print_line(&format!("{path}: {num_rows} rows, {num_errors} errors"))?;
    Ok(num_errors == 0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Folder, run_line};
    use crate::failure::Failure;
    use tfrt_readers::tfrecord::RecordWriter;

    #[test]
    fn files_are_whole_or_not() {
        let folder = Folder::new("verify");
        let (rows, records) = (folder.path("rows.csv"), folder.path("a.tfrecord"));
        std::fs::write(&rows, "a,b\n1,2\n3,4\n").unwrap();
        let mut writer = RecordWriter::new(Vec::new());
        writer.write(b"red").unwrap();
        writer.write(b"blue").unwrap();
        let mut bytes = writer.finish().unwrap();
        std::fs::write(&records, &bytes).unwrap();
        run_line(&["verify", &rows, &records]).unwrap();

        bytes[12] ^= 1;
        std::fs::write(&records, &bytes).unwrap();
        let is_damaged = |paths: &[&str]| {
            let line = [&["verify"], paths].concat();
            matches!(run_line(&line), Err(Failure::Reported))
        };
        assert!(is_damaged(&[&records, &rows]));
        assert!(is_damaged(&[&rows, &folder.path("missing.csv")]));
        std::fs::write(&rows, "a,b\n1,2\n3\n").unwrap();
        assert!(is_damaged(&[&rows]));
    }
}
