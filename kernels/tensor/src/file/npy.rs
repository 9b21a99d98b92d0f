//! NumPy array files: one dense tensor, `.npy`.
//!
//! ```text
//!  "\x93NUMPY", u8 major, u8 minor, u16 (version 1) or u32 (versions 2, 3) header_bytes,
//!  {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } and blanks, elements
//! ```
//!
//! The header is a Python literal. Files use only a small part of the syntax, and only this part is
//! supported. Arrays in Fortran order or with the other byte order are converted. Arrays of
//! records, dates, objects and texts are not tensors and are refused.

mod header;

use std::io::{self, Write};
use std::sync::Arc;

use tfrt_host::allocator::HostAllocator;
use tfrt_support::DType;

use crate::buffer::HostBuffer;
use crate::dense::DenseHostTensor;
use crate::element;
use crate::file::error::FileError;
use crate::file::source::aligned;
pub use header::MAGIC;

use header::{ByteOrder, DTYPES, Header};

/// Elements start at a multiple of this in files that are written here, in bytes.
const ALIGN_BYTES: usize = 64;

/// Reads a file. The tensor shares the memory of the file if the layout of the elements is that of
/// tensors.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::allocator::{HostAllocator, Malloc};
/// use tfrt_tensor::file::npy;
/// use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};
///
/// let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
/// let tensor = DenseHostTensor::from_elements(&allocator, Shape::new(&[3])?, &[1_i16, 2, 3])?;
/// let mut file = Vec::new();
/// npy::write(&mut file, &tensor)?;
/// let read = npy::read(&HostBuffer::from_owner(file)?, &allocator)?;
/// assert_eq!(read.to_string(), tensor.to_string());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FileError`], with the kind and the location of the error.
pub fn read(
    file: &HostBuffer,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<DenseHostTensor, FileError> {
    let (header, start) = Header::parse(&file.read()?)?;
    let expected = element::size_bytes(header.dtype, &header.shape)?;
    let found = file.len_bytes() - start;
    if expected != found {
        return Err(FileError::at(
            start,
            format!(
                "expected {expected} bytes of elements for {} {}, found {found}",
                header.dtype, header.shape
            ),
        ));
    }
    let mut elements = file.slice(start, expected)?;
    if header.order == ByteOrder::Big {
        elements = swapped(&elements, part_bytes(header.dtype), allocator)?;
    }
    if header.is_fortran_order && header.shape.rank() > 1 {
        elements = row_major(&elements, &header, allocator)?;
    }
    let elements = aligned(elements, header.dtype)?;
    Ok(DenseHostTensor::from_buffer(
        header.dtype,
        header.shape,
        elements,
    )?)
}

/// Returns the size of the parts of an element that have a byte order: that of one part of a
/// complex number.
fn part_bytes(dtype: DType) -> usize {
    dtype.align_bytes().unwrap_or(1)
}

/// Elements whose parts have their bytes the other way round.
fn swapped(
    elements: &HostBuffer,
    part_bytes: usize,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<HostBuffer, FileError> {
    let bytes = elements.read()?;
    let swapped = HostBuffer::from_fn(allocator, bytes.len(), |at| {
        let start = at - at % part_bytes;
        bytes[start + (part_bytes - 1 - at % part_bytes)]
    })?;
    Ok(swapped)
}

/// Elements that lie with the first dimension fastest, with the last one fastest.
fn row_major(
    elements: &HostBuffer,
    header: &Header,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<HostBuffer, FileError> {
    let element_bytes = header.dtype.size_bytes().unwrap_or(1);
    let dims = header.shape.dims();
    let bytes = elements.read()?;
    let mut coordinates = vec![0_usize; dims.len()];
    let mut place = 0;
    let reordered = HostBuffer::from_fn(allocator, bytes.len(), |at| {
        if at.is_multiple_of(element_bytes) {
            if at != 0 {
                advance(&mut coordinates, dims);
            }
            let mut stride = 1;
            place = 0;
            for (coordinate, dim) in coordinates.iter().zip(dims) {
                place += coordinate * stride;
                stride *= dim;
            }
        }
        bytes[place * element_bytes + at % element_bytes]
    })?;
    Ok(reordered)
}

/// The next coordinates in row-major order.
fn advance(coordinates: &mut [usize], dims: &[usize]) {
    for (coordinate, dim) in coordinates.iter_mut().zip(dims).rev() {
        *coordinate += 1;
        if *coordinate < *dim {
            return;
        }
        *coordinate = 0;
    }
}

/// Writes a file.
///
/// # Errors
/// If arrays do not support the element type, the elements are being written, or the file cannot be
/// written.
pub fn write(output: &mut impl Write, tensor: &DenseHostTensor) -> Result<(), FileError> {
    let code = DTYPES
        .iter()
        .find(|(dtype, _)| *dtype == tensor.dtype())
        .map(|(_, code)| *code)
        .ok_or(FileError::NoDType {
            format: "npy",
            dtype: tensor.dtype(),
        })?;
    let order = if part_bytes(tensor.dtype()) == 1 {
        '|'
    } else {
        '<'
    };
    let dims: String = tensor
        .shape()
        .dims()
        .iter()
        .map(|dim| format!("{dim}, "))
        .collect();
    // A tuple of one has its comma; longer ones may have one.
    let mut header = format!(
        "{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({}), }}",
        dims.trim_end_matches(' ')
    );
    let prefix_bytes = |is_long: bool| MAGIC.len() + 2 + if is_long { 4 } else { 2 };
    let is_long = header.len() + ALIGN_BYTES + prefix_bytes(false) > usize::from(u16::MAX);
    let unpadded = prefix_bytes(is_long) + header.len() + 1;
    let padding = unpadded.next_multiple_of(ALIGN_BYTES) - unpadded;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let write_all = |output: &mut dyn Write| -> io::Result<()> {
        output.write_all(MAGIC)?;
        if is_long {
            output.write_all(&[2, 0])?;
            output.write_all(&(header.len() as u32).to_le_bytes())?;
        } else {
            output.write_all(&[1, 0])?;
            output.write_all(&(header.len() as u16).to_le_bytes())?;
        }
        output.write_all(header.as_bytes())
    };
    write_all(output).map_err(FileError::Io)?;
    output
        .write_all(&tensor.buffer().read()?)
        .map_err(FileError::Io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::testing::malloc;
    use crate::with_element;

    fn file(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
        let mut file = [MAGIC, &[version, 0]].concat();
        match version {
            1 => file.extend((header.len() as u16).to_le_bytes()),
            _ => file.extend((header.len() as u32).to_le_bytes()),
        }
        file.extend(header.as_bytes());
        file.extend(elements);
        file
    }

    fn text(file: Vec<u8>) -> String {
        match read(&HostBuffer::from_owner(file).unwrap(), &malloc()) {
            Ok(tensor) => tensor.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_type_that_arrays_have_comes_back() {
        for (dtype, _) in DTYPES {
            for dims in [&[][..], &[0], &[3], &[2, 3], &[1, 2, 1, 2]] {
                let shape = Shape::new(dims).unwrap();
                let tensor = with_element!(dtype, T => DenseHostTensor::from_fn(&malloc(), shape.clone(), |at| {
                    let mut bytes = [0; 16];
                    bytes[0] = at as u8;
                    <T as crate::Element>::from_bytes(bytes)
                }));
                let tensor = tensor.unwrap().unwrap();
                let mut written = Vec::new();
                write(&mut written, &tensor).unwrap();
                assert_eq!(
                    (written.len() - tensor.buffer().len_bytes()) % ALIGN_BYTES,
                    0
                );
                assert_eq!(text(written), tensor.to_string());
            }
        }
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }   \n";
        let elements = [1, 0, 2, 0, 255, 255];
        let expected = "DenseHostTensor dtype = i16, shape = [3], values = [1, 2, -1]";
        assert_eq!(text(file(1, header, &elements)), expected);
        assert_eq!(text(file(2, header, &elements)), expected);
        assert_eq!(text(file(3, header, &elements)), expected);
    }

    #[test]
    fn other_orders_are_brought_into_ours() {
        let big = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(
            text(file(1, big, &[0, 1, 1, 0])),
            "DenseHostTensor dtype = i16, shape = [2], values = [1, 256]"
        );
        let fortran = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
        assert_eq!(
            text(file(1, fortran, &[1, 4, 2, 5, 3, 6])),
            "DenseHostTensor dtype = u8, shape = [2, 3], values = [1, 2, 3, 4, 5, 6]"
        );
        let both = "{'descr': '>c8', 'fortran_order': True, 'shape': (1, 2), }";
        let parts: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0]
            .iter()
            .flat_map(|part| part.to_be_bytes())
            .collect();
        assert_eq!(
            text(file(1, both, &parts)),
            "DenseHostTensor dtype = complex64, shape = [1, 2], values = \
             [(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]"
        );
    }

    #[test]
    fn wrong_files_are_refused_with_a_place() {
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(
            text(file(1, header, &[0; 7])),
            "at offset 67: expected 8 bytes of elements for i32 [2], found 7"
        );
        assert_eq!(
            text(b"NUMPY".to_vec()),
            "at offset 0: expected the start of an npy file"
        );
        assert_eq!(
            text(file(1, &header.replace("<i4", "<U4"), &[])),
            "at offset 21: unsupported element type `<U4`"
        );
        assert_eq!(
            text(file(1, &header.replace("(2,)", "(-2,)"), &[])),
            "at offset 61: expected a number, found `-`"
        );
        assert_eq!(
            text(file(1, "{'descr': '<i4', 'shape': (2,), }", &[])),
            "at offset 10: expected the key 'fortran_order' in the header"
        );
        let huge = header.replace("(2,)", "(99999999999, 99999999999)");
        assert_eq!(
            text(file(1, &huge, &[])),
            "the shape [99999999999, 99999999999] has too many elements"
        );
        let mut cut = file(1, header, &[]);
        cut.truncate(20);
        assert_eq!(
            text(cut),
            "at offset 10: expected 57 bytes of header, found 10"
        );
    }

    #[test]
    fn types_that_arrays_do_not_have_are_not_written() {
        let tensor = DenseHostTensor::zeroed(&malloc(), DType::Bf16, Shape::scalar());
        let error = write(&mut Vec::new(), &tensor.unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a file of format npy cannot contain elements of type bf16"
        );
    }
}
