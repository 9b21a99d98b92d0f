//! Random numbers, and what they leave out.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, Value};
use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::super::Known;
use super::super::call::{numbers_tensor, scalar};
use super::{Attrs, Call, Family, Lowered, many, put};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("Bernoulli", bernoulli),
    ("Dropout", dropout),
    ("Multinomial", multinomial),
    ("RandomNormal", |call| shaped(call, NORMAL)),
    ("RandomNormalLike", |call| like(call, NORMAL)),
    ("RandomUniform", |call| shaped(call, UNIFORM)),
    ("RandomUniformLike", |call| like(call, UNIFORM)),
];

/// A distribution: its name, and the names and defaults of its two numbers.
type Distribution = (&'static str, [(&'static str, f32); 2]);

const NORMAL: Distribution = ("normal", [("mean", 0.0), ("scale", 1.0)]);

const UNIFORM: Distribution = ("uniform", [("low", 0.0), ("high", 1.0)]);

/// Returns the element type that a node asks for, if it does; nothing if we do not have it.
fn wanted(call: &mut Call<'_, '_>) -> Result<Option<Option<DType>>, ImportError> {
    match call.int("dtype") {
        None => Ok(Some(None)),
        Some(_) => Ok(call.dtype("dtype")?.map(Some)),
    }
}

/// Returns the attribute `seed`, if it is given.
fn seeded(call: &Call<'_, '_>) -> Attrs {
    let mut attrs = Attrs::new();
    put(&mut attrs, "seed", call.float("seed").map(Attr::Float));
    attrs
}

fn bernoulli(call: &mut Call<'_, '_>) -> Lowered {
    let Some(dtype) = wanted(call)? else {
        return Ok(None);
    };
    let mut attrs = seeded(call);
    put(&mut attrs, "dtype", dtype.map(Attr::Type));
    let x = call.operand(0)?;
    many(call.emit("nn.Bernoulli", &[x], &attrs, 1))
}

fn multinomial(call: &mut Call<'_, '_>) -> Lowered {
    let Some(dtype) = wanted(call)? else {
        return Ok(None);
    };
    let mut attrs = seeded(call);
    attrs.push(("count", Attr::Int(call.int("sample_size").unwrap_or(1))));
    attrs.push(("dtype", Attr::Type(dtype.unwrap_or(DType::I32))));
    let x = call.operand(0)?;
    many(call.emit("nn.Multinomial", &[x], &attrs, 1))
}

/// Returns the attributes of random numbers of a distribution.
fn distributed(
    call: &Call<'_, '_>,
    (distribution, numbers): Distribution,
    dtype: Option<DType>,
) -> Attrs {
    let [a, b] = numbers.map(|(name, missing)| Attr::Float(call.float(name).unwrap_or(missing)));
    let mut attrs = seeded(call);
    attrs.extend([
        ("distribution", Attr::Text(distribution.to_owned())),
        ("a", a),
        ("b", b),
        ("dtype", Attr::Type(dtype.unwrap_or(DType::F32))),
    ]);
    attrs
}

/// Random numbers of the shape in an attribute.
fn shaped(call: &mut Call<'_, '_>, distribution: Distribution) -> Lowered {
    let Some(dtype) = wanted(call)? else {
        return Ok(None);
    };
    let attrs = distributed(call, distribution, dtype);
    let shape = numbers_tensor(call.ints("shape").unwrap_or_default())?;
    let shape = call.weight(shape);
    many(call.emit("nn.Random", &[shape], &attrs, 1))
}

/// Random numbers of the shape of an operand, and of its type unless another one is wanted.
fn like(call: &mut Call<'_, '_>, distribution: Distribution) -> Lowered {
    let Some(dtype) = wanted(call)? else {
        return Ok(None);
    };
    let attrs = distributed(call, distribution, dtype);
    let x = call.operand(0)?;
    let shape = call.emit_one("nn.Shape", &[x], &[("start", Attr::Int(0))]);
    let made = call.emit_one("nn.Random", &[shape], &attrs);
    match dtype {
        Some(_) => many(vec![made]),
        None => many(call.emit("nn.CastLike", &[made, x], &[], 1)),
    }
}

/// Dropout has an effect only in training, and only if the ratio is not 0.
fn dropout(call: &mut Call<'_, '_>) -> Lowered {
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
