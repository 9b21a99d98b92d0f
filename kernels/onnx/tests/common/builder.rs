//! Models with random weights, which are run as they are and rewritten.

use std::sync::Arc;

use prost::Message;
use tfrt::host::allocator::{ArenaAllocator, Malloc};
use tfrt::host::{HostContext, RequestContextBuilder};
use tfrt::prelude::{DType, KernelRegistry};
use tfrt::queue::create_queue;
use tfrt_import::program::Program;
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::*;
use tfrt_tensor::half::{bf16, f16};
use tfrt_tensor::{DenseHostTensor, Element};

use super::{floats, graph, model, node, tensor, value};

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn tensor(&mut self, dims: &[usize]) -> Vec<f32> {
        (0..dims.iter().product()).map(|_| self.next()).collect()
    }
}

/// An input of real numbers.
pub struct Input {
    pub name: String,
    pub dtype: DType,
    pub dims: Vec<usize>,
    /// The axes whose extents the model declares as symbols, and what the symbols are called, with
    /// the number of the axis.
    pub symbolic: Vec<usize>,
    pub symbols: String,
}

impl Input {
    /// Returns the declaration in a model.
    fn declared(&self) -> ValueInfoProto {
        use tensor_shape_proto::{Dimension, dimension::Value};
        let dims = self.dims.iter().enumerate();
        let dims = dims.map(|(axis, &extent)| Dimension {
            value: Some(match self.symbolic.contains(&axis) {
                true => Value::DimParam(format!("{}{axis}", self.symbols)),
                false => Value::DimValue(extent as i64),
            }),
            ..Default::default()
        });
        let elem_type = match self.dtype {
            DType::F32 => 1,
            DType::F16 => 10,
            DType::F64 => 11,
            DType::Bf16 => 16,
            other => panic!("inputs are real numbers, not {other}"),
        };
        let tensor = type_proto::Tensor {
            elem_type: Some(elem_type),
            shape: Some(TensorShapeProto {
                dim: dims.collect(),
            }),
        };
        ValueInfoProto {
            r#type: Some(TypeProto {
                value: Some(type_proto::Value::TensorType(tensor)),
                ..Default::default()
            }),
            ..value(&self.name)
        }
    }

    /// Returns random numbers, the same for each input.
    fn tensor(&self) -> DenseHostTensor {
        let numbers = Numbers(7).tensor(&self.dims);
        match self.dtype {
            DType::F32 => tensor(&self.dims, &numbers),
            DType::F64 => {
                let numbers: Vec<f64> = numbers.iter().map(|&x| x.into()).collect();
                tensor(&self.dims, &numbers)
            }
            DType::F16 => {
                let numbers: Vec<f16> = numbers.iter().map(|&x| f16::from_f32(x)).collect();
                tensor(&self.dims, &numbers)
            }
            _ => {
                let numbers: Vec<bf16> = numbers.iter().map(|&x| bf16::from_f32(x)).collect();
                tensor(&self.dims, &numbers)
            }
        }
    }
}

/// A model under construction.
pub struct Builder {
    numbers: Numbers,
    pub nodes: Vec<NodeProto>,
    pub weights: Vec<TensorProto>,
    pub inputs: Vec<Input>,
    /// The version of the operators.
    pub opset: i64,
}

impl Builder {
    pub fn new(seed: u64) -> Self {
        Self {
            numbers: Numbers(seed),
            nodes: Vec::new(),
            weights: Vec::new(),
            inputs: Vec::new(),
            // The version in which most exported models are.
            opset: 17,
        }
    }

    /// Adds an input of single precision.
    pub fn input(&mut self, name: &str, dims: &[usize]) -> String {
        self.input_of(name, DType::F32, dims)
    }

    /// Adds an input of real numbers.
    pub fn input_of(&mut self, name: &str, dtype: DType, dims: &[usize]) -> String {
        self.inputs.push(Input {
            name: name.to_owned(),
            dtype,
            dims: dims.to_vec(),
            symbolic: Vec::new(),
            symbols: name.to_owned(),
        });
        name.to_owned()
    }

    /// Declares extents of the last input as symbols.
    pub fn symbolic(&mut self, axes: &[usize]) {
        let last = self.inputs.last_mut().expect("there is an input");
        last.symbolic = axes.to_vec();
    }

    pub fn given(&mut self, dims: &[usize], values: &[f32]) -> String {
        let name = format!("w{}", self.weights.len());
        let mut tensor = floats(&name, values);
        tensor.dims = dims.iter().map(|&extent| extent as i64).collect();
        self.weights.push(tensor);
        name
    }

    pub fn weight(&mut self, dims: &[usize]) -> String {
        let values = self.numbers.tensor(dims);
        self.given(dims, &values)
    }

