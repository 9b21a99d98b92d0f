// Equal ops are merged, and those that nobody uses go. A chain keeps a descriptor where it is.
// RUN: tfrt opt --cse %s
// RUN: tfrt opt --canonicalize %s
// RUN: tfrt opt --cse --canonicalize %s

func.func @handles(%dev: !tfrt_gpu.device, %s: !tfrt_gpu.stream) -> (!tfrt_gpu.blas.handle, !tfrt_gpu.dnn.handle, !tfrt_gpu.context) {
  %a = tfrt_gpu.stream.get_context %s
  %b = tfrt_gpu.stream.get_context %s
  %unused = tfrt_gpu.context.primary %dev
  %blas = tfrt_gpu.blas.create %a
  %dnn = tfrt_gpu.dnn.create %b
  %other = tfrt_gpu.context.primary %dev
  tfrt.return %blas, %dnn, %other : !tfrt_gpu.blas.handle, !tfrt_gpu.dnn.handle, !tfrt_gpu.context
}

// In the older state, descriptors are made in the order of a chain.
func.func @descriptors(%ch: !tfrt.chain) -> (!tfrt_gpu.dnn.filter.descriptor, !tfrt_gpu.dnn.filter.descriptor) {
  %ordered = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_HALF, 1, [1 : i32, 4 : i32], %ch
  %free = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_HALF, 1, [1 : i32, 4 : i32]
  %a = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_HALF, 1, [2 : i32, 4 : i32], %ch
  %b = tfrt_gpu.dnn.create_filter_descriptor CUDNN_DATA_HALF, 1, [2 : i32, 4 : i32], %ch
  tfrt.return %a, %b : !tfrt_gpu.dnn.filter.descriptor, !tfrt_gpu.dnn.filter.descriptor
}

// Every call makes another id.
func.func @ids() -> (!tfrt_gpu.ccl.id, !tfrt_gpu.ccl.id) {
  %a = tfrt_gpu.ccl.unique_id CUDA
  %b = tfrt_gpu.ccl.unique_id CUDA
  tfrt.return %a, %b : !tfrt_gpu.ccl.id, !tfrt_gpu.ccl.id
}
