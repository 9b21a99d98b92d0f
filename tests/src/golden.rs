//! The recorded commands of `golden/cases.tsv`.
//!
//! The recorded files are in folders by family; no two have the same name, so that files and
//! commands name them alone, as they were recorded.
//!
//! Most are compared with what was recorded. A few must differ, on purpose: [`own_expectation`]
//! lists those and says what holds instead.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::compare::{self, Mode};
use crate::tool::{self, Output};

/// The folder with the list of commands, and a folder of recorded files for each family.
#[must_use]
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// The folders of recorded files, by family.
const FAMILIES: [&str; 7] = [
    "host",
    "tensors",
    "core_runtime",
    "data",
    "distributed",
    "rejected",
    "damaged",
];

/// The path of the recorded file with this name; one that is not there, if there is none.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    let paths = FAMILIES.map(|family| directory().join(family).join(name));
    let found = paths.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| directory().join(name))
}

/// The folder in which a command runs: that of the recorded files it names.
fn folder_of(command: &str) -> PathBuf {
    let folders = FAMILIES.map(|family| directory().join(family));
    let has_a_file = |folder: &PathBuf| {
        let mut words = command.split_ascii_whitespace();
        words.any(|word| folder.join(word).is_file())
    };
    folders
        .into_iter()
        .find(has_a_file)
        .unwrap_or_else(directory)
}

/// One recorded command.
#[derive(Clone, Debug)]
pub struct Case {
    /// The command, as one types it.
    pub command: String,
    status: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    is_stdout_mlir: bool,
    mode: Mode,
    /// How tasks of a cluster reach each other, if not inside the process.
    communicator: Option<&'static str>,
}

/// Reads the list of commands.
///
/// # Errors
/// If the list or a file it names cannot be read.
pub fn cases() -> Result<Vec<Case>, String> {
    let table = read(&directory().join("cases.tsv"))?;
    let table = String::from_utf8_lossy(&table);
    table.lines().skip(1).map(parse_case).collect()
}

