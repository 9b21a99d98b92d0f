// Programs of MLIR's dialects that no pass can lower, and that are refused in good order.
// RUN: tfrt opt --async-to-tfrt --split-input-file %s
// RUN: tfrt opt --async-tfrt-streamify --gpu-tfrt-streamify --split-input-file %s
// RUN: tfrt opt '--tfrt-set-entry-point=platform=CUDA function_name=get_tfrt_gpu_entry_point' --split-input-file %s

// It returns no token.
func.func @no_results() {
  "async.execute"() ({
    "async.yield"() : () -> ()
  }) {operand_segment_sizes = dense<0> : vector<2xi32>} : () -> ()
  tfrt.return
}

// -----

// What it awaits is of no type.
func.func @no_type(%x: !async.value<nonsense>) {
  %v = builtin.unrealized_conversion_cast %x : !async.value<nonsense> to !async.value<f32>
  %y = async.await %v : !async.value<f32>
  tfrt.return
}

// -----

// Each is small enough, and all together are not.
memref.global @g : memref<200000xf32> = dense<0.0>
gpu.module @m attributes {binary = "x", constants = [@g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g, @g]} {
}

// -----

// Memory that the host shares.
func.func @shared(%ch: !tfrt.chain, %s: !tfrt_gpu.stream) {
  %t = builtin.unrealized_conversion_cast %ch, %s : !tfrt.chain, !tfrt_gpu.stream to !gpu.async.token
  %m, %t1 = gpu.alloc async [%t] host_shared () : memref<4xf32>
  tfrt.return
}

// -----

// There is an entry point.
func.func @get_tfrt_gpu_entry_point() {
  tfrt.return
}
