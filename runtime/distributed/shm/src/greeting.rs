//! Greetings: with the first bytes of a connection, two members prove that they belong to the same
//! group, and exchange their segments.
//!
//! ```text
//!  0       8                      24           40         44              52             60
//!  │ magic │ secret of the receiver │ own secret │ position │ address of the probe, its number │
//!
//!  and the descriptor of the segment
//! ```
//!
//! The member at the higher position connects and greets first. It knows the other's secret from
//! its card, which only tasks of the context see. The answer repeats the secret of the first one.
//! From the probe, a member finds out whether it can read the memory of the other one.

use std::fmt::{self, Write};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use bytes::Bytes;
use nix::sys::socket::{UnixCredentials, getsockopt, sockopt};
use rustix::cmsg_space;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recvmsg,
    sendmsg, socket_with,
};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::segment::{PeerSegment, Segment};
use crate::wire::WordPlace;

const MAGIC: [u8; 8] = *b"tfrtshm2";
const SECRET_BYTES: usize = 16;
const GREETING_BYTES: usize = 60;

/// What a member must know to connect to another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) secret: [u8; SECRET_BYTES],
    /// Makes the name of the socket.
    name: [u8; SECRET_BYTES],
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The secret stays one.
        f.debug_struct("Card").finish_non_exhaustive()
    }
}

impl Card {
    /// Makes a card that nobody can guess.
    pub(crate) fn random() -> io::Result<Self> {
        Self::parse(&random::<{ 2 * SECRET_BYTES }>()?)
    }

    pub(crate) fn to_bytes(self) -> Bytes {
        [self.secret, self.name].concat().into()
    }

    /// Reads the card of another member.
    ///
    /// # Errors
    /// If it has another length.
    pub(crate) fn parse(bytes: &[u8]) -> io::Result<Self> {
        let bytes: &[u8; 2 * SECRET_BYTES] = bytes.try_into().map_err(|_| {
            let message = "the card of the member is malformed";
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        let mut card = Self {
            secret: [0; SECRET_BYTES],
            name: [0; SECRET_BYTES],
        };
        card.secret.copy_from_slice(&bytes[..SECRET_BYTES]);
        card.name.copy_from_slice(&bytes[SECRET_BYTES..]);
        Ok(card)
    }

    /// Returns the name of the socket in the kernel. It leaves no file behind.
    fn name(&self) -> Vec<u8> {
        let mut name = "tfrt-".to_owned();
        for byte in self.name {
            // Writing to a string does not fail.
            let _ = write!(name, "{byte:02x}");
        }
        name.into_bytes()
    }

    /// Listens for members that have the card. Does not block.
    pub(crate) fn listen(&self) -> io::Result<UnixListener> {
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(self.name())?)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Connects to the member with this card. Does not block: fails if the member has accepted
    /// none of many connections.
    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&stream, &SocketAddrUnix::new_abstract_name(&self.name())?)?;
        Ok(UnixStream::from(stream))
    }
}

