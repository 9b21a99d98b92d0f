// Input pipelines: how often each stage draws from its input, with a line on the log for every draw.
// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=mstd:2 %s

func private @even(%x: i64) -> i1 {
  %two = tfrt.constant.i64 2
  %zero = tfrt.constant.i64 0
  %q, %r = tfrt.div.i64 %x, %two
  %b = tfrt.equal.i64 %r, %zero
  tfrt.return %b : i1
}

func private @show(%x: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i64 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @showt(%x: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt_dht.print_tensor %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @pair_from(%x: i64) -> !tfrt_data.dataset {
  %ten = tfrt.constant.i64 10
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %a = tfrt.mul.i64 %x, %ten
  %b = tfrt.add.i64 %a, %two
  %d = tfrt_data.range_dataset %a, %b, %one { element_type = i64 }
  tfrt.return %d : !tfrt_data.dataset
}

func private @logged(%n: i64) -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i64 }
  %l = "tfrt_data.log_dataset"(%d) : (!tfrt_data.dataset) -> !tfrt_data.dataset
  tfrt.return %l : !tfrt_data.dataset
}

func private @enumerate(%d: !tfrt_data.dataset) -> !tfrt.chain {
  %c = tfrt.new.chain
  %it = tfrt_data.make_iterator %d
  %r = tfrt_data.enumerate.iterator %it, %c { function = @show } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// Up to the next hit for every request.
func @evens() -> !tfrt.chain {
  %n = tfrt.constant.i64 5
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %f = tfrt_data.filter_dataset %d { function = @even }
  %r = tfrt.call @enumerate(%f) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// Always as many as a batch is long, past the end too.
func @batches() -> !tfrt.chain {
  %c = tfrt.new.chain
  %n = tfrt.constant.i64 5
  %two = tfrt.constant.i64 2
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %b = tfrt_data.batch_dataset.i64 %d, %two { same_input_metadata = false }
  %it = tfrt_data.make_iterator %b
  %r = tfrt_data.enumerate.iterator %it, %c { function = @showt } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// Three at first, then one at a time.
func @ahead() -> !tfrt.chain {
  %n = tfrt.constant.i64 4
  %two = tfrt.constant.i64 2
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.prefetch_dataset %d, %two { is_deterministic = true }
  %r = tfrt.call @enumerate(%p) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// Elements and one for each pass.
func @again() -> !tfrt.chain {
  %n = tfrt.constant.i64 2
  %three = tfrt.constant.i64 3
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.repeat_dataset %d, %three
  %r = tfrt.call @enumerate(%p) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// One, for no pass at all.
func @never() -> !tfrt.chain {
  %n = tfrt.constant.i64 2
  %none = tfrt.constant.i64 0
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.repeat_dataset %d, %none
  %r = tfrt.call @enumerate(%p) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// What is skipped and one, then one at a time.
func @behind() -> !tfrt.chain {
  %n = tfrt.constant.i64 4
  %three = tfrt.constant.i64 3
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.skip_dataset %d, %three
  %r = tfrt.call @enumerate(%p) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// The buffer is full before an element comes.
func @shuffled() -> !tfrt.chain {
  %n = tfrt.constant.i64 4
  %size = tfrt.constant.i64 3
  %seed = tfrt.constant.i64 100
  %seed2 = tfrt.constant.i64 200
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.shuffle_dataset %d, %size, %seed, %seed2
  %r = tfrt.call @enumerate(%p) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// Four at first, two after each two inner datasets that ended.
func @in_turns() -> !tfrt.chain {
  %n = tfrt.constant.i64 5
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %p = tfrt_data.interleave_dataset %d, %two, %one { arity = 1 : i64, function = @pair_from }
  %r = tfrt.call @enumerate(%p) : (!tfrt_data.dataset) -> !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// The first pass only.
func @remembered() -> (i64, i64, i64) {
  %c = tfrt.new.chain
  %n = tfrt.constant.i64 2
  %d = tfrt.call @logged(%n) : (i64) -> !tfrt_data.dataset
  %m = "tfrt_data.memory_dataset.i64"(%d) : (!tfrt_data.dataset) -> !tfrt_data.dataset
  %it = tfrt_data.make_iterator %m
  %c1, %x = tfrt_data.iterator_get_next %it, %c : i64
  %c2, %y = tfrt_data.iterator_get_next %it, %c1 : i64
  %c3, %z = tfrt_data.iterator_get_next %it, %c2 : i64
  tfrt.return %x, %y, %z : i64, i64, i64
}
