// Loops and branches that are asked for what they cannot do, or for nothing at all; and loops whose request is cancelled.
// RUN: tfrt run --print_error_code %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func @repeat_less_than_never() -> i32 {
  %n = tfrt.constant.i32 -1
  %x = tfrt.constant.i32 5
  // expected-error @+1 {{repeat count must not be negative, but is -1}}
  %r = tfrt.repeat.i32 %n, %x : i32 { tfrt.return %x : i32 }
  tfrt.return %r : i32
}

func @repeat_never() -> i32 {
  %n = tfrt.constant.i32 0
  %x = tfrt.constant.i32 5
  %r = tfrt.repeat.i32 %n, %x : i32 {
    %fails = "tfrt_test.fail"() : () -> i32
    tfrt.return %fails : i32
  }
  tfrt.return %r : i32
}

func @repeat_nothing() {
  %n = tfrt.constant.i32 100
  tfrt.repeat.i32 %n { tfrt.return }
  tfrt.return
}

// The loop goes on with the value that is no error.
func @repeat_with_an_error() -> (i32, i32) {
  %n = tfrt.constant.i32 40
  %x = tfrt.constant.i32 5
  %y = tfrt.constant.i32 1
  %r, %s = tfrt.repeat.i32 %n, %x, %y : i32, i32 {
    %one = tfrt.constant.i32 1
    %zero = tfrt.constant.i32 0
    // expected-error @+1 {{Divide by zero}}
    %quotient, %rest = tfrt.div.i32 %x, %zero
    %t = tfrt.add.i32 %y, %one
    tfrt.return %quotient, %t : i32, i32
  }
  tfrt.return %r, %s : i32, i32
}

// What was made before stays; the loop, and what comes after it, is cancelled.
func @repeat_cancelled() -> (i32, i32, i32) {
  %n = tfrt.constant.i32 2147483647
  %x = tfrt.constant.i32 5
  %before = tfrt.add.i32 %x, %x
  %ch = tfrt.new.chain
  %ch1, %r = tfrt.repeat.i32 %n, %ch, %before : !tfrt.chain, i32 {
    %zero, %ch2 = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %ch2, %before : !tfrt.chain, i32
  }
  %after = tfrt.add.i32 %r, %x
  tfrt.return %before, %r, %after : i32, i32, i32
}

// A loop that does not look at the request ends because its condition is cancelled.
func @while_cancelled() -> (i32, i32) {
  %true = tfrt.constant.i1 true
  %x = tfrt.constant.i32 3
  %ch = tfrt.new.chain
  %ch1, %r = tfrt.while %true @cancels (%ch, %x) parallel_iterations(1) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  tfrt.return %x, %r : i32, i32
}

func private @cancels(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32, i1) {
  %zero, %ch1 = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %again = tfrt.equal.i32 %zero, %zero
  tfrt.return %ch1, %x, %again : !tfrt.chain, i32, i1
}

func @while_never() -> i32 {
  %false = tfrt.constant.i1 false
  %x = tfrt.constant.i32 3
  %r = tfrt.while %false @condition_fails (%x) parallel_iterations(-5) : (i32) -> (i32)
  tfrt.return %r : i32
}

// An error of the condition becomes every result.
func @while_failing() -> (i32) {
  %true = tfrt.constant.i1 true
  %x = tfrt.constant.i32 3
  %r = tfrt.while %true @condition_fails (%x) parallel_iterations(0) : (i32) -> (i32)
  tfrt.return %r : i32
}

func private @condition_fails(%x: i32) -> (i32, i1) {
  // expected-error @+1 {{something bad happened}}
  %fails = "tfrt_test.fail"() : () -> i32
  %again = tfrt.equal.i32 %fails, %x
  tfrt.return %x, %again : i32, i1
}

func @case_out_of_range() -> (!tfrt.chain, i32) {
  %two = tfrt.constant.i32 2
  %minus = tfrt.constant.i32 -1
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 3
  // expected-error @+1 {{branch_index invalid. branch index: 2 # branches: 2}}
  %ch1, %r = tfrt.case %two [@branch, @branch] (%ch, %x) : (i32) -> (i32)
  // expected-error @+1 {{branch_index invalid. branch index: -1 # branches: 2}}
  %ch2, %s = tfrt.case %minus [@branch, @branch] (%ch, %x) : (i32) -> (i32)
  tfrt.return %ch1, %s : !tfrt.chain, i32
}

func private @branch(%ch: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  tfrt.return %ch, %x : !tfrt.chain, i32
}

func @parallel_for_nothing_and_backwards() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %zero = tfrt.constant.i32 0
  %minus = tfrt.constant.i32 -7
  %least = tfrt.constant.i32 -2147483648
  %ten = tfrt.constant.i32 10
  %tens = tfrt.constant.i32 10
  %nothing = tfrt.parallel_for.i32 %ten to %tens fixed %ten { tfrt.return }
  // expected-error @+1 {{parallel loop must not end before it starts, but runs from 10 to -2147483648}}
  %backwards = tfrt.parallel_for.i32 %ten to %least fixed %ten { tfrt.return }
  // expected-error @+1 {{block size of a parallel loop must be positive, but is -7}}
  %blocks = tfrt.parallel_for.i32 %zero to %ten fixed %minus { tfrt.return }
  tfrt.return %nothing, %backwards, %blocks : !tfrt.chain, !tfrt.chain, !tfrt.chain
}
