//! Recurrent layers of every kind, type and layout.

use half::{bf16, f16};

use super::*;

/// The extents of a layer, in one or two directions.
struct Layer {
    op: &'static str,
    gates: usize,
    steps: usize,
    batch: usize,
    hidden: usize,
    attributes: Vec<AttributeProto>,
    is_bidirectional: bool,
    is_batch_first: bool,
    has_lengths: bool,
}

const INPUT: usize = 5;

/// Returns numbers that half precision represents, at most a bound.
fn sample<T: Element>(
    of: fn(f64) -> T,
    dims: &[usize],
    salt: usize,
    bound: f64,
) -> DenseHostTensor {
    let number = |at: usize| ((at * 7 + at / 11 + salt * 5) % 33) as f64 / 16.0 - 1.0;
    let len = dims.iter().product();
    let numbers: Vec<T> = (0..len).map(|at| of(bound * number(at))).collect();
    tensor(dims, &numbers)
}

/// Swaps the first two dimensions but for the last `kept` ones.
fn swapped<T: Element>(tensor_of: &DenseHostTensor, to: usize) -> DenseHostTensor {
    let dims = tensor_of.shape().dims();
    let from = tensor_of.elements::<T>().unwrap();
    // The batch moves between the places `to` and 0.
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.remove(to);
    order.insert(0, to);
    let swapped_dims: Vec<usize> = order.iter().map(|&axis| dims[axis]).collect();
    let mut numbers = Vec::with_capacity(from.len());
    let mut index = vec![0; dims.len()];
    for at in 0..from.len() {
        let mut rest = at;
        for (place, &axis) in order.iter().enumerate().rev() {
            index[axis] = rest % swapped_dims[place];
            rest /= swapped_dims[place];
        }
        let place = index
            .iter()
            .zip(dims)
            .fold(0, |place, (at, extent)| place * extent + at);
        numbers.push(from[place]);
    }
    tensor(&swapped_dims, &numbers)
}

impl Layer {
    /// Runs the layer on the queue of a host, and returns its results with the batch inside.
    fn run<T: Element>(&self, of: fn(f64) -> T, queue: &str) -> Vec<DenseHostTensor> {
        let Self {
            op,
            gates,
            steps,
            batch,
            hidden,
            ..
        } = *self;
        let directions = if self.is_bidirectional { 2 } else { 1 };
        let wide = gates * hidden;
        let bound = 2.0_f64.powi(-(hidden.ilog2() as i32) / 2);
        let mut x = sample(of, &[steps, batch, INPUT], 1, 1.0);
        let mut h = sample(of, &[directions, batch, hidden], 5, 0.5);
        let mut c = sample(of, &[directions, batch, hidden], 6, 0.5);
        if self.is_batch_first {
            (x, h, c) = (
                swapped::<T>(&x, 1),
                swapped::<T>(&h, 1),
                swapped::<T>(&c, 1),
            );
        }
        let lengths: Vec<i32> = (0..batch)
            .map(|row| ((steps + row) % (steps + 1)) as i32)
            .collect();
        let mut inputs = vec![
            ("x", x),
            ("w", sample(of, &[directions, wide, INPUT], 2, 0.5)),
            ("r", sample(of, &[directions, wide, hidden], 3, bound)),
            ("b", sample(of, &[directions, 2 * wide], 4, 0.25)),
            ("l", tensor(&[batch], &lengths)),
            ("h", h),
        ];
        let mut names = vec!["x", "w", "r", "b", "l", "h"];
        let mut outputs = vec!["y", "last"];
        if op == "LSTM" {
            inputs.push(("c", c));
            inputs.push(("p", sample(of, &[directions, 3 * hidden], 7, 0.25)));
            names.extend(["c", "p"]);
            outputs.push("memory");
        }
        if !self.has_lengths {
            inputs.remove(4);
            names[4] = "";
        }
        let mut attributes = self.attributes.clone();
        attributes.push(int("hidden_size", hidden as i64));
        attributes.push(int("layout", self.is_batch_first.into()));
        if self.is_bidirectional {
            attributes.push(text("direction", "bidirectional"));
        }
        let node = with(node(op, &names, &outputs), &attributes);
        let inputs_of_graph: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
        let program = imported(&model(graph(&inputs_of_graph, vec![node], &outputs))).unwrap();
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let host = HostContext::builder().registry(kernels);
        let host = host
            .queue(tfrt::queue::create_queue(queue).unwrap())
            .build();
        let session = Session::load(program, "model.onnx", &host).unwrap();
        let mut runs = (0..3).map(|_| session.run(&inputs).unwrap());
        let mut results = runs.next().unwrap();
        // Packed weights are kept from the second run on.
        for again in runs {
            for (found, expected) in again.iter().zip(&results) {
                assert!(bytes_of(found) == bytes_of(expected), "{}", self.shown());
            }
        }
        if self.is_batch_first {
            results[0] = swapped::<T>(&swapped::<T>(&results[0], 1), 2);
            for state in &mut results[1..] {
                *state = swapped::<T>(state, 1);
            }
        }
        results
    }

