//! The connections of a member: the ranks of the others.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tfrt_distributed::collective::direct::{LinkEvents, Links, MemberPlace, Message};
use tfrt_support::Error;

use crate::world::{self, Remote, World};

/// The connections of a member.
#[derive(Debug)]
pub(crate) struct MpiLinks {
    world: &'static World,
    events: LinkEvents,
    place: world::Place,
    members: Mutex<HashMap<usize, Member>>,
}

/// Another member.
#[derive(Debug)]
enum Member {
    /// Its card has not come; with the messages for it.
    Awaited(Vec<Message>),
    Known(Remote),
    Lost,
}

impl MpiLinks {
    /// # Errors
    /// If MPI has ended.
    pub(crate) fn new(
        world: &'static World,
        events: LinkEvents,
        place: MemberPlace,
    ) -> Result<Self, Error> {
        let links = world.open(events.clone())?;
        Ok(Self {
            world,
            events,
            place: world::Place {
                links,
                index: place.index,
            },
            members: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the card of a member.
    fn remote(&self, index: usize, card: &[u8]) -> Result<Remote, String> {
        let malformed = || "the card of the member is malformed".to_owned();
        let words: Option<Vec<u64>> = card
            .chunks(8)
            .map(|word| word.try_into().ok().map(u64::from_le_bytes))
            .collect();
        let [links, rank, size] = *words.ok_or_else(malformed)? else {
            return Err(malformed());
        };
        let (own_rank, own_size) = self.world.rank();
        if size != own_size as u64 || rank >= size {
            return Err(format!(
                "expected a rank of the same {own_size}, found rank {rank} of {size}"
            ));
        }
        if rank == own_rank as u64 {
            return Err(format!("both tasks are rank {rank}"));
        }
        let rank = usize::try_from(rank).map_err(|_| malformed())?;
        Ok(Remote { links, rank, index })
    }
}

impl Links for MpiLinks {
    fn card(&self) -> Bytes {
        let (rank, size) = self.world.rank();
        let words = [self.place.links, rank as u64, size as u64];
        words.map(u64::to_le_bytes).concat().into()
    }

    fn introduce(&self, member: usize, card: &[u8]) {
        let remote = self.remote(member, card);
        let mut members = self.lock();
        let early = match members.remove(&member) {
            None => Vec::new(),
            Some(Member::Awaited(early)) => early,
            Some(known) => {
                members.insert(member, known);
                return;
            }
        };
        match remote {
            Ok(remote) => {
                // Under the lock: later messages follow these.
                for message in early {
                    self.world.send(self.place, remote, message);
                }
                members.insert(member, Member::Known(remote));
            }
            Err(cause) => {
                members.insert(member, Member::Lost);
                drop(members);
                drop(early);
                self.events.unreachable(member, &cause);
            }
        }
    }

    fn send(&self, to: &[usize], message: &Message) {
        let mut members = self.lock();
        for member in to {
            let state = members
                .entry(*member)
                .or_insert_with(|| Member::Awaited(Vec::new()));
            match state {
                Member::Awaited(early) => early.push(message.clone()),
                Member::Known(remote) => self.world.send(self.place, *remote, message.clone()),
                Member::Lost => {}
            }
        }
    }

    fn lose(&self, member: usize) {
        let before = self.lock().insert(member, Member::Lost);
        self.world.lose(self.place.links, member);
        // Without the lock: its messages may be the last to hold their elements.
        drop(before);
    }

    fn close(&self) {
        self.world.close(self.place.links);
        let members = std::mem::take(&mut *self.lock());
        drop(members);
    }
}
