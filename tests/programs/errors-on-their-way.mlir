// Which error becomes a result where there are several, what stays where a kernel fails in part, and who is told.
// RUN: tfrt run %s
// RUN: tfrt run --print_error_code %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func @the_last_operand_wins() -> (i32, i32) {
  // expected-error @+1 {{something bad happened}}
  %now = "tfrt_test.fail"() : () -> i32
  // expected-error @+1 {{something bad happened asynchronously}}
  %later = "tfrt_test.report_error_async"() : () -> i32
  %one = tfrt.add.i32 %now, %later
  %other = tfrt.add.i32 %later, %now
  tfrt.return %one, %other : i32, i32
}

// The first result is there; the second one is an error, and so is all that needs it.
func @what_is_there_stays() -> (i32, i32, i32) {
  // expected-error @+1 {{something bad happened}}
  %good, %bad = "tfrt_test.partial_fail"() : () -> (i32, i32)
  %sum = tfrt.add.i32 %good, %good
  %none = tfrt.add.i32 %good, %bad
  tfrt.return %sum, %bad, %none : i32, i32, i32
}

// Nobody needs the error, so that it is none of the function; the handler is told.
func @an_unused_error() -> i32 {
  // expected-error @+1 {{something bad happened}}
  %unused = "tfrt_test.fail"() : () -> i32
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}

// An operand that is an error counts for more than the cancelled request, wherever it stands.
func @errors_before_cancellation() -> (i32, i32, i32) {
  // expected-error @+1 {{something bad happened}}
  %good, %bad = "tfrt_test.partial_fail"() : () -> (i32, i32)
  %ch = "tfrt_test.as_chain"(%good) : (i32) -> !tfrt.chain
  %zero, %cancelled = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %first = tfrt.add.i32 %bad, %zero
  %last = tfrt.add.i32 %zero, %bad
  %none = tfrt.add.i32 %zero, %good
  tfrt.return %first, %last, %none : i32, i32, i32
}

// A body starts whatever its arguments are. As an operand of a call an error skips the whole body.
func @a_call_with_an_error() -> (i32, i32) {
  // expected-error @+1 {{something bad happened}}
  %bad = "tfrt_test.fail"() : () -> i32
  %r:2 = tfrt.call @ignores(%bad) : (i32) -> (i32, i32)
  tfrt.return %r#0, %r#1 : i32, i32
}

func @an_early_call_with_an_error() -> (i32, i32) {
  // expected-error @+1 {{something bad happened}}
  %bad = "tfrt_test.fail"() : () -> i32
  %r:2 = tfrt.call @ignores(%bad) {bef.nonstrict} : (i32) -> (i32, i32)
  tfrt.return %r#0, %r#1 : i32, i32
}

func private @ignores(%x: i32) -> (i32, i32) {
  %one = tfrt.constant.i32 1
  tfrt.return %one, %x : i32, i32
}

// A worker that waited for its own queue would wait for ever.
func @quiesce_in_a_task() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %quiet = tfrt_test.do.async %ch : (!tfrt.chain) -> (!tfrt.chain) {
    // expected-error @+1 {{a task cannot wait for the work queue that runs it}}
    %done = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
    tfrt.return %done : !tfrt.chain
  }
  tfrt.return %quiet : !tfrt.chain
}

func @quiesce_outside() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %quiet = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %quiet : !tfrt.chain
}

func private @native_error() -> i32 attributes {tfrt.native}

func private @native_add(%a: i32, %b: i32) -> i32 attributes {tfrt.native}

// The error of a native function is a value that no handler is told of.
func @native_functions() -> (i32, i32) {
  %bad = tfrt.call @native_error() : () -> i32
  %one = tfrt.constant.i32 1
  %sum = tfrt.call @native_add(%one, %bad) : (i32, i32) -> i32
  tfrt.return %bad, %sum : i32, i32
}

// A synchronous function stops at its first error, of which no handler is told, and whose code is not printed. It has no
// results then, not even those that were there.
func @sync_fails() -> (i32, i32) attributes {tfrt.sync} {
  %one = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %bad = "tfrt_test.fail_s"() : () -> i32
  tfrt.return %one, %bad : i32, i32
}

func @sync_fails_without_results() attributes {tfrt.sync} {
  %bad = "tfrt_test.error_s"() : () -> i32
  tfrt.return
}

func private @sync_quotient(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %bad = "tfrt_test.fail_s"() : () -> i32
  %sum = "tfrt.add_s.i32"(%a, %bad) : (i32, i32) -> i32
  tfrt.return %sum : i32
}

// Called from a kernel, its error is that of the kernel.
func @sync_fails_in_a_call() -> i32 {
  %one = tfrt.constant.i32 1
  // expected-error @+1 {{something bad happened}}
  %r = "tfrt_test.invoke_sync_function.i32_i32.i32"(%one, %one) {fn = @sync_quotient} : (i32, i32) -> i32
  tfrt.return %r : i32
}
