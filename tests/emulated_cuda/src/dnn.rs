//! `libcudnn`. Scalars are in memory of the host.
//!
//! A descriptor of the library is created without content, and gets it by another call. The host
//! device creates a descriptor with its content, so that it has one only once there is content.

use std::ffi::c_int;

use tfrt_gpu::api::blas::Scalar;
use tfrt_gpu::api::dnn::{
    Convolution, ConvolutionKind, Descriptor, FusedConvolution, TensorOperand,
};

use tfrt_gpu::api::{DescriptorHandle, DnnHandle, GpuError, GpuResult, Status, StreamHandle};

use crate::abi::{In, Out, device, exports};
use crate::emulator::{Emulator, lock};

/// The kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tensor,
    Filter,
    Convolution,
    Pooling,
    Activation,
}

/// A descriptor of the library.
#[derive(Debug)]
pub(crate) struct DnnDescriptor {
    kind: Kind,
    /// The content, and the descriptor of the host device.
    content: Option<(Descriptor, DescriptorHandle)>,
}

impl Emulator {
    /// Creates a descriptor without content.
    fn create_descriptor(&self, call: &'static str, kind: Kind, to: Out<u64>) -> GpuResult<()> {
        let mut descriptors = lock(&self.descriptors);
        // Numbers that no other object has.
        let number = descriptors.next_number();
        to.set(call, number)?;
        let descriptor = DnnDescriptor {
            kind,
            content: None,
        };
        descriptors.by_number.insert(number, descriptor);
        Ok(())
    }

    /// Sets the content of a descriptor.
    fn set_descriptor(
        &self,
        call: &'static str,
        number: u64,
        kind: Kind,
        content: Descriptor,
    ) -> GpuResult<()> {
        let dnn = &self.gpu.dnn;
        let mut descriptors = lock(&self.descriptors);
        let descriptor = descriptors.of_kind(call, number, kind)?;
        let handle = dnn.descriptor(&content)?;
        let before = descriptor.content.replace((content, handle));
        before.map_or(Ok(()), |(_, handle)| dnn.destroy_descriptor(handle))
    }

    fn destroy_descriptor(&self, call: &'static str, number: u64, kind: Kind) -> GpuResult<()> {
        let mut descriptors = lock(&self.descriptors);
        descriptors.of_kind(call, number, kind)?;
        let content = descriptors
            .by_number
            .remove(&number)
            .and_then(|removed| removed.content);
        content.map_or(Ok(()), |(_, handle)| {
            self.gpu.dnn.destroy_descriptor(handle)
        })
    }

    /// Returns the descriptor of the host device, and the type of elements of a tensor or filter.
    fn described(
        &self,
        call: &'static str,
        number: u64,
        kind: Kind,
    ) -> GpuResult<(DescriptorHandle, c_int)> {
        let mut descriptors = lock(&self.descriptors);
        let content = descriptors.of_kind(call, number, kind)?.content.as_ref();
        let (content, handle) = content.ok_or_else(|| {
            GpuError::new(call, Status::DNN_BAD_PARAM).with_details("a descriptor has no content")
        })?;
        let data_type = match content {
            Descriptor::Tensor { data_type, .. } | Descriptor::Filter { data_type, .. } => {
                *data_type
            }
            _ => 0,
        };
        Ok((*handle, data_type))
    }

    fn operand(
        &self,
        call: &'static str,
        number: u64,
        kind: Kind,
        address: u64,
    ) -> GpuResult<TensorOperand> {
        Ok((self.described(call, number, kind)?.0, device(address)))
    }
}

/// The descriptors of the library, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    by_number: std::collections::HashMap<u64, DnnDescriptor>,
    num_created: u64,
}

impl Descriptors {
    fn next_number(&mut self) -> u64 {
        self.num_created += 1;
        0x0d00_0000_0000 + 16 * self.num_created
    }

    fn of_kind(
        &mut self,
        call: &'static str,
        number: u64,
        kind: Kind,
    ) -> GpuResult<&mut DnnDescriptor> {
        let found = self.by_number.get_mut(&number);
        found
            .filter(|found| found.kind == kind)
            .ok_or_else(|| GpuError::new(call, Status::INVALID_HANDLE))
    }

