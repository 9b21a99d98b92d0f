//! The tasks of a cluster, from the point of view of one of them.

use std::collections::{HashMap, HashSet};
use std::fmt;

use tfrt_async::{Immutable, Value};
use tfrt_support::ErrorCode;

use crate::error::RemoteError;
use crate::message::{
    ANY_ORDER, CollectiveGroupConfiguration, DistributedContextConfiguration, RING_ORDER,
};
use crate::name::TaskName;
use crate::random;

/// A task of a cluster. Every process draws the handles of all tasks by itself, so that they mean
/// nothing to another one.
///
/// ```
/// use tfrt_distributed::TaskHandle;
///
/// assert_eq!(TaskHandle::NONE.to_string(), "task_handle[0]");
/// assert_ne!(TaskHandle::draw(), TaskHandle::draw());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskHandle(u64);

impl TaskHandle {
    /// No task.
    pub const NONE: Self = Self(0);

    /// Creates a new, unique handle.
    #[must_use]
    pub fn draw() -> Self {
        Self(random::non_zero())
    }

    /// Returns the number of the handle.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TaskHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task_handle[{}]", self.0)
    }
}

impl Value for TaskHandle {
    const MLIR_TYPE: &'static str = "!tfrt_dist.task_handle";
}

impl Immutable for TaskHandle {}

/// A task: its identity and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// Its handle.
    pub handle: TaskHandle,
    /// Its name.
    pub name: TaskName,
    /// Its address.
    pub address: String,
}

/// The tasks and groups of a cluster.
///
/// ```
/// use tfrt_distributed::ClusterInfo;
/// use tfrt_distributed::message::DistributedContextConfiguration;
///
/// let configurations = DistributedContextConfiguration::local_cluster(&["a".into(), "b".into()]);
/// let cluster = ClusterInfo::new(&configurations[1])?;
/// assert_eq!(cluster.task_name(cluster.own_task())?, "/job:worker/task:1");
/// assert_eq!(cluster.group("group1")?.len(), 2);
/// assert_eq!(
///     cluster.find("/job:worker/task:7").unwrap_err().message,
///     "Failed to get TaskHandle for job_name=worker, task_id=7: the task 7 does not exist."
/// );
/// # Ok::<(), tfrt_distributed::RemoteError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClusterInfo {
    /// In the order of the configuration.
    tasks: Vec<TaskInfo>,
    positions: HashMap<TaskHandle, usize>,
    /// The tasks of each job, by their numbers: a configuration may name many in its groups.
    jobs: HashMap<String, HashMap<i32, TaskHandle>>,
    own: usize,
    groups: HashMap<String, Vec<TaskHandle>>,
}

