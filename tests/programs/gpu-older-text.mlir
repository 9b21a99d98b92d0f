// Texts of older versions: functions that end in `return`, and plans under their older name.
// RUN: tfrt opt %s
// RUN: tfrt opt --func-tfrt-streamify %s

func @values(%x: i32, %y: f32) -> (i32, f32) {
  return %x, %y : i32, f32
}

func @nothing() {
  return
}

func.func @fill(%m: memref<8xf32>, %v: f32) {
  %a = gpu.wait async
  %b = gpu.memset async [%a] %m, %v : memref<8xf32>, f32
  gpu.wait [%b]
  return
}

func @plan(%h: !tfrt_gpu.dnn.handle, %s: !tfrt_gpu.stream, %p: !tfrt_gpu.dnn.convolution_plan, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt_gpu.dnn.run_convolution %h, %s, %p, %x, %x, %x, %x, %ch
  tfrt.return %c : !tfrt.chain
}

func @call(%h: !tfrt_gpu.dnn.handle, %s: !tfrt_gpu.stream, %p: !tfrt_gpu.dnn.convolution.plan, %x: !tfrt_gpu.buffer, %ch: !tfrt.chain) -> !tfrt.chain {
  %c = tfrt.call @plan(%h, %s, %p, %x, %ch) : (!tfrt_gpu.dnn.handle, !tfrt_gpu.stream, !tfrt_gpu.dnn.convolution_plan, !tfrt_gpu.buffer, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}
