//! Cards, from which members learn how to reach each other, and refusals, from which they learn
//! that they cannot.

use std::fmt::Write;

use prost::bytes::Bytes;
use tfrt_support::Error;
use tfrt_tensor::HostBuffer;

use super::super::{back_end, ring};
use super::member::DirectMember;
use crate::payload::Payload;

/// What a member tells the others when it opens a group.
pub(super) enum Card<'a> {
    Card(Bytes),
    /// Why it could not be connected.
    Failure(&'a Error),
}

impl Card<'_> {
    fn to_payload(&self) -> Vec<Bytes> {
        match self {
            Self::Card(card) => vec![card.clone()],
            Self::Failure(error) => {
                vec![
                    Bytes::copy_from_slice(error.message().as_bytes()),
                    Bytes::new(),
                ]
            }
        }
    }
}

impl DirectMember {
    fn card_key(&self, from: usize, to: usize) -> String {
        format!("{}{}:{from}:{to}", ring::CARD, self.scope)
    }

    /// Returns the key under which a member with this card learns that another one cannot be
    /// connected with it. A member that opens the group again has another card.
    fn refusal_key(&self, from: usize, to: usize, card: &[u8]) -> String {
        let mut key = self.card_key(from, to) + ":";
        for byte in card {
            // Writing to a string does not fail.
            let _ = write!(key, "{byte:02x}");
        }
        key
    }

    /// Tells another member that it cannot be connected with this one. One whose card has not come
    /// learns it from the connection.
    pub(super) fn tell_unreachable(&self, position: usize, cause: &str) {
        let Some(card) = self.lock().cards.get(&position).cloned() else {
            return;
        };
        let key = self.refusal_key(self.index, position, &card);
        let text = Bytes::copy_from_slice(cause.as_bytes());
        self.context
            .deliver(self.members[position], key, vec![text], ());
    }

    /// Tells the other members how to reach this one, or that it cannot be reached.
    pub(super) fn tell_others(&self, card: &Card<'_>) {
        for position in self.others() {
            let weak = self.this.clone();
            let key = self.card_key(self.index, position);
            let to = self.members[position];
            self.context
                .send_data(to, key, card.to_payload(), move |answer| {
                    if let (Err(errors), Some(this)) = (answer, weak.upgrade()) {
                        let error = errors.to_value(this.context.host());
                        this.broken(position, &error);
                        // The other one still waits for the card.
                        let (key, failure) = (
                            this.card_key(this.index, position),
                            Card::Failure(&error).to_payload(),
                        );
                        this.context.deliver(to, key, failure, ());
                    }
                });
        }
    }

    pub(super) fn await_cards(&self) {
        let own_card = self.links.get().map(|links| links.card());
        for position in self.others() {
            if let Some(card) = &own_card {
                self.await_refusal(position, card);
            }
            let weak = self.this.clone();
            let receiver = move |payload: Result<Payload, Error>| {
                let (Some(this), Ok(payload)) = (weak.upgrade(), payload) else {
                    return;
                };
                let buffers = payload.buffers();
                let card = buffers.first().map(HostBuffer::read);
                match (card, this.links.get()) {
                    (Some(Ok(card)), Some(links)) if buffers.len() == 1 => {
                        let kept = Bytes::copy_from_slice(&card);
                        this.lock().cards.insert(position, kept);
                        links.introduce(position, &card);
                    }
                    _ => {
                        this.broken(position, &back_end::error_in(&payload));
                    }
                }
            };
            let key = self.card_key(position, self.index);
            let from = self.members[position];
            self.context.receive(from, &key, Box::new(receiver));
        }
    }

    fn await_refusal(&self, position: usize, own_card: &[u8]) {
        let weak = self.this.clone();
        let receiver = move |payload: Result<Payload, Error>| {
            if let (Some(this), Ok(payload)) = (weak.upgrade(), payload) {
                let cause = back_end::error_in(&payload);
                this.broken(position, &this.connection_error(position, cause.message()));
            }
        };
        let key = self.refusal_key(position, self.index, own_card);
        let from = self.members[position];
        self.context.receive(from, &key, Box::new(receiver));
    }

    /// Waits no more for the cards that did not come.
    pub(super) fn stop_awaiting_cards(&self, over: &Error) {
        let rendezvous = self.context.rendezvous();
        let own_card = self.links.get().map(|links| links.card());
        for position in self.others() {
            rendezvous.give_up(&self.card_key(position, self.index), over);
            if let Some(card) = &own_card {
                rendezvous.give_up(&self.refusal_key(position, self.index, card), over);
            }
        }
    }
}
