//! How errors of running models are shown: with the node instead of our op.

use tfrt_support::escape::escaped;
use tfrt_support::{Error, Place};

/// The dialects of the ops that models become.
const DIALECTS: &[&str] = &["nn.", "tf.", "hlo."];

/// Returns an error with the node that it belongs to, if that is known. The names of our ops are
/// left out, since they are not those of the model.
pub(crate) fn described(error: &Error) -> String {
    let node = match error.place() {
        Place::Text(node) => Some(node.as_ref()),
        Place::Unknown | Place::File { .. } => None,
    };
    let (found, message) = located(error.message());
    match node.or(found) {
        Some(node) => format!("{}: {}", escaped(node), without_ops(message)),
        None => without_ops(message).to_owned(),
    }
}

/// Returns the node and the message of an error that the preparation of a program found.
fn located(message: &str) -> (Option<&str>, &str) {
    let found = message
        .strip_prefix("cannot instantiate function `")
        .and_then(|rest| rest.split_once("`: loc(\""))
        .and_then(|(_, rest)| rest.split_once("\"): error: "));
    match found {
        Some((node, message)) => (Some(node), message),
        None => (None, message),
    }
}

/// Returns a message without the op that it begins with.
fn without_ops(mut message: &str) -> &str {
    while let Some(rest) = message.strip_prefix('`')
        && let Some((op, rest)) = rest.split_once("`: ")
        && DIALECTS.iter().any(|dialect| op.starts_with(dialect))
        && !op.contains('`')
    {
        message = rest;
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_node_once_and_no_op_of_ours() {
        let check = |error: &Error, expected: &str| assert_eq!(described(error), expected);
        let error = Error::new("`nn.Gather`: index 5 is out of range");
        check(&error, "index 5 is out of range");
        error.set_place_if_unset(Place::Text("node 'y' (Gather)".into()));
        check(&error, "node 'y' (Gather): index 5 is out of range");
        let error = Error::new(
            "cannot instantiate function `main`: loc(\"node 'r' (Relu)\"): error: `nn.Relu`: \
             `nn.Relu`: expected 1 operand",
        );
        check(&error, "node 'r' (Relu): expected 1 operand");
        check(&Error::new("`x`: expected f32"), "`x`: expected f32");
    }
}