    /// Returns the number of descriptors that the host device does not have.
    pub(crate) fn num_empty(&self) -> usize {
        let descriptors = self.by_number.values();
        descriptors
            .filter(|descriptor| descriptor.content.is_none())
            .count()
    }
}

/// Reads as many numbers as a rank says.
fn numbers(call: &'static str, rank: c_int, list: In<c_int>) -> GpuResult<Vec<i32>> {
    let rank = usize::try_from(rank).ok().filter(|rank| *rank <= 8);
    let rank = rank.ok_or_else(|| GpuError::new(call, Status::DNN_BAD_PARAM))?;
    list.list(call, rank)
}

/// Reads a scalar: of 64 bits for elements of that type, and else of 32.
fn scalar(call: &'static str, data_type: c_int, pointer: In<u8>) -> GpuResult<Scalar> {
    match data_type {
        1 => Ok(Scalar::F64(pointer.cast().get(call, 0)?)),
        _ => Ok(Scalar::F32(pointer.cast().get(call, 0)?)),
    }
}

/// Reads the scalar of a pooling operation, which the host device takes as `f32`.
fn f32_scalar(call: &'static str, data_type: c_int, pointer: In<u8>) -> GpuResult<f32> {
    Ok(match scalar(call, data_type, pointer)? {
        Scalar::F64(value) => value as f32,
        Scalar::F32(value) => value,
        _ => 0.0,
    })
}

/// Refuses a convolution whose scalars are not 1 and 0: `tfrt-gpu` asks for no other.
fn expect_one_and_zero(call: &'static str, alpha: Scalar, beta: Scalar) -> GpuResult<()> {
    let value = |scalar| match scalar {
        Scalar::F64(value) => value,
        Scalar::F32(value) => value.into(),
        _ => f64::NAN,
    };
    if (value(alpha), value(beta)) == (1.0, 0.0) {
        return Ok(());
    }
    Err(GpuError::new(call, Status::DNN_NOT_SUPPORTED)
        .with_details("the emulated library expects the scalars 1 and 0"))
}

/// Exports the creation and the destruction of descriptors.
macro_rules! descriptors {
    ($($create:ident $destroy:ident of $kind:ident)*) => {
        exports! { Dnn: $(
            fn $create(descriptor: Out<u64>) |emulator, CALL| {
                emulator.create_descriptor(CALL, Kind::$kind, descriptor)
            }

            fn $destroy(descriptor: u64) |emulator, CALL| {
                emulator.destroy_descriptor(CALL, descriptor, Kind::$kind)
            }
        )* }
    };
}

descriptors! {
    cudnnCreateTensorDescriptor cudnnDestroyTensorDescriptor of Tensor
    cudnnCreateFilterDescriptor cudnnDestroyFilterDescriptor of Filter
    cudnnCreateConvolutionDescriptor cudnnDestroyConvolutionDescriptor of Convolution
    cudnnCreatePoolingDescriptor cudnnDestroyPoolingDescriptor of Pooling
    cudnnCreateActivationDescriptor cudnnDestroyActivationDescriptor of Activation
}

