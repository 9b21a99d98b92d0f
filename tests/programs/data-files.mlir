// RUN: tfrt run %s
// RUN: tfrt run %s --work_queue_type=mstd:2

// Files of several formats, whole and damaged.

func private @shows(%x: !tfrt.string, %c: !tfrt.chain) -> !tfrt.chain {
  %d = "tfrt_test.print_string"(%x, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}

func private @shows_price(%name: !tfrt.string, %price: f32, %c: !tfrt.chain) -> !tfrt.chain {
  %d = "tfrt_test.print_string"(%name, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %e = tfrt.print.f32 %price, %d
  tfrt.return %e : !tfrt.chain
}

func private @shows_tensor(%x: !t.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt_dht.print_tensor %x, %c
  tfrt.return %d : !tfrt.chain
}

func private @lines_of(%path: !tfrt.string) -> !tfrt_data.dataset {
  %lines = tfrt_data.text_line_dataset %path
  tfrt.return %lines : !tfrt_data.dataset
}

func @names_and_lines() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/*.txt" }
  %names = tfrt_data.list_files_dataset %f
  %i = tfrt_data.make_iterator %names
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows } : !tfrt.chain
  %lines = tfrt_data.flat_map_dataset %names { arity = 1 : i64, function = @lines_of }
  %j = tfrt_data.make_iterator %lines
  %c2 = tfrt_data.enumerate.iterator %j, %c1 { function = @shows } : !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}

// The files of one of two workers, and the records of one of three.
func @shares() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/*.txt" }
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %three = tfrt.constant.i64 3
  %lines = tfrt_data.text_line_dataset %f
  %d = tfrt_data.auto_shard_dataset %lines, %two, %one
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows } : !tfrt.chain
  %e = tfrt_data.auto_shard_dataset %lines, %three, %zero
  %j = tfrt_data.make_iterator %e
  %c2 = tfrt_data.enumerate.iterator %j, %c1 { function = @shows } : !tfrt.chain
  tfrt.return %c1, %c2 : !tfrt.chain, !tfrt.chain
}

func @rows() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/prices.csv" }
  %whole = tfrt_data.csv_dataset %f { on_error = "stop", schema = "name: str, price: f32 = nan" }
  %one = tfrt.constant.i64 1
  %d = tfrt_data.take_dataset %whole, %one
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_price } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @a_row_that_is_wrong() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/prices.csv" }
  %d = tfrt_data.csv_dataset %f { schema = "name: str, price: f32" }
  %i = tfrt_data.make_iterator %d
  // expected-error @+1 {{files/prices.csv: record 1 at byte 21: line 3, column 2 (`price`): expected f32, found `dear`}}
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_price } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @batches_of_rows() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/points.csv" }
  %d = tfrt_data.csv_dataset %f { batch_size = 2 : i64, delimiter = ";", header = false, schema = "x: i64" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_tensor } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @rows_with_other_quotes() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/quoted.csv" }
  %d = tfrt_data.csv_dataset %f { comment = "#", delimiter = "|", lossy = true, quote = "'", schema = "name: str, price: f32" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_price } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @rows_without_quotes() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/quoted.csv" }
  %d = tfrt_data.csv_dataset %f { comment = "#", lossy = true, quote = "", schema = "\"name|price\": str" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @a_quote_of_two_bytes() {
  %f = tfrt_test.get_string { value = "files/quoted.csv" }
  // expected-error @+1 {{expected a quote of one byte}}
  %d = tfrt_data.csv_dataset %f { quote = "''" }
  tfrt.return
}

func @a_wrong_schema() {
  %f = tfrt_test.get_string { value = "files/prices.csv" }
  // expected-error @+1 {{schema, at byte 7: expected an element type, found `float`}}
  %d = tfrt_data.csv_dataset %f { schema = "price: float" }
  tfrt.return
}

func @examples() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/examples.tfrecord" }
  %r = tfrt_data.tf_record_dataset %f { compression = "gzip", on_error = "stop", verify = "all" }
  %d = tfrt_data.parse_example_dataset %r { schema = "name: str, price: f32 = 0" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_price } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @examples_as_they_are_read() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/examples.tfrecord" }
  %d = tfrt_data.example_dataset %f { compression = "gzip", schema = "name: str, price: f32 = 0" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_price } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func private @shows_prices(%names: !t.tensor, %prices: !t.tensor, %c: !tfrt.chain) -> !tfrt.chain {
  %d = tfrt_dht.print_tensor %prices, %c
  tfrt.return %d : !tfrt.chain
}

func @examples_in_batches() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/examples.tfrecord" }
  %d = tfrt_data.example_dataset %f { batch_size = 8 : i64, compression = "gzip", schema = "name: str, price: f32 = 0" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_prices } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @rows_of_an_array() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/table.npy" }
  %d = tfrt_data.npy_dataset %f
  %rows = tfrt_data.unbatch_dataset %d
  %i = tfrt_data.make_iterator %rows
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_tensor } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @no_such_file() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/*.none" }
  %d = tfrt_data.text_line_dataset %f
  %i = tfrt_data.make_iterator %d
  // expected-error @+1 {{no file matches `files/*.none`}}
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func private @shows_labelled(%contents: !tfrt.string, %label: i64, %c: !tfrt.chain) -> !tfrt.chain {
  %d = "tfrt_test.print_string"(%contents, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %e = tfrt.print.i64 %label, %d
  tfrt.return %e : !tfrt.chain
}

// The file has six bytes.
func @records_of_two_bytes() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/records.bin" }
  %d = tfrt_data.fixed_length_record_dataset %f { footer_bytes = 1 : i64, header_bytes = 1 : i64, record_bytes = 2 : i64 }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}

func @records_without_bytes() -> !tfrt_data.dataset {
  %f = tfrt_test.get_string { value = "files/records.bin" }
  // expected-error @+1 {{record_bytes must be positive, not 0}}
  %d = tfrt_data.fixed_length_record_dataset %f { record_bytes = 0 : i64 }
  tfrt.return %d : !tfrt_data.dataset
}

func @labelled_files() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %f = tfrt_test.get_string { value = "files/labelled" }
  %d = tfrt_data.image_folder_dataset %f { extensions = "txt" }
  %i = tfrt_data.make_iterator %d
  %c1 = tfrt_data.enumerate.iterator %i, %c0 { function = @shows_labelled } : !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}
