// RUN: tfrt run --work_queue_type=s --print_error_code %s
// RUN: tfrt run --work_queue_type=s --print_error_code --typed-remote-errors %s

// Errors of other tasks have the code `Unknown`, unless the host asks for their own.

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
