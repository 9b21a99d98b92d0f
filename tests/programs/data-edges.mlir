// Input pipelines that are asked for what they cannot do, for nothing at all, or for more than there is.
// RUN: tfrt run --print_error_code --work_queue_type=s %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func private @show(%x: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i64 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @upto(%n: i64) -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}

func private @enumerate(%d: !tfrt_data.dataset) -> !tfrt.chain {
  %c = tfrt.new.chain
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @show } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func @nothing_in_a_batch() -> !tfrt_data.dataset {
  %n = tfrt.constant.i64 4
  %zero = tfrt.constant.i64 0
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{batch_size must be positive, not 0}}
  %b = tfrt_data.batch_dataset.i64 %d, %zero { same_input_metadata = false }
  tfrt.return %b : !tfrt_data.dataset
}

func @no_room_to_shuffle() -> !tfrt_data.dataset {
  %n = tfrt.constant.i64 4
  %size = tfrt.constant.i64 -3
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{buffer_size must be positive, not -3}}
  %b = tfrt_data.shuffle_dataset %d, %size, %n, %n
  tfrt.return %b : !tfrt_data.dataset
}

func @no_cycle() -> (!tfrt_data.dataset, !tfrt_data.dataset) {
  %n = tfrt.constant.i64 4
  %zero = tfrt.constant.i64 0
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{cycle_length must be positive, not 0}}
  %b = tfrt_data.interleave_dataset %d, %zero, %n { arity = 1 : i64, function = @upto }
  // expected-error @+1 {{block_length must be positive, not 0}}
  %c = tfrt_data.interleave_dataset %d, %n, %zero { arity = 1 : i64, function = @upto }
  tfrt.return %b, %c : !tfrt_data.dataset, !tfrt_data.dataset
}

func @too_little_ahead() -> !tfrt_data.dataset {
  %n = tfrt.constant.i64 4
  %m = tfrt.constant.i64 -2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{prefetch_num must be between -1 and 1048576, not -2}}
  %b = tfrt_data.prefetch_dataset %d, %m { is_deterministic = true }
  tfrt.return %b : !tfrt_data.dataset
}

