// RUN: tfrt opt --canonicalize %s

// `tf.Const` returns its value, whatever the handler, and whenever that is found.
func @constants(%c: !tfrt.chain) -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %c "cpu"
  %a = corert.executeop(%cpu) "tf.Const"() {dtype = i32, value = dense<[1, 2]> : tensor<2xi32>} : 1
  %b = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %d = corert.executeop(%cpu) "tf.Neg"(%a) : 1
  %e = corert.const_dense_tensor dense<3.0> : tensor<f32>
  tfrt.return %a, %b, %d, %e : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

// No constant: texts, two results, a value of another name, another op. The last one keeps its order with a chain.
func @no_constants(%cpu: !corert.ophandler, %c: !tfrt.chain) -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %a = corert.executeop(%cpu) "tf.Const"() {value = "text"} : 1
  %b:2 = corert.executeop(%cpu) "tf.Const"() {value = dense<1> : tensor<i32>} : 2
  %d = corert.executeop(%cpu) "tf.Const"() {valeur = dense<1> : tensor<i32>} : 1
  %e = corert.executeop(%cpu) "tf.Other"() {value = dense<1> : tensor<i32>} : 1
  %f, %g = corert.executeop.seq(%cpu, %c) "tf.Const"() {value = dense<1> : tensor<i32>} : 1
  tfrt.return %a, %b#0, %d, %e, %g : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

// Regions see only their own values: each has its own constants, at its beginning.
func @in_regions(%t: i1, %x: i32) -> (!corert.tensorhandle, !corert.tensorhandle) {
  %a = corert.const_dense_tensor dense<7> : tensor<i32>
  %r = tfrt.if %t, %x : (i32) -> !corert.tensorhandle {
    %n = tfrt.add.i32 %x, %x
    %m = "tfrt.minus.i32"(%n, %x) : (i32, i32) -> i32
    %b = corert.const_dense_tensor dense<7> : tensor<i32>
    tfrt.return %b : !corert.tensorhandle
  } else {
    %b = corert.const_dense_tensor dense<8> : tensor<i32>
    tfrt.return %b : !corert.tensorhandle
  }
  tfrt.return %a, %r : !corert.tensorhandle, !corert.tensorhandle
}
