// Mistakes of GPU programs, found when they run.
// RUN: tfrt run --gpu=host %s
// RUN: tfrt run --gpu=apple %s

func.func private @setup() -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  tfrt.return %ctx, %mem, %s : !tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream
}

func.func @no_device() -> (!tfrt_gpu.device, !tfrt_gpu.device, !tfrt_gpu.device) {
  %minus = tfrt.constant.i32 -1
  // expected-error @+1 {{'cuDeviceGet(&device, ordinal)': CUDA_ERROR_INVALID_DEVICE (invalid device ordinal)}}
  %a = tfrt_gpu.device.get CUDA, %minus
  // expected-error @+1 {{Unsupported platform ROCm}}
  %b = tfrt_gpu.device.get ROCm, %minus
  // expected-error @+1 {{Invalid platform NONE}}
  %c = tfrt_gpu.device.get NONE, %minus
  tfrt.return %a, %b, %c : !tfrt_gpu.device, !tfrt_gpu.device, !tfrt_gpu.device
}

func.func @memory() -> (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %nothing = tfrt.constant.i64 0
  // expected-error @+1 {{'cuMemAlloc(&ptr, size)': CUDA_ERROR_INVALID_VALUE (invalid argument)}}
  %a = tfrt_gpu.mem.allocate %mem, %s, %nothing, %ch
  %much = tfrt.constant.i64 1099511627776
  // expected-error @+1 {{Out of memory trying to allocate 1024.00GiB (4.00GiB of 4.00GiB available) on GPU 0 (CUDA).}}
  %b = tfrt_gpu.mem.allocate %mem, %s, %much, %ch
  %some = tfrt.constant.i64 16
  %c = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %max = tfrt.constant.ui64 18446744073709551615
  %one = tfrt.constant.ui64 1
  // expected-error @+1 {{buffer size (16) is smaller than offset (18446744073709551615) plus size (1)}}
  %d = tfrt_gpu.mem.view %c, %max, %one
  // expected-error @+1 {{buffer size (16) is smaller than offset (1) plus size (18446744073709551615)}}
  %e = tfrt_gpu.mem.view %c, %one, %max
  tfrt.return %a, %b, %d, %e : !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
}

func.func @copies() -> (!tfrt.chain, i32) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 16
  %more = tfrt.constant.i64 24
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %b = tfrt_gpu.mem.allocate %mem, %s, %more, %ch
  // expected-error @+1 {{Buffer sizes don't match: 24 (dst size) vs 16 (src size)}}
  %ch0 = tfrt_gpu.mem.copy %b, %a, %s, %ch : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  // expected-error @+1 {{the memory cannot be read by the host}}
  %i = tfrt_gpu.mem.load %a, %ch : i32
  tfrt.return %ch0, %i : !tfrt.chain, i32
}

func.func @modules() -> (!tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.function) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  // expected-error @+1 {{data attribute must be null-terminated}}
  %a = tfrt_gpu.module.load %ctx {data = "text"}
  // expected-error @+1 {{CUDA_ERROR_INVALID_IMAGE (device kernel image is invalid)}}
  %b = tfrt_gpu.module.load %ctx {data = "garbage\00"}
  %c = tfrt_gpu.module.load %ctx {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry f() { ret; }\00"}
  // expected-error @+1 {{CUDA_ERROR_NOT_FOUND (named symbol not found)}}
  %f = tfrt_gpu.module.get_function %c {name = "g"}
  tfrt.return %a, %b, %f : !tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.function
}

// A kernel that writes behind its buffer: the fault appears at the next synchronization.
func.func @out_of_bounds() -> !tfrt.chain {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.create %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 8
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %m = tfrt_gpu.module.load %ctx {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry f(.param .u64 p) {\0A.reg .b32 %r<2>;\0A.reg .b64 %rd<4>;\0Ald.param.u64 %rd1, [p];\0Amov.u32 %r1, %tid.x;\0Amul.wide.u32 %rd2, %r1, 4;\0Aadd.s64 %rd3, %rd1, %rd2;\0Ast.global.u32 [%rd3], %r1;\0Aret;\0A}\00"}
  %f = tfrt_gpu.module.get_function %m {name = "f"}
  %one = tfrt.constant.ui64 1
  %four = tfrt.constant.ui64 4
  %shared = tfrt.constant.ui32 0
  %ch3 = tfrt_gpu.function.launch %s, %f, blocks in (%one, %one, %one), threads in (%four, %one, %one), %shared, %ch, args(%a) : (!tfrt_gpu.buffer)
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)}}
  %ch4 = tfrt_gpu.stream.synchronize %s, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

