//! What happens when kernels fail: errors are values, with a location and a cause.
//!
//! ```console
//! $ cargo run -p tfrt --example errors
//! parse.mlir:3:17: `x` is not a number: invalid digit found in string
//! caused by: invalid digit found in string
//! the other result is still 5
//! ```

use std::error::Error as _;
use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;

/// An error type of this crate. Kernels can return any error that is `Send + Sync`.
#[derive(Debug)]
struct ParseError {
    text: String,
    source: std::num::ParseIntError,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not a number", self.text)
    }
}

impl std::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Parses a number.
#[tfrt_kernel("example.parse")]
fn parse(text: &str) -> Result<i32, ParseError> {
    text.parse().map_err(|source| ParseError {
        text: text.to_owned(),
        source,
    })
}

/// Returns the length of a string.
#[tfrt_kernel("example.len")]
fn len(text: &str) -> i32 {
    text.len().try_into().unwrap_or(i32::MAX)
}

const SOURCE: &str = r#"
    func @main(%text: !tfrt.string, %other: !tfrt.string) -> (i32, i32) {
      %number = "example.parse"(%text) : (!tfrt.string) -> i32
      %len = "example.len"(%other) : (!tfrt.string) -> i32
      tfrt.return %number, %len : i32, i32
    }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let host = HostContext::builder()
        .registry(Arc::clone(&kernels))
        .diagnostic_handler(|_| ()) // Reported to the program below instead.
        .build();
    let file = tfrt::text::compile(SOURCE, "parse.mlir", &kernels)?;
    let main = Program::load(&host, &file)?
        .function("main")
        .ok_or("no function `main`")?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());

    let texts = ["x", "other"].map(|text| AnyRef::available(ByteString::from(text)));
    let results = main.execute(&ctx, &texts);
    let error = host
        .await_values(&results)
        .expect_err("`x` cannot be parsed");
    println!("{}", error.located());
    assert_eq!(error.kernel(), Some("example.parse"));

    let mut cause = error.source();
    assert!(
        cause.is_some(),
        "the error of the crate is kept as the source"
    );
    while let Some(error) = cause {
        println!("caused by: {error}");
        cause = error.source();
    }

    // Only what depends on the failure fails.
    let len = results[1].as_result::<i32>()?;
    println!("the other result is still {len}");
    assert_eq!(*len, 5);
    Ok(())
}
