// A function that runs once and comes back for its own results would wait for ever: it is told so.
// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

func @again(%n: i32) -> i32 {
  // expected-error @+1 {{tfrt.once @again waits for its own results}}
  %r = tfrt.once @again(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @even(%n: i32) -> i32 {
  %r = tfrt.once @odd(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @odd(%n: i32) -> i32 {
  // expected-error @+1 {{tfrt.once @even waits for its own results}}
  %r = tfrt.once @even(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @alone() -> i32 {
  %n = tfrt.constant.i32 1
  %r = tfrt.once @again(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @together() -> i32 {
  %n = tfrt.constant.i32 1
  %r = tfrt.once @even(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}
