//! What programs cost when that was last accepted.

use std::fmt::Write;

/// Where the baseline lies: a [`Row`] a line, its columns divided by tabs, after a line that names
/// the columns.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.tsv");

/// By how much a cost may exceed the accepted one, in percent. Compilers and C libraries differ
/// from one version to the next, and the benchmark itself sorts times, which are never the same.
pub const TOLERANCE_PERCENT: u64 = 10;

/// And what it may cost more in any case: costs are rounded, and differ by an instruction or two
/// from run to run.
const TOLERANCE_INSTRUCTIONS: u64 = 3;

/// What is known of the cost of one program, in instructions for each unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the program.
    pub name: String,
    /// What it cost when that was last accepted.
    pub accepted: u64,
    /// What it is to cost, where that is less than it does.
    pub goal: Option<u64>,
    /// What the C++ runtime needs for the same program, where that is known.
    pub cpp: Option<u64>,
}

const HEADER: &str = "program\taccepted\tgoal\tC++";

/// The rows of the baseline that lies in the tree now.
///
/// # Errors
/// If it cannot be read, or a line of it is not a row.
pub fn read() -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(PATH).map_err(|error| format!("{PATH}: {error}"))?;
    let row = |line: &str| parse(line).ok_or_else(|| format!("{PATH}: `{line}` is not a row"));
    text.lines().skip(1).map(row).collect()
}

/// Replaces the baseline in the tree.
///
/// # Errors
/// If it cannot be written.
pub fn write(rows: &[Row]) -> Result<(), String> {
    std::fs::write(PATH, text(rows)).map_err(|error| format!("{PATH}: {error}"))
}

fn parse(line: &str) -> Option<Row> {
    let optional = |text: &str| match text {
        "-" => Some(None),
        number => number.parse().ok().map(Some),
    };
    let mut columns = line.split('\t');
    let row = Row {
        name: columns.next()?.to_owned(),
        accepted: columns.next()?.parse().ok()?,
        goal: optional(columns.next()?)?,
        cpp: optional(columns.next()?)?,
    };
    columns.next().is_none().then_some(row)
}

/// Whether a cost is more than was accepted, beyond the tolerance.
#[must_use]
pub fn is_excessive(cost: u64, accepted: u64) -> bool {
    cost * 100 > accepted * (100 + TOLERANCE_PERCENT) + 100 * TOLERANCE_INSTRUCTIONS
}

fn text(rows: &[Row]) -> String {
    let mut text = format!("{HEADER}\n");
    for row in rows {
        let (goal, cpp) = (shown(row.goal), shown(row.cpp));
        let _ = writeln!(text, "{}\t{}\t{goal}\t{cpp}", row.name, row.accepted);
    }
    text
}

/// A number that may be unknown.
#[must_use]
pub fn shown(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_may_exceed_the_accepted_one_a_little() {
        assert!(!is_excessive(100, 100));
        assert!(!is_excessive(110, 100));
        assert!(is_excessive(114, 100));
        assert!(!is_excessive(4, 1));
        assert!(is_excessive(5, 1));
        assert!(!is_excessive(22, 20));
    }

    #[test]
    fn the_rows_are_those_that_are_measured_in_their_order() {
        let names: Vec<String> = read()
            .expect("there is a baseline")
            .into_iter()
            .map(|row| row.name)
            .collect();
        let subjects = crate::instructions::subjects();
        let expected: Vec<String> = subjects.into_iter().map(|subject| subject.name).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        let rows = read().expect("there is a baseline");
        assert_eq!(
            text(&rows),
            std::fs::read_to_string(PATH).expect("it was read")
        );
    }
}
