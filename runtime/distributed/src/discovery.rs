//! Discovery of the cluster of a task, and of the task's place in it.
//!
//! ```text
//!  file ─► flags ─► environment:  TFRT_CLUSTER ─► TF_CONFIG ─► torchrun ─► SLURM ─► Open MPI, PMI ─► Kubernetes
//!  the first one that says something counts; the result is checked before anything connects
//! ```
//!
//! | variables | set by | contents |
//! |---|---|---|
//! | `TFRT_CLUSTER`, `TFRT_JOB`, `TFRT_TASK` | `tfrt launch`, or by hand | `worker=HOST:PORT,HOST:PORT;ps=HOST:PORT`, and which task this is |
//! | `TF_CONFIG` | TensorFlow's tools | the same as JSON |
//! | `RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`, with `MASTER_ADDR` | `torchrun`, and others that start PyTorch programs | the number of the task; the hosts are those of `TFRT_HOSTS`, or this one if all tasks are on it: as many as `LOCAL_WORLD_SIZE` says, or any number if `MASTER_ADDR` is a loopback address |
//! | `SLURM_STEP_NODELIST` or `SLURM_JOB_NODELIST`, `SLURM_NTASKS`, `SLURM_PROCID` | `srun` | hosts; tasks fill one host after another, according to `SLURM_STEP_TASKS_PER_NODE` |
//! | `OMPI_COMM_WORLD_RANK`, `…_SIZE`, `…_LOCAL_SIZE` | `mpirun` | the number of the task; the hosts are those of `TFRT_HOSTS`, or this one if all tasks are on it |
//! | `PMI_RANK`, `PMI_SIZE` | other launchers of MPI programs | the same, always with `TFRT_HOSTS` |
//! | `TFRT_SERVICE`, `TFRT_REPLICAS`, `POD_NAME`, `POD_NAMESPACE` | a StatefulSet of Kubernetes with a headless service | `POD_NAME` ends with the number of the task |
//!
//! If variables name hosts without ports, the first task of a host listens at port `TFRT_PORT`
//! (7700 if it is not set), and each further one at the next port. All of these clusters have one
//! job, `worker`.
//!
//! If nobody knows the addresses before the tasks start, the tasks [meet](Meeting) in a shared
//! folder ([`Folder`]) or on an etcd server (the feature `etcd` of `tfrt-grpc`), where each
//! publishes its own:
//!
//! | variables | contents |
//! |---|---|
//! | `TFRT_CLUSTER_FOLDER` or `TFRT_CLUSTER_ETCD` | the folder, or `HOST:PORT/PREFIX` |
//! | `TFRT_CLUSTER_SIZE` | how many tasks each job has: `worker=4;ps=1` |
//! | `TFRT_JOB`, `TFRT_TASK`, `TFRT_LISTEN` | which task this is, and where it listens: `HOST:0` for any port |
//!
//! Tasks of PyTorch's launchers may meet, too: number and size are `RANK` and `WORLD_SIZE` then,
//! and rank 0 listens at `MASTER_ADDR`. They do not meet at `MASTER_PORT`, because `torchrun`
//! listens there itself.
//!
//! This module does not read the environment, or files other than in such a folder: see
//! [`discover`].

mod environment;

mod file;

mod folder;

mod meeting;

mod hosts;

mod text_format;

mod toml_format;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use crate::cluster::ClusterInfo;
use crate::message::{
    ANY_ORDER, ClusterConfiguration, CollectiveGroupConfiguration, DistributedContextConfiguration,
    JobConfiguration,
};
use crate::name::TaskName;

pub use folder::Folder;
pub use meeting::{Board, Meeting, MeetingPlace, meeting, observed_place};

/// The job of clusters whose source names none.
pub const DEFAULT_JOB: &str = "worker";

/// The job of a process that uses a cluster and is not described as one of its tasks.
pub const CLIENT_JOB: &str = "client";

/// The group of all tasks, in clusters whose source names no groups.
pub const ALL_TASKS: &str = "all";

/// The port of the first task of a host if a source names only hosts.
pub const DEFAULT_PORT: u16 = 7700;

