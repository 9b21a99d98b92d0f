//! The traces of tasks that this process has started: each task writes a file, and all files become
//! one.
//!
//! ```text
//!  all.json.worker.0 ──┐
//!                      ├──► all.json          the files of the tasks are removed
//!  all.json.worker.1 ──┘
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::cluster_trace;
use crate::failure::Failure;

/// The files for the traces of the tasks of a job, which begin with the name of the merged one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskTraces<'a> {
    merged: &'a str,
    job: &'a str,
    num_tasks: u16,
}

impl<'a> TaskTraces<'a> {
    pub(crate) fn new(merged: &'a str, job: &'a str, num_tasks: u16) -> Self {
        Self {
            merged,
            job,
            num_tasks,
        }
    }

    /// Returns the name of the file of a task.
    pub(crate) fn file(&self, task: usize) -> String {
        format!("{}.{}.{task}", self.merged, self.job)
    }

    fn files(&self) -> impl Iterator<Item = (String, PathBuf)> {
        (0..self.num_tasks.into()).map(|task| {
            let name = format!("{}/{task}", self.job);
            (name, PathBuf::from(self.file(task)))
        })
    }

    /// Removes files that an earlier run has left.
    pub(crate) fn remove(&self) {
        for (_, path) in self.files() {
            // Mostly, there is none.
            let _ = fs::remove_file(path);
        }
    }

    /// Merges the traces of the tasks, and removes their files. With the name of the task that this
    /// process is, its own trace, which has the name of the merged one, is the first.
    ///
    /// # Errors
    /// If there are no traces, or one of them is damaged.
    pub(crate) fn merge(&self, own: Option<String>) -> Result<(), Failure> {
        // A task that was killed has written nothing.
        let is_written = |path: &Path| fs::metadata(path).is_ok_and(|file| file.len() > 0);
        let files: Vec<_> = self.files().filter(|(_, path)| is_written(path)).collect();
        let own = own.map(|name| (name, Path::new(self.merged)));
        if own.is_none() && files.is_empty() {
            self.remove();
            return Err(Failure::new(
                "no task has written a trace: expected tasks that are `tfrt run` or `tfrt worker` \
                 and end by themselves or when asked to",
            ));
        }
        let of_tasks = files
            .iter()
            .map(|(name, path)| (name.clone(), path.as_path()));
        cluster_trace::merge_files(self.merged, own.into_iter().chain(of_tasks))?;
        self.remove();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::WithCauses;

    fn text_of(outcome: Result<(), Failure>) -> String {
        match outcome {
            Err(Failure::Error(error)) => WithCauses(&error).to_string(),
            other => panic!("expected an error, found {other:?}"),
        }
    }

    #[test]
    fn tasks_that_have_written_nothing_are_left_out() {
        let folder = std::env::temp_dir().join(format!("task-traces-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let merged = folder.join("all.json").to_str().unwrap().to_owned();
        let traces = TaskTraces::new(&merged, "w", 3);
        fs::write(traces.file(0), "").unwrap();
        let none = text_of(traces.merge(None));
        assert!(none.starts_with("no task has written a trace: "), "{none}");
        assert!(!Path::new(&traces.file(0)).exists());
        fs::write(traces.file(0), "").unwrap();
        let event = r#"{"traceEvents": [{"name": "process_name", "args": {"name": "?"}}]}"#;
        fs::write(traces.file(2), event).unwrap();
        traces.merge(None).unwrap();
        let text = fs::read_to_string(&merged).unwrap();
        assert!(text.contains("w/2") && !text.contains("w/0"), "{text}");
        assert!((0..3).all(|task| !Path::new(&traces.file(task)).exists()));
        // A file that is damaged stays, for whoever wants to see it.
        fs::write(traces.file(1), "{").unwrap();
        let damaged = text_of(traces.merge(None));
        assert!(
            damaged.contains("all.json.w.1` is not a trace"),
            "{damaged}"
        );
        assert!(Path::new(&traces.file(1)).exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
