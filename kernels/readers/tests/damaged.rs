//! Files of every format, cut off at every byte and with every bit flipped: elements, errors and an
//! end, and never a panic.

mod common;

use common::Folder;
use tfrt_async::AnyRef;
use tfrt_data::{Dataset, Outcome, Position};
use tfrt_host::ExecutionContext;
use tfrt_tensor::{DenseHostTensor, StringHostTensor};

/// What a dataset has, drawn as it is: the number of its elements and of its errors.
fn drain(dataset: &Dataset, ctx: &ExecutionContext) -> (usize, usize) {
    let mut iterator = dataset.iterator_below(Position::ROOT);
    let (mut num_elements, mut num_errors) = (0, 0);
    loop {
        let outcome = match iterator.draw(ctx).into_outcome() {
            Ok(outcome) => outcome,
            Err(pending) => {
                ctx.host()
                    .await_available(&[pending.as_any().clone()])
                    .unwrap();
                tfrt_data::IterationResult::Pending(pending)
                    .into_outcome()
                    .unwrap()
            }
        };
        match outcome {
            Outcome::Element(_) => num_elements += 1,
            Outcome::Error(_) => num_errors += 1,
            Outcome::End(_) => return (num_elements, num_errors),
        }
        assert!(num_elements + num_errors < 10_000, "there is no end");
    }
}

/// Reads a file as it is, cut off at every byte, and with every bit flipped. Damage that a format
/// has no means to notice is allowed; what is cut off must be noticed wherever `is_cut_noticed`.
fn check(name: &str, file: &[u8], dataset: impl Fn(&str) -> Dataset, is_cut_noticed: bool) {
    let folder = Folder::new(&format!("damaged-{name}"));
    let ctx = common::context("s");
    let whole = drain(&dataset(&folder.write("whole", file)), &ctx);
    assert_eq!(whole.1, 0, "{name}");
    assert!(whole.0 > 0, "{name}");
    for len in 0..file.len() {
        let (num_elements, num_errors) = drain(&dataset(&folder.write("cut", &file[..len])), &ctx);
        assert!(num_elements <= whole.0, "{name}: {len} bytes");
        if is_cut_noticed {
            let is_noticed = num_errors > 0 || num_elements < whole.0;
            assert!(is_noticed, "{name}: {len} bytes");
        }
    }
    for bit in 0..file.len() * 8 {
        let mut damaged = file.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        drain(&dataset(&folder.write("flipped", &damaged)), &ctx);
    }
}

#[test]
fn lines() {
    let dataset = |path: &str| tfrt_readers::text::text_line_dataset(path).unwrap();
    check("text", b"one\ntwo\r\n\nthree", dataset, false);
}

#[cfg(feature = "gzip")]
#[test]
fn compressed_lines() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"one\ntwo\nthree\n").unwrap();
    let dataset = |path: &str| tfrt_readers::text::text_line_dataset(path).unwrap();
    check("gzip", &encoder.finish().unwrap(), dataset, true);
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_lines() {
    let file = zstd::stream::encode_all(&b"one\ntwo\nthree\n"[..], 1).unwrap();
    let dataset = |path: &str| tfrt_readers::text::text_line_dataset(path).unwrap();
    check("zstd", &file, dataset, true);
}

#[cfg(feature = "csv")]
#[test]
fn rows() {
    let file = b"x,name,gap\n1,\"a, b\",\n-2.5,c,3\n";
    check(
        "csv",
        file,
        |path| tfrt_readers::csv::csv_dataset(path).unwrap(),
        false,
    );
}

#[test]
fn examples() {
    use tfrt_readers::example::{ExampleWriter, parse_examples};
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
    let dataset = |path: &str| {
        let options = tfrt_readers::tfrecord::TfRecordOptions {
            // So that damage comes through to the parser.
            verify: tfrt_readers::tfrecord::Verify::Header,
            ..Default::default()
        };
        parse_examples(
            &options.dataset(path).unwrap(),
            "a: i64, b: str [?]".parse().unwrap(),
        )
        .unwrap()
    };
    check("example", &file, dataset, true);
}

#[test]
fn tensor_files() {
    use tfrt_readers::tensor_files::TensorFileOptions;
    use tfrt_tensor::file::{FileFormat, NamedTensor};
    for &format in FileFormat::ALL {
        let tensor = DenseHostTensor::vector(&[1.5_f32, -2.0, 3.0]).unwrap();
        let file = format.write(&[NamedTensor::new("x", tensor)]).unwrap();
        let dataset = |path: &str| TensorFileOptions::default().dataset(path).unwrap();
        // Files of this format end with bytes that nothing is in.
        check(format.name(), &file, dataset, format != FileFormat::Btf);
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
        check(format.name(), &file, dataset, true);
    }
}
