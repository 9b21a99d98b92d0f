// Ops on GPUs that run one by one, and tensors that move between devices.
// RUN: tfrt run --gpu=host --test_init_function=set_up %s
// RUN: tfrt run --gpu=host --test_init_function=set_up --work_queue_type=mstd:2 %s
// RUN: tfrt ops --device=gpu
// RUN: tfrt ops --device=gpu _tf
// RUN: tfrt ops --device=gpu tf.OneHot
// RUN: tfrt ops --device=tpu

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%none) : (!corert.ophandler) -> !corert.ophandler
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %gpu = "corert.create_gpu_op_handler"(%zero, %none) : (i32, !corert.ophandler) -> !corert.ophandler
  %other = "corert.create_gpu_op_handler"(%one, %cpu) : (i32, !corert.ophandler) -> !corert.ophandler
  %c0 = corert.register_op_handler %cpu "cpu"
  %c1 = corert.register_op_handler %gpu "gpu"
  %c2 = corert.register_op_handler %other "gpu:1"
  %c = tfrt.merge.chains %c0, %c1, %c2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

// One layer of a network: relu(x · w + b).
func @layer() -> !tfrt.chain {
  %c = tfrt.new.chain
  %gpu = corert.get_op_handler %c "gpu"
  %x = corert.executeop(%gpu) "tfrt_test.create_dense_tensor"() { shape = [2, 3], values = [1.0 : f32, 2.0 : f32, 3.0 : f32, -1.0 : f32, 0.5 : f32, 0.0 : f32] } : 1
  %w = corert.executeop(%gpu) "tfrt_test.create_dense_tensor"() { shape = [3, 2], values = [1.0 : f32] } : 1
  %b = corert.executeop(%gpu) "tf.Const"() { value = dense<[0.25, -10.0]> : tensor<2xf32> } : 1
  %product = corert.executeop(%gpu) "tf.MatMul"(%x, %w) { transpose_a = false, transpose_b = false } : 1
  %sum = corert.executeop(%gpu) "tf.BiasAdd"(%product, %b) : 1
  %y = corert.executeop(%gpu) "tf.Relu"(%sum) : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%y) : 1
  %d = corert.executeop.seq(%gpu, %c) "tfrt_test.print"(%host) : 0
  tfrt.return %d : !tfrt.chain
}

// A tensor goes from the host to one GPU, from there to the other, and back.
func @transfers() -> !tfrt.chain {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %other = corert.get_op_handler %c "gpu:1"
  %first = tfrt.get_device %c { device_name = "GPU:0" }
  %second = tfrt.get_device %c { device_name = "GPU:1" }
  %host = tfrt.get_device %c { device_name = "CPU:0" }
  %x = corert.const_dense_tensor dense<[1.5, -2.5]> : tensor<2xf32>
  %a = corert.transfer_inferred_tensortype %x, %first
  %b = corert.transfer_inferred_tensortype %a, %second
  %y = corert.executeop(%other) "tf.Tanh"(%b) : 1
  %z = corert.executeop(%other) "tf.AddV2"(%b, %b) : 1
  %n = corert.transfer_inferred_tensortype %z, %host
  %d = corert.executeop.seq(%cpu, %c) "tfrt_test.print"(%n) : 0
  tfrt.return %d : !tfrt.chain
}

// An op that GPUs do not have is asked of the fallback.
func @fallbacks() -> (!corert.tensorhandle, !tfrt.chain) {
  %c = tfrt.new.chain
  %gpu = corert.get_op_handler %c "gpu"
  %other = corert.get_op_handler %c "gpu:1"
  %x = corert.const_dense_tensor dense<[1.5, -2.5]> : tensor<2xf32>
  %none = corert.executeop(%gpu) "tf.ZerosLike"(%x) { T = f32 } : 1 // expected-error {{tf.ZerosLike was not supported by NullOpHandler.}}
  %y = corert.executeop(%other) "tf.ZerosLike"(%x) { T = f32 } : 1
  %d = corert.executeop.seq(%other, %c) "tfrt_test.print"(%y) : 0
  tfrt.return %none, %d : !corert.tensorhandle, !tfrt.chain
}

func @errors() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c = tfrt.new.chain
  %gpu = corert.get_op_handler %c "gpu"
  %x = corert.executeop(%gpu) "tfrt_test.create_dense_tensor"() { shape = [2, 3], values = [1.0 : f32] } : 1
  %i = corert.executeop(%gpu) "tfrt_test.create_dense_tensor"() { shape = [2], values = [1 : i32] } : 1
  %shapes = corert.executeop(%gpu) "tf.MatMul"(%x, %x) { transpose_a = false, transpose_b = false } : 1 // expected-error {{matmul}}
  %dtype = corert.executeop(%gpu) "tf.Tanh"(%i) : 1 // expected-error {{unexpected type for operation}}
  %late = corert.executeop(%gpu) "tf.Relu"(%dtype) : 1
  %h = corert.const_dense_tensor dense<[1.5, -2.5]> : tensor<2xf32>
  %on_host = corert.executeop(%gpu) "tf.Relu"(%h) : 1 // expected-error {{expected a tensor on GPU:0, found DenseHost}}
  tfrt.return %shapes, %dtype, %late, %on_host : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

// The elements of tensors in host memory have all of their digits, and there are at most 32.
func @prints() -> !tfrt.chain {
  %c = tfrt.new.chain
  %gpu = corert.get_op_handler %c "gpu"
  %x = corert.const_dense_tensor dense<[0.1, 1.0, -1.0e-5, 1.0e9, 123456789.0, 0x7FC00000, 0xFF800000]> : tensor<7xf32>
  %y = corert.const_dense_tensor dense<[0.1, 1.0e17]> : tensor<2xf64>
  %z = corert.executeop(%gpu) "tfrt_test.create_dense_tensor"() { shape = [40], values = [-3 : i32] } : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%z) : 1
  %c0 = corert.executeop.seq(%gpu, %c) "tfrt_test.print"(%x) : 0
  %c1 = corert.executeop.seq(%gpu, %c0) "tfrt_test.print"(%y) : 0
  %c2 = corert.executeop.seq(%gpu, %c1) "tfrt_test.print"(%host) : 0
  tfrt.return %c2 : !tfrt.chain
}

func @test_ops() -> (!corert.tensorhandle, !tfrt.chain) {
  %c = tfrt.new.chain
  %gpu = corert.get_op_handler %c "gpu"
  %x, %y = corert.executeop(%gpu) "tfrt_test.return_multiple_results"() : 2
  %z = corert.executeop(%gpu) "tfrt_test.test_optional_arg"(%x, %y) : 1
  %w = corert.executeop(%gpu) "tfrt_test.test_variadic_arg"(%x) : 1
  %sum = corert.executeop(%gpu) "tf.AddV2"(%z, %w) : 1
  %done = corert.executeop(%gpu) "tfrt_test.synchronize"(%sum) : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%done) : 1
  %d = corert.executeop.seq(%gpu, %c) "tfrt_test.print"(%host) : 0
  %f, %g = corert.executeop(%gpu) "tfrt_test.return_multiple_results_with_error"() : 2 // expected-error {{error from ReturnMultipleResultsWithError op}}
  tfrt.return %f, %d : !corert.tensorhandle, !tfrt.chain
}
