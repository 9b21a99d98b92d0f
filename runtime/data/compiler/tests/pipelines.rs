//! Random pipelines of programs, with and without the pass: the same elements, errors and ends, on
//! all queues, and the same rest behind a checkpoint at every position.

use std::fmt::Write;
use std::sync::Arc;

use tfrt::data::{DataIterator, Dataset, IterationResult, Outcome};
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt::text::ir::{PrintOptions, print};
use tfrt_data_compiler::{OptimizeDataOptions, optimize};

tfrt::link!(tfrt_kernels);

/// Returns 60 divided by each element.
#[tfrt_kernel("check.divide_sixty", pure)]
fn divide_sixty(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let numbers = x.elements::<i32>()?;
    if numbers.contains(&0) {
        return Err(Error::new("no inverse of 0"));
    }
    let quotient = |at: usize| 60 / numbers[at];
    Ok(DenseHostTensor::from_fn(
        ctx.allocator(),
        x.shape().clone(),
        quotient,
    )?)
}

const FUNCTIONS: &str = r#"
func private @add_one(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
func private @plus(%k: i32, %x: i32) -> i32 {
  %y = tfrt.add.i32 %k, %x
  tfrt.return %y : i32
}
func private @inverse(%x: i32) -> i32 {
  %n = tfrt.constant.i32 60
  %q, %r = tfrt.div.i32 %n, %x
  tfrt.return %q : i32
}
func private @seven(%x: i32) -> i32 {
  %n = tfrt.constant.i32 7
  tfrt.return %n : i32
}
func private @late(%x: i32) -> i32 {
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  tfrt.return %y : i32
}
func private @even(%x: i32) -> i1 {
  %two = tfrt.constant.i32 2
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %x, %two
  %b = tfrt.equal.i32 %r, %zero
  tfrt.return %b : i1
}
func private @small(%x: i32) -> i1 {
  %n = tfrt.constant.i32 20
  %b = "tfrt.lessequal.i32"(%x, %n) : (i32, i32) -> i1
  tfrt.return %b : i1
}
func private @divides(%x: i32) -> i1 {
  %n = tfrt.constant.i32 12
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %n, %x
  %b = tfrt.equal.i32 %r, %zero
  tfrt.return %b : i1
}
"#;

/// Random numbers of a test: those of a linear congruence.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A random chain of stages.
fn program(choices: &mut Choices) -> String {
    let mut body = String::new();
    for number in -1..10 {
        let name = if number < 0 {
            "m1".to_owned()
        } else {
            number.to_string()
        };
        writeln!(body, "  %n{name} = tfrt.constant.i64 {number}").unwrap();
    }
    writeln!(body, "  %three = tfrt.constant.i32 3").unwrap();
    writeln!(
        body,
        "  %d0 = tfrt_data.range_dataset %nm1, %n9, %n1 {{ element_type = i32 }}"
    )
    .unwrap();
    let num_stages = 2 + choices.below(7);
    for stage in 1..=num_stages {
        let input = format!("%d{}", stage - 1);
        let policy = match choices.below(6) {
            0 => ", on_error = \"skip(2)\"",
            1 => ", on_error = \"stop\"",
            _ => "",
        };
        let op = match choices.below(12) {
            0..=2 => {
                let function = choices.of(&["add_one", "inverse", "seven", "late"]);
                format!("map_dataset {input} {{ function = @{function}{policy} }}")
            }
            3 => {
                format!("map_dataset {input}, %three : i32 {{ function = @plus{policy} }}")
            }
            4..=6 => {
                let function = choices.of(&["even", "small", "divides"]);
                format!("filter_dataset {input} {{ function = @{function}{policy} }}")
            }
            7 => format!(
                "repeat_dataset {input}, {}",
                choices.of(&["%n1", "%n1", "%n2"])
            ),
            8 => format!(
                "skip_dataset {input}, {}",
                choices.of(&["%n0", "%nm1", "%n2"])
            ),
            9 => format!("take_dataset {input}, {}", choices.of(&["%nm1", "%n5"])),
            10 => {
                let num = choices.of(&["%n0", "%n2", "%n3", "%nm1"]);
                let keeps_order = choices.of(&["true", "true", "false"]);
                // Elements overtake others only if these are late.
                let keeps_order = if body.contains("@late") {
                    "true"
                } else {
                    keeps_order
                };
                format!("prefetch_dataset {input}, {num} {{ is_deterministic = {keeps_order} }}")
            }
            _ => format!("shuffle_dataset {input}, %n4, %n1, %n2"),
        };
        writeln!(body, "  %d{stage} = tfrt_data.{op}").unwrap();
    }
    let mut last = format!("%d{num_stages}");
    if choices.below(3) == 0 {
        writeln!(body, "  %batches = tfrt_data.batch_dataset {last}, %n3").unwrap();
        last = "%batches".to_owned();
    }
    format!(
        "{FUNCTIONS}func @pipeline() -> !tfrt_data.dataset {{\n{body}  tfrt.return {last} : !tfrt_data.dataset\n}}\n"
    )
}

/// The text of a program after the pass.
fn optimized(source: &str, kernels: &Arc<KernelRegistry>, options: OptimizeDataOptions) -> String {
    let mut module = tfrt::text::parse_program(source, "pipeline.mlir", kernels).unwrap();
    let root = module.root();
    optimize(&mut module, root, options);
    print(&module, &PrintOptions::default())
}

fn context(kernels: &Arc<KernelRegistry>, queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .registry(Arc::clone(kernels))
        .queue(create_queue(queue).unwrap())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// The pipeline that a program makes.
fn dataset(source: &str, kernels: &Arc<KernelRegistry>, ctx: &ExecutionContext) -> Dataset {
    let file = tfrt::text::compile(source, "pipeline.mlir", kernels);
    let file = file.unwrap_or_else(|errors| panic!("{errors:?}\n{source}"));
    let program = Program::load(ctx.host(), &file).unwrap();
    let made = program.function("pipeline").unwrap().execute(ctx, &[]);
    ctx.host().await_values(&made).unwrap();
    made[0].get::<Dataset>().unwrap().clone()
}

/// What a consumer sees of a draw.
fn item(iterator: &mut DataIterator, ctx: &ExecutionContext) -> String {
    let wait = |value: &AnyRef| {
        ctx.host()
            .await_available(std::slice::from_ref(value))
            .unwrap()
    };
    let outcome = match iterator.draw(ctx).into_outcome() {
        Ok(outcome) => outcome,
        Err(pending) => {
            wait(pending.as_any());
            IterationResult::Pending(pending).into_outcome().unwrap()
        }
    };
    let message = |value: &AnyRef| value.error_if_present().unwrap().message().to_owned();
    match outcome {
        Outcome::End(_) => "end".to_owned(),
        // A stage that finds an error before it delivers says so; a later error is in the values.
        Outcome::Error(error) => format!("error: {}", message(&error)),
        Outcome::Element(values) => {
            wait(&values[0]);
            if values[0].is_error() {
                return format!("error: {}", message(&values[0]));
            }
            match values[0].get::<i32>() {
                Some(number) => number.to_string(),
                None => values[0].get::<DenseHostTensor>().unwrap().to_string(),
            }
        }
    }
}

const NUM_ITEMS: usize = 24;

fn items(mut iterator: DataIterator, num: usize, ctx: &ExecutionContext) -> Vec<String> {
    (0..num).map(|_| item(&mut iterator, ctx)).collect()
}

#[test]
fn pipelines_deliver_the_same_behind_the_pass_and_behind_checkpoints() {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let mut num_changed = 0;
    for seed in 0..150 {
        let source = program(&mut Choices(seed * 7919 + 1));
        for num_parallel in [None, Some(3)] {
            let text = optimized(&source, &kernels, OptimizeDataOptions { num_parallel });
            for queue in ["s", "mstd:2"] {
                let ctx = context(&kernels, queue);
                let before = dataset(&source, &kernels, &ctx);
                let after = dataset(&text, &kernels, &ctx);
                num_changed += usize::from(before.height() > after.height());
                let expected = items(before.iterator(), NUM_ITEMS, &ctx);
                let found = items(after.iterator(), NUM_ITEMS, &ctx);
                assert_eq!(found, expected, "{queue}\n{source}\n{text}");
                let position = seed as usize % 9;
                let mut saved = after.iterator();
                for _ in 0..position {
                    item(&mut saved, &ctx);
                }
                let checkpoint = saved.save(&ctx).unwrap();
                let restored = after.restore(&checkpoint, &ctx).unwrap();
                let rest = items(restored, NUM_ITEMS - position, &ctx);
                assert_eq!(
                    rest,
                    expected[position..],
                    "at {position}\n{source}\n{text}"
                );
            }
        }
    }
    assert!(num_changed > 180, "{num_changed}");
}

/// The stages of the only pipeline of a program after the pass, from the last to the first.
fn stages(stages: &str, options: OptimizeDataOptions) -> String {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let source = format!(
        "{FUNCTIONS}
func private @prints(%x: i32) -> i32 {{
  %c = tfrt.new.chain
  %d = tfrt.print.i32 %x, %c
  tfrt.return %x : i32
}}
func @pipeline() -> !tfrt_data.dataset {{
  %m1 = tfrt.constant.i64 -1
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %five = tfrt.constant.i64 5
  %three = tfrt.constant.i32 3
  %d = tfrt_data.range_dataset %zero, %five, %one {{ element_type = i32 }}
{stages}  tfrt.return %last : !tfrt_data.dataset
}}
"
    );
    let ctx = context(&kernels, "s");
    let text = optimized(&source, &kernels, options);
    names_of(&dataset(&text, &kernels, &ctx))
}

/// The stages of a pipeline, from the last to the first, with their functions.
fn names_of(dataset: &Dataset) -> String {
    let description = dataset.description().to_string();
    let lines = description.lines().map(str::trim);
    let name = |line: &str| match line.split_once(" (") {
        Some((name, attributes)) => match attributes.split_once('@') {
            Some((_, function)) => {
                let (function, _) = function.split_once('(').unwrap_or((function, ""));
                format!("{name} @{function}")
            }
            None => name.to_owned(),
        },
        None => line.to_owned(),
    };
    lines.map(name).collect::<Vec<_>>().join(", ")
}

#[test]
fn stages_are_merged_and_removed() {
    let plain = OptimizeDataOptions::default();
    let merged = "
  %a = tfrt_data.map_dataset %d { function = @add_one }
  %b = tfrt_data.map_dataset %a, %three : i32 { function = @plus }
  %c = tfrt_data.filter_dataset %b { function = @even }
  %e = tfrt_data.repeat_dataset %c, %one
  %last = tfrt_data.filter_dataset %e { function = @small }
";
    assert_eq!(
        stages(merged, plain),
        "filter @even.small, map @add_one.plus, range"
    );
    let parallel = OptimizeDataOptions {
        num_parallel: Some(-1),
    };
    assert_eq!(
        stages(merged, parallel),
        "filter @even.small, parallel_map @add_one.plus, range"
    );
    let removed = "
  %a = tfrt_data.skip_dataset %d, %zero
  %b = tfrt_data.take_dataset %a, %m1
  %c = tfrt_data.shard_dataset %b, %one, %zero
  %last = tfrt_data.prefetch_dataset %c, %zero { is_deterministic = true }
";
    assert_eq!(stages(removed, plain), "range");
    let prefetches = "
  %a = tfrt_data.prefetch_dataset %d, %one { is_deterministic = true }
  %b = tfrt_data.prefetch_dataset %a, %five { is_deterministic = true }
  %last = tfrt_data.prefetch_dataset %b, %m1 { is_deterministic = true }
";
    // A number of threads is not a number yet.
    assert_eq!(stages(prefetches, plain), "prefetch, prefetch, range");
    let batch = "
  %a = tfrt_data.map_dataset %d { function = @late }
  %last = tfrt_data.batch_dataset %a, %five { drop_remainder = true }
";
    // A batch with a map calls its function for elements only. `@late` is not known to be pure, so
    // it stays unmerged.
    assert_eq!(stages(batch, plain), "batch, map @late, range");
    let pure = batch.replace("@late", "@add_one");
    assert_eq!(stages(&pure, plain), "map_and_batch @add_one, range");
}

/// Functions of tensors, elementwise and not.
const OF_TENSORS: &str = r#"
func private @inverses(%x: !t.tensor) -> !t.tensor attributes {tfrt_data.elementwise} {
  %y = "check.divide_sixty"(%x) : (!t.tensor) -> !t.tensor
  tfrt.return %y : !t.tensor
}
func private @as_they_are(%x: !t.tensor) -> !t.tensor attributes {tfrt_data.elementwise} {
  tfrt.return %x : !t.tensor
}
func private @whole(%x: !t.tensor) -> !t.tensor {
  %y = "check.divide_sixty"(%x) : (!t.tensor) -> !t.tensor
  tfrt.return %y : !t.tensor
}
func private @number(%x: i32) -> i32 attributes {tfrt_data.elementwise} {
  tfrt.return %x : i32
}
"#;

/// A pipeline over tensors of two numbers each, from -3 to 7.
fn of_tensors(stages: &str) -> String {
    format!(
        "{OF_TENSORS}
func @pipeline() -> !tfrt_data.dataset {{
  %m3 = tfrt.constant.i64 -3
  %eight = tfrt.constant.i64 8
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %three = tfrt.constant.i64 3
  %n = tfrt_data.range_dataset %m3, %eight, %one {{ element_type = i32 }}
  %d = tfrt_data.batch_dataset %n, %two {{ drop_remainder = true }}
{stages}  tfrt.return %last : !tfrt_data.dataset
}}
"
    )
}

#[test]
fn elementwise_functions_are_called_for_whole_batches() {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    for (before, after) in [
        (
            "  %a = tfrt_data.map_dataset %d { function = @inverses }
  %last = tfrt_data.batch_dataset %a, %two\n",
            "map @inverses, batch, batch, range",
        ),
        (
            "  %a = tfrt_data.map_dataset %d { function = @inverses }
  %b = tfrt_data.map_dataset %a { function = @as_they_are }
  %last = tfrt_data.batch_dataset.tensor %b, %two { same_input_metadata = true }\n",
            "map @inverses.as_they_are, batch, batch, range",
        ),
        // The policy of the batch is for the errors of the function, too.
        (
            "  %a = tfrt_data.map_dataset %d { function = @inverses }
  %last = tfrt_data.batch_dataset %a, %two { on_error = \"stop\" }\n",
            "on_error, map @inverses, batch, batch, range",
        ),
        (
            "  %a = tfrt_data.map_dataset %d { function = @inverses }
  %b = tfrt_data.batch_dataset %a, %two
  %last = tfrt_data.batch_dataset %b, %two\n",
            "map @inverses, batch, batch, batch, range",
        ),
        // Functions that are not said to be elementwise, or not of tensors, stay below, and so do
        // those with a policy of their own.
        (
            "  %a = tfrt_data.map_dataset %d { function = @whole }
  %last = tfrt_data.batch_dataset %a, %two\n",
            "map_and_batch @whole, batch, range",
        ),
        (
            "  %a = tfrt_data.map_dataset %n { function = @number }
  %last = tfrt_data.batch_dataset %a, %two\n",
            "map_and_batch @number, range",
        ),
        (
            "  %a = tfrt_data.map_dataset %d { function = @inverses, on_error = \"stop\" }
  %last = tfrt_data.batch_dataset %a, %two\n",
            "batch, on_error, map @inverses, batch, range",
        ),
    ] {
        let source = of_tensors(before);
        let text = optimized(&source, &kernels, OptimizeDataOptions::default());
        for queue in ["s", "mstd:2"] {
            let ctx = context(&kernels, queue);
            let (plain, better) = (
                dataset(&source, &kernels, &ctx),
                dataset(&text, &kernels, &ctx),
            );
            assert_eq!(names_of(&better), after, "{text}");
            let expected = items(plain.iterator(), 6, &ctx);
            assert_eq!(items(better.iterator(), 6, &ctx), expected, "{text}");
            let mut saved = better.iterator();
            item(&mut saved, &ctx);
            let checkpoint = saved.save(&ctx).unwrap();
            let restored = better.restore(&checkpoint, &ctx).unwrap();
            assert_eq!(items(restored, 5, &ctx), expected[1..], "{text}");
        }
    }
}

#[test]
fn stages_that_show_it_stay_apart() {
    let plain = OptimizeDataOptions::default();
    let prints = "
  %a = tfrt_data.map_dataset %d { function = @prints }
  %last = tfrt_data.map_dataset %a { function = @add_one }
";
    assert_eq!(stages(prints, plain), "map @add_one, map @prints, range");
    let parallel = OptimizeDataOptions {
        num_parallel: Some(4),
    };
    assert_eq!(
        stages(prints, parallel),
        "parallel_map @add_one, map @prints, range"
    );
    let policy = "
  %a = tfrt_data.map_dataset %d { function = @inverse, on_error = \"stop\" }
  %last = tfrt_data.map_dataset %a { function = @add_one }
";
    assert_eq!(
        stages(policy, plain),
        "map @add_one, on_error, map @inverse, range"
    );
    let order = "
  %a = tfrt_data.shuffle_dataset %d, %five, %one, %one
  %b = tfrt_data.repeat_dataset %a, %five
  %c = tfrt_data.shuffle_dataset %b, %five, %one, %one
  %last = tfrt_data.skip_dataset %c, %one
";
    assert_eq!(
        stages(order, plain),
        "skip, shuffle, repeat, shuffle, range"
    );
}
