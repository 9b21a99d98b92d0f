// RUN: tfrt run %s

// TensorFlow's ops in synchronous functions, and every error that they give.

func @arithmetic() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> } : () -> !t.tensor
  %row = "tfrt_test.sync.const_dense_attr"() { value = dense<[1.0, 2.0, 4.0]> : tensor<3xf32> } : () -> !t.tensor
  %column = "tfrt_test.sync.const_dense_attr"() { value = dense<[[10.0], [20.0]]> : tensor<2x1xf32> } : () -> !t.tensor
  %one = "tfrt_test.sync.const_dense_attr"() { value = dense<2.0> : tensor<1x1x1xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  "tf_sync.AddV2.f32"(%a, %a, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Sub.f32"(%a, %row, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Mul.f32"(%row, %column, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync.RealDiv.f32"(%a, %one, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  %both = "tfrt_test.sync.const_dense_attr"() { value = dense<[[10.0, 20.0, 30.0]]> : tensor<1x3xf32> } : () -> !t.tensor
  "tf_sync.AddV2.f32"(%row, %both, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

func @scalars() attributes {tfrt.sync} {
  %x = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2], value = 3.0 : f32 } : () -> !t.tensor
  %y = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2], value = 0.5 : f32 } : () -> !t.tensor
  %r = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2], value = 0.0 : f32 } : () -> !t.tensor
  "tf_sync.Sub.f32"(%x, %y, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  %d = "tfrt_test.sync.const_dense_attr"() { value = dense<[1.0, 2.0]> : tensor<2xf32> } : () -> !t.tensor
  %o = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  "tf_sync.RealDiv.f32"(%x, %d, %o) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %o
  tfrt.return
}

func @whole_numbers() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<[250, 7]> : tensor<2xui8> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<[10, 0]> : tensor<2xui8> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<0> : tensor<2xui8> } : () -> !t.tensor
  "tf_sync.AddV2.u8"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync.RealDiv.u8"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  %h = "tfrt_test.sync.const_dense_attr"() { value = dense<[1.5, 2.0]> : tensor<2xf16> } : () -> !t.tensor
  %k = "tfrt_test.sync.const_dense_attr"() { value = dense<0.0> : tensor<2xf16> } : () -> !t.tensor
  "tf_sync.Mul.f16"(%h, %h, %k) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %k
  tfrt.return
}

func @functions() attributes {tfrt.sync} {
  %x = "tfrt_test.sync.const_dense_attr"() { value = dense<[1.0, 4.0]> : tensor<2xf64> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<0.0> : tensor<2xf64> } : () -> !t.tensor
  "tf_sync.Rsqrt.f64"(%x, %r) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync.Log.f64"(%x, %r) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  %z = "tfrt_test.sync.const_dense_attr"() { value = dense<0.0> : tensor<2x2xf32> } : () -> !t.tensor
  %s = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  "tf_sync.Log1p.f32"(%z, %s) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %s
  "tf_sync.Sigmoid.f32"(%z, %s) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %s
  "tf_sync.Softmax.f32"(%z, %s) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %s
  "tf_sync.LogSoftmax.f32"(%z, %s) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %s
  tfrt.return
}

func @constants() attributes {tfrt.sync} {
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<0> : tensor<2x2xi32> } : () -> !t.tensor
  "tf_sync.Const"(%r) { value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32> } : (!t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

func @products() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32> } : () -> !t.tensor
  %bias = "tfrt_test.sync.const_dense_attr"() { value = dense<[1.0, -1.0]> : tensor<2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %bias) { fused_ops = ["BiasAdd", "Relu"], transpose_a = false, transpose_b = true } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %bias) { fused_ops = ["BiasAdd", "Relu6"], transpose_a = false, transpose_b = true } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %bias) { fused_ops = ["BiasAdd", "Elu"], transpose_a = false, transpose_b = true } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %bias) { fused_ops = ["BiasAdd"], transpose_a = true, transpose_b = false } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

