// Two calls on two streams, with values that come later, and a chain: what a trace has to tell. `tests/trace.rs` looks at it.
// RUN: tfrt run %s

func @add_twice(%a: i32) -> i32 {
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}

func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %x = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %y = "tfrt_test.async_constant.i32"() {value = 20 : i32} : () -> i32
  %p = tfrt.call @add_twice(%x) : (i32) -> i32
  %q = tfrt.call @add_twice(%y) : (i32) -> i32
  %sum = tfrt.add.i32 %p, %q
  %done = tfrt.print.i32 %sum, %ch
  tfrt.return %done : !tfrt.chain
}
