// Mistakes in the text of GPU programs.
// RUN: tfrt opt --split-input-file --verify-diagnostics %s

func.func @keywords() {
  // expected-error @+1 {{Unknown cublasGemmAlgo_t: CUBLAS_GEMM_X}}
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_X
  tfrt.return
}

// -----

func.func @types(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %one: f32, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{Unknown rocblas_datatype: CUDA_R_33F}}
  %ch0 = tfrt_gpu.blas.scal %h, %s, %n, %one, CUDA_R_33F, %x, CUDA_R_32F, %n, CUDA_R_32F, %ch
  tfrt.return
}

// -----

func.func @platforms(%n: i32) {
  // expected-error @+1 {{Invalid platform: CUDAX}}
  %dev = tfrt_gpu.device.get CUDAX, %n
  tfrt.return
}

// -----

func.func @numbers() {
  // expected-error @+1 {{Unknown cudnnConvolutionFwdAlgo_t: -}}
  %a = tfrt_gpu.dnn.convolution_forward_algorithm -1
  tfrt.return
}

// -----

func.func @no_scale_type(%h: !tfrt_gpu.dnn.handle, %s: !tfrt_gpu.stream, %xd: !tfrt_gpu.dnn.tensor.descriptor, %x: !tfrt_gpu.buffer, %wd: !tfrt_gpu.dnn.filter.descriptor, %cd: !tfrt_gpu.dnn.convolution.descriptor, %a: ui64) {
  // expected-error @+1 {{requires attribute 'scale_type'}}
  %ch = tfrt_gpu.dnn.convolution_forward %h, %s, %xd, %x, %wd, %x, %cd, %a, %x, %xd, %x
  tfrt.return
}

// -----

func.func @two_scale_types(%h: !tfrt_gpu.dnn.handle, %s: !tfrt_gpu.stream, %xd: !tfrt_gpu.dnn.tensor.descriptor, %x: !tfrt_gpu.buffer, %wd: !tfrt_gpu.dnn.filter.descriptor, %cd: !tfrt_gpu.dnn.convolution.descriptor, %a: ui64) {
  // expected-error @+1 {{has both the attribute 'scale_type' and its deprecated form 'compute_type'}}
  %ch = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLOAT, %xd, %x, %wd, %x, %cd, %a, %x, %xd, %x {compute_type = 1 : i32}
  tfrt.return
}

// -----

func.func @scalars(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %half: f16, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{could not infer type from CUDA_R_8I}}
  %ch0 = "tfrt_gpu.blas.scal"(%h, %s, %n, %half, %x, %n, %ch) {executionType = 13 : si32, typeAlpha = 13 : si32, typeX = 13 : si32} : (!tfrt_gpu.blas.handle, !tfrt_gpu.stream, i32, f16, !tfrt_gpu.buffer, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// -----

func.func @unequal(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %one: f32, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{'tfrt_gpu.blas.scal' op typeAlpha, typeX, and executionType need to match}}
  %ch0 = tfrt_gpu.blas.scal %h, %s, %n, %one, CUDA_R_32F, %x, CUDA_R_64F, %n, CUDA_R_32F, %ch
  tfrt.return
}

// -----

func.func @unequal_vectors(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %one: f32, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{'tfrt_gpu.blas.axpy' op typeAlpha, typeX, typeY and executionType need to match}}
  %ch1 = tfrt_gpu.blas.axpy %h, %s, %n, %one, CUDA_R_32F, %x, CUDA_R_32F, %n, %x, CUDA_R_64F, %n, CUDA_R_32F, %ch
  tfrt.return
}

// -----

