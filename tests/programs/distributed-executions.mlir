// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Executions on another task: what they return, and what is wrong with them.

// The function has two results, but one id was given.
func @result_size_mismatch() -> (!tfrt.chain, !tfrt.chain) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @f() -> (i32, i32) {\0A %x = tfrt.constant.i32 1\0A tfrt.return %x, %x : i32, i32\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %a, %id = tfrt_dist.remote_execute [%r, %cl, %w, %spec] "f" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%wk, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %a, %n : !tfrt.chain, !tfrt.chain
}

// The function takes an argument that nobody gives.
func @argument_size_mismatch() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @f(%y: i32) -> i32 {\0A tfrt.return %y : i32\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %a, %id = tfrt_dist.remote_execute [%r, %cl, %w, %spec] "f" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%wk, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %a : !tfrt.chain
}

// The context of the task counts among the parameters, but not among the arguments.
func @argument_size_with_context() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @f(%c: !tfrt_dist.dist_context, %y: i32) -> i32 {\0A tfrt.return %y : i32\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %a, %id = tfrt_dist.remote_execute [%r, %cl, %w, %spec] "f" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%wk, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %a : !tfrt.chain
}

// Nobody has sent a program of this name.
func @no_program() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %a, %id = tfrt_dist.remote_execute [%ch, %cl, %w, %spec] "absent" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%wk, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %a : !tfrt.chain
}

// The task has no kernel of this name.
func @no_kernel() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @f() -> i32 {\0A %x = \22tfrt_test.only_on_other_tasks\22() : () -> i32\0A tfrt.return %x : i32\0A}"
  %n = "tfrt_dist.test_process_next_request"(%wk, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// Only tensors have metadata.
func @invalid_type() -> (!tfrt.chain, !corert.tensorhandle) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @f() -> i32 {\0A %x = tfrt.constant.i32 1\0A tfrt.return %x : i32\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %a, %id, %h = tfrt_dist.remote_execute_th [%r, %cl, %w, %spec, 1] "f" () : () -> (!tfrt_dist.remote_object_id, !corert.tensorhandle)
  %n = "tfrt_dist.test_process_next_request"(%wk, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %a, %h : !tfrt.chain, !corert.tensorhandle
}

// An error is a value there: the answers say nothing of it, and what uses it passes it on.
func @error_object() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r1 = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "bad" "func @bad() -> i32 {\0A %x = \22tfrt_test.fail\22() : () -> i32\0A tfrt.return %x : i32\0A}"
  %r = tfrt_dist.register_tfrt_function (%r1, %cl, %w) "use" "func @use(%x: i32) -> !tfrt.chain {\0A %c = tfrt.new.chain\0A %d = tfrt.print.i32 %x, %c\0A tfrt.return %d : !tfrt.chain\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %a, %id = tfrt_dist.remote_execute [%r, %cl, %w, %spec] "bad" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%wk, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %b, %jd = tfrt_dist.remote_execute [%a, %cl, %w, %spec] "use" (%id) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %n2 = "tfrt_dist.test_process_next_request"(%wk, %n) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %a, %b, %n2 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// The devices and the program are those of the compiler.
func @fake_compiler() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %dev = "tfrt_test.get_string"() { value = "/job:worker/task:1/device:CPU:0" } : () -> !tfrt.string
  %pass = tfrt_dist.test_register_fake_compiler_pass "tfrt" "func @f() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A %x = tfrt.constant.i32 77\0A %d = tfrt.print.i32 %x, %c\0A tfrt.return %d : !tfrt.chain\0A}" (%dev)
  %spec = tfrt_dist.register_tf_function (%pass, %cl, %w) "f" "func @f() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A tfrt.return %c : !tfrt.chain\0A}"
  %s = "tfrt_dist.test_print_remote_execute_spec"(%spec, %ch) : (!tfrt_dist.remote_execute_spec, !tfrt.chain) -> !tfrt.chain
  %a, %id = tfrt_dist.remote_execute [%s, %cl, %w, %spec] "f" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%wk, %s) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %a, %n : !tfrt.chain, !tfrt.chain
  %e1 = tfrt_dist.test_close_distributed_context %cl, %m
  %e2 = tfrt_dist.test_close_distributed_context %wk, %e1
  tfrt.return %e2 : !tfrt.chain
}

// What the compiler returns is no program.
func @compile_garbage() -> !tfrt_dist.remote_execute_spec {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %pass = tfrt_dist.test_register_fake_compiler_pass "tfrt" "nonsense" ()
  %spec = tfrt_dist.register_tf_function (%pass, %cl, %w) "f" "func @f() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A tfrt.return %c : !tfrt.chain\0A}"
  tfrt.return %spec : !tfrt_dist.remote_execute_spec
}

