// What a file holds: tables, functions with their kernels, attributes, flags, locations.
// RUN: tfrt inspect %s
// RUN: tfrt inspect --hex ../golden/host/52-unknown-kernel.bef
// RUN: tfrt inspect ../golden/damaged/86-damaged-no-kernels.bef
// RUN: tfrt inspect ../golden/damaged/87-damaged-one-byte.bef

func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}

func @main() -> i32 {
  %x = tfrt.constant.i32 21
  %y = tfrt.call @twice(%x) {bef.nonstrict} : (i32) -> i32
  %shape = "demo.shape"() {dims = #corert.shape<2x?>, names = ["n", 1 : i8]} : () -> !demo.shape
  tfrt.return %y : i32
}
