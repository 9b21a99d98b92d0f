#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Resource)]
#[resource(host)]
struct Cache;

fn main() {}
