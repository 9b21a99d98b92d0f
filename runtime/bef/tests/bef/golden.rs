//! Files written by TFRT: accepted and written again byte for byte, or rejected with TFRT's
//! messages.

use crate::common::{golden, golden_files, golden_path, read_everything, rewrite, verified};
use tfrt_bef::format::SectionId;
use tfrt_bef::{BefFile, BefLocation};
use tfrt_support::Place;

fn is_damaged(name: &str) -> bool {
    name.contains("-damaged-") && !name.starts_with("88-")
}

#[test]
fn sound_files_verify_and_read() {
    for (name, bytes) in golden_files()
        .into_iter()
        .filter(|(name, _)| !is_damaged(name))
    {
        let bef = verified(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        read_everything(&bef);
        for section in [
            bef.attribute_types().err(),
            bef.attribute_names().err(),
            bef.register_types().err(),
        ] {
            assert!(section.is_none(), "{name}: {section:?}");
        }
    }
}

#[test]
fn sound_files_are_written_again_byte_for_byte() {
    let mut num_rewritten = 0;
    for (name, bytes) in golden_files()
        .into_iter()
        .filter(|(name, _)| !is_damaged(name))
    {
        let bef = verified(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Unknown sections, and optional sections of missing data, cannot be written again.
        if name.starts_with("88-") || bef.section(SectionId::RegisterTypes).is_empty() {
            continue;
        }
        assert!(rewrite(&bef) == bytes, "{name} differs");
        num_rewritten += 1;
    }
    assert!(num_rewritten > 45, "found only {num_rewritten}");
}

#[test]
fn damaged_files_are_refused_with_the_words_of_the_reference() {
    let mut num_refused = 0;
    for (name, bytes) in golden_files()
        .into_iter()
        .filter(|(name, _)| is_damaged(name))
    {
        let error = verified(&bytes).expect_err(&name);
        let stem = name.strip_suffix(".bef").expect("a BEF file");
        let recorded = golden_path(&format!("{stem}.run.err.txt")).expect("a record");
        let recorded = std::fs::read_to_string(recorded).expect("a record");
        assert!(
            recorded.trim_end().ends_with(&error.reference_message()),
            "{name}: {error}"
        );
        assert!(
            error.to_string().starts_with(&error.reference_message()),
            "{name}: {error}"
        );
        num_refused += 1;
    }
    assert_eq!(num_refused, 9);
}

#[test]
fn damaged_files_are_refused_with_the_words_of_the_decoder() {
    for name in [
        "80-damaged-alignment",
        "81-damaged-cut-in-functions",
        "82-damaged-cut-in-section",
        "83-damaged-empty",
        "85-damaged-magic",
        "87-damaged-one-byte",
        "89-damaged-version",
    ] {
        let error = verified(&golden(&format!("{name}.bef"))).expect_err(name);
        let recorded = golden(&format!("{name}.roundtrip.err.txt"));
        let recorded = String::from_utf8(recorded).expect("UTF-8");
        assert!(
            recorded.contains(&error.decoder_message()),
            "{name}: {error}"
        );
    }
}

#[test]
fn an_error_says_where_and_what() {
    let error = verified(&golden("82-damaged-cut-in-section.bef")).expect_err("a damaged file");
    let message = error.to_string();
    assert!(
        message.starts_with("BEF file section header corrupted: "),
        "{message}"
    );
    assert!(
        message.contains(&format!(
            "at offset {:#x}: expected at most ",
            error.offset()
        )),
        "{message}"
    );
}

#[test]
fn an_unknown_section_is_skipped() {
    assert!(verified(&golden("88-damaged-unknown-section.bef")).is_ok());
}

#[test]
fn every_kind_of_location_reads_as_people_see_it() {
    let bef = verified(&golden("29-locations.bef")).expect("a sound file");
    let places = |name: &str| -> Vec<(String, Option<String>)> {
        let body = bef
            .function(bef.find_function(name).expect("the function"))
            .expect("a sound body");
        let records = body
            .kernels()
            .map(|kernel| body.record(kernel).location)
            .collect::<Vec<_>>();
        records
            .into_iter()
            .map(|offset| (bef.place(offset).to_string(), bef.debug_name(offset)))
            .collect()
    };
    let failing = [
        ("fails_at_a_name", "some name"),
        ("fails_nowhere", "(unknown)"),
        ("fails_in_another_file", "not/there.py:8:15"),
        ("fails_at_a_name_over_a_file", "f.py;1;2(n)"),
        ("fails_at_a_call_site", "f.py;3;4<-g.py;5;6,h"),
        ("fails_at_a_fused_location", "f.py;7;8,x<-y"),
    ];
    for (function, place) in failing {
        assert_eq!(places(function)[0].0, place, "{function}");
    }
    let names: Vec<Option<String>> = places("debug_names")
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let expected = [
        None,
        None,
        None,
        None,
        Some("bare name"),
        Some("name over file"),
        None,
        Some("callee name"),
        None,
        Some("second"),
        None,
        Some("by alias"),
        Some(""),
    ];
    assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
}

#[test]
fn a_location_out_of_range_reads_as_an_empty_file() {
    use tfrt_support::entity::EntityId;
    let bef = BefFile::from_bytes(&golden("01-empty.bef"))
        .verify()
        .expect("a sound file");
    let nowhere = tfrt_bef::LocationOffset::from_index(0xffff_fffe);
    assert_eq!(bef.location(nowhere), None::<BefLocation>);
    assert_eq!(bef.place(nowhere), Place::file("", u32::MAX, u32::MAX));
    assert_eq!(bef.debug_name(nowhere), None);
}
