//! Abandonments: a member tells all others that a collective has failed, under a key of its own.
//!
//! Whoever has not failed yet then fails with the same error, whatever it waits for. The message is
//! sent again until it has arrived, or the member is lost: the other one would wait forever.

use prost::bytes::Bytes;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::HostBuffer;

use super::uses::KeyUse;
use super::{Collective, epoch};
use crate::cluster::TaskHandle;
use crate::error::Gather;
use crate::payload::Payload;

/// The start of the keys of abandonments.
pub(super) const ABANDONED: &str = "~abandoned:";

/// Returns the key under which members learn that another one has failed.
pub(super) fn abandonment_key(collective: &Collective) -> String {
    let Collective { key, group, .. } = collective;
    format!("{ABANDONED}{group}:{key}")
}

/// Returns the group and the key of the collective that an abandonment has this key for.
pub(super) fn abandoned(payload_key: &str) -> Option<(&str, &str)> {
    payload_key.strip_prefix(ABANDONED)?.split_once(':')
}

/// An abandonment.
///
/// ```text
///  buffer 0: text of the error         buffer 1: use of the key (4 bytes), code of the error (1)
/// ```
///
/// Older versions send the text alone.
#[derive(Clone, Debug)]
pub(super) struct Abandonment {
    pub(super) error: Error,
    pub(super) key_use: KeyUse,
}

impl Abandonment {
    pub(super) fn to_buffers(&self) -> [Vec<u8>; 2] {
        let text = self.error.message().as_bytes().to_vec();
        let mut details = self.key_use.bits().to_le_bytes().to_vec();
        details.push(self.error.code().number());
        [text, details]
    }

    /// Reads an abandonment. What cannot be read is that of no use in particular.
    pub(super) fn of_payload(payload: &Payload) -> Self {
        let mut buffers = payload.buffers().iter().map(HostBuffer::read);
        let mut next = || buffers.next().and_then(Result::ok);
        let text = next();
        let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
        let error = Error::new(text.unwrap_or_default());
        let details = next();
        let details = details.as_deref().map_or(&[][..], |details| details);
        let Some((bits, &[code])) = details.split_first_chunk::<4>() else {
            return Self {
                error,
                key_use: KeyUse::default(),
            };
        };
        let code = ErrorCode::from_number(code).unwrap_or(ErrorCode::Unknown);
        Self {
            error: error.with_code(code),
            key_use: KeyUse::from_bits(u32::from_le_bytes(*bits)),
        }
    }

    /// Ends the part that this task takes in a collective.
    pub(super) fn tell_own(&self, collective: &Collective) {
        let buffers = self.to_buffers().into_iter().map(HostBuffer::from_owner);
        let payload = Payload::new(buffers.flatten().collect());
        let rendezvous = collective.context.rendezvous();
        // Another member may have said so already.
        let _ = rendezvous.send(&abandonment_key(collective), payload);
    }

    /// Tells all other members of a collective but one, if that is not to know. A part of `first`
    /// lasts until the first attempt to reach a member has ended: those that can be reached know it
    /// then.
    pub(super) fn tell_others(
        &self,
        collective: &Collective,
        untold: Option<TaskHandle>,
        first: &Gather,
    ) {
        let context = &collective.context;
        let own_task = context.cluster().own_task();
        let Ok(members) = context.group(epoch::group_of(&collective.group)) else {
            return;
        };
        let payload = self.to_buffers().map(Bytes::from).to_vec();
        let is_told = |member: &&TaskHandle| **member != own_task && Some(**member) != untold;
        for member in members.iter().filter(is_told) {
            let (key, payload) = (abandonment_key(collective), payload.clone());
            // A member that has still to end earlier uses of the key refuses it until then.
            context.deliver(*member, key, payload, first.clone());
        }
    }
}
