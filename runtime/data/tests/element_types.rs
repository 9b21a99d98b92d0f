//! What is known of elements before one is drawn: mismatches are errors while a pipeline is built.

use tfrt_async::AnyRef;
use tfrt_data::{BatchComponent, Dataset, ElementFunction, ElementTypes, Values};
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

/// Pairs of an `i64` and an `f32`.
fn pairs() -> Dataset {
    let floats = Dataset::range_of(DType::F32, 0, 9, 1).unwrap();
    Dataset::zip(&[range(9), floats]).unwrap()
}

fn refusal(dataset: Result<Dataset, Error>) -> String {
    let error = dataset.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    error.message().to_owned()
}

#[test]
fn types_go_from_the_sources_to_the_last_stage() {
    let types = |dataset: Result<Dataset, Error>| dataset.unwrap().element_types().to_string();
    assert_eq!(types(pairs().skip(1)), "(i64, f32)");
    assert_eq!(types(pairs().filter(|_: i64, _: f32| true)), "(i64, f32)");
    assert_eq!(types(pairs().map(|x: i64, y: f32| (y, x))), "(f32, i64)");
    assert_eq!(types(pairs().batch(2)), "(!t.tensor, !t.tensor)");
    assert_eq!(types(pairs().batch(2).and_then(|d| d.unbatch())), "(?, ?)");
    assert_eq!(
        types(pairs().window(2, 1, 1, false)),
        "(!tfrt_data.dataset)"
    );
    assert_eq!(types(pairs().enumerate(0)), "(i64, i64, f32)");
    let sums = range(9).scan(0_i64, |sum: i64, x: i64| (sum + x, x as f32, sum));
    assert_eq!(types(sums), "(f32, i64)");
    let values = [AnyRef::available(1_i32), AnyRef::available(2_i32)];
    assert_eq!(types(Dataset::from_values(&values)), "(i32)");
    let mixed = [AnyRef::available(1_i32), AnyRef::available(2_i64)];
    assert_eq!(types(Dataset::from_values(&mixed)), "(?)");
    assert_eq!(
        types(range(3).map(range).and_then(|d| d.flatten(1, 1))),
        "unknown"
    );
    let untyped = ElementFunction::from_closure(1, 2, |_, _| Ok(Values::new()));
    assert_eq!(types(range(3).map_with(untyped, &[])), "(?, ?)");
    assert_eq!(
        types(range(3).map(|x: i64| -> Result<f64, Error> { Ok(x as f64) })),
        "(f64)"
    );
}

#[test]
fn a_function_that_does_not_take_the_elements_is_refused_with_both_stages() {
    assert_eq!(
        refusal(range(3).map(|x: i32| x)),
        "`map` expects elements of type (i32), found (i64) from `range`"
    );
    assert_eq!(
        refusal(pairs().parallel_map(|x: i64| x, 2)),
        "`parallel_map` expects elements of type (i64), found (i64, f32) from `zip`"
    );
    assert_eq!(
        refusal(range(3).skip(1).unwrap().filter(|x: f64| x > 0.0)),
        "`filter` expects elements of type (f64), found (i64) from `skip`"
    );
    assert_eq!(
        refusal(range(3).take_while(|_: DenseHostTensor| true)),
        "`take_while` expects elements of type (!t.tensor), found (i64) from `range`"
    );
    assert_eq!(
        refusal(pairs().interleave(|x: i64| range(x), 1, 1)),
        "`interleave` expects elements of type (i64), found (i64, f32) from `zip`"
    );
    assert_eq!(
        refusal(range(3).scan(0_i64, |sum: i64, x: i32| (sum, x))),
        "`scan` expects elements of type (i32), found (i64) from `range`"
    );
    let takes_batches = range(3).batch(2).unwrap().map(|x: i64| x);
    assert_eq!(
        refusal(takes_batches),
        "`map` expects elements of type (i64), found (!t.tensor) from `batch`"
    );
    assert_eq!(
        refusal(range(3).batch_with(2, &[BatchComponent::Scalar(DType::I32)], false, false)),
        "`batch` expects elements of type (i32), found (i64) from `range`"
    );
}

#[test]
fn a_function_that_does_not_return_what_its_stage_needs_is_refused() {
    assert_eq!(
        refusal(range(3).filter(|x: i64| x)),
        "`filter` expects a function with results of type (i1), found (i64)"
    );
    assert_eq!(
        refusal(range(3).flat_map(|x: i64| x)),
        "`interleave` expects a function with results of type (!tfrt_data.dataset), found (i64)"
    );
    assert_eq!(
        refusal(range(3).scan(0_i64, |sum: i64, _: i64| sum as f32)),
        "`scan` expects a function that returns a state of type (i64) first, found (f32)"
    );
    assert_eq!(
        refusal(Dataset::generate(0_i64, |x: i64| (x, x, x))),
        "`generator` expects a function that returns a state of type (i1, i64) first, found (i64, i64, i64)"
    );
    assert_eq!(
        refusal(range(3).group_by_window(|x: i64| x as f32, |_: i64, d: Dataset| d, 2)),
        "`group_by_window` expects a function with results of type (i64), found (f32)"
    );
}

#[test]
fn bound_values_are_of_the_types_of_the_first_parameters() {
    let types = |types: &[&'static str]| ElementTypes::new(types.iter().copied().map(Some));
    let plus = ElementFunction::from_closure(2, 1, |_, values| {
        Ok(values.iter().take(1).cloned().collect())
    });
    let plus = plus.with_types(types(&["f32", "i64"]), types(&["f32"]));
    assert!(
        range(3)
            .map_with(plus.clone(), &[AnyRef::available(1_f32)])
            .is_ok()
    );
    assert_eq!(
        refusal(range(3).map_with(plus.clone(), &[AnyRef::available(1_i64)])),
        "`map` expects bound values of type (f32), found (i64)"
    );
    let too_many: Vec<AnyRef> = (0..3).map(|_| AnyRef::available(1_f32)).collect();
    assert_eq!(
        refusal(range(3).map_with(plus, &too_many)),
        "`map` expects a function of 3 bound values and the components, found one of (f32, i64)"
    );
}

#[test]
fn inputs_of_one_stage_are_alike() {
    assert_eq!(
        refusal(Dataset::concatenate(&[range(3), pairs()])),
        "`concatenate` expects inputs alike, found elements of type (i64) from `range` and (i64, f32) from `zip`"
    );
    assert!(
        refusal(Dataset::sample_from(&[range(3), pairs()], None, 1, 2))
            .starts_with("`sample_from`")
    );
    assert_eq!(
        refusal(Dataset::choose_from(&pairs(), &[range(3)])),
        "`choose_from` expects elements of type (i64), found (i64, f32) from `zip`"
    );
}
