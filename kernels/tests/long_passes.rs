//! A long pass takes no more stack and no more memory than a short one.
//!
//! With `TFRT_LONG_TESTS` set, it has 10^8 elements; `.ci/run passes` does that.

#![cfg(target_os = "linux")]

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

/// Elements are mapped, filtered, gathered in batches, and enumerated.
const PROGRAM: &str = "
func @next(%x: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %y = tfrt.add.i64 %x, %one
  tfrt.return %y : i64
}

func @is_even(%x: i64) -> i1 {
  %two = tfrt.constant.i64 2
  %zero = tfrt.constant.i64 0
  %q, %r = tfrt.div.i64 %x, %two
  %b = tfrt.equal.i64 %r, %zero
  tfrt.return %b : i1
}

func @count(%batch: !t.tensor, %num: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %sum = tfrt.add.i64 %num, %one
  tfrt.return %sum : i64
}

func @main(%stop: i64) -> i64 {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %size = tfrt.constant.i64 256
  %range = tfrt_data.range_dataset %zero, %stop, %one { element_type = i64 }
  %mapped = tfrt_data.map_dataset %range { function = @next }
  %even = tfrt_data.filter_dataset %mapped { function = @is_even }
  %batches = tfrt_data.batch_dataset.i64 %even, %size { same_input_metadata = true }
  %iterator = tfrt_data.make_iterator %batches
  %num = tfrt_data.enumerate.iterator %iterator, %zero { function = @count } : i64
  tfrt.return %num : i64
}
";

/// Far less than a level for each element would take.
const STACK_BYTES: usize = 1 << 20;

/// How much the process may grow by: what an allocator keeps for itself.
const MAX_GROWTH_BYTES: u64 = 8 << 20;

fn num_elements() -> i64 {
    match std::env::var_os("TFRT_LONG_TESTS") {
        Some(_) => 100_000_000,
        None => 30_000,
    }
}

/// The memory of the process that is in use, in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse::<u64>().unwrap() * 1024
}

#[test]
fn a_long_pass_takes_constant_stack_and_memory() {
    let pass = || {
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let file = tfrt::text::compile(PROGRAM, "pass.mlir", &kernels).unwrap();
        let host = HostContext::builder().registry(kernels).build();
        let program = Program::load(&host, &file).unwrap();
        let count = program.function("main").unwrap();
        let run = |num_elements: i64| {
            let request = RequestContextBuilder::new(Arc::clone(&host)).build();
            let ctx = ExecutionContext::new(request);
            let results = count.execute(&ctx, &[AnyRef::available(num_elements)]);
            host.await_available(&results).unwrap();
            let num_batches = (num_elements / 2 + 255) / 256;
            assert_eq!(results[0].get(), Some(&num_batches));
        };
        let num_elements = num_elements();
        run(num_elements / 10);
        let before = resident_bytes();
        run(num_elements);
        let growth = resident_bytes().saturating_sub(before);
        assert!(growth <= MAX_GROWTH_BYTES, "grown by {growth} bytes");
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(pass).unwrap().join().unwrap();
}
