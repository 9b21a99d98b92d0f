//! A number of elements to work on at a time that is valid for its stage.

/// A [`WorkAhead`](crate::WorkAhead) that is valid for its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedWorkAhead {
    /// The number; if there is none, the stage has a maximum of its own, such as the number of
    /// threads.
    pub(crate) max: Option<usize>,
    pub(crate) is_tuned: bool,
}
