//! Kernels that read attributes, context data and resources.

use std::sync::Arc;

use tfrt::attr::FromAttr;
use tfrt::prelude::*;

/// Returns the sum of a number in a text, the numbers in a list, the number in the data of the
/// request, and the resource `val`. The text may be decimal, or begin with `0x`, `0o`, `0b`, or `0`
/// for an octal one. The attributes may have any names, as long as the name of the text sorts
/// first.
///
/// # Errors
/// `Cannot convert TEXT to target int`; if the request does not have the number or the resource.
#[tfrt_kernel(
    "tfrt_test.sum_array_attr.i32",
    raw,
    attrs(initial: str, values: [i32]),
    results(sum: i32),
    attribute_names = free
)]
fn sum_i32_array_attr(frame: &mut KernelFrame<'_>) -> Result<()> {
    let sum: i32 = sum_array_attr(
        frame.attribute::<str>(0)?,
        frame.attribute::<[i32]>(1)?,
        frame.exec_ctx(),
    )?;
    frame.set_result(0, AnyRef::available(sum));
    Ok(())
}

/// Like `tfrt_test.sum_array_attr.i32`, for 64 bits.
#[tfrt_kernel(
    "tfrt_test.sum_array_attr.i64",
    raw,
    attrs(initial: str, values: [i64]),
    results(sum: i64),
    attribute_names = free
)]
fn sum_i64_array_attr(frame: &mut KernelFrame<'_>) -> Result<()> {
    let sum: i64 = sum_array_attr(
        frame.attribute::<str>(0)?,
        frame.attribute::<[i64]>(1)?,
        frame.exec_ctx(),
    )?;
    frame.set_result(0, AnyRef::available(sum));
    Ok(())
}

fn sum_array_attr<T: Integer>(init: &str, values: &[T], ctx: &ExecutionContext) -> Result<T> {
    let initial =
        T::parse(init).ok_or_else(|| Error::new(format!("Cannot convert {init} to target int")))?;
    let resource: Arc<T> = match ctx.resources() {
        Some(resources) => resources
            .get("val")?
            .ok_or_else(|| not_found("resource `val` does not exist"))?,
        None => return Err(not_found("the request has no resources")),
    };
    let sum = values.iter().fold(initial, |sum, value| sum.sum(*value));
    Ok(sum.sum(*context_data(ctx.request())?).sum(*resource))
}

/// Returns the number in the data of the request.
///
/// # Errors
/// If there is none.
#[tfrt_kernel("tfrt_test.get_request_context_data.i32")]
fn get_request_context_data(request: &RequestContext) -> Result<i32> {
    context_data(request).copied()
}

/// Returns the leaves of the nested list `[["text", [1 : i32, 2 : i32]], [0.5 : f32]]`, under any
/// name.
///
/// # Errors
/// If the list is not of this form.
#[tfrt_kernel(
    "tfrt_test.flat",
    raw,
    attrs(list: AggregateView<'static>),
    results(text: ByteString, first: i32, second: i32, number: f32),
    attribute_names = free
)]
fn flat(frame: &mut KernelFrame<'_>) -> Result<()> {
    let list = frame.attribute::<AggregateView<'_>>(0)?;
    let named: AggregateView<'_> = element(list, 0)?;
    let text: &[u8] = element(named, 0)?;
    match (element::<&[i32]>(named, 1)?, element::<&[f32]>(list, 1)?) {
        (&[first, second], &[number]) => {
            frame.set_result(0, AnyRef::available(ByteString::from(text)));
            frame.set_result(1, AnyRef::available(first));
            frame.set_result(2, AnyRef::available(second));
            frame.set_result(3, AnyRef::available(number));
            Ok(())
        }
        _ => Err(
            Error::new("the lists of numbers must have 2 and 1 elements")
                .with_code(ErrorCode::InvalidArgument),
        ),
    }
}

/// Returns the element of a list, which must be there and of this type.
fn element<'a, T: FromAttr<'a>>(list: AggregateView<'a>, index: usize) -> Result<T> {
    let element = list.get(index).ok_or_else(|| {
        let text = format!(
            "a list must have more than {index} elements, but has {}",
            list.len()
        );
        Error::new(text).with_code(ErrorCode::InvalidArgument)
    })?;
    Ok(element.read()?)
}

fn context_data<T: Send + Sync + 'static>(request: &RequestContext) -> Result<&T> {
    request
        .context_data()
        .ok_or_else(RequestContext::missing_context_data::<T>)
}

fn not_found(text: &str) -> Error {
    Error::new(text).with_code(ErrorCode::NotFound)
}

/// Integers that texts hold.
trait Integer: Copy + Send + Sync + 'static {
    /// Returns the sum, wrapped around.
    fn sum(self, other: Self) -> Self;

    /// Returns the number that `text` spells in its radix.
    fn parse(text: &str) -> Option<Self>;
}

impl Integer for i32 {
    fn sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn parse(text: &str) -> Option<Self> {
        parse_integer(text)?.try_into().ok()
    }
}

impl Integer for i64 {
    fn sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn parse(text: &str) -> Option<Self> {
        parse_integer(text)
    }
}

fn parse_integer(text: &str) -> Option<i64> {
    let (sign, magnitude) = text
        .strip_prefix('-')
        .map_or(("", text), |magnitude| ("-", magnitude));
    let prefixes = [
        ("0x", 16),
        ("0X", 16),
        ("0b", 2),
        ("0B", 2),
        ("0o", 8),
        ("0", 8),
    ];
    let stripped = prefixes
        .into_iter()
        .find_map(|(prefix, radix)| Some((magnitude.strip_prefix(prefix)?, radix)));
    let (digits, radix) = match stripped {
        Some((digits, radix)) if !digits.is_empty() => (digits, radix),
        _ => (magnitude, 10),
    };
    // A sign belongs in front of the prefix, where it was taken off.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_a_text_gives_its_radix() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(parse_integer(text), expected);
        check("42", Some(42));
        check("-0x2A", Some(-42));
        check("0b101", Some(5));
        check("0o17", Some(15));
        check("017", Some(15));
        check("0", Some(0));
        check("-9223372036854775808", Some(i64::MIN));
        check("9223372036854775808", None);
        check("--1", None);
        check("0x", None);
        check("seven", None);
        check("", None);
    }

    #[test]
    fn a_number_fits_its_type() {
        assert_eq!(i32::parse("2147483648"), None);
        assert_eq!(i64::parse("2147483648"), Some(2_147_483_648));
    }
}
