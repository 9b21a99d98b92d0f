use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use super::super::folder::Folder;
use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// Entries in memory.
#[derive(Clone, Default)]
struct Memory(Arc<(Mutex<BTreeMap<TaskName, String>>, Condvar)>);

impl Memory {
    fn put(&self, task: &TaskName, entry: &str) {
        let (entries, changed) = &*self.0;
        entries
            .lock()
            .unwrap()
            .insert(task.clone(), entry.to_owned());
        changed.notify_all();
    }
}

impl Board for Memory {
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
        self.put(task, entry);
        Ok(())
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        let entries = self.0.0.lock().unwrap().clone().into_iter();
        Ok(entries.filter(|(task, _)| is_wanted(task)).collect())
    }

    fn wait(&mut self, limit: Duration) {
        let (entries, changed) = &*self.0;
        let waited = changed.wait_timeout(entries.lock().unwrap(), limit);
        drop(waited.unwrap());
    }
}

/// A place where another process replaces the entry of a task as soon as it is published.
struct Taken(Memory, Entry);

impl Board for Taken {
    fn publish(&mut self, task: &TaskName, _: &str) -> Result<(), DiscoveryError> {
        self.0.put(task, &self.1.to_text());
        Ok(())
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        self.0.entries(is_wanted)
    }

    fn wait(&mut self, _: Duration) {}
}

fn worker(task: i32) -> TaskName {
    TaskName::new("worker", task)
}

fn meeting_of(task: i32, size: u32) -> Meeting {
    Meeting {
        place: MeetingPlace::Folder("the place".to_owned()),
        sizes: vec![("worker".to_owned(), size)],
        task: worker(task),
        listen: String::new(),
        any_order: false,
    }
}

/// Lets a task meet the others.
fn meet(
    board: &mut dyn Board,
    meeting: &Meeting,
    (address, number): (&str, u64),
) -> Result<DistributedContextConfiguration, DiscoveryError> {
    let deadline = Instant::now() + MINUTE;
    meeting.meet(board, (address, number), deadline, &mut |_, _| ())
}

/// Lets tasks meet at boards, each on a thread. Returns the addresses that each has found.
fn meet_all(boards: Vec<Box<dyn Board + Send>>, run: u64) -> Vec<Vec<String>> {
    let size = boards.len() as u32;
    let threads: Vec<_> = (0_i32..)
        .zip(boards)
        .map(|(task, mut board)| {
            thread::spawn(move || {
                let number = run * 1000 + task as u64;
                let address = format!("host{run}:{}", task + 1);
                let config = meet(&mut *board, &meeting_of(task, size), (&address, number));
                let config = config.unwrap();
                assert_eq!(config.task_name(), worker(task).to_string());
                config.jobs()[0].tasks.values().cloned().collect()
            })
        })
        .collect();
    let found = threads.into_iter().map(|thread| thread.join().unwrap());
    found.collect()
}

#[test]
fn entries_come_back_as_they_were() {
    let entry = Entry {
        address: "[::1]:7".to_owned(),
        number: u64::MAX,
        seen: BTreeMap::from([("/job:worker/task:1".to_owned(), 5)]),
        sizes: vec![("worker".to_owned(), 2), ("ps".to_owned(), 1)],
    };
    let text = entry.to_text();
    assert_eq!(
        text,
        "{\"address\":\"[::1]:7\",\"number\":\"ffffffffffffffff\",\
         \"seen\":{\"/job:worker/task:1\":\"0000000000000005\"},\"sizes\":[\"worker=2\",\"ps=1\"]}"
    );
    assert_eq!(Entry::parse(&text), Some(entry));
    for len in 0..text.len() {
        assert_eq!(Entry::parse(&text[..len]), None, "{len} bytes");
    }
}

