// Every custom form of the kernels for GPUs, in the older and in the newer spelling.
// RUN: tfrt opt %s
// RUN: tfrt opt --mlir-print-op-generic %s

func.func @driver(%ch: !tfrt.chain, %host: !ht.host_buffer, %shape: !ts.shape) -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %bytes = tfrt.constant.i64 64
  %offset = tfrt.constant.ui64 16
  %value = tfrt.constant.f32 0.5
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %own = tfrt_gpu.context.create %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %same = tfrt_gpu.stream.get_context %s
  %e = tfrt_gpu.event.create %ctx
  %ch0 = tfrt_gpu.event.record %e, %s, %ch
  %ch1 = tfrt_gpu.stream.wait %s, %e, %ch0
  %ch2 = tfrt_gpu.event.synchronize %e, %ch1
  %buf = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch2
  %pin = tfrt_gpu.mem.allocate_host %ctx, %bytes, %ch2
  %reg = tfrt_gpu.mem.register %ctx, %host
  %view = tfrt_gpu.mem.view %buf, %offset, %offset
  %ch3 = tfrt_gpu.mem.set %buf, %value, %s, %ch2 : f32
  %ch4 = tfrt_gpu.mem.set %buf, %zero, %s, %ch3 : !tfrt_gpu.buffer, i32
  %ch5 = tfrt_gpu.mem.copy %host, %buf, %s, %ch4 : !ht.host_buffer, !tfrt_gpu.buffer
  %i = tfrt_gpu.mem.load %pin, %ch5 : i32
  %b = tfrt_gpu.mem.load %pin, %ch5 : i1
  %ch6 = tfrt_gpu.mem.print_metadata %buf, %ch5
  %t = tfrt_gpu.tensor.make.f32 %buf, %shape, %ch6
  %ch7 = tfrt_gpu.tensor.print_metadata %t, %ch6
  %t1 = tfrt_gpu.alias %t, %ch7 : !t.tensor
  %ch8 = tfrt_gpu.mem.deallocate %buf, %s, %ch7
  %ch9 = tfrt_gpu.stream.synchronize %s, %ch8
  tfrt.return %ch9 : !tfrt.chain
}

func.func @launches(%s: !tfrt_gpu.stream, %ctx: !tfrt_gpu.context, %in: !tfrt_gpu.buffer, %ch: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt_gpu.module.load %ctx {data = "image\00"}
  %f = tfrt_gpu.module.get_function %m {name = "f"}
  %g = tfrt_gpu.module.get_global %m {name = "g"}
  %one = tfrt.constant.ui64 1
  %old = tfrt.constant.ui32 1
  %x = tfrt.constant.f32 1.5
  %ch0 = tfrt_gpu.function.launch %s, %f, blocks in (%one, %one, %one), threads in (%one, %one, %one), %old, %ch
  %ch1 = tfrt_gpu.function.launch %s, %f, blocks in (%old, %old, %old), threads in (%old, %old, %old), %old, %ch0, args(%in, %x) : (!tfrt_gpu.buffer, f32)
  tfrt.return %ch1 : !tfrt.chain
}

