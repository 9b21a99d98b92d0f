//! Lists of hosts, and the tasks on them.

use super::DiscoveryError;

/// The most tasks of a cluster, and the most hosts that a list expands to: lists are untrusted.
pub(super) const MAX_TASKS: u32 = 1 << 16;

#[cold]
pub(super) fn too_many(source: &str) -> DiscoveryError {
    DiscoveryError::new(source, format!("expected at most {MAX_TASKS} tasks"))
}

/// Hosts, and how many tasks each has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hosts {
    source: String,
    hosts: Vec<(String, usize)>,
}

impl Hosts {
    pub(super) fn new(
        source: &str,
        names: Vec<String>,
        counts: Vec<usize>,
    ) -> Result<Self, DiscoveryError> {
        if names.len() != counts.len() {
            let (hosts, counts) = (names.len(), counts.len());
            let problem = format!("expected {counts} hosts, found {hosts}");
            return Err(DiscoveryError::new(source, problem));
        }
        Ok(Self {
            source: source.to_owned(),
            hosts: names.into_iter().zip(counts).collect(),
        })
    }

    /// Returns the addresses of the tasks: consecutive ports on each host, one host after the
    /// other.
    pub(super) fn addresses(
        &self,
        num_tasks: usize,
        first_port: u16,
    ) -> Result<Vec<String>, DiscoveryError> {
        let places = self
            .hosts
            .iter()
            .fold(0_usize, |sum, (_, count)| sum.saturating_add(*count));
        if places != num_tasks {
            let problem = format!("expected places for {num_tasks} tasks, found {places}");
            return Err(DiscoveryError::new(&self.source, problem));
        }
        if num_tasks > MAX_TASKS as usize {
            return Err(too_many(&self.source));
        }
        let mut addresses = Vec::with_capacity(num_tasks);
        for (host, count) in &self.hosts {
            for index in 0..*count {
                let port = u16::try_from(index)
                    .ok()
                    .and_then(|i| first_port.checked_add(i));
                let port = port.ok_or_else(|| {
                    let problem = format!("not enough ports are available after {first_port}");
                    DiscoveryError::new(&self.source, problem)
                })?;
                addresses.push(format!("{host}:{port}"));
            }
        }
        Ok(addresses)
    }
}

/// Distributes tasks over hosts, with those that are left over on the first ones.
pub(super) fn evenly(num_tasks: usize, num_hosts: usize) -> Vec<usize> {
    let (each, rest) = match num_hosts {
        0 => (0, 0),
        _ => (num_tasks / num_hosts, num_tasks % num_hosts),
    };
    (0..num_hosts)
        .map(|host| each + usize::from(host < rest))
        .collect()
}

/// Parses `host`, or `host:4` for four tasks, separated by commas. Without numbers, tasks are
/// distributed evenly.
pub(super) fn host_list(
    source: &str,
    list: &str,
    num_tasks: usize,
) -> Result<Hosts, DiscoveryError> {
    let (mut names, mut counts) = (Vec::new(), Vec::new());
    for host in list.split(',').map(str::trim) {
        let (name, count) = match host.split_once(':') {
            Some((name, count)) => (name, Some(super::number(source, count)?)),
            None => (host, None),
        };
        names.push(name.to_owned());
        counts.push(count);
    }
    let given: Option<Vec<usize>> = counts.iter().copied().collect();
    let counts = match given {
        Some(counts) => counts,
        None if counts.iter().all(Option::is_none) => evenly(num_tasks, names.len()),
        None => {
            let problem = "expected a number of tasks for every host or for none";
            return Err(DiscoveryError::new(source, problem));
        }
    };
    Hosts::new(source, names, counts)
}

/// Parses the numbers of tasks of SLURM: `2(x3),1` are 2, 2, 2 and 1.
pub(super) fn tasks_per_node(source: &str, list: &str) -> Result<Vec<usize>, DiscoveryError> {
    let mut counts = Vec::new();
    for part in list.split(',').map(str::trim) {
        let (count, times) = match part
            .strip_suffix(')')
            .and_then(|part| part.split_once("(x"))
        {
            Some((count, times)) => (count, super::number(source, times)?),
            None => (part, 1_usize),
        };
        let count: usize = super::number(source, count)?;
        if times > MAX_TASKS as usize - counts.len() {
            return Err(too_many(source));
        }
        counts.extend(std::iter::repeat_n(count, times));
    }
    Ok(counts)
}

/// Expands the list of nodes of SLURM: `a,node[01-03,7]-ib` are `a`, `node01-ib`, `node02-ib`,
/// `node03-ib` and `node7-ib`.
pub(super) fn node_list(source: &str, list: &str) -> Result<Vec<String>, DiscoveryError> {
    let malformed = || {
        let problem = format!("expected nodes such as `node[01-03,7]`, found `{list}`");
        DiscoveryError::new(source, problem)
    };
    let mut nodes = Vec::new();
    for pattern in split_outside_brackets(list).ok_or_else(malformed)? {
        // A pattern may have several brackets. Each multiplies the names that precede it.
        let mut names = vec![String::new()];
        let mut rest = pattern;
        while let Some((before, behind)) = rest.split_once('[') {
            let (ranges, behind) = behind.split_once(']').ok_or_else(malformed)?;
            let mut numbers = Vec::new();
            for range in ranges.split(',') {
                numbers.extend(expand(source, range)?);
                if numbers.len().saturating_mul(names.len()) > MAX_TASKS as usize {
                    return Err(too_many(source));
                }
            }
            let extend = |name: &String| {
                let extended = numbers
                    .iter()
                    .map(|number| format!("{name}{before}{number}"));
                extended.collect::<Vec<_>>()
            };
            names = names.iter().flat_map(extend).collect();
            rest = behind;
        }
        if rest.contains(']') || pattern.is_empty() {
            return Err(malformed());
        }
        nodes.extend(names.into_iter().map(|name| name + rest));
        if nodes.len() > MAX_TASKS as usize {
            return Err(too_many(source));
        }
    }
    Ok(nodes)
}

/// Splits a list at the commas outside of brackets. Returns `None` if the brackets do not match.
fn split_outside_brackets(list: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (index, c) in list.char_indices() {
        match (c, is_inside) {
            ('[', false) => is_inside = true,
            (']', true) => is_inside = false,
            ('[', true) | (']', false) => return None,
            (',', false) => {
                parts.push(&list[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    (!is_inside).then_some(parts)
}

/// The most digits of a number in the name of a node.
const MAX_DIGITS: usize = 20;

/// Returns the numbers of `7` or `01-03`, as wide as the first one.
fn expand(source: &str, range: &str) -> Result<Vec<String>, DiscoveryError> {
    let wrong = |why: &str| {
        let problem = format!("expected numbers such as `7` or `01-03`, found `{range}`{why}");
        DiscoveryError::new(source, problem)
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(first) || !is_number(last) {
        return Err(wrong(""));
    }
    let width = first.len();
    if width > MAX_DIGITS {
        return Err(wrong(&format!(
            ": a number has at most {MAX_DIGITS} digits"
        )));
    }
    let parse = |text: &str| {
        text.parse::<u32>()
            .map_err(|_| wrong(": a number is less than 2^32"))
    };
    let (first, last) = (parse(first)?, parse(last)?);
    if last < first {
        return Err(wrong(": the last number is less than the first"));
    }
    if last - first >= MAX_TASKS {
        return Err(too_many(source));
    }
    let numbers = (first..=last).map(|number| format!("{number:0width$}"));
    Ok(numbers.collect())
}
