//! Attributes: a kernel is rejected before it runs if it cannot read them.

use std::sync::Arc;

use tfrt_attr::{AttrValue, Scalar};
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, KernelAttribute, WriteOptions};
use tfrt_bef::{BefFile, BefLocation, FunctionKind, RegisterId};
use tfrt_executor::Program;
use tfrt_host::__private::{Attribute, Declared, Payload};
use tfrt_host::kernel::{KernelDescriptor, KernelRegistry};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_ods::{AttrDef, AttrKind, OpDef};
use tfrt_support::entity::EntityId;

use crate::support::alone;

struct Repeat;

impl Declared for Repeat {
    const OP: &'static OpDef = &const {
        OpDef {
            attributes: &[
                AttrDef {
                    name: "numbers",
                    kind: AttrKind::Array(&AttrKind::I64),
                    default: None,
                },
                AttrDef {
                    name: "text",
                    kind: AttrKind::String,
                    default: None,
                },
            ],
            ..OpDef::new("test.repeat")
        }
    };
}

/// Builds a program of one kernel with these attributes. `says_kinds` decides whether the file
/// states their kinds.
fn load(says_kinds: bool, attributes: &[AttrValue]) -> Result<i64, (String, tfrt_support::Place)> {
    let mut registry = KernelRegistry::new();
    registry
        .add(KernelDescriptor::new::<
            Repeat,
            (Attribute<[i64], 0>, Attribute<str, 1>),
            Payload<i64>,
            _,
        >(|(numbers, text)| {
            numbers.iter().sum::<i64>() + text.len() as i64
        }))
        .expect("it is the only one");
    let mut builder = BefBuilder::new(WriteOptions {
        optional_sections: says_kinds,
    });
    let ty = builder.add_type("i64");
    let named = ["numbers", "text"].into_iter().zip(attributes);
    let attributes = named.map(|(name, value)| KernelAttribute {
        name: name.into(),
        value: builder.add_attribute(value.clone()).expect("it fits"),
    });
    let attributes = attributes.collect();
    let result = RegisterId::from_index(0);
    let kernel = BodyKernel {
        location: Some(BefLocation::File {
            file: "repeat.mlir".into(),
            line: 3,
            column: 5,
        }),
        attributes,
        results: vec![result],
        ..BodyKernel::new(builder.add_kernel_name(Repeat::OP.name))
    };
    let main = builder.declare_function(FunctionKind::Async, "main", vec![], vec![ty]);
    let body = Body {
        location: None,
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![ty],
        kernels: vec![kernel],
        results: vec![result],
    };
    builder.define_body(main, body);
    let file = BefFile::from_bytes(&builder.finish().expect("the body is well formed"));
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    let program = Program::load(&host, &file).expect("the kernel exists");
    program
        .verify_all()
        .map_err(|error| (error.message().to_owned(), error.place().clone()))?;
    let main = program.function("main").expect("the file has it");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let results = main.execute(&ctx, &[]);
    Ok(*results[0].get::<i64>().expect("nothing fails"))
}

fn numbers(numbers: &[i64]) -> AttrValue {
    AttrValue::Array(
        numbers
            .iter()
            .map(|&number| Scalar::i64(number).into())
            .collect(),
    )
}

#[test]
fn attributes_are_read_where_they_lie() {
    let _alone = alone();
    for says_kinds in [true, false] {
        let hello = AttrValue::string("hello");
        assert_eq!(load(says_kinds, &[numbers(&[20, 17]), hello]), Ok(42));
        let nothing = AttrValue::Array(Vec::new());
        let empty = AttrValue::string("");
        assert_eq!(load(says_kinds, &[nothing, empty]), Ok(0));
    }
}

#[test]
fn an_attribute_of_another_kind_is_refused_at_its_kernel() {
    let _alone = alone();
    let refused = |attributes: &[AttrValue]| {
        let (message, place) = load(true, attributes).expect_err("they are not what is read");
        assert_eq!(place.to_string(), "repeat.mlir:3:5");
        message
    };
    let seven = || AttrValue::from(Scalar::i32(7));
    assert_eq!(
        refused(&[numbers(&[1]), seven()]),
        "attribute `text` of `test.repeat`: expected string, found i32"
    );
    let narrow = AttrValue::Array(vec![seven(), seven()]);
    assert_eq!(
        refused(&[narrow, AttrValue::string("")]),
        "attribute `numbers` of `test.repeat`: expected array of i64, found array of i32"
    );
    assert_eq!(
        refused(&[numbers(&[1])]),
        "attribute `text` of `test.repeat` is missing"
    );
}

#[test]
fn bytes_that_are_no_such_attribute_are_refused_though_the_file_does_not_say_what_they_are() {
    let _alone = alone();
    // A length that points far beyond the end of the section.
    let far = AttrValue::from(Scalar::i32(i32::MAX));
    let refused = load(false, &[numbers(&[1]), far]);
    let (message, _) = refused.expect_err("there are not so many bytes");
    assert!(
        message.starts_with("attribute `text` of `test.repeat`: "),
        "{message}"
    );
}
