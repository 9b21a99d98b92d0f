//! The cluster of a process, and its credentials.

mod credentials;

mod meeting;

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tfrt::distributed::collective::{AUTO, BackEnd};
use tfrt::distributed::discovery::{self, ALL_TASKS, Board, CLIENT_JOB, DiscoveryError, Told};
use tfrt::distributed::message::{ANY_ORDER, DistributedContextConfiguration};
use tfrt::distributed::name::TaskName;
use tfrt::distributed::{
    AllowedPrograms, DEFAULT_COLLECTIVES, DEFAULT_INITIALIZATION_TIMEOUT, Server, ServerConfig,
    is_local_address,
};
use tfrt_grpc::{GrpcNetwork, GrpcOptions};
use tfrt_host::HostContext;

use crate::failure::{CliError, Failure};

use credentials::Credentials;
use meeting::{board_at, meet};

/// The variable that says that standard input is the socket where the task listens: see
/// `tfrt launch`.
pub(crate) const LISTENER_VARIABLE: &str = "TFRT_LISTENER";

/// The only value of that variable.
pub(crate) const ON_STANDARD_INPUT: &str = "stdin";

/// The exit status of a task that cannot listen.
const CANNOT_LISTEN: u8 = 2;

/// Which tasks there are.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArguments {
    /// A job and the addresses of its tasks. May be repeated [default: the cluster described by
    /// TFRT_CLUSTER, TFRT_CLUSTER_FOLDER, TFRT_CLUSTER_ETCD, TF_CONFIG, or the environment of
    /// torchrun, SLURM, Open MPI, PMI or Kubernetes]
    #[arg(long, value_name = "JOB=HOST:PORT,…")]
    cluster: Vec<String>,

    /// A file that describes the cluster, as JSON, as TOML if its name ends with `.toml`, or in the
    /// text format of protocol buffers
    #[arg(long, value_name = "FILE", conflicts_with = "cluster")]
    cluster_file: Option<PathBuf>,

    /// A folder, shared by all tasks, in which each publishes its address and finds those of the
    /// others. Needs `--cluster-size`
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["cluster", "cluster_file"])]
    cluster_folder: Option<String>,

    /// An etcd server on which each task publishes its address and finds those of the others, and
    /// the prefix of the keys. Needs `--cluster-size`, and `--features etcd`
    #[arg(
        long,
        value_name = "HOST:PORT/PREFIX",
        conflicts_with_all = ["cluster", "cluster_file", "cluster_folder"]
    )]
    cluster_etcd: Option<String>,

    /// The number of tasks of a job whose tasks find each other in a folder or on an etcd server.
    /// May be repeated [default: TFRT_CLUSTER_SIZE]
    #[arg(long, value_name = "JOB=NUMBER")]
    cluster_size: Vec<String>,

    /// Allow reductions to combine the elements of tasks in any order, for collectives such as
    /// `tree`. The same for all tasks. A file says so for each group: `order = "any"`
    #[arg(long, conflicts_with = "cluster_file")]
    any_order: bool,

    #[command(flatten)]
    credentials: Credentials,
}

/// Which of the tasks this process is.
#[derive(Args, Clone, Debug)]
pub(crate) struct TaskArguments {
    /// The job of this task
    #[arg(long, value_name = "JOB")]
    job: Option<String>,

    /// The index of this task in its job, from 0
    #[arg(long, value_name = "N")]
    task: Option<i32>,

    /// Where this task listens if the cluster does not say so: the name or address of this machine
    /// as others know it. With port 0, the system chooses a port. For tasks that find each other
    /// in a folder or on an etcd server [default: TFRT_LISTEN, or 127.0.0.1:0], and for a client
    /// [default: the address by which this machine reaches the workers]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    /// How long to wait for the other tasks, in seconds: until they have found each other, and
    /// until the programs of all take part [default: 300]
    #[arg(long, value_name = "SECONDS")]
    meeting_timeout: Option<u32>,

