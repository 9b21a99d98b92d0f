//! Families of inputs, one for each size: what a program or a file may have much of.

use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt_bef::builder::{KernelBuilder, ProgramBuilder};
use tfrt_fuzz::data_files::DataFormat;
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::{DenseHostTensor, Shape as TensorShape};

use crate::steps::{self, Steps};

/// A family of inputs.
pub struct Shape {
    pub name: &'static str,
    make: Make,
    /// The smaller of the two sizes.
    pub size: usize,
    /// The last step that is taken.
    pub reaches: &'static str,
}

/// Makes the input of a size.
enum Make {
    Text(fn(usize) -> String),
    /// Without chains.
    PlainText(fn(usize) -> String),
    DenseFile(fn(usize) -> Vec<u8>),
    Data(DataFormat, fn(usize) -> Vec<u8>),
}

impl Shape {
    const fn text(name: &'static str, size: usize, make: fn(usize) -> String) -> Self {
        Self {
            name,
            make: Make::Text(make),
            size,
            reaches: "run",
        }
    }

    const fn plain_text(name: &'static str, size: usize, make: fn(usize) -> String) -> Self {
        Self {
            name,
            make: Make::PlainText(make),
            size,
            reaches: "run",
        }
    }

    const fn dense_file(name: &'static str, size: usize, make: fn(usize) -> Vec<u8>) -> Self {
        Self {
            name,
            make: Make::DenseFile(make),
            size,
            reaches: "run",
        }
    }

    const fn tensors(
        name: &'static str,
        format: FileFormat,
        size: usize,
        make: fn(usize) -> Vec<u8>,
    ) -> Self {
        Self {
            name,
            make: Make::Data(DataFormat::Tensors(format), make),
            size,
            reaches: "read and write",
        }
    }

    const fn reaching(mut self, step: &'static str) -> Self {
        self.reaches = step;
        self
    }

    /// Takes the steps of the input of a size.
    pub fn run(&self, size: usize, steps: &mut Steps) {
        match self.make {
            Make::Text(make) => steps::program(&make(size), steps),
            Make::PlainText(make) => steps::program_without_chains(&make(size), steps),
            Make::DenseFile(make) => steps::dense_file(&make(size), steps),
            Make::Data(format, make) => steps::data(format, &make(size), steps),
        }
    }
}

/// All shapes.
pub const SHAPES: &[Shape] = &[
    Shape::text("functions", 60, functions),
    Shape::text("functions that call each other", 60, calls),
    Shape::text("a ring of functions", 60, ring),
    Shape::text("independent kernels", 60, independent_kernels),
    Shape::text("a chain of kernels", 60, chain_of_kernels),
    Shape::text("a chain of effects", 60, chain_of_effects),
    Shape::text("users of one value", 240, users),
    Shape::text("calls with one argument", 150, calls_with_one_argument),
    Shape::text("constants in a region", 100, constants_in_region),
    Shape::text("private functions", 60, private_functions),
    Shape::text("streams", 60, streams),
    Shape::text("streams that meet", 60, streams_that_meet),
    Shape::plain_text("effects without chains", 60, effects_without_chains),
    Shape::plain_text("regions without chains", 40, regions_without_chains),
    Shape::text("arguments and results", 100, arguments_and_results),
    Shape::text("operands of one kernel", 100, operands),
    Shape::text("functions to choose from", 60, choices),
    Shape::text("nested loops", 1, nested_loops),
    Shape::text("regions of one op", 60, regions).reaching("load"),
    Shape::text("blocks", 60, blocks).reaching("expect"),
    Shape::text("modules", 40, modules).reaching("run"),
    Shape::text("attributes of one op", 100, attributes).reaching("load"),
    Shape::text("elements of a list", 100, list).reaching("load"),
    Shape::text("elements of a tensor", 400, dense).reaching("load"),
    Shape::text("a long string", 2_000, long_string).reaching("load"),
    Shape::text("long names", 2_000, long_names),
    Shape::text("a wide type", 100, wide_type).reaching("load"),
    Shape::text("a tensor type of high rank", 200, high_rank).reaching("load"),
    Shape::text("aliases", 60, aliases).reaching("load"),
    Shape::text("places of kernels", 60, places),
    Shape::text("a place made of places", 60, fused_place),
    Shape::text("comments", 400, comments),
    Shape::text("values that are undefined", 100, undefined_values).reaching("expect"),
    Shape::text("breaches of a rule", 60, breaches).reaching("expect"),
    Shape::text("breaches on one line", 60, breaches_on_one_line).reaching("expect"),
    Shape::text("symbols of one name", 60, symbols_of_one_name).reaching("expect"),
    Shape::text("expectations", 100, expectations).reaching("expect"),
    Shape::dense_file(
        "functions of one long type",
        100,
        functions_of_one_long_type,
    ),
    Shape::tensors("BTF: tensors", FileFormat::Btf, 40, |size| {
        tensors(FileFormat::Btf, size)
    }),
    Shape::tensors("npz: tensors", FileFormat::Npz, 20, |size| {
        tensors(FileFormat::Npz, size)
    }),
    Shape::tensors(
        "safetensors: tensors",
        FileFormat::Safetensors,
        40,
        |size| tensors(FileFormat::Safetensors, size),
    ),
    Shape::tensors("BTF: a rank", FileFormat::Btf, 20, |size| {
        rank(FileFormat::Btf, size)
    }),
    Shape::tensors("safetensors: a rank", FileFormat::Safetensors, 20, |size| {
        rank(FileFormat::Safetensors, size)
    }),
];

