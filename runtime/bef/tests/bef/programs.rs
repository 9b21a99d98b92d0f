//! Programs built in Rust: every built program can be read.

use proptest::prelude::*;
use tfrt_attr::{AttrValue, Scalar};
use tfrt_bef::builder::{
    BuildError, DeclaredFunction, DeclaredType, FunctionBuilder, KernelBuilder, ProgramBuilder,
};
use tfrt_bef::format::{KernelFlags, SectionId};
use tfrt_bef::write::{WriteError, WriteOptions};
use tfrt_bef::{BefLocation, FunctionKind, KernelId};
use tfrt_support::entity::EntityId;

use crate::common::{dump, read_everything, rewrite, verified};

#[test]
fn a_program_is_written_as_a_compiler_would() {
    let at = |line, column| BefLocation::File {
        file: "one.mlir".into(),
        line,
        column,
    };
    let mut program = ProgramBuilder::new();
    let i32_type = program.add_type("i32");
    let (_, mut f) = program.add_function("f", &[], &[i32_type]).unwrap();
    f.set_location(at(1, 1));
    let constant = KernelBuilder::new("tfrt.constant.i32")
        .attribute("value", Scalar::i32(7))
        .location(at(2, 8));
    let [a] = f.add(constant, [i32_type]).unwrap();
    program.define(f, &[a]).unwrap();
    assert_eq!(program.finish().unwrap(), dump(include_str!("one.hex")));
}

#[test]
fn attributes_come_by_name_and_functions_before_regions() {
    let mut program = ProgramBuilder::new();
    let (region, body) = program.add_region(&[], &[]).unwrap();
    program.define(body, &[]).unwrap();
    let natives = ["g", "h", "i"].map(|name| program.add_native_function(name, &[], &[]).unwrap());
    let (f, mut body) = program.add_sync_function("f", &[], &[]).unwrap();
    let kernel = KernelBuilder::new("k")
        .region(region)
        .attribute("z", AttrValue::string("last"))
        .function("y", natives[0])
        .function_list("b", &natives[1..])
        .attribute("a", AttrValue::string("first"))
        .flags(KernelFlags::NON_STRICT)
        .stream(3);
    body.add(kernel, []).unwrap();
    body.set_root_stream(2);
    program.define(body, &[]).unwrap();
    let bef = verified(&program.finish().unwrap()).unwrap();
    let f = bef.function(f.id()).unwrap();
    assert_eq!(f.entry().kind, FunctionKind::Sync);
    let [pseudo, kernel] = f.kernel_table() else {
        panic!("expected two kernels");
    };
    assert_eq!((pseudo.stream, kernel.stream), (2, 3));
    assert!(kernel.flags.is_non_strict());
    let record = f.record(KernelId::from_index(1));
    let texts: Vec<&str> = record
        .attributes
        .iter()
        .map(|attribute| bef.attribute(attribute).unwrap())
        .collect();
    assert_eq!(texts, ["first", "last"]);
    assert_eq!(record.functions.as_words(), [2, 3, 1, 0]);
    assert_eq!(bef.function_entry(region.id()).name, "");
    assert_eq!(bef.attribute_names().unwrap().unwrap()[f.id()], ["a", "z"]);
    assert_eq!(
        bef.section(SectionId::Strings),
        b"\0a\0b\0f\0g\0h\0i\0k\0z\0"
    );
}

/// Two programs, a type of each, and a function of the first that is under construction.
fn two_programs() -> (
    ProgramBuilder,
    ProgramBuilder,
    [DeclaredType; 2],
    FunctionBuilder,
) {
    let (mut one, mut other) = (ProgramBuilder::new(), ProgramBuilder::new());
    let types = [one.add_type("i32"), other.add_type("i32")];
    let (_, f) = one.add_function("f", &types[..1], &types[..1]).unwrap();
    (one, other, types, f)
}

#[test]
fn what_belongs_to_another_program_is_refused() {
    let (one, mut other, [own, foreign], mut f) = two_programs();
    assert_eq!(
        f.add(KernelBuilder::new("k"), [foreign]).unwrap_err(),
        BuildError::ForeignType(foreign)
    );
    let native = other.add_native_function("n", &[], &[]).unwrap();
    let call = KernelBuilder::new("k").function("callee", native);
    let error = f.add(call, [own]).unwrap_err();
    assert_eq!(error, BuildError::ForeignFunction(native));
    assert_eq!(
        error.to_string(),
        "expected a function of this program, found fn0 of another program"
    );
    assert_eq!(
        other.add_function("g", &[own], &[]).unwrap_err(),
        BuildError::ForeignType(own)
    );
    let results = f.arguments().to_vec();
    let handle = f.function();
    assert_eq!(
        other.define(f, &results).unwrap_err(),
        BuildError::ForeignFunction(handle)
    );
    // The definition is lost, and the program cannot be finished without it.
    assert_eq!(
        one.finish().unwrap_err(),
        BuildError::Write(WriteError::MissingBody(handle.id()))
    );
}

