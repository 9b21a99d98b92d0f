//! The names of tensors: a context, and a key in it.

use arrow_flight::flight_descriptor::DescriptorType;
use arrow_flight::{FlightDescriptor, Ticket};
use prost::bytes::Bytes;
use tonic::Status;

/// Where a tensor waits: the key of a receiver in a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) context_id: u64,
    pub(super) key: String,
}

impl Place {
    /// Returns the place that a descriptor names by the path `[context id, key]`.
    pub(super) fn of_descriptor(descriptor: Option<&FlightDescriptor>) -> Result<Self, Status> {
        let expected = |found: &str| {
            let message = format!(
                "expected a descriptor with the path [id of a context, key], found {found}"
            );
            Status::invalid_argument(message)
        };
        let descriptor = descriptor.ok_or_else(|| expected("none"))?;
        match descriptor.r#type() {
            DescriptorType::Path => {}
            DescriptorType::Cmd => return Err(expected("a command")),
            DescriptorType::Unknown => return Err(expected("one of another type")),
        }
        match &descriptor.path[..] {
            [context, key] => Ok(Self {
                context_id: parse_context(context)?,
                key: key.clone(),
            }),
            [context] => Err(expected(&format!("no key behind `{context}`"))),
            path => Err(expected(&format!("a path of {} names", path.len()))),
        }
    }

    /// Returns the place that a ticket names as `CONTEXT/KEY`.
    pub(super) fn of_ticket(ticket: &Ticket) -> Result<Self, Status> {
        let text = std::str::from_utf8(&ticket.ticket).map_err(|_| {
            Status::invalid_argument("expected a ticket in UTF-8, found other bytes")
        })?;
        let (context, key) = text.split_once('/').ok_or_else(|| {
            let message = format!("expected a ticket `CONTEXT/KEY`, found `{text}`");
            Status::invalid_argument(message)
        })?;
        Ok(Self {
            context_id: parse_context(context)?,
            key: key.to_owned(),
        })
    }

    pub(super) fn to_descriptor(&self) -> FlightDescriptor {
        FlightDescriptor::new_path(vec![self.context_id.to_string(), self.key.clone()])
    }

    pub(super) fn to_ticket(&self) -> Ticket {
        Ticket::new(format!("{}/{}", self.context_id, self.key))
    }
}

fn parse_context(text: &str) -> Result<u64, Status> {
    text.parse().map_err(|_| {
        let message = format!("expected the id of a context, found `{text}`");
        Status::invalid_argument(message)
    })
}

/// Returns the context whose tensors are to be listed: all if there is no expression.
pub(super) fn listed_context(expression: &Bytes) -> Result<Option<u64>, Status> {
    match expression.is_empty() {
        true => Ok(None),
        false => parse_context(&String::from_utf8_lossy(expression)).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_and_descriptors_name_the_same_places() {
        for key in ["k", "", "a/b", "é"] {
            let place = Place {
                context_id: u64::MAX,
                key: key.to_owned(),
            };
            let descriptor = place.to_descriptor();
            assert_eq!(Place::of_descriptor(Some(&descriptor)).unwrap(), place);
            assert_eq!(Place::of_ticket(&place.to_ticket()).unwrap(), place);
        }
    }

    #[test]
    fn other_descriptors_are_refused() {
        let path = |names: &[&str]| {
            FlightDescriptor::new_path(names.iter().map(|&name| name.to_owned()).collect())
        };
        let start = "expected a descriptor with the path [id of a context, key], found ";
        let other = FlightDescriptor {
            r#type: 77,
            ..path(&["7", "k"])
        };
        for (descriptor, end) in [
            (None, "none"),
            (Some(FlightDescriptor::new_cmd("7/k")), "a command"),
            (Some(other), "one of another type"),
            (Some(path(&[])), "a path of 0 names"),
            (Some(path(&["7"])), "no key behind `7`"),
            (Some(path(&["7", "k", "x"])), "a path of 3 names"),
        ] {
            let status = Place::of_descriptor(descriptor.as_ref()).unwrap_err();
            assert_eq!(status.message(), format!("{start}{end}"));
        }
        for context in ["", "x", "-1", "18446744073709551616"] {
            let status = Place::of_descriptor(Some(&path(&[context, "k"]))).unwrap_err();
            let expected = format!("expected the id of a context, found `{context}`");
            assert_eq!(status.message(), expected);
        }
    }

    #[test]
    fn other_tickets_are_refused() {
        for (ticket, expected) in [
            (&b"7"[..], "expected a ticket `CONTEXT/KEY`, found `7`"),
            (b"\xff/k", "expected a ticket in UTF-8, found other bytes"),
            (b"k/7", "expected the id of a context, found `k`"),
        ] {
            let status = Place::of_ticket(&Ticket::new(ticket)).unwrap_err();
            assert_eq!(status.message(), expected);
        }
    }

    #[test]
    fn one_context_is_listed_or_all() {
        assert_eq!(listed_context(&Bytes::new()).unwrap(), None);
        assert_eq!(listed_context(&Bytes::from_static(b"7")).unwrap(), Some(7));
        assert!(listed_context(&Bytes::from_static(b"x")).is_err());
    }
}
