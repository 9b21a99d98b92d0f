// RUN: tfrt tensors --statistics --from btf tensors-sound.btf
// RUN: tfrt tensors --print 2 --print 0 tensors-sound.btf
// RUN: tfrt tensors tensors.btf
// RUN: tfrt tensors --print nobody tensors-sound.btf
// RUN: tfrt tensors tensors-sound.btf --output -
// RUN: tfrt run %s

// Tensors of a binary tensor file; the last one of `tensors.btf` has an entry outside of its shape.

func @dense() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i0 = tfrt.constant.i32 0
  %i1 = tfrt.constant.i32 1
  %i3 = tfrt.constant.i32 3
  %a = "btf.read_dense_tensor.f32.2"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %b = "btf.read_dense_tensor.ui8.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %d = "btf.read_dense_tensor.i64.0"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  %c2 = tfrt_dht.print_tensor %b, %c1
  %c3 = tfrt_dht.fill_tensor_with_constant.i64 %d, %c2 3 : i64
  %c4 = tfrt_dht.print_tensor %d, %c3
  tfrt.return %c4 : !tfrt.chain
}

func @sparse() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i2 = tfrt.constant.i32 2
  %a = "btf.read_coo_tensor.i32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  %b, %c2 = coo.convert_coo_to_dht.i32.2 %a, %c1
  %c3 = tfrt_dht.print_tensor %b, %c2
  tfrt.return %c3 : !tfrt.chain
}

func @wrong_type() -> !t.tensor {
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i0 = tfrt.constant.i32 0
  // expected-error @+1 {{unexpected tensor dtype f32. Expected dtype is i32}}
  %a = "btf.read_dense_tensor.i32.2"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @wrong_rank() -> !t.tensor {
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i0 = tfrt.constant.i32 0
  // expected-error @+1 {{unexpected tensor rank 2. Expected rank is 1}}
  %a = "btf.read_dense_tensor.f32.1"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @wrong_layout() -> !t.tensor {
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i0 = tfrt.constant.i32 0
  // expected-error @+1 {{unexpected tensor layout Row-Major Dense tensor}}
  %a = "btf.read_coo_tensor.f32.2"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @wrong_index() -> !t.tensor {
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i9 = tfrt.constant.i32 9
  // expected-error @+1 {{invalid tensor index 9 to read tensor from path tensors.btf which contains 5 tensors}}
  %a = "btf.read_dense_tensor.f32.2"(%path, %i9) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @wrong_entry() -> !t.tensor {
  %path = "tfrt_test.get_string"() { value = "tensors.btf" } : () -> !tfrt.string
  %i4 = tfrt.constant.i32 4
  // expected-error @+1 {{the indices tensor has an element at position 0, 0 that bigger than the respective dimension. Element: 2, limit: 2}}
  %a = "btf.read_coo_tensor.i32.1"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a : !t.tensor
}

func @no_file() -> !t.tensor {
  %path = "tfrt_test.get_string"() { value = "nowhere.btf" } : () -> !tfrt.string
  %i0 = tfrt.constant.i32 0
  // expected-error @+1 {{failed to open file nowhere.btf for reading}}
  %a = "btf.read_dense_tensor.f32.2"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a : !t.tensor
}
