// Dimensions that cannot match, whatever those that are not known turn out to be.
// RUN: tfrt opt --corert-infer-metadata %s

func @product(%c: !tfrt.chain, %x: !corert.tensorhandle, %w: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<?x3xf32>, tensor<4x?xf32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %p = corert.executeop(%cpu) "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false} : 1
  tfrt.return %p : !corert.tensorhandle
}

func @sum(%c: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<?x3xf32>, tensor<5xf32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %s = corert.executeop(%cpu) "tf.AddV2"(%x, %y) : 1
  tfrt.return %s : !corert.tensorhandle
}

func @types(%c: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<*xf32>, tensor<*xi32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %s = corert.executeop(%cpu) "tf.AddV2"(%x, %y) : 1
  tfrt.return %s : !corert.tensorhandle
}

func @said(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<?x3xf32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %r = "corert.executeop"(%cpu, %x) {corert.results = [tensor<2x4xf32>], op_attrs = [], op_func_attrs = [], op_name = "tf.Relu"} : (!corert.ophandler, !corert.tensorhandle) -> !corert.tensorhandle
  tfrt.return %r : !corert.tensorhandle
}
