//! Text in constants: operations that the standard library offers only at run time.

/// Returns `true` if two texts are equal.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Returns `true` if `a` comes before `b` in byte order.
pub(crate) const fn precedes(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() {
        if a[index] != b[index] {
            return a[index] < b[index];
        }
        index += 1;
    }
    a.len() < b.len()
}

/// Returns the part of a text from byte `start` to byte `end`, which must be character boundaries.
pub(crate) const fn slice(text: &str, start: usize, end: usize) -> &str {
    let (text, _) = text.split_at(end);
    let (_, text) = text.split_at(start);
    text
}

/// Returns `true` if a text is an identifier: letters, digits and underscores, not starting with a
/// digit.
pub(crate) const fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        if !(bytes[index].is_ascii_alphanumeric() || bytes[index] == b'_') {
            return false;
        }
        index += 1;
    }
    !bytes.is_empty() && !bytes[0].is_ascii_digit()
}

/// The capacity of a [`Text`] in bytes.
const CAPACITY: usize = 512;

/// A growable text in a constant. Text beyond the capacity is dropped.
pub(crate) struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; CAPACITY],
            len: 0,
        }
    }

    pub(crate) const fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if self.len + bytes.len() > CAPACITY {
            return;
        }
        let mut index = 0;
        while index < bytes.len() {
            self.bytes[self.len] = bytes[index];
            self.len += 1;
            index += 1;
        }
    }

    pub(crate) const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        const DIGITS: &str = "0123456789";
        self.push(slice(DIGITS, number % 10, number % 10 + 1));
    }

    pub(crate) const fn as_str(&self) -> &str {
        let (bytes, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // Only whole texts are pushed.
            Err(_) => unreachable!(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_compare_as_at_run_time() {
        let texts = ["", "a", "ab", "b", "B", "ü"];
        for a in texts {
            for b in texts {
                assert_eq!((same(a, b), precedes(a, b)), (a == b, a < b), "{a} {b}");
            }
        }
        assert_eq!(slice("ab-cd", 1, 4), "b-c");
        assert!(
            is_identifier("_a1")
                && !is_identifier("1a")
                && !is_identifier("")
                && !is_identifier("a-b")
        );
    }

    #[test]
    fn a_text_grows_up_to_its_capacity() {
        let mut text = Text::new();
        text.push("at byte ");
        text.push_number(120);
        assert_eq!(text.as_str(), "at byte 120");
        (0..100).for_each(|_| text.push("ten bytes."));
        assert!(text.as_str().len() <= CAPACITY && text.as_str().ends_with("bytes."));
    }
}
