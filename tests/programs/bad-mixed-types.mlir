// A number of one type where one of another type is wanted.
// RUN: tfrt run %s

func @main() -> i32 {
  %a = tfrt.constant.i64 1
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}
