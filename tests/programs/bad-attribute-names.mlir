// Attributes that a kernel does not have, and too few or too many of those that it takes under any names.
// RUN: tfrt translate --mlir-to-bef --split-input-file %s

func @misspelled() -> !tfrt.chain {
  %ch = tfrt_test.benchmark "name"() duration_secs = 1, max_count = 1 {
    %one = tfrt.constant.i32 1
    tfrt.return %one : i32
  }
  %a = "tfrt_test.benchmark"() ({
    %one = tfrt.constant.i32 1
    tfrt.return %one : i32
  }) {duration_secs = 1 : i32, max_count = 1 : i32, name = "n", num_warmup_run = 1 : i32} : () -> !tfrt.chain
  tfrt.return %a : !tfrt.chain
}

// -----

func @f() -> i32 {
  %a = tfrt.constant.i32 3
  tfrt.return %a : i32
}

func @another_function() -> i32 {
  %a = tfrt.call @f() {aa = @f} : () -> i32
  tfrt.return %a : i32
}

// -----

func @f() -> i32 {
  %a = tfrt.constant.i32 3
  tfrt.return %a : i32
}

func @another_function_with_a_prefix() -> i32 {
  %a = tfrt.call @f() {"a.callee" = @f} : () -> i32
  tfrt.return %a : i32
}

// -----

func @too_many() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {a = 1 : i32, b = 2 : i32} : () -> i32
  tfrt.return %a : i32
}

// -----

func @too_few() -> !t.tensor {
  %a = "tfrt_sht.create_tensor"() {shape = [1]} : () -> !t.tensor
  tfrt.return %a : !t.tensor
}

// -----

func @no_function() -> i32 {
  %x = tfrt.constant.i32 5
  %a = "tfrt_test.invoke_sync_function.i32_i32.i32"(%x, %x) : (i32, i32) -> i32
  tfrt.return %a : i32
}

// -----

func @of_another_type() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {a = 1.5 : f32} : () -> i32
  tfrt.return %a : i32
}

// -----

func @result_of_another_type() -> i64 {
  %a = tfrt.constant.i32 1
  %b = "tfrt.minus.i32"(%a, %a) : (i32, i32) -> i64
  tfrt.return %b : i64
}

// -----

func @chain_of_another_type() -> i64 {
  %a = tfrt.constant.i32 1
  %b = "tfrt_test.as_chain"(%a) : (i32) -> i64
  tfrt.return %b : i64
}
