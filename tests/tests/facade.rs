//! How the macros find the facade in crates that know it under another name, or do not depend on
//! it.
//!
//! Crates outside this workspace, built as a user builds them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn manifest(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
    )
}

/// A kernel, a type, an attribute and a resource, none of which says where the facade is.
fn kernels(import: &str, prefix: &str) -> String {
    format!(
        r#"use {import}::prelude::*;

/// A point.
#[derive(Clone, Value)]
#[value("!{prefix}.point")]
pub struct Point(pub i32);

/// A side.
#[derive(Attr)]
pub enum Side {{
    Left,
    Right,
}}

/// What kernels share.
#[derive(Default, Resource)]
#[resource(host)]
pub struct Shared;

/// Moves a point.
#[tfrt_kernel("{prefix}.move")]
pub fn shift(point: &Point, #[attr] side: Side, _shared: Res<Shared>) -> i32 {{
    point.0 + if matches!(side, Side::Left) {{ -1 }} else {{ 1 }}
}}
"#
    )
}

/// A workspace with a crate that renames the facade, one that inherits a renamed dependency, and
/// one without the facade.
fn workspace() -> &'static Path {
    static WORKSPACE: OnceLock<PathBuf> = OnceLock::new();
    WORKSPACE.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = root.canonicalize().expect("the repository is there");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("facade");
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder"))
                .and_then(|()| fs::write(&path, text))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        };
        let runtime = root.join("runtime");
        write(
            "Cargo.toml",
            &format!(
                "[workspace]\nresolver = \"3\"\nmembers = [\"renamed\", \"inherited\", \"without\"]\n\n\
                 [workspace.dependencies]\ndataflow = {{ package = \"tfrt\", path = {runtime:?} }}\n"
            ),
        );
        write(
            "renamed/Cargo.toml",
            &manifest(
                "renamed",
                &format!(
                    "rt = {{ package = \"tfrt\", path = {runtime:?} }}\ntfrt-cli = {{ path = {:?} }}\n",
                    root.join("runtime/cli")
                ),
            ),
        );
        write(
            "renamed/src/lib.rs",
            &format!("pub use {{rt, tfrt_cli}};\n\n{}", kernels("rt", "renamed")),
        );
        write(
            "inherited/Cargo.toml",
            &manifest(
                "inherited",
                "dataflow.workspace = true\nrenamed = { path = \"../renamed\" }\n",
            ),
        );
        write(
            "inherited/src/main.rs",
            "mod kernels;\n\ndataflow::link!(renamed);\n\nfn main() -> std::process::ExitCode {\n    \
             renamed::tfrt_cli::main()\n}\n",
        );
        write(
            "inherited/src/kernels.rs",
            &kernels("dataflow", "inherited"),
        );
        write(
            "without/Cargo.toml",
            &manifest("without", "renamed = { path = \"../renamed\" }\n"),
        );
        write(
            "without/src/lib.rs",
            &kernels("renamed::rt", "without"),
        );
        // The versions that the workspace was built with are there already; others might have to be
        // fetched.
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))
            .expect("the lock file is copied");
        folder
    })
}

/// Builds a crate in the folder of the other crates outside this workspace, which have built most
/// of the same dependencies.
fn build(package: &str) -> Output {
    Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--package", package])
        .arg("--target-dir")
        .arg(target_directory())
        .current_dir(workspace())
        .output()
        .expect("cargo starts")
}

fn target_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("user_crate")
}

#[test]
fn a_renamed_dependency_is_found_in_the_manifest() {
    let output = build("inherited");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for kernel in ["renamed.move", "inherited.move"] {
        let output = Command::new(target_directory().join("debug/inherited"))
            .args(["ops", kernel])
            .output()
            .expect("the driver starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("Moves a point."), "{kernel}: {text}");
    }
}

#[test]
fn a_crate_without_the_facade_gets_one_error_for_each_macro() {
    let output = build("without");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    let expected = "error: this crate does not depend on `tfrt`: run `cargo add tfrt`, or name \
                    the crate that re-exports it with `crate = path::to::tfrt`";
    assert_eq!(errors[..errors.len() - 1], [expected; 4], "{text}");
    for place in ["lib.rs:4:17", "lib.rs:9:10", "lib.rs:16:19", "lib.rs:21:1"] {
        assert!(text.contains(place), "no error at {place}: {text}");
    }
}
