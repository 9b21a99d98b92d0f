//! What is looked up once.

use tfrt::core::EagerContext;
use tfrt::prelude::*;

use crate::{host, two_devices};

#[test]
fn ready_op_looks_nothing_up_with_several_devices() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32])?;
    let add = eager.op("tf.AddV2")?.ready()?;
    add.call(&[&x, &x])?;
    let before = eager.cache_stats();
    for _ in 0..10 {
        add.call(&[&x, &x])?;
    }
    assert_eq!(eager.cache_stats(), before);
    Ok(())
}

#[test]
fn cache_keeps_what_was_used_last() -> Result<()> {
    let eager = EagerContext::builder(host("s"))
        .max_cached_ops(16)
        .build()?;
    let names = eager.op_names();
    assert!(names.len() > 64, "{names:?}");
    for name in &names {
        // Some of them cannot run.
        let _ = eager.op(name);
        eager.op("tf.Relu")?;
        assert!(eager.cache_stats().entries <= 16);
    }
    // Each was made once: the one that was used again and again was always there.
    assert_eq!(eager.cache_stats().misses, names.len() as u64);
    Ok(())
}

#[test]
fn kept_attributes_count_for_the_cache() -> Result<()> {
    let eager = EagerContext::builder(host("s")).build()?;
    let bytes_of = |op: tfrt::core::Op| -> Result<usize> {
        op.ready()?;
        Ok(eager.cache_stats().bytes)
    };
    let product = || eager.op("tf.MatMul");
    let none = product().map(|_| eager.cache_stats().bytes)?;
    let one = bytes_of(product()?.attr("transpose_a", true)?)?;
    assert!(one > none, "{one} bytes after {none}");
    // The same attributes take no more bytes.
    assert_eq!(bytes_of(product()?.attr("transpose_a", true)?)?, one);
    let two = bytes_of(product()?.attr("transpose_a", false)?)?;
    assert!(two > one, "{two} bytes after {one}");
    assert_eq!(eager.cache_stats().entries, 1);
    Ok(())
}

#[test]
fn kept_attributes_are_found_in_any_order_and_change_no_error() -> Result<()> {
    let eager = EagerContext::builder(host("s")).build()?;
    let product = |attributes: &[(&str, bool)]| -> Result<tfrt::core::Op> {
        let mut op = eager.op("tf.MatMul")?;
        for &(name, value) in attributes {
            op = op.attr(name, value)?;
        }
        Ok(op)
    };
    let (a, b) = (("transpose_a", false), ("transpose_b", true));
    let x = eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]])?;
    let call = |attributes: &[(&str, bool)]| -> Result<Vec<f32>> {
        eager.to_vec(&product(attributes)?.call(&[&x, &x])?)
    };
    let transposed = call(&[a, b])?;
    assert_eq!(transposed, [5.0, 11.0, 11.0, 25.0]);
    let bytes = eager.cache_stats().bytes;
    assert_eq!(call(&[b, a])?, transposed);
    assert_eq!(eager.cache_stats().bytes, bytes, "no other set is kept");
    assert_eq!(call(&[a, ("transpose_b", false)])?, [7.0, 10.0, 15.0, 22.0]);
    assert_eq!(call(&[("transpose_b", false), a])?, [7.0, 10.0, 15.0, 22.0]);
    let message = |attributes: &[(&str, bool)]| match call(attributes) {
        Ok(product) => format!("{product:?}"),
        Err(error) => error.message().to_owned(),
    };
    let twice = "attribute `transpose_a` of `tf.MatMul` is set twice";
    assert_eq!(message(&[a, a]), twice);
    assert_eq!(message(&[a, b, ("transpose_a", true)]), twice);
    assert_eq!(message(&[("transpose_a", true), a]), twice);
    let unknown = message(&[a, ("transpose_c", false)]);
    assert!(
        unknown.starts_with("`tf.MatMul`: unknown attribute `transpose_c`"),
        "{unknown}"
    );
    let missing = "'transpose_b' attribute is not specified for MatMul op";
    assert_eq!(message(&[a]), missing);
    Ok(())
}