    fn shown(&self) -> String {
        let names = self.attributes.iter().map(AttributeProto::name);
        format!(
            "{} of {} x {} x {}, {:?}, both: {}, batch first: {}, lengths: {}",
            self.op,
            self.steps,
            self.batch,
            self.hidden,
            names.collect::<Vec<_>>(),
            self.is_bidirectional,
            self.is_batch_first,
            self.has_lengths
        )
    }

    /// Compares all types with double precision, and numbers of threads with one.
    fn check(&self) {
        let expected = self.run(|x| x, "s");
        let expected: Vec<Vec<f64>> = expected.iter().map(numbers_of::<f64>).collect();
        self.check_near::<f32>(|x| x as f32, &expected, 1e-5);
        self.check_near::<f16>(f16::from_f64, &expected, 1e-3);
        self.check_near::<bf16>(bf16::from_f64, &expected, 8e-3);
    }

    fn check_near<T: Element + Into<f64>>(
        &self,
        of: fn(f64) -> T,
        expected: &[Vec<f64>],
        bound: f64,
    ) {
        let results = self.run(of, "s");
        assert_eq!(results.len(), expected.len());
        for (found, expected) in results.iter().zip(expected) {
            let found = numbers_of::<T>(found);
            assert_eq!(found.len(), expected.len());
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() <= bound, "{}: {a} is not {b}", self.shown());
            }
        }
        for (found, expected) in self.run(of, "mstd:3").iter().zip(&results) {
            assert!(bytes_of(found) == bytes_of(expected), "{}", self.shown());
        }
    }
}

fn bytes_of(tensor: &DenseHostTensor) -> Vec<u8> {
    tensor.buffer().read().unwrap().to_vec()
}

#[test]
fn every_type_and_layout_of_recurrent_layers_agrees_with_double_precision() {
    let kinds: [(&str, usize, Vec<AttributeProto>); 9] = [
        ("RNN", 1, vec![]),
        ("RNN", 1, vec![text("direction", "reverse")]),
        ("GRU", 3, vec![]),
        ("GRU", 3, vec![int("linear_before_reset", 1)]),
        (
            "GRU",
            3,
            vec![float("clip", 0.5), text("direction", "reverse")],
        ),
        ("LSTM", 4, vec![]),
        ("LSTM", 4, vec![int("input_forget", 1)]),
        ("LSTM", 4, vec![float("clip", 0.5)]),
        ("LSTM", 4, vec![text("direction", "reverse")]),
    ];
    let mut round = 0;
    for (op, gates, attributes) in kinds {
        for [steps, batch, hidden] in [[3, 2, 3], [6, 5, 17], [30, 8, 40]] {
            for is_batch_first in [false, true] {
                let has_direction = attributes.iter().any(|given| given.name() == "direction");
                round += 1;
                Layer {
                    op,
                    gates,
                    steps,
                    batch,
                    hidden,
                    attributes: attributes.clone(),
                    is_bidirectional: !has_direction,
                    is_batch_first,
                    has_lengths: round % 3 != 0,
                }
                .check();
            }
        }
    }
}
