//! The rules that protect against undefined behaviour from a hostile file, each violated alone.
//!
//! A small valid file is damaged in one place, by a named mutation. The error must state the exact
//! offset, what was expected and what was found. One rule is missing here, since it needs
//! declarations: kernels of synchronous functions are synchronous, and others are not.

use tfrt_attr::AttrProblem;
use tfrt_attr::{AttrTypeCode, AttrValue, Scalar};
use tfrt_bef::builder::{KernelBuilder, ProgramBuilder};
use tfrt_bef::format::SectionId;
use tfrt_bef::write::WriteOptions;
use tfrt_bef::{BefError, BefFile, BefLocation, BodyPart, Reason};

use crate::common::verified;

/// `f(x) = c`, where `a = start {value = 7}`, `b = call(x, a) {callee = @g}`, `c = add(b, b)`; and
/// a native `g`.
///
/// The content of the Functions section, in bytes: location, 4 use counts, 4 kernels (the last
/// offset takes two bytes), the result, padding, records.
fn sound() -> Vec<u8> {
    let mut program = ProgramBuilder::with_options(WriteOptions {
        optional_sections: false,
    });
    let i32_type = program.add_type("i32");
    let g = program.add_native_function("g", &[], &[]).unwrap();
    let (_, mut f) = program.add_function("f", &[i32_type], &[i32_type]).unwrap();
    f.set_location(BefLocation::Unknown);
    let x = f.arguments()[0];
    let start = KernelBuilder::new("start").attribute("value", Scalar::i32(7));
    let [a] = f.add(start, [i32_type]).unwrap();
    let call = KernelBuilder::new("call")
        .operands(&[x, a])
        .function("callee", g);
    let [b] = f.add(call, [i32_type]).unwrap();
    let add = KernelBuilder::new("add").operands(&[b, b]);
    let [c] = f.add(add, [i32_type]).unwrap();
    program.define(f, &[c]).unwrap();
    program.finish().unwrap()
}

const USE_COUNTS: usize = 2;
const NUM_KERNELS: usize = 6;
const KERNEL_TABLE: usize = 7;
const RESULT: usize = 20;
const RECORDS: usize = 24;

/// In bytes from the first record.
const PSEUDO: usize = 0;
const START: usize = 48;
const CALL: usize = 88;
const ADD: usize = 140;

#[test]
fn the_layout_is_the_one_that_these_tests_assume() {
    let bytes = sound();
    let bef = verified(&bytes).unwrap();
    let functions = bef.section(SectionId::Functions);
    assert_eq!(functions[USE_COUNTS..NUM_KERNELS], [1, 1, 2, 1]);
    assert_eq!(
        functions[NUM_KERNELS..RESULT + 1],
        [4, 0, 0, 0, 48, 0, 0, 88, 2, 0, 0x81, 12, 2, 0, 3]
    );
    assert_eq!(functions[RECORDS..RECORDS + 4], [0xab; 4]);
    assert_eq!(functions.len(), RECORDS + ADD + 40);
}

/// Returns the range of the section in the file.
fn start_of(bytes: &[u8], section: SectionId) -> usize {
    let file = BefFile::from_bytes(bytes);
    file.sections().unwrap().range(section).unwrap().start
}

/// A position in a section, in bytes.
#[derive(Clone, Copy)]
struct At(SectionId, usize);

/// Byte `at` of the Functions section.
fn body(at: usize) -> At {
    At(SectionId::Functions, at)
}

/// Word `word` of the record at byte `record` after the first one.
fn record(record: usize, word: usize) -> At {
    body(RECORDS + record + 4 * word)
}

/// Returns the valid file with some bytes replaced.
fn damaged(changes: &[(At, &[u8])]) -> Vec<u8> {
    let mut bytes = sound();
    for &(At(section, at), new) in changes {
        let start = start_of(&bytes, section) + at;
        bytes[start..start + new.len()].copy_from_slice(new);
    }
    bytes
}