func.func @blas(%s: !tfrt_gpu.stream, %ctx: !tfrt_gpu.context, %a: !tfrt_gpu.buffer, %n: i32, %stride: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %h = tfrt_gpu.blas.create %ctx
  %one = tfrt.constant.f32 1.0
  %double = tfrt.constant.f64 1.0
  %half = tfrt.constant.f16 1.0
  %ch0 = tfrt_gpu.blas.axpy %h, %s, %n, %one, CUDA_R_32F, %a, CUDA_R_32F, %n, %a, CUDA_R_32F, %n, CUDA_R_32F, %ch
  %ch1 = tfrt_gpu.blas.scal %h, %s, %n, %half, CUDA_R_16F, %a, CUDA_R_16F, %n, CUDA_R_16F, %ch0
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DFALT
  %ch2 = tfrt_gpu.blas.gemm %h, %s, CUBLAS_OP_N, CUBLAS_OP_HERMITAN, %n, %n, %n, %one, %a, CUDA_R_32F, %n, %a, CUDA_R_32F, %n, %one, %a, CUDA_R_32F, %n, CUBLAS_COMPUTE_32F, %algo, %ch1
  %ch3 = tfrt_gpu.blas.gemm.batch %h, %s, CUBLAS_OP_N, CUBLAS_OP_T, %n, %n, %n, %double, %a, CUDA_R_64F, %n, %stride, %a, CUDA_R_64F, %n, %stride, %double, %a, CUDA_R_64F, %n, %stride, %n, CUBLAS_COMPUTE_64F, %algo, %ch2
  %ch4 = tfrt_gpu.blas.trsm.batch %h, %s, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, %n, %n, CUDA_R_32F, %one, %a, %n, %a, %n, %n, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

func.func @collectives(%s: !tfrt_gpu.stream, %ctx: !tfrt_gpu.context, %a: !tfrt_gpu.buffer, %n: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %id = tfrt_gpu.ccl.unique_id CUDA
  %h = tfrt_gpu.ccl.create %ctx, %n, %n, %id
  %ch0 = tfrt_gpu.ccl.all_gather %h, %a, %a, ncclFloat, %ch
  %ch1 = tfrt_gpu.ccl.all_reduce %h, %a, %a, ncclFloat32, ncclMax, %ch0
  %ch2 = tfrt_gpu.ccl.reduce_scatter %h, %a, %a, ncclInt, ncclSum, %ch1
  %ch3 = tfrt_gpu.ccl.send %h, %a, %n, ncclChar, %ch2
  %ch4 = tfrt_gpu.ccl.recv %h, %a, %n, ncclHalf, %ch3
  %ch5 = tfrt_gpu.ccl.all_to_all %h, %a, %a, ncclDouble, %ch4
  %ch6 = tfrt_gpu.ccl.execute %s, %h, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

func.func @networks(%s: !tfrt_gpu.stream, %ctx: !tfrt_gpu.context, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) -> !tfrt.chain {
  %mode = tfrt.constant.ui32 0
  %old = tfrt.constant.ui64 1
  %f = tfrt.constant.f32 1.0
  %d = tfrt.constant.f64 1.0
  %h = tfrt_gpu.dnn.create %ctx
  %xd0 = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 4 : i32], [4 : i32, 1 : i32], %ch
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 4 : i32], [4 : i32, 1 : i32]
  %wd0 = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_INT8x4, 0, [1 : i32, 4 : i32], %ch
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_HALF, 1, [1 : i32, 4 : i32]
  %cd0 = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, [1 : i32], [2 : i32], [3 : i32], %ch
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CONVOLUTION, CUDNN_FMA_MATH, [1 : i32], [2 : i32], [3 : i32]
  %pd0 = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %mode, %mode, [2 : i32], [0 : i32], [2 : i32], %ch
  %pd = tfrt_gpu.dnn.create_pooling_descriptor %ctx, %mode, %mode, [2 : i32], [0 : i32], [2 : i32]
  %ad = tfrt_gpu.dnn.create_activation_descriptor %d, CUDNN_ACTIVATION_RELU, true
  %fa = tfrt_gpu.dnn.convolution_forward_algorithm CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM
  %da = tfrt_gpu.dnn.convolution_backward_data_algorithm CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
  %wa = tfrt_gpu.dnn.convolution_backward_filter_algorithm CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT
  %amd = tfrt_gpu.dnn.convolution_forward_algorithm 77
  %generic = "tfrt_gpu.dnn.convolution_backward_data_algorithm"() {algo = 5 : ui64} : () -> !tfrt_gpu.dnn.convolution.algorithm
  %ch0 = tfrt_gpu.dnn.pooling_forward %h, %s, %pd, %f, %xd, %x, %f, %xd, %x, %ch
  %ch1 = tfrt_gpu.dnn.pooling_backward %h, %s, %pd, %f, %xd, %x, %xd, %x, %xd, %x, %f, %xd, %x, %ch0
  %ch2 = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %wd, %x, %cd, %fa, %x, %xd, %x, %ch1
  %ch3 = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %wd, %x, %cd, %old, %x, %xd, %x
  %ch3b = "tfrt_gpu.dnn.convolution_forward"(%h, %s, %xd, %x, %wd, %x, %cd, %old, %x, %xd, %x) {compute_type = 1 : i32} : (!tfrt_gpu.dnn.handle, !tfrt_gpu.stream, !tfrt_gpu.dnn.tensor.descriptor, !tfrt_gpu.buffer, !tfrt_gpu.dnn.filter.descriptor, !tfrt_gpu.buffer, !tfrt_gpu.dnn.convolution.descriptor, ui64, !tfrt_gpu.buffer, !tfrt_gpu.dnn.tensor.descriptor, !tfrt_gpu.buffer) -> !tfrt.chain
  %ch4 = tfrt_gpu.dnn.convolution_backward_data %h, %s, CUDNN_DATA_DOUBLE, %wd, %x, %xd, %x, %cd, %da, %x, %xd, %x, %ch2
  %ch5 = tfrt_gpu.dnn.convolution_backward_filter %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %xd, %x, %cd, %wa, %x, %wd, %x, %ch4
  %ch6 = tfrt_gpu.dnn.convolution_bias_activation_forward %h, %s, CUDNN_DATA_FLOAT, %f, %xd, %x, %wd, %x, %cd, %fa, %x, %f, %xd, %x, %xd, %x, %ad, %xd, %x, %ch5
  %ch7 = tfrt_gpu.dnn.convolution_bias_activation_forward %h, %s, %x, %xd, %x, %wd, %x, %cd, %old, %x, %x, %xd, %x, %xd, %x, %ad, %xd, %x
  %p = tfrt_gpu.dnn.build_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 4, 4], [16, 16, 4, 1], [1, 1, 4, 4], [16, 16, 4, 1], [1, 1, 1, 1], [1, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, 0, [], []
  %ch8 = tfrt_gpu.dnn.run_convolution %h, %s, %p, %x, %x, %x, %x, %ch6
  %q = tfrt_gpu.dnn.build_fused_convolution %h, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, [1, 1, 4, 4], [16, 16, 4, 1], [1, 1, 4, 4], [16, 16, 4, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], CUDNN_CROSS_CORRELATION, 2, [1, 1], [0, 0], [1, 1], 10, %d, %d, 1, 0, [0], [1]
  %ch9 = tfrt_gpu.dnn.run_fused_convolution %h, %s, %q, %x, %x, %x, %x, %x, %x, %ch8
  tfrt.return %ch9 : !tfrt.chain
}

