// The function of a map is called for the end, too, unless that is switched off.
// RUN: tfrt run --work_queue_type=s %s
// RUN: tfrt run --work_queue_type=s --data-skip-end-calls %s

func private @show(%x: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i64 %x, %ch
  tfrt.return %c : !tfrt.chain
}

func private @constant(%x: i64) -> i64 {
  %c0 = tfrt.new.chain
  %seven = tfrt.constant.i64 7
  %c = tfrt.print.i64 %seven, %c0
  %r = tfrt.add.i64 %x, %seven
  tfrt.return %r : i64
}

func @calls_for_ends() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %n = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %n, %n { element_type = i64 }
  %m = tfrt_data.map_dataset %d { function = @constant }
  %it = tfrt_data.make_iterator %m
  %c = tfrt_data.enumerate.iterator %it, %c0 { function = @show } : !tfrt.chain
  tfrt.return %c : !tfrt.chain
}
