//! The encodings of TFRT, byte for byte: each value alone in a section, encoded, verified, decoded
//! and read in place.

use half::{bf16, f16};
use tfrt_attr::decode::decode;
use tfrt_attr::verify::verify;
use tfrt_attr::{
    AggregateView, AlignedBytes, AttrEncoder, AttrRef, AttrTypeCode, AttrValue,
    CompilationUnitView, DenseAttr, DenseView, FromAttr, Scalar, ShapeView, SymbolRefAttr,
};
use tfrt_support::DType;

struct Vector {
    value: AttrValue,
    code: u8,
    offset: u32,
    alignment: usize,
    bytes: Vec<u8>,
}

/// Bytes in hexadecimal; `xx*n` repeats one.
fn hex(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let (byte, count) = word.split_once('*').unwrap_or((word, "1"));
        let byte = u8::from_str_radix(byte, 16).expect("a hexadecimal byte");
        bytes.resize(bytes.len() + count.parse::<usize>().expect("a count"), byte);
    }
    bytes
}

fn list<const N: usize>(elements: [AttrValue; N]) -> AttrValue {
    AttrValue::Array(elements.into())
}

fn dense(dtype: DType, dims: &[i64], data: &str) -> AttrValue {
    AttrValue::Dense(DenseAttr {
        dtype,
        dims: dims.to_vec(),
        data: hex(data),
    })
}

