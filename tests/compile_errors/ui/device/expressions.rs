#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

#[tfrt_device]
fn choice(x: i32) -> i32 {
    match x {
        0 => 1,
        _ => 2,
    }
}

#[tfrt_device]
fn macros(x: f32) -> f32 {
    assert!(x > 0.0);
    let y = dbg!(x);
    println!("{x}");
    x
}

#[tfrt_device]
fn collections(x: f32) -> f32 {
    let a = [x, x];
    let b = a[0];
    let (c, d) = (x, x);
    let e = x.0;
    let f = &x;
    let g = *f;
    x
}

#[tfrt_device]
fn closures(x: f32) -> f32 {
    let square = |x: f32| x * x;
    square(x)
}

#[tfrt_device]
fn statements(x: f32) -> f32 {
    fn helper() {}
    let y;
    let z = { x = 1.0 } + 1.0;
    let Some(w) = x else { return 0.0 };
    if let 1.0 = x {}
    x?;
    unsafe { x }
}

fn main() {}
