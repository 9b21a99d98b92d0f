//! Interpolation between pixels, and images assembled from windows.

use tfrt_import::ImportError;
use tfrt_import::program::Attr;

use super::windows::windows;
use super::{Attrs, Call, Family, Lowered, list, many, one, put, slotted, unknown};

/// The ops of this family.
pub(super) const OPS: Family = &[
    ("AffineGrid", affine_grid),
    ("Col2Im", col2_im),
    ("DeformConv", deform_conv),
    ("GridSample", grid_sample),
    ("MaxRoiPool", max_roi_pool),
    ("MaxUnpool", max_unpool),
    ("Resize", resize),
    ("RoiAlign", roi_align),
    ("Upsample", resize),
];

fn grid_sample(call: &mut Call<'_, '_>) -> Lowered {
    // Version 16 named the modes for two dimensions.
    let mode = match call.text("mode").as_deref() {
        None | Some("linear" | "bilinear") => "linear",
        Some("nearest") => "nearest",
        Some("cubic" | "bicubic") => "cubic",
        other => return Err(unknown("mode", other)),
    };
    let padding = call
        .text("padding_mode")
        .unwrap_or_else(|| "zeros".to_owned());
    let attrs = [
        ("mode", Attr::Text(mode.to_owned())),
        ("padding", Attr::Text(padding)),
        ("align_corners", Attr::Bool(call.flag("align_corners"))),
    ];
    let operands = call.operands()?;
    many(call.emit("nn.GridSample", &operands, &attrs, 1))
}

fn affine_grid(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = [("align_corners", Attr::Bool(call.flag("align_corners")))];
    let operands = call.operands()?;
    many(call.emit("nn.AffineGrid", &operands, &attrs, 1))
}

fn roi_align(call: &mut Call<'_, '_>) -> Lowered {
    let mode = call.text("mode").unwrap_or_else(|| "avg".to_owned());
    let coordinates = call.text("coordinate_transformation_mode");
    let is_half_pixel = match coordinates.as_deref() {
        // Before version 16 there was nothing to choose.
        None => call.since >= 16,
        Some("half_pixel") => true,
        Some("output_half_pixel") => false,
        other => return Err(unknown("coordinate_transformation_mode", other)),
    };
    let attrs = [
        ("mode", Attr::Text(mode)),
        ("height", Attr::Int(call.int("output_height").unwrap_or(1))),
        ("width", Attr::Int(call.int("output_width").unwrap_or(1))),
        (
            "sampling_ratio",
            Attr::Int(call.int("sampling_ratio").unwrap_or(0)),
        ),
        (
            "scale",
            Attr::Float(call.float("spatial_scale").unwrap_or(1.0)),
        ),
        ("half_pixel", Attr::Bool(is_half_pixel)),
    ];
    let operands = call.operands()?;
    many(call.emit("nn.RoiAlign", &operands, &attrs, 1))
}

fn max_roi_pool(call: &mut Call<'_, '_>) -> Lowered {
    let Some(&[height, width]) = call.ints("pooled_shape") else {
        return Err(ImportError::new("expected two numbers in `pooled_shape`"));
    };
    let attrs = [
        ("height", Attr::Int(height)),
        ("width", Attr::Int(width)),
        (
            "scale",
            Attr::Float(call.float("spatial_scale").unwrap_or(1.0)),
        ),
    ];
    let operands = call.operands()?;
    many(call.emit("nn.MaxRoiPool", &operands, &attrs, 1))
}

fn deform_conv(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = windows(call)?;
    attrs.push(("group", Attr::Int(call.int("group").unwrap_or(1))));
    attrs.push((
        "offset_group",
        Attr::Int(call.int("offset_group").unwrap_or(1)),
    ));
    slotted(call, "nn.DeformConv", attrs)
}

fn col2_im(call: &mut Call<'_, '_>) -> Lowered {
    let attrs = windows(call)?;
    let operands = call.operands()?;
    many(call.emit("nn.Col2Im", &operands, &attrs, 1))
}

fn max_unpool(call: &mut Call<'_, '_>) -> Lowered {
    let mut attrs = Attrs::new();
    let sizes = list(call.ints("kernel_shape"));
    let sizes = sizes.ok_or_else(|| ImportError::new("`kernel_shape` is empty"))?;
    attrs.push(("kernel_shape", sizes));
    put(&mut attrs, "strides", list(call.ints("strides")));
    put(&mut attrs, "pads", list(call.ints("pads")));
    let operands = call.operands()?;
    many(call.emit("nn.MaxUnpool", &operands, &attrs, 1))
}

fn resize(call: &mut Call<'_, '_>) -> Lowered {
    let is_new = call.op == "Resize" && call.since >= 11;
    let mode = call.text("mode").unwrap_or_else(|| "nearest".to_owned());
    let mode = if mode == "bilinear" {
        "linear".to_owned()
    } else {
        mode
    };
    let missing = if is_new { "half_pixel" } else { "asymmetric" };
    let coordinates = call
        .text("coordinate_transformation_mode")
        .unwrap_or_else(|| missing.to_owned());
    // Version 19 first says that an extent may be fractional where a factor gives it.
    let coordinates = match coordinates.as_str() {
        "align_corners" if call.since < 19 => "align_last_elements".to_owned(),
        _ => coordinates,
    };
    let missing = if is_new {
        "round_prefer_floor"
    } else {
        "simple"
    };
    let nearest = call
        .text("nearest_mode")
        .unwrap_or_else(|| missing.to_owned());
    let mut attrs = vec![
        ("mode", Attr::Text(mode)),
        ("coordinates", Attr::Text(coordinates)),
        ("nearest", Attr::Text(nearest)),
        (
            "cubic_coeff",
            Attr::Float(call.float("cubic_coeff_a").unwrap_or(-0.75)),
        ),
        ("exclude_outside", Attr::Bool(call.flag("exclude_outside"))),
        ("antialias", Attr::Bool(call.flag("antialias"))),
        (
            "extrapolation",
            Attr::Float(call.float("extrapolation_value").unwrap_or(0.0)),
        ),
    ];
    put(
        &mut attrs,
        "aspect",
        call.text("keep_aspect_ratio_policy").map(Attr::Text),
    );
    put(&mut attrs, "axes", list(call.ints("axes")));
    if is_new {
        return slotted(call, "nn.Resize", attrs);
    }
    // There was no region: the second operand are the factors.
    attrs.push(("slots", Attr::Ints(vec![0, 2])));
    let operands = call.operands()?;
    one(call.emit_one("nn.Resize", &operands, &attrs))
}
