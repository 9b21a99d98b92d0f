// An attribute that a kernel does not have is an error of a program that is run. Tools that only read and write programs let it pass.
// RUN: tfrt run %s
// RUN: tfrt opt %s

func @undeclared() -> i32 {
  %a = tfrt.constant.i32 3 {note = 7 : i32}
  tfrt.return %a : i32
}