/// One text after the other.
fn all(size: usize, one: impl FnMut(usize) -> String) -> String {
    (0..size).map(one).collect()
}

/// Texts with commas between them.
fn listed(size: usize, one: impl FnMut(usize) -> String) -> String {
    (0..size).map(one).collect::<Vec<_>>().join(", ")
}

/// A function without arguments and results.
fn function(body: &str) -> String {
    format!("func @main() {{\n{body}  tfrt.return\n}}\n")
}

fn functions(size: usize) -> String {
    all(size, |i| {
        format!(
            "func @f{i}() -> i32 {{\n  %x = tfrt.constant.i32 {i}\n  tfrt.return %x : i32\n}}\n"
        )
    })
}

fn calls(size: usize) -> String {
    let first = "func @f0(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}\n".to_owned();
    let main = format!(
        "func @main() -> i32 {{\n  %x = tfrt.constant.i32 1\n  %y = tfrt.call @f{size}(%x) : (i32) -> i32\n  \
         tfrt.return %y : i32\n}}\n"
    );
    let others = all(size, |i| {
        let number = i + 1;
        format!(
            "func @f{number}(%x: i32) -> i32 {{\n  %y = tfrt.call @f{i}(%x) : (i32) -> i32\n  tfrt.return %y : i32\n}}\n"
        )
    });
    first + &others + &main
}

/// Each function calls the next one, and the last one the first, until calls are nested too deep.
fn ring(size: usize) -> String {
    let ring = all(size, |i| {
        let next = (i + 1) % size;
        format!("func @f{i}() {{\n  tfrt.call @f{next}() : () -> ()\n  tfrt.return\n}}\n")
    });
    ring + "func @main() {\n  tfrt.call @f0() : () -> ()\n  tfrt.return\n}\n"
}

fn independent_kernels(size: usize) -> String {
    function(&all(size, |i| format!("  %x{i} = tfrt.constant.i32 {i}\n")))
}

fn chain_of_kernels(size: usize) -> String {
    let chain = all(size, |i| {
        let next = i + 1;
        format!("  %x{next} = tfrt.add.i32 %x{i}, %x{i}\n")
    });
    function(&format!("  %x0 = tfrt.constant.i32 1\n{chain}"))
}

fn chain_of_effects(size: usize) -> String {
    let chain = all(size, |i| {
        let next = i + 1;
        format!("  %c{next} = tfrt.merge.chains %c{i} : !tfrt.chain\n")
    });
    function(&format!("  %c0 = tfrt.new.chain\n{chain}"))
}

