// Functions as ops, called with other numbers of arguments and results than they have.
// RUN: tfrt run %s

func private @swap(%c: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) {
  tfrt.return %c, %y, %x : !tfrt.chain, !corert.tensorhandle, !corert.tensorhandle
}

func @counts() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %x = corert.const_dense_tensor dense<1> : tensor<i64>
  %op = "corert.make_composite_op"() { fn = @swap } : () -> !corert.op
  %a:2 = "corert.execute_crt_op"(%op, %x) { op_attrs = [], op_func_attrs = [] } : (!corert.op, !corert.tensorhandle) -> (!corert.tensorhandle, !corert.tensorhandle)
  %b = "corert.execute_crt_op"(%op, %x, %x) { op_attrs = [], op_func_attrs = [] } : (!corert.op, !corert.tensorhandle, !corert.tensorhandle) -> !corert.tensorhandle
  tfrt.return %a#0, %a#1, %b : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}
