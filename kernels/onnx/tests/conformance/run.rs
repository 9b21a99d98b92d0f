//! Runs of models, and what comes of them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tfrt::host::allocator::ArenaAllocator;
use tfrt::host::{HostContext, RequestContextBuilder};
use tfrt::prelude::KernelRegistry;
use tfrt_import::compare::compare_values;
use tfrt_import::rewrite::{Folding, RewriteRules};
use tfrt_import::{Limits, ModelValue, Session};
use tfrt_onnx::graph::ValueType;
use tfrt_onnx::import::{ImportFailure, Options};
use tfrt_onnx::{Model, tensor_file, test_case};

use crate::cases::{Case, DataSet};

/// What becomes of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pass,
    /// An output is another one.
    Wrong,
    /// The importer says that it does not support the model.
    Unsupported,
    /// The model is refused or cannot be run.
    Error,
    /// A panic.
    Panic,
}

impl Status {
    const NAMES: &[(Self, &str)] = &[
        (Self::Pass, "pass"),
        (Self::Wrong, "wrong"),
        (Self::Unsupported, "unsupported"),
        (Self::Error, "error"),
        (Self::Panic, "panic"),
    ];

    pub fn of_name(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(status, _)| *status)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Self::NAMES.iter().find(|(status, _)| status == self);
        f.write_str(found.expect("each has a name").1)
    }
}

/// What becomes of a case, and why.
pub struct Outcome {
    pub status: Status,
    pub message: String,
}

impl Outcome {
    pub fn is_pass(&self) -> bool {
        self.status == Status::Pass
    }
}

/// Hosts that run models.
pub struct Hosts {
    /// All work is done by the calling thread.
    pub single: Arc<HostContext>,
    /// Two threads.
    pub double: Arc<HostContext>,
}

impl Hosts {
    pub fn new() -> Self {
        let kernels = KernelRegistry::from_link().expect("the kernels have names of their own");
        let kernels = Arc::new(kernels);
        let host = |queue: &str| {
            let queue = tfrt::queue::create_queue(queue).expect("a known queue");
            let host = HostContext::builder().registry(Arc::clone(&kernels));
            host.queue(queue).build()
        };
        Self {
            single: host("s"),
            double: host("mstd:2"),
        }
    }
}

/// How a model is run.
pub struct Way<'a> {
    pub host: &'a Arc<HostContext>,
    /// Whether the program is rewritten.
    pub is_fused: bool,
}

/// Runs a case as it is.
pub fn case(case: &Case, hosts: &Hosts) -> Outcome {
    let way = Way {
        host: &hosts.single,
        is_fused: true,
    };
    caught(|| {
        let model = Model::open(case.path(), &Limits::default());
        model_of(case, model.map_err(|error| failed(&error))?, &way)
    })
}

/// Runs a model on the data sets of a case.
pub fn model_of(case: &Case, model: Model, way: &Way<'_>) -> Result<(), Outcome> {
    let inputs: Vec<(String, ValueType)> = model
        .inputs()
        .map(|input| (input.name.clone(), input.ty.clone()))
        .collect();
    let sets = case.data_sets(inputs.len(), model.outputs().len());
    let runner = Runner::new(&model, way)?;
    for set in &sets {
        let values = inputs.iter().zip(&set.inputs).map(|((name, ty), input)| {
            let value = input.value(ty).map_err(|message| Outcome {
                status: Status::Error,
                message,
            });
            Ok((name.as_str(), value?))
        });
        runner.check(case, &values.collect::<Result<Vec<_>, Outcome>>()?, set)?;
    }
    Ok(())
}

/// A model that is ready to run.
pub struct Runner<'a> {
    session: Session,
    way: &'a Way<'a>,
    is_random: bool,
    output_types: Vec<ValueType>,
}

impl<'a> Runner<'a> {
    pub fn new(model: &Model, way: &'a Way<'a>) -> Result<Self, Outcome> {
        let program = model.import(&Options::default());
        let mut program = program.map_err(|failure| match &failure {
            ImportFailure::Unsupported(_) => Outcome {
                status: Status::Unsupported,
                message: failure.to_string(),
            },
            ImportFailure::Broken(_) => failed(&failure),
        })?;
        if way.is_fused {
            let folding = Folding::new(way.host, &Limits::default());
            let folding = folding.map_err(|error| failed(&error))?;
            program.rewrite_and_fold(&RewriteRules::default(), folding);
        }
        let session = Session::load_as_is(program, "model.onnx", way.host);
        Ok(Self {
            session: session.map_err(|error| failed(&error))?,
            way,
            is_random: test_case::is_random(model),
            output_types: model
                .outputs()
                .iter()
                .map(|output| output.ty.clone())
                .collect(),
        })
    }

    /// Runs the model, and compares the outputs with the recorded ones.
    pub fn check(
        &self,
        case: &Case,
        inputs: &[(&str, ModelValue)],
        set: &DataSet,
    ) -> Result<(), Outcome> {
        // Kernels that read what they have not written are found.
        let arena = ArenaAllocator::new_poisoned(Arc::clone(self.way.host.allocator()));
        let request = RequestContextBuilder::new(Arc::clone(self.way.host));
        let request = request.allocator(Arc::new(arena)).build();
        let found = self.session.run_values_in_request(&request, inputs);
        let found = found.map_err(|error| failed(&error))?;
        let wrong = |message: String| Outcome {
            status: Status::Wrong,
            message,
        };
        if set.outputs.get(found.len()).is_some_and(Option::is_some) {
            return Err(wrong(format!("the model has only {} outputs", found.len())));
        }
        let outputs = found.iter().zip(&set.outputs).zip(&self.output_types);
        for (index, ((found, expected), ty)) in outputs.enumerate() {
            let Some(expected) = expected else {
                continue;
            };
            let expected = tensor_file::read_value(expected.clone(), ty, &Limits::default());
            let expected = expected.map_err(|error| failed(&error))?;
            compare_values(found, &expected, case.tolerance(), self.is_random)
                .map_err(|difference| wrong(format!("output {index}: {difference}")))?;
        }
        Ok(())
    }
}

/// Returns the outcome of a model that is refused.
pub fn failed(error: &dyn std::error::Error) -> Outcome {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    Outcome {
        status: Status::Error,
        message,
    }
}

/// Returns the outcome of a run, which may panic.
pub fn caught(run: impl FnOnce() -> Result<(), Outcome>) -> Outcome {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => Outcome {
            status: Status::Pass,
            message: String::new(),
        },
        Ok(Err(outcome)) => outcome,
        Err(_) => Outcome {
            status: Status::Panic,
            message: "it panicked".to_owned(),
        },
    }
}