fn users(size: usize) -> String {
    let users = all(size, |i| format!("  %y{i} = tfrt.add.i32 %x, %x\n"));
    function(&format!("  %x = tfrt.constant.i32 1\n{users}"))
}

fn calls_with_one_argument(size: usize) -> String {
    let callee = "func @f(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}\n";
    let calls = all(size, |i| {
        format!("  %y{i} = tfrt.call @f(%x) : (i32) -> i32\n")
    });
    callee.to_owned() + &function(&format!("  %x = tfrt.constant.i32 1\n{calls}"))
}

/// They all have other values, so that they all go to the start of the function.
fn constants_in_region(size: usize) -> String {
    let constants = all(size, |i| {
        format!("  %x{i} = tfrt.constant.i32 {i}\n  %c{i} = tfrt.print.i32 %x{i}, %c\n")
    });
    function(&format!(
        "  %n = tfrt.constant.i32 0\n  %c = tfrt.new.chain\n  %r = tfrt.repeat.i32 %n, %c : !tfrt.chain {{\n{constants}  \
         tfrt.return %c : !tfrt.chain\n  }}\n"
    ))
}

fn private_functions(size: usize) -> String {
    let functions = all(size, |i| {
        format!("func private @f{i}() {{\n  tfrt.return\n}}\n")
    });
    functions + &function("")
}

fn streams(size: usize) -> String {
    let streams = all(size, |i| {
        format!(
            "  %a{i} = \"tfrt_test.async_copy.i32\"(%x) : (i32) -> i32\n  %b{i} = \"tfrt_test.async_copy.i32\"(%a{i}) : \
             (i32) -> i32\n  %c{i} = tfrt.add.i32 %a{i}, %b{i}\n"
        )
    });
    function(&format!("  %x = tfrt.constant.i32 1\n{streams}"))
}

/// One sum of what streams of different costs come to.
fn streams_that_meet(size: usize) -> String {
    let streams = all(size, |i| {
        let (next, cost) = (i + 1, i % 7 + 1);
        format!(
            "  %a{i} = tfrt.add.i32 %x, %x {{_tfrt_cost = {cost} : i64}}\n  %s{next} = tfrt.add.i32 %s{i}, %a{i}\n"
        )
    });
    function(&format!(
        "  %x = \"tfrt_test.async_constant.i32\"() {{value = 1 : i32}} : () -> i32\n  %s0 = tfrt.constant.i32 0\n{streams}"
    ))
}

fn effects_without_chains(size: usize) -> String {
    let effects = all(size, |i| {
        format!(
            "  %a{i} = tfrt.constant.i32 {i}\n  \"tfrt_test.atomic.add.i32\"(%x, %a{i}) : (!test.atomic.i32, i32) -> ()\n"
        )
    });
    function(&format!(
        "  %x = \"tfrt_test.atomic.create.i32\"() : () -> !test.atomic.i32\n{effects}"
    ))
}

fn regions_without_chains(size: usize) -> String {
    let regions = all(size, |i| {
        format!(
            "  %r{i} = tfrt.if %t, %x : (!test.atomic.i32) -> (i32) {{\n    %a{i} = tfrt.constant.i32 {i}\n    \
             \"tfrt_test.atomic.inc.i32\"(%x) : (!test.atomic.i32) -> ()\n    tfrt.return %a{i} : i32\n  }} else {{\n    \
             %b{i} = tfrt.constant.i32 {i}\n    tfrt.return %b{i} : i32\n  }}\n"
        )
    });
    function(&format!(
        "  %t = tfrt.constant.i1 true\n  %x = \"tfrt_test.atomic.create.i32\"() : () -> !test.atomic.i32\n{regions}"
    ))
}

