// Checkpoints: saved while elements are drawn ahead, restored, refused.
// RUN: tfrt opt %s
// RUN: tfrt run --print_error_code --work_queue_type=s %s
// RUN: tfrt run --print_error_code --work_queue_type=mstd:2 %s

func private @late_double(%x: i32) -> i32 {
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  tfrt.return %y : i32
}

func private @show(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i32 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @samples(%n: i64) -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %three = tfrt.constant.i64 3
  %d = tfrt_data.range_dataset %zero, %n, %one { element_type = i32 }
  %s = tfrt_data.shuffle_dataset %d, %three, %one, %one
  %m = tfrt_data.map_dataset %s { function = @late_double }
  %p = tfrt_data.prefetch_dataset %m, %three { is_deterministic = true }
  tfrt.return %p : !tfrt_data.dataset
}

// The rest, twice: of the iterator that was saved, and of the restored one.
func @goes_on() -> (!tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %n = tfrt.constant.i64 6
  %d = tfrt.call @samples(%n) : (i64) -> !tfrt_data.dataset
  %it = tfrt_data.make_iterator %d
  %ch1, %x = tfrt_data.iterator_get_next %it, %ch0 : i32
  %ch2, %y = tfrt_data.iterator_get_next %it, %ch1 : i32
  %ch3, %saved = tfrt_data.iterator_save %it, %ch2
  %ch4 = tfrt_data.enumerate.iterator %it, %ch3 { function = @show } : !tfrt.chain
  %ch5 = tfrt.print.i32 %x, %ch4
  %again = tfrt_data.iterator_restore %d, %saved
  %ch6 = tfrt_data.enumerate.iterator %again, %ch5 { function = @show } : !tfrt.chain
  tfrt.return %ch3, %ch6 : !tfrt.chain, !tfrt.chain
}

func @of_another_pipeline() -> !tfrt_data.iterator {
  %ch0 = tfrt.new.chain
  %n = tfrt.constant.i64 6
  %m = tfrt.constant.i64 7
  %d = tfrt.call @samples(%n) : (i64) -> !tfrt_data.dataset
  %e = tfrt.call @samples(%m) : (i64) -> !tfrt_data.dataset
  %it = tfrt_data.make_iterator %d
  %ch1, %saved = tfrt_data.iterator_save %it, %ch0
  // expected-error @+1 {{expected a checkpoint of this pipeline}}
  %again = tfrt_data.iterator_restore %e, %saved
  tfrt.return %again : !tfrt_data.iterator
}

func @of_no_pipeline() -> (!tfrt_data.iterator, !tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %n = tfrt.constant.i64 6
  %text = "tfrt_test.get_string"() { value = "/no/such/folder/checkpoint" } : () -> !tfrt.string
  %d = tfrt.call @samples(%n) : (i64) -> !tfrt_data.dataset
  // expected-error @+1 {{not a checkpoint of a pipeline}}
  %again = tfrt_data.iterator_restore %d, %text
  // expected-error @+1 {{failed to write checkpoint}}
  %ch1 = tfrt_data.write_checkpoint %text, %text, %ch0
  // expected-error @+1 {{failed to read checkpoint}}
  %ch2, %read = tfrt_data.read_checkpoint %text, %ch0
  tfrt.return %again, %ch1, %ch2 : !tfrt_data.iterator, !tfrt.chain, !tfrt.chain
}
