//! Programs as TFRT writes them: built with the writer, compared byte for byte, and read back.

use crate::common::{dump, verified};
use tfrt_attr::{AttrValue, Scalar};
use tfrt_bef::format::SectionId;
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, KernelAttribute, WriteOptions};
use tfrt_bef::{
    BefFile, BefLocation, FunctionId, FunctionKind, KernelCode, KernelId, RegisterId, TypeNameId,
};
use tfrt_support::DType;
use tfrt_support::entity::EntityId;

fn assert_same_bytes(found: &[u8], expected: &[u8]) {
    if let Some(at) =
        (0..found.len().max(expected.len())).find(|&at| found.get(at) != expected.get(at))
    {
        panic!(
            "byte {at:#x}: expected {:02x?}, found {:02x?}",
            expected.get(at),
            found.get(at)
        );
    }
}

fn r(index: usize) -> RegisterId {
    RegisterId::from_index(index)
}

fn at(file: &str, line: u32, column: u32) -> Option<BefLocation> {
    Some(BefLocation::File {
        file: file.into(),
        line,
        column,
    })
}

/// `func @f() -> i32 { %a = tfrt.constant.i32 7; tfrt.return %a : i32 }`
fn one_constant(options: WriteOptions) -> Vec<u8> {
    let mut builder = BefBuilder::new(options);
    let i32_type = builder.add_type("i32");
    let code = builder.add_kernel_name("tfrt.constant.i32");
    builder.add_attribute_type("i32");
    let value = builder.add_attribute(Scalar::i32(7).into()).unwrap();
    let f = builder.declare_function(FunctionKind::Async, "f", vec![], vec![i32_type]);
    let constant = BodyKernel {
        location: at("one.mlir", 2, 8),
        attributes: vec![KernelAttribute {
            name: "value".into(),
            value,
        }],
        results: vec![r(0)],
        ..BodyKernel::new(code)
    };
    let body = Body {
        location: at("one.mlir", 1, 1),
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![i32_type],
        kernels: vec![constant],
        results: vec![r(0)],
    };
    builder.define_body(f, body);
    builder.finish().unwrap()
}

#[test]
fn one_constant_is_written_as_recorded() {
    assert_same_bytes(
        &one_constant(WriteOptions::default()),
        &dump(include_str!("one.hex")),
    );
}

#[test]
fn one_constant_without_optional_sections_is_written_as_described() {
    let bytes = one_constant(WriteOptions {
        optional_sections: false,
    });
    assert_eq!(bytes.len(), 161);
    assert_eq!(bytes[3..5], [0x00, 0x30]);
    let sections = BefFile::from_bytes(&bytes);
    let sections = sections.sections().unwrap();
    assert_eq!(sections.range(SectionId::Attributes), Some(0x20..0x24));
    assert_eq!(bytes[0x1d..0x24], [0x01, 0x09, 0x04, 7, 0, 0, 0]);
}

