//! Generates the data, programs and weights of models.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use tfrt_models::{digits, resnet50};

const HELP: &str = "\
Generates the data, programs and weights of models

Usage: tfrt-models resnet50 --out DIR [OPTIONS]
       tfrt-models digits --out FILE [OPTIONS]

`resnet50` writes a network in several forms, with random weights and an image:
  --out DIR          the folder to write to; created if it does not exist
  --seed N           the seed of the random weights and of the image [default: 1]
  --image PIXELS     the height and width of images, in pixels [default: 224]
  --width CHANNELS   the number of channels of the first layer; other layers scale with it
                     [default: 64]
  --classes N        the number of classes [default: 1000]

`digits` writes a TFRecord file of simulated handwritten digits. Each digit is a `tf.Example` with
the features `image` (784 bytes, from 0 for paper to 255 for ink) and `label` (0 to 9):
  --out FILE         the file to write; an existing file is replaced
  --count N          the number of digits [default: 16000]
  --first N          the index of the first digit; the same index and seed make the same digit
                     [default: 0]
  --seed N           the seed of the random digits [default: 1]

  -h, --help         print this help

Examples:
  tfrt-models resnet50 --out /tmp/resnet50                      write ResNet-50, with 102 MB of weights
  tfrt-models resnet50 --out /tmp/small --image 64 --width 8    write a smaller network
  tfrt-models digits --out kernels/models/digits/digits.tfrecord
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants_help = arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h");
    let outcome = match arguments.split_first() {
        _ if wants_help => Ok(HELP.to_owned()),
        Some((model, options)) => match model.as_str() {
            "resnet50" => resnet50::command::run(options).map_err(|error| with_causes(&error)),
            "digits" => digits::command::run(options).map_err(|error| with_causes(&error)),
            _ => Err(format!(
                "unknown model `{model}`; available: `digits`, `resnet50`"
            )),
        },
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
