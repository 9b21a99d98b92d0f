//! Random numbers.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;
use tfrt_support::DType;

use super::super::call::numbers_tensor;
use super::{Attrs, Call, Results, many, put};

pub(super) fn lower(call: &mut Call<'_, '_>) -> Result<Option<Results>, ImportError> {
    let op = call.op;
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
