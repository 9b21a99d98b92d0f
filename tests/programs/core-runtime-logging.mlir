// Handlers that log ops whose tensors are late: in a task of the single-threaded queue, the log waits while other tasks run; on a
// thread of another queue, ops and their results wait for the log. Text attributes are lists of bytes. A span of a traced call has the
// name of the handler that was asked for the op.
// RUN: tfrt run --test_init_function=set_up %s
// RUN: tfrt run --test_init_function=set_up --work_queue_type=mstd:4 --functions=in_tasks %s
// RUN: tfrt run --test_init_function=set_up --functions=bytes --tracing_sink=debug --tracing_level=default %s

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%none) : (!corert.ophandler) -> !corert.ophandler
  %log = "corert.create_logging_op_handler"(%cpu) { sync_log_results = true } : (!corert.ophandler) -> !corert.ophandler
  %c = corert.register_op_handler %log "log"
  tfrt.return %c : !tfrt.chain
}

func private @again(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %log = corert.get_op_handler %c "log"
  %limit = corert.const_dense_tensor dense<3> : tensor<i32>
  %p = corert.executeop(%log) "tf.Less"(%x, %limit) : 1
  tfrt.return %c, %p : !tfrt.chain, !corert.tensorhandle
}

func private @round(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %log = corert.get_op_handler %c "log"
  %two = corert.const_dense_tensor dense<2> : tensor<i32>
  %late = corert.executeop(%log) "tfrt_test.async.noop_no_md"(%x) : 1
  %y = corert.executeop(%log) "tf.AddV2"(%late, %two) : 1
  tfrt.return %c, %y : !tfrt.chain, !corert.tensorhandle
}

func @in_tasks() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %x = corert.const_dense_tensor dense<0> : tensor<i32>
  %c1, %y = corert.while @again @round(%c0, %x) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %c2 = "corert.print_tensorhandle"(%y, %c1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}

func @bytes() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %log = corert.get_op_handler %c0 "log"
  %x = corert.executeop(%log) "tfrt_test.create_dense_tensor"() { shape = [1], values = [1 : i8], text = "aé", more = "\00\FFxyz€" } : 1
  %a = "corert.create_op_attrs"() : () -> !corert.opattrs
  %c1 = "corert.op_attrs_set.str"(%a, %c0) { key = "text", value = "né€" } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_test.corert.op_attrs_print"(%a, %c1) : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c2 : !tfrt.chain
}
