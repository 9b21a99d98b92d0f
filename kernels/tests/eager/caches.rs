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
