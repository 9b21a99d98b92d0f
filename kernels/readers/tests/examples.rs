//! Examples in records: parsed by a schema as the messages say, whatever they are.

#![cfg(feature = "messages")]

mod common;

use std::sync::Arc;

use common::{Folder, all, good};
use proptest::prelude::*;
use prost::Message;
use tfrt_async::{AnyRef, ByteString};
use tfrt_data::Values;
use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_readers::example::{
    Example, ExampleWriter, Feature, FeatureList, FeatureLists, Features, Kind, SequenceExample,
    SequenceSchema, infer_example_schema, parse_example, parse_examples, parse_sequence_example,
};
use tfrt_readers::policy::OnError;
use tfrt_readers::schema::Schema;
use tfrt_readers::tfrecord::{RecordWriter, TfRecordOptions, tf_record_dataset};
use tfrt_readers::write::WriteColumns;
use tfrt_support::Error;
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