func.func @others(%s: !tfrt_gpu.stream, %ctx: !tfrt_gpu.context, %x: !tfrt_gpu.buffer, %n: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %h = tfrt_gpu.solver.create %ctx
  %size = tfrt_gpu.solver.potrf.buffer_size %h, %s, CUBLAS_FILL_MODE_UPPER, %n, CUDA_R_64F, %n, %ch
  %ch0 = tfrt_gpu.solver.potrf %h, %s, CUBLAS_FILL_MODE_UPPER, %n, CUDA_R_64F, %x, %n, %x, %x, %ch
  %ch1 = tfrt_gpu.solver.potrf.batch %h, %s, CUBLAS_FILL_MODE_LOWER, %n, CUDA_C_32F, %x, %n, %x, %n, %ch0
  %fft = tfrt_gpu.fft.create %ctx, CUFFT_R2C, 4, [16], [16, 1], [9, 1]
  %bytes = tfrt_gpu.fft.get_workspace_size %fft
  %ch2 = tfrt_gpu.fft.execute %s, %fft, %x, %x, %x, CUFFT_FORWARD, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func.func @get_tfrt_gpu_entry_point() -> !tfrt_gpu.entry_point {
  %0 = "tfrt_gpu.get_entry_point"() {buffer_sizes = [64, 128], function_name = "f", platform = 1 : si32, version = 410724080 : i64} : () -> !tfrt_gpu.entry_point
  tfrt.return %0 : !tfrt_gpu.entry_point
}
