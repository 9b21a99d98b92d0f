// A function that does not end.
// RUN: tfrt run %s

func @main() {
  %a = tfrt.constant.i32 1
}
