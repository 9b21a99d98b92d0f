//! How the programs of this crate are linked: the one that embeds the runtime and the empty one
//! alike.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // There Rust brings its own linker, which knows what is asked of it.
    if is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        // One copy of functions that compile to the same instructions.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        // Addresses that the loader fills in are a bit map, in place of 24 bytes each. Needs glibc
        // 2.36.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        // With `panic = "abort"` nothing reads the tables that say how to unwind. The compiler
        // would leave them out, but for the standard library, which was compiled with them and
        // makes the linker's optimiser keep all.
        println!("cargo::rerun-if-changed=no_unwinding.ld");
        println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/no_unwinding.ld");
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{script}");
    }
}
