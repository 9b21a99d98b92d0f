// RUN: tfrt opt --insert-send-recv --cluster-by-host --tfrt-dist-remote-run-encapsulate %s | tfrt run --work_queue_type=s

// A part of a function cannot run, because its task has ended: nobody waits for its values.

func private @on_two_tasks(%ctx: !tfrt_dist.dist_context, %ch: !tfrt.chain) -> !tfrt.chain attributes {host = "/job:worker/task:0"} {
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {device = "/job:worker/task:2/device:CPU:0", shape = [1 : i64], values = [1 : i32]} : 1
  %c = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%x) {device = "/job:worker/task:1/device:CPU:0"} : 0
  tfrt.return %c : !tfrt.chain
}

func @ends() -> !tfrt.chain {
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %cl, %w1, %w2 = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %ch = corert.register_op_handler %cpu "cpu"
  %n1 = "tfrt_dist.test_process_next_request"(%w1, %ch) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %ended = tfrt_dist.test_close_distributed_context %w2, %ch
  %c = tfrt.call @on_two_tasks(%cl, %ended) : (!tfrt_dist.dist_context, !tfrt.chain) -> !tfrt.chain
  %e0 = tfrt_dist.test_close_distributed_context %cl, %c
  %e1 = tfrt_dist.test_close_distributed_context %w1, %e0
  tfrt.return %e1 : !tfrt.chain
}
