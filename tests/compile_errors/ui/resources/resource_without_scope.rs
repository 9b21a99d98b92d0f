#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Default, Resource)]
struct Cache;

#[derive(Default, Resource)]
#[resource(hosts)]
struct Pool;

fn main() {}
