//! One violation of a rule at a time, and the resulting message.

use tfrt_bef::format::{KernelFlags, SectionId};
use tfrt_bef::write::{
    BefBuilder, Body, BodyError, BodyKernel, OperationError, WriteError, WriteOptions,
};
use tfrt_bef::{
    BefError, BefFile, BefLocation, BodyPart, FunctionKind, KernelId, Reason, RegisterId,
};
use tfrt_support::entity::EntityId;

use crate::common::verified;

/// The registers of `f`.
fn registers() -> [RegisterId; 4] {
    [0, 1, 2, 3].map(RegisterId::from_index)
}

/// Builds a program with a function `f` with one argument `x` and one result `c`, and the kernels
/// `a = start()`, `b = add(x, a)`, `c = add(b, b)`; `change` modifies it.
fn builder(kind: FunctionKind, change: impl FnOnce(&mut Body)) -> BefBuilder {
    let mut builder = BefBuilder::new(WriteOptions::default());
    let i32_type = builder.add_type("i32");
    let start = builder.add_kernel_name("start");
    let add = builder.add_kernel_name("add");
    let f = builder.declare_function(kind, "f", vec![i32_type], vec![i32_type]);
    let [x, a, b, c] = registers();
    let kernels = vec![
        BodyKernel {
            results: vec![a],
            ..BodyKernel::new(start)
        },
        BodyKernel {
            operands: vec![x, a],
            results: vec![b],
            ..BodyKernel::new(add)
        },
        BodyKernel {
            operands: vec![b, b],
            results: vec![c],
            ..BodyKernel::new(add)
        },
    ];
    let mut body = Body {
        location: Some(BefLocation::Unknown),
        root_stream: 0,
        num_arguments: 1,
        register_types: vec![i32_type; 4],
        kernels,
        results: vec![c],
    };
    change(&mut body);
    builder.define_body(f, body);
    builder
}

fn file(kind: FunctionKind) -> Vec<u8> {
    changed(kind, |_| ())
}

fn changed(kind: FunctionKind, change: impl FnOnce(&mut Body)) -> Vec<u8> {
    builder(kind, change).finish().unwrap()
}

/// Returns the range of the section in the file.
fn start_of(bytes: &[u8], section: SectionId) -> usize {
    BefFile::from_bytes(bytes)
        .sections()
        .unwrap()
        .range(section)
        .unwrap()
        .start
}

/// The offsets of the parts of the body, in bytes: location, 4 use counts, 4 kernels (the last
/// offset takes two bytes), 1 result, padding, records.
const USE_COUNTS: usize = 2;
const NUM_KERNELS: usize = 6;
const KERNEL_TABLE: usize = 7;
const RESULTS: usize = 20;
const RECORDS: usize = 24;

/// Word offsets of the records: the pseudo kernel has two results and two users, and the others
/// follow.
const PSEUDO: usize = 0;
const START: usize = 12;
const ADD: usize = START + 9;
const ADD_AGAIN: usize = ADD + 12;

/// Returns the file with byte `at` of the Functions section replaced.
fn with_byte(kind: FunctionKind, at: usize, byte: u8) -> BefError {
    let mut bytes = file(kind);
    let start = start_of(&bytes, SectionId::Functions);
    bytes[start + at] = byte;
    verified(&bytes).unwrap_err()
}

/// Returns the file with word `at` of the records replaced.
fn with_word(kind: FunctionKind, at: usize, word: u32) -> BefError {
    let mut bytes = file(kind);
    let start = start_of(&bytes, SectionId::Functions) + RECORDS + 4 * at;
    bytes[start..start + 4].copy_from_slice(&word.to_le_bytes());
    verified(&bytes).unwrap_err()
}

fn assert_refused(error: BefError, reason: Reason, detail: &str) {
    assert_eq!((error.reason(), error.detail()), (reason, detail));
    assert!(error.to_string().starts_with(&error.reference_message()));
}

const ASYNC_RECORDS: Reason = Reason::AsyncBody(BodyPart::Records);

