//! `tfrt-models resnet50`: writes the program in its forms, the weights and an image.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::program::{Chains, Options, Shortcut, text};
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
/// What is wrong with the options, or what writing fails with.
pub fn run(options: &[String]) -> Result<String, String> {
    let request = parse(options)?;
    let network = Network::new(request.image, request.width, request.num_classes);
    let directory = request.directory;
    fs::create_dir_all(&directory)
        .map_err(|error| format!("cannot make `{}`: {error}", directory.display()))?;
    let weights_path = directory.join(WEIGHTS);
    let image_path = directory.join(IMAGE);
    let tensors = weights::draw(&network, request.seed).map_err(|error| error.to_string())?;
    write_tensors(&weights_path, &tensors)?;
    let image =
        weights::draw_images(&network, 1, request.seed).map_err(|error| error.to_string())?;
    write_tensors(&image_path, &[image])?;
    for (name, chains, shortcut) in PROGRAMS {
        let options = Options {
            chains,
            shortcut,
            weights_path: WEIGHTS,
            image_path: IMAGE,
        };
        let path = directory.join(name);
        fs::write(&path, text(&network, &options)).map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(format!(
        "{} parameters in `{}`\n",
        network.num_parameters(),
        weights_path.display()
    ))
}

fn parse(options: &[String]) -> Result<Request, String> {
    let mut directory = None;
    let (mut seed, mut image, mut width, mut num_classes) = (1, 224, 64, 1000);
    let mut seen: Vec<&str> = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        if !OPTIONS.contains(&option.as_str()) {
            let known = OPTIONS.join("`, `");
            return Err(format!("unknown option `{option}`; available: `{known}`"));
        }
        if seen.contains(&option.as_str()) {
            return Err(format!("`{option}` is given twice"));
        }
        seen.push(option);
        let value = rest
            .next()
            .ok_or_else(|| format!("expected a value after `{option}`"))?;
        match option.as_str() {
            "--out" if value.is_empty() => return Err("expected a folder after `--out`".into()),
            "--out" => directory = Some(PathBuf::from(value)),
            "--seed" => seed = number(option, value)?,
            "--image" => image = positive(option, value)?,
            "--width" => width = positive(option, value)?,
            _ => num_classes = positive(option, value)?,
        }
    }
    Ok(Request {
        directory: directory.ok_or("expected `--out DIR`")?,
        seed,
        image,
        width,
        num_classes,
    })
}

const OPTIONS: [&str; 5] = ["--out", "--seed", "--image", "--width", "--classes"];

fn number<T: std::str::FromStr>(option: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("expected a number after `{option}`, found `{value}`"))
}

/// A size, so small that no product of sizes exceeds what can be addressed.
fn positive(option: &str, value: &str) -> Result<usize, String> {
    let size: usize = number(option, value)?;
    if (1..=4096).contains(&size) {
        Ok(size)
    } else {
        Err(format!("expected 1 to 4096 after `{option}`, found {size}"))
    }
}

fn write_tensors(path: &Path, tensors: &[tfrt_tensor::DenseHostTensor]) -> Result<(), String> {
    let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
    let mut output = BufWriter::new(file);
    weights::write(&mut output, tensors)
        .and_then(|()| {
            output
                .into_inner()
                .map(drop)
                .map_err(|error| error.into_error())
        })
        .map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        parse(&options).map_or_else(|error| error, |_| "nothing".into())
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
