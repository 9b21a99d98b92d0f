//! A folder that all tasks share, where each publishes its entry in a file.
//!
//! The file of task 3 of the job `worker` is `worker.3`. It is written under another name and then
//! renamed, which replaces the former one in one step; file systems of networks do so, too.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::DiscoveryError;
use super::meeting::{Board, MAX_ENTRY_BYTES};
use crate::name::TaskName;

/// The time between two looks at the folder: file systems of networks notify nobody.
const POLL: Duration = Duration::from_millis(50);

/// The folder of a cluster.
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

    fn wrong(&self, error: &io::Error) -> DiscoveryError {
        DiscoveryError::new(self.path.display().to_string(), error.to_string())
    }
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
        write().map_err(|error| self.wrong(&error))
    }

    fn entries(&mut self) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        let wrong = |error| self.wrong(&error);
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.path).map_err(wrong)? {
            let file = file.map_err(wrong)?;
            let name = file.file_name();
            let Some(task) = name.to_str().and_then(task_of) else {
                continue;
            };
            let mut text = String::new();
            let read = File::open(file.path()).and_then(|file| {
                let limit = MAX_ENTRY_BYTES as u64;
                file.take(limit).read_to_string(&mut text)
            });
            match read {
                Ok(_) => entries.push((task, text)),
                // Somebody has tidied up.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(wrong(error)),
            }
        }
        Ok(entries)
    }

    fn wait(&mut self, limit: Duration) {
        thread::sleep(limit.min(POLL));
    }
}
