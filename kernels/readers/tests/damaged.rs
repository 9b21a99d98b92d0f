//! Files of every format, cut off at every byte and with every bit flipped: right elements, errors
//! that name the file, and an end. Never a panic, and nothing is lost silently.

mod common;

use common::Folder;
use tfrt_async::AnyRef;
use tfrt_data::{Dataset, Outcome, Position, Values};
use tfrt_host::ExecutionContext;
use tfrt_tensor::{DenseHostTensor, StringHostTensor};

/// What a dataset has: its elements as text, and the messages of its errors.
#[derive(Debug, Default, PartialEq)]
struct Found {
    elements: Vec<String>,
    errors: Vec<String>,
}

/// Draws everything, as it is.
fn drain(dataset: &Dataset, ctx: &ExecutionContext) -> Found {
    let mut iterator = dataset.iterator_below(Position::ROOT);
    let mut found = Found::default();
    loop {
        let outcome = match iterator.draw(ctx).into_outcome() {
            Ok(outcome) => outcome,
            Err(pending) => {
                ctx.host()
                    .await_available(&[pending.as_any().clone()])
                    .unwrap();
                Outcome::of_available(&pending)
            }
        };
        match outcome {
            Outcome::Element(values) => match values.iter().find(|value| value.is_error()) {
                Some(error) => found.errors.push(message(error)),
                None => found.elements.push(shown(&values)),
            },
            Outcome::Error(error) => found.errors.push(message(&error)),
            Outcome::End(_) => return found,
        }
        let num_drawn = found.elements.len() + found.errors.len();
        assert!(num_drawn < 10_000, "there is no end");
    }
}

fn message(error: &AnyRef) -> String {
    error.error_if_present().unwrap().message().to_owned()
}

fn shown(values: &Values) -> String {
    let value = |value: &AnyRef| {
        if let Some(tensor) = value.get::<DenseHostTensor>() {
            return tensor.to_string();
        }
        if let Ok(strings) = value.try_read::<StringHostTensor>() {
            return format!("{:?}", strings.strings());
        }
        macro_rules! number {
            ($($ty:ty)*) => { $(if let Some(number) = value.get::<$ty>() { return format!("{number:?}"); })* };
        }
        number!(f32 f64 i64 u8 bool tfrt_async::ByteString);
        // Damage may have changed the type of a column.
        format!("{value:?}")
    };
    values.iter().map(value).collect::<Vec<_>>().join("; ")
}

/// What damage to a file of a format cannot remain unnoticed.
struct Noticed<'a> {
    /// How many elements are whole in the first so many bytes.
    num_whole: &'a dyn Fn(usize) -> usize,
    /// Whether a file of so many bytes may pass for a whole one.
    may_end: &'a dyn Fn(usize) -> bool,
    /// Whether a checksum stands for everything that is read.
    has_checksum: bool,
    /// Whether damage may hide all elements.
    may_hide_all: bool,
}

/// Reads a file as it is, cut off at every byte, and with every bit flipped.
fn check(name: &str, file: &[u8], dataset: impl Fn(&str) -> Dataset, noticed: &Noticed<'_>) {
    check_every(1, name, file, dataset, noticed);
}

/// The same for one of so many bytes and bits, for formats whose files are large.
fn check_every(
    step: usize,
    name: &str,
    file: &[u8],
    dataset: impl Fn(&str) -> Dataset,
    noticed: &Noticed<'_>,
) {
    let folder = Folder::new(&format!("damaged-{name}"));
    let ctx = common::context("s");
    let whole = drain(&dataset(&folder.write("whole", file)), &ctx);
    assert_eq!(whole.errors, [""; 0], "{name}");
    assert!(!whole.elements.is_empty(), "{name}");
    for len in (0..file.len()).step_by(step) {
        let path = folder.write("cut", &file[..len]);
        let found = drain(&dataset(&path), &ctx);
        for error in &found.errors {
            assert!(error.contains(&path), "{name}, {len} bytes: {error}");
        }
        // What is whole is there, and in front of it nothing else.
        let num_whole = (noticed.num_whole)(len);
        assert!(
            found.elements.len() >= num_whole,
            "{name}, {len} bytes: {found:?}"
        );
        let in_front = found.elements.len().min(num_whole);
        assert_eq!(
            found.elements[..in_front],
            whole.elements[..in_front],
            "{name}, {len} bytes"
        );
        // The rest is an error, unless the format has no means to notice.
        if !(noticed.may_end)(len) {
            assert!(!found.errors.is_empty(), "{name}, {len} bytes: {found:?}");
        }
    }
    for bit in (0..file.len() * 8).step_by(step) {
        let mut damaged = file.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let path = folder.write("flipped", &damaged);
        let found = drain(&dataset(&path), &ctx);
        for error in &found.errors {
            assert!(error.contains(&path), "{name}, bit {bit}: {error}");
        }
        let is_lost = found.elements.len() + found.errors.len() == 0;
        assert!(
            !is_lost || noticed.may_hide_all,
            "{name}, bit {bit}: nothing is left, and no error"
        );
        if noticed.has_checksum && found.errors.is_empty() {
            assert_eq!(found, whole, "{name}, bit {bit}");
        }
    }
}

