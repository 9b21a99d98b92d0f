//! Comma-separated values.
#![cfg(feature = "csv")]

mod common;

use common::{Folder, all, all_in, context, good};
use tfrt_async::{AnyRef, ByteString};
use tfrt_readers::csv::{CsvOptions, CsvWriter, csv_dataset, infer_schema};
use tfrt_readers::files::{Files, OpenFile};
use tfrt_readers::policy::OnError;
use tfrt_readers::write::WriteColumns;
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

fn options(schema: &str) -> CsvOptions {
    CsvOptions {
        schema: Some(schema.parse().unwrap()),
        ..CsvOptions::default()
    }
}

#[test]
fn columns_are_found_by_name_or_by_place() {
    let folder = Folder::new("csv-columns");
    let path = folder.write(
        "a.csv",
        "id,price,name\n1,0.5,\"a, \"\"b\"\"\"\n2, -1e3 ,c\n",
    );
    let rows: Vec<(ByteString, f32)> =
        good(&options("name: str, price: f32").dataset(&*path).unwrap());
    assert_eq!(rows, [("a, \"b\"".into(), 0.5), ("c".into(), -1000.0)]);
    let without_header = CsvOptions {
        has_header: false,
        delimiter: b';',
        quote: None,
        comment: Some(b'#'),
        ..options("a: i64, b: str")
    };
    let path = folder.write("b.csv", "# nothing\n1;\"x\n2;y\"\n");
    let rows: Vec<(i64, ByteString)> = good(&without_header.dataset(&*path).unwrap());
    assert_eq!(rows, [(1, "\"x".into()), (2, "y\"".into())]);
    let other_quote = CsvOptions {
        quote: Some(b'\''),
        ..options("a: i64, b: str")
    };
    let path = folder.write("c.csv", "a,b\n1,'x, ''y'''\n2,\"z\"\n");
    let rows: Vec<(i64, ByteString)> = good(&other_quote.dataset(&*path).unwrap());
    assert_eq!(rows, [(1, "x, 'y'".into()), (2, "\"z\"".into())]);
}

#[test]
fn without_a_schema_the_rows_say_what_they_are() {
    let folder = Folder::new("csv-inferred");
    let text = "count,share,name,gaps,none\n1,0.5,x,3,\n-2,1,7,,\n";
    let path = folder.write("a.csv", text);
    let file = OpenFile::of(&path, &context("s"));
    let schema = infer_schema(&file, &CsvOptions::default()).unwrap();
    assert_eq!(
        schema.to_string(),
        "count: i64, share: f64 = NaN, name: str = \"\", gaps: f64 = NaN, none: str = \"\""
    );
    let rows: Vec<(i64, f64, ByteString, f64)> = {
        let wanted = CsvOptions {
            schema: Some(
                "count: i64, share: f64, name: str, gaps: f64 = nan"
                    .parse()
                    .unwrap(),
            ),
            ..CsvOptions::default()
        };
        good(&wanted.dataset(&*path).unwrap())
    };
    assert_eq!(rows[0], (1, 0.5, "x".into(), 3.0));
    assert!(rows[1].3.is_nan());
    let path = folder.write("b.csv", "x\n1\n2\n3\n");
    assert_eq!(good::<i64, _>(&csv_dataset(&*path).unwrap()), [1, 2, 3]);
}

#[test]
fn missing_values_are_an_error_a_default_or_masked() {
    let folder = Folder::new("csv-missing");
    let path = folder.write("a.csv", "x,y\n1,2\n,4\n");
    let masked: Vec<(i32, bool)> = good(&options("x: i32?").dataset(&*path).unwrap());
    assert_eq!(masked, [(1, true), (0, false)]);
    let found: Vec<i64> = good(&options("x: i64 = -1").dataset(&*path).unwrap());
    assert_eq!(found, [1, -1]);
    let found: Vec<Result<i64, String>> = all(&options("x: i64").dataset(&*path).unwrap());
    let message =
        format!("{path}: record 1 at byte 8: line 3, column 1 (`x`): expected i64, found nothing");
    assert_eq!(found, [Ok(1), Err(message)]);
}