fn vectors() -> Vec<Vector> {
    let string = AttrValue::string;
    let rows: Vec<(AttrValue, u8, u32, usize, &str)> = vec![
        (Scalar::bool(true).into(), 0x05, 0, 1, "01"),
        (Scalar::i8(-2).into(), 0x06, 0, 1, "fe"),
        (Scalar::i16(300).into(), 0x07, 0, 2, "2c 01"),
        (Scalar::i32(-5).into(), 0x08, 0, 4, "fb ff ff ff"),
        (Scalar::i64(1).into(), 0x09, 0, 8, "01 00*7"),
        (Scalar::ui16(65535).into(), 0x02, 0, 2, "ff ff"),
        (Scalar::f16(f16::from_f32(1.5)).into(), 0x0e, 0, 2, "00 3e"),
        (
            Scalar::bf16(bf16::from_f32(1.5)).into(),
            0x0f,
            0,
            2,
            "c0 3f",
        ),
        (Scalar::f32(1.5).into(), 0x0a, 0, 4, "00 00 c0 3f"),
        (Scalar::f64(1.5).into(), 0x0b, 0, 8, "00*6 f8 3f"),
        (string("hey"), 0x10, 0, 4, "03 00 00 00 68 65 79"),
        (string(""), 0x10, 0, 4, "00*4"),
        (AttrValue::Type(DType::F32), 0x19, 0, 1, "0a"),
        (AttrValue::Type(DType::String), 0x19, 0, 1, "10"),
        (
            list([Scalar::bool(true).into(), Scalar::bool(false).into()]),
            0x85,
            0,
            4,
            "02 00 00 00 01 00",
        ),
        (
            list([Scalar::i16(1).into(), Scalar::i16(2).into()]),
            0x87,
            0,
            4,
            "02 00 00 00 01 00 02 00",
        ),
        (
            list([Scalar::i64(1).into(), Scalar::i64(2).into()]),
            0x89,
            4,
            8,
            "cc*4 02 00*3 01 00*7 02 00*7",
        ),
        (
            list([AttrValue::Type(DType::F32), AttrValue::Type(DType::I64)]),
            0x99,
            0,
            4,
            "02 00 00 00 0a 09",
        ),
        (list([]), 0x88, 0, 4, "00*4"),
        (
            list([string("a"), string("bc")]),
            0x1e,
            0,
            4,
            "04 00 14 00 26 00 00 00 02 00 00 00 18 00 00 00 20 00 00 00 cc cc cc 10 01 00 00 00 61 cc cc 10 02 00 00 00 62 63",
        ),
        (
            list([string("a"), Scalar::i64(1).into()]),
            0x1e,
            4,
            8,
            "cc*4 08 00 14 00 2c 00 00 00 02 00 00 00 18 00 00 00 24 00 00 00 cc cc cc 10 01 00 \
             00 00 61 cc*6 09 01 00*7",
        ),
        (
            list([Scalar::bool(true).into(), Scalar::i8(2).into()]),
            0x1e,
            0,
            4,
            "04 00 14 00 18 00 00 00 02 00 00 00 15 00 00 00 17 00 00 00 05 01 06 02",
        ),
        (
            list([
                Scalar::i32(1).into(),
                list([Scalar::i32(2).into(), string("s")]),
            ]),
            0x1e,
            4,
            8,
            "cc*4 08 00 14 00 45 00 00 00 02 00 00 00 18 00 00 00 20 00 00 00 cc cc cc 08 01 00 \
             00 00 cc cc cc 1e 04 00 14 00 25 00 00 00 02 00 00 00 18 00 00 00 20 00 00 00 cc cc \
             cc 08 02 00 00 00 cc cc cc 10 01 00 00 00 73",
        ),
        (
            list([list([]), Scalar::i8(3).into()]),
            0x1e,
            4,
            8,
            "cc*4 08 00 14 00 1e 00 00 00 02 00 00 00 18 00 00 00 1d 00 00 00 cc cc cc 88 00 00 \
             00 00 06 03",
        ),
        (
            dense(DType::I32, &[2, 2], "01 00*3 02 00*3 03 00*3 04 00*3"),
            0x1c,
            4,
            8,
            "cc*4 08 08 24 00 34 00 00 00 24 00 00 00 04 00 00 00 02 00 00 00 02 00*7 02 00*7 01 \
             00*3 02 00*3 03 00*3 04 00*3",
        ),
        (
            dense(DType::I16, &[3], "07 00 07 00 07 00"),
            0x1c,
            4,
            8,
            "cc*4 08 07 1c 00 22 00 00 00 1c 00 00 00 03 00 00 00 01 00 00 00 03 00*7 07 00 07 00 \
             07 00",
        ),
        (
            dense(DType::I1, &[2], "01 01"),
            0x1c,
            4,
            8,
            "cc*4 08 05 1c 00 1e 00 00 00 1c 00 00 00 02 00 00 00 01 00 00 00 02 00*7 01 01",
        ),
        (
            dense(DType::F32, &[0], ""),
            0x1c,
            4,
            8,
            "cc*4 08 0a 1c 00 1c 00 00 00 1c 00 00 00 00 00 00 00 01 00 00 00 00*8",
        ),
        (
            AttrValue::Shape(Some(vec![2, -1, 3])),
            0x1b,
            4,
            8,
            "cc*4 08 00 0c 00 24 00 00 00 03 00 00 00 02 00*7 ff*8 03 00*7",
        ),
        (
            AttrValue::Shape(Some(vec![])),
            0x1b,
            4,
            8,
            "cc*4 08 00 0c 00 0c 00 00 00 00 00 00 00",
        ),
        (AttrValue::Shape(None), 0x1b, 0, 4, "00*4"),
        (
            AttrValue::SymbolRef(SymbolRefAttr {
                root: "m".into(),
                nested: vec!["fg".into()],
                text: "t\n".into(),
            }),
            0x1d,
            0,
            1,
            "01 01 02 02 6d 66 67 74 0a 00",
        ),
        // Lists that only programs build: names of functions, and shapes.
        (
            list([AttrValue::Func("f".into())]),
            0x1e,
            0,
            4,
            "04 00 10 00 19 00 00 00 01 00 00 00 14 00 00 00 cc cc cc 1a 01 00 00 00 66",
        ),
    ];
    rows.into_iter()
        .map(|(value, code, offset, alignment, bytes)| Vector {
            value,
            code,
            offset,
            alignment,
            bytes: hex(bytes),
        })
        .collect()
}

#[test]
fn values_encode_to_the_recorded_bytes() {
    for vector in vectors() {
        let mut encoder = AttrEncoder::new();
        let offset = encoder
            .encode(&vector.value)
            .expect("the value has an encoding");
        assert_eq!(encoder.as_bytes(), vector.bytes, "{:?}", vector.value);
        assert_eq!(offset, vector.offset, "{:?}", vector.value);
        assert_eq!(encoder.alignment(), vector.alignment, "{:?}", vector.value);
        assert_eq!(vector.value.code().raw(), vector.code, "{:?}", vector.value);
    }
}

#[test]
fn recorded_bytes_verify_to_their_end_and_decode_to_the_value() {
    for vector in vectors() {
        let code = AttrTypeCode::from_raw(vector.code).expect("a known code");
        assert_eq!(
            verify(&vector.bytes, vector.offset, code),
            Ok(vector.bytes.len()),
            "{:?}",
            vector.value
        );
        assert_eq!(decode(&vector.bytes, vector.offset, code), Ok(vector.value));
    }
}

