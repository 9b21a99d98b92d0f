//! Clusters whose tasks publish their addresses at a common place, and wait for each other there.
//!
//! Each task has an entry at the place, which may still hold entries of an earlier run. So an entry
//! has a random number of its process, and the numbers of the entries that the process has seen:
//!
//! ```text
//!  task 0: number 7, seen {}          publishes its entry
//!  task 1: number 3, seen {0: 5}      is of an earlier run: nobody there has seen 7
//!  task 0: number 7, seen {1: 3}      has seen it nevertheless
//!  task 1: number 9, seen {0: 7}      is of this run: task 0 takes its address
//!  task 0: number 7, seen {1: 9}      task 1 takes that of task 0, and both are done
//! ```
//!
//! A task takes the address of another one only from an entry that has seen its own number. It is
//! done once all have seen it, and its own entry has all of their numbers by then.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::environment;
use super::hosts::{MAX_TASKS, too_many};
use super::{DEFAULT_JOB, DiscoveryError, Found, Told, Variables, check_job, number};
use crate::message::{DistributedContextConfiguration, JobConfiguration};
use crate::name::TaskName;

/// The longest time until a task looks at the place again.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The wait after a task has published an entry again that was lost.
const SHORT_WAIT: Duration = Duration::from_millis(50);

/// The largest entry, to read no more of a wrong file.
pub(super) const MAX_ENTRY_BYTES: usize = 1 << 24;

/// A place where tasks publish entries: a folder, or an etcd server.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::{Duration, Instant};
/// use tfrt_distributed::discovery::{Board, DiscoveryError, Meeting, MeetingPlace};
/// use tfrt_distributed::name::TaskName;
///
/// /// A place for the only task of a cluster.
/// #[derive(Default)]
/// struct Alone(BTreeMap<TaskName, String>);
///
/// impl Board for Alone {
///     fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
///         self.0.insert(task.clone(), entry.to_owned());
///         Ok(())
///     }
///
///     fn entries(
///         &mut self,
///         is_wanted: &dyn Fn(&TaskName) -> bool,
///     ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
///         let wanted = self.0.iter().filter(|(task, _)| is_wanted(task));
///         Ok(wanted.map(|(task, text)| (task.clone(), text.clone())).collect())
///     }
///
///     fn wait(&mut self, limit: Duration) {
///         std::thread::sleep(limit);
///     }
/// }
///
/// let meeting = Meeting {
///     place: MeetingPlace::Folder("nowhere".to_owned()),
///     sizes: vec![("worker".to_owned(), 1)],
///     task: TaskName::new("worker", 0),
///     listen: "127.0.0.1:0".to_owned(),
///     any_order: false,
/// };
/// let own = ("127.0.0.1:7700", 5);
/// let config = meeting.meet(&mut Alone::default(), own, Instant::now(), &mut |_, _| ())?;
/// assert_eq!(config.own_address(), Some("127.0.0.1:7700"));
/// # Ok::<(), DiscoveryError>(())
/// ```
pub trait Board {
    /// Replaces the entry of a task, in one step: others read either the old or the new one.
    ///
    /// # Errors
    /// If the place cannot be written.
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError>;

    /// Returns the entries of all tasks that are wanted.
    ///
    /// # Errors
    /// If the place cannot be read.
    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError>;

    /// Waits until entries may have changed, but no longer than `limit`.
    fn wait(&mut self, limit: Duration);

    /// Returns the number of bytes that an entry may have. Default: 16 MiB.
    fn max_entry_bytes(&self) -> usize {
        MAX_ENTRY_BYTES
    }
}

/// The kinds of places.
///
/// ```
/// use tfrt_distributed::discovery::{Told, observed_place};
///
/// let told = Told {
///     folder: Some("/shared/run7".to_owned()),
///     ..Told::default()
/// };
/// let place = observed_place(&told, &|_| None).ok_or("it is told")?;
/// assert_eq!(place.name(), "/shared/run7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeetingPlace {
    /// A folder that all tasks share.
    Folder(String),
    /// The prefix of keys on an etcd server: `HOST:PORT/PREFIX`.
    Etcd(String),
}

