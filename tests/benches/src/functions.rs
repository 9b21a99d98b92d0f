//! Functions of many small ops: what it takes to infer their metadata, and what an op of such a
//! function costs once the function is lowered, beside the same kernel in a graph.
//!
//! The graph and the function take turns, so that whatever else the machine does meets both alike;
//! the least time of each is what is told. What they compute is compared first.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt::core::{CoreRuntime, EagerContext, ReadyOp, TensorHandle};
use tfrt::executor::Program;
use tfrt::function_ops::{FunctionOps, FunctionProgram, infer_metadata};
use tfrt::host::{FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_tensor::DenseHostTensor;

/// The ops, of which every second one has two operands.
const OPS: [&str; 2] = ["tf.AddV2", "tf.Relu"];

/// A chain of `num_ops` ops, as a graph of kernels and as a function of ops.
struct Forms {
    eager: Arc<EagerContext>,
    ctx: ExecutionContext,
    program: FunctionProgram,
    /// A function of `num_ops` ops, each on tensors of a shape of its own.
    distinct: FunctionProgram,
    graph: FunctionRef,
    lowered: ReadyOp,
    x: TensorHandle,
}

/// Returns the program text. Both functions return the last of `num_ops` results.
fn text(num_ops: usize) -> String {
    let (mut graph, mut ops) = (String::new(), String::new());
    for number in 0..num_ops {
        let op = OPS[number % OPS.len()];
        let x = match number {
            0 => "%x".to_owned(),
            _ => format!("%v{}", number - 1),
        };
        let (operands, types) = match op {
            "tf.AddV2" => (format!("{x}, %x"), "!t.tensor, !t.tensor"),
            _ => (x, "!t.tensor"),
        };
        let _ = writeln!(
            graph,
            "  %v{number} = \"{op}\"({operands}) : ({types}) -> !t.tensor"
        );
        let _ = writeln!(
            ops,
            "  %v{number} = corert.executeop(%cpu) \"{op}\"({operands}) : 1"
        );
    }
    let last = num_ops - 1;
    format!(
        "func @graph(%x: !t.tensor) -> !t.tensor {{
{graph}  tfrt.return %v{last} : !t.tensor
}}

func @ops(%x: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {{corert.arguments = [tensor<4xf32>]}} {{
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c \"cpu\"
{ops}  tfrt.return %v{last} : !corert.tensorhandle
}}
"
    )
}

/// Returns a program of one function, whose ops each have operands of another shape than the ones
/// before.
fn distinct_text(num_ops: usize) -> String {
    let (mut arguments, mut types, mut ops) = (String::new(), String::new(), String::new());
    for number in 0..num_ops {
        let comma = if number == 0 { "" } else { ", " };
        let _ = write!(arguments, "{comma}%x{number}: !corert.tensorhandle");
        let _ = write!(types, "{comma}tensor<{}x4xf32>", number + 1);
        let op = OPS[number % OPS.len()];
        let operands = match op {
            "tf.AddV2" => format!("%x{number}, %x{number}"),
            _ => format!("%x{number}"),
        };
        let _ = writeln!(
            ops,
            "  %v{number} = corert.executeop(%cpu) \"{op}\"({operands}) : 1"
        );
    }
    format!(
        "func @ops({arguments}) attributes {{corert.arguments = [{types}]}} {{
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c \"cpu\"
{ops}  tfrt.return
}}
"
    )
}

impl Forms {
    fn new(num_ops: usize, queue: &str) -> Result<Self> {
        let registry = Arc::new(KernelRegistry::from_link().map_err(Error::other)?);
        let host = HostContext::builder()
            .registry(Arc::clone(&registry))
            .queue(create_queue(queue).map_err(Error::other)?)
            .build();
        let eager = EagerContext::builder(Arc::clone(&host)).build()?;
        let text = text(num_ops);
        let file = tfrt::text::compile(&text, "functions.mlir", &registry).map_err(Error::other)?;
        let missing = || Error::new("the program has no function `graph`");
        let graph = Program::load(&host, &file)?
            .function("graph")
            .ok_or_else(missing)?;
        let program = |text: &str| {
            FunctionProgram::from_text(text, "functions.mlir", &registry).map_err(Error::other)
        };
        let (program, distinct) = (program(&text)?, program(&distinct_text(num_ops))?);
        Ok(Self {
            ctx: ExecutionContext::new(RequestContextBuilder::new(host).build()),
            graph,
            lowered: eager.function_op(&program, "ops")?,
            x: eager.tensor([-1.0_f32, 0.5, 2.0, 0.0])?,
            program,
            distinct,
            eager,
        })
    }

