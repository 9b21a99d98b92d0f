// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

// The numeric kernels of the test dialect beyond what the recorded programs show. All values are small whole numbers or exact
// fractions, but for softmax.

func @in_place() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<[1, -2, 3]> : tensor<3xi64> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<[1, 5, 3]> : tensor<3xi64> } : () -> !t.tensor
  %g = "tfrt_test.const_dense_attr"() { value = dense<[4.0, 5.0, 6.0]> : tensor<3xf32> } : () -> !t.tensor
  %x = "tfrt_test.const_dense_attr"() { value = dense<[1.0, 0.0, -1.0]> : tensor<3xf32> } : () -> !t.tensor
  %c1 = "tfrt_test.relu.i64"(%a, %b, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %b, %c1
  %c3 = "tfrt_test.equal_inplace.i64"(%a, %b, %c2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %b, %c3
  %c5 = "tfrt_test.relu_grad_inplace.f32"(%x, %g, %c4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c6 = tfrt_dht.print_tensor %g, %c5
  %c7 = "tfrt_test.subtract_inplace.f32"(%x, %g, %c6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %g, %c7
  %lr = "tfrt_test.const_dense_attr"() { value = dense<0.5> : tensor<1xf32> } : () -> !t.tensor
  %c9 = "tfrt_test.gradient_descent.f32"(%x, %lr, %g, %c8) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c10 = tfrt_dht.print_tensor %g, %c9
  tfrt.return %c10 : !tfrt.chain
}

func @wrapping_sums() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<[2147483647, 1]> : tensor<2xi32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<1> : tensor<2xi32> } : () -> !t.tensor
  %c1 = "tfrt_test.add_inplace.i32"(%b, %a, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %a, %c1
  tfrt.return %c2 : !tfrt.chain
}

func @products_do_not_read_what_they_replace() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> } : () -> !t.tensor
  %nan = "tfrt_test.const_dense_attr"() { value = dense<0x7FC00000> : tensor<2x2xf32> } : () -> !t.tensor
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %c1 = "tfrt_test.matmul.f32.2"(%one, %a, %a, %zero, %nan, %c0) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %nan, %c1
  tfrt.return %c2 : !tfrt.chain
}

func @wide() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %row = "tfrt_test.const_dense_attr"() { value = dense<[1.0, 2.0]> : tensor<2xf32> } : () -> !t.tensor
  %shape = ts.build_shape [2 : i64, 1 : i64, 2 : i64]
  %wide = "tfrt_test.broadcast.f32.3"(%row, %shape) : (!t.tensor, !ts.shape) -> !t.tensor
  %c1 = tfrt_dht.print_tensor %wide, %c0
  %whole = "tfrt_test.const_dense_attr"() { value = dense<[7, 0, -4]> : tensor<3xi64> } : () -> !t.tensor
  %mean = "tfrt_test.reduce_mean.i64.1"(%whole) : (!t.tensor) -> !t.tensor
  %c2 = tfrt_dht.print_tensor %mean, %c1
  %m = "tfrt_test.const_dense_attr"() { value = dense<[[1, 3, 3], [-5, -4, -6]]> : tensor<2x3xi64> } : () -> !t.tensor
  %where = "tfrt_test.argmax.i64.2"(%m) : (!t.tensor) -> !t.tensor
  %c3 = tfrt_dht.print_tensor %where, %c2
  tfrt.return %c3 : !tfrt.chain
}

func @windows() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %t = "tfrt_test.const_dense_attr"() { value = dense<[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]> : tensor<2x2x3xi32> } : () -> !t.tensor
  %begin = "tfrt_test.const_dense_attr"() { value = dense<[1, 0, 1]> : tensor<3xi64> } : () -> !t.tensor
  %w = "tfrt_test.const_dense_attr"() { value = dense<0> : tensor<1x2x2xi32> } : () -> !t.tensor
  %c1 = "tfrt_test.slice_inplace.i32.3"(%t, %begin, %c0, %w) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %w, %c1
  tfrt.return %c2 : !tfrt.chain
}

