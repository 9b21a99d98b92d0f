//! Kernel libraries: kernels that are loaded at run time, without rebuilding the program.
//!
//! A kernel library is a crate of kernels that has the crate type `cdylib` and calls
//! `tfrt::export_kernels!()`. [`KernelRegistry::load_library`] loads it permanently: its code may
//! be needed as long as one of its values lives.
//!
//! # Two copies of one runtime
//!
//! A library links its own copy of the runtime and the standard library, as the program does.
//! Values, frames and contexts pass between the two copies unchanged, which is correct if both were
//! built alike: by one compiler, from the same source, with the same settings. The *fingerprint* of
//! a build records these, and the layouts of shared types. A library with a different fingerprint
//! is refused after reading only its header, which has a C layout.
//!
//! State that the copies must share at run time belongs to the program; the library adopts it
//! before any of its kernels runs: see [`tfrt_async::shared`]. Everything else may be separate:
//!
//! - *Queues, timers, contexts and allocators* are objects of the program, which the library
//!   accesses through the host. The statics with which the library's copy could create its own stay
//!   unused.
//! - *Memory* is allocated by one copy and freed by the other. Both use the system allocator unless
//!   `#[global_allocator]` overrides it. An override must be made in program and library, with the
//!   same underlying allocator; the fingerprint cannot detect it, so it is a duty of the loader's
//!   caller.
//! - *Panics* never propagate from one copy to the other. Each catches its own, and returns their
//!   payloads.
//! - *Standard output* is buffered by each copy up to the end of a line.
//!   [`LoadedLibrary::flush_output`] writes the rest.
//!
//! # Types
//!
//! The program can read a payload from the library if both identify its type by the same id.
//! `TypeId` is a function of the type's path, its crate's name and version, where cargo found the
//! crate, and how it was built: its features, and the versions and features of all its
//! dependencies. Types of the standard library have the same id everywhere, and types of the
//! library have their own. The types of the runtime may be built in two places. Their crates
//! [vouch](tfrt_async::identity) for them: such a type is the same on both sides if crate, version
//! and path are equal. A type of any other crate that program and library share has one id if it
//! was built alike in both. If it was not, or if the two sides disagree in size, alignment,
//! spelling, or in how payloads are passed and dropped, there are two types with one name, and a
//! kernel that gets the wrong one fails with an error that says so.
#![expect(unsafe_code, reason = "loads code")]

mod table;

pub(super) mod loaded;

mod error;

mod extension;

mod export;

mod fingerprint;

use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::Library;

use crate::kernel::KernelRegistry;

use fingerprint::fingerprint;
use table::{ABI_VERSION, Exports, HostServices};

pub use error::LoadLibraryError;
#[doc(hidden)]
pub use export::library_header;
pub use extension::LibraryExtension;
pub use loaded::LoadedLibrary;
#[doc(hidden)]
pub use table::LibraryHeader;

use error::Reason;

/// The symbol that a library exports.
const ENTRY_POINT: &[u8] = b"tfrt_kernel_library\0";

impl KernelRegistry {
    /// Loads a kernel library and adds everything that is linked into it. It is never unloaded.
    ///
    /// A path without a slash denotes a file in the current folder if there is one with this name;
    /// otherwise it is resolved as the system resolves libraries. A library that another registry
    /// has already loaded is not loaded again.
    ///
    /// # Errors
    /// If there is no kernel library at `path`, it was built differently, or it registers a name
    /// that is taken. The registry is then unchanged; the code of the library may stay loaded.
    ///
    /// # Safety
    /// 1. Loading code runs it: the library's constructors cause no undefined behaviour in this
    ///    process, and its entry point, if it has one, is that of `tfrt::export_kernels!()`.
    /// 2. If the library or the program has a `#[global_allocator]`, each can free what the other
    ///    allocates.
    /// 3. Crates with the same name and version, found in the same place, have the same source in
    ///    the program and in all its libraries. The crates of the runtime do, wherever they were
    ///    found.
    pub unsafe fn load_library(
        &mut self,
        path: impl AsRef<Path>,
    ) -> Result<&LoadedLibrary, LoadLibraryError> {
        let path = path.as_ref();
        let refuse = |reason| LoadLibraryError {
            path: path.to_owned(),
            reason,
        };
        // SAFETY: the caller fulfils the duties.
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

/// Adds a slash to the path if it is the bare name of an existing file: the system would look for
/// it elsewhere.
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
    // Never unloaded, even on errors: any threads and thread-locals it created are beyond our
    // control.
    let library = ManuallyDrop::new(library);
    // SAFETY: duty 1: the symbol is `fn() -> *const LibraryHeader` in every version.
    let entry_point =
        unsafe { library.get::<extern "C" fn() -> *const LibraryHeader>(ENTRY_POINT) }
            .map_err(|_| Reason::NoEntryPoint)?;
    // SAFETY: duty 1: the header is static. The version is its first field in every version.
    let found = unsafe { (*entry_point()).abi_version };
    if found != ABI_VERSION {
        return Err(Reason::AbiVersion {
            expected: ABI_VERSION,
            found,
        });
    }
    // SAFETY: the header has our version, and is static.
    let header: &'static LibraryHeader = unsafe { &*entry_point() };
    // SAFETY: duty 1: the pointer and length are those of a string that lives as long as the
    // library.
    let found = unsafe { std::slice::from_raw_parts(header.fingerprint, header.fingerprint_len) };
    let (expected, found) = (fingerprint(), String::from_utf8_lossy(found));
    if found != expected {
        return Err(Reason::Fingerprint {
            expected,
            found: found.into_owned(),
        });
    }
    // SAFETY: duty 1, and the library was built like this program: `Exports` is the same, and it is
    // static.
    let exports = unsafe { &*header.exports.cast::<Exports>() };
    // SAFETY: duties 2 and 3 with the fingerprint imply that the copies are alike; this copy is the
    // program or a library, so it is never unloaded.
    let connected = unsafe { (exports.connect)(&HostServices::of_this_copy()) };
    let registrations = connected.map_err(Reason::Connect)?;
    let mut extensions = registrations.extensions.iter();
    if let Some(extension) = extensions.find(|extension| extension.differs_here()) {
        return Err(Reason::Extension(extension.name));
    }
    Ok(LoadedLibrary {
        path: path.to_owned(),
        exports,
        registrations,
    })
}