#[test]
fn errors_take_the_place_of_their_rows() {
    let folder = Folder::new("csv-errors");
    let path = folder.write("a.csv", b"x,s\n1,a\nten,b\n3\n4,\xff\n300,e\n6,f\n");
    let found: Vec<Result<(u8, ByteString), String>> =
        all(&options("x: u8, s: str").dataset(&*path).unwrap());
    let at = |record, byte, line, what: &str| {
        Err(format!(
            "{path}: record {record} at byte {byte}: line {line}{what}"
        ))
    };
    assert_eq!(
        found,
        [
            Ok((1, "a".into())),
            at(1, 8, 3, ", column 1 (`x`): expected u8, found `ten`"),
            at(2, 14, 4, ": expected 2 fields, found 1"),
            at(
                3,
                16,
                5,
                ", column 2 (`s`): expected str, found bytes that are not UTF-8"
            ),
            at(4, 20, 6, ", column 1 (`x`): expected u8, found `300`"),
            Ok((6, "f".into())),
        ]
    );
    let lossy = CsvOptions {
        is_lossy: true,
        on_error: OnError::Skip { max: 3 },
        ..options("x: u8, s: str")
    };
    let found: Vec<(u8, ByteString)> = good(&lossy.dataset(&*path).unwrap());
    assert_eq!(
        found,
        [(1, "a".into()), (4, "\u{fffd}".into()), (6, "f".into())]
    );
    let wrong = options("z: i64").dataset(&*path).unwrap();
    assert_eq!(
        all::<i64, _>(&wrong),
        [Err(format!(
            "{path}: expected a column `z`, found `x`, `s`"
        ))]
    );
}

#[test]
fn a_quote_that_is_never_closed_is_an_error() {
    let folder = Folder::new("csv-open");
    let read = |text: &str| {
        let path = folder.write("a.csv", text);
        let dataset = options("a: str, b: str").dataset(&*path).unwrap();
        all::<(ByteString, ByteString), _>(&dataset)
            .into_iter()
            .map(|row| row.map_err(|error| error.replace(&*path, "a.csv")))
            .collect::<Vec<_>>()
    };
    let row = |a: &str, b: &str| Ok((a.into(), b.into()));
    let open = |at: &str| {
        Err(format!(
            "a.csv: {at}: expected a closing quote, found the end of the file"
        ))
    };
    let first = row("1", "x");
    assert_eq!(
        read("a,b\n1,x\n2,\"y\n"),
        [first.clone(), open("record 1 at byte 8: line 3")]
    );
    assert_eq!(
        read("a,b\n1,x\n\"2\n"),
        [first.clone(), open("record 1 at byte 8: line 3")]
    );
    // Whole files, whatever they end with.
    for end in ["", "\n", "\r\n", "\n\n\n", "\r"] {
        let whole = read(&format!("a,b\n1,x{end}"));
        assert_eq!(whole, std::slice::from_ref(&first), "{end:?}");
        let quoted = format!("\u{feff}a,b\n1,x\na,\"a\n\"{end}");
        assert_eq!(read(&quoted), [first.clone(), row("a", "a\n")], "{end:?}");
    }
    assert_eq!(read("a,b"), []);
    assert_eq!(read("a,b\n"), []);
    let header = read("a,\"b\n1,x\n");
    let expected = "a.csv: the header: expected a closing quote, found the end of the file";
    assert_eq!(header, [Err(expected.to_owned())]);

    // One column, whose last value looks like the mark.
    let path = folder.write("b.csv", "a\na\nb\na");
    let rows: Vec<ByteString> = good(&options("a: str").dataset(&*path).unwrap());
    assert_eq!(rows, ["a", "b", "a"].map(ByteString::from));
    let path = folder.write("b.csv", "a\na\n\"a");
    let rows = all::<ByteString, _>(&options("a: str").dataset(&*path).unwrap());
    assert!(rows[0].is_ok() && rows[1].is_err() && rows.len() == 2);
}

#[test]
fn batches_are_tensors_of_columns() {
    let folder = Folder::new("csv-batches");
    let rows: String = (0..10).map(|x| format!("{x},{}\n", x * x)).collect();
    let path = folder.write("a.csv", format!("x,y\n{rows}"));
    let batched = CsvOptions {
        batch_size: Some(4),
        ..options("y: f32, x: i64")
    };
    let batches: Vec<(DenseHostTensor, DenseHostTensor)> = good(&batched.dataset(&*path).unwrap());
    let lens: Vec<usize> = batches.iter().map(|(y, _)| y.num_elements()).collect();
    assert_eq!(lens, [4, 4, 2]);
    assert_eq!(
        *batches[1].0.elements::<f32>().unwrap(),
        [16.0, 25.0, 36.0, 49.0]
    );
    assert_eq!(*batches[2].1.elements::<i64>().unwrap(), [8, 9]);
    let error = CsvOptions {
        batch_size: Some(0),
        ..CsvOptions::default()
    };
    let error = error.dataset(&*path).unwrap_err();
    assert_eq!(error.message(), "batch_size must be positive, not 0");
}

