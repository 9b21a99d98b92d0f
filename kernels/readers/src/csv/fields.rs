//! Finding the fields of a text without quotes.
//!
//! In such a text, every delimiter ends a field, and every line break ends a row; empty lines and
//! comments are not rows. So each byte can be judged by itself, and eight are judged at once. The
//! parser of whole files defines what a row is: the tests compare the two.

use std::ops::Range;

use crate::swar::{equal_bytes, repeated};

/// Where the fields of the rows of a text are.
#[derive(Debug)]
pub(super) struct Fields {
    num_fields: usize,
    /// For each row, where each field begins, and where one behind the last would begin: each ends
    /// one byte in front of the next.
    starts: Vec<u32>,
}

impl Fields {
    /// Finds the fields. Returns `None` if a row has another number of fields, or the text is too
    /// long.
    pub(super) fn find(
        text: &[u8],
        num_fields: usize,
        delimiter: u8,
        comment: Option<u8>,
    ) -> Option<Self> {
        // Every place in the text, and the one behind its end, has a number.
        let len = u32::try_from(text.len())
            .ok()
            .filter(|&len| len < u32::MAX)?;
        let mut marks = Marks::new(text, delimiter);
        let mut starts = Vec::new();
        let mut row_start = 0;
        while let Some(&first) = text.get(row_start) {
            if is_break(first) {
                marks.next();
                row_start += 1;
                continue;
            }
            if comment == Some(first) {
                // The parser of whole files ends a comment at this break alone.
                let end = marks.find(|&at| text[at] == b'\n');
                row_start = end.map_or(text.len(), |end| end + 1);
                continue;
            }
            starts.push(row_start as u32);
            for number in 1.. {
                let end = marks.next();
                starts.push(end.map_or(len, |end| end as u32) + 1);
                let is_last = end.is_none_or(|end| text[end] != delimiter);
                if is_last != (number == num_fields) {
                    return None;
                }
                if is_last {
                    row_start = end.map_or(text.len(), |end| end + 1);
                    break;
                }
            }
        }
        Some(Self { num_fields, starts })
    }

    /// Returns where the field at a position is in each row, or `None` if rows have fewer fields.
    pub(super) fn column(&self, position: usize) -> Option<impl Iterator<Item = Range<usize>>> {
        let range = move |row: &[u32]| row[position] as usize..row[position + 1] as usize - 1;
        (position < self.num_fields).then(|| self.rows().map(range))
    }

    /// Returns how many bytes the fields of each row have.
    pub(super) fn row_bytes(&self) -> impl ExactSizeIterator<Item = usize> {
        let num_fields = self.num_fields;
        self.rows()
            .map(move |row| (row[num_fields] - row[0]) as usize - num_fields)
    }

    fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.starts.chunks_exact(self.num_fields + 1)
    }
}

/// Returns `true` if the byte ends a row. Of two such bytes, the second one ends an empty line.
pub(super) fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The places of delimiters and line breaks in a text.
struct Marks<'t> {
    text: &'t [u8],
    /// What is looked for, eight times each.
    wanted: [u64; 3],
    /// One bit for each mark in the last eight bytes.
    found: u64,
    /// Where those bytes begin.
    base: usize,
    /// Where the next ones begin.
    next: usize,
}

impl<'t> Marks<'t> {
    fn new(text: &'t [u8], delimiter: u8) -> Self {
        Self {
            text,
            wanted: [delimiter, b'\n', b'\r'].map(repeated),
            found: 0,
            base: 0,
            next: 0,
        }
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            let rest = self.text.get(self.next..).filter(|rest| !rest.is_empty())?;
            let (word, is_byte) = match rest.first_chunk() {
                Some(bytes) => (u64::from_le_bytes(*bytes), u64::MAX),
                None => {
                    let mut bytes = [0; 8];
                    bytes[..rest.len()].copy_from_slice(rest);
                    (u64::from_le_bytes(bytes), (1 << (8 * rest.len())) - 1)
                }
            };
            let [delimiter, line_feed, carriage_return] = self.wanted;
            let found = equal_bytes(word, delimiter)
                | equal_bytes(word, line_feed)
                | equal_bytes(word, carriage_return);
            self.found = found & is_byte;
            self.base = self.next;
            self.next += 8;
        }
        let at = self.base + self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use ::csv::{ByteRecord, ReaderBuilder};
    use proptest::prelude::*;

    use super::*;

    /// The fields of the rows, if each has so many.
    fn found(text: &[u8], num_fields: usize, comment: Option<u8>) -> Option<Vec<Vec<Vec<u8>>>> {
        let fields = Fields::find(text, num_fields, b',', comment)?;
        let mut rows = vec![Vec::new(); fields.row_bytes().len()];
        for position in 0..num_fields {
            let column = fields.column(position).expect("there are so many");
            for (row, range) in rows.iter_mut().zip(column) {
                row.push(text[range].to_vec());
            }
        }
        assert!(fields.column(num_fields).is_none());
        let lens: Vec<usize> = rows.iter().map(|row| row.concat().len()).collect();
        assert_eq!(fields.row_bytes().collect::<Vec<_>>(), lens);
        Some(rows)
    }

    /// The same by the parser of whole files.
    fn expected(text: &[u8], num_fields: usize, comment: Option<u8>) -> Option<Vec<Vec<Vec<u8>>>> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .quoting(false)
            .comment(comment)
            .from_reader(text);
        let mut rows = Vec::new();
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).unwrap() {
            if record.len() != num_fields {
                return None;
            }
            rows.push(record.iter().map(<[u8]>::to_vec).collect());
        }
        Some(rows)
    }

    #[test]
    fn fields_are_found_wherever_they_end() {
        // Every place of a mark among eight bytes.
        for len in 0..20 {
            let text = format!("{},{}\r\n,\n", "x".repeat(len), "y".repeat(20 - len));
            assert_eq!(
                found(text.as_bytes(), 2, None),
                expected(text.as_bytes(), 2, None)
            );
        }
        assert_eq!(found(b"", 1, None), Some(Vec::new()));
        assert_eq!(found(b"1,2\n3\n", 2, None), None);
        assert_eq!(found(b"1,2\n3,4,5\n", 2, None), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_260_131), ..ProptestConfig::default() })]

        #[test]
        fn rows_are_those_of_the_parser(
            bytes in proptest::collection::vec(
                prop_oneof![
                    Just(b','), Just(b'\n'), Just(b'\r'), Just(b'#'), Just(0), Just(b'"'), Just(0xac),
                    any::<u8>(),
                ],
                0..60,
            ),
            num_fields in 1_usize..4,
            has_comments: bool,
        ) {
            let comment = has_comments.then_some(b'#');
            // A byte-order mark is dropped in front of the first field; see `Parsed::parse`.
            prop_assume!(!bytes.starts_with(b"\xef\xbb\xbf"));
            // A comment at the end of a whole file counts as a row, unless a line break follows.
            let whole = [&bytes[..], b"\n"].concat();
            prop_assert_eq!(
                found(&bytes, num_fields, comment),
                expected(&whole, num_fields, comment)
            );
        }
    }
}