/// The size of the system's buffer for the path of a Unix socket, including its end.
const MAX_SOCKET_PATH: usize = 108;

/// The value of a variable of the environment, if it is set.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The information about the cluster that does not come from the environment.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The name and the text of a file: a [`DistributedContextConfiguration`] as TOML, if the name
    /// ends with `.toml`; otherwise as JSON, or in the text format of protocol buffers.
    pub file: Option<(String, String)>,
    /// The jobs, each as `JOB=ADDRESS,ADDRESS`.
    pub jobs: Vec<String>,
    /// The job of this task.
    pub job: Option<String>,
    /// The number of this task in its job.
    pub task: Option<i32>,
    /// Whether reductions of the group of all tasks may combine elements in any order, if the
    /// source names no groups.
    pub any_order: bool,
    /// The folder in which the tasks meet.
    pub folder: Option<String>,
    /// The etcd server on which the tasks meet: `HOST:PORT/PREFIX`.
    pub etcd: Option<String>,
    /// The numbers of tasks that meet, each as `JOB=NUMBER`.
    pub sizes: Vec<String>,
    /// Where this task listens if tasks meet.
    pub listen: Option<String>,
}

/// The reason why a cluster was not found: the location and the error there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryError {
    source: String,
    problem: String,
}

impl DiscoveryError {
    /// Creates an error of a source.
    #[must_use]
    pub fn new(source: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for DiscoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.problem)
    }
}

impl Error for DiscoveryError {}

/// A cluster as a source describes it.
#[derive(Clone, Debug, Default)]
struct Found {
    /// The name of the source, for errors.
    source: String,
    jobs: Vec<JobConfiguration>,
    lead: Option<String>,
    groups: Vec<CollectiveGroupConfiguration>,
    job: Option<String>,
    task: Option<i32>,
    any_order: bool,
}

/// Finds the cluster and the identity of this task, from explicit information or from environment
/// variables.
///
/// ```
/// use tfrt_distributed::discovery::{Told, discover};
///
/// let environment = |name: &str| match name {
///     "SLURM_JOB_NODELIST" => Some("node[09-10]".to_owned()),
///     "SLURM_NTASKS" => Some("2".to_owned()),
///     "SLURM_PROCID" => Some("1".to_owned()),
///     _ => None,
/// };
/// let found = discover(&Told::default(), &environment)?;
/// assert_eq!(found.task_name(), "/job:worker/task:1");
/// assert_eq!(found.own_address(), Some("node10:7700"));
///
/// let flags = Told {
///     jobs: vec!["worker=a:1,b:1".to_owned()],
///     task: Some(2),
///     ..Told::default()
/// };
/// let error = discover(&flags, &environment).unwrap_err();
/// assert_eq!(error.to_string(), "--task 2: job \"worker\" has 2 tasks");
/// # Ok::<(), tfrt_distributed::discovery::DiscoveryError>(())
/// ```
///
/// # Errors
/// If no source describes a cluster, or the first one that does is invalid; the error names the
/// source and the field.
pub fn discover(
    told: &Told,
    variables: Variables<'_>,
) -> Result<DistributedContextConfiguration, DiscoveryError> {
    let mut found = find(told, variables)?;
    found.any_order = told.any_order;
    let (mut job_source, mut task_source) = (found.source.clone(), found.source.clone());
    if let Some(job) = &told.job {
        found.job = Some(job.clone());
        "--job".clone_into(&mut job_source);
    }
    if let Some(task) = told.task {
        found.task = Some(task);
        task_source = format!("--task {task}");
    }
    found.complete(&job_source, &task_source)
}

/// Finds the cluster for a process that is none of its tasks. The configuration is that of the
/// first task.
///
/// # Errors
/// As [`discover`].
pub fn observe(
    told: &Told,
    variables: Variables<'_>,
) -> Result<DistributedContextConfiguration, DiscoveryError> {
    let mut found = find(told, variables)?;
    if let Some(job) = found.jobs.first() {
        found.job = Some(job.name.clone());
        found.task = job.tasks.keys().next().copied();
    }
    let source = found.source.clone();
    found.complete(&source, &source)
}

