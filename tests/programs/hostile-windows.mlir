// Windows of any size, and extents of any size beside one of zero: what a kernel does is bounded by its inputs and outputs.
// RUN: tfrt run %s

func @padding() -> f32 {
  %ch0 = tfrt.new.chain
  %in = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1, 1, 1, 1]} : () -> !t.tensor
  %ch1 = "tfrt_dht.fill_tensor_with_constant.f32"(%in, %ch0) {value = 2.0 : f32} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %out = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1, 1, 1, 1]} : () -> !t.tensor
  %ch2 = "eigen.max_pooling_2d.f32"(%in, %out, %ch1) {padding = "same", pool_size = [1, 1099511627776], strides = [1, 1]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = "tfrt_dht.print_tensor"(%out, %ch2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{expected a positive window size, found -1}}
  %ch4 = "eigen.max_pooling_2d.f32"(%in, %out, %ch3) {padding = "same", pool_size = [-1, 1], strides = [1, 1]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  // -1, as a number without sign.
  %ch5 = "tfrt_test.max_pooling_2d.f32"(%in, %out, %ch3) {padding = "same", pool_size = [4294967295 : ui32, 4294967295 : ui32], strides = [1 : ui32, 1 : ui32]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = "tfrt_dht.print_tensor"(%out, %ch5) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %x = tfrt.constant.f32 1.0
  tfrt.return %x : f32
}

func @nothing() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %none = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1152921504606846976, 1, 1, 0]} : () -> !t.tensor
  %none2 = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1152921504606846976, 1, 1, 0]} : () -> !t.tensor
  %ch1 = "tfrt_test.max_pooling_2d.f32"(%none, %none2, %ch0) {padding = "valid", pool_size = [1 : ui32, 1 : ui32], strides = [1 : ui32, 1 : ui32]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = "eigen.max_pooling_2d.f32"(%none, %none2, %ch1) {padding = "valid", pool_size = [1, 1], strides = [1, 1]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %images = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1152921504606846976, 1, 1, 0]} : () -> !t.tensor
  %filter = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1, 1, 0, 0]} : () -> !t.tensor
  %convolved = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1152921504606846976, 1, 1, 0]} : () -> !t.tensor
  %ch3 = "eigen.conv2d.f32"(%images, %filter, %convolved, %ch2) {padding = "same", strides = [1, 1]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = "eigen.conv2d.grad.input.f32"(%convolved, %filter, %images, %ch3) {padding = "same", strides = [1, 1]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = "eigen.conv2d.grad.filter.f32"(%convolved, %images, %filter, %ch4) {padding = "same", strides = [1, 1]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

func @filters() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %in = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1, 1, 1, 0]} : () -> !t.tensor
  %filter = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1152921504606846976, 1, 0, 1]} : () -> !t.tensor
  %out = "tfrt_dht.create_uninitialized_tensor.f32.4"() {shape = [1, 1, 1, 1]} : () -> !t.tensor
  %ch1 = "eigen.conv2d.f32"(%in, %filter, %out, %ch0) {padding = "same", strides = [1, 1]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_dht.print_tensor"(%out, %ch1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// What the two sides give together is larger than memory, and none of it is asked for.
func @stretched() -> i32 attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_uninitialized_tensor.f32.3"() {shape = [1048576, 1, 1]} : () -> !t.tensor
  %b = "tfrt_dht_sync.create_uninitialized_tensor.f32.3"() {shape = [1, 1048576, 1]} : () -> !t.tensor
  %r = "tfrt_dht_sync.create_uninitialized_tensor.f32.3"() {shape = [1048576, 1048576, 0]} : () -> !t.tensor
  "tf_sync.AddV2.f32"(%a, %b, %r) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  %x = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  tfrt.return %x : i32
}
