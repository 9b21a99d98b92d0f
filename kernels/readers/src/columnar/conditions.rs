//! Conditions on columns, by which row groups are selected.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use tfrt_support::{Error, ErrorCode};

use crate::schema::Cell;

/// Conditions on columns, such as `price >= 3.5, kind = "red"`. A row satisfies them if it
/// satisfies all of them.
///
/// A condition is the name of a column, one of `=`, `!=`, `<`, `<=`, `>` and `>=`, and a number,
/// `true`, `false` or a string in quotes. A name with other characters than letters, digits and
/// `_-./` is in quotes, too. Quotes are `"` or `'`.
///
/// ```
/// use tfrt_readers::columnar::Conditions;
///
/// let conditions: Conditions = "price >= 3.5, kind = 'red'".parse()?;
/// assert_eq!(conditions.columns().collect::<Vec<_>>(), ["price", "kind"]);
/// let error = "price ~ 3".parse::<Conditions>().unwrap_err();
/// assert_eq!(error.message(), "conditions, at byte 6: expected `=`, `!=`, `<`, `<=`, `>` or `>=`, found `~`");
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions(Vec<Condition>);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Condition {
    pub(super) column: String,
    relation: Relation,
    value: Cell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// The longer ones come first, since some begin like others.
    const ALL: [(&'static str, Self); 6] = [
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];
}

/// The least and the greatest value of a column in a row group.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "files with such statistics need the feature")
)]
pub(super) enum Bounds<'a> {
    Truths(bool, bool),
    Integers(i128, i128),
    /// `true` if the values are of type `f32`, to which numbers in conditions may be rounded.
    Floats(f64, f64, bool),
    Strings(&'a [u8], &'a [u8]),
}

#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "files with such statistics need the feature")
)]
impl Condition {
    /// Returns `true` if a value within these bounds may satisfy the condition, or `None` if the
    /// condition has a value of another type.
    pub(super) fn may_hold(&self, bounds: Bounds<'_>) -> Option<bool> {
        Some(match (bounds, &self.value) {
            (Bounds::Truths(least, greatest), Cell::Truth(value)) => {
                self.holds_between(Some(least.cmp(value)), Some(greatest.cmp(value)))
            }
            (Bounds::Strings(least, greatest), Cell::Bytes(value)) => {
                self.holds_between(Some(least.cmp(value)), Some(greatest.cmp(value)))
            }
            (Bounds::Integers(least, greatest), Cell::Integer(value)) => {
                self.holds_between(Some(least.cmp(value)), Some(greatest.cmp(value)))
            }
            (Bounds::Integers(least, greatest), &Cell::Float(value)) => self.holds_between(
                compare_with_float(least, value),
                compare_with_float(greatest, value),
            ),
            // The bounds leave out NaN, which differs from every number.
            (Bounds::Floats(..), Cell::Integer(_) | Cell::Float(_))
                if self.relation == Relation::NotEqual =>
            {
                true
            }
            // Whoever compares the rows may round the number or not.
            (Bounds::Floats(least, greatest, is_rounded), &Cell::Integer(value)) => {
                let exactly = self.holds_between(
                    compare_with_float(value, least).map(Ordering::reverse),
                    compare_with_float(value, greatest).map(Ordering::reverse),
                );
                let rounded = f64::from(value as f32);
                exactly || (is_rounded && self.holds_between_floats([least, greatest], rounded))
            }
            (Bounds::Floats(least, greatest, is_rounded), &Cell::Float(value)) => {
                let with = |value: f64| self.holds_between_floats([least, greatest], value);
                with(value) || (is_rounded && with(f64::from(value as f32)))
            }
            _ => return None,
        })
    }

    fn holds_between_floats(&self, [least, greatest]: [f64; 2], value: f64) -> bool {
        self.holds_between(least.partial_cmp(&value), greatest.partial_cmp(&value))
    }

    /// Returns `true` if a value may satisfy the condition, given how the bounds compare with the
    /// value of the condition. What cannot be compared may be anything.
    fn holds_between(&self, least: Option<Ordering>, greatest: Option<Ordering>) -> bool {
        let (Some(least), Some(greatest)) = (least, greatest) else {
            return true;
        };
        match self.relation {
            Relation::Equal => least.is_le() && greatest.is_ge(),
            Relation::NotEqual => least.is_ne() || greatest.is_ne(),
            Relation::Less => least.is_lt(),
            Relation::LessOrEqual => least.is_le(),
            Relation::Greater => greatest.is_gt(),
            Relation::GreaterOrEqual => greatest.is_ge(),
        }
    }

    /// Returns the kind of value that the condition compares with.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Cell::Truth(_) => "a truth value",
            Cell::Integer(_) | Cell::Float(_) => "a number",
            Cell::Bytes(_) => "a string",
        }
    }
}

