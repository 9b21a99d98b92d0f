// Memory, tensors, globals and events on the host device.
// RUN: tfrt run --gpu=host %s
// RUN: tfrt run --gpu=host --work_queue_type=mstd:2 %s

func.func private @setup() -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream) {
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  tfrt.return %ctx, %mem, %s : !tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream
}

// Copies a host tensor to the device.
func.func private @upload(%t: !t.tensor, %bytes: i64, %mem: !tfrt_gpu.allocator, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain) {
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %buf = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch0
  %ch1 = tfrt_gpu.mem.copy %buf, %host, %s, %ch0 : !tfrt_gpu.buffer, !ht.host_buffer
  tfrt.return %buf, %ch1 : !tfrt_gpu.buffer, !tfrt.chain
}

// Copies device memory to a host tensor and prints it.
func.func private @show(%t: !t.tensor, %buf: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> !tfrt.chain {
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %ch1 = tfrt_gpu.mem.copy %host, %buf, %s, %ch0 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.stream.synchronize %s, %ch1
  %ch3 = tfrt_dht.print_tensor %t, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

// The texts of buffers and tensors, of what is left of a deallocated buffer, and of views.
func.func @metadata() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %i64_64 = tfrt.constant.i64 64
  %b = tfrt_gpu.mem.allocate %mem, %s, %i64_64, %ch
  %ch1 = tfrt_gpu.mem.print_metadata %b, %ch
  %u64_8 = tfrt.constant.ui64 8
  %v = tfrt_gpu.mem.view %b, %u64_8, %u64_8
  %ch2 = tfrt_gpu.mem.print_metadata %v, %ch1
  %shape = ts.build_shape [2 : i64, 4 : i64]
  %scalar = ts.build_shape [1 : i64]
  %t_f64 = tfrt_gpu.tensor.make.f64 %b, %shape, %ch2
  %ch3 = tfrt_gpu.tensor.print_metadata %t_f64, %ch2
  %shape_i64 = ts.build_shape [1 : i64]
  %t_i64 = tfrt_gpu.tensor.make.i64 %v, %shape_i64, %ch3
  %ch4 = tfrt_gpu.tensor.print_metadata %t_i64, %ch3
  %shape_i32 = ts.build_shape [2 : i64]
  %t_i32 = tfrt_gpu.tensor.make.i32 %v, %shape_i32, %ch4
  %ch5 = tfrt_gpu.tensor.print_metadata %t_i32, %ch4
  %shape_f32 = ts.build_shape [2 : i64]
  %t_f32 = tfrt_gpu.tensor.make.f32 %v, %shape_f32, %ch5
  %ch6 = tfrt_gpu.tensor.print_metadata %t_f32, %ch5
  %shape_i8 = ts.build_shape [8 : i64]
  %t_i8 = tfrt_gpu.tensor.make.i8 %v, %shape_i8, %ch6
  %ch7 = tfrt_gpu.tensor.print_metadata %t_i8, %ch6
  %same = tfrt_gpu.alias %t_f32, %ch7 : !t.tensor
  %ch8 = tfrt_gpu.tensor.print_metadata %same, %ch7
  %ch9 = tfrt_gpu.mem.deallocate %b, %s, %ch8
  %ch10 = tfrt_gpu.mem.print_metadata %b, %ch9
  %ch11 = tfrt_gpu.mem.deallocate %b, %s, %ch10
  tfrt.return %ch11 : !tfrt.chain
}

// A variable of a module keeps the module; the host reads and writes it by copies.
func.func @globals() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %m = tfrt_gpu.module.load %ctx {data = ".version 7.0\0A.target sm_60\0A.address_size 64\0A.visible .global .align 4 .u32 limits[2] = {3, 4};\0A.visible .entry nop() { ret; }\00"}
  %g = tfrt_gpu.module.get_global %m {name = "limits"}
  %t_g = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch1 = tfrt.call @show(%t_g, %g, %s, %ch) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %t_n = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch2 = tfrt_dht.set_tensor_with_constant_values.i32 %t_n, %ch1 [30 : i32, 40 : i32]
  %i64_8 = tfrt.constant.i64 8
  %n, %ch3 = tfrt.call @upload(%t_n, %i64_8, %mem, %s, %ch2) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %ch4 = tfrt_gpu.mem.copy %g, %n, %s, %ch3 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch5 = tfrt.call @show(%t_g, %g, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

// Host memory that the device reaches: a fill through it is seen in the tensor.
func.func @registered() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_r = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %host, %ch1 = tfrt_dht.get_buffer %t_r, %ch
  %r = tfrt_gpu.mem.register %ctx, %host
  %i32_5 = tfrt.constant.i32 5
  %ch2 = tfrt_gpu.mem.set %r, %i32_5, %s, %ch1 : !tfrt_gpu.buffer, i32
  %ch3 = tfrt_gpu.stream.synchronize %s, %ch2
  %ch4 = tfrt_dht.print_tensor %t_r, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

// Fills with each type of 32 bits; the rest of one to three bytes stays: 1, 2, 3 behind the word.
func.func @fills() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_b = "tfrt_dht.create_uninitialized_tensor.i8.1"() {shape = [7 : i64]} : () -> !t.tensor
  %ch1 = "tfrt_dht.set_tensor_with_constant_values.i8"(%t_b, %ch) {values = [9 : i8, 9 : i8, 9 : i8, 9 : i8, 1 : i8, 2 : i8, 3 : i8]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %i64_7 = tfrt.constant.i64 7
  %b, %ch2 = tfrt.call @upload(%t_b, %i64_7, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %u32_1 = tfrt.constant.ui32 1
  %ch3 = tfrt_gpu.mem.set %b, %u32_1, %s, %ch2 : ui32
  %ch4 = tfrt.call @show(%t_b, %b, %s, %ch3) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %f32_1p0 = tfrt.constant.f32 1.0
  %ch5 = tfrt_gpu.mem.set %b, %f32_1p0, %s, %ch4 : f32
  %ch6 = tfrt.call @show(%t_b, %b, %s, %ch5) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch6 : !tfrt.chain
}

// An event that was never recorded counts as done; one that is recorded again stands for the later place.
func.func @events() -> !tfrt.chain {
  %ctx, %mem, %s = tfrt.call @setup() : () -> (!tfrt_gpu.context, !tfrt_gpu.allocator, !tfrt_gpu.stream)
  %ch = tfrt.new.chain
  %t_b = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %t_b, %ch [1 : i32]
  %i64_4 = tfrt.constant.i64 4
  %b, %ch2 = tfrt.call @upload(%t_b, %i64_4, %mem, %s, %ch1) : (!t.tensor, i64, !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt.chain) -> (!tfrt_gpu.buffer, !tfrt.chain)
  %e = tfrt_gpu.event.create %ctx
  %other = tfrt_gpu.stream.create %ctx
  %ch3 = tfrt_gpu.event.synchronize %e, %ch2
  %ch4 = tfrt_gpu.stream.wait %other, %e, %ch3
  %ch5 = tfrt_gpu.event.record %e, %s, %ch4
  %i32_2 = tfrt.constant.i32 2
  %ch6 = tfrt_gpu.mem.set %b, %i32_2, %s, %ch5 : i32
  %ch7 = tfrt_gpu.event.record %e, %s, %ch6
  %ch8 = tfrt_gpu.stream.wait %other, %e, %ch7
  %same = tfrt_gpu.stream.get_context %other
  %copies = tfrt_gpu.allocator.create %same
  %c = tfrt_gpu.mem.allocate %copies, %other, %i64_4, %ch8
  %ch9 = tfrt_gpu.mem.copy %c, %b, %other, %ch8 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch10 = tfrt_gpu.event.record %e, %other, %ch9
  %ch11 = tfrt_gpu.event.synchronize %e, %ch10
  %t_c = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %ch12 = tfrt.call @show(%t_c, %c, %s, %ch11) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch12 : !tfrt.chain
}
