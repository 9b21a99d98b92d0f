// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Payloads and collectives: what they return, and what is wrong with them.

// The receiver may come first, or the payload.
func @send_receive() -> !tfrt.chain {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %t0 = tfrt_dist.get_task_handle %wk {task_name = "/job:worker/task:0"}
  %key = "tfrt_test.get_string"() { value = "k" } : () -> !tfrt.string
  %key2 = "tfrt_test.get_string"() { value = "k2" } : () -> !tfrt.string
  %p2 = tfrt_dist.recv_bytes %wk, %t0, %key2
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 1 : i64]
  %s = tfrt_dht.set_tensor_with_constant_values.f32 %t, %ch [1.5 : f32, -2.5 : f32]
  %pl = "tfrt_dist.serialize"(%t, %s) : (!t.tensor, !tfrt.chain) -> !tfrt_dist.payload
  %s1 = tfrt_dist.send_bytes %cl, %w, %key, %pl
  %s2 = tfrt_dist.send_bytes %cl, %w, %key2, %pl
  %p1 = tfrt_dist.recv_bytes %wk, %t0, %key
  %r1 = "tfrt_dist.deserialize"(%p1) : (!tfrt_dist.payload) -> !t.tensor
  %r2 = "tfrt_dist.deserialize"(%p2) : (!tfrt_dist.payload) -> !t.tensor
  %m0 = tfrt.merge.chains %s1, %s2 : !tfrt.chain, !tfrt.chain
  %d1 = tfrt_dht.print_tensor %r1, %m0
  %m = tfrt_dht.print_tensor %r2, %d1
  %e1 = tfrt_dist.test_close_distributed_context %cl, %m
  %e2 = tfrt_dist.test_close_distributed_context %wk, %e1
  tfrt.return %e2 : !tfrt.chain
}

func @unexpected_reduction() -> (!tfrt.chain, !tfrt.chain) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %group = "tfrt_test.get_string"() { value = "group1" } : () -> !tfrt.string
  %key = "tfrt_test.get_string"() { value = "k" } : () -> !tfrt.string
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 1 : i32
  %d1 = tfrt_dist.cpu.allreduce.i32 %cl, %group, %key, %t, %t, %s { reduction_fn = "prod2" }
  %d2 = tfrt_dist.cpu.allreduce.i32 %wk, %group, %key, %t, %t, %s { reduction_fn = "prod2" }
  tfrt.return %d1, %d2 : !tfrt.chain, !tfrt.chain
}

func @unknown_group() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %group = "tfrt_test.get_string"() { value = "nobody" } : () -> !tfrt.string
  %key = "tfrt_test.get_string"() { value = "k" } : () -> !tfrt.string
  %axis = tfrt.constant.ui64 0
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 1 : i32
  %d1 = tfrt_dist.cpu.allreduce.i32 %cl, %group, %key, %t, %t, %s { reduction_fn = "sum" }
  %d2 = tfrt_dist.cpu.broadcast.i32 %cl, %group, %key, %t, %w, %s
  %d3, %o = tfrt_dist.cpu.allgather_any_shape.i32 %cl, %group, %key, %t, %axis, %s
  tfrt.return %d1, %d2, %d3 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// The output has another size than all inputs together; inputs differ beside the axis.
func @gather_errors() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !t.tensor, !tfrt.chain, !t.tensor) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %group = "tfrt_test.get_string"() { value = "group1" } : () -> !tfrt.string
  %key = "tfrt_test.get_string"() { value = "k" } : () -> !tfrt.string
  %key2 = "tfrt_test.get_string"() { value = "k2" } : () -> !tfrt.string
  %axis = tfrt.constant.ui64 0
  %t = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 1 : i32
  %o = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %d1 = tfrt_dist.cpu.allgather_fixed_shape.i32 %cl, %group, %key, %t, %o, %axis, %s
  %d2 = tfrt_dist.cpu.allgather_fixed_shape.i32 %wk, %group, %key, %t, %o, %axis, %s
  %u = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 3 : i64]
  %v = tfrt_dht.fill_tensor_with_constant.i32 %u, %ch 1 : i32
  %g1, %x1 = tfrt_dist.cpu.allgather_any_shape.i32 %cl, %group, %key2, %t, %axis, %s
  %g2, %x2 = tfrt_dist.cpu.allgather_any_shape.i32 %wk, %group, %key2, %u, %axis, %v
  tfrt.return %d1, %d2, %g1, %x1, %g2, %x2 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !t.tensor, !tfrt.chain, !t.tensor
}

func @gather_ranks() -> (!tfrt.chain, !t.tensor, !tfrt.chain, !t.tensor) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %group = "tfrt_test.get_string"() { value = "group1" } : () -> !tfrt.string
  %key2 = "tfrt_test.get_string"() { value = "k2" } : () -> !tfrt.string
  %axis = tfrt.constant.ui64 0
  %t = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 1 : i32
  %u = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %v = tfrt_dht.fill_tensor_with_constant.i32 %u, %ch 1 : i32
  %g1, %x1 = tfrt_dist.cpu.allgather_any_shape.i32 %cl, %group, %key2, %t, %axis, %s
  %g2, %x2 = tfrt_dist.cpu.allgather_any_shape.i32 %wk, %group, %key2, %u, %axis, %v
  tfrt.return %g1, %x1, %g2, %x2 : !tfrt.chain, !t.tensor, !tfrt.chain, !t.tensor
}

// The sender has more elements: the receiver refuses them, but the sender has sent them.
func @sizes_differ() -> (!tfrt.chain, !tfrt.chain) {
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %cl, %wk = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %group = "tfrt_test.get_string"() { value = "group1" } : () -> !tfrt.string
  %key = "tfrt_test.get_string"() { value = "k" } : () -> !tfrt.string
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.fill_tensor_with_constant.i32 %t, %ch 1 : i32
  %u = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %v = tfrt_dht.fill_tensor_with_constant.i32 %u, %ch 2 : i32
  %ww = tfrt_dist.get_task_handle %wk {task_name = "/job:worker/task:1"}
  %d1 = tfrt_dist.cpu.broadcast.i32 %cl, %group, %key, %t, %w, %s
  %d2 = tfrt_dist.cpu.broadcast.i32 %wk, %group, %key, %u, %ww, %v
  tfrt.return %d1, %d2 : !tfrt.chain, !tfrt.chain
}