    /// How collectives exchange tensors: `ring` (over the network), `shm` (shared memory, between
    /// tasks of one machine), `auto` (the best of these), `tree` or `recursive_doubling` (over the
    /// network, with few steps for small tensors; need groups that allow any order), `mpi` (between
    /// ranks that `mpirun` has started; needs `--features mpi`), or `nccl` (between GPUs; needs
    /// `--features nccl`). The same for all tasks [default: `ring`]
    #[arg(long, value_name = "NAME")]
    collectives: Option<String>,

    /// Which programs other tasks may send: `any`, `registered` (those of `--program`), or `none`
    /// [default: `any` at loopback addresses and Unix sockets, otherwise `registered`]
    #[arg(long, value_name = "WHICH")]
    allow_programs: Option<Allowance>,

    /// A program that other tasks may send, byte for byte. May be repeated
    #[arg(long, value_name = "FILE")]
    program: Vec<PathBuf>,

    /// Exchange tensors with other engines over Arrow Flight, at the address of the task. Needs
    /// `--features flight`
    #[arg(long)]
    flight: bool,
}

/// Which programs other tasks may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Allowance {
    Any,
    Registered,
    None,
}

impl TaskArguments {
    /// Returns the flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        given([
            ("--job", self.job.is_some()),
            ("--task", self.task.is_some()),
            ("--listen", self.listen.is_some()),
            ("--meeting-timeout", self.meeting_timeout.is_some()),
            ("--collectives", self.collectives.is_some()),
            ("--allow-programs", self.allow_programs.is_some()),
            ("--program", !self.program.is_empty()),
            ("--flight", self.flight),
        ])
    }

    /// Returns the same arguments for a task of this name.
    pub(crate) fn of(&self, job: &str, task: i32) -> Self {
        Self {
            job: Some(job.to_owned()),
            task: Some(task),
            ..self.clone()
        }
    }

    /// Returns how long to wait for the other tasks.
    pub(crate) fn timeout(&self) -> Duration {
        let timeout = self.meeting_timeout;
        timeout.map_or(DEFAULT_INITIALIZATION_TIMEOUT, |seconds| {
            Duration::from_secs(seconds.into())
        })
    }

    /// Returns the back end of collectives.
    pub(crate) fn collectives(&self) -> &str {
        self.collectives.as_deref().unwrap_or(DEFAULT_COLLECTIVES)
    }

    /// Returns the programs that a task at an address accepts.
    fn programs(&self, address: &str) -> Result<AllowedPrograms, Failure> {
        let allowance = self
            .allow_programs
            .unwrap_or_else(|| match is_local_address(address) {
                true => Allowance::Any,
                false => Allowance::Registered,
            });
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|error| {
                Failure::caused(format!("cannot read `{}`", path.display()), error)
            })
        };
        match allowance {
            Allowance::Any => Ok(AllowedPrograms::any()),
            Allowance::None => Ok(AllowedPrograms::none()),
            Allowance::Registered => {
                let programs: Result<Vec<_>, _> = self.program.iter().map(read).collect();
                programs.map(AllowedPrograms::these)
            }
        }
    }

    /// Returns the options of the network with Arrow Flight, if it is wanted.
    #[cfg(feature = "flight")]
    fn with_flight(&self, options: GrpcOptions) -> Result<GrpcOptions, Failure> {
        let flight = self.flight;
        Ok(GrpcOptions { flight, ..options })
    }

    /// Returns the options of the network, unless Arrow Flight is wanted.
    #[cfg(not(feature = "flight"))]
    fn with_flight(&self, options: GrpcOptions) -> Result<GrpcOptions, Failure> {
        match self.flight {
            false => Ok(options),
            true => Err(Failure::new(
                "--flight: this program was built without the feature `flight`",
            )),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the names of the flags that were given.
fn given<const N: usize>(flags: [(&'static str, bool); N]) -> impl Iterator<Item = &'static str> {
    let given = flags.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| name)
}

impl ClusterArguments {
    /// Returns the same arguments for a cluster of these jobs, each as `JOB=ADDRESS,ADDRESS`.
    pub(crate) fn of_jobs(&self, jobs: &[String]) -> Self {
        Self {
            cluster: jobs.to_vec(),
            ..self.clone()
        }
    }

    /// Returns `true` if a flag says which tasks there are.
    pub(crate) fn is_given(&self) -> bool {
        self.places().next().is_some()
    }

    /// Returns the flags that were given and say which tasks there are.
    fn places(&self) -> impl Iterator<Item = &'static str> {
        given([
            ("--cluster", !self.cluster.is_empty()),
            ("--cluster-file", self.cluster_file.is_some()),
            ("--cluster-folder", self.cluster_folder.is_some()),
            ("--cluster-etcd", self.cluster_etcd.is_some()),
        ])
    }

    /// Returns the flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let further = given([
            ("--cluster-size", !self.cluster_size.is_empty()),
            ("--any-order", self.any_order),
        ]);
        self.places().chain(further).chain(self.credentials.given())
    }

    fn told(&self, task: Option<&TaskArguments>) -> Result<Told, Failure> {
        let file = self.cluster_file.as_deref().map(|path| {
            let name = path.display().to_string();
            match std::fs::read_to_string(path) {
                Ok(text) => Ok((name, text)),
                Err(error) => Err(Failure::caused(format!("cannot read `{name}`"), error)),
            }
        });
        Ok(Told {
            file: file.transpose()?,
            jobs: self.cluster.clone(),
            job: task.and_then(|task| task.job.clone()),
            task: task.and_then(|task| task.task),
            any_order: self.any_order,
            folder: self.cluster_folder.clone(),
            etcd: self.cluster_etcd.clone(),
            sizes: self.cluster_size.clone(),
            listen: task.and_then(|task| task.listen.clone()),
        })
    }

    /// Returns the configuration of a task, after it has met the others if that is how they find
    /// each other.
    pub(crate) fn configuration(&self, task: &TaskArguments) -> Result<FoundCluster, Failure> {
        let told = self.told(Some(task))?;
        let wrong = |error: DiscoveryError| Failure::new(error.to_string());
        if let Some(meeting) = discovery::meeting(&told, &variable).map_err(wrong)? {
            let mut board = board_at(&meeting.place)?;
            let network = self.network()?;
            let config = meet(&meeting, &network, &mut *board, task.timeout())?;
            return Ok(FoundCluster {
                config,
                _board: Some(board),
            });
        }
        let useless = [
            ("--cluster-size", !self.cluster_size.is_empty()),
            ("--listen", task.listen.is_some()),
        ];
        if let Some(flag) = given(useless).next() {
            return Err(Failure::new(format!(
                "{flag} has no effect, because the addresses of all tasks are given"
            )));
        }
        Ok(FoundCluster {
            config: discovery::discover(&told, &variable).map_err(wrong)?,
            _board: None,
        })
    }

    /// Returns the configuration of a client: the task that the command line or the cluster says,
    /// or a further one.
    pub(crate) fn of_client(&self, task: &TaskArguments) -> Result<FoundCluster, Failure> {
        if task.job.is_some() || task.task.is_some() {
            return self.configuration(task);
        }
        if !self.cluster_size.is_empty() {
            return Err(Failure::new(
                "--cluster-size has no effect, because a client uses the tasks that are there",
            ));
        }
        let mut config = self.observed()?;
        if config.jobs().iter().any(|job| job.name == CLIENT_JOB) {
            return self.configuration(&task.of(CLIENT_JOB, 0));
        }
        if self.any_order {
            let mut groups = config.collective_groups.iter_mut();
            if let Some(group) = groups.find(|group| group.name == ALL_TASKS) {
                ANY_ORDER.clone_into(&mut group.order);
            }
        }
        let listen = match &task.listen {
            Some(listen) => listen.clone(),
            None => address_towards(&config)?,
        };
        if is_everywhere(&listen) {
            return Err(Failure::new(format!(
                "--listen: expected the name or address by which the workers reach this machine, \
                 found `{listen}`"
            )));
        }
        let opened = match listen.starts_with("unix:") {
            true => Ok(listen),
            false => self.network()?.open(&listen),
        };
        let address = opened.map_err(|error| {
            let client = TaskName::new(CLIENT_JOB, 0).to_string();
            Failure::Status(CANNOT_LISTEN, CliError::caused(client, error))
        })?;
        let config = discovery::with_client(&config, &address);
        Ok(FoundCluster {
            config: config.map_err(|error| Failure::new(error.to_string()))?,
            _board: None,
        })
    }

    /// Returns the configuration as a process sees it that is not a task.
    pub(crate) fn observed(&self) -> Result<DistributedContextConfiguration, Failure> {
        let told = self.told(None)?;
        let observed = match discovery::observed_place(&told, &variable) {
            Some(place) => place.observe(&mut *board_at(&place)?),
            None => discovery::observe(&told, &variable),
        };
        observed.map_err(|error| Failure::new(error.to_string()))
    }

    /// Returns the network of the cluster.
    pub(crate) fn network(&self) -> Result<GrpcNetwork, Failure> {
        Ok(GrpcNetwork::new(self.credentials.options()?))
    }

    /// Starts the task that a configuration describes, at the socket of the launcher if there is
    /// one.
    pub(crate) fn start(
        &self,
        config: &DistributedContextConfiguration,
        task: &TaskArguments,
        host: &Arc<HostContext>,
    ) -> Result<Arc<Server>, Failure> {
        let address = config.own_address().unwrap_or_default();
        if let Some(adopted) = adopt_inherited(config)?
            && adopted != address
        {
            return Err(Failure::new(format!(
                "{LISTENER_VARIABLE}: expected a socket at {address}, found one at {adopted}"
            )));
        }
        self.serve(config, task, host)
    }

    /// Starts the only client of a cluster. Its launcher need not have meant it to be one.
    pub(crate) fn start_client(
        &self,
        config: &DistributedContextConfiguration,
        task: &TaskArguments,
        host: &Arc<HostContext>,
    ) -> Result<Arc<Server>, Failure> {
        adopt_inherited(config)?;
        self.serve(config, task, host)
    }

    fn serve(
        &self,
        config: &DistributedContextConfiguration,
        task: &TaskArguments,
        host: &Arc<HostContext>,
    ) -> Result<Arc<Server>, Failure> {
        let found = task.collectives();
        if found != AUTO && BackEnd::find(found).is_none() {
            return Err(Failure::new(format!(
                "--collectives: expected `ring`, `shm`, `auto`, `tree`, `recursive_doubling` or, \
                 with the features of these names, `mpi` or `nccl`, found `{found}`"
            )));
        }
        let options = task.with_flight(self.credentials.options()?)?;
        let name = config.task_name();
        if let Some(tls) = &options.tls
            && tls.task().to_string() != name
        {
            let named = tls.task();
            return Err(Failure::new(format!(
                "--tls-cert: expected a certificate of {name}, found one of {named}"
            )));
        }
        let address = config.own_address().unwrap_or_default();
        let network = GrpcNetwork::new(options);
        let server_config = ServerConfig {
            task: TaskName::parse(&name).ok(),
            collectives: found.to_owned(),
            initialization_timeout: Some(task.timeout()),
            programs: task.programs(address)?,
            ..ServerConfig::new(tfrt_grpc::TYPE_NAME, address)
        };
        let listen = |handler| network.listen(host, address, handler);
        let server = Server::on_network(host, server_config, listen);
        server.map_err(|error| cannot_listen(config, error))
    }
}

