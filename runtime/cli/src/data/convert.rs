//! `tfrt data convert`: the rows of a file in another format.

use tfrt_readers::table::{TableFormat, create};

use super::progress::Progress;
use super::target::Target;
use super::{FileArguments, context, failed, open};
use crate::failure::Failure;
use crate::output;

/// Writes the rows of a file to `path`, in the stated format or that of its name.
pub(super) fn convert(
    file: &FileArguments,
    path: &str,
    stated: Option<TableFormat>,
) -> Result<(), Failure> {
    let format = stated
        .or_else(|| TableFormat::of_name(path))
        .ok_or_else(|| {
            let names = TableFormat::NAMES.join(", ");
            Failure::new(format!(
                "unknown format of `{path}`: use `--to FORMAT`, where FORMAT is one of {names}"
            ))
        })?;
    let ctx = context()?;
    let table = open(file, &ctx)?;
    let target = Target::new(path)?;
    let mut writer =
        create(&target.written, format, table.schema()).map_err(|error| failed(&error))?;
    let progress = Progress::new(table.num_rows(), "converting", &ctx);
    let written = table.write_to(&mut *writer, &ctx, |num_rows| progress.advance_to(num_rows));
    drop(progress);
    drop(writer);
    let num_rows = written.map_err(|error| failed(&error))?;
    target.finish()?;
    output::print_line(&format!("wrote {num_rows} rows to {path}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Folder, run_line};
    use crate::failure::{Failure, WithCauses};

    #[test]
    fn a_file_can_be_converted_onto_itself() {
        let folder = Folder::new("itself");
        let path = folder.path("rows.csv");
        std::fs::write(&path, "b,a\n1,2\n").unwrap();
        run_line(&["convert", &path, &path]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "b,a\n1,2\n");
        assert_eq!(folder.names(), ["rows.csv"]);
    }

    #[test]
    fn an_error_names_the_requested_file() {
        let folder = Folder::new("requested");
        let (rows, output) = (folder.path("rows.csv"), folder.path("none/rows.tfrecord"));
        std::fs::write(&rows, "a\n1\n").unwrap();
        let Err(Failure::Error(error)) = run_line(&["convert", &rows, &output]) else {
            panic!("there is no such folder");
        };
        let text = WithCauses(&error).to_string();
        assert!(
            text.starts_with(&format!("error: cannot create `{output}`: ")),
            "{text}"
        );
    }

    #[test]
    fn a_failed_conversion_leaves_the_old_file() {
        let folder = Folder::new("failed");
        let (from, to) = (folder.path("rows.csv"), folder.path("old.tfrecord"));
        std::fs::write(&from, "a,b\n1,2\n3\n").unwrap();
        std::fs::write(&to, "old").unwrap();
        let Err(Failure::Error(error)) = run_line(&["convert", &from, &to]) else {
            panic!("a row lacks a column");
        };
        let message = crate::failure::WithCauses(&error).to_string();
        assert!(message.contains("rows.csv"), "{message}");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "old");
        assert_eq!(folder.names(), ["old.tfrecord", "rows.csv"]);
    }
}
