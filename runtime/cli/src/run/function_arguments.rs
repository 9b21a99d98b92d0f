//! Arguments of functions on the command line.
//!
//! `--arg NAME=VALUE` sets one; the name is that in the text of the program, or the position. A
//! value is a number, a text, or after `@` a file, which may be that of a tensor. Chains may be
//! omitted: they are ready.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use half::{bf16, f16};
use tfrt_async::{AnyRef, ByteString};
use tfrt_host::allocator::HostAllocator;
use tfrt_host::{FunctionRef, HostContext};
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::{
    CooHostTensor, DenseHostTensor, HostBuffer, ScalarHostTensor, StringHostTensor, Tensor,
};

use crate::failure::CliError;
use crate::input::Input;

/// One `--arg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenArgument {
    name: String,
    value: String,
}

impl FromStr for GivenArgument {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self, CliError> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self {
                name: name.trim_start_matches('%').to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(CliError::new("expected `NAME=VALUE`")),
        }
    }
}

/// The names of the arguments of each function, as the text of the program has them; none for a
/// function of a file.
pub(crate) type ArgumentNames = BTreeMap<String, Vec<String>>;

/// Returns the arguments to call `function` with; or the reason why one of them has no value.
pub(super) fn make(
    function: &FunctionRef,
    names: &ArgumentNames,
    given: &[GivenArgument],
    host: &HostContext,
) -> Result<Vec<AnyRef>, CliError> {
    let types = function.argument_types();
    let names = names_of(function, &types, names);
    if let Some(unknown) = given
        .iter()
        .find(|given| position_of(&given.name, &names).is_none())
    {
        let known = names.iter().map(String::as_str);
        return Err(CliError::new(format!(
            "function '{}' takes {}: unknown argument `{}`{}",
            function.name(),
            listed(&names, &types),
            unknown.name,
            did_you_mean(&nearest(&unknown.name, known))
        )));
    }
    let value = |(position, ty): (usize, &&str)| {
        let mut all = given
            .iter()
            .filter(|given| position_of(&given.name, &names) == Some(position));
        match (all.next(), all.next()) {
            (None, _) if *ty == "!tfrt.chain" => Ok(AnyRef::ready_chain()),
            (None, _) => Err(CliError::new(format!(
                "function '{}' takes {}: `--arg {}=…` is missing",
                function.name(),
                listed(&names, &types),
                names[position]
            ))),
            (Some(given), None) => value_of(&given.value, ty, host.allocator()).map_err(|error| {
                CliError::caused(format!("`--arg {}={}`", given.name, given.value), error)
            }),
            (Some(given), Some(_)) => Err(CliError::new(format!(
                "`--arg {}` is given twice",
                given.name
            ))),
        }
    };
    types.iter().enumerate().map(value).collect()
}

/// Returns `true` if none of the arguments of a function needs a value from the command line.
pub(super) fn needs_none(function: &FunctionRef) -> bool {
    let types = function.argument_types();
    types.iter().all(|ty| *ty == "!tfrt.chain")
}

/// Returns a name for each argument. Chains that a pass has put before the others have none in the
/// text.
fn names_of(function: &FunctionRef, types: &[&str], names: &ArgumentNames) -> Vec<String> {
    let written = names.get(function.name()).map_or(&[][..], Vec::as_slice);
    let num_added = types.len().saturating_sub(written.len());
    (0..types.len())
        .map(|position| {
            let written = position
                .checked_sub(num_added)
                .and_then(|at| written.get(at));
            written.map_or_else(|| format!("arg{position}"), Clone::clone)
        })
        .collect()
}

fn position_of(name: &str, names: &[String]) -> Option<usize> {
    let named = names.iter().position(|known| known == name);
    named.or_else(|| name.parse().ok().filter(|at| *at < names.len()))
}

fn listed(names: &[String], types: &[&str]) -> String {
    if names.is_empty() {
        return "no arguments".to_owned();
    }
    let described = names
        .iter()
        .zip(types)
        .map(|(name, ty)| format!("{name}: {ty}"));
    described.collect::<Vec<_>>().join(", ")
}

fn value_of(text: &str, ty: &str, allocator: &Arc<dyn HostAllocator>) -> Result<AnyRef, CliError> {
    if let Some(path) = text.strip_prefix('@') {
        return value_of_file(path, ty, allocator);
    }
    match ty {
        "i1" => match text {
            "true" | "1" => Ok(AnyRef::available(true)),
            "false" | "0" => Ok(AnyRef::available(false)),
            _ => Err(CliError::new("expected `true` or `false`")),
        },
        "i8" => number::<i8>(text, ty).map(AnyRef::available),
        "i16" => number::<i16>(text, ty).map(AnyRef::available),
        "i32" => number::<i32>(text, ty).map(AnyRef::available),
        "i64" => number::<i64>(text, ty).map(AnyRef::available),
        "ui8" => number::<u8>(text, ty).map(AnyRef::available),
        "ui16" => number::<u16>(text, ty).map(AnyRef::available),
        "ui32" => number::<u32>(text, ty).map(AnyRef::available),
        "ui64" => number::<u64>(text, ty).map(AnyRef::available),
        "f16" => number::<f16>(text, ty).map(AnyRef::available),
        "bf16" => number::<bf16>(text, ty).map(AnyRef::available),
        "f32" => number::<f32>(text, ty).map(AnyRef::available),
        "f64" => number::<f64>(text, ty).map(AnyRef::available),
        "!tfrt.string" => Ok(AnyRef::available(ByteString::from(text))),
        "!t.tensor" => Err(CliError::new(
            "expected a tensor file: `@FILE`, or `@FILE:NAME`",
        )),
        _ => Err(CliError::new(format!(
            "expected an argument of a number type, `!tfrt.string` or `!t.tensor`, found {ty}"
        ))),
    }
}