impl ClusterInfo {
    /// Draws a handle for each task.
    ///
    /// # Errors
    /// If the own task or a member of a group is not a task of the cluster, if the name of a group
    /// contains `:` or `~`, or if a job, a group, a member of a group or an address occurs twice.
    pub fn new(config: &DistributedContextConfiguration) -> Result<Self, RemoteError> {
        let of_job = |job: &'_ crate::message::JobConfiguration| {
            let name = job.name.clone();
            let tasks = job.tasks.clone().into_iter();
            tasks.map(move |(id, address)| TaskInfo {
                handle: TaskHandle::draw(),
                name: TaskName::new(name.as_str(), id),
                address,
            })
        };
        let tasks: Vec<TaskInfo> = config.jobs().iter().flat_map(of_job).collect();
        check_names(config, &tasks)?;
        let mut jobs: HashMap<String, HashMap<i32, TaskHandle>> = HashMap::new();
        for TaskInfo { handle, name, .. } in &tasks {
            let job = jobs.entry(name.job.clone()).or_default();
            job.insert(name.task, *handle);
        }
        let numbered = tasks.iter().enumerate();
        let mut cluster = Self {
            positions: numbered.map(|(index, task)| (task.handle, index)).collect(),
            tasks,
            jobs,
            own: 0,
            groups: HashMap::new(),
        };
        let own = cluster.find_task(&config.job_name, config.task_id)?;
        cluster.own = cluster.positions[&own];
        for group in &config.collective_groups {
            let members = cluster.members(group)?;
            cluster.groups.entry(group.name.clone()).or_insert(members);
        }
        Ok(cluster)
    }

    fn members(
        &self,
        group: &CollectiveGroupConfiguration,
    ) -> Result<Vec<TaskHandle>, RemoteError> {
        let members = group.members.iter();
        members.map(|member| self.find(member)).collect()
    }

    /// Returns all tasks, in the order of the configuration.
    #[must_use]
    pub fn tasks(&self) -> &[TaskInfo] {
        &self.tasks
    }

    /// Returns the task of this process.
    #[must_use]
    pub fn own_task(&self) -> TaskHandle {
        self.tasks[self.own].handle
    }

    /// Returns the name of this process's task.
    #[must_use]
    pub fn own_name(&self) -> String {
        self.tasks[self.own].name.to_string()
    }

    /// Returns the task of this name. Text after the name of a task is ignored.
    ///
    /// # Errors
    /// If it is not a valid name, or there is no such task.
    pub fn find(&self, name: &str) -> Result<TaskHandle, RemoteError> {
        let name = TaskName::parse(name)?;
        self.find_task(&name.job, name.task)
    }

    /// Returns the task of this number in a job.
    ///
    /// # Errors
    /// `Failed to get TaskHandle for job_name=J, task_id=N: …`
    pub fn find_task(&self, job: &str, task: i32) -> Result<TaskHandle, RemoteError> {
        let of_job = self.jobs.get(job);
        if let Some(found) = of_job.and_then(|tasks| tasks.get(&task)) {
            return Ok(*found);
        }
        let missing = match of_job {
            Some(_) => format!("the task {task} does not exist."),
            None => format!("the job {job} does not exist."),
        };
        let message =
            format!("Failed to get TaskHandle for job_name={job}, task_id={task}: {missing}");
        Err(RemoteError::new(ErrorCode::TaskNotFound, message))
    }

    /// Returns the properties of a task.
    ///
    /// # Errors
    /// `No task found with TaskHandle task_handle[V]`
    pub fn task(&self, handle: TaskHandle) -> Result<&TaskInfo, RemoteError> {
        let position = self.positions.get(&handle).ok_or_else(|| {
            let message = format!("No task found with TaskHandle {handle}");
            RemoteError::new(ErrorCode::TaskNotFound, message)
        })?;
        Ok(&self.tasks[*position])
    }

    /// Returns the name of a task.
    ///
    /// # Errors
    /// As [`task`](Self::task).
    pub fn task_name(&self, handle: TaskHandle) -> Result<String, RemoteError> {
        self.task(handle).map(|task| task.name.to_string())
    }

    /// Returns the members of a group, in the order of its ring.
    ///
    /// # Errors
    /// `No collective group with name G.`
    pub fn group(&self, name: &str) -> Result<&[TaskHandle], RemoteError> {
        self.groups.get(name).map(Vec::as_slice).ok_or_else(|| {
            let message = format!("No collective group with name {name}.");
            RemoteError::new(ErrorCode::NotFound, message)
        })
    }
}

/// Checks that jobs, addresses, groups and the members of a group occur only once, and that no name
/// of a group resembles keys.
fn check_names(
    config: &DistributedContextConfiguration,
    tasks: &[TaskInfo],
) -> Result<(), RemoteError> {
    let wrong = |message: String| Err(RemoteError::new(ErrorCode::InvalidArgument, message));
    let several = |what: &str, name: &str| {
        wrong(format!(
            "expected one {what} with the name {name}, found several"
        ))
    };
    let jobs = config.jobs().iter().map(|job| job.name.as_str());
    if let Some(name) = first_repeated(jobs) {
        return several("job", name);
    }
    let groups = config.collective_groups.iter();
    if let Some(name) = first_repeated(groups.map(|group| group.name.as_str())) {
        return several("group", name);
    }
    // Keys and the names of groups of survivors add to the names.
    let mut names = config.collective_groups.iter().map(|group| &group.name);
    if let Some(name) = names.find(|name| name.contains([':', '~'])) {
        return wrong(format!(
            "expected a name of a group without `:` and `~`, found `{name}`"
        ));
    }
    let mut by_address: HashMap<&str, &TaskName> = HashMap::new();
    for task in tasks {
        if let Some(other) = by_address.insert(&task.address, &task.name) {
            let (address, name) = (&task.address, &task.name);
            return wrong(format!(
                "expected one task at the address {address}, found {other} and {name}"
            ));
        }
    }
    for group in &config.collective_groups {
        let (name, order) = (&group.name, group.order.as_str());
        if !["", RING_ORDER, ANY_ORDER].contains(&order) {
            return wrong(format!(
                "expected `{RING_ORDER}` or `{ANY_ORDER}` as the order of group {name}, found \
                 `{order}`"
            ));
        }
        // Several texts may name one task.
        let members: Result<Vec<TaskName>, RemoteError> = group
            .members
            .iter()
            .map(|member| TaskName::parse(member))
            .collect();
        if let Some(member) = first_repeated(members?.iter()) {
            return wrong(format!(
                "expected each member of the group {} once, found {member} several times",
                group.name
            ));
        }
    }
    Ok(())
}

