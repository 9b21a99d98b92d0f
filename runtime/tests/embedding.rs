//! Running programs from Rust, as a stranger writes it: with `?` from end to end.

use std::error::Error as StdError;
use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

/// Parses a number.
#[tfrt_kernel("embedding.parse")]
fn parse(text: &str) -> Result<i32, std::num::ParseIntError> {
    text.parse()
}

/// Fails as code does that uses `anyhow`.
#[tfrt_kernel("embedding.look_up")]
fn look_up(key: &str) -> anyhow::Result<i32> {
    let number = key.parse().map_err(anyhow::Error::from);
    anyhow::Context::context(number, "no such key")
}

const SOURCE: &str = r#"
func @parse(%text: !tfrt.string) -> i32 {
  %number = "embedding.parse"(%text) : (!tfrt.string) -> i32
  tfrt.return %number : i32
}

func @look_up(%key: !tfrt.string) -> i32 {
  %number = "embedding.look_up"(%key) : (!tfrt.string) -> i32
  tfrt.return %number : i32
}
"#;

/// What an embedder writes; `E` is the error that it uses everywhere.
fn call<E>(source: &str, function: &str, text: &str) -> Result<i32, E>
where
    E: From<tfrt::Error>
        + From<tfrt::support::Diagnostics>
        + From<tfrt::kernel::DuplicateKernels>
        + From<tfrt::queue::CreateQueueError>,
{
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let queue = tfrt::queue::create_queue("s")?;
    let file = tfrt::text::compile(source, "p.mlir", &kernels)?;
    let host = HostContext::builder()
        .registry(kernels)
        .queue(queue)
        .build();
    let program = Program::load(&host, &file)?;
    let function = program
        .function(function)
        .ok_or_else(|| Error::new("no such function"))?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = function.execute(&ctx, &[AnyRef::available(ByteString::from(text))]);
    host.await_values(&results)?;
    Ok(*results[0].as_result::<i32>()?)
}

#[test]
fn question_marks_lead_into_every_common_error_type() {
    assert_eq!(
        call::<Box<dyn StdError>>(SOURCE, "parse", "7").ok(),
        Some(7)
    );
    assert_eq!(
        call::<Box<dyn StdError + Send + Sync>>(SOURCE, "parse", "7").ok(),
        Some(7)
    );
    assert_eq!(call::<anyhow::Error>(SOURCE, "parse", "7").ok(), Some(7));
    assert_eq!(call::<Error>(SOURCE, "parse", "7").ok(), Some(7));
}

#[test]
fn awaiting_gives_the_error_of_a_kernel() {
    let error = call::<anyhow::Error>(SOURCE, "parse", "x").expect_err("`x` is not a number");
    let error = error
        .downcast_ref::<Error>()
        .expect("it came from a kernel");
    assert_eq!(error.kernel(), Some("embedding.parse"));
    let expected = "p.mlir:3:13: invalid digit found in string";
    assert_eq!(error.located().to_string(), expected);
    let original = error.original().expect("it is from this very program");
    assert!(original.is::<std::num::ParseIntError>());
}

#[test]
fn causes_of_what_a_kernel_says_are_the_sources_of_its_error() {
    let error = call::<anyhow::Error>(SOURCE, "look_up", "x").expect_err("`x` is not a number");
    assert_eq!(
        format!("{error:#}"),
        "no such key: invalid digit found in string"
    );
    assert_eq!(error.to_string(), "no such key");
    let error = error.downcast_ref::<Error>().map(Error::message);
    assert_eq!(error, Some("no such key: invalid digit found in string"));
}

#[test]
fn findings_are_an_error_that_shows_the_line() {
    let source = "func @f() -> i32 {\n  tfrt.return %y : i32\n}";
    let expected = "p.mlir:2:15: error: use of undeclared SSA value name\n  tfrt.return %y : i32\n              ^";
    let error = call::<Box<dyn StdError>>(source, "f", "").expect_err("`%y` is not defined");
    assert_eq!(error.to_string(), expected);
    // What a `main` prints that returns it.
    assert_eq!(format!("{error:?}"), expected);
}