/// A call, a chain and several kinds of attributes.
fn call_and_attributes() -> Vec<u8> {
    let mut builder = BefBuilder::new(WriteOptions::default());
    let file = "two.mlir";

    let i32_type = builder.add_type("i32");
    let add = builder.add_kernel_name("tfrt.add.i32");
    let sum = builder.declare_function(
        FunctionKind::Async,
        "sum",
        vec![i32_type; 2],
        vec![i32_type],
    );

    let chain_type = builder.add_type("!tfrt.chain");
    let new_chain = builder.add_kernel_name("tfrt.new.chain");
    let constant = builder.add_kernel_name("tfrt.constant.i32");
    let attribute = |builder: &mut BefBuilder, name: &str, value: AttrValue| {
        builder.add_attribute_name(name);
        KernelAttribute {
            name: name.into(),
            value: builder.add_attribute(value).unwrap(),
        }
    };
    let value = attribute(&mut builder, "value", Scalar::i32(7).into());
    let call = builder.add_kernel_name("tfrt.call");
    let demo = builder.add_kernel_name("demo.op");
    let list = AttrValue::Array(vec![Scalar::i64(1).into(), Scalar::i64(2).into()]);
    builder.add_attribute_type("i64");
    let list = attribute(&mut builder, "list", list);
    builder.add_attribute_type("i1");
    let mix = AttrValue::Array(vec![Scalar::bool(true).into(), AttrValue::string("s")]);
    let mix = attribute(&mut builder, "mix", mix);
    let name = attribute(&mut builder, "name", AttrValue::string("hi"));
    let ty = attribute(&mut builder, "ty", AttrValue::Type(DType::F32));
    let main = builder.declare_function(
        FunctionKind::Async,
        "main",
        vec![],
        vec![i32_type, chain_type],
    );

    let body = Body {
        location: at(file, 1, 1),
        root_stream: 0,
        num_arguments: 2,
        register_types: vec![i32_type; 3],
        kernels: vec![BodyKernel {
            location: at(file, 2, 8),
            operands: vec![r(0), r(1)],
            results: vec![r(2)],
            ..BodyKernel::new(add)
        }],
        results: vec![r(2)],
    };
    builder.define_body(sum, body);

    let (ch, a, s, t) = (r(0), r(1), r(2), r(3));
    let kernels = vec![
        BodyKernel {
            location: at(file, 7, 9),
            stream: 1,
            results: vec![ch],
            ..BodyKernel::new(new_chain)
        },
        BodyKernel {
            location: at(file, 8, 8),
            attributes: vec![value],
            results: vec![a],
            ..BodyKernel::new(constant)
        },
        BodyKernel {
            location: at(file, 9, 8),
            operands: vec![a, a],
            functions: vec![sum],
            results: vec![s],
            ..BodyKernel::new(call)
        },
        BodyKernel {
            location: at(file, 10, 8),
            operands: vec![s, ch],
            attributes: vec![list, mix, name, ty],
            results: vec![t],
            ..BodyKernel::new(demo)
        },
    ];
    let body = Body {
        location: at(file, 6, 1),
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![chain_type, i32_type, i32_type, chain_type],
        kernels,
        results: vec![s, t],
    };
    builder.define_body(main, body);
    builder.finish().unwrap()
}

#[test]
fn a_call_with_attributes_is_written_as_recorded() {
    assert_same_bytes(&call_and_attributes(), &dump(include_str!("two.hex")));
}

#[test]
fn a_call_with_attributes_reads_back() {
    let bef = verified(&dump(include_str!("two.hex"))).unwrap();
    let main = bef.function(bef.find_function("main").unwrap()).unwrap();
    assert_eq!(main.use_counts(), [1, 2, 2, 1]);
    assert_eq!(main.results(), [r(2), r(3)]);
    assert_eq!(main.kernel_table()[1].stream, 1);
    assert_eq!(main.pseudo_record().users().as_words(), [1, 2]);

    let demo = main.record(KernelId::from_index(4));
    assert_eq!(bef.kernel_name(demo.code), "demo.op");
    assert_eq!(demo.operands.as_words(), [2, 0]);
    assert_eq!(bef.place(demo.location).to_string(), "two.mlir:10:8");
    let attribute = |index| demo.attributes.get(index).unwrap();
    assert_eq!(bef.attribute::<&[i64]>(attribute(0)), Ok(&[1, 2][..]));
    assert_eq!(bef.attribute::<&str>(attribute(2)), Ok("hi"));
    assert_eq!(bef.attribute::<DType>(attribute(3)), Ok(DType::F32));

    let call = main.record(KernelId::from_index(3));
    assert_eq!(call.functions.get(0), bef.find_function("sum"));
    let constant = main.record(KernelId::from_index(2));
    let users: Vec<_> = constant
        .results_with_users()
        .map(|(register, users)| (register, users.as_words()))
        .collect();
    assert_eq!(users, [(r(1), &[3, 3][..])]);

    let names = bef.attribute_names().unwrap().unwrap();
    assert_eq!(names[main.id()], ["value", "list", "mix", "name", "ty"]);
    let types = bef.register_types().unwrap().unwrap();
    let spellings: Vec<&str> = types[main.id()]
        .iter()
        .map(|&index| bef.type_name(index))
        .collect();
    assert_eq!(spellings, ["!tfrt.chain", "i32", "i32", "!tfrt.chain"]);
}

