//! The messages of a send, from one member to another, under a key that the two share.
//!
//! ```text
//!                     buffer 0        buffer 1        buffer 2
//!  tensor             metadata        elements
//!  after a failure    metadata        elements        use of the key (4 bytes)
//!  abandonment        text            use, code       `abandoned`
//! ```
//!
//! The n-th send of a key belongs to its n-th receive. Messages arrive in this order as long as no
//! send fails, so that the first ones need not tell which they are. After a send has failed, a
//! tensor may come before the abandonment of the one before, and abandonments may come twice.
//!
//! The [uses](super::uses) are those of two members: others do not count them, and the numbers of
//! the group as a whole would not be the same on all members.

#[cfg(test)]
use tfrt_tensor::HostBuffer;

use super::abandonment::Abandonment;
use super::ring::SENT;
use super::uses::KeyUse;
use crate::payload::Payload;

/// The last buffer of an abandonment.
const MARK: &[u8] = b"abandoned";

/// Where the uses of a key are counted that one member sends under to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SendKey {
    /// The key of the payloads.
    pub(super) payload: String,
    /// What the uses are counted for, in place of a group.
    pub(super) pair: String,
}

/// What a member has sent.
#[derive(Debug)]
pub(super) enum Sent {
    Tensor(KeyUse, Payload),
    Abandonment(Abandonment),
}

impl SendKey {
    pub(super) fn new(scope: &str, key: &str, from: usize, to: usize) -> Self {
        Self {
            payload: format!("{SENT}{scope}:{key}:{from}:{to}"),
            pair: format!("{scope}:{from}:{to}"),
        }
    }

    /// Returns the key of a payload that one member sends to another, if it is one.
    fn of_payload(payload_key: &str) -> Option<Self> {
        // Names of groups have no colon; keys may have some.
        let (scope, rest) = payload_key.strip_prefix(SENT)?.split_once(':')?;
        let mut ends = rest.rsplitn(3, ':');
        let (to, from) = (ends.next()?, ends.next()?);
        ends.next().map(|_| Self {
            payload: payload_key.to_owned(),
            pair: format!("{scope}:{from}:{to}"),
        })
    }
}

impl Sent {
    pub(super) fn of_payload(payload: Payload) -> Self {
        let [metadata, elements, last] = payload.buffers() else {
            return Self::Tensor(KeyUse::default(), payload);
        };
        let last = match last.len_bytes() <= MARK.len() {
            true => last
                .read()
                .map_or_else(|_| Vec::new(), |last| last.to_vec()),
            false => Vec::new(),
        };
        if last == MARK {
            return Self::Abandonment(Abandonment::of_payload(&payload));
        }
        match <[u8; 4]>::try_from(last) {
            Ok(bits) => {
                let tensor = vec![metadata.clone(), elements.clone()];
                let key_use = KeyUse::from_bits(u32::from_le_bytes(bits));
                Self::Tensor(key_use, Payload::new(tensor))
            }
            // Whoever makes a tensor of it finds that it is none.
            Err(_) => Self::Tensor(KeyUse::default(), payload),
        }
    }

    /// Returns a payload that says which use it belongs to, and where that is counted.
    pub(super) fn with_use(payload_key: &str, payload: &Payload) -> Option<(SendKey, Self)> {
        if payload.buffers().len() != 3 {
            return None;
        }
        let key = SendKey::of_payload(payload_key)?;
        Some((key, Self::of_payload(payload.clone())))
    }

    pub(super) fn key_use(&self) -> KeyUse {
        match self {
            Self::Tensor(key_use, _) => *key_use,
            Self::Abandonment(abandonment) => abandonment.key_use,
        }
    }
}

/// Returns the buffers of an abandonment.
pub(super) fn abandonment_buffers(abandonment: &Abandonment) -> Vec<Vec<u8>> {
    let mut buffers = abandonment.to_buffers().to_vec();
    buffers.push(MARK.to_vec());
    buffers
}

/// Returns the buffer that says which use a tensor belongs to.
pub(super) fn use_buffer(key_use: KeyUse) -> Vec<u8> {
    key_use.bits().to_le_bytes().to_vec()
}

/// Returns the payload of these buffers.
#[cfg(test)]
pub(super) fn payload_of(buffers: Vec<Vec<u8>>) -> Payload {
    let buffers = buffers.into_iter().map(HostBuffer::from_owner);
    Payload::new(buffers.flatten().collect())
}

#[cfg(test)]
mod tests {
    use tfrt_support::{Error, ErrorCode};

    use super::*;

    #[test]
    fn keys_of_payloads_name_the_pair() {
        let key = SendKey::new("g~epoch1", "a:7:b", 2, 10);
        assert_eq!(key.payload, "~sent:g~epoch1:a:7:b:2:10");
        assert_eq!(SendKey::of_payload(&key.payload), Some(key));
        for other in ["g:g:a:0:1", "~sent:g", "~sent:g:a:1", "~abandoned:g:a:1:2"] {
            assert_eq!(SendKey::of_payload(other), None, "{other}");
        }
    }

    #[test]
    fn messages_are_what_was_sent() {
        let key_use = KeyUse::from_bits(0x0102_0304);
        let error = Error::new("gone").with_code(ErrorCode::Unavailable);
        let abandonment = Abandonment { error, key_use };
        let abandoned = Sent::of_payload(payload_of(abandonment_buffers(&abandonment)));
        assert_eq!(abandoned.key_use(), key_use);
        let Sent::Abandonment(found) = abandoned else {
            panic!("expected an abandonment, found {abandoned:?}");
        };
        assert_eq!(
            (found.error.message(), found.error.code()),
            ("gone", ErrorCode::Unavailable)
        );
        let numbered = payload_of(vec![vec![1], vec![2], use_buffer(key_use)]);
        let Sent::Tensor(found, tensor) = Sent::of_payload(numbered) else {
            panic!("expected a tensor");
        };
        assert_eq!((found, tensor.buffers().len()), (key_use, 2));
        // Older versions do not say which use it is, and others are not tensors.
        for len in [2, 3] {
            let sent = Sent::of_payload(payload_of(vec![vec![]; len]));
            let Sent::Tensor(found, tensor) = sent else {
                panic!("expected a tensor, found {sent:?}");
            };
            assert_eq!((found, tensor.buffers().len()), (KeyUse::default(), len));
        }
    }
}
