//! Damage to messages in the encoding of protocol buffers that keeps them messages: most random
//! damage dies in the decoder.
//!
//! A message is taken apart into fields, at any depth; one thing in one of them is changed, and it
//! is put together again, with lengths that fit. The vocabulary of the caller brings names and
//! numbers that mean something to the receiver.

use crate::mutate::Random;

/// Nobody nests deeper, and damage must not.
const MAX_DEPTH: usize = 6;

/// Names and numbers that mean something to the receiver of a message.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// Texts, such as keys, names of tasks and of programs.
    pub texts: &'static [&'static str],
    /// Numbers, such as those of contexts and objects.
    pub numbers: &'static [u64],
}

/// A field of a message.
#[derive(Clone, Debug)]
struct Field {
    number: u64,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(Vec<u8>),
}

/// The message with something changed. `other` is another message, to take fields of.
#[must_use]
pub fn mutate(
    message: &[u8],
    other: &[u8],
    vocabulary: &Vocabulary,
    random: &mut Random,
) -> Vec<u8> {
    let mut bytes = message.to_vec();
    for _ in 0..=random.below(3) {
        if random.below(8) == 0 {
            change_bytes(&mut bytes, random);
        } else if let Some(mut fields) = parse(&bytes) {
            change(&mut fields, other, vocabulary, random, 0);
            bytes = assemble(&fields);
        } else {
            change_bytes(&mut bytes, random);
        }
    }
    bytes
}

/// Changes, inserts and removes a few bytes.
fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let byte = random.below(256) as u8;
    match random.below(4) {
        0 if at < bytes.len() => bytes[at] = byte,
        1 if at < bytes.len() => drop(bytes.remove(at)),
        2 => bytes.truncate(at),
        _ => bytes.insert(at, byte),
    }
}

/// Changes one thing in a list of fields, or deeper.
fn change(
    fields: &mut Vec<Field>,
    other: &[u8],
    vocabulary: &Vocabulary,
    random: &mut Random,
    depth: usize,
) {
    if fields.is_empty() || random.below(12) == 0 {
        let theirs = parse(other).unwrap_or_default();
        let field = match theirs.is_empty() {
            true => Field {
                number: 1 + random.below(8) as u64,
                content: Content::Varint(random.edge(1)),
            },
            false => theirs[random.below(theirs.len())].clone(),
        };
        let at = random.below(fields.len() + 1);
        return fields.insert(at, field);
    }
    let at = random.below(fields.len());
    match random.below(12) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(at, fields[at].clone()),
        2 => {
            let to = random.below(fields.len());
            fields.swap(at, to);
        }
        // Another field of the same message, of the same encoding.
        3 => fields[at].number = [1, 2, 3, 4, 5, 6, 7, 8, 101, 102][random.below(10)],
        _ => change_content(&mut fields[at].content, other, vocabulary, random, depth),
    }
}

fn change_content(
    content: &mut Content,
    other: &[u8],
    vocabulary: &Vocabulary,
    random: &mut Random,
    depth: usize,
) {
    match content {
        Content::Varint(value) => *value = number(*value, vocabulary, random),
        Content::Fixed64(value) => *value = number(*value, vocabulary, random),
        Content::Fixed32(value) => *value = random.edge((*value).into()) as u32,
        Content::Bytes(bytes) => {
            let inner = parse(bytes).filter(|inner| !inner.is_empty() && depth < MAX_DEPTH);
            match (random.below(4), inner) {
                (1.., Some(mut inner)) => {
                    change(&mut inner, other, vocabulary, random, depth + 1);
                    *bytes = assemble(&inner);
                }
                (0 | 1, _) => change_bytes(bytes, random),
                _ => {
                    let text = vocabulary.texts[random.below(vocabulary.texts.len())];
                    *bytes = text.as_bytes().to_vec();
                }
            }
        }
    }
}

/// A number that means something, or is just in range or out of it.
fn number(value: u64, vocabulary: &Vocabulary, random: &mut Random) -> u64 {
    match random.below(4) {
        0 => random.edge(value),
        _ => vocabulary.numbers[random.below(vocabulary.numbers.len())],
    }
}

/// The fields of a message; none if the bytes are not one.
fn parse(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = take_varint(&mut bytes)?;
        let content = match tag & 7 {
            0 => Content::Varint(take_varint(&mut bytes)?),
            1 => {
                let (word, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Content::Fixed64(u64::from_le_bytes(*word))
            }
            2 => {
                let len = usize::try_from(take_varint(&mut bytes)?).ok()?;
                let (inner, rest) = bytes.split_at_checked(len)?;
                bytes = rest;
                Content::Bytes(inner.to_vec())
            }
            5 => {
                let (word, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Content::Fixed32(u32::from_le_bytes(*word))
            }
            _ => return None,
        };
        let number = tag >> 3;
        fields.push(Field { number, content });
    }
    Some(fields)
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn assemble(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Field { number, content } in fields {
        let mut tag = |wire_type: u64| put_varint(&mut bytes, number << 3 | wire_type);
        match content {
            Content::Varint(value) => {
                tag(0);
                put_varint(&mut bytes, *value);
            }
            Content::Fixed64(value) => {
                tag(1);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            Content::Bytes(inner) => {
                tag(2);
                put_varint(&mut bytes, inner.len() as u64);
                bytes.extend_from_slice(inner);
            }
            Content::Fixed32(value) => {
                tag(5);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
    bytes
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number, a text, and a message with a fixed number.
    const MESSAGE: [u8; 17] = [
        0x08, 0xac, 0x02, 0x12, 0x01, b'k', 0x1a, 0x09, 0x09, 7, 0, 0, 0, 0, 0, 0, 0,
    ];

    #[test]
    fn messages_are_put_together_as_they_were() {
        let fields = parse(&MESSAGE).expect("a message");
        assert_eq!(fields.len(), 3);
        assert_eq!(assemble(&fields), MESSAGE);
        assert!(matches!(fields[0].content, Content::Varint(300)));
        // The last length is too large.
        assert!(parse(&MESSAGE[..16]).is_none());
    }

    #[test]
    fn most_changes_leave_a_message() {
        let vocabulary = Vocabulary {
            texts: &["key"],
            numbers: &[1],
        };
        let mut random = Random::new(1);
        let num_messages = (0..1000)
            .map(|_| mutate(&MESSAGE, &MESSAGE, &vocabulary, &mut random))
            .filter(|changed| *changed != MESSAGE && parse(changed).is_some())
            .count();
        assert!(num_messages > 600, "{num_messages}");
    }
}
