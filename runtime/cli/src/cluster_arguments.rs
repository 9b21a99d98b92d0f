//! The cluster of a process, and its credentials.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tfrt::distributed::collective::{AUTO, BackEnd};
use tfrt::distributed::discovery::{
    self, Board, DiscoveryError, Folder, Meeting, MeetingPlace, Told,
};
use tfrt::distributed::message::DistributedContextConfiguration;
use tfrt::distributed::name::TaskName;
use tfrt::distributed::{
    AllowedPrograms, DEFAULT_COLLECTIVES, Server, ServerConfig, is_local_address,
};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TaskNames, Tls, Token};
use tfrt_host::{HostContext, log};

use crate::failure::{CliError, Failure};

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

/// What a process proves with that it belongs to the cluster.
#[derive(Args, Clone, Debug)]
struct Credentials {
    /// The certificate of this task, in PEM format. Encrypts connections; both ends authenticate
    /// each other
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// The certificates of the authorities that sign the certificates of tasks, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,

    /// The tasks of certificates that do not name them: lines of a host name or URI of the
    /// certificate and `tfrt://CLUSTER/job/JOB/task/N`
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_names: Option<PathBuf>,

    /// A file with the shared secret that authenticates all tasks
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Allow unencrypted connections from other machines
    #[arg(long)]
    insecure_network: bool,
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

    /// Where this task listens if tasks find each other in a folder or on an etcd server: the name
    /// or address of this machine as others know it. With port 0, the system chooses a port
    /// [default: TFRT_LISTEN, or 127.0.0.1:0]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    /// How long to wait for the other tasks in a folder or on an etcd server, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    meeting_timeout: u32,

