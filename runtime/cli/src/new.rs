//! `tfrt new`: creates a crate of kernels from a template.
//!
//! The crate has kernels, a program made of them, tests of both, and a driver; or it is a kernel
//! library, without a driver. The template is in `new/template`, with placeholders in double
//! braces. The created crate builds as it is.

mod name;

mod runtime;

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::failure::{CliError, Failure};
use crate::output;

use name::CrateName;
use runtime::Runtime;

const EXAMPLES: &str = "\
Examples:
  tfrt new shapes                             a crate with kernels and a driver that runs programs
  tfrt new --lib shapes                       a kernel library for `tfrt run --kernel-library`
  tfrt new --ops shapes                       also an op that Rust code calls directly
  tfrt new --runtime ../tfrt work/shapes      use the source of the runtime in `../tfrt`";

/// Create a crate for your own kernels.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder to create; its name becomes the name of the crate
    path: PathBuf,

    /// Create a kernel library, which `tfrt run` loads at run time, instead of a driver
    #[arg(long = "lib")]
    is_library: bool,

    /// Add an op that Rust code calls directly, and a test of it
    #[arg(long = "ops")]
    has_ops: bool,

    /// The source folder of the runtime [default: the source that this tool was built from]
    #[arg(long, value_name = "PATH")]
    runtime: Option<PathBuf>,
}

/// One file of the template: its path and its text.
type TemplateFile = (&'static str, &'static str);

const COMMON: [TemplateFile; 5] = [
    (
        "Cargo.toml",
        include_str!("new/template/common/Cargo.toml.in"),
    ),
    (
        ".gitignore",
        include_str!("new/template/common/gitignore.in"),
    ),
    ("src/lib.rs", include_str!("new/template/common/lib.rs.in")),
    (
        "programs/main.mlir",
        include_str!("new/template/common/main.mlir.in"),
    ),
    (
        "tests/programs.rs",
        include_str!("new/template/common/programs.rs.in"),
    ),
];

const DRIVER: [TemplateFile; 2] = [
    (
        "src/main.rs",
        include_str!("new/template/driver/main.rs.in"),
    ),
    (
        "README.md",
        include_str!("new/template/driver/README.md.in"),
    ),
];

const LIBRARY: [TemplateFile; 1] = [(
    "README.md",
    include_str!("new/template/library/README.md.in"),
)];

const OPS: [TemplateFile; 2] = [
    ("src/ops.rs", include_str!("new/template/ops/ops.rs.in")),
    ("tests/ops.rs", include_str!("new/template/ops/tests.rs.in")),
];

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let refuse = |error: CliError| Failure::caused(program, error);
    let name = CrateName::of_folder(&arguments.path).map_err(refuse)?;
    let runtime = Runtime::find(arguments.runtime.as_deref()).map_err(refuse)?;
    check_vacant(&arguments.path).map_err(refuse)?;
    let values = values(&name, &runtime, arguments);
    let own: &[TemplateFile] = if arguments.is_library {
        &LIBRARY
    } else {
        &DRIVER
    };
    let ops: &[TemplateFile] = if arguments.has_ops { &OPS } else { &[] };
    for (path, template) in COMMON.iter().chain(own).chain(ops) {
        let path = arguments.path.join(path);
        write(&path, &fill(template, &values)).map_err(refuse)?;
    }
    output::write("-", what_next(&name, arguments).as_bytes())
}

/// Checks that creating the crate at `path` overwrites nothing.
fn check_vacant(path: &Path) -> Result<(), CliError> {
    let shown = path.display();
    if !path
        .try_exists()
        .map_err(|error| CliError::caused(format!("`{shown}`"), error))?
    {
        return Ok(());
    }
    if !path.is_dir() {
        return Err(CliError::new(format!(
            "`{shown}` exists and is not a folder: choose another name"
        )));
    }
    let mut entries =
        fs::read_dir(path).map_err(|error| CliError::caused(format!("`{shown}`"), error))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(CliError::new(format!(
            "`{shown}` exists and is not empty: choose another name, or remove it"
        ))),
    }
}