func @network() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [-9.0]]]]> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %same = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  %valid = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x1xf32> } : () -> !t.tensor
  %flat = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x9xf32> } : () -> !t.tensor
  %padded = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x5x1xf32> } : () -> !t.tensor
  %c1 = "tfrt_test.max_pooling_2d.f32"(%image, %same, %c0) { padding = "same", pool_size = [2 : ui32, 2 : ui32], strides = [2 : ui32, 2 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %same, %c1
  %c3 = "tfrt_test.max_pooling_2d.f32"(%image, %valid, %c2) { padding = "valid", pool_size = [2 : ui32, 2 : ui32], strides = [1 : ui32, 1 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %valid, %c3
  %c5 = "tfrt_test.global_average_pooling.f32"(%image, %mean, %c4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c6 = tfrt_dht.print_tensor %mean, %c5
  %c7 = "tfrt_test.flatten.f32"(%image, %flat, %c6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %flat, %c7
  %c9 = "tfrt_test.zero_padding.f32"(%image, %padded, %c8) { padding = [0 : ui32, 1 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c10 = tfrt_dht.print_tensor %padded, %c9
  %m = "tfrt_test.const_dense_attr"() { value = dense<[[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]> : tensor<2x3xf32> } : () -> !t.tensor
  %t = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3x2xf32> } : () -> !t.tensor
  %columns = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  %wide = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x1x2x3xf32> } : () -> !t.tensor
  %c11 = "tfrt_test.tensor_transpose.f32"(%m, %t, %c10) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c12 = tfrt_dht.print_tensor %t, %c11
  %c13 = "tfrt_test.mean_axis_zero.f32"(%m, %columns, %c12) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c14 = tfrt_dht.print_tensor %columns, %c13
  %c15 = "tfrt_test.broadcast_2d.f32"(%m, %wide, %c14) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c16 = tfrt_dht.print_tensor %wide, %c15
  %zeros = "tfrt_test.const_dense_attr"() { value = dense<0.0> : tensor<2x2xf32> } : () -> !t.tensor
  %c17 = "tfrt_test.softmax_inplace.f32"(%zeros, %c16) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c18 = tfrt_dht.print_tensor %zeros, %c17
  tfrt.return %c18 : !tfrt.chain
}

// A window without a positive element gives the least positive normal number.
func @smallest_of_what_pooling_finds() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<-1.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1x1xf32> } : () -> !t.tensor
  %c1 = "tfrt_test.max_pooling_2d.f32"(%image, %o, %c0) { padding = "valid", pool_size = [2 : ui32, 2 : ui32], strides = [1 : ui32, 1 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %o, %c1
  tfrt.return %c2 : !tfrt.chain
}

func @images_in_another_size() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<[[[0], [10]]]> : tensor<1x2x1xui8> } : () -> !t.tensor
  %h = tfrt.constant.i64 1
  %w = tfrt.constant.i64 4
  %r = tfrt_test.resize_bilinear %image, %h, %w
  %c1 = tfrt_dht.print_tensor %r, %c0
  tfrt.return %c1 : !tfrt.chain
}

func @images_of_two_dimensions() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<1.0> : tensor<1x2xf32> } : () -> !t.tensor
  %h = tfrt.constant.i64 1
  %w = tfrt.constant.i64 4
  // expected-error @+1 {{input tensor shape must be 3}}
  %r = tfrt_test.resize_bilinear %image, %h, %w
  %c1 = tfrt_dht.print_tensor %r, %c0
  tfrt.return %c1 : !tfrt.chain
}

func @images_of_other_numbers() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %image = "tfrt_test.const_dense_attr"() { value = dense<1> : tensor<1x2x1xi32> } : () -> !t.tensor
  %h = tfrt.constant.i64 1
  %w = tfrt.constant.i64 4
  // expected-error @+1 {{expected elements of type u8, found i32}}
  %r = tfrt_test.resize_bilinear %image, %h, %w
  %c1 = tfrt_dht.print_tensor %r, %c0
  tfrt.return %c1 : !tfrt.chain
}

func @in_synchronous_functions() attributes {tfrt.sync} {
  %a = "tfrt_test.sync.const_dense_attr"() { value = dense<[[-1, 2], [3, -4]]> : tensor<2x2xi32> } : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() { value = dense<1> : tensor<2x2xi32> } : () -> !t.tensor
  %r = "tfrt_test.sync.const_dense_attr"() { value = dense<10> : tensor<2x2xi32> } : () -> !t.tensor
  %two = "tfrt.constant_s.i32"() { value = 2 : i32 } : () -> i32
  "tfrt_test_sync.relu.i32"(%a, %b) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %b
  "tfrt_test_sync.matmul.i32.2"(%two, %a, %b, %two, %r) : (i32, !t.tensor, !t.tensor, i32, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %r
  tfrt.return
}

func @pool_of_one_size() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{MaxPool2D expects pool_size to have 2 elements}}
  %c1 = "tfrt_test.max_pooling_2d.f32"(%in, %o, %c0) { padding = "same", pool_size = [2 : ui32], strides = [2 : ui32, 2 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_with_one_stride() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{MaxPool2D expects strides to have 2 elements}}
  %c1 = "tfrt_test.max_pooling_2d.f32"(%in, %o, %c0) { padding = "same", pool_size = [2 : ui32, 2 : ui32], strides = [2 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_of_unknown_padding() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x2x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{MaxPool2D padding 'full' is not recognized}}
  %c1 = "tfrt_test.max_pooling_2d.f32"(%in, %o, %c0) { padding = "full", pool_size = [2 : ui32, 2 : ui32], strides = [2 : ui32, 2 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @pool_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x2x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{MaxPool2D output shape [1, 2, 3, 1] does not match the expected output shape [1, 2, 2, 1]}}
  %c1 = "tfrt_test.max_pooling_2d.f32"(%in, %o, %c0) { padding = "same", pool_size = [2 : ui32, 2 : ui32], strides = [2 : ui32, 2 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @mean_of_a_matrix() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3x3xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3x3xf32> } : () -> !t.tensor
  // expected-error @+1 {{Unsupported reduction ranks: input_rank=2 reduction_rank=2}}
  %c1 = "tfrt_test.global_average_pooling.f32"(%in, %o, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @flattened_batch() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Flatten output shape [3, 2] does not match the input shape [2, 3]}}
  %c1 = "tfrt_test.flatten.f32"(%in, %o, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @padding_of_one_side() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{ZeroPadding expects padding of length 2}}
  %c1 = "tfrt_test.zero_padding.f32"(%in, %o, %c0) { padding = [1 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @padding_of_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x3x3x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{ZeroPadding output shape [1, 3, 3, 1] does not match the expected output shape [1, 5, 3, 1]}}
  %c1 = "tfrt_test.zero_padding.f32"(%in, %o, %c0) { padding = [1 : ui32, 0 : ui32] } : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @two_rates() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %g = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %lr = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{GradientDescent lr should have only one element}}
  %c1 = "tfrt_test.gradient_descent.f32"(%g, %lr, %o, %c0) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @transposed_in_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  // expected-error @+1 {{TensorTranspose output shape [2, 3] does not match the input shape [2, 3]}}
  %c1 = "tfrt_test.tensor_transpose.f32"(%in, %o, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @means_in_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{MeanAxisZero output shape [2] does not match the input shape [2, 3]}}
  %c1 = "tfrt_test.mean_axis_zero.f32"(%in, %o, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @wide_in_wrong_shape() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x3xf32> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1x2xf32> } : () -> !t.tensor
  // expected-error @+1 {{Broadcast2D output shape [1, 1, 1, 2] does not match the input shape [2, 3]}}
  %c1 = "tfrt_test.broadcast_2d.f32"(%in, %o, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @window_of_two_coordinates() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x2xf32> } : () -> !t.tensor
  %begin = "tfrt_test.const_dense_attr"() { value = dense<0> : tensor<2xi64> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<1x1x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{the size of 'begin_index' should match the input tensor rank}}
  %c1 = "tfrt_test.slice_inplace.f32.3"(%in, %begin, %c0, %o) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @window_beyond_the_tensor() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x2xf32> } : () -> !t.tensor
  %begin = "tfrt_test.const_dense_attr"() { value = dense<1> : tensor<3xi64> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x1x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{slice: expected a window within [2, 2, 2], found [2, 1, 1] at [1, 1, 1]}}
  %c1 = "tfrt_test.slice_inplace.f32.3"(%in, %begin, %c0, %o) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @window_before_the_tensor() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %in = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x2x2xf32> } : () -> !t.tensor
  %begin = "tfrt_test.const_dense_attr"() { value = dense<-1> : tensor<3xi64> } : () -> !t.tensor
  %o = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2x1x1xf32> } : () -> !t.tensor
  // expected-error @+1 {{a window cannot begin at -1}}
  %c1 = "tfrt_test.slice_inplace.f32.3"(%in, %begin, %c0, %o) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @sum_of_different_shapes() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<3xf32> } : () -> !t.tensor
  // expected-error @+1 {{expected a tensor of shape [2], found [3]}}
  %c1 = "tfrt_test.add_inplace.f32"(%a, %b, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @sum_of_other_numbers() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<1> : tensor<2xi32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<1> : tensor<2xi32> } : () -> !t.tensor
  // expected-error @+1 {{expected elements of type f32, found i32}}
  %c1 = "tfrt_test.add_inplace.f32"(%a, %b, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @read_while_written() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<7.0> : tensor<2xf32> } : () -> !t.tensor
  // expected-error @+1 {{the buffer is being read by another kernel}}
  %c1 = "tfrt_test.relu.f32"(%a, %a, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}
