//! Verifiers of ops: the rules that declarations cannot express.

use std::borrow::Cow;

use tfrt::data::ElementTypes;
use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::Breach;

use super::model;

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

/// The functions and inputs of a dataset have the types that its kernel takes, as far as they are
/// known.
pub(super) fn verify_dataset(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    if let Err(error) = model::check(op) {
        breaches.push(Breach::plain(error.message()));
    }
}

/// The results behind the chain have the types of the components. Their number is checked when the
/// program runs, as with the reference.
pub(super) fn verify_get_next(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let results = op.result_types();
    let expected = ElementTypes::new(results.iter().skip(1).map(|ty| Some(&**ty)));
    let found = model::dataset_of(op, 0).map(|dataset| dataset.element_types());
    if found.is_some_and(|found| found.num_components() == expected.num_components()) {
        verify_elements("iterator_get_next", &expected, op, breaches);
    }
}

/// The function takes the state and the components, as far as their types are known.
pub(super) fn verify_reduce(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let num_state = op.operand_types().len().saturating_sub(1);
    let taken = model::function_of(op, "function").map(|body| body.parameter_types());
    let expected = taken.unwrap_or_default().behind(num_state);
    verify_elements("reduce", &expected, op, breaches);
}

/// The elements of the first operand have the types that the function of the op takes.
fn verify_elements(
    stage: &str,
    expected: &ElementTypes,
    op: &dyn OpInstance,
    breaches: &mut Vec<Breach>,
) {
    let dataset = model::dataset_of(op, 0);
    let checked = dataset.map_or(Ok(()), |dataset| expected.expect_from(stage, &dataset));
    if let Err(error) = checked {
        breaches.push(Breach::plain(error.message()));
    }
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
    let components = &arguments[..arguments.len() - results.len()];
    let expected = ElementTypes::new(components.iter().map(|ty| Some(&**ty)));
    verify_elements("enumerate.iterator", &expected, op, breaches);
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