/// What a task knows before it meets the others.
///
/// ```
/// use std::thread;
/// use std::time::{Duration, Instant};
/// use tfrt_distributed::discovery::{DiscoveryError, Folder, Told, meeting};
///
/// let path = std::env::temp_dir().join(format!("tfrt-example-meeting-{}", std::process::id()));
/// let folder = path.display().to_string();
/// let meet = |task: i32, address: &str| {
///     let told = Told {
///         folder: Some(folder.clone()),
///         sizes: vec!["worker=2".to_owned()],
///         task: Some(task),
///         ..Told::default()
///     };
///     let number = 100 + task as u64;
///     let deadline = Instant::now() + Duration::from_secs(60);
///     let meeting = meeting(&told, &|_| None)?.ok_or(DiscoveryError::new("", "no place"))?;
///     let mut board = Folder::new(&path, number);
///     meeting.meet(&mut board, (address, number), deadline, &mut |_, _| ())
/// };
/// let (first, second) = thread::scope(|scope| {
///     let second = scope.spawn(|| meet(1, "b:1"));
///     (meet(0, "a:1"), second.join().unwrap())
/// });
/// assert_eq!(first?.jobs(), second?.jobs());
/// std::fs::remove_dir_all(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Where.
    pub place: MeetingPlace,
    /// The jobs, with the number of tasks of each.
    pub sizes: Vec<(String, u32)>,
    /// The name of this task.
    pub task: TaskName,
    /// Where this task listens; with port 0, the system chooses one, and that is published.
    pub listen: String,
    /// Whether reductions of the group of all tasks may combine elements in any order.
    pub any_order: bool,
}

/// Returns what a task knows before it meets the others, if its cluster is found by a meeting.
///
/// # Errors
/// If there is a place, but something else is missing or wrong.
pub fn meeting(told: &Told, variables: Variables<'_>) -> Result<Option<Meeting>, DiscoveryError> {
    let Some((source, place)) = place(told, variables) else {
        return Ok(None);
    };
    let told_or = |told: &Option<String>, name: &str| told.clone().or_else(|| variables(name));
    let own_task = variables("TFRT_TASK");
    // What is said to PyTorch counts only for its ranks.
    let torch = match told.task.is_none() && own_task.is_none() {
        true => environment::torch_rank(variables)?,
        false => None,
    };
    let size_name = "TFRT_CLUSTER_SIZE";
    let sizes = match (told.sizes.is_empty(), variables(size_name), &torch) {
        (false, _, _) => sizes("--cluster-size", told.sizes.iter().map(String::as_str))?,
        (true, Some(size), _) => sizes(size_name, size.split(';'))?,
        (true, None, Some(torch)) => {
            let size = torch.num_tasks.to_string();
            sizes("WORLD_SIZE", std::iter::once(size.as_str()))?
        }
        (true, None, None) => {
            let problem = format!("expected the number of tasks in {size_name}, found none");
            return Err(DiscoveryError::new(source, problem));
        }
    };
    let task = match told.task {
        Some(task) => Some(task),
        None => own_task
            .map(|task| number("TFRT_TASK", &task))
            .transpose()?
            .or(torch.as_ref().map(|torch| torch.rank)),
    };
    let task = task.ok_or_else(|| {
        DiscoveryError::new(source, "expected the number of this task, found none")
    })?;
    let job = told_or(&told.job, "TFRT_JOB");
    let job = match (job, &sizes[..]) {
        (Some(job), _) => job,
        (None, [(only, _)]) => only.clone(),
        (None, _) => {
            let problem = "expected the job of this task, found none";
            return Err(DiscoveryError::new(source, problem));
        }
    };
    let size = sizes.iter().find(|(name, _)| *name == job);
    let (_, size) =
        size.ok_or_else(|| DiscoveryError::new(source, format!("unknown job \"{job}\"")))?;
    if !u32::try_from(task).is_ok_and(|task| task < *size) {
        let problem = format!("task {task}: job \"{job}\" has {size} tasks");
        return Err(DiscoveryError::new(source, problem));
    }
    let listen = match (told_or(&told.listen, "TFRT_LISTEN"), torch) {
        (Some(listen), _) => listen,
        (None, None) => "127.0.0.1:0".to_owned(),
        (None, Some(torch)) => match torch.host {
            Some(host) => format!("{host}:0"),
            None => {
                let problem = "expected the name or address by which other tasks reach this one, \
                               because MASTER_ADDR is set and rank 0 runs on another host";
                return Err(DiscoveryError::new("TFRT_LISTEN", problem));
            }
        },
    };
    let host = listen.rsplit_once(':').map_or("", |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host
        .parse()
        .is_ok_and(|address: IpAddr| address.is_unspecified())
    {
        let problem = format!(
            "expected the name or address by which other tasks reach this one, found `{listen}` to \
             listen at"
        );
        return Err(DiscoveryError::new(source, problem));
    }
    Ok(Some(Meeting {
        place,
        task: TaskName::new(job, task),
        sizes,
        listen,
        any_order: told.any_order,
    }))
}

/// Returns the place, and what names it.
fn place(told: &Told, variables: Variables<'_>) -> Option<(&'static str, MeetingPlace)> {
    if told.file.is_some() || !told.jobs.is_empty() {
        return None;
    }
    if let Some(folder) = &told.folder {
        return Some(("--cluster-folder", MeetingPlace::Folder(folder.clone())));
    }
    if let Some(etcd) = &told.etcd {
        return Some(("--cluster-etcd", MeetingPlace::Etcd(etcd.clone())));
    }
    if variables("TFRT_CLUSTER").is_some() {
        return None;
    }
    let folder = "TFRT_CLUSTER_FOLDER";
    let found = variables(folder).map(|path| (folder, MeetingPlace::Folder(path)));
    found.or_else(|| {
        let etcd = "TFRT_CLUSTER_ETCD";
        variables(etcd).map(|address| (etcd, MeetingPlace::Etcd(address)))
    })
}

/// Returns the place of a cluster for a process that is none of its tasks.
#[must_use]
pub fn observed_place(told: &Told, variables: Variables<'_>) -> Option<MeetingPlace> {
    place(told, variables).map(|(_, place)| place)
}

/// Parses `JOB=NUMBER`, or the number of tasks of the only job.
fn sizes<'a>(
    source: &str,
    texts: impl Iterator<Item = &'a str>,
) -> Result<Vec<(String, u32)>, DiscoveryError> {
    let mut sizes: Vec<(String, u32)> = Vec::new();
    let mut total = 0_u32;
    for text in texts.map(str::trim).filter(|text| !text.is_empty()) {
        let (job, count) = text.split_once('=').unwrap_or((DEFAULT_JOB, text));
        check_job(source, job)?;
        let count: u32 = number(source, count)?;
        if count == 0 {
            let problem = format!("expected at least one task of job \"{job}\"");
            return Err(DiscoveryError::new(source, problem));
        }
        total = total.saturating_add(count);
        if total > MAX_TASKS {
            return Err(too_many(source));
        }
        if sizes.iter().any(|(known, _)| known == job) {
            return Err(DiscoveryError::new(
                source,
                format!("job \"{job}\" is given twice"),
            ));
        }
        sizes.push((job.to_owned(), count));
    }
    match sizes.is_empty() {
        true => Err(DiscoveryError::new(
            source,
            "expected the number of tasks, found none",
        )),
        false => Ok(sizes),
    }
}

