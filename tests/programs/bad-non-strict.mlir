// Only a kernel that is declared `non_strict` may start early.
// RUN: tfrt run %s

func @main() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %a {bef.nonstrict}
  tfrt.return %b : i32
}
