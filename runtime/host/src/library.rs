//! Kernel libraries: kernels that are loaded at run time, without building the program anew.
//!
//! A crate of kernels whose type is `cdylib` and which says `tfrt::export_kernels!()` is a kernel library.
//! [`KernelRegistry::load_library`] loads it, for ever: code of a library may be needed as long as a value of it lives.
//!
//! # Two copies of one runtime
//!
//! A library has the runtime and the standard library linked into it, as the program has. Values, frames and contexts pass
//! between the two copies as they are, which is right if both were built alike: by one compiler, from one source, with one
//! set of settings. The *fingerprint* of a build says what these were, and how large what crosses is; a library with another one is
//! refused, and its header, whose layout is C's, is all that was read of it.
//!
//! What the copies must agree on while they run is the program's, which the library takes over before any of its kernels runs:
//! see [`tfrt_async::shared`]. Of everything else each copy has its own, and that is well:
//!
//! - *Queues, timers, contexts and allocators* are objects of the program, which the library reaches through the host. What the
//!   library's copy of the crates would need to make such objects itself stays unused.
//! - *Memory* is allocated by one copy and freed by the other. Both use the allocator of the system, unless somebody says
//!   otherwise with `#[global_allocator]`. Whoever does must do it in program and library, with one and the same allocator
//!   behind both; the fingerprint cannot see it, and it is a duty of the loader.
//! - *Panics* never pass from one copy to the other. Each catches its own, and hands over what they were raised with.
//! - *Standard output* is buffered by each copy up to the end of a line. [`LoadedLibrary::flush_output`] writes the rest.
//!
//! # Types
//!
//! A payload that the library makes is one that the program reads if both know its type under one id. `TypeId` is a function of
//! the type's path, its crate's name and version, where cargo found the crate, and how it was built: its features, and the versions and
//! features of all crates that it depends on. Types of the standard
//! library have the same id everywhere, and types of the library have theirs. The types of the runtime may be built in two
//! places. Their crates [vouch](tfrt_async::identity) for them: such a type is the same one on both sides if crate, version and path
//! are equal. A crate that is neither, and that program and library share, has one id for a type if it was built alike in both. If
//! it was not, or if the two sides disagree in size, alignment, spelling, or in how payloads are passed and dropped, there are
//! two types of one name, and a kernel that gets the wrong one fails with an error that says so.
#![expect(unsafe_code, reason = "loads code")]

mod error;

mod export;

mod fingerprint;

use std::borrow::Cow;
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};

use libloading::Library;
use tfrt_ods::dialect::DialectDef;

use crate::kernel::KernelRegistry;

use export::{ABI_VERSION, Exports, HostServices, Registrations};
use fingerprint::fingerprint;

pub use error::LoadLibraryError;
pub use export::{LibraryHeader, library_header};

use error::Reason;

/// The symbol that a library exports.
const ENTRY_POINT: &[u8] = b"tfrt_kernel_library\0";

/// A kernel library that is part of the process now, and stays so.
///
/// ```no_run
/// use tfrt_host::kernel::KernelRegistry;
///
/// let mut registry = KernelRegistry::from_link()?;
/// // SAFETY: 1 to 3: it is a crate of our own, built beside this program.
/// let library = unsafe { registry.load_library("target/debug/libmy_kernels.so") }?;
/// println!("{} is loaded", library.path().display());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LoadedLibrary {
    path: PathBuf,
    exports: &'static Exports,
    registrations: &'static Registrations,
}

impl LoadedLibrary {
    /// The path that it was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The facts of dialects that it states.
    pub fn dialects(&self) -> impl Iterator<Item = DialectDef> {
        self.registrations.dialects.iter().copied()
    }

