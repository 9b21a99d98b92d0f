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

// -----

// A function that does not take the components of its input.
func private @takes_i32(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`map` expects elements of type (i32), found (i64) from `range`}}
  %0 = tfrt_data.map_dataset %d { function = @takes_i32 }
  tfrt.return
}

// -----

func private @takes_two(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`map` expects elements of type (i64, i64), found (i64) from `range`}}
  %0 = tfrt_data.map_dataset %d { function = @takes_two }
  tfrt.return
}

// -----

func private @takes_two(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64, %c: !tfrt.chain) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`map` expects bound values of type (i64), found (!tfrt.chain)}}
  %0 = tfrt_data.map_dataset %d, %c : !tfrt.chain { function = @takes_two }
  tfrt.return
}

// -----

func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`parallel_map` expects a function of 2 bound values and the components, found one of (i64)}}
  %0 = tfrt_data.parallel_map_dataset %d, %n, %n, %n : i64, i64 { function = @identity }
  tfrt.return
}

// -----

// Functions with other results.
func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`filter` expects a function with results of type (i1), found (i64)}}
  %0 = tfrt_data.filter_dataset %d { function = @identity }
  tfrt.return
}

// -----

func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`interleave` expects a function with results of type (!tfrt_data.dataset), found (i64)}}
  %0 = tfrt_data.interleave_dataset %d, %n, %n { arity = 1 : i64, function = @identity }
  tfrt.return
}

// -----

// The types pass through several stages.
func private @takes_two(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}
func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  %s = tfrt_data.skip_dataset %d, %n
  %m = tfrt_data.map_dataset %s, %n : i64 { function = @takes_two }
  %z = tfrt_data.zip_dataset %m, %d
  %ok = tfrt_data.map_dataset %z { function = @takes_two }
  // expected-error @+1 {{`map` expects elements of type (i64), found (i64, i64) from `zip`}}
  %0 = tfrt_data.map_dataset %z { function = @identity }
  tfrt.return
}

// -----

func private @takes_two(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  %s = tfrt_data.skip_dataset %d, %n
  %m = tfrt_data.map_dataset %s, %n : i64 { function = @takes_two }
  %z = tfrt_data.zip_dataset %m, %d
  %ok = tfrt_data.map_dataset %z { function = @takes_two }
  // expected-error @+1 {{`batch` expects elements of type (i32), found (i64) from `skip`}}
  %0 = tfrt_data.batch_dataset.i32 %s, %n { same_input_metadata = false }
  tfrt.return
}

// -----

func private @takes_two(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  %s = tfrt_data.skip_dataset %d, %n
  %m = tfrt_data.map_dataset %s, %n : i64 { function = @takes_two }
  %z = tfrt_data.zip_dataset %m, %d
  %ok = tfrt_data.map_dataset %z { function = @takes_two }
  // expected-error @+1 {{`concatenate` expects inputs alike, found elements of type (i64) from `range` and (i64, i64) from `zip`}}
  %0 = tfrt_data.concatenate_dataset %d, %z
  tfrt.return
}

// -----

// Consumers.
func private @last(%a: i32, %b: i64) -> i64 {
  tfrt.return %b : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  %it = tfrt_data.make_iterator %d
  // expected-error @+1 {{`enumerate.iterator` expects elements of type (i32), found (i64) from `range`}}
  %0 = tfrt_data.enumerate.iterator %it, %n { function = @last } : i64
  tfrt.return
}

// -----

func private @sum(%state: i64, %x: i32) -> i64 {
  tfrt.return %state : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`reduce` expects elements of type (i32), found (i64) from `range`}}
  %0 = tfrt_data.reduce %d, %n { function = @sum } : i64
  tfrt.return
}

// -----

// The number of results is checked when the program runs.
func @f(%n: i64, %c: !tfrt.chain) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  %it = tfrt_data.make_iterator %d
  %c1, %1, %2 = tfrt_data.iterator_get_next %it, %c : i64, i64
  // expected-error @+1 {{`iterator_get_next` expects elements of type (i32), found (i64) from `range`}}
  %c0, %0 = tfrt_data.iterator_get_next %it, %c : i32
  tfrt.return
}

// -----

// Files and examples.
func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func @f(%path: !tfrt.string) {
  %d = tfrt_data.tf_record_dataset %path
  // expected-error @+1 {{`map` expects elements of type (i64), found (!tfrt.string) from `tf_record`}}
  %0 = tfrt_data.map_dataset %d { function = @identity }
  tfrt.return
}

// -----

func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func private @pair(%x: i64, %y: f32) -> i64 {
  tfrt.return %x : i64
}
func @f(%path: !tfrt.string) {
  %d = tfrt_data.tf_record_dataset %path
  %e = tfrt_data.parse_example_dataset %d { schema = "x: i64, y: f32" }
  %ok = tfrt_data.map_dataset %e { function = @pair }
  // expected-error @+1 {{`map` expects elements of type (i64), found (i64, f32) from `map`}}
  %0 = tfrt_data.map_dataset %e { function = @identity }
  tfrt.return
}