func.func @scalar_type(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %one: f64, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{'tfrt_gpu.blas.axpy' op alpha's type doesn't match typeAlpha}}
  %ch1 = "tfrt_gpu.blas.axpy"(%h, %s, %n, %one, %x, %n, %x, %n, %ch) {executionType = 1 : i32, typeAlpha = 1 : i32, typeX = 1 : i32, typeY = 1 : i32} : (!tfrt_gpu.blas.handle, !tfrt_gpu.stream, i32, f64, !tfrt_gpu.buffer, i32, !tfrt_gpu.buffer, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// -----

func.func @products(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %one: f32, %x: !tfrt_gpu.buffer, %algo: !tfrt_gpu.blas.gemm.algo, %ch: !tfrt.chain) {
  // expected-error @+1 {{'tfrt_gpu.blas.gemm' op typeA and typeB need to match}}
  %ch0 = tfrt_gpu.blas.gemm %h, %s, CUBLAS_OP_N, CUBLAS_OP_N, %n, %n, %n, %one, %x, CUDA_R_32F, %n, %x, CUDA_R_64F, %n, %one, %x, CUDA_R_32F, %n, CUBLAS_COMPUTE_32F, %algo, %ch
  tfrt.return
}

// -----

func.func @transforms(%ctx: !tfrt_gpu.context) {
  // expected-error @+1 {{dims should have rank 1, 2, or 3.}}
  %a = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 1, [], [1], [1]
  tfrt.return
}

// -----

func.func @in_strides(%ctx: !tfrt_gpu.context) {
  // expected-error @+1 {{in_strides should be one larger than dims.}}
  %b = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 1, [4], [1], [4, 1]
  tfrt.return
}

// -----

func.func @out_strides(%ctx: !tfrt_gpu.context) {
  // expected-error @+1 {{out_strides should be one larger than dims.}}
  %c = tfrt_gpu.fft.create %ctx, CUFFT_C2C, 1, [4], [4, 1], [1]
  tfrt.return
}

// -----

func.func @streamify(%c: i32) {
  // expected-error @+1 {{first return operand type is not a !tfrt.chain}}
  tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    tfrt.return %c : i32
  }
  tfrt.return
}

// -----

func.func @streamify_results(%c: i32) {
  // expected-error @+1 {{trailing return types don't match result types}}
  %r = tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    tfrt.return %ch, %c : !tfrt.chain, i32
  } : f32
  tfrt.return
}

// -----

func.func @streamify_names(%t: !gpu.async.token) {
  // expected-error @+1 {{needs to be named when marked 'async'}}
  tfrt_gpu.streamify async [%t] {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    tfrt.return %ch : !tfrt.chain
  }
  tfrt.return
}

// -----

func.func @collectives(%h: !tfrt_gpu.ccl.handle, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{Unknown ncclDataType_t: ncclFoo}}
  %ch0 = tfrt_gpu.ccl.all_reduce %h, %x, %x, ncclFoo, ncclSum, %ch
  tfrt.return
}

// -----

func.func @reductions(%h: !tfrt_gpu.ccl.handle, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{Unknown ncclRedOp_t: ncclAvg}}
  %ch0 = tfrt_gpu.ccl.all_reduce %h, %x, %x, ncclInt8, ncclAvg, %ch
  tfrt.return
}

// -----

// The keyword may be omitted, but not misspelt.
func.func @misspelt_scale_type(%h: !tfrt_gpu.dnn.handle, %s: !tfrt_gpu.stream, %xd: !tfrt_gpu.dnn.tensor.descriptor, %x: !tfrt_gpu.buffer, %wd: !tfrt_gpu.dnn.filter.descriptor, %cd: !tfrt_gpu.dnn.convolution.descriptor, %a: ui64) {
  // expected-error @+1 {{Unknown cudnnDataType_t: CUDNN_DATA_FLAOT}}
  %ch = tfrt_gpu.dnn.convolution_forward %h, %s, CUDNN_DATA_FLAOT, %xd, %x, %wd, %x, %cd, %a, %x, %xd, %x
  tfrt.return
}

// -----

func.func @misspelt_math_type() {
  // expected-error @+1 {{Unknown cudnnMathType_t: CUDNN_MATH}}
  %d = tfrt_gpu.dnn.create_convolution_descriptor CUDNN_DATA_FLOAT, CUDNN_CROSS_CORRELATION, CUDNN_MATH, [1 : i32], [1 : i32], [1 : i32]
  tfrt.return
}

