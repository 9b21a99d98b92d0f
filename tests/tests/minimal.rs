//! The smallest program that embeds the runtime, built and run as a stranger would. How large it
//! is, its README tells.

use std::path::Path;
use std::process::Command;

use tfrt::kernel::KernelRegistry;

tfrt::link!(tfrt_kernels);

const PROGRAM: &str = "
    func @main() -> (i32, i32) {
      %six = tfrt.constant.i32 6
      %seven = tfrt.constant.i32 7
      %product = tfrt.mul.i32 %six, %seven
      %zero = \"tfrt.minus.i32\"(%six, %six) : (i32, i32) -> i32
      %quotient, %rest = tfrt.div.i32 %six, %zero
      tfrt.return %product, %quotient : i32, i32
    }
";

#[test]
fn it_runs_a_file_that_another_tool_has_made() {
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("minimal");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let kernels = KernelRegistry::from_link().expect("no name is registered twice");
    let file = tfrt::text::compile(PROGRAM, "program.mlir", &kernels).expect("it is sound");
    let bef = scratch.join("minimal.bef");
    std::fs::write(&bef, file.bytes()).expect("the file is written");

    // The versions that the workspace was built with are there already; others might have to be
    // fetched.
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock"),
        crate_directory.join("Cargo.lock"),
    )
    .expect("the lock file is copied");
    // In the folder of the other stranger, which has built most of the same crates.
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(scratch.join("user_crate"))
        .arg("--")
        .arg(&bef)
        .current_dir(crate_directory)
        .output()
        .expect("cargo starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "42\nerror: Divide by zero\n"
    );
}
