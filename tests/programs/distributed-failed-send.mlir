// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:4 %s

// Two remote functions of one request. The first one sends a value twice under one key, which fails. The second one waits
// for a value that the first one does not send: it ends because the failed send cancels the request before the first
// function is answered.

func @second_send_fails() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %cl, %w1, %w2 = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %t1 = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:1"}
  %t2 = tfrt_dist.get_task_handle %cl {task_name = "/job:worker/task:2"}
  %r1 = tfrt_dist.register_tfrt_function (%ch0, %cl, %t1) "sends" "func @sends() -> !tfrt.chain {\0A %ctx = tfrt_dist.get_distributed_context\0A %t = tfrt_dist.get_task_handle %ctx {task_name = \22/job:worker/task:2\22}\0A %ch = tfrt.new.chain\0A %key = \22tfrt_test.get_string\22() {value = \22taken\22} : () -> !tfrt.string\0A %p = \22tfrt_dist.serialize_chain\22(%ch) {bef.nonstrict} : (!tfrt.chain) -> !tfrt_dist.payload\0A %a = tfrt_dist.send_bytes %ctx, %t, %key, %p\0A %b = \22tfrt_dist.cancel_if_error\22(%a) {bef.nonstrict} : (!tfrt.chain) -> !tfrt.chain\0A %c = tfrt_dist.send_bytes %ctx, %t, %key, %p\0A %d = \22tfrt_dist.cancel_if_error\22(%c) {bef.nonstrict} : (!tfrt.chain) -> !tfrt.chain\0A %e = tfrt.merge.chains %b, %d : !tfrt.chain, !tfrt.chain\0A tfrt.return %e : !tfrt.chain\0A}"
  %r2 = tfrt_dist.register_tfrt_function (%r1, %cl, %t2) "waits" "func @waits() -> !tfrt.chain {\0A %ctx = tfrt_dist.get_distributed_context\0A %t = tfrt_dist.get_task_handle %ctx {task_name = \22/job:worker/task:1\22}\0A %key = \22tfrt_test.get_string\22() {value = \22other\22} : () -> !tfrt.string\0A %p = tfrt_dist.recv_bytes %ctx, %t, %key\0A %c = tfrt_dist.deserialize_chain %p\0A tfrt.return %c : !tfrt.chain\0A}"
  %s1 = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %s2 = tfrt_dist.create_remote_execute_spec %cl {output_devices = ["/job:worker/task:2/device:CPU:0"]}
  %n1 = "tfrt_dist.test_process_next_request"(%w1, %r2) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n2 = "tfrt_dist.test_process_next_request"(%w2, %r2) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %d2, %id2 = tfrt_dist.remote_execute [%r2, %cl, %t2, %s2] "waits" () : () -> (!tfrt_dist.remote_object_id)
  %e2 = "tfrt_dist.cancel_if_error"(%d2) {bef.nonstrict} : (!tfrt.chain) -> !tfrt.chain
  %d1, %id1 = tfrt_dist.remote_execute [%r2, %cl, %t1, %s1] "sends" () : () -> (!tfrt_dist.remote_object_id)
  %e1 = "tfrt_dist.cancel_if_error"(%d1) {bef.nonstrict} : (!tfrt.chain) -> !tfrt.chain
  %m = tfrt.merge.chains %e1, %e2 : !tfrt.chain, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}
