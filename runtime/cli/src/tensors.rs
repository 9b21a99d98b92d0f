//! `tfrt tensors`: lists the tensors in a file, and converts files between formats.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_support::escape::escaped;
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::statistics::Statistics;
use tfrt_tensor::{HostBuffer, TensorError};

use crate::failure::{CliError, Failure};
use crate::front_end::FrontEnd;
use crate::input::Input;
use crate::libraries::LibraryArguments;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt tensors weights.btf                       list the tensors of a file
  tfrt tensors --statistics model.safetensors    add the minimum, mean and maximum of the elements
  tfrt tensors --print 0 weights.npy             print the elements of the first tensor
  tfrt tensors weights.npz --output weights.btf  convert a file

Formats: btf (binary tensor file), npy and npz (NumPy), safetensors. In formats without names, the
name of a tensor is its position, from 0.";

/// List the tensors in a file, or convert the file to another format
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The file to read; `-` reads standard input
    file: String,

    /// The format of the file [default: detected from its content]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<FileFormat>,

    /// Print the minimum, mean and maximum of the elements of each tensor
    #[arg(long)]
    statistics: bool,

    /// Print the elements of a tensor. May be repeated
    #[arg(long, value_name = "NAME")]
    print: Vec<String>,

    /// Write the tensors to a file; `-` writes to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// The format of the output file [default: follows from its extension]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format, requires = "output")]
    to: Option<FileFormat>,

    #[command(flatten)]
    libraries: LibraryArguments,
}

fn parse_format(name: &str) -> Result<FileFormat, CliError> {
    FileFormat::from_name(name)
        .ok_or_else(|| CliError::new(format!("expected one of {}", format_names())))
}

fn format_names() -> String {
    let names: Vec<&str> = FileFormat::ALL.iter().map(|format| format.name()).collect();
    names.join(", ")
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    // Tensors do not need kernels, but an error in a given library is reported.
    FrontEnd::new(program, &arguments.libraries)?;
    let input = Input::read(&arguments.file)?;
    let name = input.name.clone();
    let format = arguments
        .from
        .unwrap_or_else(|| FileFormat::detect(&input.bytes));
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let file = HostBuffer::copied(&allocator, &input.bytes).map_err(|error| wrong(&name, error))?;
    let tensors = format
        .read(&file, &allocator)
        .map_err(|error| wrong(&name, error))?;
    if let Some(path) = &arguments.output {
        let written = output_format(path, arguments.to)?
            .write(&tensors)
            .map_err(|error| wrong(&name, error))?;
        return output::write_binary(path, &written, "a tensor file");
    }
    let text = if arguments.print.is_empty() {
        listing(&tensors, arguments.statistics).map_err(|error| wrong(&name, error))?
    } else {
        printed(&tensors, &arguments.print).map_err(|error| wrong(&name, error))?
    };
    output::write("-", text.as_bytes())
}

/// Returns the failure to use the tensor file `name`.
fn wrong(name: &str, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
    Failure::caused(format!("{name}: error"), cause)
}

/// Returns the format of the output.
fn output_format(path: &str, stated: Option<FileFormat>) -> Result<FileFormat, Failure> {
    let extension = || Path::new(path).extension()?.to_str();
    stated
        .or_else(|| FileFormat::from_name(extension()?))
        .ok_or_else(|| {
            let names = format_names();
            Failure::new(format!(
                "unknown format of `{path}`: use `--to FORMAT`, where FORMAT is one of {names}"
            ))
        })
}

/// Returns one line for each tensor.
fn listing(tensors: &[NamedTensor], with_statistics: bool) -> Result<String, TensorError> {
    let mut text = String::new();
    for NamedTensor { name, tensor } in tensors {
        let kind = tensor.tensor_type().name();
        let name = escaped(name);
        text.push_str(&format!("{name}: {} {kind}", tensor.metadata()));
        if with_statistics && let Some(statistics) = Statistics::of(&**tensor)? {
            text.push_str(&format!(", {statistics}"));
        }
        text.push('\n');
    }
    Ok(text)
}

