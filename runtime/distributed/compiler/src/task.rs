//! The tasks that ops run on.
//!
//! An op runs on the task of its device: its attribute `tfrt.device` or `device`, or the attribute
//! `device` of the op that it runs. A function has its own task, the *local* one: it is named by
//! the attribute `host` of the function, and ops without a task in their device run there. Ops in
//! regions run where the op around them does.

use tfrt_ir::{BlockId, Module, OpId, ValueDef, ValueId};
use tfrt_support::Diagnostic;

use crate::cross_device_transfer::device_among_attributes;
use crate::names;

/// The name of a task other than the local one, or none.
pub(crate) type Task = Option<String>;

/// The body of a function whose ops run on several tasks.
pub(crate) struct Body {
    pub(crate) func: OpId,
    pub(crate) block: BlockId,
    pub(crate) host: Option<String>,
}

impl Body {
    /// Returns the body of a function of one block.
    pub(crate) fn of(module: &Module, func: OpId) -> Option<Self> {
        let block = module.entry_block(func)?;
        let region = module.block_region(block);
        (module.blocks(region).len() == 1).then(|| Self {
            func,
            block,
            host: text(module, func, names::HOST).map(task_of_device_or_task),
        })
    }

    /// Returns the task of an op of the body.
    pub(crate) fn task(&self, module: &Module, op: OpId) -> Task {
        let task = task_of_device(device(module, op)?)?;
        let is_local = task == names::LOCALHOST || self.host.as_ref() == Some(&task);
        (!is_local).then_some(task)
    }

    /// Returns the task of the op that defines a value, or uses it, perhaps in a region.
    pub(crate) fn task_around(&self, module: &Module, op: OpId) -> Task {
        self.task(module, self.op_around(module, op))
    }

    /// Returns the op of the body that is another one, or is around it.
    pub(crate) fn op_around(&self, module: &Module, op: OpId) -> OpId {
        let mut around = std::iter::once(op).chain(module.ancestors(op));
        let own = around.find(|op| module.op_block(*op) == Some(self.block));
        own.unwrap_or(op)
    }

    /// Returns the task where a value is defined.
    pub(crate) fn task_of_value(&self, module: &Module, value: ValueId) -> Task {
        match module.value_def(value) {
            ValueDef::Argument { .. } => None,
            ValueDef::Result { op, .. } => self.task_around(module, op),
        }
    }

    /// Returns the values of the body that ops of another task use, in the order of the program,
    /// each with those tasks in the order of the uses.
    pub(crate) fn crossings(&self, module: &Module) -> Vec<(ValueId, Vec<Task>)> {
        let arguments = module.block_arguments(self.block).iter();
        let results = module.block_ops(self.block).iter();
        let results = results.flat_map(|op| module.results(*op));
        let mut crossings = Vec::new();
        for &value in arguments.chain(results) {
            let own = self.task_of_value(module, value);
            let mut tasks: Vec<Task> = Vec::new();
            let uses: Vec<_> = module.uses(value).collect();
            // Newest first.
            for used in uses.into_iter().rev() {
                let task = self.task_around(module, used.op);
                if task != own && !tasks.contains(&task) {
                    tasks.push(task);
                }
            }
            if !tasks.is_empty() {
                crossings.push((value, tasks));
            }
        }
        crossings
    }

    /// Returns the other tasks, in the order of their first ops, and what is wrong with the devices
    /// of ops in regions.
    pub(crate) fn tasks(&self, module: &Module) -> Result<Vec<String>, Vec<Diagnostic>> {
        let mut tasks = Vec::new();
        let mut refused = Vec::new();
        for op in module.walk(self.func) {
            let is_own = module.op_block(op) == Some(self.block);
            if op == self.func {
                continue;
            }
            let task = self.task(module, op);
            if !is_own && task.is_some() && task != self.task_around(module, op) {
                let place = module.place(module.op_location(op));
                let task = describe(&task);
                let message = format!(
                    "expected the ops of a region on one task, found one that runs on {task}"
                );
                refused.push(Diagnostic::error(place, message));
            }
            if let Some(task) = task.filter(|task| is_own && !tasks.contains(task)) {
                tasks.push(task);
            }
        }
        match refused.is_empty() {
            true => Ok(tasks),
            false => Err(refused),
        }
    }
}

/// Returns how diagnostics call a task.
pub(crate) fn describe(task: &Task) -> String {
    match task {
        Some(task) => format!("`{task}`"),
        None => "the local task".to_owned(),
    }
}

/// Returns the device of an op, if it names one.
fn device(module: &Module, op: OpId) -> Option<&str> {
    text(module, op, names::VALUE_DEVICE)
        .or_else(|| text(module, op, names::DEVICE))
        .or_else(|| device_among_attributes(module, op))
}

/// Returns the text of an attribute.
pub(crate) fn text<'a>(module: &'a Module, op: OpId, name: &str) -> Option<&'a str> {
    module.attribute_str(module.attr(op, name)?)
}

/// Returns the task in the name of a device, without its replica.
fn task_of_device(device: &str) -> Option<String> {
    let (task, _) = device.split_once("/device:")?;
    (!task.is_empty()).then(|| task_of_device_or_task(task))
}

fn task_of_device_or_task(name: &str) -> String {
    let task = name.split_once("/device:").map_or(name, |(task, _)| task);
    task.replace("/replica:0", "")
}

#[cfg(test)]
mod tests {
    use super::task_of_device;

    #[test]
    fn a_device_may_name_a_task() {
        for (device, expected) in [
            (
                "/job:worker/task:1/device:CPU:0",
                Some("/job:worker/task:1"),
            ),
            (
                "/job:localhost/replica:0/task:0/device:CPU:0",
                Some("/job:localhost/task:0"),
            ),
            ("/device:GPU:1", None),
            ("GPU:0", None),
            ("", None),
        ] {
            assert_eq!(task_of_device(device).as_deref(), expected, "{device}");
        }
    }
}
