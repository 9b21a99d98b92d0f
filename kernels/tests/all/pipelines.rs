//! Pipelines of programs: how checkpoints and cached files know the functions of a pipeline, and
//! files whose formats are features of the library.

use std::fs;
use std::sync::Arc;

use tfrt::data::{Dataset, ElementFunction};
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_readers::cache::cache_in_file;
use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions};

tfrt::link!(tfrt_kernels);

/// Adds a number that nobody can foresee, for tests.
#[tfrt_kernel("check.add_noise", effect = "random")]
fn add_noise(x: i64, chain: Chain) -> (i64, Chain) {
    (x + 1, chain)
}

/// A function of a program that has been loaded, and what it runs in.
struct Loaded {
    host: Arc<HostContext>,
    program: Arc<Program>,
}

impl Loaded {
    fn new(text: &str) -> Self {
        let kernels = Arc::new(KernelRegistry::from_link().unwrap());
        let file = tfrt::text::compile(text, "pipeline.mlir", &kernels).unwrap();
        let host = HostContext::builder()
            .registry(kernels)
            .diagnostic_handler(|_| ())
            .build();
        let program = Program::load(&host, &file).unwrap();
        Self { host, program }
    }

    fn ctx(&self) -> ExecutionContext {
        let request = RequestContextBuilder::new(Arc::clone(&self.host)).build();
        ExecutionContext::new(request)
    }

    fn function(&self, name: &str) -> FunctionRef {
        self.program.function(name).unwrap()
    }

    /// The numbers from 0 to 4, mapped by `@f`.
    fn mapped(&self) -> Dataset {
        let numbers = Dataset::range(0, 5, 1).unwrap();
        numbers.map(self.function("f")).unwrap()
    }

    /// A checkpoint of the pipeline after two elements.
    fn checkpoint(&self) -> Result<Vec<u8>> {
        let mut elements = self.mapped().elements::<i64, _>(&self.ctx());
        elements.by_ref().take(2).for_each(drop);
        elements.save()
    }

    /// The rest after a checkpoint, or the message of an error.
    fn rest(&self, checkpoint: &[u8]) -> Result<Vec<i64>, String> {
        rest_of(&self.mapped(), checkpoint, &self.ctx())
    }
}

fn rest_of(
    pipeline: &Dataset,
    checkpoint: &[u8],
    ctx: &ExecutionContext,
) -> Result<Vec<i64>, String> {
    let rest = pipeline.elements_from::<i64, _>(checkpoint, ctx);
    let rest = rest.and_then(Iterator::collect::<Result<Vec<i64>>>);
    rest.map_err(|error| error.message().to_owned())
}

/// A program whose function `@f` adds a number.
fn adds(number: i64) -> String {
    format!(
        "func @f(%x: i64) -> i64 {{
          %n = tfrt.constant.i64 {number}
          %y = tfrt.call @add(%x, %n) : (i64, i64) -> i64
          tfrt.return %y : i64
        }}
        func @add(%x: i64, %y: i64) -> i64 {{
          %z = tfrt.add.i64 %x, %y
          tfrt.return %z : i64
        }}"
    )
}

#[test]
fn a_checkpoint_belongs_to_the_bodies_of_functions() {
    let plus_one = Loaded::new(&adds(1));
    let checkpoint = plus_one.checkpoint().unwrap();
    assert_eq!(plus_one.rest(&checkpoint), Ok(vec![3, 4, 5]));

    // Neither the place in a file nor the names of functions that are called count.
    let moved = format!(
        "func @other() -> i32 {{ %n = tfrt.constant.i32 77 tfrt.return %n : i32 }}\n{}",
        adds(1).replace("@add", "@plus")
    );
    assert_eq!(Loaded::new(&moved).rest(&checkpoint), Ok(vec![3, 4, 5]));

    let other_attribute = adds(2);
    let other_operands = adds(1).replace("tfrt.add.i64 %x, %y", "tfrt.add.i64 %x, %x");
    let other_op = adds(1).replace("tfrt.add.i64", "tfrt.mul.i64");
    let other_result = adds(1).replace("tfrt.return %z", "tfrt.return %x");
    for changed in [other_attribute, other_operands, other_op, other_result] {
        let message = Loaded::new(&changed).rest(&checkpoint).unwrap_err();
        let start = "expected a checkpoint of this pipeline, found one of a different pipeline: \
                     stage 0: expected `map (function = @f(i64) -> (i64), body = ";
        assert!(message.starts_with(start), "{changed}\n{message}");
    }
}

