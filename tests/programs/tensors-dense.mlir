// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

// Dense tensors beyond what the recorded programs show: elements of types that have no custom syntax, complex numbers and
// truth values, tolerances, buffers, and what happens to programs that forget a chain.

func @generic_forms() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_dht.create_uninitialized_tensor.f64.1"() { shape = [2] } : () -> !t.tensor
  %c1 = "tfrt_dht.fill_tensor_with_constant.f64"(%a, %c0) { value = 0.5 : f64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = tfrt_dht.print_tensor %a, %c1
  %h = "tfrt_dht.create_uninitialized_tensor.f16.0"() { shape = [] } : () -> !t.tensor
  %c3 = "tfrt_dht.fill_tensor_with_constant.f16"(%h, %c2) { value = 1.5 : f16 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c4 = tfrt_dht.print_tensor %h, %c3
  %b = tfrt_dht.create_uninitialized_tensor.bool.1 [2 : i64]
  %c5 = tfrt_dht.set_tensor_with_constant_values.bool %b, %c4 [true, false]
  %c6 = tfrt_dht.print_tensor %b, %c5
  %t = tfrt.constant.i1 true
  %c7 = "tfrt_dht.set_tensor_with_values.bool"(%b, %c6, %t, %t) : (!t.tensor, !tfrt.chain, i1, i1) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %b, %c7
  %z = "tfrt_dht.create_uninitialized_tensor.complex64.1"() { shape = [2] } : () -> !t.tensor
  %c9 = "tfrt_dht.fill_tensor_with_constant.complex64"(%z, %c8) { value = [1.0 : f32, -1.0 : f32] } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c10 = tfrt_dht.print_tensor %z, %c9
  %c11 = "tfrt_dht.set_tensor_with_constant_values.complex64"(%z, %c10) { values = [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32] } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c12 = tfrt_dht.print_tensor %z, %c11
  tfrt.return %c12 : !tfrt.chain
}

func @tolerances() -> (i1, i1, i1) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<1.0> : tensor<f32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<1.0001> : tensor<f32> } : () -> !t.tensor
  %x, %c1 = "tfrt_dht.tensor_allclose.3ulp.f32"(%a, %b, %c0) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %y, %c2 = "tfrt_dht.tensor_allclose.1000ulp.f32"(%a, %b, %c1) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %z, %c3 = "tfrt_dht.tensor_allclose.100000ulp.f32"(%a, %b, %c2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %x, %y, %z : i1, i1, i1
}

func @wrong_type() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  // expected-error @+1 {{expected elements of type f32, found i32}}
  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %c0 1.0 : f32
  tfrt.return %c1 : !tfrt.chain
}

func @negative_size() -> !t.tensor {
  // expected-error @+1 {{dimension 0 is negative: -3}}
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [-3 : i64]
  tfrt.return %a : !t.tensor
}

func @too_large() -> !t.tensor {
  // expected-error @+1 {{Cannot allocate tensor}}
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [9000000000000000000 : i64]
  tfrt.return %a : !t.tensor
}

func @slices() -> (!ht.host_buffer, !ht.host_buffer, !ht.host_buffer) {
  %size = tfrt.constant.i64 24
  %three = tfrt.constant.i64 3
  %minus = tfrt.constant.i64 -8
  %alignment = tfrt.constant.i64 8
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  // expected-error @+1 {{Cannot allocate host buffer}}
  %odd = tfrt_dht.allocate_buffer %size, %three
  // expected-error @+1 {{Cannot allocate host buffer.}}
  %over = tfrt_dht.get_buffer_slice %buffer, %three, %size
  // expected-error @+1 {{Cannot allocate host buffer.}}
  %under = tfrt_dht.get_buffer_slice %buffer, %minus, %three
  tfrt.return %odd, %over, %under : !ht.host_buffer, !ht.host_buffer, !ht.host_buffer
}

// Two parts of a buffer are written without an order among them: they do not overlap.
func @parts() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %size = tfrt.constant.i64 16
  %half = tfrt.constant.i64 8
  %zero = tfrt.constant.i64 0
  %buffer = tfrt_dht.allocate_buffer %size, %half
  %low = tfrt_dht.get_buffer_slice %buffer, %zero, %half
  %high = tfrt_dht.get_buffer_slice %buffer, %half, %half
  %pair = ts.build_shape [2 : i64]
  %all = ts.build_shape [4 : i64]
  %a, %c1 = tfrt_dht.make_tensor.i32 %low, %pair, %c0
  %b, %c2 = tfrt_dht.make_tensor.i32 %high, %pair, %c0
  %whole, %c3 = tfrt_dht.make_tensor.i32 %buffer, %all, %c0
  %c4 = tfrt_dht.fill_tensor_with_constant.i32 %a, %c1 1 : i32
  %c5 = tfrt_dht.fill_tensor_with_constant.i32 %b, %c2 2 : i32
  %c6 = tfrt.merge.chains %c4, %c5 : !tfrt.chain, !tfrt.chain
  %c7 = tfrt_dht.print_tensor %whole, %c6
  tfrt.return %c7 : !tfrt.chain
}

func @one_value_twice() -> (i1, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<1.0> : tensor<f32> } : () -> !t.tensor
  %same, %c1 = tfrt_dht.tensor_equal.f32 %a, %a, %c0
  tfrt.return %same, %c1 : i1, !tfrt.chain
}

func @synchronous() attributes { tfrt.sync } {
  %a = "tfrt_dht_sync.create_dense_tensor.f32"() { shape = [2, 2], values = [0.5 : f32] } : () -> !t.tensor
  "tfrt_dht_sync.print_tensor"(%a) : (!t.tensor) -> ()
  %b = "tfrt_dht_sync.create_dense_tensor.bool"() { shape = [2], values = [true, false] } : () -> !t.tensor
  "tfrt_dht_sync.print_tensor"(%b) : (!t.tensor) -> ()
  %c = "tfrt_dht_sync.create_from_scalar.complex128"() { shape = [], value = [1.0 : f64, 2.0 : f64] } : () -> !t.tensor
  "tfrt_dht_sync.print_tensor"(%c) : (!t.tensor) -> ()
  %size = "tfrt.constant_s.i64"() { value = 8 : i64 } : () -> i64
  %buffer = "tfrt_dht_sync.allocate_buffer"(%size, %size) : (i64, i64) -> !ht.host_buffer
  %shape = "ts_sync.build_shape"() { value = [2] } : () -> !ts.shape
  %d = "tfrt_dht_sync.make_tensor.i32"(%buffer, %shape) : (!ht.host_buffer, !ts.shape) -> !t.tensor
  "tfrt_dht_sync.set_tensor_with_constant_values.i32"(%d) { values = [5 : i32, 6 : i32] } : (!t.tensor) -> ()
  "tfrt_dht_sync.print_tensor"(%d) : (!t.tensor) -> ()
  tfrt.return
}

// All kinds of tensors have one spelling; a kernel of another kind says so.
func @another_kind() attributes { tfrt.sync } {
  %a = "tfrt_dht_sync.create_from_scalar.i32"() { shape = [1], value = 1 : i32 } : () -> !t.tensor
  "tfrt_dht_sync.set_tensor_with_constant_values.i32"(%a) { values = [5 : i32] } : (!t.tensor) -> ()
  tfrt.return
}