func.func @launches() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.create %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 8
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %m = tfrt_gpu.module.load %ctx {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry f(.param .u64 p) {\0A.reg .b32 %r<2>;\0A.reg .b64 %rd<4>;\0Ald.param.u64 %rd1, [p];\0Amov.u32 %r1, %tid.x;\0Amul.wide.u32 %rd2, %r1, 4;\0Aadd.s64 %rd3, %rd1, %rd2;\0Ast.global.u32 [%rd3], %r1;\0Aret;\0A}\00"}
  %f = tfrt_gpu.module.get_function %m {name = "f"}
  %one = tfrt.constant.ui64 1
  %four = tfrt.constant.ui64 4
  %none = tfrt.constant.ui64 0
  %large = tfrt.constant.ui64 4294967296
  %shared = tfrt.constant.ui32 0
  // expected-error @+1 {{expected positive launch sizes, found 0}}
  %ch0 = tfrt_gpu.function.launch %s, %f, blocks in (%none, %one, %one), threads in (%four, %one, %one), %shared, %ch, args(%a) : (!tfrt_gpu.buffer)
  // expected-error @+1 {{launch size 4294967296 is larger than 4294967295}}
  %ch1 = tfrt_gpu.function.launch %s, %f, blocks in (%large, %one, %one), threads in (%four, %one, %one), %shared, %ch, args(%a) : (!tfrt_gpu.buffer)
  // expected-error @+1 {{expected 1 arguments, found 0}}
  %ch2 = tfrt_gpu.function.launch %s, %f, blocks in (%one, %one, %one), threads in (%four, %one, %one), %shared, %ch
  tfrt.return %ch0, %ch1, %ch2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

func.func @libraries() -> (!tfrt.chain, !tfrt_gpu.fft.handle) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 16
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %h = tfrt_gpu.blas.create %ctx
  %one = tfrt.constant.f32 1.0
  %inc = tfrt.constant.i32 1
  %n = tfrt.constant.i32 5
  // expected-error @+1 {{buffer `x` has 16 bytes, but the call uses 20}}
  %ch0 = tfrt_gpu.blas.scal %h, %s, %n, %one, CUDA_R_32F, %a, CUDA_R_32F, %inc, CUDA_R_32F, %ch
  // expected-error @+1 {{Only row-major layout is supported}}
  %fft = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 1, [4], [1, 4], [4, 1]
  tfrt.return %ch0, %fft : !tfrt.chain, !tfrt_gpu.fft.handle
}

// Buffers are held against what a plan reads and writes; types and sizes that a library does not know.
func.func @more_libraries() -> (!tfrt.chain, !tfrt.chain, i64, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 16
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %four = tfrt.constant.i64 24
  %large = tfrt_gpu.mem.allocate %mem, %s, %four, %ch
  %fft = tfrt_gpu.fft.create %ctx, CUFFT_R2C, 1, [4], [4, 1], [3, 1]
  // expected-error @+1 {{buffer `output` has 16 bytes, but the call uses 24}}
  %ch0 = tfrt_gpu.fft.execute %s, %fft, %a, %a, %a, CUFFT_FORWARD, %ch
  %batch = tfrt_gpu.fft.create %ctx, CUFFT_C2R, 2, [2], [2, 1], [2, 1]
  // expected-error @+1 {{buffer `input` has 24 bytes, but the call uses 32}}
  %ch1 = tfrt_gpu.fft.execute %s, %batch, %large, %a, %a, CUFFT_FORWARD, %ch
  %sv = tfrt_gpu.solver.create %ctx
  %n = tfrt.constant.i32 2
  // expected-error @+1 {{Unsupported data type CUDA_R_16F}}
  %size = tfrt_gpu.solver.potrf.buffer_size %sv, %s, CUBLAS_FILL_MODE_LOWER, %n, CUDA_R_16F, %n, %ch
  // expected-error @+1 {{Unsupported type: CUDA_R_16F}}
  %ch3 = tfrt_gpu.solver.potrf %sv, %s, CUBLAS_FILL_MODE_LOWER, %n, CUDA_R_16F, %a, %n, %a, %a, %ch
  // expected-error @+1 {{Unsupported platform ROCm}}
  %ch4 = tfrt_gpu.solver.potrf.batch %sv, %s, rocblas_fill_lower, %n, rocblas_datatype_f32_r, %a, %n, %a, %n, %ch
  %bl = tfrt_gpu.blas.create %ctx
  %half = tfrt.constant.f16 1.0
  // expected-error @+1 {{Unsupported data type: CUDA_R_16F}}
  %ch5 = tfrt_gpu.blas.trsm.batch %bl, %s, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, %n, %n, CUDA_R_16F, %half, %a, %n, %a, %n, %n, %ch
  tfrt.return %ch0, %ch1, %size, %ch3, %ch4, %ch5 : !tfrt.chain, !tfrt.chain, i64, !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// There is no thread for work that waits for other ranks.
func.func @no_threads() -> !tfrt_gpu.ccl.handle {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %id = tfrt_gpu.ccl.unique_id CUDA
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  // expected-error @+1 {{Failed to run blocking work.}}
  %h = tfrt_gpu.ccl.create %ctx, %zero, %one, %id
  tfrt.return %h : !tfrt_gpu.ccl.handle
}

// Text that is no PTX is an image of no known kind; text that begins as PTX is compiled.
func.func @images() -> (!tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.module) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  // expected-error @+1 {{CUDA_ERROR_INVALID_IMAGE}}
  %a = tfrt_gpu.module.load %ctx {data = "/* .version */ // .version\0A\00"}
  // expected-error @+1 {{CUDA_ERROR_INVALID_IMAGE}}
  %b = tfrt_gpu.module.load %ctx {data = "// no end\00"}
  // expected-error @+1 {{CUDA_ERROR_INVALID_PTX}}
  %c = tfrt_gpu.module.load %ctx {data = "/* note */ // note\0A .version 7.0\0Abanana\00"}
  tfrt.return %a, %b, %c : !tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.module
}

