//! Verifiers of ops: the rules that declarations cannot express.

use std::borrow::Cow;

use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::Breach;

/// The elements of a range are integers or floats.
pub(super) fn verify_range(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let is_number = match op.attribute("element_type") {
        Some(AttrInstance::Type(spelling)) => is_integer(&spelling) || is_float(&spelling),
        _ => false,
    };
    if !is_number {
        let message = "element_type must be an integer or float type";
        breaches.push(Breach::op(message));
    }
}

fn is_integer(spelling: &str) -> bool {
    let digits = spelling
        .strip_prefix("ui")
        .or_else(|| spelling.strip_prefix("si"))
        .or_else(|| spelling.strip_prefix('i'));
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

fn is_float(spelling: &str) -> bool {
    matches!(spelling, "bf16" | "f16" | "f32" | "f64" | "f80" | "f128")
}

/// The name of a list of values, and their types.
type Types<'a> = (&'a str, &'a [Cow<'a, str>]);

/// The function takes the components and the arguments, and returns new arguments.
pub(super) fn verify_enumerate(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let Some(AttrInstance::Symbol(name, _)) = op.attribute("function") else {
        return;
    };
    let Some(function) = op.resolve(&name) else {
        let message = format!("function refers to an undefined function: {name}");
        return breaches.push(Breach::op(message));
    };
    let (arguments, results) = (&function.arguments[..], &function.results[..]);
    let op_results = op.result_types();
    if results.len() != op_results.len() {
        return breaches.push(Breach::plain(format!(
            "requires the number of function results to be equal to the number of op results. \
             Found {} and {}, respectively",
            results.len(),
            op_results.len()
        )));
    }
    if arguments.len() <= results.len() {
        return breaches.push(Breach::plain(format!(
            "requires the number of function inputs to be greater than the number of function \
             results. Namely, it should have N more inputs, where N is the number of components \
             of the iterator. Found {} and {}, respectively",
            arguments.len(),
            results.len()
        )));
    }
    let last_arguments = &arguments[arguments.len() - results.len()..];
    let of_op: Types<'_> = ("op results", &op_results);
    let returned: Types<'_> = ("function results", results);
    let taken: Types<'_> = ("final function inputs", last_arguments);
    for ((what, types), (other, others)) in [(of_op, returned), (returned, taken)] {
        let mut both = types.iter().zip(others).enumerate();
        if let Some((index, (ty, other_ty))) = both.find(|(_, (ty, other_ty))| ty != other_ty) {
            return breaches.push(Breach::plain(format!(
                "{what} type {ty} is incompatible with {other} type {other_ty} at index {index}"
            )));
        }
    }
    // The custom form cannot say otherwise.
    if op.operand_types().get(1..) != Some(&op_results[..]) {
        let message = "requires operands after the iterator to have the types of the results";
        breaches.push(Breach::op(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, signature, symbol, verdict};

    const ITERATOR: &str = "!tfrt_data.iterator";

    #[test]
    fn ranges_are_of_numbers() {
        let check = |spelling: &'static str| {
            let op = SampleOp {
                attributes: vec![("element_type", AttrInstance::Type(spelling.into()))],
                ..SampleOp::default()
            };
            verdict(verify_range, &op)
        };
        for number in ["i1", "i64", "ui8", "bf16", "f64"] {
            assert_eq!(check(number), "", "{number}");
        }
        for other in ["!tfrt.string", "complex<f32>", "i", "index"] {
            let expected = "element_type must be an integer or float type";
            assert_eq!(check(other), expected, "{other}");
        }
    }

    #[test]
    fn the_function_of_an_enumeration_hands_on_its_last_arguments() {
        let check = |arguments, returns, results, expected: &str| {
            let op = SampleOp {
                name: "tfrt_data.enumerate.iterator",
                operands: &[ITERATOR, "i64"],
                results,
                attributes: vec![("function", symbol("f"))],
                functions: vec![("f", signature(arguments, returns))],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify_enumerate, &op), expected);
        };
        check(&["i32", "i64"], &["i64"], &["i64"], "");
        check(
            &["i64", "i64"],
            &["i64", "i64"],
            &["i64"],
            "requires the number of function results to be equal to the number of op results. Found 2 and 1, respectively",
        );
        check(
            &["i64"],
            &["i64"],
            &["i64"],
            "requires the number of function inputs to be greater than the number of function results. Namely, it should have N \
             more inputs, where N is the number of components of the iterator. Found 1 and 1, respectively",
        );
        check(
            &["i64", "i64"],
            &["i32"],
            &["i64"],
            "op results type i64 is incompatible with function results type i32 at index 0",
        );
        check(
            &["i64", "i32"],
            &["i64"],
            &["i64"],
            "function results type i64 is incompatible with final function inputs type i32 at \
             index 0",
        );
        check(
            &["i64", "i32"],
            &["i32"],
            &["i32"],
            "requires operands after the iterator to have the types of the results",
        );
        let undefined = SampleOp {
            attributes: vec![("function", symbol("g"))],
            ..SampleOp::default()
        };
        assert_eq!(
            verdict(verify_enumerate, &undefined),
            "function refers to an undefined function: g"
        );
    }
}
