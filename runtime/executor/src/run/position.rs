//! The position of a path that runs the segments of its function in order.

use super::turn::Phase;
use crate::lower::code::KernelId;
use crate::lower::segments::Segments;

/// The position of a path in the order of its function, as long as it follows the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder<'a> {
    pub(super) segments: &'a Segments,
    /// The position of the current kernel, or of the next one.
    pub(super) position: usize,
    /// Whether the kernel at the position has been started.
    pub(super) is_running: bool,
    /// The position after the last kernel of the segment.
    pub(super) end: usize,
    /// The segment to enqueue next.
    pub(super) next_segment: usize,
    /// The number of kernels after which it is enqueued.
    pub(super) handed_at: usize,
}

impl InOrder<'_> {
    /// Returns what the path does when it reaches a position.
    #[inline]
    pub(super) fn phase_at(&self, position: usize) -> Phase {
        if position == self.end {
            Phase::Idle
        } else if position == self.handed_at {
            Phase::Between
        } else {
            Phase::Running
        }
    }

    /// Returns the kernel at the position.
    #[inline]
    pub(super) fn kernel(&self) -> KernelId {
        self.segments.order[self.position]
    }
}
