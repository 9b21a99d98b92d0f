//! Results for people: tensors with their elements, and numbers of every type as numbers.
//!
//! This is what `tfrt run` prints. Under the original's names the tools print the original's lines,
//! which scripts read.

use std::fmt::{self, Write};

use half::{bf16, f16};
use tfrt_async::AnyRef;
use tfrt_support::float_text::Scientific;
use tfrt_tensor::{
    DenseHostTensor, Element, ScalarHostTensor, StringHostTensor, Tensor, TensorError, TensorRef,
    with_element,
};

/// Tensors with more elements show the outer ones of each dimension only.
const MAX_ELEMENTS: usize = 100;

/// Returns the text of a value that the original has none for.
pub(super) fn text(value: &AnyRef) -> Option<String> {
    number(value).or_else(|| {
        let tensor = TensorRef::read(value).ok()?;
        tensor_text(&*tensor).ok()
    })
}

fn number(value: &AnyRef) -> Option<String> {
    macro_rules! first_of {
        ($($ty:ty),+) => {
            None$(.or_else(|| value.get::<$ty>().map(ToString::to_string)))+
        };
    }
    let float = |value: f64| Scientific(value).to_string();
    let half = || value.get::<f16>().map(|value| float(f64::from(*value)));
    let brain = || value.get::<bf16>().map(|value| float(f64::from(*value)));
    first_of!(i8, i16, u8, u16, u32, u64)
        .or_else(half)
        .or_else(brain)
}

/// Such as `f32 [2, 2]: [[1, 2], [3, 4]]`.
fn tensor_text(tensor: &dyn Tensor) -> Result<String, TensorError> {
    let mut out = format!("{}: ", tensor.metadata());
    if let Some(dense) = tensor.downcast_ref::<DenseHostTensor>() {
        with_element!(dense.dtype(), T => {
            let elements = dense.elements::<T>()?;
            push_elements(&mut out, dense.shape().dims(), &elements, &T::write_text);
        })?;
    } else if let Some(scalar) = tensor.downcast_ref::<ScalarHostTensor>() {
        with_element!(scalar.dtype(), T => {
            let value = scalar.value::<T>()?;
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", fmt::from_fn(|f| value.write_text(f)));
        })?;
        out.push_str(" everywhere");
    } else if let Some(strings) = tensor.downcast_ref::<StringHostTensor>() {
        let write = |string: &Vec<u8>, f: &mut fmt::Formatter<'_>| {
            write!(f, "{:?}", String::from_utf8_lossy(string))
        };
        push_elements(&mut out, strings.shape().dims(), strings.strings(), &write);
    } else {
        out.push_str(tensor.to_text()?.trim_end());
    }
    Ok(out)
}

/// Writes an element.
type WriteElement<'a, T> = &'a dyn Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result;

/// Appends elements in row-major order, a pair of brackets for each dimension.
fn push_elements<T>(out: &mut String, dims: &[usize], elements: &[T], write: WriteElement<'_, T>) {
    let num_shown = if elements.len() <= MAX_ELEMENTS {
        usize::MAX
    } else {
        // So few that the text stays short, whatever the rank.
        match dims.len() {
            0..=2 => 3,
            3 => 2,
            _ => 1,
        }
    };
    push_part(out, dims, elements, num_shown, write);
}

fn push_part<T>(
    out: &mut String,
    dims: &[usize],
    elements: &[T],
    num_shown: usize,
    write: WriteElement<'_, T>,
) {
    let Some((&len, inner)) = dims.split_first() else {
        for element in elements {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", fmt::from_fn(|f| write(element, f)));
        }
        return;
    };
    out.push('[');
    let stride = elements.len().checked_div(len).unwrap_or(0);
    let is_whole = len / 2 <= num_shown;
    let mut is_first = true;
    for position in 0..len {
        if !is_whole && position == num_shown {
            out.push_str(", …");
        }
        if !is_whole && (num_shown..len - num_shown).contains(&position) {
            continue;
        }
        if !is_first {
            out.push_str(", ");
        }
        is_first = false;
        let part = &elements[position * stride..(position + 1) * stride];
        push_part(out, inner, part, num_shown, write);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::{HostAllocator, Malloc};
    use tfrt_tensor::Shape;

    use super::*;

    fn dense<T: Element>(dims: &[usize], elements: &[T]) -> AnyRef {
        let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
        let shape = Shape::new(dims).unwrap();
        AnyRef::available(DenseHostTensor::from_elements(&allocator, shape, elements).unwrap())
    }

    fn check(value: &AnyRef, expected: &str) {
        assert_eq!(text(value).as_deref(), Some(expected));
    }

    #[test]
    fn tensors_show_their_elements() {
        check(
            &dense(&[2, 2], &[1, 2, 3, 4]),
            "i32 [2, 2]: [[1, 2], [3, 4]]",
        );
        check(&dense(&[], &[7_i64]), "i64 []: 7");
        check(&dense::<i32>(&[2, 0], &[]), "i32 [2, 0]: [[], []]");
        let scalar = ScalarHostTensor::new(Shape::new(&[3]).unwrap(), 5_i32);
        check(&AnyRef::available(scalar), "i32 [3]: 5 everywhere");
        let strings = vec![b"a".to_vec(), b"\"".to_vec()];
        let strings = StringHostTensor::new(Shape::new(&[2]).unwrap(), strings).unwrap();
        check(&AnyRef::available(strings), r#"str [2]: ["a", "\""]"#);
    }

    #[test]
    fn large_tensors_show_the_outer_elements_of_each_dimension() {
        let numbers: Vec<i32> = (0..1000).collect();
        check(
            &dense(&[1000], &numbers),
            "i32 [1000]: [0, 1, 2, …, 997, 998, 999]",
        );
        check(
            &dense(&[500, 2], &numbers),
            "i32 [500, 2]: [[0, 1], [2, 3], [4, 5], …, [994, 995], [996, 997], [998, 999]]",
        );
    }

    #[test]
    fn numbers_of_every_type_are_numbers() {
        check(&AnyRef::available(7_u32), "7");
        check(&AnyRef::available(-7_i8), "-7");
        check(&AnyRef::available(f16::from_f32(1.5)), "1.500000e+00");
        check(&AnyRef::available(bf16::from_f32(-2.0)), "-2.000000e+00");
        assert_eq!(text(&AnyRef::ready_chain()), None);
    }
}
