// RUN: tfrt run %s

// Sparse tensors. Coordinates of tensors that are not square are those of the reference, which takes dimensions in the wrong
// order.

func @square() -> (i1, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<[[4, 0], [0, 7]]> : tensor<2x2xi32> } : () -> !t.tensor
  %sparse, %c1 = coo.convert_dht_to_coo.i32.2 %a, %c0
  %c2 = tfrt_dht.print_tensor %sparse, %c1
  %dense, %c3 = coo.convert_coo_to_dht.i32.2 %sparse, %c2
  %c4 = tfrt_dht.print_tensor %dense, %c3
  %same, %c5 = coo.tensor_equal.i32.2 %sparse, %sparse, %c4
  tfrt.return %same, %c5 : i1, !tfrt.chain
}

func @oblong() -> (i1, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<4.0> : tensor<3x2xf32> } : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() { value = dense<0.0> : tensor<3x2xf32> } : () -> !t.tensor
  %sparse, %c1 = coo.convert_dht_to_coo.f32.2 %a, %c0
  %empty, %c2 = coo.convert_dht_to_coo.f32.2 %b, %c1
  %c3 = tfrt_dht.print_tensor %sparse, %c2
  %c4 = tfrt_dht.print_tensor %empty, %c3
  %same, %c5 = coo.tensor_equal.f32.2 %sparse, %empty, %c4
  tfrt.return %same, %c5 : i1, !tfrt.chain
}

func @scalar() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<5> : tensor<i32> } : () -> !t.tensor
  %sparse, %c1 = coo.convert_dht_to_coo.i32.0 %a, %c0
  %c2 = tfrt_dht.print_tensor %sparse, %c1
  tfrt.return %c2 : !tfrt.chain
}

// What the reference would do in silence.
func @out_of_shape() -> (!t.tensor, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<4.0> : tensor<3x2xf32> } : () -> !t.tensor
  %sparse, %c1 = coo.convert_dht_to_coo.f32.2 %a, %c0
  // expected-error @+1 {{entry 2: expected an index below 2 along dimension 1, found 2}}
  %dense, %c2 = coo.convert_coo_to_dht.f32.2 %sparse, %c1
  tfrt.return %dense, %c2 : !t.tensor, !tfrt.chain
}

func @wrong_rank() -> (!t.tensor, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() { value = dense<4> : tensor<3xi32> } : () -> !t.tensor
  // expected-error @+1 {{expected a shape of rank 2, found rank 1}}
  %sparse, %c1 = coo.convert_dht_to_coo.i32.2 %a, %c0
  tfrt.return %sparse, %c1 : !t.tensor, !tfrt.chain
}
