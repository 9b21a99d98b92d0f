// What each op of MLIR's GPU programs becomes: functions on a stream, modules of device code, globals, launches, memory.
// RUN: tfrt opt --allow-unregistered-dialect --gpu-tfrt-streamify %s
// RUN: tfrt opt --allow-unregistered-dialect --gpu-to-tfrt-gpu --mlir-print-op-generic %s

module attributes {gpu.container_module} {

gpu.module @kernels attributes {binary = "\7FELF", constants = [@table, @flags]} {
  gpu.func @step(%x: memref<4xf32>, %n: i32) kernel {
    gpu.return
  }
}
gpu.module @empty attributes {binary = ""} {
}
memref.global @table : memref<2x2xf32> = dense<[[1.0, -2.5], [0.0, 3.0]]> {gpu_module = @kernels}
memref.global "private" constant @flags : memref<3xi1> = dense<[true, false, true]> {gpu_module = @kernels}
memref.global @bytes : memref<2xi8> = dense<[-1, 127]>
memref.global @numbers : memref<1xcomplex<f32>> = dense<(1.0, -1.0)>
memref.global @splat : memref<3xui16> = dense<65535>

// Everything on one stream.
func.func @main(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %to: !tfrt_gpu.buffer, %x: f32) -> !tfrt.chain {
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %memory = builtin.unrealized_conversion_cast %to : !tfrt_gpu.buffer to memref<2x2xf32>
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 4294967328 : index
  %size = arith.constant 64 : index
  %shared = builtin.unrealized_conversion_cast %size : index to i32
  %n = builtin.unrealized_conversion_cast %c32 : index to i32
  %table = memref.get_global @table : memref<2x2xf32>
  %t0 = gpu.memcpy async [%start] %memory, %table : memref<2x2xf32>, memref<2x2xf32>
  %t1 = gpu.memset async [%t0] %memory, %x : memref<2x2xf32>, f32
  %t2 = gpu.launch_func async [%t1] @kernels::@step blocks in (%c32, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%memory : memref<2x2xf32>, %n : i32)
  %other, %t3 = gpu.alloc async [%t2] () : memref<2x2xf32>
  %t4 = gpu.memcpy async [%t3] %other, %memory : memref<2x2xf32>, memref<2x2xf32>
  %t5 = gpu.dealloc async [%t4] %other : memref<2x2xf32>
  %none = builtin.unrealized_conversion_cast %to : !tfrt_gpu.buffer to memref<0x8xf32>
  %t6 = gpu.memcpy async [%t5] %none, %none : memref<0x8xf32>, memref<0x8xf32>
  %t7 = gpu.wait async [%t6]
  %end:2 = builtin.unrealized_conversion_cast %t7 : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0 : !tfrt.chain
}

// The context that a function asks for is the one that it uses.
func.func @context(%s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> !tfrt_gpu.buffer {
  %table = memref.get_global @table : memref<2x2xf32>
  %ctx = tfrt_gpu.stream.get_context %s
  %buffer = builtin.unrealized_conversion_cast %table : memref<2x2xf32> to !tfrt_gpu.buffer
  tfrt.return %buffer : !tfrt_gpu.buffer
}

// Two values are read on the host, one after the other; the region dissolves.
func.func @read(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %a: !tfrt_gpu.buffer) -> (!tfrt.chain, i32, i1) {
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %i = builtin.unrealized_conversion_cast %a : !tfrt_gpu.buffer to memref<i32>
  %b = builtin.unrealized_conversion_cast %a : !tfrt_gpu.buffer to memref<i1>
  %number, %flag, %t = tfrt_gpu.streamify async [%start] {
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    %number = memref.load %i[] : memref<i32>
    %flag = memref.load %b[] : memref<i1>
    tfrt.return %c, %number, %flag : !tfrt.chain, i32, i1
  } : i32, i1
  %end:2 = builtin.unrealized_conversion_cast %t : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0, %number, %flag : !tfrt.chain, i32, i1
}

// The older form of such a region.
func.func @older(%ch: !tfrt.chain, %s: !tfrt_gpu.stream) -> !tfrt.chain {
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %t = "tfrt_gpu_conversion.async.execute"(%start) ({
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    %h = tfrt_gpu.stream.synchronize %stream, %c
    tfrt.return %h : !tfrt.chain
  }) : (!gpu.async.token) -> !gpu.async.token
  %end:2 = builtin.unrealized_conversion_cast %t : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0 : !tfrt.chain
}

// Streams join where a wait has a token of a stream and others of events.
func.func @join(%s: !tfrt_gpu.stream, %c0: !tfrt.chain, %c1: !tfrt.chain, %c2: !tfrt.chain, %e1: !tfrt_gpu.event, %e2: !tfrt_gpu.event) -> (!tfrt.chain, !tfrt_gpu.stream) {
  %t0 = builtin.unrealized_conversion_cast %c0, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %t1 = builtin.unrealized_conversion_cast %c1, %e1 : !tfrt.chain, !tfrt_gpu.event to !gpu.async.token
  %t2 = builtin.unrealized_conversion_cast %c2, %e2 : !tfrt.chain, !tfrt_gpu.event to !gpu.async.token
  %t = gpu.wait async [%t0, %t1, %t2]
  %end:2 = builtin.unrealized_conversion_cast %t : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0, %end#1 : !tfrt.chain, !tfrt_gpu.stream
}

}
