// RUN: tfrt opt --inline --mlir-print-debuginfo --mlir-print-local-scope %s

func private @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x loc("add")
  tfrt.return %y : i32
}

func private @nested(%t: i1, %x: i32) -> i32 {
  %r = tfrt.if %t, %x : (i32) -> i32 {
    %y = tfrt.call @twice(%x) : (i32) -> i32 loc("inner call")
    tfrt.return %y : i32 loc("return")
  } else {
    tfrt.return %x : i32 loc("else")
  } loc("if")
  %s = tfrt.call @twice(%r) : (i32) -> i32 loc("outer call")
  tfrt.return %s : i32
}

func @f(%t: i1, %x: i32) -> i32 {
  %r = tfrt.call @nested(%t, %x) : (i1, i32) -> i32 loc("call")
  tfrt.return %r : i32 loc("end")
} loc("f")