fn number<T: FromStr>(text: &str, ty: &str) -> Result<T, CliError> {
    text.parse()
        .map_err(|_| CliError::new(format!("expected a number of type {ty}")))
}

fn value_of_file(
    path: &str,
    ty: &str,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<AnyRef, CliError> {
    let read = |path: &str| {
        let input = std::fs::read(path);
        input.map_err(|error| CliError::caused(format!("cannot open '{path}'"), error))
    };
    match ty {
        "!tfrt.string" => Ok(AnyRef::available(ByteString::from(read(path)?))),
        "!t.tensor" => {
            // A name may follow the path, which may have colons in it, too.
            let (path, name) = match path.rsplit_once(':') {
                Some((file, name)) if !std::path::Path::new(path).exists() => (file, Some(name)),
                _ => (path, None),
            };
            let input = Input {
                name: path.to_owned(),
                bytes: read(path)?,
            };
            tensor_of_file(&input, name, allocator)
        }
        _ => Err(CliError::new(format!(
            "expected a value of type {ty}, found a file"
        ))),
    }
}

fn tensor_of_file(
    input: &Input,
    name: Option<&str>,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<AnyRef, CliError> {
    let wrong = |error: CliError| CliError::caused(&*input.name, error);
    let file = HostBuffer::copied(allocator, &input.bytes)
        .map_err(|error| CliError::caused(&*input.name, error))?;
    let format = FileFormat::detect(&input.bytes);
    let tensors = format
        .read(&file, allocator)
        .map_err(|error| CliError::caused(&*input.name, error))?;
    let found = match (name, &tensors[..]) {
        (None, [one]) => Some(one),
        (Some(name), all) => all.iter().find(|tensor| tensor.name == name),
        (None, _) => None,
    };
    let found = found.ok_or_else(|| {
        let names: Vec<_> = tensors.iter().map(|tensor| &*tensor.name).collect();
        wrong(CliError::new(format!(
            "expected the name of a tensor after `:`, one of {}",
            names.join(", ")
        )))
    })?;
    as_value(found).ok_or_else(|| wrong(CliError::new("expected a tensor in host memory")))
}

fn as_value(found: &NamedTensor) -> Option<AnyRef> {
    let tensor: &dyn Tensor = &*found.tensor;
    macro_rules! first_of {
        ($($ty:ty),+) => {
            None$(.or_else(|| tensor.downcast_ref::<$ty>().cloned().map(AnyRef::available)))+
        };
    }
    first_of!(
        DenseHostTensor,
        ScalarHostTensor,
        StringHostTensor,
        CooHostTensor
    )
}

/// Returns the names of arguments after the name of a function in a text: `(%x: i32, %y: i64) …`.
pub(crate) fn written_names(after_name: &str) -> Vec<String> {
    let Some(list) = after_name.trim_start().strip_prefix('(') else {
        return Vec::new();
    };
    // Types may have parentheses of their own.
    let mut depth = 1_usize;
    let is_inside = |char: &char| {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth > 0
    };
    let list: String = list.chars().take_while(is_inside).collect();
    let names = list.split('%').skip(1);
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || "$._-".contains(char);
    names
        .map(|rest| rest.chars().take_while(|char| is_of_name(*char)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use tfrt_host::allocator::Malloc;

    use super::*;

    fn value(text: &str, ty: &str) -> Result<AnyRef, CliError> {
        let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
        value_of(text, ty, &allocator)
    }

    #[test]
    fn values_are_read_as_their_types_say() {
        assert_eq!(value("-3", "i32").unwrap().get::<i32>(), Some(&-3));
        assert_eq!(
            value("1.5", "f16").unwrap().get(),
            Some(&f16::from_f32(1.5))
        );
        assert_eq!(value("true", "i1").unwrap().get::<bool>(), Some(&true));
        assert_eq!(
            value("300", "ui8").unwrap_err().to_string(),
            "expected a number of type ui8"
        );
        let refused = value("x", "!my.point").unwrap_err().to_string();
        assert!(refused.ends_with("found !my.point"), "{refused}");
    }

    #[test]
    fn names_are_those_of_the_text() {
        assert_eq!(
            written_names(
                "(%x: i32, %f: (i32) -> i32, %img : tensor<2xf32>,\n %z: i1) -> i32 { %y"
            ),
            ["x", "f", "img", "z"]
        );
        assert!(written_names("() { %x").is_empty());
        assert!(written_names(" attributes").is_empty());
    }

    #[test]
    fn an_argument_is_a_name_and_a_value() {
        let given: GivenArgument = "%x=a=b".parse().unwrap();
        assert_eq!((&*given.name, &*given.value), ("x", "a=b"));
        assert!("x".parse::<GivenArgument>().is_err());
    }
}
