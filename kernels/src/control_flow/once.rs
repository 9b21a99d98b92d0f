//! `tfrt.once`: a function that runs once for all requests of one client.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::{Breach, callee};
use tfrt::prelude::*;

use super::Pending;
use crate::op_verifiers::function_if_defined;

/// Calls a function, unless it was called before with the same resources: then the results are
/// those of the first call, regardless of the arguments. The results may become available later.
///
/// # Errors
/// `tfrt.once requires resource context`; an error if the first run of the function requests its
/// own results.
#[tfrt_kernel(
    "tfrt.once",
    forwards,
    results(values),
    format = "$function `(` $arguments `)` attr-dict `:` signature($arguments, $values)",
    verify = verify
)]
fn once(
    arguments: &[AnyRef],
    #[function] function: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    let Some(resources) = ctx.resources() else {
        // Like the error of a cancelled request, this is a value that no handler is told of.
        let error = AnyRef::error(Error::new("tfrt.once requires resource context"));
        return Ok(vec![error; function.num_results()]);
    };
    let key = format!("tfrt.once @{}", function.name());
    if let Some(Running(outer)) = ctx.mark() {
        resources
            .get_or_create("tfrt.once", Waits::default)?
            .add(outer, &key)?;
    }
    let outcome = resources.get_or_create(&key, || Outcome::new(function.num_results()))?;
    // The function runs without the lock: it may come here again.
    let first_call = outcome
        .pending
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(pending) = first_call {
        let ctx = ctx.clone().with_mark(Running(key));
        pending.forward_to(function.execute(&ctx, arguments));
    }
    Ok(outcome.values.clone())
}

/// Marks what happens inside the first call of a function, by the key of its results.
struct Running(String);

/// The first calls that wait for the results of other first calls. A cycle would wait for itself
/// forever.
#[derive(Default)]
struct Waits {
    by_asker: Mutex<HashMap<String, HashSet<String>>>,
}

impl Waits {
    /// Records that `asker` requests the results of `asked`.
    ///
    /// Every request is recorded before it is granted, under one lock, so the last request of a
    /// cycle is refused.
    fn add(&self, asker: &str, asked: &str) -> Result<()> {
        let mut by_asker = self.by_asker.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reached = HashSet::from([asked]);
        let mut unvisited = vec![asked];
        while let Some(key) = unvisited.pop() {
            if key == asker {
                let text = format!("{asked} waits for its own results");
                return Err(Error::new(text).with_code(ErrorCode::FailedPrecondition));
            }
            let further = by_asker.get(key).into_iter().flatten();
            unvisited.extend(
                further
                    .map(String::as_str)
                    .filter(|key| reached.insert(key)),
            );
        }
        by_asker
            .entry(asker.to_owned())
            .or_default()
            .insert(asked.to_owned());
        Ok(())
    }
}

/// The results of the first call.
struct Outcome {
    values: Vec<AnyRef>,
    /// Taken by the first caller. The lock is held for the taking only.
    pending: Mutex<Option<Pending>>,
}

impl Outcome {
    fn new(num_results: usize) -> Self {
        let (pending, values) = Pending::new(num_results);
        Self {
            values,
            pending: Mutex::new(Some(pending)),
        }
    }
}

/// A function that does not exist is reported when the program is converted.
fn verify(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    if let Some(function) = function_if_defined(op, "function") {
        callee::matches(
            &function,
            &op.operand_types(),
            &op.result_types(),
            "callee",
            breaches,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, signature, symbol, verdict};

    #[test]
    fn circles_are_refused_and_nothing_else() {
        let waits = Waits::default();
        assert!(waits.add("f", "g").is_ok());
        assert!(waits.add("g", "h").is_ok());
        assert!(waits.add("f", "h").is_ok());
        let error = waits.add("h", "f").unwrap_err();
        assert_eq!(error.message(), "f waits for its own results");
        assert!(waits.add("h", "h").is_err());
    }

    #[test]
    fn operands_and_results_are_those_of_the_function() {
        let op = |function| SampleOp {
            operands: &["i32"],
            results: &["i32"],
            attributes: vec![("function", symbol("f"))],
            functions: vec![("f", function)],
            ..SampleOp::default()
        };
        assert_eq!(verdict(verify, &op(signature(&["i32"], &["i32"]))), "");
        assert_eq!(
            verdict(verify, &op(signature(&["i64"], &["i64"]))),
            "operand type mismatch; result type mismatch"
        );
    }
}
