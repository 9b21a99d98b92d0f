// Recognises digits: draws a thousand that training has never seen, and tells how many of them the network of
// `digits_train.mlir` takes for what they are.
//
//   cargo run --release -- run kernels/models/digits/digits.mlir --show

func @digits() {
  %ready = tfrt.new.chain

  // Digits of another seed than those of training.
  %first = tfrt.constant.i64 0
  %images, %labels = digits.draw %first {count = 1000 : i64, seed = 2 : i64}

  // The weights lie beside this file.
  %file = models.beside_program "weights.safetensors"
  %w1 = models.read_tensor.f32 %file "hidden.weight" [784 : i64, 512 : i64]
  %b1 = models.read_tensor.f32 %file "hidden.bias" [512 : i64]
  %w2 = models.read_tensor.f32 %file "output.weight" [512 : i64, 10 : i64]
  %b2 = models.read_tensor.f32 %file "output.bias" [10 : i64]

  // hidden = relu(images · w1 + b1): the product is added to rows that are the bias.
  %one = tfrt.constant.f32 1.0
  %hidden_shape = ts.build_shape [1000 : i64, 512 : i64]
  %hidden = "tfrt_test.broadcast.f32.2"(%b1, %hidden_shape) : (!t.tensor, !ts.shape) -> !t.tensor
  %c1 = "eigen.matmul.f32"(%one, %images, %w1, %one, %hidden, %ready)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_test.relu_inplace.f32"(%hidden, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain

  // logits = hidden · w2 + b2: for each digit, how much an image looks like it.
  %logits_shape = ts.build_shape [1000 : i64, 10 : i64]
  %logits = "tfrt_test.broadcast.f32.2"(%b2, %logits_shape) : (!t.tensor, !ts.shape) -> !t.tensor
  %c3 = "eigen.matmul.f32"(%one, %hidden, %w2, %one, %logits, %c2)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %predictions = "tfrt_test.argmax.f32.2"(%logits, %c3) : (!t.tensor, !tfrt.chain) -> !t.tensor

  %c4 = models.show_images %images, %predictions, %labels, %c3 {count = 6 : i64, height = 28 : i64, width = 28 : i64}
  %accuracy = models.share_of_equal.i32 %predictions, %labels
  %c5 = models.report %c4 "{.1%} of 1000 digits are recognised" (%accuracy : f32)
  tfrt.return
}
