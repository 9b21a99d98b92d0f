//! Weights in files, sound and hostile.

use std::fs;
use std::path::{Path, PathBuf};

use tfrt::host::ProgramFolder;
use tfrt::prelude::*;
use tfrt::testing;
use tfrt_tensor::DenseHostTensor;
use tfrt_tensor::file::{FileFormat, NamedTensor};

use crate::tensor;

/// Returns a path for a test of its own.
fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models-weights");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn read(path: &Path, name: &str, shape: &[i64]) -> testing::TestOutcome {
    testing::kernel("models.read_tensor.f32")
        .operands((path.to_str().unwrap(),))
        .attribute("name", name)
        .attribute("shape", shape)
        .run()
}

/// Writes two tensors, of three and of two elements.
fn write(dtype: &str, path: &Path, names: &str) -> testing::TestOutcome {
    let program = format!(
        "func @main(%path: !tfrt.string, %ch: !tfrt.chain, %a: !t.tensor, %b: !t.tensor) -> !tfrt.chain {{
           %done = \"models.write_tensors.{dtype}\"(%path, %ch, %a, %b) {{names = {names}}}
               : (!tfrt.string, !tfrt.chain, !t.tensor, !t.tensor) -> !tfrt.chain
           tfrt.return %done : !tfrt.chain
         }}"
    );
    let a = testing::value_from(|| tensor(&[3], &[1.0_f32, -2.5, 0.1]));
    let b = testing::value_from(|| tensor(&[1, 2], &[65504.0_f32, 1e-9]));
    testing::program(&program).call("main", (path.to_str().unwrap(), Chain, a, b))
}

fn expect_elements(outcome: &testing::TestOutcome, expected: &[f32]) {
    outcome.with_value(0, |tensor: &DenseHostTensor| {
        assert_eq!(*tensor.elements::<f32>().unwrap(), *expected);
    });
}

#[test]
fn tensors_come_back_by_name() {
    let safetensors = path("round.safetensors");
    write("f32", &safetensors, r#"["a", "b"]"#).expect_done();
    expect_elements(&read(&safetensors, "a", &[3]), &[1.0, -2.5, 0.1]);
    expect_elements(&read(&safetensors, "b", &[1, 2]), &[65504.0, 1e-9]);
    let npz = path("round.npz");
    write("f32", &npz, r#"["a", "b"]"#).expect_done();
    expect_elements(&read(&npz, "b", &[1, 2]), &[65504.0, 1e-9]);
}

#[test]
fn halves_are_rounded_once() {
    let halves = path("halves.safetensors");
    write("f16", &halves, r#"["a", "b"]"#).expect_done();
    expect_elements(&read(&halves, "a", &[3]), &[1.0, -2.5, 0.099_975_586]);
    expect_elements(&read(&halves, "b", &[1, 2]), &[65504.0, 0.0]);
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_no_file() {
    let expect = |name: &str, names: &str, message: &str| {
        let path = path(name);
        write("f32", &path, names).expect_error(message);
        assert!(!path.exists());
    };
    expect(
        "few.safetensors",
        r#"["a"]"#,
        "few.safetensors: expected a name for each of 2 tensors, found 1",
    );
    expect(
        "x.pickle",
        r#"["a", "b"]"#,
        "x.pickle: expected a name that ends with one of btf, npy, npz, safetensors",
    );
    expect(
        "two.npy",
        r#"["a", "b"]"#,
        "two.npy: expected one tensor for a file of format npy, found 2",
    );
    expect(
        "nowhere/x.npz",
        r#"["a", "b"]"#,
        "nowhere/x.npz: No such file",
    );
}

#[test]
fn a_file_that_is_not_what_the_program_expects_is_refused() {
    let sound = path("expected.safetensors");
    let named = [
        NamedTensor::new("w", tensor(&[2, 2], &[1.0_f32; 4])),
        NamedTensor::new("steps", tensor(&[1], &[7_i64])),
    ];
    fs::write(&sound, FileFormat::Safetensors.write(&named).unwrap()).unwrap();
    let expect = |path: &Path, name: &str, shape: &[i64], message: &str| {
        let expected = format!("{}: {message}", path.display());
        read(path, name, shape).expect_error(&expected);
    };
    expect(
        &sound,
        "v",
        &[2, 2],
        "expected a tensor `v`, found `w`, `steps`",
    );
    expect(
        &sound,
        "w",
        &[4],
        "expected tensor `w` of shape [4], found shape [2, 2]",
    );
    expect(
        &sound,
        "steps",
        &[1],
        "tensor `steps`: expected elements of type f32, found i64",
    );
    expect(
        &path("none.safetensors"),
        "w",
        &[4],
        "No such file or directory",
    );
    read(&sound, "w", &[-1]).expect_error("-1");
    read(&sound, "w", &[4])
        .expect_error("shape")
        .with_code(ErrorCode::InvalidArgument);
}

#[test]
fn few_of_many_names_are_listed() {
    let many = path("many.safetensors");
    let named: Vec<_> = (0..20)
        .map(|index| NamedTensor::new(format!("t{index:02}"), tensor(&[1], &[0_u8])))
        .collect();
    fs::write(&many, FileFormat::Safetensors.write(&named).unwrap()).unwrap();
    read(&many, "w", &[1])
        .expect_error("found `t00`, `t01`, `t02`, `t03`, `t04`, `t05`, `t06`, `t07`, and 12 more");
}

#[test]
fn hostile_files_are_refused() {
    let expect = |name: &str, bytes: &[u8], message: &str| {
        let path = path(name);
        fs::write(&path, bytes).unwrap();
        read(&path, "w", &[2]).expect_error(&format!("{}: {message}", path.display()));
    };
    let with_header = |header: &str, data: &[u8]| {
        let len = (header.len() as u64).to_le_bytes();
        [&len[..], header.as_bytes(), data].concat()
    };
    expect(
        "empty.safetensors",
        b"",
        "failed to read tensor num_tensors",
    );
    let beyond = with_header(
        r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
        &[0; 4],
    );
    expect("short.safetensors", &beyond, "at offset 0: ");
    let huge = with_header(
        r#"{"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8]}}"#,
        &[0; 8],
    );
    expect("huge.safetensors", &huge, "at offset 0: ");
    let mut long = with_header("{}", &[]);
    long[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    expect("long.safetensors", &long, "at offset 0: ");
}

#[test]
fn files_lie_beside_the_program() {
    let beside = || testing::kernel("models.beside_program").attribute("file", "w.npz");
    let program = |folder: &str| {
        let folder = ProgramFolder::of_file(folder);
        beside()
            .request(move |request| request.context_data(folder.clone()))
            .run()
    };
    program("models/net.mlir").expect_value(String::from("models/w.npz"));
    program("net.mlir").expect_value(String::from("w.npz"));
    program("/net.mlir").expect_value(String::from("/w.npz"));
    beside().run().expect_value(String::from("w.npz"));
}
