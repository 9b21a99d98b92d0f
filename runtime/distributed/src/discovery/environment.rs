//! Clusters described by environment variables.

use super::hosts::{self, Hosts};
use super::{DEFAULT_JOB, DEFAULT_PORT, DiscoveryError, Found, Variables, job, number, parse_jobs};
use crate::context::is_local_address;

/// Finds the first source that describes a cluster.
pub(super) fn find(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    for source in [own, tf_config, torch, slurm, mpi, kubernetes] {
        if let Some(found) = source(variables)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn required(variables: Variables<'_>, name: &str, because: &str) -> Result<String, DiscoveryError> {
    variables(name)
        .ok_or_else(|| DiscoveryError::new(name, format!("expected a value, as {because} is set")))
}

fn port(variables: Variables<'_>) -> Result<u16, DiscoveryError> {
    let name = "TFRT_PORT";
    match variables(name) {
        Some(port) => number(name, &port),
        None => Ok(DEFAULT_PORT),
    }
}

/// Returns `TFRT_CLUSTER`, with `TFRT_JOB` and `TFRT_TASK`.
fn own(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    let source = "TFRT_CLUSTER";
    let Some(cluster) = variables(source) else {
        return Ok(None);
    };
    let task = variables("TFRT_TASK");
    let task = task.map(|task| number("TFRT_TASK", &task)).transpose()?;
    Ok(Some(Found {
        source: source.to_owned(),
        jobs: parse_jobs(source, cluster.split(';'))?,
        job: variables("TFRT_JOB"),
        task,
        ..Found::default()
    }))
}

/// Returns the variable of TensorFlow: `{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type":
/// "worker", "index": 1}}`.
fn tf_config(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    let source = "TF_CONFIG";
    let Some(text) = variables(source) else {
        return Ok(None);
    };
    let wrong = |problem: String| DiscoveryError::new(source, problem);
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let cluster = value.get("cluster").and_then(|cluster| cluster.as_object());
    let cluster = cluster.ok_or_else(|| wrong("cluster: expected an object".to_owned()))?;
    let mut jobs = Vec::new();
    for (name, addresses) in cluster {
        super::check_job(&format!("{source}: cluster"), name)?;
        let addresses = addresses.as_array().map(|addresses| {
            let texts = addresses.iter().map(|address| address.as_str());
            texts.map(|text| text.map(str::to_owned)).collect()
        });
        let addresses: Option<Vec<String>> = addresses.flatten();
        let addresses = addresses
            .ok_or_else(|| wrong(format!("cluster.{name}: expected an array of addresses")))?;
        jobs.push(job(name, addresses));
    }
    let of_task = |field: &str| {
        let found = value.get("task").and_then(|task| task.get(field));
        found.ok_or_else(|| wrong(format!("task.{field}: expected a value, found none")))
    };
    let own_job = of_task("type")?.as_str();
    let own_job = own_job.ok_or_else(|| wrong("task.type: expected a string".to_owned()))?;
    // TensorFlow writes the number as a number or as a string.
    let index = of_task("index")?;
    let task = match (index.as_i64(), index.as_str()) {
        (Some(task), _) => i32::try_from(task).ok(),
        (None, Some(text)) => text.parse().ok(),
        (None, None) => None,
    };
    let task =
        task.ok_or_else(|| wrong(format!("task.index: expected a number, found {index}")))?;
    Ok(Some(Found {
        source: format!("{source}: task.index {task}"),
        jobs,
        job: Some(own_job.to_owned()),
        task: Some(task),
        ..Found::default()
    }))
}

/// Tasks that `srun` started.
fn slurm(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    let source = "SLURM_PROCID";
    let Some(rank) = variables(source) else {
        return Ok(None);
    };
    // Those of the step, which may have fewer than the job.
    let of_step = variables("SLURM_STEP_NODELIST").map(|list| ("SLURM_STEP_NODELIST", list));
    let list = of_step.or_else(|| {
        let of_job = variables("SLURM_JOB_NODELIST");
        of_job.map(|list| ("SLURM_JOB_NODELIST", list))
    });
    let (list_source, list) = list.ok_or_else(|| {
        DiscoveryError::new(
            "SLURM_JOB_NODELIST",
            "expected a value, as SLURM_PROCID is set",
        )
    })?;
    let nodes = hosts::node_list(list_source, &list)?;
    let count_source = "SLURM_NTASKS";
    let count = required(variables, count_source, source)?;
    let num_tasks: usize = number(count_source, &count)?;
    let per_node = ["SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"];
    let per_node = per_node
        .iter()
        .find_map(|name| variables(name).map(|value| (*name, value)));
    let counts = match per_node {
        Some((name, value)) => hosts::tasks_per_node(name, &value)?,
        None => hosts::evenly(num_tasks, nodes.len()),
    };
    let hosts = Hosts::new(list_source, nodes, counts)?;
    from_hosts(source, &rank, num_tasks, &hosts, variables).map(Some)
}

/// Tasks that `torchrun` or another launcher of PyTorch programs started, which sets `RANK` like
/// others, and `MASTER_ADDR` unlike others: the host of rank 0.
fn torch(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    let Some(master) = variables("MASTER_ADDR") else {
        return Ok(None);
    };
    let sources = RankSources {
        rank: "RANK",
        size: "WORLD_SIZE",
        local_size: Some("LOCAL_WORLD_SIZE"),
    };
    ranks(&sources, is_loopback(&master), variables)
}

/// The variables of PyTorch that matter to tasks which publish their addresses.
pub(super) struct TorchRank {
    pub(super) rank: i32,
    pub(super) num_tasks: u32,
    /// Where this task listens, as others know it, unless somebody must say so.
    pub(super) host: Option<String>,
}

/// Returns the rank of this task, if a launcher of PyTorch programs started it.
pub(super) fn torch_rank(variables: Variables<'_>) -> Result<Option<TorchRank>, DiscoveryError> {
    let (Some(master), Some(rank)) = (variables("MASTER_ADDR"), variables("RANK")) else {
        return Ok(None);
    };
    let rank: i32 = number("RANK", &rank)?;
    let size = required(variables, "WORLD_SIZE", "RANK")?;
    let num_tasks: u32 = number("WORLD_SIZE", &size)?;
    let is_here = is_loopback(&master) || variables("LOCAL_WORLD_SIZE") == Some(size);
    let host = match (is_here, rank) {
        (true, _) => Some("127.0.0.1".to_owned()),
        (false, 0) if master.contains(':') && !master.starts_with('[') => {
            Some(format!("[{master}]"))
        }
        (false, 0) => Some(master),
        (false, _) => None,
    };
    Ok(Some(TorchRank {
        rank,
        num_tasks,
        host,
    }))
}

/// Returns `true` for a host that other machines do not reach under this name.
fn is_loopback(host: &str) -> bool {
    is_local_address(&format!("{host}:1"))
}

/// Tasks that a launcher of MPI programs started.
fn mpi(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    let of_open_mpi = RankSources {
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local_size: Some("OMPI_COMM_WORLD_LOCAL_SIZE"),
    };
    let of_pmi = RankSources {
        rank: "PMI_RANK",
        size: "PMI_SIZE",
        local_size: None,
    };
    match ranks(&of_open_mpi, false, variables)? {
        Some(found) => Ok(Some(found)),
        None => ranks(&of_pmi, false, variables),
    }
}

/// The variables in which a launcher says which one of how many this task is, and how many of them
/// are on this host.
struct RankSources {
    rank: &'static str,
    size: &'static str,
    local_size: Option<&'static str>,
}

/// Tasks of a launcher that numbers them. It may be known that `all_are_here`, on this host.
fn ranks(
    sources: &RankSources,
    all_are_here: bool,
    variables: Variables<'_>,
) -> Result<Option<Found>, DiscoveryError> {
    let rank_source = sources.rank;
    let Some(rank) = variables(rank_source) else {
        return Ok(None);
    };
    let size = required(variables, sources.size, rank_source)?;
    let num_tasks: usize = number(sources.size, &size)?;
    let local_size = sources
        .local_size
        .and_then(|name| variables(name).map(|size| (name, size)));
    let local_size = local_size.map(|(name, size)| number::<usize>(name, &size));
    let all_are_here = local_size
        .transpose()?
        .map_or(all_are_here, |local_size| local_size == num_tasks);
    let hosts = match variables("TFRT_HOSTS") {
        Some(list) => hosts::host_list("TFRT_HOSTS", &list, num_tasks)?,
        None if all_are_here => {
            Hosts::new(rank_source, vec!["127.0.0.1".to_owned()], vec![num_tasks])?
        }
        None => {
            let problem = format!(
                "expected the hosts of the tasks, because {rank_source} is set and some tasks \
                 may run on other hosts"
            );
            return Err(DiscoveryError::new("TFRT_HOSTS", problem));
        }
    };
    from_hosts(rank_source, &rank, num_tasks, &hosts, variables).map(Some)
}

/// Tasks that are numbered host by host.
fn from_hosts(
    rank_source: &str,
    rank: &str,
    num_tasks: usize,
    hosts: &Hosts,
    variables: Variables<'_>,
) -> Result<Found, DiscoveryError> {
    Ok(Found {
        source: rank_source.to_owned(),
        jobs: vec![job(
            DEFAULT_JOB,
            hosts.addresses(num_tasks, port(variables)?)?,
        )],
        task: Some(number(rank_source, rank)?),
        ..Found::default()
    })
}

/// Pods of a StatefulSet: `NAME-3` is task 3, and reached as `NAME-3.SERVICE.NAMESPACE.svc`.
fn kubernetes(variables: Variables<'_>) -> Result<Option<Found>, DiscoveryError> {
    let source = "TFRT_SERVICE";
    let Some(service) = variables(source) else {
        return Ok(None);
    };
    let pod = required(variables, "POD_NAME", source)?;
    let numbered = pod
        .rsplit_once('-')
        .and_then(|(set, task)| Some((set, task.parse::<i32>().ok()?)));
    let (set, task) = numbered.ok_or_else(|| {
        let problem =
            format!("expected the name of a pod with an index, such as `NAME-3`, found `{pod}`");
        DiscoveryError::new("POD_NAME", problem)
    })?;
    let replicas = required(variables, "TFRT_REPLICAS", source)?;
    let replicas: u32 = number("TFRT_REPLICAS", &replicas)?;
    let namespace = variables("POD_NAMESPACE").unwrap_or_else(|| "default".to_owned());
    let port = port(variables)?;
    if replicas > hosts::MAX_TASKS {
        return Err(hosts::too_many("TFRT_REPLICAS"));
    }
    let address = |task| format!("{set}-{task}.{service}.{namespace}.svc:{port}");
    Ok(Some(Found {
        source: "POD_NAME".to_owned(),
        jobs: vec![job(DEFAULT_JOB, (0..replicas).map(address).collect())],
        task: Some(task),
        ..Found::default()
    }))
}
