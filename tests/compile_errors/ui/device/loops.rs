#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

#[tfrt_device]
fn unbounded(mut x: f32) -> f32 {
    while x > 1.0 {
        x = x / 2.0;
    }
    loop {
        break;
    }
    x
}

#[tfrt_device]
fn ranges(n: i32) -> i32 {
    for i in 0.. {}
    for i in (0..n).rev() {}
    for i in [1, 2] {}
    for (i, j) in 0..n {}
    'outer: for i in 0..n {}
    let range = 0..n;
    n
}

#[tfrt_device]
fn leaving(n: i32) -> i32 {
    for i in 0..n {
        break 'outer;
    }
    for i in 0..n {
        let y = if i > 2 { break } else { i };
        let z = 1 + return 2;
    }
    return;
}

#[tfrt_device]
fn again(n: i32) -> i32 {
    if n > 0 { again(n - 1) } else { 0 }
}

fn main() {}
