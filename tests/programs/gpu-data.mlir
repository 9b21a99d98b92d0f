// Input pipelines whose tensors are on a GPU before they are asked for.
// RUN: tfrt run --gpu=host --test_init_function=set_up --print_error_code %s
// RUN: tfrt run --gpu=host --test_init_function=set_up --print_error_code --work_queue_type=mstd:2 %s

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %zero = tfrt.constant.i32 0
  %gpu = "corert.create_gpu_op_handler"(%zero, %none) : (i32, !corert.ophandler) -> !corert.ophandler
  %c = corert.register_op_handler %gpu "gpu"
  tfrt.return %c : !tfrt.chain
}

// 0, 0.5, 1, … in batches of two, each behind its number.
func private @batches() -> !tfrt_data.dataset {
  %zero = tfrt.constant.i64 0
  %five = tfrt.constant.i64 5
  %two = tfrt.constant.i64 2
  %one = tfrt.constant.i64 1
  %d = tfrt_data.range_dataset %zero, %five, %one { element_type = f32 }
  %b = tfrt_data.batch_dataset %d, %two
  %e = tfrt_data.enumerate_dataset %b, %zero
  tfrt.return %e : !tfrt_data.dataset
}

func private @double(%number: i64, %x: !corert.tensorhandle, %ch: !tfrt.chain) -> !tfrt.chain {
  %c0 = tfrt.print.i64 %number, %ch
  %gpu = corert.get_op_handler %ch "gpu"
  %y = corert.executeop(%gpu) "tf.AddV2"(%x, %x) : 1
  %host = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%y) : 1
  %c1 = corert.executeop.seq(%gpu, %c0) "tfrt_test.print"(%host) : 0
  tfrt.return %c1 : !tfrt.chain
}

func @doubled_on_the_gpu() -> !tfrt.chain {
  %c = tfrt.new.chain
  %device = tfrt.get_device %c { device_name = "GPU:0" }
  %d = tfrt.call @batches() : () -> !tfrt_data.dataset
  %p = tfrt_data.prefetch_to_device %d, %device { buffer = 2 : i64 }
  %it = tfrt_data.make_iterator %p
  %r = tfrt_data.enumerate.iterator %it, %c { function = @double } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

// A checkpoint has the elements of the host, and a pass goes on from it.
func @resumed_on_the_gpu() -> !tfrt.chain {
  %c = tfrt.new.chain
  %device = tfrt.get_device %c { device_name = "GPU:0" }
  %d = tfrt.call @batches() : () -> !tfrt_data.dataset
  %p = tfrt_data.prefetch_to_device %d, %device
  %it = tfrt_data.make_iterator %p
  %c0, %number, %x = tfrt_data.iterator_get_next %it, %c : i64, !corert.tensorhandle
  %c1 = tfrt.call @double(%number, %x, %c0) : (i64, !corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c2, %saved = tfrt_data.iterator_save %it, %c1
  %rest = tfrt_data.iterator_restore %p, %saved
  %r = tfrt_data.enumerate.iterator %rest, %c2 { function = @double } : !tfrt.chain
  tfrt.return %r : !tfrt.chain
}

func @no_such_buffer() -> !tfrt_data.dataset {
  %c = tfrt.new.chain
  %device = tfrt.get_device %c { device_name = "GPU:0" }
  %d = tfrt.call @batches() : () -> !tfrt_data.dataset
  // expected-error @+1 {{buffer must be between 0 and 1048576, not -1}}
  %p = tfrt_data.prefetch_to_device %d, %device { buffer = -1 : i64 }
  tfrt.return %p : !tfrt_data.dataset
}