    /// Numbers from one half to two.
    pub fn positive(&mut self, dims: &[usize]) -> String {
        let values = self.numbers.tensor(dims);
        let values: Vec<f32> = values.iter().map(|x| 1.25 + 0.75 * x).collect();
        self.given(dims, &values)
    }

    pub fn number(&mut self, value: f32) -> String {
        self.given(&[], &[value])
    }

    pub fn integers(&mut self, values: &[i64]) -> String {
        let name = format!("w{}", self.weights.len());
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.weights.push(TensorProto {
            name: Some(name.clone()),
            data_type: Some(7),
            dims: vec![values.len() as i64],
            raw_data: Some(bytes.into()),
            ..Default::default()
        });
        name
    }

    pub fn op(&mut self, op: &str, inputs: &[&str]) -> String {
        self.op_with(op, inputs, &[])
    }

    pub fn op_with(&mut self, op: &str, inputs: &[&str], attributes: &[AttributeProto]) -> String {
        let name = format!("v{}", self.nodes.len());
        let mut node = node(op, inputs, &[&name]);
        node.name = Some(format!("{op}_{}", self.nodes.len()));
        node.attribute = attributes.to_vec();
        self.nodes.push(node);
        name
    }

    /// Adds a batch normalization of so many channels.
    pub fn batch_norm(&mut self, x: &str, channels: usize) -> String {
        let [scale, bias, mean] = [(); 3].map(|()| self.weight(&[channels]));
        let variance = self.positive(&[channels]);
        self.op("BatchNormalization", &[x, &scale, &bias, &mean, &variance])
    }

    pub fn model(&self, outputs: &[&str]) -> ModelProto {
        let mut graph = graph(&[], self.nodes.clone(), outputs);
        graph.initializer.clone_from(&self.weights);
        graph.input = self.inputs.iter().map(Input::declared).collect();
        let mut model = model(graph);
        model.opset_import[0].version = Some(self.opset);
        model
    }

    /// Returns the program of the model, as it is.
    #[track_caller]
    pub fn program(&self, outputs: &[&str]) -> Program {
        imported(&self.model(outputs))
    }

    /// Returns the program of the model after all rewrites.
    #[track_caller]
    pub fn rewritten(&self, outputs: &[&str]) -> Program {
        let mut program = self.program(outputs);
        program.rewrite_and_fold(&RewriteRules::default(), folding());
        program
    }

    /// Returns a tensor for each input.
    pub fn tensors(&self) -> Vec<(&str, DenseHostTensor)> {
        let inputs = self.inputs.iter();
        inputs
            .map(|input| (input.name.as_str(), input.tensor()))
            .collect()
    }

    /// Returns the errors of the model as it is, and rewritten.
    #[track_caller]
    pub fn check_failure(&self, outputs: &[&str]) -> [String; 2] {
        self.check_failure_of(outputs, |_| {})
    }

    /// Returns the errors of the model as it is, and rewritten, with other declarations of inputs.
    #[track_caller]
    pub fn check_failure_of(
        &self,
        outputs: &[&str],
        declare: impl Fn(&mut ValueInfoProto),
    ) -> [String; 2] {
        let mut model = self.model(outputs);
        let graph = model.graph.as_mut().unwrap();
        graph.input.iter_mut().for_each(declare);
        let program = imported(&model);
        let mut rewritten = program.clone();
        rewritten.rewrite_and_fold(&RewriteRules::default(), folding());
        let inputs = self.tensors();
        [program, rewritten].map(|program| {
            let failure = load(program).run(&inputs).unwrap_err();
            failure.message().to_owned()
        })
    }

