//! The speed of loading files, in bytes per second.
//!
//! One function with 100,000 kernels, as a front end would produce it: two operands each, mostly
//! recent registers, sometimes an attribute, and its own location. `read` copies the file into
//! memory, `tables` verifies everything except the body, `body` verifies that, too. The target is 1
//! GB/s for tables and body together: checking a file should not be slower than reading it.
//!
//! Run with `cargo bench -p tfrt-bef`. Prints the best of several rounds; the machine should be
//! idle.

use std::time::{Duration, Instant};

use tfrt_attr::Scalar;
use tfrt_bef::builder::{KernelBuilder, ProgramBuilder, Register};
use tfrt_bef::{BefFile, BefLocation};

const NUM_KERNELS: u32 = 100_000;
const NUM_ROUNDS: usize = 30;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = program()?;
    let path = std::env::temp_dir().join(format!("tfrt-load-{}.bef", std::process::id()));
    std::fs::write(&path, &bytes)?;
    println!("{NUM_KERNELS} kernels, {} bytes", bytes.len());

    report("read", &bytes, || {
        BefFile::open(&path).map(drop).map_err(Into::into)
    })?;
    let file = BefFile::open(&path)?;
    report("tables", &bytes, || {
        file.verify().map(drop).map_err(Into::into)
    })?;
    report("tables and body", &bytes, || {
        file.verify()?.verify_functions().map_err(Into::into)
    })?;
    std::fs::remove_file(&path)?;
    Ok(())
}

/// Prints the speed of the fastest of several runs.
fn report(
    what: &str,
    bytes: &[u8],
    run: impl Fn() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut best = Duration::MAX;
    for _ in 0..NUM_ROUNDS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    let speed = bytes.len() as f64 / best.as_secs_f64() / 1e6;
    println!(
        "{what:16} {:9.3} ms {speed:9.0} MB/s",
        best.as_secs_f64() * 1e3
    );
    Ok(())
}

fn program() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut program = ProgramBuilder::new();
    let i32_type = program.add_type("i32");
    let (_, mut body) = program.add_function("main", &[i32_type], &[i32_type])?;
    let mut registers: Vec<Register> = body.arguments().to_vec();
    for number in 0..NUM_KERNELS {
        let location = BefLocation::File {
            file: "model.py".into(),
            line: number + 1,
            column: 3,
        };
        let kernel = if number.is_multiple_of(8) {
            KernelBuilder::new("tfrt.constant.i32").attribute("value", Scalar::i32(7))
        } else {
            // Usually one of the last 64 registers, sometimes any.
            let newest = registers.len() - 1;
            let reach = if number.is_multiple_of(64) {
                registers.len()
            } else {
                registers.len().min(64)
            };
            let other = newest - number.wrapping_mul(2_654_435_761) as usize % reach;
            KernelBuilder::new("tfrt.add.i32").operands(&[registers[newest], registers[other]])
        };
        let [result] = body.add(kernel.location(location), [i32_type])?;
        registers.push(result);
    }
    let last = registers[registers.len() - 1];
    program.define(body, &[last])?;
    Ok(program.finish()?)
}