/// The entry of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    address: String,
    /// The number of the process.
    number: u64,
    /// The numbers of the others that it has seen, by task.
    seen: BTreeMap<String, u64>,
    /// The sizes of the jobs, as the process knows them.
    sizes: Vec<(String, u32)>,
}

impl Entry {
    fn to_text(&self) -> String {
        let hex = |number: u64| Value::from(format!("{number:016x}"));
        let mut fields = Map::new();
        fields.insert("address".to_owned(), self.address.as_str().into());
        fields.insert("number".to_owned(), hex(self.number));
        let seen = self
            .seen
            .iter()
            .map(|(task, seen)| (task.clone(), hex(*seen)));
        fields.insert("seen".to_owned(), Value::Object(seen.collect()));
        let sizes = self.sizes.iter();
        let sizes: Vec<Value> = sizes
            .map(|(job, size)| format!("{job}={size}").into())
            .collect();
        fields.insert("sizes".to_owned(), sizes.into());
        Value::Object(fields).to_string()
    }

    /// Parses an entry; None if it is malformed.
    fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let hex = |value: &Value| u64::from_str_radix(value.as_str()?, 16).ok();
        let seen = value.get("seen")?.as_object()?.iter();
        let seen = seen.map(|(task, number)| Some((task.clone(), hex(number)?)));
        let sizes = value.get("sizes")?.as_array()?.iter();
        let sizes = sizes.map(|size| {
            let (job, size) = size.as_str()?.split_once('=')?;
            Some((job.to_owned(), size.parse().ok()?))
        });
        Some(Self {
            address: value.get("address")?.as_str()?.to_owned(),
            number: hex(value.get("number")?)?,
            seen: seen.collect::<Option<_>>()?,
            sizes: sizes.collect::<Option<_>>()?,
        })
    }
}

