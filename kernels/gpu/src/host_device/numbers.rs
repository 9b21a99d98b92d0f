//! Numbers in device memory and in computations of libraries.
//!
//! All libraries compute in double precision, with complex numbers if necessary, and round once
//! when they store. Products of `f32` and `f64` go to `tfrt_compute`.

use half::{bf16, f16};
use tfrt::support::complex::Complex;
use tfrt::support::rounding::round_to_odd;

use super::fault::Fault;
use super::memory::DeviceMemory;
use crate::api::DevicePtr;
use crate::api::blas::Scalar;

/// A complex number, which every number is.
pub(super) type Number = Complex<f64>;

/// A type of numbers in memory: a `cudaDataType` that libraries compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    F16,
    Bf16,
    F32,
    F64,
    C32,
    C64,
    I8,
    U8,
    I32,
}

impl Stored {
    /// Returns the type of a `cudaDataType`, or `None` if nothing computes with it.
    pub(super) fn of(data_type: i32) -> Option<Self> {
        Some(match data_type {
            0 => Self::F32,
            1 => Self::F64,
            2 => Self::F16,
            3 => Self::I8,
            4 => Self::C32,
            5 => Self::C64,
            8 => Self::U8,
            10 => Self::I32,
            14 => Self::Bf16,
            _ => return None,
        })
    }

    /// Returns the type of a `cudnnDataType_t`, likewise.
    pub(super) fn of_dnn(data_type: i32) -> Option<Self> {
        Some(match data_type {
            0 => Self::F32,
            1 => Self::F64,
            2 => Self::F16,
            3 => Self::I8,
            4 => Self::I32,
            6 => Self::U8,
            _ => return None,
        })
    }

    /// Returns the bytes of an element.
    pub(super) fn width(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::C32 => 8,
            Self::C64 => 16,
        }
    }

    fn decode(self, bytes: &[u8]) -> Number {
        let real = |re: f64| Complex::new(re, 0.0);
        match self {
            Self::I8 => real(f64::from(bytes[0].cast_signed())),
            Self::U8 => real(f64::from(bytes[0])),
            Self::F16 => real(f16::from_le_bytes([bytes[0], bytes[1]]).to_f64()),
            Self::Bf16 => real(bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64()),
            Self::F32 => real(f64::from(single(bytes))),
            Self::I32 => real(f64::from(single(bytes).to_bits().cast_signed())),
            Self::F64 => real(double(bytes)),
            Self::C32 => Complex::new(f64::from(single(bytes)), f64::from(single(&bytes[4..]))),
            Self::C64 => Complex::new(double(bytes), double(&bytes[8..])),
        }
    }

    fn encode(self, number: Number, bytes: &mut Vec<u8>) {
        let re = number.re;
        match self {
            Self::I8 => bytes.extend((re.round_ties_even() as i8).to_le_bytes()),
            Self::U8 => bytes.push(re.round_ties_even() as u8),
            Self::F16 => bytes.extend(f16::from_f32(round_to_odd(re)).to_le_bytes()),
            Self::Bf16 => bytes.extend(bf16::from_f32(round_to_odd(re)).to_le_bytes()),
            Self::F32 => bytes.extend((re as f32).to_le_bytes()),
            Self::I32 => bytes.extend((re.round_ties_even() as i32).to_le_bytes()),
            Self::F64 => bytes.extend(re.to_le_bytes()),
            Self::C32 => {
                bytes.extend((re as f32).to_le_bytes());
                bytes.extend((number.im as f32).to_le_bytes());
            }
            Self::C64 => {
                bytes.extend(re.to_le_bytes());
                bytes.extend(number.im.to_le_bytes());
            }
        }
    }

    /// Reads `len` elements.
    pub(super) fn read(
        self,
        memory: &DeviceMemory,
        pointer: DevicePtr,
        len: usize,
    ) -> Result<Vec<Number>, Fault> {
        let bytes = super::read_bytes(memory, pointer, len.saturating_mul(self.width()))?;
        let mut numbers = Vec::new();
        // An element may become sixteen times as large.
        let reserved = numbers.try_reserve_exact(len);
        reserved.map_err(|_| Fault::failed(format!("cannot allocate memory for {len} numbers")))?;
        let elements = bytes.chunks_exact(self.width());
        numbers.extend(elements.map(|element| self.decode(element)));
        Ok(numbers)
    }

    /// Writes elements.
    pub(super) fn write(
        self,
        memory: &mut DeviceMemory,
        pointer: DevicePtr,
        numbers: &[Number],
    ) -> Result<(), Fault> {
        let mut bytes = Vec::with_capacity(numbers.len() * self.width());
        for number in numbers {
            self.encode(*number, &mut bytes);
        }
        memory.write(pointer.address(), &bytes)
    }
}