#[test]
fn the_layout_is_the_one_that_these_tests_assume() {
    for kind in [FunctionKind::Async, FunctionKind::Sync] {
        let bef = verified(&file(kind)).unwrap();
        let body = bef.function(bef.find_function("f").unwrap()).unwrap();
        assert_eq!(body.use_counts(), [1, 1, 2, 1]);
        assert_eq!(
            body.kernel_table()
                .iter()
                .map(|entry| entry.num_operands)
                .collect::<Vec<_>>(),
            [0, 0, 2, 2]
        );
        let functions = bef.section(SectionId::Functions);
        assert_eq!(
            functions[KERNEL_TABLE..RESULTS],
            [0, 0, 0, 48, 0, 0, 84, 2, 0, 0x81, 0x04, 2, 0]
        );
        assert_eq!([48, 84, 132], [4 * START, 4 * ADD, 4 * ADD_AGAIN]);
        assert_eq!(functions[RECORDS..RECORDS + 4], [0xab; 4]);
    }
}

#[test]
fn the_pseudo_kernel_must_look_like_one() {
    let error = with_word(FunctionKind::Async, PSEUDO, 0);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 0: expected the marks of the pseudo kernel, found (0, cdcdcdcd)",
    );
    let error = with_word(FunctionKind::Async, PSEUDO + 8, 1);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 0: expected register 4 and 1 arguments as results, found 2 results",
    );
}

#[test]
fn indices_must_be_in_range() {
    let error = with_word(FunctionKind::Async, ADD, 2);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected a kernel code below 2, found 2",
    );
    let error = with_word(FunctionKind::Async, ADD + 7, 4);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected an operand register below 4, found 4",
    );
    let error = with_word(FunctionKind::Async, ADD + 9, 4);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected a result register below 4, found 4",
    );
    let error = with_word(FunctionKind::Async, ADD + 10, 4);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected a user below 4, found 4",
    );
    let error = with_word(FunctionKind::Async, ADD + 10, 0);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected kernels as users, found the pseudo kernel",
    );
}

#[test]
fn attributes_and_functions_must_exist() {
    // The second operand of the second addition becomes an attribute, or a function.
    for (counts, detail) in [
        (
            [1, 1, 0],
            "kernel 3: expected an attribute offset below 0, found 2",
        ),
        (
            [1, 0, 1],
            "kernel 3: expected a function id below 1, found 2",
        ),
    ] {
        let mut bytes = file(FunctionKind::Async);
        let start = start_of(&bytes, SectionId::Functions);
        bytes[start + KERNEL_TABLE + 11] = counts[0];
        for (word, count) in counts.into_iter().enumerate() {
            bytes[start + RECORDS + 4 * (ADD_AGAIN + 2 + word)] = count;
        }
        assert_refused(verified(&bytes).unwrap_err(), ASYNC_RECORDS, detail);
    }
}

#[test]
fn the_kernel_table_has_the_number_of_operands() {
    let error = with_byte(FunctionKind::Async, KERNEL_TABLE + 7, 1);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected 1 operands, found 2",
    );
}

#[test]
fn records_must_be_aligned_in_order_and_whole() {
    let entry = |kernel: usize| KERNEL_TABLE + 3 * kernel;
    let error = with_byte(FunctionKind::Async, entry(1), 4 * START as u8 + 1);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 1: expected a multiple of 4, found a record offset of 49",
    );
    let error = with_byte(FunctionKind::Async, entry(2), 4 * START as u8);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected a record after that of the previous kernel, found a record offset of 48",
    );
    let error = with_word(FunctionKind::Async, ADD_AGAIN + 3, u32::MAX);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 3: expected a record within the body, found a record offset of 132",
    );
}

#[test]
fn a_register_is_defined_once() {
    let error = with_word(FunctionKind::Async, ADD + 9, 1);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 2: expected a register that is defined once, found another definition of register 1",
    );
}

#[test]
fn users_are_those_that_have_the_operand() {
    // Kernel 1 names kernel 3 as the user of its result, which is kernel 2.
    let error = with_word(FunctionKind::Async, START + 8, 3);
    assert_refused(
        error,
        ASYNC_RECORDS,
        "kernel 1: expected the 1 kernels that use register 1 as its users, found a list of 1 \
         kernels",
    );
}

