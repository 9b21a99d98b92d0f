//! The memory that a model takes up while it is imported and loaded.
//!
//! There is one test, as others would take memory meanwhile.
#![cfg(target_os = "linux")]

mod common;

use std::path::Path;

use common::builder::{self, Builder};
use prost::Message;
use tfrt_import::rewrite::RewriteRules;
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

/// Returns a number of bytes that the system states of the process.
fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.unwrap().trim().strip_suffix("kB").unwrap();
    kib.trim().parse::<usize>().unwrap() << 10
}

const CHANNELS: usize = 512;

/// Writes a model with this many convolutions of 1 MiB. Returns the size of the file.
fn write_model(path: &Path, num_convolutions: usize) -> usize {
    let mut b = Builder::new(1);
    let mut y = b.input("x", &[1, CHANNELS, 4, 4]);
    for _ in 0..num_convolutions {
        let w = b.weight(&[CHANNELS, CHANNELS, 1, 1]);
        y = b.op("Conv", &[&y, &w]);
        y = b.batch_norm(&y, CHANNELS);
        y = b.op("Relu", &[&y]);
    }
    let file = b.model(&[&y]).encode_to_vec();
    std::fs::write(path, &file).unwrap();
    file.len()
}

#[expect(unsafe_code, reason = "maps a file")]
fn open(path: &Path) -> Session {
    // SAFETY: 1: nothing else knows the file.
    let model = unsafe { Model::map(path, &Limits::default()) }.unwrap();
    let mut program = model.import(&Options::default()).unwrap();
    drop(model);
    program.rewrite(&RewriteRules::default());
    builder::load(program)
}

#[test]
fn a_mapped_model_takes_little_more_memory_than_its_weights() {
    let path = std::env::temp_dir().join(format!("tfrt-onnx-memory-{}", std::process::id()));
    // The first model brings the code into memory.
    write_model(&path, 1);
    drop(open(&path));
    let weights_bytes = write_model(&path, 60);
    // The system forgets the highest level so far.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let session = open(&path);
    let peak = memory("VmHWM:") - before;
    std::fs::remove_file(&path).unwrap();

    assert!(session.packed_bytes() > weights_bytes * 9 / 10);
    let most = weights_bytes * 13 / 10;
    assert!(peak <= most, "{peak} bytes, for {weights_bytes} of weights");
}