fn parse_case(line: &str) -> Result<Case, String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [status, stdout, stderr, mode, command] = columns[..] else {
        return Err(format!("expected five columns, found `{line}`"));
    };
    let recorded = |name: &str| {
        if name == "-" {
            Ok(Vec::new())
        } else {
            read(&path(name))
        }
    };
    Ok(Case {
        command: command.to_owned(),
        status: status
            .parse()
            .map_err(|_| format!("expected an exit status, found `{status}`"))?,
        stdout: recorded(stdout)?,
        stderr: recorded(stderr)?,
        is_stdout_mlir: stdout.ends_with(".mlir"),
        mode: Mode::from_name(mode).ok_or_else(|| format!("unknown way to compare `{mode}`"))?,
        communicator: None,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a command line in the folder of the recorded files that it names; `< FILE` gives it
/// standard input.
///
/// # Errors
/// If it cannot be started or hangs.
pub fn run(command: &str) -> Result<Output, String> {
    run_over(None, command)
}

fn run_over(communicator: Option<&str>, command: &str) -> Result<Output, String> {
    let folder = folder_of(command);
    let (command, stdin) = command
        .split_once(" < ")
        .map_or((command, None), |(command, file)| (command, Some(file)));
    let mut words = command.split_ascii_whitespace();
    let tool = words.next().ok_or("expected a command")?;
    let mut command = tool::command(tool, &folder).map_err(|error| error.to_string())?;
    command.args(words);
    if let Some(communicator) = communicator {
        command.env("TFRT_TEST_COMMUNICATOR", communicator);
    }
    if let Some(file) = stdin {
        command.stdin(File::open(folder.join(file)).map_err(|error| format!("{file}: {error}"))?);
    }
    tool::run(command).map_err(|error| error.to_string())
}

/// Runs a recorded command and compares.
///
/// # Errors
/// What differs.
pub fn check(case: &Case) -> Result<(), String> {
    let output = run_over(case.communicator, &case.command)?;
    match own_expectation(&case.command) {
        Some(expectation) => expectation.check(case, &output),
        None => case.compare(&output),
    }
}

impl Case {
    /// The same run of the program's text instead of its file, if this is a run of a file that has
    /// a text.
    #[must_use]
    pub fn from_text(&self) -> Option<Self> {
        let (start, name) = self.command.strip_suffix(".bef")?.rsplit_once(' ')?;
        let has_text = path(&format!("{name}.mlir")).exists();
        let is_run = start.starts_with("bef_executor") && !start.ends_with('<');
        (is_run && has_text).then(|| Self {
            command: format!("{start} {name}.mlir"),
            ..self.clone()
        })
    }

    /// What the test of this case is called.
    #[must_use]
    pub fn name(&self) -> String {
        match self.communicator {
            Some(communicator) => format!("{} over {communicator}", self.command),
            None => self.command.clone(),
        }
    }

    /// The same run with tasks that reach each other over gRPC, and once more on a single thread,
    /// if this is a run of a program over many tasks.
    #[must_use]
    pub fn over_grpc(&self) -> Vec<Self> {
        const MANY: [&str; 2] = [
            "--work_queue_type=mstd:4,256",
            "Choosing Multi-threaded C++ work queue (4 threads, 256 blocking threads) work queue.",
        ];
        const ONE: [&str; 2] = [
            "--work_queue_type=s",
            "Choosing single-threaded work queue.",
        ];
        if !(self.command.starts_with("bef_executor") && self.command.contains("-dist-")) {
            return Vec::new();
        }
        let on_queue = |[flag, line]: [&str; 2]| Self {
            command: self.command.replace(MANY[0], flag),
            stdout: String::from_utf8_lossy(&self.stdout)
                .replace(MANY[1], line)
                .into(),
            communicator: Some("grpc_communicator"),
            ..self.clone()
        };
        vec![on_queue(MANY), on_queue(ONE)]
    }

    fn compare(&self, output: &Output) -> Result<(), String> {
        let exact = |expected: &str, found: &str| expected == found;
        match self.mode {
            Mode::Exact => {
                self.compare_status(output)?;
                self.compare_stderr(output, exact)?;
                if self.is_stdout_mlir {
                    self.compare_stdout(output, compare::same_but_for_blanks)
                } else {
                    self.compare_stdout(output, exact)
                }
            }
            Mode::Contains => {
                self.compare_status(output)?;
                self.compare_stdout(output, exact)?;
                compare::messages(&self.stderr, &output.stderr)
                    .map_err(|error| format!("standard error: {error}"))
            }
            Mode::Masked => {
                self.compare_status(output)?;
                self.compare_stdout(output, compare::matches_masks)?;
                self.compare_stderr(output, compare::matches_masks)
            }
            Mode::Form => {
                let same_form = |expected: &str, found: &str| {
                    compare::matches_masks(
                        &compare::without_numbers(expected),
                        &compare::without_numbers(found),
                    )
                };
                self.compare_status(output)?;
                self.compare_stdout(output, same_form)?;
                self.compare_stderr(output, same_form)
            }
            Mode::Stderr => {
                self.compare_status(output)?;
                self.compare_stderr(output, exact)
            }
            Mode::Status => self.compare_status(output),
            Mode::Skip => Err(
                "nothing is recorded to compare with, and we state no expectation of our own"
                    .to_owned(),
            ),
        }
    }

    fn compare_status(&self, output: &Output) -> Result<(), String> {
        require_status(self.status, output)
    }

    fn compare_stdout(
        &self,
        output: &Output,
        is_same: impl Fn(&str, &str) -> bool,
    ) -> Result<(), String> {
        compare::lines(&self.stdout, &output.stdout, is_same)
            .map_err(|error| format!("standard output: {error}"))
    }

    fn compare_stderr(
        &self,
        output: &Output,
        is_same: impl Fn(&str, &str) -> bool,
    ) -> Result<(), String> {
        compare::lines(&self.stderr, &output.stderr, is_same)
            .map_err(|error| format!("standard error: {error}"))
    }
}

/// Requires an exit status.
///
/// # Errors
/// If it is another one.
pub fn require_status(expected: i32, output: &Output) -> Result<(), String> {
    if output.status == Some(expected) {
        return Ok(());
    }
    let found = output
        .status
        .map_or_else(|| "none".to_owned(), |status| status.to_string());
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "exit status: expected {expected}, found {found}; standard error:\n{stderr}"
    ))
}

