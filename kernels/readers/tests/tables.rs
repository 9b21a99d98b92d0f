//! Tables: told, opened and converted, whatever their format.
#![cfg(feature = "csv")]

mod common;

use common::{Folder, context, good};
use tfrt_async::ByteString;
use tfrt_readers::table::{Table, TableFormat, create};

#[test]
fn a_damaged_file_is_of_the_format_that_its_name_says() {
    let folder = Folder::new("tables-damaged");
    let ctx = context("s");
    for (name, bytes) in [
        ("empty.npy", ""),
        ("cut.npz", "PK"),
        ("deep.safetensors", "[[[[[[[[[[[["),
    ] {
        let file = folder.write(name, bytes);
        let error = Table::open(&file, None, &ctx).err().unwrap();
        // Not what the reader of binary tensor files says.
        let message = error.message();
        assert!(!message.contains("num_tensors"), "{message}");
        assert!(message.contains(&file), "{message}");
    }
}

#[cfg(feature = "formats")]
#[test]
fn a_file_without_tensors_is_named() {
    let folder = Folder::new("tables-empty");
    let file = folder.write("none.safetensors", "\x02\0\0\0\0\0\0\0{}");
    let error = Table::open(&file, None, &context("s")).err().unwrap();
    let message = error.message();
    assert!(message.contains("at least one column"), "{message}");
    assert!(message.contains(&file), "{message}");
}

#[test]
fn rows_survive_a_conversion_to_every_format_and_back() {
    let folder = Folder::new("tables");
    let ctx = context("s");
    let csv = folder.write("a.csv", "id,share,name\n1,0.5,one\n-2,1.5,\"two, 2\"\n");
    let mut formats = vec![TableFormat::TfRecord, TableFormat::Csv];
    if cfg!(feature = "parquet") {
        formats.extend([TableFormat::Parquet, TableFormat::Arrow]);
    }
    for format in formats {
        let table = Table::open(&csv, None, &ctx).unwrap();
        assert_eq!(table.format(), TableFormat::Csv);
        // Neither name nor extension tells what this is.
        let path = folder.path("converted");
        let mut writer = create(&path, format, table.schema()).unwrap();
        let mut seen = 0;
        let num_rows = table.write_to(&mut *writer, &ctx, |num_rows| seen = num_rows);
        assert_eq!((num_rows.unwrap(), seen), (2, 2));
        drop(writer);
        let stated = (format == TableFormat::Csv).then_some(format);
        let back = Table::open(&path, stated, &ctx).unwrap();
        assert_eq!(back.format(), format);
        let mut names: Vec<&str> = back
            .schema()
            .columns()
            .iter()
            .map(|column| &*column.name)
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["id", "name", "share"]);
        match format {
            // In the order of the names, and with floats of 32 bits.
            TableFormat::TfRecord => {
                let rows: Vec<(i64, ByteString, f32)> = good(back.rows());
                assert_eq!(rows, [(1, "one".into(), 0.5), (-2, "two, 2".into(), 1.5)]);
            }
            _ => {
                let rows: Vec<(i64, f64, ByteString)> = good(back.rows());
                assert_eq!(rows, [(1, 0.5, "one".into()), (-2, 1.5, "two, 2".into())]);
            }
        }
    }
}

#[test]
fn records_that_are_not_examples_and_text_have_one_column() {
    let folder = Folder::new("tables-plain");
    let ctx = context("s");
    let mut writer = tfrt_readers::tfrecord::RecordWriter::new(Vec::new());
    writer.write(b"\xff\xff").unwrap();
    let records = folder.write("records", writer.finish().unwrap());
    let table = Table::open(&records, None, &ctx).unwrap();
    assert_eq!(table.schema().to_string(), "record: str");
    let text = folder.write("text", "one\ntwo\n");
    let table = Table::open(&text, None, &ctx).unwrap();
    assert_eq!(table.schema().to_string(), "line: str");
    assert_eq!(good::<ByteString, _>(table.rows()), ["one", "two"]);
    let error = create(
        "/nowhere/x.npy",
        TableFormat::from_name("npy").unwrap(),
        table.schema(),
    );
    let error = error.err().unwrap();
    assert!(
        error.message().contains("`tfrt tensors`"),
        "{}",
        error.message()
    );
    let error = create("/nowhere/x.txt", TableFormat::Text, table.schema())
        .err()
        .unwrap();
    assert!(
        error.message().contains("No such file"),
        "{}",
        error.message()
    );
}

#[cfg(feature = "tar")]
#[test]
fn the_rows_of_an_archive_are_its_files() {
    let folder = Folder::new("tables-tar");
    let mut archive = ::tar::Builder::new(Vec::new());
    for (name, contents) in [("a/1.txt", "one"), ("a/2.txt", "two")] {
        let mut header = ::tar::Header::new_ustar();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        archive
            .append_data(&mut header, name, contents.as_bytes())
            .unwrap();
    }
    let bytes = archive.into_inner().unwrap();
    let ctx = context("s");
    // By its name, and by its contents.
    for name in ["a.tar", "archive"] {
        let table = Table::open(&folder.write(name, &bytes), None, &ctx).unwrap();
        assert_eq!(table.format(), TableFormat::Tar, "{name}");
        assert_eq!(table.schema().to_string(), "path: str, contents: str");
        let rows: Vec<(ByteString, ByteString)> = good(table.rows());
        assert_eq!(
            rows,
            [("a/1.txt", "one"), ("a/2.txt", "two")].map(|(a, b)| (a.into(), b.into()))
        );
        let error = create(&folder.path("b"), TableFormat::Tar, table.schema())
            .err()
            .unwrap();
        assert_eq!(error.message(), "tar archives cannot be written");
    }
}
