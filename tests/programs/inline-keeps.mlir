// RUN: tfrt opt --inline %s
//
// Calls that stay: of recursive functions, across the border of synchronous functions, and where an effect would run too early.

func @factorial(%n: i32) -> i32 {
  %r = tfrt.call @factorial(%n) : (i32) -> i32
  tfrt.return %r : i32
}

func private @ping(%n: i32) -> i32 {
  %r = tfrt.call @pong(%n) : (i32) -> i32
  tfrt.return %r : i32
}

func private @pong(%n: i32) -> i32 {
  %r = tfrt.call @ping(%n) : (i32) -> i32
  tfrt.return %r : i32
}

func @calls_recursive(%n: i32) -> (i32, i32) {
  %a = tfrt.call @factorial(%n) : (i32) -> i32
  %b = tfrt.call @ping(%n) : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}

func private @sync_square(%n: i32) -> i32 attributes {tfrt.sync} {
  %r = "tfrt.mul_s.i32"(%n, %n) : (i32, i32) -> i32
  tfrt.return %r : i32
}

func @calls_sync(%n: i32) -> i32 {
  %r = tfrt.call @sync_square(%n) : (i32) -> i32
  tfrt.return %r : i32
}

// The number is printed when the call starts, which waits for the other number too.
func private @prints_apart(%a: i32, %b: i32, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt.print.i32 %b, %c
  tfrt.return %d : !tfrt.chain
}

func @waits_for_both(%a: i32, %b: i32, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt.call @prints_apart(%a, %b, %c) : (i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

// A constant is there at once, and a call that is not strict waits for nothing: these go.
func @waits_for_nothing(%a: i32, %b: i32, %c: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %d = tfrt.call @prints_apart(%one, %b, %c) : (i32, i32, !tfrt.chain) -> !tfrt.chain
  %e = tfrt.call @prints_apart(%a, %b, %c) {bef.nonstrict} : (i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d, %e : !tfrt.chain, !tfrt.chain
}

// Called by nobody but each other: only what nothing refers to goes.
func private @unused() {
  tfrt.call @only_used_by_unused() : () -> ()
  tfrt.return
}

func private @only_used_by_unused() {
  tfrt.return
}
