// What cannot be put in order is said at its place, all of it at once.
// RUN: tfrt opt --thread-chains %s
// RUN: tfrt run --thread-chains %s

func @unordered() {
  "tfrt_test.print_hello"() : () -> ()
  %number = tfrt.constant.i32 1
  %zero = "tfrt_test.test_cost"(%number) {id = 1 : i64, _tfrt_cost = 1 : i64} : (i32) -> i32
  "tfrt_test.print_hello"() : () -> ()
  tfrt.return
}

func @in_a_benchmark() {
  tfrt_test.benchmark "prints"() duration_secs = 1, max_count = 2 {
    %x = tfrt.constant.i32 1
    tfrt.print.i32 %x
    tfrt.return %x : i32
  }
  tfrt.return
}

func @undeclared() {
  "tfrt.unheard_of"() : () -> ()
  tfrt.return
}
