//! The libraries of CUDA, emulated: `libcuda`, `libcublas`, `libcudnn`, `libcusolver`, `libcufft`
//! and `libnccl`.
//!
//! ```text
//!   program ── tfrt_gpu::cuda ── dlopen("libcuda.so.1") ──► this library ──► the host device
//! ```
//!
//! The CUDA implementation of `tfrt-gpu` opens the libraries by name. With the [folder](install) of
//! this library in `LD_LIBRARY_PATH` it finds this one, under each of the names, and its calls run
//! on a [host device](tfrt_gpu::host_device). So tests without a GPU run the implementation that
//! users run. Nothing is linked, and no program gets this library without asking for it.
//!
//! Beyond the checks of the host device, it checks how the libraries are called: the current
//! context, handles, double frees, and what a destroyed context leaves behind. A breach is a line
//! on standard error and an error of the call.
//!
//! Only the functions that `tfrt-gpu` calls exist here.
//!
//! # The log
//!
//! The environment variable [`LOG_VARIABLE`] names a file to which each call appends a line: the
//! number of its thread in the system, its symbol, its status, and the number of objects and memory
//! blocks that exist after it. Lines that start with `#` give the details of the error before them,
//! which a C function cannot return.
//!
//! # Safety
//!
//! Invariant A1: the caller of a C function passes pointers to memory that it may access, as large
//! as the documentation of the function says. `abi` relies on it, in the only places that access
//! memory of the caller. No function unwinds: a panic becomes a status.
#![expect(unsafe_code, reason = "exports C functions")]

mod abi;

mod emulator;

mod host_memory;

mod driver;

mod memory;

mod modules;

mod plans;

mod graphs;

mod blas;

mod dnn;

mod solver;

mod fft;

mod ccl;

#[cfg(test)]
mod protocol;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The environment variable that names the file of the log.
pub const LOG_VARIABLE: &str = "TFRT_EMULATED_CUDA_LOG";

/// The environment variable with the number of instructions after which a launch counts as endless.
pub const MAX_STEPS_VARIABLE: &str = "TFRT_EMULATED_CUDA_MAX_STEPS";

/// The names by which programs open the libraries.
const NAMES: [&str; 6] = [
    "libcuda.so.1",
    "libcublas.so.12",
    "libcudnn.so.9",
    "libcusolver.so.11",
    "libcufft.so.11",
    "libnccl.so",
];

/// Writes a line to the log in the name of the calling thread: `NUMBER TEXT`.
///
/// # Errors
/// Those of the file system.
pub fn write_to_log(text: &str) -> io::Result<()> {
    let Some(path) = std::env::var_os(LOG_VARIABLE) else {
        return Ok(());
    };
    let mut log = OpenOptions::new().append(true).create(true).open(path)?;
    // In one piece: another thread may write at the same time.
    let line = format!("{} {text}\n", emulator::thread_number());
    log.write_all(line.as_bytes())
}

/// Returns the shared library, which lies beside the binary of a test that links this crate.
///
/// # Errors
/// If it is not there.
pub fn library() -> io::Result<PathBuf> {
    let binary = std::env::current_exe()?;
    let folders = binary.ancestors().skip(1).take(2);
    let mut candidates = folders.map(|folder| folder.join("libtfrt_emulated_cuda.so"));
    candidates.find(|path| path.exists()).ok_or_else(|| {
        let text = format!("no `libtfrt_emulated_cuda.so` beside {}", binary.display());
        io::Error::new(io::ErrorKind::NotFound, text)
    })
}

/// Creates a folder in which programs find the library under the names of CUDA's.
///
/// # Errors
/// Those of the file system.
pub fn install(folder: &Path) -> io::Result<()> {
    link(&library()?, folder)
}

/// Creates links to a library. Replaces links to others, which a copied folder may have.
fn link(library: &Path, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for name in NAMES {
        let link = folder.join(name);
        if std::fs::read_link(&link).is_ok_and(|target| target == library) {
            continue;
        }
        // Other threads and processes may do the same, and programs may open the link meanwhile.
        let thread = std::thread::current().id();
        let new = folder.join(format!("{name}.{}.{thread:?}", std::process::id()));
        std::os::unix::fs::symlink(library, &new)?;
        std::fs::rename(&new, &link)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_library_that_was_asked_for() {
        let name = format!("tfrt_emulated_cuda_links_{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        for library in ["old/library.so", "new/library.so", "new/library.so"] {
            link(Path::new(library), &folder).unwrap();
            for name in NAMES {
                let target = std::fs::read_link(folder.join(name)).unwrap();
                assert_eq!(target, Path::new(library));
            }
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), NAMES.len());
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