#[test]
fn functions_that_call_each_other_have_a_digest() {
    let recursive = |stop: i64| {
        Loaded::new(&format!(
            "func @f(%x: i64) -> i64 {{
              %zero = tfrt.constant.i64 {stop}
              %ends = \"tfrt.lessequal.i64\"(%x, %zero) : (i64, i64) -> i1
              %y = tfrt.cond %ends @itself @less (%x) : (i64) -> (i64)
              tfrt.return %y : i64
            }}
            func @itself(%x: i64) -> i64 {{
              tfrt.return %x : i64
            }}
            func @less(%x: i64) -> i64 {{
              %one = tfrt.constant.i64 1
              %y = \"tfrt.minus.i64\"(%x, %one) : (i64, i64) -> i64
              %z = tfrt.call @f(%y) : (i64) -> i64
              tfrt.return %z : i64
            }}"
        ))
    };
    let digest = |loaded: &Loaded, name| loaded.function(name).digest().unwrap();
    let (zero, again, one) = (recursive(0), recursive(0), recursive(1));
    assert_eq!(digest(&zero, "f"), digest(&again, "f"));
    for name in ["f", "less"] {
        assert_ne!(digest(&zero, name), digest(&one, name), "{name}");
    }
    assert_eq!(digest(&zero, "itself"), digest(&one, "itself"));
    let checkpoint = zero.checkpoint().unwrap();
    assert_eq!(zero.rest(&checkpoint), Ok(vec![0, 0, 0]));
}

#[test]
fn functions_that_attributes_name_count_by_their_bodies() {
    // Ops may call functions by name; here, the name is all that there is.
    let naming = |name: &str, number: i64| {
        let loaded = Loaded::new(&format!(
            "func @f(%x: i64) -> i64 {{
              %name = tfrt_test.get_string {{ value = \"{name}\" }}
              tfrt.return %x : i64
            }}
            func @named() -> i64 {{
              %n = tfrt.constant.i64 {number}
              tfrt.return %n : i64
            }}"
        ));
        loaded.function("f").digest().unwrap()
    };
    assert_eq!(naming("named", 1), naming("named", 1));
    assert_ne!(naming("named", 1), naming("named", 2));
    assert_eq!(naming("nobody", 1), naming("nobody", 2));
    assert_ne!(naming("nobody", 1), naming("anybody", 1));

    let calling = |number: i64| {
        let loaded = Loaded::new(&format!(
            "func @f(%op: !corert.op, %x: !corert.tensorhandle) -> !corert.tensorhandle {{
              %y = \"corert.execute_crt_op\"(%op, %x)
                {{ op_attrs = [], op_func_attrs = [[\"body\", \"named\"]] }}
                : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
              tfrt.return %y : !corert.tensorhandle
            }}
            func @named() -> i64 {{
              %n = tfrt.constant.i64 {number}
              tfrt.return %n : i64
            }}"
        ));
        loaded.function("f").digest().unwrap()
    };
    assert_eq!(calling(1), calling(1));
    assert_ne!(calling(1), calling(2));
}

#[test]
fn a_file_of_elements_belongs_to_the_bodies_of_functions() {
    let path = std::env::temp_dir().join(format!("tfrt-kernels-bodies-{}", std::process::id()));
    let text = path.to_str().unwrap();
    for (number, expected) in [(1, [1, 2, 3, 4, 5]), (10, [10, 11, 12, 13, 14])] {
        let loaded = Loaded::new(&adds(number));
        let cached = cache_in_file(&loaded.mapped(), text).unwrap();
        for _ in 0..2 {
            let found: Result<Vec<i64>> = cached.elements(&loaded.ctx()).collect();
            assert_eq!(found.unwrap(), expected);
        }
    }
    fs::remove_file(path).unwrap();
}

#[test]
fn a_function_with_a_state_is_not_saved() {
    let noisy = Loaded::new(
        "func @noise(%x: i64) -> i64 {
          %c = tfrt.new.chain
          %y, %d = \"check.add_noise\"(%x, %c) : (i64, !tfrt.chain) -> (i64, !tfrt.chain)
          tfrt.return %y : i64
        }
        func @f(%x: i64) -> i64 {
          %y = tfrt.call @noise(%x) : (i64) -> i64
          tfrt.return %y : i64
        }",
    );
    let error = noisy.checkpoint().unwrap_err();
    assert_eq!(
        error.message(),
        "the pipeline does not support checkpoints: the function @f(i64) -> (i64) of `map` calls \
         `check.add_noise`, whose state (`random`) is not part of a checkpoint"
    );

    // A state that is declared is part of a checkpoint.
    let declared = Dataset::range(0, 5, 1).unwrap();
    let function: ElementFunction = noisy.function("f").into();
    let function = function.with_state(|| 7_i64, |_: i64| ());
    let mut elements = declared
        .map(function)
        .unwrap()
        .elements::<i64, _>(&noisy.ctx());
    elements.next();
    assert!(elements.save().is_ok());

    // However many functions there are.
    let last = 1500;
    let call = |number| {
        let before = match number {
            0 => "x".to_owned(),
            number => format!("y{}", number - 1),
        };
        format!("%y{number} = tfrt.call @f{number}(%{before}) : (i64) -> i64\n")
    };
    let calls: String = (0..=last).map(call).collect();
    let same = |number| format!("func @f{number}(%x: i64) -> i64 {{ tfrt.return %x : i64 }}\n");
    let many: String = (0..last).map(same).collect();
    let noisy = Loaded::new(&format!(
        "func @f(%x: i64) -> i64 {{
          {calls}
          tfrt.return %y{last} : i64
        }}
        {many}
        func @f{last}(%x: i64) -> i64 {{
          %c = tfrt.new.chain
          %y, %d = \"check.add_noise\"(%x, %c) : (i64, !tfrt.chain) -> (i64, !tfrt.chain)
          tfrt.return %y : i64
        }}"
    ));
    let error = noisy.checkpoint().unwrap_err();
    assert!(
        error.message().contains("calls `check.add_noise`"),
        "{error}"
    );

    // Input and output are not state.
    let printing = Loaded::new(
        "func @f(%x: i64) -> i64 {
          %c = tfrt.new.chain
          %d = tfrt.print.i64 %x, %c
          tfrt.return %x : i64
        }",
    );
    let checkpoint = printing.checkpoint().unwrap();
    assert_eq!(printing.rest(&checkpoint), Ok(vec![2, 3, 4]));
}

