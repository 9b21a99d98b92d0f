use tfrt::prelude::*;

#[tfrt_kernel("my.no_axes", reduce(identity = 0.0, combine = add, axes = []))]
fn no_axes(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.twice", reduce(identity = 0.0, combine = add, axes = [1, 0, 1]))]
fn twice(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.named", reduce(identity = 0.0, combine = add, axes = [rows]))]
fn named(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.one", reduce(identity = 0.0, combine = add, axes = 1))]
fn one(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.all", reduce(identity = 0.0, combine = add, keep_dims = true))]
fn all(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.again", reduce(identity = 0.0, combine = add, axes = [0], axes = [1]))]
fn again(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.kept", reduce(identity = 0.0, combine = add, axes = [0], keep_dims = 1))]
fn kept(x: f32) -> f32 {
    x
}

fn main() {}