#[test]
fn use_counts_are_the_number_of_uses() {
    let error = with_byte(FunctionKind::Async, USE_COUNTS + 2, 3);
    assert_refused(
        error,
        Reason::AsyncBody(BodyPart::UseCounts),
        "expected 2 uses of register 2, found a use count of 3",
    );
}

/// `b = add(x, c)`, `c = add(b, b)`.
fn cyclic(kind: FunctionKind) -> BefError {
    let [x, _, _, c] = registers();
    let bytes = changed(kind, |body| body.kernels[1].operands = vec![x, c]);
    verified(&bytes).unwrap_err()
}

#[test]
fn kernels_that_wait_for_each_other_are_refused() {
    assert_refused(
        cyclic(FunctionKind::Async),
        ASYNC_RECORDS,
        "kernel 2: expected operands that do not depend on the results of the kernel, found a cycle",
    );
}

#[test]
fn a_synchronous_kernel_reads_what_was_defined_before() {
    assert_refused(
        cyclic(FunctionKind::Sync),
        Reason::SyncBody(BodyPart::Records),
        "kernel 2: expected operands that are defined earlier, found register 3",
    );
}

#[test]
fn a_synchronous_function_does_not_return_its_argument() {
    let [x, ..] = registers();
    let bytes = changed(FunctionKind::Sync, |body| body.results = vec![x]);
    let error = verified(&bytes).unwrap_err();
    assert_eq!(
        error.reference_message(),
        "invalid FunctionIndex section in BEF file: \
         Invalid SyncBEFFunction(Result cannot be an argument or another result)"
    );
}

#[test]
fn a_synchronous_body_is_refused_with_the_part_that_is_malformed() {
    for (at, byte, part) in [
        (1, 0xff, BodyPart::Head),
        (NUM_KERNELS, 0, BodyPart::NumKernels),
        (NUM_KERNELS, 0x7f, BodyPart::KernelTable),
        (RESULTS, 9, BodyPart::Results),
    ] {
        let error = with_byte(FunctionKind::Sync, at, byte);
        assert_eq!(error.reason(), Reason::SyncBody(part), "{error}");
        assert!(
            error
                .reference_message()
                .starts_with("invalid FunctionIndex section in BEF file: Invalid SyncBEF")
        );
    }
}

#[test]
fn an_unknown_function_kind_is_refused() {
    let mut bytes = file(FunctionKind::Async);
    let index = start_of(&bytes, SectionId::FunctionIndex);
    bytes[index + 1] = 3;
    let error = verified(&bytes).unwrap_err();
    assert_refused(
        error,
        Reason::FunctionIndex,
        "expected function kind 0, 1 or 2, found 3",
    );
}

#[test]
fn two_functions_do_not_share_a_body() {
    let mut builder = builder(FunctionKind::Async, |_| ());
    let g = builder.declare_function(FunctionKind::Async, "g", vec![], vec![]);
    let empty = Body {
        location: None,
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![],
        kernels: vec![],
        results: vec![],
    };
    builder.define_body(g, empty);
    let mut bytes = builder.finish().unwrap();
    let index = start_of(&bytes, SectionId::FunctionIndex);
    let entry = bytes[index + 1 + 7..]
        .iter()
        .position(|&byte| byte >= 0x80)
        .unwrap();
    // The offset of the second body, two bytes long, becomes a long zero.
    bytes[index + 8 + entry] = 0x80;
    bytes[index + 9 + entry] = 0;
    let error = verified(&bytes).unwrap_err();
    assert_eq!(error.reason(), Reason::AsyncBodyOffset);
    assert_eq!(
        error.detail(),
        "expected a separate body for function 0, found the body of another function"
    );
}

