//! `tfrt data run`: draws the elements of the pipeline that a function of a program returns.

use std::sync::Arc;
use std::time::Instant;

use tfrt_async::AnyRef;
use tfrt_data::{Cardinality, DataIterator, Dataset, Observation};
use tfrt_executor::Program;
use tfrt_host::{
    ExecutionContext, FunctionRef, HostContext, ProgramFolder, RequestContextBuilder,
    ResourceContext,
};
use tfrt_readers::table::next_row;
use tfrt_support::Error;

use super::progress::Progress;
use crate::arguments::DiagnosticArguments;
use crate::failure::Failure;
use crate::front_end::FrontEnd;
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::output;
use crate::run::{self, ProgramFile, ProgramHost};
use crate::stages::StagesReport;

/// What the messages of this command begin with.
const PROGRAM: &str = "tfrt data run";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The program, as MLIR text or a BEF file; `-` reads standard input
    file: String,

    /// The function that returns a dataset, or an iterator over it, which starts again [default:
    /// `main`, or the only function without arguments]
    #[arg(long, value_name = "NAME")]
    function: Option<String>,

    /// Draw at most this number of elements
    #[arg(long, value_name = "N")]
    take: Option<u64>,

    /// Print the elements
    #[arg(long)]
    print: bool,

    /// The work queue: `s` runs kernels on the calling thread, `mstd:N,B` on N threads plus B
    /// threads for blocking work
    #[arg(
        long = "work_queue_type",
        value_name = "TYPE[:ARGUMENT]",
        default_value = "mstd"
    )]
    work_queue_type: String,

    #[command(flatten)]
    libraries: LibraryArguments,

    #[command(flatten)]
    diagnostics: DiagnosticArguments,
}

/// Runs the command. It ends with the first error.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let front_end = FrontEnd::new(PROGRAM, &arguments.libraries)?;
    let input = Input::read(&arguments.file)?;
    let file = ProgramFile::of_input(PROGRAM, &front_end, input, false, arguments.diagnostics)?;
    let program_host = ProgramHost::new(
        PROGRAM,
        &front_end,
        file,
        &arguments.work_queue_type,
        arguments.diagnostics,
    )?;
    let host = &program_host.host;
    let outcome = match program_host.load() {
        Some(loaded) => draw_from(&loaded, arguments, host),
        None => Err(Failure::Reported),
    };
    run::flush_libraries(host);
    // Errors that a policy skips have been reported, and the elements are complete.
    outcome
}

fn draw_from(
    loaded: &Arc<Program>,
    arguments: &Arguments,
    host: &Arc<HostContext>,
) -> Result<(), Failure> {
    let function = select(loaded, arguments.function.as_deref())?;
    let request = RequestContextBuilder::new(Arc::clone(host))
        .resources(Arc::new(ResourceContext::new()))
        .context_data(ProgramFolder::of_file(&arguments.file));
    let ctx = ExecutionContext::new(request.build());
    // Iterators that are made from now on are observed.
    let observation = Observation::start();
    let mut iterator = iterator_of(&function, &ctx)?;
    let num_expected = match iterator.dataset().cardinality() {
        Cardinality::Finite(len) => Some(len.min(arguments.take.unwrap_or(u64::MAX))),
        Cardinality::Infinite => arguments.take,
        Cardinality::Unknown => None,
    };
    let progress = Progress::new(num_expected, "drawing", &ctx);
    let start = Instant::now();
    let mut num_elements = 0_u64;
    let mut first_error = None;
    while arguments.take.is_none_or(|most| num_elements < most) {
        match next_row(&mut iterator, &ctx) {
            Ok(Some(values)) => {
                if arguments.print {
                    print_element(num_elements, &values)?;
                }
                num_elements += 1;
                progress.advance_to(num_elements);
            }
            Ok(None) => break,
            Err(error) => {
                first_error = Some(error);
                break;
            }
        }
    }
    let elapsed = start.elapsed();
    drop(progress);
    drop(iterator);
    let mut text = format!(
        "{num_elements} elements in {:.3} s: {:.0} elements/s\n\n",
        elapsed.as_secs_f64(),
        num_elements as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE),
    );
    let stages = StagesReport::new(observation.stages(), elapsed);
    // A string takes all that is written to it.
    let _ = stages.write(&mut text);
    output::write("-", text.as_bytes())?;
    first_error.map_or(Ok(()), |error| Err(failure_at(num_elements, error)))
}

/// Prints an element in one line, or in one line for each component if these are long.
fn print_element(number: u64, values: &[AnyRef]) -> Result<(), Failure> {
    let values: Vec<String> = values.iter().map(run::value_text).collect();
    let text = match values.iter().all(|value| value.len() <= 100) {
        true => values.join(", "),
        false => values.join("\n  "),
    };
    output::print_line(&format!("{number}: {text}"))
}

fn failure_at(number: u64, error: Error) -> Failure {
    Failure::caused(format!("{PROGRAM}: element {number}"), error)
}

/// Returns the function of a name, or the one that is meant without a name.
fn select(loaded: &Arc<Program>, name: Option<&str>) -> Result<FunctionRef, Failure> {
    let function = match name.or_else(|| loaded.function("main").map(|_| "main")) {
        Some(name) => run::find_function(PROGRAM, loaded, name)?,
        None => {
            let (mut candidates, _) = run::functions_by_arguments(loaded);
            match candidates.len() {
                1 => candidates.remove(0),
                0 => {
                    let message = "expected a function without arguments, found none";
                    return Err(Failure::new(format!("{PROGRAM}: {message}")));
                }
                _ => {
                    let names: Vec<&str> = candidates.iter().map(FunctionRef::name).collect();
                    let names = names.join("`, `");
                    return Err(Failure::new(format!(
                        "{PROGRAM}: several functions have no arguments: select one of `{names}` \
                         with `--function`"
                    )));
                }
            }
        }
    };
    if function.num_arguments() > 0 {
        let name = function.name();
        return Err(Failure::new(format!(
            "{PROGRAM}: function `{name}` has arguments: select a function that calls it"
        )));
    }
    Ok(function)
}

/// Calls the function, and returns an iterator over its dataset, or over that of its iterator.
fn iterator_of(function: &FunctionRef, ctx: &ExecutionContext) -> Result<DataIterator, Failure> {
    let results = function.execute(ctx, &[]);
    ctx.host()
        .await_available(&results)
        .map_err(|error| Failure::caused(PROGRAM, error))?;
    for result in &results {
        if let Some(error) = result.error_if_present() {
            return Err(Failure::caused(PROGRAM, error.clone()));
        }
        if let Some(dataset) = result.get::<Dataset>() {
            return Ok(dataset.iterator());
        }
        if let Ok(iterator) = result.try_read::<DataIterator>() {
            return Ok(iterator.dataset().iterator());
        }
    }
    let (name, found) = (function.name(), function.result_types().join(", "));
    Err(Failure::new(format!(
        "{PROGRAM}: expected a dataset or an iterator from function `{name}`, found `({found})`"
    )))
}