#[test]
fn what_is_written_is_read_again() {
    let folder = Folder::new("csv-written");
    let texts = ["plain", "with, comma", "with \"quotes\"", "two\nlines", ""];
    let strings = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    let strings = StringHostTensor::new(Shape::new(&[5]).unwrap(), strings).unwrap();
    let numbers = DenseHostTensor::vector(&[0.1_f32, -0.0, 1e30, f32::INFINITY, 3.0]).unwrap();
    let mut file = Vec::new();
    let mut writer = CsvWriter::new(&mut file, &["s", "x y"]).unwrap();
    let columns = [AnyRef::available(strings), AnyRef::available(numbers)];
    writer.write(&columns).unwrap();
    let error = writer.write(&columns[..1]).unwrap_err();
    assert_eq!(error.message(), "expected 2 columns, found 1");
    writer.finish().unwrap();
    drop(writer);
    let path = folder.write("a.csv", &file);
    let schema = "s: str = \"\", \"x y\": f32";
    let rows: Vec<(ByteString, f32)> = good(&options(schema).dataset(&*path).unwrap());
    assert_eq!(
        rows.iter()
            .map(|row| row.0.to_text().unwrap())
            .collect::<Vec<_>>(),
        texts
    );
    assert_eq!(
        rows.iter().map(|row| row.1).collect::<Vec<_>>(),
        [0.1, -0.0, 1e30, f32::INFINITY, 3.0]
    );
}

/// The size of the parts in which several threads parse a file.
const CHUNK_BYTES: usize = 256 * 1024;

#[test]
fn a_first_row_may_be_longer_than_a_chunk() {
    let folder = Folder::new("csv-long");
    let rows: String = (0..2_000).map(|id| format!("{id},{id:0300}\n")).collect();
    let long = "x".repeat(CHUNK_BYTES);
    let comments = format!("# {}\n", "é".repeat(40)).repeat(CHUNK_BYTES / 80);
    let without_header = CsvOptions {
        has_header: false,
        ..options("id: i64, name: str")
    };
    let with_header = options("id: i64, name: str");
    let cases = [
        (format!("id,{long},name\n"), &with_header),
        // The chunk ends within a letter.
        (
            format!("id,name,.{}\n", "é".repeat(CHUNK_BYTES)),
            &with_header,
        ),
        (format!("{comments}id,name\n"), &with_header),
        (format!("{comments}#{long}\nid,name\n"), &with_header),
        (format!("1,{long},2\n"), &without_header),
        (format!("1,{long}\n"), &without_header),
        (comments.clone(), &without_header),
        // As long as a chunk, with and without the end of the row.
        (
            format!("id,name{}\n", " ".repeat(CHUNK_BYTES - 7)),
            &with_header,
        ),
        (format!("1,{}\n", &long[..CHUNK_BYTES - 3]), &without_header),
    ];
    for (number, (beginning, options)) in cases.into_iter().enumerate() {
        let num_fields = beginning
            .lines()
            .last()
            .map_or(0, |row| row.split(',').count());
        let rows = match num_fields {
            3 => rows.replace('\n', ",-\n"),
            _ => rows.clone(),
        };
        let path = folder.write("long.csv", beginning + &rows);
        let by_row = CsvOptions {
            comment: Some(b'#'),
            ..options.clone()
        };
        let dataset = by_row.dataset(&*path).unwrap();
        let expected = all_in::<(i64, ByteString), _>(&dataset, &context("s"));
        let found = all_in::<(i64, ByteString), _>(&dataset, &context("mstd:4"));
        assert!(found == expected, "{number}");
        let is_found = expected.len() >= 2_000 && expected.iter().all(Result::is_ok);
        assert_eq!(is_found, number != 7, "{number}: {:?}", expected.first());
    }
}

