#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

#[tfrt_device]
fn index(i: usize) -> f32 {
    i as f32
}

#[tfrt_device]
fn narrow(x: u8) -> i16 {
    x as i16
}

#[tfrt_device]
fn borrowed(x: &f32, y: [f32; 2], z: (f32, f32)) -> f32 {
    1.0
}

#[tfrt_device]
fn converted(x: f32) -> u64 {
    x as usize as u64
}

#[tfrt_device]
fn suffixed(x: f32) -> f32 {
    let n = 3_u8;
    x
}

#[tfrt_device]
fn texts(x: f32) -> f32 {
    let n = "three";
    let m = 'c';
    x
}

#[tfrt_device]
fn nothing(x: f32) {}

fn main() {}