// -----

func.func @large_number() {
  // expected-error @+1 {{integer value too large}}
  %a = tfrt_gpu.dnn.convolution_forward_algorithm 2305843009213693952
  tfrt.return
}

// -----

func.func @launch_arguments(%s: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %n: ui64, %m: ui32, %ctx: !tfrt_gpu.context, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{operand #11 must be buffer or floating-point or integer, but got '!tfrt_gpu.context'}}
  %ch0 = tfrt_gpu.function.launch %s, %f, blocks in (%n, %n, %n), threads in (%n, %n, %n), %m, %ch, args(%x, %ctx) : (!tfrt_gpu.buffer, !tfrt_gpu.context)
  tfrt.return
}

// -----

// An enumeration determines the type of a scalar, which is not written.
// expected-note @+1 {{prior use here}}
func.func @alpha(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %alpha: f64, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{use of value '%alpha' expects different type than prior uses: 'f32' vs 'f64'}}
  %ch0 = tfrt_gpu.blas.axpy %h, %s, %n, %alpha, CUDA_R_32F, %x, CUDA_R_32F, %n, %x, CUDA_R_32F, %n, CUDA_R_32F, %ch
  tfrt.return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @beta(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %alpha: f32, %beta: f64, %x: !tfrt_gpu.buffer, %a: !tfrt_gpu.blas.gemm.algo, %ch: !tfrt.chain) {
  // expected-error @+1 {{use of value '%beta' expects different type than prior uses: 'f32' vs 'f64'}}
  %ch0 = tfrt_gpu.blas.gemm %h, %s, CUBLAS_OP_N, CUBLAS_OP_N, %n, %n, %n, %alpha, %x, CUDA_R_32F, %n, %x, CUDA_R_32F, %n, %beta, %x, CUDA_R_32F, %n, CUBLAS_COMPUTE_32F, %a, %ch
  tfrt.return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @scale(%h: !tfrt_gpu.dnn.handle, %s: !tfrt_gpu.stream, %one: f32, %xd: !tfrt_gpu.dnn.tensor.descriptor, %x: !tfrt_gpu.buffer, %wd: !tfrt_gpu.dnn.filter.descriptor, %cd: !tfrt_gpu.dnn.convolution.descriptor, %a: !tfrt_gpu.dnn.convolution.algorithm, %ad: !tfrt_gpu.dnn.activation.descriptor, %ch: !tfrt.chain) {
  // expected-error @+1 {{use of value '%one' expects different type than prior uses: 'f64' vs 'f32'}}
  %ch0 = tfrt_gpu.dnn.convolution_bias_activation_forward %h, %s, CUDNN_DATA_DOUBLE, %one, %xd, %x, %wd, %x, %cd, %a, %x, %one, %xd, %x, %xd, %x, %ad, %xd, %x, %ch
  tfrt.return
}

// -----

func.func @unknown_alpha(%h: !tfrt_gpu.blas.handle, %s: !tfrt_gpu.stream, %n: i32, %alpha: f32, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{unknown cudaDataType or rocblas_datatype enum}}
  %ch0 = tfrt_gpu.blas.axpy %h, %s, %n, %alpha, CUDA_R_33F, %x, CUDA_R_32F, %n, %x, CUDA_R_32F, %n, CUDA_R_32F, %ch
  tfrt.return
}

// -----

func.func @other_type(%b: !tfrt_gpu.buffer, %ch: !tfrt.chain) -> i1 {
  // expected-error @+1 {{result #0 must be of the type 'i32' of attribute 'type', but got 'i1'}}
  %x = "tfrt_gpu.mem.load"(%b, %ch) {type = i32} : (!tfrt_gpu.buffer, !tfrt.chain) -> i1
  tfrt.return %x : i1
}

// -----

func.func @no_type(%b: !tfrt_gpu.buffer, %ch: !tfrt.chain) {
  // expected-error @+1 {{failed to parse type}}
  %x = tfrt_gpu.mem.load %b, %ch : %ch
  tfrt.return
}