// PTX of a version that is not known yet, and for devices that are newer than this one.
func.func @newer_text() -> (!tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.module) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  // expected-error @+1 {{CUDA_ERROR_UNSUPPORTED_PTX_VERSION}}
  %a = tfrt_gpu.module.load %ctx {data = ".version 99.0\0A.target sm_60\0A.address_size 64\0A\00"}
  // expected-error @+1 {{CUDA_ERROR_INVALID_PTX}}
  %b = tfrt_gpu.module.load %ctx {data = ".version 8.0\0A.target sm_999\0A.address_size 64\0A\00"}
  // expected-error @+1 {{CUDA_ERROR_INVALID_PTX}}
  %c = tfrt_gpu.module.load %ctx {data = ".version 8.0\0A.target banana\0A.address_size 64\0A\00"}
  %d = tfrt_gpu.module.load %ctx {data = ".version 8.0\0A.target sm_90a, debug\0A.address_size 64\0A\00"}
  tfrt.return %a, %b, %c, %d : !tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.module, !tfrt_gpu.module
}

func.func @transforms_of_nothing() -> !tfrt_gpu.fft.handle {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  // expected-error @+1 {{CUFFT_INVALID_SIZE}}
  %f = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 1, [0], [2, 1], [2, 1]
  tfrt.return %f : !tfrt_gpu.fft.handle
}

// The stream of an allocation does not matter to the default allocator.
func.func @stream_of_another_context() -> (!tfrt_gpu.buffer, !tfrt_gpu.buffer) {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %bytes = tfrt.constant.i64 64
  %minus = tfrt.constant.i64 -1
  %dev = tfrt_gpu.device.get CUDA, %zero
  %first = tfrt_gpu.context.create %dev
  %second = tfrt_gpu.context.create %dev
  %mem = tfrt_gpu.allocator.create %first
  %s = tfrt_gpu.stream.create %second
  %x = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  // expected-error @+1 {{'cuMemHostAlloc(&ptr, size, flags)': CUDA_ERROR_INVALID_VALUE}}
  %y = tfrt_gpu.mem.allocate_host %first, %minus, %ch
  tfrt.return %x, %y : !tfrt_gpu.buffer, !tfrt_gpu.buffer
}

// Calls that the libraries refuse: types of elements, formats, batches and algorithms.
func.func @refused() -> (!tfrt.chain, !tfrt_gpu.dnn.filter.descriptor, !tfrt_gpu.fft.handle, !tfrt.chain) {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %some = tfrt.constant.i64 16
  %a = tfrt_gpu.mem.allocate %mem, %s, %some, %ch
  %one = tfrt.constant.f32 1.0
  %n = tfrt.constant.i32 1
  %h = tfrt_gpu.blas.create %ctx
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT
  // expected-error @+1 {{CUBLAS_STATUS_NOT_SUPPORTED}}
  %ch0 = tfrt_gpu.blas.gemm %h, %s, CUBLAS_OP_N, CUBLAS_OP_N, %n, %n, %n, %one, %a, CUDA_R_32F, %n, %a, CUDA_R_32F, %n, %one, %a, CUDA_R_64F, %n, CUBLAS_COMPUTE_32F, %algo, %ch
  // expected-error @+1 {{CUDNN_STATUS_BAD_PARAM}}
  %f = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 7, [1 : i32, 1 : i32, 1 : i32, 1 : i32]
  // expected-error @+1 {{CUFFT_INVALID_SIZE}}
  %t = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 0, [4], [4, 1], [4, 1]
  %d = tfrt_gpu.dnn.create %ctx
  %xd = tfrt_gpu.dnn.create_tensor_descriptor CUDNN_DATA_FLOAT, [1 : i32, 1 : i32, 1 : i32, 1 : i32], [1 : i32, 1 : i32, 1 : i32, 1 : i32]
  %wd = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_FLOAT, 0, [1 : i32, 1 : i32, 1 : i32, 1 : i32]
  %cd = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_DEFAULT_MATH, [0 : i32, 0 : i32], [1 : i32, 1 : i32], [1 : i32, 1 : i32]
  %count = tfrt_gpu.dnn.convolution_forward_algorithm CUDNN_CONVOLUTION_FWD_ALGO_COUNT
  // expected-error @+1 {{CUDNN_STATUS_BAD_PARAM}}
  %ch1 = tfrt_gpu.dnn.convolution_forward %d, %s, CUDNN_DATA_FLOAT, %xd, %a, %wd, %a, %cd, %count, %a, %xd, %a, %ch
  tfrt.return %ch0, %f, %t, %ch1 : !tfrt.chain, !tfrt_gpu.dnn.filter.descriptor, !tfrt_gpu.fft.handle, !tfrt.chain
}