/// Returns bytes that nobody can guess.
pub(crate) fn random<const LEN: usize>() -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    let mut len = 0;
    while len < bytes.len() {
        len += getrandom(&mut bytes[len..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// What a member says of itself in a greeting, besides its secret.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own<'a> {
    pub(crate) index: usize,
    pub(crate) segment: &'a Segment,
    pub(crate) probe: WordPlace,
}

/// Returns the process at the other end of a connection, and its user. The number of the process
/// is 0 if this process does not see it, because it is in another namespace. `rustix` cannot
/// represent that.
pub(crate) fn credentials(stream: &UnixStream) -> io::Result<UnixCredentials> {
    Ok(getsockopt(stream, sockopt::PeerCredentials)?)
}

/// Refuses a process of another user.
pub(crate) fn require_same_user(stream: &UnixStream) -> io::Result<()> {
    let (own, found) = (geteuid().as_raw(), credentials(stream)?.uid());
    if own == found {
        return Ok(());
    }
    let message = format!("expected a process of user {own}, found one of user {found}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Sends a greeting, with a segment.
pub(crate) fn send(
    stream: &UnixStream,
    receiver_secret: [u8; SECRET_BYTES],
    own_secret: [u8; SECRET_BYTES],
    own: Own<'_>,
) -> io::Result<()> {
    let index = u32::try_from(own.index).unwrap_or(u32::MAX).to_le_bytes();
    let probe = [own.probe.address, own.probe.number].map(u64::to_le_bytes);
    let greeting = [
        &MAGIC[..],
        &receiver_secret,
        &own_secret,
        &index,
        &probe[0],
        &probe[1],
    ]
    .concat();
    let descriptors = [own.segment.file().as_fd()];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    let sent = sendmsg(
        stream,
        &[IoSlice::new(&greeting)],
        &mut control,
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    )?;
    match sent == GREETING_BYTES {
        true => Ok(()),
        // The buffer of a new connection has room for more.
        false => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// A connection whose greeting has not arrived yet.
#[derive(Debug)]
pub(crate) struct Greeting {
    stream: UnixStream,
    bytes: [u8; GREETING_BYTES],
    len: usize,
    descriptor: Option<OwnedFd>,
}

/// A connection that was greeted.
#[derive(Debug)]
pub(crate) struct Greeted {
    pub(crate) stream: UnixStream,
    /// The secret of the other member.
    pub(crate) secret: [u8; SECRET_BYTES],
    pub(crate) index: usize,
    pub(crate) segment: PeerSegment,
    pub(crate) probe: WordPlace,
}

/// How far a greeting is.
#[derive(Debug)]
pub(crate) enum Progress {
    Waits(Greeting),
    Done(Greeted),
}

impl Greeting {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            bytes: [0; GREETING_BYTES],
            len: 0,
            descriptor: None,
        }
    }

    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Reads what has arrived. `own` is the card of this member.
    ///
    /// # Errors
    /// If the connection has ended, or the other side is not a member.
    pub(crate) fn advance(mut self, own: &Card) -> io::Result<Progress> {
        while self.len < GREETING_BYTES {
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            // Nothing behind the greeting is read.
            let mut rest = [IoSliceMut::new(&mut self.bytes[self.len..])];
            let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
            let received = match recvmsg(&self.stream, &mut rest, &mut control, flags) {
                Ok(received) => received,
                Err(rustix::io::Errno::AGAIN) => return Ok(Progress::Waits(self)),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    self.descriptor = descriptors.last().or(self.descriptor.take());
                }
            }
            if received.bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.len += received.bytes;
        }
        let wrong = || {
            let message = "expected a member of the group, found another process";
            io::Error::new(io::ErrorKind::PermissionDenied, message)
        };
        let [b0, b1, b2, b3] = *self.bytes[40..].first_chunk().ok_or_else(wrong)?;
        let secret = *self.bytes[24..].first_chunk().ok_or_else(wrong)?;
        let address = *self.bytes[44..].first_chunk().ok_or_else(wrong)?;
        let number = *self.bytes[52..].first_chunk().ok_or_else(wrong)?;
        if self.bytes[..8] != MAGIC || self.bytes[8..24] != own.secret {
            return Err(wrong());
        }
        let segment = File::from(self.descriptor.take().ok_or_else(wrong)?);
        Ok(Progress::Done(Greeted {
            stream: self.stream,
            secret,
            index: u32::from_le_bytes([b0, b1, b2, b3]) as usize,
            segment: PeerSegment::accept(segment)?,
            probe: WordPlace {
                address: u64::from_le_bytes(address),
                number: u64::from_le_bytes(number),
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBE: WordPlace = WordPlace {
        address: 1 << 40,
        number: 5,
    };

    fn greeted(receiver_secret: [u8; SECRET_BYTES], own: &Card) -> io::Result<Progress> {
        let (sender, receiver) = UnixStream::pair().unwrap();
        let own_member = Own {
            index: 3,
            segment: &Segment::new().unwrap(),
            probe: PROBE,
        };
        send(&sender, receiver_secret, [7; 16], own_member).unwrap();
        Greeting::new(receiver).advance(own)
    }

    #[test]
    fn a_member_is_told_by_the_secret() {
        let own = Card::random().unwrap();
        match greeted(own.secret, &own).unwrap() {
            Progress::Done(greeted) => {
                assert_eq!((greeted.secret, greeted.index), ([7; 16], 3));
                assert_eq!(greeted.probe, PROBE);
            }
            Progress::Waits(_) => panic!("all has arrived"),
        }
        let error = greeted([0; 16], &own).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_greeting_may_arrive_in_parts_but_needs_a_segment() {
        use std::io::Write;

        let own = Card::random().unwrap();
        let (mut sender, receiver) = UnixStream::pair().unwrap();
        receiver.set_nonblocking(true).unwrap();
        let bytes = [&MAGIC[..], &own.secret, &[7; 16], &[0; 20]].concat();
        sender.write_all(&bytes[..20]).unwrap();
        let greeting = match Greeting::new(receiver).advance(&own).unwrap() {
            Progress::Waits(greeting) => greeting,
            Progress::Done(_) => panic!("it is incomplete"),
        };
        sender.write_all(&bytes[20..]).unwrap();
        assert!(greeting.advance(&own).is_err());
    }

    #[test]
    fn cards_lead_to_their_member() {
        let card = Card::random().unwrap();
        let listener = card.listen().unwrap();
        let same = Card::parse(&card.to_bytes()).unwrap();
        let stream = same.connect().unwrap();
        require_same_user(&stream).unwrap();
        require_same_user(&listener.accept().unwrap().0).unwrap();
        assert!(Card::parse(b"short").is_err());
        assert!(Card::random().unwrap().connect().is_err());
    }

    #[test]
    fn a_member_that_accepts_nobody_is_an_error() {
        let card = Card::random().unwrap();
        let listener = card.listen().unwrap();
        rustix::net::listen(&listener, 1).unwrap();
        let connected: Vec<_> = (0..8).map(|_| card.connect()).collect();
        assert!(connected[0].is_ok());
        let error = connected[7].as_ref().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