#[test]
fn a_task_takes_no_entry_that_has_not_seen_its_own() {
    let names: Vec<String> = (0..2).map(|task| worker(task).to_string()).collect();
    let sizes = vec![("worker".to_owned(), 2)];
    let own = Entry {
        address: "a:1".to_owned(),
        number: 7,
        seen: BTreeMap::from([(names[1].clone(), 3)]),
        sizes: sizes.clone(),
    };
    let of_other = |number: u64, seen: u64| {
        let entry = Entry {
            address: "b:1".to_owned(),
            number,
            seen: BTreeMap::from([(names[0].clone(), seen)]),
            sizes: sizes.clone(),
        };
        BTreeMap::from([(names[1].clone(), entry), (names[0].clone(), own.clone())])
    };
    let decide =
        |entries: &BTreeMap<String, Entry>| next("here", &names, (&names[0], &own), entries);
    // Nobody, an earlier run, the process that this one has seen, and a new one.
    let nobody = decide(&BTreeMap::new()).unwrap();
    assert!(matches!(nobody, Next::Publish(entry) if entry.seen.is_empty()));
    let earlier = decide(&of_other(3, 5)).unwrap();
    assert_eq!(earlier, Next::WaitFor(vec![names[1].clone()]));
    let done = decide(&of_other(3, 7)).unwrap();
    assert!(matches!(done, Next::Done(addresses) if addresses[&names[1]] == "b:1"));
    let replaced = decide(&of_other(9, 7)).unwrap();
    assert!(matches!(replaced, Next::Publish(entry) if entry.seen[&names[1]] == 9));
    // Of a larger cluster once: it does not count, and does not disturb.
    let mut others = of_other(3, 7);
    others.insert(worker(5).to_string(), own.clone());
    assert!(matches!(decide(&others).unwrap(), Next::Done(addresses) if addresses.len() == 2));
}

/// A place that loses the first entries.
struct Forgetful {
    memory: Memory,
    num_to_lose: u32,
}

impl Board for Forgetful {
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
        match self.num_to_lose.checked_sub(1) {
            Some(left) => self.num_to_lose = left,
            None => self.memory.put(task, entry),
        }
        Ok(())
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        self.memory.entries(is_wanted)
    }

    fn wait(&mut self, limit: Duration) {
        self.memory.wait(limit);
    }
}

#[test]
fn an_entry_that_is_lost_is_published_again() {
    let memory = Memory::default();
    let boards = [2, 0].map(|num_to_lose| {
        Box::new(Forgetful {
            memory: memory.clone(),
            num_to_lose,
        }) as Box<dyn Board + Send>
    });
    for found in meet_all(boards.into(), 1) {
        assert_eq!(found, ["host1:1", "host1:2"]);
    }
    let mut lost = Forgetful {
        memory,
        num_to_lose: u32::MAX,
    };
    let mut unnoticed = |_: usize, _: &[String]| ();
    let meeting = meeting_of(2, 3);
    let error = meeting.meet(&mut lost, ("a:1", 7), Instant::now(), &mut unnoticed);
    assert!(error.is_err());
}

/// A place for small entries.
struct Narrow(Memory);

impl Board for Narrow {
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
        self.0.publish(task, entry)
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        self.0.entries(is_wanted)
    }

    fn wait(&mut self, _: Duration) {}

    fn max_entry_bytes(&self) -> usize {
        1000
    }
}

#[test]
fn a_cluster_that_is_too_large_for_the_place_is_refused_before_it_meets() {
    let mut narrow = Narrow(Memory::default());
    let meet = meet(&mut narrow, &meeting_of(0, 100), ("a:1", 7));
    let error = meet.unwrap_err().to_string();
    let start = "the place: 100 tasks are too many: the entry of each would have ";
    assert!(error.starts_with(start), "{error}");
    assert!(
        error.ends_with(" bytes, and at most 1000 are allowed"),
        "{error}"
    );
    assert_eq!(narrow.entries(&|_| true).unwrap(), []);
}

