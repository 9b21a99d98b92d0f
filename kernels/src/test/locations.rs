//! Kernels that inspect their location in the program.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use tfrt::prelude::*;
use tfrt::support::escape::escaped;

use crate::text::print_line;

/// Prints the name that the program gave to the op, or `Kernel has no debug info`.
#[tfrt_kernel("tfrt_test.print_debug_info", side_effecting)]
fn print_debug_info(ctx: &ExecutionContext) -> io::Result<()> {
    let name = ctx.debug_name();
    let name = name.as_deref().unwrap_or("Kernel has no debug info");
    print_line(escaped(name))
}

/// Checks that no op with another name has the same location.
///
/// # Errors
/// `duplicate locations L`.
#[tfrt_kernel("tfrt_test.unique_loc", side_effecting, attribute_names = free)]
fn unique_loc(#[attr] name: &str, ctx: &ExecutionContext) -> Result<()> {
    let names = ctx.host().shared_context(SeenLocations::default);
    let location = ctx.location_token();
    let mut names = names.0.lock().unwrap_or_else(PoisonError::into_inner);
    let first = names.entry(location).or_insert_with(|| name.to_owned());
    if first == name {
        Ok(())
    } else {
        Err(Error::new(format!("duplicate locations {location}")))
    }
}

/// The name of the first op that was seen at each location.
#[derive(Default)]
struct SeenLocations(Mutex<HashMap<u32, String>>);
