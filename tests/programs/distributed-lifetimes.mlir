// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Programs that do not close their contexts. Servers live as long as requests need them.

// Only the client's context has a use, but the worker answers.
func @answered_by_an_unused_task() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%c0, %a, %w) "other" "func @p() {\0A tfrt.return\0A}"
  tfrt.return %r : !tfrt.chain
}

func @registered_twice() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:1"}
  %r1 = tfrt_dist.register_tfrt_function (%c0, %a, %w) "one" "func @one() -> i32 {\0A %x = tfrt.constant.i32 1\0A tfrt.return %x : i32\0A}"
  %r2 = tfrt_dist.register_tfrt_function (%r1, %a, %w) "one" "func @one() -> i32 {\0A %x = tfrt.constant.i32 2\0A tfrt.return %x : i32\0A}"
  tfrt.return %r1, %r2 : !tfrt.chain, !tfrt.chain
}

func @sent_twice_to_an_unused_task() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %key = tfrt_test.get_string { value = "k" }
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:1"}
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32
  %p = "tfrt_dist.serialize"(%t, %s) : (!t.tensor, !tfrt.chain) -> !tfrt_dist.payload
  %s1 = tfrt_dist.send_bytes %a, %w, %key, %p
  %q = "tfrt_dist.serialize"(%t, %s1) : (!t.tensor, !tfrt.chain) -> !tfrt_dist.payload
  %s2 = tfrt_dist.send_bytes %a, %w, %key, %q
  tfrt.return %s1, %s2 : !tfrt.chain, !tfrt.chain
}

// A released execution runs to completion.
func @executed_without_closing() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%c0, %a, %w) "one" "func @one() -> i32 {\0A %x = tfrt.constant.i32 1\0A tfrt.return %x : i32\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %a {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %e, %id = tfrt_dist.remote_execute [%r, %a, %w, %spec] "one" () : () -> (!tfrt_dist.remote_object_id)
  %n = "tfrt_dist.test_process_next_request"(%b, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  tfrt.return %e, %n : !tfrt.chain, !tfrt.chain
}

// Both take part, and nobody needs the contexts any longer.
func @collective_without_closing() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %key = tfrt_test.get_string { value = "k" }
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32
  %u = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %v = tfrt_dht.fill_tensor_with_constant.i32 %u, %c0 2 : i32
  %d1 = tfrt_dist.cpu.allreduce.i32 %a, %group, %key, %t, %t, %s { reduction_fn = "sum" }
  %d2 = tfrt_dist.cpu.allreduce.i32 %b, %group, %key, %u, %u, %v { reduction_fn = "sum" }
  tfrt.return %d1, %d2 : !tfrt.chain, !tfrt.chain
}

// The other member never takes part.
func @collective_of_one_of_two() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %key = tfrt_test.get_string { value = "k" }
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32
  %d = tfrt_dist.cpu.allreduce.i32 %a, %group, %key, %t, %t, %s { reduction_fn = "sum" }
  tfrt.return %d : !tfrt.chain
}

// The sender has closed its context.
func @receive_from_a_closed_context() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %e = tfrt_dist.test_close_distributed_context %b, %c0
  %key = tfrt_test.get_string { value = "k" }
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:1"}
  %p = tfrt_dist.recv_bytes %a, %w, %key
  %t = "tfrt_dist.deserialize"(%p) : (!tfrt_dist.payload) -> !t.tensor
  %d = tfrt_dht.print_tensor %t, %e
  // Not closed before the receiver has an error.
  %f = tfrt_dist.test_close_distributed_context %a, %d
  tfrt.return %e, %f : !tfrt.chain, !tfrt.chain
}
