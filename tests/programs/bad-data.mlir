// Input pipelines that are not well formed.
// RUN: tfrt opt --split-input-file --verify-diagnostics %s
// RUN: tfrt opt --split-input-file %s

func @f(%it: !tfrt_data.iterator, %x: i64) -> i64 {
  // expected-error @+1 {{'tfrt_data.enumerate.iterator' op function refers to an undefined function: g}}
  %r = tfrt_data.enumerate.iterator %it, %x { function = @g } : i64
  tfrt.return %r : i64
}

// -----

func private @two(%x: i64, %y: i64) -> (i64, i64) {
  tfrt.return %x, %y : i64, i64
}
func @f(%it: !tfrt_data.iterator, %x: i64) -> i64 {
  // expected-error @+1 {{requires the number of function results to be equal to the number of op results. Found 2 and 1, respectively}}
  %r = tfrt_data.enumerate.iterator %it, %x { function = @two } : i64
  tfrt.return %r : i64
}

// -----

func private @one(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%it: !tfrt_data.iterator, %x: i64) -> i64 {
  // expected-error @+1 {{requires the number of function inputs to be greater than the number of function results. Namely, it should have N more inputs, where N is the number of components of the iterator. Found 1 and 1, respectively}}
  %r = tfrt_data.enumerate.iterator %it, %x { function = @one } : i64
  tfrt.return %r : i64
}

// -----

func private @other(%x: i64, %y: i32) -> i32 {
  tfrt.return %y : i32
}
func @f(%it: !tfrt_data.iterator, %x: i64) -> i64 {
  // expected-error @+1 {{op results type i64 is incompatible with function results type i32 at index 0}}
  %r = tfrt_data.enumerate.iterator %it, %x { function = @other } : i64
  tfrt.return %r : i64
}

// -----

func @f(%n: i64) {
  // expected-error @+1 {{'tfrt_data.range_dataset' op element_type must be an integer or float type}}
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = !tfrt.string }
  tfrt.return
}

// -----

func @f(%n: i64) {
  // expected-error @+1 {{requires attribute 'element_type'}}
  %d = tfrt_data.range_dataset %n, %n, %n
  tfrt.return
}

// -----

func @f(%d: !tfrt_data.dataset, %n: i64) {
  // expected-error @+1 {{attribute 'same_input_metadata' failed to satisfy constraint: 1-bit signless integer attribute}}
  %b = tfrt_data.batch_dataset.i64 %d, %n { same_input_metadata = 1 : i32 }
  tfrt.return
}

// -----

func @f(%d: !tfrt_data.dataset) {
  // expected-error @+1 {{requires attribute 'function'}}
  %b = tfrt_data.filter_dataset %d
  tfrt.return
}

// -----

func @f(%it: !tfrt_data.iterator, %c: !tfrt.chain) {
  // expected-error @+2 {{expected ':'}}
  %c1 = tfrt_data.iterator_get_next %it, %c
  tfrt.return
}
