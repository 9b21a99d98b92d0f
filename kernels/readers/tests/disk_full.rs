//! Writers of every format, on a disk that is full after any number of bytes: an error, and no
//! panic. What was said to be written is.

mod common;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tfrt_async::AnyRef;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

/// A disk with room for so many bytes.
#[derive(Clone, Debug)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    num_free: usize,
}

impl Disk {
    fn new(num_free: usize) -> Self {
        let bytes = Arc::default();
        Self { bytes, num_free }
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.bytes.lock().unwrap();
        let num_free = self.num_free - written.len();
        match bytes.len().min(num_free) {
            0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
            len => {
                written.extend_from_slice(&bytes[..len]);
                Ok(len)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Rows of numbers and strings.
fn columns() -> [AnyRef; 2] {
    let numbers = DenseHostTensor::vector(&[1_i64, -20, 300]).unwrap();
    let strings = vec![b"x".into(), b"y, z".into(), b"".into()];
    let strings = StringHostTensor::new(Shape::new(&[3]).unwrap(), strings).unwrap();
    [AnyRef::available(numbers), AnyRef::available(strings)]
}

/// Writes to disks of every size. The file is whole if and only if writing succeeds.
fn check(name: &str, write: impl Fn(Disk) -> Result<(), Error>) {
    let disk = Disk::new(1 << 20);
    write(disk.clone()).unwrap();
    let whole = disk.bytes();
    assert!(!whole.is_empty(), "{name}");
    for num_free in 0..whole.len() {
        let disk = Disk::new(num_free);
        let error = write(disk.clone()).expect_err(name);
        let message = error.message();
        assert!(
            message.contains("no storage space"),
            "{name}, {num_free} bytes: {message}"
        );
        assert!(whole.starts_with(&disk.bytes()), "{name}, {num_free} bytes");
    }
    let disk = Disk::new(whole.len());
    write(disk.clone()).unwrap();
    assert_eq!(disk.bytes(), whole, "{name}");
}

#[test]
fn records() {
    use tfrt_readers::tfrecord::RecordWriter;
    check("tfrecord", |disk| {
        let mut writer = RecordWriter::new(disk);
        for record in [&b"red"[..], b"", b"light blue"] {
            writer.write(record).map_err(Error::other)?;
        }
        writer.finish().map_err(Error::other).map(drop)
    });
}

#[cfg(feature = "messages")]
#[test]
fn examples() {
    use tfrt_readers::example::ExampleWriter;
    use tfrt_readers::write::WriteColumns;
    check("example", |disk| {
        let mut writer = ExampleWriter::new(disk, &["a", "b"]);
        writer.write(&columns())?;
        writer.finish()
    });
}

#[cfg(feature = "csv")]
#[test]
fn rows() {
    use tfrt_readers::csv::CsvWriter;
    use tfrt_readers::write::WriteColumns;
    check("csv", |disk| {
        let mut writer = CsvWriter::new(disk, &["a", "b"])?;
        writer.write(&columns())?;
        writer.finish()
    });
}

#[cfg(all(feature = "parquet", feature = "arrow"))]
#[test]
fn columnar_files() {
    use tfrt_readers::columnar::{ColumnarFormat, write_columns};
    use tfrt_support::DType;
    for format in [ColumnarFormat::Parquet, ColumnarFormat::Arrow] {
        check(format.name(), |disk| {
            let names = [
                ("a".to_owned(), DType::I64),
                ("b".to_owned(), DType::String),
            ];
            let mut writer = write_columns(format, disk, &names)?;
            writer.write(&columns())?;
            writer.finish()
        });
    }
}

/// The errors of files with names say which file it is, and how far it is written.
#[cfg(all(target_os = "linux", feature = "csv", feature = "messages"))]
#[test]
fn errors_name_the_file() {
    use tfrt_readers::table::{TableFormat, create};
    let schema = "a: i64, b: str".parse().unwrap();
    for format in [TableFormat::TfRecord, TableFormat::Csv] {
        let written = create("/dev/full", format, &schema).and_then(|mut writer| {
            writer.write(&columns())?;
            writer.finish()
        });
        let message = written.unwrap_err().message().to_owned();
        let expected =
            "No space left on device (os error 28): cannot write `/dev/full` after row 3";
        assert_eq!(message, expected, "{format:?}");
    }
    let missing = create("/no/such/folder/a.csv", TableFormat::Csv, &schema);
    let message = missing.err().unwrap().message().to_owned();
    assert_eq!(
        message,
        "No such file or directory (os error 2): cannot create `/no/such/folder/a.csv`"
    );
}
