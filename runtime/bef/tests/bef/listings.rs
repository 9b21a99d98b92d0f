//! Dumps for people.
//!
//! `listings/NAME.txt` is the dump of the golden file `NAME.bef`. `TFRT_BLESS=1` rewrites it; read
//! the difference before committing it.

use std::fs;
use std::path::Path;

use tfrt_bef::dump::{DumpOptions, dump};

use crate::common::{golden, golden_files};

fn listing(bytes: &[u8], options: DumpOptions<'_>) -> (usize, String) {
    let mut text = Vec::new();
    let num_errors = dump(bytes, options, &mut text).expect("memory takes any output");
    (num_errors, String::from_utf8(text).expect("UTF-8"))
}

fn check(name: &str, hex: bool, expected_errors: usize) {
    let options = DumpOptions {
        hex,
        ..DumpOptions::default()
    };
    let (num_errors, found) = listing(&golden(&format!("{name}.bef")), options);
    assert_eq!(num_errors, expected_errors, "{name}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/listings/{name}.txt"));
    if std::env::var_os("TFRT_BLESS").is_some() {
        fs::write(&path, &found).expect("a folder that can be written to");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{} differs from:\n{found}",
        path.display()
    );
}

#[test]
fn a_dump_shows_tables_functions_and_kernels() {
    check("47-driver-flags", false, 0);
}

#[test]
fn a_dump_shows_every_kind_of_attribute() {
    check("25-attributes", false, 0);
}

#[test]
fn a_dump_shows_the_bytes_of_each_record() {
    check("15-blocking", true, 0);
}

#[test]
fn a_dump_of_a_file_that_is_cut_off_shows_what_is_left() {
    check("81-damaged-cut-in-functions", false, 1);
}

#[test]
fn a_dump_without_optional_sections_does_without_names_and_types() {
    let (num_errors, text) = listing(&golden("20-sync.min.bef"), DumpOptions::default());
    assert_eq!(num_errors, 0);
    let (_, record) = text
        .split_once("k1 r0 = tfrt.constant_s.i32()")
        .expect("a kernel");
    let (record, _) = record.split_once("k2 ").expect("another one");
    assert!(text.contains("bytes without a recorded type"), "{text}");
    assert!(record.contains("at 20-sync.mlir:"), "{record}");
}

#[test]
fn a_dump_accounts_for_every_byte() {
    for (name, bytes) in golden_files() {
        let options = DumpOptions {
            hex: true,
            ..DumpOptions::default()
        };
        let (num_errors, text) = listing(&bytes, options);
        if num_errors != 0 {
            continue;
        }
        let mut shown = vec![];
        for line in text.lines().filter(|line| !line.starts_with(' ')) {
            let offset = usize::from_str_radix(&line[..8], 16).expect("an offset");
            assert_eq!(offset, shown.len(), "{name}: {line}");
            let hex = line.get(10..33).unwrap_or(&line[10..]);
            let row = hex.split_whitespace();
            shown.extend(row.map(|byte| u8::from_str_radix(byte, 16).expect("a byte")));
        }
        assert!(shown == bytes, "{name}");
    }
}

#[test]
fn dumps_of_damaged_files_name_the_damage() {
    for (name, damage) in [
        (
            "80-damaged-alignment",
            "error at 0x78: expected an alignment that is a power of two, found 3",
        ),
        (
            "81-damaged-cut-in-functions",
            "error at 0xb3: expected at most the 168 remaining bytes of data, found a length of 336",
        ),
        (
            "82-damaged-cut-in-section",
            "error at 0x4: expected at most the 34 remaining bytes of data, found a length of 113",
        ),
        (
            "83-damaged-empty",
            "error at 0x0: expected the bytes [0b, ef], found []",
        ),
        (
            "84-damaged-header-only",
            "error at 0x3: expected the data of the section, found the end of the file",
        ),
        (
            "85-damaged-magic",
            "error at 0x0: expected the bytes [0b, ef], found [0b, ee]",
        ),
        (
            "86-damaged-no-kernels",
            "error at 0x24d: expected a number of kernels, found the end of the data",
        ),
        (
            "87-damaged-one-byte",
            "error at 0x0: expected the bytes [0b, ef], found [0b]",
        ),
        (
            "89-damaged-version",
            "error at 0x2: expected format version 0, found 1",
        ),
    ] {
        let (num_errors, text) = listing(&golden(&format!("{name}.bef")), DumpOptions::default());
        assert!(num_errors != 0 && text.contains(damage), "{name}:\n{text}");
    }
    let unknown = golden("88-damaged-unknown-section.bef");
    let (num_errors, text) = listing(&unknown, DumpOptions::default());
    assert_eq!(num_errors, 0);
    assert!(text.contains("(unknown), "), "{text}");
}

#[test]
fn every_truncation_has_a_dump_with_an_error_or_is_a_whole_file() {
    let bytes = golden("15-blocking.bef");
    let sound = (0..bytes.len()).filter(|&len| {
        let (num_errors, text) = listing(&bytes[..len], DumpOptions::default());
        assert!(!text.is_empty());
        num_errors == 0
    });
    // A file that ends after a section behind the required ones is complete.
    assert!(sound.count() <= 6);
}

#[test]
fn an_error_in_a_body_stands_behind_the_record_it_is_in() {
    let mut bytes = golden("08-if.bef");
    let marks = [0xab, 0xab, 0xab, 0xab, 0xcd, 0xcd, 0xcd, 0xcd];
    let pseudo = bytes.windows(8).position(|window| window == marks);
    let pseudo = pseudo.expect("a pseudo kernel");
    bytes[pseudo] = 0;
    let (num_errors, text) = listing(&bytes, DumpOptions::default());
    let error = format!("error at {pseudo:#x}: kernel 0: expected the marks of the pseudo kernel");
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains(&error));
    let at = at.expect("the error");
    let record = lines[..at].iter().rfind(|line| !line.starts_with(' '));
    let record = record.expect("a record before it");
    assert!(record.starts_with(&format!("{pseudo:08x}  ")), "{record}");
    assert!(lines.len() > at + 10, "the dump goes on");
    // Names of attributes cannot be assigned to kernels without the body.
    assert!(num_errors <= 2);
}

#[test]
fn types_that_contradict_declarations_get_a_remark() {
    let declared = |kernel: &str, position: usize| match (kernel, position) {
        ("tfrt.constant.i32", 0) => Some("f32".to_owned()),
        ("tfrt.new.chain", 0) => Some("!tfrt.chain".to_owned()),
        _ => None,
    };
    let options = DumpOptions {
        hex: false,
        declared_results: Some(&declared),
    };
    let (num_errors, text) = listing(&golden("15-blocking.bef"), options);
    assert_eq!(num_errors, 0);
    let remarks: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("remark: "))
        .collect();
    assert_eq!(remarks.len(), 3, "{remarks:?}");
    assert_eq!(
        remarks[0].trim(),
        "remark: RegisterTypes records r1 as i32, but `tfrt.constant.i32` returns f32"
    );
}
