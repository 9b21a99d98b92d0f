// RUN: tfrt opt %s

// The types of an op that executes a function of the program list its arguments and the results after the chain.

func @f(%c: !tfrt_dist.remote_object_id, %h: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) attributes {host = "/job:worker/task:1"} {
  %ch = tfrt.new.chain
  tfrt.return %ch, %h : !tfrt.chain, !corert.tensorhandle
}

func @call(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %h: !corert.tensorhandle) -> !tfrt.chain {
  %c, %rc, %t = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @f(%h) : (!corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
  tfrt.return %c : !tfrt.chain
}

// Without arguments, and without results after the chain.
func @call_empty(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle) -> !tfrt.chain {
  %c = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @f() : () -> ()
  tfrt.return %c : !tfrt.chain
}
