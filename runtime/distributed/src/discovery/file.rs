//! Clusters described by a file: the configuration message as JSON or TOML, with its field names,
//! or in the text format of protocol buffers.
//!
//! ```json
//! {
//!   "cluster_config": {
//!     "jobs": [{ "name": "worker", "tasks": { "0": "a:7700", "1": "b:7700" } }],
//!     "lead_task_name": "/job:worker/task:0"
//!   },
//!   "collective_groups": [{ "name": "all", "members": ["/job:worker/task:0", "/job:worker/task:1"] }]
//! }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{DiscoveryError, Found, check_job, text_format, toml_format};
use crate::message::{CollectiveGroupConfiguration, JobConfiguration};

/// The end of the names of files in TOML, which begins like the other formats may.
const TOML_ENDING: &str = ".toml";

/// A value in the file, and the path to it.
struct Field<'a> {
    file: &'a str,
    path: String,
    value: &'a Value,
    /// The name of an object in the format of the file, in errors.
    object_name: &'static str,
}

/// Parses the text of the file of this name.
pub(super) fn parse(file: &str, text: &str) -> Result<Found, DiscoveryError> {
    let (value, object_name) = if file.ends_with(TOML_ENDING) {
        (toml_format::parse(file, text)?, "a table")
    } else if text.trim_start().starts_with(['{', '[']) {
        (json(file, text)?, "an object")
    } else {
        (text_format::parse(file, text)?, "a message")
    };
    let root = Field {
        file,
        path: String::new(),
        value: &value,
        object_name,
    };
    root.has_only(&["cluster_config", "collective_groups", "job_name", "task_id"])?;
    let cluster = root
        .get("cluster_config")?
        .ok_or_else(|| root.wrong("expected `cluster_config`, found none"))?;
    cluster.has_only(&["jobs", "lead_task_name"])?;
    let jobs = cluster
        .get("jobs")?
        .ok_or_else(|| cluster.wrong("expected `jobs`, found none"))?;
    let groups = match root.get("collective_groups")? {
        Some(groups) => groups
            .items()?
            .iter()
            .map(group)
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let text_of = |field: Option<Field<'_>>| field.map(|field| field.text()).transpose();
    let task = root.get("task_id")?.map(|task| {
        let number = task
            .value
            .as_i64()
            .and_then(|task| i32::try_from(task).ok());
        number.ok_or_else(|| task.wrong("expected the number of a task"))
    });
    Ok(Found {
        source: file.to_owned(),
        jobs: jobs.items()?.iter().map(job).collect::<Result<_, _>>()?,
        lead: text_of(cluster.get("lead_task_name")?)?,
        groups,
        job: text_of(root.get("job_name")?)?,
        task: task.transpose()?,
        any_order: false,
    })
}

fn json(file: &str, text: &str) -> Result<Value, DiscoveryError> {
    let value =
        serde_json::from_str(text).map_err(|error| DiscoveryError::new(file, error.to_string()))?;
    match repeated_key(text) {
        None => Ok(value),
        Some(key) => Err(DiscoveryError::new(
            file,
            format!("`{key}` is given twice in one object"),
        )),
    }
}

/// Returns a key that an object of a JSON text has twice, if there is one. A value of JSON does not
/// show it: the later one has replaced the earlier one.
fn repeated_key(text: &str) -> Option<String> {
    // The keys of each object that is open; arrays have none.
    let mut open: Vec<BTreeSet<String>> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '"']) {
        let (token, after) = rest[at..].split_at(1);
        match token {
            "{" => open.push(BTreeSet::new()),
            "}" => drop(open.pop()),
            _ => {
                let mut strings = serde_json::Deserializer::from_str(&rest[at..]).into_iter();
                let string: String = strings.next()?.ok()?;
                rest = &rest[at + strings.byte_offset()..];
                let is_key = rest.trim_start().starts_with(':');
                if is_key && !open.last_mut()?.insert(string.clone()) {
                    return Some(string);
                }
                continue;
            }
        }
        rest = after;
    }
    None
}

fn job(job: &Field<'_>) -> Result<JobConfiguration, DiscoveryError> {
    job.has_only(&["name", "tasks"])?;
    let name = job.required("name")?;
    let text = name.text()?;
    check_job(&name.source(), &text)?;
    let tasks = job.required("tasks")?;
    let mut addresses = BTreeMap::new();
    for number in tasks.object()?.keys() {
        let address = tasks.required(number)?;
        let id: i32 = number.parse().ok().filter(|id| *id >= 0).ok_or_else(|| {
            tasks.wrong(&format!(
                "expected the number of a task, found \"{number}\""
            ))
        })?;
        if addresses.insert(id, address.text()?).is_some() {
            return Err(tasks.wrong(&format!("task {id} is listed twice")));
        }
    }
    Ok(JobConfiguration {
        name: text,
        tasks: addresses,
    })
}

fn group(group: &Field<'_>) -> Result<CollectiveGroupConfiguration, DiscoveryError> {
    group.has_only(&["name", "members", "order"])?;
    let order = group.get("order")?;
    let order = order.map(|order| order.text()).transpose()?;
    let members = group.required("members")?;
    let members = members.items()?;
    Ok(CollectiveGroupConfiguration {
        name: group.required("name")?.text()?,
        members: members.iter().map(Field::text).collect::<Result<_, _>>()?,
        order: order.unwrap_or_default(),
    })
}

impl<'a> Field<'a> {
    /// Returns the file and the path in it.
    fn source(&self) -> String {
        match self.path.is_empty() {
            true => self.file.to_owned(),
            false => format!("{}: {}", self.file, self.path),
        }
    }

    #[cold]
    fn wrong(&self, problem: &str) -> DiscoveryError {
        DiscoveryError::new(self.source(), problem)
    }

    fn object(&self) -> Result<&'a Map<String, Value>, DiscoveryError> {
        let object = self.value.as_object();
        object.ok_or_else(|| self.wrong(&format!("expected {}", self.object_name)))
    }

    fn text(&self) -> Result<String, DiscoveryError> {
        let text = self.value.as_str().map(str::to_owned);
        text.ok_or_else(|| self.wrong("expected a string"))
    }

    fn items(&self) -> Result<Vec<Field<'a>>, DiscoveryError> {
        let items = self.value.as_array();
        let items = items.ok_or_else(|| self.wrong("expected an array"))?;
        let item = |(index, value)| Field {
            file: self.file,
            path: format!("{}[{index}]", self.path),
            value,
            object_name: self.object_name,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn get(&self, name: &str) -> Result<Option<Field<'a>>, DiscoveryError> {
        Ok(self.object()?.get(name).map(|value| Field {
            file: self.file,
            path: match self.path.is_empty() {
                true => name.to_owned(),
                false => format!("{}.{name}", self.path),
            },
            value,
            object_name: self.object_name,
        }))
    }

    fn required(&self, name: &str) -> Result<Field<'a>, DiscoveryError> {
        let found = self.get(name)?;
        found.ok_or_else(|| self.wrong(&format!("expected `{name}`, found none")))
    }

    /// Checks that there are no unknown fields, such as misspelt ones.
    fn has_only(&self, known: &[&str]) -> Result<(), DiscoveryError> {
        let unknown = self
            .object()?
            .keys()
            .find(|key| !known.contains(&key.as_str()));
        match unknown {
            Some(unknown) => {
                let known = known.join("`, `");
                Err(self.wrong(&format!("expected `{known}`, found `{unknown}`")))
            }
            None => Ok(()),
        }
    }
}