exports! { Dnn:
    fn cudnnGetProperty(property: c_int, value: Out<c_int>) |_emulator, CALL| {
        match property {
            0 => value.set(CALL, 9),
            1 => value.set(CALL, 10),
            2 => value.set(CALL, 2),
            _ => Err(GpuError::new(CALL, Status::DNN_BAD_PARAM)),
        }
    }

    fn cudnnCreate(handle: Out<u64>) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        handle.set(CALL, emulator.gpu.dnn.create(&current)?.0)
    }

    fn cudnnDestroy(handle: u64) |emulator, CALL| {
        emulator.gpu.dnn.destroy(DnnHandle(handle))
    }

    fn cudnnSetStream(handle: u64, stream: u64) |emulator, CALL| {
        emulator.gpu.dnn.set_stream(DnnHandle(handle), StreamHandle(stream))
    }

    fn cudnnSetTensorNdDescriptor(
        descriptor: u64, data_type: c_int, rank: c_int, dims: In<c_int>, strides: In<c_int>,
    ) |emulator, CALL| {
        let content = Descriptor::Tensor {
            data_type,
            dims: numbers(CALL, rank, dims)?,
            strides: numbers(CALL, rank, strides)?,
            is_vectorized: false,
        };
        emulator.set_descriptor(CALL, descriptor, Kind::Tensor, content)
    }

    fn cudnnSetTensorNdDescriptorEx(
        descriptor: u64, format: c_int, data_type: c_int, rank: c_int, dims: In<c_int>,
    ) |emulator, CALL| {
        if format != 2 {
            return Err(GpuError::new(CALL, Status::DNN_NOT_SUPPORTED));
        }
        let dims = numbers(CALL, rank, dims)?;
        let content = Descriptor::Tensor { data_type, strides: vec![0; dims.len()], dims, is_vectorized: true };
        emulator.set_descriptor(CALL, descriptor, Kind::Tensor, content)
    }

    fn cudnnSetFilterNdDescriptor(
        descriptor: u64, data_type: c_int, format: c_int, rank: c_int, dims: In<c_int>,
    ) |emulator, CALL| {
        let content = Descriptor::Filter { data_type, format, dims: numbers(CALL, rank, dims)? };
        emulator.set_descriptor(CALL, descriptor, Kind::Filter, content)
    }

    fn cudnnSetConvolutionNdDescriptor(
        descriptor: u64, rank: c_int, pad: In<c_int>, stride: In<c_int>, dilation: In<c_int>, mode: c_int, compute_type: c_int,
    ) |emulator, CALL| {
        let content = Descriptor::Convolution {
            compute_type,
            mode,
            math_type: None,
            pad: numbers(CALL, rank, pad)?,
            stride: numbers(CALL, rank, stride)?,
            dilation: numbers(CALL, rank, dilation)?,
        };
        emulator.set_descriptor(CALL, descriptor, Kind::Convolution, content)
    }

    fn cudnnSetConvolutionMathType(descriptor: u64, math_type: c_int) |emulator, CALL| {
        // The host device computes alike with each of them.
        emulator.described(CALL, descriptor, Kind::Convolution)?;
        if (0..4).contains(&math_type) {
            return Ok(());
        }
        Err(GpuError::new(CALL, Status::DNN_BAD_PARAM))
    }

    fn cudnnSetPoolingNdDescriptor(
        descriptor: u64, mode: c_int, nan: c_int, rank: c_int, window: In<c_int>, pad: In<c_int>, stride: In<c_int>,
    ) |emulator, CALL| {
        let content = Descriptor::Pooling {
            mode: mode.cast_unsigned(),
            nan_propagation: nan.cast_unsigned(),
            window: numbers(CALL, rank, window)?,
            pad: numbers(CALL, rank, pad)?,
            stride: numbers(CALL, rank, stride)?,
        };
        emulator.set_descriptor(CALL, descriptor, Kind::Pooling, content)
    }

    fn cudnnSetActivationDescriptor(descriptor: u64, mode: c_int, nan: c_int, coefficient: f64) |emulator, CALL| {
        let content = Descriptor::Activation { mode, propagates_nan: nan == 1, coefficient };
        emulator.set_descriptor(CALL, descriptor, Kind::Activation, content)
    }

    fn cudnnPoolingForward(
        handle: u64, pooling: u64, alpha: In<u8>, x_desc: u64, x: u64, beta: In<u8>, y_desc: u64, y: u64,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let pooling = emulator.described(CALL, pooling, Kind::Pooling)?.0;
        let (x_desc, data_type) = emulator.described(CALL, x_desc, Kind::Tensor)?;
        let y = emulator.operand(CALL, y_desc, Kind::Tensor, y)?;
        let (alpha, beta) = (f32_scalar(CALL, data_type, alpha)?, f32_scalar(CALL, data_type, beta)?);
        let dnn = &emulator.gpu.dnn;
        dnn.pooling_forward(&current, DnnHandle(handle), pooling, alpha, (x_desc, device(x)), beta, y)
    }

    fn cudnnPoolingBackward(
        handle: u64, pooling: u64, alpha: In<u8>, y_desc: u64, y: u64, dy_desc: u64, dy: u64, x_desc: u64, x: u64, beta: In<u8>,
        dx_desc: u64, dx: u64,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let pooling = emulator.described(CALL, pooling, Kind::Pooling)?.0;
        let (x_desc, data_type) = emulator.described(CALL, x_desc, Kind::Tensor)?;
        let y = emulator.operand(CALL, y_desc, Kind::Tensor, y)?;
        let dy = emulator.operand(CALL, dy_desc, Kind::Tensor, dy)?;
        let dx = emulator.operand(CALL, dx_desc, Kind::Tensor, dx)?;
        let (alpha, beta) = (f32_scalar(CALL, data_type, alpha)?, f32_scalar(CALL, data_type, beta)?);
        let dnn = &emulator.gpu.dnn;
        dnn.pooling_backward(&current, DnnHandle(handle), pooling, alpha, y, dy, (x_desc, device(x)), beta, dx)
    }

    fn cudnnConvolutionBiasActivationForward(
        handle: u64, alpha1: In<u8>, x_desc: u64, x: u64, w_desc: u64, w: u64, convolution: u64, algorithm: c_int, workspace: u64,
        num_bytes: usize, alpha2: In<u8>, z_desc: u64, z: u64, bias_desc: u64, bias: u64, activation: u64, y_desc: u64, y: u64,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let (y_desc, data_type) = emulator.described(CALL, y_desc, Kind::Tensor)?;
        let call = FusedConvolution {
            alpha1: scalar(CALL, data_type, alpha1)?,
            x: emulator.operand(CALL, x_desc, Kind::Tensor, x)?,
            w: emulator.operand(CALL, w_desc, Kind::Filter, w)?,
            descriptor: emulator.described(CALL, convolution, Kind::Convolution)?.0,
            algorithm: algorithm.into(),
            workspace: (device(workspace), num_bytes),
            alpha2: scalar(CALL, data_type, alpha2)?,
            z: emulator.operand(CALL, z_desc, Kind::Tensor, z)?,
            bias: emulator.operand(CALL, bias_desc, Kind::Tensor, bias)?,
            activation: emulator.described(CALL, activation, Kind::Activation)?.0,
            y: (y_desc, device(y)),
        };
        emulator.gpu.dnn.convolution_bias_activation(&current, DnnHandle(handle), &call)
    }
}

