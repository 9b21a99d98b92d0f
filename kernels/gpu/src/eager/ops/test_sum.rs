//! `tfrt_test.add`: the sum of two tensors of one shape, of any type of numbers.

use tfrt::prelude::*;

use super::invalid;
use crate::eager::call::{GpuCall, KernelArgument};
use crate::eager::code::{Class, Code, Number};

/// How a kernel adds. A complex number is two numbers.
#[derive(Clone, Copy)]
enum Addition {
    Floats(Number),
    /// Integers of 2 to the power of this number of bytes, which wrap around, signed or not.
    Integers(u32),
}

/// Returns how to add elements of a type, and the numbers that an element consists of.
fn addition(dtype: DType) -> Option<(Addition, usize)> {
    let addition = match dtype {
        DType::I8 | DType::Ui8 => Addition::Integers(0),
        DType::I16 | DType::Ui16 => Addition::Integers(1),
        DType::I32 | DType::Ui32 => Addition::Integers(2),
        DType::I64 | DType::Ui64 => Addition::Integers(3),
        DType::Complex64 => return Some((Addition::Floats(Number::F32), 2)),
        DType::Complex128 => return Some((Addition::Floats(Number::F64), 2)),
        _ => Addition::Floats(Number::of(dtype)?),
    };
    Some((addition, 1))
}

impl Addition {
    /// Returns a number that tells kernels apart.
    fn variant(self) -> u64 {
        match self {
            Self::Floats(number) => number as u64,
            Self::Integers(shift) => 8 + u64::from(shift),
        }
    }

    /// Returns the text of a kernel. Its parameters are the number of numbers, and the addresses of
    /// the result and of both operands.
    fn text(self) -> String {
        let (mut code, index) = Code::new();
        let [output, a, b] = [code.parameter(), code.parameter(), code.parameter()];
        match self {
            Self::Floats(number) => {
                let [x, y] = [a, b].map(|from| code.load(number, &from, &index));
                let instruction = format!("add.rn.{}", number.computed());
                let sum = code.op(number.class(), &instruction, &[&x, &y]);
                code.store(number, &output, &index, &sum);
            }
            Self::Integers(shift) => {
                // There is no arithmetic of 8 bits: the low bits of a sum of 16 bits are right.
                let (class, stored, added) = match shift {
                    0 => (Class::Bits16, "u8", "u16"),
                    1 => (Class::Bits16, "u16", "u16"),
                    2 => (Class::Bits32, "u32", "u32"),
                    _ => (Class::Bits64, "u64", "u64"),
                };
                let [x, y] = [a, b].map(|from| {
                    let address = code.address(&from, &index, shift);
                    code.op(
                        class,
                        &format!("ld.global.{stored}"),
                        &[&format!("[{address}]")],
                    )
                });
                let sum = code.op(class, &format!("add.{added}"), &[&x, &y]);
                let address = code.address(&output, &index, shift);
                code.line(&format!("st.global.{stored} [{address}], {sum};"));
            }
        }
        code.finish("test_sum")
    }
}

/// Computes `a + b` of tensors of one shape. Integers wrap around.
///
/// # Errors
/// `incompatible dtypes for test.add`, `arguments of test.add must have same shape`,
/// `unsupported dtype for test.add`.
#[tfrt_op("tfrt_test.add", raw, device = "gpu")]
fn add(call: &mut OpCall<'_>) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    if a.dtype() != b.dtype() {
        return Err(invalid("incompatible dtypes for test.add"));
    }
    if a.shape() != b.shape() {
        return Err(invalid("arguments of test.add must have same shape"));
    }
    let (addition, parts) =
        addition(a.dtype()).ok_or_else(|| invalid("unsupported dtype for test.add"))?;
    let sum = call.allocate(a.dtype(), a.shape().clone())?;
    // Allocated elements fit in memory, and so do their parts.
    let count = sum.num_elements() * parts;
    if count != 0 {
        let function =
            call.gpu()
                .kernel_of_key(("test_sum", addition.variant()), "test_sum", || {
                    Ok(addition.text())
                })?;
        let arguments = [&sum, a, b].map(KernelArgument::from);
        call.launch_function(&function, count, &arguments)?;
    }
    call.set_result(0, sum);
    Ok(())
}
