//! Which files a dataset reads, and the bytes in them.
//!
//! ```text
//!  Files ── resolve ──► paths ── open ──► OpenFile ── read ──► bytes, decompressed
//!  names, folders,        ▲        ▲
//!  patterns               └────────┴── FileSystems: by the scheme of a path
//! ```
//!
//! A *scheme* is what stands before `://` in a path. Paths of this machine have none. Other file
//! systems are registered with a host, and need not know patterns or folders.

mod compression;

mod reads;

mod system;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode};

pub use compression::Compression;

pub(crate) use compression::NUM_MARK_BYTES;
pub use reads::{FilesRead, LastFile};
pub use system::{FileSystem, FileSystems};

/// Files by name: each name is that of a file, of a folder, or a pattern such as
/// `train-*.tfrecord`.
///
/// A name that a file has is that file, even if it looks like a pattern. A folder stands for its
/// files, and a pattern for the files that match it; both in the order of their names, without
/// those whose name begins with `.` or `_`. In patterns, `*` and `?` stand for any text and any
/// character of a name, `[abc]` for one of these characters, and `**` for any folders.
///
/// ```
/// use tfrt_readers::files::Files;
///
/// let files = Files::from("train-*.csv");
/// assert_eq!(files.names().collect::<Vec<_>>(), ["train-*.csv"]);
/// let shards: Files = ["a.csv", "b.csv"].into_iter().collect();
/// assert_eq!(shards.names().count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Files {
    names: Arc<[Arc<str>]>,
    named: Named,
}

/// How names stand for files.
#[derive(Clone, Copy, Debug)]
enum Named {
    /// As files, folders and patterns.
    Plainly,
    /// Each is the name of a folder whose subfolders have the files.
    InSubfolders,
    /// Each is the name of something whose files the function lists.
    #[cfg(feature = "columnar")]
    By(fn(&str) -> Result<Vec<String>, Error>),
}

impl From<&str> for Files {
    fn from(name: &str) -> Self {
        Self {
            names: Arc::new([name.into()]),
            named: Named::Plainly,
        }
    }
}

impl From<&String> for Files {
    fn from(name: &String) -> Self {
        name.as_str().into()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Files {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self {
            names: names.into_iter().map(|name| name.as_ref().into()).collect(),
            named: Named::Plainly,
        }
    }
}

impl Files {
    /// The files in the subfolders of a folder of this machine: the subfolders in the order of
    /// their names, and the files of each in that of theirs. The name is never a pattern.
    pub(crate) fn in_subfolders(folder: &str) -> Self {
        Self {
            named: Named::InSubfolders,
            ..Self::from(folder)
        }
    }

    /// The files that a function lists for a name, which is never a pattern.
    #[cfg(feature = "columnar")]
    pub(crate) fn listed_by(list: fn(&str) -> Result<Vec<String>, Error>, name: &str) -> Self {
        Self {
            named: Named::By(list),
            ..Self::from(name)
        }
    }

    /// The names, as they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The only name, if there is one that can only be that of a file.
    #[must_use]
    pub fn single(&self) -> Option<&Arc<str>> {
        match &*self.names {
            [name] if matches!(self.named, Named::Plainly) && !is_pattern(name) => Some(name),
            _ => None,
        }
    }

