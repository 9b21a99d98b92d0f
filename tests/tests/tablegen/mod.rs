//! `mlir-tblgen`, where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tfrt_tests::tool;

/// The tool and the files of MLIR that declarations include.
pub struct TableGen {
    program: PathBuf,
    include: PathBuf,
}

impl TableGen {
    /// Looks for the tool: what `MLIR_TBLGEN` names, or `mlir-tblgen`, maybe with a version behind it, in `PATH`.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find() -> Result<Self, String> {
        let named = env::var_os("MLIR_TBLGEN").map(PathBuf::from);
        let program = named
            .or_else(in_path)
            .ok_or("mlir-tblgen is not installed, and MLIR_TBLGEN names none")?;
        // Links lead to where the tool was installed, beside which the files are.
        let program = fs::canonicalize(&program)
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let prefix = program.parent().and_then(Path::parent);
        let include = prefix.unwrap_or(Path::new("/")).join("include");
        if !include.join("mlir/IR/OpBase.td").exists() {
            return Err(format!("{} has no mlir/IR/OpBase.td", include.display()));
        }
        Ok(Self { program, include })
    }

    /// What the tool makes of a file.
    ///
    /// # Errors
    /// What it complains of.
    pub fn run(&self, file: &Path, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command
            .arg("-I")
            .arg(&self.include)
            .args(arguments)
            .arg(file);
        let output = tool::run(command).map_err(|error| error.to_string())?;
        // A warning would be a mistake of ours, too.
        if output.status != Some(0) || !output.stderr.is_empty() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{arguments:?} of {}: {text}", file.display()));
        }
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    }
}

/// The tool of the least name in the first folder that has one.
fn in_path() -> Option<PathBuf> {
    let is_tool = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let version = name.and_then(|name| name.strip_prefix("mlir-tblgen"));
        version.is_some_and(|version| {
            version
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_digit())
        })
    };
    env::split_paths(&env::var_os("PATH")?).find_map(|folder| {
        let entries = fs::read_dir(folder).ok()?;
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(is_tool)
            .min()
    })
}
