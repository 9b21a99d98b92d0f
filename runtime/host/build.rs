//! Collects the parts of a build's fingerprint that the source of the crate cannot know: the
//! compiler, the target, and a digest of the source of everything that crosses the boundary between
//! a program and its kernel libraries.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The source folders of this crate and of those whose types cross the boundary. The others are
/// missing if this crate stands alone, as in a registry; there, the versions serve instead.
const SOURCES: [&str; 8] = [
    "src",
    "../support/src",
    "../attr/src",
    "../async/src",
    "../queue/src",
    "../core/src",
    "../../ods/src",
    "../../kernels/tensor/src",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut digest = Digest::new();
    for folder in SOURCES.map(Path::new) {
        if folder.is_dir() {
            println!("cargo::rerun-if-changed={}", folder.display());
            digest.add_folder(folder)?;
        }
    }
    println!("cargo::rustc-env=TFRT_SOURCE_DIGEST={:016x}", digest.0);

    let version = Command::new(std::env::var_os("RUSTC").ok_or("cargo sets `RUSTC`")?)
        .arg("--version")
        .output()?;
    let version = String::from_utf8(version.stdout)?;
    println!("cargo::rustc-env=TFRT_RUSTC_VERSION={}", version.trim());
    println!("cargo::rustc-env=TFRT_TARGET={}", std::env::var("TARGET")?);
    Ok(())
}

/// Returns the 64-bit FNV-1a hash of names and contents, in order of the names.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let entries: Result<Vec<PathBuf>, _> = fs::read_dir(folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect();
        let mut entries = entries?;
        entries.sort();
        for path in entries {
            if path.is_dir() {
                self.add_folder(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                self.add(path.to_string_lossy().as_bytes());
                self.add(&fs::read(&path)?);
            }
        }
        Ok(())
    }
}