    /// The paths of the files, in the order of the names. A name that nothing has stays what it is,
    /// so that opening it fails.
    ///
    /// # Errors
    /// If a folder cannot be listed, nothing matches a pattern, or a path has a scheme that no file
    /// system is registered for.
    pub fn resolve(&self, systems: &FileSystems) -> Result<Vec<Arc<str>>, Error> {
        let mut paths = Vec::new();
        for name in &*self.names {
            match (self.named, scheme(name)) {
                (Named::InSubfolders, _) => {
                    let mut found = Vec::new();
                    for subfolder in subfolders(name)? {
                        found.append(&mut files_of(&subfolder)?);
                    }
                    add_matches(&format!("{name}/*/*"), found, &mut paths)?;
                }
                #[cfg(feature = "columnar")]
                (Named::By(list), _) => add_matches(name, list(name)?, &mut paths)?,
                (Named::Plainly, Some(scheme)) => {
                    resolve_remote(name, &*systems.find(scheme)?, &mut paths)?;
                }
                (Named::Plainly, None) => resolve_local(name, &mut paths)?,
            }
        }
        Ok(paths)
    }
}

fn resolve_remote(
    name: &Arc<str>,
    system: &dyn FileSystem,
    paths: &mut Vec<Arc<str>>,
) -> Result<(), Error> {
    if !is_pattern(name) {
        paths.push(Arc::clone(name));
        return Ok(());
    }
    let mut found = system
        .list(name)
        .map_err(|error| failed_to("list", name, &error))?;
    found.sort_unstable();
    add_matches(name, found, paths)
}

fn resolve_local(name: &Arc<str>, paths: &mut Vec<Arc<str>>) -> Result<(), Error> {
    let path = Path::new(&**name);
    if path.is_dir() {
        return add_matches(name, files_of(name)?, paths);
    }
    if !is_pattern(name) || path.exists() {
        paths.push(Arc::clone(name));
        return Ok(());
    }
    let mut found = find_matches(name)?;
    found.sort_unstable();
    add_matches(name, found, paths)
}

/// The visible files of a folder of this machine, in the order of their names.
///
/// # Errors
/// If the folder cannot be listed.
pub(crate) fn files_of(folder: &str) -> Result<Vec<String>, Error> {
    visible_entries(folder, Path::is_file)
}

/// The visible subfolders of a folder of this machine, in the order of their names.
///
/// # Errors
/// If the folder cannot be listed.
pub(crate) fn subfolders(folder: &str) -> Result<Vec<String>, Error> {
    visible_entries(folder, Path::is_dir)
}

fn visible_entries(folder: &str, is_wanted: fn(&Path) -> bool) -> Result<Vec<String>, Error> {
    let list = || -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in Path::new(folder).read_dir()? {
            let path = entry?.path();
            if is_wanted(&path) && is_visible(&path) {
                found.push(text_of(path)?);
            }
        }
        Ok(found)
    };
    let mut found = list().map_err(|error| failed_to("list", folder, &error))?;
    found.sort_unstable();
    Ok(found)
}

