// Functions of the program that are called as ops, by name: with a chain and without, late results, errors, a function that calls itself.
// RUN: tfrt run --call-depth=100 --test_init_function=set_up %s
// RUN: tfrt run --call-depth=100 --work_queue_type=mstd:2 --test_init_function=set_up %s

func @set_up() -> !tfrt.chain {
  %none = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%none) : (!corert.ophandler) -> !corert.ophandler
  %c = corert.register_op_handler %cpu "cpu"
  tfrt.return %c : !tfrt.chain
}

func private @twice(%x: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.AddV2"(%x, %x) : 1
  tfrt.return %y : !corert.tensorhandle
}

func private @printed(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %c "cpu"
  %d = corert.executeop.seq(%cpu, %c) "tfrt_test.print"(%x)
  %y = corert.executeop(%cpu) "tf.Mul"(%x, %x) : 1
  tfrt.return %d, %y, %x : !tfrt.chain, !corert.tensorhandle, !corert.tensorhandle
}

func private @shown(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %d = "corert.print_tensorhandle"(%x, %c) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %d, %x : !tfrt.chain, !corert.tensorhandle
}

func private @later(%x: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tfrt_test.async.noop_no_md"(%x) : 1
  %z = corert.executeop(%cpu) "tf.PartitionedCall"(%y) {} { f = "twice" } : 1
  tfrt.return %z : !corert.tensorhandle
}

func private @fails(%x: !corert.tensorhandle) -> (!corert.tensorhandle, !corert.tensorhandle) {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tfrt_test.error.tensor"(%x) : 1 // expected-error {{error from test.error.tensor implementation}}
  tfrt.return %x, %y : !corert.tensorhandle, !corert.tensorhandle
}

func private @itself(%x: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "itself" } : 1 // expected-error {{function calls are nested more than 100 levels deep}}
  tfrt.return %y : !corert.tensorhandle
}

func private @of_numbers(%x: i32) -> i32 {
  tfrt.return %x : i32
}

func @calls() -> !tfrt.chain {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %x = corert.const_dense_tensor dense<[1, -2]> : tensor<2xi32>
  %y = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "twice" } : 1
  %d, %z:2 = corert.executeop.seq(%cpu, %c) "tf.StatefulPartitionedCall"(%y) {} { f = "printed" } : 2
  %e = corert.executeop.seq(%cpu, %d) "tfrt_test.print"(%z#0)
  %s = corert.const_string_tensor { shape = [1], value = ["text"] }
  %f, %t = corert.executeop.seq(%cpu, %e) "tf.StatefulPartitionedCall"(%s) {} { f = "shown" } : 1
  tfrt.return %f : !tfrt.chain
}

func @late() -> (!tfrt.chain, !corert.tensorhandle, !corert.tensorhandle) {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %x = corert.executeop(%cpu) "tfrt_test.create_from_scalar"() { shape = [2], value = 4 : i64 } : 1
  %y = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "later" } : 1
  %d = corert.executeop.seq(%cpu, %c) "tfrt_test.print"(%y)
  %z:2 = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "fails" } : 2
  tfrt.return %d, %z#0, %z#1 : !tfrt.chain, !corert.tensorhandle, !corert.tensorhandle
}

func @mistakes() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %x = corert.const_dense_tensor dense<1> : tensor<i32>
  %a = corert.executeop(%cpu) "tf.PartitionedCall"(%x) : 1 // expected-error {{missing function attribute `f`}}
  %b = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "nobody" } : 1 // expected-error {{attribute `f`: unknown function `nobody`}}
  %d = corert.executeop(%cpu) "tf.PartitionedCall"(%x, %x) {} { f = "twice" } : 1 // expected-error {{function `twice` has 1 arguments and 1 results, but the call has 2 and 1}}
  %e = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "of_numbers" } : 1 // expected-error {{function `of_numbers` is called as an op: expected tensor handles as arguments and results, found `i32`}}
  tfrt.return %a, %b, %d, %e : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

func @endless() -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %x = corert.const_dense_tensor dense<1> : tensor<i32>
  %a = corert.executeop(%cpu) "tf.PartitionedCall"(%x) {} { f = "itself" } : 1
  tfrt.return %a : !corert.tensorhandle
}
