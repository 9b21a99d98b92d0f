//! `tfrt-models resnet50`: writes the program in its forms, the weights and an image.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::program::{Chains, ProgramOptions, Shortcut, text};
use super::{Network, weights};
use crate::command::{CommandError, Options};

/// The requested files, and their sizes.
struct Request {
    directory: PathBuf,
    seed: u64,
    image: usize,
    width: usize,
    num_classes: usize,
}

/// The programs: the name of the file, and what they are made of.
const PROGRAMS: [(&str, Chains, Shortcut); 3] = [
    ("resnet50.mlir", Chains::ByHand, Shortcut::Added),
    ("resnet50_unthreaded.mlir", Chains::Left, Shortcut::Added),
    ("resnet50_fused.mlir", Chains::ByHand, Shortcut::Fused),
];

/// The files beside the programs, which name them as they are here: the folder may be moved.
const WEIGHTS: &str = "resnet50.btf";
const IMAGE: &str = "image.btf";

/// Writes the requested files and returns a summary.
///
/// # Errors
/// [`CommandError::Usage`] if the options are wrong; otherwise the file that cannot be written.
pub fn run(options: &[String]) -> Result<String, CommandError> {
    let request = parse(options)?;
    let network = Network::new(request.image, request.width, request.num_classes);
    let directory = request.directory;
    fs::create_dir_all(&directory)
        .map_err(|error| CommandError::caused("make", &directory, error))?;
    let weights_path = directory.join(WEIGHTS);
    let image_path = directory.join(IMAGE);
    let tensors = weights::draw(&network, request.seed).map_err(CommandError::Tensor)?;
    write_tensors(&weights_path, &tensors)?;
    let image = weights::draw_images(&network, 1, request.seed).map_err(CommandError::Tensor)?;
    write_tensors(&image_path, &[image])?;
    for (name, chains, shortcut) in PROGRAMS {
        let options = ProgramOptions {
            chains,
            shortcut,
            weights_path: WEIGHTS,
            image_path: IMAGE,
        };
        let path = directory.join(name);
        fs::write(&path, text(&network, &options))
            .map_err(|error| CommandError::caused("write", &path, error))?;
    }
    Ok(format!(
        "{} parameters in `{}`\n",
        network.num_parameters(),
        weights_path.display()
    ))
}

fn parse(options: &[String]) -> Result<Request, CommandError> {
    let options = Options::parse(options, &OPTIONS)?;
    // Small enough that no product of sizes exceeds what can be addressed.
    let size = |name, default| options.positive(name, default, 4096);
    Ok(Request {
        directory: options.out("DIR")?,
        seed: options.number("--seed", 1)?,
        image: size("--image", 224)?,
        width: size("--width", 64)?,
        num_classes: size("--classes", 1000)?,
    })
}

const OPTIONS: [&str; 5] = ["--out", "--seed", "--image", "--width", "--classes"];

fn write_tensors(
    path: &Path,
    tensors: &[tfrt_tensor::DenseHostTensor],
) -> Result<(), CommandError> {
    let file = File::create(path).map_err(|error| CommandError::caused("write", path, error))?;
    let mut output = BufWriter::new(file);
    weights::write(&mut output, tensors)
        .and_then(|()| {
            output
                .into_inner()
                .map(drop)
                .map_err(|error| error.into_error())
        })
        .map_err(|error| CommandError::caused("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        parse(&options).map_or_else(|error| error.to_string(), |_| "nothing".into())
    }

    #[test]
    fn options_are_checked() {
        assert_eq!(refused(&[]), "expected `--out DIR`");
        assert_eq!(refused(&["--out"]), "expected a value after `--out`");
        assert_eq!(
            refused(&["--size"]),
            "unknown option `--size`; available: `--out`, `--seed`, `--image`, `--width`, \
             `--classes`"
        );
        assert_eq!(refused(&["--out", ""]), "expected a path after `--out`");
        assert_eq!(
            refused(&["--seed", "1", "--seed", "2"]),
            "`--seed` is given twice"
        );
        assert_eq!(
            refused(&["--out", "x", "--seed", "one"]),
            "expected a number after `--seed`, found `one`"
        );
        assert_eq!(
            refused(&["--out", "x", "--image", "0"]),
            "expected 1 to 4096 after `--image`, found 0"
        );
        assert_eq!(refused(&["--out", "here", "--seed", "2"]), "nothing");
    }
}
