// A program that is written without chains prints in program order once it is threaded, whatever the work queue.
// RUN: tfrt opt --allow-unregistered-dialect --thread-chains %s
// RUN: tfrt run --thread-chains %s
// RUN: tfrt run --thread-chains --work_queue_type=mstd:2 %s
// RUN: tfrt opt --allow-unregistered-dialect --pass-pipeline=inline,thread-chains,inline %s
// RUN: tfrt opt %s
// RUN: tfrt run --thread-chains ../golden/host/05-chains.bef

func private @countdown(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %is_over = "tfrt.lessequal.i32"(%n, %one) : (i32, i32) -> i1
  tfrt.print.i32 %n
  %rest = tfrt.if %is_over, %n : (i32) -> (i32) {
    "tfrt_test.print_hello"() : () -> ()
    tfrt.return %n : i32
  } else {
    %minus_one = tfrt.constant.i32 -1
    %less = tfrt.add.i32 %n, %minus_one
    %rest = tfrt.call @countdown(%less) : (i32) -> i32
    tfrt.return %rest : i32
  }
  tfrt.return %rest : i32
}

func @main() {
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %three = tfrt.constant.i32 3
  %rest = tfrt.call @countdown(%three) : (i32) -> i32
  %unused = tfrt.repeat.i32 %three, %counter : !test.atomic.i32 {
    "tfrt_test.atomic.inc.i32"(%counter) : (!test.atomic.i32) -> ()
    %count = "tfrt_test.atomic.get.i32"(%counter) : (!test.atomic.i32) -> i32
    tfrt.print.i32 %count
    tfrt.return %counter : !test.atomic.i32
  }
  tfrt.print.i32 %rest
  tfrt.return
}
