//! Tasks of requests with another priority than the default.
//!
//! Every queue of this crate follows the same rules:
//!
//! 1. A task goes ahead of all waiting tasks of lower priority. Among tasks of one priority a queue
//!    keeps its own order.
//! 2. Every task runs eventually: one in [`TURN_INTERVAL`] tasks is taken from the lists that would
//!    otherwise wait, in turn.
//! 3. Tasks of the default priority, 0, stay in the structures that a queue is built around. A
//!    queue without other tasks pays one load per task for priorities.
//!
//! So a queue has three places for tasks: *urgent* ones (above 0), those of the default priority,
//! and *background* ones (below 0). A [`PriorityList`] is one of the two outer places. It orders
//! its tasks itself, by rules 1 and 2.

use std::collections::{BTreeMap, VecDeque};

use crate::sync::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::Task;

/// One in this many tasks is taken from a list that would otherwise have to wait longer. It is
/// prime, so that it does not fall into step with a pattern of the program; the value is tokio's
/// and was not measured here.
pub(crate) const TURN_INTERVAL: u32 = 61;

/// The urgent tasks of a queue, and its background tasks.
#[derive(Debug)]
pub(crate) struct PriorityLists {
    pub(crate) urgent: PriorityList,
    pub(crate) background: PriorityList,
    /// The number of times that [`pop`](Self::pop) had a choice.
    num_choices: AtomicUsize,
}

impl PriorityLists {
    /// Returns lists without tasks.
    pub(crate) fn new() -> Self {
        Self {
            urgent: PriorityList::new(),
            background: PriorityList::new(),
            num_choices: AtomicUsize::new(0),
        }
    }

    /// Adds a task of `priority`, which is not 0.
    pub(crate) fn push(&self, priority: i32, task: Task) {
        debug_assert_ne!(priority, 0, "tasks of the default priority go elsewhere");
        if priority > 0 {
            self.urgent.push(priority, task);
        } else {
            self.background.push(priority, task);
        }
    }

    /// Returns the next task by rules 1 and 2, unless that is one of the default priority.
    /// `has_default` tells whether there are such tasks; it is called only if there are others.
    #[inline]
    pub(crate) fn pop(&self, has_default: impl Fn() -> bool) -> Option<Task> {
        if self.is_empty() {
            None
        } else {
            self.choose(has_default)
        }
    }

    #[cold]
    fn choose(&self, has_default: impl Fn() -> bool) -> Option<Task> {
        // Relaxed: it only decides whose turn it is.
        let num_choices = self.num_choices.fetch_add(1, Ordering::Relaxed) as u32;
        let turn = num_choices / TURN_INTERVAL;
        let is_turn = num_choices % TURN_INTERVAL == TURN_INTERVAL - 1;
        if is_turn
            && turn.is_multiple_of(2)
            && let Some(task) = self.background.pop()
        {
            return Some(task);
        }
        if is_turn && has_default() {
            return None;
        }
        self.urgent.pop().or_else(|| {
            if has_default() {
                None
            } else {
                self.background.pop()
            }
        })
    }

    /// Returns the number of tasks in both lists.
    pub(crate) fn len(&self) -> usize {
        self.urgent.len() + self.background.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Tasks of several priorities, shared by threads.
#[derive(Debug)]
pub(crate) struct PriorityList {
    levels: Mutex<Levels>,
    /// The number of tasks. It changes only under the lock.
    len: AtomicUsize,
}

impl PriorityList {
    fn new() -> Self {
        Self {
            levels: Mutex::new(Levels::default()),
            len: AtomicUsize::new(0),
        }
    }

    fn push(&self, priority: i32, task: Task) {
        let mut levels = lock(&self.levels);
        levels.push(priority, task);
        // Release pairs with the acquire in `len`. A queue that sleeps when it sees no task orders
        // the length by its own fences.
        self.len.fetch_add(1, Ordering::Release);
    }

    /// Returns the next task, if there is one.
    #[inline]
    pub(crate) fn pop(&self) -> Option<Task> {
        if self.is_empty() {
            None
        } else {
            self.pop_some()
        }
    }

    #[cold]
    fn pop_some(&self) -> Option<Task> {
        let mut levels = lock(&self.levels);
        let task = levels.pop()?;
        // Release pairs with the acquire in `len`.
        self.len.fetch_sub(1, Ordering::Release);
        Some(task)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Acquire pairs with the releases in `push` and `pop_some`: a thread that sees that a task
        // was taken also sees that the worker that took it is awake.
        self.len.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The tasks by priority, each level first in, first out.
#[derive(Debug, Default)]
struct Levels {
    /// Without empty levels.
    by_priority: BTreeMap<i32, VecDeque<Task>>,
    /// An empty level with room, for the next new one.
    spare: VecDeque<Task>,
    num_popped: u32,
    /// The level that had the last turn, by rule 2.
    last_turn: i32,
}

impl Levels {
    fn push(&mut self, priority: i32, task: Task) {
        self.by_priority
            .entry(priority)
            .or_insert_with(|| std::mem::take(&mut self.spare))
            .push_back(task);
    }

    fn pop(&mut self) -> Option<Task> {
        let mut priority = *self.by_priority.last_key_value()?.0;
        self.num_popped = self.num_popped.wrapping_add(1);
        if self.num_popped.is_multiple_of(TURN_INTERVAL) {
            // The level below the one of the last turn. After the lowest, the second highest: the
            // highest one needs no turn.
            let below = |limit| {
                let lower = self.by_priority.range(..limit).next_back();
                lower.map(|(lower, _)| *lower)
            };
            priority = below(priority.min(self.last_turn))
                .or_else(|| below(priority))
                .unwrap_or(priority);
            self.last_turn = priority;
        }
        let level = self.by_priority.get_mut(&priority)?;
        let task = level.pop_front();
        if level.is_empty() {
            self.spare = self.by_priority.remove(&priority).unwrap_or_default();
        }
        task
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn higher_levels_come_first_and_each_is_first_in_first_out() {
        let list = PriorityList::new();
        let (sender, receiver) = channel();
        for (priority, name) in [(2, 'a'), (7, 'b'), (2, 'c'), (i32::MAX, 'd'), (7, 'e')] {
            let sender = sender.clone();
            list.push(priority, Task::new(move || sender.send(name).unwrap()));
        }
        assert_eq!(list.len(), 5);
        while let Some(task) = list.pop() {
            task.run();
        }
        assert!(list.is_empty());
        assert_eq!(receiver.try_iter().collect::<String>(), "dbeac");
    }

    #[test]
    fn every_level_has_its_turn() {
        let list = PriorityList::new();
        let (sender, receiver) = channel();
        for priority in [-5, -4, -3, -2] {
            let sender = sender.clone();
            list.push(priority, Task::new(move || sender.send(priority).unwrap()));
        }
        // The highest level never runs dry.
        for _ in 0..4 * TURN_INTERVAL {
            list.push(-1, Task::new(|| {}));
            list.pop().expect("there are tasks").run();
        }
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [-2, -3, -4, -5]);
    }
}
