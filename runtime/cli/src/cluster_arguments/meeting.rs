//! Tasks that meet in a folder or on an etcd server.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use tfrt::distributed::discovery::{Board, Folder, Meeting, MeetingPlace};
use tfrt::distributed::message::DistributedContextConfiguration;
use tfrt_grpc::GrpcNetwork;
use tfrt_host::log;

use super::CANNOT_LISTEN;
use crate::failure::{CliError, Failure};

/// Returns the place where tasks meet.
pub(super) fn board_at(place: &MeetingPlace) -> Result<Box<dyn Board>, Failure> {
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
pub(super) fn meet(
    meeting: &Meeting,
    network: &GrpcNetwork,
    board: &mut dyn Board,
    timeout: Duration,
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
    let deadline = Instant::now() + timeout;
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

#[cfg(test)]
mod tests {
    use tfrt::distributed::name::TaskName;
    use tfrt_grpc::GrpcOptions;

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
        let refused = meet(&meeting, &network, &mut board, Duration::ZERO);
        assert!(matches!(refused, Err(Failure::Status(CANNOT_LISTEN, _))));
        assert!(!folder.exists());
    }
}
