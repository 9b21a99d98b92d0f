//! A type that kernels change in place, and the chain that orders the changes.
//!
//! ```console
//! $ cargo run -p tfrt --example types
//! deposits of 30 and 12 make 42
//! a negative deposit fails, and so does the balance after it
//! ```

use std::error::Error;
use std::fmt;

use tfrt::prelude::*;
use tfrt::testing;

/// An account, which kernels may change. `display` lets tools print it.
#[derive(Debug, PartialEq, Value)]
#[value("!example.account", mutable, display)]
struct Account {
    balance: i64,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a balance of {}", self.balance)
    }
}

/// Opens an account.
#[tfrt_kernel("example.open")]
fn open() -> Account {
    Account { balance: 0 }
}

/// Deposits an amount. The kernel writes its operand, so the macro adds a chain.
///
/// # Errors
/// The amount is not positive.
#[tfrt_kernel("example.deposit")]
fn deposit(account: &mut Account, amount: i64) -> Result<()> {
    if amount <= 0 {
        return Err(tfrt::Error::new("expected a positive amount"));
    }
    account.balance += amount;
    Ok(())
}

/// Returns the balance.
#[tfrt_kernel("example.balance")]
fn balance(account: &Account) -> i64 {
    account.balance
}

const SOURCE: &str = r#"
    func @main(%first: i64, %second: i64, %ready: !tfrt.chain) -> i64 {
      %account = "example.open"() : () -> !example.account
      %one = "example.deposit"(%account, %first, %ready) : (!example.account, i64, !tfrt.chain) -> !tfrt.chain
      %two = "example.deposit"(%account, %second, %one) : (!example.account, i64, !tfrt.chain) -> !tfrt.chain
      %balance = "example.balance"(%account, %two) : (!example.account, !tfrt.chain) -> i64
      tfrt.return %balance : i64
    }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let program = testing::program(SOURCE);
    // The chain makes the result independent of the order in which threads find kernels ready.
    let run = program
        .clone()
        .under_every_queue()
        .call("main", (30_i64, 12_i64, Chain));
    run.expect_value(42_i64);
    println!("deposits of 30 and 12 make 42");

    // A failed deposit fails everything that the chain orders after it.
    program
        .call("main", (-1_i64, 12_i64, Chain))
        .expect_error("expected a positive amount")
        .from_kernel("example.deposit");
    println!("a negative deposit fails, and so does the balance after it");
    Ok(())
}
