// Datasets with several functions, policies for errors, and shares of workers.
// RUN: tfrt opt %s
// RUN: tfrt run --print_error_code --work_queue_type=s %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func private @upto(%n: i64) -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}

func private @upto32(%n: i64) -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i32 }
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

func private @show32(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i32 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @showt(%x: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt_dht.print_tensor %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @show_tensors(%x: !t.tensor, %y: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt_dht.print_tensor %x, %ch
  %d = tfrt_dht.print_tensor %y, %c
  tfrt.return %d : !tfrt.chain
}

func private @enumerate(%d: !tfrt_data.dataset, %c: !tfrt.chain) -> !tfrt.chain {
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @show } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func private @enumerate32(%d: !tfrt_data.dataset, %c: !tfrt.chain) -> !tfrt.chain {
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @show32 } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func private @enumerate_tensors(%d: !tfrt_data.dataset, %c: !tfrt.chain) -> !tfrt.chain {
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @showt } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func private @parity(%x: i64) -> i64 {
  %two = tfrt.constant.i64 2
  %q, %r = tfrt.div.i64 %x, %two
  tfrt.return %r : i64
}

func private @pairs(%key: i64, %window: !tfrt_data.dataset) -> !tfrt_data.dataset {
  %two = tfrt.constant.i64 2
  %b = tfrt_data.batch_dataset.i64 %window, %two { same_input_metadata = false }
  tfrt.return %b : !tfrt_data.dataset
}

func @once() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 6
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d { function = @parity }
  %u = tfrt_data.unique_dataset %m
  %c = tfrt.call @enumerate(%u, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @together() -> (!tfrt.chain, !tfrt_data.dataset) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 7
  %two = tfrt.constant.i64 2
  %zero = tfrt.constant.i64 0
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %g = tfrt_data.group_by_window_dataset %d, %two { key = @parity, reduce = @pairs }
  %c = tfrt.call @enumerate_tensors(%g, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{window_size must be positive, not 0}}
  %bad = tfrt_data.group_by_window_dataset %d, %zero { key = @parity, reduce = @pairs }
  tfrt.return %c, %bad : !tfrt.chain, !tfrt_data.dataset
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

func private @numbered_upto(%x: i64) -> (i64, !t.tensor) {
  %t = tfrt.call @batch_upto(%x) : (i64) -> !t.tensor
  tfrt.return %x, %t : i64, !t.tensor
}

func private @length(%x: i64, %t: !t.tensor) -> i64 {
  tfrt.return %x : i64
}

func @of_similar_length() -> (!tfrt.chain, !tfrt.chain, !tfrt_data.dataset) {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.i64 1
  %six = tfrt.constant.i64 6
  %minus = tfrt.constant.i64 -1
  %two = tfrt.constant.i64 2
  %r = tfrt_data.range_dataset %one, %six, %one { element_type = i64 }
  %m = tfrt_data.map_dataset %r { function = @numbered_upto }
  %t = tfrt_data.take_dataset %m, %six
  %b = tfrt_data.bucket_by_length_dataset %t, %minus, %minus : i64, i64 { batch_sizes = [2, 3], boundaries = [3], function = @length }
  %it = tfrt_data.make_iterator %b
  %c1 = tfrt_data.enumerate.iterator %it, %c0 { function = @show_tensors } : !tfrt.chain
  %tensors = tfrt_data.map_dataset %r { function = @batch_upto }
  %some = tfrt_data.take_dataset %tensors, %two
  %g = tfrt_data.ragged_batch_dataset %some, %two
  %jt = tfrt_data.make_iterator %g
  %c2 = tfrt_data.enumerate.iterator %jt, %c1 { function = @show_tensors } : !tfrt.chain
  %p = tfrt_data.padded_batch_dataset %some, %two { shapes = "[4]" }
  %c3 = tfrt.call @enumerate_tensors(%p, %c2) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{expected shapes such as `[?, 3], []`, found `4`: a shape is in brackets}}
  %bad = tfrt_data.padded_batch_dataset %some, %two { shapes = "4" }
  tfrt.return %c2, %c3, %bad : !tfrt.chain, !tfrt.chain, !tfrt_data.dataset
}

func @as_frequent_as_wanted() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 12
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %r = tfrt_data.rejection_resample_dataset %d { function = @parity, initial = [0.5 : f32, 0.5 : f32], seed = 1 : i64, seed2 = 2 : i64, target = [0.8 : f32, 0.2 : f32] }
  %it = tfrt_data.make_iterator %r
  %c = tfrt_data.enumerate.iterator %it, %c0 { function = @show2 } : !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func private @begin(%from: i64) -> (i64, i64) {
  %one = tfrt.constant.i64 1
  tfrt.return %from, %one : i64, i64
}

func private @fibonacci(%x: i64, %y: i64) -> (i1, i64, i64, i64) {
  %bound = tfrt.constant.i64 20
  %goes_on = "tfrt.lessequal.i64"(%x, %bound) : (i64, i64) -> i1
  %z = tfrt.add.i64 %x, %y
  tfrt.return %goes_on, %y, %z, %x : i1, i64, i64, i64
}

func private @finish(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}

func @made_of_a_state() -> (!tfrt.chain, i64) {
  %c0 = tfrt.new.chain
  %one = tfrt.constant.i64 1
  %g = tfrt_data.generator_dataset %one : i64 { finish = @finish, init = @begin, next = @fibonacci }
  %c = tfrt.call @enumerate(%g, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %num = tfrt_data.cardinality %g
  tfrt.return %c, %num : !tfrt.chain, i64
}

func private @less(%state: i64, %x: i64) -> i64 {
  %two = tfrt.constant.i64 2
  %half, %rest = tfrt.div.i64 %state, %two
  %sum = tfrt.add.i64 %half, %x
  tfrt.return %sum : i64
}

func @reduced() -> (i64, i64) {
  %n = tfrt.constant.i64 4
  %zero = tfrt.constant.i64 0
  %hundred = tfrt.constant.i64 100
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %r = tfrt_data.reduce %d, %hundred { function = @less } : i64
  %e = tfrt.call @upto(%zero) : (i64) -> !tfrt_data.dataset
  %s = tfrt_data.reduce %e, %hundred { function = @less } : i64
  tfrt.return %r, %s : i64, i64
}

func private @itself(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func private @fails(%x: i32) -> i32 {
  // expected-error @+1 {{something bad happened}}
  %r = "tfrt_test.fail"() : () -> i32
  tfrt.return %r : i32
}

func private @above_one(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %b = "tfrt.lessequal.i32"(%x, %one) : (i32, i32) -> i1
  %r = tfrt.cond %b @fails @itself (%x) : (i32) -> (i32)
  tfrt.return %r : i32
}

func @stopped_by_an_error() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 4
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto32(%n) : (i64) -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d { function = @above_one, on_error = "stop" }
  %s = tfrt_data.skip_dataset %m, %two
  %c1 = tfrt.call @enumerate32(%s, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %e = tfrt_data.map_dataset %d { function = @above_one }
  %p = tfrt_data.on_error_dataset %e { policy = "stop" }
  %c2 = tfrt.call @enumerate32(%p, %c1) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1, %c2 : !tfrt.chain, !tfrt.chain
}

func @unknown_policy() -> !tfrt_data.dataset {
  %n = tfrt.constant.i64 4
  %d = tfrt.call @upto32(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{expected `fail`, `skip(N)` or `stop`, found `ignore`}}
  %p = tfrt_data.on_error_dataset %d { policy = "ignore" }
  tfrt.return %p : !tfrt_data.dataset
}

func @elements_of_another_type() -> !tfrt_data.dataset {
  %n = tfrt.constant.i64 4
  %d = tfrt.call @upto32(%n) : (i64) -> !tfrt_data.dataset
  %s = tfrt_data.skip_dataset %d, %n
  // expected-error @+1 {{`map` expects elements of type (i64), found (i32) from `skip`}}
  %m = tfrt_data.map_dataset %s { function = @parity }
  tfrt.return %m : !tfrt_data.dataset
}

func @shuffled_within_bytes() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 6
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %s = tfrt_data.shuffle_dataset %d, %n, %n, %n { buffer_bytes = 64 : i64 }
  %c = tfrt.call @enumerate(%s, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

func @as_many_for_each_worker() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i64 7
  %three = tfrt.constant.i64 3
  %two = tfrt.constant.i64 2
  %d = tfrt.call @upto(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.shard_dataset %d, %three, %two { uneven = "pad" }
  %c1 = tfrt.call @enumerate(%p, %c0) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  %s = tfrt_data.shard_dataset %d, %three, %two { uneven = "drop" }
  %c2 = tfrt.call @enumerate(%s, %c1) : (!tfrt_data.dataset, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1, %c2 : !tfrt.chain, !tfrt.chain
}
