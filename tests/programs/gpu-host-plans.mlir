// Execution plans of convolutions. The knobs that the engine does not have are ignored.
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

// A convolution, then relu(2 * conv(x, w) - z + bias), where a part is negative.
func.func @plans() -> !tfrt.chain {
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
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %f64_2p0 = tfrt.constant.f64 2.0
  %f64_m1p0 = tfrt.constant.f64 -1.0
  %p = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 3, 3], [9, 9, 3, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 2, 2], [4, 4, 2, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, 0, [], []
  %ch11 = tfrt_gpu.dnn.run_convolution %h, %s, %p, %x, %y, %w, %z, %ch8
  %ch12 = tfrt.call @show(%t_y, %y, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %q = tfrt_gpu.dnn.build_fused_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 3, 3], [9, 9, 3, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, %f64_2p0, %f64_m1p0, 1, 0, [77, 2], [5, 1]
  %ch13 = tfrt_gpu.dnn.run_fused_convolution %h, %s, %q, %x, %y, %w, %z, %bias, %x, %ch12
  %ch14 = tfrt.call @show(%t_y, %y, %s, %ch13) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  // The gradients by the filter and by the input.
  %g = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 3, 3], [9, 9, 3, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 2, 2], [4, 4, 2, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 11, 0, [], []
  %ch15 = tfrt_gpu.dnn.run_convolution %h, %s, %g, %x, %z, %y, %x, %ch14
  %ch16 = tfrt.call @show(%t_y, %y, %s, %ch15) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %d = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 3, 3], [9, 9, 3, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 2, 2], [4, 4, 2, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 12, 0, [], []
  %ch17 = tfrt_gpu.dnn.run_convolution %h, %s, %d, %x, %z, %w, %y, %ch16
  %t_dx = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch18 = tfrt.call @show(%t_dx, %x, %s, %ch17) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch18 : !tfrt.chain
}

// max(0.1 * conv(x, w) + 0.1 * z + bias, 0), where 0.1 in single precision would show: 10^6 times
// its error is 10^-3.
func.func @doubles() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %i64_8 = tfrt.constant.i64 8
  %t = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t, %ch) {values = [1000000.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %x, %ch2 = tfrt.call @upload(%t, %i64_8, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_w = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch3 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_w, %ch2) {values = [1.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %w, %ch4 = tfrt.call @upload(%t_w, %i64_8, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_bias = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch5 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_bias, %ch4) {values = [-199999.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %bias, %ch6 = tfrt.call @upload(%t_bias, %i64_8, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_8, %ch6
  %scratch = tfrt_gpu.mem.allocate %mem, %s, %i64_8, %ch6
  %h = tfrt_gpu.dnn.create %ctx
  %tenth = tfrt.constant.f64 0.1
  %plan = tfrt_gpu.dnn.build_fused_convolution %h, CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE, [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, %tenth, %tenth, 1, 0, [], []
  %ch7 = tfrt_gpu.dnn.run_fused_convolution %h, %s, %plan, %x, %y, %w, %x, %bias, %scratch, %ch6
  %t_y = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch8 = tfrt.call @show(%t_y, %y, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch8 : !tfrt.chain
}

// Vectors of four channels: two pixels with 8 channels become two pixels with 4 channels. Sizes and
// strides count vectors.
func.func @vectors() -> (!tfrt.chain, !tfrt.chain) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %i64_8 = tfrt.constant.i64 8
  %i64_16 = tfrt.constant.i64 16
  %i64_32 = tfrt.constant.i64 32
  %t_x = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [16 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_constant_values.i8"(%t_x, %ch) {values = [1 : i8, 2 : i8, 3 : i8, 4 : i8, -1 : i8, -2 : i8, -3 : i8, -4 : i8, 5 : i8, 6 : i8, 7 : i8, 8 : i8, 10 : i8, 20 : i8, 30 : i8, -40 : i8]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_16, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_w = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [32 : i64]} : () -> !t.tensor
  %ch3 = "tfrt_dht.set_tensor_with_constant_values.i8"(%t_w, %ch2) {values = [1 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, 1 : i8, 0 : i8, -1 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, 1 : i8, 1 : i8, 1 : i8, 1 : i8, 1 : i8, 1 : i8, 1 : i8, 1 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8, -1 : i8, 2 : i8, 0 : i8, 1 : i8]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %w, %ch4 = tfrt.call @upload(%t_w, %i64_32, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_z = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [8 : i64]} : () -> !t.tensor
  %ch5 = "tfrt_dht.set_tensor_with_constant_values.i8"(%t_z, %ch4) {values = [1 : i8, 1 : i8, 1 : i8, 1 : i8, 0 : i8, 0 : i8, 0 : i8, 0 : i8]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %z, %ch6 = tfrt.call @upload(%t_z, %i64_8, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_bias = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch7 = tfrt_dht.set_tensor_with_constant_values.f32 %t_bias, %ch6 [10.0 : f32, 10.0 : f32, -10.0 : f32, 0.0 : f32]
  %bias, %ch8 = tfrt.call @upload(%t_bias, %i64_16, %mem, %s, %ch7) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_8, %ch8
  %f = tfrt_gpu.mem.allocate %mem, %s, %i64_32, %ch8
  %scratch = tfrt_gpu.mem.allocate %mem, %s, %i64_32, %ch8
  %h = tfrt_gpu.dnn.create %ctx
  // A pixel after the other, each with its channels.
  %p = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_INT8x4, CUDNN_DATA_INT8x4, [1, 2, 1, 2], [4, 2, 2, 1], [1, 1, 1, 2], [2, 2, 2, 1], [4, 2, 1, 1], [2, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, 0, [], []
  %ch9 = tfrt_gpu.dnn.run_convolution %h, %s, %p, %x, %y, %w, %scratch, %ch8
  %t_y = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [8 : i64]} : () -> !t.tensor
  %ch10 = tfrt.call @show(%t_y, %y, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  // A channel after the other, each with its pixels.
  %q = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_INT8x4, CUDNN_DATA_FLOAT, [1, 2, 1, 2], [4, 2, 2, 1], [1, 4, 1, 2], [8, 2, 2, 1], [4, 2, 1, 1], [2, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, 0, [], []
  %ch11 = tfrt_gpu.dnn.run_convolution %h, %s, %q, %x, %f, %w, %scratch, %ch10
  %t_f = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch12 = tfrt.call @show(%t_f, %f, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  // relu(0.5 * conv(x, w) + z + bias), rounded to the nearest number, or the even one.
  %half = tfrt.constant.f64 0.5
  %one = tfrt.constant.f64 1.0
  %r = tfrt_gpu.dnn.build_fused_convolution %h, CUDNN_DATA_INT8x4, CUDNN_DATA_INT8x4, CUDNN_DATA_FLOAT, [1, 2, 1, 2], [4, 2, 2, 1], [1, 1, 1, 2], [2, 2, 2, 1], [4, 2, 1, 1], [2, 1, 1, 1], [1, 4, 1, 1], [4, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, %half, %one, 1, 0, [], []
  %ch13 = tfrt_gpu.dnn.run_fused_convolution %h, %s, %r, %x, %y, %w, %z, %bias, %scratch, %ch12
  %ch14 = tfrt.call @show(%t_y, %y, %s, %ch13) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  // Two vectors are 8 bytes.
  %i64_7 = tfrt.constant.i64 7
  %less = tfrt_gpu.mem.allocate %mem, %s, %i64_7, %ch14
  // expected-error @+1 {{buffer `output` has 7 bytes, but the call uses 8}}
  %ch15 = tfrt_gpu.dnn.run_convolution %h, %s, %p, %x, %less, %w, %scratch, %ch14
  tfrt.return %ch14, %ch15 : !tfrt.chain, !tfrt.chain
}

// Buffers are held against what a plan reads and writes.
func.func @too_small() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 16
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %h = tfrt_gpu.dnn.create %ctx
  %plan = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 3, 3], [9, 9, 3, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 2, 2], [4, 4, 2, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, 0, [], []
  // expected-error @+1 {{buffer `input` has 16 bytes, but the call uses 36}}
  %ch1 = tfrt_gpu.dnn.run_convolution %h, %s, %plan, %a, %a, %a, %a, %ch
  // The workspace has to be as large as the filter.
  %enough = tfrt.constant.i64 36
  %x = tfrt_gpu.mem.allocate %mem, %s, %enough, %ch
  %less = tfrt.constant.i64 12
  %scratch = tfrt_gpu.mem.allocate %mem, %s, %less, %ch
  // expected-error @+1 {{buffer `workspace` has 12 bytes, but the call uses 16}}
  %ch2 = tfrt_gpu.dnn.run_convolution %h, %s, %plan, %x, %a, %a, %scratch, %ch
  %one = tfrt.constant.f64 1.0
  %fused = tfrt_gpu.dnn.build_fused_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 3, 3], [9, 9, 3, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 2, 2], [4, 4, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, %one, %one, 1, 0, [], []
  // expected-error @+1 {{buffer `workspace` has 12 bytes, but the call uses 16}}
  %ch3 = tfrt_gpu.dnn.run_fused_convolution %h, %s, %fused, %x, %a, %a, %a, %a, %scratch, %ch
  tfrt.return %ch1, %ch2, %ch3 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}
