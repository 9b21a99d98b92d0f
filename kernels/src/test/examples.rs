//! Records of TensorFlow: `tf.Example`, named features, as protocol buffers.

use prost::Message;
use tfrt::prelude::*;
use tfrt_readers::example::{self, Kind};

use super::on_queue;

/// A record, decoded: `tensorflow.Example`.
///
/// ```
/// use tfrt_kernels::test::examples::Example;
///
/// // One feature, `k`, of one number, 7.
/// let example = Example::parse(b"\x0a\x0c\x0a\x0a\x0a\x01k\x12\x05\x1a\x03\x0a\x01\x07")?;
/// assert_eq!(example.int64_value("k")?, 7);
/// assert_eq!(example.int64_value("l").unwrap_err().message(), "key l is not found in the proto");
/// assert!(example.bytes_value("k").is_err());
/// # Ok::<(), tfrt::prelude::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Value)]
#[value("!proto.example")]
pub struct Example(example::Example);

impl Example {
    /// Decodes a record. Memory is proportional to the number of bytes, regardless of their
    /// content.
    ///
    /// # Errors
    /// `failed to parse example.proto from string`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        example::Example::decode(bytes).map(Self).map_err(|_| {
            Error::new("failed to parse example.proto from string")
                .with_code(ErrorCode::InvalidArgument)
        })
    }

    /// Returns the bytes of feature `key`, which has one value.
    ///
    /// # Errors
    /// `key KEY is not found in the proto`, or if the feature has no value, several ones, or values
    /// of another type.
    pub fn bytes_value(&self, key: &str) -> Result<&[u8]> {
        match self.kind(key)? {
            Some(Kind::Bytes(list)) if list.value.len() == 1 => Ok(&list.value[0]),
            kind => Err(other_values(key, "bytes", kind)),
        }
    }

    /// Returns the number of feature `key`, which has one value.
    ///
    /// # Errors
    /// Those of [`bytes_value`](Self::bytes_value).
    pub fn int64_value(&self, key: &str) -> Result<i64> {
        match self.kind(key)? {
            Some(Kind::Int64(list)) if list.value.len() == 1 => Ok(list.value[0]),
            kind => Err(other_values(key, "int64", kind)),
        }
    }

    fn kind(&self, key: &str) -> Result<Option<&Kind>> {
        match self.0.feature(key) {
            Some(feature) => Ok(feature.kind.as_ref()),
            None => Err(Error::new(format!("key {key} is not found in the proto"))
                .with_code(ErrorCode::NotFound)),
        }
    }
}

#[cold]
fn other_values(key: &str, expected: &str, kind: Option<&Kind>) -> Error {
    let found = match kind {
        None => String::from("no values"),
        Some(kind) => {
            let (count, ty) = kind.describe();
            format!("{count} of {ty}")
        }
    };
    Error::new(format!(
        "expected one value of {expected} under key {key}, found {found}"
    ))
    .with_code(ErrorCode::InvalidArgument)
}

/// Decodes a record: a message `tensorflow.Example` in the binary format of protocol buffers.
///
/// # Errors
/// `failed to parse example.proto from string`.
#[tfrt_kernel(
    "tfrt_test.parse_example_from_bytes",
    chain = none,
    results(example),
    format = "operands attr-dict"
)]
async fn parse_example_from_bytes(data: &[u8], ctx: &ExecutionContext) -> Result<Example> {
    on_queue(ctx).await;
    Example::parse(data)
}

/// Returns the bytes of one feature of a record, which has one value.
///
/// # Errors
/// `key KEY is not found in the proto`, or if the feature has no value, several ones, or values of
/// another type.
#[tfrt_kernel(
    "tfrt_test.get_bytes_field_from_example",
    chain = none,
    results(field),
    format = "operands attr-dict"
)]
async fn get_bytes_field_from_example(
    example: &Example,
    key: &str,
    ctx: &ExecutionContext,
) -> Result<ByteString> {
    on_queue(ctx).await;
    example.bytes_value(key).map(ByteString::from)
}

/// Returns the number in one feature of a record, which has one value.
///
/// # Errors
/// `key KEY is not found in the proto`, or if the feature has no value, several ones, or values of
/// another type.
#[tfrt_kernel(
    "tfrt_test.get_int64_field_from_example",
    chain = none,
    results(field),
    format = "operands attr-dict"
)]
fn get_int64_field_from_example(example: &Example, key: &str) -> Result<i64> {
    example.int64_value(key)
}
