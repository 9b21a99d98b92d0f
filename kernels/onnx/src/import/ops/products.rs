//! Sums of products, and attention.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Call, Family, Lowered, many, one, put};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("Attention", attention),
    ("Einsum", einsum),
    ("Gemm", gemm),
    ("RotaryEmbedding", rotary_embedding),
];

fn gemm(call: &mut Call<'_, '_>) -> Lowered {
    let number = |name: &str| Attr::Float(call.float(name).unwrap_or(1.0));
    let attrs = [
        ("alpha", number("alpha")),
        ("beta", number("beta")),
        ("transpose_a", Attr::Bool(call.flag("transA"))),
        ("transpose_b", Attr::Bool(call.flag("transB"))),
    ];
    let operands = call.operands()?;
    one(call.emit_one("nn.Gemm", &operands, &attrs))
}

fn einsum(call: &mut Call<'_, '_>) -> Lowered {
    let equation = call.text("equation").unwrap_or_default();
    let operands = call.operands()?;
    one(call.emit_one(
        "nn.Einsum",
        &operands,
        &[("equation", Attr::Text(equation))],
    ))
}

fn attention(call: &mut Call<'_, '_>) -> Lowered {
    let number = |name: &str| Attr::Int(call.int(name).unwrap_or(0));
    let scores = match call.wants(3) {
        true => match call.int("qk_matmul_output_mode").unwrap_or(0) {
            mode @ 0..=3 => Attr::Int(mode),
            mode => {
                return Err(ImportError::new(format!(
                    "attribute `qk_matmul_output_mode`: expected 0 to 3, found {mode}"
                )));
            }
        },
        // They are not stored.
        false => Attr::Int(-1),
    };
    let mut attrs = vec![
        ("q_heads", number("q_num_heads")),
        ("kv_heads", number("kv_num_heads")),
        ("scores", scores),
        (
            "soft_cap",
            Attr::Float(call.float("softcap").unwrap_or(0.0)),
        ),
        ("is_causal", Attr::Bool(call.flag("is_causal"))),
    ];
    put(&mut attrs, "scale", call.float("scale").map(Attr::Float));
    let (operands, slots) = call.slots()?;
    attrs.extend(slots);
    many(call.emit("nn.Attention", &operands, &attrs, 4))
}

fn rotary_embedding(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [
        ("interleaved", Attr::Bool(call.flag("interleaved"))),
        ("num_heads", Attr::Int(call.int("num_heads").unwrap_or(0))),
        (
            "size",
            Attr::Int(call.int("rotary_embedding_dim").unwrap_or(0)),
        ),
    ];
    let operands = call.operands()?;
    one(call.emit_one("nn.RotaryEmbedding", &operands, &attrs))
}
