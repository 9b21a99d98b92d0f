//! The golden files: we write the same bytes as the reference, and read what it reads.

use crate::support::{
    decode_bytes, decode_text, encode_text, golden_bytes, golden_paths, golden_text, lines,
    normal_blanks, parse_text,
};
use tfrt_bef::BefFile;
use tfrt_compiler::stream_analysis::print_streams;
use tfrt_compiler::{EncodeOptions, decode, encode};
use tfrt_ir::{PrintOptions, print};

/// The programs whose ops in custom form are all declared for the tests.
const PROGRAMS: [&str; 11] = [
    "01-empty",
    "05-chains",
    "25-attributes",
    "26-symbols-regions",
    "28-symbols-beside-regions",
    "30-modules",
    "35-many-entities",
    "37-stream-merging",
    "38-unknown-dialects",
    "39-stream-graphs",
    "47-driver-flags",
];

/// The files that lose something when they are decoded, and what they lose.
const FORGETFUL: [(&str, &str); 11] = [
    ("09-cond-case", "names of lists of functions"),
    ("25-attributes", "signs of types"),
    ("26-symbols-regions", "names of lists of functions"),
    ("28-symbols-beside-regions", "names of lists of functions"),
    ("30-modules", "outer compiled modules"),
    ("36-stream-costs", "costs"),
    ("37-stream-merging", "costs"),
    ("39-stream-graphs", "costs"),
    ("41-both-forms", "names of lists of functions"),
    ("54-case-out-of-range", "names of lists of functions"),
    ("88-damaged-unknown-section", "the unknown section"),
];

#[test]
fn programs_are_encoded_byte_for_byte() {
    for program in PROGRAMS {
        let file_name = format!("{program}.mlir");
        let bytes = encode_text(&golden_text(&file_name), &file_name);
        let bytes = bytes.unwrap_or_else(|errors| panic!("{}", lines(&errors)));
        assert!(
            bytes == golden_bytes(&format!("{program}.bef")),
            "{program}.bef differs"
        );
    }
}

#[test]
fn optional_sections_can_be_left_out() {
    for program in ["25-attributes", "26-symbols-regions", "30-modules"] {
        let file_name = format!("{program}.mlir");
        let module = parse_text(&golden_text(&file_name), &file_name);
        let bytes = encode(
            &module,
            &EncodeOptions {
                optional_sections: false,
                ..EncodeOptions::default()
            },
        );
        let bytes = bytes.unwrap_or_else(|errors| panic!("{}", lines(&errors)));
        assert!(
            bytes == golden_bytes(&format!("{program}.min.bef")),
            "{program}.min.bef differs"
        );
    }
}

#[test]
fn streams_are_printed_as_remarks() {
    for program in ["05-chains", "37-stream-merging", "39-stream-graphs"] {
        let file_name = format!("{program}.mlir");
        let found = lines(&print_streams(&parse_text(
            &golden_text(&file_name),
            &file_name,
        )));
        let recorded = golden_text(&format!("{program}.streams.txt"));
        let expected: String = recorded
            .lines()
            .filter(|line| line.contains(": remark: "))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(found, expected, "{program}");
    }
}

#[test]
fn files_are_decoded_as_recorded() {
    for program in [
        "01-empty",
        "25-attributes",
        "30-modules",
        "35-many-entities",
        "38-unknown-dialects",
        "47-driver-flags",
    ] {
        let file_name = format!("{program}.bef");
        let found = decode_text(&golden_bytes(&file_name), &file_name);
        let expected = golden_text(&format!("{program}.roundtrip.mlir"));
        assert_eq!(normal_blanks(&found), normal_blanks(&expected), "{program}");
    }
}