#[test]
fn a_mark_at_the_beginning_of_a_chunk_is_a_part_of_its_row() {
    let folder = Folder::new("csv-marks");
    let header = "name,id\n";
    for num_before in 0..4 {
        // The first chunk ends with so many bytes of a row, which begins with a mark.
        let mut text = header.to_owned();
        let row = format!("{},1\n", "x".repeat(1000));
        let missing = CHUNK_BYTES - num_before - text.len();
        text.push_str(&row.repeat(missing / row.len() - 1));
        let missing = CHUNK_BYTES - num_before - text.len();
        text.push_str(&format!("{},1\n", "x".repeat(missing - 3)));
        assert_eq!(text.len(), CHUNK_BYTES - num_before);
        for marked in ["\u{feff}a,2\n", "\u{feff}a,wrong\n"] {
            let text = format!("{text}{marked}{}", row.repeat(800));
            let path = folder.write("marks.csv", text);
            let dataset = options("id: i64, name: str").dataset(&*path).unwrap();
            let expected = all_in::<(i64, ByteString), _>(&dataset, &context("s"));
            let found = all_in::<(i64, ByteString), _>(&dataset, &context("mstd:4"));
            let differs = found.iter().zip(&expected).find(|(a, b)| a != b);
            assert_eq!(differs, None, "{num_before}");
            assert_eq!(found.len(), expected.len());
        }
    }
    // The first row of all.
    let rows = format!("\u{feff}{},2x\n", "a".repeat(1000)).repeat(800);
    for has_header in [true, false] {
        let header = if has_header { "name,id\n" } else { "" };
        let path = folder.write("marks.csv", format!("{header}{rows}"));
        let options = CsvOptions {
            has_header,
            ..options(if has_header {
                "id: i64"
            } else {
                "name: str, id: i64"
            })
        };
        let messages = |queue| {
            let rows: Vec<Result<Vec<AnyRef>, String>> =
                all_in(&options.dataset(&*path).unwrap(), &context(queue));
            let messages = rows.into_iter().map(|row| row.err().unwrap_or_default());
            messages.collect::<Vec<_>>()
        };
        let (expected, found) = (messages("s"), messages("mstd:4"));
        let differs = found.iter().zip(&expected).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{has_header}");
        assert_eq!(found.len(), expected.len());
    }
    // Only that in front of the first row is not a part of it.
    let row = "a".repeat(1000);
    let path = folder.write("marks.csv", format!("\u{feff}{row},2\n").repeat(800));
    let without_header = CsvOptions {
        has_header: false,
        ..options("name: str, id: i64")
    };
    let dataset = without_header.dataset(&*path).unwrap();
    let found = all_in::<(ByteString, i64), _>(&dataset, &context("mstd:4"));
    let marked = ByteString::from(&*format!("\u{feff}{row}"));
    assert!(found[0] == Ok((ByteString::from(&*row), 2)) && found[1] == Ok((marked, 2)));
}

#[test]
fn rows_may_lack_columns_of_the_schema() {
    let folder = Folder::new("csv-lacking");
    let path = folder.write("a.csv", "1,0.5\n".repeat(CHUNK_BYTES / 3));
    let without_header = CsvOptions {
        has_header: false,
        ..options("a: i64, b: f32, c: i64 = 7")
    };
    let dataset = without_header.dataset(&*path).unwrap();
    let expected = all_in::<(i64, f32, i64), _>(&dataset, &context("s"));
    let found = all_in::<(i64, f32, i64), _>(&dataset, &context("mstd:4"));
    assert!(expected[0].is_err() && expected.len() == CHUNK_BYTES / 3);
    assert!(found == expected);
}

/// A row of the large files below.
type Row = (i64, f32, ByteString, i32, bool);

fn rows_on(queue: &str, options: &CsvOptions, path: &str) -> Vec<Result<Row, String>> {
    all_in(&options.dataset(path).unwrap(), &context(queue))
}

/// The first column in batches.
fn batches_on(queue: &str, options: &CsvOptions, path: &str) -> Vec<Result<Vec<i64>, String>> {
    let batches: Vec<Result<Vec<AnyRef>, String>> =
        all_in(&options.dataset(path).unwrap(), &context(queue));
    let first = |batch: Vec<AnyRef>| {
        let tensor = batch[0].get::<DenseHostTensor>().unwrap();
        tensor.elements::<i64>().unwrap().to_vec()
    };
    batches.into_iter().map(|batch| batch.map(first)).collect()
}

