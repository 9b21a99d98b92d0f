// What the ops of the Core Runtime say of bad operands and attributes, each with the text of the specification, at the place of the
// call.
// RUN: tfrt run --test_init_function=set_up --print_error_code %s
// RUN: tfrt run --test_init_function=set_up --work_queue_type=mstd:4 %s

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%none) : (!corert.ophandler) -> !corert.ophandler
  %c = corert.register_op_handler %cpu "cpu"
  tfrt.return %c : !tfrt.chain
}

func @constants_and_shapes() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %x = corert.const_dense_tensor dense<[1.0, -1.0]> : tensor<2xf32>
  %s = corert.const_string_tensor { shape = [1], value = ["a"] }
  %e0 = corert.executeop(%cpu) "tf.Const"() : 1 // expected-error {{tf.Const needs a `value` dense attribute}}
  %e1 = corert.executeop(%cpu) "tf.Const"() { value = dense<1> : tensor<i32>, dtype = f32 } : 1 // expected-error {{dtype attribute mismatch with expected tensor dtype}}
  %e2 = corert.executeop(%cpu) "tf.Shape"(%x) { out_type = f32 } : 1 // expected-error {{Unsupported `out_type` value: f32}}
  %e3 = corert.executeop(%cpu) "tf.Relu"(%s) : 1 // expected-error {{Cannot implictly convert StringHost to DenseHost}}
  tfrt.return %e0, %e1, %e2, %e3 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @products() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %m = corert.const_dense_tensor dense<1.0> : tensor<2x3xf32>
  %v = corert.const_dense_tensor dense<1.0> : tensor<3xf32>
  %b = corert.const_dense_tensor dense<true> : tensor<2x2xi1>
  %e0 = corert.executeop(%cpu) "tf.MatMul"(%m, %v) { transpose_a = false, transpose_b = false } : 1 // expected-error {{argument 1 of matmul op is not a rank-2 tensor. Actual rank is 1}}
  %e1 = corert.executeop(%cpu) "tf.MatMul"(%m, %m) { transpose_b = true } : 1 // expected-error {{'transpose_a' attribute is not specified for MatMul op}}
  %e2 = corert.executeop(%cpu) "tf.MatMul"(%m, %m) { transpose_a = true, transpose_b = true } : 1 // expected-error {{matmul arguments have incompatible shapes: In[0]: [2, 3], In[1]: [2, 3]. transpose_a: 1, transpose_b: 1}}
  %e3 = corert.executeop(%cpu) "tf.MatMul"(%b, %b) { transpose_a = false, transpose_b = false } : 1 // expected-error {{Unsupported input dtype: i1}}
  %e4 = corert.executeop(%cpu) "tfrt_test.matmul"(%m, %b) { transpose_a = false, transpose_b = false } : 1 // expected-error {{incompatible dtypes for MatMul}}
  %e5 = corert.executeop(%cpu) "tfrt_test.matmul"(%m, %v) { transpose_a = false, transpose_b = false } : 1 // expected-error {{argument 1 of matmul op is not a rank-2 tensor}}
  %e6 = corert.executeop(%cpu) "tfrt_test.matmul"(%m, %m) { transpose_a = false, transpose_b = false } : 1 // expected-error {{matmul arguments have incompatible shapes}}
  tfrt.return %e0, %e1, %e2, %e3, %e4, %e5, %e6 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @biases() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %x = corert.const_dense_tensor dense<[[1.0, -1.0]]> : tensor<1x2xf32>
  %two = corert.const_dense_tensor dense<[1.0, -1.0]> : tensor<2xf32>
  %three = corert.const_dense_tensor dense<[1.0, -1.0, 1.0]> : tensor<3xf32>
  %whole = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %e0 = corert.executeop(%cpu) "tf.BiasAdd"(%x, %whole) : 1 // expected-error {{incompatible dtypes for tf.BiasAdd}}
  %e1 = corert.executeop(%cpu) "tf.BiasAdd"(%x, %two) { data_format = "NCHW" } : 1 // expected-error {{invalid data format. Currently only support NHWC}}
  %e2 = corert.executeop(%cpu) "tf.BiasAdd"(%x, %x) : 1 // expected-error {{bias must be 1-D}}
  %e3 = corert.executeop(%cpu) "tf.BiasAdd"(%x, %three) : 1 // expected-error {{bias must has the size of the last dimension of value}}
  tfrt.return %e0, %e1, %e2, %e3 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @means() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<2x2xf32>
  %deep = corert.const_dense_tensor dense<1.0> : tensor<1x1x1x1x1xf32>
  %flags = corert.const_dense_tensor dense<true> : tensor<2x2xi1>
  %low = corert.const_dense_tensor dense<[-3]> : tensor<1xi32>
  %same = corert.const_dense_tensor dense<[1, -1]> : tensor<2xi32>
  %zero = corert.const_dense_tensor dense<[0]> : tensor<1xi32>
  %e0 = corert.executeop(%cpu) "tf.Mean"(%x, %low) : 1 // expected-error {{tf.Mean reduction index must be in [-input_rank, input_rank) range}}
  %e1 = corert.executeop(%cpu) "tf.Mean"(%x, %same) : 1 // expected-error {{tf.Mean reduction indices must be unique}}
  %e2 = corert.executeop(%cpu) "tf.Mean"(%flags, %zero) : 1 // expected-error {{unsupported dtype for TfMeanOp}}
  %e3 = corert.executeop(%cpu) "tf.Mean"(%deep, %zero) : 1 // expected-error {{Unsupported reduction ranks}}
  tfrt.return %e0, %e1, %e2, %e3 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @parts() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %m = corert.const_dense_tensor dense<3> : tensor<2x3xi32>
  %v = corert.const_dense_tensor dense<3> : tensor<3xi32>
  %l = corert.const_dense_tensor dense<3> : tensor<2x3xi64>
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %half = corert.const_dense_tensor dense<0.5> : tensor<f32>
  %s = corert.const_string_tensor { shape = [2, 1], value = ["a", "b"] }
  %ones = corert.const_dense_tensor dense<[1]> : tensor<1xi32>
  %e0 = corert.executeop(%cpu) "tf.ConcatV2"(%m, %m, %s) : 1 // expected-error {{axis must be a dense host tensor}}
  %e1 = corert.executeop(%cpu) "tf.ConcatV2"(%m, %m, %half) : 1 // expected-error {{Unsupported axis data type}}
  %e2 = corert.executeop(%cpu) "tf.ConcatV2"(%m, %l, %one) : 1 // expected-error {{Input dtypes do not match}}
  %e3 = corert.executeop(%cpu) "tf.ConcatV2"(%m, %v, %one) : 1 // expected-error {{Input ranks do not match}}
  %e4 = corert.executeop(%cpu) "tf.ExpandDims"(%m, %half) : 1 // expected-error {{Unsupported axis data type}}
  %e5 = corert.executeop(%cpu) "tf.Tile"(%m, %ones) : 1 // expected-error {{Tile multiples must have the same size as input rank}}
  tfrt.return %e0, %e1, %e2, %e3, %e4, %e5 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @images() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<1x4x4x1xf32>
  %whole = corert.const_dense_tensor dense<true> : tensor<1x4x4x1xi1>
  %k = corert.const_dense_tensor dense<1.0> : tensor<2x2x1x1xf32>
  %flags = corert.const_dense_tensor dense<true> : tensor<2x2x1x1xi1>
  %flat = corert.const_dense_tensor dense<1.0> : tensor<2x2x1xf32>
  %pads = corert.const_dense_tensor dense<[[0, 0], [3, 3]]> : tensor<2x2xi32>
  %four = corert.const_dense_tensor dense<[[0, 0], [3, 3], [3, 3], [0, 0]]> : tensor<4x2xi32>
  %e0 = corert.executeop(%cpu) "tf.Pad"(%x, %pads) : 1 // expected-error {{padding shape shoulsd be (4, 2)}}
  %e1 = corert.executeop(%cpu) "tf.Pad"(%whole, %four) : 1 // expected-error {{unsupported dtype for TfPadOp}}
  %e2 = corert.executeop(%cpu) "tf.MaxPool"(%x) { padding = "VALID", data_format = "NHWC", strides = [1, 2, 2, 1], ksize = [2, 2, 2, 1], explicit_paddings = [] } : 1 // expected-error {{Expected ksize 'NC' elements to be 1}}
  %e3 = corert.executeop(%cpu) "tf.MaxPool"(%x) { padding = "VALID", data_format = "NCHW", strides = [1, 1, 2, 2], ksize = [1, 1, 2, 1], explicit_paddings = [] } : 1 // expected-error {{only channel last order is supported}}
  %e4 = corert.executeop(%cpu) "tf.MaxPool"(%x) { padding = "VALID", data_format = "NHWC", strides = [2], ksize = [1, 2, 2, 1], explicit_paddings = [] } : 1 // expected-error {{strides should have 4 elements}}
  %e5 = corert.executeop(%cpu) "tf.MaxPool"(%x) { padding = "VALID", data_format = "NHWC", strides = [1, 2, 2, 1], ksize = [2], explicit_paddings = [] } : 1 // expected-error {{ksize should have 4 elements}}
  %e6 = corert.executeop(%cpu) "tf.MaxPool"(%x) { padding = "EXPLICIT", data_format = "NHWC", strides = [1, 2, 2, 1], ksize = [1, 2, 2, 1] } : 1 // expected-error {{Missing 'explicit_paddings' attribute}}
  %e7 = corert.executeop(%cpu) "tf.MaxPool"(%whole) { padding = "VALID", data_format = "NHWC", strides = [1, 2, 2, 1], ksize = [1, 2, 2, 1], explicit_paddings = [] } : 1 // expected-error {{unsupported dtype for TfMaxPoolOp}}
  %e8 = corert.executeop(%cpu) "tf.Conv2D"(%x, %flat) { padding = "VALID", data_format = "NHWC", strides = [1, 2, 2, 1] } : 1 // expected-error {{Input and filter must have same rank.}}
  %e9 = corert.executeop(%cpu) "tf.Conv2D"(%x, %k) { padding = "EXPLICIT", data_format = "NHWC", strides = [1, 1, 1, 1], explicit_paddings = [1, 1] } : 1 // expected-error {{Wrong 'explicit_paddings' attribute length}}
  %e10 = corert.executeop(%cpu) "tf.Conv2D"(%x, %k) { padding = "VALID", data_format = "NHWC", strides = [2], explicit_paddings = [] } : 1 // expected-error {{strides should have 4 elements}}
  %e11 = corert.executeop(%cpu) "tf.Conv2D"(%whole, %flags) { padding = "SAME", data_format = "NHWC", strides = [1, 1, 1, 1], explicit_paddings = [] } : 1 // expected-error {{unsupported dtype for TfConv2DOp}}
  tfrt.return %e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7, %e8, %e9, %e10, %e11 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @batch_norm() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<1x2x2x1xf32>
  %w = corert.const_dense_tensor dense<1> : tensor<1x2x2x1xi32>
  %p = corert.const_dense_tensor dense<1.0> : tensor<1xf32>
  %q = corert.const_dense_tensor dense<1.0> : tensor<2xf32>
  %e0:6 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%x, %p, %p, %p, %p) { is_training = true, epsilon = 1.0 : f32 } : 6 // expected-error {{BatchNorm training not currently supported}}
  %e1:6 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%x, %p, %q, %p, %p) { is_training = false, epsilon = 1.0 : f32 } : 6 // expected-error {{Mean, variance, bias, and scale are expected to have the same shape}}
  %e2:6 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%x, %p, %p, %p, %p) { is_training = false } : 6 // expected-error {{missing epsilon attribute}}
  %e3:6 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%w, %p, %p, %p, %p) { is_training = false, epsilon = 1.0 : f32 } : 6 // expected-error {{unsupported dtype for TfFusedBatchNormV3Op}}
  tfrt.return %e0#0, %e1#0, %e2#0, %e3#0 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @made_tensors() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %i = corert.const_dense_tensor dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>
  %v = corert.const_dense_tensor dense<[4, 7]> : tensor<2xi32>
  %e0 = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%v, %v) { shape = [2, 2] } : 1 // expected-error {{tfrt_test.create_coo_tensor indices input must be rank 2}}
  %e1 = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%i, %i) { shape = [2, 2] } : 1 // expected-error {{tfrt_test.create_coo_tensor values input must be rank 1}}
  %e2 = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%i, %v) : 1 // expected-error {{tfrt_test.create_coo_tensor must have 'shape' attribute}}
  %e3 = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%i, %v) { shape = [2] } : 1 // expected-error {{each test.create_coo_tensor index must have the same size as shape attribute}}
  %e4 = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [2], values = 1 : i32 } : 1 // expected-error {{'values' attribute should be an array of values}}
  %e5 = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [1], values = ["a"] } : 1 // expected-error {{'values' attribute should be an array of values}}
  %e6 = corert.executeop(%cpu) "tfrt_test.create_from_scalar"() { shape = [1], value = "a" } : 1 // expected-error {{tfrt_test.create_from_scalar unsupported dtype}}
  tfrt.return %e0, %e1, %e2, %e3, %e4, %e5, %e6 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @test_ops() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c0 = tfrt.new.chain
  %cpu = corert.get_op_handler %c0 "cpu"
  %d = corert.const_dense_tensor dense<[4, 7]> : tensor<2xi32>
  %f = corert.const_dense_tensor dense<[4.0, 7.0]> : tensor<2xf32>
  %t = corert.const_dense_tensor dense<[4, 7, 8]> : tensor<3xi32>
  %l = corert.const_dense_tensor dense<[4, 7, 8]> : tensor<3xi64>
  %s = corert.const_string_tensor { shape = [2], value = ["a", "b"] }
  %e0 = corert.executeop(%cpu) "tfrt_test.add"(%f, %d) : 1 // expected-error {{incompatible dtypes for test.add}}
  %e1 = corert.executeop(%cpu) "tfrt_test.add"(%t, %d) : 1 // expected-error {{arguments of test.add must have same shape}}
  %e2 = corert.executeop(%cpu) "tfrt_test.add.denseonly"(%t, %d) : 1 // expected-error {{arguments of test.add must have same shape}}
  %e3 = corert.executeop(%cpu) "tfrt_test.add.denseonly2"(%t, %d) : 1 // expected-error {{arguments of test.add must have same shape}}
  %e4 = corert.executeop(%cpu) "tfrt_test.add.denseonly3"(%f, %d) : 1 // expected-error {{incompatible dtypes for test.add}}
  %e5 = corert.executeop(%cpu) "tfrt_test.equal"(%f, %d) : 1 // expected-error {{incompatible dtypes for element-wise op}}
  %e6 = corert.executeop(%cpu) "tfrt_test.odd_collector"(%l) : 1 // expected-error {{expected a i32 element type}}
  %e7 = corert.executeop(%cpu) "tfrt_test.cast"(%f) : 1 // expected-error {{missing 'type' attribute}}
  %e8 = corert.executeop(%cpu) "tfrt_test.broadcast"(%f) : 1 // expected-error {{missing 'shape' attribute}}
  %e9 = corert.executeop(%cpu) "tfrt_test.broadcast"(%f) { shape = [2] } : 1 // expected-error {{result shape must be 2 dimensional (for now)}}
  %e10 = corert.executeop(%cpu) "tfrt_test.argmax"(%f) : 1 // expected-error {{missing 'axis' attribute}}
  %e11 = corert.executeop(%cpu) "tfrt_test.identity_dense_only"(%s) : 1 // expected-error {{Cannot implictly convert StringHost to DenseHost}}
  tfrt.return %e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7, %e8, %e9, %e10, %e11 : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}
