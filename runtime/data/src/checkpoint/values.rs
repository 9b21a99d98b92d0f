//! Values of elements as bytes: a kind, then what that kind needs.

use tfrt_async::{AnyRef, ByteString, Chain};
use tfrt_support::{DType, Error, ErrorCode, Place};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape, StringHostTensor, serialize};

use super::{StateReader, StateWriter, damaged};
use crate::dataset::{Dataset, MAX_HEIGHT};
use crate::numbers::{number, scalar};
use crate::result::Outcome;

const ERROR: u8 = 0;
const NUMBER: u8 = 1;
const STRING: u8 = 2;
const DENSE_TENSOR: u8 = 3;
const STRING_TENSOR: u8 = 4;
const CHAIN: u8 = 5;
const DATASET: u8 = 6;

/// Writes an available value.
pub(super) fn write(to: &mut StateWriter<'_>, value: &AnyRef) -> Result<(), Error> {
    if let Some((dtype, bytes)) = scalar(value) {
        to.raw(&[NUMBER, dtype.code()]);
        to.raw(&bytes);
    } else if let Some(string) = value.get::<ByteString>() {
        to.raw(&[STRING]);
        to.bytes(string.as_bytes());
    } else if let Some(tensor) = value.get::<DenseHostTensor>() {
        to.raw(&[DENSE_TENSOR]);
        to.bytes(&serialize::metadata(tensor.dtype(), tensor.shape()));
        to.bytes(&tensor.buffer().read()?);
    } else if let Some(error) = value.error_if_present() {
        to.raw(&[ERROR, error.code().number()]);
        to.bytes(error.message().as_bytes());
        place(to, error.place());
    } else if let Ok(tensor) = value.try_read::<StringHostTensor>() {
        to.raw(&[STRING_TENSOR]);
        to.bytes(&serialize::metadata(DType::String, tensor.shape()));
        for string in tensor.strings() {
            to.bytes(string);
        }
    } else if value.is::<Chain>() {
        to.raw(&[CHAIN]);
    } else if let Some(outcomes) = value.get::<Dataset>().and_then(Dataset::given_outcomes) {
        to.raw(&[DATASET]);
        to.outcomes(outcomes.iter())?;
    } else {
        let found = value.mlir_type().unwrap_or("none");
        return Err(Error::new(format!(
            "a value of type `{found}` cannot be written to a checkpoint"
        ))
        .with_code(ErrorCode::Unimplemented));
    }
    Ok(())
}

fn place(to: &mut StateWriter<'_>, place: &Place) {
    match place {
        Place::Unknown => to.raw(&[0]),
        Place::File { file, line, column } => {
            to.raw(&[1]);
            to.bytes(file.as_bytes());
            to.u64((*line).into());
            to.u64((*column).into());
        }
        Place::Text(text) => {
            to.raw(&[2]);
            to.bytes(text.as_bytes());
        }
    }
}

/// Reads a value.
pub(super) fn read(from: &mut StateReader<'_>) -> Result<AnyRef, Error> {
    match from.byte()? {
        ERROR => read_error(from).map(AnyRef::error),
        NUMBER => {
            let dtype = DType::from_code(from.byte()?);
            let bytes = from.raw(8)?;
            let size = dtype.and_then(DType::size_bytes).unwrap_or(0);
            match (dtype, bytes.get(..size)) {
                (Some(dtype), Some(bytes)) => number(dtype, bytes),
                _ => Err(damaged("a number is of an unknown type")),
            }
        }
        STRING => Ok(AnyRef::available(ByteString::from(from.bytes()?))),
        DENSE_TENSOR => {
            let (dtype, shape) = serialize::parse_metadata(from.bytes()?)?;
            let bytes = from.bytes()?;
            read_tensor(from, dtype, shape, bytes).map(AnyRef::available)
        }
        STRING_TENSOR => {
            let (_, shape) = serialize::parse_metadata(from.bytes()?)?;
            let strings = (0..shape.num_elements())
                .map(|_| from.bytes().map(<[u8]>::to_vec))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(AnyRef::available(StringHostTensor::new(shape, strings)?))
        }
        CHAIN => Ok(AnyRef::ready_chain()),
        DATASET => {
            // The stack of this thread is at stake.
            if from.depth == MAX_HEIGHT {
                return Err(damaged("datasets are nested too deep"));
            }
            from.depth += 1;
            let outcomes: Vec<Outcome> = from.outcomes()?;
            from.depth -= 1;
            Ok(AnyRef::available(Dataset::from_outcomes(outcomes)?))
        }
        _ => Err(damaged("a value of unknown kind")),
    }
}

fn read_tensor(
    from: &StateReader<'_>,
    dtype: DType,
    shape: Shape,
    bytes: &[u8],
) -> Result<DenseHostTensor, Error> {
    let align = dtype.align_bytes().unwrap_or(1);
    let mut buffer = HostBuffer::zeroed(from.exec_ctx().allocator(), bytes.len(), align)?;
    buffer.write()?.copy_from_slice(bytes);
    let tensor = DenseHostTensor::from_buffer(dtype, shape, buffer)?;
    // Every byte pattern is a number, but not a truth value.
    if dtype == DType::I1 && bytes.iter().any(|&byte| byte > 1) {
        return Err(damaged("expected 0 or 1 as a boolean"));
    }
    Ok(tensor)
}

fn read_error(from: &mut StateReader<'_>) -> Result<Error, Error> {
    let Some(code) = ErrorCode::from_number(from.byte()?) else {
        return Err(damaged("an error of unknown code"));
    };
    let error = Error::new(from.text()?).with_code(code);
    let number = |from: &mut StateReader<'_>| {
        u32::try_from(from.u64()?).map_err(|_| damaged("a number is out of range"))
    };
    match from.byte()? {
        0 => {}
        1 => {
            let file = from.text()?;
            let (line, column) = (number(from)?, number(from)?);
            error.set_place_if_unset(Place::file(file, line, column));
        }
        2 => error.set_place_if_unset(Place::Text(from.text()?.into())),
        _ => return Err(damaged("a place of unknown kind")),
    }
    Ok(error)
}
