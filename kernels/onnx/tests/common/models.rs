//! Small models in the spellings of exporters, with random weights.

use super::builder::Builder;
use super::*;

/// A model: what it is, how it is made, and its outputs.
pub struct Sample {
    pub name: &'static str,
    pub builder: Builder,
    pub outputs: Vec<String>,
}

impl Sample {
    /// Returns the file.
    pub fn model(&self) -> ModelProto {
        let outputs: Vec<&str> = self.outputs.iter().map(String::as_str).collect();
        self.builder.model(&outputs)
    }
}

/// Returns all models. Extents are multiples of `scale`.
pub fn all(scale: usize) -> Vec<Sample> {
    vec![
        perceptron(scale),
        convolutions(scale),
        transformer(scale),
        shape_arithmetic(scale),
        reductions(scale),
        control_flow(scale),
        recurrent(scale),
        quantized(scale),
        volumes(scale),
    ]
}

fn sample(name: &'static str, builder: Builder, outputs: &[&str]) -> Sample {
    Sample {
        name,
        builder,
        outputs: outputs.iter().map(|&output| output.to_owned()).collect(),
    }
}

/// Dense layers with activations.
fn perceptron(scale: usize) -> Sample {
    let mut b = Builder::new(1);
    let x = b.input("x", &[scale, 4 * scale]);
    b.symbolic(&[0]);
    let (w, bias) = (b.weight(&[4 * scale, 8 * scale]), b.weight(&[8 * scale]));
    let y = b.op("Gemm", &[&x, &w, &bias]);
    let y = b.op("Relu", &[&y]);
    let w = b.weight(&[8 * scale, 4 * scale]);
    let y = b.op("MatMul", &[&y, &w]);
    let y = b.op("Add", &[&y, &x]);
    let y = b.op_with("Softmax", &[&y], &[int("axis", -1)]);
    sample("perceptron", b, &[&y])
}

/// Convolutions with batch normalization, pooling, and a dense layer behind them.
fn convolutions(scale: usize) -> Sample {
    let mut b = Builder::new(2);
    let x = b.input("x", &[1, 3, 2 * scale, 2 * scale]);
    let w = b.weight(&[scale, 3, 3, 3]);
    let y = b.op_with("Conv", &[&x, &w], &[ints("pads", &[1, 1, 1, 1])]);
    let y = b.batch_norm(&y, scale);
    let first = b.op("Relu", &[&y]);
    let w = b.weight(&[scale, 1, 3, 3]);
    let group = int("group", scale as i64);
    let y = b.op_with("Conv", &[&first, &w], &[ints("pads", &[1, 1, 1, 1]), group]);
    let y = b.op("Add", &[&y, &first]);
    let window = [ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])];
    let y = b.op_with("MaxPool", &[&y], &window);
    let y = b.op("GlobalAveragePool", &[&y]);
    let y = b.op_with("Flatten", &[&y], &[int("axis", 1)]);
    let (w, bias) = (b.weight(&[10, scale]), b.weight(&[10]));
    let y = b.op_with("Gemm", &[&y, &w, &bias], &[int("transB", 1)]);
    sample("convolutions", b, &[&y])
}

/// Convolutions of volumes, whole and in groups, and pooling.
fn volumes(scale: usize) -> Sample {
    let mut b = Builder::new(9);
    let x = b.input("x", &[1, 4, 8, scale, scale]);
    let (w, bias) = (b.weight(&[2 * scale, 4, 3, 3, 3]), b.weight(&[2 * scale]));
    let y = b.op_with("Conv", &[&x, &w, &bias], &[ints("pads", &[1; 6])]);
    let window = [ints("kernel_shape", &[3; 3]), ints("pads", &[1; 6])];
    let y = b.op_with("MaxPool", &[&y], &window);
    let w = b.weight(&[2 * scale, scale, 1, 1, 1]);
    let y = b.op_with("Conv", &[&y, &w], &[int("group", 2)]);
    let window = [
        ints("kernel_shape", &[2, 1, 1]),
        ints("strides", &[2, 1, 1]),
    ];
    let y = b.op_with("AveragePool", &[&y], &window);
    sample("volumes", b, &[&y])
}

