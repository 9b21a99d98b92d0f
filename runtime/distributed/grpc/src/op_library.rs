//! The kernels of a task, so that tasks can tell in which kernels they differ.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use tfrt_host::HostContext;
use tfrt_host::kernel::KernelRegistry;
use tfrt_support::fnv::Fnv1a;

use crate::wire::Hello;

/// The maximum number of kernels that are named.
const MAX_NAMED: usize = 5;

/// The kernels of a host: their names, in order, and a fingerprint of their declarations.
#[derive(Debug)]
pub(crate) struct OpLibrary {
    names: Vec<&'static str>,
    fingerprint: u64,
}

impl OpLibrary {
    /// Returns the kernels of a host.
    pub(crate) fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| Self::new(host.registry()))
    }

    fn new(registry: &KernelRegistry) -> Self {
        let mut ops: Vec<_> = registry.kernels().map(|kernel| kernel.op()).collect();
        ops.sort_unstable_by_key(|op| op.name);
        let mut fingerprint = Fnv1a::new();
        for op in &ops {
            // Never fails.
            let _ = write!(
                fingerprint,
                "{} {:?} {:?} {:?};",
                op.name, op.operands, op.attributes, op.results
            );
        }
        Self {
            names: ops.iter().map(|op| op.name).collect(),
            fingerprint: fingerprint.finish(),
        }
    }

    /// Completes the greeting of the caller.
    pub(crate) fn greet(&self, hello: Hello) -> Hello {
        Hello {
            op_library: self.fingerprint,
            ..hello
        }
    }

    /// Completes the answer to a greeting: callers with other kernels get the names of these.
    pub(crate) fn answer(&self, caller: &Hello, hello: Hello) -> Hello {
        let differs = caller.op_library != self.fingerprint;
        let names = self.names.iter().filter(|_| differs);
        Hello {
            op_library: self.fingerprint,
            kernels: names.map(|name| (*name).to_owned()).collect(),
            ..hello
        }
    }

    /// Returns in which kernels the task that answered a greeting differs, if it does.
    pub(crate) fn difference(&self, answer: &Hello) -> Option<String> {
        // A version without fingerprints has none.
        if answer.op_library == 0 || answer.op_library == self.fingerprint {
            return None;
        }
        let theirs: HashSet<&str> = answer.kernels.iter().map(String::as_str).collect();
        let missing: Vec<&str> = self
            .names
            .iter()
            .copied()
            .filter(|name| !theirs.contains(name))
            .collect();
        let named = missing.iter().copied().take(MAX_NAMED).collect::<Vec<_>>();
        let more = match missing.len() > MAX_NAMED {
            true => ", …",
            false => "",
        };
        Some(match missing.len() {
            0 => "declares kernels in another way, or has further ones".to_owned(),
            1 => format!("lacks the kernel {}", named.join(", ")),
            count => format!("lacks {count} kernels: {}{more}", named.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use tfrt_distributed::fabric::TaskIdentity;

    use super::*;

    fn library(names: &[&'static str], fingerprint: u64) -> OpLibrary {
        OpLibrary {
            names: names.to_vec(),
            fingerprint,
        }
    }

    fn hello() -> Hello {
        Hello::of(&TaskIdentity::default())
    }

    /// What the first task says about the second one.
    fn said(own: &OpLibrary, other: &OpLibrary) -> Option<String> {
        let greeting = own.greet(hello());
        let answer = other.answer(&greeting, hello());
        assert_eq!(answer.mismatch(), None);
        own.difference(&answer)
    }

    #[test]
    fn tasks_learn_which_kernels_others_lack() {
        let all = library(&["a", "b", "c", "d", "e", "f", "g"], 1);
        assert_eq!(said(&all, &library(&["a"], 1)), None);
        assert_eq!(
            said(&all, &library(&["g"], 2)).as_deref(),
            Some("lacks 6 kernels: a, b, c, d, e, …")
        );
        let almost = library(&["a", "b", "c", "d", "e", "f"], 3);
        assert_eq!(said(&all, &almost).as_deref(), Some("lacks the kernel g"));
        assert_eq!(
            said(&almost, &all).as_deref(),
            Some("declares kernels in another way, or has further ones")
        );
        // A former version says nothing.
        assert_eq!(all.difference(&hello()), None);
    }

    #[test]
    fn hosts_with_the_same_kernels_have_the_same_fingerprint() {
        let host = || HostContext::builder().build();
        let (one, other) = (OpLibrary::of(&host()), OpLibrary::of(&host()));
        assert_eq!(one.fingerprint, other.fingerprint);
        assert_ne!(one.fingerprint, 0);
    }
}
