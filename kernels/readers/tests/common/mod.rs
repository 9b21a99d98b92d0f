//! Files that go away with a test, and what datasets have.
#![allow(dead_code, reason = "each test uses its part")]

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use tfrt_data::{Dataset, FromValues};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;

/// A folder that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let name = format!("tfrt-readers-{}-{name}", process::id());
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file. Returns its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.0.join(name), bytes).unwrap();
        self.path(name)
    }

    pub fn path(&self, name: &str) -> String {
        text(&self.0.join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(path: &Path) -> String {
    let text = path.to_str();
    text.expect("folders of tests have plain names").to_owned()
}

pub fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// The elements of a dataset, and the messages of its errors.
pub fn all<T: FromValues<M>, M>(dataset: &Dataset) -> Vec<Result<T, String>> {
    all_in(dataset, &context("s"))
}

pub fn all_in<T: FromValues<M>, M>(
    dataset: &Dataset,
    ctx: &ExecutionContext,
) -> Vec<Result<T, String>> {
    let elements = dataset.elements::<T, M>(ctx);
    // No dataset of a test has so many: one that has no end is found out.
    let elements = elements.take(1_000_000);
    elements
        .map(|element: Result<T, Error>| element.map_err(|error| error.message().to_owned()))
        .collect()
}

/// The elements of a dataset that has no errors.
pub fn good<T: FromValues<M>, M>(dataset: &Dataset) -> Vec<T> {
    let elements: Result<Vec<T>, String> = all(dataset).into_iter().collect();
    elements.unwrap()
}
