// An error that no comment expects ends the run with status 1, and the functions after it still run.
// RUN: tfrt run %s

func @fails() -> i32 {
  %a = "tfrt_test.fail"() : () -> i32
  tfrt.return %a : i32
}

func @still_runs() -> i32 {
  %a = tfrt.constant.i32 7
  tfrt.return %a : i32
}