/// What a task does after it has looked at the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    /// Publishes an entry with what it has seen.
    Publish(Entry),
    /// Waits for these tasks.
    WaitFor(Vec<String>),
    /// Is done: the address of each task.
    Done(BTreeMap<String, String>),
}

/// Decides what a task does, by the entries of the others and its own.
fn next(
    source: &str,
    names: &[String],
    (own_name, own): (&str, &Entry),
    entries: &BTreeMap<String, Entry>,
) -> Result<Next, DiscoveryError> {
    if let Some(other) = entries
        .get(own_name)
        .filter(|other| other.number != own.number)
    {
        let problem = format!("another process is {own_name}, at {}", other.address);
        return Err(DiscoveryError::new(source, problem));
    }
    let others = names.iter().filter(|name| *name != own_name);
    let mut seen = BTreeMap::new();
    let mut addresses = BTreeMap::from([(own_name.to_owned(), own.address.clone())]);
    let mut missing = Vec::new();
    for name in others {
        let Some(entry) = entries.get(name) else {
            missing.push(name.clone());
            continue;
        };
        seen.insert(name.clone(), entry.number);
        if entry.seen.get(own_name) != Some(&own.number) {
            missing.push(name.clone());
            continue;
        }
        if entry.sizes != own.sizes {
            let text = |sizes: &[(String, u32)]| {
                let sizes = sizes.iter().map(|(job, size)| format!("{job}={size}"));
                sizes.collect::<Vec<_>>().join(";")
            };
            let (theirs, own) = (text(&entry.sizes), text(&own.sizes));
            let problem = format!("{name} expects the tasks {theirs}, but this task {own}");
            return Err(DiscoveryError::new(source, problem));
        }
        addresses.insert(name.clone(), entry.address.clone());
    }
    // An entry that was lost is published again: the others may not have seen it yet.
    if seen != own.seen || !entries.contains_key(own_name) {
        return Ok(Next::Publish(Entry {
            seen,
            ..own.clone()
        }));
    }
    Ok(match missing.is_empty() {
        true => Next::Done(addresses),
        false => Next::WaitFor(missing),
    })
}

/// Reads the entries of a place that are wanted.
fn read(
    source: &str,
    board: &mut dyn Board,
    is_wanted: &dyn Fn(&TaskName) -> bool,
) -> Result<BTreeMap<String, Entry>, DiscoveryError> {
    let mut entries = BTreeMap::new();
    for (task, text) in board.entries(is_wanted)? {
        let entry = Entry::parse(&text).ok_or_else(|| {
            DiscoveryError::new(source, format!("the entry of {task} is malformed"))
        })?;
        entries.insert(task.to_string(), entry);
    }
    Ok(entries)
}

impl Meeting {
    /// Returns the name of the place, for errors.
    #[must_use]
    pub fn source(&self) -> &str {
        self.place.name()
    }

    /// Publishes `address` as that of this task, waits for all other tasks, and returns the
    /// cluster. `number` is one that no other process has. `on_wait` gets the number of tasks that
    /// are there, and those that are not, whenever they change.
    ///
    /// # Errors
    /// If the place cannot be used, if tasks disagree, or if some are missing at the deadline.
    pub fn meet(
        &self,
        board: &mut dyn Board,
        (address, number): (&str, u64),
        deadline: Instant,
        on_wait: &mut dyn FnMut(usize, &[String]),
    ) -> Result<DistributedContextConfiguration, DiscoveryError> {
        let source = self.source();
        let names = self.names();
        let own_name = self.task.to_string();
        let mut own = Entry {
            address: address.to_owned(),
            number,
            seen: BTreeMap::new(),
            sizes: self.sizes.clone(),
        };
        self.check_size(&names, &own, board.max_entry_bytes())?;
        // Entries of a larger cluster do not disturb, whatever they are.
        let is_wanted = |task: &TaskName| {
            let size = self.sizes.iter().find(|(job, _)| *job == task.job);
            size.is_some_and(|(_, size)| u32::try_from(task.task).is_ok_and(|task| task < *size))
        };
        board.publish(&self.task, &own.to_text())?;
        let mut told: Vec<String> = Vec::new();
        loop {
            let entries = read(source, board, &is_wanted)?;
            let left = deadline.saturating_duration_since(Instant::now());
            match next(source, &names, (&own_name, &own), &entries)? {
                Next::Publish(entry) => {
                    board.publish(&self.task, &entry.to_text())?;
                    if entry == own {
                        if left.is_zero() {
                            let problem = "the entry of this task is lost again and again";
                            return Err(DiscoveryError::new(source, problem));
                        }
                        board.wait(left.min(SHORT_WAIT));
                    }
                    own = entry;
                }
                Next::Done(addresses) => return self.configuration(&addresses),
                Next::WaitFor(missing) => {
                    if left.is_zero() {
                        let problem = format!("waited in vain for {}", missing.join(", "));
                        return Err(DiscoveryError::new(source, problem));
                    }
                    if told != missing {
                        on_wait(names.len() - missing.len(), &missing);
                        told = missing;
                    }
                    board.wait(left.min(MAX_WAIT));
                }
            }
        }
    }

