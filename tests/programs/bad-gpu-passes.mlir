// What the forms and the passes of GPU programs refuse.
// RUN: tfrt opt --allow-unregistered-dialect --split-input-file --gpu-tfrt-streamify %s
// RUN: tfrt opt --allow-unregistered-dialect --split-input-file --cast-tfrt-streamify %s
// RUN: tfrt opt --allow-unregistered-dialect --split-input-file --async-to-tfrt %s

func.func @leaves(%m: memref<8xf64>, %x: f64) {
  %t = gpu.wait async
  tfrt.return
}
// -----
gpu.module @no_binary {
}
// -----
gpu.module @m attributes {binary = "x", constants = [@nowhere]} {
}
// -----
memref.global @empty : memref<2xf32>
gpu.module @m attributes {binary = "x", constants = [@empty]} {
}
// -----
gpu.module @m attributes {binary = "x", constants = 1} {
}
// -----
memref.global @huge : memref<100000000000xf32> = dense<0.0>
// -----
func.func @wide(%c: !tfrt.chain, %s: !tfrt_gpu.stream, %m: memref<8xf64>, %x: f64) {
  %t = builtin.unrealized_conversion_cast %c, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %u = gpu.memset async [%t] %m, %x : memref<8xf64>, f64
  tfrt.return
}
// -----
func.func @two_streams(%c: !tfrt.chain, %s: !tfrt_gpu.stream, %r: !tfrt_gpu.stream) {
  %t = builtin.unrealized_conversion_cast %c, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %u = builtin.unrealized_conversion_cast %c, %r : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %v = gpu.wait async [%t, %u]
  tfrt.return
}
// -----
func.func @other_element(%c: !tfrt.chain, %s: !tfrt_gpu.stream, %m: memref<f32>) {
  %t = builtin.unrealized_conversion_cast %c, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %x, %u = tfrt_gpu.streamify async [%t] {
  ^bb0(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream):
    %x = memref.load %m[] : memref<f32>
    tfrt.return %ch, %x : !tfrt.chain, f32
  } : f32
  tfrt.return
}
// -----
func.func @waits(%v: !async.value<i32>) -> i32 {
  %x = async.await %v : !async.value<i32>
  tfrt.return %x : i32
}
// -----
func.func @returns_no_chain(%x: f32) {
  %r = tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream):
    tfrt.return %x : f32
  } : f32
  tfrt.return
}
// -----
func.func @returns_another_type(%x: f32) {
  %r = tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream):
    tfrt.return %ch, %x : !tfrt.chain, f32
  } : f64
  tfrt.return
}
// -----
func.func @returns_nothing() {
  tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream):
  }
  tfrt.return
}
// -----
func.func @unnamed() {
  tfrt_gpu.streamify async {
  ^bb0(%ch: !tfrt.chain, %stream: !tfrt_gpu.stream):
    tfrt.return %ch : !tfrt.chain
  }
  tfrt.return
}
// -----
func.func @flat(%i: index) {
  gpu.launch_func @k blocks in (%i, %i, %i) threads in (%i, %i, %i)
  tfrt.return
}
// -----
func.func @few(%i: index) {
  gpu.launch_func @m::@k blocks in (%i, %i) threads in (%i, %i, %i)
  tfrt.return
}
// -----
memref.global @unsized : memref<?xf32>
// -----
func.func @no_memory(%i: index) {
  %x = memref.load %i[] : index
  tfrt.return
}
// -----
func.func @no_value(%f: f32) {
  %t = async.execute (%f as %x: f32) {
  }
  tfrt.return
}
// -----
func.func @no_type() {
  %x = arith.constant "text"
  tfrt.return
}
