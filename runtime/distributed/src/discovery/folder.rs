//! A folder that all tasks share, where each publishes its entry in a file.
//!
//! The file of task 3 of the job `worker` is `worker.3`. It is written under another name and then
//! renamed, which replaces the former one in one step; file systems of networks do so, too.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::DiscoveryError;
use super::meeting::{Board, MAX_ENTRY_BYTES};
use crate::name::TaskName;

/// The time between two looks at the folder: file systems of networks notify nobody.
const POLL: Duration = Duration::from_millis(50);

/// The most bytes of all entries together.
const MAX_TOTAL_BYTES: u64 = 1 << 30;

/// The folder of a cluster.
///
/// ```
/// use tfrt_distributed::discovery::{Board, Folder};
/// use tfrt_distributed::name::TaskName;
///
/// let path = std::env::temp_dir().join(format!("tfrt-example-folder-{}", std::process::id()));
/// let mut folder = Folder::new(&path, 7);
/// let task = TaskName::new("worker", 3);
/// folder.publish(&task, "hello")?;
/// assert_eq!(std::fs::read_to_string(path.join("worker.3"))?, "hello");
/// assert_eq!(folder.entries(&|_| true)?, [(task, "hello".to_owned())]);
/// std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// Part of the names of files that are being written, so that processes do not share them.
    process: u64,
}

impl Folder {
    /// Returns the folder at a path. `process` is a number that no other process has.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, process: u64) -> Self {
        Self {
            path: path.into(),
            process,
        }
    }
}

fn wrong(path: &Path, error: &io::Error) -> DiscoveryError {
    DiscoveryError::new(path.display().to_string(), error.to_string())
}

/// Reads up to `limit` bytes of a file. None if it is not a regular one: the read of a pipe, for
/// example, may never end.
fn read(path: &Path, limit: u64) -> io::Result<Option<String>> {
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    let mut text = String::new();
    File::open(path)?.take(limit).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Returns the task whose file has this name.
fn task_of(name: &str) -> Option<TaskName> {
    let (job, number) = name.rsplit_once('.')?;
    let task = TaskName::new(job, number.parse().ok()?);
    // Files that tasks have not written do not disturb, such as `notes.1` beside `worker.01`.
    let is_name = TaskName::parse(&task.to_string()).is_ok_and(|parsed| parsed == task);
    (is_name && file_name(&task) == name).then_some(task)
}

fn file_name(task: &TaskName) -> String {
    format!("{}.{}", task.job, task.task)
}

impl Board for Folder {
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
        let name = file_name(task);
        // No name of a job begins with a dot.
        let unfinished = self.path.join(format!(".{name}.{:016x}", self.process));
        let write = || {
            fs::create_dir_all(&self.path)?;
            let mut file = File::create(&unfinished)?;
            file.write_all(entry.as_bytes())?;
            // Whoever sees the new name sees the content.
            file.sync_all()?;
            fs::rename(&unfinished, self.path.join(&name))
        };
        write().map_err(|error| wrong(&self.path.join(&name), &error))
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        let mut entries = Vec::new();
        let mut left = MAX_TOTAL_BYTES;
        for file in fs::read_dir(&self.path).map_err(|error| wrong(&self.path, &error))? {
            let file = file.map_err(|error| wrong(&self.path, &error))?;
            let name = file.file_name();
            let task = name.to_str().and_then(task_of);
            let Some(task) = task.filter(|task| is_wanted(task)) else {
                continue;
            };
            let path = file.path();
            match read(&path, (MAX_ENTRY_BYTES as u64).min(left + 1)) {
                Ok(Some(text)) => {
                    left = left.checked_sub(text.len() as u64).ok_or_else(|| {
                        let problem = format!("the entries have more than {MAX_TOTAL_BYTES} bytes");
                        DiscoveryError::new(self.path.display().to_string(), problem)
                    })?;
                    entries.push((task, text));
                }
                Ok(None) => {}
                Err(error) => match error.kind() {
                    // Somebody has tidied up, on this machine or another one.
                    io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle => {}
                    _ => return Err(wrong(&path, &error)),
                },
            }
        }
        Ok(entries)
    }

    fn wait(&mut self, limit: Duration) {
        thread::sleep(limit.min(POLL));
    }
}
