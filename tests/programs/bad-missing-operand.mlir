// An operand too few.
// RUN: tfrt run %s

func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a
  tfrt.return %b : i32
}
