// The pass that gives functions a chain and a stream, in a pipeline of single functions.
// RUN: tfrt opt '--pass-pipeline=func(func-tfrt-streamify)' %s

func.func @clear(%m: memref<8xf32>, %v: f32) {
  %a = gpu.wait async
  %b = gpu.memset async [%a] %m, %v : memref<8xf32>, f32
  gpu.wait [%b]
  tfrt.return
}

func.func @nothing() {
  tfrt.return
}