func @nothing_for_ever() -> !tfrt.chain {
  %zero = tfrt.constant.i64 0
  %ever = tfrt.constant.i64 -1
  %d = tfrt.call @upto(%zero) : (i64) -> !tfrt_data.dataset
  %r = tfrt_data.repeat_dataset %d, %ever
  %c = tfrt.call @enumerate(%r) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @step_of_nothing() -> !tfrt.chain {
  %zero = tfrt.constant.i64 0
  %nine = tfrt.constant.i64 9
  %d = tfrt_data.range_dataset %zero, %nine, %zero { element_type = i64 }
  %c = tfrt.call @enumerate(%d) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

// An inner dataset ends inside its block while another one is open.
func private @inner(%x: i64) -> !tfrt_data.dataset {
  %one = tfrt.constant.i64 1
  %hundred = tfrt.constant.i64 100
  %start = tfrt.mul.i64 %x, %hundred
  %four = tfrt.constant.i64 4
  %two = tfrt.constant.i64 2
  %zero = tfrt.constant.i64 0
  %is_first = tfrt.equal.i64 %x, %zero
  %is_second = tfrt.equal.i64 %x, %one
  %six = tfrt.constant.i64 6
  %other = tfrt.cond %is_second @same @second (%six, %two) : (i64, i64) -> i64
  %length = tfrt.cond %is_first @same @second (%four, %other) : (i64, i64) -> i64
  %stop = tfrt.add.i64 %start, %length
  %d = tfrt_data.range_dataset %start, %stop, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}
func private @same(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}
func private @second(%x: i64, %y: i64) -> i64 {
  tfrt.return %y : i64
}
func @ends_inside_its_block() -> !tfrt.chain {
  %n = tfrt.constant.i64 3
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %i = tfrt_data.interleave_dataset %d, %two, %n { arity = 1 : i64, function = @inner }
  %c = tfrt.call @enumerate(%i) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

// Tensors of different shapes.
func @mixed_shapes() -> (!t.tensor, !t.tensor) {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %d = "tfrt_data.make_dataset_from_values.tensor"(%c0, %a, %b, %a) : (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor) -> !tfrt_data.dataset
  %e = tfrt_data.batch_dataset.tensor %d, %two { same_input_metadata = false }
  %it = tfrt_data.make_iterator %e
  // expected-error @+1 {{element 1 of the batch is f32 [2], the first is f32 [3]}}
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : !t.tensor
  %c2, %y = tfrt_data.iterator_get_next %it, %c1 : !t.tensor
  tfrt.return %x, %y : !t.tensor, !t.tensor
}

func @no_tensors() -> !t.tensor {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{`batch` expects elements of type (!t.tensor), found (i64) from `range`}}
  %e = tfrt_data.batch_dataset.tensor %d, %two { same_input_metadata = true }
  %it = tfrt_data.make_iterator %e
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : !t.tensor
  tfrt.return %x : !t.tensor
}

// Nobody knows the types of the inner elements before they are drawn.
func @no_tensors_inside() -> !t.tensor {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  %f = tfrt_data.flat_map_dataset %d { arity = 1 : i64, function = @upto }
  %e = tfrt_data.batch_dataset.tensor %f, %two { same_input_metadata = true }
  %it = tfrt_data.make_iterator %e
  // expected-error @+1 {{element 0 of the batch: expected a dense tensor, found `i64`}}
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : !t.tensor
  tfrt.return %x : !t.tensor
}

// More than there is memory; and far more elements than a machine could count to.
func @batch_without_memory() -> !t.tensor {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %many = tfrt.constant.i64 4611686018427387904
  %d = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  %e = tfrt_data.batch_dataset.i64 %d, %many { same_input_metadata = false }
  %it = tfrt_data.make_iterator %e
  // expected-error @+1 {{failed to create uninitialized tensor}}
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : !t.tensor
  tfrt.return %x : !t.tensor
}

func @skip_beyond_counting() -> i64 {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %many = tfrt.constant.i64 4611686018427387904
  %d = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  %e = tfrt_data.skip_dataset %d, %many
  %it = tfrt_data.make_iterator %e
  // expected-error @+1 {{iterator reached end}}
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : i64
  tfrt.return %x : i64
}

func private @pair(%x: i64) -> (i64, i64) {
  tfrt.return %x, %x : i64, i64
}

func @another_number_of_components() -> i64 {
  %c0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.map_dataset %d { function = @pair }
  %it = tfrt_data.make_iterator %p
  // expected-error @+1 {{iterator has 2 components, 1 result was asked for}}
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : i64
  tfrt.return %x : i64
}

// Too many stages, by a loop.
func @nested_too_deep() -> !tfrt_data.dataset {
  %n = tfrt.constant.i64 6
  %zero = tfrt.constant.i64 0
  %times = tfrt.constant.i32 200
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %e:2 = tfrt.repeat.i32 %times, %d, %zero : !tfrt_data.dataset, i64 {
    // expected-error @+1 {{datasets are nested more than 100 levels deep}}
    %s = tfrt_data.skip_dataset %d, %zero
    tfrt.return %s, %zero : !tfrt_data.dataset, i64
  }
  tfrt.return %e#0 : !tfrt_data.dataset
}

// A function of an interleave whose datasets call it again, for ever.
func private @endless(%x: i64) -> !tfrt_data.dataset {
  %one = tfrt.constant.i64 1
  %zero = tfrt.constant.i64 0
  %d = tfrt_data.range_dataset %zero, %one, %one { element_type = i64 }
  %i = tfrt_data.interleave_dataset %d, %one, %one { arity = 1 : i64, function = @endless }
  tfrt.return %i : !tfrt_data.dataset
}
func @nested_without_end() -> i64 {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %d = tfrt.call @endless(%zero) : (i64) -> !tfrt_data.dataset
  %it = tfrt_data.make_iterator %d
  // expected-error @+1 {{datasets are nested more than 100 levels deep}}
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : i64
  tfrt.return %x : i64
}

// More elements than a stack has room for, if it grew with each.
func private @plus_one(%x: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %y = tfrt.add.i64 %x, %one
  tfrt.return %y : i64
}
func private @odd(%x: i64) -> i1 {
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %q, %r = tfrt.div.i64 %x, %two
  %b = tfrt.equal.i64 %r, %one
  tfrt.return %b : i1
}
func private @count(%batch: !t.tensor, %n: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %m = tfrt.add.i64 %n, %one
  tfrt.return %m : i64
}
func @many() -> i64 {
  %n = tfrt.constant.i64 20000
  %zero = tfrt.constant.i64 0
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d { function = @plus_one }
  %f = tfrt_data.filter_dataset %m { function = @odd }
  %b = tfrt_data.batch_dataset.i64 %f, %two { same_input_metadata = true }
  %it = tfrt_data.make_iterator %b
  %s = tfrt_data.enumerate.iterator %it, %zero { function = @count } : i64
  tfrt.return %s : i64
}

// An enumeration without end, whose function cancels the request.
func private @cancels(%x: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %zero, %ch1 = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %ch1 : !tfrt.chain
}
func @cancelled() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 3
  %ever = tfrt.constant.i64 -1
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %r = tfrt_data.repeat_dataset %d, %ever
  %it = tfrt_data.make_iterator %r
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @cancels } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

// A filter that rejects everything, for ever, in a request that another task cancels: others get their turn.
func private @rejects(%x: i64) -> i1 {
  %f = tfrt.constant.i1 0
  %c = tfrt.new.chain
  %zero, %ch1 = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %f : i1
}
func @cancelled_while_looking() -> i64 {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 3
  %ever = tfrt.constant.i64 -1
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %r = tfrt_data.repeat_dataset %d, %ever
  %f = tfrt_data.filter_dataset %r { function = @rejects }
  %it = tfrt_data.make_iterator %f
  %c1, %x = tfrt_data.iterator_get_next %it, %c0 : i64
  tfrt.return %x : i64
}

// Functions that do not take the elements of a dataset that is known only at run time: an error at the op.
func private @takes_i32(%x: i32, %sum: i64) -> i64 {
  tfrt.return %sum : i64
}
func @other_elements() -> i64 {
  %n = tfrt.constant.i64 3
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %it = tfrt_data.make_iterator %d
  // expected-error @+1 {{runtime error: `enumerate.iterator` expects elements of type (i32), found (i64) from `range`}}
  %0 = tfrt_data.enumerate.iterator %it, %n { function = @takes_i32 } : i64
  tfrt.return %0 : i64
}
func private @adds_i32(%sum: i64, %x: i32) -> i64 {
  tfrt.return %sum : i64
}
func @other_elements_to_reduce() -> i64 {
  %n = tfrt.constant.i64 3
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{runtime error: `reduce` expects elements of type (i32), found (i64) from `range`}}
  %0 = tfrt_data.reduce %d, %n { function = @adds_i32 } : i64
  tfrt.return %0 : i64
}