#[cfg(unix)]
#[test]
fn what_no_task_of_the_cluster_has_written_does_not_disturb() {
    let path = std::env::temp_dir().join(format!("tfrt-leftovers-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    // Of a larger cluster, unreadable as text, and a pipe that nobody writes to.
    std::fs::write(path.join("worker.2"), "malformed").unwrap();
    std::fs::write(path.join("ps.0"), [0xff]).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(path.join("worker.1"))
        .status();
    assert!(pipe.unwrap().success());
    let mut folder = Folder::new(&path, 1);
    let missing = meeting_of(0, 2).meet(&mut folder, ("a:1", 7), Instant::now(), &mut |_, _| ());
    assert_eq!(
        missing.unwrap_err().to_string(),
        "the place: waited in vain for /job:worker/task:1"
    );
    // The task that it stands in for replaces it.
    let boards = (2..4).map(|process| Box::new(Folder::new(&path, process)) as _);
    std::fs::remove_file(path.join("worker.0")).unwrap();
    for found in meet_all(boards.collect(), 1) {
        assert_eq!(found, ["host1:1", "host1:2"]);
    }
    // An observer does not know the cluster.
    let place = MeetingPlace::Folder(path.display().to_string());
    let error = place.observe(&mut folder).unwrap_err().to_string();
    let named = path.join("ps.0").display().to_string();
    assert!(error.starts_with(&named), "{error}");
    std::fs::remove_dir_all(&path).unwrap();
}

#[test]
fn tasks_that_disagree_are_errors() {
    let board = Memory::default();
    let mut twice = board.clone();
    let entry = Entry {
        number: 8,
        address: "b:2".to_owned(),
        ..Entry::default()
    };
    let mut taken = Taken(board, entry);
    let error = meet(&mut taken, &meeting_of(0, 2), ("a:1", 7)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the place: another process is /job:worker/task:0, at b:2"
    );
    let other = Entry {
        number: 9,
        seen: BTreeMap::from([("/job:worker/task:0".to_owned(), 7)]),
        sizes: vec![("worker".to_owned(), 3)],
        ..Entry::default()
    };
    twice.put(&worker(1), &other.to_text());
    let error = meet(&mut twice, &meeting_of(0, 2), ("a:1", 7)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the place: /job:worker/task:1 expects the tasks worker=3, but this task worker=2"
    );
    twice.put(&worker(1), "{}");
    let error = meet(&mut twice, &meeting_of(0, 2), ("a:1", 7)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the place: the entry of /job:worker/task:1 is malformed"
    );
}

#[test]
fn a_task_waits_until_the_deadline() {
    let mut waits = Vec::new();
    let mut board = Memory::default();
    let of_other = Entry::default().to_text();
    board.put(&worker(1), &of_other);
    let deadline = Instant::now() + Duration::from_millis(1);
    let mut on_wait = |num_present: usize, missing: &[String]| {
        waits.push((num_present, missing.to_vec()));
    };
    let meeting = meeting_of(0, 3);
    let error = meeting.meet(&mut board, ("a:1", 7), deadline, &mut on_wait);
    assert_eq!(
        error.unwrap_err().to_string(),
        "the place: waited in vain for /job:worker/task:1, /job:worker/task:2"
    );
    // Told once, unless the time was over before.
    let missing = vec![worker(1).to_string(), worker(2).to_string()];
    assert!(waits.is_empty() || waits == [(1, missing)], "{waits:?}");
}

/// A place where the other task arrives with the third wait.
struct Late(Memory, usize);

impl Board for Late {
    fn publish(&mut self, task: &TaskName, entry: &str) -> Result<(), DiscoveryError> {
        self.0.publish(task, entry)
    }

    fn entries(
        &mut self,
        is_wanted: &dyn Fn(&TaskName) -> bool,
    ) -> Result<Vec<(TaskName, String)>, DiscoveryError> {
        self.0.entries(is_wanted)
    }

    fn wait(&mut self, _: Duration) {
        self.1 += 1;
        if self.1 == 3 {
            let entry = Entry {
                address: "b:2".to_owned(),
                number: 9,
                seen: BTreeMap::from([(worker(0).to_string(), 7)]),
                sizes: vec![("worker".to_owned(), 2)],
            };
            self.0.put(&worker(1), &entry.to_text());
        }
    }
}

#[test]
fn the_same_wait_is_told_once() {
    let mut waits = Vec::new();
    let mut on_wait = |num_present: usize, missing: &[String]| {
        waits.push((num_present, missing.to_vec()));
    };
    let mut board = Late(Memory::default(), 0);
    let deadline = Instant::now() + MINUTE;
    let meeting = meeting_of(0, 2);
    meeting
        .meet(&mut board, ("a:1", 7), deadline, &mut on_wait)
        .unwrap();
    assert_eq!(board.1, 3);
    assert_eq!(waits, [(1, vec![worker(1).to_string()])]);
}

#[test]
fn tasks_meet_again_and_again_at_the_same_place() {
    let board = Memory::default();
    for run in 0..20 {
        let boards = (0..4).map(|_| Box::new(board.clone()) as Box<dyn Board + Send>);
        let expected: Vec<String> = (1..=4).map(|port| format!("host{run}:{port}")).collect();
        for found in meet_all(boards.collect(), run) {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn tasks_meet_in_a_folder_with_files_of_an_earlier_run() {
    let path = std::env::temp_dir().join(format!("tfrt-meeting-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    for run in 0..3 {
        let folder = |task: u64| Box::new(Folder::new(&path, run * 10 + task));
        let boards = (0..3).map(|task| folder(task) as Box<dyn Board + Send>);
        let expected: Vec<String> = (1..=3).map(|port| format!("host{run}:{port}")).collect();
        for found in meet_all(boards.collect(), run) {
            assert_eq!(found, expected);
        }
        // Other files do not disturb.
        for name in [
            "notes",
            "worker.01",
            ".worker.1.unfinished",
            "worker.x",
            "1.2",
        ] {
            std::fs::write(path.join(name), "nothing").unwrap();
        }
    }
    // A process that is not a task sees the same.
    let place = MeetingPlace::Folder(path.display().to_string());
    let mut folder = Folder::new(&path, 99);
    let config = place.observe(&mut folder).unwrap();
    assert_eq!(config.own_address(), Some("host2:1"));
    assert_eq!(config.jobs()[0].tasks.len(), 3);
    std::fs::remove_dir_all(&path).unwrap();
    let error = place.observe(&mut folder).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("{}: ", path.display())),
        "{error}"
    );
}

#[test]
fn ranks_of_pytorch_meet() {
    let meet = |told: &Told, master: &str, rank: &str, further: &[(&str, &str)]| {
        let torch = [("MASTER_ADDR", master), ("RANK", rank), ("WORLD_SIZE", "4")];
        let pairs = [&torch[..], further].concat();
        let variables = |name: &str| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = meeting(told, &variables).map_err(|error| error.to_string())?;
        let found = found.ok_or("there is no place")?;
        Ok::<_, String>((found.task.task, found.sizes[0].1, found.listen))
    };
    let folder = Told {
        folder: Some("/shared".to_owned()),
        ..Told::default()
    };
    let found = |rank, listen: &str| Ok((rank, 4, listen.to_owned()));
    assert_eq!(meet(&folder, "node1", "0", &[]), found(0, "node1:0"));
    assert_eq!(meet(&folder, "fe80::1", "0", &[]), found(0, "[fe80::1]:0"));
    let listen = ("TFRT_LISTEN", "node2:0");
    assert_eq!(meet(&folder, "node1", "3", &[listen]), found(3, "node2:0"));
    let here = ("LOCAL_WORLD_SIZE", "4");
    assert_eq!(
        meet(&folder, "node1", "3", &[here]),
        found(3, "127.0.0.1:0")
    );
    assert_eq!(
        meet(&folder, "localhost", "3", &[]),
        found(3, "127.0.0.1:0")
    );
    let expected = "TFRT_LISTEN: expected the name or address by which other tasks reach this \
                    one, because MASTER_ADDR is set and rank 0 runs on another host";
    let half = ("LOCAL_WORLD_SIZE", "2");
    assert_eq!(
        meet(&folder, "node1", "3", &[half]),
        Err(expected.to_owned())
    );
    // What is said to us counts first.
    let told = Told {
        task: Some(1),
        sizes: vec!["2".to_owned()],
        ..folder
    };
    let found = meet(&told, "node1", "x", &[]);
    assert_eq!(found, Ok((1, 2, "127.0.0.1:0".to_owned())));
}

#[test]
fn a_meeting_is_described_by_flags_or_variables() {
    let flags = |sizes: &[&str]| Told {
        folder: Some("/shared".to_owned()),
        sizes: sizes.iter().map(|&size| size.to_owned()).collect(),
        task: Some(1),
        ..Told::default()
    };
    let nothing = |_: &str| None;
    let found = meeting(&flags(&["4"]), &nothing).unwrap().unwrap();
    assert_eq!(found.place, MeetingPlace::Folder("/shared".to_owned()));
    assert_eq!(found.sizes, [("worker".to_owned(), 4)]);
    assert_eq!((found.task, &*found.listen), (worker(1), "127.0.0.1:0"));
    let variables = |name: &str| {
        let value = match name {
            "TFRT_CLUSTER_ETCD" => "etcd:2379/run7",
            "TFRT_CLUSTER_SIZE" => "worker=2;ps=1",
            "TFRT_JOB" => "ps",
            "TFRT_TASK" => "0",
            "TFRT_LISTEN" => "node1:0",
            _ => return None,
        };
        Some(value.to_owned())
    };
    let found = meeting(&Told::default(), &variables).unwrap().unwrap();
    assert_eq!(found.place, MeetingPlace::Etcd("etcd:2379/run7".to_owned()));
    assert_eq!(
        (found.task, &*found.listen),
        (TaskName::new("ps", 0), "node1:0")
    );
    // A cluster that is described whole needs no meeting.
    let whole = Told {
        jobs: vec!["worker=a:1".to_owned()],
        ..Told::default()
    };
    assert_eq!(meeting(&whole, &variables), Ok(None));
    assert_eq!(meeting(&Told::default(), &nothing), Ok(None));
    let wrong = |told: &Told, text: &str| {
        assert_eq!(meeting(told, &nothing).unwrap_err().to_string(), text);
    };
    wrong(
        &flags(&[]),
        "--cluster-folder: expected the number of tasks in TFRT_CLUSTER_SIZE, found none",
    );
    wrong(
        &flags(&["1"]),
        "--cluster-folder: task 1: job \"worker\" has 1 tasks",
    );
    wrong(
        &flags(&["0"]),
        "--cluster-size: expected at least one task of job \"worker\"",
    );
    wrong(
        &flags(&["2", "2"]),
        "--cluster-size: job \"worker\" is given twice",
    );
    wrong(
        &flags(&["70000"]),
        "--cluster-size: expected at most 65536 tasks",
    );
    wrong(
        &flags(&["ps=1", "w=2"]),
        "--cluster-folder: expected the job of this task, found none",
    );
    let everywhere = Told {
        listen: Some("[::]:0".to_owned()),
        ..flags(&["2"])
    };
    wrong(
        &everywhere,
        "--cluster-folder: expected the name or address by which other tasks reach this one, found \
         `[::]:0` to listen at",
    );
    let no_task = Told {
        task: None,
        ..flags(&["2"])
    };
    wrong(
        &no_task,
        "--cluster-folder: expected the number of this task, found none",
    );
}
