// RUN: tfrt opt --tfrt-dist-remote-run-encapsulate %s
// RUN: tfrt opt --tfrt-dist-remote-run-encapsulate --tfrt-dist-remote-run-encapsulate --verify-each %s

// Functions that run on other tasks are sent there as text.

func private @plus_one(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}

func @f(%h: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle {tfrt.device = "/job:worker/task:1/device:CPU:1"}) attributes {host = "/job:worker/task:1"} {
  %ch = tfrt.new.chain
  %two = tfrt.constant.i32 2
  %three = tfrt.call @plus_one(%two) : (i32) -> i32
  tfrt.return %ch, %h : !tfrt.chain, !corert.tensorhandle
}

func @once(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %h: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %c, %rc, %t = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @f(%h) : (!corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
  tfrt.return %c, %t : !tfrt.chain, !corert.tensorhandle
}

// The function is sent to a task once.
func @three_times(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %v: !tfrt_dist.task_handle, %h: !corert.tensorhandle) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_dist.remote_object_id) {
  %c, %rc, %t = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @f(%h) : (!corert.tensorhandle) -> (!tfrt_dist.remote_object_id, !corert.tensorhandle)
  %d, %sc, %u = tfrt_dist.remote_execute_func [%c, %ctx, %w] @f(%t) : (!corert.tensorhandle) -> (!tfrt_dist.remote_object_id, !corert.tensorhandle)
  %e, %tc, %x = tfrt_dist.remote_execute_func [%ch, %ctx, %v] @f(%u) : (!corert.tensorhandle) -> (!tfrt_dist.remote_object_id, !corert.tensorhandle)
  tfrt.return %c, %d, %e, %tc : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt_dist.remote_object_id
}

// The remote chain of the first execution is an argument of the second one.
func @after(%c: !tfrt.chain) -> !tfrt.chain attributes {host = "/job:worker/task:1"} {
  tfrt.return %c : !tfrt.chain
}

func @in_sequence(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %h: !corert.tensorhandle) -> !tfrt.chain {
  %c, %rc, %t = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @f(%h) : (!corert.tensorhandle) -> (!tfrt_dist.remote_object_id, !corert.tensorhandle)
  %d, %sc = tfrt_dist.remote_execute_func [%c, %ctx, %w] @after(%rc) : (!tfrt_dist.remote_object_id) -> (!tfrt_dist.remote_object_id)
  tfrt.return %d : !tfrt.chain
}
