//! The fuzz targets of `tests/fuzz`, on files that TFRT wrote and on fixed damage to them.

#[path = "../../../../tests/fuzz/src/targets.rs"]
mod targets;

#[path = "../../../../tests/fuzz/src/mutate.rs"]
mod mutate;

use std::fs;
use std::path::{Path, PathBuf};

use mutate::{Random, mutate};

/// Returns the golden files of at most `max_bytes`, which are also the seeds of the fuzzers.
fn seeds(max_bytes: usize) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let entries = |folder: PathBuf| {
        let entries = fs::read_dir(folder).expect("a folder of golden files");
        entries.map(|entry| entry.expect("a folder entry").path())
    };
    let families = entries(folder).filter(|path| path.is_dir());
    let mut paths: Vec<_> = families
        .flat_map(entries)
        .filter(|path| path.extension().is_some_and(|extension| extension == "bef"))
        .collect();
    // The order of names, whatever folders they are in.
    paths.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    assert!(paths.len() > 50, "the golden files are there");
    let seeds = paths
        .iter()
        .map(|path| fs::read(path).expect("a golden file"));
    seeds.filter(|bytes| bytes.len() <= max_bytes).collect()
}

/// Runs a target on every seed, then on `num_mutants` of those of at most `max_bytes`.
fn check(target: fn(&[u8]), max_bytes: usize, num_mutants: usize) {
    for seed in seeds(usize::MAX) {
        target(&seed);
    }
    let seeds = seeds(max_bytes);
    let mut random = Random::new(20_220_131);
    for _ in 0..num_mutants {
        let seed = &seeds[random.below(seeds.len())];
        let mut mutant = mutate(seed, &mut random);
        if random.below(4) == 0 {
            mutant = mutate(&mutant, &mut random);
        }
        target(&mutant);
    }
}

#[test]
fn damaged_files_are_refused_or_keep_every_promise() {
    check(targets::verify, 4096, 6_000);
}

#[test]
fn dumps_of_damaged_files_name_the_damage() {
    check(targets::dump_file, 1024, 2_000);
}

#[test]
fn attributes_of_any_bytes_are_refused_or_encode_to_themselves() {
    check(targets::attribute, 4096, 500);
    // Sections as short as attributes: a type code, then a possible attribute.
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let len = random.below(64);
        let mut bytes: Vec<u8> = (0..=len)
            .map(|_| match random.below(3) {
                0 => random.below(256) as u8,
                _ => [0, 0, 0, 1, 2, 4, 8, 12, 20, 24][random.below(10)],
            })
            .collect();
        bytes[0] = [16, 25, 26, 27, 28, 29, 30, 133, 136, 137][random.below(10)];
        targets::attribute(&bytes);
    }
}

#[test]
fn some_damage_is_accepted_and_most_is_not() {
    let (seeds, mut random) = (seeds(4096), Random::new(3));
    let accepted = (0..1_000).filter(|number| {
        let mutant = mutate(&seeds[number % seeds.len()], &mut random);
        let bef = tfrt_bef::BefFile::from_bytes(&mutant).verify();
        bef.and_then(|bef| bef.verify_functions()).is_ok()
    });
    let accepted = accepted.count();
    assert!((50..800).contains(&accepted), "{accepted} of 1000");
}

#[test]
fn a_mutator_keeps_to_the_memory_it_is_given() {
    let seed = &seeds(1024)[0];
    for number in 0..200 {
        let mut data = [seed.as_slice(), &[0; 64]].concat();
        let max_size = data.len() - number as usize % 32;
        let len = mutate::in_place(&mut data, seed.len(), max_size, number, |_, size, _| size);
        assert!(len <= max_size);
    }
}