/// Returns the first item that is equal to an earlier one.
fn first_repeated<T: Copy + Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut known = HashSet::new();
    let mut items = items;
    items.find(|item| !known.insert(*item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_reserved_names_are_errors() {
        let of = |addresses: [&str; 2]| {
            let addresses = addresses.map(str::to_owned);
            DistributedContextConfiguration::local_cluster(&addresses).remove(0)
        };
        let check = |config: &DistributedContextConfiguration, expected: &str| {
            let error = ClusterInfo::new(config).unwrap_err();
            assert_eq!(error.to_string(), format!("InvalidArgument: {expected}"));
        };
        let good = of(["a", "b"]);
        assert!(ClusterInfo::new(&good).is_ok());
        check(
            &of(["a", "a"]),
            "expected one task at the address a, found /job:worker/task:0 and /job:worker/task:1",
        );
        let mut config = good.clone();
        let jobs = &mut config.cluster_config.as_mut().unwrap().jobs;
        jobs.push(jobs[0].clone());
        check(
            &config,
            "expected one job with the name worker, found several",
        );
        let mut config = good.clone();
        let groups = &mut config.collective_groups;
        groups.push(groups[0].clone());
        check(
            &config,
            "expected one group with the name group1, found several",
        );
        for name in ["group1:k", "group1~2"] {
            let mut config = good.clone();
            config.collective_groups[0].name = name.to_owned();
            check(
                &config,
                &format!("expected a name of a group without `:` and `~`, found `{name}`"),
            );
        }
        let mut config = good.clone();
        for (order, is_known) in [("", true), ("ring", true), ("any", true), ("Any", false)] {
            config.collective_groups[0].order = order.to_owned();
            assert_eq!(ClusterInfo::new(&config).is_ok(), is_known, "{order}");
        }
        check(
            &config,
            "expected `ring` or `any` as the order of group group1, found `Any`",
        );
        let mut config = good;
        let members = &mut config.collective_groups[0].members;
        members.push("/job:worker/task:0/device:CPU:0".to_owned());
        check(
            &config,
            "expected each member of the group group1 once, found /job:worker/task:0 several times",
        );
    }

    #[test]
    fn tasks_that_do_not_exist_are_named() {
        let mut config =
            DistributedContextConfiguration::local_cluster(&["a".to_owned()]).remove(0);
        let cluster = ClusterInfo::new(&config).unwrap();
        assert_eq!(
            cluster.find("/job:ps/task:0").unwrap_err().to_string(),
            "TaskNotFound: Failed to get TaskHandle for job_name=ps, task_id=0: the job ps does \
             not exist."
        );
        let unknown = cluster.task(TaskHandle::NONE).unwrap_err();
        assert_eq!(
            unknown.message,
            "No task found with TaskHandle task_handle[0]"
        );
        let unknown = cluster.group("g").unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "NotFound: No collective group with name g."
        );
        config.collective_groups[0]
            .members
            .push("/job:worker/task:9".to_owned());
        assert_eq!(
            ClusterInfo::new(&config).unwrap_err().code,
            ErrorCode::TaskNotFound
        );
        config.collective_groups.clear();
        config.task_id = 3;
        assert!(ClusterInfo::new(&config).is_err());
    }
}
