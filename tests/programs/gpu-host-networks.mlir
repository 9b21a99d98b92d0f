// The calls for networks on the host device.
// RUN: tfrt run --gpu=host %s
// RUN: tfrt run --gpu=host --work_queue_type=mstd:2 %s

func.func private @setup() -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  tfrt.return %ctx, %mem, %s : !tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream
}

// Copies a host tensor to the device.
func.func private @upload(%t: !t.tensor, %bytes: i64, %mem: !tfrt_gpu.allocator, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain) {
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %buf = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch0
  %ch1 = tfrt_gpu.mem.copy %buf, %host, %s, %ch0 : !tfrt_gpu.buffer, !ht.host_buffer
  tfrt.return %buf, %ch1 : !tfrt_gpu.buffer, !tfrt.chain
}

// Copies device memory to a host tensor and prints it.
func.func private @show(%t: !t.tensor, %buf: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> !tfrt.chain {
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %ch1 = tfrt_gpu.mem.copy %host, %buf, %s, %ch0 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.stream.synchronize %s, %ch1
  %ch3 = tfrt_dht.print_tensor %t, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

// The gradients of a convolution: by its input, of ones; and by its filter, which are sums of parts of the image.
func.func @gradients() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %i64_36 = tfrt.constant.i64 36
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_36, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_w = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_w, %ch2 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %w, %ch4 = tfrt.call @upload(%t_w, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_dy = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %t_dy, %ch4 [1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32]
  %dy, %ch6 = tfrt.call @upload(%t_dy, %i64_16, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %dx = tfrt_gpu.mem.allocate %mem, %s, %i64_36, %ch6
  %dw = tfrt_gpu.mem.allocate %mem, %s, %i64_16, %ch6
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %da = tfrt_gpu.dnn.convolution_backward_data_algorithm CUDNN_CONVOLUTION_BWD_DATA_ALGO_0
  %wa = tfrt_gpu.dnn.convolution_backward_filter_algorithm CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1
  %ch7 = tfrt_gpu.dnn.convolution_backward_data %h, %s, CUDNN_DATA_FLOAT, %wd, %w, %yd, %dy, %cd, %da, %dw, %xd, %dx, %ch6
  %t_dx = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch8 = tfrt.call @show(%t_dx, %dx, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch9 = tfrt_gpu.dnn.convolution_backward_filter %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %yd, %dy, %cd, %wa, %dx, %wd, %dw, %ch8
  %t_dw = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch10 = tfrt.call @show(%t_dw, %dw, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch10 : !tfrt.chain
}

// A convolution with the mirrored filter, with padding and strides of 2.
func.func @mirrored() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %i64_36 = tfrt.constant.i64 36
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_36, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_w = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_w, %ch2 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %w, %ch4 = tfrt.call @upload(%t_w, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_16, %ch4
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %md = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CONVOLUTION, CUDNN_FMA_MATH, [1 : i32, 1 : i32], [2 : i32, 2 : i32], [1 : i32, 1 : i32]
  %fa = tfrt_gpu.dnn.convolution_forward_algorithm CUDNN_CONVOLUTION_FWD_ALGO_GEMM
  %ch5 = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %wd, %w, %md, %fa, %y, %yd, %y, %ch4
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch6 = tfrt.call @show(%t_y, %y, %s, %ch5) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch6 : !tfrt.chain
}

// A convolution that adds and activates: relu(2 * conv(x, w) - z + bias), where a part is negative.
func.func @fused() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %i64_36 = tfrt.constant.i64 36
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_36, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_w = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_w, %ch2 [1.0 : f32, 0.0 : f32, 0.0 : f32, -1.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %w, %ch4 = tfrt.call @upload(%t_w, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_z = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %t_z, %ch4 [-20.0 : f32, 2.0 : f32, -3.0 : f32, 4.0 : f32]
  %z, %ch6 = tfrt.call @upload(%t_z, %i64_16, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_bias = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch7 = tfrt_dht.set_tensor_with_constant_values.f32 %t_bias, %ch6 [5.0 : f32]
  %i64_4 = tfrt.constant.i64 4
  %bias, %ch8 = tfrt.call @upload(%t_bias, %i64_4, %mem, %s, %ch7) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_16, %ch8
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %bd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 1 : i32, 1 : i32], [1 : i32, 1 : i32, 1 : i32, 1 : i32]
  %fa = tfrt_gpu.dnn.convolution_forward_algorithm CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
  %f64_0p0 = tfrt.constant.f64 0.0
  %f32_2p0 = tfrt.constant.f32 2.0
  %f32_m1p0 = tfrt.constant.f32 -1.0
  %f64_2p0 = tfrt.constant.f64 2.0
  %f64_m1p0 = tfrt.constant.f64 -1.0
  %ad = tfrt_gpu.dnn.create_activation_descriptor %f64_0p0, CUDNN_ACTIVATION_RELU, false
  %ch9 = tfrt_gpu.dnn.convolution_bias_activation_forward %h, %s, CUDNN_DATA_FLOAT, %f32_2p0, %xd, %x, %wd, %w, %cd, %fa, %y, %f32_m1p0, %yd, %z, %bd, %bias, %ad, %yd, %y, %ch8
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch10 = tfrt.call @show(%t_y, %y, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  // The scalars become those that the tensors demand.
  %ch11 = tfrt_gpu.dnn.convolution_bias_activation_forward %h, %s, CUDNN_DATA_DOUBLE, %f64_2p0, %xd, %x, %wd, %w, %cd, %fa, %y, %f64_m1p0, %yd, %z, %bd, %bias, %ad, %yd, %y, %ch10
  %ch12 = tfrt.call @show(%t_y, %y, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch13 = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_DOUBLE, %xd, %x, %wd, %w, %cd, %fa, %y, %yd, %y, %ch12
  %ch14 = tfrt.call @show(%t_y, %y, %s, %ch13) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch14 : !tfrt.chain
}

// The older forms: an algorithm by its number, scalars in host memory, descriptors and convolutions ordered by chains or none.
func.func @older() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %i64_36 = tfrt.constant.i64 36
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_36, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_w = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_w, %ch2 [1.0 : f32, 0.0 : f32, 0.0 : f32, -1.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %w, %ch4 = tfrt.call @upload(%t_w, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_bias = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %t_bias, %ch4 [5.0 : f32]
  %i64_4 = tfrt.constant.i64 4
  %bias, %ch6 = tfrt.call @upload(%t_bias, %i64_4, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_16, %ch6
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32], %ch6
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32], %ch6
  %bd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 1 : i32, 1 : i32], [1 : i32, 1 : i32, 1 : i32, 1 : i32], %ch6
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32], %ch6
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32], %ch6
  %u64_0 = tfrt.constant.ui64 0
  %f64_0p0 = tfrt.constant.f64 0.0
  %ch7 = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %wd, %w, %cd, %u64_0, %y, %yd, %y
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch8 = tfrt.call @show(%t_y, %y, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  // No chain orders the convolution, so its descriptor does: the tensor and the memory are those of the one before.
  %xd2 = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32], %ch8
  %ch9 = "tfrt_gpu.dnn.convolution_forward"(%h, %s, %xd2, %x, %wd, %w, %cd, %u64_0, %y, %yd, %y) {compute_type = 1 : i32} : (!tfrt_gpu.dnn.handle, !tfrt_gpu.stream, !tfrt_gpu.dnn.tensor.descriptor, !tfrt_gpu.buffer, !tfrt_gpu.dnn.filter.descriptor, !tfrt_gpu.buffer, !tfrt_gpu.dnn.convolution.descriptor, ui64, !tfrt_gpu.buffer, !tfrt_gpu.dnn.tensor.descriptor, !tfrt_gpu.buffer) -> !tfrt.chain
  %ch10 = tfrt.call @show(%t_y, %y, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %alpha = tfrt_gpu.mem.allocate_host %ctx, %i64_4, %ch10
  %f32_1p0 = tfrt.constant.f32 1.0
  %ch11 = tfrt_gpu.mem.set %alpha, %f32_1p0, %s, %ch10 : f32
  %ch12 = tfrt_gpu.stream.synchronize %s, %ch11
  %ad = tfrt_gpu.dnn.create_activation_descriptor %f64_0p0, CUDNN_ACTIVATION_IDENTITY, false
  %alphas = tfrt_gpu.alias %alpha, %ch12 : !tfrt_gpu.buffer
  %ch13 = tfrt_gpu.dnn.convolution_bias_activation_forward %h, %s, %alphas, %xd, %x, %wd, %w, %cd, %u64_0, %y, %alphas, %yd, %w, %bd, %bias, %ad, %yd, %y
  %ch14 = tfrt.call @show(%t_y, %y, %s, %ch13) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch14 : !tfrt.chain
}

// Maxima and averages, with and without padding, and their gradients.
func.func @pools() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %i64_36 = tfrt.constant.i64 36
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_36, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_dy = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_dy, %ch2 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %dy, %ch4 = tfrt.call @upload(%t_dy, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_16, %ch4
  %dx = tfrt_gpu.mem.allocate %mem, %s, %i64_36, %ch4
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %u32_0 = tfrt.constant.ui32 0
  %u32_1 = tfrt.constant.ui32 1
  %u32_2 = tfrt.constant.ui32 2
  %f32_1p0 = tfrt.constant.f32 1.0
  %f32_0p0 = tfrt.constant.f32 0.0
  %pmax = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %u32_0, %u32_0, [2 : i32, 2 : i32], [0 : i32, 0 : i32], [1 : i32, 1 : i32]
  %pwith = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %u32_1, %u32_0, [2 : i32, 2 : i32], [1 : i32, 1 : i32], [2 : i32, 2 : i32]
  %pwithout = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %u32_2, %u32_0, [2 : i32, 2 : i32], [1 : i32, 1 : i32], [2 : i32, 2 : i32]
  %ch5 = tfrt_gpu.dnn.pooling_forward %h, %s, %pmax, %f32_1p0, %xd, %x, %f32_0p0, %yd, %y, %ch4
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch6 = tfrt.call @show(%t_y, %y, %s, %ch5) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_gpu.dnn.pooling_backward %h, %s, %pmax, %f32_1p0, %yd, %y, %yd, %dy, %xd, %x, %f32_0p0, %xd, %dx, %ch6
  %t_dx = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch8 = tfrt.call @show(%t_dx, %dx, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch9 = tfrt_gpu.dnn.pooling_forward %h, %s, %pwith, %f32_1p0, %xd, %x, %f32_0p0, %yd, %y, %ch8
  %ch10 = tfrt.call @show(%t_y, %y, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch11 = tfrt_gpu.dnn.pooling_backward %h, %s, %pwith, %f32_1p0, %yd, %y, %yd, %dy, %xd, %x, %f32_0p0, %xd, %dx, %ch10
  %ch12 = tfrt.call @show(%t_dx, %dx, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch13 = tfrt_gpu.dnn.pooling_forward %h, %s, %pwithout, %f32_1p0, %xd, %x, %f32_0p0, %yd, %y, %ch12
  %ch14 = tfrt.call @show(%t_y, %y, %s, %ch13) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch15 = tfrt_gpu.dnn.pooling_backward %h, %s, %pwithout, %f32_1p0, %yd, %y, %yd, %dy, %xd, %x, %f32_0p0, %xd, %dx, %ch14
  %ch16 = tfrt.call @show(%t_dx, %dx, %s, %ch15) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch16 : !tfrt.chain
}

// A maximum passes over what is not a number, or is none itself, as the descriptor says; so does the rectifier.
func.func @not_numbers() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %i64_36 = tfrt.constant.i64 36
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_36, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %i64_16 = tfrt.constant.i64 16
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_16, %ch2
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %i32_m1 = tfrt.constant.i32 -1
  %u64_0 = tfrt.constant.ui64 0
  %u64_4 = tfrt.constant.ui64 4
  %u32_0 = tfrt.constant.ui32 0
  %u32_1 = tfrt.constant.ui32 1
  %f32_1p0 = tfrt.constant.f32 1.0
  %f32_0p0 = tfrt.constant.f32 0.0
  %first = tfrt_gpu.mem.view %x, %u64_0, %u64_4
  %ch3 = tfrt_gpu.mem.set %first, %i32_m1, %s, %ch2 : i32
  %pover = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %u32_0, %u32_0, [2 : i32, 2 : i32], [0 : i32, 0 : i32], [1 : i32, 1 : i32]
  %ch4 = tfrt_gpu.dnn.pooling_forward %h, %s, %pover, %f32_1p0, %xd, %x, %f32_0p0, %yd, %y, %ch3
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch5 = tfrt.call @show(%t_y, %y, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %pon = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %u32_0, %u32_1, [2 : i32, 2 : i32], [0 : i32, 0 : i32], [1 : i32, 1 : i32]
  %ch6 = tfrt_gpu.dnn.pooling_forward %h, %s, %pon, %f32_1p0, %xd, %x, %f32_0p0, %yd, %y, %ch5
  %ch7 = tfrt.call @show(%t_y, %y, %s, %ch6) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch7 : !tfrt.chain
}
