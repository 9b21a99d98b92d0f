//! The runtime of a new crate: a released version, or a source on this machine.

use std::path::{Path, PathBuf};

use crate::failure::CliError;

/// The target of dependencies.
#[derive(Debug)]
pub(super) enum Runtime {
    /// The version that this tool is of, from the registry of crates.
    Released,
    /// The source in this folder.
    Source(PathBuf),
}

impl Runtime {
    /// The source at `path`, where the runtime must be. Without a path, what this tool was built
    /// from: the release, if that was a release, and otherwise the source, as long as it is there.
    pub(super) fn find(path: Option<&Path>) -> Result<Self, CliError> {
        match path {
            Some(path) => Self::at(path).map_err(|reason| {
                CliError::caused(format!("no runtime at `{}`", path.display()), reason)
            }),
            None => Self::of_tool(Path::new(env!("CARGO_MANIFEST_DIR"))),
        }
    }

    /// Returns the runtime of a tool whose crate was in `folder` when it was built.
    fn of_tool(folder: &Path) -> Result<Self, CliError> {
        let is_release = folder
            .components()
            .zip(folder.components().skip(1))
            .any(|(outer, inner)| outer.as_os_str() == "registry" && inner.as_os_str() == "src");
        if is_release {
            return Ok(Self::Released);
        }
        let root = folder.join("../..");
        Self::at(&root).map_err(|_| {
            CliError::new(format!(
                "the runtime that this tool was built from is no longer at `{}`, and version {} \
                 is not released: pass the location of its source with `--runtime PATH`",
                root.display(),
                env!("CARGO_PKG_VERSION")
            ))
        })
    }

    /// Returns the runtime whose source is in this folder.
    fn at(path: &Path) -> Result<Self, CliError> {
        // The path is relative to where we are, but would be read as relative to the crate.
        let absolute = path
            .canonicalize()
            .map_err(|error| CliError::caused("cannot be opened", error))?;
        if !absolute.join("runtime/Cargo.toml").is_file() {
            return Err(CliError::new(
                "expected the workspace of the runtime, which contains `runtime/Cargo.toml`",
            ));
        }
        Ok(Self::Source(absolute))
    }

    /// The line of a manifest that names a crate of the runtime, which lies in `folder` of its
    /// source.
    pub(super) fn dependency(&self, name: &str, folder: &str) -> String {
        match self {
            Self::Released => format!("{name} = \"{}\"", env!("CARGO_PKG_VERSION")),
            Self::Source(root) => {
                let path = root.join(folder);
                // Rust's escapes of a string are TOML's, for all that paths hold.
                format!("{name} = {{ path = {:?} }}", path.display().to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::WithCauses;

    #[test]
    fn a_dependency_is_a_version_or_a_path() {
        let released = Runtime::Released.dependency("tfrt", "runtime");
        assert_eq!(
            released,
            concat!("tfrt = \"", env!("CARGO_PKG_VERSION"), "\"")
        );
        let source = Runtime::Source("/src/a \"b\"".into());
        assert_eq!(
            source.dependency("tfrt-cli", "runtime/cli"),
            r#"tfrt-cli = { path = "/src/a \"b\"/runtime/cli" }"#
        );
    }

    #[test]
    fn a_folder_without_the_runtime_is_refused() {
        let refusal = |path: &str| {
            Runtime::find(Some(Path::new(path)))
                .err()
                .map_or_else(String::new, |error| WithCauses(&error).to_string())
        };
        assert_eq!(
            refusal("src"),
            "no runtime at `src`: expected the workspace of the runtime, which contains \
             `runtime/Cargo.toml`"
        );
        assert!(
            refusal("nowhere")
                .starts_with("no runtime at `nowhere`: cannot be opened: No such file")
        );
        assert!(Runtime::find(Some(Path::new("../.."))).is_ok());
    }

    #[test]
    fn without_a_path_it_is_what_the_tool_was_built_from() {
        let found = Runtime::find(None);
        let root = Path::new("../..").canonicalize().ok();
        assert!(matches!(found, Ok(Runtime::Source(found)) if Some(&found) == root.as_ref()));
        let release = Path::new("/home/me/.cargo/registry/src/index.crates.io-1/tfrt-cli-0.1.0");
        assert!(matches!(Runtime::of_tool(release), Ok(Runtime::Released)));
        let moved = Runtime::of_tool(Path::new("/nowhere/runtime/cli"));
        let expected = "the runtime that this tool was built from is no longer at \
                        `/nowhere/runtime/cli/../..`";
        assert!(moved.is_err_and(|error| error.to_string().starts_with(expected)));
    }
}