/// What holds of a command whose recorded output is not to be matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnExpectation {
    /// The file is decoded to a program that can be translated again.
    Decodes,
    /// The file lacks what its text needs: either it is decoded or there is a report.
    DecodesOrReports,
    /// It fails, and says this.
    Fails(&'static str),
    /// It succeeds, and prints these lines among others.
    Prints(&'static [&'static str]),
    /// As recorded, but for the diagnostics of these pieces of a split file, which are accepted.
    AcceptsPieces(&'static [&'static str]),
}

/// The commands that must differ from what was recorded.
#[must_use]
pub fn own_expectation(command: &str) -> Option<OwnExpectation> {
    // The reference calls every function attribute `callee` and forgets costs, then refuses its own
    // result.
    const DECODES: &[&str] = &[
        "07-calls",
        "09-cond-case",
        "11-while",
        "12-once",
        "19-cancel",
        "21-native",
        "26-symbols-regions",
        "36-stream-costs",
        "37-stream-merging",
        "39-stream-graphs",
        "43-benchmarks",
        "45-shapes",
        "50-canonicalize",
        "51-core-runtime",
        "54-case-out-of-range",
        "88-crt-cond-while",
        "92-crt-sync-dtypes",
        "93-crt-cancel",
        "94-data-range",
        "95-data-values",
        "96-data-map",
        "97-data-filter-skip",
        "98-data-batch",
        "99-data-prefetch-repeat",
        "100-data-shuffle",
        "101-data-interleave",
        "102-data-errors",
        "103-data-records",
    ];
    const WITHOUT_OPTIONAL_SECTIONS: &[&str] =
        &["20-sync.min", "26-symbols-regions.min", "30-modules.min"];
    // The shorthand of a region cannot name one value twice. The reference prints it all the same,
    // and cannot read that back.
    const ONE_VALUE_TWICE: OwnExpectation =
        OwnExpectation::Prints(&["%12 = \"tfrt.parallel_for.i32\"(%arg1, %arg1, %arg1, %arg3) ({"]);
    // Its kernels are declared with the wrong result type in the reference.
    const SYNC_RUNNER: OwnExpectation =
        OwnExpectation::Prints(&["'one_result' returned 42", "'two_results' returned 42,440"]);
    // Empty type lists in custom forms are accepted, so that the printer is an inverse of the
    // parser.
    const EMPTY_LISTS: OwnExpectation =
        OwnExpectation::AcceptsPieces(&["@empty_operand_list", "@empty_merge"]);

    // Run as a text, without a file in between, it also says where.
    const UNKNOWN_KERNEL: OwnExpectation = OwnExpectation::Fails(
        "38-unknown-dialects.mlir:5:8: error: unexpected error: runtime error: unknown kernel \
         name 'my.make'",
    );

    let decodes = |name: &str| command == format!("tfrt_translate --bef-to-mlir {name}.bef");
    if DECODES.iter().any(|name| decodes(name)) {
        Some(OwnExpectation::Decodes)
    } else if WITHOUT_OPTIONAL_SECTIONS.iter().any(|name| decodes(name)) {
        Some(OwnExpectation::DecodesOrReports)
    } else if decodes("89-damaged-version") {
        Some(OwnExpectation::Fails("Unknown BEF format version detected"))
    } else if decodes("41-both-forms") {
        Some(OwnExpectation::Decodes)
    } else if command == "tfrt_opt --allow-unregistered-dialect 41-both-forms.mlir" {
        Some(ONE_VALUE_TWICE)
    } else if command.starts_with("bef_executor") && command.contains(" 22-sync-runner.") {
        Some(SYNC_RUNNER)
    } else if command == "bef_executor 38-unknown-dialects.mlir" {
        Some(UNKNOWN_KERNEL)
    } else if command.ends_with(" 73-bad-pieces.mlir") {
        Some(EMPTY_LISTS)
    } else {
        None
    }
}