#[test]
fn a_checkpoint_belongs_to_the_bound_values_of_functions() {
    let loaded = Loaded::new(
        "func @add(%x: i64, %y: i64) -> i64 {
          %z = tfrt.add.i64 %x, %y
          tfrt.return %z : i64
        }",
    );
    let ctx = loaded.ctx();
    let plus = |bound: AnyRef| {
        let add: ElementFunction = loaded.function("add").into();
        Dataset::range(0, 5, 1).unwrap().map_with(add, &[bound])
    };
    let ten = plus(AnyRef::available(10_i64)).unwrap();
    let checkpoint = ten.elements::<i64, _>(&ctx).save().unwrap();
    let expected = Ok(vec![10, 11, 12, 13, 14]);
    assert_eq!(rest_of(&ten, &checkpoint, &ctx), expected);

    let eleven = plus(AnyRef::available(11_i64)).unwrap();
    let message = rest_of(&eleven, &checkpoint, &ctx).unwrap_err();
    assert!(
        message.contains("stage 0: expected `map (function = @add("),
        "{message}"
    );

    // A pending value is not known yet, and not compared.
    let (promise, later) = AsyncValueRef::<i64>::unconstructed();
    let later = plus(later.into_any()).unwrap();
    let restored = later.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    promise.emplace(10);
    let rest = restored.collect::<Result<Vec<_>>>();
    assert_eq!(rest.map_err(|error| error.message().to_owned()), expected);
}

/// The numbers that a kernel reads from a recorded file or folder, or the message of an error.
fn ids(kernel: &str, path: &str, attributes: &str) -> Result<Vec<i64>, String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/readers/tests/recorded/folder");
    let loaded = Loaded::new(&format!(
        "func @rows(%x: i64) -> !tfrt_data.dataset {{
          %p = tfrt_test.get_string {{ value = \"{folder}/{path}\" }}
          %d = tfrt_data.{kernel} %p {{ {attributes} }}
          tfrt.return %d : !tfrt_data.dataset
        }}"
    ));
    let once = Dataset::range(0, 1, 1).unwrap();
    let rows = once.flat_map(loaded.function("rows")).unwrap();
    let found = rows
        .elements::<i64, _>(&loaded.ctx())
        .collect::<Result<Vec<i64>>>();
    found.map_err(|error| error.message().to_owned())
}

/// Returns `true` if the readers have the feature, which another crate of a build may have
/// selected.
fn has_parquet() -> bool {
    let opened = ColumnarOptions::default().dataset(ColumnarFormat::Parquet, "x");
    assert!(opened.is_ok() || cfg!(not(feature = "parquet")));
    opened.is_ok()
}

#[test]
fn row_groups_are_skipped_by_conditions() {
    let file = "hub/data/train-00000-of-00001.parquet";
    let satisfying = |conditions: &str| {
        let attributes = format!("columns = \"id\", conditions = \"{conditions}\"");
        ids("parquet_dataset", file, &attributes)
    };
    let message = "conditions, at byte 4: expected a number, `true`, `false` or a string in quotes, \
                   found the end";
    assert_eq!(satisfying("id >"), Err(message.to_owned()));
    match has_parquet() {
        true => {
            assert_eq!(satisfying("id > 2"), Ok(vec![0, 1, 2, 3, 4]));
            assert_eq!(satisfying("id > 4"), Ok(vec![]));
        }
        false => {
            let message = "Parquet files need the cargo feature `parquet` of `tfrt-readers`";
            assert_eq!(satisfying("id > 2"), Err(message.to_owned()));
        }
    }
}

#[test]
fn a_split_of_a_folder_of_datasets_is_read() {
    let train = || ids("dataset_folder_dataset", "hub/train", "columns = \"id\"");
    match has_parquet() {
        true => assert_eq!(train(), Ok(vec![0, 1, 2, 3, 4])),
        false => {
            let message = "folders of the library `datasets` need the cargo feature `parquet` of \
                           `tfrt-readers`";
            assert_eq!(train(), Err(message.to_owned()));
        }
    }
}
