// Input pipelines with fewer stages: as text, run before and after, and what stays as it is.
// RUN: tfrt opt --optimize-data %s
// RUN: tfrt opt --optimize-data=parallel=-1 %s
// RUN: tfrt opt --optimize-data=parallel=0 %s
// RUN: tfrt run %s
// RUN: tfrt opt --optimize-data %s | tfrt run -

func private @add_one(%x: i64) -> i64 {
  %one = tfrt.constant.i64 1
  %y = tfrt.add.i64 %x, %one
  tfrt.return %y : i64
}

func private @plus(%k: i64, %x: i64) -> i64 {
  %y = tfrt.add.i64 %k, %x
  tfrt.return %y : i64
}

func private @even(%x: i64) -> i1 {
  %two = tfrt.constant.i64 2
  %zero = tfrt.constant.i64 0
  %q, %r = tfrt.div.i64 %x, %two
  %b = tfrt.equal.i64 %r, %zero
  tfrt.return %b : i1
}

// Fails for zero.
func private @divides_twelve(%x: i64) -> i1 {
  %twelve = tfrt.constant.i64 12
  %zero = tfrt.constant.i64 0
  %q, %r = tfrt.div.i64 %twelve, %x
  %b = tfrt.equal.i64 %r, %zero
  tfrt.return %b : i1
}

func private @show(%x: i64, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.print.i64 %x, %ch
  tfrt.return %c : !tfrt.chain
}

// Prints, also for the end.
func private @prints(%x: i64) -> i64 {
  %c = tfrt.new.chain
  %seven = tfrt.constant.i64 7
  %d = tfrt.print.i64 %seven, %c
  tfrt.return %x : i64
}

func @merged() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %ten = tfrt.constant.i64 10
  %d = tfrt_data.range_dataset %zero, %ten, %one { element_type = i64 }
  %a = tfrt_data.map_dataset %d { function = @add_one }
  %b = tfrt_data.map_dataset %a, %one : i64 { function = @plus }
  %e = tfrt_data.repeat_dataset %b, %one
  %f = tfrt_data.filter_dataset %e { function = @even }
  %g = tfrt_data.filter_dataset %f { function = @divides_twelve }
  %h = tfrt_data.skip_dataset %g, %zero
  %p = tfrt_data.prefetch_dataset %h, %one { is_deterministic = true }
  %q = tfrt_data.prefetch_dataset %p, %two { is_deterministic = true }
  %it = tfrt_data.make_iterator %q
  %r = tfrt_data.enumerate.iterator %it, %c0 { function = @show } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func @apart() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %d = tfrt_data.range_dataset %zero, %two, %one { element_type = i64 }
  %a = tfrt_data.map_dataset %d { function = @prints }
  %b = tfrt_data.map_dataset %a { function = @add_one, on_error = "stop" }
  %e = tfrt_data.map_dataset %b { function = @add_one }
  %s = tfrt_data.shuffle_dataset %e, %two, %one, %one
  %f = tfrt_data.repeat_dataset %s, %two
  %it = tfrt_data.make_iterator %f
  %r = tfrt_data.enumerate.iterator %it, %c0 { function = @show } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}
