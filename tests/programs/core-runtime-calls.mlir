// Calls of ops that go wrong, each with an error where the call is; in a synchronous function as well, if no program calls it. What
// such a function leaves to the queue is done before the next function runs.
// RUN: tfrt run --test_init_function=set_up %s
// RUN: tfrt run --test_init_function=set_up --functions=left_to_the_queue,left_to_the_queue %s
// RUN: tfrt run --test_init_function=set_up --functions=inside %s

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%none) : (!corert.ophandler) -> !corert.ophandler
  %c = corert.register_op_handler %cpu "cpu"
  tfrt.return %c : !tfrt.chain
}

func @counts() -> (!corert.tensorhandle, !corert.tensorhandle, !tfrt.chain) {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %x = corert.const_dense_tensor dense<1> : tensor<i64>
  %a = corert.executeop(%cpu) "tf.AddV2"(%x, %x, %x) : 1
  %b = corert.executeop(%cpu) "tf.AddV2"(%x) : 1
  corert.executeop(%cpu) "tf.AddV2"(%x, %x) : 0
  %d, %r = corert.executeop.seq(%cpu, %c) "tfrt_test.print"(%x) : 1
  tfrt.return %a, %b, %d : !corert.tensorhandle, !corert.tensorhandle, !tfrt.chain
}

func @attributes() -> (!corert.tensorhandle, !corert.tensorhandle) {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %a = "corert.executeop"(%cpu) { op_attrs = [], op_func_attrs = [["body", 1]], op_name = "tf.Const" } : (!corert.ophandler) -> !corert.tensorhandle
  %b = corert.executeop(%cpu) "tf.Const"() { value = 1 } : 1
  tfrt.return %a, %b : !corert.tensorhandle, !corert.tensorhandle
}

func @synchronous() attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  %x = corert_sync.create_dense_tensor.f32 { shape = [1], value = [1.0 : f32] }
  %y = corert_sync.executeop(%cpu) "tfrt_test.cast"(%x) : 1
  "corert_sync.print_tensorhandle"(%y) : (!corert.tensorhandle) -> ()
  tfrt.return
}

func @left_to_the_queue() attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  %x = corert_sync.create_dense_tensor.f32 { shape = [1], value = [1.0 : f32] }
  %y = corert_sync.executeop(%cpu) "tfrt_test.async.noop_no_md"(%x) : 1
  %z = corert_sync.executeop(%cpu) "tfrt_test.cast"(%y) : 1
  %w = corert_sync.executeop(%cpu) "tf.Relu"(%z) : 1
  "corert_sync.print_tensorhandle"(%w) : (!corert.tensorhandle) -> ()
  tfrt.return
}

// Here the call that a program makes is the place.
func private @failing(%start: i32, %end: i32) attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  %x = corert_sync.create_dense_tensor.f32 { shape = [1], value = [1.0 : f32] }
  %y = corert_sync.executeop(%cpu) "tfrt_test.cast"(%x) : 1
  tfrt.return
}

func @inside() -> !tfrt.chain {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 1
  %done = tfrt.parallel_call.i32 %start to %end fixed %end @failing()
  tfrt.return %done : !tfrt.chain
}

// Each channel of an image has its own parameters.
func @parameters_of_other_channels() -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %x = corert.create_dense_tensor.f32 { shape = [1, 1, 2, 1], value = [1.0 : f32, 2.0 : f32] }
  %p = corert.create_dense_tensor.f32 { shape = [2], value = [1.0 : f32, 2.0 : f32] }
  %a:6 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%x, %p, %p, %p, %p) { epsilon = 0.0 : f32, is_training = false } : 6
  tfrt.return %a#0 : !corert.tensorhandle
}
