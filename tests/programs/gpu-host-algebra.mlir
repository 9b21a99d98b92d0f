// The calls of BLAS, solver and FFT on the host device.
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

// Two products of 2 by 2, of which the second one has its first factor transposed by the layout: C = 2 * A^T * B + C.
func.func @batched_products() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_a = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_a, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 1.0 : f32, 0.0 : f32, 0.0 : f32, 1.0 : f32]
  %i64_32 = tfrt.constant.i64 32
  %a, %ch2 = tfrt.call @upload(%t_a, %i64_32, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_b = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_b, %ch2 [1.0 : f32, 0.0 : f32, 0.0 : f32, 1.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32]
  %b, %ch4 = tfrt.call @upload(%t_b, %i64_32, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_c = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch5 = tfrt_dht.set_tensor_with_constant_values.f32 %t_c, %ch4 [1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32]
  %c, %ch6 = tfrt.call @upload(%t_c, %i64_32, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %h = tfrt_gpu.blas.create %ctx
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_ALGO0
  %i32_2 = tfrt.constant.i32 2
  %f32_1p0 = tfrt.constant.f32 1.0
  %f32_2p0 = tfrt.constant.f32 2.0
  %i64_4 = tfrt.constant.i64 4
  %ch7 = tfrt_gpu.blas.gemm.batch %h, %s, CUBLAS_OP_T, CUBLAS_OP_N, %i32_2, %i32_2, %i32_2, %f32_2p0, %a, CUDA_R_32F, %i32_2, %i64_4, %b, CUDA_R_32F, %i32_2, %i64_4, %f32_1p0, %c, CUDA_R_32F, %i32_2, %i64_4, %i32_2, CUBLAS_COMPUTE_32F, %algo, %ch6
  %ch8 = tfrt.call @show(%t_c, %c, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch8 : !tfrt.chain
}

// A row by a column of doubles: 1 * 3 + 2 * 4, and half of what was there.
func.func @double_product() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_a = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [2 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_a, %ch) {values = [1.0 : f64, 2.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %i64_16 = tfrt.constant.i64 16
  %a, %ch2 = tfrt.call @upload(%t_a, %i64_16, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_b = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [2 : i64]} : () -> !t.tensor
  %ch3 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_b, %ch2) {values = [3.0 : f64, 4.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %b, %ch4 = tfrt.call @upload(%t_b, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_c = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [1 : i64]} : () -> !t.tensor
  %ch5 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_c, %ch4) {values = [10.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %i64_8 = tfrt.constant.i64 8
  %c, %ch6 = tfrt.call @upload(%t_c, %i64_8, %mem, %s, %ch5) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %h = tfrt_gpu.blas.create %ctx
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT_TENSOR_OP
  %i32_1 = tfrt.constant.i32 1
  %i32_2 = tfrt.constant.i32 2
  %f64_1p0 = tfrt.constant.f64 1.0
  %f64_0p5 = tfrt.constant.f64 0.5
  %ch7 = tfrt_gpu.blas.gemm %h, %s, CUBLAS_OP_N, CUBLAS_OP_N, %i32_1, %i32_1, %i32_2, %f64_1p0, %a, CUDA_R_64F, %i32_1, %b, CUDA_R_64F, %i32_2, %f64_0p5, %c, CUDA_R_64F, %i32_1, CUBLAS_COMPUTE_64F_PEDANTIC, %algo, %ch6
  %ch8 = tfrt.call @show(%t_c, %c, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch8 : !tfrt.chain
}

// Doubles with gaps: y[0] += 3 * x[0], y[2] += 3 * x[1]; then every second one of x by -1.
func.func @vectors() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_x = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [3 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_x, %ch) {values = [1.0 : f64, 2.0 : f64, 7.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %i64_24 = tfrt.constant.i64 24
  %x, %ch2 = tfrt.call @upload(%t_x, %i64_24, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_y = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [3 : i64]} : () -> !t.tensor
  %ch3 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_y, %ch2) {values = [1.0 : f64, 1.0 : f64, 1.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %y, %ch4 = tfrt.call @upload(%t_y, %i64_24, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %h = tfrt_gpu.blas.create %ctx
  %i32_1 = tfrt.constant.i32 1
  %i32_2 = tfrt.constant.i32 2
  %f64_3p0 = tfrt.constant.f64 3.0
  %f64_m1p0 = tfrt.constant.f64 -1.0
  %ch5 = tfrt_gpu.blas.axpy %h, %s, %i32_2, %f64_3p0, CUDA_R_64F, %x, CUDA_R_64F, %i32_1, %y, CUDA_R_64F, %i32_2, CUDA_R_64F, %ch4
  %ch6 = tfrt_gpu.blas.scal %h, %s, %i32_2, %f64_m1p0, CUDA_R_64F, %x, CUDA_R_64F, %i32_2, CUDA_R_64F, %ch5
  %ch7 = tfrt.call @show(%t_y, %y, %s, %ch6) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt.call @show(%t_x, %x, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch8 : !tfrt.chain
}

// X * A = 2 * B for an upper triangle with ones on its diagonal, and A^T * X = B for two lower triangles.
func.func @triangles() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_a = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_a, %ch [9.0 : f32, 9.0 : f32, 2.0 : f32, 9.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %a, %ch2 = tfrt.call @upload(%t_a, %i64_16, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_b = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch3 = tfrt_dht.set_tensor_with_constant_values.f32 %t_b, %ch2 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %b, %ch4 = tfrt.call @upload(%t_b, %i64_16, %mem, %s, %ch3) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %h = tfrt_gpu.blas.create %ctx
  %i32_1 = tfrt.constant.i32 1
  %i32_2 = tfrt.constant.i32 2
  %f32_2p0 = tfrt.constant.f32 2.0
  %f32_1p0 = tfrt.constant.f32 1.0
  %ch5 = tfrt_gpu.blas.trsm.batch %h, %s, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, %i32_2, %i32_2, CUDA_R_32F, %f32_2p0, %a, %i32_2, %b, %i32_2, %i32_1, %ch4
  %ch6 = tfrt.call @show(%t_b, %b, %s, %ch5) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t_l = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch7 = tfrt_dht.set_tensor_with_constant_values.f32 %t_l, %ch6 [2.0 : f32, 1.0 : f32, 9.0 : f32, 4.0 : f32, 1.0 : f32, 0.0 : f32, 9.0 : f32, 2.0 : f32]
  %i64_32 = tfrt.constant.i64 32
  %l, %ch8 = tfrt.call @upload(%t_l, %i64_32, %mem, %s, %ch7) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %t_r = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch9 = tfrt_dht.set_tensor_with_constant_values.f32 %t_r, %ch8 [4.0 : f32, 8.0 : f32, 3.0 : f32, 6.0 : f32]
  %r, %ch10 = tfrt.call @upload(%t_r, %i64_16, %mem, %s, %ch9) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %ch11 = tfrt_gpu.blas.trsm.batch %h, %s, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, %i32_2, %i32_1, CUDA_R_32F, %f32_1p0, %l, %i32_2, %r, %i32_2, %i32_2, %ch10
  %ch12 = tfrt.call @show(%t_r, %r, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch12 : !tfrt.chain
}

// Cholesky factors of a batch of two, the second of which has none: its place says where it fails. Then an upper one of doubles.
func.func @factors() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_a = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_a, %ch [4.0 : f32, 2.0 : f32, 2.0 : f32, 5.0 : f32, 1.0 : f32, 2.0 : f32, 2.0 : f32, 1.0 : f32]
  %i64_32 = tfrt.constant.i64 32
  %a, %ch2 = tfrt.call @upload(%t_a, %i64_32, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %i64_8 = tfrt.constant.i64 8
  %info = tfrt_gpu.mem.allocate %mem, %s, %i64_8, %ch2
  %h = tfrt_gpu.solver.create %ctx
  %i32_2 = tfrt.constant.i32 2
  %ch3 = tfrt_gpu.solver.potrf.batch %h, %s, CUBLAS_FILL_MODE_LOWER, %i32_2, CUDA_R_32F, %a, %i32_2, %info, %i32_2, %ch2
  %ch4 = tfrt.call @show(%t_a, %a, %s, %ch3) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t_info = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch5 = tfrt.call @show(%t_info, %info, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t_d = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [4 : i64]} : () -> !t.tensor
  %ch6 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_d, %ch5) {values = [9.0 : f64, 0.0 : f64, 3.0 : f64, 5.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %d, %ch7 = tfrt.call @upload(%t_d, %i64_32, %mem, %s, %ch6) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %size = tfrt_gpu.solver.potrf.buffer_size %h, %s, CUBLAS_FILL_MODE_UPPER, %i32_2, CUDA_R_64F, %i32_2, %ch7
  %ws = tfrt_gpu.mem.allocate %mem, %s, %size, %ch7
  %ch8 = tfrt_gpu.solver.potrf %h, %s, CUBLAS_FILL_MODE_UPPER, %i32_2, CUDA_R_64F, %d, %i32_2, %ws, %info, %ch7
  %ch9 = tfrt.call @show(%t_d, %d, %s, %ch8) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch10 = tfrt.call @show(%t_info, %info, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch10 : !tfrt.chain
}

// Transforms there and back: of complex numbers, of real numbers in two dimensions, and of a batch of doubles; n times the input.
func.func @spectra() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_z = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %t_z, %ch [1.0 : f32, 0.0 : f32, 2.0 : f32, 0.0 : f32, 3.0 : f32, 0.0 : f32, 4.0 : f32, 0.0 : f32]
  %i64_32 = tfrt.constant.i64 32
  %z, %ch2 = tfrt.call @upload(%t_z, %i64_32, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %y = tfrt_gpu.mem.allocate %mem, %s, %i64_32, %ch2
  %c2c = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 1, [4], [4, 1], [4, 1]
  %c2c_size = tfrt_gpu.fft.get_workspace_size %c2c
  %c2c_ws = tfrt_gpu.mem.allocate %mem, %s, %c2c_size, %ch2
  %ch3 = tfrt_gpu.fft.execute %s, %c2c, %z, %y, %c2c_ws, CUFFT_FORWARD, %ch2
  %t_y = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch4 = tfrt.call @show(%t_y, %y, %s, %ch3) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_gpu.fft.execute %s, %c2c, %y, %y, %c2c_ws, CUFFT_INVERSE, %ch4
  %ch6 = tfrt.call @show(%t_y, %y, %s, %ch5) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t_r = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch7 = tfrt_dht.set_tensor_with_constant_values.f32 %t_r, %ch6 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %i64_16 = tfrt.constant.i64 16
  %r, %ch8 = tfrt.call @upload(%t_r, %i64_16, %mem, %s, %ch7) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %w = tfrt_gpu.mem.allocate %mem, %s, %i64_32, %ch8
  %r2c = tfrt_gpu.fft.create %ctx, CUFFT_R2C, 1, [2, 2], [4, 2, 1], [4, 2, 1]
  %r2c_size = tfrt_gpu.fft.get_workspace_size %r2c
  %r2c_ws = tfrt_gpu.mem.allocate %mem, %s, %r2c_size, %ch8
  %c2r = tfrt_gpu.fft.create %ctx, CUFFT_C2R, 1, [2, 2], [4, 2, 1], [4, 2, 1]
  %c2r_size = tfrt_gpu.fft.get_workspace_size %c2r
  %c2r_ws = tfrt_gpu.mem.allocate %mem, %s, %c2r_size, %ch8
  %ch9 = tfrt_gpu.fft.execute %s, %r2c, %r, %w, %r2c_ws, CUFFT_FORWARD, %ch8
  %t_w = tfrt_dht.create_uninitialized_tensor.f32.1 [8 : i64]
  %ch10 = tfrt.call @show(%t_w, %w, %s, %ch9) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch11 = tfrt_gpu.fft.execute %s, %c2r, %w, %r, %c2r_ws, CUFFT_INVERSE, %ch10
  %ch12 = tfrt.call @show(%t_r, %r, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t_d = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [4 : i64]} : () -> !t.tensor
  %ch13 = "tfrt_dht.set_tensor_with_constant_values.f64"(%t_d, %ch12) {values = [1.0 : f64, 2.0 : f64, 3.0 : f64, 5.0 : f64]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %d, %ch14 = tfrt.call @upload(%t_d, %i64_32, %mem, %s, %ch13) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %i64_64 = tfrt.constant.i64 64
  %u = tfrt_gpu.mem.allocate %mem, %s, %i64_64, %ch14
  %d2z = tfrt_gpu.fft.create %ctx, CUFFT_D2Z, 2, [2], [2, 1], [2, 1]
  %d2z_size = tfrt_gpu.fft.get_workspace_size %d2z
  %d2z_ws = tfrt_gpu.mem.allocate %mem, %s, %d2z_size, %ch14
  %z2d = tfrt_gpu.fft.create %ctx, CUFFT_Z2D, 2, [2], [2, 1], [2, 1]
  %z2d_size = tfrt_gpu.fft.get_workspace_size %z2d
  %z2d_ws = tfrt_gpu.mem.allocate %mem, %s, %z2d_size, %ch14
  %z2z = tfrt_gpu.fft.create %ctx, CUFFT_Z2Z, 2, [2], [2, 1], [2, 1]
  %z2z_size = tfrt_gpu.fft.get_workspace_size %z2z
  %z2z_ws = tfrt_gpu.mem.allocate %mem, %s, %z2z_size, %ch14
  %ch15 = tfrt_gpu.fft.execute %s, %d2z, %d, %u, %d2z_ws, CUFFT_FORWARD, %ch14
  %t_u = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [8 : i64]} : () -> !t.tensor
  %ch16 = tfrt.call @show(%t_u, %u, %s, %ch15) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch17 = tfrt_gpu.fft.execute %s, %z2d, %u, %d, %z2d_ws, CUFFT_INVERSE, %ch16
  %ch18 = tfrt.call @show(%t_d, %d, %s, %ch17) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch19 = tfrt_gpu.fft.execute %s, %z2z, %u, %u, %z2z_ws, CUFFT_FORWARD, %ch18
  %ch20 = tfrt.call @show(%t_u, %u, %s, %ch19) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch20 : !tfrt.chain
}
