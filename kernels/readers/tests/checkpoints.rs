//! Checkpoints of pipelines over files that have changed since, or that differ from those of the
//! checkpoint.

mod common;

use std::fs;

use common::{Folder, context, good};
use tfrt_async::ByteString;
use tfrt_data::Dataset;
use tfrt_readers::example::parse_examples;
use tfrt_readers::files::Files;
use tfrt_readers::text::text_line_dataset;
use tfrt_readers::tfrecord::{RecordWriter, tf_record_dataset};

/// What is left behind so many elements, in another iterator of `later`.
fn rest_behind(num: usize, dataset: &Dataset, later: &Dataset) -> Vec<Result<String, String>> {
    let ctx = context("s");
    let mut elements = dataset.elements::<ByteString, _>(&ctx);
    for _ in 0..num {
        elements.next().unwrap().unwrap();
    }
    let checkpoint = elements.save().unwrap();
    let text = |line: ByteString| String::from_utf8_lossy(line.as_bytes()).into_owned();
    let rest = later.elements_from::<ByteString, _>(&checkpoint, &ctx);
    let rest = rest.unwrap().take(100);
    rest.map(|line| line.map(text).map_err(|error| error.message().to_owned()))
        .collect()
}

#[test]
fn files_are_found_again_by_their_names() {
    let folder = Folder::new("found-again");
    folder.write("b.txt", "b0\nb1\n");
    folder.write("d.txt", "d0\nd1\nd2\n");
    let pattern = folder.path("*.txt");
    let lines = || text_line_dataset(&*pattern).unwrap();
    let expected = [Ok("d1".to_owned()), Ok("d2".to_owned())];
    assert_eq!(rest_behind(3, &lines(), &lines()), expected);

    // A file in front of the others was not there before; those behind it are where they were.
    let ctx = context("s");
    let dataset = lines();
    let mut elements = dataset.elements::<ByteString, _>(&ctx);
    for _ in 0..3 {
        elements.next().unwrap().unwrap();
    }
    let checkpoint = elements.save().unwrap();
    let rest = |checkpoint: &[u8]| -> Vec<Result<String, String>> {
        let dataset = lines();
        let rest = dataset
            .elements_from::<ByteString, _>(checkpoint, &ctx)
            .unwrap();
        let text = |line: ByteString| String::from_utf8_lossy(line.as_bytes()).into_owned();
        rest.map(|line| line.map(text).map_err(|error| error.message().to_owned()))
            .collect()
    };
    folder.write("a.txt", "a0\n");
    assert_eq!(rest(&checkpoint), expected);
    fs::remove_file(folder.path("b.txt")).unwrap();
    assert_eq!(rest(&checkpoint), expected);

    // The file of the checkpoint is gone.
    fs::remove_file(folder.path("d.txt")).unwrap();
    let (gone, found) = (folder.path("d.txt"), "1 file");
    let message = format!("expected the file `{gone}` of the checkpoint, found {found}");
    assert_eq!(rest(&checkpoint), [Err(message)]);
    folder.write("c.txt", "c0\n");
    let found = format!("`{}` as file 1", folder.path("c.txt"));
    let message = format!("expected the file `{gone}` of the checkpoint, found {found}");
    assert_eq!(rest(&checkpoint), [Err(message)]);
}

#[test]
fn a_file_that_has_become_shorter_ends() {
    let folder = Folder::new("shorter");
    let path = folder.write("a.txt", "0\n1\n2\n3\n");
    let other = folder.write("b.txt", "next\n");
    let lines = || text_line_dataset(Files::from_iter([&path, &other])).unwrap();
    let ctx = context("s");
    let dataset = lines();
    let mut elements = dataset.elements::<ByteString, _>(&ctx);
    for _ in 0..3 {
        elements.next().unwrap().unwrap();
    }
    let checkpoint = elements.save().unwrap();
    folder.write("a.txt", "0\n");
    let later = lines();
    let rest = later
        .elements_from::<ByteString, _>(&checkpoint, &ctx)
        .unwrap();
    let rest: Vec<ByteString> = rest.collect::<Result<_, _>>().unwrap();
    assert_eq!(rest, [ByteString::from("next")]);
}

#[cfg(feature = "gzip")]
#[test]
fn compressed_records_are_read_again_up_to_a_checkpoint() {
    use std::io::Write;
    let folder = Folder::new("compressed-checkpoint");
    let mut writer = RecordWriter::new(Vec::new());
    for record in ["zero", "one", "two", "three"] {
        writer.write(record.as_bytes()).unwrap();
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&writer.finish().unwrap()).unwrap();
    let path = folder.write("a.tfrecord.gz", encoder.finish().unwrap());
    let records = tf_record_dataset(&*path).unwrap();
    for num in 0..=4 {
        let expected: Vec<_> = ["zero", "one", "two", "three"][num..]
            .iter()
            .map(|&record| Ok(record.to_owned()))
            .collect();
        assert_eq!(rest_behind(num, &records, &records), expected, "{num}");
    }
}

#[test]
fn pipelines_with_different_schemas_are_different() {
    let folder = Folder::new("schemas");
    let path = folder.write(
        "a.tfrecord",
        RecordWriter::new(Vec::new()).finish().unwrap(),
    );
    let ctx = context("s");
    let examples = |schema: &str| {
        let records = tf_record_dataset(&*path).unwrap();
        parse_examples(&records, schema.parse().unwrap()).unwrap()
    };
    let checkpoint = examples("a: i64").iterator().save(&ctx).unwrap();
    assert!(examples("a: i64").restore(&checkpoint, &ctx).is_ok());
    let error = examples("b: f32").restore(&checkpoint, &ctx);
    let message = error.unwrap_err().message().to_owned();
    assert!(
        message.contains("a: i64") && message.contains("b: f32"),
        "{message}"
    );
    assert!(good::<i64, _>(&examples("a: i64")).is_empty());
}

#[cfg(feature = "csv")]
#[test]
fn columns_are_those_of_the_first_file_behind_a_checkpoint_too() {
    use tfrt_readers::csv::csv_dataset;
    let folder = Folder::new("csv-checkpoint");
    // `x` has a value that is missing in the first file alone.
    let first = folder.write("a.csv", "x,y\n1,a\n,b\n");
    let second = folder.write("b.csv", "x,y\n2,c\n3,d\n");
    let dataset = || csv_dataset(Files::from_iter([&first, &second])).unwrap();
    let ctx = context("s");
    let (before, after) = (dataset(), dataset());
    type Row = (f64, ByteString);
    let mut elements = before.elements::<Row, _>(&ctx);
    for _ in 0..3 {
        elements.next().unwrap().unwrap();
    }
    let checkpoint = elements.save().unwrap();
    let rest = after.elements_from::<Row, _>(&checkpoint, &ctx).unwrap();
    let rest: Vec<Row> = rest.collect::<Result<_, _>>().unwrap();
    assert_eq!(rest, [(3.0, ByteString::from("d"))]);
}