/// The cluster of a task.
pub(crate) struct FoundCluster {
    pub(crate) config: DistributedContextConfiguration,
    /// Keeps the entry of this task where the tasks have met.
    _board: Option<Box<dyn Board>>,
}

impl std::fmt::Debug for FoundCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundCluster")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Returns `true` for an address that means all addresses of this machine.
fn is_everywhere(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse().is_ok_and(|ip: IpAddr| ip.is_unspecified())
}

/// Returns where a client may listen so that all tasks reach it, at a port that the system chooses.
fn address_towards(config: &DistributedContextConfiguration) -> Result<String, Failure> {
    let addresses = config.jobs().iter().flat_map(|job| job.tasks.values());
    let mut elsewhere = addresses.filter(|address| !is_local_address(address));
    let Some(address) = elsewhere.next() else {
        return Ok("127.0.0.1:0".to_owned());
    };
    let own_ip = address.to_socket_addrs().and_then(|mut peers| {
        let unknown = || io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        own_ip_towards(peers.next().ok_or_else(unknown)?)
    });
    match own_ip {
        Ok(IpAddr::V4(ip)) => Ok(format!("{ip}:0")),
        Ok(IpAddr::V6(ip)) => Ok(format!("[{ip}]:0")),
        Err(error) => {
            let message = format!("expected `--listen`, because there is no way to {address}");
            Err(Failure::caused(message, error))
        }
    }
}

