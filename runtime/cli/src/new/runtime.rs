//! The runtime that a new crate is built on: a released version, or a source on this machine.

use std::path::{Path, PathBuf};

use crate::failure::Reason;

/// What dependencies refer to.
#[derive(Debug)]
pub(super) enum Runtime {
    /// The version that this tool is of, from the registry of crates.
    Released,
    /// The source in this folder.
    Source(PathBuf),
}

impl Runtime {
    /// The source at `path`, where the runtime must be; without a path, the released version.
    pub(super) fn find(path: Option<&Path>) -> Result<Self, String> {
        let Some(path) = path else {
            return Ok(Self::Released);
        };
        let shown = path.display();
        // The path is relative to where we are, but would be read as relative to the crate.
        let absolute = path
            .canonicalize()
            .map_err(|error| format!("no runtime at `{shown}`: {}", Reason(&error)))?;
        let manifest = absolute.join("runtime/Cargo.toml");
        if !manifest.is_file() {
            return Err(format!(
                "no runtime at `{shown}`: expected its workspace, with `runtime/Cargo.toml` in it"
            ));
        }
        Ok(Self::Source(absolute))
    }

    /// The line of a manifest that names a crate of the runtime, which lies in `folder` of its source.
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
                .unwrap_or_default()
        };
        assert_eq!(
            refusal("src"),
            "no runtime at `src`: expected its workspace, with `runtime/Cargo.toml` in it"
        );
        assert!(refusal("nowhere").starts_with("no runtime at `nowhere`: No such file"));
        assert!(Runtime::find(Some(Path::new("../.."))).is_ok());
    }
}
