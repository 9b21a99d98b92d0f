// RUN: tfrt opt --insert-send-recv --cluster-by-host %s
// RUN: tfrt opt --insert-send-recv --cluster-by-host --insert-send-recv --cluster-by-host --verify-each %s
// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt opt --insert-send-recv --cluster-by-host --tfrt-dist-remote-run-encapsulate %s | tfrt run --work_queue_type=s
// RUN: tfrt opt --insert-send-recv --cluster-by-host --tfrt-dist-remote-run-encapsulate %s | tfrt run --work_queue_type=mstd:4

// A function whose ops run on three tasks: it prints and returns the same if all of them run on its own.

func private @on_three_tasks(%ctx: !tfrt_dist.dist_context, %ch: !tfrt.chain) -> (!tfrt.chain, !corert.tensorhandle) attributes {host = "/job:worker/task:0"} {
  %cpu = corert.get_op_handler %ch "cpu"
  %c1, %x = corert.executeop.seq(%cpu, %ch) "tfrt_test.create_dense_tensor"() {device = "/job:worker/task:1/device:CPU:0", shape = [2 : i64], values = [1 : i32, 2 : i32]} : 1
  %c2 = corert.executeop.seq(%cpu, %c1) "tfrt_test.print"(%x) {device = "/job:worker/task:2/device:CPU:0"} : 0
  %y = corert.executeop(%cpu) "tf.AddV2"(%x, %x) {device = "/job:worker/task:2/device:CPU:0"} : 1
  %z = corert.executeop(%cpu) "tf.AddV2"(%x, %y) {device = "/job:worker/task:1/device:CPU:0"} : 1
  %c3 = corert.executeop.seq(%cpu, %c2) "tfrt_test.print"(%z) : 0
  tfrt.return %c3, %y : !tfrt.chain, !corert.tensorhandle
}

func @two_invocations() -> !tfrt.chain {
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %cl, %w1, %w2 = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %ch = corert.register_op_handler %cpu "cpu"
  // Each of the other tasks may run two functions. If there are none, nobody waits for that.
  %n1 = "tfrt_dist.test_process_next_request"(%w1, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n2 = "tfrt_dist.test_process_next_request"(%w1, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n3 = "tfrt_dist.test_process_next_request"(%w2, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %n4 = "tfrt_dist.test_process_next_request"(%w2, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %c1, %y1 = tfrt.call @on_three_tasks(%cl, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> (!tfrt.chain, !corert.tensorhandle)
  %c2, %y2 = tfrt.call @on_three_tasks(%cl, %c1) : (!tfrt_dist.dist_context, !tfrt.chain) -> (!tfrt.chain, !corert.tensorhandle)
  %p1 = "corert.print_tensorhandle"(%y1, %c2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %p2 = "corert.print_tensorhandle"(%y2, %p1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %e0 = tfrt_dist.test_close_distributed_context %cl, %p2
  %e1 = tfrt_dist.test_close_distributed_context %w1, %e0
  %e2 = tfrt_dist.test_close_distributed_context %w2, %e1
  tfrt.return %e2 : !tfrt.chain
}
