// Functions as ops: the links and the speeds of devices, which decide where an op runs.
// RUN: tfrt opt --corert-infer-metadata --corert-explain-placement --corert-place %s

// A fast device that is near: the second op stays there, with the result of the first.
func @near(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<1000xf32>], corert.devices = ["CPU:0", "CPU:1"], corert.device_speeds = [["CPU:0", 100.0], ["CPU:1", 1000.0]], corert.links = [["CPU:0", "CPU:1", 1.0, 4000.0]]} {
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.Relu"(%x) : 1
  %z = corert.executeop(%cpu) "tf.Exp"(%y) : 1
  tfrt.return %z : !corert.tensorhandle
}

// The same device behind a slow link.
func @far(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<1000xf32>], corert.devices = ["CPU:0", "CPU:1"], corert.device_speeds = [["CPU:0", 100.0], ["CPU:1", 1000.0]], corert.links = [["CPU:0", "CPU:1", 1.0, 40.0]]} {
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.Relu"(%x) : 1
  tfrt.return %y : !corert.tensorhandle
}

// Without known shapes nothing is known of what the op takes.
func @unknown(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.devices = ["CPU:0", "CPU:1"], corert.device_speeds = [["CPU:1", 1000.0]]} {
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.Relu"(%x) : 1
  tfrt.return %y : !corert.tensorhandle
}

// The speed of one device is not known, so that the op itself does not count.
func @one_speed(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle
    attributes {corert.arguments = [tensor<1000xf32>], corert.devices = ["CPU:0", "CPU:1"], corert.device_speeds = [["CPU:1", 1000.0]]} {
  %cpu = corert.get_op_handler %c "cpu"
  %y = corert.executeop(%cpu) "tf.Relu"(%x) : 1
  tfrt.return %y : !corert.tensorhandle
}

func @bad_links() attributes {corert.devices = ["CPU:0", "CPU:1"], corert.links = [["CPU:0", "CPU:1"], ["CPU:0", "CPU:2", 1.0, 1.0], ["CPU:0", "CPU:1", -1.0, 1.0], ["CPU:0", "CPU:1", 1.0, 0.0], 7 : i32, [1 : i32, "CPU:1", 1.0, 1.0]]} {
  tfrt.return
}

func @bad_speeds() attributes {corert.devices = ["CPU:0", "CPU:1"], corert.device_speeds = [["CPU:3", 1.0], ["CPU:0", 0.0], ["CPU:0", 1.0 : f32], ["CPU:0"]]} {
  tfrt.return
}

func @no_lists() attributes {corert.links = "CPU:0", corert.device_speeds = 1.0 : f64} {
  tfrt.return
}