/// Compares an integer with a float, exactly. Returns `None` if the float is not a number.
fn compare_with_float(integer: i128, float: f64) -> Option<Ordering> {
    /// The first power of two that no `i128` reaches.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float.is_nan() {
        return None;
    }
    if float >= LIMIT {
        return Some(Ordering::Less);
    }
    if float < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = float.trunc();
    let order = integer.cmp(&(whole as i128));
    Some(order.then_with(|| 0.0_f64.total_cmp(&(float - whole + 0.0))))
}

impl Conditions {
    /// Returns the names of the columns, one for each condition.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|condition| &*condition.column)
    }

    #[cfg_attr(
        not(feature = "parquet"),
        allow(dead_code, reason = "files with such statistics need the feature")
    )]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Condition> {
        self.0.iter()
    }
}

impl FromStr for Conditions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parser = Parser { text, position: 0 };
        let mut conditions = Vec::new();
        loop {
            conditions.push(parser.condition()?);
            if parser.rest().is_empty() {
                return Ok(Self(conditions));
            }
            if !parser.opt(",") {
                return Err(parser.wrong("`,`"));
            }
        }
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, condition) in self.0.iter().enumerate() {
            let Condition {
                column,
                relation,
                value,
            } = condition;
            let relation = Relation::ALL.iter().find(|(_, other)| other == relation);
            let relation = relation.map_or("", |(text, _)| text);
            let before = if index == 0 { "" } else { ", " };
            write!(f, "{before}{} {relation} ", quoted(column))?;
            match value {
                Cell::Truth(truth) => write!(f, "{truth}")?,
                Cell::Integer(number) => write!(f, "{number}")?,
                Cell::Float(number) => write!(f, "{number:?}")?,
                Cell::Bytes(bytes) => f.write_str(&quoted(&String::from_utf8_lossy(bytes)))?,
            }
        }
        Ok(())
    }
}

/// Returns a text in quotes, as it is parsed. What was parsed contains one kind of quotes at most.
fn quoted(text: &str) -> String {
    let quote = if text.contains('"') { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}

struct Parser<'a> {
    text: &'a str,
    /// In bytes.
    position: usize,
}