/// Returns the cluster of a configuration with a further task, which uses the others: the only one
/// of the job [`CLIENT_JOB`]. It leads, and belongs to the group [`ALL_TASKS`] if all others do.
/// The configuration is that of this task.
///
/// ```
/// use tfrt_distributed::discovery::{Told, observe, with_client};
///
/// let flags = Told {
///     jobs: vec!["worker=a:1,b:1".to_owned()],
///     ..Told::default()
/// };
/// let workers = observe(&flags, &|_| None)?;
/// let config = with_client(&workers, "c:1")?;
/// assert_eq!(config.task_name(), "/job:client/task:0");
/// assert_eq!(config.own_address(), Some("c:1"));
/// let all = &config.collective_groups[0].members;
/// assert_eq!(all[..], ["/job:client/task:0", "/job:worker/task:0", "/job:worker/task:1"]);
/// # Ok::<(), tfrt_distributed::discovery::DiscoveryError>(())
/// ```
///
/// # Errors
/// If the cluster has such a job already, or another task listens at the address.
pub fn with_client(
    config: &DistributedContextConfiguration,
    address: &str,
) -> Result<DistributedContextConfiguration, DiscoveryError> {
    let client = TaskName::new(CLIENT_JOB, 0);
    let mut config = config.for_task(&client.job, client.task);
    let num_others: usize = config.jobs().iter().map(|job| job.tasks.len()).sum();
    let cluster = config.cluster_config.get_or_insert_default();
    cluster
        .jobs
        .insert(0, job(CLIENT_JOB, vec![address.to_owned()]));
    cluster.lead_task_name = client.to_string();
    let mut groups = config.collective_groups.iter_mut();
    let of_all = groups.find(|group| group.name == ALL_TASKS && group.members.len() == num_others);
    if let Some(group) = of_all {
        group.members.insert(0, client.to_string());
    }
    check_address(CLIENT_JOB, &client, address)?;
    let checked = ClusterInfo::new(&config);
    checked.map_err(|error| DiscoveryError::new(CLIENT_JOB, error.message))?;
    Ok(config)
}

/// Finds the first source that describes a cluster.
fn find(told: &Told, variables: Variables<'_>) -> Result<Found, DiscoveryError> {
    match &told.file {
        Some((name, text)) => file::parse(name, text),
        None if !told.jobs.is_empty() => Ok(Found {
            source: "--cluster".to_owned(),
            jobs: parse_jobs("--cluster", told.jobs.iter().map(String::as_str))?,
            ..Found::default()
        }),
        None => environment::find(variables)?.ok_or_else(|| {
            let problem = "expected the cluster in a file, flags or environment variables, found \
                           none";
            DiscoveryError::new("cluster", problem)
        }),
    }
}

impl Found {
    /// Completes the configuration and checks it.
    fn complete(
        self,
        job_source: &str,
        task_source: &str,
    ) -> Result<DistributedContextConfiguration, DiscoveryError> {
        let job_name = match (self.job, &self.jobs[..]) {
            (Some(job), _) => job,
            (None, [only]) => only.name.clone(),
            (None, _) => {
                let problem = "expected the job of this task, found none";
                return Err(DiscoveryError::new(job_source, problem));
            }
        };
        let job = self.jobs.iter().find(|job| job.name == job_name);
        let job = job.ok_or_else(|| {
            DiscoveryError::new(job_source, format!("unknown job \"{job_name}\""))
        })?;
        let task_id = self.task.ok_or_else(|| {
            DiscoveryError::new(task_source, "expected the number of this task, found none")
        })?;
        if !job.tasks.contains_key(&task_id) {
            let problem = format!("job \"{job_name}\" has {} tasks", job.tasks.len());
            return Err(DiscoveryError::new(task_source, problem));
        }
        let names: Vec<String> = self
            .jobs
            .iter()
            .flat_map(|job| {
                let name = |task: &i32| TaskName::new(job.name.as_str(), *task).to_string();
                job.tasks.keys().map(name)
            })
            .collect();
        for job in &self.jobs {
            for (task, address) in &job.tasks {
                let task = TaskName::new(job.name.as_str(), *task);
                check_address(&self.source, &task, address)?;
            }
        }
        let lead_task_name = self.lead.filter(|lead| !lead.is_empty());
        let config = DistributedContextConfiguration {
            cluster_config: Some(ClusterConfiguration {
                lead_task_name: lead_task_name
                    .or_else(|| names.first().cloned())
                    .unwrap_or_default(),
                jobs: self.jobs,
            }),
            collective_groups: match self.groups.is_empty() {
                true => vec![CollectiveGroupConfiguration {
                    name: ALL_TASKS.to_owned(),
                    members: names,
                    order: match self.any_order {
                        true => ANY_ORDER.to_owned(),
                        false => String::new(),
                    },
                }],
                false => self.groups,
            },
            job_name,
            task_id,
        };
        let wrong =
            |error: crate::RemoteError| DiscoveryError::new(&self.source, error.message.clone());
        let cluster = ClusterInfo::new(&config).map_err(wrong)?;
        cluster.find(config.lead_task_name()).map_err(wrong)?;
        Ok(config)
    }
}

