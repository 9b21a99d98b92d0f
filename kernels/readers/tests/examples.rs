//! Examples in records: parsed by a schema as the messages say, whatever they are.

#![cfg(feature = "messages")]

mod common;

use std::sync::Arc;

use common::{Folder, all, good};
use proptest::prelude::*;
use prost::Message;
use tfrt_async::{AnyRef, ByteString};
use tfrt_data::{DataIterator, Dataset, Values};
use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_readers::example::{
    Example, ExampleWriter, Feature, FeatureList, FeatureLists, Features, Kind, SequenceExample,
    SequenceSchema, infer_example_schema, parse_example, parse_examples, parse_sequence_example,
};
use tfrt_readers::files::Files;
use tfrt_readers::policy::OnError;
use tfrt_readers::schema::{Column, Missing, Schema};
use tfrt_readers::table::{cells_of, next_row};
use tfrt_readers::tfrecord::{RecordWriter, TfRecordOptions, tf_record_dataset};
use tfrt_readers::write::WriteColumns;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

fn schema(text: &str) -> Schema {
    text.parse().unwrap()
}

fn parse(example: &Example, text: &str) -> Result<Values, String> {
    parse_bytes(&example.encode_to_vec(), text)
}

fn parse_bytes(bytes: &[u8], text: &str) -> Result<Values, String> {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let values = parse_example(bytes, &schema(text), &allocator);
    values.map_err(|error: Error| error.message().to_owned())
}

fn sample() -> Example {
    Example::of([
        ("label", Feature::int64([-7])),
        ("name", Feature::bytes(["seven"])),
        ("pixels", Feature::float([0.0, 0.5, 1.0, -1.0])),
        ("words", Feature::bytes(["a", "", "b"])),
        ("none", Feature::default()),
        ("empty", Feature::int64([])),
    ])
}

#[test]
fn features_become_components_of_their_columns() {
    let values = parse(
        &sample(),
        "pixels: f32 [2, 2], label: i64, name: str, words: str [3], absent: i64 = 9, none: f32?",
    )
    .unwrap();
    assert_eq!(values.len(), 7);
    let pixels = values[0].get::<DenseHostTensor>().unwrap();
    assert_eq!(pixels.shape(), &Shape::new(&[2, 2]).unwrap());
    assert_eq!(*pixels.elements::<f32>().unwrap(), [0.0, 0.5, 1.0, -1.0]);
    assert_eq!(values[1].get::<i64>(), Some(&-7));
    assert_eq!(values[2].get::<ByteString>().unwrap(), "seven");
    let words = values[3].try_read::<StringHostTensor>().unwrap();
    assert_eq!(words.strings(), [&b"a"[..], b"", b"b"]);
    assert_eq!(values[4].get::<i64>(), Some(&9));
    assert_eq!(values[5].get::<f32>(), Some(&0.0));
    assert_eq!(values[6].get::<bool>(), Some(&false));
    let values = parse(&sample(), "pixels: f32 [?], empty: i64 [?]").unwrap();
    assert_eq!(
        values[0].get::<DenseHostTensor>().unwrap().num_elements(),
        4
    );
    assert_eq!(
        values[1].get::<DenseHostTensor>().unwrap().num_elements(),
        0
    );
}

#[test]
fn features_that_are_not_what_the_schema_says_are_named() {
    for (text, message) in [
        (
            "absent: i64",
            "feature `absent`: expected a feature in the record, found none",
        ),
        (
            "none: i64",
            "feature `none`: expected a feature in the record, found one without values",
        ),
        (
            "label: f32",
            "feature `label`: expected values of type f32, found int64",
        ),
        (
            "pixels: f32",
            "feature `pixels`: expected 1 values, found 4",
        ),
        (
            "pixels: f32 [3]",
            "feature `pixels`: expected 3 values, found 4",
        ),
        (
            "empty: i64 = 3",
            "feature `empty`: expected 1 values, found 0",
        ),
    ] {
        assert_eq!(parse(&sample(), text).unwrap_err(), message);
    }
    assert_eq!(
        parse_bytes(b"\x0a\x05abc", "label: i64").unwrap_err(),
        "failed to parse example.proto from string"
    );
    let error = parse_examples(&tf_record_dataset("x").unwrap(), schema("a: f64")).unwrap_err();
    assert_eq!(
        error.message(),
        "feature `a`: expected a type `i64`, `f32` or `str`, found `f64`"
    );
}

