//! Control flow as a kernel: an op with a body that runs once for each number of a range.
//!
//! ```console
//! $ cargo run -p tfrt --example control_flow
//! 1 * 2 * 3 * 4 * 5 = 120
//! ```

use std::error::Error;

use tfrt::prelude::*;
use tfrt::testing;

/// Runs the body for each number from `first` to `last`, and passes the result of one run to the
/// next.
#[tfrt_kernel("example.fold")]
async fn fold(
    initial: i64,
    first: i64,
    last: i64,
    #[region] body: Region<(i64, i64), (i64,)>,
    ctx: ExecutionContext,
) -> Result<i64> {
    let mut state = initial;
    for number in first..=last {
        let (next,) = body.call(&ctx, (state, number));
        state = *next
            .await?
            .get()
            .ok_or_else(|| tfrt::Error::new("the body did not return a value"))?;
    }
    Ok(state)
}

/// Multiplies two numbers.
///
/// # Errors
/// The product overflows.
#[tfrt_kernel("example.multiply")]
fn multiply(a: i64, b: i64) -> Result<i64> {
    a.checked_mul(b)
        .ok_or_else(|| tfrt::Error::new("the product overflows"))
}

const SOURCE: &str = r#"
    func @factorial(%one: i64, %n: i64) -> i64 {
      %product = "example.fold"(%one, %one, %n) ({
      ^body(%state: i64, %number: i64):
        %next = "example.multiply"(%state, %number) : (i64, i64) -> i64
        tfrt.return %next : i64
      }) : (i64, i64, i64) -> i64
      tfrt.return %product : i64
    }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let program = testing::program(SOURCE);
    program
        .clone()
        .call("factorial", (1_i64, 5_i64))
        .expect_value(120_i64);
    println!("1 * 2 * 3 * 4 * 5 = 120");

    // An error in the body ends the loop, and is the result of the op.
    program
        .call("factorial", (1_i64, 100_i64))
        .expect_error("the product overflows")
        .from_kernel("example.multiply");
    Ok(())
}
