// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Handles of tensors on other tasks.

// The tensor of a handle is remote, and its metadata are here. Its id is another one in each run.
func @handle_of_a_remote_tensor() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:1"}
  %r = tfrt_dist.register_tfrt_function (%c0, %a, %w) "make" "func @make() -> (!tfrt.chain, !t.tensor) {\0A %c = tfrt.new.chain\0A %t = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]\0A %d = tfrt_dht.fill_tensor_with_constant.i32 %t, %c 7 : i32\0A tfrt.return %d, %t : !tfrt.chain, !t.tensor\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %a {output_devices = ["/job:worker/task:1/device:CPU:0", "/job:worker/task:1/device:CPU:0"]}
  %e, %id:2, %h = tfrt_dist.remote_execute_th [%r, %a, %w, %spec, 1] "make" () : () -> (!tfrt_dist.remote_object_id, !tfrt_dist.remote_object_id, !corert.tensorhandle)
  %n = "tfrt_dist.test_process_next_request"(%b, %r) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %same = "corert.tensorhandle_to_ht"(%h) : (!corert.tensorhandle) -> !t.tensor
  %p = "tfrt_dht.print_tensor_shape"(%same, %e) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %p, %n : !tfrt.chain, !tfrt.chain
  %e1 = tfrt_dist.test_close_distributed_context %a, %m
  %e2 = tfrt_dist.test_close_distributed_context %b, %e1
  tfrt.return %p, %e2 : !tfrt.chain, !tfrt.chain
}