#[test]
fn a_dataset_of_examples_reads_what_was_written() {
    let folder = Folder::new("examples");
    let mut file = Vec::new();
    let mut writer = ExampleWriter::new(&mut file, &["label", "image"]);
    let labels = DenseHostTensor::vector(&[3_i64, 4]).unwrap();
    let images = StringHostTensor::new(Shape::new(&[2]).unwrap(), vec![b"x".into(), b"yy".into()]);
    writer
        .write(&[
            AnyRef::available(labels),
            AnyRef::available(images.unwrap()),
        ])
        .unwrap();
    writer.finish().unwrap();
    drop(writer);
    let path = folder.write("a.tfrecord", &file);
    let records = tf_record_dataset(&*path).unwrap();
    let examples = parse_examples(&records, schema("image: str, label: i64")).unwrap();
    let found: Vec<(ByteString, i64)> = good(&examples);
    assert_eq!(found, [("x".into(), 3), ("yy".into(), 4)]);
    let bytes: Vec<ByteString> = good(&records);
    let inferred = infer_example_schema(&bytes).unwrap();
    assert_eq!(inferred.to_string(), "image: str, label: i64");
    // A feature that a record lacks may be missing.
    let mut some = bytes.clone();
    some.push(ByteString::from(&sample().encode_to_vec()[..0]));
    let inferred = infer_example_schema(&some).unwrap();
    assert_eq!(inferred.to_string(), "image: str?, label: i64?");
    // A record that is not an example is an element that is an error.
    let mut writer = RecordWriter::new(Vec::new());
    writer.write(b"\xff").unwrap();
    writer.write(&sample().encode_to_vec()).unwrap();
    let path = folder.write("b.tfrecord", writer.finish().unwrap());
    let examples = parse_examples(&tf_record_dataset(&*path).unwrap(), schema("label: i64"));
    let found: Vec<Result<i64, String>> = all(&examples.unwrap());
    assert!(found[0].is_err());
    assert_eq!(found[1], Ok(-7));
}

#[test]
fn sequences_become_tensors_with_a_row_for_each_step() {
    let steps = |features: Vec<Feature>| FeatureList { feature: features };
    let example = SequenceExample {
        context: sample().features,
        feature_lists: Some(FeatureLists {
            feature_list: [
                (
                    "ids".to_owned(),
                    steps(vec![Feature::int64([1]), Feature::int64([2])]),
                ),
                ("at".to_owned(), steps(vec![Feature::float([0.5, 1.5]); 3])),
            ]
            .into(),
        }),
    };
    let bytes = example.encode_to_vec();
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let parse = |context: &str, sequences: &str| {
        let sequences = Some(schema(sequences));
        let schema = SequenceSchema::new(Some(schema(context)), sequences).unwrap();
        parse_sequence_example(&bytes, &schema, &allocator)
            .map_err(|error| error.message().to_owned())
    };
    let values = parse("label: i64", "ids: i64, at: f32 [2], absent: i64?").unwrap();
    assert_eq!(values[0].get::<i64>(), Some(&-7));
    let ids = values[1].get::<DenseHostTensor>().unwrap();
    assert_eq!(*ids.elements::<i64>().unwrap(), [1, 2]);
    assert_eq!(
        values[2].get::<DenseHostTensor>().unwrap().shape().dims(),
        [3, 2]
    );
    assert_eq!(
        values[3].get::<DenseHostTensor>().unwrap().shape().dims(),
        [0]
    );
    assert_eq!(values[4].get::<bool>(), Some(&false));
    assert_eq!(
        parse("label: i64", "at: f32").unwrap_err(),
        "feature `at`: expected 1 values in step 0, found 2"
    );
    assert_eq!(
        parse("label: i64", "absent: f32").unwrap_err(),
        "feature `absent`: expected a list in the record, found none"
    );
    let error = SequenceSchema::new(None, Some(schema("x: i64 [?]"))).unwrap_err();
    assert_eq!(
        error.message(),
        "feature `x`: expected as many values in each step, found the shape `[?]`"
    );
}

#[test]
fn bytes_that_are_not_a_sequence_example_are_refused_with_the_reason() {
    let columns = || Some(schema("a: i64"));
    let schema = SequenceSchema::new(columns(), columns()).unwrap();
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    for (bytes, found) in [
        (&b"\x0a\x05abc"[..], "bytes that end within a field"),
        (
            b"\x0b",
            "a field with an unknown wire type, or with the number 0",
        ),
        (
            b"\x02\x00",
            "a field with an unknown wire type, or with the number 0",
        ),
        (b"\x08\x01", "a field of another type"),
        (&[0xff; 11], "a number with too many bits"),
        // A name of one byte, which is not UTF-8.
        (b"\x0a\x05\x0a\x03\x0a\x01\xff", "a name that is not UTF-8"),
    ] {
        let error = parse_sequence_example(bytes, &schema, &allocator).unwrap_err();
        assert_eq!(
            error.message(),
            format!("expected a sequence example, found {found}")
        );
    }
}

