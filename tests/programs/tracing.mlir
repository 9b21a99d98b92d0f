// What a tracing sink is told: the run and its functions, and each kernel if the level is `debug`. A kernel that runs inside
// another one is told of inside it.
// RUN: tfrt run --enable_tracing --tracing_sink=debug %s
// RUN: tfrt run --enable_tracing --tracing_sink=debug --tracing_level=debug %s
// RUN: tfrt run --tracing_level=debug %s
// RUN: tfrt run --tracing_sink=debug %s
// RUN: tfrt run --trace=no-such-folder/trace.json %s

func @twice(%n: i32) -> i32 {
  %sum = tfrt.add.i32 %n, %n
  tfrt.return %sum : i32
}

func @main() -> i32 {
  %n = tfrt.constant.i32 21
  %result = tfrt.call @twice(%n) : (i32) -> (i32)
  tfrt.return %result : i32
}

func @sync() -> i32 attributes {tfrt.sync} {
  %n = "tfrt.constant_s.i32"() {value = 42 : i32} : () -> i32
  tfrt.return %n : i32
}
