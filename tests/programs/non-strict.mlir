// An op marked `bef.nonstrict` starts before all its operands are there: a call at once with what it has, a choice as soon as
// its condition is there. The kernels that print wait for values as ever.
// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

func private @first_of(%a: i32, %b: i32) -> (i32, !tfrt.chain) {
  %c = tfrt.new.chain
  %d = tfrt.print.i32 %a, %c
  tfrt.return %b, %d : i32, !tfrt.chain
}

// The call does not wait for the second argument, which is an error and reaches only what uses it.
func @error_behind_a_reference() -> (i32, !tfrt.chain) {
  %a = tfrt.constant.i32 1
  // expected-error @+1 {{something bad happened}}
  %b = "tfrt_test.fail"() : () -> i32
  %r:2 = tfrt.call @first_of(%a, %b) {bef.nonstrict} : (i32, i32) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

// The same call, strictly: the error is every result.
func @error_of_a_strict_call() -> (i32, !tfrt.chain) {
  %a = tfrt.constant.i32 1
  // expected-error @+1 {{something bad happened}}
  %b = "tfrt_test.fail"() : () -> i32
  %r:2 = tfrt.call @first_of(%a, %b) : (i32, i32) -> (i32, !tfrt.chain)
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}

// The choice does not wait for what it does not choose.
func @choice() -> i32 {
  %yes = tfrt.constant.i1 true
  %a = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  // expected-error @+1 {{something bad happened}}
  %b = "tfrt_test.fail"() : () -> i32
  %r = "tfrt.select"(%yes, %a, %b) {bef.nonstrict} : (i1, i32, i32) -> i32
  tfrt.return %r : i32
}
