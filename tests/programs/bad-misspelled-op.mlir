// The custom form of an op that nobody declared, though one of nearly that name is.
// RUN: tfrt opt %s

func @main() {
  %a = tfrt.constant.i32 1
  %b = tfrt.ad.i32 %a, %a
  tfrt.return
}
