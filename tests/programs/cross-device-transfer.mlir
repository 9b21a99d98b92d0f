// RUN: tfrt opt --tfrt-cross-device-transfer %s
// RUN: tfrt opt --tfrt-cross-device-transfer --tfrt-cross-device-transfer %s

// The argument is on the first CPU, and one transfer serves both ops of the GPU. The sum is on the CPU again.
func @once_for_each_device(%c: !tfrt.chain, %cpu: !corert.ophandler, %gpu: !corert.ophandler, %x: !corert.tensorhandle, %g: !corert.tensorhandle {tfrt.device = "/job:localhost/replica:0/task:0/device:gpu"}) -> !corert.tensorhandle {
  %y = corert.executeop(%gpu) "tf.Relu"(%x) {device = "/job:localhost/replica:0/task:0/device:GPU:0"} : 1
  %z = corert.executeop(%gpu) "tf.AddV2"(%x, %g) {device = "/device:GPU:0"} : 1
  %s = corert.executeop(%cpu) "tf.AddV2"(%y, %z) {device = "/device:CPU:0"} : 1
  %t = corert.executeop(%cpu) "tf.AddV2"(%s, %s) : 1
  tfrt.return %t : !corert.tensorhandle
}

// Without a chain among the arguments there is a new one.
func @without_chain(%cpu: !corert.ophandler, %x: !corert.tensorhandle {tfrt.device = "/device:GPU:1"}) -> !corert.tensorhandle {
  %y = corert.executeop(%cpu) "tf.Relu"(%x) : 1
  tfrt.return %y : !corert.tensorhandle
}
