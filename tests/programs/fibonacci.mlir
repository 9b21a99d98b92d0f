// Fibonacci numbers by recursion. The two calls of a step do not depend on each other: with `--work_queue_type=mstd` they
// may run in parallel.
// RUN: tfrt run %s

func @fibonacci(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %is_small = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  %result = tfrt.if %is_small, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %minus_one = tfrt.constant.i32 -1
    %minus_two = tfrt.constant.i32 -2
    %n1 = tfrt.add.i32 %n, %minus_one
    %n2 = tfrt.add.i32 %n, %minus_two
    %f1 = tfrt.call @fibonacci(%n1) : (i32) -> (i32)
    %f2 = tfrt.call @fibonacci(%n2) : (i32) -> (i32)
    %sum = tfrt.add.i32 %f1, %f2
    tfrt.return %sum : i32
  }
  tfrt.return %result : i32
}

func @main() -> i32 {
  %n = tfrt.constant.i32 15
  %result = tfrt.call @fibonacci(%n) : (i32) -> (i32)
  %ready = tfrt.new.chain
  %printed = tfrt.print.i32 %result, %ready
  tfrt.return %result : i32
}
