//! The list of what does not pass yet.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::run::Status;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/pending.txt");

/// The name of a case, and that of a variant.
type Key = (String, Option<String>);

/// The list, and what was found.
pub struct Pending {
    listed: BTreeMap<Key, Status>,
    found: Mutex<BTreeMap<Key, Status>>,
}

impl Pending {
    pub fn read() -> Self {
        let text = std::fs::read_to_string(PATH).expect("the list is there");
        let lines = text.lines().map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let (case, variant, status) = match words[..] {
                [case, status] => (case, None, status),
                [case, variant, status] => (case, Some(variant.to_owned()), status),
                _ => panic!("expected a case, a variant and an outcome, found `{line}`"),
            };
            let status = Status::of_name(status).expect("an outcome");
            assert_ne!(status, Status::Pass, "{line}");
            ((case.to_owned(), variant), status)
        });
        Self {
            listed: lines.collect(),
            found: Mutex::default(),
        }
    }

    /// Returns the outcome that is expected of a case.
    pub fn listed(&self, case: &str, variant: Option<&str>) -> Status {
        let key = (case.to_owned(), variant.map(str::to_owned));
        self.listed.get(&key).copied().unwrap_or(Status::Pass)
    }

    /// Returns the cases in the list that are not among those that exist.
    pub fn unknown<'a>(&self, existing: impl Iterator<Item = &'a str>) -> Vec<String> {
        let existing: std::collections::HashSet<&str> = existing.collect();
        let listed = self.listed.keys().map(|(case, _)| case);
        let unknown = listed.filter(|case| !existing.contains(case.as_str()));
        unknown.cloned().collect()
    }

    /// Keeps an outcome, so that it can be written.
    pub fn record(&self, case: &str, variant: Option<&str>, status: Status) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert((case.to_owned(), variant.map(str::to_owned)), status);
    }

    /// Writes the list anew. What did not run stays as it is listed.
    pub fn write(&self) {
        let mut all = self.listed.clone();
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(found.iter().map(|(key, &status)| (key.clone(), status)));
        all.retain(|_, status| *status != Status::Pass);
        let lines = all.iter().map(|((case, variant), status)| match variant {
            None => format!("{case} {status}\n"),
            Some(variant) => format!("{case} {variant} {status}\n"),
        });
        std::fs::write(PATH, lines.collect::<String>()).expect("the list can be written");
    }
}