// A chain of the other task orders effects there.
func @chains() -> (!tfrt.chain, !tfrt_dist.remote_object_id) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "step" "func @step(%c: !tfrt.chain) -> !tfrt.chain {\0A %x = tfrt.constant.i32 5\0A %d = tfrt.print.i32 %x, %c\0A tfrt.return %d : !tfrt.chain\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %mgr = tfrt_dist.test_create_remote_chain_manager %cl
  %c0 = tfrt_dist.get_chain_for_task_handle %r, %mgr, %w
  %a, %c1 = tfrt_dist.remote_execute [%r, %cl, %w, %spec] "step" (%c0) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %s = tfrt_dist.set_chain_for_task_handle %a, %mgr, %w, %c1
  %c2 = tfrt_dist.get_chain_for_task_handle %s, %mgr, %w
  %b, %c3 = tfrt_dist.remote_execute [%s, %cl, %w, %spec] "step" (%c2) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  %n1 = "tfrt_dist.test_process_next_request"(%wk, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n2 = "tfrt_dist.test_process_next_request"(%wk, %n1) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %own = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:0"}
  %c4 = tfrt_dist.get_chain_for_task_handle %n2, %mgr, %own
  %m = tfrt.merge.chains %b, %n2 : !tfrt.chain, !tfrt.chain
  %e1 = tfrt_dist.test_close_distributed_context %cl, %m
  %e2 = tfrt_dist.test_close_distributed_context %wk, %e1
  tfrt.return %e2, %c4 : !tfrt.chain, !tfrt_dist.remote_object_id
}

// Errors in a program come before that of its name.
func @register_again() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %r1 = tfrt_dist.register_tfrt_function (%ch, %cl, %w) "f" "func @f() {\0A tfrt.return\0A}"
  %r2 = tfrt_dist.register_tfrt_function (%r1, %cl, %w) "f" "func @f("
  %r3 = tfrt_dist.register_tfrt_function (%r1, %cl, %w) "f" "func @g() {\0A tfrt.return\0A}"
  tfrt.return %r1, %r2, %r3 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// Anything may follow the number of a task, so names of devices are names of their tasks.
func @task_names() -> (!tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt_dist.task_handle) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %a = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1/device:CPU:0"}
  %b = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:01"}
  %c = tfrt_dist.get_task_handle %cl {task_name = "/job:1worker/task:1"}
  %d = tfrt_dist.get_task_handle %cl {task_name = "/job:other/task:1"}
  %e = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/replica:0/task:1"}
  tfrt.return %a, %b, %c, %d, %e : !tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt_dist.task_handle, !tfrt_dist.task_handle
}

// Without a context in the request; an id of no object; a handle of a local tensor.
func @plain_kernels() -> (!tfrt_dist.dist_context, !tfrt.chain, !tfrt_dist.remote_object_id) {
  %ctx = tfrt_dist.get_distributed_context
  %ch = tfrt.new.chain
  %id = tfrt_dist.get_dummy_remote_chain
  %p = "tfrt_dist.test_print_remote_object_id"(%id, %ch) : (!tfrt_dist.remote_object_id, !tfrt.chain) -> !tfrt.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 1 : i32
  %h = "corert.ht_to_tensorhandle"(%t, %s) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %i = tfrt_dist.get_remote_object_id_from_th %h
  tfrt.return %ctx, %p, %i : !tfrt_dist.dist_context, !tfrt.chain, !tfrt_dist.remote_object_id
}

// The task has no handler of this name. A call without a chain has no place in the order of effects.
func @op_errors() -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %mgr = tfrt_dist.test_create_remote_chain_manager %cl
  %device = "tfrt_dist.test_get_remote_device"(%cl) { device_name = "/job:worker/task:1/device:CPU:0" } : (!tfrt_dist.dist_context) -> !tfrt.device
  %remote = "tfrt_dist.create_remote_op_handler"(%cl, %mgr, %device) : (!tfrt_dist.dist_context, !tfrt_dist.remote_chain_manager, !tfrt.device) -> !corert.ophandler
  %c1, %x = corert.executeop.seq(%remote, %ch) "tfrt_test.create_dense_tensor"() { shape = [2 : i64], values = [1 : i32] } : 1
  %y = corert.executeop(%remote) "tf.AddV2"(%x, %x) : 1
  tfrt.return %c1, %x, %y : !tfrt.chain, !corert.tensorhandle, !corert.tensorhandle
}
