//! What programs cost when that was last accepted.

use std::fmt::Write;

/// The accepted costs, as they lie in the tree: a line for each program with its name, a tab, and instructions for each unit.
pub const ACCEPTED: &str = include_str!("../baseline.tsv");

/// Where they lie.
pub const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.tsv");

/// By how much a cost may exceed the accepted one, in percent. Compilers and C libraries differ from one version to the next, and
/// the benchmark itself sorts times, which are never the same.
pub const TOLERANCE_PERCENT: u64 = 10;

/// And what it may cost more in any case: costs are rounded, and differ by an instruction or two from run to run.
const TOLERANCE_INSTRUCTIONS: u64 = 3;

/// The accepted cost of a program.
#[must_use]
pub fn accepted(name: &str) -> Option<u64> {
    ACCEPTED.lines().find_map(|line| {
        let (found, cost) = line.split_once('\t')?;
        (found == name).then(|| cost.parse().ok())?
    })
}

/// Whether a cost is more than was accepted, beyond the tolerance.
#[must_use]
pub fn is_excessive(cost: u64, accepted: u64) -> bool {
    cost * 100 > accepted * (100 + TOLERANCE_PERCENT) + 100 * TOLERANCE_INSTRUCTIONS
}

/// The lines of a file of accepted costs.
#[must_use]
pub fn lines(costs: &[(String, u64)]) -> String {
    costs.iter().fold(String::new(), |mut lines, (name, cost)| {
        let _ = writeln!(lines, "{name}\t{cost}");
        lines
    })
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
    fn every_program_has_an_accepted_cost() {
        for program in crate::programs::PROGRAMS {
            assert!(accepted(&program.to_string()).is_some(), "{program}");
        }
    }
}