/// Reads the attribute as everything there is; whatever the bytes, this ends.
fn read_as_everything(section: &[u8], offset: u32) {
    macro_rules! read {
        ($($ty:ty),*) => { $( let _ = <$ty>::read(section, offset); )* };
    }
    read!(
        bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, DType, &str
    );
    read!(
        &[bool],
        &[u8],
        &[u16],
        &[u64],
        &[i32],
        &[f16],
        &[f64],
        Vec<DType>,
        Vec<&str>,
        Vec<ShapeView<'_>>
    );
    read!(ShapeView<'_>, DenseView<'_>, CompilationUnitView<'_>);
    for element in AggregateView::read(section, offset)
        .into_iter()
        .flat_map(AggregateView::iter)
    {
        read_as_everything(section, element.offset());
        element
            .decode()
            .expect("elements were verified with the list");
    }
    for code in (0..=255).filter_map(AttrTypeCode::from_raw) {
        if verify(section, offset, code).is_ok() {
            AttrRef::new(section, offset, code)
                .decode()
                .expect("what verifies decodes");
        }
    }
}

#[test]
fn damaged_bytes_never_panic() {
    for vector in vectors() {
        for len in 0..=vector.bytes.len() {
            read_as_everything(&AlignedBytes::from(&vector.bytes[..len]), vector.offset);
        }
        for at in 0..vector.bytes.len() {
            for byte in (0..=255).step_by(5).chain([1, 4, 8, 254, 0x1e]) {
                let mut damaged = vector.bytes.clone();
                damaged[at] = byte;
                read_as_everything(&AlignedBytes::from(&damaged[..]), vector.offset);
            }
        }
        for offset in [1, 2, 3, 1000, u32::MAX] {
            read_as_everything(&AlignedBytes::from(&vector.bytes[..]), offset);
        }
    }
}

#[test]
fn an_aggregate_whose_elements_overlap_is_refused() {
    let mut encoder = AttrEncoder::new();
    encoder
        .encode(&list([AttrValue::string("a"), AttrValue::string("b")]))
        .expect("the list has an encoding");
    let mut bytes = encoder.as_bytes().to_vec();
    bytes.copy_within(12..16, 16);
    let error =
        verify(&bytes, 0, AttrTypeCode::AGGREGATE).expect_err("both elements are the first");
    assert_eq!(
        error.to_string(),
        "attribute data at offset 16: expected an element offset above 29, found 24"
    );
}

#[test]
fn an_aggregate_that_holds_itself_is_refused() {
    let mut encoder = AttrEncoder::new();
    encoder
        .encode(&list([AttrValue::string("a")]))
        .expect("the list has an encoding");
    let mut bytes = encoder.as_bytes().to_vec();
    bytes[12..16].fill(0);
    assert!(verify(&bytes, 0, AttrTypeCode::AGGREGATE).is_err());
}

#[test]
fn an_empty_list_is_an_empty_array_of_anything() {
    let section = AlignedBytes::from(&[0, 0, 0, 0][..]);
    let empty = AttrRef::new(&section, 0, AttrTypeCode::EMPTY_ARRAY);
    assert_eq!(empty.read::<&[i64]>(), Ok(&[][..]));
    assert_eq!(empty.read::<Vec<&str>>(), Ok(vec![]));
    assert!(
        empty
            .read::<AggregateView<'_>>()
            .is_ok_and(AggregateView::is_empty)
    );
    assert_eq!(
        empty.read::<&str>().map_err(|error| error.to_string()),
        Err("attribute data at offset 0: expected string, found array of i32".to_owned())
    );
}

#[test]
fn an_array_of_i32_is_no_empty_list() {
    let section = AlignedBytes::from(&[1, 0, 0, 0, 7, 0, 0, 0][..]);
    let array = AttrRef::new(&section, 0, AttrTypeCode::EMPTY_ARRAY);
    assert_eq!(array.read::<&[i32]>(), Ok(&[7][..]));
    assert!(array.read::<&[i64]>().is_err());
}

#[test]
fn a_slice_of_misaligned_numbers_is_an_error() {
    let section = AlignedBytes::from(&[1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0][..]);
    let error = <&[i64]>::read(&section, 0).expect_err("the element is at offset 4");
    assert_eq!(
        error.to_string(),
        "attribute data at offset 4: expected an address that is a multiple of 8"
    );
}