fn arguments_and_results(size: usize) -> String {
    let arguments = listed(size, |i| format!("%x{i}: i32"));
    let values = listed(size, |i| format!("%x{i}"));
    let types = listed(size, |_| "i32".to_owned());
    let constants = all(size, |i| format!("  %x{i} = tfrt.constant.i32 {i}\n"));
    format!(
        "func @f({arguments}) -> ({types}) {{\n  tfrt.return {values} : {types}\n}}\nfunc @main() -> i32 {{\n{constants}  \
         %r:{size} = tfrt.call @f({values}) : ({types}) -> ({types})\n  tfrt.return %r#0 : i32\n}}\n"
    )
}

fn operands(size: usize) -> String {
    let chains = all(size, |i| format!("  %c{i} = tfrt.new.chain\n"));
    let values = listed(size, |i| format!("%c{i}"));
    let types = listed(size, |_| "!tfrt.chain".to_owned());
    function(&format!(
        "{chains}  %c = tfrt.merge.chains {values} : {types}\n"
    ))
}

fn choices(size: usize) -> String {
    let functions = all(size, |i| {
        format!(
            "func @f{i}(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {{\n  tfrt.return %c, %x : !tfrt.chain, i32\n}}\n"
        )
    });
    let names = listed(size, |i| format!("@f{i}"));
    format!(
        "{functions}func @main() -> i32 {{\n  %x = tfrt.constant.i32 1\n  %c0 = tfrt.new.chain\n  %c1, %y = tfrt.case %x \
         [{names}](%c0, %x) : (i32) -> (i32)\n  tfrt.return %y : i32\n}}\n"
    )
}

/// Nests of a fixed depth: the parser takes no deeper ones.
fn nested_loops(size: usize) -> String {
    const DEPTH: usize = 100;
    let opened = "tfrt.repeat.i32 %n, %n : i32 {\n";
    let closed = "tfrt.return %n : i32\n}\n";
    let nests = all(size, |nest| {
        let opened = all(DEPTH, |level| format!("%x{nest}_{level} = {opened}"));
        format!("{opened}{}", closed.repeat(DEPTH))
    });
    function(&format!("%n = tfrt.constant.i32 1\n{nests}"))
}

fn regions(size: usize) -> String {
    let regions = listed(size, |_| "{\n  tfrt.return\n}".to_owned());
    function(&format!("  \"my.op\"() ({regions}) : () -> ()\n"))
}

fn blocks(size: usize) -> String {
    let blocks = all(size, |i| {
        let next = i + 1;
        format!("  ^bb{i}(%x{i}: i32):\n    \"my.br\"(%x{i})[^bb{next}] : (i32) -> ()\n")
    });
    function(&format!(
        "  \"my.op\"() ({{\n{blocks}  ^bb{size}(%y: i32):\n    \"my.end\"(%y, %x0) : (i32, i32) -> ()\n  }}) : () -> ()\n"
    ))
}

fn modules(size: usize) -> String {
    all(size, |i| {
        format!(
            "module @m{i} attributes {{tfrt.compiled}} {{\n  func @f() {{\n    return\n  }}\n}}\n"
        )
    })
}

fn attributes(size: usize) -> String {
    let attributes = listed(size, |i| format!("a{i} = {i} : i32"));
    function(&format!("  \"my.op\"() {{{attributes}}} : () -> ()\n"))
}

fn list(size: usize) -> String {
    let elements = listed(size, |i| format!("{i} : i32"));
    function(&format!(
        "  \"my.op\"() {{list = [{elements}]}} : () -> ()\n"
    ))
}

fn dense(size: usize) -> String {
    let elements = listed(size, |i| format!("{i}"));
    function(&format!(
        "  \"my.op\"() {{dense = dense<[{elements}]> : tensor<{size}xi32>}} : () -> ()\n"
    ))
}

fn long_string(size: usize) -> String {
    let content = "a\\0A".repeat(size);
    function(&format!(
        "  \"my.op\"() {{text = \"{content}\"}} : () -> ()\n"
    ))
}

fn long_names(size: usize) -> String {
    let name = "a".repeat(size);
    format!(
        "func @{name}() -> i32 {{\n  %{name} = tfrt.constant.i32 1\n  tfrt.return %{name} : i32\n}}\n"
    )
}

