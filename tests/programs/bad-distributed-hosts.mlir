// RUN: tfrt opt --insert-send-recv %s
// RUN: tfrt opt --cluster-by-host %s

// Values that cannot be sent between tasks, or that nothing sends.

func @handler_of_this_task(%h: !corert.ophandler) attributes {host = "/job:worker/task:0"} {
  %x = corert.executeop(%h) "tfrt_test.create_dense_tensor"() {device = "/job:worker/task:1/device:CPU:0", shape = [1 : i64], values = [1 : i32]} : 1
  tfrt.return
}

func @tensor_of_this_task(%x: i32) -> i32 attributes {host = "/job:worker/task:0"} {
  %y = tfrt.add.i32 %x, %x {tfrt.device = "/job:worker/task:1/device:CPU:0"}
  tfrt.return %y : i32
}

func @without_host(%ch: !tfrt.chain) -> !tfrt.chain {
  %cpu = corert.get_op_handler %ch "cpu"
  %c = corert.executeop.seq(%cpu, %ch) "my.op"() {device = "/job:worker/task:1/device:CPU:0"} : 0
  tfrt.return %c : !tfrt.chain
}

func @handler_without_host(%ch: !tfrt.chain) {
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.executeop(%cpu) "my.op"() {device = "/job:worker/task:1/device:CPU:0"} : 1
  tfrt.return
}

func @two_tasks_in_a_region(%if: i1, %x: i32) -> i32 {
  %y = tfrt.if %if, %x : (i32) -> (i32) {
    %z = tfrt.add.i32 %x, %x {tfrt.device = "/job:worker/task:1/device:CPU:0"}
    tfrt.return %z : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %y : i32
}
