func @main() {
  %x = tfrt.constant.i32 3
  %y = tfrt.constant.i32 4
  %point = "my.create_coordinate"(%x, %y) : (i32, i32) -> !my.coordinate
  %ready = tfrt.new.chain
  %done = "my.print_coordinate"(%point, %ready) : (!my.coordinate, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}
