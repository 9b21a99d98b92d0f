// Where ops would run if a program may use GPUs, and why. A function may name its devices itself.
// RUN: tfrt run --gpu=host --explain-placement %s
// RUN: tfrt run --explain-placement %s

func @anywhere(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle {
  %gpu = corert.get_op_handler %c "gpu"
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%gpu) "tf.Relu"(%x) : 1
  %z = corert.executeop(%cpu) "tf.ZerosLike"(%y) : 1
  %w = corert.executeop(%gpu) "tf.AddV2"(%y, %z) : 1
  %v = corert.executeop(%gpu) "tf.ZerosLike"(%w) : 1
  tfrt.return %w : !corert.tensorhandle
}

// The handler of the host does not keep an op from its operands.
func @near_its_operands(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle {
  %cpu = corert.get_op_handler %c "cpu"
  %y = "corert.executeop"(%cpu, %x) {corert.device = "GPU:1", op_attrs = [], op_func_attrs = [], op_name = "tf.Relu"} : (!corert.ophandler, !corert.tensorhandle) -> !corert.tensorhandle
  %z = corert.executeop(%cpu) "tf.AddV2"(%y, %y) : 1
  tfrt.return %z : !corert.tensorhandle
}

func @on_one(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle attributes {corert.devices = ["CPU:0", "GPU:1"]} {
  %gpu = corert.get_op_handler %c "gpu"
  %y = corert.executeop(%gpu) "tf.Relu"(%x) : 1
  tfrt.return %y : !corert.tensorhandle
}
