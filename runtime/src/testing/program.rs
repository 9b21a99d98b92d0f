//! Tests of programs.

use std::sync::{Arc, LazyLock};

use tfrt_bef::BefFile;
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::{HostContext, RequestContextBuilder};
use tfrt_support::{Diagnostic, Diagnostics, Place};

use super::operand::{IntoOperands, Operand};
use super::outcome::TestOutcome;
use super::run::{Run, Settings};
use super::{schedule, shuffle};
use crate::text::{self, Chains};

/// The file name in locations of test programs.
const FILE_NAME: &str = "program";

/// Creates a test of a program in MLIR text.
///
/// The program is compiled once, with the kernels that are linked into the test. Lines are counted
/// from the first line of `source`.
///
/// ```
/// use tfrt::testing;
///
/// testing::program("func @same(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}").call("same", (5,)).expect_value(5);
/// ```
#[must_use = "a program does nothing until it is called"]
pub fn program(source: &str) -> TestProgram {
    TestProgram::new(source, Arc::clone(&LINKED))
}

/// Every kernel of the test, looked up once.
static LINKED: LazyLock<Arc<KernelRegistry>> =
    LazyLock::new(|| match KernelRegistry::from_link() {
        Ok(registry) => Arc::new(registry),
        Err(duplicates) => panic!("{duplicates}"),
    });

/// The kernels that are linked into the test.
pub(super) fn linked() -> Arc<KernelRegistry> {
    Arc::clone(&LINKED)
}

/// A program under test, created by [`program`].
#[derive(Clone)]
pub struct TestProgram {
    source: Arc<str>,
    compiled: Result<BefFile, Diagnostics>,
    settings: Settings,
}

impl TestProgram {
    fn new(source: &str, kernels: Arc<KernelRegistry>) -> Self {
        Self {
            source: source.into(),
            compiled: load(text::compile(source, FILE_NAME, &kernels), &kernels),
            settings: Settings {
                kernels,
                adds_chains: false,
                queues: schedule::one(),
                prepare: None,
                records_calls: false,
            },
        }
    }

    /// Uses these kernels instead of the linked ones.
    #[must_use]
    pub fn with_kernels(mut self, kernels: Arc<KernelRegistry>) -> Self {
        self.settings.kernels = kernels;
        self.compiled_again()
    }

    /// Allows a program without chains, and adds the chains that its order requires; see
    /// [`text::compile_without_chains`]. Calls may omit the chains that its functions then take.
    ///
    /// ```
    /// # use tfrt::prelude::*;
    /// # use tfrt::testing;
    /// # /// Starts a chain; the only one in all of these examples.
    /// # #[tfrt_kernel("tested.new_chain", pure, chain_source, chain = none)]
    /// # fn new_chain() -> Chain { Chain }
    /// # /// Merges chains; the only one, too.
    /// # #[tfrt_kernel("tested.merge_chains", pure, chain_merge)]
    /// # fn merge_chains(_values: &[AnyRef]) -> Chain { Chain }
    /// /// A drawer of things.
    /// #[derive(Value)]
    /// #[value("!tested.drawer", mutable)]
    /// struct Drawer(Vec<i32>);
    ///
    /// /// Puts something in.
    /// #[tfrt_kernel("tested.put")]
    /// fn put(drawer: &mut Drawer, thing: i32) {
    ///     drawer.0.push(thing);
    /// }
    ///
    /// /// Counts what is in.
    /// #[tfrt_kernel("tested.len")]
    /// fn len(drawer: &Drawer) -> i64 {
    ///     drawer.0.len() as i64
    /// }
    ///
    /// testing::program(
    ///     r#"
    ///     func @main(%drawer: !tested.drawer, %thing: i32) -> (i64, i64) {
    ///       "tested.put"(%drawer, %thing) : (!tested.drawer, i32) -> ()
    ///       %one = "tested.len"(%drawer) : (!tested.drawer) -> i64
    ///       "tested.put"(%drawer, %thing) : (!tested.drawer, i32) -> ()
    ///       %two = "tested.len"(%drawer) : (!tested.drawer) -> i64
    ///       tfrt.return %one, %two : i64, i64
    ///     }
    ///     "#,
    /// )
    /// .without_chains()
    /// .under_every_queue()
    /// .call("main", (testing::value_from(|| Drawer(Vec::new())), testing::later(7)))
    /// .expect_values((1_i64, 2_i64));
    /// ```
    #[must_use]
    pub fn without_chains(mut self) -> Self {
        self.settings.adds_chains = true;
        self.compiled_again()
    }