const NUM_ROWS: usize = 12_000;

/// Rows of more than three chunks, with `end` behind each. `change` is asked for the text of a row.
fn large(end: &str, change: impl Fn(usize) -> Option<String>) -> String {
    let mut text = format!("name,id,share,mask{end}");
    for id in 0..NUM_ROWS {
        let row = change(id).unwrap_or_else(|| {
            let mask = if id % 7 == 0 {
                String::new()
            } else {
                (id % 5).to_string()
            };
            format!("{id:060},{id},{}.25,{mask}", id % 100)
        });
        text.push_str(&row);
        text.push_str(end);
    }
    assert!(text.len() > 850_000);
    text
}

#[test]
fn rows_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new("csv-threads");
    let schema = "id: i64, share: f32, name: str, mask: i32?";
    let at = |wanted: usize, text: &str| {
        let text = text.to_owned();
        move |id: usize| (id == wanted).then(|| text.clone())
    };
    let cases = [
        ("plain", large("\n", |_| None)),
        ("breaks of two", large("\r\n", |_| None)),
        ("returns", large("\r", |_| None)),
        ("empty lines", large("\n\n", |_| None)),
        ("a mark", format!("\u{feff}{}", large("\n", |_| None))),
        (
            "marks",
            large("\n", |id| Some(format!("\u{feff}{id:060},{id},0.5,1"))),
        ),
        (
            "marks in wrong rows",
            large("\n", |id| {
                let wrong = if id % 5 == 0 { "x" } else { "" };
                Some(format!("\u{feff}{id:060},{id}{wrong},0.5,1"))
            }),
        ),
        (
            "comments",
            large("\n", |id| {
                (id % 3 == 0).then(|| format!("#\"{id}\n{id:060},{id},1,"))
            }),
        ),
        ("a comment", large("\n", at(10_000, "# no row"))),
        ("a wrong value", large("\n", at(8_617, "x,1,2.5.5,"))),
        (
            "a wrong value at a break of two",
            large("\r\n", at(8_617, "x,1,2.5.5,")),
        ),
        ("fields that lack", large("\n", at(11_998, "x,1,2.5"))),
        (
            "no number",
            large("\n", |id| (id % 2_500 == 0).then(|| format!("x,{id}x,2,3"))),
        ),
        (
            "a quote",
            large("\n", at(6_000, "\"two\nlines\",6000,0.5,1")),
        ),
        (
            "quotes from the start",
            large("\n", |id| Some(format!("\"\n{id:060}\",{id},0.5,1"))),
        ),
        ("an open quote", large("\n", at(11_500, "\"open,1,2.5,1"))),
        (
            "the last row is cut off",
            large("\n", |_| None).trim_end().to_owned(),
        ),
        ("not UTF-8", large("\n", |_| None)),
    ];
    for (case, text) in cases {
        let mut bytes = text.into_bytes();
        if case == "not UTF-8" {
            let zeros = bytes.windows(40).rposition(|window| window == [b'0'; 40]);
            bytes[zeros.unwrap()] = 0xff;
        }
        let path = folder.write("large.csv", bytes);
        let by_row = CsvOptions {
            comment: Some(b'#'),
            ..options(schema)
        };
        let expected = rows_on("s", &by_row, &path);
        assert!(expected.len() > 7_500, "{case}: {}", expected.len());
        let found = rows_on("mstd:4", &by_row, &path);
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(
            differs.map(|at| (&found[at], &expected[at])),
            None,
            "{case}"
        );
        assert_eq!(found.len(), expected.len(), "{case}");
        if ["plain", "a wrong value", "a quote"].contains(&case) {
            for on_error in [OnError::Fail, OnError::Stop] {
                let by_batch = CsvOptions {
                    batch_size: Some(999),
                    on_error,
                    ..by_row.clone()
                };
                let expected = batches_on("s", &by_batch, &path);
                assert!(
                    batches_on("mstd:2,1", &by_batch, &path) == expected,
                    "{case}, {on_error}"
                );
            }
        }
    }
}

