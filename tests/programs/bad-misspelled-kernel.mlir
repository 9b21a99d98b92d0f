// A kernel that nobody registered, though one of nearly that name is.
// RUN: tfrt run %s

func @main() {
  %a = tfrt.constant.i32 1
  %b = "tfrt.ad.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return
}
