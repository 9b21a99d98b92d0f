// Functions as ops: each step by which an op is made of a function, and what the functions do before and after.
// RUN: tfrt opt --corert-expand-calls --corert-infer-metadata %s
// RUN: tfrt opt --corert-infer-metadata --corert-prune %s
// RUN: tfrt opt --corert-infer-metadata --corert-explain-placement --corert-place %s
// RUN: tfrt opt --corert-place --corert-partition %s
// RUN: tfrt opt --corert-expand-calls --corert-prune --corert-place --corert-partition --corert-lower %s
// RUN: tfrt run --test_init_function=set_up --functions=main,alone %s

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%none) : (!corert.ophandler) -> !corert.ophandler
  %c = corert.register_op_handler %cpu "cpu"
  tfrt.return %c : !tfrt.chain
}

// Two devices: the product is made on the second, and the sum on the first, which needs it.
func @two(%c: !tfrt.chain, %x: !corert.tensorhandle, %w: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle)
    attributes {corert.devices = ["CPU:0", "CPU:1"], corert.arguments = [tensor<2x2xf32>, tensor<2x2xf32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %p = "corert.executeop"(%cpu, %x, %w) {corert.device = "CPU:1", corert.name = "product", op_attrs = [["transpose_a", false], ["transpose_b", true]], op_func_attrs = [], op_name = "tf.MatMul"} : (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle) -> !corert.tensorhandle
  %unused = corert.executeop(%cpu) "tf.Exp"(%p) : 1
  %one = corert.const_dense_tensor dense<1.0> : tensor<f32>
  %s = "corert.executeop"(%cpu, %p, %one) {corert.device = "CPU:0", op_attrs = [], op_func_attrs = [], op_name = "tf.AddV2"} : (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle) -> !corert.tensorhandle
  %r = "corert.executeop"(%cpu, %s) {corert.colocate_with = "product", op_attrs = [], op_func_attrs = [], op_name = "tf.Relu"} : (!corert.ophandler, !corert.tensorhandle) -> !corert.tensorhandle
  %d, %loose = corert.executeop.seq(%cpu, %c) "tf.Abs"(%r) : 1
  %e = corert.executeop.seq(%cpu, %d) "tfrt_test.print"(%s)
  tfrt.return %e, %loose, %s : !tfrt.chain, !corert.tensorhandle, !corert.tensorhandle
}

func @half(%x: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %two = corert.const_dense_tensor dense<2.0> : tensor<f32>
  %y = corert.executeop(%cpu) "tf.RealDiv"(%x, %two) : 1
  tfrt.return %y : !corert.tensorhandle
}

// A function that calls another one as an op.
func @quarter(%x: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} {f = "half"} : 1
  %z = corert.executeop(%cpu) "tf.PartitionedCall"(%y) {} {f = "half"} : 1
  tfrt.return %z : !corert.tensorhandle
}

func @main() -> !tfrt.chain {
  %c = tfrt.new.chain
  %x = corert.const_dense_tensor dense<[[1.0, -2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %d, %y, %s = tfrt.call @two(%c, %x, %x) : (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle)
  %e = "corert.print_tensorhandle"(%y, %d) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %e : !tfrt.chain
}

func @alone() -> !tfrt.chain {
  %c = tfrt.new.chain
  %x = corert.const_dense_tensor dense<[[1.0, -2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = tfrt.call @quarter(%x) : (!corert.tensorhandle) -> !corert.tensorhandle
  %e = "corert.print_tensorhandle"(%y, %c) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %e : !tfrt.chain
}
