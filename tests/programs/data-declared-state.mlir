// Functions with a state that they declare: a checkpoint contains it.
// RUN: tfrt opt --allow-unregistered-dialect %s
// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:2 %s
// RUN: tfrt opt --allow-unregistered-dialect --optimize-data %s | tfrt run

// Adds the number of the call, and takes its time. The result follows from the new state: a call has
// ended when its result is there.
func private @number(%count: !test.atomic.i32, %x: i32) -> i32 {
  %ch0 = tfrt.new.chain
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  %ch1 = "tfrt_test.atomic.inc.i32"(%count, %ch0) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %n, %ch2 = "tfrt_test.atomic.get.i32"(%count, %ch1) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %one = tfrt.constant.i32 1
  %before = "tfrt.minus.i32"(%n, %one) : (i32, i32) -> i32
  %hundred = tfrt.constant.i32 100
  %m = "tfrt.mul.i32"(%before, %hundred) : (i32, i32) -> i32
  %z = tfrt.add.i32 %y, %m
  tfrt.return %z : i32
}

func private @save(%count: !test.atomic.i32) -> i32 {
  %ch0 = tfrt.new.chain
  %n, %ch1 = "tfrt_test.atomic.get.i32"(%count, %ch0) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %n : i32
}

func private @restore(%count: !test.atomic.i32, %n: i32) -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %before, %ch1 = "tfrt_test.atomic.get.i32"(%count, %ch0) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %more = "tfrt.minus.i32"(%n, %before) : (i32, i32) -> i32
  %ch2 = "tfrt_test.atomic.add.i32"(%count, %more, %ch1) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

func private @show(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i32 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @numbers() -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %six = tfrt.constant.i64 6
  %d = tfrt_data.range_dataset %zero, %six, %one { element_type = i32 }
  tfrt.return %d : !tfrt_data.dataset
}

// Saves behind two elements, delivers the rest, and restores it over another counter.
func private @rest(%d: !tfrt_data.dataset, %e: !tfrt_data.dataset) -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %it = tfrt_data.make_iterator %d
  %ch1, %x = tfrt_data.iterator_get_next %it, %ch0 : i32
  %ch2, %y = tfrt_data.iterator_get_next %it, %ch1 : i32
  %ch3, %saved = tfrt_data.iterator_save %it, %ch2
  %ch4 = tfrt_data.enumerate.iterator %it, %ch3 { function = @show } : !tfrt.chain
  %again = tfrt_data.iterator_restore %e, %saved
  %ch5 = tfrt_data.enumerate.iterator %again, %ch4 { function = @show } : !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

func private @map() -> !tfrt_data.dataset {
  %two = tfrt.constant.i64 2
  %count = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %d = tfrt.call @numbers() : () -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d, %count : !test.atomic.i32 { function = @number, restore = @restore, save = @save }
  %p = tfrt_data.prefetch_dataset %m, %two { is_deterministic = true }
  tfrt.return %p : !tfrt_data.dataset
}

func @of_a_map() -> !tfrt.chain {
  %d = tfrt.call @map() : () -> !tfrt_data.dataset
  %e = tfrt.call @map() : () -> !tfrt_data.dataset
  %ch = tfrt.call @rest(%d, %e) : (!tfrt_data.dataset, !tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}

func private @parallel_map() -> !tfrt_data.dataset {
  %two = tfrt.constant.i64 2
  %count = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %d = tfrt.call @numbers() : () -> !tfrt_data.dataset
  %m = tfrt_data.parallel_map_dataset %d, %two, %count : !test.atomic.i32 { function = @number, restore = @restore, save = @save }
  %p = tfrt_data.prefetch_dataset %m, %two { is_deterministic = true }
  tfrt.return %p : !tfrt_data.dataset
}

func @of_a_parallel_map() -> !tfrt.chain {
  %d = tfrt.call @parallel_map() : () -> !tfrt_data.dataset
  %e = tfrt.call @parallel_map() : () -> !tfrt_data.dataset
  %ch = tfrt.call @rest(%d, %e) : (!tfrt_data.dataset, !tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}

// The rewrite makes one stage of the map and the batch.
func private @batches() -> !tfrt_data.dataset {
  %two = tfrt.constant.i64 2
  %count = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %d = tfrt.call @numbers() : () -> !tfrt_data.dataset
  %m = tfrt_data.map_dataset %d, %count : !test.atomic.i32 { function = @number, restore = @restore, save = @save }
  %b = tfrt_data.batch_dataset %m, %two
  %u = tfrt_data.unbatch_dataset %b
  tfrt.return %u : !tfrt_data.dataset
}

func @of_a_map_below_a_batch() -> !tfrt.chain {
  %d = tfrt.call @batches() : () -> !tfrt_data.dataset
  %e = tfrt.call @batches() : () -> !tfrt_data.dataset
  %ch = tfrt.call @rest(%d, %e) : (!tfrt_data.dataset, !tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}

// A scan hands its state from call to call. A checkpoint cannot contain a counter, but a number.
func private @count(%count: !test.atomic.i32, %x: i32) -> (!test.atomic.i32, i32) {
  %y = tfrt.call @number(%count, %x) : (!test.atomic.i32, i32) -> i32
  tfrt.return %count, %y : !test.atomic.i32, i32
}

func private @counter(%n: i32) -> !test.atomic.i32 {
  %count = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %ch = tfrt.call @restore(%count, %n) : (!test.atomic.i32, i32) -> !tfrt.chain
  tfrt.return %count : !test.atomic.i32
}

func private @scan() -> !tfrt_data.dataset {
  %count = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %d = tfrt.call @numbers() : () -> !tfrt_data.dataset
  %m = tfrt_data.scan_dataset %d, %count : !test.atomic.i32 { function = @count, restore = @counter, save = @save }
  tfrt.return %m : !tfrt_data.dataset
}

func @of_a_scan() -> !tfrt.chain {
  %d = tfrt.call @scan() : () -> !tfrt_data.dataset
  %e = tfrt.call @scan() : () -> !tfrt_data.dataset
  %ch = tfrt.call @rest(%d, %e) : (!tfrt_data.dataset, !tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}
