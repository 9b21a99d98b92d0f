//! Random programs whose ops run on several tasks: they print the same if all ops run on one.

use std::fmt::Write;

use crate::programs;
use crate::tool::{self, Output};

const CASES: u64 = 12;
const NUM_OPS: usize = 10;
const PASSES: [&str; 3] = [
    "--insert-send-recv",
    "--cluster-by-host",
    "--tfrt-dist-remote-run-encapsulate",
];

/// Compares random programs before and after the passes that spread them over tasks.
///
/// # Errors
/// The program, and what differs.
pub fn check() -> Result<(), String> {
    let mut num_remote = 0;
    for seed in 0..CASES {
        let program = program(&mut Random(seed));
        let whole = run("tfrt", &["run", "--work_queue_type=s"], &program)?;
        let parts: Vec<&str> = std::iter::once("opt").chain(PASSES).collect();
        let parts = run("tfrt", &parts, &program)?;
        let parts = String::from_utf8_lossy(&parts.stdout).into_owned();
        num_remote += parts.matches("tfrt_dist.remote_execute_th").count();
        for queue in ["--work_queue_type=s", "--work_queue_type=mstd:4"] {
            let found = run("tfrt", &["run", queue], &parts)?;
            let [expected, found] = [&whole, &found].map(|run| (run.status, printed(run)));
            if expected != found {
                return Err(format!(
                    "seed {seed}, {queue}: expected {expected:?}, found {found:?} of\n{program}"
                ));
            }
        }
    }
    match num_remote {
        0 => Err("expected programs with several tasks, found none".to_owned()),
        _ => Ok(()),
    }
}

fn run(tool: &str, arguments: &[&str], input: &str) -> Result<Output, String> {
    let mut command =
        tool::command(tool, &programs::directory()).map_err(|error| error.to_string())?;
    command.args(arguments);
    tool::run_with_input(command, input.as_bytes()).map_err(|error| error.to_string())
}

/// Returns what a program prints after the lines that describe the run.
fn printed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let about_the_run = ["Choosing", "--- Not running"];
    let is_own = |line: &&str| !about_the_run.iter().any(|start| line.starts_with(start));
    let own = text.lines().filter(is_own);
    own.map(|line| format!("{line}\n")).collect()
}

/// Returns a program with one function over three tasks: ops make tensors, add them, print them in
/// the order of a chain, and fail.
fn program(random: &mut Random) -> String {
    let mut body = String::new();
    let mut values: Vec<String> = Vec::new();
    let mut chain = "%ch".to_owned();
    for number in 0..NUM_OPS {
        let device = match random.below(4) {
            0 => String::new(),
            task => format!("device = \"/job:worker/task:{}/device:CPU:0\"", task - 1),
        };
        let any = |random: &mut Random| values[random.below(values.len())].clone();
        let new = format!("%v{number}");
        let line = match random.below(8) {
            _ if values.is_empty() => made(&new, &device, random),
            0 => made(&new, &device, random),
            1 | 2 => {
                let printed = any(random);
                let next = format!("%c{number}");
                let line = format!(
                    "{next} = corert.executeop.seq(%cpu, {chain}) \"tfrt_test.print\"({printed}) \
                     {{{device}}} : 0"
                );
                chain = next;
                writeln!(body, "  {line}").unwrap_or_default();
                continue;
            }
            3 if random.below(4) == 0 => {
                let a = any(random);
                format!("{new} = corert.executeop(%cpu) \"my.unknown\"({a}) {{{device}}} : 1")
            }
            _ => {
                let (a, b) = (any(random), any(random));
                format!("{new} = corert.executeop(%cpu) \"tf.AddV2\"({a}, {b}) {{{device}}} : 1")
            }
        };
        writeln!(body, "  {line}").unwrap_or_default();
        values.push(new);
    }
    let last = values.last().cloned().unwrap_or_default();
    format!(
        r#"func private @parts(%ctx: !tfrt_dist.dist_context, %ch: !tfrt.chain) -> (!tfrt.chain, !corert.tensorhandle) attributes {{host = "/job:worker/task:0"}} {{
  %cpu = corert.get_op_handler %ch "cpu"
{body}  tfrt.return {chain}, {last} : !tfrt.chain, !corert.tensorhandle
}}
func @main() -> (!tfrt.chain, !tfrt.chain) {{
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %cl, %w1, %w2 = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %ch = corert.register_op_handler %cpu "cpu"
  %n1 = "tfrt_dist.test_process_next_request"(%w1, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n2 = "tfrt_dist.test_process_next_request"(%w2, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %c, %y = tfrt.call @parts(%cl, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> (!tfrt.chain, !corert.tensorhandle)
  %p = "corert.print_tensorhandle"(%y, %c) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %e0 = tfrt_dist.test_close_distributed_context %cl, %p
  %e1 = tfrt_dist.test_close_distributed_context %w1, %e0
  %e2 = tfrt_dist.test_close_distributed_context %w2, %e1
  tfrt.return %c, %e2 : !tfrt.chain, !tfrt.chain
}}
"#
    )
}

/// Returns an op that makes a tensor of two numbers.
fn made(new: &str, device: &str, random: &mut Random) -> String {
    let numbers = [random.below(100), random.below(100)];
    let [a, b] = numbers.map(|number| format!("{number} : i32"));
    let separator = if device.is_empty() { "" } else { ", " };
    format!(
        "{new} = corert.executeop(%cpu) \"tfrt_test.create_dense_tensor\"() {{{device}{separator}\
         shape = [2 : i64], values = [{a}, {b}]}} : 1"
    )
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap_or(0)
    }
}