/// A layer normalization, an attention and an activation, all in pieces.
fn transformer(scale: usize) -> Sample {
    let (length, width) = (2 * scale, 4 * scale);
    let mut b = Builder::new(3);
    let x = b.input("x", &[1, length, width]);
    let mean = b.op_with("ReduceMean", &[&x], &[ints("axes", &[-1])]);
    let centred = b.op("Sub", &[&x, &mean]);
    let (two, epsilon) = (b.number(2.0), b.number(1e-5));
    let squared = b.op("Pow", &[&centred, &two]);
    let variance = b.op_with("ReduceMean", &[&squared], &[ints("axes", &[-1])]);
    let variance = b.op("Add", &[&variance, &epsilon]);
    let deviation = b.op("Sqrt", &[&variance]);
    let normal = b.op("Div", &[&centred, &deviation]);
    let (factor, bias) = (b.weight(&[width]), b.weight(&[width]));
    let normal = b.op("Mul", &[&normal, &factor]);
    let normal = b.op("Add", &[&normal, &bias]);
    let shape = b.integers(&[0, 0, 2, -1]);
    let heads: Vec<String> = [[0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]]
        .iter()
        .map(|order| {
            let w = b.weight(&[width, width]);
            let projected = b.op("MatMul", &[&normal, &w]);
            let split = b.op("Reshape", &[&projected, &shape]);
            b.op_with("Transpose", &[&split], &[ints("perm", order)])
        })
        .collect();
    let scores = b.op("MatMul", &[&heads[0], &heads[1]]);
    let root = b.number((width as f32 / 2.0).sqrt());
    let scores = b.op("Div", &[&scores, &root]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &heads[2]]);
    let y = b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])]);
    let joined = b.integers(&[0, 0, -1]);
    let y = b.op("Reshape", &[&y, &joined]);
    let y = b.op("Add", &[&y, &x]);
    let (root, one, half) = (b.number(2.0_f32.sqrt()), b.number(1.0), b.number(0.5));
    let inner = b.op("Div", &[&y, &root]);
    let inner = b.op("Erf", &[&inner]);
    let inner = b.op("Add", &[&inner, &one]);
    let inner = b.op("Mul", &[&y, &inner]);
    let y = b.op("Mul", &[&inner, &half]);
    sample("transformer", b, &[&y])
}

/// A shape that is computed from that of an input with symbols.
fn shape_arithmetic(scale: usize) -> Sample {
    let mut b = Builder::new(4);
    let x = b.input("x", &[scale, 2, 3 * scale]);
    b.symbolic(&[0, 2]);
    let shape = b.op("Shape", &[&x]);
    let zero = b.integers(&[0]);
    let first = b.op_with("Gather", &[&shape, &zero], &[int("axis", 0)]);
    let rest = b.integers(&[-1]);
    let wanted = b.op_with("Concat", &[&first, &rest], &[int("axis", 0)]);
    let flat = b.op("Reshape", &[&x, &wanted]);
    let (start, end, axis) = (b.integers(&[1]), b.integers(&[-1]), b.integers(&[1]));
    let cut = b.op("Slice", &[&flat, &start, &end, &axis]);
    let twice = b.op_with("Concat", &[&cut, &flat], &[int("axis", 1)]);
    let y = b.op("Sigmoid", &[&twice]);
    let y = b.op_with("Transpose", &[&y], &[ints("perm", &[1, 0])]);
    sample("shape_arithmetic", b, &[&y])
}

