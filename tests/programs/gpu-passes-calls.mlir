// Regions on a stream: runs of ops that are wrapped, and calls inside that pass the stream on.
// RUN: tfrt opt --allow-unregistered-dialect '--tfrt-streamify-ops=ops=lib.split,lib.sort' %s
// RUN: tfrt opt --allow-unregistered-dialect '--pass-pipeline=func(tfrt-streamify-ops{ops=lib.sort})' %s
// RUN: tfrt opt --allow-unregistered-dialect --test-gpu-async-conversion %s
// RUN: tfrt opt --allow-unregistered-dialect --func-tfrt-streamify %s
// RUN: tfrt opt --allow-unregistered-dialect '--tfrt-set-entry-point=platform=CUDA function_name=calls buffer_sizes=64,128' %s
// RUN: tfrt opt --allow-unregistered-dialect --mlir-print-op-generic '--test-set-entry-point=platform=ROCm function_name=runs' %s

func.func @runs() {
  %a = "demo.make"() : () -> f32
  %b, %c = "lib.split"(%a) : (f32) -> (f32, i32)
  "lib.sort"(%c) : (i32) -> ()
  "demo.use"(%b) : (f32) -> ()
  "lib.sort"(%c) : (i32) -> ()
  %w = "wrap.one"(%b) : (f32) -> f32
  "wrap.two"(%w) : (f32) -> ()
  "demo.region"() ({
    "lib.sort"(%c) : (i32) -> ()
    "demo.end"() : () -> ()
  }) : () -> ()
  tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    "lib.sort"(%c) : (i32) -> ()
    tfrt.return %ch : !tfrt.chain
  }
  tfrt.return
}

func.func @callee() {
  tfrt.return
}
func.func @body(%i: i32) -> (i32, i1) {
  %start = gpu.wait async
  gpu.wait [%start]
  %b = tfrt.constant.i1 false
  tfrt.return %i, %b : i32, i1
}
func.func @calls(%i: i32) -> i32 {
  %r = tfrt_gpu.streamify {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    tfrt.call @callee() : () -> ()
    %b = tfrt.constant.i1 true
    %r = tfrt.while %b @body(%i) parallel_iterations(1) : (i32) -> (i32)
    tfrt.return %ch, %r : !tfrt.chain, i32
  } : i32
  tfrt.return %r : i32
}