func @pieces() attributes {tfrt.sync} {
  %last = "tfrt.constant_s.i32"() { value = -1 : i32 } : () -> i32
  %first = "tfrt.constant_s.i32"() { value = 0 : i32 } : () -> i32
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<[[1.0], [2.0]]> : tensor<2x1xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  "tf_sync.ConcatV2.f32"(%last, %a, %b, %r) : (i32, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  %x = "tfrt_test.sync.const_dense_attr"() { value = dense<1.0> : tensor<f32> } : () -> !t.tensor
  %y = "tfrt_test.sync.const_dense_attr"() { value = dense<2.0> : tensor<f32> } : () -> !t.tensor
  %v = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  "tf_sync.ConcatV2.f32"(%first, %x, %y, %v) : (i32, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %v
  %t = "tfrt_test.sync.const_dense_attr"() { value = dense<[[1, 2]]> : tensor<1x2xi32> } : () -> !t.tensor
  %m = "tfrt_test.sync.const_dense_attr"() { value = dense<[2, 2]> : tensor<2xi64> } : () -> !t.tensor
  %o = "tfrt_test.sync.const_dense_attr"() { value = dense<0> : tensor<2x4xi32> } : () -> !t.tensor
  "tf_sync.Tile.i32"(%t, %m, %o) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %o
  %words = "tfrt_sht_sync.create_tensor"() { shape = [1, 2], values = ["a", "b"] } : () -> !t.tensor
  %tiled = "tfrt_sht_sync.create_uninitialized_tensor"() { shape = [2, 4] } : () -> !t.tensor
  "tf_sync.Tile.string"(%words, %tiled) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %tiled
  tfrt.return
}

func @sum_of_vectors() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported binary kernel broadcasting: lhs=[2] rhs=[3] out=[3]}}
  "tf_sync.AddV2.f32"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @sum_of_higher_rank() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{argment rank must be smaller than the result rank}}
  "tf_sync.AddV2.f32"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @sum_of_other_extents() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Can't broadcast argument dim: index=1 arg=3 res=2}}
  "tf_sync.AddV2.f32"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @sum_into_a_scalar() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %r = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2], value = 0.0 : f32 } : () -> !t.tensor
  // expected-error @+1 {{Unsupported operand types}}
  "tf_sync.AddV2.f32"(%a, %a, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @scalars_into_a_dense_tensor() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_from_scalar.f32"() { shape = [2], value = 1.0 : f32 } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported operand types}}
  "tf_sync.AddV2.f32"(%a, %a, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @constant_of_other_shape() attributes {tfrt.sync} {
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{tf_sync.Const: a value of type f32 and shape [3] cannot be stored in a tensor of type f32 and shape [2]}}
  "tf_sync.Const"(%r) { value = dense<1.0> : tensor<3xf32> } : (!t.tensor) -> ()
  tfrt.return
}

func @nothing_fused() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{FusedMatMul must specify fused operations}}
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %b) { fused_ops = [], transpose_a = false, transpose_b = false } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @unknown_fusion() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported fusion type}}
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %b) { fused_ops = ["BiasAdd", "Tanh"], transpose_a = false, transpose_b = false } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @bias_of_two_dimensions() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Bias tensor must a vector}}
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %a) { fused_ops = ["BiasAdd"], transpose_a = false, transpose_b = false } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @bias_of_other_size() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{The number of bias elements 3 doesn't match output inner dimension 2}}
  "tf_sync._FusedMatMul.f32"(%a, %a, %r, %b) { fused_ops = ["BiasAdd"], transpose_a = false, transpose_b = false } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @concatenation_of_high_rank() attributes {tfrt.sync} {
  %axis = "tfrt.constant_s.i32"() { value = 0 : i32 } : () -> i32
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1x1x1x1xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1x1x1x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported output tensor rank}}
  "tf_sync.ConcatV2.f32"(%axis, %a, %r) : (i32, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @concatenation_of_other_shape() attributes {tfrt.sync} {
  %axis = "tfrt.constant_s.i32"() { value = 0 : i32 } : () -> i32
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{expected a tensor of shape [4], found [3]}}
  "tf_sync.ConcatV2.f32"(%axis, %a, %a, %r) : (i32, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @concatenation_without_such_an_axis() attributes {tfrt.sync} {
  %axis = "tfrt.constant_s.i32"() { value = 7 : i32 } : () -> i32
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<4xf32> } : () -> !t.tensor
  // expected-error @+1 {{concat: expected an axis within -1..1, found 7}}
  "tf_sync.ConcatV2.f32"(%axis, %a, %a, %r) : (i32, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @multiples_of_two_dimensions() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.sync.const_dense_attr"() { value = dense<1> : tensor<1x1xi64> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Tile multiples must be a vector}}
  "tf_sync.Tile.f32"(%a, %m, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @multiples_of_other_numbers() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported multiples data type}}
  "tf_sync.Tile.f32"(%a, %m, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @tile_of_high_rank() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1x1x1x1xf32> } : () -> !t.tensor
  %m = "tfrt_test.sync.const_dense_attr"() { value = dense<1> : tensor<6xi32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1x1x1x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported tensor rank}}
  "tf_sync.Tile.f32"(%a, %m, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}

func @tile_below_zero() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.sync.const_dense_attr"() { value = dense<-1> : tensor<1xi32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{expected a non-negative multiple, found -1}}
  "tf_sync.Tile.f32"(%a, %m, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}
