// RUN: tfrt opt --tfrt-dist-remote-run-encapsulate %s

// Executions of functions on other tasks that no ops can replace.

func @without_host(%c: !tfrt.chain) -> !tfrt.chain {
  tfrt.return %c : !tfrt.chain
}

func @on_host(%x: i32) -> !tfrt.chain attributes {host = "/job:worker/task:1"} {
  %c = tfrt.new.chain
  tfrt.return %c : !tfrt.chain
}

func @itself(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle) -> !tfrt.chain attributes {host = "/job:worker/task:1"} {
  %c, %rc = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @itself() : () -> (!tfrt.chain)
  tfrt.return %c : !tfrt.chain
}

func @refused(%ch: !tfrt.chain, %ctx: !tfrt_dist.dist_context, %w: !tfrt_dist.task_handle, %x: i32) -> !tfrt.chain {
  %c, %rc = tfrt_dist.remote_execute_func [%ch, %ctx, %w] @without_host() : () -> (!tfrt.chain)
  %d, %sc = tfrt_dist.remote_execute_func [%c, %ctx, %w] @on_host(%x) : (i32) -> (!tfrt.chain)
  %e, %tc, %h = tfrt_dist.remote_execute_func [%d, %ctx, %w] @on_host() : () -> (!tfrt.chain, !corert.tensorhandle)
  tfrt.return %e : !tfrt.chain
}
