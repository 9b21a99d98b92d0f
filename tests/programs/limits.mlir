// A function that calls itself for ever ends with an error at the call. What needs no result of it goes on.
// RUN: tfrt run --print_error_code %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func @calls_itself() -> i32 {
  // expected-error @+1 {{function calls are nested more than 100000 levels deep}}
  %r = tfrt.call @calls_itself() : () -> i32
  tfrt.return %r : i32
}

func @goes_on() -> (i32, i32) {
  %x = tfrt.constant.i32 1
  %never = tfrt.call @calls_itself() : () -> i32
  %sum = tfrt.add.i32 %x, %x
  tfrt.return %never, %sum : i32, i32
}

// Each calls the other. Which of the calls is refused depends on where one begins.
func @calls_the_other() -> i32 {
  // expected-error @+1 {{function calls are nested more than 100000 levels deep}}
  %r = tfrt.call @is_called() : () -> i32
  tfrt.return %r : i32
}

func @is_called() -> i32 {
  // expected-error @+1 {{function calls are nested more than 100000 levels deep}}
  %r = tfrt.call @calls_the_other() : () -> i32
  tfrt.return %r : i32
}
