//! The fuzz targets of `tests/fuzz` on the golden programs and on fixed damage to them; and damage
//! of every single byte.
//!
//! Live values are counted for the whole process, so that targets run one after the other.

use std::sync::{Mutex, PoisonError};

use tfrt_fuzz::catalog::{Feed, TARGETS, find};
use tfrt_fuzz::programs::{self, Printing};
use tfrt_fuzz::seeds::Seeds;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a target on all seeds of at most `max_bytes`, and on `num_mutants` more inputs; at least
/// `min_accepted` are accepted.
fn check(name: &str, max_bytes: usize, num_mutants: usize, min_accepted: usize) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    programs::set_up(Printing::Silent);
    let target = find(name).expect("a target of that name");
    let seeds = Seeds::read(max_bytes);
    for (program, num_bytes) in &seeds.left_out {
        println!("left out: `{program}` has {num_bytes} bytes, more than {max_bytes}");
    }
    let mut feed = Feed::new(target.food, &seeds, max_bytes, 20_220_131);
    let mut num_accepted = 0;
    for _ in 0..seeds.files.len() + num_mutants {
        let input = feed.next_input();
        if (target.run)(&input) {
            num_accepted += 1;
            feed.keep(input);
        }
    }
    assert!(num_accepted >= min_accepted, "accepted only {num_accepted}");
}

#[test]
fn seeds_that_are_too_large_are_named() {
    let (few, all) = (Seeds::read(200), Seeds::read(usize::MAX));
    assert!(all.left_out.is_empty());
    assert!(few.left_out.iter().all(|(_, num_bytes)| *num_bytes > 200));
    let read = |seeds: &Seeds| seeds.files.len() + seeds.texts.len() + seeds.left_out.len();
    assert!(!few.left_out.is_empty() && read(&few) < read(&all));
}

/// `.ci/run fuzz` takes the targets that have a corpus.
#[test]
fn every_target_has_a_corpus() {
    for target in TARGETS {
        let path = format!(
            "{}/fuzz/corpus/{}.tar.xz",
            env!("CARGO_MANIFEST_DIR"),
            target.name
        );
        assert!(std::fs::metadata(&path).is_ok(), "{path}");
    }
}

#[test]
fn sound_texts_print_as_what_they_are() {
    check("mlir_parse", 4096, 1_500, 300);
}

#[test]
fn texts_survive_the_way_to_a_file_and_back() {
    check("text_bef_text", 4096, 1_000, 300);
}

#[test]
fn damaged_files_decode_to_programs_or_errors() {
    check("bef_to_mlir", 4096, 1_500, 300);
}

#[test]
fn damaged_files_run_to_their_end_and_leave_nothing_behind() {
    check("verify_run", 4096, 1_500, 300);
}

/// Runs a target of data files on its seeds and on `num_mutants` more inputs; at least
/// `min_accepted` are accepted.
fn check_data(name: &str, num_mutants: usize, min_accepted: usize) {
    let target = find(name).expect("a target of that name");
    let golden = Seeds {
        texts: Vec::new(),
        files: Vec::new(),
        left_out: Vec::new(),
    };
    let mut feed = Feed::new(target.food, &golden, 4096, 20_260_131);
    let mut num_accepted = 0;
    for _ in 0..num_mutants {
        let input = feed.next_input();
        if (target.run)(&input) {
            num_accepted += 1;
            feed.keep(input);
        }
    }
    assert!(num_accepted >= min_accepted, "accepted only {num_accepted}");
}

#[test]
fn damaged_tensor_files_hold_tensors_or_errors() {
    check_data("btf", 2_000, 100);
    check_data("npy", 2_000, 100);
    check_data("npz", 1_000, 100);
    check_data("safetensors", 2_000, 100);
}

#[test]
fn damaged_images_and_records_decode_or_do_not() {
    check_data("jpeg", 500, 100);
    check_data("example", 2_000, 300);
    check_data("picture", 1_000, 30);
}

#[test]
fn damaged_rows_are_errors_in_their_places() {
    check_data("tfrecord", 2_000, 20);
    check_data("csv", 2_000, 200);
}

#[test]
fn damaged_models_are_imported_or_refused() {
    check_data("stablehlo", 2_500, 700);
    check_data("onnx", 500, 100);
}

/// Small files with what is most worth damaging: calls and control flow, attributes of several
/// kinds, synchronous functions.
const FILES: [&str; 3] = ["54-case-out-of-range", "47-driver-flags", "22-sync-runner"];

/// Runs each file as it is damaged by `damage`, which returns damaged copies.
fn run_damaged(damage: impl Fn(&[u8], &mut dyn FnMut(&[u8]))) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    programs::set_up(Printing::Silent);
    for name in FILES {
        let path = format!("{}/golden/host/{name}.bef", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(programs::verify_run(&bytes), "{name} is sound");
        damage(&bytes, &mut |damaged| {
            programs::verify_run(damaged);
        });
    }
}

#[test]
fn every_truncation_is_refused_or_runs() {
    run_damaged(|bytes, run| (0..bytes.len()).for_each(|len| run(&bytes[..len])));
}

/// With the variable `TFRT_EVERY_BYTE` set to anything: every change of every byte, and not a few
/// of each. Better in a release build.
#[test]
fn changes_of_every_byte_are_refused_or_run() {
    let all: Vec<u8> = (1..=255).collect();
    let is_thorough = std::env::var_os("TFRT_EVERY_BYTE").is_some();
    let changes = if is_thorough {
        &all[..]
    } else {
        &[0x01, 0x04, 0x80, 0xff]
    };
    run_damaged(|bytes, run| {
        let mut damaged = bytes.to_vec();
        for at in 0..bytes.len() {
            for change in changes {
                damaged[at] = bytes[at] ^ change;
                run(&damaged);
            }
            damaged[at] = bytes[at];
        }
    });
}
