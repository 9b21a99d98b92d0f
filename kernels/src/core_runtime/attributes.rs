//! Sets of op attributes that programs build.

use tfrt::attr::{AttrValue, DenseAttr, ToOpAttr};
use tfrt::core::OpAttrs;
use tfrt::prelude::*;

/// Creates an empty set of op attributes.
#[tfrt_kernel("corert.create_op_attrs", results(attrs))]
fn create_op_attrs() -> OpAttrs {
    OpAttrs::new()
}

/// Sets an attribute, unless the name has one.
fn set(attrs: &mut OpAttrs, key: &str, value: impl ToOpAttr) -> Result<()> {
    attrs.set(key, value).map(drop)
}

/// Sets an attribute to a Boolean. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.bool", attribute_names = free)]
fn set_bool(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: bool) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to a number. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.i32", attribute_names = free)]
fn set_i32(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: i32) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to a number. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.f32", attribute_names = free)]
fn set_f32(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: f32) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to an element type. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.dtype", attribute_names = free)]
fn set_dtype(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: DType) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to a text. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.str", attribute_names = free)]
fn set_str(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: &str) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to a dense tensor. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.dense", attribute_names = free)]
fn set_dense(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: DenseView<'_>) -> Result<()> {
    let dense = DenseAttr {
        dtype: value.dtype(),
        dims: value.dims().to_vec(),
        data: value.data().to_vec(),
    };
    set(attrs, key, &AttrValue::Dense(dense))
}

/// Sets an attribute to a list of values of any types. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.aggregate", attribute_names = free)]
fn set_aggregate(
    attrs: &mut OpAttrs,
    #[attr] key: &str,
    #[attr] value: AggregateView<'_>,
) -> Result<()> {
    let elements = value.iter().map(|element| element.decode());
    set(
        attrs,
        key,
        &AttrValue::Array(elements.collect::<Result<_, _>>()?),
    )
}

/// Sets an attribute to a shape. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set.shape", attribute_names = free)]
fn set_shape(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: ShapeView<'_>) -> Result<()> {
    let dims = value.dims().map(<[i64]>::to_vec);
    set(attrs, key, &AttrValue::Shape(dims))
}

/// Sets an attribute to a list of numbers. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set_array.i32", attribute_names = free)]
fn set_i32_array(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: &[i32]) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to a list of numbers. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set_array.i64", attribute_names = free)]
fn set_i64_array(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: &[i64]) -> Result<()> {
    set(attrs, key, value)
}

/// Sets an attribute to a list of numbers. If the name exists, it keeps its value.
#[tfrt_kernel("corert.op_attrs_set_array.f32", attribute_names = free)]
fn set_f32_array(attrs: &mut OpAttrs, #[attr] key: &str, #[attr] value: &[f32]) -> Result<()> {
    set(attrs, key, value)
}