    /// Like [`compare`](Self::compare), and checks that no rule applies to the rewritten model.
    #[track_caller]
    pub fn check(&self, outputs: &[&str]) -> Vec<&'static str> {
        let mut rewritten = self.program(outputs);
        rewritten.rewrite_and_fold(&RewriteRules::default(), folding());
        // Rules apply until none does.
        assert_eq!(rewritten.rewrite(&RewriteRules::default()), []);
        self.compare(outputs)
    }

    /// Checks that a rule applies, so many times, and changes no bit.
    #[track_caller]
    pub fn check_bits(&self, rule: &str, num_applied: usize, outputs: &[&str]) {
        let program = self.program(outputs);
        let mut rewritten = program.clone();
        let applied = rewritten.rewrite(&RewriteRules::only([rule]).unwrap());
        assert_eq!(applied.len(), num_applied, "{}", rewritten.text);
        let inputs = self.tensors();
        check_written(rewritten.clone(), &inputs);
        let expected = load(program).run(&inputs).unwrap();
        let found = load(rewritten).run(&inputs).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.metadata(), expected.metadata());
            assert_eq!(bits(found), bits(expected));
        }
    }

    /// Checks that the rewritten model has the same bits on one thread and on several.
    #[track_caller]
    pub fn check_threads(&self, outputs: &[&str]) {
        let program = self.rewritten(outputs);
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let run = |queue: &str| {
            let host = HostContext::builder().registry(Arc::clone(&kernels));
            let host = host.queue(create_queue(queue).unwrap()).build();
            let found = load_on(program.clone(), &host).run(&self.tensors());
            let found: Vec<Vec<u64>> = found.unwrap().iter().map(bits).collect();
            host.quiesce().unwrap();
            found
        };
        let expected = run("s");
        for queue in ["mstd:2", "mstd:3"] {
            assert!(run(queue) == expected, "{queue}");
        }
    }

    /// Runs the model as it is and rewritten, and compares the results. Returns the rules that were
    /// applied, in alphabetical order.
    #[track_caller]
    pub fn compare(&self, outputs: &[&str]) -> Vec<&'static str> {
        let program = self.program(outputs);
        let mut rewritten = program.clone();
        let applied = rewritten
            .rewrite_and_fold(&RewriteRules::default(), folding())
            .applied;
        check_written(program.clone(), &self.tensors());
        check_written(rewritten.clone(), &self.tensors());
        let (plain, session) = (load(program), load(rewritten));
        let mut first: Option<Vec<DenseHostTensor>> = None;
        // In the second run weights are packed, which changes no bit.
        for _ in 0..3 {
            let inputs = self.tensors();
            let expected = plain.run(&inputs).unwrap();
            let found = session.run(&inputs).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(found, expected);
            }
            if let Some(first) = &first {
                for (first, found) in first.iter().zip(&found) {
                    assert_eq!(bits(first), bits(found));
                }
            }
            first = Some(found);
        }
        let mut rules: Vec<&str> = applied.iter().map(|applied| applied.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

#[track_caller]
fn imported(model: &ModelProto) -> Program {
    let model = Model::from_bytes(model.encode_to_vec(), &Limits::default());
    model.unwrap().import(&Options::default()).unwrap()
}

/// Returns a host with the kernels of models.
pub fn host() -> Arc<HostContext> {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    HostContext::builder().registry(kernels).build()
}

/// Returns a place where constants are folded.
pub fn folding() -> Folding {
    Folding::new(&host(), &Limits::default()).unwrap()
}

/// Loads a program, as it is.
pub fn load(program: Program) -> Session {
    load_on(program, &host())
}

fn load_on(program: Program, host: &Arc<HostContext>) -> Session {
    Session::load_as_is(program, "model.onnx", host).unwrap()
}

/// Checks that no kernel of a program reads memory that it has not written: neither other memory
/// nor memory that the session uses again changes a bit of the outputs.
#[track_caller]
fn check_written(program: Program, inputs: &[(&str, DenseHostTensor)]) {
    let host = host();
    let session = load_on(program, &host);
    let fresh = session.run(inputs).unwrap();
    let again = session.run(inputs).unwrap();
    let arena = Arc::new(ArenaAllocator::new_poisoned(Arc::new(Malloc)));
    let request = RequestContextBuilder::new(host).allocator(arena).build();
    let poisoned = session.run_in_request(&request, inputs).unwrap();
    for outputs in [again, poisoned] {
        for (found, expected) in outputs.iter().zip(&fresh) {
            let (found, expected) = (found.buffer().read(), expected.buffer().read());
            assert_eq!(*found.unwrap(), *expected.unwrap());
        }
    }
}

/// Returns the real numbers of a tensor.
fn numbers(tensor: &DenseHostTensor) -> Vec<f64> {
    match tensor.dtype() {
        DType::F32 => of(tensor, |x: f32| x.into()),
        DType::F64 => of(tensor, |x: f64| x),
        DType::F16 => of(tensor, |x: f16| x.to_f64()),
        DType::Bf16 => of(tensor, |x: bf16| x.to_f64()),
        other => panic!("outputs are real numbers, not {other}"),
    }
}

fn of<T: Element>(tensor: &DenseHostTensor, number: impl Fn(T) -> f64) -> Vec<f64> {
    let elements = tensor.elements::<T>().unwrap();
    elements.iter().map(|&x| number(x)).collect()
}

fn bits(tensor: &DenseHostTensor) -> Vec<u64> {
    numbers(tensor).iter().map(|x| x.to_bits()).collect()
}

#[track_caller]
fn assert_close(found: &DenseHostTensor, expected: &DenseHostTensor) {
    assert_eq!(found.metadata(), expected.metadata());
    let dtype = found.dtype();
    let (found, expected) = (numbers(found), numbers(expected));
    let greatest = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    // Ops that are fused round less often.
    let tolerance = match dtype {
        DType::F16 => 4e-3,
        DType::Bf16 => 3e-2,
        _ => 1e-5,
    };
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance * greatest || found.is_nan() && expected.is_nan(),
            "element {at}: found {found}, expected {expected}"
        );
    }
}