    fn compiled_again(mut self) -> Self {
        let kernels = &self.settings.kernels;
        let compiled = match self.settings.adds_chains {
            true => text::compile_without_chains(&self.source, FILE_NAME, kernels),
            false => text::compile(&self.source, FILE_NAME, kernels),
        };
        self.compiled = load(compiled, kernels);
        self
    }

    /// Runs under each of these queues, with the same expectations: `s`, `mstd:4`, any other queue
    /// of [`create_queue`](crate::queue::create_queue), or `random:SEED`. The latter delays every
    /// kernel and runs ready kernels in an order that the seed determines, so only chains and
    /// values order kernels.
    #[must_use]
    pub fn under<'a>(mut self, queues: impl IntoIterator<Item = &'a str>) -> Self {
        self.settings.queues = queues.into_iter().map(str::to_owned).collect();
        assert!(
            !self.settings.queues.is_empty(),
            "a test that runs under no queue tests nothing"
        );
        self
    }

    /// Runs under `s`, 16 random orders and `mstd:4`, in this order. A failure names its queue, and
    /// the test can be repeated [`under`](Self::under) that queue: a random order is the same each
    /// time, that of `mstd:4` is not.
    #[must_use]
    pub fn under_every_queue(mut self) -> Self {
        self.settings.queues = schedule::every();
        self
    }

    /// Configures each request before it starts, for example with data, resources or a deadline.
    ///
    /// ```
    /// use tfrt::prelude::*;
    /// use tfrt::testing;
    ///
    /// /// Tells who asks.
    /// #[tfrt_kernel("my.user")]
    /// fn user(request: &RequestContext) -> Result<String> {
    ///     request.context_data::<String>().cloned().ok_or_else(RequestContext::missing_context_data::<String>)
    /// }
    ///
    /// let user = || testing::kernel("my.user");
    /// user().request(|request| request.context_data(String::from("ada"))).run().expect_value("ada");
    /// user().run().expect_error("no context data");
    /// ```
    #[must_use]
    pub fn request(
        mut self,
        prepare: impl Fn(RequestContextBuilder) -> RequestContextBuilder + 'static,
    ) -> Self {
        self.settings.prepare = Some(Arc::new(prepare));
        self
    }

    /// Records which kernels are called, for [`TestOutcome::expect_calls`]. This replaces the
    /// tracing sink of the process, so no other code may use it.
    #[must_use]
    pub fn recording_calls(mut self) -> Self {
        self.settings.records_calls = true;
        self
    }

    /// Runs a function to completion, under every queue that was named.
    ///
    /// # Panics
    /// If the program is refused, the function does not exist, or its parameters do not match.
    #[track_caller]
    #[must_use = "an outcome must be checked: call `expect_value`, `expect_error` or \
                  `expect_done`"]
    pub fn call<How>(&self, function: &str, arguments: impl IntoOperands<How>) -> TestOutcome {
        self.call_with(
            &format!("@{function}"),
            function,
            &arguments.into_operands(),
        )
    }

    /// As [`call`](Self::call); failures speak of `subject`.
    #[track_caller]
    pub(super) fn call_with(
        &self,
        subject: &str,
        function: &str,
        arguments: &[Operand],
    ) -> TestOutcome {
        let file = match &self.compiled {
            Ok(file) => file,
            Err(found) => panic!("{}", self.refusal(found)),
        };
        let queues = &self.settings.queues;
        let shuffled = queues.iter().any(|queue| schedule::is_random(queue));
        let shuffled = shuffled.then(|| self.shuffled());
        let mut runs = Vec::with_capacity(queues.len());
        for queue in queues {
            let (settings, file) = match &shuffled {
                Some((settings, file)) if schedule::is_random(queue) => (settings, file),
                _ => (&self.settings, file),
            };
            runs.push(Run::new(settings, queue, file, function, arguments));
        }
        TestOutcome::new(subject, Arc::clone(&self.source), runs)
    }

    /// Returns the same program with kernels that only chains and values order: see [`shuffle`].
    fn shuffled(&self) -> (Settings, BefFile) {
        let kernels = shuffle::with_delay(&self.settings.kernels);
        let chains = match self.settings.adds_chains {
            true => Chains::LeftOut,
            false => Chains::Written,
        };
        let compiled =
            text::compile_edited(&self.source, FILE_NAME, &kernels, chains, shuffle::hold_up);
        let settings = Settings {
            kernels,
            ..self.settings.clone()
        };
        match compiled {
            Ok(file) => (settings, file),
            Err(found) => panic!("{}", self.refusal(&found)),
        }
    }

    /// Expects that the program is refused before any kernel runs, with a diagnostic that contains
    /// `text`.
    ///
    /// ```
    /// use tfrt::testing;
    ///
    /// testing::program("func @main() -> i32 {\n  tfrt.return\n}").expect_refused("has 0 operands").on_line(2);
    /// ```
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn expect_refused(&self, text: &str) -> Refusal<'_> {
        let found = match &self.compiled {
            Ok(_) => {
                panic!("expected the program to be rejected with `{text}`, but it was accepted")
            }
            Err(found) => found,
        };
        match found.iter().find(|finding| finding.message.contains(text)) {
            Some(finding) => Refusal {
                program: self,
                finding,
            },
            None => panic!(
                "expected the program to be rejected with `{text}`\n{}",
                self.refusal(found)
            ),
        }
    }

    fn refusal(&self, found: &[Diagnostic]) -> String {
        format!(
            "the program was rejected:\n{}",
            text::render(found, &self.source)
        )
    }
}

