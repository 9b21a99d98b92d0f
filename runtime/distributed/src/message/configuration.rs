//! What a task is told about its cluster and itself.

use std::collections::BTreeMap;

use prost::Message;
use tfrt_async::{Immutable, Value};

/// A job: the addresses of its tasks.
#[derive(Clone, PartialEq, Message)]
pub struct JobConfiguration {
    /// The name of the job.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The address of each task. Numbers of tasks need not be dense.
    #[prost(btree_map = "int32, string", tag = "2")]
    pub tasks: BTreeMap<i32, String>,
}

/// The jobs of a cluster.
#[derive(Clone, PartialEq, Message)]
pub struct ClusterConfiguration {
    /// The jobs.
    #[prost(message, repeated, tag = "1")]
    pub jobs: Vec<JobConfiguration>,
    /// The task that leads the initialization of many clients.
    #[prost(string, tag = "2")]
    pub lead_task_name: String,
}

/// A group of tasks that take part in collectives.
#[derive(Clone, PartialEq, Message)]
pub struct CollectiveGroupConfiguration {
    /// The name of the group.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The names of its tasks, in the order of the ring.
    #[prost(string, repeated, tag = "2")]
    pub members: Vec<String>,
    /// The order in which reductions combine the elements of members: [`ANY_ORDER`], or
    /// [`RING_ORDER`], which is the default if this is empty.
    #[prost(string, tag = "101")]
    pub order: String,
}

/// Reductions of a group combine elements in the order of the ring: all back ends that allow it
/// compute the same bits.
pub const RING_ORDER: &str = "ring";

/// Reductions of a group may combine elements in any order: the last bits of floating-point numbers
/// depend on the back end.
pub const ANY_ORDER: &str = "any";

/// The information of a task about its cluster and itself.
///
/// ```
/// use tfrt_distributed::message::DistributedContextConfiguration;
///
/// let configurations = DistributedContextConfiguration::local_cluster(&["a:1".into(), "b:2".into()]);
/// assert_eq!(configurations[1].task_name(), "/job:worker/task:1");
/// assert_eq!(configurations[1].own_address(), Some("b:2"));
/// assert!(configurations[0].to_string().starts_with("cluster_config { jobs { name: \"worker\" tasks { key: 0 value: \"a:1\" }"));
/// ```
#[derive(Clone, PartialEq, Message)]
pub struct DistributedContextConfiguration {
    /// The cluster.
    #[prost(message, optional, tag = "1")]
    pub cluster_config: Option<ClusterConfiguration>,
    /// The groups.
    #[prost(message, repeated, tag = "2")]
    pub collective_groups: Vec<CollectiveGroupConfiguration>,
    /// The job of this task.
    #[prost(string, tag = "3")]
    pub job_name: String,
    /// The number of this task in its job.
    #[prost(int32, tag = "4")]
    pub task_id: i32,
}

impl DistributedContextConfiguration {
    /// Returns one configuration for each task of a cluster with one job, `worker`, and one group
    /// of all tasks, `group1`.
    #[must_use]
    pub fn local_cluster(addresses: &[String]) -> Vec<Self> {
        let numbered = (0_i32..).zip(addresses);
        let tasks: BTreeMap<i32, String> = numbered
            .map(|(id, address)| (id, address.clone()))
            .collect();
        let names = tasks
            .keys()
            .map(|id| crate::name::TaskName::new("worker", *id));
        let members: Vec<String> = names.map(|name| name.to_string()).collect();
        let cluster = ClusterConfiguration {
            jobs: vec![JobConfiguration {
                name: "worker".to_owned(),
                tasks: tasks.clone(),
            }],
            lead_task_name: members.first().cloned().unwrap_or_default(),
        };
        let group = CollectiveGroupConfiguration {
            name: "group1".to_owned(),
            members,
            order: String::new(),
        };
        let of_task = |task_id: &i32| Self {
            cluster_config: Some(cluster.clone()),
            collective_groups: vec![group.clone()],
            job_name: "worker".to_owned(),
            task_id: *task_id,
        };
        tasks.keys().map(of_task).collect()
    }

    /// Returns the jobs of the cluster.
    #[must_use]
    pub fn jobs(&self) -> &[JobConfiguration] {
        let cluster = self.cluster_config.as_ref();
        cluster.map_or(&[], |cluster| &cluster.jobs)
    }

    /// Returns the task that leads the initialization of many clients; may be empty.
    #[must_use]
    pub fn lead_task_name(&self) -> &str {
        let cluster = self.cluster_config.as_ref();
        cluster.map_or("", |cluster| &cluster.lead_task_name)
    }

    /// Returns the name of this task.
    #[must_use]
    pub fn task_name(&self) -> String {
        crate::name::TaskName::new(self.job_name.as_str(), self.task_id).to_string()
    }

    /// Returns the address of this task, if the cluster has the task.
    #[must_use]
    pub fn own_address(&self) -> Option<&str> {
        let job = self.jobs().iter().find(|job| job.name == self.job_name)?;
        job.tasks.get(&self.task_id).map(String::as_str)
    }

    /// Returns `true` if a task is part of the cluster.
    #[must_use]
    pub fn has_task(&self, task: &crate::name::TaskName) -> bool {
        let job = self.jobs().iter().find(|job| job.name == task.job);
        job.is_some_and(|job| job.tasks.contains_key(&task.task))
    }

    /// Returns the same configuration, as that of another task.
    #[must_use]
    pub fn for_task(&self, job_name: &str, task_id: i32) -> Self {
        Self {
            job_name: job_name.to_owned(),
            task_id,
            ..self.clone()
        }
    }
}

impl Value for DistributedContextConfiguration {
    const MLIR_TYPE: &'static str = "!tfrt_dist.dist_context_configuration";
}

impl Immutable for DistributedContextConfiguration {}
