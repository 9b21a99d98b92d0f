//! Makes models: their programs and weights.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use tfrt_models::resnet50;

const USAGE: &str = "\
Usage: tfrt-models resnet50 --out DIR [--seed N] [--image PIXELS] [--width CHANNELS] [--classes N]
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((model, options)) if model == "resnet50" => resnet50::command::run(options),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}