impl std::fmt::Debug for TestProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestProgram")
            .field("source", &self.source)
            .field("queues", &self.settings.queues)
            .finish_non_exhaustive()
    }
}

/// Loads a file once, to find errors beyond those in its text.
fn load(
    compiled: Result<BefFile, Diagnostics>,
    kernels: &Arc<KernelRegistry>,
) -> Result<BefFile, Diagnostics> {
    let file = compiled?;
    let host = HostContext::builder().registry(Arc::clone(kernels)).build();
    let loaded = tfrt_executor::Program::load(&host, &file);
    match loaded.and_then(|program| program.verify_all()) {
        Ok(()) => Ok(file),
        Err(error) => Err(Diagnostics::error(error.place().clone(), error.message())),
    }
}

/// An expected diagnostic of a refused program, for checks of its location.
#[derive(Debug)]
pub struct Refusal<'a> {
    program: &'a TestProgram,
    finding: &'a Diagnostic,
}

impl Refusal<'_> {
    /// Expects that it refers to this line of the program, counted from 1.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn on_line(self, line: u32) -> Self {
        let found = line_of(&self.finding.place);
        assert!(
            found == Some(line),
            "expected the diagnostic on line {line}\n{}",
            text::render(std::slice::from_ref(self.finding), &self.program.source)
        );
        self
    }

    /// Expects that it refers to a line of the program that contains `text`.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn on_line_with(self, text: &str) -> Self {
        assert!(
            is_on_line_with(&self.finding.place, &self.program.source, text),
            "expected the diagnostic on a line with `{text}`\n{}",
            text::render(std::slice::from_ref(self.finding), &self.program.source)
        );
        self
    }
}

/// The line of a place in the program.
pub(super) fn line_of(place: &Place) -> Option<u32> {
    match place {
        Place::File { file, line, .. } if &**file == FILE_NAME => Some(*line),
        _ => None,
    }
}

/// Whether a place is on a line of `source` that contains `text`.
pub(super) fn is_on_line_with(place: &Place, source: &str, text: &str) -> bool {
    let index = line_of(place).and_then(|line| line.checked_sub(1));
    let line = index.and_then(|index| source.lines().nth(index as usize));
    line.is_some_and(|line| line.contains(text))
}
