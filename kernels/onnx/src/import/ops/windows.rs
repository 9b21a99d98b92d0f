//! Windows that move over images: convolutions and pooling.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::{Attrs, Call, Family, Lowered, list, many, one, put, unknown};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("AveragePool", |call| average_pool(call, 0)),
    ("Conv", conv),
    ("ConvTranspose", conv_transpose),
    ("GlobalAveragePool", |call| global_pool(call, "mean")),
    ("GlobalLpPool", |call| global_pool(call, "lp")),
    ("GlobalMaxPool", |call| global_pool(call, "max")),
    ("LpPool", lp_pool),
    ("MaxPool", max_pool),
];

fn conv(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = convolution(call)?;
    let operands = call.operands()?;
    one(call.emit_one("nn.Conv", &operands, &attrs))
}

fn conv_transpose(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = convolution(call)?;
    put(
        &mut attrs,
        "output_padding",
        list(call.ints("output_padding")),
    );
    put(&mut attrs, "output_shape", list(call.ints("output_shape")));
    let operands = call.operands()?;
    one(call.emit_one("nn.ConvTranspose", &operands, &attrs))
}

/// Returns the attributes of a convolution.
fn convolution(call: &Call<'_, '_>) -> Result<Attrs, ImportError> {
    check_kernel_shape(call, 1)?;
    let mut attrs = windows(call)?;
    attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
    Ok(attrs)
}

fn max_pool(call: &mut Call<'_, '_>) -> Lowered {
    let wants_indices = call.wants(1);
    let mut attrs = pooling(call)?;
    attrs.push(("indices", Attr::Bool(wants_indices)));
    attrs.push(("column_major", Attr::Bool(call.flag("storage_order"))));
    let x = call.operand(0)?;
    many(call.emit("nn.MaxPool", &[x], &attrs, 1 + usize::from(wants_indices)))
}

/// Pools means, or norms of an order.
fn average_pool(call: &mut Call<'_, '_>, order: i64) -> Lowered {
    let mut attrs = pooling(call)?;
    attrs.push((
        "count_include_pad",
        Attr::Bool(call.flag("count_include_pad")),
    ));
    attrs.push(("p", Attr::Int(order)));
    let x = call.operand(0)?;
    one(call.emit_one("nn.AveragePool", &[x], &attrs))
}

fn lp_pool(call: &mut Call<'_, '_>) -> Lowered {
    let order = norm_order(call)?;
    average_pool(call, order)
}

fn global_pool(call: &mut Call<'_, '_>, function: &str) -> Lowered {
    let attrs = [
        ("function", Attr::Text(function.to_owned())),
        ("p", Attr::Int(norm_order(call)?)),
    ];
    let x = call.operand(0)?;
    one(call.emit_one("nn.GlobalPool", &[x], &attrs))
}

/// Returns how windows lie.
pub(super) fn windows(call: &Call<'_, '_>) -> Result<Attrs, ImportError> {
    const PADDINGS: &[&str] = &["NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"];
    let mut attrs = Attrs::new();
    put(&mut attrs, "strides", list(call.ints("strides")));
    put(&mut attrs, "dilations", list(call.ints("dilations")));
    put(&mut attrs, "pads", list(call.ints("pads")));
    let mode = call.text("auto_pad");
    if let Some(other) = mode.as_deref().filter(|mode| !PADDINGS.contains(mode)) {
        return Err(unknown("auto_pad", Some(other)));
    }
    let mode = mode.filter(|mode| mode != "NOTSET");
    put(&mut attrs, "auto_pad", mode.map(Attr::Text));
    Ok(attrs)
}

/// Checks the size of windows against the weights of a convolution, if the file contains them.
fn check_kernel_shape(call: &Call<'_, '_>, weights: usize) -> Result<(), ImportError> {
    let (Some(declared), Some(weights)) = (call.ints("kernel_shape"), call.constant(weights))
    else {
        return Ok(());
    };
    let found = weights.shape().dims().get(2..).unwrap_or_default();
    let fits = declared.len() == found.len()
        && declared
            .iter()
            .zip(found)
            .all(|(&declared, &found)| usize::try_from(declared) == Ok(found));
    match fits {
        true => Ok(()),
        false => Err(ImportError::new(format!(
            "attribute `kernel_shape`: expected {found:?} as in the weights, found {declared:?}"
        ))),
    }
}

/// Returns the order of a norm, which was any number in version 1.
fn norm_order(call: &Call<'_, '_>) -> Result<i64, ImportError> {
    let order = match call.float("p") {
        Some(order) => f64::from(order),
        None => call.int("p").unwrap_or(2) as f64,
    };
    if order.fract() == 0.0 && (1.0..=1024.0).contains(&order) {
        return Ok(order as i64);
    }
    Err(ImportError::new(format!(
        "attribute `p`: expected an integer from 1 to 1024, found {order}"
    )))
}

fn pooling(call: &Call<'_, '_>) -> Result<Attrs, ImportError> {
    let mut attrs = windows(call)?;
    let sizes = list(call.ints("kernel_shape"));
    attrs.push((
        "kernel_shape",
        sizes.ok_or_else(|| ImportError::new("`kernel_shape` is empty"))?,
    ));
    attrs.push(("ceil_mode", Attr::Bool(call.flag("ceil_mode"))));
    Ok(attrs)
}
