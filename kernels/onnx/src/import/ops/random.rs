//! Random numbers, and what they leave out.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::super::Known;
use super::super::call::{numbers_tensor, scalar};
use super::{Attrs, Call, Results, many, put};

/// The ops of this family.
pub(super) const OPS: &[&str] = &[
    "Bernoulli",
    "Dropout",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
    if op == "Dropout" {
        return dropout(call);
    }
    let mut attrs = Attrs::new();
    put(&mut attrs, "seed", call.float("seed").map(Attr::Float));
    let given = match call.int("dtype") {
        None => None,
        Some(_) => match call.dtype("dtype")? {
            Some(dtype) => Some(dtype),
            None => return Ok(None),
        },
    };
    match op {
        "Bernoulli" => {
            put(&mut attrs, "dtype", given.map(Attr::Type));
            let x = call.operand(0)?;
            many(call.emit("nn.Bernoulli", &[x], &attrs, 1))
        }
        "Multinomial" => {
            attrs.push(("count", Attr::Int(call.int("sample_size").unwrap_or(1))));
            attrs.push(("dtype", Attr::Type(given.unwrap_or(DType::I32))));
            let x = call.operand(0)?;
            many(call.emit("nn.Multinomial", &[x], &attrs, 1))
        }
        _ => {
            let number =
                |name: &str, missing: f32| Attr::Float(call.float(name).unwrap_or(missing));
            let (distribution, a, b) = match op.starts_with("RandomNormal") {
                true => ("normal", number("mean", 0.0), number("scale", 1.0)),
                false => ("uniform", number("low", 0.0), number("high", 1.0)),
            };
            attrs.extend([
                ("distribution", Attr::Text(distribution.to_owned())),
                ("a", a),
                ("b", b),
            ]);
            if op.ends_with("Like") {
                let x = call.operand(0)?;
                let shape = call.emit_one("nn.Shape", &[x], &[("start", Attr::Int(0))]);
                attrs.push(("dtype", Attr::Type(given.unwrap_or(DType::F32))));
                let made = call.emit_one("nn.Random", &[shape], &attrs);
                return match given {
                    Some(_) => many(vec![made]),
                    None => many(call.emit("nn.CastLike", &[made, x], &[], 1)),
                };
            }
            let shape = numbers_tensor(call.ints("shape").unwrap_or_default())?;
            let shape = call.weight(shape);
            attrs.push(("dtype", Attr::Type(given.unwrap_or(DType::F32))));
            many(call.emit("nn.Random", &[shape], &attrs, 1))
        }
    }
}

/// Dropout has an effect only in training, and only if the ratio is not 0.
fn dropout(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let is_one_byte = |tensor: &DenseHostTensor| {
        tensor
            .buffer()
            .read()
            .is_ok_and(|bytes| bytes.iter().any(|&byte| byte != 0))
    };
    let trains = match call.since {
        12.. => call.has(2) && call.constant(2).is_none_or(is_one_byte),
        ..7 => call.int("is_test") == Some(0),
        _ => false,
    };
    let ratio_is_zero = call.has(1) && call.constant(1).is_some_and(|ratio| !is_one_byte(ratio));
    if trains && !ratio_is_zero {
        let mut operands = vec![call.operand(0)?];
        match call.optional(1)? {
            Some(ratio) => operands.push(ratio),
            None if call.since < 12 => {
                let ratio = call.float("ratio").unwrap_or(0.5);
                operands.push(call.weight(scalar(ratio)?));
            }
            None => {}
        }
        let mut attrs = Attrs::new();
        put(
            &mut attrs,
            "seed",
            call.int("seed").map(|seed| Attr::Float(seed as f32)),
        );
        let mut results = call.emit("nn.Dropout", &operands, &attrs, 2);
        if call.wants(1) {
            results[1] = mask_of_dropout(call, results[1])?;
        }
        return many(results);
    }
    let known = call.known(0)?;
    let mut results = vec![known];
    if call.wants(1) {
        let x = call.operand(0)?;
        let mask = call.emit_one("nn.AllTrue", &[x], &[]);
        results.push(Known::Value(mask_of_dropout(call, mask)?));
    }
    Ok(Some(results))
}

/// Returns the mask of a node as its version has it: Booleans since version 10, before that numbers
/// of the operand's type.
fn mask_of_dropout(call: &mut Call<'_, '_>, mask: Value) -> Result<Value, ImportError> {
    if call.since >= 10 {
        return Ok(mask);
    }
    let x = call.operand(0)?;
    Ok(call.emit_one("nn.CastLike", &[mask, x], &[]))
}