    /// Fails if the last entry of this task, which names all others, is larger than entries may be.
    fn check_size(
        &self,
        names: &[String],
        own: &Entry,
        max_bytes: usize,
    ) -> Result<(), DiscoveryError> {
        let last = Entry {
            seen: names.iter().map(|name| (name.clone(), 0)).collect(),
            ..own.clone()
        };
        let num_bytes = last.to_text().len();
        if num_bytes <= max_bytes {
            return Ok(());
        }
        let num_tasks = names.len();
        let problem = format!(
            "{num_tasks} tasks are too many: the entry of each would have {num_bytes} bytes, and \
             at most {max_bytes} are allowed"
        );
        Err(DiscoveryError::new(self.source(), problem))
    }

    fn names(&self) -> Vec<String> {
        let jobs = self.sizes.iter();
        let of_job = |(job, size): &(String, u32)| -> Vec<String> {
            let tasks = (0_i32..).take(*size as usize);
            tasks
                .map(|task| TaskName::new(job.as_str(), task).to_string())
                .collect()
        };
        jobs.flat_map(of_job).collect()
    }

    fn configuration(
        &self,
        addresses: &BTreeMap<String, String>,
    ) -> Result<DistributedContextConfiguration, DiscoveryError> {
        let job = |(job, size): &(String, u32)| JobConfiguration {
            name: job.clone(),
            tasks: (0_i32..)
                .take(*size as usize)
                .map(|task| {
                    let name = TaskName::new(job.as_str(), task).to_string();
                    (task, addresses.get(&name).cloned().unwrap_or_default())
                })
                .collect(),
        };
        let source = self.source();
        let found = Found {
            source: source.to_owned(),
            jobs: self.sizes.iter().map(job).collect(),
            job: Some(self.task.job.clone()),
            task: Some(self.task.task),
            any_order: self.any_order,
            ..Found::default()
        };
        found.complete(source, source)
    }
}

impl MeetingPlace {
    /// Returns the name of the place, for errors.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Folder(name) | Self::Etcd(name) => name,
        }
    }

    /// Returns the cluster whose entries are at the place, for a process that is none of its tasks.
    /// The configuration is that of the first task.
    ///
    /// # Errors
    /// If the place cannot be read, or has no entries.
    pub fn observe(
        &self,
        board: &mut dyn Board,
    ) -> Result<DistributedContextConfiguration, DiscoveryError> {
        let source = self.name();
        let mut jobs: BTreeMap<String, BTreeMap<i32, String>> = BTreeMap::new();
        for (task, entry) in read(source, board, &|_| true)? {
            let task = TaskName::parse(&task)
                .map_err(|error| DiscoveryError::new(source, error.message))?;
            let tasks = jobs.entry(task.job).or_default();
            tasks.insert(task.task, entry.address);
        }
        let first = jobs.iter().next();
        let first = first.and_then(|(job, tasks)| Some((job.clone(), *tasks.keys().next()?)));
        let (job, task) =
            first.ok_or_else(|| DiscoveryError::new(source, "expected tasks, found none"))?;
        let jobs = jobs
            .into_iter()
            .map(|(name, tasks)| JobConfiguration { name, tasks });
        let found = Found {
            source: source.to_owned(),
            jobs: jobs.collect(),
            job: Some(job),
            task: Some(task),
            ..Found::default()
        };
        found.complete(source, source)
    }
}

#[cfg(test)]
mod tests;