/// The files that match a pattern.
#[cfg(feature = "patterns")]
fn find_matches(name: &str) -> Result<Vec<String>, Error> {
    let matches = glob::glob(name).map_err(|error| {
        let message = format!("`{name}` is not a valid file name pattern: {error}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    })?;
    let mut found = Vec::new();
    // Sorted by the crate, level by level.
    for path in matches {
        let path = path.map_err(|error| failed_to("list", name, error.error()))?;
        if path.is_file() && is_visible(&path) {
            found.push(text_of(path).map_err(|error| failed_to("list", name, &error))?);
        }
    }
    Ok(found)
}

#[cfg(not(feature = "patterns"))]
fn find_matches(_name: &str) -> Result<Vec<String>, Error> {
    Err(crate::feature::missing(
        "patterns of file names",
        "patterns",
    ))
}

fn add_matches(name: &str, found: Vec<String>, paths: &mut Vec<Arc<str>>) -> Result<(), Error> {
    if found.is_empty() {
        let message = format!("no file matches `{name}`");
        return Err(Error::new(message).with_code(ErrorCode::NotFound));
    }
    paths.extend(found.into_iter().map(Arc::from));
    Ok(())
}

fn is_visible(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.as_encoded_bytes());
    !matches!(name, Some([b'.' | b'_', ..]))
}

fn text_of(path: std::path::PathBuf) -> io::Result<String> {
    path.into_os_string().into_string().map_err(|name| {
        let message = format!("the name {name:?} is not UTF-8");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The scheme of a path: of `gs://bucket/file`, that is `gs`. Paths of this machine have none.
fn scheme(path: &str) -> Option<&str> {
    let (scheme, _) = path.split_once("://")?;
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (is_scheme && !scheme.is_empty()).then_some(scheme)
}

/// A file that can be opened, as often as needed.
#[derive(Clone, Debug)]
pub struct OpenFile {
    path: Arc<str>,
    systems: Arc<FileSystems>,
    number: u64,
}

/// Bytes of a file.
pub type Stream = Box<dyn Read + Send>;

impl OpenFile {
    /// The file of this path. Nothing is opened yet.
    #[must_use]
    pub fn new(path: Arc<str>, systems: Arc<FileSystems>) -> Self {
        let number = 0;
        Self {
            path,
            systems,
            number,
        }
    }

    /// The same file, as number `number` of those that a dataset reads.
    #[must_use]
    pub fn with_number(mut self, number: u64) -> Self {
        self.number = number;
        self
    }

    /// Its place among the files that a dataset reads, from 0.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The file of this path, for the file systems of the host of a context.
    #[must_use]
    pub fn of(path: &str, ctx: &ExecutionContext) -> Self {
        Self::new(path.into(), FileSystems::of(ctx.host()))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// The bytes as they are in the file.
    ///
    /// # Errors
    /// `failed to open file P due to error: E`, and `No file system is found for the given scheme`.
    pub fn open(&self) -> Result<Stream, Error> {
        match scheme(&self.path) {
            Some(scheme) => {
                let opened = self.systems.find(scheme)?.open(&self.path);
                let stream = opened.map_err(|error| failed_to("open", &self.path, &error))?;
                Ok(self.systems.reads.count(&self.path, None, stream))
            }
            None => {
                let (file, len_bytes) = self.open_local()?;
                let len_bytes = Some(len_bytes);
                Ok(self.systems.reads.count(&self.path, len_bytes, file))
            }
        }
    }

    /// The file itself, if it is one of this machine.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_file(&self) -> Result<Option<File>, Error> {
        match scheme(&self.path) {
            Some(_) => Ok(None),
            None => {
                let (file, len_bytes) = self.open_local()?;
                self.systems.reads.add_file(&self.path, len_bytes);
                Ok(Some(file))
            }
        }
    }

    /// Opens a file of this machine. Returns the bytes that it has, too.
    fn open_local(&self) -> Result<(File, u64), Error> {
        let file = File::open(&*self.path).and_then(|file| {
            let metadata = file.metadata()?;
            match metadata.is_dir() {
                // Opening a folder succeeds, and reading it fails.
                true => Err(io::ErrorKind::IsADirectory.into()),
                false => Ok((file, metadata.len())),
            }
        });
        file.map_err(|error| failed_to("open", &self.path, &error))
    }

    /// The bytes, decompressed.
    ///
    /// # Errors
    /// As [`open`](Self::open); if the beginning cannot be read; if the feature of the compression
    /// is off.
    pub fn read(&self, compression: Compression) -> Result<Stream, Error> {
        let stream = self.open()?;
        compression
            .decompress(stream)
            .map_err(|error| failed_to("read", &self.path, &error))
    }

    /// All bytes, for formats that are read as a whole.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if the file cannot be read.
    pub fn read_whole(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let mut stream = self.open()?;
        stream
            .read_to_end(&mut bytes)
            .map_err(|error| failed_to("read", &self.path, &error))?;
        Ok(bytes)
    }

    /// The error of a record of the file, counted from 0, that begins at a byte, counted from 0 in
    /// what is decompressed.
    #[cold]
    #[must_use]
    pub fn record_error(
        &self,
        record: u64,
        position: u64,
        message: impl std::fmt::Display,
    ) -> Error {
        let path = &self.path;
        let message = format!("{path}: record {record} at byte {position}: {message}");
        Error::new(message).with_code(ErrorCode::DataLoss)
    }

    /// The error of the file as a whole.
    #[cold]
    #[must_use]
    pub fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::new(format!("{}: {message}", self.path)).with_code(ErrorCode::DataLoss)
    }

    /// The error of a failure to read the file.
    #[cold]
    #[must_use]
    pub fn read_error(&self, error: &io::Error) -> Error {
        failed_to("read", &self.path, error)
    }
}

/// Returns the error of a failure of the system to do something with a file.
#[cold]
pub(crate) fn failed_to(what: &str, path: &str, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NotFound,
        _ => ErrorCode::Unknown,
    };
    let text = error.to_string();
    // What the system says, without its number.
    let text = text.split(" (os error ").next().unwrap_or_default();
    Error::new(format!("failed to {what} file {path} due to error: {text}")).with_code(code)
}
