// RUN: tfrt opt %s

// Custom forms of ops, with further attributes, escapes and empty lists. Unknown ops of the dialect are kept.

func @syntax(%ch: !tfrt.chain, %s: !tfrt.string, %s2: !tfrt.string) {
  %c:1 = tfrt_dist.test_create_configurations : 1
  %g = "tfrt_dist.test_create_configurations"() {n = 1 : i64} : () -> !tfrt_dist.dist_context_configuration
  %a = tfrt_dist.test_create_distributed_context %c {x = 1 : i32} : (!tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context)
  %w = tfrt_dist.get_task_handle %a {task_name = "/job:worker/task:0"}
  %ctx = tfrt_dist.get_distributed_context {foo = "x"}
  %spec = tfrt_dist.create_remote_execute_spec %a {output_devices = []}
  %p = tfrt_dist.test_register_fake_compiler_pass "p" "text" (%s, %s2)
  %r = tfrt_dist.register_tfrt_function(%p, %a, %w) "n" "func @n() {\0A tfrt.return\0A}" {extra = 1 : i32}
  %t = tfrt_dist.register_tf_function(%p, %a, %w) "n\22q" "te\\xt"
  %o = tfrt_dist.remote_execute[%r, %a, %w, %spec] "n"() : () -> ()
  %u = "tfrt_dist.never_heard_of"(%ch) {a = 1 : i32} : (!tfrt.chain) -> !tfrt.chain
  %d = tfrt_dist.get_dummy_remote_chain {k}
  %q = tfrt_dist.remote_execute_th_preallocated[%r, %a, %w, %spec, 1, 0] "n"(%d, %d) {z} : (!tfrt_dist.remote_object_id, !tfrt_dist.remote_object_id) -> ()
  %q1, %q2 = tfrt_dist.remote_execute_th[%r, %a, %w, %spec, 0] "n"(%d) : (!tfrt_dist.remote_object_id) -> !tfrt_dist.remote_object_id
  tfrt.return
}