/// Returns the address of this machine that packets to another one come from.
fn own_ip_towards(peer: SocketAddr) -> io::Result<IpAddr> {
    let any = match peer {
        SocketAddr::V4(_) => "0.0.0.0:0",
        SocketAddr::V6(_) => "[::]:0",
    };
    // Nothing is sent: the system looks for the way.
    let socket = UdpSocket::bind(any)?;
    socket.connect(peer)?;
    Ok(socket.local_addr()?.ip())
}

#[cold]
fn cannot_listen(config: &DistributedContextConfiguration, error: tfrt_support::Error) -> Failure {
    Failure::Status(CANNOT_LISTEN, CliError::caused(config.task_name(), error))
}

/// Lets this task listen at the socket that the parent process opened for it, if there is one, and
/// returns its address.
fn adopt_inherited(config: &DistributedContextConfiguration) -> Result<Option<String>, Failure> {
    let inherited = inherited_listener()?;
    let adopted = inherited.map(tfrt_grpc::adopt).transpose();
    adopted.map_err(|error| cannot_listen(config, error))
}

/// Returns the socket that the parent process opened for this one.
fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    let Some(value) = variable(LISTENER_VARIABLE) else {
        return Ok(None);
    };
    if value != ON_STANDARD_INPUT {
        return Err(Failure::new(format!(
            "{LISTENER_VARIABLE}: expected `{ON_STANDARD_INPUT}`, found `{value}`"
        )));
    }
    let unusable = |error| Failure::caused(LISTENER_VARIABLE, error);
    let copy: OwnedFd = io::stdin().as_fd().try_clone_to_owned().map_err(unusable)?;
    // The copy is the only one from here on: when the task stops listening, so does the system.
    let nothing = File::open("/dev/null").map_err(unusable)?;
    rustix::stdio::dup2_stdin(nothing).map_err(|error| unusable(error.into()))?;
    Ok(Some(TcpListener::from(copy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_send_only_programs_that_are_told() {
        let file = std::env::temp_dir().join(format!("tfrt-programs-{}", std::process::id()));
        std::fs::write(&file, "known").unwrap();
        let allows = |allow_programs, address: &str, program: &[u8]| {
            let task = TaskArguments {
                job: None,
                task: None,
                listen: None,
                meeting_timeout: None,
                collectives: None,
                allow_programs,
                program: vec![file.clone()],
                flight: false,
            };
            task.programs(address).unwrap().contains(program)
        };
        for here in ["127.0.0.1:1", "[::1]:1", "unix:/tmp/socket", "localhost:1"] {
            assert!(allows(None, here, b"other"), "{here}");
            assert!(!allows(Some(Allowance::None), here, b"known"), "{here}");
            assert!(
                !allows(Some(Allowance::Registered), here, b"other"),
                "{here}"
            );
        }
        for there in ["10.0.0.1:1", "node1:4000", "0.0.0.0:1"] {
            assert!(!allows(None, there, b"other"), "{there}");
            assert!(allows(None, there, b"known"), "{there}");
            assert!(allows(Some(Allowance::Any), there, b"other"), "{there}");
        }
        std::fs::remove_file(file).unwrap();
    }
}
