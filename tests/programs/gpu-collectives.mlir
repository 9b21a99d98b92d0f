// Two ranks on two devices of the host device: a sum, and an exchange of blocks.
// RUN: tfrt run --gpu=host --work_queue_type=mstd:2,4 %s

func.func private @rank(%rank: i32, %id: !tfrt_gpu.ccl.id, %t: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %dev = tfrt_gpu.device.get CUDA, %rank
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %two = tfrt.constant.i32 2
  %h = tfrt_gpu.ccl.create %ctx, %rank, %two, %id
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
  %host, %ch4 = tfrt_dht.get_buffer %t, %ch3
  %four = tfrt.constant.ui64 4
  %zero = tfrt.constant.ui64 0
  %ch5 = tfrt_gpu.mem.copy %sum, %out, %s, %ch4 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
  %ch6 = tfrt_gpu.mem.copy %host, %sum, %s, %ch5 : !ht.host_buffer, !tfrt_gpu.buffer
  %ch7 = tfrt_gpu.stream.synchronize %s, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

func.func @two_ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %id = tfrt_gpu.ccl.unique_id CUDA
  %a = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch0 = tfrt.call @rank(%zero, %id, %a, %ch) : (i32, !tfrt_gpu.ccl.id, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch1 = tfrt.call @rank(%one, %id, %b, %ch) : (i32, !tfrt_gpu.ccl.id, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt.merge.chains %ch0, %ch1 : !tfrt.chain, !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %a, %ch2
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  tfrt.return %ch4 : !tfrt.chain
}