#[test]
fn an_empty_program_is_written_as_recorded() {
    let bytes = BefBuilder::new(WriteOptions::default()).finish().unwrap();
    let expected = [
        &[0x0b, 0xef, 0x00][..],
        &[0x00, 0x00],
        &[0x01, 0x00],
        &[0x02, 0x02, 0x00],
        &[0x03, 0x02, 0x00],
        &[0x04, 0x02, 0x00],
        &[0x05, 0x00],
        &[0x08, 0x02, 0x00],
        &[0x09, 0x02, 0x00],
        &[0x0a, 0x02, 0x00],
    ];
    assert_eq!(bytes, expected.concat());
    assert_eq!(verified(&bytes).unwrap().functions().len(), 0);
}

#[test]
fn a_native_declaration_has_no_body_and_no_table() {
    let mut builder = BefBuilder::new(WriteOptions::default());
    let sink = builder.declare_function(FunctionKind::Native, "native_sink", vec![], vec![]);
    let bytes = builder.finish().unwrap();
    let file = BefFile::from_bytes(&bytes);
    let sections = file.sections().unwrap();
    assert_eq!(
        sections.bytes(SectionId::Strings),
        Some(&b"native_sink\0"[..])
    );
    assert_eq!(
        sections.bytes(SectionId::FunctionIndex),
        Some(&[1, 1, 0, 0, 0, 0][..])
    );
    assert_eq!(sections.bytes(SectionId::Functions), Some(&[][..]));
    assert_eq!(sections.bytes(SectionId::Locations), None);
    assert_eq!(sections.bytes(SectionId::AttributeNames), Some(&[1][..]));
    assert_eq!(sections.bytes(SectionId::RegisterTypes), Some(&[1][..]));
    let bef = verified(&bytes).unwrap();
    assert_eq!(bef.find_function("native_sink"), Some(sink));
    assert!(
        bef.function(sink)
            .is_err_and(|error| error.reason() == tfrt_bef::Reason::NoBody)
    );
}

#[test]
fn tables_hold_each_name_once_in_the_order_of_first_use() {
    let mut builder = BefBuilder::new(WriteOptions::default());
    let types = ["i64", "i32", "i64"].map(|spelling| builder.add_type(spelling));
    assert_eq!(types, [0, 1, 0].map(TypeNameId::from_index));
    let codes = ["z", "a", "z"].map(|name| builder.add_kernel_name(name));
    assert_eq!(codes, [0, 1, 0].map(KernelCode::from_index));
    let values = [Scalar::i8(1), Scalar::i16(1), Scalar::i8(1)]
        .map(|value| builder.add_attribute(value.into()).unwrap());
    assert_eq!(values[0], values[2]);
    assert_ne!(values[0], values[1]);
    let bef = verified(&builder.finish().unwrap()).unwrap();
    assert_eq!(bef.section(SectionId::Strings), b"a\0i32\0i64\0z\0");
}

#[test]
fn names_of_attributes_are_no_strings_without_optional_sections() {
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: false,
    });
    builder.add_attribute_name("value");
    builder.add_attribute_type("i32");
    let bef = verified(&builder.finish().unwrap()).unwrap();
    assert_eq!(bef.section(SectionId::Strings), b"");
    assert_eq!(bef.types().len(), 0);
    assert!(bef.attribute_types().is_ok_and(|types| types.is_none()));
}

#[test]
fn the_last_of_two_functions_of_one_name_is_found() {
    let mut builder = BefBuilder::new(WriteOptions::default());
    let native = |builder: &mut BefBuilder, name: &str| {
        builder.declare_function(FunctionKind::Native, name, vec![], vec![])
    };
    let ids = ["f", "", "f", "ff"].map(|name| native(&mut builder, name));
    let bef = verified(&builder.finish().unwrap()).unwrap();
    let found: Vec<Option<FunctionId>> = ["f", "ff", "", "x"]
        .map(|name| bef.find_function(name))
        .into();
    assert_eq!(found, [Some(ids[2]), Some(ids[3]), None, None]);
}