impl OwnExpectation {
    fn check(self, case: &Case, output: &Output) -> Result<(), String> {
        let stderr = String::from_utf8_lossy(&output.stderr);
        match self {
            Self::Decodes => {
                require_status(0, output)?;
                require_translates_again(&output.stdout)
            }
            Self::DecodesOrReports => match output.status {
                Some(0) => require_translates_again(&output.stdout),
                Some(1) if !stderr.is_empty() => Ok(()),
                _ => Err(format!(
                    "expected a program or a report, found status {:?}:\n{stderr}",
                    output.status
                )),
            },
            Self::Fails(message) => {
                require_status(1, output)?;
                let says_so = stderr.contains(message);
                says_so
                    .then_some(())
                    .ok_or_else(|| format!("`{message}` is not part of:\n{stderr}"))
            }
            Self::Prints(lines) => {
                require_status(0, output)?;
                let stdout = String::from_utf8_lossy(&output.stdout);
                let missing = lines
                    .iter()
                    .find(|line| !stdout.lines().any(|printed| printed.trim() == **line));
                missing.map_or(Ok(()), |line| {
                    Err(format!("`{line}` is not among:\n{stdout}"))
                })
            }
            Self::AcceptsPieces(names) => check_accepted_pieces(names, case, output),
        }
    }
}

fn require_translates_again(text: &[u8]) -> Result<(), String> {
    let mut command =
        tool::command("tfrt_translate", &directory()).map_err(|error| error.to_string())?;
    let path = std::env::temp_dir().join(format!(
        "tfrt-golden-{}-{:p}.mlir",
        std::process::id(),
        text.as_ptr()
    ));
    fs::write(&path, text).map_err(|error| error.to_string())?;
    let input = File::open(&path).map_err(|error| error.to_string());
    // The open file stays readable without its name.
    let _ = fs::remove_file(&path);
    command.arg("--mlir-to-bef").stdin(input?);
    require_status(0, &tool::run(command).map_err(|error| error.to_string())?)
        .map_err(|error| format!("what was printed does not translate: {error}"))
}

/// Compares diagnostics of a split file, leaving out those of the pieces whose functions are called
/// `names`.
fn check_accepted_pieces(names: &[&str], case: &Case, output: &Output) -> Result<(), String> {
    let file = case.command.rsplit(' ').next().unwrap_or_default();
    let text = read(&path(file))?;
    let text = String::from_utf8_lossy(&text);
    let accepted: Vec<String> = names
        .iter()
        .map(|name| {
            piece_name(file, &text, name)
                .ok_or_else(|| format!("no piece of `{file}` defines {name}"))
        })
        .collect::<Result<_, _>>()?;
    let is_verifying = case.command.contains("--verify-diagnostics");
    let (mut of_others, mut of_accepted) = (Vec::new(), Vec::new());
    let found = String::from_utf8_lossy(&output.stderr);
    for diagnostic in split_diagnostics(&found) {
        let is_accepted = accepted
            .iter()
            .any(|piece| diagnostic.starts_with(piece.as_str()));
        if is_accepted {
            of_accepted.push(diagnostic)
        } else {
            of_others.push(diagnostic)
        }
    }
    // What is accepted is silent, or, where an error was expected, only that is missing.
    for diagnostic in of_accepted {
        if !(is_verifying && diagnostic.contains("was not produced")) {
            return Err(format!(
                "expected piece to be accepted, found:\n{diagnostic}"
            ));
        }
    }
    require_status(1, output)?;
    let recorded = String::from_utf8_lossy(&case.stderr);
    let recorded = split_diagnostics(&recorded);
    let expected = recorded.into_iter().filter(|diagnostic| {
        !accepted
            .iter()
            .any(|piece| diagnostic.starts_with(piece.as_str()))
    });
    let expected: String = expected.collect();
    compare::lines(
        expected.as_bytes(),
        of_others.concat().as_bytes(),
        |a, b| a == b,
    )
    .map_err(|error| format!("standard error: {error}"))
}

/// What diagnostics call the piece of a split file that defines function `name`.
fn piece_name(file: &str, text: &str, name: &str) -> Option<String> {
    let definition = text.find(&format!("func {name}("))?;
    let start = text[..definition].rfind("// -----").unwrap_or(0);
    let line = text[..start].matches('\n').count() + 1;
    Some(format!("within split at {file}:{line} offset :"))
}

/// Splits printed diagnostics, each with its source lines, at the lines that start one.
fn split_diagnostics(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text
        .match_indices("within split at ")
        .map(|(start, _)| start)
        .filter(|start| *start == 0 || text.as_bytes()[start - 1] == b'\n')
        .collect();
    starts.push(text.len());
    starts
        .windows(2)
        .map(|ends| &text[ends[0]..ends[1]])
        .collect()
}