/// Checks the kind, the offset and the message of the error.
fn check(
    name: &str,
    bytes: &[u8],
    error: BefError,
    reason: Reason,
    At(section, offset): At,
    detail: &str,
) {
    assert_eq!(error.reason(), reason, "{name}: {error}");
    assert_eq!(error.detail(), detail, "{name}");
    assert_eq!(error.section(), Some(section), "{name}: {error}");
    let found = error.offset().wrapping_sub(start_of(bytes, section));
    assert_eq!(found, offset, "{name}: {error}");
}

/// Damages the valid file and checks the error.
fn refuse(name: &str, changes: &[(At, &[u8])], reason: Reason, at: At, detail: &str) {
    let bytes = damaged(changes);
    let error = verified(&bytes).expect_err(name);
    check(name, &bytes, error, reason, at, detail);
}

/// Damages one place and expects the error there or at `at`.
fn refuse_records(name: &str, changes: &[(At, &[u8])], at: At, detail: &str) {
    refuse(
        name,
        changes,
        Reason::AsyncBody(BodyPart::Records),
        at,
        detail,
    );
}

#[test]
fn names_and_kinds_are_checked() {
    let index = |at| At(SectionId::FunctionIndex, at);
    refuse(
        "function kind other than 0, 1 and 2",
        &[(index(1), &[3])],
        Reason::FunctionIndex,
        index(1),
        "expected function kind 0, 1 or 2, found 3",
    );
    refuse(
        "string without an end",
        // The last string is the name of kernel 0.
        &[(At(SectionId::Strings, 22), b"t")],
        Reason::Kernels,
        At(SectionId::Kernels, 1),
        "expected the name of a kernel in Strings, found offset 17 of a string that is not UTF-8 \
         or not terminated",
    );
    refuse(
        "string offset beyond the section",
        &[(At(SectionId::Types, 1), &[127])],
        Reason::Types,
        At(SectionId::Types, 1),
        "expected the name of a type below 23, found 127",
    );
    refuse(
        "type index beyond the types",
        // The entry of `f`: kind, body, name, count, type.
        &[(index(10), &[1])],
        Reason::FunctionIndex,
        index(10),
        "expected a type index below 1, found 1",
    );
    refuse(
        "body of another function",
        // The native function becomes one with a body.
        &[(index(1), &[0])],
        Reason::AsyncBodyOffset,
        index(2),
        "expected a separate body for function 0, found the body of another function",
    );
    refuse(
        "body beyond the section",
        // One function: asynchronous, body at 16383, the first name, no arguments and results.
        &[(index(0), &[1, 0, 0xff, 0x7f, 0, 0, 0])],
        Reason::AsyncBodyOffset,
        index(2),
        "expected the offset of a body below 204, found 16383 for function 0",
    );
}

#[test]
fn the_tables_of_a_body_are_checked() {
    refuse(
        "result register out of range",
        &[(body(RESULT), &[4])],
        Reason::AsyncBody(BodyPart::Results),
        body(RESULT),
        "expected a result register below 4, found 4",
    );
    refuse(
        "no kernel",
        &[(body(NUM_KERNELS), &[0])],
        Reason::AsyncBody(BodyPart::NumKernels),
        body(NUM_KERNELS),
        "expected at least the pseudo kernel, found no kernels",
    );
    refuse(
        "use count that disagrees with the records",
        &[(body(USE_COUNTS + 2), &[3])],
        Reason::AsyncBody(BodyPart::UseCounts),
        body(USE_COUNTS),
        "expected 2 uses of register 2, found a use count of 3",
    );
    refuse_records(
        "kernel offset that is not a multiple of 4",
        &[(body(KERNEL_TABLE + 3), &[49])],
        body(KERNEL_TABLE + 3),
        "kernel 1: expected a multiple of 4, found a record offset of 49",
    );
    refuse_records(
        "kernel offset beyond the words",
        &[(body(KERNEL_TABLE + 9), &[0x82, 0])],
        body(KERNEL_TABLE + 9),
        "kernel 3: expected a record within the body, found a record offset of 256",
    );
    refuse_records(
        "ready count that disagrees with the operands",
        &[(body(KERNEL_TABLE + 7), &[1])],
        record(CALL, 0),
        "kernel 2: expected 1 operands, found 2",
    );
}