/// Returns the text for each placeholder.
fn values(
    name: &CrateName,
    runtime: &Runtime,
    arguments: &Arguments,
) -> Vec<(&'static str, String)> {
    let is_library = arguments.is_library;
    let mut dependencies = vec![runtime.dependency("tfrt", "runtime")];
    if !is_library {
        dependencies.push(runtime.dependency("tfrt-cli", "runtime/cli"));
    }
    let dev_dependencies = runtime.dependency("tfrt-kernels", "kernels");
    let lib = "\n# The kernel library, and an ordinary library for the tests.\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n";
    let export = "\n// What makes a kernel library of this crate: `tfrt run --kernel-library` finds the kernels by it.\ntfrt::export_kernels!();\n";
    let workspace =
        "\n# A separate workspace: this crate is not part of the one around it.\n[workspace]\n";
    let if_so = |is_so: bool, text: &str| {
        if is_so {
            text.to_owned()
        } else {
            String::new()
        }
    };
    vec![
        ("name", name.package().to_owned()),
        ("crate", name.in_rust()),
        ("dialect", name.in_rust()),
        ("tfrt", tool::command()),
        ("file", name.library_file()),
        ("build", build_command().to_owned()),
        ("profile", profile_folder().to_owned()),
        ("lib", if_so(is_library, lib)),
        ("export", if_so(is_library, export)),
        ("ops", if_so(arguments.has_ops, "\npub mod ops;\n")),
        ("dependencies", dependencies.join("\n")),
        ("dev_dependencies", dev_dependencies),
        (
            "workspace",
            if_so(is_inside_crate(&arguments.path), workspace),
        ),
    ]
}

/// Returns `true` if a parent of `path` is a cargo package or workspace, which would claim the new
/// crate.
fn is_inside_crate(path: &Path) -> bool {
    std::path::absolute(path).is_ok_and(|path| {
        path.ancestors()
            .skip(1)
            .any(|folder| folder.join("Cargo.toml").is_file())
    })
}

fn fill(template: &str, values: &[(&'static str, String)]) -> String {
    let filled = values
        .iter()
        .fold(template.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{{{name}}}}}"), value)
        });
    // What is left out leaves an empty line at the end.
    format!("{}\n", filled.trim_end())
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| CliError::caused(format!("cannot write `{}`", path.display()), error))
}

/// Returns the build command: a library can only be loaded by a tool with the same profile.
fn build_command() -> &'static str {
    if cfg!(debug_assertions) {
        "cargo build"
    } else {
        "cargo build --release"
    }
}

/// Returns the folder in which that command puts the library.
fn profile_folder() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}

fn what_next(name: &CrateName, arguments: &Arguments) -> String {
    let path = arguments.path.display();
    let (what, run) = if arguments.is_library {
        let file = name.library_file();
        let run = format!(
            "  {}\n  {} run --kernel-library target/{}/{file} programs/main.mlir",
            build_command(),
            tool::command(),
            profile_folder()
        );
        ("a kernel library", run)
    } else {
        let run = String::from("  cargo run -- run programs/main.mlir");
        ("a crate with kernels and a driver", run)
    };
    format!("Created `{path}`: {what}.\n\n  cd {path}\n  cargo test\n{run}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_braces_is_filled_in() {
        let name =
            CrateName::of_folder(Path::new("my-ops")).unwrap_or_else(|error| panic!("{error}"));
        for (is_library, has_ops) in [(false, false), (true, true)] {
            let arguments = Arguments {
                path: "my-ops".into(),
                is_library,
                has_ops,
                runtime: None,
            };
            let values = values(&name, &Runtime::Released, &arguments);
            let files = COMMON.iter().chain(&DRIVER).chain(&LIBRARY).chain(&OPS);
            for (path, template) in files {
                let text = fill(template, &values);
                assert!(!text.contains("{{"), "{path}: {text}");
            }
        }
    }
}
