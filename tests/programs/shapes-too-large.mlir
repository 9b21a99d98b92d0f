// A shape may have more elements than there are addresses. What counts them, or makes a tensor of them, fails.
// RUN: tfrt run --print_error_code %s

func @shapes() -> (i1, i64, !ts.partial_shape) {
  %ch = tfrt.new.chain
  %huge = ts.build_shape [4611686018427387904 : i64, 3 : i64]
  %same = ts.build_shape [4611686018427387904 : i64, 3 : i64]
  %ch1 = ts.print_shape %huge, %ch
  %equal = ts.equal_shape %huge, %same
  %position = tfrt.constant.i32 0
  %size = ts.get_dimension %huge, %position
  %partial = ts.to_partial_shape %huge
  %ch2 = ts.print_partial_shape %partial, %ch1
  %again = ts.to_shape %partial
  %fixed = ts.as_fixed_rank_shape.2 %again
  %ch3 = ts.print_fixed_rank_shape.2 %fixed, %ch2
  tfrt.return %equal, %size, %partial : i1, i64, !ts.partial_shape
}

func @shapes_in_order() -> !ts.partial_shape attributes {tfrt.sync} {
  %huge = ts_sync.build_shape [4611686018427387904 : i64, 3 : i64]
  %partial = ts_sync.to_partial_shape %huge
  tfrt.return %partial : !ts.partial_shape
}

func @count() -> (i64, i64) {
  %huge = ts.build_shape [4611686018427387904 : i64, 3 : i64]
  // expected-error @+1 {{the shape [4611686018427387904, 3] has too many elements}}
  %many = ts.get_num_elements %huge
  %empty = ts.build_shape [4611686018427387904 : i64, 3 : i64, 0 : i64]
  %none = ts.get_num_elements %empty
  tfrt.return %many, %none : i64, i64
}

func @make() -> !t.tensor {
  %ch = tfrt.new.chain
  %size = tfrt.constant.i64 16
  %alignment = tfrt.constant.i64 8
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %huge = ts.build_shape [4611686018427387904 : i64, 3 : i64]
  // expected-error @+1 {{the shape [4611686018427387904, 3] has too many elements}}
  %tensor, %done = tfrt_dht.make_tensor.f32 %buffer, %huge, %ch
  tfrt.return %tensor : !t.tensor
}
