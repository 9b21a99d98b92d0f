//! Indexes of record files: their text form, records in any order, and files that they do not fit.

mod common;

use std::fs;

use common::{Folder, all, all_in, context};
use tfrt_async::ByteString;
use tfrt_data::Dataset;
use tfrt_readers::tfrecord::{IndexedRecords, RecordIndex, RecordWriter, index_path};

const NUM_RECORDS: u64 = 100;

/// Record i has 7 · i mod 31 bytes.
fn record(number: u64) -> Vec<u8> {
    vec![number as u8; (7 * number % 31) as usize]
}

fn file() -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    for number in 0..NUM_RECORDS {
        writer.write(&record(number)).unwrap();
    }
    writer.finish().unwrap()
}

/// A file of records with an index beside it.
fn indexed(folder: &Folder) -> String {
    let file = file();
    let index = RecordIndex::of_records(&file[..]).unwrap();
    let path = folder.write("records.tfrecord", file);
    fs::write(index_path(&path), index.to_string()).unwrap();
    path
}

fn failure<T>(result: Result<T, tfrt_support::Error>) -> String {
    result.map(|_| ()).unwrap_err().message().to_owned()
}

#[test]
fn records_are_read_in_any_order_from_any_thread() {
    let folder = Folder::new("index-order");
    let records = IndexedRecords::open(&indexed(&folder)).unwrap();
    assert_eq!(records.len(), NUM_RECORDS);
    for number in (0..NUM_RECORDS).rev() {
        assert_eq!(records.record(number).unwrap(), record(number));
    }
    let last = NUM_RECORDS as i64;
    for queue in ["s", "mstd:2,1", "mstd:2,4"] {
        let numbers = Dataset::range(0, last, 1).unwrap();
        let numbers = numbers.shuffle(last, 3, 4).unwrap();
        let expected: Vec<Vec<u8>> = all::<i64, _>(&numbers)
            .into_iter()
            .map(|number| record(number.unwrap() as u64))
            .collect();
        let dataset = records.dataset(&numbers).unwrap().prefetch(8).unwrap();
        let found = all_in::<ByteString, _>(&dataset, &context(queue));
        let found: Vec<Vec<u8>> = found
            .into_iter()
            .map(|record| record.unwrap().as_bytes().to_vec())
            .collect();
        assert_eq!(found, expected, "{queue}");
    }
}

#[test]
fn a_number_without_a_record_is_an_error_in_its_place() {
    let folder = Folder::new("index-beyond");
    let path = indexed(&folder);
    let records = IndexedRecords::open(&path).unwrap();
    let numbers = Dataset::range(-1, 1, 1).unwrap();
    assert_eq!(
        failure(records.record(NUM_RECORDS)),
        format!("{path}: expected a record below 100, found 100")
    );
    let found = all_in::<ByteString, _>(&records.dataset(&numbers).unwrap(), &context("mstd:2,2"));
    let expected = format!("{path}: expected a record below 100, found -1");
    assert_eq!(found[0].as_ref().unwrap_err(), &expected);
    assert_eq!(found[1].as_ref().unwrap().as_bytes(), record(0));
    assert_eq!(found.len(), 2);
}

#[test]
fn a_damaged_record_is_an_error_that_names_it() {
    let folder = Folder::new("index-damaged");
    let path = indexed(&folder);
    let mut bytes = file();
    let span = RecordIndex::of_records(&bytes[..])
        .unwrap()
        .span(9)
        .unwrap();
    bytes[span.start as usize + 12] ^= 1;
    fs::write(&path, bytes).unwrap();
    let records = IndexedRecords::open(&path).unwrap();
    let expected = format!(
        "data corruption at position {} (record 9 of {path})",
        span.start
    );
    assert_eq!(failure(records.record(9)), expected);
    assert_eq!(records.record(10).unwrap(), record(10));
}

#[test]
fn an_index_of_another_file_is_refused() {
    let folder = Folder::new("index-other");
    let path = indexed(&folder);
    let index_text = |text: &str| fs::write(index_path(&path), text).unwrap();

    index_text("0 16\n");
    let len_bytes = file().len();
    let expected = format!("{path}: expected 16 bytes, as the index says, found {len_bytes}");
    assert_eq!(failure(IndexedRecords::open(&path)), expected);

    // As long as the file, but with other records.
    index_text(&format!("0 {len_bytes}\n"));
    let records = IndexedRecords::open(&path).unwrap();
    let expected = format!("{path}: the index has another size of record 0");
    assert_eq!(failure(records.record(0)), expected);

    fs::remove_file(index_path(&path)).unwrap();
    let expected =
        format!("failed to read file {path}.idx due to error: No such file or directory");
    assert_eq!(failure(IndexedRecords::open(&path)), expected);
}

#[test]
fn a_text_that_is_no_index_is_refused_with_its_line() {
    for (text, expected) in [
        (
            "0\n",
            "line 1 of an index: expected the position and the size of a record, found `0`",
        ),
        (
            "0 x\n",
            "line 1 of an index: expected the position and the size of a record, found `0 x`",
        ),
        (
            "0 16\n17 16\n",
            "line 2 of an index: expected position 16, found 17",
        ),
        (
            "0 15\n",
            "line 1 of an index: expected a size from 16 to 18446744073709551615 bytes, found 15",
        ),
        (
            "0 18446744073709551615\n18446744073709551615 16\n",
            "line 2 of an index: expected a size from 16 to 0 bytes, found 16",
        ),
    ] {
        assert_eq!(failure(text.parse::<RecordIndex>()), expected, "{text:?}");
    }
    let empty: RecordIndex = "".parse().unwrap();
    assert!(empty.is_empty() && empty.num_file_bytes() == 0 && empty.span(0).is_none());
    // Some tools end lines in another way.
    let found: RecordIndex = "0 16\r\n16 20\r\n".parse().unwrap();
    assert_eq!(found.to_string(), "0 16\n16 20\n");
}
