// Programs for GPUs on the host device: memory, streams, events, PTX and the calls of libraries.
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

func.func @fill_and_read() {
  %ch0 = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %bytes = tfrt.constant.i64 12
  %buf = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch0
  %half = tfrt.constant.f32 0.5
  %ch1 = tfrt_gpu.mem.set %buf, %half, %s, %ch0 : f32
  %host = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %hb:2 = tfrt_dht.get_buffer %host, %ch0
  %ch2 = tfrt_gpu.mem.copy %hb#0, %buf, %s, %ch1 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch3 = tfrt_gpu.stream.synchronize %s, %ch2
  %ch4 = tfrt_dht.print_tensor %host, %ch3
  tfrt.return
}

// Two streams with an event between them, and a kernel: y += a * x.
func.func @saxpy() -> !tfrt.chain {
  %ctx, %mem, %s0 = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %s1 = tfrt_gpu.stream.create %ctx
  %ch = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch0 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %y = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %y, %ch0 [10.0 : f32, 20.0 : f32, 30.0 : f32, 40.0 : f32]
  %bytes = tfrt.constant.i64 16
  %dx, %ch2 = tfrt.call @upload(%x, %bytes, %mem, %s0, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %dy, %ch3 = tfrt.call @upload(%y, %bytes, %mem, %s0, %ch2) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %e = tfrt_gpu.event.create %ctx
  %ch4 = tfrt_gpu.event.record %e, %s0, %ch3
  %ch5 = tfrt_gpu.stream.wait %s1, %e, %ch4
  %m = tfrt_gpu.module.load %ctx {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry saxpy(.param .f32 pa, .param .u64 px, .param .u64 py) {\0A.reg .f32 %f<5>;\0A.reg .b32 %r<2>;\0A.reg .b64 %rd<6>;\0Ald.param.f32 %f1, [pa];\0Ald.param.u64 %rd1, [px];\0Ald.param.u64 %rd2, [py];\0Amov.u32 %r1, %tid.x;\0Amul.wide.u32 %rd3, %r1, 4;\0Aadd.s64 %rd4, %rd1, %rd3;\0Aadd.s64 %rd5, %rd2, %rd3;\0Ald.global.f32 %f2, [%rd4];\0Ald.global.f32 %f3, [%rd5];\0Afma.rn.f32 %f4, %f1, %f2, %f3;\0Ast.global.f32 [%rd5], %f4;\0Aret;\0A}\00"}
  %f = tfrt_gpu.module.get_function %m {name = "saxpy"}
  %one = tfrt.constant.ui64 1
  %four = tfrt.constant.ui64 4
  %shared = tfrt.constant.ui32 0
  %a = tfrt.constant.f32 2.0
  %ch6 = tfrt_gpu.function.launch %s1, %f, blocks in (%one, %one, %one), threads in (%four, %one, %one), %shared, %ch5, args(%a, %dx, %dy) : (f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer)
  %ch7 = tfrt.call @show(%y, %dy, %s1, %ch6) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch7 : !tfrt.chain
}

// C = A * B of two rows and columns, column-major; then the triangular solution of A * X = C, which is B.
func.func @products() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch0 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch [2.0 : f32, 1.0 : f32, 0.0 : f32, 3.0 : f32]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %ch0 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %bytes = tfrt.constant.i64 16
  %da, %ch2 = tfrt.call @upload(%a, %bytes, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %db, %ch3 = tfrt.call @upload(%b, %bytes, %mem, %s, %ch2) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %dc = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch3
  %h = tfrt_gpu.blas.create %ctx
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT
  %two = tfrt.constant.i32 2
  %four = tfrt.constant.i32 4
  %inc = tfrt.constant.i32 1
  %one = tfrt.constant.f32 1.0
  %nil = tfrt.constant.f32 0.0
  %ch4 = tfrt_gpu.blas.gemm %h, %s, CUBLAS_OP_N, CUBLAS_OP_N, %two, %two, %two, %one, %da, CUDA_R_32F, %two, %db, CUDA_R_32F, %two, %nil, %dc, CUDA_R_32F, %two, CUBLAS_COMPUTE_32F, %algo, %ch3
  %ch5 = tfrt.call @show(%b, %dc, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_gpu.blas.trsm.batch %h, %s, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, %two, %two, CUDA_R_32F, %one, %da, %two, %dc, %two, %inc, %ch5
  %ch7 = tfrt_gpu.blas.axpy %h, %s, %four, %one, CUDA_R_32F, %dc, CUDA_R_32F, %inc, %dc, CUDA_R_32F, %inc, CUDA_R_32F, %ch6
  %ch8 = tfrt_gpu.blas.scal %h, %s, %two, %one, CUDA_R_32F, %dc, CUDA_R_32F, %two, CUDA_R_32F, %ch7
  %ch9 = tfrt.call @show(%b, %dc, %s, %ch8) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch9 : !tfrt.chain
}

// The Cholesky factor of [[4, 2], [2, 5]].
func.func @factor() -> (i64, !tfrt.chain) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch0 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch [4.0 : f32, 2.0 : f32, 2.0 : f32, 5.0 : f32]
  %bytes = tfrt.constant.i64 16
  %da, %ch1 = tfrt.call @upload(%a, %bytes, %mem, %s, %ch0) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %h = tfrt_gpu.solver.create %ctx
  %two = tfrt.constant.i32 2
  %size = tfrt_gpu.solver.potrf.buffer_size %h, %s, CUBLAS_FILL_MODE_LOWER, %two, CUDA_R_32F, %two, %ch1
  %ws = tfrt_gpu.mem.allocate %mem, %s, %size, %ch1
  %four = tfrt.constant.i64 4
  %info = tfrt_gpu.mem.allocate %mem, %s, %four, %ch1
  %ch2 = tfrt_gpu.solver.potrf %h, %s, CUBLAS_FILL_MODE_LOWER, %two, CUDA_R_32F, %da, %two, %ws, %info, %ch1
  %ch3 = tfrt.call @show(%a, %da, %s, %ch2) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %size, %ch3 : i64, !tfrt.chain
}

// The spectrum of four real numbers: three complex ones.
func.func @spectrum() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch0 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %bytes = tfrt.constant.i64 16
  %da, %ch1 = tfrt.call @upload(%a, %bytes, %mem, %s, %ch0) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %fft = tfrt_gpu.fft.create %ctx, CUFFT_R2C, 1, [4], [4, 1], [3, 1]
  %size = tfrt_gpu.fft.get_workspace_size %fft
  %ws = tfrt_gpu.mem.allocate %mem, %s, %size, %ch1
  %out_bytes = tfrt.constant.i64 24
  %out = tfrt_gpu.mem.allocate %mem, %s, %out_bytes, %ch1
  %ch2 = tfrt_gpu.fft.execute %s, %fft, %da, %out, %ws, CUFFT_FORWARD, %ch1
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [6 : i64]
  %ch3 = tfrt.call @show(%t, %out, %s, %ch2) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// An image of 3 by 3 with a filter of 2 by 2, and its maximum.
func.func @network() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [9 : i64]
  %ch0 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32]
  %w = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.f32 %w, %ch0 [1.0 : f32, 0.0 : f32, 0.0 : f32, -1.0 : f32]
  %x_bytes = tfrt.constant.i64 36
  %bytes = tfrt.constant.i64 16
  %dx, %ch2 = tfrt.call @upload(%x, %x_bytes, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %dw, %ch3 = tfrt.call @upload(%w, %bytes, %mem, %s, %ch2) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %dy = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch3
  %h = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 3 : i32, 3 : i32], [9 : i32, 9 : i32, 3 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 2 : i32, 2 : i32]
  %yd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 2 : i32, 2 : i32], [4 : i32, 4 : i32, 2 : i32, 1 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %algo = tfrt_gpu.dnn.convolution_forward_algorithm CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM
  %ch4 = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLOAT, %xd, %dx, %wd, %dw, %cd, %algo, %dy, %yd, %dy, %ch3
  %ch5 = tfrt.call @show(%w, %dy, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %mode = tfrt.constant.ui32 0
  %one = tfrt.constant.f32 1.0
  %nil = tfrt.constant.f32 0.0
  %pd = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %mode, %mode, [2 : i32, 2 : i32], [0 : i32, 0 : i32], [1 : i32, 1 : i32]
  %ch6 = tfrt_gpu.dnn.pooling_forward %h, %s, %pd, %one, %xd, %dx, %nil, %yd, %dy, %ch5
  %ch7 = tfrt.call @show(%w, %dy, %s, %ch6) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch7 : !tfrt.chain
}

// Pinned memory is read on the host; a view keeps its memory.
func.func @pinned() -> (i32, i1) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %bytes = tfrt.constant.i64 16
  %seven = tfrt.constant.i32 7
  %pin = tfrt_gpu.mem.allocate_host %ctx, %bytes, %ch
  %ch0 = tfrt_gpu.mem.set %pin, %seven, %s, %ch : i32
  %four = tfrt.constant.ui64 4
  %view = tfrt_gpu.mem.view %pin, %four, %four
  // Through the view, so that it is there before its memory is given back.
  %set = tfrt_gpu.mem.set %view, %seven, %s, %ch0 : i32
  %ch1 = tfrt_gpu.stream.synchronize %s, %set
  %ch2 = tfrt_gpu.mem.deallocate %pin, %s, %ch1
  %i = tfrt_gpu.mem.load %view, %ch2 : i32
  %b = tfrt_gpu.mem.load %view, %ch2 : i1
  tfrt.return %i, %b : i32, i1
}
