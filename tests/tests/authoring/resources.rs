//! Resources that kernels share.

use std::sync::atomic::{AtomicI32, Ordering};

use tfrt::prelude::*;
use tfrt::testing;

/// Counts the kernels of one request.
#[derive(Default, Resource)]
#[resource(request)]
struct PerRequest(AtomicI32);

/// Counts the kernels of one client.
#[derive(Default, Resource)]
#[resource(client)]
struct PerClient(AtomicI32);

/// Counts the kernels of one host.
#[derive(Default, Resource)]
#[resource(host)]
struct PerHost(AtomicI32);

/// Cannot be made.
struct Broken;

impl Resource for Broken {
    const SCOPE: ResourceScope = ResourceScope::Host;

    fn create(_ctx: &ExecutionContext) -> Result<Self> {
        Err(Error::new("no such device"))
    }
}

fn next(counter: &AtomicI32) -> i32 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

#[tfrt_kernel("resources.count", side_effecting)]
fn count(request: Res<PerRequest>, client: &Res<PerClient>, host: Res<PerHost>) -> (i32, i32, i32) {
    (next(&request.0), next(&client.0), next(&host.0))
}

#[tfrt_kernel("resources.broken")]
fn broken(_resource: &Res<Broken>) -> i32 {
    1
}

#[tfrt_kernel("resources.count_s", sync)]
fn count_sync(request: &Res<PerRequest>) -> i32 {
    next(&request.0)
}

#[test]
fn kernels_of_a_request_share_one_object() {
    let program = testing::program(
        r#"
        func @twice() -> (i32, i32, i32) {
          %ch = "tfrt.new.chain"() : () -> !tfrt.chain
          %a:4 = "resources.count"(%ch) : (!tfrt.chain) -> (i32, i32, i32, !tfrt.chain)
          %b:4 = "resources.count"(%a#3) : (!tfrt.chain) -> (i32, i32, i32, !tfrt.chain)
          tfrt.return %b#0, %b#1, %b#2 : i32, i32, i32
        }
        "#,
    );
    program.call("twice", ()).expect_values((2, 2, 2));
    // Each run has a request, a client and a host of its own.
    program.call("twice", ()).expect_values((2, 2, 2));
}

#[test]
fn a_resource_that_cannot_be_made_is_the_error_of_the_kernel() {
    testing::kernel("resources.broken")
        .run()
        .expect_error("no such device");
}

#[test]
fn the_interpreter_knows_resources() {
    let program = testing::program(
        r#"
        func @twice() -> i32 attributes {tfrt.sync} {
          %a = "resources.count_s"() : () -> i32
          %b = "resources.count_s"() : () -> i32
          tfrt.return %b : i32
        }
        "#,
    );
    program.call("twice", ()).expect_value(2);
}
