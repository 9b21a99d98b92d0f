// Numbers that are read from the device in front of calls, loops and other reads in one region: each
// continues from the read before it.
// RUN: tfrt opt --gpu-to-tfrt-gpu %s

memref.global @signed : memref<2xsi32> = dense<[1, -1]>

func.func @callee() {
  %a = gpu.wait async
  gpu.wait [%a]
  tfrt.return
}

func.func @body(%i: i32) -> (i32, i1) {
  %a = gpu.wait async
  gpu.wait [%a]
  %no = tfrt.constant.i1 false
  tfrt.return %i, %no : i32, i1
}

func.func @before_a_call(%buffer: !tfrt_gpu.buffer) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<i32>
  %a = gpu.wait async
  %i, %t = tfrt_gpu.streamify async [%a] {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    %i = memref.load %m[] : memref<i32>
    tfrt.call @callee() : () -> ()
    tfrt.return %ch, %i : !tfrt.chain, i32
  } : i32
  gpu.wait [%t]
  tfrt.return
}

func.func @around_calls(%buffer: !tfrt_gpu.buffer) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<i32>
  %a = gpu.wait async
  %i, %j, %k, %t = tfrt_gpu.streamify async [%a] {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    %i = memref.load %m[] : memref<i32>
    %j = memref.load %m[] : memref<i32>
    tfrt.call @callee() : () -> ()
    tfrt.call @callee() : () -> ()
    %k = memref.load %m[] : memref<i32>
    tfrt.return %ch, %i, %j, %k : !tfrt.chain, i32, i32, i32
  } : i32, i32, i32
  gpu.wait [%t]
  tfrt.return
}

func.func @condition_of_a_loop(%buffer: !tfrt_gpu.buffer, %i: i32) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<i1>
  %a = gpu.wait async
  %n, %t = tfrt_gpu.streamify async [%a] {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    %c = memref.load %m[] : memref<i1>
    %n = tfrt.while %c @body(%i) parallel_iterations(1) : (i32) -> (i32)
    tfrt.return %ch, %n : !tfrt.chain, i32
  } : i32
  gpu.wait [%t]
  tfrt.return
}
