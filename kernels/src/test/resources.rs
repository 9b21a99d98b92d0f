//! An object that prints a line when it is freed.

use std::io;

use tfrt::prelude::*;

use crate::text::{print_line, print_line_if_possible};

/// Something that is allocated, and freed by a kernel or with the last reference to it.
#[derive(Debug, Value)]
#[value("!tfrt.test.resource", mutable)]
struct TestResource {
    allocation: Option<Allocation>,
}

#[derive(Debug)]
struct Allocation;

impl Drop for Allocation {
    fn drop(&mut self) {
        print_line_if_possible("Destroyed TestResource");
    }
}

/// Allocates a resource. Prints `Allocated TestResource`.
#[tfrt_kernel("tfrt_test.allocate_resource", effect = "io", results(resource, done))]
fn allocate_resource(chain: Chain) -> io::Result<(TestResource, Chain)> {
    print_line("Allocated TestResource")?;
    Ok((
        TestResource {
            allocation: Some(Allocation),
        },
        chain,
    ))
}

/// Frees the resource unless it was freed before, and prints `Destroyed TestResource` if so; then
/// prints `tfrt_test.deallocate_resource done`.
#[tfrt_kernel("tfrt_test.deallocate_resource")]
fn deallocate_resource(resource: &mut TestResource, chain: Chain) -> io::Result<Chain> {
    resource.allocation = None;
    print_line("tfrt_test.deallocate_resource done")?;
    Ok(chain)
}