#[test]
fn a_name_is_a_whole_string() {
    for (section, reason) in [
        (SectionId::Kernels, Reason::Kernels),
        (SectionId::Types, Reason::Types),
    ] {
        let mut bytes = file(FunctionKind::Async);
        let start = start_of(&bytes, section);
        bytes[start + 1] = 1;
        let error = verified(&bytes).unwrap_err();
        assert_eq!(error.reason(), reason);
        assert!(
            error
                .detail()
                .ends_with("at the start of a string, found offset 1 inside one"),
            "{error}"
        );
        bytes[start + 1] = 0x7f;
        let error = verified(&bytes).unwrap_err();
        assert!(error.detail().ends_with("below 16, found 127"), "{error}");
    }
}

#[test]
fn flags_are_written_behind_everything_and_read_back() {
    let plain = file(FunctionKind::Async);
    let flagged = builder(FunctionKind::Async, |body| {
        body.kernels[1].flags = KernelFlags::NON_STRICT
    })
    .finish()
    .unwrap();
    assert_eq!(flagged, [&plain[..], &[64, 5 << 1, 1, 0, 1, 2, 1]].concat());
    let bef = verified(&flagged).unwrap();
    let body = bef.function(bef.find_function("f").unwrap()).unwrap();
    let flags: Vec<bool> = body
        .kernel_table()
        .iter()
        .map(|entry| entry.flags.is_non_strict())
        .collect();
    assert_eq!(flags, [false, false, true, false]);
}

#[test]
fn flags_are_of_kernels_that_exist_and_are_known() {
    let flagged = builder(FunctionKind::Async, |body| {
        body.kernels[1].flags = KernelFlags::NON_STRICT
    })
    .finish()
    .unwrap();
    let end = flagged.len();
    for (back, byte, detail) in [
        (4, 1, "expected a function id below 1, found 1"),
        (
            2,
            0,
            "expected kernel indices in ascending order from 1, found 0",
        ),
        (2, 4, "expected a kernel index below 4, found 4"),
        (1, 2, "expected no flags other than bit 0, found flags 0x2"),
    ] {
        let mut bytes = flagged.clone();
        bytes[end - back] = byte;
        assert_refused(
            verified(&bytes).unwrap_err(),
            Reason::Section(SectionId::KernelFlags),
            detail,
        );
    }
}

#[test]
fn a_writer_refuses_what_could_not_be_read() {
    let mut missing = BefBuilder::new(WriteOptions::default());
    let f = missing.declare_function(FunctionKind::Async, "f", vec![], vec![]);
    assert_eq!(missing.finish(), Err(WriteError::MissingBody(f)));

    let mut name = BefBuilder::new(WriteOptions::default());
    name.add_kernel_name("a\0b");
    assert_eq!(
        name.finish(),
        Err(WriteError::ZeroByteInString("a\0b".into()))
    );

    let mut operand = builder(FunctionKind::Async, |_| ());
    let code = operand.add_kernel_name("add");
    let f = operand.declare_function(FunctionKind::Async, "g", vec![], vec![]);
    let body = Body {
        location: None,
        root_stream: 0,
        num_arguments: 0,
        register_types: vec![],
        kernels: vec![BodyKernel {
            operands: vec![RegisterId::from_index(0)],
            ..BodyKernel::new(code)
        }],
        results: vec![],
    };
    operand.define_body(f, body);
    let problem = BodyError::Operation {
        operation: 0,
        problem: OperationError::UnknownRegister {
            num_registers: 0,
            operand: RegisterId::from_index(0),
        },
    };
    assert_eq!(
        problem.to_string(),
        "operation 0: expected a register below 0, found r0"
    );
    assert_eq!(
        operand.finish(),
        Err(WriteError::InvalidBody {
            function: f,
            problem
        })
    );
}

#[test]
fn the_first_use_of_a_kernel_is_in_the_first_body_that_has_it() {
    let bef = verified(&file(FunctionKind::Async)).unwrap();
    let body = bef.function(bef.find_function("f").unwrap()).unwrap();
    let add = bef
        .kernels()
        .find(|&code| bef.kernel_name(code) == "add")
        .unwrap();
    assert_eq!(
        bef.first_use(add),
        Some(body.record(KernelId::from_index(2)).location)
    );
}
