// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Programs over several tasks of this process.

func @sum_on_three() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %a, %b, %d = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %key = tfrt_test.get_string { value = "sum" }
  %t0 = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %s0 = tfrt_dht.set_tensor_with_constant_values.i64 %t0, %c0 [1 : i64, 2 : i64]
  %t1 = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %s1 = tfrt_dht.set_tensor_with_constant_values.i64 %t1, %c0 [10 : i64, 20 : i64]
  %t2 = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %s2 = tfrt_dht.set_tensor_with_constant_values.i64 %t2, %c0 [100 : i64, 200 : i64]
  // The result goes into another tensor, too.
  %o2 = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %r0 = tfrt_dist.cpu.allreduce.i64 %a, %group, %key, %t0, %t0, %s0 { reduction_fn = "sum" }
  %r1 = tfrt_dist.cpu.allreduce.i64 %b, %group, %key, %t1, %t1, %s1 { reduction_fn = "sum" }
  %r2 = tfrt_dist.cpu.allreduce.i64 %d, %group, %key, %t2, %o2, %s2 { reduction_fn = "sum" }
  %m = tfrt.merge.chains %r0, %r1, %r2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %p0 = tfrt_dht.print_tensor %t0, %m
  %p1 = tfrt_dht.print_tensor %t2, %p0
  %p2 = tfrt_dht.print_tensor %o2, %p1
  %e0 = tfrt_dist.test_close_distributed_context %a, %p2
  %e1 = tfrt_dist.test_close_distributed_context %b, %e0
  %e2 = tfrt_dist.test_close_distributed_context %d, %e1
  tfrt.return %e2 : !tfrt.chain
}

// Chunks 0 of all members go to the first one, chunks 1 to the second, which has fewer of the three elements.
func @exchange_chunks() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %first = tfrt_test.get_string { value = "group1" }
  // Nobody is lost: the survivors are the group.
  %m0, %group0 = tfrt_dist.regroup %a, %first, %c0
  %m1, %group1 = tfrt_dist.regroup %b, %first, %c0
  %key = tfrt_test.get_string { value = "chunks" }
  %t0 = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %s0 = tfrt_dht.set_tensor_with_constant_values.i32 %t0, %m0 [1 : i32, 2 : i32, 3 : i32]
  %t1 = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %s1 = tfrt_dht.set_tensor_with_constant_values.i32 %t1, %m1 [10 : i32, 20 : i32, 30 : i32]
  %o0 = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %o1 = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %r0 = tfrt_dist.cpu.alltoall.i32 %a, %group0, %key, %t0, %o0, %s0
  %r1 = tfrt_dist.cpu.alltoall.i32 %b, %group1, %key, %t1, %o1, %s1
  %met = tfrt_test.get_string { value = "met" }
  %b0 = tfrt_dist.barrier %a, %group0, %met, %r0
  %b1 = tfrt_dist.barrier %b, %group1, %met, %r1
  %m = tfrt.merge.chains %b0, %b1 : !tfrt.chain, !tfrt.chain
  %p0 = tfrt_dht.print_tensor %o0, %m
  %p1 = tfrt_dht.print_tensor %o1, %p0
  %e0 = tfrt_dist.test_close_distributed_context %a, %p1
  %e1 = tfrt_dist.test_close_distributed_context %b, %e0
  tfrt.return %e1 : !tfrt.chain
}

func @gather_rows() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %key = tfrt_test.get_string { value = "rows" }
  %axis = tfrt.constant.ui64 0
  %t0 = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %s0 = tfrt_dht.set_tensor_with_constant_values.f32 %t0, %c0 [1.0 : f32, 2.0 : f32]
  %t1 = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %s1 = tfrt_dht.set_tensor_with_constant_values.f32 %t1, %c0 [3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32]
  %r0, %o0 = tfrt_dist.cpu.allgather_any_shape.f32 %a, %group, %key, %t0, %axis, %s0
  %r1, %o1 = tfrt_dist.cpu.allgather_any_shape.f32 %b, %group, %key, %t1, %axis, %s1
  %m = tfrt.merge.chains %r0, %r1 : !tfrt.chain, !tfrt.chain
  %p0 = tfrt_dht.print_tensor %o0, %m
  %p1 = tfrt_dht.print_tensor %o1, %p0
  %e0 = tfrt_dist.test_close_distributed_context %a, %p1
  %e1 = tfrt_dist.test_close_distributed_context %b, %e0
  tfrt.return %e1 : !tfrt.chain
}

