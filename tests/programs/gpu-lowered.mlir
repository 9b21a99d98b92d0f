// Programs of MLIR's GPU dialects, lowered to kernels and run.
// RUN: tfrt opt --gpu-to-tfrt-gpu %s | tfrt run --gpu=host
// RUN: tfrt opt --gpu-to-tfrt-gpu %s | tfrt run --gpu=host --work_queue_type=mstd:2
// RUN: tfrt_gpu_opt -gpu-to-tfrt-gpu %s | tfrt_gpu_translate -mlir-to-bef | bef_executor --gpu=host --work_queue_type=gpu

module attributes {gpu.container_module} {

gpu.module @kernels attributes {binary = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .global .align 4 .b8 table[16];\0A.visible .entry scale(.param .u64 px, .param .f32 by) {\0A.reg .f32 %f<5>;\0A.reg .b32 %r<2>;\0A.reg .b64 %rd<6>;\0Ald.param.u64 %rd1, [px];\0Ald.param.f32 %f1, [by];\0Amov.u32 %r1, %tid.x;\0Amul.wide.u32 %rd2, %r1, 4;\0Aadd.s64 %rd3, %rd1, %rd2;\0Amov.u64 %rd4, table;\0Aadd.s64 %rd5, %rd4, %rd2;\0Ald.global.f32 %f2, [%rd3];\0Ald.global.f32 %f3, [%rd5];\0Afma.rn.f32 %f4, %f1, %f2, %f3;\0Ast.global.f32 [%rd3], %f4;\0Aret;\0A}\0A", constants = [@table]} {
  gpu.func @scale(%x: memref<4xf32>, %by: f32) kernel {
    gpu.return
  }
}
memref.global @table : memref<4xf32> = dense<[0.5, 1.5, 2.5, 3.5]> {gpu_module = @kernels}
memref.global @numbers : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
memref.global @limit : memref<i32> = dense<3>
memref.global @doubles : memref<2xf64> = dense<[1.5, -2.5]>
memref.global @bytes : memref<8xi8> = dense<[-1, 127, 1, 0, 5, 6, 7, -128]>
memref.global @waves : memref<1xcomplex<f32>> = dense<(1.0, -1.0)>
memref.global @words : memref<2xi16> = dense<[-2, 300]>
memref.global @ports : memref<2xui16> = dense<[1, 65535]>
memref.global @halves : memref<2xbf16> = dense<[1.0, -2.5]>
memref.global @totals : memref<1xui64> = dense<18446744073709551615>
memref.global @flags : memref<4xi1> = dense<[true, false, true, true]>

// Copies device memory to a host tensor and prints it.
func.func private @show(%t: !t.tensor, %buf: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> !tfrt.chain {
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %ch1 = tfrt_gpu.mem.copy %host, %buf, %s, %ch0 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.stream.synchronize %s, %ch1
  %ch3 = tfrt_dht.print_tensor %t, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

func.func private @setup(%ch: !tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %bytes = tfrt.constant.i64 16
  %buf = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %t = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  tfrt.return %s, %buf, %t : !tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor
}

// A fill, and a kernel of a module with a global that the host initializes: 2 * 0.25 + table.
func.func private @fill_and_scale(%buffer: !tfrt_gpu.buffer) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<4xf32>
  %quarter = tfrt.constant.f32 0.25
  %two = tfrt.constant.f32 2.0
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %start = gpu.wait async
  %t0 = gpu.memset async [%start] %m, %quarter : memref<4xf32>, f32
  %shared = arith.constant 64 : i32
  %t1 = gpu.launch_func async [%t0] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      dynamic_shared_memory_size %shared args(%m : memref<4xf32>, %two : f32)
  gpu.wait [%t1]
  tfrt.return
}

func.func @one_stream() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s, %buffer, %tensor = tfrt.call @setup(%ch) : (!tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor)
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %done = tfrt_gpu.streamify async [%start] {
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    tfrt.call @fill_and_scale(%buffer) : (!tfrt_gpu.buffer) -> ()
    tfrt.return %c : !tfrt.chain
  }
  %end:2 = builtin.unrealized_conversion_cast %done : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  %ch1 = tfrt.call @show(%tensor, %buffer, %s, %end#0) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Each region has a stream of its own, and waits for an event of the one before: ((1 + table) + table) + table.
func.func private @three_streams(%buffer: !tfrt_gpu.buffer) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<4xf32>
  %one = tfrt.constant.f32 1.0
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %start = gpu.wait async
  %t0 = gpu.memset async [%start] %m, %one : memref<4xf32>, f32
  %t1 = gpu.wait async [%t0]
  %a0, %f0 = async.execute -> !async.value<!gpu.async.token> {
    %t = gpu.wait async [%t1]
    %u = gpu.launch_func async [%t] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%m : memref<4xf32>, %one : f32)
    %v = gpu.wait async [%u]
    async.yield %v : !gpu.async.token
  }
  %a1, %f1 = async.execute [%a0] (%f0 as %before: !async.value<!gpu.async.token>) -> !async.value<!gpu.async.token> {
    %t = gpu.wait async [%before]
    %u = gpu.launch_func async [%t] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%m : memref<4xf32>, %one : f32)
    %v = gpu.wait async [%u]
    async.yield %v : !gpu.async.token
  }
  async.await %a1 : !async.token
  %t3 = async.await %f1 : !async.value<!gpu.async.token>
  %t4 = gpu.wait async [%t1, %t3]
  %t5 = gpu.launch_func async [%t4] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%m : memref<4xf32>, %one : f32)
  gpu.wait [%t5]
  tfrt.return
}

