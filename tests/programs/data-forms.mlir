// Input pipelines as text: printed in custom form but for the two ops that always are in generic form, and in generic form; encoded and
// decoded again.
// RUN: tfrt opt %s
// RUN: tfrt opt --mlir-print-op-generic %s
// RUN: tfrt run %s

func private @f(%x: i64, %y: i64) -> i64 {
  tfrt.return %x : i64
}

func private @p(%x: i64) -> i1 {
  %t = tfrt.constant.i1 1
  tfrt.return %t : i1
}

func private @d(%x: i64) -> !tfrt_data.dataset {
  %c = tfrt.new.chain
  %d = "tfrt_data.make_dataset_from_values.i64"(%c, %x) : (!tfrt.chain, i64) -> !tfrt_data.dataset
  tfrt.return %d : !tfrt_data.dataset
}

func @all(%path: !tfrt.string, %other: !tfrt_data.other) -> (i64, !tfrt_data.iterator) {
  %c = tfrt.new.chain
  %n = tfrt.constant.i64 2
  %d0 = tfrt_data.range_dataset %n, %n, %n { element_type = ui8 }
  %d1 = tfrt_data.map_dataset %d0, %n : i64 { function = @f }
  %d2 = tfrt_data.map_dataset %d1 { function = @p }
  %d3 = tfrt_data.filter_dataset %d1 { function = @p }
  %d4 = tfrt_data.interleave_dataset %d3, %n, %n { function = @d, arity = 1 : i64 }
  %d5 = tfrt_data.prefetch_dataset %d4, %n { is_deterministic = 1 : i1 }
  %d6 = tfrt_data.repeat_dataset %d5, %n
  %d7 = tfrt_data.skip_dataset %d6, %n
  %d8 = tfrt_data.shuffle_dataset %d7, %n, %n, %n
  %d9 = tfrt_data.batch_dataset.i64 %d8, %n { same_input_metadata = false }
  %d10 = tfrt_data.batch_dataset.tensor %d9, %n { same_input_metadata = true }
  %d11 = "tfrt_data.log_dataset"(%d10) : (!tfrt_data.dataset) -> !tfrt_data.dataset
  %i = tfrt_data.make_iterator %d1
  %c1, %x = tfrt_data.iterator_get_next %i, %c : i64
  %c2, %y, %z = tfrt_data.iterator_get_next %i, %c : i64, i64
  %r = tfrt_data.enumerate.iterator %i, %x { function = @f } : i64
  tfrt.return %r, %i : i64, !tfrt_data.iterator
}
