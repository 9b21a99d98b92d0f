//! Images and records: `tfrt_test.decode_jpeg`, `tfrt_test.parse_example_from_bytes`, and what asks
//! records.
//!
//! `images/*.jpg` are a gradient of 27 times 20 pixels, in the codings that matter; `images/*.rgb`
//! is what libjpeg-turbo makes of them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc, RequestMemory};
use tfrt::prelude::*;
use tfrt::testing::{self, TestOutcome};
use tfrt_kernels::test::examples::Example;
use tfrt_kernels::test::images;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/images")
        .join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decode(data: Vec<u8>) -> TestOutcome {
    testing::kernel("tfrt_test.decode_jpeg")
        .operands((ByteString::from(data),))
        .under_every_queue()
        .run()
}

/// Decodes an image; no byte is further than `tolerance` from the result of libjpeg-turbo.
#[track_caller]
fn check(name: &str, tolerance: u8) {
    let expected = file(&format!("{name}.rgb"));
    decode(file(&format!("{name}.jpg"))).with_value(0, |image: &DenseHostTensor| {
        assert_eq!(image.shape().dims(), [20, 27, 3]);
        let pixels = image.elements::<u8>().unwrap();
        let distances = pixels.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b));
        let furthest = distances.max().unwrap_or_default();
        assert!(furthest <= tolerance, "{name}: {furthest} units off");
    });
}

#[test]
fn images_of_every_coding_are_decoded() {
    check("baseline", 3);
    check("progressive", 3);
    check("grey", 1);
    check("subsampled", 3);
}

#[test]
fn what_is_no_image_is_an_error() {
    let png = b"\x89PNG\r\n\x1a\n".to_vec();
    for data in [png, Vec::new(), b"\xff\xd8".to_vec()] {
        decode(data)
            .expect_error("image does not have jpeg format")
            .with_message("image does not have jpeg format");
    }
    let mut cut = file("baseline.jpg");
    cut.truncate(100);
    decode(cut)
        .expect_error("cannot decode image: ")
        .with_code(ErrorCode::InvalidArgument);
}

/// Returns an image that claims to be of this size.
fn claiming(height: u16, width: u16) -> Vec<u8> {
    let mut data = file("baseline.jpg");
    let frame = data
        .windows(2)
        .position(|bytes| bytes == [0xff, 0xc0])
        .unwrap();
    data[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    data[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    data
}

#[test]
fn an_image_takes_no_more_memory_than_there_is() {
    decode(claiming(u16::MAX, u16::MAX))
        .expect_error("cannot allocate tensor: an image of 65535 times 65535 pixels is too large")
        .with_code(ErrorCode::ResourceExhausted);
    let request = testing::kernel("tfrt_test.decode_jpeg")
        .operands((ByteString::from(claiming(4096, 4096)),))
        .request(|request| request.max_bytes(1 << 20));
    request
        .run()
        .expect_error("cannot allocate tensor: it takes 50331648 bytes");
    let memory: Arc<dyn HostAllocator> = Arc::new(RequestMemory::new(Arc::new(Malloc), 1 << 20));
    assert!(images::decode(&file("baseline.jpg"), &memory).is_ok());
}

/// Returns a field of bytes behind its number.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).unwrap();
    [&[number << 3 | 2, len], content].concat()
}

/// Returns a record of these features: a key, the number of the type of the values, and the list of
/// them.
fn record(features: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let entries = features.iter().flat_map(|(key, kind, values)| {
        let feature = field(2, &field(*kind, values));
        field(1, &[field(1, key.as_bytes()), feature].concat())
    });
    field(1, &entries.collect::<Vec<u8>>())
}

fn sample() -> Vec<u8> {
    let one_image = field(1, b"\xff\xd8\xff");
    let two_names = [field(1, b"a"), field(1, b"b")].concat();
    record(&[
        ("image/encoded", 1, &one_image),
        ("names", 1, &two_names),
        ("scale", 2, &field(1, &1.5_f32.to_le_bytes())),
        // A number of its own, and two numbers in one field.
        ("label", 3, &[8, 0xac, 0x02]),
        ("labels", 3, &field(1, &[1, 2])),
    ])
}

const PROGRAM: &str = r#"
    func @bytes(%data: !tfrt.string, %key: !tfrt.string) -> !tfrt.string {
      %example = tfrt_test.parse_example_from_bytes %data
      %field = tfrt_test.get_bytes_field_from_example %example, %key
      tfrt.return %field : !tfrt.string
    }
    func @number(%data: !tfrt.string, %key: !tfrt.string) -> i64 {
      %example = tfrt_test.parse_example_from_bytes %data
      %field = tfrt_test.get_int64_field_from_example %example, %key
      tfrt.return %field : i64
    }
"#;

fn ask(function: &str, data: Vec<u8>, key: &str) -> TestOutcome {
    let program = testing::program(PROGRAM).under_every_queue();
    program.call(function, (ByteString::from(data), key))
}

#[test]
fn records_give_their_fields() {
    let image = ByteString::from(b"\xff\xd8\xff");
    ask("bytes", sample(), "image/encoded").expect_value(image);
    ask("number", sample(), "label").expect_value(300_i64);
}

#[test]
fn what_a_record_does_not_have_is_an_error() {
    for (function, kernel) in [
        ("bytes", "tfrt_test.get_bytes_field_from_example"),
        ("number", "tfrt_test.get_int64_field_from_example"),
    ] {
        ask(function, sample(), "other")
            .expect_error("key other is not found in the proto")
            .with_message("key other is not found in the proto")
            .with_code(ErrorCode::NotFound)
            .from_kernel(kernel);
        ask(function, Vec::new(), "k").expect_error("key k is not found in the proto");
    }
    let message = |function, key| {
        let outcome = ask(function, sample(), key);
        outcome.expect_error("expected one value of ");
        outcome.results()[0]
            .error_if_present()
            .map(|error| error.message().to_owned())
            .unwrap()
    };
    assert_eq!(
        message("bytes", "label"),
        "expected one value of bytes under key label, found 1 of int64"
    );
    assert_eq!(
        message("bytes", "names"),
        "expected one value of bytes under key names, found 2 of bytes"
    );
    assert_eq!(
        message("number", "scale"),
        "expected one value of int64 under key scale, found 1 of float"
    );
    assert_eq!(
        message("number", "labels"),
        "expected one value of int64 under key labels, found 2 of int64"
    );
    let empty = Example::parse(&field(1, &field(1, &field(1, b"k")))).unwrap();
    assert_eq!(
        empty
            .int64_value("k")
            .map_err(|error| error.message().to_owned()),
        Err("expected one value of int64 under key k, found no values".to_owned())
    );
}

#[test]
fn what_is_no_record_is_an_error() {
    for data in [
        &b"\x0a\x05"[..],
        b"\xff",
        b"\x0a\x0a\x0a\x08\x0a\x01\xff\x12\x03\x1a\x01\x08",
    ] {
        ask("number", data.to_vec(), "k")
            .expect_error("failed to parse example.proto from string")
            .with_message("failed to parse example.proto from string")
            .from_kernel("tfrt_test.parse_example_from_bytes");
    }
}
