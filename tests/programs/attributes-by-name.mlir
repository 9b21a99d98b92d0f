// Attributes are bound by name where the kernel has fixed names, and by position where its names are free.
// RUN: tfrt run %s

func @noted() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 3 {"a.note" = 7 : i32}
  %b = "tfrt.constant.i32"() {"zz.note" = 7 : i32, value = 4 : i32} : () -> i32
  %c = tfrt.constant.i32 5 {"tfrt.cost" = 7 : i32, _tfrt_cost = 100 : i64}
  tfrt.return %a, %b, %c : i32, i32, i32
}

func @noted_in_order() -> i32 attributes {tfrt.sync} {
  %a = tfrt.constant_s.i64 1 {"a.note" = 7 : i64}
  %b = "tfrt.constant_s.i32"() {whatever = 6 : i32} : () -> i32
  tfrt.return %b : i32
}

func @free_names() -> (i32, !t.tensor, !tfrt.chain) {
  %a = "tfrt_test.async_constant.i32"() {what = 8 : i32} : () -> i32
  %t = "tfrt_sht.create_tensor"() {a = [2], z = ["x", "y"]} : () -> !t.tensor
  %ch = tfrt.new.chain
  %done = tfrt_dht.print_tensor %t, %ch
  tfrt.return %a, %t, %done : i32, !t.tensor, !tfrt.chain
}

func @any_attributes() -> i32 attributes {tfrt.sync} {
  %a = "tfrt_test.sync_sum_attributes"() {b = 1 : i32, a = 2 : i32, c = 4 : i32} : () -> i32
  tfrt.return %a : i32
}

func @sum(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %c = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %c : i32
}

func @free_function_names() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %c = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %b) {my_fn = @sum} : (i32, i32) -> i32
  tfrt.return %c : i32
}