    /// Sets what is called when code of the library panics, before the panic becomes an error: the program's own hook is the
    /// business of its own copy of the standard library.
    pub fn set_panic_hook(&self, hook: fn(&PanicHookInfo<'_>)) {
        (self.exports.set_panic_hook)(hook);
    }

    /// Writes what kernels of the library have printed and what is not a whole line yet.
    pub fn flush_output(&self) {
        (self.exports.flush_output)();
    }
}

impl KernelRegistry {
    /// Loads a kernel library and adds everything that is linked into it. It is never unloaded.
    ///
    /// A path without a slash is a file in the current folder if there is one of this name; otherwise it is looked for as the
    /// system looks for libraries. A library that is loaded already, into another registry, is not loaded again.
    ///
    /// # Errors
    /// If there is no kernel library at `path`, or one that was built differently, or one that registers a name which is
    /// taken. The registry is then unchanged; the code of the library may have been loaded and stays so.
    ///
    /// # Safety
    /// 1. Loading code runs it: the library's constructors do nothing that is undefined behaviour in this process, and its
    ///    entry point, if it has one, is that of `tfrt::export_kernels!()`.
    /// 2. If the library or the program has a `#[global_allocator]`, what one allocates the other can free.
    /// 3. Crates of one name and version, found in one place, have the same source in the program and in all its libraries. The
    ///    crates of the runtime do, wherever they were found.
    pub unsafe fn load_library(
        &mut self,
        path: impl AsRef<Path>,
    ) -> Result<&LoadedLibrary, LoadLibraryError> {
        let path = path.as_ref();
        let refuse = |reason| LoadLibraryError {
            path: path.to_owned(),
            reason,
        };
        // SAFETY: the caller's duties.
        let library = unsafe { load(path) }.map_err(refuse)?;
        let added = library.registrations;
        let mut registry = self.clone();
        registry
            .add_many(
                added.kernels.iter(),
                added.ops.iter().copied(),
                added.natives.iter().copied(),
            )
            .map_err(|duplicates| refuse(Reason::Duplicates(duplicates)))?;
        *self = registry;
        Ok(self.add_library(library))
    }
}

/// The path with a slash in it, if it is a bare name of a file that is there: the system would look for it elsewhere.
fn as_file(path: &Path) -> Cow<'_, Path> {
    let is_bare = path.components().count() == 1 && !path.has_root();
    if is_bare && path.is_file() {
        Path::new(".").join(path).into()
    } else {
        path.into()
    }
}

/// Loads a library and connects it.
///
/// # Safety
/// The duties of [`KernelRegistry::load_library`].
unsafe fn load(path: &Path) -> Result<LoadedLibrary, Reason> {
    let file = as_file(path);
    // SAFETY: duty 1.
    let library = unsafe { Library::new(&*file) }.map_err(Reason::Open)?;
    // Never unloaded, whatever comes: its threads and thread-locals, if it made some, are beyond our reach.
    let library = ManuallyDrop::new(library);
    // SAFETY: duty 1: it is `fn() -> *const LibraryHeader` in every version.
    let entry_point =
        unsafe { library.get::<extern "C" fn() -> *const LibraryHeader>(ENTRY_POINT) }
            .map_err(|_| Reason::NoEntryPoint)?;
    // SAFETY: duty 1: the header is static. The version comes first in every version.
    let found = unsafe { (*entry_point()).abi_version };
    if found != ABI_VERSION {
        return Err(Reason::AbiVersion {
            expected: ABI_VERSION,
            found,
        });
    }
    // SAFETY: the header is of our version, and static.
    let header: &'static LibraryHeader = unsafe { &*entry_point() };
    // SAFETY: duty 1: these are the bytes of a string that lives as long as the library.
    let found = unsafe { std::slice::from_raw_parts(header.fingerprint, header.fingerprint_len) };
    let (expected, found) = (fingerprint(), String::from_utf8_lossy(found));
    if found != expected {
        return Err(Reason::Fingerprint {
            expected,
            found: found.into_owned(),
        });
    }
    // SAFETY: duty 1, and the library was built as this program was: it has the same `Exports`, and it is static.
    let exports = unsafe { &*header.exports.cast::<Exports>() };
    // SAFETY: duties 2 and 3 with the fingerprint say that the copies are alike; this copy is the program, or stays for ever
    // as all libraries do.
    let connected = unsafe { (exports.connect)(&HostServices::of_this_copy()) };
    Ok(LoadedLibrary {
        path: path.to_owned(),
        exports,
        registrations: connected.map_err(Reason::Connect)?,
    })
}

impl fmt::Debug for LoadedLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedLibrary")
            .field("path", &self.path)
            .field("num_kernels", &self.registrations.kernels.len())
            .finish_non_exhaustive()
    }
}
