//! ONNX's declarations of its ops: versions, numbers of operands and results, attributes.
//!
//! The table `opset/schemas.txt` has a line for every version of every op of the domain `ai.onnx`:
//!
//! ```text
//! Conv 11 2-3 1-1 auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I
//! │    │  │   │   └ attributes and their kinds; `!` marks those that are required
//! │    │  │   └ how many results; `*` for any number
//! │    │  └ how many operands
//! │    └ the version since which the op is so; `d` marks a version that drops the op
//! └ op
//! ```

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The newest version of the domain `ai.onnx` that is known.
pub const NEWEST_OPSET: i64 = 27;

/// The ops that later versions of the domain changed or added. Nothing else is known of these
/// versions.
const LATER: &[(i64, &[&str])] = &[(
    28,
    &[
        "BitShift",
        "Cast",
        "Celu",
        "Compress",
        "DepthToSpace",
        "DequantizeLinear",
        "Einsum",
        "Mod",
        "OneHot",
        "Optional",
        "OptionalGetElement",
        "OptionalHasElement",
        "QuantizeLinear",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReverseSequence",
        "SpaceToDepth",
        "SwiGLU",
        "Unique",
    ],
)];

/// What is known of an op in a version of the domain that may be newer than [`NEWEST_OPSET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinceNewest {
    /// The op is as in [`NEWEST_OPSET`] or before.
    Same,
    /// This version changed the op, or added it.
    Changed(i64),
    /// The version is not known at all.
    Unknown,
}

/// Returns whether an op changed after [`NEWEST_OPSET`], up to a version of the domain.
///
/// ```
/// use tfrt_onnx::opset::{SinceNewest, since_newest};
///
/// assert_eq!(since_newest("Cast", 27), SinceNewest::Same);
/// assert_eq!(since_newest("Cast", 28), SinceNewest::Changed(28));
/// assert_eq!(since_newest("Conv", 28), SinceNewest::Same);
/// assert_eq!(since_newest("Conv", 99), SinceNewest::Unknown);
/// ```
#[must_use]
pub fn since_newest(op: &str, opset: i64) -> SinceNewest {
    let last = LATER.last().map_or(NEWEST_OPSET, |(version, _)| *version);
    let mut later = LATER.iter().take_while(|(version, _)| *version <= opset);
    match later.find(|(_, changed)| changed.contains(&op)) {
        Some(&(version, _)) => SinceNewest::Changed(version),
        None if opset > last => SinceNewest::Unknown,
        None => SinceNewest::Same,
    }
}

/// A version of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The opset that introduced the version.
    pub since: i64,
    /// Whether this version removed the op.
    pub is_dropped: bool,
    /// The permitted numbers of operands.
    pub operands: RangeInclusive<usize>,
    /// The permitted numbers of results.
    pub results: RangeInclusive<usize>,
    /// Its attributes.
    pub attributes: Vec<AttributeSchema>,
}

/// An attribute of a version of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSchema {
    /// Its name.
    pub name: &'static str,
    /// The kind: `f` for a number, `i` for an integer, `s` for a text, `t` for a tensor, `g` for a
    /// graph; in capitals lists of them; `p` for a sparse tensor, `y` for a type.
    pub kind: char,
    /// Whether every call must specify it.
    pub is_required: bool,
}

/// Returns the versions of an op of `ai.onnx`, oldest first; none if there is no such op.
#[must_use]
pub fn versions(op: &str) -> &'static [Schema] {
    table().get(op).map_or(&[], Vec::as_slice)
}

/// Returns the names of all ops of `ai.onnx`.
pub fn op_names() -> impl Iterator<Item = &'static str> {
    table().keys().copied()
}

/// Returns the version of an op that an opset means: the greatest that is not above it.
///
/// ```
/// use tfrt_onnx::opset::schema_of;
///
/// let softmax = schema_of("Softmax", 12).unwrap();
/// assert_eq!((softmax.since, softmax.operands.clone()), (11, 1..=1));
/// assert!(schema_of("Softmax", 0).is_none());
/// ```
#[must_use]
pub fn schema_of(op: &str, opset: i64) -> Option<&'static Schema> {
    let known = versions(op).iter().rev();
    let mut known = known.skip_while(|schema| schema.since > opset);
    known.next()
}

fn table() -> &'static HashMap<&'static str, Vec<Schema>> {
    static TABLE: OnceLock<HashMap<&'static str, Vec<Schema>>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<&'static str, Vec<Schema>> = HashMap::new();
        for line in include_str!("opset/schemas.txt").lines() {
            let (op, schema) =
                parse(line).unwrap_or_else(|| panic!("not a line of a table: {line}"));
            table.entry(op).or_default().push(schema);
        }
        table
    })
}

fn parse(line: &'static str) -> Option<(&'static str, Schema)> {
    let mut words = line.split_ascii_whitespace();
    let (op, since) = (words.next()?, words.next()?);
    let mut count = || {
        let (least, greatest) = words.next()?.split_once('-')?;
        let greatest = match greatest {
            "*" => usize::MAX,
            number => number.parse().ok()?,
        };
        Some(least.parse().ok()?..=greatest)
    };
    let (operands, results) = (count()?, count()?);
    let attributes = words.map(|word| {
        let (name, kind) = word.split_once(':')?;
        Some(AttributeSchema {
            name,
            kind: kind.chars().next()?,
            is_required: kind.ends_with('!'),
        })
    });
    let schema = Schema {
        since: since.trim_end_matches('d').parse().ok()?,
        is_dropped: since.ends_with('d'),
        operands,
        results,
        attributes: attributes.collect::<Option<Vec<_>>>()?,
    };
    Some((op, schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_version_and_versions_ascend() {
        assert!(op_names().count() > 200);
        for op in op_names() {
            let known = versions(op);
            assert!(
                known.windows(2).all(|pair| pair[0].since < pair[1].since),
                "{op}"
            );
            assert!(
                known.iter().all(|schema| schema.since <= NEWEST_OPSET),
                "{op}"
            );
        }
    }

    #[test]
    fn an_opset_means_the_greatest_version_not_above_it() {
        let since = |op: &str, opset| schema_of(op, opset).map(|schema| schema.since);
        assert_eq!(since("Conv", 10), Some(1));
        assert_eq!(since("Conv", 11), Some(11));
        assert_eq!(since("Gelu", 19), None);
        assert_eq!(since("Nothing", 19), None);
        let required = |schema: &Schema| {
            let required = schema.attributes.iter().filter(|a| a.is_required);
            required.map(|a| (a.name, a.kind)).collect::<Vec<_>>()
        };
        assert_eq!(required(schema_of("Cast", 13).unwrap()), [("to", 'i')]);
        assert!(schema_of("Upsample", 10).unwrap().is_dropped);
    }
}