func.func @several_streams() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s, %buffer, %tensor = tfrt.call @setup(%ch) : (!tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor)
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %done = tfrt_gpu.streamify async [%start] {
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    tfrt.call @three_streams(%buffer) : (!tfrt_gpu.buffer) -> ()
    tfrt.return %c : !tfrt.chain
  }
  %end:2 = builtin.unrealized_conversion_cast %done : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  %ch1 = tfrt.call @show(%tensor, %buffer, %s, %end#0) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Globals, memory of the function itself, and a library handle.
func.func private @on_stream(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %buffer: !tfrt_gpu.buffer) -> !tfrt.chain {
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<4xf32>
  %numbers = memref.get_global @numbers : memref<4xf32>
  %own, %t0 = gpu.alloc async [%start] () : memref<4xf32>
  %t1 = gpu.memcpy async [%t0] %own, %numbers : memref<4xf32>, memref<4xf32>
  %t2 = gpu.memcpy async [%t1] %m, %own : memref<4xf32>, memref<4xf32>
  %t3 = gpu.dealloc async [%t2] %own : memref<4xf32>
  %t4 = tfrt_gpu.streamify async [%t3] {
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    %ctx = tfrt_gpu.stream.get_context %stream
    %h = tfrt_gpu.blas.create %ctx
    %n = tfrt.constant.i32 4
    %inc = tfrt.constant.i32 1
    %ten = tfrt.constant.f32 10.0
    %c1 = tfrt_gpu.blas.scal %h, %stream, %n, %ten, CUDA_R_32F, %buffer, CUDA_R_32F, %inc, CUDA_R_32F, %c
    tfrt.return %c1 : !tfrt.chain
  }
  %end:2 = builtin.unrealized_conversion_cast %t4 : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0 : !tfrt.chain
}

func.func @globals_and_handles() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s, %buffer, %tensor = tfrt.call @setup(%ch) : (!tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor)
  %ch1 = tfrt.call @on_stream(%ch, %s, %buffer) : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer) -> !tfrt.chain
  %ch2 = tfrt.call @show(%tensor, %buffer, %s, %ch1) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// Globals of every kind of number.
