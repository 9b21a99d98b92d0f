//! The out-of-tree user: the crate of the README's tutorial, built and run as a stranger would.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Builds the crate, once and returns its driver.
fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| build("tests/user_crate").join("coordinate"))
}

/// Builds a crate outside of the workspace, and returns the folder of its programs.
fn build(crate_directory: &str) -> PathBuf {
    let crate_directory = root().join(crate_directory);
    // Crates that are built at once wait for each other, and share what they depend on.
    let target_directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("user_crate");
    // The versions that the workspace was built with are there already; others might have to be
    // fetched.
    std::fs::copy(
        root().join("Cargo.lock"),
        crate_directory.join("Cargo.lock"),
    )
    .expect("the lock file is copied");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--target-dir"])
        .arg(&target_directory)
        .current_dir(crate_directory)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the user's crate does not build");
    target_directory.join("debug")
}

fn run(arguments: &[&str]) -> Output {
    let crate_directory = root().join("tests/user_crate");
    Command::new(driver())
        .args(arguments)
        .current_dir(crate_directory)
        .output()
        .expect("the driver starts")
}

#[test]
fn its_kernels_run_in_its_own_driver() {
    let output = run(&["run", "coordinate.mlir"]);
    let expected = "Choosing memory leak check allocator.\nChoosing single-threaded work queue.\n--- Running 'main':\n(3, 4)\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(
        read(&root().join("README.md")).contains(expected),
        "the README shows this output"
    );
}

#[test]
fn its_kernels_are_documented() {
    let output = run(&["ops", "my.print_coordinate"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("Prints a point.") && text.contains("!my.coordinate"),
        "{text}"
    );
}

#[test]
fn the_readme_shows_its_files() {
    let readme = read(&root().join("README.md"));
    for (file, language) in [
        ("Cargo.toml", "toml"),
        ("src/coordinate.rs", "rust"),
        ("src/main.rs", "rust"),
        ("coordinate.mlir", "mlir"),
    ] {
        let block = format!(
            "```{language}\n{}```\n",
            read(&root().join("tests/user_crate").join(file))
        );
        assert!(
            readme.contains(&block),
            "the README does not show `{file}` as it is"
        );
    }
}

#[test]
fn ops_of_a_user_are_called_by_functions_and_by_name() {
    let program = build("tests/user_ops").join("user-ops");
    let output = Command::new(program)
        .current_dir(root().join("tests/user_ops"))
        .output()
        .expect("the program starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let expected = "\
scaled: [-10.0, 5.0, 30.0]
scaled by default: [-2.0, 1.0, 6.0]
outer product: DenseHostTensor dtype = i32, shape = [2, 3], values = [3, 4, 5, 6, 8, 10]
larger: DenseHostTensor dtype = i32, shape = [2], values = [2, 2]
expected operands of the same type and shape, found i32 [2] and i32 [3] at user.Larger(i32 [2], i32 [3]) on CPU:0
sums along 0: [5.0, 7.0, 9.0]
sums along 1: [6.0, 15.0]
from -1 to 3
above: [0.5, 3.0]
above: [3.0]
elements: DenseHostTensor dtype = i64, shape = [1], values = [11]
incremented: DenseHostTensor dtype = i32, shape = [2], values = [2, 3]
ticket 7
ticket 8
ticket 9
later: [-1.0, 0.5, 3.0]
there is a file: true
ones: [1.0, 1.0]
";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(output.status.success());
}
