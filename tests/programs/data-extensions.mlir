// Datasets that the reference lacks, and attributes that it lacks on its own.
// RUN: tfrt opt %s
// RUN: tfrt run --print_error_code --work_queue_type=s %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func private @upto(%n: i64) -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}

func private @show(%x: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i64 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @show2(%x: i64, %y: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i64 %x, %ch
  %d = tfrt.print.i64 %y, %c
  tfrt.return %d : !tfrt.chain
}

func private @showt(%x: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt_dht.print_tensor %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @enumerate(%d: !tfrt_data.dataset, %c: !tfrt.chain) -> !tfrt.chain {
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @show } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func private @below_three(%x: i64) -> i1 {
  %two = tfrt.constant.i64 2
  %b = "tfrt.lessequal.i64"(%x, %two) : (i64, i64) -> i1
  tfrt.return %b : i1
}

func private @running_sum(%sum: i64, %x: i64) -> (i64, i64) {
  %next = tfrt.add.i64 %sum, %x
  tfrt.return %next, %next : i64, i64
}

func private @itself(%d: !tfrt_data.dataset) -> !tfrt_data.dataset {
  tfrt.return %d : !tfrt_data.dataset
}

func @prefixes() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 9
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %t = tfrt_data.take_dataset %d, %two
  %w = tfrt_data.take_while_dataset %d { function = @below_three }
  %c = tfrt.call @enumerate(%t, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %e = tfrt.call @enumerate(%w, %c) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c, %e : !tfrt.chain, !tfrt.chain
}

func @shards() -> (!tfrt.chain, !tfrt_data.dataset) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 9
  %four = tfrt.constant.i64 4
  %one = tfrt.constant.i64 1
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %s = tfrt_data.shard_dataset %d, %four, %one
  %c = tfrt.call @enumerate(%s, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{index must be between 0 and 3, not 4}}
  %bad = tfrt_data.shard_dataset %d, %four, %four
  tfrt.return %c, %bad : !tfrt.chain, !tfrt_data.dataset
}

func @side_by_side_and_in_a_row() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %three = tfrt.constant.i64 3
  %two = tfrt.constant.i64 2
  %ten = tfrt.constant.i64 10
  %d = tfrt.call @upto(%three) : (i64) -> !tfrt_data.dataset
  %e = tfrt_data.enumerate_dataset %d, %ten
  %z = tfrt_data.zip_dataset %d, %d
  %it = tfrt_data.make_iterator %e
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @show2 } : !tfrt.chain
  %jt = tfrt_data.make_iterator %z
  %c2 = tfrt_data.enumerate.iterator %jt, %c1 { function = @show2 } : !tfrt.chain
  %f = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  %r = tfrt_data.concatenate_dataset %d, %f
  %c3 = tfrt.call @enumerate(%r, %c2) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2, %c3 : !tfrt.chain, !tfrt.chain
}

func @nested() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 5
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %w = tfrt_data.window_dataset %d, %two, %one, %one { drop_remainder = true }
  %f = tfrt_data.flat_map_dataset %w { arity = 1 : i64, function = @itself }
  %c = tfrt.call @enumerate(%f, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @sums() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 5
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %s = tfrt_data.scan_dataset %d, %n : i64 { function = @running_sum }
  %c = tfrt.call @enumerate(%s, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @batches_and_back() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 5
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %b = tfrt_data.batch_dataset.i64 %d, %two { drop_remainder = true, same_input_metadata = false }
  %it = tfrt_data.make_iterator %b
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @showt } : !tfrt.chain
  %u = tfrt_data.unbatch_dataset %b
  %c2 = tfrt.call @enumerate(%u, %c1) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1, %c2 : !tfrt.chain, !tfrt.chain
}

func @another_order_in_each_pass() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 4
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %s = tfrt_data.shuffle_dataset %d, %n, %n, %n { reshuffle_each_iteration = true }
  %r = tfrt_data.repeat_dataset %s, %two
  %c = tfrt.call @enumerate(%r, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @drawn_once() -> (!tfrt.chain, i64) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %l = "tfrt_data.log_dataset"(%d) : (!tfrt_data.dataset) -> !tfrt_data.dataset
  %k = tfrt_data.cache_dataset %l
  %r = tfrt_data.repeat_dataset %k, %n
  %c = tfrt.call @enumerate(%r, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %num = tfrt_data.cardinality %r
  tfrt.return %c, %num : !tfrt.chain, i64
}

func private @late_double(%plus: i32, %x: i32) -> i32 {
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  %z = tfrt.add.i32 %y, %plus
  tfrt.return %z : i32
}

func private @show32(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i32 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func @several_calls_at_a_time() -> (!tfrt.chain, !tfrt_data.dataset) {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %n = tfrt.constant.i64 5
  %plus = tfrt.constant.i32 100
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i32 }
  %m = tfrt_data.parallel_map_dataset %d, %n, %plus : i32 { function = @late_double }
  %it = tfrt_data.make_iterator %m
  %c = tfrt_data.enumerate.iterator %it, %c0 { function = @show32 } : !tfrt.chain
  // expected-error @+1 {{num_parallel must be -1 or between 1 and 1048576, not 0}}
  %bad = tfrt_data.parallel_map_dataset %d, %zero, %plus : i32 { deterministic = false, function = @late_double }
  tfrt.return %c, %bad : !tfrt.chain, !tfrt_data.dataset
}

func private @show_tensors(%x: !t.tensor, %y: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt_dht.print_tensor %x, %ch
  %d = tfrt_dht.print_tensor %y, %c
  tfrt.return %d : !tfrt.chain
}

func private @show_batches(%d: !tfrt_data.dataset, %c: !tfrt.chain) -> !tfrt.chain {
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @showt } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func private @plus(%y: i64, %x: i64) -> i64 {
  %z = tfrt.add.i64 %x, %y
  tfrt.return %z : i64
}

func private @row_of(%x: i64) -> !tfrt_data.dataset {
  %d = tfrt.call @upto(%x) : (i64) -> !tfrt_data.dataset
  tfrt.return %d : !tfrt_data.dataset
}

func @batches_of_anything() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 5
  %two = tfrt.constant.i64 2
  %three = tfrt.constant.i64 3
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %z = tfrt_data.zip_dataset %d, %d
  %b = tfrt_data.batch_dataset %z, %three
  %it = tfrt_data.make_iterator %b
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @show_tensors } : !tfrt.chain
  %m = tfrt_data.map_and_batch_dataset %d, %two, %n : i64 { drop_remainder = true, function = @plus, num_parallel = 2 }
  %c2 = tfrt.call @show_batches(%m, %c1) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %r = tfrt_data.rebatch_dataset %m, %three
  %c3 = tfrt.call @show_batches(%r, %c2) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1, %c2, %c3 : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