func.func private @copy_globals(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %a: !tfrt_gpu.buffer, %b: !tfrt_gpu.buffer, %c: !tfrt_gpu.buffer, %d: !tfrt_gpu.buffer) -> !tfrt.chain {
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %doubles = memref.get_global @doubles : memref<2xf64>
  %to_a = builtin.unrealized_conversion_cast %a : !tfrt_gpu.buffer to memref<2xf64>
  %t0 = gpu.memcpy async [%start] %to_a, %doubles : memref<2xf64>, memref<2xf64>
  %bytes = memref.get_global @bytes : memref<8xi8>
  %to_b = builtin.unrealized_conversion_cast %b : !tfrt_gpu.buffer to memref<8xi8>
  %t1 = gpu.memcpy async [%t0] %to_b, %bytes : memref<8xi8>, memref<8xi8>
  %waves = memref.get_global @waves : memref<1xcomplex<f32>>
  %to_c = builtin.unrealized_conversion_cast %c : !tfrt_gpu.buffer to memref<1xcomplex<f32>>
  %t2 = gpu.memcpy async [%t1] %to_c, %waves : memref<1xcomplex<f32>>, memref<1xcomplex<f32>>
  %flags = memref.get_global @flags : memref<4xi1>
  %to_d = builtin.unrealized_conversion_cast %d : !tfrt_gpu.buffer to memref<4xi1>
  %t3 = gpu.memcpy async [%t2] %to_d, %flags : memref<4xi1>, memref<4xi1>
  %end:2 = builtin.unrealized_conversion_cast %t3 : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0 : !tfrt.chain
}