#[test]
fn a_kernel_that_is_refused_leaves_the_function_as_it_was() {
    let (mut program, _, [ty, foreign], mut f) = two_programs();
    let x = f.arguments()[0];
    let twice = KernelBuilder::new("k")
        .attribute("a", Scalar::i32(1))
        .attribute("a", Scalar::i32(2));
    let error = f.add(twice, [ty]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "attributes of `k`: expected distinct names, found `a` twice"
    );
    f.add(KernelBuilder::new("k"), [ty, foreign]).unwrap_err();
    let [y] = f.add(KernelBuilder::new("k").operands(&[x]), [ty]).unwrap();
    program.define(f, &[y]).unwrap();
    let bef = verified(&program.finish().unwrap()).unwrap();
    let f = bef.function(bef.find_function("f").unwrap()).unwrap();
    assert_eq!((f.num_registers(), f.num_kernels()), (2, 2));
}

#[test]
fn results_are_those_of_the_signature() {
    let (mut program, _, [i32_type, _], f) = two_programs();
    let f32_type = program.add_type("f32");
    let error = program.define(f, &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "results of `f`: expected types (i32), found ()"
    );
    let (_, g) = program.add_function("g", &[f32_type], &[i32_type]).unwrap();
    let x = g.arguments()[0];
    let error = program.define(g, &[x]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "results of `g`: expected types (i32), found (f32)"
    );
    let (_, h) = program.add_function("h", &[], &[f32_type]).unwrap();
    assert_eq!(
        program.define(h, &[x]).unwrap_err(),
        BuildError::ForeignRegister {
            kernel: None,
            register: x
        }
    );
}

#[test]
fn a_synchronous_function_returns_registers_of_its_own() {
    let mut program = ProgramBuilder::new();
    let ty = program.add_type("i32");
    let (_, f) = program.add_sync_function("f", &[ty], &[ty]).unwrap();
    let x = f.arguments()[0];
    let error = program.define(f, &[x]).unwrap_err();
    assert!(matches!(error, BuildError::SharedResult { register, .. } if register == x));
    let (_, mut g) = program.add_sync_function("g", &[], &[ty, ty]).unwrap();
    let [y] = g.add(KernelBuilder::new("k"), [ty]).unwrap();
    let error = program.define(g, &[y, y]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "results of synchronous `g`: expected a distinct register for every result, found r0 twice"
    );
}

#[test]
fn a_name_with_a_zero_byte_is_refused() {
    let mut program = ProgramBuilder::new();
    program.add_native_function("a\0b", &[], &[]).unwrap();
    let error = program.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a name without zero bytes, found \"a\\0b\""
    );
    // A chain of causes does not say it again.
    assert!(std::error::Error::source(&error).is_none());
}

/// A kernel of a random function: its choices, to be taken modulo the number of candidates.
#[derive(Clone, Debug)]
struct Choice {
    name: u8,
    operands: Vec<u8>,
    results: Vec<u8>,
    attributes: Vec<(u8, i64)>,
    functions: Vec<u8>,
    regions: Vec<u8>,
    stream: u32,
    location: Option<(u32, u32)>,
    is_non_strict: bool,
}

fn choice() -> impl Strategy<Value = Choice> {
    let bytes = |len| prop::collection::vec(any::<u8>(), 0..len);
    let of_values = (
        any::<u8>(),
        bytes(5),
        bytes(4),
        prop::collection::vec(any::<(u8, i64)>(), 0..4),
    );
    let of_places = (
        bytes(3),
        bytes(3),
        any::<u32>(),
        any::<Option<(u32, u32)>>(),
        any::<bool>(),
    );
    (of_values, of_places).prop_map(
        |(
            (name, operands, results, attributes),
            (functions, regions, stream, location, is_non_strict),
        )| Choice {
            name,
            operands,
            results,
            attributes,
            functions,
            regions,
            stream,
            location,
            is_non_strict,
        },
    )
}

/// The parameters and kernels of a random function, and the registers that it returns.
type FunctionChoice = (FunctionChoiceKind, Vec<u8>, Vec<Choice>, Vec<u8>);

#[derive(Clone, Copy, Debug)]
enum FunctionChoiceKind {
    Async,
    Sync,
    Region,
    Native,
}

fn function_choice() -> impl Strategy<Value = FunctionChoice> {
    let kinds = prop::sample::select(vec![
        FunctionChoiceKind::Async,
        FunctionChoiceKind::Sync,
        FunctionChoiceKind::Region,
        FunctionChoiceKind::Native,
    ]);
    (
        kinds,
        prop::collection::vec(any::<u8>(), 0..4),
        prop::collection::vec(choice(), 0..12),
        prop::collection::vec(any::<u8>(), 0..4),
    )
}

fn pick<T: Copy>(from: &[T], choice: u8) -> Option<T> {
    from.get(usize::from(choice).checked_rem(from.len())?)
        .copied()
}