/// Whatever the policy, and wherever rows are wrong.
#[test]
fn batches_have_the_rows_that_are_read_one_by_one() {
    const NUM_ROWS: usize = 5;
    let folder = Folder::new("csv-policies");
    let policies = [
        OnError::Fail,
        OnError::Skip { max: 0 },
        OnError::Skip { max: 1 },
        OnError::Skip { max: 9 },
        OnError::Stop,
    ];
    for wrong in 0..1 << NUM_ROWS {
        let is_wrong = |row: &usize| wrong >> row & 1 == 1;
        let row = |row: usize| {
            if is_wrong(&row) {
                "x\n".to_owned()
            } else {
                format!("{row}\n")
            }
        };
        let rows: String = (0..NUM_ROWS).map(row).collect();
        let path = folder.write("a.csv", format!("x\n{rows}"));
        for on_error in policies {
            let files = || Files::from_iter([&path, &path]);
            let by_row = CsvOptions {
                on_error,
                ..options("x: i64")
            };
            let (expected, expected_errors): (Vec<_>, Vec<_>) =
                all::<i64, _>(&by_row.dataset(files()).unwrap())
                    .into_iter()
                    .partition(Result::is_ok);
            for batch_size in 1..4 {
                let at = format!("{rows:?} in batches of {batch_size}, {on_error}");
                let by_batch = CsvOptions {
                    batch_size: Some(batch_size),
                    ..by_row.clone()
                };
                let dataset = by_batch.dataset(files()).unwrap();
                let found = numbers(all(&dataset));
                let (batches, errors): (Vec<_>, Vec<_>) =
                    found.iter().cloned().partition(Result::is_ok);
                let rows = batches.into_iter().flat_map(Result::unwrap).map(Ok);
                assert_eq!(rows.collect::<Vec<_>>(), expected, "{at}");
                let errors: Vec<_> = errors.into_iter().map(Result::unwrap_err).collect();
                let expected_errors = expected_errors.iter().cloned().map(Result::unwrap_err);
                assert_eq!(errors, expected_errors.collect::<Vec<_>>(), "{at}");
                let ends_at_error = on_error != OnError::Fail && !errors.is_empty();
                assert!(
                    !ends_at_error || found.last().is_some_and(Result::is_err),
                    "{at}"
                );

                let ctx = context("s");
                let mut saved = dataset.elements::<DenseHostTensor, _>(&ctx);
                for num_drawn in 0..=found.len() {
                    let checkpoint = saved.save().unwrap();
                    let rest = dataset.elements_from::<DenseHostTensor, _>(&checkpoint, &ctx);
                    let rest = rest.unwrap().take(100);
                    let rest = rest.map(|batch| batch.map_err(|error| error.message().to_owned()));
                    let rest = numbers(rest.collect());
                    assert_eq!(rest, found[num_drawn..], "{at}, behind {num_drawn}");
                    let _ = saved.next();
                }
            }
        }
    }
}

/// The error that a checkpoint stands in front of is gone, and another one ends the pass. A row
/// that was delivered comes again, as a part of the element that is now there, but none is lost.
#[test]
fn rows_are_delivered_behind_a_checkpoint_of_a_file_that_was_mended() {
    let folder = Folder::new("csv-mended");
    let path = folder.write("a.csv", "x\n0\nx\n");
    let options = CsvOptions {
        batch_size: Some(2),
        on_error: OnError::Stop,
        ..options("x: i64")
    };
    let dataset = options.dataset(&*path).unwrap();
    let ctx = context("s");
    let mut elements = dataset.elements::<DenseHostTensor, _>(&ctx);
    let first = elements.next().unwrap().unwrap();
    assert_eq!(*first.elements::<i64>().unwrap(), [0]);
    let checkpoint = elements.save().unwrap();
    folder.write("a.csv", "x\n0\n1\n2\nx\n");
    let rest = dataset.elements_from::<DenseHostTensor, _>(&checkpoint, &ctx);
    let rest = rest.unwrap().take(100);
    let rest = rest.map(|batch| batch.map_err(|error| error.message().to_owned()));
    let rest = numbers(rest.collect());
    assert_eq!(rest[..2], [Ok(vec![0, 1]), Ok(vec![2])]);
    assert!(rest.len() == 3 && rest[2].is_err(), "{rest:?}");
}

fn numbers(batches: Vec<Result<DenseHostTensor, String>>) -> Vec<Result<Vec<i64>, String>> {
    let numbers = |tensor: DenseHostTensor| tensor.elements::<i64>().unwrap().to_vec();
    batches
        .into_iter()
        .map(|batch| batch.map(numbers))
        .collect()
}
