//! Attributes of an op in messages.
//!
//! A set of attributes is sent as the bytes that a program would contain, with the location of each
//! value. Sets of numbers are also sent in the reference's form, which is read if the other one is
//! missing.

use prost::bytes::Bytes;
use tfrt_attr::{AlignedBytes, AttrEncoder, AttrTypeCode, AttrValue, Scalar};
use tfrt_core::OpAttrs;
use tfrt_support::{Error, ErrorCode};

use crate::message::{AttributePlace, AttributeSet, OpAttribute, RemoteExecuteOpRequest};

/// Returns both forms of a set.
pub(super) fn encode(attrs: &OpAttrs) -> Result<(Vec<OpAttribute>, AttributeSet), Error> {
    let mut encoder = AttrEncoder::new();
    let mut numbers = Some(Vec::with_capacity(attrs.len()));
    let mut places = Vec::with_capacity(attrs.len());
    for name in attrs.names() {
        let value = attrs.value(name).ok_or_else(|| unreadable(name))?;
        places.push(AttributePlace {
            name: name.to_owned(),
            code: value.code().raw().into(),
            offset: encoder.encode(&value)?,
        });
        numbers = numbers.and_then(|mut numbers: Vec<OpAttribute>| {
            numbers.push(numbers_of(name, &value)?);
            Some(numbers)
        });
    }
    let set = AttributeSet {
        section: Bytes::copy_from_slice(encoder.as_bytes()),
        places,
    };
    Ok((numbers.unwrap_or_default(), set))
}

fn numbers_of(name: &str, value: &AttrValue) -> Option<OpAttribute> {
    let number = |value: &AttrValue| match value {
        AttrValue::Scalar(scalar) if scalar.code() == Scalar::i64(0).code() => {
            Some(scalar.bits().cast_signed())
        }
        _ => None,
    };
    let (values, is_array) = match value {
        AttrValue::Array(values) => (values.iter().map(number).collect::<Option<_>>()?, true),
        value => (vec![number(value)?], false),
    };
    Some(OpAttribute {
        name: name.to_owned(),
        value: values,
        is_array,
    })
}

/// Returns the set that a request has.
pub(super) fn decode(request: &RemoteExecuteOpRequest) -> Result<OpAttrs, Error> {
    let mut attrs = OpAttrs::new();
    let Some(set) = &request.attribute_set else {
        for attribute in &request.attributes {
            let number = |value: &i64| AttrValue::from(Scalar::i64(*value));
            let value = match (attribute.is_array, &attribute.value[..]) {
                (true, values) => AttrValue::Array(values.iter().map(number).collect()),
                (false, [value]) => number(value),
                (false, _) => return Err(unreadable(&attribute.name)),
            };
            attrs.set(attribute.name.as_str(), &value)?;
        }
        return Ok(attrs);
    };
    let section = AlignedBytes::from(&set.section[..]);
    for place in &set.places {
        let code = u8::try_from(place.code)
            .ok()
            .and_then(AttrTypeCode::from_raw);
        let code = code.ok_or_else(|| unreadable(&place.name))?;
        let value = tfrt_attr::decode::decode(&section, place.offset, code)?;
        attrs.set(place.name.as_str(), &value)?;
    }
    Ok(attrs)
}

#[cold]
fn unreadable(name: &str) -> Error {
    let message = format!("cannot read the attribute `{name}`");
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(attrs: &OpAttrs) -> RemoteExecuteOpRequest {
        let (attributes, set) = encode(attrs).unwrap();
        RemoteExecuteOpRequest {
            attributes,
            attribute_set: Some(set),
            ..RemoteExecuteOpRequest::default()
        }
    }

    #[test]
    fn attributes_of_every_kind_arrive() {
        let mut attrs = OpAttrs::new();
        attrs.set("axis", -1_i64).unwrap();
        attrs.set("dims", [1_i64, 2]).unwrap();
        attrs.set("text", "t").unwrap();
        attrs.set("type", tfrt_support::DType::F32).unwrap();
        attrs.set("scale", 0.5_f32).unwrap();
        attrs
            .set("callee", &AttrValue::Func("f".to_owned()))
            .unwrap();
        let request = sent(&attrs);
        assert!(request.attributes.is_empty(), "not all of them are numbers");
        let arrived = decode(&request).unwrap();
        assert!(arrived.names().eq(attrs.names()));
        for name in attrs.names() {
            assert_eq!(arrived.value(name), attrs.value(name), "{name}");
        }
    }

    #[test]
    fn numbers_arrive_in_the_form_of_the_original() {
        let mut attrs = OpAttrs::new();
        attrs.set("axis", -1_i64).unwrap();
        attrs.set("dims", [1_i64, 2]).unwrap();
        let mut request = sent(&attrs);
        request.attribute_set = None;
        let arrived = decode(&request).unwrap();
        assert_eq!(arrived.get::<i64>("axis"), Some(-1));
        assert_eq!(arrived.get::<&[i64]>("dims"), Some(&[1, 2][..]));
    }

    #[test]
    fn damaged_attributes_are_refused() {
        let mut attrs = OpAttrs::new();
        attrs.set("text", "t").unwrap();
        let mut request = sent(&attrs);
        let set = request.attribute_set.as_mut().unwrap();
        set.places[0].offset = 1 << 20;
        assert!(decode(&request).is_err());
        let set = request.attribute_set.as_mut().unwrap();
        set.places[0].code = 1000;
        assert!(decode(&request).is_err());
    }
}
