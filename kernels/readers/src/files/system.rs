//! File systems by scheme.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt_host::HostContext;
use tfrt_support::{Error, ErrorCode};

use super::Stream;
use super::reads::{FilesRead, Reads};

/// A file system other than that of this machine.
///
/// Its functions run on the blocking pool. Paths have their scheme.
///
/// ```
/// use std::io::{self, Cursor};
/// use std::sync::Arc;
/// use tfrt_host::HostContext;
/// use tfrt_readers::files::{FileSystem, FileSystems, Stream};
///
/// /// One file, in memory.
/// #[derive(Debug)]
/// struct Memory(&'static [u8]);
///
/// impl FileSystem for Memory {
///     fn open(&self, path: &str) -> io::Result<Stream> {
///         match path {
///             "memory://greeting" => Ok(Box::new(Cursor::new(self.0))),
///             _ => Err(io::ErrorKind::NotFound.into()),
///         }
///     }
/// }
///
/// let host = HostContext::builder().build();
/// FileSystems::of(&host).register("memory", 0, Arc::new(Memory(b"hello")))?;
/// assert!(FileSystems::of(&host).find("memory")?.open("memory://greeting").is_ok());
/// # Ok::<(), tfrt_support::Error>(())
/// ```
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// Opens a file to read it from its start.
    ///
    /// # Errors
    /// What the file system fails with.
    fn open(&self, path: &str) -> io::Result<Stream>;

    /// The paths of the files that match a pattern.
    ///
    /// # Errors
    /// What the file system fails with; by default, that it does not know patterns.
    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        let _ = pattern;
        let message = "this file system does not list files";
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}

/// The file systems of a host, by the schemes of paths.
#[derive(Debug, Default)]
pub struct FileSystems {
    registered: Mutex<Vec<Registered>>,
    pub(super) reads: Reads,
}

#[derive(Debug)]
struct Registered {
    scheme: Box<str>,
    priority: i32,
    system: Arc<dyn FileSystem>,
}

impl FileSystems {
    /// Those of a host. There are none at first.
    #[must_use]
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(Self::default)
    }

    /// Returns what has been read of the files of the host so far.
    #[must_use]
    pub fn files_read(&self) -> FilesRead {
        self.reads.so_far()
    }

    /// Registers a file system for the paths of a scheme. Of several ones for a scheme, that of the
    /// highest priority is used.
    ///
    /// # Errors
    /// If one of this priority is registered for the scheme, or the scheme is empty: files of this
    /// machine are always there.
    pub fn register(
        &self,
        scheme: &str,
        priority: i32,
        system: Arc<dyn FileSystem>,
    ) -> Result<(), Error> {
        let mut registered = self.registered();
        let is_taken = |other: &Registered| *other.scheme == *scheme && other.priority == priority;
        let message = if scheme.is_empty() {
            "a file system needs a scheme".to_owned()
        } else if registered.iter().any(is_taken) {
            format!("scheme `{scheme}` has a file system of priority {priority} already")
        } else {
            registered.push(Registered {
                scheme: scheme.into(),
                priority,
                system,
            });
            return Ok(());
        };
        Err(Error::new(message).with_code(ErrorCode::AlreadyExists))
    }

    /// The file system of a scheme.
    ///
    /// # Errors
    /// `No file system is found for the given scheme`.
    pub fn find(&self, scheme: &str) -> Result<Arc<dyn FileSystem>, Error> {
        let registered = self.registered();
        let of_scheme = registered.iter().filter(|one| *one.scheme == *scheme);
        let found = of_scheme.max_by_key(|one| one.priority);
        let found = found.map(|one| Arc::clone(&one.system));
        found.ok_or_else(|| Error::new("No file system is found for the given scheme"))
    }

    fn registered(&self) -> std::sync::MutexGuard<'_, Vec<Registered>> {
        self.registered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
