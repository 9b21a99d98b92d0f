// Functions that run as graphs: the first call captures their work, and later calls launch it.
// RUN: tfrt run --gpu=host %s
// RUN: tfrt run --gpu=host --work_queue_type=mstd:2 %s
// RUN: tfrt run --gpu=host --work_queue_type=gpu %s

func.func private @setup() -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  tfrt.return %ctx, %mem, %s : !tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream
}

func.func private @show(%buf: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> !tfrt.chain {
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %ch1 = tfrt_gpu.mem.copy %host, %buf, %s, %ch0 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.stream.synchronize %s, %ch1
  %ch3 = tfrt_dht.print_tensor %t, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

// y += a * x, by a kernel and by the BLAS library; the scale is a called function.
func.func private @scaled(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %h: !tfrt_gpu.blas.handle, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %four = tfrt.constant.i32 4
  %one = tfrt.constant.i32 1
  %half = tfrt.constant.f32 0.5
  %ch1 = tfrt_gpu.blas.scal %h, %s, %four, %half, CUDA_R_32F, %y, CUDA_R_32F, %one, CUDA_R_32F, %ch
  tfrt.return %ch1 : !tfrt.chain
}
func.func private @step(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %f: !tfrt_gpu.function, %h: !tfrt_gpu.blas.handle, %a: f32, %x: !tfrt_gpu.buffer, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %one = tfrt.constant.ui64 1
  %four = tfrt.constant.ui64 4
  %shared = tfrt.constant.ui32 0
  %ch1 = tfrt_gpu.function.launch %s, %f, blocks in (%one, %one, %one), threads in (%four, %one, %one), %shared, %ch, args(%a, %x, %y) : (f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer)
  %ch2 = tfrt.call @scaled(%ch1, %s, %h, %y) : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.blas.handle, !tfrt_gpu.buffer) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// The same step four times, then with another number, and on another stream.
func.func @steps() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %m = tfrt_gpu.module.load %ctx {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .entry saxpy(.param .f32 pa, .param .u64 px, .param .u64 py) {\0A.reg .f32 %f<5>;\0A.reg .b32 %r<2>;\0A.reg .b64 %rd<6>;\0Ald.param.f32 %f1, [pa];\0Ald.param.u64 %rd1, [px];\0Ald.param.u64 %rd2, [py];\0Amov.u32 %r1, %tid.x;\0Amul.wide.u32 %rd3, %r1, 4;\0Aadd.s64 %rd4, %rd1, %rd3;\0Aadd.s64 %rd5, %rd2, %rd3;\0Ald.global.f32 %f2, [%rd4];\0Ald.global.f32 %f3, [%rd5];\0Afma.rn.f32 %f4, %f1, %f2, %f3;\0Ast.global.f32 [%rd5], %f4;\0Aret;\0A}\00"}
  %f = tfrt_gpu.module.get_function %m {name = "saxpy"}
  %h = tfrt_gpu.blas.create %ctx
  %bytes = tfrt.constant.i64 16
  %x = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %y = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %one = tfrt.constant.f32 1.0
  %two = tfrt.constant.f32 2.0
  %ch0 = tfrt_gpu.mem.set %x, %one, %s, %ch : f32
  %ch1 = tfrt_gpu.mem.set %y, %two, %s, %ch0 : f32
  %ch2 = tfrt_gpu.graph.execute @step(%ch1, %s, %f, %h, %two, %x, %y) : !tfrt_gpu.function, !tfrt_gpu.blas.handle, f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch3 = tfrt_gpu.graph.execute @step(%ch2, %s, %f, %h, %two, %x, %y) : !tfrt_gpu.function, !tfrt_gpu.blas.handle, f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch4 = tfrt.call @show(%y, %s, %ch3) : (!tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_gpu.graph.execute @step(%ch4, %s, %f, %h, %two, %x, %y) : !tfrt_gpu.function, !tfrt_gpu.blas.handle, f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch6 = tfrt_gpu.graph.execute @step(%ch5, %s, %f, %h, %one, %x, %y) : !tfrt_gpu.function, !tfrt_gpu.blas.handle, f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch7 = tfrt.call @show(%y, %s, %ch6) : (!tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %other = tfrt_gpu.stream.create %ctx
  %ch8 = tfrt_gpu.graph.execute @step(%ch7, %other, %f, %h, %two, %x, %y) : !tfrt_gpu.function, !tfrt_gpu.blas.handle, f32, !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch9 = tfrt.call @show(%y, %other, %ch8) : (!tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch10 = tfrt_gpu.graph.print_reports %ch9
  tfrt.return %ch10 : !tfrt.chain
}

// A function runs as usual if it prints, allocates, or copies from or to host memory.
func.func private @prints(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %two = tfrt.constant.f32 2.0
  %ch1 = tfrt_gpu.mem.set %y, %two, %s, %ch : f32
  %seven = tfrt.constant.i32 7
  %ch2 = tfrt.print.i32 %seven, %ch1
  tfrt.return %ch2 : !tfrt.chain
}
func.func private @copies(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %host: !ht.host_buffer, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %ch1 = tfrt_gpu.mem.copy %y, %host, %s, %ch : !tfrt_gpu.buffer, !ht.host_buffer
  tfrt.return %ch1 : !tfrt.chain
}
func.func private @pinned(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %ctx: !tfrt_gpu.context, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %bytes = tfrt.constant.i64 16
  %pinned = tfrt_gpu.mem.allocate_host %ctx, %bytes, %ch
  %ch1 = tfrt_gpu.mem.copy %pinned, %y, %s, %ch : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  tfrt.return %ch1 : !tfrt.chain
}
func.func private @copies_registered(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %host: !tfrt_gpu.buffer, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %ch1 = tfrt_gpu.mem.copy %host, %y, %s, %ch : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  tfrt.return %ch1 : !tfrt.chain
}
func.func @usual() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %bytes = tfrt.constant.i64 16
  %y = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %ch1 = tfrt_gpu.graph.execute @prints(%ch, %s, %y) : !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.graph.execute @prints(%ch1, %s, %y) : !tfrt_gpu.buffer
  %ch3 = tfrt.call @show(%y, %s, %ch2) : (!tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch4 = tfrt_dht.set_tensor_with_constant_values.f32 %t, %ch3 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %host, %ch5 = tfrt_dht.get_buffer %t, %ch4
  %ch6 = tfrt_gpu.graph.execute @copies(%ch5, %s, %host, %y) : !ht.host_buffer, !tfrt_gpu.buffer
  %ch7 = tfrt.call @show(%y, %s, %ch6) : (!tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt_gpu.graph.execute @pinned(%ch7, %s, %ctx, %y) : !tfrt_gpu.context, !tfrt_gpu.buffer
  %pinned = tfrt_gpu.mem.register %ctx, %host
  %ch9 = tfrt_gpu.graph.execute @copies_registered(%ch8, %s, %pinned, %y) : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_gpu.graph.print_reports %ch9
  tfrt.return %ch10 : !tfrt.chain
}

// A kernel that fails in the capture fails as usual.
func.func private @fails(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %y: !tfrt_gpu.buffer) -> !tfrt.chain {
  %big = tfrt.constant.ui64 8
  %len = tfrt.constant.ui64 16
  %two = tfrt.constant.f32 2.0
  %part = tfrt_gpu.mem.view %y, %big, %len
  %ch1 = tfrt_gpu.mem.set %part, %two, %s, %ch : f32
  tfrt.return %ch1 : !tfrt.chain
}
func.func @failing() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %bytes = tfrt.constant.i64 16
  %y = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %ch1 = tfrt_gpu.graph.execute @fails(%ch, %s, %y) : !tfrt_gpu.buffer
  tfrt.return %ch1 : !tfrt.chain
}