#[test]
fn records_are_checked() {
    refuse_records(
        "record past the section",
        &[(record(ADD, 3), &[0xff, 0xff, 0xff, 0xff])],
        body(KERNEL_TABLE + 9),
        "kernel 3: expected a record within the body, found a record offset of 140",
    );
    refuse_records(
        "kernel code out of range",
        &[(record(CALL, 0), &[3])],
        record(CALL, 0),
        "kernel 2: expected a kernel code below 3, found 3",
    );
    refuse_records(
        "operand out of range",
        &[(record(CALL, 7), &[4])],
        record(CALL, 0),
        "kernel 2: expected an operand register below 4, found 4",
    );
    refuse_records(
        "pseudo register as the result of a kernel",
        &[(record(CALL, 10), &[4])],
        record(CALL, 0),
        "kernel 2: expected a result register below 4, found 4",
    );
    refuse_records(
        "register that is defined twice",
        &[(record(CALL, 10), &[1])],
        record(CALL, 0),
        "kernel 2: expected a register that is defined once, found another definition of register 1",
    );
    refuse_records(
        "function id out of range",
        &[(record(CALL, 9), &[2])],
        record(CALL, 0),
        "kernel 2: expected a function id below 2, found 2",
    );
    refuse_records(
        "user out of range",
        &[(record(CALL, 11), &[4])],
        record(CALL, 0),
        "kernel 2: expected a user below 4, found 4",
    );
    refuse_records(
        "pseudo kernel as a user",
        &[(record(CALL, 11), &[0])],
        record(CALL, 0),
        "kernel 2: expected kernels as users, found the pseudo kernel",
    );
    refuse_records(
        "attribute beyond the section",
        &[(record(START, 7), &[4])],
        record(START, 0),
        "kernel 1: expected an attribute offset below 4, found 4",
    );
    refuse_records(
        "users that are not those with the operand",
        &[(record(START, 9), &[3])],
        record(START, 0),
        "kernel 1: expected the 1 kernels that use register 1 as its users, found a list of 1 \
         kernels",
    );
}

#[test]
fn the_pseudo_kernel_is_checked() {
    refuse_records(
        "marks of an ordinary kernel",
        &[(record(PSEUDO, 0), &[0, 0, 0, 0])],
        record(PSEUDO, 0),
        "kernel 0: expected the marks of the pseudo kernel, found (0, cdcdcdcd)",
    );
    // The only argument becomes the function that the kernel would refer to.
    let (results, functions) = (record(PSEUDO, 5), record(PSEUDO, 4));
    refuse_records(
        "functions of the pseudo kernel",
        &[(results, &[1]), (functions, &[1])],
        record(PSEUDO, 0),
        "kernel 0: expected a pseudo kernel without operands, attributes and functions",
    );
    // The signature has no argument, which the pseudo record contradicts.
    let mut bytes = sound();
    let index = start_of(&bytes, SectionId::FunctionIndex);
    bytes[index + 9..index + 13].copy_from_slice(&[0, 1, 0, 0]);
    let error = verified(&bytes).expect_err("arguments other than those of the index");
    check(
        "arguments other than those of the index",
        &bytes,
        error,
        Reason::AsyncBody(BodyPart::Records),
        record(PSEUDO, 0),
        "kernel 0: expected register 4 and 0 arguments as results, found 2 results",
    );
}

#[test]
fn integers_of_more_than_64_bits_are_refused() {
    let mut integer = vec![0x82];
    integer.extend([0xff; 8]);
    integer.push(0x7f);
    let mut bytes = vec![0x0b, 0xef, 0, 2, (integer.len() as u8) << 1];
    bytes.extend(integer);
    let error = verified(&bytes).expect_err("a number of kernels of 65 bits");
    check(
        "number of kernels",
        &bytes,
        error,
        Reason::Kernels,
        At(SectionId::Kernels, 0),
        "expected a number of kernels of at most 64 bits, found a longer integer",
    );
}

