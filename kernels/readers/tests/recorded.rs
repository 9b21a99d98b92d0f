//! Files that other libraries wrote, read as these libraries read them: `recorded/make` records
//! both.

mod common;

use common::context;
use tfrt_async::{AnyRef, ByteString};
use tfrt_data::Dataset;
use tfrt_support::DType;
use tfrt_tensor::{DenseHostTensor, I1};

fn path(name: &str) -> String {
    format!("{}/tests/recorded/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The rows of a dataset, in the form of the recorded ones. If a component is missing, the one
/// behind it, which is a truth value, says so.
fn rows(dataset: &Dataset, masked: &[bool]) -> Vec<String> {
    let ctx = context("s");
    let mut iterator = dataset.iterator();
    let mut rows = Vec::new();
    while let Some(row) = tfrt_readers::table::next_row(&mut iterator, &ctx).unwrap() {
        let mut values = row.iter();
        let shown: Vec<String> = masked
            .iter()
            .map(|&is_masked| {
                let value = shown(values.next().unwrap());
                let is_there = !is_masked || shown_truth(values.next().unwrap());
                if is_there { value } else { "-".to_owned() }
            })
            .collect();
        assert!(values.next().is_none());
        rows.push(shown.join(" "));
    }
    rows
}

fn shown_truth(value: &AnyRef) -> bool {
    shown(value) == "1"
}

fn bits(number: f64) -> String {
    match number.is_nan() {
        true => "nan".to_owned(),
        false => format!("{:016x}", number.to_bits()),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x{digits}")
}

fn shown(value: &AnyRef) -> String {
    macro_rules! numbers {
        ($($ty:ty)*) => { $(if let Some(number) = value.get::<$ty>() { return number.to_string(); })* };
    }
    numbers!(i8 u8 i16 u16 i32 u32 i64 u64);
    if let Some(&truth) = value.get::<bool>() {
        return u8::from(truth).to_string();
    }
    if let Some(&number) = value.get::<f32>() {
        return bits(number.into());
    }
    if let Some(&number) = value.get::<f64>() {
        return bits(number);
    }
    if let Some(bytes) = value.get::<ByteString>() {
        return hexadecimal(bytes.as_bytes());
    }
    let tensor = value.get::<DenseHostTensor>().unwrap();
    let elements: Vec<String> = match tensor.dtype() {
        DType::I64 => tensor
            .elements::<i64>()
            .unwrap()
            .iter()
            .map(i64::to_string)
            .collect(),
        DType::F32 => tensor
            .elements::<f32>()
            .unwrap()
            .iter()
            .map(|&x| bits(x.into()))
            .collect(),
        DType::I1 => {
            let truths = tensor.elements::<I1>().unwrap();
            truths
                .iter()
                .map(|&x| u8::from(bool::from(x)).to_string())
                .collect()
        }
        other => panic!("elements of type {other}"),
    };
    // A tensor without elements stands for none.
    if elements.is_empty() {
        "-".to_owned()
    } else {
        elements.join(",")
    }
}

fn check(name: &str, recorded: &str, found: &[String]) {
    let recorded = std::fs::read_to_string(path(recorded)).unwrap();
    let recorded: Vec<&str> = recorded.lines().collect();
    assert_eq!(found.len(), recorded.len(), "{name}");
    for (row, (found, recorded)) in found.iter().zip(recorded).enumerate() {
        assert_eq!(found, recorded, "{name}, row {row}");
    }
}

#[cfg(all(feature = "parquet", feature = "arrow", feature = "zstd"))]
#[test]
fn columns_are_those_of_pyarrow() {
    use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions, Nulls};
    let options = ColumnarOptions {
        nulls: Nulls::Mask,
        ..ColumnarOptions::default()
    };
    for (format, name) in [
        (ColumnarFormat::Parquet, "plain.parquet"),
        (ColumnarFormat::Parquet, "snappy.parquet"),
        (ColumnarFormat::Parquet, "gzip.parquet"),
        (ColumnarFormat::Parquet, "zstd.parquet"),
        (ColumnarFormat::Parquet, "lz4.parquet"),
        (ColumnarFormat::Parquet, "encodings.parquet"),
        (ColumnarFormat::Arrow, "file.arrow"),
        (ColumnarFormat::Arrow, "stream.arrow"),
    ] {
        let dataset = options.dataset(format, &path(name)).unwrap();
        check(name, "columns.txt", &rows(&dataset, &[true; 13]));
    }
}

#[cfg(all(feature = "parquet", feature = "arrow"))]
#[test]
fn folders_are_those_of_datasets() {
    use tfrt_readers::dataset_folder::{DatasetFolderOptions, features};
    for split in ["train", "test"] {
        for layout in ["saved", "hub"] {
            let folder = path(&format!("folder/{layout}/{split}"));
            let dataset = DatasetFolderOptions::default().dataset(&folder).unwrap();
            let recorded = format!("folder/{split}.txt");
            check(&folder, &recorded, &rows(&dataset, &[false; 4]));
        }
    }
    let features = features(&path("folder/saved/train")).unwrap();
    let columns = features
        .iter()
        .map(|feature| (&*feature.name, &*feature.kind));
    assert_eq!(
        columns.collect::<Vec<_>>(),
        [
            ("id", "Value"),
            ("image", "Image"),
            ("label", "ClassLabel"),
            ("text", "Value"),
        ]
    );
    assert_eq!(features[2].classes, ["neg", "pos"]);
}

#[cfg(feature = "csv")]
#[test]
fn rows_are_those_of_the_csv_module() {
    use tfrt_readers::csv::CsvOptions;
    let schema = "number: i64, text: str = \"\", \"other, name\": f64";
    let options = CsvOptions {
        schema: Some(schema.parse().unwrap()),
        ..CsvOptions::default()
    };
    let dataset = options.dataset(&path("rows.csv")).unwrap();
    check("rows.csv", "rows.txt", &rows(&dataset, &[false; 3]));
}

#[cfg(feature = "gzip")]
#[test]
fn examples_are_those_of_tensorflow() {
    use tfrt_readers::tfrecord::TfRecordOptions;
    let schema = "label: i64 = -1, pixels: f32 [2, 2], name: str = \"none\", ids: i64 [?]";
    for name in [
        "examples.tfrecord",
        "examples.tfrecord.gz",
        "examples.tfrecord.zlib",
    ] {
        let options = TfRecordOptions::default();
        let dataset = options
            .examples(&path(name), schema.parse().unwrap())
            .unwrap();
        check(name, "examples.txt", &rows(&dataset, &[false; 4]));
    }
}
