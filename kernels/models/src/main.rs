//! Makes models: their programs and weights.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use tfrt_models::resnet50;

const HELP: &str = "\
Makes models: their programs and weights

Usage: tfrt-models resnet50 --out DIR [OPTIONS]

Options:
  --out DIR          where the programs, the weights and an image go; made if it is not there
  --seed N           what the weights and the image are drawn from [default: 1]
  --image PIXELS     the height and width of images [default: 224]
  --width CHANNELS   the channels of the first layer, which all others follow [default: 64]
  --classes N        [default: 1000]
  -h, --help         print this

Examples:
  tfrt-models resnet50 --out /tmp/resnet50                          the network as it is known, 102 MB of weights
  tfrt-models resnet50 --out /tmp/small --image 64 --width 8        a small one of the same form
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants_help = arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h");
    let outcome = match arguments.split_first() {
        _ if wants_help => Ok(HELP.to_owned()),
        Some((model, options)) if model == "resnet50" => {
            resnet50::command::run(options).map_err(|error| with_causes(&error))
        }
        Some((model, _)) => Err(format!("unknown model `{model}`; available: `resnet50`")),
        None => Err(HELP.to_owned()),
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

/// Formats an error and the chain of its causes.
fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