    /// How collectives exchange tensors: `ring` (over the network), `shm` (shared memory, between
    /// tasks of one machine), `auto` (the best of these), `tree` or `recursive_doubling` (over the
    /// network, with few steps for small tensors; need groups that allow any order), `mpi` (between
    /// ranks that `mpirun` has started; needs `--features mpi`), or `nccl` (between GPUs; needs
    /// `--features nccl`). The same for all tasks
    #[arg(long, value_name = "NAME", default_value = DEFAULT_COLLECTIVES)]
    collectives: String,

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

impl ClusterArguments {
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
            let config = meet(&meeting, &network, &mut *board, task.meeting_timeout)?;
            return Ok(FoundCluster {
                config,
                _board: Some(board),
            });
        }
        Ok(FoundCluster {
            config: discovery::discover(&told, &variable).map_err(wrong)?,
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

    /// Starts the task that a configuration describes.
    pub(crate) fn start(
        &self,
        config: &DistributedContextConfiguration,
        task: &TaskArguments,
        host: &Arc<HostContext>,
    ) -> Result<Arc<Server>, Failure> {
        if task.collectives != AUTO && BackEnd::find(&task.collectives).is_none() {
            let found = &task.collectives;
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
        let cannot_listen =
            |error| Failure::Status(CANNOT_LISTEN, CliError::caused(name.clone(), error));
        let address = config.own_address().unwrap_or_default();
        let inherited = inherited_listener()?;
        let adopted = inherited.map(tfrt_grpc::adopt).transpose();
        if let Some(adopted) = adopted.map_err(cannot_listen)?
            && adopted != address
        {
            return Err(Failure::new(format!(
                "{LISTENER_VARIABLE}: expected a socket at {address}, found one at {adopted}"
            )));
        }
        let network = GrpcNetwork::new(options);
        let server_config = ServerConfig {
            task: TaskName::parse(&name).ok(),
            collectives: task.collectives.clone(),
            programs: task.programs(address)?,
            ..ServerConfig::new(tfrt_grpc::TYPE_NAME, address)
        };
        let listen = |handler| network.listen(host, address, handler);
        Server::on_network(host, server_config, listen).map_err(cannot_listen)
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

/// Returns the place where tasks meet.
fn board_at(place: &MeetingPlace) -> Result<Box<dyn Board>, Failure> {
    match place {
        MeetingPlace::Folder(path) => Ok(Box::new(Folder::new(path, random()))),
        #[cfg(feature = "etcd")]
        MeetingPlace::Etcd(address) => match tfrt_grpc::Etcd::new(address) {
            Ok(etcd) => Ok(Box::new(etcd)),
            Err(error) => Err(Failure::new(error.to_string())),
        },
        #[cfg(not(feature = "etcd"))]
        MeetingPlace::Etcd(address) => Err(Failure::new(format!(
            "{address}: this program was built without the feature `etcd`"
        ))),
    }
}

/// Returns a number that no other process has.
fn random() -> u64 {
    // Every state has keys of its own, and the first of a thread takes them from the system.
    RandomState::new().hash_one(std::process::id())
}

/// Lets this task meet the others. Where it listens is then known, and the socket is open.
fn meet(
    meeting: &Meeting,
    network: &GrpcNetwork,
    board: &mut dyn Board,
    timeout: u32,
) -> Result<DistributedContextConfiguration, Failure> {
    let listen = &meeting.listen;
    // A socket at a path has its address already.
    let address = match listen.starts_with("unix:") {
        true => Ok(listen.clone()),
        false => network.open(listen),
    };
    let address = address.map_err(|error| {
        let task = meeting.task.to_string();
        Failure::Status(CANNOT_LISTEN, CliError::caused(task, error))
    })?;
    let deadline = Instant::now() + Duration::from_secs(timeout.into());
    let num_tasks: u32 = meeting.sizes.iter().map(|(_, size)| size).sum();
    let mut on_wait = |num_present: usize, missing: &[String]| {
        let first = missing.first().map_or("", String::as_str);
        let others = match missing.len() {
            0 | 1 => String::new(),
            count => format!(" and {} others", count - 1),
        };
        log::info!("{num_present} of {num_tasks} tasks are there; waiting for {first}{others}");
    };
    let own = (&*address, random());
    let met = meeting.meet(board, own, deadline, &mut on_wait);
    met.map_err(|error| Failure::new(error.to_string()))
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
    let copy: OwnedFd = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(unusable)?;
    // The copy is the only one from here on: when the task stops listening, so does the system.
    let nothing = File::open("/dev/null").map_err(unusable)?;
    rustix::stdio::dup2_stdin(nothing).map_err(|error| unusable(error.into()))?;
    Ok(Some(TcpListener::from(copy)))
}

impl Credentials {
    fn options(&self) -> Result<GrpcOptions, Failure> {
        let wrong = |error: tfrt_support::Error| Failure::new(error.message());
        let files = (&self.tls_cert, &self.tls_key, &self.tls_ca);
        let tls = match files {
            (Some(certificate), Some(key), Some(authorities)) => {
                let names = self.tls_names.as_deref().map(TaskNames::from_file);
                let names = names.transpose().map_err(wrong)?.unwrap_or_default();
                let tls = Tls::from_named_files(certificate, key, authorities, names);
                Some(tls.map_err(wrong)?)
            }
            _ => None,
        };
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        Ok(GrpcOptions {
            tls,
            token,
            allow_insecure_network: self.insecure_network,
            ..GrpcOptions::default()
        })
    }
}

fn read_token(path: &Path) -> Result<Token, Failure> {
    use std::io::Read;

    let name = path.display();
    // More than any token, so that a wrong file is not read as a whole.
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(1 << 16).read_to_string(&mut text))
        .map_err(|error| Failure::caused(format!("cannot read `{name}`"), error))?;
    Token::new(&text).map_err(|error| Failure::new(format!("`{name}`: {}", error.message())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_may_not_listen_publishes_no_address() {
        let folder = std::env::temp_dir().join(format!("tfrt-refused-{}", std::process::id()));
        let meeting = Meeting {
            place: MeetingPlace::Folder(folder.display().to_string()),
            sizes: vec![("worker".to_owned(), 1)],
            task: TaskName::new("worker", 0),
            listen: "0.0.0.0:0".to_owned(),
            any_order: false,
        };
        let network = GrpcNetwork::new(GrpcOptions::default());
        let mut board = Folder::new(&folder, 1);
        let refused = meet(&meeting, &network, &mut board, 0);
        assert!(matches!(refused, Err(Failure::Status(CANNOT_LISTEN, _))));
        assert!(!folder.exists());
    }

    #[test]
    fn other_machines_send_only_programs_that_are_told() {
        let file = std::env::temp_dir().join(format!("tfrt-programs-{}", std::process::id()));
        std::fs::write(&file, "known").unwrap();
        let allows = |allow_programs, address: &str, program: &[u8]| {
            let task = TaskArguments {
                job: None,
                task: None,
                listen: None,
                meeting_timeout: 0,
                collectives: DEFAULT_COLLECTIVES.to_owned(),
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