fn single(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn double(bytes: &[u8]) -> f64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[..8]);
    f64::from_le_bytes(eight)
}

/// Returns a scalar as a number.
pub(super) fn of_scalar(scalar: Scalar) -> Number {
    match scalar {
        Scalar::F16(bits) => Complex::new(f16::from_bits(bits).to_f64(), 0.0),
        Scalar::F32(number) => Complex::new(f64::from(number), 0.0),
        Scalar::F64(number) => Complex::new(number, 0.0),
        Scalar::I32(number) => Complex::new(f64::from(number), 0.0),
        Scalar::C32(re, im) => Complex::new(f64::from(re), f64::from(im)),
        Scalar::C64(re, im) => Complex::new(re, im),
    }
}

pub(super) const ZERO: Number = Complex { re: 0.0, im: 0.0 };

pub(super) fn plus(a: Number, b: Number) -> Number {
    Complex::new(a.re + b.re, a.im + b.im)
}

pub(super) fn minus(a: Number, b: Number) -> Number {
    Complex::new(a.re - b.re, a.im - b.im)
}

pub(super) fn times(a: Number, b: Number) -> Number {
    if a.im == 0.0 && b.im == 0.0 {
        return Complex::new(a.re * b.re, 0.0);
    }
    Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

pub(super) fn over(a: Number, b: Number) -> Number {
    if a.im == 0.0 && b.im == 0.0 {
        return Complex::new(a.re / b.re, 0.0);
    }
    let norm = b.re * b.re + b.im * b.im;
    let product = times(a, conjugate(b));
    Complex::new(product.re / norm, product.im / norm)
}

pub(super) fn conjugate(a: Number) -> Number {
    Complex::new(a.re, -a.im)
}

/// A matrix in column-major order, with a leading dimension.
#[derive(Debug)]
pub(super) struct Columns {
    numbers: Vec<Number>,
    height: usize,
}

impl Columns {
    /// Reads a matrix of `rows` and `columns`.
    pub(super) fn read(
        stored: Stored,
        memory: &DeviceMemory,
        pointer: DevicePtr,
        rows: usize,
        columns: usize,
        height: usize,
    ) -> Result<Self, Fault> {
        let len = columns.saturating_sub(1).saturating_mul(height);
        let len = if columns == 0 { 0 } else { len + rows };
        Ok(Self {
            numbers: stored.read(memory, pointer, len)?,
            height,
        })
    }

    /// Writes `rows` of each column; what lies between columns stays.
    pub(super) fn write(
        &self,
        stored: Stored,
        memory: &mut DeviceMemory,
        pointer: DevicePtr,
        rows: usize,
    ) -> Result<(), Fault> {
        for (index, column) in self.numbers.chunks(self.height.max(1)).enumerate() {
            let offset = (index * self.height * stored.width()) as u64;
            let column = &column[..rows.min(column.len())];
            stored.write(memory, pointer.offset(offset), column)?;
        }
        Ok(())
    }

    pub(super) fn get(&self, row: usize, column: usize) -> Number {
        self.numbers[column * self.height + row]
    }

    pub(super) fn set(&mut self, row: usize, column: usize, number: Number) {
        self.numbers[column * self.height + row] = number;
    }
}
