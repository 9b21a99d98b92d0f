//! The kernel library of the benchmarks, `tests/benches/library`.
#![expect(unsafe_code, reason = "loads code")]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;
use std::process::Command;

use tfrt::kernel::KernelRegistry;

/// Has cargo build the library as this program was built.
///
/// # Errors
/// If cargo cannot.
pub fn build() -> Result<(), String> {
    let release = (!cfg!(debug_assertions)).then_some("--release");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "-p", "tfrt-benches-library"])
        .args(release)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    match built {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the kernel library is not built: cargo: {status}")),
        Err(error) => Err(format!("the kernel library is not built: cargo: {error}")),
    }
}

/// Adds the kernels of the library to `registry`.
///
/// # Errors
/// If the library was not [built](build), or not from the source of this program.
pub fn load(registry: &mut KernelRegistry) -> Result<(), String> {
    let path = path()?;
    // SAFETY: 1 to 3: it is a crate of this workspace, which `build` has cargo build from the
    // source of this program; neither has an allocator of its own.
    let loaded = unsafe { registry.load_library(path) };
    loaded.map(drop).map_err(|error| error.to_string())
}

/// Cargo puts it beside this program; beside the folder `deps` of a test.
fn path() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.parent().ok_or("the program is in a folder")?;
    let folder = match folder.ends_with("deps") {
        true => folder.parent().ok_or("`deps` is in a folder")?,
        false => folder,
    };
    Ok(folder.join(format!("{DLL_PREFIX}tfrt_benches_library{DLL_SUFFIX}")))
}
