//! Columns on their way from a file to tensors.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Element, I1, Shape, StringHostTensor, TensorError};

use crate::schema::Cell;

/// Values of one type.
#[derive(Debug)]
pub(crate) enum Values {
    I1(Vec<I1>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    Ui8(Vec<u8>),
    Ui16(Vec<u16>),
    Ui32(Vec<u32>),
    Ui64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Strings(Vec<Vec<u8>>),
}

impl Values {
    /// No values of a type that a schema allows.
    pub(crate) fn new(dtype: DType) -> Self {
        match dtype {
            DType::I1 => Self::I1(Vec::new()),
            DType::I8 => Self::I8(Vec::new()),
            DType::I16 => Self::I16(Vec::new()),
            DType::I32 => Self::I32(Vec::new()),
            DType::I64 => Self::I64(Vec::new()),
            DType::Ui8 => Self::Ui8(Vec::new()),
            DType::Ui16 => Self::Ui16(Vec::new()),
            DType::Ui32 => Self::Ui32(Vec::new()),
            DType::Ui64 => Self::Ui64(Vec::new()),
            DType::F32 => Self::F32(Vec::new()),
            DType::F64 => Self::F64(Vec::new()),
            _ => Self::Strings(Vec::new()),
        }
    }

    /// Adds a value. Its type is that of the column, as the schema was checked and [`Cell::parse`]
    /// promises.
    pub(crate) fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Self::I1(values), Cell::Truth(truth)) => values.push(truth.into()),
            (Self::F32(values), Cell::Float(number)) => values.push(number as f32),
            (Self::F64(values), Cell::Float(number)) => values.push(number),
            (Self::Strings(values), Cell::Bytes(bytes)) => values.push(bytes),
            (Self::I8(values), Cell::Integer(number)) => values.push(number as i8),
            (Self::I16(values), Cell::Integer(number)) => values.push(number as i16),
            (Self::I32(values), Cell::Integer(number)) => values.push(number as i32),
            (Self::I64(values), Cell::Integer(number)) => values.push(number as i64),
            (Self::Ui8(values), Cell::Integer(number)) => values.push(number as u8),
            (Self::Ui16(values), Cell::Integer(number)) => values.push(number as u16),
            (Self::Ui32(values), Cell::Integer(number)) => values.push(number as u32),
            (Self::Ui64(values), Cell::Integer(number)) => values.push(number as u64),
            (values, cell) => unreachable!("{cell:?} is not a value of {values:?}"),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::I1(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Ui8(values) => values.len(),
            Self::Ui16(values) => values.len(),
            Self::Ui32(values) => values.len(),
            Self::Ui64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Strings(values) => values.len(),
        }
    }

    /// A tensor of the values; none are left.
    pub(crate) fn take_tensor(
        &mut self,
        shape: &[usize],
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<AnyRef, Error> {
        match self {
            Self::I1(values) => dense(values, shape, allocator),
            Self::I8(values) => dense(values, shape, allocator),
            Self::I16(values) => dense(values, shape, allocator),
            Self::I32(values) => dense(values, shape, allocator),
            Self::I64(values) => dense(values, shape, allocator),
            Self::Ui8(values) => dense(values, shape, allocator),
            Self::Ui16(values) => dense(values, shape, allocator),
            Self::Ui32(values) => dense(values, shape, allocator),
            Self::Ui64(values) => dense(values, shape, allocator),
            Self::F32(values) => dense(values, shape, allocator),
            Self::F64(values) => dense(values, shape, allocator),
            Self::Strings(values) => {
                let shape = Shape::new(shape).map_err(TensorError::from)?;
                let tensor = StringHostTensor::new(shape, std::mem::take(values))?;
                Ok(AnyRef::available(tensor))
            }
        }
    }
}

fn dense<T: Element>(
    values: &mut Vec<T>,
    shape: &[usize],
    allocator: &Arc<dyn HostAllocator>,
) -> Result<AnyRef, Error> {
    let shape = Shape::new(shape).map_err(TensorError::from)?;
    let tensor = DenseHostTensor::from_elements(allocator, shape, values)?;
    values.clear();
    Ok(AnyRef::available(tensor))
}
