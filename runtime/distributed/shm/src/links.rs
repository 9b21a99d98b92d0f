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
        Self::try_start(events, place)
            .map_err(|error| Error::new(format!("cannot share memory with other tasks: {error}")))
    }

    fn try_start(events: LinkEvents, place: MemberPlace) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            commands: Mutex::default(),
            wake,
        });
        let card = Card::random()?;
        let progress = Progress::new(card, events, place, Arc::clone(&shared), woken)?;
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
    use super::*;

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
}