// In any order: the same elements once each.
func private @double(%x: i64) -> i64 {
  %y = tfrt.add.i64 %x, %x
  tfrt.return %y : i64
}
func private @add(%sum: i64, %x: i64) -> i64 {
  %y = tfrt.add.i64 %sum, %x
  tfrt.return %y : i64
}
func @wrong_options() -> (!tfrt_data.dataset, !tfrt_data.dataset) {
  %n = tfrt.constant.i64 10
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{read_ahead must be -1 or between 1 and 1048576, not 0}}
  %0 = tfrt_data.options_dataset %d { read_ahead = 0 : i64 }
  // expected-error @+1 {{max_skew must be positive, not 0}}
  %1 = tfrt_data.options_dataset %d { max_skew = 0 : i64 }
  tfrt.return %0, %1 : !tfrt_data.dataset, !tfrt_data.dataset
}
func @in_any_order() -> i64 {
  %n = tfrt.constant.i64 10
  %zero = tfrt.constant.i64 0
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %m = tfrt_data.parallel_map_dataset %d, %n { function = @double }
  %o = tfrt_data.options_dataset %m { autotune = true, deterministic = false, max_skew = 3 : i64, read_ahead = 50 : i64 }
  %0 = tfrt_data.reduce %o, %zero { function = @add } : i64
  tfrt.return %0 : i64
}
