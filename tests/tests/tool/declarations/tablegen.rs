//! `mlir-tblgen`, where it is installed.

use std::ffi::OsStr;
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
    /// Looks for a tool that reads `declarations`: what `MLIR_TBLGEN` names, or else each
    /// `mlir-tblgen`, maybe with a version behind it, in `PATH`. The files that the declarations
    /// include must be installed with it; old versions lack some.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find(declarations: &str) -> Result<Self, String> {
        let named = env::var_os("MLIR_TBLGEN").map(|name| vec![PathBuf::from(name)]);
        let path = env::var_os("PATH").unwrap_or_default();
        let candidates = named.unwrap_or_else(|| in_path(&path));
        Self::first_that_reads(declarations, &candidates)
    }

    /// The first of the tools with which everything that the declarations include is installed.
    ///
    /// # Errors
    /// Why none of them is of use.
    pub fn first_that_reads(declarations: &str, candidates: &[PathBuf]) -> Result<Self, String> {
        let mut reasons = Vec::new();
        for program in candidates {
            match Self::that_reads(declarations, program) {
                Ok(tool) => return Ok(tool),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(if reasons.is_empty() {
            "mlir-tblgen is not installed, and MLIR_TBLGEN does not name it".to_owned()
        } else {
            reasons.join("; ")
        })
    }

    fn that_reads(declarations: &str, program: &Path) -> Result<Self, String> {
        // Links lead to where the tool was installed, beside which the files are.
        let program =
            fs::canonicalize(program).map_err(|error| format!("{}: {error}", program.display()))?;
        let prefix = program.parent().and_then(Path::parent);
        let include = prefix.unwrap_or(Path::new("/")).join("include");
        let mut included = declarations
            .lines()
            .filter_map(|line| line.strip_prefix("include \"")?.strip_suffix('"'));
        match included.find(|file| !include.join(file).is_file()) {
            None => Ok(Self { program, include }),
            Some(missing) => Err(format!("{} comes without `{missing}`", program.display())),
        }
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

/// Every tool in the folders of a search path, in the order of the folders; in each of them the
/// newest version first.
pub fn in_path(path: &OsStr) -> Vec<PathBuf> {
    let version = |path: &Path| {
        let name = path.file_name()?.to_str()?.strip_prefix("mlir-tblgen")?;
        match name.strip_prefix('-') {
            Some(number) => number.parse().ok(),
            // Without a version: what the administrator chose.
            None => name.is_empty().then_some(u32::MAX),
        }
    };
    let folders = env::split_paths(path).filter_map(|folder| fs::read_dir(folder).ok());
    folders
        .flat_map(|entries| {
            let mut tools: Vec<_> = entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter_map(|path| Some((version(&path)?, path)))
                .collect();
            tools.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
            tools.into_iter().map(|(_, path)| path)
        })
        .collect()
}
