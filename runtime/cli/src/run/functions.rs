//! The functions of a run: which ones, their requests, and what is printed of their results.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_executor::Program;
use tfrt_host::kernel::library::LoadedLibrary;
use tfrt_host::tracing::{Scope, TracingLevel};
use tfrt_host::{
    ExecutionContext, FunctionKind, FunctionRef, HostContext, ProgramFolder, RequestContextBuilder,
    ResourceContext, Show,
};
use tfrt_support::escape::{escaped, escaped_lines};
use tfrt_support::nearest::{did_you_mean, nearest};

use super::function_arguments::{self, ArgumentNames};
use super::leak_check::LeakCheck;
use super::options::Options;
use super::result_line::{FunctionResult, Style, result_line};
use super::stalled;
use crate::failure::Failure;
use crate::output::print_line;

/// Adds data to the request of a function.
pub(super) type Extend<'a> = &'a dyn Fn(RequestContextBuilder) -> RequestContextBuilder;

/// Runs the functions that the command line selects, one after another.
pub(super) fn run_functions(
    program: &str,
    arguments: &Options,
    names: &ArgumentNames,
    host: &Arc<HostContext>,
    loaded: &Arc<Program>,
    extend: Extend<'_>,
) -> Result<(), Failure> {
    let init = loaded
        .function(&arguments.test_init_function)
        .filter(|_| !arguments.test_init_function.is_empty());
    let selected: Vec<FunctionRef> = if arguments.functions.is_empty() {
        loaded.functions().collect()
    } else {
        arguments
            .functions
            .iter()
            .map(|name| find_function(program, loaded, name))
            .collect::<Result<_, _>>()?
    };
    let is_init = |function: &FunctionRef| {
        init.as_ref()
            .is_some_and(|init| init.name() == function.name())
    };
    for function in init
        .iter()
        .chain(selected.iter().filter(|function| !is_init(function)))
    {
        run_function(program, function, arguments, names, host, extend)?;
    }
    Ok(())
}

/// Returns the function of this name.
pub(crate) fn find_function(
    program: &str,
    loaded: &Arc<Program>,
    name: &str,
) -> Result<FunctionRef, Failure> {
    loaded.function(name).ok_or_else(|| {
        let known: Vec<_> = loaded.functions().collect();
        let near = nearest(
            name,
            known
                .iter()
                .map(FunctionRef::name)
                .filter(|known| !known.is_empty()),
        );
        Failure::new(format!(
            "{program}: couldn't find function {name}{}",
            did_you_mean(&near)
        ))
    })
}

fn run_function(
    program: &str,
    function: &FunctionRef,
    arguments: &Options,
    names: &ArgumentNames,
    host: &Arc<HostContext>,
    extend: Extend<'_>,
) -> Result<(), Failure> {
    let name = function.name();
    // Arguments select the functions that they name, or all functions that take arguments.
    let takes_given = !arguments.arguments.is_empty()
        && (!arguments.functions.is_empty() || !function_arguments::needs_none(function));
    if function.num_arguments() > 0 && !takes_given {
        return print_line(&format!(
            "--- Not running '{}' because it has arguments.",
            escaped(name)
        ));
    }
    if name.is_empty() {
        return Ok(());
    }
    print_line(&format!("--- Running '{}':", escaped(name)))?;
    let _scope = Scope::enter(TracingLevel::Default, || {
        format!("Function: {}", escaped(name))
    });
    let leak_check = LeakCheck::start();
    let given = if takes_given {
        function_arguments::make(function, names, &arguments.arguments, host)
            .map_err(|error| Failure::caused(program, error))?
    } else {
        Vec::new()
    };
    // A fresh request for each function, gone before values are counted.
    let mut request = RequestContextBuilder::new(Arc::clone(host))
        .resources(Arc::new(ResourceContext::new()))
        .context_data(ProgramFolder::of_file(&arguments.file));
    if arguments.show {
        request = request.context_data(Show::new(std::io::stdout()));
    }
    let request = extend(arguments.limits.start(request));
    let ctx = ExecutionContext::new(request.build());
    let style = arguments.style(program);
    match function.kind() {
        FunctionKind::Async | FunctionKind::Native => {
            run_async(program, function, &given, arguments, style, &ctx)?;
        }
        FunctionKind::Sync => run_sync(function, &given, style, &ctx)?,
    }
    if let Some(error) = arguments.limits.passed_deadline(name, ctx.request()) {
        ctx.emit_error(error);
    }
    drop((ctx, given));
    #[cfg(all(feature = "grpc", unix))]
    if arguments.cluster.is_given() {
        // Other tasks make objects here meanwhile.
        return Ok(());
    }
    leak_check.finish(name, host)
}

fn run_async(
    program: &str,
    function: &FunctionRef,
    given: &[AnyRef],
    arguments: &Options,
    style: Style,
    ctx: &ExecutionContext,
) -> Result<(), Failure> {
    let would_deadlock =
        |error| Failure::caused(format!("cannot wait for '{}'", function.name()), error);
    let results = function.execute(ctx, given);
    let waited =
        stalled::await_results(program, function, &results, arguments.limits.timeout(), ctx);
    if !waited.map_err(would_deadlock)? {
        return Err(Failure::Reported);
    }
    flush_libraries(ctx.host());
    if !results.is_empty() {
        let types = function.result_types();
        let values = results.iter().zip(types).map(|(value, ty)| FunctionResult {
            value,
            ty,
            with_codes: arguments.print_error_code,
            style,
        });
        print_line(&result_line(function.name(), values, style))?;
    }
    drop(results);
    ctx.host().quiesce().map_err(would_deadlock)?;
    flush_libraries(ctx.host());
    Ok(())
}

/// Flushes what kernels of libraries have printed: their own copies of the standard library buffer
/// an unfinished line.
pub(crate) fn flush_libraries(host: &HostContext) {
    let libraries = host.registry().libraries();
    libraries.iter().for_each(LoadedLibrary::flush_output);
}

fn run_sync(
    function: &FunctionRef,
    given: &[AnyRef],
    style: Style,
    ctx: &ExecutionContext,
) -> Result<(), Failure> {
    let types = function.result_types();
    let mut results = vec![None; types.len()];
    let executed = function.execute_sync(ctx, given, &mut results);
    flush_libraries(ctx.host());
    match executed {
        Err(error) => print_line(&format!(
            "'{}' returned <<error: {}>>",
            escaped(function.name()),
            escaped_lines(error.message())
        )),
        Ok(()) if results.is_empty() => Ok(()),
        Ok(()) => {
            let values = results.iter().flatten().zip(types);
            let values = values.map(|(value, ty)| FunctionResult {
                value,
                ty,
                with_codes: false,
                style,
            });
            print_line(&result_line(function.name(), values, style))
        }
    }
}

/// Returns a value as it is printed for people.
pub(crate) fn value_text(value: &AnyRef) -> String {
    let result = FunctionResult {
        value,
        ty: value.mlir_type().unwrap_or("unknown"),
        with_codes: false,
        style: Style::Shown,
    };
    result.to_string()
}
