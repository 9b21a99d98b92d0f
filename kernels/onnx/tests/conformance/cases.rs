//! The cases in the folder of test data.

use std::path::{Path, PathBuf};

use prost::Message;
use serde::Deserialize;
use tfrt_import::compare::Tolerance;
use tfrt_import::{Limits, ModelValue};
use tfrt_onnx::graph::{Dim, ValueType};
use tfrt_onnx::proto::{ModelProto, TensorProto};
use tfrt_onnx::{Model, tensor_file};
use tfrt_tensor::{DenseHostTensor, ListHostTensor, Shape};

/// The folders of cases, each of which is a folder.
const SUITES: &[&str] = &["node", "simple", "pytorch-operator", "pytorch-converted"];

/// The folder of large models, whose only output lies beside them.
const LARGE: &str = "light";

/// A case.
pub struct Case {
    pub name: String,
    suite: &'static str,
    model: PathBuf,
    tolerance: Tolerance,
}

/// An input of a data set.
pub enum Input {
    /// A file of a value.
    File(Vec<u8>),
    /// A value that is not there.
    Absent,
}

/// A data set: inputs and the outputs that the model should compute.
pub struct DataSet {
    pub inputs: Vec<Input>,
    /// An output without a file is not compared.
    pub outputs: Vec<Option<Vec<u8>>>,
}

/// Tolerances that a case may state.
#[derive(Default, Deserialize)]
struct CaseData {
    rtol: Option<f64>,
    atol: Option<f64>,
}

/// Returns all cases, in the order of their names.
pub fn find(data: &Path, has_large: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for suite in SUITES {
        for folder in entries(&data.join(suite)) {
            let model = folder.join("model.onnx");
            if model.is_file() {
                let name = file_name(&folder);
                cases.push(Case::new(name, suite, model, &folder.join("data.json")));
            }
        }
    }
    if has_large {
        for model in entries(&data.join(LARGE)) {
            if model
                .extension()
                .is_some_and(|extension| extension == "onnx")
            {
                let name = file_name(&model).replace(".onnx", "");
                let of_real = name.replace("light_", "real/test_");
                let tolerance = data.join(of_real).join("data.json");
                cases.push(Case::new(name, LARGE, model, &tolerance));
            }
        }
    }
    assert!(!cases.is_empty(), "no cases in {}", data.display());
    cases
}

/// Returns what is in a folder, in the order of the names; nothing if there is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().expect("an entry of a folder has a name");
    name.to_string_lossy().into_owned()
}

impl Case {
    fn new(name: String, suite: &'static str, model: PathBuf, tolerance: &Path) -> Self {
        let data = std::fs::read(tolerance).ok();
        let data: CaseData = data
            .and_then(|data| serde_json::from_slice(&data).ok())
            .unwrap_or_default();
        Self {
            name,
            suite,
            model,
            tolerance: Tolerance {
                relative: data.rtol.unwrap_or(1e-3),
                absolute: data.atol.unwrap_or(1e-7),
                ulps: 0,
            },
        }
    }

    /// Returns the name of its test.
    pub fn title(&self) -> String {
        format!("{}/{}", self.suite, self.name)
    }

    pub fn path(&self) -> &Path {
        &self.model
    }

    pub fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    /// Returns the message of the model.
    pub fn proto(&self) -> ModelProto {
        let bytes = std::fs::read(&self.model).expect("the model is there");
        ModelProto::decode(bytes.as_slice()).expect("the model is a message")
    }

    /// Returns the file of the input of a large model: ascending numbers from 0 to 1.
    fn ramp(&self) -> Vec<u8> {
        let model = Model::open(&self.model, &Limits::default()).expect("the model can be read");
        let input = model.inputs().next().expect("the model has an input");
        let ValueType::Tensor {
            dims: Some(dims), ..
        } = &input.ty
        else {
            panic!("the input has a shape");
        };
        let dims = dims.iter().map(|dim| match dim {
            Dim::Known(extent) => *extent as usize,
            _ => panic!("the extents are numbers"),
        });
        let dims: Vec<usize> = dims.collect();
        let len: usize = dims.iter().product();
        let numbers = (0..len).map(|index| (index as f64 / len as f64) as f32);
        let flat = DenseHostTensor::vector(&numbers.collect::<Vec<f32>>());
        let tensor = flat.and_then(|flat| flat.reshaped(Shape::new(&dims)?));
        let file = tensor_file::write("", &tensor.expect("a tensor of the shape"));
        file.expect("a file of a tensor")
    }

    /// Returns the data sets, for models with so many inputs and outputs.
    pub fn data_sets(&self, num_inputs: usize, num_outputs: usize) -> Vec<DataSet> {
        if self.suite == LARGE {
            let output = format!("{}_output_0.pb", self.name);
            let output = self.model.with_file_name(output);
            return vec![DataSet {
                inputs: vec![Input::File(self.ramp())],
                outputs: vec![Some(std::fs::read(output).expect("the output is there"))],
            }];
        }
        let folders = (0..).map(|set| self.model.with_file_name(format!("test_data_set_{set}")));
        let sets = folders.take_while(|folder| folder.is_dir()).map(|folder| {
            let read = |name: String| std::fs::read(folder.join(name)).ok();
            let input = |index| match read(format!("input_{index}.pb")) {
                Some(bytes) => Input::File(bytes),
                None => Input::Absent,
            };
            // One more, which must not be there.
            let outputs = (0..=num_outputs).map(|index| read(format!("output_{index}.pb")));
            DataSet {
                inputs: (0..num_inputs).map(input).collect(),
                outputs: outputs.collect(),
            }
        });
        sets.collect()
    }
}

impl Input {
    /// Returns the value, for an input of a type.
    pub fn value(&self, ty: &ValueType) -> Result<ModelValue, String> {
        match self {
            Self::File(bytes) => {
                let value = tensor_file::read_value(bytes.clone(), ty, &Limits::default());
                value.map_err(|error| error.to_string())
            }
            Self::Absent if matches!(ty, ValueType::Optional(_)) => {
                Ok(ListHostTensor::absent().into())
            }
            Self::Absent => Err("an input has no file".to_owned()),
        }
    }

    /// Returns the message of a tensor with raw elements.
    pub fn tensor(&self, name: &str) -> Option<TensorProto> {
        let Self::File(bytes) = self else {
            return None;
        };
        let tensor = tensor_file::read(bytes.clone(), &Limits::default()).ok()?;
        let raw = tensor_file::write(name, tensor.dense()?).ok()?;
        TensorProto::decode(raw.as_slice()).ok()
    }
}
