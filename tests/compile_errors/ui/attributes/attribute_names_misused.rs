#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.other", attribute_names = loose)]
fn other(#[attr] a: i32) {}

#[tfrt_kernel("my.defaulted", attribute_names = free)]
fn defaulted(#[attr] a: i32, #[attr(default = 1)] b: i32) {}

#[tfrt_kernel("my.declared", attribute_names = any)]
fn declared(#[attr] a: i32) {}

#[tfrt_kernel("my.all", attribute_names = any)]
fn all(all: Attributes<'_>) {}

#[tfrt_kernel("my.shown", attribute_names = free, format = "$a attr-dict")]
fn shown(#[attr] a: i32) {}

#[tfrt_kernel("my.raw", raw, attrs(a: i32 = 1), attribute_names = free)]
fn raw(frame: &mut KernelFrame<'_>) {}

#[tfrt_kernel("my.flag", attribute_names)]
fn flag(#[attr] a: i32) {}

fn main() {}