/// Sums, whose order must not depend on who adds.
fn reductions(scale: usize) -> Sample {
    let mut b = Builder::new(5);
    let x = b.input("x", &[4 * scale, 16 * scale]);
    let all = b.op_with("ReduceMean", &[&x], &[int("keepdims", 0)]);
    let columns = b.op_with("ReduceL2", &[&x], &[ints("axes", &[0])]);
    let rows = b.op_with("ReduceLogSumExp", &[&x], &[ints("axes", &[1])]);
    let axis = b.integers(&[1]);
    let sums = b.op("CumSum", &[&x, &axis]);
    let y = b.op("Mul", &[&sums, &all]);
    let y = b.op("Add", &[&y, &columns]);
    let y = b.op("Tanh", &[&y]);
    let y = b.op("Sub", &[&y, &rows]);
    sample("reductions", b, &[&y, &all])
}

/// A branch, chosen by data, and a loop.
fn control_flow(scale: usize) -> Sample {
    let mut b = Builder::new(6);
    let x = b.input("x", &[scale, scale]);
    let sum = b.op_with("ReduceSum", &[&x], &[int("keepdims", 0)]);
    let zero = b.number(0.0);
    let condition = b.op("Greater", &[&sum, &zero]);
    let branch = |op: &str, name: &str| graph(&[], vec![node(op, &["x"], &[name])], &[name]);
    let branches = [
        graph_attribute("then_branch", branch("Exp", "then")),
        graph_attribute("else_branch", branch("Neg", "else")),
    ];
    let chosen = b.op_with("If", &[&condition], &branches);
    let body = graph(
        &["round", "go", "state"],
        vec![
            node("Identity", &["go"], &["still"]),
            node("Mul", &["state", "x"], &["next"]),
            node("Tanh", &["next"], &["row"]),
        ],
        &["still", "next", "row"],
    );
    let rounds = b.integers(&[3]);
    let name = b.op_with(
        "Loop",
        &[&rounds, "", &chosen],
        &[graph_attribute("body", body)],
    );
    let last = b.nodes.len() - 1;
    b.nodes[last].output.push("rows".to_owned());
    sample("control_flow", b, &[&name, "rows"])
}

/// Recurrent layers: one in both directions, and one of so many steps that threads share it.
fn recurrent(scale: usize) -> Sample {
    let mut b = Builder::new(7);
    let x = b.input("x", &[4, 2, scale]);
    let w = b.weight(&[2, 4 * scale, scale]);
    let r = b.weight(&[2, 4 * scale, scale]);
    let attributes = [
        text("direction", "bidirectional"),
        int("hidden_size", scale as i64),
    ];
    let y = b.op_with("LSTM", &[&x, &w, &r], &attributes);
    let x = b.input("long", &[30, 9, scale]);
    let w = b.weight(&[1, 6 * scale, scale]);
    let r = b.weight(&[1, 6 * scale, 2 * scale]);
    let z = b.op_with(
        "GRU",
        &[&x, &w, &r],
        &[int("hidden_size", 2 * scale as i64)],
    );
    sample("recurrent", b, &[&y, &z])
}

/// A product between a quantization and its inverse.
fn quantized(scale: usize) -> Sample {
    let mut b = Builder::new(8);
    let x = b.input("x", &[scale, 4 * scale]);
    let (step, zero) = (b.number(0.05), "zero".to_owned());
    b.weights.push(TensorProto {
        data_type: Some(2),
        dims: Vec::new(),
        raw_data: Some(vec![128_u8].into()),
        ..floats(&zero, &[])
    });
    let pair = |b: &mut Builder, x: &str| {
        let codes = b.op("QuantizeLinear", &[x, &step, &zero]);
        b.op("DequantizeLinear", &[&codes, &step, &zero])
    };
    let x = pair(&mut b, &x);
    let w = b.weight(&[4 * scale, 4 * scale]);
    let w = pair(&mut b, &w);
    let y = b.op("MatMul", &[&x, &w]);
    let y = pair(&mut b, &y);
    sample("quantized", b, &[&y])
}
