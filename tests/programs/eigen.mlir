// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

// Kernels of neural networks on images small enough to check by hand, and every error that they give.

func @convolutions() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %filter = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0, 0.0]], [[0.0, 1.0]]], [[[0.0, -1.0]], [[1.0, 0.0]]]]> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %valid = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  %same = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  %c1 = "eigen.conv2d.f32"(%image, %filter, %valid, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %valid, %c1
  %c3 = "eigen.conv2d.f32"(%image, %filter, %same, %c2) { padding = "SAME", strides = [2, 2] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %same, %c3
  %bias = "tfrt_test.const_dense_attr"() { value = dense<[0.5, -1.0]> : tensor<2xf32> } : () -> !t.tensor
  %c5 = "eigen.conv2d.bias.f32"(%image, %filter, %bias, %valid, %c4) { padding = "VALID", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c6 = tfrt_dht.print_tensor %valid, %c5
  %scale = "tfrt_test.const_dense_attr"() { value = dense<[1.0, -2.0]> : tensor<2xf32> } : () -> !t.tensor
  %offset = "tfrt_test.const_dense_attr"() { value = dense<[-8.0, 1.0]> : tensor<2xf32> } : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() { value = dense<[1.0, 0.0]> : tensor<2xf32> } : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() { value = dense<[3.0, 0.0]> : tensor<2xf32> } : () -> !t.tensor
  %c7 = "eigen.conv2d.batch_norm.f32"(%image, %filter, %scale, %offset, %mean, %variance, %valid, %c6) { epsilon = 1.0 : f32, padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %valid, %c7
  %c9 = "eigen.conv2d.batch_norm.relu.f32"(%image, %filter, %scale, %offset, %mean, %variance, %valid, %c8) { epsilon = 1.0 : f32, padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c10 = tfrt_dht.print_tensor %valid, %c9
  %c11 = "eigen.batch_norm.f32"(%same, %scale, %offset, %mean, %variance, %c10) { epsilon = 1.0 : f32 } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c12 = tfrt_dht.print_tensor %same, %c11
  tfrt.return %c12 : !tfrt.chain
}

func @images() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [-9.0]]]]> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %pooled = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  %padded = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x5x1xf32> } : () -> !t.tensor
  %c1 = "eigen.max_pooling_2d.f32"(%image, %pooled, %c0) { padding = "SAME", pool_size = [2, 2], strides = [2, 2] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %pooled, %c1
  %c3 = "eigen.zero_padding.f32"(%image, %padded, %c2) { padding = [0, 1] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %padded, %c3
  tfrt.return %c4 : !tfrt.chain
}

func @products() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<[[1, 0], [0, 1], [2, -2]]> : tensor<3x2xi32> } : () -> !t.tensor
  %c = "tfrt_test.const_dense_attr"() { value = dense<100> : tensor<2x2xi32> } : () -> !t.tensor
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %onef = tfrt.constant.f32 1.0
  %zerof = tfrt.constant.f32 0.0
  %c1 = "eigen.matmul.i32"(%one, %a, %b, %two, %c, %c0) : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %c, %c1
  %x = "tfrt_test.const_dense_attr"() { value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> } : () -> !t.tensor
  %nan = "tfrt_test.const_dense_attr"() { value = dense<0x7FC00000> : tensor<2x2xf32> } : () -> !t.tensor
  %c3 = "eigen.matmul.f32"(%onef, %x, %x, %zerof, %nan, %c2) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %nan, %c3
  tfrt.return %c4 : !tfrt.chain
}

func @gradients() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %dy = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0], [10.0]]]]> : tensor<1x1x2x1xf32> } : () -> !t.tensor
  %x = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0], [2.0], [3.0]]]]> : tensor<1x1x3x1xf32> } : () -> !t.tensor
  %filter = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0]], [[10.0]]]]> : tensor<1x2x1x1xf32> } : () -> !t.tensor
  %df = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x1x1xf32> } : () -> !t.tensor
  %dx = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x1x3x1xf32> } : () -> !t.tensor
  %c1 = "eigen.conv2d.grad.filter.f32"(%dy, %x, %df, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %df, %c1
  %c3 = "eigen.conv2d.grad.input.f32"(%dy, %filter, %dx, %c2) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %dx, %c3
  %n = "tfrt_test.const_dense_attr"() { value = dense<[[1.0], [3.0]]> : tensor<2x1xf32> } : () -> !t.tensor
  %dn = "tfrt_test.const_dense_attr"() { value = dense<[[4.0], [2.0]]> : tensor<2x1xf32> } : () -> !t.tensor
  %gamma = "tfrt_test.const_dense_attr"() { value = dense<2.0> : tensor<1xf32> } : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() { value = dense<2.0> : tensor<1xf32> } : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() { value = dense<3.0> : tensor<1xf32> } : () -> !t.tensor
  %di = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x1xf32> } : () -> !t.tensor
  %dg = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %db = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %ci, %cg, %cb = "eigen.batch_norm.grad.f32"(%dn, %n, %gamma, %mean, %variance, %c4, %di, %dg, %db) { epsilon = 1.0 : f32 } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain)
  %c5 = tfrt.merge.chains %ci, %cg, %cb : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %c6 = tfrt_dht.print_tensor %di, %c5
  %c7 = tfrt_dht.print_tensor %dg, %c6
  %c8 = tfrt_dht.print_tensor %db, %c7
  tfrt.return %c8 : !tfrt.chain
}