/// A file that is read as a whole: any cut is noticed.
const WHOLE: Noticed<'static> = Noticed {
    num_whole: &|_| 0,
    may_end: &|_| false,
    has_checksum: false,
    may_hide_all: false,
};

/// How many lines end in the first bytes of a file.
fn num_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

#[test]
fn lines() {
    let dataset = |path: &str| tfrt_readers::text::text_line_dataset(path).unwrap();
    let file = b"one\ntwo\r\n\nthree";
    let noticed = Noticed {
        num_whole: &|len| num_lines(&file[..len]),
        may_end: &|_| true,
        has_checksum: false,
        may_hide_all: false,
    };
    check("text", file, dataset, &noticed);
}

#[test]
fn records_of_a_fixed_length() {
    let dataset = |path: &str| {
        let options = tfrt_readers::fixed_length::FixedLengthOptions {
            header_bytes: 2,
            footer_bytes: 1,
            ..tfrt_readers::fixed_length::FixedLengthOptions::new(3)
        };
        options.dataset(path).unwrap()
    };
    let noticed = Noticed {
        num_whole: &|len| len.saturating_sub(3) / 3,
        // Cut off at the end of a record, with a footer that is the start of another.
        may_end: &|len| len >= 3 && (len - 3).is_multiple_of(3),
        has_checksum: false,
        may_hide_all: false,
    };
    check("fixed", b"HHabcdefghiF", dataset, &noticed);
}

#[cfg(feature = "tar")]
#[test]
fn samples_of_archives() {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, contents) in [("1.a", "x"), ("2.a", "")] {
        let mut header = tar::Header::new_ustar();
        header.set_size(contents.len() as u64);
        builder
            .append_data(&mut header, name, contents.as_bytes())
            .unwrap();
    }
    let mut file = builder.into_inner().unwrap();
    // One of the two zero blocks at the end is enough.
    file.truncate(file.len() - 512);
    let dataset = |path: &str| {
        let options = tfrt_readers::tar::TarOptions {
            extensions: vec!["a".into()],
            ..Default::default()
        };
        options.dataset(path).unwrap()
    };
    let noticed = Noticed {
        // Samples are known to be whole by what follows them.
        num_whole: &|len| usize::from(len >= 1536),
        ..WHOLE
    };
    // Odd, so that each bit of a byte has its turn.
    check_every(13, "tar", &file, dataset, &noticed);
}

