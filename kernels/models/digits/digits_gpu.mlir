// The network of `digits.mlir` and its training on a GPU.
//
//   cargo run --release -- run --gpu=host --functions=digits kernels/models/digits/digits_gpu.mlir
//   cargo run --release -- run --gpu=host --functions=train kernels/models/digits/digits_gpu.mlir
//
// `--gpu=cuda` runs it on a GPU, `--gpu=host` on the host device. Products of matrices are calls of the BLAS library, and the other
// functions are PTX. A matrix whose rows lie one after the other is for BLAS, which has columns one after the other, its own
// transpose: so hidden = images · w1 becomes hidden' = w1' · images', and no matrix is ever transposed.
//
// Chains say in which order work is enqueued on the one stream. Nothing waits for the GPU but what reads results.

// The device, a stream and the libraries.
func.func private @setup() -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function) {
  %zero = tfrt.constant.i32 0
  %device = tfrt_gpu.device.get CUDA, %zero
  %context = tfrt_gpu.context.primary %device
  %memory = tfrt_gpu.allocator.create %context
  %s = tfrt_gpu.stream.create %context
  %blas = tfrt_gpu.blas.create %context

  // Adds a bias to each row, and raises what is less than `least` to it: rows[i] = max(rows[i] + bias[i % width], least).
  %m1 = tfrt_gpu.module.load %context {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry add_bias(.param .u64 rows, .param .u64 bias, .param .u32 width, .param .u32 num, .param .f32 least) {\0A.reg .pred %p<4>;\0A.reg .b32 %r<16>;\0A.reg .f32 %f<16>;\0A.reg .b64 %rd<16>;\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Amov.u32 %r3, %tid.x;\0Amad.lo.s32 %r4, %r1, %r2, %r3;\0Ald.param.u32 %r5, [num];\0Asetp.ge.u32 %p1, %r4, %r5;\0A@%p1 bra DONE;\0Amul.wide.u32 %rd3, %r4, 4;\0Ald.param.u64 %rd1, [rows];\0Ald.param.u64 %rd2, [bias];\0Ald.param.u32 %r6, [width];\0Ald.param.f32 %f1, [least];\0Aadd.s64 %rd4, %rd1, %rd3;\0Arem.u32 %r7, %r4, %r6;\0Amul.wide.u32 %rd5, %r7, 4;\0Aadd.s64 %rd6, %rd2, %rd5;\0Ald.global.f32 %f2, [%rd4];\0Ald.global.f32 %f3, [%rd6];\0Aadd.f32 %f4, %f2, %f3;\0Amax.f32 %f5, %f4, %f1;\0Ast.global.f32 [%rd4], %f5;\0ADONE:\0Aret;\0A}\0A\00"}
  %add_bias = tfrt_gpu.module.get_function %m1 {name = "add_bias"}

  // The gradient before relu: grad[i] = 0 where hidden[i] is 0.
  %m2 = tfrt_gpu.module.load %context {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry relu_grad(.param .u64 hidden, .param .u64 grad, .param .u32 num) {\0A.reg .pred %p<4>;\0A.reg .b32 %r<16>;\0A.reg .f32 %f<16>;\0A.reg .b64 %rd<16>;\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Amov.u32 %r3, %tid.x;\0Amad.lo.s32 %r4, %r1, %r2, %r3;\0Ald.param.u32 %r5, [num];\0Asetp.ge.u32 %p1, %r4, %r5;\0A@%p1 bra DONE;\0Amul.wide.u32 %rd3, %r4, 4;\0Ald.param.u64 %rd1, [hidden];\0Ald.param.u64 %rd2, [grad];\0Aadd.s64 %rd4, %rd1, %rd3;\0Aadd.s64 %rd5, %rd2, %rd3;\0Ald.global.f32 %f1, [%rd4];\0Asetp.gt.f32 %p2, %f1, 0f00000000;\0A@%p2 bra DONE;\0Ast.global.f32 [%rd5], 0f00000000;\0ADONE:\0Aret;\0A}\0A\00"}
  %relu_grad = tfrt_gpu.module.get_function %m2 {name = "relu_grad"}

  // The gradient of the cross entropy by the logits: softmax of each row of 10, less 1 at its label.
  %m3 = tfrt_gpu.module.load %context {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry softmax_grad(.param .u64 logits, .param .u64 labels, .param .u64 grad, .param .u32 num) {\0A.reg .pred %p<4>;\0A.reg .b32 %r<16>;\0A.reg .f32 %f<16>;\0A.reg .b64 %rd<16>;\0Amov.u32 %r1, %ctaid.x;\0Amov.u32 %r2, %ntid.x;\0Amov.u32 %r3, %tid.x;\0Amad.lo.s32 %r4, %r1, %r2, %r3;\0Ald.param.u32 %r5, [num];\0Asetp.ge.u32 %p1, %r4, %r5;\0A@%p1 bra DONE;\0Amul.wide.u32 %rd3, %r4, 4;\0Ald.param.u64 %rd1, [logits];\0Ald.param.u64 %rd2, [labels];\0Ald.param.u64 %rd6, [grad];\0Aadd.s64 %rd2, %rd2, %rd3;\0Ald.global.u32 %r6, [%rd2];\0Amul.wide.u32 %rd4, %r4, 40;\0Aadd.s64 %rd1, %rd1, %rd4;\0Aadd.s64 %rd6, %rd6, %rd4;\0Amov.f32 %f1, 0fFF800000;\0Amov.u64 %rd7, 0;\0ALARGEST:\0Aadd.s64 %rd8, %rd1, %rd7;\0Ald.global.f32 %f2, [%rd8];\0Amax.f32 %f1, %f1, %f2;\0Aadd.s64 %rd7, %rd7, 4;\0Asetp.lt.s64 %p2, %rd7, 40;\0A@%p2 bra LARGEST;\0Amov.f32 %f3, 0f00000000;\0Amov.u64 %rd7, 0;\0ASUM:\0Aadd.s64 %rd8, %rd1, %rd7;\0Aadd.s64 %rd9, %rd6, %rd7;\0Ald.global.f32 %f2, [%rd8];\0Asub.f32 %f4, %f2, %f1;\0Amul.f32 %f4, %f4, 0f3FB8AA3B;\0Aex2.approx.f32 %f4, %f4;\0Aadd.f32 %f3, %f3, %f4;\0Ast.global.f32 [%rd9], %f4;\0Aadd.s64 %rd7, %rd7, 4;\0Asetp.lt.s64 %p2, %rd7, 40;\0A@%p2 bra SUM;\0Amov.u64 %rd7, 0;\0Amov.u32 %r7, 0;\0ASHARE:\0Aadd.s64 %rd9, %rd6, %rd7;\0Ald.global.f32 %f2, [%rd9];\0Adiv.rn.f32 %f2, %f2, %f3;\0Asetp.ne.s32 %p3, %r7, %r6;\0A@%p3 bra OTHER;\0Asub.f32 %f2, %f2, 0f3F800000;\0AOTHER:\0Ast.global.f32 [%rd9], %f2;\0Aadd.s64 %rd7, %rd7, 4;\0Aadd.s32 %r7, %r7, 1;\0Asetp.lt.s64 %p2, %rd7, 40;\0A@%p2 bra SHARE;\0ADONE:\0Aret;\0A}\0A\00"}
  %softmax_grad = tfrt_gpu.module.get_function %m3 {name = "softmax_grad"}
  tfrt.return %memory, %s, %blas, %add_bias, %relu_grad, %softmax_grad : !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function
}

// Copies a tensor to new memory of the device.
func.func private @upload(%ch: !tfrt.chain, %t: !t.tensor, %bytes: i64, %memory: !tfrt_gpu.allocator, %s: !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer) {
  %host, %c0 = tfrt_dht.get_buffer %t, %ch
  %buffer = tfrt_gpu.mem.allocate %memory, %s, %bytes, %c0
  %c1 = tfrt_gpu.mem.copy %buffer, %host, %s, %c0 : !tfrt_gpu.buffer, !ht.host_buffer
  tfrt.return %c1, %buffer : !tfrt.chain, !tfrt_gpu.buffer
}

// Copies a tensor to memory of the device.
func.func private @send(%ch: !tfrt.chain, %t: !t.tensor, %buffer: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream) -> !tfrt.chain {
  %host, %c0 = tfrt_dht.get_buffer %t, %ch
  %c1 = tfrt_gpu.mem.copy %buffer, %host, %s, %c0 : !tfrt_gpu.buffer, !ht.host_buffer
  tfrt.return %c1 : !tfrt.chain
}

// Copies memory of the device to a tensor, and waits for that.
func.func private @receive(%ch: !tfrt.chain, %t: !t.tensor, %buffer: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream) -> !tfrt.chain {
  %host, %c0 = tfrt_dht.get_buffer %t, %ch
  %c1 = tfrt_gpu.mem.copy %host, %buffer, %s, %c0 : !ht.host_buffer, !tfrt_gpu.buffer
  %c2 = tfrt_gpu.stream.synchronize %s, %c1
  tfrt.return %c2 : !tfrt.chain
}

// hidden = relu(x · w1 + b1) and logits = hidden · w2 + b2, of %n images. %blocks blocks of 256 threads are enough for the numbers
// of `hidden`, and %few for those of `logits`.
func.func private @forward(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %blas: !tfrt_gpu.blas.handle, %add_bias: !tfrt_gpu.function, %n: i32, %blocks: ui64, %few: ui64,
                           %x: !tfrt_gpu.buffer, %w1: !tfrt_gpu.buffer, %b1: !tfrt_gpu.buffer, %w2: !tfrt_gpu.buffer, %b2: !tfrt_gpu.buffer, %hidden: !tfrt_gpu.buffer, %logits: !tfrt_gpu.buffer) -> !tfrt.chain {
  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT
  %one = tfrt.constant.f32 1.0
  %none = tfrt.constant.f32 0.0
  %least = tfrt.constant.f32 -3.0e+38
  %pixels = tfrt.constant.i32 784
  %width = tfrt.constant.i32 512
  %digits = tfrt.constant.i32 10
  %unit = tfrt.constant.ui64 1
  %threads = tfrt.constant.ui64 256
  %shared = tfrt.constant.ui32 0
  %num_hidden = "tfrt.mul.i32"(%n, %width) : (i32, i32) -> i32
  %num_logits = "tfrt.mul.i32"(%n, %digits) : (i32, i32) -> i32
  %c1 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_N, CUBLAS_OP_N, %width, %n, %pixels, %one, %w1, CUDA_R_32F, %width, %x, CUDA_R_32F, %pixels, %none, %hidden, CUDA_R_32F, %width, CUBLAS_COMPUTE_32F, %algo, %ch
  %c2 = tfrt_gpu.function.launch %s, %add_bias, blocks in (%blocks, %unit, %unit), threads in (%threads, %unit, %unit), %shared, %c1, args(%hidden, %b1, %width, %num_hidden, %none) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, i32, i32, f32)
  %c3 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_N, CUBLAS_OP_N, %digits, %n, %width, %one, %w2, CUDA_R_32F, %digits, %hidden, CUDA_R_32F, %width, %none, %logits, CUDA_R_32F, %digits, CUBLAS_COMPUTE_32F, %algo, %c2
  %c4 = tfrt_gpu.function.launch %s, %add_bias, blocks in (%few, %unit, %unit), threads in (%threads, %unit, %unit), %shared, %c3, args(%logits, %b2, %digits, %num_logits, %least) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, i32, i32, f32)
  tfrt.return %c4 : !tfrt.chain
}

// Recognises a thousand digits with the weights that lie beside this file.
func.func @digits() {
  %ready = tfrt.new.chain
  %memory, %s, %blas, %add_bias, %relu_grad, %softmax_grad = tfrt.call @setup() : () -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function)
  %first = tfrt.constant.i64 0
  %images, %labels = digits.draw %first {count = 1000 : i64, seed = 2 : i64}
  %file = models.beside_program "weights.safetensors"
  %w1 = models.read_tensor.f32 %file "hidden.weight" [784 : i64, 512 : i64]
  %b1 = models.read_tensor.f32 %file "hidden.bias" [512 : i64]
  %w2 = models.read_tensor.f32 %file "output.weight" [512 : i64, 10 : i64]
  %b2 = models.read_tensor.f32 %file "output.bias" [10 : i64]

  %images_bytes = tfrt.constant.i64 3136000
  %w1_bytes = tfrt.constant.i64 1605632
  %b1_bytes = tfrt.constant.i64 2048
  %w2_bytes = tfrt.constant.i64 20480
  %b2_bytes = tfrt.constant.i64 40
  %c0, %x = tfrt.call @upload(%ready, %images, %images_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %c1, %dw1 = tfrt.call @upload(%c0, %w1, %w1_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %c2, %db1 = tfrt.call @upload(%c1, %b1, %b1_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %c3, %dw2 = tfrt.call @upload(%c2, %w2, %w2_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %c4, %db2 = tfrt.call @upload(%c3, %b2, %b2_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %hidden_bytes = tfrt.constant.i64 2048000
  %logits_bytes = tfrt.constant.i64 40000
  %hidden = tfrt_gpu.mem.allocate %memory, %s, %hidden_bytes, %c4
  %logits = tfrt_gpu.mem.allocate %memory, %s, %logits_bytes, %c4

  %n = tfrt.constant.i32 1000
  %blocks = tfrt.constant.ui64 2000
  %few = tfrt.constant.ui64 40
  %c5 = tfrt.call @forward(%c4, %s, %blas, %add_bias, %n, %blocks, %few, %x, %dw1, %db1, %dw2, %db2, %hidden, %logits)
      : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, i32, ui64, ui64, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> !tfrt.chain
  %found = tfrt_dht.create_uninitialized_tensor.f32.2 [1000 : i64, 10 : i64]
  %c6 = tfrt.call @receive(%c5, %found, %logits, %s) : (!tfrt.chain, !t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream) -> !tfrt.chain
  %predictions = "tfrt_test.argmax.f32.2"(%found, %c6) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %accuracy = models.share_of_equal.i32 %predictions, %labels
  %c7 = models.report %c6 "{.1%} of 1000 digits are recognised" (%accuracy : f32)
  tfrt.return
}

// Learns from 128 digits, those from %first on, as `digits_train.mlir` does. %x, %y, %hidden, %logits, %g and %gh are memory for a
// batch, and %ones 128 times 1.
func.func private @step(%ch: !tfrt.chain, %first: i64, %rate: f32, %s: !tfrt_gpu.stream, %blas: !tfrt_gpu.blas.handle, %add_bias: !tfrt_gpu.function, %relu_grad: !tfrt_gpu.function, %softmax_grad: !tfrt_gpu.function,
                        %w1: !tfrt_gpu.buffer, %b1: !tfrt_gpu.buffer, %w2: !tfrt_gpu.buffer, %b2: !tfrt_gpu.buffer, %v1: !tfrt_gpu.buffer, %v2: !tfrt_gpu.buffer, %gb1: !tfrt_gpu.buffer, %gb2: !tfrt_gpu.buffer,
                        %x: !tfrt_gpu.buffer, %y: !tfrt_gpu.buffer, %hidden: !tfrt_gpu.buffer, %logits: !tfrt_gpu.buffer, %g: !tfrt_gpu.buffer, %gh: !tfrt_gpu.buffer, %ones: !tfrt_gpu.buffer) -> !tfrt.chain {
  %images, %labels = digits.draw %first {count = 128 : i64, seed = 1 : i64}
  %c0 = tfrt.call @send(%ch, %images, %x, %s) : (!tfrt.chain, !t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream) -> !tfrt.chain
  %c1 = tfrt.call @send(%c0, %labels, %y, %s) : (!tfrt.chain, !t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream) -> !tfrt.chain

  %n = tfrt.constant.i32 128
  %blocks = tfrt.constant.ui64 256
  %few = tfrt.constant.ui64 5
  %c2 = tfrt.call @forward(%c1, %s, %blas, %add_bias, %n, %blocks, %few, %x, %w1, %b1, %w2, %b2, %hidden, %logits)
      : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, i32, ui64, ui64, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> !tfrt.chain

  %algo = tfrt_gpu.blas.gemm.algo CUBLAS_GEMM_DEFAULT
  %one = tfrt.constant.f32 1.0
  %none = tfrt.constant.f32 0.0
  %each = tfrt.constant.f32 0.0078125
  %momentum = tfrt.constant.f32 0.9
  %minus = tfrt.constant.f32 -1.0
  %less = "tfrt.multiply.f32"(%rate, %minus) : (f32, f32) -> f32
  %unit = tfrt.constant.ui64 1
  %threads = tfrt.constant.ui64 256
  %shared = tfrt.constant.ui32 0
  %inc = tfrt.constant.i32 1
  %pixels = tfrt.constant.i32 784
  %width = tfrt.constant.i32 512
  %digits = tfrt.constant.i32 10
  %num_hidden = tfrt.constant.i32 65536
  %num_w1 = tfrt.constant.i32 401408
  %num_w2 = tfrt.constant.i32 5120

  // Backward: the gradients of the logits and of hidden.
  %c3 = tfrt_gpu.function.launch %s, %softmax_grad, blocks in (%unit, %unit, %unit), threads in (%threads, %unit, %unit), %shared, %c2, args(%logits, %y, %g, %n) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, i32)
  %c4 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_T, CUBLAS_OP_N, %width, %n, %digits, %one, %w2, CUDA_R_32F, %digits, %g, CUDA_R_32F, %digits, %none, %gh, CUDA_R_32F, %width, CUBLAS_COMPUTE_32F, %algo, %c3
  %c5 = tfrt_gpu.function.launch %s, %relu_grad, blocks in (%blocks, %unit, %unit), threads in (%threads, %unit, %unit), %shared, %c4, args(%hidden, %gh, %num_hidden) : (!tfrt_gpu.buffer, !tfrt_gpu.buffer, i32)

  // The velocities of the weights, and the mean gradients of the biases.
  %c6 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_N, CUBLAS_OP_T, %digits, %width, %n, %each, %g, CUDA_R_32F, %digits, %hidden, CUDA_R_32F, %width, %momentum, %v2, CUDA_R_32F, %digits, CUBLAS_COMPUTE_32F, %algo, %c5
  %c7 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_N, CUBLAS_OP_N, %digits, %inc, %n, %each, %g, CUDA_R_32F, %digits, %ones, CUDA_R_32F, %n, %none, %gb2, CUDA_R_32F, %digits, CUBLAS_COMPUTE_32F, %algo, %c6
  %c8 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_N, CUBLAS_OP_T, %width, %pixels, %n, %each, %gh, CUDA_R_32F, %width, %x, CUDA_R_32F, %pixels, %momentum, %v1, CUDA_R_32F, %width, CUBLAS_COMPUTE_32F, %algo, %c7
  %c9 = tfrt_gpu.blas.gemm %blas, %s, CUBLAS_OP_N, CUBLAS_OP_N, %width, %inc, %n, %each, %gh, CUDA_R_32F, %width, %ones, CUDA_R_32F, %n, %none, %gb1, CUDA_R_32F, %width, CUBLAS_COMPUTE_32F, %algo, %c8

  // The weights and biases learn.
  %c10 = tfrt_gpu.blas.axpy %blas, %s, %num_w2, %less, CUDA_R_32F, %v2, CUDA_R_32F, %inc, %w2, CUDA_R_32F, %inc, CUDA_R_32F, %c9
  %c11 = tfrt_gpu.blas.axpy %blas, %s, %digits, %less, CUDA_R_32F, %gb2, CUDA_R_32F, %inc, %b2, CUDA_R_32F, %inc, CUDA_R_32F, %c10
  %c12 = tfrt_gpu.blas.axpy %blas, %s, %num_w1, %less, CUDA_R_32F, %v1, CUDA_R_32F, %inc, %w1, CUDA_R_32F, %inc, CUDA_R_32F, %c11
  %c13 = tfrt_gpu.blas.axpy %blas, %s, %width, %less, CUDA_R_32F, %gb1, CUDA_R_32F, %inc, %b1, CUDA_R_32F, %inc, CUDA_R_32F, %c12
  tfrt.return %c13 : !tfrt.chain
}

// Trains a network from the weights that `digits_train.mlir` starts from, and reports after each epoch how many of 2000 digits that
// it has never seen it recognises.
func.func @train() {
  %ready = tfrt.new.chain
  %memory, %s, %blas, %add_bias, %relu_grad, %softmax_grad = tfrt.call @setup() : () -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function)

  // The first weights: small random numbers.
  %hw1 = tfrt_dht.create_uninitialized_tensor.f32.2 [784 : i64, 512 : i64]
  %hw2 = tfrt_dht.create_uninitialized_tensor.f32.2 [512 : i64, 10 : i64]
  %f1 = models.fill_uniform.f32 %hw1, %ready {bound = 0.0875 : f32, seed = 3 : i64}
  %f2 = models.fill_uniform.f32 %hw2, %ready {bound = 0.1083 : f32, seed = 4 : i64}
  %w1_bytes = tfrt.constant.i64 1605632
  %b1_bytes = tfrt.constant.i64 2048
  %w2_bytes = tfrt.constant.i64 20480
  %b2_bytes = tfrt.constant.i64 40
  %u1, %w1 = tfrt.call @upload(%f1, %hw1, %w1_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %u2, %w2 = tfrt.call @upload(%f2, %hw2, %w2_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %c0 = tfrt.merge.chains %u1, %u2 : !tfrt.chain, !tfrt.chain

  // Biases and velocities are 0 at first.
  %nothing = tfrt.constant.f32 0.0
  %b1 = tfrt_gpu.mem.allocate %memory, %s, %b1_bytes, %c0
  %b2 = tfrt_gpu.mem.allocate %memory, %s, %b2_bytes, %c0
  %v1 = tfrt_gpu.mem.allocate %memory, %s, %w1_bytes, %c0
  %v2 = tfrt_gpu.mem.allocate %memory, %s, %w2_bytes, %c0
  %gb1 = tfrt_gpu.mem.allocate %memory, %s, %b1_bytes, %c0
  %gb2 = tfrt_gpu.mem.allocate %memory, %s, %b2_bytes, %c0
  %c1 = tfrt_gpu.mem.set %b1, %nothing, %s, %c0 : f32
  %c2 = tfrt_gpu.mem.set %b2, %nothing, %s, %c1 : f32
  %c3 = tfrt_gpu.mem.set %v1, %nothing, %s, %c2 : f32
  %c4 = tfrt_gpu.mem.set %v2, %nothing, %s, %c3 : f32

  // A batch, and the digits of the test.
  %x_bytes = tfrt.constant.i64 401408
  %y_bytes = tfrt.constant.i64 512
  %hidden_bytes = tfrt.constant.i64 262144
  %logits_bytes = tfrt.constant.i64 5120
  %x = tfrt_gpu.mem.allocate %memory, %s, %x_bytes, %c4
  %y = tfrt_gpu.mem.allocate %memory, %s, %y_bytes, %c4
  %hidden = tfrt_gpu.mem.allocate %memory, %s, %hidden_bytes, %c4
  %logits = tfrt_gpu.mem.allocate %memory, %s, %logits_bytes, %c4
  %g = tfrt_gpu.mem.allocate %memory, %s, %logits_bytes, %c4
  %gh = tfrt_gpu.mem.allocate %memory, %s, %hidden_bytes, %c4
  %ones = tfrt_gpu.mem.allocate %memory, %s, %y_bytes, %c4
  %one = tfrt.constant.f32 1.0
  %c5 = tfrt_gpu.mem.set %ones, %one, %s, %c4 : f32
  %tx_bytes = tfrt.constant.i64 6272000
  %th_bytes = tfrt.constant.i64 4096000
  %tl_bytes = tfrt.constant.i64 80000
  %start = tfrt.constant.i64 0
  %images, %labels = digits.draw %start {count = 2000 : i64, seed = 2 : i64}
  %c6, %tx = tfrt.call @upload(%c5, %images, %tx_bytes, %memory, %s) : (!tfrt.chain, !t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream) -> (!tfrt.chain, !tfrt_gpu.buffer)
  %th = tfrt_gpu.mem.allocate %memory, %s, %th_bytes, %c6
  %tl = tfrt_gpu.mem.allocate %memory, %s, %tl_bytes, %c6

  %epochs = tfrt.constant.i32 10
  %epoch = tfrt.constant.i32 1
  %fast = tfrt.constant.f32 0.1
  %trained, %e, %f, %r, %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15, %o16, %o17, %o18, %o19, %o20, %o21, %o22, %o23 = tfrt.repeat.i32 %epochs,
      %c6, %epoch, %start, %fast, %s, %blas, %add_bias, %relu_grad, %softmax_grad, %w1, %b1, %w2, %b2, %v1, %v2, %gb1, %gb2, %x, %y, %hidden, %logits, %g, %gh, %ones, %labels, %tx, %th, %tl
      : !tfrt.chain, i32, i64, f32, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer {
    %steps = tfrt.constant.i32 250
    %learned, %next, %rate, %i0, %i1, %i2, %i3, %i4, %i5, %i6, %i7, %i8, %i9, %i10, %i11, %i12, %i13, %i14, %i15, %i16, %i17, %i18, %i19 = tfrt.repeat.i32 %steps,
        %c6, %start, %fast, %s, %blas, %add_bias, %relu_grad, %softmax_grad, %w1, %b1, %w2, %b2, %v1, %v2, %gb1, %gb2, %x, %y, %hidden, %logits, %g, %gh, %ones
        : !tfrt.chain, i64, f32, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer {
      %stepped = tfrt.call @step(%c6, %start, %fast, %s, %blas, %add_bias, %relu_grad, %softmax_grad, %w1, %b1, %w2, %b2, %v1, %v2, %gb1, %gb2, %x, %y, %hidden, %logits, %g, %gh, %ones)
          : (!tfrt.chain, i64, f32, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> !tfrt.chain
      %batch = tfrt.constant.i64 128
      %behind = tfrt.add.i64 %start, %batch
      tfrt.return %stepped, %behind, %fast, %s, %blas, %add_bias, %relu_grad, %softmax_grad, %w1, %b1, %w2, %b2, %v1, %v2, %gb1, %gb2, %x, %y, %hidden, %logits, %g, %gh, %ones
          : !tfrt.chain, i64, f32, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
    }
    %n = tfrt.constant.i32 2000
    %blocks = tfrt.constant.ui64 4000
    %few = tfrt.constant.ui64 79
    %tested = tfrt.call @forward(%learned, %s, %blas, %add_bias, %n, %blocks, %few, %tx, %w1, %b1, %w2, %b2, %th, %tl)
        : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, i32, ui64, ui64, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> !tfrt.chain
    %found = tfrt_dht.create_uninitialized_tensor.f32.2 [2000 : i64, 10 : i64]
    %there = tfrt.call @receive(%tested, %found, %tl, %s) : (!tfrt.chain, !t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream) -> !tfrt.chain
    %predictions = "tfrt_test.argmax.f32.2"(%found, %there) : (!t.tensor, !tfrt.chain) -> !t.tensor
    %share = models.share_of_equal.i32 %predictions, %labels
    %reported = models.report %there "epoch {}: {.2%} of 2000 unseen digits are recognised" (%epoch : i32, %share : f32)
    %once = tfrt.constant.i32 1
    %factor = tfrt.constant.f32 0.7
    %later = tfrt.add.i32 %epoch, %once
    %slower = "tfrt.multiply.f32"(%fast, %factor) : (f32, f32) -> f32
    tfrt.return %reported, %later, %next, %slower, %s, %blas, %add_bias, %relu_grad, %softmax_grad, %w1, %b1, %w2, %b2, %v1, %v2, %gb1, %gb2, %x, %y, %hidden, %logits, %g, %gh, %ones, %labels, %tx, %th, %tl
        : !tfrt.chain, i32, i64, f32, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.function, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  }
  tfrt.return
}