/// Parses jobs of the form `JOB=ADDRESS,ADDRESS`.
fn parse_jobs<'a>(
    source: &str,
    jobs: impl Iterator<Item = &'a str>,
) -> Result<Vec<JobConfiguration>, DiscoveryError> {
    let parse = |text: &str| {
        let (name, addresses) = text.split_once('=').ok_or_else(|| {
            let problem = format!("expected `JOB=ADDRESS,ADDRESS`, found `{text}`");
            DiscoveryError::new(source, problem)
        })?;
        check_job(source, name)?;
        let addresses = addresses
            .split(',')
            .map(|address| address.trim().to_owned());
        Ok(job(name, addresses.collect()))
    };
    jobs.map(str::trim)
        .filter(|text| !text.is_empty())
        .map(parse)
        .collect()
}

fn check_job(source: &str, name: &str) -> Result<(), DiscoveryError> {
    let parsed = TaskName::parse(&TaskName::new(name, 0).to_string());
    match parsed.is_ok_and(|parsed| parsed.job == name) {
        true => Ok(()),
        false => {
            let problem = format!(
                "expected the name of a job (a letter, then letters, digits and `_`), found \
                 \"{name}\""
            );
            Err(DiscoveryError::new(source, problem))
        }
    }
}

/// Returns a job of tasks that are numbered in this order.
fn job(name: &str, addresses: Vec<String>) -> JobConfiguration {
    JobConfiguration {
        name: name.to_owned(),
        tasks: (0..).zip(addresses).collect::<BTreeMap<i32, String>>(),
    }
}

/// Checks that the address of a task is `HOST:PORT`, `[IPV6]:PORT` or `unix:/PATH`.
fn check_address(source: &str, task: &TaskName, address: &str) -> Result<(), DiscoveryError> {
    if let Some(path) = address.strip_prefix("unix:") {
        if path.starts_with('/') && path.len() < MAX_SOCKET_PATH && !path.contains('\0') {
            return Ok(());
        }
        let problem = format!(
            "{task}: expected `unix:/PATH` with an absolute path of less than {MAX_SOCKET_PATH} \
             bytes, found `{address}`"
        );
        return Err(DiscoveryError::new(source, problem));
    }
    let wrong = |why: &str| {
        let problem = format!("{task}: expected `HOST:PORT`, found `{address}`{why}");
        Err(DiscoveryError::new(source, problem))
    };
    let Some((host, port)) = address.rsplit_once(':') else {
        return wrong("");
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match bare {
        Some(host) => host.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            !host.is_empty() && host.chars().all(is_part)
        }
    };
    match port.parse::<u16>() {
        Ok(1..) if is_host => Ok(()),
        Ok(0) => wrong(": other tasks cannot know a port that the system chooses"),
        _ => wrong(""),
    }
}

/// Parses the value of a variable that is a number.
fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, DiscoveryError> {
    value.trim().parse().map_err(|_| {
        let problem = format!("expected a number, found `{value}`");
        DiscoveryError::new(name, problem)
    })
}

#[cfg(test)]
mod tests;
