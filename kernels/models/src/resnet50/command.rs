//! `tfrt-models resnet50`: writes the program in its forms, the weights and an image.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use tfrt_tensor::TensorError;

use super::program::{Chains, ProgramOptions, Shortcut, text};
use super::{Network, weights};

/// What is written, and how large.
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

/// Writes what the options ask for and returns a text that says what was written.
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

/// Why the command cannot do what it was asked for.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommandError {
    /// The options are wrong: what was expected.
    Usage(String),
    /// A file or folder cannot be written.
    File {
        /// What was tried: `make` or `write`.
        verb: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Weights or images cannot be drawn.
    Tensor(TensorError),
}

impl CommandError {
    fn caused(verb: &'static str, path: &Path, source: std::io::Error) -> Self {
        let path = path.to_owned();
        Self::File { verb, path, source }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(problem) => f.write_str(problem),
            Self::File { verb, path, .. } => write!(f, "cannot {verb} `{}`", path.display()),
            Self::Tensor(_) => f.write_str("cannot draw the tensors"),
        }
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Usage(_) => None,
            Self::File { source, .. } => Some(source),
            Self::Tensor(error) => Some(error),
        }
    }
}

fn parse(options: &[String]) -> Result<Request, CommandError> {
    let mut directory = None;
    let (mut seed, mut image, mut width, mut num_classes) = (1, 224, 64, 1000);
    let mut seen: Vec<&str> = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        if !OPTIONS.contains(&option.as_str()) {
            let known = OPTIONS.join("`, `");
            let problem = format!("unknown option `{option}`; available: `{known}`");
            return Err(usage(problem));
        }
        if seen.contains(&option.as_str()) {
            return Err(usage(format!("`{option}` is given twice")));
        }
        seen.push(option);
        let value = rest
            .next()
            .ok_or_else(|| usage(format!("expected a value after `{option}`")))?;
        match option.as_str() {
            "--out" if value.is_empty() => return Err(usage("expected a folder after `--out`")),
            "--out" => directory = Some(PathBuf::from(value)),
            "--seed" => seed = number(option, value)?,
            "--image" => image = positive(option, value)?,
            "--width" => width = positive(option, value)?,
            _ => num_classes = positive(option, value)?,
        }
    }
    Ok(Request {
        directory: directory.ok_or_else(|| usage("expected `--out DIR`"))?,
        seed,
        image,
        width,
        num_classes,
    })
}

const OPTIONS: [&str; 5] = ["--out", "--seed", "--image", "--width", "--classes"];

fn number<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, CommandError> {
    value.parse().map_err(|_| {
        usage(format!(
            "expected a number after `{option}`, found `{value}`"
        ))
    })
}

/// A size, so small that no product of sizes exceeds what can be addressed.
fn positive(option: &str, value: &str) -> Result<usize, CommandError> {
    let size: usize = number(option, value)?;
    if (1..=4096).contains(&size) {
        Ok(size)
    } else {
        let problem = format!("expected 1 to 4096 after `{option}`, found {size}");
        Err(usage(problem))
    }
}

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

fn usage(problem: impl Into<String>) -> CommandError {
    CommandError::Usage(problem.into())
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
            "unknown option `--size`; available: `--out`, `--seed`, `--image`, `--width`, `--classes`"
        );
        assert_eq!(refused(&["--out", ""]), "expected a folder after `--out`");
        assert_eq!(
            refused(&["--seed", "1", "--seed", "2"]),
            "`--seed` is given twice"
        );
        assert_eq!(
            refused(&["--seed", "one"]),
            "expected a number after `--seed`, found `one`"
        );
        assert_eq!(
            refused(&["--image", "0"]),
            "expected 1 to 4096 after `--image`, found 0"
        );
        assert_eq!(refused(&["--out", "here", "--seed", "2"]), "nothing");
    }
}
