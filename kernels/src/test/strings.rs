//! Kernels on byte strings, and kernels that describe something in a string.

use std::fs;
use std::io;

use tfrt::prelude::*;

use super::asynchronous_values;
use super::printf;
use crate::text::print_bytes;

/// Returns the constant text.
#[tfrt_kernel("tfrt_test.get_string", chain = none, format = "attr-dict")]
fn get_string(#[attr] value: ByteString) -> ByteString {
    value
}

/// Returns the constant text.
#[tfrt_kernel("tfrt_test.get_string_sync", sync, format = "attr-dict")]
fn get_string_sync(#[attr] value: ByteString) -> ByteString {
    value
}

/// Prints `string = ` and the text.
#[tfrt_kernel("tfrt_test.print_string", side_effecting)]
fn print_string(text: &[u8]) -> io::Result<()> {
    print_bytes(&[b"string = ", text])
}

/// Returns the concatenation of two texts.
#[tfrt_kernel("tfrt_test.append_string")]
fn append_string(a: &[u8], b: &[u8]) -> ByteString {
    [a, b].concat().into()
}

/// Returns `true` if two texts are equal.
#[tfrt_kernel("tfrt_test.string_equal")]
fn string_equal(a: &[u8], b: &[u8]) -> bool {
    a == b
}

/// Returns the content of a file.
///
/// # Errors
/// `failed to read from file PATH`.
#[tfrt_kernel("tfrt_test.read_string_from_file")]
fn read_string_from_file(path: &str) -> Result<ByteString> {
    let read = fs::read(path).map(ByteString::from);
    read.map_err(|_| Error::new(format!("failed to read from file {path}")))
}

/// Returns the text with its `%d` replaced by the number, like C's `printf`.
///
/// # Errors
/// If the text requests anything but one integer.
#[tfrt_kernel("tfrt_test.format_string")]
fn format_string(format: &[u8], index: i32) -> Result<ByteString> {
    Ok(printf::expand(format, index)?.into())
}

/// Describes a payload as its own type and as its two base types: `base1:base2:final_class:3`.
#[tfrt_kernel("tfrt_test.async_value_get")]
fn async_value_get() -> String {
    asynchronous_values::views()
}

/// Describes how values become available:
/// `available:2;unavailable;(3);available:3;unavailable;available:4`.
#[tfrt_kernel("tfrt_test.async_value_ref")]
fn async_value_ref() -> String {
    asynchronous_values::life()
}

/// Returns the name of an object that a host creates once: `sample_shared_context0`.
#[tfrt_kernel("tfrt_test.use_sample_shared_context", results(name, done))]
fn use_sample_shared_context(chain: Chain, host: &HostContext) -> (String, Chain) {
    let context = host.shared_context(|| SampleSharedContext {
        name: "sample_shared_context0".to_owned(),
    });
    (context.name.clone(), chain)
}

/// An object that a host creates once.
struct SampleSharedContext {
    name: String,
}
