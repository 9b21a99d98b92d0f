// The network of `digits.mlir` in two forms: as a graph of kernels, and as ops of tensor handles.
//
// The functions of handles are ops for whoever calls ops from Rust: `EagerContext::function_op`. The
// test `op_by_op` holds them against the same ops called one by one, `tfrt-benches digits` times them.

// As a graph, for 128 images: how much each of them looks like each digit, once the chain is ready.
func @graph(%images: !t.tensor, %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor)
    -> (!tfrt.chain, !t.tensor) {
  %ready = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %hidden_shape = ts.build_shape [128 : i64, 512 : i64]
  %hidden = "tfrt_test.broadcast.f32.2"(%b1, %hidden_shape) : (!t.tensor, !ts.shape) -> !t.tensor
  %c1 = "eigen.matmul.f32"(%one, %images, %w1, %one, %hidden, %ready)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_test.relu_inplace.f32"(%hidden, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %logits_shape = ts.build_shape [128 : i64, 10 : i64]
  %logits = "tfrt_test.broadcast.f32.2"(%b2, %logits_shape) : (!t.tensor, !ts.shape) -> !t.tensor
  %c3 = "eigen.matmul.f32"(%one, %hidden, %w2, %one, %logits, %c2)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c3, %logits : !tfrt.chain, !t.tensor
}

// As ops, for any number of images.
func @network(%images: !corert.tensorhandle,
              %w1: !corert.tensorhandle, %b1: !corert.tensorhandle,
              %w2: !corert.tensorhandle, %b2: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %p1 = corert.executeop(%cpu) "tf.MatMul"(%images, %w1) {transpose_a = false, transpose_b = false} : 1
  %s1 = corert.executeop(%cpu) "tf.BiasAdd"(%p1, %b1) : 1
  %hidden = corert.executeop(%cpu) "tf.Relu"(%s1) : 1
  %p2 = corert.executeop(%cpu) "tf.MatMul"(%hidden, %w2) {transpose_a = false, transpose_b = false} : 1
  %logits = corert.executeop(%cpu) "tf.BiasAdd"(%p2, %b2) : 1
  tfrt.return %logits : !corert.tensorhandle
}

// One step of training, as ops: what `digits_train.mlir` does in place. Takes 128 images and their
// labels, the rate, and of each layer the weights, the bias and the velocity of the weights. Returns
// how wrong the network was about each image, and what the layers are then.
func @learn(%images: !corert.tensorhandle, %labels: !corert.tensorhandle, %rate: !corert.tensorhandle,
            %w1: !corert.tensorhandle, %b1: !corert.tensorhandle, %v1: !corert.tensorhandle,
            %w2: !corert.tensorhandle, %b2: !corert.tensorhandle, %v2: !corert.tensorhandle)
    -> (!corert.tensorhandle,
        !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle,
        !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c "cpu"
  %momentum = corert.const_dense_tensor dense<0.9> : tensor<f32>
  // One of 128: what is learned is the mean of what each digit teaches.
  %each = corert.const_dense_tensor dense<0.0078125> : tensor<f32>

  // Forward.
  %p1 = corert.executeop(%cpu) "tf.MatMul"(%images, %w1) {transpose_a = false, transpose_b = false} : 1
  %s1 = corert.executeop(%cpu) "tf.BiasAdd"(%p1, %b1) : 1
  %hidden = corert.executeop(%cpu) "tf.Relu"(%s1) : 1
  %p2 = corert.executeop(%cpu) "tf.MatMul"(%hidden, %w2) {transpose_a = false, transpose_b = false} : 1
  %logits = corert.executeop(%cpu) "tf.BiasAdd"(%p2, %b2) : 1

  // Backward.
  %losses, %g2 = corert.executeop(%cpu) "tf.SparseSoftmaxCrossEntropyWithLogits"(%logits, %labels) : 2
  %back = corert.executeop(%cpu) "tf.MatMul"(%g2, %w2) {transpose_a = false, transpose_b = true} : 1
  %g1 = corert.executeop(%cpu) "tf.ReluGrad"(%back, %hidden) : 1
  %step = corert.executeop(%cpu) "tf.Mul"(%each, %rate) : 1

  // The hidden layer learns.
  %d1 = corert.executeop(%cpu) "tf.MatMul"(%images, %g1) {transpose_a = true, transpose_b = false} : 1
  %slow1 = corert.executeop(%cpu) "tf.Mul"(%v1, %momentum) : 1
  %push1 = corert.executeop(%cpu) "tf.Mul"(%d1, %each) : 1
  %nv1 = corert.executeop(%cpu) "tf.AddV2"(%slow1, %push1) : 1
  %move1 = corert.executeop(%cpu) "tf.Mul"(%nv1, %rate) : 1
  %nw1 = corert.executeop(%cpu) "tf.Sub"(%w1, %move1) : 1
  %db1 = corert.executeop(%cpu) "tf.BiasAddGrad"(%g1) : 1
  %mb1 = corert.executeop(%cpu) "tf.Mul"(%db1, %step) : 1
  %nb1 = corert.executeop(%cpu) "tf.Sub"(%b1, %mb1) : 1

  // The output layer learns.
  %d2 = corert.executeop(%cpu) "tf.MatMul"(%hidden, %g2) {transpose_a = true, transpose_b = false} : 1
  %slow2 = corert.executeop(%cpu) "tf.Mul"(%v2, %momentum) : 1
  %push2 = corert.executeop(%cpu) "tf.Mul"(%d2, %each) : 1
  %nv2 = corert.executeop(%cpu) "tf.AddV2"(%slow2, %push2) : 1
  %move2 = corert.executeop(%cpu) "tf.Mul"(%nv2, %rate) : 1
  %nw2 = corert.executeop(%cpu) "tf.Sub"(%w2, %move2) : 1
  %db2 = corert.executeop(%cpu) "tf.BiasAddGrad"(%g2) : 1
  %mb2 = corert.executeop(%cpu) "tf.Mul"(%db2, %step) : 1
  %nb2 = corert.executeop(%cpu) "tf.Sub"(%b2, %mb2) : 1

  tfrt.return %losses, %nw1, %nb1, %nv1, %nw2, %nb2, %nv2
      : !corert.tensorhandle,
        !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle,
        !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}
