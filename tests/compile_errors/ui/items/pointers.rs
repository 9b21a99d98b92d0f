#![allow(unused_variables)]

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use tfrt::prelude::*;

#[derive(Clone, Value)]
#[value("!my.point")]
struct Point(i32);

#[tfrt_kernel("my.arc")]
fn arc(point: Arc<Point>) {}

#[tfrt_kernel("my.rc")]
fn rc(point: &Rc<Point>) {}

#[tfrt_kernel("my.cow")]
fn cow(text: Cow<'_, str>) {}

#[tfrt_kernel("my.boxed")]
fn boxed(x: i32) -> Box<Point> {
    Box::new(Point(x))
}

fn main() {}