    fn run_graph(&self) -> Result<AnyRef> {
        let tensor = self.x.tensor().cloned();
        let results = self.graph.execute(&self.ctx, tensor.as_slice());
        self.ctx.host().await_values(&results)?;
        Ok(results[0].clone())
    }

    fn run_lowered(&self) -> Result<AnyRef> {
        self.eager.wait(&self.lowered.call(&[&self.x])?).cloned()
    }

    /// Checks that both forms compute the same.
    fn compare(&self) -> Result<()> {
        let elements = |result: AnyRef| -> Result<Vec<f32>> {
            let tensor = result.try_read::<DenseHostTensor>()?;
            Ok(tensor.elements::<f32>()?.to_vec())
        };
        let (expected, found) = (elements(self.run_graph()?)?, elements(self.run_lowered()?)?);
        if expected == found {
            return Ok(());
        }
        let message = format!("the graph computes {expected:?}, the function {found:?}");
        Err(Error::new(message))
    }

    /// Infers the metadata of all results of the ops of a program, and returns the time that this
    /// took.
    fn infer(&self, program: &FunctionProgram) -> Result<Duration> {
        let mut module = program.module().clone();
        let func = module.lookup_symbol(module.root(), "ops");
        let func = func.ok_or_else(|| Error::new("the program has no function `ops`"))?;
        let runtime = CoreRuntime::of(self.eager.host());
        let start = Instant::now();
        let findings = infer_metadata(&mut module, func, runtime.ops());
        let time = start.elapsed();
        match findings.first() {
            None => Ok(time),
            Some(finding) => Err(Error::new(finding.to_string())),
        }
    }
}

/// Returns the least time that each of these takes, in turns.
fn least<const N: usize>(
    num_runs: usize,
    timed: [&dyn Fn() -> Result<Duration>; N],
) -> Result<[Duration; N]> {
    let mut least = [Duration::MAX; N];
    for _ in 0..num_runs.max(1) {
        for (run, least) in timed.iter().zip(&mut least) {
            *least = run()?.min(*least);
        }
    }
    Ok(least)
}

/// Prints what an op of a function costs: its metadata, and its run.
///
/// # Errors
/// If the forms do not compute the same.
pub fn print(num_runs: usize) -> Result<()> {
    const NUM_OPS: usize = 1_000;
    let forms = Forms::new(NUM_OPS, "s")?;
    forms.compare()?;
    let timed = |run: &dyn Fn() -> Result<AnyRef>| {
        let start = Instant::now();
        drop(run()?);
        Ok(start.elapsed())
    };
    let [metadata, distinct, graph, lowered] = least(
        num_runs,
        [
            &|| forms.infer(&forms.program),
            &|| forms.infer(&forms.distinct),
            &|| timed(&|| forms.run_graph()),
            &|| timed(&|| forms.run_lowered()),
        ],
    )?;
    let per_op = |time: Duration| time.as_secs_f64() * 1e9 / NUM_OPS as f64;
    println!("a function of {NUM_OPS} ops, per op");
    println!("  metadata inferred        {:>8.1} ns", per_op(metadata));
    println!("  of a shape for each op   {:>8.1} ns", per_op(distinct));
    println!("  run as a graph           {:>8.1} ns", per_op(graph));
    let ratio = lowered.as_secs_f64() / graph.as_secs_f64();
    println!(
        "  run as an op, lowered    {:>8.1} ns   {ratio:.2} of the graph",
        per_op(lowered)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_compute_the_same_and_metadata_is_inferred() {
        for queue in ["s", "mstd:2"] {
            let forms = Forms::new(7, queue).unwrap();
            forms.compare().unwrap();
            forms.infer(&forms.program).unwrap();
            forms.infer(&forms.distinct).unwrap();
        }
    }
}