/// Returns the tensors of these names.
fn printed(tensors: &[NamedTensor], names: &[String]) -> Result<String, CliError> {
    let mut text = String::new();
    for name in names {
        let named = tensors
            .iter()
            .find(|named| named.name == *name)
            .ok_or_else(|| CliError::new(format!("unknown tensor `{name}`")))?;
        let printed = named
            .tensor
            .to_text()
            .map_err(|error| CliError::caused(format!("tensor `{name}`"), error))?;
        text.push_str(printed.trim_end());
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tfrt_tensor::{DenseHostTensor, Shape};

    fn sample() -> Vec<NamedTensor> {
        let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
        let shape = Shape::new(&[3]).unwrap();
        let numbers = DenseHostTensor::from_elements(&allocator, shape, &[1.0_f32, -2.0, 0.0]);
        let one = DenseHostTensor::filled(&allocator, Shape::scalar(), 7_i8);
        vec![
            NamedTensor::new("layer.weights", numbers.unwrap()),
            NamedTensor::new("one", one.unwrap()),
        ]
    }

    #[test]
    fn each_tensor_has_a_line() {
        assert_eq!(
            listing(&sample(), false).unwrap(),
            "layer.weights: f32 [3] DenseHost\none: i8 [] DenseHost\n"
        );
        assert_eq!(
            listing(&sample()[1..], true).unwrap(),
            "one: i8 [] DenseHost, min 7, max 7, mean 7, zero 0\n"
        );
    }

    #[test]
    fn names_of_tensors_steer_no_terminal() {
        let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
        let one = DenseHostTensor::filled(&allocator, Shape::scalar(), 7_i8).unwrap();
        let tensors = [NamedTensor::new("\u{1b}[2J\n", one)];
        assert_eq!(
            listing(&tensors, false).unwrap(),
            "\\1B[2J\\0A: i8 [] DenseHost\n"
        );
    }

    #[test]
    fn tensors_are_printed_by_name() {
        let print = |name: &str| printed(&sample(), &[name.to_owned()]);
        assert_eq!(
            print("one").unwrap(),
            "DenseHostTensor dtype = i8, shape = [], values = [7]\n"
        );
        let error = print("two").unwrap_err().to_string();
        assert_eq!(error, "unknown tensor `two`");
    }

    #[test]
    fn the_name_of_an_output_says_its_format() {
        let format = |path: &str, stated| output_format(path, stated).ok();
        assert_eq!(format("a/x.npz", None), Some(FileFormat::Npz));
        assert_eq!(
            format("x.npz", Some(FileFormat::Btf)),
            Some(FileFormat::Btf)
        );
        assert_eq!(format("-", None), None);
        assert_eq!(format("x.txt", None), None);
    }

    #[test]
    fn a_file_is_converted_and_listed() {
        let path = |extension| {
            let name = format!("tfrt-tensors-{}.{extension}", std::process::id());
            std::env::temp_dir().join(name).to_str().unwrap().to_owned()
        };
        let (from, to) = (path("safetensors"), path("btf"));
        std::fs::write(&from, FileFormat::Safetensors.write(&sample()).unwrap()).unwrap();
        let converted = run(
            "tfrt",
            &Arguments::try_parse_from(["tensors", &from, "-o", &to]).unwrap(),
        );
        let written = std::fs::read(&to);
        for path in [from, to] {
            // What is missing was not written, which is found out below.
            let _ = std::fs::remove_file(path);
        }
        assert!(converted.is_ok());
        let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
        let file = HostBuffer::from_owner(written.unwrap()).unwrap();
        let tensors = FileFormat::Btf.read(&file, &allocator).unwrap();
        assert_eq!(
            listing(&tensors, false).unwrap(),
            "0: f32 [3] DenseHost\n1: i8 [] DenseHost\n"
        );
    }
}