func @strides_of_one_dimension() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{strides should have 2 elements}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "valid", strides = [1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @unknown_padding() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unknown padding type full}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "full", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @explicit_padding() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{For explicit padding, padding values must be defined}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "explicit", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @stride_of_nothing() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Stride must be > 0, but got 0}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "valid", strides = [1, 0] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @filter_of_other_depth() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x3x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: input channels is 1 and kernel depth is 3}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @filter_beyond_the_image() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<6x2x1x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Computed output size would be negative: -2 (input_size: 3, filter_size: 6, stride: 1, dilation: 1)}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @convolution_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Tensor shapes do not match: output tensor shape is [1, 3, 3, 2] and computed output shape is [1, 2, 2, 2]}}
  %c1 = "eigen.conv2d.f32"(%in, %f, %o, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @bias_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: bias shape is 3 and output channels size is 2}}
  %c1 = "eigen.conv2d.bias.f32"(%in, %f, %b, %o, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @scale_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %s = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %p = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %v = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: scale shape is 1 and output channels size is 2}}
  %c1 = "eigen.conv2d.batch_norm.f32"(%in, %f, %s, %p, %m, %v, %o, %c0) { epsilon = 1.0 : f32, padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @offset_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %s = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %p = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %m = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %v = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: offset shape is 1 and output channels size is 2}}
  %c1 = "eigen.conv2d.batch_norm.f32"(%in, %f, %s, %p, %m, %v, %o, %c0) { epsilon = 1.0 : f32, padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @mean_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %s = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %p = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %v = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: estimated mean shape is 1 and output channels size is 2}}
  %c1 = "eigen.conv2d.batch_norm.f32"(%in, %f, %s, %p, %m, %v, %o, %c0) { epsilon = 1.0 : f32, padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @variance_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %s = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %p = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %v = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: estimated var shape is 1 and output channels size is 2}}
  %c1 = "eigen.conv2d.batch_norm.f32"(%in, %f, %s, %p, %m, %v, %o, %c0) { epsilon = 1.0 : f32, padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @parameter_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  %s = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %p = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %m = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %v = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{parameter does not match the input channel number}}
  %c1 = "eigen.batch_norm.f32"(%o, %s, %p, %m, %v, %c0) { epsilon = 1.0 : f32 } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_of_unknown_padding() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{padding type is not supported}}
  %c1 = "eigen.max_pooling_2d.f32"(%in, %o, %c0) { padding = "Same", pool_size = [2, 2], strides = [2, 2] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_with_one_stride() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{strides should have 2 elements}}
  %c1 = "eigen.max_pooling_2d.f32"(%in, %o, %c0) { padding = "same", pool_size = [2, 2], strides = [2] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_of_one_size() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{ksize should have 2 elements}}
  %c1 = "eigen.max_pooling_2d.f32"(%in, %o, %c0) { padding = "same", pool_size = [2], strides = [2, 2] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{output tensor has the wrong shape}}
  %c1 = "eigen.max_pooling_2d.f32"(%in, %o, %c0) { padding = "same", pool_size = [2, 2], strides = [2, 2] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @padding_of_one_side() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{ZeroPadding expects padding of length 2}}
  %c1 = "eigen.zero_padding.f32"(%in, %o, %c0) { padding = [1] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @padding_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{ZeroPadding output shape [1, 3, 3, 1] does not match the expected output shape [1, 5, 3, 1]}}
  %c1 = "eigen.zero_padding.f32"(%in, %o, %c0) { padding = [1, 0] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @padding_below_zero() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{an image of size 3 cannot be padded by -1}}
  %c1 = "eigen.zero_padding.f32"(%in, %o, %c0) { padding = [-1, 0] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @product_of_other_dimensions() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %a = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %c = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  // expected-error @+1 {{MatMul input tensors inner dimension mismatch: [2, 3] vs. [2, 3]}}
  %c1 = "eigen.matmul.f32"(%one, %a, %b, %one, %c, %c0) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @product_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %a = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3x4xf32> } : () -> !t.tensor
  %c = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<4x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{MatMul output shape [4, 2] does not match product shape of inputs: [2, 3] * [3, 4]}}
  %c1 = "eigen.matmul.f32"(%one, %a, %b, %one, %c, %c0) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @gradient_of_other_output() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %dy = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x2xf32> } : () -> !t.tensor
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Tensor shapes do not match: output gradient shape is [1, 3, 3, 2] and computed output shape is [1, 2, 2, 2]}}
  %c1 = "eigen.conv2d.grad.filter.f32"(%dy, %in, %f, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @gradient_of_other_image() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x2xf32> } : () -> !t.tensor
  %f = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x1x2xf32> } : () -> !t.tensor
  %dx = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x4x4x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{Tensor shapes do not match: output gradient shape is [1, 2, 2, 2] and computed output shape is [1, 3, 3, 2]}}
  %c1 = "eigen.conv2d.grad.input.f32"(%o, %f, %dx, %c0) { padding = "valid", strides = [1, 1] } : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @gradient_of_other_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %dy = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %x = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %gamma = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %dx = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3x2xf32> } : () -> !t.tensor
  %dg = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %db = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{Tensor shapes do not match: output_grad shape is [2, 3] and input_grad shape is [3, 2]}}
  %ci, %cg, %cb = "eigen.batch_norm.grad.f32"(%dy, %x, %gamma, %mean, %variance, %c0, %dx, %dg, %db) { epsilon = 1.0 : f32 } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain)
  tfrt.return %cb : !tfrt.chain
}

func @gradient_of_other_channels() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %dy = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %x = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %gamma = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %dx = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %dg = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %db = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{Dimensions does not match: channels dimension size is 3 and gamma_grad shape is 2}}
  %ci, %cg, %cb = "eigen.batch_norm.grad.f32"(%dy, %x, %gamma, %mean, %variance, %c0, %dx, %dg, %db) { epsilon = 1.0 : f32 } : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain)
  tfrt.return %cb : !tfrt.chain
}
