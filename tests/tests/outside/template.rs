//! `tfrt new`: what it makes is built, tested and run as a stranger would, outside of this
//! workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use tfrt_tests::tool;

/// What every run prints before it runs anything.
const PREAMBLE: &str =
    "Choosing memory leak check allocator.\nChoosing single-threaded work queue.\n";

pub(crate) fn trials() -> Vec<Trial> {
    let trials: [(&str, fn() -> _); 6] = [
        (
            "a_crate_passes_its_tests_and_runs_in_its_driver",
            a_crate_passes_its_tests_and_runs_in_its_driver,
        ),
        (
            "a_library_passes_its_tests_and_is_loaded",
            a_library_passes_its_tests_and_is_loaded,
        ),
        ("what_is_there_stays", what_is_there_stays),
        (
            "a_crate_needs_no_flag_to_build",
            a_crate_needs_no_flag_to_build,
        ),
        (
            "commands_for_a_library_fit_the_tool",
            commands_for_a_library_fit_the_tool,
        ),
        (
            "nothing_is_written_for_a_bad_name_or_runtime",
            nothing_is_written_for_a_bad_name_or_runtime,
        ),
    ];
    trials.map(|(name, test)| Trial::test(name, test)).into()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// An empty folder for the crates of one test.
fn scratch(test: &str) -> Result<PathBuf, Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("new")
        .join(test);
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// What a command wrote: to standard output if it succeeded, else to standard error.
type Said = Result<String, String>;

fn tfrt(folder: &Path, arguments: &[&str]) -> Result<Said, Failed> {
    let mut command = tool::command("tfrt", folder)?;
    command.args(arguments);
    let output = tool::run(command)?;
    Ok(match output.status {
        Some(0) => Ok(String::from_utf8(output.stdout)?),
        _ => Err(String::from_utf8(output.stderr)?),
    })
}

/// Makes a crate on the runtime of this workspace.
fn make(folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, Failed> {
    let root = root();
    let runtime = root.to_str().ok_or("the path is no Unicode")?;
    let arguments = [&["new", "--runtime", runtime], flags, &[name]].concat();
    tfrt(folder, &arguments)??;
    let made = folder.join(name);
    // The versions that the workspace was built with are there already; others might have to be
    // fetched.
    std::fs::copy(root.join("Cargo.lock"), made.join("Cargo.lock"))?;
    Ok(made)
}

/// Where the tests of users build: what they share is built once.
fn target_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("user_crate")
}

/// Runs cargo as this test was built and returns what it printed.
fn cargo(folder: &Path, command: &str, arguments: &[&str]) -> Result<String, Failed> {
    let profile = match cfg!(debug_assertions) {
        true => None,
        false => Some("--release"),
    };
    let output = Command::new(env!("CARGO"))
        .args([command, "--quiet", "--offline"])
        .args(profile)
        .arg("--target-dir")
        .arg(target_folder())
        .args(arguments)
        .current_dir(folder)
        .output()?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    match output.status.success() {
        true => Ok(stdout.into_owned()),
        false => Err(format!("`cargo {command}` failed\n{stdout}\n{stderr}").into()),
    }
}

fn require(is_so: bool, found: &str) -> Result<(), Failed> {
    match is_so {
        true => Ok(()),
        false => Err(format!("unexpected: {found}").into()),
    }
}

fn a_crate_passes_its_tests_and_runs_in_its_driver() -> Result<(), Failed> {
    let made = make(&scratch("driver")?, "template-driver", &[])?;
    let tested = cargo(&made, "test", &[])?;
    require(
        tested.contains("3 passed") && tested.contains("1 passed"),
        &tested,
    )?;
    let ran = cargo(&made, "run", &["--", "run", "programs/main.mlir"])?;
    let expected = format!("{PREAMBLE}--- Running 'main':\n'main' returned 42\n");
    require(ran == expected, &ran)?;
    let documented = cargo(&made, "run", &["--", "ops", "template_driver.add"])?;
    require(documented.contains("Adds to a counter."), &documented)
}

fn a_library_passes_its_tests_and_is_loaded() -> Result<(), Failed> {
    let flags = ["--lib", "--ops"];
    let made = make(&scratch("library")?, "template-library", &flags)?;
    let tested = cargo(&made, "test", &[])?;
    // The unit tests; the program, and the op.
    require(
        tested.contains("3 passed") && tested.matches("1 passed").count() == 2,
        &tested,
    )?;
    cargo(&made, "build", &[])?;
    let profile = match cfg!(debug_assertions) {
        true => "debug",
        false => "release",
    };
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = target_folder()
        .join(profile)
        .join(format!("{prefix}template_library{suffix}"));
    let library = library.to_str().ok_or("the path is no Unicode")?;
    let ran = tfrt(
        &made,
        &["run", "--kernel-library", library, "programs/main.mlir"],
    )??;
    let expected = format!("{PREAMBLE}--- Running 'main':\n'main' returned 42\n");
    require(ran == expected, &ran)
}

fn what_is_there_stays() -> Result<(), Failed> {
    let folder = scratch("taken")?;
    std::fs::create_dir(folder.join("mine"))?;
    std::fs::write(folder.join("mine/notes.txt"), "important")?;
    std::fs::write(folder.join("file"), "important")?;
    let refused = tfrt(&folder, &["new", "mine"])?.unwrap_err();
    let expected = "tfrt: `mine` exists and is not empty: choose another name, or remove it\n";
    require(refused == expected, &refused)?;
    let refused = tfrt(&folder, &["new", "file"])?.unwrap_err();
    let expected = "tfrt: `file` exists and is not a folder: choose another name\n";
    require(refused == expected, &refused)?;
    require(
        std::fs::read_dir(folder.join("mine"))?.count() == 1,
        "the folder has more in it",
    )?;
    std::fs::create_dir(folder.join("empty"))?;
    tfrt(&folder, &["new", "empty"])??;
    require(folder.join("empty/Cargo.toml").is_file(), "no manifest")
}

/// Without `--runtime` a crate is built on the source that the tool was built from: this one.
fn a_crate_needs_no_flag_to_build() -> Result<(), Failed> {
    let folder = scratch("plain")?;
    tfrt(&folder, &["new", "template-plain"])??;
    let made = folder.join("template-plain");
    std::fs::copy(root().join("Cargo.lock"), made.join("Cargo.lock"))?;
    cargo(&made, "check", &["--tests"]).map(|_| ())
}

/// What is printed at the end works as it stands, whatever the tool is called and however it was
/// built.
fn commands_for_a_library_fit_the_tool() -> Result<(), Failed> {
    let folder = scratch("commands")?;
    let said = tfrt(&folder, &["new", "--lib", "shapes"])??;
    let tool = std::env::current_exe()?.canonicalize()?;
    let (build, profile) = match cfg!(debug_assertions) {
        true => ("cargo build\n", "debug"),
        false => ("cargo build --release\n", "release"),
    };
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let run = format!(
        "{} run --kernel-library target/{profile}/{prefix}shapes{suffix} programs/main.mlir\n",
        tool.display()
    );
    let readme = std::fs::read_to_string(folder.join("shapes/README.md"))?;
    for text in [said, readme] {
        require(text.contains(build) && text.contains(&run), &text)?;
    }
    Ok(())
}

fn nothing_is_written_for_a_bad_name_or_runtime() -> Result<(), Failed> {
    let folder = scratch("bad")?;
    for (arguments, start) in [
        (
            &["new", "my ops"][..],
            "tfrt: `my ops` cannot be the name of a crate: found ` `",
        ),
        (&["new", "fn"], "tfrt: `fn` cannot be the name of a crate"),
        (
            &["new", "--runtime", "nowhere", "ops"],
            "tfrt: no runtime at `nowhere`: ",
        ),
        (&["new"], "error: the following required arguments"),
    ] {
        let refused = tfrt(&folder, arguments)?.unwrap_err();
        require(refused.starts_with(start), &refused)?;
    }
    require(
        std::fs::read_dir(&folder)?.count() == 0,
        "something was written",
    )
}
