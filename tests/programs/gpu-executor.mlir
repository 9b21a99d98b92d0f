// Programs with an entry point: the executor calls it with a stream and buffers of the sizes that it asks for.
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=main buffer_sizes=16,32' %s | tfrt run-gpu --gpu=host
// RUN: tfrt_gpu_opt -gpu-to-tfrt-gpu '-tfrt-set-entry-point=platform=CUDA function_name=main buffer_sizes=16,32' %s | tfrt_gpu_translate -mlir-to-bef | tfrt_gpu_executor --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=main buffer_sizes=16' %s | tfrt run-gpu --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=main buffer_sizes=16,0' %s | tfrt run-gpu --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=ROCm function_name=main buffer_sizes=16,32' %s | tfrt run-gpu --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=plain' %s | tfrt run-gpu --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=fails' %s | tfrt run-gpu --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu '--tfrt-set-entry-point=platform=CUDA function_name=faults buffer_sizes=8' %s | tfrt run-gpu --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu %s | tfrt run-gpu --gpu=host
// RUN: tfrt run-gpu --gpu=host missing.mlir
// RUN: tfrt_gpu_executor missing.mlir

module attributes {gpu.container_module} {

gpu.module @kernels attributes {binary = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .global .align 4 .b8 table[16];\0A.visible .entry scale(.param .u64 px, .param .f32 by) {\0A.reg .f32 %f<5>;\0A.reg .b32 %r<2>;\0A.reg .b64 %rd<6>;\0Ald.param.u64 %rd1, [px];\0Ald.param.f32 %f1, [by];\0Amov.u32 %r1, %tid.x;\0Amul.wide.u32 %rd2, %r1, 4;\0Aadd.s64 %rd3, %rd1, %rd2;\0Amov.u64 %rd4, table;\0Aadd.s64 %rd5, %rd4, %rd2;\0Ald.global.f32 %f2, [%rd3];\0Ald.global.f32 %f3, [%rd5];\0Afma.rn.f32 %f4, %f1, %f2, %f3;\0Ast.global.f32 [%rd3], %f4;\0Aret;\0A}\0A", constants = [@table]} {
  gpu.func @scale(%x: memref<4xf32>, %by: f32) kernel {
    gpu.return
  }
}
memref.global @table : memref<4xf32> = dense<[0.5, 1.5, 2.5, 3.5]> {gpu_module = @kernels}

// Fills both buffers, changes the first and prints it.
func.func @main(%a: !tfrt_gpu.buffer, %b: !tfrt_gpu.buffer) {
  %m = builtin.unrealized_conversion_cast %a : !tfrt_gpu.buffer to memref<4xf32>
  %n = builtin.unrealized_conversion_cast %b : !tfrt_gpu.buffer to memref<8xf32>
  %two = tfrt.constant.f32 2.0
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %start = gpu.wait async
  %t0 = gpu.memset async [%start] %m, %two : memref<4xf32>, f32
  %t1 = gpu.memset async [%t0] %n, %two : memref<8xf32>, f32
  %t2 = gpu.launch_func async [%t1] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%m : memref<4xf32>, %two : f32)
  %t3 = tfrt_gpu.streamify async [%t2] {
  ^bb0(%c: !tfrt.chain, %s: !tfrt_gpu.stream):
    %tensor = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
    %host, %c0 = tfrt_dht.get_buffer %tensor, %c
    %copied = tfrt_gpu.mem.copy %host, %a, %s, %c0 : !ht.host_buffer, !tfrt_gpu.buffer
    %done = tfrt_gpu.stream.synchronize %s, %copied
    %printed = tfrt_dht.print_tensor %tensor, %done
    tfrt.return %printed : !tfrt.chain
  }
  gpu.wait [%t3]
  tfrt.return
}

// It is not of the type that the executor calls.
func.func @plain(%i: i32) -> i32 {
  tfrt.return %i : i32
}

// A kernel fails, and so does the chain that is returned.
func.func @fails() {
  %zero = tfrt.constant.f64 0.0
  %start = gpu.wait async
  %t = tfrt_gpu.streamify async [%start] {
  ^bb0(%c: !tfrt.chain, %s: !tfrt_gpu.stream):
    %size = tfrt.constant.i64 4
    %ctx = tfrt_gpu.stream.get_context %s
    %buffer = tfrt_gpu.mem.allocate_host %ctx, %size, %c
    %failed = tfrt_gpu.mem.set %buffer, %zero, %s, %c : f64
    tfrt.return %failed : !tfrt.chain
  }
  gpu.wait [%t]
  tfrt.return
}

// The kernel accesses what is behind the buffer, which appears as the stream is synchronized.
func.func @faults(%a: !tfrt_gpu.buffer) {
  %m = builtin.unrealized_conversion_cast %a : !tfrt_gpu.buffer to memref<4xf32>
  %two = tfrt.constant.f32 2.0
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %start = gpu.wait async
  %t = gpu.launch_func async [%start] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%m : memref<4xf32>, %two : f32)
  gpu.wait [%t]
  tfrt.return
}

}
