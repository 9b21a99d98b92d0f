// Forms and operands that programs of the test dialects use: chains that kernels take none
// of, or leave them out, and values that are dropped silently.
// RUN: tfrt opt %s
// RUN: tfrt run %s

func @chains(%c: !tfrt.chain) -> !tfrt.chain {
  %us = tfrt.constant.i32 1
  "tfrt_test.usleep"(%us, %c) : (i32, !tfrt.chain) -> ()
  tfrt.return %c : !tfrt.chain
}

func @near() -> i1 {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %c0 1.0 : f32
  %near, %c2 = "tfrt_dht.tensor_allclose.f32"(%a, %a, %c1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %c4 = "tfrt_dht.no_op_ht"(%a) : (!t.tensor) -> !tfrt.chain
  %c5 = "tfrt_dht.no_op_ht"(%a, %c4) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %near : i1
}

func @silent() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "vt.constant"() {value = -1 : i32} : () -> !vt.value
  %c1 = "vt.print"(%a, %c0) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}
