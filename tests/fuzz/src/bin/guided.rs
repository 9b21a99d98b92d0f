//! Runs a target under libFuzzer, which lets coverage guide it: `.ci/run fuzz` says how it is built
//! and started.
//!
//! One binary for all targets, as a build for each takes longer than what it is for. The variable
//! `TFRT_FUZZ_TARGET` says which; `TFRT_FUZZ_SEEDS` may name a folder that gets the seeds before
//! any is read.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;
use std::{env, fs};

use tfrt_fuzz::catalog::{Feed, Target, find, mutate_in_place};
use tfrt_fuzz::programs::{self, Printing};
use tfrt_fuzz::seeds::Seeds;

/// Larger golden programs are not seeds: what a mutation does to them is lost in what it does not.
const MAX_SEED_BYTES: usize = 8 << 10;

fn target() -> Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let name = env::var("TFRT_FUZZ_TARGET").expect("`TFRT_FUZZ_TARGET` names a target");
        find(&name).unwrap_or_else(|| panic!("there is no target `{name}`"))
    })
}

/// Writes the seeds of the target.
fn write_seeds(folder: &Path) {
    let seeds = Seeds::read(MAX_SEED_BYTES);
    for (name, num_bytes) in &seeds.left_out {
        eprintln!("guided: `{name}` has {num_bytes} bytes and is no seed");
    }
    let feed = Feed::new(target().food, &seeds, MAX_SEED_BYTES, 0);
    for (number, seed) in feed.seeds().iter().enumerate() {
        let path = folder.join(format!("seed-{number}"));
        fs::write(&path, seed).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

libfuzzer_sys::fuzz_target!(
    init: {
        programs::set_up(Printing::Silent);
        if let Some(folder) = env::var_os("TFRT_FUZZ_SEEDS") {
            write_seeds(folder.as_ref());
        }
    },
    |bytes: &[u8]| {
        // What is refused covers something, too.
        let _ = (target().run)(bytes);
    }
);

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let plainly = libfuzzer_sys::fuzzer_mutate;
    mutate_in_place(target().food, data, size, max_size, seed, plainly)
});
