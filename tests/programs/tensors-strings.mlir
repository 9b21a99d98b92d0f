// RUN: tfrt run %s

// Tensors of strings, and printing of every kind of tensor by the same kernels.

func @strings() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_sht.create_tensor"() { shape = [2], values = ["one", "two words"] } : () -> !t.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  %c2 = "tfrt_dht.print_tensor_shape"(%a, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c3 = "tfrt_dht.no_op_ht"(%a, %c2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c3 : !tfrt.chain
}

func @mismatch() -> !t.tensor {
  // expected-error @+1 {{Shape mismatch}}
  %a = "tfrt_sht.create_tensor"() { shape = [3], values = ["one"] } : () -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @no_shape() -> !t.tensor {
  // expected-error @+1 {{Failed to create SHT}}
  %a = "tfrt_sht.create_tensor"() { shape = [-1], values = ["one"] } : () -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @synchronous() -> (!ts.shape) attributes { tfrt.sync } {
  %a = "tfrt_sht_sync.create_tensor"() { shape = [1, 1], values = ["x"] } : () -> !t.tensor
  "tfrt_dht_sync.print_tensor"(%a) : (!t.tensor) -> ()
  %b = "tfrt_sht_sync.create_uninitialized_tensor"() { shape = [2] } : () -> !t.tensor
  "tfrt_dht_sync.print_tensor"(%b) : (!t.tensor) -> ()
  %s = "tfrt_dht_sync.get_tensor_shape"(%b) : (!t.tensor) -> !ts.shape
  tfrt.return %s : !ts.shape
}
