//! The connections of a member, as its operations see them: a list of commands to the thread that
//! moves the data.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bytes::Bytes;
use tfrt_distributed::collective::direct::{LinkEvents, Links, MemberPlace, Message};
use tfrt_support::Error;

use crate::greeting::Card;
use crate::progress::Progress;
use crate::segment::Segment;

/// What the thread is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// The card of a member.
    Introduce(usize, Bytes),
    Send(Vec<usize>, Message),
    /// Nothing is sent to a member any more.
    Lose(usize),
}

/// The commands that the thread has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    pub(crate) list: Vec<Command>,
    pub(crate) is_closing: bool,
    /// Whether the thread has ended.
    is_over: bool,
}

/// Shared with the thread.
#[derive(Debug)]
pub(crate) struct Shared {
    commands: Mutex<Commands>,
    /// A byte wakes the thread.
    wake: UnixStream,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut Commands)) {
        let mut commands = self.lock();
        if commands.is_over {
            // What `change` holds is dropped without the lock.
            drop(commands);
            return;
        }
        let is_awake = !commands.list.is_empty() || commands.is_closing;
        change(&mut commands);
        drop(commands);
        if !is_awake {
            // If the socket is full, the thread has enough to wake up for.
            let _ = (&self.wake).write(&[0]);
        }
    }

    /// Takes the commands.
    pub(crate) fn take(&self) -> Commands {
        let mut commands = self.lock();
        Commands {
            list: std::mem::take(&mut commands.list),
            ..*commands
        }
    }

    /// Drops the commands, and all later ones: the thread ends.
    pub(crate) fn end(&self) {
        let mut commands = self.lock();
        commands.is_over = true;
        let left = std::mem::take(&mut commands.list);
        drop(commands);
        // Without the lock: its messages may be the last to hold their elements.
        drop(left);
    }
}

/// The connections of a member.
#[derive(Debug)]
pub(crate) struct ShmLinks {
    shared: Arc<Shared>,
    card: Bytes,
}

impl ShmLinks {
    /// Starts the thread of a member.
    pub(crate) fn start(events: LinkEvents, place: MemberPlace) -> Result<Self, Error> {
        Segment::new()
            .and_then(|segment| Self::try_start(events, place, segment))
            .map_err(|error| Error::new(format!("cannot share memory with other tasks: {error}")))
    }

    fn try_start(events: LinkEvents, place: MemberPlace, segment: Segment) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            commands: Mutex::default(),
            wake,
        });
        let card = Card::random()?;
        let progress = Progress::new((card, segment), events, place, Arc::clone(&shared), woken)?;
        thread::Builder::new()
            .name("tfrt-shm".to_owned())
            .spawn(move || progress.run())?;
        Ok(Self {
            shared,
            card: card.to_bytes(),
        })
    }
}

impl Links for ShmLinks {
    fn card(&self) -> Bytes {
        self.card.clone()
    }

    fn introduce(&self, member: usize, card: &[u8]) {
        let command = Command::Introduce(member, Bytes::copy_from_slice(card));
        self.shared
            .tell(move |commands| commands.list.push(command));
    }

    fn send(&self, to: &[usize], message: &Message) {
        let command = Command::Send(to.to_vec(), message.clone());
        self.shared
            .tell(move |commands| commands.list.push(command));
    }

    fn lose(&self, member: usize) {
        self.shared
            .tell(|commands| commands.list.push(Command::Lose(member)));
    }

    fn close(&self) {
        self.shared.tell(|commands| commands.is_closing = true);
    }
}

impl Drop for ShmLinks {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use tfrt_distributed::collective::conformance::{self, Extent};
    use tfrt_distributed::collective::direct;
    use tfrt_distributed::fabric::CommunicatorType;
    use tfrt_distributed::message::DistributedContextConfiguration;
    use tfrt_distributed::{Server, ServerConfig};
    use tfrt_host::HostContext;
    use tfrt_tensor::DenseHostTensor;

    use super::*;
    use crate::segment::NUM_BLOCKS;

    #[test]
    fn commands_do_not_stay_after_the_end_of_the_thread() {
        let (wake, _woken) = UnixStream::pair().unwrap();
        let shared = Shared {
            commands: Mutex::default(),
            wake,
        };
        let kept = Arc::new(());
        let tell = |card: Arc<()>| {
            let card = Bytes::from_owner(Card(card));
            shared.tell(move |commands| commands.list.push(Command::Introduce(1, card)));
        };
        tell(Arc::clone(&kept));
        assert_eq!(Arc::strong_count(&kept), 2);
        shared.end();
        tell(Arc::clone(&kept));
        assert_eq!(Arc::strong_count(&kept), 1);
        assert!(shared.take().list.is_empty());

        struct Card(#[expect(dead_code, reason = "only its end counts")] Arc<()>);

        impl AsRef<[u8]> for Card {
            fn as_ref(&self) -> &[u8] {
                &[]
            }
        }
    }

    /// Returns a segment all of whose blocks a member may still read that was cut off.
    fn used_up() -> io::Result<Segment> {
        let mut segment = Segment::new()?;
        for _ in 0..NUM_BLOCKS {
            segment.write(&[0], &[7])?;
        }
        segment.retire_reader(7);
        assert!(segment.is_used_up());
        Ok(segment)
    }

    #[test]
    fn members_without_blocks_send_elements_through_their_sockets() {
        let queue = tfrt_queue::create_queue("mstd:2").unwrap();
        let host = HostContext::builder().queue(queue).build();
        let in_process = CommunicatorType::find("in_process").unwrap();
        let addresses = [(); 3].map(|()| (in_process.free_address)().unwrap());
        let configs = DistributedContextConfiguration::local_cluster(&addresses);
        let start = |address: &String| {
            Server::new(&host, ServerConfig::new("in_process", address)).unwrap()
        };
        let servers = addresses.each_ref().map(start);
        let (sender, done) = channel();
        servers[0].initialize_single_client(Some(1), &configs[0], move |outcome| {
            sender.send(outcome).unwrap();
        });
        let first = done.recv().unwrap().unwrap();
        let contexts = [
            first,
            servers[1].context(1).unwrap(),
            servers[2].context(1).unwrap(),
        ];
        let members = contexts.each_ref().map(|context| {
            let connect = |events, place| {
                let links = ShmLinks::try_start(events, place, used_up().map_err(Error::other)?);
                Ok(Arc::new(links.map_err(Error::other)?) as Arc<dyn Links>)
            };
            direct::open("group1", context, Box::new(connect)).unwrap()
        });
        thread::scope(|scope| {
            for member in &members {
                scope.spawn(|| conformance::run(&host, &**member, Extent::Short).unwrap());
            }
        });
        // More than a frame, and more than an outbox.
        let tensors = members.each_ref().map(|member| {
            let elements = vec![u8::from(member.index() == 0); (3 << 20) + 1];
            DenseHostTensor::vector(&elements).unwrap()
        });
        let sent = members.iter().zip(&tensors);
        let sent = sent.map(|(member, tensor)| member.broadcast("large", tensor.clone(), 0).into());
        host.await_values(&sent.collect::<Vec<_>>()).unwrap();
        for tensor in tensors {
            let elements = tensor.elements::<u8>().unwrap();
            assert!(elements.iter().all(|element| *element == 1));
        }
    }
}
