// Trains a network of 784, 512 and 10 neurons to recognise digits, and writes its weights beside this file.
//
//   cargo run --release -- run --work_queue_type=mstd --functions=train kernels/models/digits/digits_train.mlir
//
// It takes ten to fifteen seconds of processor time, and gives the same weights on any number of threads. The weights are changed
// in place: chains say when. Digits are drawn while others are learned from, as nothing but a number connects those of one step
// with those of the next.

// Learns from 128 digits, those from %first on.
func @step(%ch: !tfrt.chain, %first: i64, %rate: !t.tensor,
           %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor, %v1: !t.tensor, %v2: !t.tensor)
    -> (!tfrt.chain, f32) {
  %x, %y = digits.draw %first {count = 128 : i64, seed = 1 : i64}
  %done, %loss = tfrt.call @learn(%ch, %x, %y, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)
      -> (!tfrt.chain, f32)
  tfrt.return %done, %loss : !tfrt.chain, f32
}

// Learns from a batch of 128 digits.
//
// Images are the rows of x, their labels y. Of hidden = relu(x · w1 + b1) and logits = hidden · w2 + b2, and of the gradient g of the
// loss by the logits, the gradients of the weights are products again. Each is added to 0.9 times what it was (its velocity),
// and a part of that, the rate, is taken from the weights.
func @learn(%ch: !tfrt.chain, %x: !t.tensor, %y: !t.tensor, %rate: !t.tensor,
            %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor, %v1: !t.tensor, %v2: !t.tensor)
    -> (!tfrt.chain, f32) {
  %zero = tfrt.constant.f32 0.0
  %one = tfrt.constant.f32 1.0
  %momentum = tfrt.constant.f32 0.9
  // One of 128: what is learned is the mean of what each digit teaches.
  %each = tfrt.constant.f32 0.0078125

  %xt = tfrt_dht.create_uninitialized_tensor.f32.2 [784 : i64, 128 : i64]
  %c0 = "tfrt_test.tensor_transpose.f32"(%x, %xt, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

  // Forward.
  %hidden_shape = ts.build_shape [128 : i64, 512 : i64]
  %hidden = "tfrt_test.broadcast.f32.2"(%b1, %hidden_shape, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c1 = "eigen.matmul.f32"(%one, %x, %w1, %one, %hidden, %ch)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_test.relu_inplace.f32"(%hidden, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %logits_shape = ts.build_shape [128 : i64, 10 : i64]
  %logits = "tfrt_test.broadcast.f32.2"(%b2, %logits_shape, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c3 = "eigen.matmul.f32"(%one, %hidden, %w2, %one, %logits, %c2)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %g = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 10 : i64]
  %loss, %c4 = models.softmax_cross_entropy.f32 %logits, %y, %g, %c3

  // Backward, from g to the gradient of hidden.
  %w2t = tfrt_dht.create_uninitialized_tensor.f32.2 [10 : i64, 512 : i64]
  %c5 = "tfrt_test.tensor_transpose.f32"(%w2, %w2t, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %gh = tfrt_dht.create_uninitialized_tensor.f32.2 [128 : i64, 512 : i64]
  %c6 = tfrt.merge.chains %c4, %c5 : !tfrt.chain, !tfrt.chain
  %c7 = "eigen.matmul.f32"(%one, %g, %w2t, %zero, %gh, %c6)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = "tfrt_test.relu_grad_inplace.f32"(%hidden, %gh, %c7) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

  // The output layer learns.
  %ht = tfrt_dht.create_uninitialized_tensor.f32.2 [512 : i64, 128 : i64]
  %c9 = "tfrt_test.tensor_transpose.f32"(%hidden, %ht, %c2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c10 = tfrt.merge.chains %c4, %c9 : !tfrt.chain, !tfrt.chain
  %c11 = "eigen.matmul.f32"(%each, %ht, %g, %momentum, %v2, %c10)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c12 = tfrt.merge.chains %c5, %c11 : !tfrt.chain, !tfrt.chain
  %c13 = "tfrt_test.gradient_descent.f32"(%v2, %rate, %w2, %c12) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %gb2 = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]
  %c14 = "tfrt_test.mean_axis_zero.f32"(%g, %gb2, %c4) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c15 = "tfrt_test.gradient_descent.f32"(%gb2, %rate, %b2, %c14) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

  // The hidden layer learns.
  %c16 = tfrt.merge.chains %c8, %c0 : !tfrt.chain, !tfrt.chain
  %c17 = "eigen.matmul.f32"(%each, %xt, %gh, %momentum, %v1, %c16)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c18 = "tfrt_test.gradient_descent.f32"(%v1, %rate, %w1, %c17) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %gb1 = tfrt_dht.create_uninitialized_tensor.f32.1 [512 : i64]
  %c19 = "tfrt_test.mean_axis_zero.f32"(%gh, %gb1, %c8) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c20 = "tfrt_test.gradient_descent.f32"(%gb1, %rate, %b1, %c19) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain

  %done = tfrt.merge.chains %c13, %c15, %c18, %c20 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %done, %loss : !tfrt.chain, f32
}

// Learns from 128 times %steps digits, those from %first on. Gives the number behind the last of them, and the mean loss.
func @epoch(%ch: !tfrt.chain, %first: i64, %steps: i32, %rate: !t.tensor,
            %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor, %v1: !t.tensor, %v2: !t.tensor)
    -> (!tfrt.chain, i64, f32) {
  %sum = tfrt.constant.f32 0.0
  %count = tfrt.constant.f32 0.0
  %done, %next, %total, %num, %0, %1, %2, %3, %4, %5, %6 = tfrt.repeat.i32 %steps,
      %ch, %first, %sum, %count, %rate, %w1, %b1, %w2, %b2, %v1, %v2
      : !tfrt.chain, i64, f32, f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor {
    %stepped, %loss = tfrt.call @step(%ch, %first, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
        : (!tfrt.chain, i64, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
    %batch = tfrt.constant.i64 128
    %one = tfrt.constant.f32 1.0
    %behind = tfrt.add.i64 %first, %batch
    %losses = tfrt.add.f32 %sum, %loss
    %so_far = tfrt.add.f32 %count, %one
    tfrt.return %stepped, %behind, %losses, %so_far, %rate, %w1, %b1, %w2, %b2, %v1, %v2
        : !tfrt.chain, i64, f32, f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
  }
  %mean = "tfrt.div.f32"(%total, %num) : (f32, f32) -> f32
  tfrt.return %done, %next, %mean : !tfrt.chain, i64, f32
}

// The share of 2000 digits of another seed that the network recognises.
func @accuracy(%ch: !tfrt.chain, %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor) -> (!tfrt.chain, f32) {
  %one = tfrt.constant.f32 1.0
  %first = tfrt.constant.i64 0
  %x, %y = digits.draw %first {count = 2000 : i64, seed = 2 : i64}
  %hidden_shape = ts.build_shape [2000 : i64, 512 : i64]
  %hidden = "tfrt_test.broadcast.f32.2"(%b1, %hidden_shape, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c1 = "eigen.matmul.f32"(%one, %x, %w1, %one, %hidden, %ch)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_test.relu_inplace.f32"(%hidden, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %logits_shape = ts.build_shape [2000 : i64, 10 : i64]
  %logits = "tfrt_test.broadcast.f32.2"(%b2, %logits_shape, %ch) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c3 = "eigen.matmul.f32"(%one, %hidden, %w2, %one, %logits, %c2)
      : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %predictions = "tfrt_test.argmax.f32.2"(%logits, %c3) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %share = models.share_of_equal.i32 %predictions, %y
  tfrt.return %c3, %share : !tfrt.chain, f32
}

// The first weights: small random numbers, so that sums of so many of them are about as large as what they are sums of.
func @new_network() -> (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %ready = tfrt.new.chain
  %w1 = tfrt_dht.create_uninitialized_tensor.f32.2 [784 : i64, 512 : i64]
  %b1 = tfrt_dht.create_uninitialized_tensor.f32.1 [512 : i64]
  %w2 = tfrt_dht.create_uninitialized_tensor.f32.2 [512 : i64, 10 : i64]
  %b2 = tfrt_dht.create_uninitialized_tensor.f32.1 [10 : i64]
  %v1 = tfrt_dht.create_uninitialized_tensor.f32.2 [784 : i64, 512 : i64]
  %v2 = tfrt_dht.create_uninitialized_tensor.f32.2 [512 : i64, 10 : i64]
  %c1 = models.fill_uniform.f32 %w1, %ready {bound = 0.0875 : f32, seed = 3 : i64}
  %c2 = models.fill_uniform.f32 %w2, %ready {bound = 0.1083 : f32, seed = 4 : i64}
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  tfrt.return %c3, %w1, %b1, %w2, %b2, %v1, %v2
      : !tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

func @train() {
  %c3, %w1, %b1, %w2, %b2, %v1, %v2 = tfrt.call @new_network()
      : () -> (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)

  %epochs = tfrt.constant.i32 10
  %epoch = tfrt.constant.i32 1
  %first = tfrt.constant.i64 0
  %fast = tfrt.constant.f32 0.1
  %rate = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %trained, %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 = tfrt.repeat.i32 %epochs,
      %c3, %epoch, %first, %fast, %rate, %w1, %b1, %w2, %b2, %v1, %v2
      : !tfrt.chain, i32, i64, f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor {
    %set = "tfrt_dht.set_tensor_with_values.f32"(%rate, %c3, %fast) : (!t.tensor, !tfrt.chain, f32) -> !tfrt.chain
    %steps = tfrt.constant.i32 250
    %learned, %next, %loss = tfrt.call @epoch(%set, %first, %steps, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
        : (!tfrt.chain, i64, i32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, i64, f32)
    %tested, %share = tfrt.call @accuracy(%learned, %w1, %b1, %w2, %b2)
        : (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
    %reported = models.report %tested "epoch {}: loss {.4}, {.2%} of 2000 unseen digits are recognised" (%epoch : i32, %loss : f32, %share : f32)
    // Each epoch takes smaller steps than the one before.
    %one = tfrt.constant.i32 1
    %factor = tfrt.constant.f32 0.7
    %later = tfrt.add.i32 %epoch, %one
    %slower = "tfrt.multiply.f32"(%fast, %factor) : (f32, f32) -> f32
    tfrt.return %reported, %later, %next, %slower, %rate, %w1, %b1, %w2, %b2, %v1, %v2
        : !tfrt.chain, i32, i64, f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
  }

  %file = models.beside_program "weights.safetensors"
  %written = models.write_tensors.f16 %file, %trained, %w1, %b1, %w2, %b2
      ["hidden.weight", "hidden.bias", "output.weight", "output.bias"]
  %told = models.report %written "the weights are in {}" (%file : !tfrt.string)
  tfrt.return
}

// ---------------------------------------------------------------------------------------------------------------------------
// The same training from a file of records, which can be interrupted in the middle of an epoch:
//
//   cargo run --release -p tfrt-models -- digits --out kernels/models/digits/digits.tfrecord
//   cargo run --release -- run --functions=train_from_records kernels/models/digits/digits_train.mlir
//   cargo run --release -- run --functions=resume_from_records kernels/models/digits/digits_train.mlir
//
// The second command learns from two and a half epochs, saves where it is, and goes on to the end of the third. The third command
// takes up the training where it was saved, in another process, and ends with the same weights, bit for bit.

// The image of a record is 784 bytes.
func private @decode(%image: !tfrt.string, %label: i64) -> (!t.tensor, i64) {
  %pixels = digits.decode %image
  tfrt.return %pixels, %label : !t.tensor, i64
}

// Batches of 128 digits from a file, one epoch after the other, each in an order of its own.
func @batches(%path: !tfrt.string) -> !tfrt_data.dataset {
  %window = tfrt.constant.i64 2048
  %seed = tfrt.constant.i64 7
  %size = tfrt.constant.i64 128
  %for_ever = tfrt.constant.i64 -1
  %two = tfrt.constant.i64 2
  %examples = tfrt_data.example_dataset %path {schema = "image: str, label: i64"}
  %shuffled = tfrt_data.shuffle_dataset %examples, %window, %seed, %seed {reshuffle_each_iteration = true}
  %endless = tfrt_data.repeat_dataset %shuffled, %for_ever
  %digits = tfrt_data.map_dataset %endless {function = @decode}
  %batches = tfrt_data.batch_dataset %digits, %size {drop_remainder = true}
  %ahead = tfrt_data.prefetch_dataset %batches, %two {is_deterministic = true}
  tfrt.return %ahead : !tfrt_data.dataset
}

// Learns from the next %steps batches. Returns the mean loss.
func @learn_batches(%ch: !tfrt.chain, %batches: !tfrt_data.iterator, %steps: i32, %rate: !t.tensor,
                    %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor, %v1: !t.tensor, %v2: !t.tensor)
    -> (!tfrt.chain, f32) {
  %sum = tfrt.constant.f32 0.0
  %count = tfrt.constant.f32 0.0
  %done, %it, %total, %num, %0, %1, %2, %3, %4, %5, %6 = tfrt.repeat.i32 %steps,
      %ch, %batches, %sum, %count, %rate, %w1, %b1, %w2, %b2, %v1, %v2
      : !tfrt.chain, !tfrt_data.iterator, f32, f32,
        !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor {
    %drawn, %x, %y = tfrt_data.iterator_get_next %batches, %ch : !t.tensor, !t.tensor
    %stepped, %loss = tfrt.call @learn(%drawn, %x, %y, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
        : (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)
        -> (!tfrt.chain, f32)
    %one = tfrt.constant.f32 1.0
    %losses = tfrt.add.f32 %sum, %loss
    %so_far = tfrt.add.f32 %count, %one
    tfrt.return %stepped, %batches, %losses, %so_far, %rate, %w1, %b1, %w2, %b2, %v1, %v2
        : !tfrt.chain, !tfrt_data.iterator, f32, f32,
          !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
  }
  %mean = "tfrt.div.f32"(%total, %num) : (f32, f32) -> f32
  tfrt.return %done, %mean : !tfrt.chain, f32
}

// Writes what the training needs to go on: the place in the data, the weights, and the velocities.
func @save(%ch: !tfrt.chain, %place_path: !tfrt.string, %weights_path: !tfrt.string, %batches: !tfrt_data.iterator,
           %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor, %v1: !t.tensor, %v2: !t.tensor) -> !tfrt.chain {
  %c1, %place = tfrt_data.iterator_save %batches, %ch
  %c2 = tfrt_data.write_checkpoint %place, %place_path, %c1
  %c3 = models.write_tensors.f32 %weights_path, %c2, %w1, %b1, %w2, %b2, %v1, %v2
      ["w1", "b1", "w2", "b2", "v1", "v2"]
  tfrt.return %c3 : !tfrt.chain
}

// Reads what @save wrote.
func @load(%place_path: !tfrt.string, %weights_path: !tfrt.string, %dataset: !tfrt_data.dataset)
    -> (!tfrt.chain, !tfrt_data.iterator, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %ready = tfrt.new.chain
  %c1, %place = tfrt_data.read_checkpoint %place_path, %ready
  %batches = tfrt_data.iterator_restore %dataset, %place
  %w1 = models.read_tensor.f32 %weights_path "w1" [784 : i64, 512 : i64]
  %b1 = models.read_tensor.f32 %weights_path "b1" [512 : i64]
  %w2 = models.read_tensor.f32 %weights_path "w2" [512 : i64, 10 : i64]
  %b2 = models.read_tensor.f32 %weights_path "b2" [10 : i64]
  %v1 = models.read_tensor.f32 %weights_path "v1" [784 : i64, 512 : i64]
  %v2 = models.read_tensor.f32 %weights_path "v2" [512 : i64, 10 : i64]
  tfrt.return %c1, %batches, %w1, %b1, %w2, %b2, %v1, %v2
      : !tfrt.chain, !tfrt_data.iterator, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// Learns from the second half of the third epoch, and reports.
func @last_half_epoch(%ch: !tfrt.chain, %batches: !tfrt_data.iterator, %rate: !t.tensor,
                      %w1: !t.tensor, %b1: !t.tensor, %w2: !t.tensor, %b2: !t.tensor, %v1: !t.tensor, %v2: !t.tensor)
    -> !tfrt.chain {
  %steps = tfrt.constant.i32 62
  %learned, %loss = tfrt.call @learn_batches(%ch, %batches, %steps, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator, i32,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
  %tested, %share = tfrt.call @accuracy(%learned, %w1, %b1, %w2, %b2)
      : (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
  %reported = models.report %tested "at the end of epoch 3: loss {.6}, {.2%} of 2000 unseen digits are recognised"
      (%loss : f32, %share : f32)
  tfrt.return %reported : !tfrt.chain
}

// The rate of the training from records, which does not change.
func @constant_rate() -> (!tfrt.chain, !t.tensor) {
  %ready = tfrt.new.chain
  %fast = tfrt.constant.f32 0.1
  %rate = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %set = "tfrt_dht.set_tensor_with_values.f32"(%rate, %ready, %fast) : (!t.tensor, !tfrt.chain, f32) -> !tfrt.chain
  tfrt.return %set, %rate : !tfrt.chain, !t.tensor
}

func @train_from_records() {
  %path = models.beside_program "digits.tfrecord"
  %place_path = models.beside_program "digits.checkpoint"
  %weights_path = models.beside_program "digits.checkpoint.safetensors"
  %dataset = tfrt.call @batches(%path) : (!tfrt.string) -> !tfrt_data.dataset
  %batches = tfrt_data.make_iterator %dataset
  %c1, %rate = tfrt.call @constant_rate() : () -> (!tfrt.chain, !t.tensor)
  %c2, %w1, %b1, %w2, %b2, %v1, %v2 = tfrt.call @new_network()
      : () -> (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain

  // An epoch is 125 batches.
  %steps = tfrt.constant.i32 313
  %learned, %loss = tfrt.call @learn_batches(%c3, %batches, %steps, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator, i32,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
  %reported = models.report %learned "after two and a half epochs: loss {.6}" (%loss : f32)
  %saved = tfrt.call @save(%reported, %place_path, %weights_path, %batches, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt.string, !tfrt.string, !tfrt_data.iterator,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> !tfrt.chain
  %done = tfrt.call @last_half_epoch(%saved, %batches, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> !tfrt.chain
  tfrt.return
}

func @resume_from_records() {
  %path = models.beside_program "digits.tfrecord"
  %place_path = models.beside_program "digits.checkpoint"
  %weights_path = models.beside_program "digits.checkpoint.safetensors"
  %dataset = tfrt.call @batches(%path) : (!tfrt.string) -> !tfrt_data.dataset
  %c1, %rate = tfrt.call @constant_rate() : () -> (!tfrt.chain, !t.tensor)
  %c2, %batches, %w1, %b1, %w2, %b2, %v1, %v2 = tfrt.call @load(%place_path, %weights_path, %dataset)
      : (!tfrt.string, !tfrt.string, !tfrt_data.dataset)
      -> (!tfrt.chain, !tfrt_data.iterator, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  %done = tfrt.call @last_half_epoch(%c3, %batches, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> !tfrt.chain
  tfrt.return
}
