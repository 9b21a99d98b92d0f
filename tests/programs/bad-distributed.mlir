// RUN: tfrt opt --split-input-file %s

// What ops of programs over many tasks require beyond their declarations.

func @types(%a: !tfrt_dist.teapot) {
  tfrt.return
}

// -----

func @ids(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %spec: !tfrt_dist.remote_execute_spec, %x: i32) {
  %a, %b = tfrt_dist.remote_execute [%ch, %ctx, %w, %spec] "f" (%x) : (i32) -> i32
  tfrt.return
}

// -----

func @handles_0(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %spec: !tfrt_dist.remote_execute_spec, %id: !tfrt_dist.remote_object_id) {
  %a, %b = tfrt_dist.remote_execute_th [%ch, %ctx, %w, %spec, 1] "f" () : () -> !tfrt_dist.remote_object_id
  tfrt.return
}

// -----

func @handles_1(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %spec: !tfrt_dist.remote_execute_spec, %id: !tfrt_dist.remote_object_id) {
  %c, %d = tfrt_dist.remote_execute_th [%ch, %ctx, %w, %spec, 2] "f" () : () -> !corert.tensorhandle
  tfrt.return
}

// -----

func @handles_2(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %spec: !tfrt_dist.remote_execute_spec, %id: !tfrt_dist.remote_object_id) {
  %e = tfrt_dist.remote_execute_th_preallocated [%ch, %ctx, %w, %spec, 0, 1] "f" (%id) : (!tfrt_dist.remote_object_id) -> ()
  tfrt.return
}

// -----

func @handles_3(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %spec: !tfrt_dist.remote_execute_spec, %id: !tfrt_dist.remote_object_id) {
  %f = tfrt_dist.remote_execute_th_preallocated [%ch, %ctx, %w, %spec, 2, -1] "f" (%id) : (!tfrt_dist.remote_object_id) -> ()
  tfrt.return
}

// -----

func @no_context() {
  "tfrt_dist.test_create_distributed_context"() : () -> ()
  tfrt.return
}

// -----

func @contexts(%cfg: !tfrt_dist.dist_context_configuration) {
  %a, %b = tfrt_dist.test_create_distributed_context %cfg : (!tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  tfrt.return
}

// -----

func @devices(%a: !tfrt_dist.dist_context) {
  %c = tfrt_dist.create_remote_execute_spec %a { output_devices = ["d", 1 : i32] }
  tfrt.return
}
