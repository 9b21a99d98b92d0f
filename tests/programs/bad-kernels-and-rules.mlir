// What is wrong with an op, and kernels that do not exist, are told in one run.
// RUN: tfrt run %s

func @main() -> i64 {
  %a = "tfrt.constnt.i32"() {value = 1 : i32} : () -> i32
  %b = "tfrt.constnt.i32"() {value = 1 : i32} : () -> i32
  %c = "tfrt.minus.i32"(%a, %b) : (i32, i32) -> i64
  tfrt.return %c : i64
}