/// Returns the kernel that a choice describes.
fn kernel(
    choice: &Choice,
    registers: &[tfrt_bef::builder::Register],
    functions: &[DeclaredFunction],
) -> KernelBuilder {
    let operands: Vec<_> = choice
        .operands
        .iter()
        .filter_map(|&choice| pick(registers, choice))
        .collect();
    let mut kernel = KernelBuilder::new(["k", "my.add", "my.call"][usize::from(choice.name % 3)])
        .operands(&operands)
        .stream(choice.stream);
    for (number, &(kind, value)) in choice.attributes.iter().enumerate() {
        let value: AttrValue = match kind % 4 {
            0 => Scalar::i64(value).into(),
            1 => AttrValue::string(&value.to_string()),
            2 => AttrValue::Array(vec![Scalar::bool(true).into(), AttrValue::string("x")]),
            _ => AttrValue::Shape(Some(vec![value, -1])),
        };
        kernel = kernel.attribute(&format!("{}{number}", kind % 7), value);
    }
    for (number, &choice) in choice.functions.iter().enumerate() {
        if let Some(function) = pick(functions, choice) {
            kernel = match choice % 2 {
                0 => kernel.function(&format!("f{number}"), function),
                _ => kernel.function_list(&format!("f{number}"), &[function, function]),
            };
        }
    }
    for &choice in &choice.regions {
        if let Some(region) = pick(functions, choice) {
            kernel = kernel.region(region);
        }
    }
    if let Some((line, column)) = choice.location {
        let file = "f.py".into();
        kernel = kernel.location(BefLocation::File { file, line, column });
    }
    match choice.is_non_strict {
        true => kernel.flags(KernelFlags::NON_STRICT),
        false => kernel,
    }
}

/// Builds a program of these functions; each may refer to any of them, including itself.
fn build(choices: &[FunctionChoice], optional_sections: bool) -> Result<Vec<u8>, BuildError> {
    let mut program = ProgramBuilder::with_options(WriteOptions { optional_sections });
    let types = ["i32", "!tfrt.chain", "f32"].map(|spelling| program.add_type(spelling));
    let pick_types = |choices: &[u8]| -> Vec<DeclaredType> {
        choices
            .iter()
            .filter_map(|&choice| pick(&types, choice))
            .collect()
    };
    let mut functions = Vec::new();
    let mut bodies = Vec::new();
    for (number, (kind, arguments, kernels, results)) in choices.iter().enumerate() {
        let (name, arguments) = (format!("f{number}"), pick_types(arguments));
        // The types of the registers that can be returned.
        let defined: Vec<DeclaredType> = kernels
            .iter()
            .flat_map(|choice| pick_types(&choice.results))
            .collect();
        let available: Vec<DeclaredType> = match kind {
            FunctionChoiceKind::Sync => defined,
            _ => arguments.iter().copied().chain(defined).collect(),
        };
        let mut returned: Vec<usize> = results
            .iter()
            .filter_map(|&choice| usize::from(choice).checked_rem(available.len()))
            .collect();
        if matches!(kind, FunctionChoiceKind::Sync) {
            returned.sort_unstable();
            returned.dedup();
        }
        let results: Vec<DeclaredType> = returned.iter().map(|&index| available[index]).collect();
        let (function, body) = match kind {
            FunctionChoiceKind::Async => program.add_function(&name, &arguments, &results)?,
            FunctionChoiceKind::Sync => program.add_sync_function(&name, &arguments, &results)?,
            FunctionChoiceKind::Region => program.add_region(&arguments, &results)?,
            FunctionChoiceKind::Native => {
                functions.push(program.add_native_function(&name, &arguments, &results)?);
                continue;
            }
        };
        functions.push(function);
        bodies.push((kind, body, kernels, returned));
    }
    for (kind, mut body, kernels, returned) in bodies {
        let num_arguments = body.arguments().len();
        let mut registers = body.arguments().to_vec();
        for choice in kernels {
            let kernel = kernel(choice, &registers, &functions);
            registers.extend(body.add_with_results(kernel, &pick_types(&choice.results))?);
        }
        let available = match kind {
            FunctionChoiceKind::Sync => &registers[num_arguments..],
            _ => &registers[..],
        };
        let results: Vec<_> = returned.iter().map(|&index| available[index]).collect();
        program.define(body, &results)?;
    }
    program.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_260_131), ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_is_built_can_be_read(
        choices in prop::collection::vec(function_choice(), 0..5),
        optional_sections in any::<bool>(),
    ) {
        let bytes = build(&choices, optional_sections).unwrap();
        let bef = verified(&bytes).unwrap();
        read_everything(&bef);
        prop_assert_eq!(bef.functions().len(), choices.len());
        for function in bef.functions().filter(|function| function.kind.has_body()) {
            let body = bef.function(function.id).unwrap();
            prop_assert_eq!(body.num_kernels(), choices[function.id.index()].2.len() + 1);
        }
        if optional_sections {
            prop_assert!(bef.attribute_types().is_ok() && bef.attribute_names().is_ok());
            prop_assert!(bef.register_types().is_ok());
            prop_assert!(rewrite(&bef) == bytes, "written again it differs");
        }
        let mut listing = Vec::new();
        let errors = tfrt_bef::dump::dump(&bytes, Default::default(), &mut listing).unwrap();
        prop_assert_eq!(errors, 0);
    }
}
