//! `tfrt data index`: where the records of a file begin.

use std::fs::{self, File};

use tfrt_readers::tfrecord::{RecordIndex, index_path};

use super::target::Target;
use crate::failure::Failure;
use crate::output;

/// Writes the index of the records at `path` to `output`, or beside them.
pub(super) fn write_index(path: &str, output: Option<&str>) -> Result<(), Failure> {
    let cannot = |what: &str, path: &str, error: std::io::Error| {
        Failure::caused(format!("error: cannot {what} `{path}`"), error)
    };
    let file = File::open(path).map_err(|error| cannot("read", path, error))?;
    let index = RecordIndex::of_records(file)
        .map_err(|error| Failure::caused(format!("error: {path}"), error))?;
    let default_path = index_path(path);
    let index_path = output.unwrap_or(&default_path);
    let target = Target::new(index_path)?;
    fs::write(&target.written, index.to_string())
        .map_err(|error| cannot("write", index_path, error))?;
    target.finish()?;
    let num_records = index.len();
    output::print_line(&format!(
        "wrote the positions of {num_records} records to {index_path}"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Folder, run_line};
    use crate::failure::{Failure, WithCauses};
    use tfrt_readers::tfrecord::{IndexedRecords, RecordWriter};

    #[test]
    fn the_index_of_records_is_written_beside_them() {
        let folder = Folder::new("index");
        let path = folder.path("a.tfrecord");
        let mut writer = RecordWriter::new(std::fs::File::create(&path).unwrap());
        writer.write(b"red").unwrap();
        writer.write(b"blue").unwrap();
        writer.finish().unwrap();
        run_line(&["index", &path]).unwrap();
        assert_eq!(folder.names(), ["a.tfrecord", "a.tfrecord.idx"]);
        assert_eq!(
            IndexedRecords::open(&path).unwrap().record(1).unwrap(),
            b"blue"
        );

        let other = folder.path("other");
        run_line(&["index", &path, "--output", &other]).unwrap();
        assert_eq!(std::fs::read_to_string(other).unwrap(), "0 19\n19 20\n");
    }

    #[test]
    fn a_damaged_file_gets_no_index() {
        let folder = Folder::new("no-index");
        let path = folder.path("a.tfrecord");
        std::fs::write(&path, "seven b").unwrap();
        let Err(Failure::Error(error)) = run_line(&["index", &path]) else {
            panic!("the file is cut off");
        };
        let message = WithCauses(&error).to_string();
        assert_eq!(
            message,
            format!("error: {path}: truncated record at position 0")
        );
        assert_eq!(folder.names(), ["a.tfrecord"]);
    }
}