// -----

func private @pair(%x: i64, %y: f32) -> i64 {
  tfrt.return %x : i64
}
func @f(%path: !tfrt.string) {
  %d = tfrt_data.tf_record_dataset %path
  %e = tfrt_data.parse_example_dataset %d { schema = "x: i64, y: f32" }
  %ok = tfrt_data.map_dataset %e { function = @pair }
  // expected-error @+1 {{`map` expects elements of type (!tfrt.string), found (i64, f32) from `map`}}
  %0 = tfrt_data.parse_example_dataset %e { schema = "x: i64" }
  tfrt.return
}

// -----

// The columns of a file are unknown before it is read.
func private @identity(%x: i64) -> i64 {
  tfrt.return %x : i64
}
func private @pair(%x: i64, %y: f32) -> i64 {
  tfrt.return %x : i64
}
func @f(%path: !tfrt.string) {
  %f = tfrt_data.csv_dataset %path
  %ok = tfrt_data.map_dataset %f { function = @pair }
  // expected-error @+1 {{`generator` expects arguments of type (i64), found (!tfrt.string)}}
  %0 = tfrt_data.generator_dataset %path : !tfrt.string { finish = @identity, init = @identity, next = @identity }
  tfrt.return
}

// -----

// The attribute `arity` says how many components inner elements have.
func private @range(%n: i64) -> !tfrt_data.dataset {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}
func private @add(%x: i64, %y: i64) -> i64 {
  %z = tfrt.add.i64 %x, %y
  tfrt.return %z : i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  %two = tfrt_data.interleave_dataset %d, %n, %n { arity = 2 : i64, function = @range }
  %ok = tfrt_data.map_dataset %two { function = @add }
  %one = tfrt_data.interleave_dataset %d, %n, %n { arity = 1 : i64, function = @range }
  // expected-error @+1 {{`map` expects elements of type (i64, i64), found (?) from `interleave`}}
  %0 = tfrt_data.map_dataset %one { function = @add }
  tfrt.return
}

// -----

func private @range(%n: i64) -> !tfrt_data.dataset {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{arity must not be negative, not -1}}
  %0 = tfrt_data.flat_map_dataset %d { arity = -1 : i64, function = @range }
  tfrt.return
}

// -----

func private @number(%b: i64, %x: i64) -> i64 {
  tfrt.return %x : i64
}
func private @save(%b: i64) -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
func private @restore(%b: i64, %n: i64) {
  tfrt.return
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{attribute 'save' requires attribute 'restore'}}
  %0 = tfrt_data.map_dataset %d, %n : i64 { function = @number, save = @save }
  tfrt.return
}

// -----

func private @number(%b: i64, %x: i64) -> i64 {
  tfrt.return %x : i64
}
func private @save(%b: i64) -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
func private @restore(%b: i64, %n: i64) {
  tfrt.return
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{attribute 'restore' requires attribute 'save'}}
  %0 = tfrt_data.map_dataset %d, %n : i64 { function = @number, restore = @restore }
  tfrt.return
}

// -----

func private @number(%b: i64, %x: i64) -> i64 {
  tfrt.return %x : i64
}
func private @save(%b: i64) -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
func private @restore(%b: i64, %n: i64) {
  tfrt.return
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`map` expects a function `restore` that takes (i64, i32), found (i64, i64)}}
  %0 = tfrt_data.map_dataset %d, %n : i64 { function = @number, restore = @restore, save = @save }
  tfrt.return
}

// -----

func private @number(%b: i64, %x: i64) -> i64 {
  tfrt.return %x : i64
}
func private @save(%b: i64) -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
func private @restore(%b: i64, %n: i64) {
  tfrt.return
}
func private @two(%s: i64, %x: i64) -> (i64, i64) {
  tfrt.return %s, %x : i64, i64
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`scan` expects a function `restore` that takes (i32), found (i64, i64)}}
  %0 = tfrt_data.scan_dataset %d, %n : i64 { function = @two, restore = @restore, save = @save }
  tfrt.return
}

// -----

func private @inner(%x: i64) -> !tfrt_data.dataset {
  %d = tfrt_data.range_dataset %x, %x, %x { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}
func private @save() -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
func private @restore(%n: i64) {
  tfrt.return
}
func @f(%n: i64) {
  %d = tfrt_data.range_dataset %n, %n, %n { element_type = i64 }
  // expected-error @+1 {{`interleave` expects a function `restore` that takes (i32), found (i64)}}
  %0 = tfrt_data.interleave_dataset %d, %n, %n { arity = 1, function = @inner, restore = @restore, save = @save }
  tfrt.return
}
