//! Which functions may run as graphs.

use tfrt::ods::{OpDef, OpTraits};
use tfrt::prelude::*;

/// The kernels that put work on the stream among their operands, and do nothing else.
const ENQUEUING: &[&str] = &[
    "tfrt_gpu.blas.axpy",
    "tfrt_gpu.blas.gemm",
    "tfrt_gpu.blas.gemm.batch",
    "tfrt_gpu.blas.scal",
    "tfrt_gpu.dnn.convolution_backward_data",
    "tfrt_gpu.dnn.convolution_backward_filter",
    "tfrt_gpu.dnn.convolution_bias_activation_forward",
    "tfrt_gpu.dnn.convolution_forward",
    "tfrt_gpu.dnn.pooling_backward",
    "tfrt_gpu.dnn.pooling_forward",
    "tfrt_gpu.dnn.run_convolution",
    "tfrt_gpu.dnn.run_fused_convolution",
    "tfrt_gpu.fft.execute",
    "tfrt_gpu.function.launch",
    "tfrt_gpu.mem.copy",
    "tfrt_gpu.mem.set",
];

/// The kernel that calls a function.
const CALL: &str = "tfrt.call";

/// The most calls inside of a function.
const MAX_CALLS: usize = 1000;

/// Returns the reason why a function cannot run as a graph, or `None` if it can.
///
/// A function can if it has one stream, and its kernels, and those of the functions that it calls,
/// put work on a stream or compute numbers and handles. All of them return at once, and nothing but
/// the work remains. Not among them are kernels that allocate memory, wait, print, or use events.
pub(super) fn unsuitable(function: &FunctionRef) -> Option<String> {
    let arguments = function.argument_types();
    let leading = arguments.get(..2);
    if leading != Some(&["!tfrt.chain", "!tfrt_gpu.stream"])
        || function.result_types() != ["!tfrt.chain"]
    {
        return Some(
            "expected a function that takes a chain, a stream and other values, and returns a chain"
                .to_owned(),
        );
    }
    let is_stream = |ty: &&&str| **ty == "!tfrt_gpu.stream";
    if arguments.iter().filter(is_stream).count() > 1 {
        return Some("the function takes several streams".to_owned());
    }
    let mut unvisited = vec![function.clone()];
    let mut num_visited = 0;
    while let Some(next) = unvisited.pop() {
        num_visited += 1;
        if num_visited > MAX_CALLS {
            return Some(format!("the function makes more than {MAX_CALLS} calls"));
        }
        let Some(ops) = next.ops() else {
            return Some(format!("`{}` is a native function", next.name()));
        };
        for (op, functions) in ops {
            if op.name == CALL {
                unvisited.extend(functions);
            } else if !functions.is_empty() || !is_suitable(op) {
                return Some(format!("a graph cannot contain the kernel `{}`", op.name));
            }
        }
    }
    None
}

fn is_suitable(op: &OpDef) -> bool {
    let is_known = ["tfrt.constant.", "tfrt_gpu."]
        .iter()
        .any(|prefix| op.name.starts_with(prefix));
    let is_chain = matches!(op.name, "tfrt.new.chain" | "tfrt.merge.chains");
    // Pure kernels of other libraries may wait for something.
    let is_value = is_chain || (is_known && op.traits.contains(OpTraits::PURE));
    is_value || ENQUEUING.contains(&op.name)
}
