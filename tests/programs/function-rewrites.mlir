// Rules that apply to the ops of a function, and what becomes of it.
// RUN: tfrt opt --corert-infer-metadata --corert-explain-rewrites %s
// RUN: tfrt opt --corert-infer-metadata --corert-explain-rewrites=rules=fuse-bias-add,join-rectifiers %s
// RUN: tfrt opt --corert-rewrite=rules=fuse-bias-ad %s

func @layer(%x: !corert.tensorhandle, %w: !corert.tensorhandle, %b: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>]} {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %p = corert.executeop(%cpu) "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false} : 1
  %s = corert.executeop(%cpu) "tf.BiasAdd"(%p, %b) : 1
  %y = corert.executeop(%cpu) "tf.Relu"(%s) : 1
  %one = corert.const_dense_tensor dense<1.0> : tensor<f32>
  %z = corert.executeop(%cpu) "tf.Mul"(%y, %one) : 1
  tfrt.return %z : !corert.tensorhandle
}

// Nothing is known of the operands: what depends on them stays.
func @unknown(%x: !corert.tensorhandle, %w: !corert.tensorhandle, %b: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %p = corert.executeop(%cpu) "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false} : 1
  %s = corert.executeop(%cpu) "tf.BiasAdd"(%p, %b) : 1
  %y = corert.executeop(%cpu) "tf.Relu"(%s) : 1
  %z = corert.executeop(%cpu) "tf.Relu"(%y) : 1
  tfrt.return %z : !corert.tensorhandle
}
