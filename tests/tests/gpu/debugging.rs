//! The mistakes that the guide says the host device finds, with the messages that it shows.

use tfrt_gpu::api::driver::{Argument, LaunchConfig};
use tfrt_gpu::api::{Current, Status};
use tfrt_gpu::host_device::{HostDevice, Options};

const GUIDE: &str = include_str!("../../../kernels/gpu/src/guide.rs");

/// The guide as one line.
fn guide() -> String {
    let lines = GUIDE
        .lines()
        .map(|line| line.trim_start_matches("//!").trim());
    lines.collect::<Vec<_>>().join(" ")
}

/// Runs a kernel of the guide on a block of 16 bytes, freed before if `is_freed`, and checks its
/// message.
fn check(kernel: &str, threads: u32, is_freed: bool, expected: Status) {
    let entry = GUIDE.find(&format!(".visible .entry {kernel}(")).unwrap();
    let (before, after) = GUIDE.split_at(entry);
    let block = before.rsplit("```text").next().unwrap().to_owned();
    let block = block + after.split("```").next().unwrap();
    let lines = block.trim_start().lines();
    let lines = lines.map(|line| line.trim_start_matches("//!").trim());
    let text = lines.collect::<Vec<_>>().join("\n") + "\0";
    let gpu = HostDevice::open(Options::default());
    let driver = &gpu.driver;
    driver.init().unwrap();
    let context = driver.context_create(driver.device(0).unwrap()).unwrap();
    let current = Current::set(&**driver, context).unwrap();
    let stream = driver.stream_create(&current).unwrap();
    let memory = driver.memory_allocate(&current, 16).unwrap();
    let module = driver.module_load(&current, text.as_bytes()).unwrap();
    let function = driver.module_function(module, kernel).unwrap();
    if is_freed {
        driver.memory_free(memory).unwrap();
    }
    let config = LaunchConfig {
        grid: [1; 3],
        block: [threads, 1, 1],
        shared_bytes: 0,
    };
    let arguments = [Argument::Pointer(memory)];
    driver
        .launch(&current, function, config, stream, &arguments)
        .unwrap();
    let error = driver.stream_synchronize(stream).unwrap_err();
    assert_eq!(error.status, expected);
    let message = error
        .details
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        guide().contains(&message),
        "the guide does not show:\n{message}"
    );
}

#[test]
fn an_access_out_of_bounds_is_reported_as_the_guide_shows() {
    check("fill", 5, false, Status::ILLEGAL_ADDRESS);
}

#[test]
fn a_use_after_free_is_reported_as_the_guide_shows() {
    check("first", 1, true, Status::ILLEGAL_ADDRESS);
}

#[test]
fn a_race_between_barriers_is_reported_as_the_guide_shows() {
    check("swap", 64, false, Status::LAUNCH_FAILED);
}

#[test]
fn a_divergent_barrier_is_reported_as_the_guide_shows() {
    check("half", 64, false, Status::LAUNCH_FAILED);
}