// The id of a remote tensor, by its handle, is an argument of the next function.
func @remote_tensors() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl { task_name = "/job:worker/task:1" }
  %r1 = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "make" "func @make() -> (!tfrt.chain, !t.tensor) {\0A  %c = tfrt.new.chain\0A  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]\0A  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %c 7 : i32\0A  tfrt.return %s, %t : !tfrt.chain, !t.tensor\0A}"
  %r2 = tfrt_dist.register_tfrt_function (%r1, %cl, %w) "show" "func @show(%c: !tfrt.chain, %t: !t.tensor) -> !tfrt.chain {\0A  %d = tfrt_dht.print_tensor %t, %c\0A  tfrt.return %d : !tfrt.chain\0A}"
  // The same program under its name again.
  %r3 = tfrt_dist.register_tfrt_function (%r2, %cl, %w) "show" "func @show(%c: !tfrt.chain, %t: !t.tensor) -> !tfrt.chain {\0A  %d = tfrt_dht.print_tensor %t, %c\0A  tfrt.return %d : !tfrt.chain\0A}"
  %two = tfrt_dist.create_remote_execute_spec %cl { output_devices = ["/job:worker/task:1/device:CPU:0", "/job:worker/task:1/device:CPU:0"] }
  %one = tfrt_dist.create_remote_execute_spec %cl { output_devices = ["/job:worker/task:1/device:CPU:0"] }
  %a, %id:2, %h = tfrt_dist.remote_execute_th [%r3, %cl, %w, %two, 1] "make" () : () -> (!tfrt_dist.remote_object_id, !tfrt_dist.remote_object_id, !corert.tensorhandle)
  %n1 = "tfrt_dist.test_process_next_request"(%wk, %r3) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %i = tfrt_dist.get_remote_object_id_from_th %h
  %b, %jd = tfrt_dist.remote_execute [%a, %cl, %w, %one] "show" (%id#0, %i) : (!tfrt_dist.remote_object_id, !tfrt_dist.remote_object_id) -> !tfrt_dist.remote_object_id
  %n2 = "tfrt_dist.test_process_next_request"(%wk, %n1) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %a, %b, %n2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %e0 = tfrt_dist.test_close_distributed_context %cl, %m
  %e1 = tfrt_dist.test_close_distributed_context %wk, %e0
  tfrt.return %e1 : !tfrt.chain
}

// A remote function has another task make the object whose id it was given.
func @nested() -> !tfrt.chain {
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %cl, %w1, %w2 = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %t1 = tfrt_dist.get_task_handle %cl { task_name = "/job:worker/task:1" }
  %t2 = tfrt_dist.get_task_handle %cl { task_name = "/job:worker/task:2" }
  %r1 = tfrt_dist.register_tfrt_function (%ch, %cl, %t2) "make" "func @make() -> i32 {\0A  %x = tfrt.constant.i32 12\0A  tfrt.return %x : i32\0A}"
  %r2 = tfrt_dist.register_tfrt_function (%r1, %cl, %t1) "delegate" "func @delegate(%ctx: !tfrt_dist.dist_context, %id: !tfrt_dist.remote_object_id) -> !tfrt.chain {\0A  %c = tfrt.new.chain\0A  %t = tfrt_dist.get_task_handle %ctx { task_name = \22/job:worker/task:2\22 }\0A  %s = tfrt_dist.create_remote_execute_spec %ctx { output_devices = [\22/job:worker/task:2/device:CPU:0\22] }\0A  %d = tfrt_dist.remote_execute_th_preallocated [%c, %ctx, %t, %s, 0, 0] \22make\22 (%id) : (!tfrt_dist.remote_object_id) -> ()\0A  tfrt.return %d : !tfrt.chain\0A}"
  %r3 = tfrt_dist.register_tfrt_function (%r2, %cl, %t2) "show" "func @show(%x: i32) -> !tfrt.chain {\0A  %c = tfrt.new.chain\0A  %d = tfrt.print.i32 %x, %c\0A  tfrt.return %d : !tfrt.chain\0A}"
  %s2 = tfrt_dist.create_remote_execute_spec %cl { output_devices = ["/job:worker/task:2/device:CPU:0"] }
  %a, %id = tfrt_dist.remote_execute [%r3, %cl, %t1, %s2] "delegate" () : () -> !tfrt_dist.remote_object_id
  %n1 = "tfrt_dist.test_process_next_request"(%w1, %r3) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n2 = "tfrt_dist.test_process_next_request"(%w2, %r3) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %b, %jd = tfrt_dist.remote_execute [%a, %cl, %t2, %s2] "show" (%id) : (!tfrt_dist.remote_object_id) -> !tfrt_dist.remote_object_id
  %n3 = "tfrt_dist.test_process_next_request"(%w2, %n2) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %b, %n1, %n3 : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %e0 = tfrt_dist.test_close_distributed_context %cl, %m
  %e1 = tfrt_dist.test_close_distributed_context %w1, %e0
  %e2 = tfrt_dist.test_close_distributed_context %w2, %e1
  tfrt.return %e2 : !tfrt.chain
}

