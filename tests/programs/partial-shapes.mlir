// Shapes that are known in part: what is inferred of the results of ops, and contradictions that hold whatever the rest turns out to be.
// RUN: tfrt opt --corert-infer-metadata %s
// RUN: tfrt opt --corert-infer-metadata --corert-infer-metadata %s

// A network for any number of images.
func @network(%c: !tfrt.chain, %x: !corert.tensorhandle, %w: !corert.tensorhandle, %b: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
    attributes {corert.arguments = [tensor<?x784xf32>, tensor<784x?xf32>, tensor<10xf32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %p = corert.executeop(%cpu) "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false} : 1
  %s = corert.executeop(%cpu) "tf.BiasAdd"(%p, %b) : 1
  %r = corert.executeop(%cpu) "tf.Relu"(%s) : 1
  %is_large = corert.executeop(%cpu) "tf.Greater"(%r, %b) : 1
  %d, %shown = corert.executeop.seq(%cpu, %c) "tf.Softmax"(%r) : 1
  tfrt.return %d, %is_large : !tfrt.chain, !corert.tensorhandle
}

// Of the first operand only the element type is known, and nothing of the second.
func @ranks(%c: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<*xf32>, none]} {
  %cpu = corert.get_op_handler %c "cpu"
  %s = corert.executeop(%cpu) "tf.AddV2"(%x, %y) : 1
  %t = corert.executeop(%cpu) "tfrt.Cast"(%s) {DstT = i64} : 1
  %m = corert.executeop(%cpu) "tf.MatMul"(%y, %y) {transpose_a = false, transpose_b = false} : 1
  %unknown = corert.executeop(%cpu) "tf.Shape"(%y) {out_type = i32} : 1
  tfrt.return %t : !corert.tensorhandle
}

// What the program says of a result adds to what is inferred.
func @said(%c: !tfrt.chain, %x: !corert.tensorhandle, %y: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<?x3xf32>, tensor<?x3xf32>]} {
  %cpu = corert.get_op_handler %c "cpu"
  %s = "corert.executeop"(%cpu, %x, %y) {corert.results = [tensor<4x?xf32>], op_attrs = [], op_func_attrs = [], op_name = "tf.AddV2"} : (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle) -> !corert.tensorhandle
  %r = corert.executeop(%cpu) "tf.Relu"(%s) : 1
  tfrt.return %r : !corert.tensorhandle
}
