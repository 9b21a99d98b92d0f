// Attributes that no declaration rules out, and that a kernel cannot use: each is an error value at its place.
// RUN: tfrt run %s

func @lists() -> (i32, i32) {
  // expected-error @+1 {{a list must have more than 0 elements, but has 0}}
  %a:4 = "tfrt_test.flat"() {value = []} : () -> (!tfrt.string, i32, i32, f32)
  // expected-error @+1 {{the lists of numbers must have 2 and 1 elements}}
  %b:4 = "tfrt_test.flat"() {value = [["s", [1 : i32]], [1.0 : f32]]} : () -> (!tfrt.string, i32, i32, f32)
  tfrt.return %a#1, %b#1 : i32, i32
}

func @numbers() -> (i32, i32) {
  // expected-error @+1 {{Cannot convert 0x to target int}}
  %a = "tfrt_test.sum_array_attr.i32"() {a = "0x", b = [1 : i32]} : () -> i32
  // expected-error @+1 {{Cannot convert 99999999999 to target int}}
  %b = "tfrt_test.sum_array_attr.i32"() {a = "99999999999", b = [1 : i32]} : () -> i32
  tfrt.return %a, %b : i32, i32
}

func @results() -> i32 {
  %ch = tfrt.new.chain
  %x = tfrt.constant.i32 5
  // expected-error @+1 {{`tfrt_test.identity` returned 1 results, but the program expects 3 results}}
  %a:3 = "tfrt_test.identity"(%ch, %x) : (!tfrt.chain, i32) -> (i32, i32, i32)
  // expected-error @+1 {{`tfrt_test.identity` returned 1 results, but the program expects 0 results}}
  "tfrt_test.identity"(%ch, %x) : (!tfrt.chain, i32) -> ()
  tfrt.return %a#0 : i32
}

func @functions() -> i32 {
  %x = tfrt.constant.i32 5
  // expected-error @+1 {{Invalid signature for function results. Expected 0 arguments and 1 results, but get 2 arguments and 1 results}}
  %a = "tfrt_test.invoke_sync_function.i32_i32.i32"(%x, %x) {fn = @results} : (i32, i32) -> i32
  tfrt.return %a : i32
}

func @formats() -> (!tfrt.string, !tfrt.string) {
  %x = tfrt.constant.i32 5
  %s = "tfrt_test.get_string"() {value = "%s"} : () -> !tfrt.string
  // expected-error @+1 {{the format has `%s`, which takes no whole number}}
  %a = "tfrt_test.format_string"(%s, %x) : (!tfrt.string, i32) -> !tfrt.string
  %path = "tfrt_test.get_string"() {value = "no/where"} : () -> !tfrt.string
  // expected-error @+1 {{failed to read from file no/where}}
  %b = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  tfrt.return %a, %b : !tfrt.string, !tfrt.string
}

// Nothing to measure.
func @benchmarks() -> (!tfrt.chain, !tfrt.chain) {
  %x = tfrt.constant.i32 1
  %a = tfrt_test.benchmark "never"(%x : i32) duration_secs = 1, max_count = 0, num_warmup_runs = 0 {
    tfrt.return %x : i32
  }
  %b = tfrt_test.benchmark "less than never"(%x : i32) duration_secs = -1, max_count = -5, num_warmup_runs = -3 {
    tfrt.return %x : i32
  }
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
