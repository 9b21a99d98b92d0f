// Two ranks on two devices of the host device: a sum, an exchange of blocks, and memory that is freed while the other rank waits.
// RUN: tfrt run --gpu=host --work_queue_type=mstd:2,4 %s

func.func private @rank(%rank: i32, %id: !tfrt_gpu.ccl.id) -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.ccl.handle) {
  %dev = tfrt_gpu.device.get CUDA, %rank
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %two = tfrt.constant.i32 2
  %h = tfrt_gpu.ccl.create %ctx, %rank, %two, %id
  tfrt.return %mem, %s, %h : !tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.ccl.handle
}

// Copies words to the host.
func.func private @read(%t: !t.tensor, %from: !tfrt_gpu.buffer, %s: !tfrt_gpu.stream, %ch: !tfrt.chain) -> !tfrt.chain {
  %host, %ch0 = tfrt_dht.get_buffer %t, %ch
  %ch1 = tfrt_gpu.mem.copy %host, %from, %s, %ch0 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch2 = tfrt_gpu.stream.synchronize %s, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func.func private @exchange(%rank: i32, %id: !tfrt_gpu.ccl.id, %sums: !t.tensor, %blocks: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %mem, %s, %h = tfrt.call @rank(%rank, %id) : (i32, !tfrt_gpu.ccl.id) -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.ccl.handle)
  %bytes = tfrt.constant.i64 8
  %in = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %sum = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %out = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %one = tfrt.constant.i32 1
  %number = tfrt.add.i32 %rank, %one
  %ch0 = tfrt_gpu.mem.set %in, %number, %s, %ch : i32
  %ch1 = tfrt_gpu.ccl.all_reduce %h, %in, %sum, ncclInt32, ncclSum, %ch0
  %ch2 = tfrt_gpu.ccl.all_to_all %h, %in, %out, ncclInt32, %ch1
  %ch3 = tfrt_gpu.ccl.execute %s, %h, %ch2
  %ch4 = tfrt.call @read(%sums, %sum, %s, %ch3) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt.call @read(%blocks, %out, %s, %ch4) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}

func.func @two_ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %id = tfrt_gpu.ccl.unique_id CUDA
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %d = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch0 = tfrt.call @exchange(%zero, %id, %a, %b, %ch) : (i32, !tfrt_gpu.ccl.id, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch1 = tfrt.call @exchange(%one, %id, %c, %d, %ch) : (i32, !tfrt_gpu.ccl.id, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt.merge.chains %ch0, %ch1 : !tfrt.chain, !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %a, %ch2
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  %ch6 = tfrt_dht.print_tensor %d, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

// Rank 1 frees memory once the stream of rank 0 waits for it. Freeing must not wait for that stream.
func.func @frees_while_the_other_waits() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %bytes = tfrt.constant.i64 8
  %id = tfrt_gpu.ccl.unique_id CUDA
  %mem0, %s0, %h0 = tfrt.call @rank(%zero, %id) : (i32, !tfrt_gpu.ccl.id) -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.ccl.handle)
  %mem1, %s1, %h1 = tfrt.call @rank(%one, %id) : (i32, !tfrt_gpu.ccl.id) -> (!tfrt_gpu.allocator, !tfrt_gpu.stream, !tfrt_gpu.ccl.handle)
  %in0 = tfrt_gpu.mem.allocate %mem0, %s0, %bytes, %ch
  %in1 = tfrt_gpu.mem.allocate %mem1, %s1, %bytes, %ch
  %a0 = tfrt_gpu.mem.set %in0, %one, %s0, %ch : i32
  %a1 = tfrt_gpu.mem.set %in1, %one, %s1, %ch : i32
  %b0 = tfrt_gpu.ccl.all_reduce %h0, %in0, %in0, ncclInt32, ncclSum, %a0
  %c0 = tfrt_gpu.ccl.execute %s0, %h0, %b0
  %both = tfrt.merge.chains %c0, %a1 : !tfrt.chain, !tfrt.chain
  %other = tfrt_gpu.mem.allocate %mem1, %s1, %bytes, %both
  %freed = tfrt_gpu.mem.deallocate %other, %s1, %both
  %b1 = tfrt_gpu.ccl.all_reduce %h1, %in1, %in1, ncclInt32, ncclSum, %freed
  %c1 = tfrt_gpu.ccl.execute %s1, %h1, %b1
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %d0 = tfrt.call @read(%t, %in0, %s0, %c1) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch1 = tfrt_dht.print_tensor %t, %d0
  tfrt.return %ch1 : !tfrt.chain
}

// Gathers two words of each rank, adds and scatters two words, and passes two words to the other rank: all in one group. The context
// is not the primary one.
func.func private @pass_on(%rank: i32, %peer: i32, %id: !tfrt_gpu.ccl.id, %gathered: !t.tensor, %scattered: !t.tensor, %received: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %dev = tfrt_gpu.device.get CUDA, %rank
  %ctx = tfrt_gpu.context.create %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %two = tfrt.constant.i32 2
  %h = tfrt_gpu.ccl.create %ctx, %rank, %two, %id
  %bytes = tfrt.constant.i64 8
  %twice = tfrt.constant.i64 16
  %half = tfrt.constant.i64 4
  %in = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %all = tfrt_gpu.mem.allocate %mem, %s, %twice, %ch
  %part = tfrt_gpu.mem.allocate %mem, %s, %half, %ch
  %got = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %one = tfrt.constant.i32 1
  %number = tfrt.add.i32 %rank, %one
  %ch0 = tfrt_gpu.mem.set %in, %number, %s, %ch : i32
  %ch1 = tfrt_gpu.ccl.all_gather %h, %in, %all, ncclInt32, %ch0
  %ch2 = tfrt_gpu.ccl.reduce_scatter %h, %in, %part, ncclInt32, ncclProd, %ch1
  %ch3 = tfrt_gpu.ccl.send %h, %in, %peer, ncclInt32, %ch2
  %ch4 = tfrt_gpu.ccl.recv %h, %got, %peer, ncclInt32, %ch3
  %ch5 = tfrt_gpu.ccl.execute %s, %h, %ch4
  %ch6 = tfrt.call @read(%gathered, %all, %s, %ch5) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt.call @read(%scattered, %part, %s, %ch6) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt.call @read(%received, %got, %s, %ch7) : (!t.tensor, !tfrt_gpu.buffer, !tfrt_gpu.stream, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch8 : !tfrt.chain
}

func.func @one_group() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %id = tfrt_gpu.ccl.unique_id CUDA
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %d = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %e = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %f = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch0 = tfrt.call @pass_on(%zero, %one, %id, %a, %b, %c, %ch) : (i32, i32, !tfrt_gpu.ccl.id, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch1 = tfrt.call @pass_on(%one, %zero, %id, %d, %e, %f, %ch) : (i32, i32, !tfrt_gpu.ccl.id, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt.merge.chains %ch0, %ch1 : !tfrt.chain, !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %a, %ch2
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  %ch6 = tfrt_dht.print_tensor %d, %ch5
  %ch7 = tfrt_dht.print_tensor %e, %ch6
  %ch8 = tfrt_dht.print_tensor %f, %ch7
  tfrt.return %ch8 : !tfrt.chain
}