impl<'a> Parser<'a> {
    /// Returns the rest, from the next character that is not a space.
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.position..].trim_start();
        self.position = self.text.len() - rest.len();
        rest
    }

    fn opt(&mut self, wanted: &str) -> bool {
        let is_there = self.rest().starts_with(wanted);
        if is_there {
            self.position += wanted.len();
        }
        is_there
    }

    /// Returns the characters of a name or a value, which may be none.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let is_behind =
            |character: char| !(character.is_alphanumeric() || "_-./+".contains(character));
        let word = &rest[..rest.find(is_behind).unwrap_or(rest.len())];
        self.position += word.len();
        word
    }

    /// Returns the text in quotes, if quotes follow.
    fn quoted(&mut self) -> Result<Option<&'a str>, Error> {
        let rest = self.rest();
        let Some(quote @ ('"' | '\'')) = rest.chars().next() else {
            return Ok(None);
        };
        let Some((text, _)) = rest[1..].split_once(quote) else {
            self.position = self.text.len();
            return Err(self.wrong(&format!("`{quote}`")));
        };
        self.position += text.len() + 2;
        Ok(Some(text))
    }

    fn condition(&mut self) -> Result<Condition, Error> {
        let column = match self.quoted()? {
            Some(name) => name,
            None => self.word(),
        };
        if column.is_empty() {
            return Err(self.wrong("the name of a column"));
        }
        let relation = Relation::ALL.into_iter().find(|(text, _)| self.opt(text));
        let Some((_, relation)) = relation else {
            return Err(self.wrong("`=`, `!=`, `<`, `<=`, `>` or `>=`"));
        };
        Ok(Condition {
            column: column.to_owned(),
            relation,
            value: self.value()?,
        })
    }

    fn value(&mut self) -> Result<Cell, Error> {
        if let Some(text) = self.quoted()? {
            return Ok(Cell::Bytes(text.as_bytes().to_vec()));
        }
        self.rest();
        let start = self.position;
        let word = self.word();
        match word {
            "true" => return Ok(Cell::Truth(true)),
            "false" => return Ok(Cell::Truth(false)),
            _ => {}
        }
        let integer = word.parse().ok().map(Cell::Integer);
        let number = integer.or_else(|| word.parse().ok().map(Cell::Float));
        number.ok_or_else(|| {
            self.position = start;
            self.wrong("a number, `true`, `false` or a string in quotes")
        })
    }

    #[cold]
    fn wrong(&mut self, expected: &str) -> Error {
        self.rest();
        let position = self.position;
        let found = match self.word() {
            "" => self.rest().chars().next().map(String::from),
            word => Some(word.to_owned()),
        };
        let found = found.map_or("the end".to_owned(), |found| format!("`{found}`"));
        let message = format!("conditions, at byte {position}: expected {expected}, found {found}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_hold(text: &str, bounds: Bounds<'_>) -> Option<bool> {
        let conditions: Conditions = text.parse().unwrap();
        conditions.0[0].may_hold(bounds)
    }

    #[test]
    fn a_condition_may_hold_if_a_value_between_the_bounds_satisfies_it() {
        // The values 3, 4 and 5 around the bounds 3 and 5, and one on either side.
        for (relation, expected) in [
            ("=", [false, true, true, true, false]),
            ("!=", [true, true, true, true, true]),
            ("<", [false, false, true, true, true]),
            ("<=", [false, true, true, true, true]),
            (">", [true, true, true, false, false]),
            (">=", [true, true, true, true, false]),
        ] {
            for (value, expected) in (2..7).zip(expected) {
                let text = format!("x {relation} {value}");
                let float = format!("x {relation} {value}.0");
                for bounds in [Bounds::Integers(3, 5), Bounds::Floats(3.0, 5.0, false)] {
                    assert_eq!(
                        may_hold(&text, bounds),
                        Some(expected),
                        "{text}, {bounds:?}"
                    );
                    assert_eq!(
                        may_hold(&float, bounds),
                        Some(expected),
                        "{float}, {bounds:?}"
                    );
                }
            }
        }
        assert_eq!(may_hold("x != 3", Bounds::Integers(3, 3)), Some(false));
        assert_eq!(
            may_hold("x != 3", Bounds::Floats(3.0, 3.0, false)),
            Some(true),
            "NaN is no bound"
        );
        assert_eq!(may_hold("x = 'b'", Bounds::Strings(b"a", b"c")), Some(true));
        assert_eq!(
            may_hold("x > \"c\"", Bounds::Strings(b"a", b"c")),
            Some(false)
        );
        assert_eq!(
            may_hold("x = true", Bounds::Truths(false, false)),
            Some(false)
        );
        assert_eq!(may_hold("x = 'b'", Bounds::Integers(3, 5)), None);
    }

    #[test]
    fn integers_and_floats_are_compared_exactly() {
        // Beyond 2^53, integers are not floats.
        let large = (1_i128 << 53) + 1;
        let bounds = Bounds::Integers(large, large);
        assert_eq!(may_hold("x > 9007199254740992.0", bounds), Some(true));
        assert_eq!(may_hold("x = 9007199254740992.0", bounds), Some(false));
        for (value, expected) in [("3.5", false), ("-1e300", true), ("inf", false)] {
            let text = format!("x > {value}");
            assert_eq!(
                may_hold(&text, Bounds::Integers(-3, 3)),
                Some(expected),
                "{text}"
            );
        }
        assert_eq!(may_hold("x < -3.5", Bounds::Integers(-3, 3)), Some(false));
        assert_eq!(may_hold("x > NaN", Bounds::Integers(-3, 3)), Some(true));
        assert_eq!(
            may_hold(
                "x = 16777217",
                Bounds::Floats(16_777_216.0, 16_777_216.0, true)
            ),
            Some(true)
        );
        // A number of type `f32` is the one in the condition, rounded.
        let rounded = f64::from(0.7_f32);
        assert_eq!(
            may_hold("x = 0.7", Bounds::Floats(rounded, rounded, true)),
            Some(true)
        );
        assert_eq!(
            may_hold("x < 0.7", Bounds::Floats(rounded, rounded, true)),
            Some(true)
        );
        assert_eq!(
            may_hold("x = 0.7", Bounds::Floats(rounded, rounded, false)),
            Some(false)
        );
    }

    #[test]
    fn mistakes_are_reported_with_their_place() {
        for (text, message) in [
            (
                "",
                "at byte 0: expected the name of a column, found the end",
            ),
            (
                "x",
                "at byte 1: expected `=`, `!=`, `<`, `<=`, `>` or `>=`, found the end",
            ),
            (
                "x = red",
                "at byte 4: expected a number, `true`, `false` or a string in quotes, found `red`",
            ),
            ("x = 'red", "at byte 8: expected `'`, found the end"),
            ("x = 3 y = 4", "at byte 6: expected `,`, found `y`"),
        ] {
            let error = text.parse::<Conditions>().unwrap_err();
            assert_eq!(error.message(), format!("conditions, {message}"), "{text}");
        }
        let text = "\"two words\" <= 3, b != 'x\"y', c = -1.5e3, d = true";
        let conditions: Conditions = text.parse().unwrap();
        let again: Conditions = conditions.to_string().parse().unwrap();
        assert_eq!(again, conditions);
    }
}
