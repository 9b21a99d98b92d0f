//! Recorded commands that need something which does not exist yet.
//!
//! A pending command is run all the same: the moment it passes it must be taken off this list, and until then it is
//! reported as ignored, with its reason.

/// Commands that cannot pass yet.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// What the command starts with: a tool, perhaps with a flag.
    pub start: &'static str,
    /// What else it contains.
    pub part: &'static str,
    /// What it is waiting for.
    pub reason: &'static str,
}

/// All of them.
pub const PENDING: &[Pending] = &[];

impl Pending {
    /// Whether the command is one of these.
    #[must_use]
    pub fn covers(&self, command: &str) -> bool {
        command.starts_with(self.start) && command.contains(self.part)
    }
}

/// Why the command cannot pass yet, if it is on the list.
#[must_use]
pub fn reason(command: &str) -> Option<&'static str> {
    PENDING
        .iter()
        .find(|pending| pending.covers(command))
        .map(|pending| pending.reason)
}