// Ops of the Core Runtime run on the task whose device the handler is for, in the order of their calls.
func @remote_ops() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %ch = corert.register_op_handler %cpu "/job:worker/task:1/device:CPU:0"
  %mgr = tfrt_dist.test_create_remote_chain_manager %cl
  %device = "tfrt_dist.test_get_remote_device"(%cl) { device_name = "/job:worker/task:1/device:CPU:0" } : (!tfrt_dist.dist_context) -> !tfrt.device
  %remote = "tfrt_dist.create_remote_op_handler"(%cl, %mgr, %device) : (!tfrt_dist.dist_context, !tfrt_dist.remote_chain_manager, !tfrt.device) -> !corert.ophandler
  %c1, %x = corert.executeop.seq(%remote, %ch) "tfrt_test.create_dense_tensor"() { shape = [2 : i64], values = [1 : i32, 2 : i32] } : 1
  %c2, %y = corert.executeop.seq(%remote, %c1) "tf.AddV2"(%x, %x) : 1
  %c3 = corert.executeop.seq(%remote, %c2) "tfrt_test.print"(%y) : 0
  %e0 = tfrt_dist.test_close_distributed_context %cl, %c3
  %e1 = tfrt_dist.test_close_distributed_context %wk, %e0
  tfrt.return %e1 : !tfrt.chain
}

// The chain of an op that fails is that of the ops behind it. The contexts live as long as the results.
func @unknown_remote_op() -> (!tfrt.chain, !tfrt.chain, !tfrt_dist.dist_context, !tfrt_dist.dist_context) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %mgr = tfrt_dist.test_create_remote_chain_manager %cl
  %device = "tfrt_dist.test_get_remote_device"(%cl) { device_name = "/job:worker/task:1/device:CPU:0" } : (!tfrt_dist.dist_context) -> !tfrt.device
  %remote = "tfrt_dist.create_remote_op_handler"(%cl, %mgr, %device) : (!tfrt_dist.dist_context, !tfrt_dist.remote_chain_manager, !tfrt.device) -> !corert.ophandler
  %c1, %x = corert.executeop.seq(%remote, %ch) "my.unknown"() : 1
  %c2 = corert.executeop.seq(%remote, %ch) "tfrt_test.print"(%x) : 0
  tfrt.return %c1, %c2, %cl, %wk : !tfrt.chain, !tfrt.chain, !tfrt_dist.dist_context, !tfrt_dist.dist_context
}

func @errors() -> (!tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_dist.remote_object_id, !tfrt_dist.dist_context, !tfrt_dist.dist_context) {
  %ch = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %nobody = tfrt_dist.get_task_handle %cl { task_name = "nobody" }
  %absent = tfrt_dist.get_task_handle %cl { task_name = "/job:worker/task:7" }
  %w = tfrt_dist.get_task_handle %cl { task_name = "/job:worker/task:1" }
  // Not a program; a program without its entry; two programs of one name.
  %r1 = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "odd" "func @odd("
  %r2 = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @g() { tfrt.return }"
  %r3 = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "h" "func @h() { tfrt.return }"
  %r4 = tfrt_dist.register_tfrt_function (%r3, %cl, %w) "h" "func @h() -> i32 {\0A  %x = tfrt.constant.i32 1\0A  tfrt.return %x : i32\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl { output_devices = ["/job:worker/task:1/device:CPU:0", "/job:worker/task:1/device:CPU:0"] }
  %m, %id = tfrt_dist.remote_execute [%ch, %cl, %w, %spec] "h" () : () -> !tfrt_dist.remote_object_id
  tfrt.return %nobody, %absent, %r1, %r2, %r4, %m, %id, %cl, %wk : !tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_dist.remote_object_id, !tfrt_dist.dist_context, !tfrt_dist.dist_context
}
