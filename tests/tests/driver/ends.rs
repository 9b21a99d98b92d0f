//! The driver with kernels of a user: what they may do to it, and what it says of that.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use tfrt::kernel::NativeCall;
use tfrt::prelude::*;
use tfrt_tests::{programs, tool};

/// Returns 1 from a timer, whose thread goes on for a while with the value in its hands.
#[tfrt_kernel("driver.from_timer")]
fn from_timer(host: &HostContext) -> AsyncValueRef<i32> {
    let (promise, value) = AsyncValueRef::unconstructed();
    let kept = value.clone();
    host.timers()
        .schedule_after(Duration::from_micros(50), move || {
            promise.emplace(1);
            linger();
            drop(kept);
        });
    value
}

/// Returns 1 from a thread of its own, which goes on for a while with the value and the context in
/// its hands.
#[tfrt_kernel("driver.from_thread")]
fn from_thread(ctx: &ExecutionContext) -> AsyncValueRef<i32> {
    let (promise, value) = AsyncValueRef::unconstructed();
    let kept = (value.clone(), ctx.clone());
    thread::spawn(move || {
        promise.emplace(1);
        linger();
        drop(kept);
    });
    value
}

/// Long enough for the driver to come to the end of the function.
fn linger() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(20) {
        thread::yield_now();
    }
}

/// Returns 1, and cancels the request a little later.
#[tfrt_kernel("driver.cancel_soon")]
fn cancel_soon(ctx: &ExecutionContext) -> i32 {
    let request = ctx.request().clone();
    ctx.host()
        .timers()
        .schedule_after(Duration::from_millis(1), move || request.cancel());
    1
}

/// Leaves a value behind.
#[tfrt_kernel("driver.leak")]
fn leak() -> i32 {
    std::mem::forget(AnyRef::available(1));
    1
}

tfrt::native_function!("native_panics_late", native_panics_late);

/// Sets its result, and then panics.
fn native_panics_late(call: NativeCall<'_>) {
    call.results.fill(Some(AnyRef::available(1)));
    panic!("out of cheese");
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "a_thread_that_lets_go_late_is_no_leak",
            a_thread_that_lets_go_late_is_no_leak,
        ),
        Trial::test("a_leak_is_told", a_leak_is_told),
        Trial::test(
            "a_cancelled_benchmark_ends_without_a_report",
            a_cancelled_benchmark_ends_without_a_report,
        ),
        Trial::test(
            "a_native_function_that_panics_has_no_results",
            a_native_function_that_panics_has_no_results,
        ),
    ]
}

/// Runs a program, which is kept under a name, under a work queue.
fn run(name: &str, program: &str, queue: &str) -> Result<tool::Output, Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver-{name}.mlir"));
    fs::write(&path, program)?;
    let mut command = tool::command("tfrt", &programs::directory())?;
    command.args(["run", "--work_queue_type", queue]).arg(path);
    Ok(tool::run(command)?)
}

fn require(condition: bool, output: &tool::Output) -> Result<(), Failed> {
    if condition {
        return Ok(());
    }
    Err(Failed::from(format!(
        "status {:?}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )))
}

fn a_thread_that_lets_go_late_is_no_leak() -> Result<(), Failed> {
    for kernel in ["from_timer", "from_thread"] {
        let program = format!(
            "func @main() -> i32 {{\n  %a = \"driver.{kernel}\"() : () -> i32\n  %b = tfrt.add.i32 %a, %a\n  tfrt.return %b : i32\n}}"
        );
        for queue in ["s", "mstd:2"] {
            let output = run(kernel, &program, queue)?;
            require(output.status == Some(0), &output)?;
            require(output.stdout.ends_with(b"'main' returned 2\n"), &output)?;
        }
    }
    Ok(())
}

fn a_leak_is_told() -> Result<(), Failed> {
    let program =
        "func @main() -> i32 {\n  %a = \"driver.leak\"() : () -> i32\n  tfrt.return %a : i32\n}";
    let output = run("leak", program, "s")?;
    let told = b"Evaluation of function 'main' leaked 1 async values (before: 0, after: 1)!\n";
    // Values are counted in builds with debug assertions.
    let expected = if cfg!(debug_assertions) {
        &told[..]
    } else {
        b""
    };
    require(output.stderr == expected, &output)?;
    require(
        output.status == Some(i32::from(cfg!(debug_assertions))),
        &output,
    )
}

/// Neither of them runs a kernel that the executor could skip.
fn a_cancelled_benchmark_ends_without_a_report() -> Result<(), Failed> {
    let counts = "duration_secs = 1000, max_count = 2147483647, num_warmup_runs = 2147483647";
    let asynchronous = format!(
        "func @main() -> !tfrt.chain {{
           %x = \"driver.cancel_soon\"() : () -> i32
           %done = tfrt_test.benchmark \"endless\"(%x : i32) {counts} {{ tfrt.return %x : i32 }}
           tfrt.return %done : !tfrt.chain
         }}"
    );
    let synchronous = format!(
        "func private @nothing() attributes {{tfrt.sync}} {{ tfrt.return }}
         func private @endless(%a: i32, %b: i32) -> i32 attributes {{tfrt.sync}} {{
           tfrt_test.sync_benchmark @nothing() {counts}
           %one = \"tfrt.constant_s.i32\"() {{value = 1 : i32}} : () -> i32
           tfrt.return %one : i32
         }}
         func @main() -> i32 {{
           %x = \"driver.cancel_soon\"() : () -> i32
           // expected-error @+1 {{{{Cancelled}}}}
           %r = \"tfrt_test.invoke_sync_function.i32_i32.i32\"(%x, %x) {{fn = @endless}} : (i32, i32) -> i32
           tfrt.return %r : i32
         }}"
    );
    for (name, program) in [
        ("async-benchmark", asynchronous),
        ("sync-benchmark", synchronous),
    ] {
        for queue in ["s", "mstd:2"] {
            let output = run(name, &program, queue)?;
            require(output.status == Some(0), &output)?;
            let result = b"'main' returned <<error: Cancelled>>\n";
            require(output.stdout.ends_with(result), &output)?;
        }
    }
    Ok(())
}

fn a_native_function_that_panics_has_no_results() -> Result<(), Failed> {
    let program = "func private @native_panics_late() -> i32 attributes {tfrt.native}\n\
                   func @main() -> i32 {\n  %a = tfrt.call @native_panics_late() : () -> i32\n  tfrt.return %a : i32\n}";
    let output = run("native", program, "s")?;
    let result =
        b"'main' returned <<error: kernel 'native_panics_late' panicked: out of cheese>>\n";
    require(output.stdout.ends_with(result), &output)
}
