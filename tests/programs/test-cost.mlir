// The op that says what it costs takes operands of any type, and any number of them.
// RUN: tfrt run %s

func @costs() -> (i32, i32, i32) {
  %number = tfrt.constant.i32 3
  %half = tfrt.constant.f32 5.000000e-01
  %text = tfrt_test.get_string {value = "x"}
  %chain = tfrt.new.chain
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %a = "tfrt_test.test_cost"() {id = 1 : i64, _tfrt_cost = 10 : i64} : () -> i32
  %b = tfrt_test.test_cost %a, %half, %text {id = 2 : i64, _tfrt_cost = 10 : i64} : i32, f32, !tfrt.string
  %c = tfrt_test.test_cost %b, %tensor, %chain, %number {id = 3 : i64, _tfrt_cost = 10 : i64} : i32, !t.tensor, !tfrt.chain, i32
  tfrt.return %a, %b, %c : i32, i32, i32
}
