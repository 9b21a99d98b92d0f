// Work on several streams: functions get a chain and a stream, and tokens that cross regions become events.
// RUN: tfrt opt --func-tfrt-streamify %s
// RUN: tfrt opt --func-tfrt-streamify --async-tfrt-streamify %s
// RUN: tfrt opt --func-tfrt-streamify --async-tfrt-streamify --gpu-tfrt-streamify %s
// RUN: tfrt opt --func-tfrt-streamify --async-tfrt-streamify --gpu-tfrt-streamify --cast-tfrt-streamify %s
// RUN: tfrt opt --gpu-to-tfrt-gpu %s
// RUN: tfrt opt --pass-pipeline=func-tfrt-streamify,func(async-tfrt-streamify),gpu-tfrt-streamify,cast-tfrt-streamify,func(async-to-tfrt),gpu-tfrt-hoisting %s

// One stream after the other, and one beside.
func.func @fork(%buffer: !tfrt_gpu.buffer {tfrt.name = "b"}, %x: f32) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<8xf32>
  %start = gpu.wait async
  %t0 = gpu.memset async [%start] %m, %x : memref<8xf32>, f32
  %t1 = gpu.wait async [%t0]
  %a0, %f0 = async.execute -> !async.value<!gpu.async.token> {
    %t = gpu.wait async [%t1]
    %u = gpu.memset async [%t] %m, %x : memref<8xf32>, f32
    async.yield %u : !gpu.async.token
  }
  %a1, %f1 = async.execute [%a0] (%f0 as %t: !async.value<!gpu.async.token>) -> !async.value<!gpu.async.token> {
    %t2 = gpu.wait async [%t]
    %u = gpu.memset async [%t2] %m, %x : memref<8xf32>, f32
    %v = gpu.wait async [%u]
    async.yield %v : !gpu.async.token
  }
  async.await %a1 : !async.token
  %t3 = async.await %f0 : !async.value<!gpu.async.token>
  %t4 = async.await %f1 : !async.value<!gpu.async.token>
  %t5 = gpu.wait async [%t1, %t3, %t4]
  gpu.wait [%t5]
  tfrt.return
}

// Nothing to do: the same signature.
func.func @nothing() {
  tfrt.return
}

// Only one wait: it stays.
func.func @one_wait(%x: f32) -> f32 {
  tfrt.return %x : f32
}

// Values that are not tokens, and what a region takes from outside.
func.func @values(%x: i32) -> i32 {
  %token, %value = async.execute -> !async.value<i32> {
    %y = tfrt.add.i32 %x, %x
    async.yield %y : i32
  }
  %t2, %twice = async.execute (%value as %v: !async.value<i32>) -> !async.value<i32> {
    %inner, %z = async.execute -> !async.value<i32> {
      %sum = tfrt.add.i32 %v, %x
      async.yield %sum : i32
    }
    %w = async.await %z : !async.value<i32>
    async.yield %w : i32
  }
  async.await %t2 : !async.token
  %r = async.await %twice : !async.value<i32>
  tfrt.return %r : i32
}

// Handles of libraries, for each function, kind and context.
func.func @handles(%a: !tfrt_gpu.context, %b: !tfrt_gpu.context) -> (!tfrt_gpu.blas.handle, !tfrt_gpu.blas.handle, !tfrt_gpu.blas.handle, !tfrt_gpu.dnn.handle) {
  %0 = tfrt_gpu.blas.create %a
  %1 = tfrt_gpu.blas.create %a
  %2 = tfrt_gpu.blas.create %b
  %3 = tfrt_gpu.dnn.create %b
  tfrt.return %0, %1, %2, %3 : !tfrt_gpu.blas.handle, !tfrt_gpu.blas.handle, !tfrt_gpu.blas.handle, !tfrt_gpu.dnn.handle
}
func.func @handle(%s: !tfrt_gpu.stream) -> !tfrt_gpu.solver.handle {
  %ctx = tfrt_gpu.stream.get_context %s
  %0 = tfrt_gpu.solver.create %ctx
  tfrt.return %0 : !tfrt_gpu.solver.handle
}
// It makes something of a context, and is called in advance.
func.func @keeps_its_own(%ctx: !tfrt_gpu.context) -> !tfrt_gpu.blas.handle {
  %0 = tfrt_gpu.blas.create %ctx
  tfrt.return %0 : !tfrt_gpu.blas.handle
}

// A region that waits for nothing has a stream of its own.
func.func @alone(%buffer: !tfrt_gpu.buffer, %x: f32) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<8xf32>
  %start = gpu.wait async
  %token, %done = async.execute -> !async.value<!gpu.async.token> {
    %t = gpu.wait async
    %u = gpu.memset async [%t] %m, %x : memref<8xf32>, f32
    async.yield %u : !gpu.async.token
  }
  %t = async.await %done : !async.value<!gpu.async.token>
  gpu.wait [%start, %t]
  tfrt.return
}
