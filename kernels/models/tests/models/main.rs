//! The kernels that models are made of, and the programs of the models, through the facade.

mod digits;

mod kernels;

mod op_by_op;

mod weights;

use std::sync::Arc;

use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt_tensor::{DenseHostTensor, Element, Shape};

tfrt::link!(tfrt_kernels, tfrt_models);

fn tensor<T: Element>(dims: &[usize], elements: &[T]) -> DenseHostTensor {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let shape = Shape::new(dims).unwrap();
    DenseHostTensor::from_elements(&allocator, shape, elements).unwrap()
}

fn filled(dims: &[usize], element: f32) -> DenseHostTensor {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    DenseHostTensor::filled(&allocator, Shape::new(dims).unwrap(), element).unwrap()
}