fn wide_type(size: usize) -> String {
    let types = listed(size, |i| format!("tuple<i{}, f32>", i % 60 + 1));
    function(&format!("  \"my.op\"() : () -> (tuple<{types}>)\n"))
}

fn high_rank(size: usize) -> String {
    let dims = "1x".repeat(size);
    function(&format!("  \"my.op\"() : () -> (tensor<{dims}i32>)\n"))
}

fn aliases(size: usize) -> String {
    let aliases = all(size, |i| {
        format!("#a{i} = {i} : i32\n!t{i} = type tuple<i{}>\n", i + 1)
    });
    let ops = all(size, |i| {
        format!("  \"my.op\"() {{a = #a{i}}} : () -> (!t{i})\n")
    });
    format!("{aliases}{}", function(&ops))
}

fn places(size: usize) -> String {
    function(&all(size, |i| {
        format!(
            "  %x{i} = tfrt.constant.i32 1 loc(callsite(\"file{i}\":{i}:1 at \"other\":1:{i}))\n"
        )
    }))
}

fn fused_place(size: usize) -> String {
    let places = listed(size, |i| format!("\"file{i}\":{i}:1"));
    function(&format!(
        "  %x = tfrt.constant.i32 1 loc(fused[{places}])\n"
    ))
}

fn comments(size: usize) -> String {
    function(&all(size, |i| format!("  // comment {i}\n\n    \n")))
}

fn undefined_values(size: usize) -> String {
    function(&all(size, |i| {
        format!("  %x{i} = tfrt.add.i32 %y{i}, %y{i}\n")
    }))
}

fn breaches(size: usize) -> String {
    function(&all(size, |i| {
        format!("  %x{i} = \"tfrt.add.i32\"() : () -> i32\n")
    }))
}

fn breaches_on_one_line(size: usize) -> String {
    breaches(size).replace('\n', " ")
}

fn symbols_of_one_name(size: usize) -> String {
    all(size, |_| "func @f() {\n  tfrt.return\n}\n".to_owned())
}

/// Half of them are met.
fn expectations(size: usize) -> String {
    let text = all(size, |i| {
        let what = ["expected 2 operands, but found 0", "something else"][i % 2];
        format!(
            "  // expected-error @+1 {{{{{what}}}}}\n  %x{i} = \"tfrt.add.i32\"() : () -> i32\n"
        )
    });
    function(&text)
}

/// As text, the program is as long as the square of its size.
fn functions_of_one_long_type(size: usize) -> Vec<u8> {
    let mut program = ProgramBuilder::new();
    let long_type = program.add_type(&format!("!my.{}", "long".repeat(4 * size)));
    for i in 0..size {
        let name = format!("f{i}");
        let (_, mut body) = program
            .add_function(&name, &[long_type], &[long_type])
            .expect("a type of the program");
        let x = body.arguments()[0];
        let kernel = KernelBuilder::new("tfrt.merge.chains").operands(&[x]);
        let [y] = body
            .add(kernel, [long_type])
            .expect("a register of the function");
        program.define(body, &[y]).expect("what was declared");
    }
    program.finish().expect("a small program")
}

fn tensors(format: FileFormat, size: usize) -> Vec<u8> {
    let tensors: Vec<_> = (0..size)
        .map(|i| NamedTensor::new(format!("tensor{i}"), tensor(&[2, 3])))
        .collect();
    format.write(&tensors).expect("the format holds tensors")
}

fn rank(format: FileFormat, size: usize) -> Vec<u8> {
    let tensor = NamedTensor::new("tensor", tensor(&vec![1; size]));
    format.write(&[tensor]).expect("the format holds tensors")
}

fn tensor(dims: &[usize]) -> DenseHostTensor {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let shape = TensorShape::new(dims).expect("a small shape");
    DenseHostTensor::from_fn(&allocator, shape, |at| at as f32).expect("memory")
}
