//! Tensors of strings, from Rust and back.

use tfrt::core::{EagerContext, ToTensor};
use tfrt::prelude::*;
use tfrt_tensor::{Shape, StringHostTensor};

use crate::{eager, message};

/// Returns the metadata of a tensor made of a value, and its strings.
fn made(eager: &EagerContext, value: impl ToTensor) -> Result<(String, Vec<String>)> {
    let handle = eager.tensor(value)?;
    let metadata = handle.metadata().expect("it is known").to_string();
    Ok((metadata, eager.to_strings(&handle)?))
}

#[test]
fn strings_and_lists_of_them_are_tensors() -> Result<()> {
    let eager = eager("s");
    let expect = |found: Result<(String, Vec<String>)>, shape: &str, strings: &[&str]| {
        let (metadata, found) = found.expect("a tensor");
        assert_eq!(metadata, format!("str {shape}"));
        assert_eq!(found, strings);
    };
    expect(made(&eager, "one"), "[]", &["one"]);
    expect(made(&eager, String::from("one")), "[]", &["one"]);
    let two = ["one", "zwölf"];
    expect(made(&eager, two), "[2]", &two);
    expect(made(&eager, &two[..]), "[2]", &two);
    expect(made(&eager, two.to_vec()), "[2]", &two);
    expect(
        made(&eager, [two, two]),
        "[2, 2]",
        &["one", "zwölf", "one", "zwölf"],
    );
    let owned = two.map(String::from);
    expect(made(&eager, &owned[..]), "[2]", &two);
    expect(made(&eager, owned.to_vec()), "[2]", &two);
    expect(made(&eager, owned), "[2]", &two);
    expect(made(&eager, Vec::<String>::new()), "[0]", &[]);
    Ok(())
}

#[test]
fn strings_of_late_results_are_waited_for() -> Result<()> {
    let eager = eager("mstd:2");
    let [a, b] = [["a", "b"], ["c", "d"]].map(|words| eager.tensor(words));
    let axis = eager
        .op("tfrt_test.async.noop_no_md")?
        .call(&[&eager.tensor(0_i32)?])?;
    let joined = eager.op("tf.ConcatV2")?.call(&[&a?, &b?, &axis])?;
    assert_eq!(eager.to_strings(&joined)?, ["a", "b", "c", "d"]);
    Ok(())
}

#[test]
fn what_is_no_text_is_an_error() -> Result<()> {
    let eager = eager("s");
    let numbers = eager.tensor([1.0_f32])?;
    let found = message(eager.to_strings(&numbers));
    assert_eq!(found, "expected a tensor of strings, found DenseHost");
    let bytes = StringHostTensor::new(Shape::new(&[2])?, vec![b"a".to_vec(), vec![0xFF]])?;
    let found = message(eager.to_strings(&eager.tensor(bytes)?));
    assert!(found.starts_with("string 1 is not UTF-8: "), "{found}");
    let error = eager.to_strings(&numbers).unwrap_err();
    assert!(
        error.place().to_string().contains("strings.rs"),
        "{error:?}"
    );
    Ok(())
}
