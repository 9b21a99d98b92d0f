// Input pipelines whose elements the tasks of a group share.
// RUN: tfrt opt %s
// RUN: tfrt run --print_error_code --work_queue_type=s %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:4 %s

func private @add(%x: i64, %sum: i64) -> i64 {
  %next = tfrt.add.i64 %sum, %x
  tfrt.return %next : i64
}

func private @sum(%d: !tfrt_data.dataset) -> i64 {
  %zero = tfrt.constant.i64 0
  %it = tfrt_data.make_iterator %d
  %sum = tfrt_data.enumerate.iterator %it, %zero { function = @add } : i64
  tfrt.return %sum : i64
}

func private @seven() -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %seven = tfrt.constant.i64 7
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %seven, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}

// The first task has three of seven elements, the others two: all of them stop behind two.
func @stop_together() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:3 = tfrt_dist.test_create_configurations : 3
  %a, %b, %d = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1, %cfg#2 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %key = tfrt_test.get_string { value = "epoch" }
  %all = tfrt.call @seven() : () -> !tfrt_data.dataset
  %s0 = tfrt_dist.shard_dataset %a, %group, %all
  %s1 = tfrt_dist.shard_dataset %b, %group, %all
  %s2 = tfrt_dist.shard_dataset %d, %group, %all
  %t0 = tfrt_dist.stop_together_dataset %a, %group, %key, %s0
  %t1 = tfrt_dist.stop_together_dataset %b, %group, %key, %s1
  %t2 = tfrt_dist.stop_together_dataset %d, %group, %key, %s2
  %r0 = tfrt.call @sum(%t0) : (!tfrt_data.dataset) -> i64
  %r1 = tfrt.call @sum(%t1) : (!tfrt_data.dataset) -> i64
  %r2 = tfrt.call @sum(%t2) : (!tfrt_data.dataset) -> i64
  %p0 = tfrt.print.i64 %r0, %c0
  %p1 = tfrt.print.i64 %r1, %p0
  %p2 = tfrt.print.i64 %r2, %p1
  %e0 = tfrt_dist.test_close_distributed_context %a, %p2
  %e1 = tfrt_dist.test_close_distributed_context %b, %e0
  %e2 = tfrt_dist.test_close_distributed_context %d, %e1
  tfrt.return %e2 : !tfrt.chain
}

// The shards of two tasks, with another element for the one that lacks it.
func @padded() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %nobody = tfrt_test.get_string { value = "nobody" }
  %all = tfrt.call @seven() : () -> !tfrt_data.dataset
  %s0 = tfrt_dist.shard_dataset %a, %group, %all { uneven = "pad" }
  %s1 = tfrt_dist.shard_dataset %b, %group, %all { uneven = "pad" }
  %r0 = tfrt.call @sum(%s0) : (!tfrt_data.dataset) -> i64
  %r1 = tfrt.call @sum(%s1) : (!tfrt_data.dataset) -> i64
  %p0 = tfrt.print.i64 %r0, %c0
  %p1 = tfrt.print.i64 %r1, %p0
  // expected-error @+1 {{No collective group with name nobody}}
  %bad = tfrt_dist.shard_dataset %a, %nobody, %all
  %e0 = tfrt_dist.test_close_distributed_context %a, %p1
  %e1 = tfrt_dist.test_close_distributed_context %b, %e0
  tfrt.return %e1 : !tfrt.chain
}

func private @show(%x: !tfrt.string, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = "tfrt_test.print_string"(%x, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

// The second task has the second of two files.
func @files() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %cfg:2 = tfrt_dist.test_create_configurations : 2
  %a, %b = tfrt_dist.test_create_distributed_context %cfg#0, %cfg#1 : (!tfrt_dist.dist_context_configuration, !tfrt_dist.dist_context_configuration) -> (!tfrt_dist.dist_context, !tfrt_dist.dist_context)
  %group = tfrt_test.get_string { value = "group1" }
  %names = tfrt_test.get_string { value = "files/*.txt" }
  %lines = tfrt_data.text_line_dataset %names
  %share = tfrt_dist.auto_shard_dataset %b, %group, %lines
  %it = tfrt_data.make_iterator %share
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @show } : !tfrt.chain
  %e0 = tfrt_dist.test_close_distributed_context %a, %c1
  %e1 = tfrt_dist.test_close_distributed_context %b, %e0
  tfrt.return %e1 : !tfrt.chain
}
