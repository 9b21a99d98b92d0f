// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Tensors that move between tasks.

// Through two tasks and back. The tensor moves from the first worker to the second one directly.
func @transfers() -> (!tfrt.chain) {
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %cl, %wk, %w2 = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %ch = tfrt.new.chain
  %w = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %cpu = tfrt.get_device %ch {device_name = "CPU:0"}
  %dev1 = "tfrt_dist.test_get_remote_device"(%cl) { device_name = "/job:worker/task:1/device:CPU:0" } : (!tfrt_dist.dist_context) -> !tfrt.device
  %dev2 = "tfrt_dist.test_get_remote_device"(%cl) { device_name = "/job:worker/task:2/device:CPU:0" } : (!tfrt_dist.dist_context) -> !tfrt.device
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %s = tfrt_dht.set_tensor_with_constant_values.i32 %t, %ch [4 : i32, 5 : i32, 6 : i32]
  %h = "corert.ht_to_tensorhandle"(%t, %s) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %h1 = corert.transfer_inferred_tensortype %h, %dev1
  %h2 = corert.transfer_inferred_tensortype %h1, %dev2
  %back = corert.transfer_inferred_tensortype %h2, %cpu
  %bt = "corert.tensorhandle_to_ht"(%back) : (!corert.tensorhandle) -> !t.tensor
  %m = tfrt_dht.print_tensor %bt, %ch
  %e1 = tfrt_dist.test_close_distributed_context %cl, %m
  %e2 = tfrt_dist.test_close_distributed_context %wk, %e1
  %e3 = tfrt_dist.test_close_distributed_context %w2, %e2
  tfrt.return %e3 : !tfrt.chain
}