#[cfg(feature = "gzip")]
#[test]
fn compressed_lines() {
    use std::io::Write;
    let text = b"one\ntwo\nthree\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    zlib.write_all(text).unwrap();
    for (name, file, compression) in [
        (
            "gzip",
            gzip.finish().unwrap(),
            tfrt_readers::files::Compression::Gzip,
        ),
        (
            "zlib",
            zlib.finish().unwrap(),
            tfrt_readers::files::Compression::Zlib,
        ),
    ] {
        let dataset = |path: &str| {
            let options = tfrt_readers::text::TextLineOptions {
                // Damage to the mark must not make it a file of text.
                compression,
                ..Default::default()
            };
            options.dataset(path).unwrap()
        };
        let noticed = Noticed {
            has_checksum: true,
            ..WHOLE
        };
        check(name, &file, dataset, &noticed);
    }
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_lines() {
    use std::io::Write;
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(b"one\ntwo\nthree\n").unwrap();
    let file = encoder.finish().unwrap();
    let dataset = |path: &str| {
        let options = tfrt_readers::text::TextLineOptions {
            compression: tfrt_readers::files::Compression::Zstd,
            ..Default::default()
        };
        options.dataset(path).unwrap()
    };
    let noticed = Noticed {
        has_checksum: true,
        ..WHOLE
    };
    check("zstd", &file, dataset, &noticed);
}

#[cfg(feature = "csv")]
#[test]
fn rows() {
    use tfrt_readers::csv::CsvOptions;
    let file = b"x,name,gap\n1,\"a, b\",\n-2.5,c,3\n";
    let options = CsvOptions {
        schema: Some("x: f64, name: str, gap: f64 = 0.5".parse().unwrap()),
        ..CsvOptions::default()
    };
    let end_of_header = b"x,name,gap".len();
    let noticed = Noticed {
        num_whole: &|len| num_lines(&file[..len]).saturating_sub(1),
        // A row that lacks fields is an error; one whose last field is cut off is a row.
        may_end: &|len| {
            let is_row = |row: &[u8]| row.is_empty() || row.ends_with(b"\"") || row.contains(&b',');
            len >= end_of_header
                && file[..len]
                    .split(|&byte| byte == b'\n')
                    .next_back()
                    .is_some_and(is_row)
        },
        has_checksum: false,
        may_hide_all: false,
    };
    check("csv", file, |path| options.dataset(path).unwrap(), &noticed);
    // In batches, the rows in front of an error are not lost, either.
    let batched = CsvOptions {
        batch_size: Some(1),
        ..options
    };
    check(
        "csv-batches",
        file,
        |path| batched.dataset(path).unwrap(),
        &noticed,
    );
}

/// The lengths of a file of records at which one ends.
fn ends_of_records(file: &[u8]) -> Vec<usize> {
    let mut ends = vec![0];
    while let Some(length) = file[*ends.last().unwrap()..].first_chunk::<8>() {
        ends.push(ends.last().unwrap() + 12 + u64::from_le_bytes(*length) as usize + 4);
    }
    ends
}

fn check_records(name: &str, file: &[u8], has_checksum: bool, dataset: impl Fn(&str) -> Dataset) {
    let ends = ends_of_records(file);
    let noticed = Noticed {
        num_whole: &|len| ends.iter().filter(|&&end| end <= len).count() - 1,
        // Nothing says how many records there are.
        may_end: &|len| ends.contains(&len),
        has_checksum,
        may_hide_all: false,
    };
    check(name, file, dataset, &noticed);
}

#[test]
fn records() {
    let mut writer = tfrt_readers::tfrecord::RecordWriter::new(Vec::new());
    for record in [&b"red"[..], b"", b"light blue"] {
        writer.write(record).unwrap();
    }
    let file = writer.finish().unwrap();
    let dataset = |path: &str| tfrt_readers::tfrecord::tf_record_dataset(path).unwrap();
    check_records("records", &file, true, dataset);
}

#[cfg(feature = "messages")]
#[test]
fn examples() {
    use tfrt_readers::example::ExampleWriter;
    use tfrt_readers::tfrecord::{TfRecordOptions, Verify};
    use tfrt_readers::write::WriteColumns;
    let mut file = Vec::new();
    let mut writer = ExampleWriter::new(&mut file, &["a", "b"]);
    let numbers = AnyRef::available(DenseHostTensor::vector(&[1_i64, 300]).unwrap());
    let shape = tfrt_tensor::Shape::new(&[2]).unwrap();
    let strings = StringHostTensor::new(shape, vec![b"x".into(), b"yz".into()]).unwrap();
    writer
        .write(&[numbers, AnyRef::available(strings)])
        .unwrap();
    writer.finish().unwrap();
    drop(writer);
    // With `header`, damage comes through to the parser.
    for (name, verify) in [("example", Verify::All), ("example-data", Verify::Header)] {
        let options = TfRecordOptions {
            verify,
            ..TfRecordOptions::default()
        };
        let schema = || "a: i64, b: str [?]".parse().unwrap();
        let dataset = |path: &str| options.examples(path, schema()).unwrap();
        check_records(name, &file, verify == Verify::All, dataset);
    }
}

#[test]
fn tensor_files() {
    use tfrt_readers::tensor_files::{TensorFileOptions, TensorFormat};
    use tfrt_tensor::file::{FileFormat, NamedTensor};
    for &format in FileFormat::ALL {
        let tensor = DenseHostTensor::vector(&[1.5_f32, -2.0, 3.0]).unwrap();
        let file = format.write(&[NamedTensor::new("x", tensor)]).unwrap();
        let options = TensorFileOptions {
            // Damage to the mark must not make it a file of another format.
            format: TensorFormat::from_name(format.name()),
            ..TensorFileOptions::default()
        };
        let dataset = |path: &str| options.dataset(path).unwrap();
        // Files of this format end with bytes that nothing is in.
        let may_end = |len: usize| format == FileFormat::Btf && len + 64 > file.len();
        let noticed = Noticed {
            may_end: &may_end,
            ..WHOLE
        };
        check(format.name(), &file, dataset, &noticed);
    }
}

#[cfg(all(feature = "parquet", feature = "arrow"))]
#[test]
fn columns() {
    use std::io::Write;
    use std::sync::{Arc, Mutex};
    use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions, write_columns};
    use tfrt_support::DType;

    /// Memory that a writer that is not borrowed from writes to.
    #[derive(Clone, Debug, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in [ColumnarFormat::Parquet, ColumnarFormat::Arrow] {
        let output = Shared::default();
        let names = [
            ("x".to_owned(), DType::F32),
            ("s".to_owned(), DType::String),
        ];
        let mut writer = write_columns(format, output.clone(), &names).unwrap();
        let numbers = AnyRef::available(DenseHostTensor::vector(&[1.5_f32, 2.5, 2.5]).unwrap());
        let shape = tfrt_tensor::Shape::new(&[3]).unwrap();
        let strings =
            StringHostTensor::new(shape, vec![b"x".into(), b"yz".into(), b"".into()]).unwrap();
        writer
            .write(&[numbers, AnyRef::available(strings)])
            .unwrap();
        writer.finish().unwrap();
        drop(writer);
        let file = output.0.lock().unwrap().clone();
        let dataset = |path: &str| ColumnarOptions::default().dataset(format, path).unwrap();
        let noticed = Noticed {
            // The list of batches in the footer of an Arrow file has no checksum, and may be
            // absent.
            may_hide_all: format == ColumnarFormat::Arrow,
            ..WHOLE
        };
        check(format.name(), &file, dataset, &noticed);
    }
}