/// Exports the convolutions, by the kinds of their operands and of their result.
macro_rules! convolutions {
    ($($name:ident: $kind:ident of $first:ident $second:ident to $result:ident)*) => {
        exports! { Dnn: $(
            fn $name(
                handle: u64, alpha: In<u8>, first_desc: u64, first: u64, second_desc: u64, second: u64, convolution: u64,
                algorithm: c_int, workspace: u64, num_bytes: usize, beta: In<u8>, result_desc: u64, result: u64,
            ) |emulator, CALL| {
                let current = emulator.current(CALL)?;
                let (first_desc, data_type) = emulator.described(CALL, first_desc, Kind::$first)?;
                let (alpha, beta) = (scalar(CALL, data_type, alpha)?, scalar(CALL, data_type, beta)?);
                expect_one_and_zero(CALL, alpha, beta)?;
                let call = Convolution {
                    kind: ConvolutionKind::$kind,
                    first: (first_desc, device(first)),
                    second: emulator.operand(CALL, second_desc, Kind::$second, second)?,
                    descriptor: emulator.described(CALL, convolution, Kind::Convolution)?.0,
                    algorithm: algorithm.into(),
                    workspace: (device(workspace), num_bytes),
                    result: emulator.operand(CALL, result_desc, Kind::$result, result)?,
                };
                emulator.gpu.dnn.convolution(&current, DnnHandle(handle), &call)
            }
        )* }
    };
}

convolutions! {
    cudnnConvolutionForward: Forward of Tensor Filter to Tensor
    cudnnConvolutionBackwardData: BackwardData of Filter Tensor to Tensor
    cudnnConvolutionBackwardFilter: BackwardFilter of Tensor Tensor to Filter
}