fn feature() -> impl Strategy<Value = Feature> {
    prop_oneof![
        Just(Feature::default()),
        proptest::collection::vec(any::<i64>(), 0..4).prop_map(Feature::int64),
        proptest::collection::vec(
            any::<f32>().prop_filter("comparable", |x| !x.is_nan()),
            0..4
        )
        .prop_map(Feature::float),
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..4), 0..4)
            .prop_map(Feature::bytes),
    ]
}

/// What the schema `a: DTYPE [?]` finds, by way of the message.
fn by_message(example: &Example, dtype: &str) -> Result<String, ()> {
    let Some(feature) = example.feature("a") else {
        return Err(());
    };
    match (&feature.kind, dtype) {
        (None, _) => Ok("[]".to_owned()),
        (Some(Kind::Int64(list)), "i64") => Ok(format!("{:?}", list.value)),
        (Some(Kind::Float(list)), "f32") => Ok(format!("{:?}", list.value)),
        (Some(Kind::Bytes(list)), "str") => Ok(format!("{:?}", list.value)),
        _ => Err(()),
    }
}

fn by_schema(bytes: &[u8], dtype: &str) -> Result<String, ()> {
    let values = parse_bytes(bytes, &format!("a: {dtype} [?]")).map_err(|_| ())?;
    if let Ok(strings) = values[0].try_read::<StringHostTensor>() {
        return Ok(format!("{:?}", strings.strings()));
    }
    let tensor = values[0].get::<DenseHostTensor>().unwrap();
    Ok(match dtype {
        "i64" => format!("{:?}", &*tensor.elements::<i64>().unwrap()),
        _ => format!("{:?}", &*tensor.elements::<f32>().unwrap()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_260_131), ..ProptestConfig::default() })]

    #[test]
    fn the_schema_finds_what_the_message_has(
        features in proptest::collection::btree_map("[abc]?", feature(), 0..4),
        flip in any::<proptest::sample::Index>(),
        is_flipped in any::<bool>(),
    ) {
        let example = Example { features: Some(Features { feature: features }) };
        let mut bytes = example.encode_to_vec();
        if is_flipped && !bytes.is_empty() {
            let bit = flip.index(bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        for dtype in ["i64", "f32", "str"] {
            let found = by_schema(&bytes, dtype);
            // What both understand, they understand alike. The schema does not look into features
            // that nobody asks for.
            if let Ok(example) = Example::decode(&bytes[..]) {
                let expected = by_message(&example, dtype);
                if !is_flipped || (expected.is_ok() && found.is_ok()) {
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}

#[test]
fn types_that_features_do_not_have_are_refused() {
    assert!(
        parse_bytes(b"", "a: f64 = 1")
            .unwrap_err()
            .contains("expected a type")
    );
}

#[test]
fn a_shape_that_no_tensor_can_have_is_refused() {
    let error = "x: f32 [4294967296, 4294967296]"
        .parse::<Schema>()
        .unwrap_err();
    let text = error.message();
    assert!(text.contains("has too many elements"), "{text}");
}

#[test]
fn errors_of_examples_name_the_record_and_its_file() {
    let folder = Folder::new("examples-places");
    let path = folder.path("a.tfrecord");
    let mut writer = RecordWriter::new(Vec::new());
    for example in [
        Example::of([("x", Feature::int64([1]))]).to_bytes(),
        b"not a message".to_vec(),
        Example::of([("y", Feature::int64([2]))]).to_bytes(),
        Example::of([("x", Feature::int64([3]))]).to_bytes(),
    ] {
        writer.write(&example).unwrap();
    }
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    let options = TfRecordOptions::default();
    let found: Vec<Result<i64, String>> = all(&options.examples(&*path, schema("x: i64")).unwrap());
    let expected = [
        Ok(1),
        Err(format!(
            "failed to parse example.proto from string (record 1 of {path}, at byte 30)"
        )),
        Err(format!(
            "feature `x`: expected a feature in the record, found none (record 2 of {path}, at byte 59)"
        )),
        Ok(3),
    ];
    assert_eq!(found, expected);
    // The policy holds for them, too.
    let options = TfRecordOptions {
        on_error: OnError::Skip { max: 2 },
        ..options
    };
    let found: Vec<i64> = good(&options.examples(&*path, schema("x: i64")).unwrap());
    assert_eq!(found, [1, 3]);
    let refused = options.examples(&*path, schema("x: f64")).unwrap_err();
    let expected = "feature `x`: expected a type `i64`, `f32` or `str`, found `f64`";
    assert_eq!(refused.message(), expected);
}

#[test]
fn checkpoints_of_examples_go_on_where_they_were() {
    let folder = Folder::new("examples-saved");
    let path = folder.path("a.tfrecord");
    let mut writer = RecordWriter::new(Vec::new());
    for number in 0..5 {
        let example = Example::of([("x", Feature::int64([number]))]);
        writer.write(&example.to_bytes()).unwrap();
    }
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    let samples = |text| {
        TfRecordOptions::default()
            .examples(&*path, schema(text))
            .unwrap()
    };
    let dataset = samples("x: i64");
    let ctx = common::context("s");
    let mut elements = dataset.elements::<i64, _>(&ctx);
    assert_eq!(elements.next().unwrap().unwrap(), 0);
    assert_eq!(elements.next().unwrap().unwrap(), 1);
    let checkpoint = elements.save().unwrap();
    let rest = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    let rest: Result<Vec<i64>, Error> = rest.collect();
    assert_eq!(rest.unwrap(), [2, 3, 4]);
    // Another schema is another pipeline.
    let other = samples("x: i64 = 0");
    assert!(other.elements_from::<i64, _>(&checkpoint, &ctx).is_err());
}

/// The cells of a row, by component.
fn cells(row: &Values, schema: &Schema) -> Vec<String> {
    let mut row = row.iter();
    let mut cells = Vec::new();
    for column in schema.columns() {
        cells.push(format!("{:?}", cells_of(row.next().unwrap(), column)));
        if column.missing == Missing::Mask {
            let mask = Column::new("mask", DType::I1);
            cells.push(format!("{:?}", cells_of(row.next().unwrap(), &mask)));
        }
    }
    assert!(row.next().is_none());
    cells
}

fn rows(dataset: &Dataset, schema: &Schema) -> Vec<Result<Vec<String>, String>> {
    rest_of_rows(&mut dataset.iterator(), schema)
}

fn rest_of_rows(iterator: &mut DataIterator, schema: &Schema) -> Vec<Result<Vec<String>, String>> {
    let ctx = common::context("s");
    let mut rows = Vec::new();
    loop {
        match next_row(iterator, &ctx) {
            Ok(Some(row)) => rows.push(Ok(cells(&row, schema))),
            Ok(None) => return rows,
            Err(error) => rows.push(Err(error.message().to_owned())),
        }
    }
}

/// Columns of every kind, and the feature that a record has for each of them, if any.
fn columns_and_features() -> impl Strategy<Value = (Vec<String>, Vec<Vec<Option<Feature>>>)> {
    let column = (0..3_usize, 0..3_usize, 0..3_usize);
    let columns = proptest::collection::vec(column, 1..5);
    (columns, 0..12_usize).prop_flat_map(|(columns, num_records)| {
        let texts = columns.iter().enumerate().map(|(index, &(kind, shape, missing))| {
            let ty = ["i64", "f32", "str"][kind];
            let shape = ["", " [2]", " [0, 3]"][shape];
            let default = [["= 7", "= 0.5", "= \"x\""][kind], "?", ""][missing];
            let separator = if missing == 0 { " " } else { "" };
            format!("c{index}: {ty}{shape}{separator}{default}")
        });
        let texts: Vec<String> = texts.collect();
        let feature = move |&(kind, shape, missing): &(usize, usize, usize)| {
            let num_values = [1, 2, 0][shape];
            let right = any::<[i64; 2]>().prop_map(move |numbers| {
                let numbers = &numbers[..num_values];
                Some(match kind {
                    0 => Feature::int64(numbers.iter().copied()),
                    1 => Feature::float(numbers.iter().map(|&x| x as f32)),
                    _ => Feature::bytes(numbers.iter().map(i64::to_string)),
                })
            });
            // Every now and then, a record is wrong.
            let wrong = prop_oneof![
                Just(Some(Feature::float([1.5; 3]))),
                Just(Some(Feature::int64([]))),
                Just(None)
            ];
            let num_missing = [6, 6, 0][missing];
            prop_oneof![
                20 => right,
                num_missing.max(1) => Just(if num_missing > 0 { None } else { Some(Feature::default()) }),
                1 => wrong
            ]
        };
        let record: Vec<_> = columns.iter().map(feature).collect();
        (Just(texts), proptest::collection::vec(record, num_records))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The rows of batches are those of the examples, with the same errors, whatever the size and
    /// the policy, and so is what a checkpoint leaves.
    #[test]
    fn batches_of_examples_have_the_rows_of_the_examples(
        (columns, records) in columns_and_features(),
        batch_size in 1..6_u64,
        on_error in policies(),
        place in any::<proptest::sample::Index>(),
    ) {
        let folder = Folder::new("examples-batches");
        let mut writer = RecordWriter::new(Vec::new());
        for record in &records {
            let named = record.iter().enumerate();
            let named = named.filter_map(|(index, feature)| {
                Some((format!("c{index}"), feature.clone()?))
            });
            writer.write(&Example::of(named).to_bytes()).unwrap();
        }
        let path = folder.write("a.tfrecord", writer.finish().unwrap());
        let schema = schema(&columns.join(", "));
        let options = TfRecordOptions { on_error, ..TfRecordOptions::default() };
        let twice = || [&path, &path].into_iter().collect::<Files>();
        let one_by_one = options.examples(twice(), schema.clone()).unwrap();
        let batches = options.example_batches(twice(), schema.clone(), batch_size).unwrap();
        let expected = rows(&one_by_one, &schema);
        let found = rows(&batches.unbatch().unwrap(), &schema);
        let (good, failed): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
        let (expected_good, expected_failed): (Vec<_>, Vec<_>) =
            expected.into_iter().partition(Result::is_ok);
        prop_assert_eq!(good, expected_good);
        prop_assert_eq!(&failed, &expected_failed);

        let batch = |batch: Result<Vec<String>, String>| batch.map_err(without_number);
        let all_batches: Vec<_> = rows(&batches, &schema).into_iter().map(batch).collect();
        if on_error != OnError::Fail && !failed.is_empty() {
            prop_assert!(all_batches.last().is_some_and(Result::is_err));
        }
        let num_drawn = place.index(all_batches.len() + 1);
        let ctx = common::context("s");
        let mut saved = batches.iterator();
        for _ in 0..num_drawn {
            let _ = next_row(&mut saved, &ctx);
        }
        let checkpoint = saved.save(&ctx).unwrap();
        let mut restored = batches.restore(&checkpoint, &ctx).unwrap();
        let rest: Vec<_> = rest_of_rows(&mut restored, &schema).into_iter().map(batch).collect();
        prop_assert_eq!(&rest[..], &all_batches[num_drawn..], "behind {}", num_drawn);
    }
}

fn policies() -> impl Strategy<Value = OnError> {
    let skip = |max| Just(OnError::Skip { max });
    prop_oneof![
        Just(OnError::Fail),
        Just(OnError::Stop),
        skip(0),
        skip(1),
        skip(100)
    ]
}

/// The number of a record is not known if its file was opened in the middle.
fn without_number(message: String) -> String {
    let (what, place) = message.rsplit_once(" of ").unwrap();
    let (what, _number) = what.rsplit_once(" (").unwrap();
    format!("{what} of {place}")
}

/// A file whose fourth record is not an example, and the batches of two of it.
fn batches_with_an_error(folder: &Folder, on_error: OnError) -> (String, Dataset) {
    batches_with_errors(folder, &[4], on_error)
}

/// A file of six records, of which these, counted from 1, are not examples, and the batches of two
/// of it.
fn batches_with_errors(folder: &Folder, wrong: &[i64], on_error: OnError) -> (String, Dataset) {
    let mut writer = RecordWriter::new(Vec::new());
    for number in [1, 2, 3, 4, 5, 6] {
        match wrong.contains(&number) {
            true => writer.write(b"not a message").unwrap(),
            false => {
                let example = Example::of([("x", Feature::int64([number]))]);
                writer.write(&example.to_bytes()).unwrap();
            }
        }
    }
    let path = folder.write("a.tfrecord", writer.finish().unwrap());
    let options = TfRecordOptions {
        on_error,
        ..TfRecordOptions::default()
    };
    let batches = options.example_batches(&*path, schema("x: i64"), 2);
    (path, batches.unwrap())
}

fn numbers(batches: Vec<Result<DenseHostTensor, String>>) -> Vec<Result<Vec<i64>, String>> {
    let numbers = |tensor: DenseHostTensor| tensor.elements::<i64>().unwrap().to_vec();
    batches
        .into_iter()
        .map(|batch| batch.map(numbers))
        .collect()
}

#[test]
fn an_error_stands_in_front_of_the_batch_that_lacks_its_record() {
    let folder = Folder::new("examples-batch-errors");
    let (path, batches) = batches_with_an_error(&folder, OnError::Fail);
    let error =
        format!("failed to parse example.proto from string (record 3 of {path}, at byte 90)");
    let expected = [
        Ok(vec![1, 2]),
        Err(error.clone()),
        Ok(vec![3, 5]),
        Ok(vec![6]),
    ];
    assert_eq!(numbers(all(&batches)), expected);

    // Unless it ends the pass.
    for (on_error, note) in [
        (OnError::Stop, ""),
        (OnError::Skip { max: 0 }, " (errors skipped before: 0)"),
    ] {
        let (_, batches) = batches_with_an_error(&folder, on_error);
        let last = Err(format!("{error}{note}"));
        let expected = [Ok(vec![1, 2]), Ok(vec![3]), last];
        assert_eq!(numbers(all(&batches)), expected);
    }

    let options = TfRecordOptions::default();
    let refused = |text, batch_size| {
        let refused = options.example_batches(&*path, schema(text), batch_size);
        refused.unwrap_err().message().to_owned()
    };
    assert_eq!(refused("x: i64", 0), "batch_size must be positive, not 0");
    assert_eq!(
        refused("x: i64 [?]", 2),
        "feature `x`: expected a known number of values for batches of examples, found `[?]`"
    );
    assert!(refused("x: i8", 2).contains("expected a type `i64`"));
}

/// The examples in front of an error that ends the pass of a worker are a part of the next batch.
#[test]
fn workers_that_share_records_deliver_each_example_once() {
    let folder = Folder::new("examples-batches-shared");
    let shares = |wrong: &[i64]| {
        let (_path, batches) = batches_with_errors(&folder, wrong, OnError::Stop);
        let share = |index| numbers(all(&batches.auto_shard(2, index).unwrap()));
        [share(0), share(1)]
    };
    let [first, second] = shares(&[4]);
    assert_eq!(first, [Ok(vec![1, 2]), Ok(vec![3, 5])]);
    assert!(matches!(second[..], [Err(_)]), "{second:?}");

    // The next batch is the second worker's, whose pass the first error has ended: it is lost.
    let [first, second] = shares(&[4, 5]);
    assert_eq!(first[0], Ok(vec![1, 2]));
    assert!(matches!(first[1..], [Err(_)]), "{first:?}");
    assert!(matches!(second[..], [Err(_)]), "{second:?}");

    // A worker that goes on delivers them, also at the end of the file.
    let [first, second] = shares(&[6]);
    assert_eq!(first[0], Ok(vec![1, 2]));
    assert!(matches!(first[1..], [Err(_)]), "{first:?}");
    assert_eq!(second, [Ok(vec![3, 4]), Ok(vec![5])]);
}

#[test]
fn checkpoints_of_batches_go_on_where_they_were() {
    for on_error in [OnError::Fail, OnError::Skip { max: 0 }, OnError::Stop] {
        check_checkpoints(on_error);
    }
}

fn check_checkpoints(on_error: OnError) {
    let folder = Folder::new("examples-batches-saved");
    let (_path, batches) = batches_with_an_error(&folder, on_error);
    let ctx = common::context("s");
    let all_batches = numbers(all(&batches));
    for position in 0..=all_batches.len() {
        let mut elements = batches.elements::<DenseHostTensor, _>(&ctx);
        assert_eq!(elements.by_ref().take(position).count(), position);
        let checkpoint = elements.save().unwrap();
        let rest = batches.elements_from::<DenseHostTensor, _>(&checkpoint, &ctx);
        let rest = rest
            .unwrap()
            .map(|batch| batch.map_err(|error| error.message().to_owned()));
        let rest = numbers(rest.collect());
        let expected = &all_batches[position..];
        assert_eq!(rest.len(), expected.len(), "at {position}");
        for pair in rest.iter().zip(expected) {
            match pair {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "at {position}"),
                // The number of a record is not known if its file was opened in the middle.
                (Err(found), Err(_)) => assert!(found.contains(", at byte 90)"), "{found}"),
                (found, expected) => panic!("expected {expected:?}, found {found:?}"),
            }
        }
    }
}