#[test]
fn locations_come_back() {
    let file_name = "29-locations.bef";
    let decoded = decode_bytes(&golden_bytes(file_name), file_name);
    let module = decoded
        .module
        .unwrap_or_else(|| panic!("{}", lines(&decoded.diagnostics)));
    let options = PrintOptions {
        debug_info: true,
        local_scope: true,
        generic: true,
        ..PrintOptions::default()
    };
    // The recorded text is in custom form, so only the locations are compared.
    let locations = |text: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| {
                line.split_once(" loc(")
                    .map(|(_, location)| location.to_owned())
            })
            .collect()
    };
    let mut found = locations(&print(&module, &options));
    let mut expected = locations(&golden_text("29-locations.roundtrip.local.mlir"));
    // The location of an op with a region follows the region, so only sorted locations can be
    // compared.
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_file_without_optional_sections_is_decoded_with_a_warning() {
    let file_name = "25-attributes.min.bef";
    let decoded = decode_bytes(&golden_bytes(file_name), file_name);
    assert_eq!(
        lines(&decoded.diagnostics),
        golden_text("25-attributes.min.roundtrip.err.txt")
    );
    let text = print(
        &decoded.module.unwrap_or_else(|| panic!("no program")),
        &PrintOptions::default(),
    );
    assert_eq!(
        normal_blanks(&text),
        normal_blanks(&golden_text("25-attributes.min.roundtrip.mlir"))
    );
}

#[test]
fn what_a_file_keeps_is_encoded_again_byte_for_byte() {
    let mut num_files = 0;
    for path in golden_paths() {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let program = name
            .strip_suffix(".bef")
            .filter(|program| !program.ends_with(".min"));
        let Some(program) = program else { continue };
        if FORGETFUL.iter().any(|(forgetful, _)| *forgetful == program) {
            continue;
        }
        let bytes = golden_bytes(&name);
        // Without declarations, all ops are treated alike.
        let decoded = decode(
            &BefFile::from_bytes(&bytes),
            &name,
            &std::sync::Arc::default(),
        );
        let Some(module) = decoded.module else {
            assert!(
                program.contains("-damaged-"),
                "{}",
                lines(&decoded.diagnostics)
            );
            continue;
        };
        let again = encode(&module, &EncodeOptions::default())
            .unwrap_or_else(|errors| panic!("{}", lines(&errors)));
        assert!(again == bytes, "{name} differs");
        num_files += 1;
    }
    assert!(num_files >= 45, "only {num_files} files");
}

#[test]
fn decoding_twice_gives_one_text() {
    for program in FORGETFUL.map(|(program, _)| program) {
        let file_name = format!("{program}.bef");
        let first = decode_bytes(&golden_bytes(&file_name), &file_name);
        let first = first
            .module
            .unwrap_or_else(|| panic!("{}", lines(&first.diagnostics)));
        // References into modules that were lost cannot be encoded again.
        let Ok(bytes) = encode(&first, &EncodeOptions::default()) else {
            assert_eq!(program, "30-modules");
            continue;
        };
        let options = PrintOptions::default();
        assert_eq!(
            decode_text(&bytes, &file_name),
            print(&first, &options),
            "{program}"
        );
    }
}

#[test]
fn damaged_files_are_refused_as_recorded() {
    for path in golden_paths() {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(program) = name
            .strip_suffix(".roundtrip.err.txt")
            .filter(|name| name.contains("-damaged-"))
        else {
            continue;
        };
        let file_name = format!("{program}.bef");
        let decoded = decode_bytes(&golden_bytes(&file_name), &file_name);
        assert!(decoded.module.is_none(), "{program}");
        let recorded = golden_text(&name);
        assert_eq!(
            decoded.diagnostics.len(),
            recorded.lines().count(),
            "{}",
            lines(&decoded.diagnostics)
        );
        for (found, expected) in decoded.diagnostics.iter().zip(recorded.lines()) {
            assert!(
                found.to_string().starts_with(expected),
                "{found}\n{expected}"
            );
        }
    }
}

#[test]
fn a_changed_byte_is_no_reason_to_panic() {
    for program in ["28-symbols-beside-regions", "47-driver-flags"] {
        let file_name = format!("{program}.bef");
        let mut bytes = golden_bytes(&file_name);
        for index in 0..bytes.len() {
            let original = bytes[index];
            for changed in [original ^ 1, original.wrapping_add(2), 0, 0xff] {
                bytes[index] = changed;
                if let Some(module) = decode_bytes(&bytes, &file_name).module {
                    let text = print(&module, &PrintOptions::default());
                    assert!(text.starts_with("module"));
                    // Whether it can be encoded again depends on the change.
                    let _outcome = encode(&module, &EncodeOptions::default());
                }
            }
            bytes[index] = original;
        }
    }
}
