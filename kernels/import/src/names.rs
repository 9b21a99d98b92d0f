//! Names from files, in messages.
//!
//! A file chooses its names: they may be empty, long, or contain characters that control a terminal
//! or change the direction of text.

use std::fmt::{self, Write};

/// The maximum number of characters of a name in messages.
pub const MAX_SHOWN_CHARS: usize = 200;

/// Prints a name: control characters and those that change the direction of a text are escaped, and
/// a long name is truncated.
///
/// ```
/// use tfrt_import::names::shown;
///
/// assert_eq!(shown("/conv1/Conv").to_string(), "/conv1/Conv");
/// assert_eq!(shown("a\u{1b}[2J\u{202e}b").to_string(), r"a\u{1b}[2J\u{202e}b");
/// assert_eq!(shown(&"x".repeat(1000)).to_string().chars().count(), 201);
/// ```
pub fn shown(name: &str) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| {
        for (index, c) in name.chars().enumerate() {
            if index == MAX_SHOWN_CHARS {
                return f.write_char('…');
            }
            write_escaped(f, c)?;
        }
        Ok(())
    })
}

/// Prints a text of a file like [`shown`], but all of it.
///
/// ```
/// use tfrt_import::names::shown_whole;
///
/// assert_eq!(shown_whole("two\nlines").to_string(), r"two\u{a}lines");
/// assert_eq!(shown_whole(&"x".repeat(1000)).to_string().len(), 1000);
/// ```
pub fn shown_whole(text: &str) -> impl fmt::Display + '_ {
    fmt::from_fn(move |f| text.chars().try_for_each(|c| write_escaped(f, c)))
}

fn write_escaped(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    if c.is_control() || turns_direction(c) {
        write!(f, "{}", c.escape_unicode())
    } else {
        f.write_char(c)
    }
}

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
