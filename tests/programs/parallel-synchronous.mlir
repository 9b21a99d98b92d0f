// Parallel loops over synchronous functions: one for every block, without a value or an invocation each.
// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

func private @sum(%start: i32, %end: i32, %more: i32) attributes { tfrt.sync } {
  %sum = "tfrt.add_s.i32"(%start, %end) : (i32, i32) -> i32
  %total = "tfrt.add_s.i32"(%sum, %more) : (i32, i32) -> i32
  tfrt.return
}

func private @failing(%start: i32, %end: i32) attributes { tfrt.sync } {
  %never = "tfrt_test.fail_s"() : () -> i32
  tfrt.return
}

func @all_blocks() -> !tfrt.chain {
  %start = tfrt.constant.i32 -50
  %end = tfrt.constant.i32 1000
  %block = tfrt.constant.i32 7
  %more = tfrt.constant.i32 3
  %done = tfrt.parallel_call.i32 %start to %end fixed %block @sum(%more) : i32
  tfrt.return %done : !tfrt.chain
}

func @no_block() -> !tfrt.chain {
  %start = tfrt.constant.i32 4
  %done = tfrt.parallel_call.i32 %start to %start fixed %start @failing()
  tfrt.return %done : !tfrt.chain
}

func @failing_blocks() -> !tfrt.chain {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 100
  %block = tfrt.constant.i32 10
  %done = tfrt.parallel_call.i32 %start to %end fixed %block @failing()
  tfrt.return %done : !tfrt.chain
}