/// Replaces byte `at` of the attribute in a file that has one, and returns the result of reading
/// its types.
fn damaged_attribute(value: AttrValue, at: usize, byte: u8) -> (Vec<u8>, BefError) {
    let mut program = ProgramBuilder::new();
    let (_, mut f) = program.add_function("f", &[], &[]).unwrap();
    let kernel = KernelBuilder::new("k").attribute("a", value);
    f.add(kernel, []).unwrap();
    program.define(f, &[]).unwrap();
    let mut bytes = program.finish().unwrap();
    let start = start_of(&bytes, SectionId::Attributes);
    bytes[start + at] = byte;
    let bef = verified(&bytes).expect("attributes are checked when they are looked at");
    let error = bef.attribute_types().expect_err("a damaged attribute");
    (bytes, error)
}

#[test]
fn attributes_stay_in_their_section() {
    let reason = Reason::Section(SectionId::AttributeTypes);
    let list = || AttrValue::Array(vec![AttrValue::string("a"), Scalar::bool(true).into()]);
    let shape = || AttrValue::Shape(Some(vec![2, 3]));
    let i64s = || AttrValue::Array(vec![Scalar::i64(1).into(), Scalar::i64(2).into()]);
    // A header of 8 bytes precedes a list of offsets; a shape and the numbers follow 4 bytes of
    // padding.
    for (name, value, at, byte, offset, detail) in [
        (
            "string that is longer than the section",
            AttrValue::string("hey"),
            0,
            4,
            4,
            "string: attribute data at offset 4: expected 4 bytes, found 3",
        ),
        (
            "array that is longer than the section",
            i64s(),
            4,
            3,
            8,
            "array of i64: attribute data at offset 8: expected 24 bytes, found 16",
        ),
        (
            "shape with an alignment of its own",
            shape(),
            4,
            3,
            4,
            "shape: attribute data at offset 4: expected an alignment of 8, found 3",
        ),
        (
            "shape with another size than its rank calls for",
            shape(),
            12,
            1,
            8,
            "shape: attribute data at offset 8: expected a total size of 20, found 28",
        ),
        (
            "list with an element in its header",
            list(),
            12,
            0,
            12,
            "aggregate: attribute data at offset 12: expected an element offset above 20, found 0",
        ),
    ] {
        let (bytes, error) = damaged_attribute(value, at, byte);
        let at = At(SectionId::Attributes, offset);
        check(name, &bytes, error, reason, at, detail);
    }
}

#[test]
fn what_nests_too_deep_is_refused_and_takes_no_stack() {
    // Lists of one list each: header, number of elements, offset of the element, padding, its type
    // code; finally an empty one.
    let nested = |depth: usize| -> Vec<u8> {
        let level = |level: usize| {
            let total_bytes = (20 * (depth - level) + 4) as u32;
            let header = [[4, 0, 16, 0], total_bytes.to_le_bytes()];
            let element = [[1, 0, 0, 0], [20, 0, 0, 0], [0xcc, 0xcc, 0xcc, 30]];
            [header.concat(), element.concat()].concat()
        };
        let levels = (0..depth).flat_map(level);
        levels.chain([0; 4]).collect()
    };
    let limit = tfrt_attr::limits::MAX_NESTING as usize;
    let verify =
        |depth: usize| tfrt_attr::verify::verify(&nested(depth), 0, AttrTypeCode::AGGREGATE);
    assert_eq!(verify(limit), Ok(20 * limit + 4));
    for depth in [limit + 1, 100_000] {
        let error = verify(depth).expect_err("a list that nests too deep");
        assert_eq!(error.problem(), AttrProblem::TooDeep);
        assert_eq!(error.offset(), 20 * limit);
    }

    // A location with 100,000 levels is ignored, and its file is accepted.
    let mut program = ProgramBuilder::new();
    let (_, mut f) = program.add_function("f", &[], &[]).unwrap();
    f.set_location(BefLocation::Unknown);
    program.define(f, &[]).unwrap();
    let mut bytes = program.finish().unwrap();
    let mut deep = vec![7];
    tfrt_attr::vbr::write(&mut deep, 200_001 << 1);
    deep.extend([4, 1].repeat(100_000));
    deep.push(0);
    bytes.extend(deep);
    let bef = verified(&bytes).unwrap();
    let f = bef.function(bef.find_function("f").unwrap()).unwrap();
    assert_eq!(bef.location(f.location()), None);
}