func private @batch_upto(%x: i64) -> !t.tensor {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 100
  %d = tfrt.call @upto(%x) : (i64) -> !tfrt_data.dataset
  %b = tfrt_data.batch_dataset %d, %n
  %it = tfrt_data.make_iterator %b
  %c, %t = tfrt_data.iterator_get_next %it, %c0 : !t.tensor
  tfrt.return %t : !t.tensor
}

func @padded() -> (!tfrt.chain, !tfrt_data.dataset) {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %three = tfrt.constant.i64 3
  %minus = tfrt.constant.i64 -1
  %d = tfrt_data.range_dataset %one, %three, %one { element_type = i64 }
  %m = tfrt_data.map_dataset %d { function = @batch_upto }
  %t = tfrt_data.take_dataset %m, %three
  %p = tfrt_data.padded_batch_dataset %t, %three, %minus : i64
  %c = tfrt.call @show_batches(%p, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{batch_size must be positive, not 0}}
  %bad = tfrt_data.padded_batch_dataset %t, %zero { drop_remainder = true }
  tfrt.return %c, %bad : !tfrt.chain, !tfrt_data.dataset
}

func @chosen() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %nine = tfrt.constant.i64 9
  %three = tfrt.constant.i64 3
  %turns = tfrt.call @upto(%two) : (i64) -> !tfrt_data.dataset
  %numbers = tfrt_data.repeat_dataset %turns, %three
  %low = tfrt.call @upto(%nine) : (i64) -> !tfrt_data.dataset
  %high = tfrt_data.map_dataset %turns, %nine : i64 { function = @plus }
  %d = tfrt_data.choose_from_datasets %numbers, %low, %high
  %c = tfrt.call @enumerate(%d, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %s = tfrt_data.sample_from_datasets %turns, %high { seed = 1 : i64, seed2 = 2 : i64, weights = [1.0 : f32, 3.0 : f32] }
  %e = tfrt.call @enumerate(%s, %c) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c, %e : !tfrt.chain, !tfrt.chain
}

func private @small(%x: i32) -> i32 {
  %two = tfrt.constant.i32 2
  %b = "tfrt.lessequal.i32"(%x, %two) : (i32, i32) -> i1
  %r = tfrt.cond %b @itself_number @fails (%x) : (i32) -> (i32)
  tfrt.return %r : i32
}

func private @itself_number(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func private @fails(%x: i32) -> i32 {
  // expected-error @+1 {{something bad happened}}
  %r = "tfrt_test.fail"() : () -> i32
  tfrt.return %r : i32
}

func @without_errors() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %four = tfrt.constant.i64 4
  %three = tfrt.constant.i64 3
  %d = tfrt_data.range_dataset %zero, %four, %one { element_type = i32 }
  %m = tfrt_data.map_dataset %d { function = @small }
  %i = tfrt_data.ignore_errors_dataset %m
  %a = tfrt_data.assert_cardinality_dataset %i, %three
  %it = tfrt_data.make_iterator %a
  %c = tfrt_data.enumerate.iterator %it, %c0 { function = @show32 } : !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @fewer_than_stated() -> (!tfrt.chain, i64) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 1
  %three = tfrt.constant.i64 3
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %a = tfrt_data.assert_cardinality_dataset %d, %three
  %num = tfrt_data.cardinality %a
  %it = tfrt_data.make_iterator %a
  // expected-error @+1 {{expected 3 elements, found 1}}
  %c = tfrt_data.enumerate.iterator %it, %c0 { function = @show } : !tfrt.chain
  tfrt.return %c, %num : !tfrt.chain, i64
}

func @opened_at_a_time() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 4
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.parallel_interleave_dataset %d, %two, %one, %n { arity = 1 : i64, function = @row_of }
  %c = tfrt.call @enumerate(%p, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

// Where a stage finds its number by experiment, the elements and their order are the same.
func @tuned_stages() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 4
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %threads = tfrt.constant.i64 -1
  %plus = tfrt.constant.i32 100
  %zero = tfrt.constant.i64 0
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i32 }
  %m = tfrt_data.parallel_map_dataset %d, %two, %plus : i32 { autotune = true, function = @late_double }
  %p = tfrt_data.prefetch_dataset %m, %threads { autotune = true, is_deterministic = true }
  %it = tfrt_data.make_iterator %p
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @show32 } : !tfrt.chain
  %e = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %i = tfrt_data.parallel_interleave_dataset %e, %two, %one, %threads { arity = 1 : i64, autotune = false, function = @row_of }
  %c2 = tfrt.call @enumerate(%i, %c1) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}
