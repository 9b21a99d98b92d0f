//! Shared test code: golden files, and rewriting of files that were read.

use std::fs;
use std::path::{Path, PathBuf};

use tfrt_bef::format::SectionId;
use tfrt_bef::write::{BefBuilder, Body, BodyKernel, KernelAttribute, WriteOptions};
use tfrt_bef::{BefFile, FunctionKind, VerifiedBef};
use tfrt_support::entity::EntityId;

/// Returns the paths of the golden files, which are in folders by family.
fn golden_paths() -> impl Iterator<Item = PathBuf> {
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).expect("a folder of golden files");
        entries.map(|entry| entry.expect("a folder entry").path())
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let families = entries(folder).filter(|path| path.is_dir());
    families.flat_map(entries)
}

/// Returns the path of a golden file, if there is one with this name.
pub fn golden_path(name: &str) -> Option<PathBuf> {
    golden_paths().find(|path| path.ends_with(name))
}

/// Returns the bytes of a golden file.
pub fn golden(name: &str) -> Vec<u8> {
    let path = golden_path(name).unwrap_or_else(|| panic!("there is no golden file {name}"));
    fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the bytes of a dump: an offset, then bytes, on each line.
pub fn dump(text: &str) -> Vec<u8> {
    text.lines()
        .flat_map(|line| line.split_whitespace().skip(1))
        .map(|byte| u8::from_str_radix(byte, 16).expect("a hexadecimal byte"))
        .collect()
}

/// Returns every golden BEF file with its name, sorted.
pub fn golden_files() -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<String> = golden_paths()
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.expect("a name in UTF-8").to_owned()
        })
        .filter(|name| name.ends_with(".bef"))
        .collect();
    names.sort();
    assert!(names.len() > 50, "the golden files are there");
    names
        .into_iter()
        .map(|name| (name.clone(), golden(&name)))
        .collect()
}

/// Reads every table, body, location and optional section. Damage in sections that only decoding
/// uses is accepted.
pub fn read_everything(bef: &VerifiedBef) {
    let names: usize = bef.kernels().map(|code| bef.kernel_name(code).len()).sum();
    let types: usize = bef.types().map(|index| bef.type_name(index).len()).sum();
    assert!(names + types <= 2 * bef.file().bytes().len());
    for function in bef.functions() {
        assert!(
            bef.find_function(function.name)
                .is_none_or(|found| found >= function.id)
        );
        let Ok(body) = bef.function(function.id) else {
            continue;
        };
        for kernel in body.kernels() {
            let record = body.record(kernel);
            let users: usize = record
                .results_with_users()
                .map(|(_, users)| users.len())
                .sum();
            assert_eq!(users, record.users().len());
            let place = bef.place(record.location).to_string();
            assert!(
                bef.debug_name(record.location)
                    .is_none_or(|name| place.contains(&name))
            );
            for attribute in record.attributes.iter() {
                let _ = bef.attribute::<i64>(attribute);
                let _ = bef.attribute::<&str>(attribute);
                let _ = bef.attribute::<tfrt_attr::AggregateView<'_>>(attribute);
            }
        }
    }
    let _ = bef.attribute_types();
    let _ = bef.attribute_names();
    let _ = bef.register_types();
}

/// Writes the content of the file again, as a compiler would. The file must have its optional
/// sections.
pub fn rewrite(bef: &VerifiedBef) -> Vec<u8> {
    let mut builder = BefBuilder::new(WriteOptions::default());
    for index in bef.types() {
        assert_eq!(builder.add_type(bef.type_name(index)), index);
    }
    for code in bef.kernels() {
        assert_eq!(builder.add_kernel_name(bef.kernel_name(code)), code);
    }
    // Strings that no table refers to: names of attributes whose values are lists of functions.
    let strings = bef.section(SectionId::Strings);
    for text in strings
        .split(|&byte| byte == 0)
        .filter(|text| !text.is_empty())
    {
        builder.add_attribute_name(str::from_utf8(text).expect("UTF-8"));
    }
    let attribute_types = bef
        .attribute_types()
        .expect("sound attributes")
        .expect("the AttributeTypes section");
    let attributes: Vec<_> = attribute_types
        .iter()
        .map(|(offset, code)| {
            let offset_raw = offset.index() as u32;
            let value = tfrt_attr::decode::decode(bef.attributes(), offset_raw, code)
                .expect("a sound attribute");
            (
                offset,
                builder
                    .push_attribute(&value)
                    .expect("an attribute with an encoding"),
            )
        })
        .collect();
    for function in bef.functions() {
        let (arguments, results) = (function.arguments.to_vec(), function.results.to_vec());
        assert_eq!(
            builder.declare_function(function.kind, function.name, arguments, results),
            function.id
        );
    }
    let names = bef
        .attribute_names()
        .expect("sound names")
        .expect("the AttributeNames section");
    let register_types = bef
        .register_types()
        .expect("sound types")
        .expect("the RegisterTypes section");
    for function in bef
        .functions()
        .filter(|function| function.kind != FunctionKind::Native)
    {
        let body = bef.function(function.id).expect("a sound body");
        let mut names = names[function.id].iter();
        let kernels = body.kernels().map(|id| {
            let record = body.record(id);
            let entry = body.kernel_table()[id.index()];
            let attribute = |offset| KernelAttribute {
                name: (*names.next().expect("a name for every attribute")).to_owned(),
                value: attributes
                    .iter()
                    .find(|(known, _)| *known == offset)
                    .expect("a listed attribute")
                    .1,
            };
            BodyKernel {
                code: record.code,
                location: bef.location(record.location),
                stream: entry.stream,
                flags: entry.flags,
                operands: record.operands.iter().collect(),
                attributes: record.attributes.iter().map(attribute).collect(),
                functions: record.functions.iter().collect(),
                results: record.results.iter().collect(),
            }
        });
        let body = Body {
            location: bef.location(body.location()),
            root_stream: body.kernel_table()[0].stream,
            num_arguments: function.arguments.len(),
            register_types: register_types[function.id].clone(),
            kernels: kernels.collect(),
            results: body.results().to_vec(),
        };
        builder.define_body(function.id, body);
    }
    builder.finish().expect("a program that can be written")
}

/// Returns the verified file in `bytes`, with every body verified.
pub fn verified(bytes: &[u8]) -> Result<VerifiedBef, tfrt_bef::BefError> {
    let bef = BefFile::from_bytes(bytes).verify()?;
    bef.verify_functions()?;
    Ok(bef)
}