func.func @numbers_of_every_kind() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s, %a, %tensor = tfrt.call @setup(%ch) : (!tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor)
  %zero = tfrt.constant.ui64 0
  %four = tfrt.constant.ui64 4
  %eight = tfrt.constant.ui64 8
  %twenty = tfrt.constant.i64 20
  %ctx = tfrt_gpu.stream.get_context %s
  %mem = tfrt_gpu.allocator.create %ctx
  %rest = tfrt_gpu.mem.allocate %mem, %s, %twenty, %ch
  %b = tfrt_gpu.mem.view %rest, %zero, %eight
  %c = tfrt_gpu.mem.view %rest, %eight, %eight
  %sixteen = tfrt.constant.ui64 16
  %d = tfrt_gpu.mem.view %rest, %sixteen, %four
  %ch1 = tfrt.call @copy_globals(%ch, %s, %a, %b, %c, %d) : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> !tfrt.chain
  %t_a = "tfrt_dht.create_uninitialized_tensor.f64.1"() {shape = [2 : i64]} : () -> !t.tensor
  %t_b = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [8 : i64]} : () -> !t.tensor
  %t_c = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %t_d = tfrt_dht.create_uninitialized_tensor.bool.1 [4 : i64]
  %ch2 = tfrt.call @show(%t_a, %a, %s, %ch1) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch3 = tfrt.call @show(%t_b, %b, %s, %ch2) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt.call @show(%t_c, %c, %s, %ch3) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt.call @show(%t_d, %d, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// Globals of types that few kernels have.
func.func private @copy_rare_globals(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %words: !tfrt_gpu.buffer, %ports: !tfrt_gpu.buffer, %halves: !tfrt_gpu.buffer, %totals: !tfrt_gpu.buffer) -> !tfrt.chain {
  %start = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %from_words = memref.get_global @words : memref<2xi16>
  %to_words = builtin.unrealized_conversion_cast %words : !tfrt_gpu.buffer to memref<2xi16>
  %t0 = gpu.memcpy async [%start] %to_words, %from_words : memref<2xi16>, memref<2xi16>
  %from_ports = memref.get_global @ports : memref<2xui16>
  %to_ports = builtin.unrealized_conversion_cast %ports : !tfrt_gpu.buffer to memref<2xui16>
  %t1 = gpu.memcpy async [%t0] %to_ports, %from_ports : memref<2xui16>, memref<2xui16>
  %from_halves = memref.get_global @halves : memref<2xbf16>
  %to_halves = builtin.unrealized_conversion_cast %halves : !tfrt_gpu.buffer to memref<2xbf16>
  %t2 = gpu.memcpy async [%t1] %to_halves, %from_halves : memref<2xbf16>, memref<2xbf16>
  %from_totals = memref.get_global @totals : memref<1xui64>
  %to_totals = builtin.unrealized_conversion_cast %totals : !tfrt_gpu.buffer to memref<1xui64>
  %t3 = gpu.memcpy async [%t2] %to_totals, %from_totals : memref<1xui64>, memref<1xui64>
  %end:2 = builtin.unrealized_conversion_cast %t3 : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  tfrt.return %end#0 : !tfrt.chain
}

func.func @rare_numbers() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %s, %all, %tensor = tfrt.call @setup(%ch) : (!tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor)
  %ctx = tfrt_gpu.stream.get_context %s
  %mem = tfrt_gpu.allocator.create %ctx
  %bytes_words = tfrt.constant.i64 4
  %words = tfrt_gpu.mem.allocate %mem, %s, %bytes_words, %ch
  %bytes_ports = tfrt.constant.i64 4
  %ports = tfrt_gpu.mem.allocate %mem, %s, %bytes_ports, %ch
  %bytes_halves = tfrt.constant.i64 4
  %halves = tfrt_gpu.mem.allocate %mem, %s, %bytes_halves, %ch
  %bytes_totals = tfrt.constant.i64 8
  %totals = tfrt_gpu.mem.allocate %mem, %s, %bytes_totals, %ch
  %ch0 = tfrt.call @copy_rare_globals(%ch, %s, %words, %ports, %halves, %totals) : (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer) -> !tfrt.chain
  %host_words = "tfrt_dht.create_uninitialized_tensor.i16.1"() {shape = [2 : i64]} : () -> !t.tensor
  %ch1 = tfrt.call @show(%host_words, %words, %s, %ch0) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %host_ports = tfrt_dht.create_uninitialized_tensor.ui16.1 [2 : i64]
  %ch2 = tfrt.call @show(%host_ports, %ports, %s, %ch1) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %host_halves = "tfrt_dht.create_uninitialized_tensor.bf16.1"() {shape = [2 : i64]} : () -> !t.tensor
  %ch3 = tfrt.call @show(%host_halves, %halves, %s, %ch2) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %host_totals = tfrt_dht.create_uninitialized_tensor.ui64.1 [1 : i64]
  %ch4 = tfrt.call @show(%host_totals, %totals, %s, %ch3) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// The body of a loop: a kernel on the stream of the loop, and a condition from device memory that the host reads.
func.func private @once_more(%buffer: !tfrt_gpu.buffer, %i: i32) -> (!tfrt_gpu.buffer, i32, i1) {
  %m = builtin.unrealized_conversion_cast %buffer : !tfrt_gpu.buffer to memref<4xf32>
  %one = tfrt.constant.f32 1.0
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %start = gpu.wait async
  %t0 = gpu.launch_func async [%start] @kernels::@scale blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
      args(%m : memref<4xf32>, %one : f32)
  %device_limit = memref.get_global @limit : memref<i32>
  %limit, %t1 = tfrt_gpu.streamify async [%t0] {
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    %limit = memref.load %device_limit[] : memref<i32>
    tfrt.return %c, %limit : !tfrt.chain, i32
  } : i32
  gpu.wait [%t1]
  %step = tfrt.constant.i32 1
  %next = tfrt.add.i32 %i, %step
  %goes_on = "tfrt.lessequal.i32"(%next, %limit) : (i32, i32) -> i1
  tfrt.return %buffer, %next, %goes_on : !tfrt_gpu.buffer, i32, i1
}

func.func @loop() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %s, %buffer, %tensor = tfrt.call @setup(%ch) : (!tfrt.chain) -> (!tfrt_gpu.stream, !tfrt_gpu.buffer, !t.tensor)
  %zero = tfrt.constant.f32 0.0
  %ch0 = tfrt_gpu.mem.set %buffer, %zero, %s, %ch : f32
  %start = builtin.unrealized_conversion_cast %ch0, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %number, %done = tfrt_gpu.streamify async [%start] {
  ^bb0(%c: !tfrt.chain, %stream: !tfrt_gpu.stream):
    %true = tfrt.constant.i1 true
    %first = tfrt.constant.i32 1
    %same, %last = tfrt.while %true @once_more(%buffer, %first) parallel_iterations(1) : (!tfrt_gpu.buffer, i32) -> (!tfrt_gpu.buffer, i32)
    tfrt.return %c, %last : !tfrt.chain, i32
  } : i32
  %end:2 = builtin.unrealized_conversion_cast %done : !gpu.async.token to !tfrt.chain, !tfrt_gpu.stream
  %ch1 = tfrt.call @show(%tensor, %buffer, %s, %end#0) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %number, %ch1 : i32, !tfrt.chain
}

}
