module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in = call @inputs() : () -> tensor<2x3xf32>
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x5C413A4172C91741FB39B840E3DCBF40F3883341CDCE3241"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %c, %iterArg_2 = %arg0) : tensor<i64>, tensor<i64>, tensor<2x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<5> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @closed_call(%iterArg_1, %iterArg_2) : (tensor<i64>, tensor<2x3xf32>) -> (tensor<i64>, tensor<2x3xf32>)
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %2 = stablehlo.add %iterArg, %c_3 : tensor<i64>
      stablehlo.return %2, %1#0, %1#1 : tensor<i64>, tensor<i64>, tensor<2x3xf32>
    }
    return %0#2 : tensor<2x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<i64>, %arg1: tensor<2x3xf32>) -> (tensor<i64>, tensor<2x3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg0, %c : tensor<i64>
    %1 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.add %arg1, %2 : tensor<2x3xf32>
    return %0, %3 : tensor<i64>, tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>, tensor<i64>) {
    %in = call @inputs() : () -> tensor<2x3xf32>
    %want:2 = call @expected() : () -> (tensor<2x3xf32>, tensor<i64>)
    %got:2 = call @computed(%in) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i64>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<i64>, tensor<i64>) -> ()
    return %got#0, %got#1 : tensor<2x3xf32>, tensor<i64>
  }
  func.func private @inputs() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @expected() -> (tensor<2x3xf32>, tensor<i64>) {
    %c0 = stablehlo.constant dense<"0xDC0A5241D66883C005C607C21D2300C296471C4166761641"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<3> : tensor<i64>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i64>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<i64> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c) : tensor<2x3xf32>, tensor<i64>
    cond {
      %c_1 = stablehlo.constant dense<3> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg_0, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %2 = stablehlo.multiply %iterArg, %1 : tensor<2x3xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i64>
      %3 = stablehlo.add %iterArg_0, %c_1 : tensor<i64>
      stablehlo.return %2, %3 : tensor<2x3xf32>, tensor<i64>
    }
    return %0#0, %0#1 : tensor<2x3xf32>, tensor<i64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32>, tensor<2x3xf32>) {
    %in = call @inputs() : () -> tensor<2x3xf32>
    %want:2 = call @expected() : () -> (tensor<3xf32>, tensor<2x3xf32>)
    %got:2 = call @computed(%in) : (tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got#0, %got#1 : tensor<3xf32>, tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @expected() -> (tensor<3xf32>, tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x78ED38BF00F6463E70EEE9C0"> : tensor<3xf32>
    %c1 = stablehlo.constant dense<"0xD1552C40ECE8863EE50490417B4452C14371A0BFA5991FC1"> : tensor<2x3xf32>
    return %c0, %c1 : tensor<3xf32>, tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<2x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %3:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %1, %iterArg_2 = %2) : tensor<2x3xf32>, tensor<i64>, tensor<3xf32>, tensor<2x3xf32>
    cond {
      %c_3 = stablehlo.constant dense<2> : tensor<i64>
      %4 = stablehlo.compare LT, %iterArg_0, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_0) : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
      %5:2 = func.call @closed_call(%iterArg_1, %4) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %6 = func.call @dynamic_update_index_in_dim(%iterArg_2, %5#1, %iterArg_0) : (tensor<2x3xf32>, tensor<3xf32>, tensor<i64>) -> tensor<2x3xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %7 = stablehlo.add %iterArg_0, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %7, %5#0, %6 : tensor<2x3xf32>, tensor<i64>, tensor<3xf32>, tensor<2x3xf32>
    }
    return %3#2, %3#3 : tensor<3xf32>, tensor<2x3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<2x3xf32>, %arg1: tensor<i64>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>
    %1 = stablehlo.multiply %arg0, %arg1 : tensor<3xf32>
    return %0, %1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i64>) -> tensor<2x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<i64>, tensor<i64>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xf32>, tensor<i1>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3xf32>, tensor<i1>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>, tensor<i1>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<true> : tensor<i1>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i1>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x6E052940542EF93E0A8C4FC03A4640C0CB230E40333B0B40"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>, %arg1: tensor<i1>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg1 : (tensor<i1>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xf32>, tensor<i32>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<-1> : tensor<i32>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x6E052940542EF93E0A8C4FC03A4640C0CB230E40333B0B40"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xf32>, tensor<i32>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<0> : tensor<i32>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x6E052940542EF93E0A8C4FC03A4640C0CB230E40333B0B40"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xf32>, tensor<i32>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xB815243F6BB4C1BF05C6A7C01D23A0C0B03C623E30B3333E"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xf32>, tensor<i32>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<2> : tensor<i32>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xDC0A5240D66883BF05C607C11D2300C196471C4066761640"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xf32>, tensor<i32>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xDC0AD23FD66803BF05C687C01D2380C096479C3F6676963F"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<5> : tensor<i32>
    return %c0, %c1 : tensor<2x3xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xDC0A5240D66883BF05C607C11D2300C196471C4066761640"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
      %3 = stablehlo.multiply %arg0, %2 : tensor<2x3xf32>
      stablehlo.return %3 : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xui64>) {
    %in = call @inputs() : () -> tensor<2xui32>
    %want = call @expected() : () -> tensor<5xui64>
    %got = call @computed(%in) : (tensor<2xui32>) -> tensor<5xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5xui64>, tensor<5xui64>) -> ()
    return %got : tensor<5xui64>
  }
  func.func private @inputs() -> (tensor<2xui32>) {
    %c0 = stablehlo.constant dense<[1, 2]> : tensor<2xui32>
    return %c0 : tensor<2xui32>
  }
  func.func private @expected() -> (tensor<5xui64>) {
    %c0 = stablehlo.constant dense<[2701842238948786916, 2701551558830737608, 17731830556134730816, 8815831521254558544, 5269427476832638469]> : tensor<5xui64>
    return %c0 : tensor<5xui64>
  }
  func.func private @computed(%arg0: tensor<2xui32>) -> (tensor<5xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %1 = stablehlo.reshape %0 : (tensor<1xui32>) -> tensor<ui32>
    %2 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.iota dim = 0 : tensor<5xui64>
    %c = stablehlo.constant dense<1> : tensor<ui64>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %6 = stablehlo.multiply %5, %4 : tensor<5xui64>
    %c_0 = stablehlo.constant dense<32> : tensor<ui64>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %8 = stablehlo.shift_right_logical %6, %7 : tensor<5xui64>
    %9 = stablehlo.convert %6 : (tensor<5xui64>) -> tensor<5xui32>
    %10 = stablehlo.convert %8 : (tensor<5xui64>) -> tensor<5xui32>
    %11:2 = call @threefry2x32(%1, %3, %10, %9) : (tensor<ui32>, tensor<ui32>, tensor<5xui32>, tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>)
    %12 = stablehlo.convert %11#0 : (tensor<5xui32>) -> tensor<5xui64>
    %13 = stablehlo.convert %11#1 : (tensor<5xui32>) -> tensor<5xui64>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %14 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %15 = stablehlo.shift_left %12, %14 : tensor<5xui64>
    %16 = stablehlo.or %15, %13 : tensor<5xui64>
    return %16 : tensor<5xui64>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<5xui32>, %arg3: tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<5xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<5xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i64>, tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i64>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i64>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i64>, tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<5xui32>, tensor<5xui32>
  }
  func.func private @closed_call(%arg0: tensor<i64>, %arg1: tensor<5xui32>, %arg2: tensor<5xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg0, %c : tensor<i64>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<5xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<5xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<5xui32>
    %9 = stablehlo.or %5, %8 : tensor<5xui32>
    %10 = stablehlo.xor %3, %9 : tensor<5xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<5xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<5xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<5xui32>
    %19 = stablehlo.or %15, %18 : tensor<5xui32>
    %20 = stablehlo.xor %13, %19 : tensor<5xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<5xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<5xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<5xui32>
    %29 = stablehlo.or %25, %28 : tensor<5xui32>
    %30 = stablehlo.xor %23, %29 : tensor<5xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<5xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<5xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<5xui32>
    %39 = stablehlo.or %35, %38 : tensor<5xui32>
    %40 = stablehlo.xor %33, %39 : tensor<5xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %42 = stablehlo.add %33, %41 : tensor<5xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %44 = stablehlo.add %40, %43 : tensor<5xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i64>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i64>
    %46 = stablehlo.convert %45 : (tensor<i64>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %48 = stablehlo.add %44, %47 : tensor<5xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xf64>) {
    %in = call @inputs() : () -> tensor<2xui32>
    %want = call @expected() : () -> tensor<5xf64>
    %got = call @computed(%in) : (tensor<2xui32>) -> tensor<5xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<5xf64>, tensor<5xf64>) -> ()
    return %got : tensor<5xf64>
  }
  func.func private @inputs() -> (tensor<2xui32>) {
    %c0 = stablehlo.constant dense<[1, 2]> : tensor<2xui32>
    return %c0 : tensor<2xui32>
  }
  func.func private @expected() -> (tensor<5xf64>) {
    %c0 = stablehlo.constant dense<"0x25718EFAC9D3F0BF2287C5FC11D4F0BF05E71C73B93EFC3FE4F2711D485EACBF9D2498E0A61DE2BF"> : tensor<5xf64>
    return %c0 : tensor<5xf64>
  }
  func.func private @computed(%arg0: tensor<2xui32>) -> (tensor<5xf64> {jax.result_info = "result"}) {
    %0 = call @_normal(%arg0) : (tensor<2xui32>) -> tensor<5xf64>
    return %0 : tensor<5xf64>
  }
  func.func private @_normal(%arg0: tensor<2xui32>) -> tensor<5xf64> {
    %0 = call @_normal_real(%arg0) : (tensor<2xui32>) -> tensor<5xf64>
    return %0 : tensor<5xf64>
  }
  func.func private @_normal_real(%arg0: tensor<2xui32>) -> tensor<5xf64> {
    %cst = stablehlo.constant dense<-0.99999999999999988> : tensor<f64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = call @_uniform(%arg0, %cst, %cst_0) : (tensor<2xui32>, tensor<f64>, tensor<f64>) -> tensor<5xf64>
    %1 = chlo.erf_inv %0 : tensor<5xf64> -> tensor<5xf64>
    %cst_1 = stablehlo.constant dense<1.4142135623730951> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %3 = stablehlo.multiply %2, %1 : tensor<5xf64>
    return %3 : tensor<5xf64>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<5xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %2 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.iota dim = 0 : tensor<5xui64>
    %c = stablehlo.constant dense<1> : tensor<ui64>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %8 = stablehlo.multiply %7, %6 : tensor<5xui64>
    %c_0 = stablehlo.constant dense<32> : tensor<ui64>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %10 = stablehlo.shift_right_logical %8, %9 : tensor<5xui64>
    %11 = stablehlo.convert %8 : (tensor<5xui64>) -> tensor<5xui32>
    %12 = stablehlo.convert %10 : (tensor<5xui64>) -> tensor<5xui32>
    %13:2 = call @threefry2x32(%3, %5, %12, %11) : (tensor<ui32>, tensor<ui32>, tensor<5xui32>, tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>)
    %14 = stablehlo.convert %13#0 : (tensor<5xui32>) -> tensor<5xui64>
    %15 = stablehlo.convert %13#1 : (tensor<5xui32>) -> tensor<5xui64>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %16 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %17 = stablehlo.shift_left %14, %16 : tensor<5xui64>
    %18 = stablehlo.or %17, %15 : tensor<5xui64>
    %c_2 = stablehlo.constant dense<12> : tensor<ui64>
    %19 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %20 = stablehlo.shift_right_logical %18, %19 : tensor<5xui64>
    %c_3 = stablehlo.constant dense<4607182418800017408> : tensor<ui64>
    %21 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %22 = stablehlo.or %20, %21 : tensor<5xui64>
    %23 = stablehlo.bitcast_convert %22 : (tensor<5xui64>) -> tensor<5xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %24 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %25 = stablehlo.subtract %23, %24 : tensor<5xf64>
    %26 = stablehlo.subtract %1, %0 : tensor<1xf64>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<1xf64>) -> tensor<5xf64>
    %28 = stablehlo.multiply %25, %27 : tensor<5xf64>
    %29 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf64>) -> tensor<5xf64>
    %30 = stablehlo.add %28, %29 : tensor<5xf64>
    %31 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf64>) -> tensor<5xf64>
    %32 = stablehlo.maximum %31, %30 : tensor<5xf64>
    return %32 : tensor<5xf64>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<5xui32>, %arg3: tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<5xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<5xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i64>, tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i64>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i64>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i64>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i64>, tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<5xui32>, tensor<5xui32>
  }
  func.func private @closed_call(%arg0: tensor<i64>, %arg1: tensor<5xui32>, %arg2: tensor<5xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg0, %c : tensor<i64>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<5xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<5xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<5xui32>
    %9 = stablehlo.or %5, %8 : tensor<5xui32>
    %10 = stablehlo.xor %3, %9 : tensor<5xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<5xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<5xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<5xui32>
    %19 = stablehlo.or %15, %18 : tensor<5xui32>
    %20 = stablehlo.xor %13, %19 : tensor<5xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<5xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<5xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<5xui32>
    %29 = stablehlo.or %25, %28 : tensor<5xui32>
    %30 = stablehlo.xor %23, %29 : tensor<5xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<5xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<5xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<5xui32>
    %39 = stablehlo.or %35, %38 : tensor<5xui32>
    %40 = stablehlo.xor %33, %39 : tensor<5xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %42 = stablehlo.add %33, %41 : tensor<5xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %44 = stablehlo.add %40, %43 : tensor<5xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i64>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i64>
    %46 = stablehlo.convert %45 : (tensor<i64>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %48 = stablehlo.add %44, %47 : tensor<5xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i64>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xui32>, tensor<3x5xui32>) {
    %in = call @inputs() : () -> tensor<4xui32>
    %want:2 = call @expected() : () -> (tensor<4xui32>, tensor<3x5xui32>)
    %got:2 = call @computed(%in) : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3x5xui32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    return %got#0, %got#1 : tensor<4xui32>, tensor<3x5xui32>
  }
  func.func private @inputs() -> (tensor<4xui32>) {
    %c0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    return %c0 : tensor<4xui32>
  }
  func.func private @expected() -> (tensor<4xui32>, tensor<3x5xui32>) {
    %c0 = stablehlo.constant dense<[1, 2, 7, 4]> : tensor<4xui32>
    %c1 = stablehlo.constant dense<[[512747620, 1298009047, 1267190206, 761827841, 1383286907], [1639995030, 2756207988, 2154813423, 2586587831, 3476143680], [1796768528, 312929065, 595050331, 3179752574, 3495892623]]> : tensor<3x5xui32>
    return %c0, %c1 : tensor<4xui32>, tensor<3x5xui32>
  }
  func.func private @computed(%arg0: tensor<4xui32>) -> (tensor<4xui32> {jax.result_info = "result[0]"}, tensor<3x5xui32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %1, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %2 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %3 = stablehlo.reshape %2 : (tensor<2x2xui32>) -> tensor<4xui32>
    return %3, %output : tensor<4xui32>, tensor<3x5xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xui32>, tensor<3x5xui64>) {
    %in = call @inputs() : () -> tensor<4xui32>
    %want:2 = call @expected() : () -> (tensor<4xui32>, tensor<3x5xui64>)
    %got:2 = call @computed(%in) : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3x5xui64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xui64>, tensor<3x5xui64>) -> ()
    return %got#0, %got#1 : tensor<4xui32>, tensor<3x5xui64>
  }
  func.func private @inputs() -> (tensor<4xui32>) {
    %c0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    return %c0 : tensor<4xui32>
  }
  func.func private @expected() -> (tensor<4xui32>, tensor<3x5xui64>) {
    %c0 = stablehlo.constant dense<[1, 2, 11, 4]> : tensor<4xui32>
    %c1 = stablehlo.constant dense<[[5574906407289874532, 3272025663544478142, 7043725020835825787, 9254853183523022196, 14929923424383677111], [1344020101939626768, 13656933315296870235, 16365469592046212751, 1756876647281147474, 10329570653898103401], [4068389964382882649, 10119500769440112000, 12971396297761085420, 15434252043624229481, 3095575835765609347]]> : tensor<3x5xui64>
    return %c0, %c1 : tensor<4xui32>, tensor<3x5xui64>
  }
  func.func private @computed(%arg0: tensor<4xui32>) -> (tensor<4xui32> {jax.result_info = "result[0]"}, tensor<3x5xui64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %1, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui64>)
    %2 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %3 = stablehlo.reshape %2 : (tensor<2x2xui32>) -> tensor<4xui32>
    return %3, %output : tensor<4xui32>, tensor<3x5xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xui32>, tensor<3x5xui32>) {
    %in = call @inputs() : () -> tensor<4xui32>
    %want:2 = call @expected() : () -> (tensor<4xui32>, tensor<3x5xui32>)
    %got:2 = call @computed(%in) : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3x5xui32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xui32>, tensor<3x5xui32>) -> ()
    return %got#0, %got#1 : tensor<4xui32>, tensor<3x5xui32>
  }
  func.func private @inputs() -> (tensor<4xui32>) {
    %c0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    return %c0 : tensor<4xui32>
  }
  func.func private @expected() -> (tensor<4xui32>, tensor<3x5xui32>) {
    %c0 = stablehlo.constant dense<[1, 2, 12, 4]> : tensor<4xui32>
    %c1 = stablehlo.constant dense<[[1576285164, 2249660814, 740599976, 2425682526, 2436392515], [1335360347, 2260235687, 3981753173, 3953550934, 3812192618], [2959620048, 1759477693, 3014899208, 3167314751, 1878941568]]> : tensor<3x5xui32>
    return %c0, %c1 : tensor<4xui32>, tensor<3x5xui32>
  }
  func.func private @computed(%arg0: tensor<4xui32>) -> (tensor<4xui32> {jax.result_info = "result[0]"}, tensor<3x5xui32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %2 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %3 = stablehlo.reshape %2 : (tensor<2x2xui32>) -> tensor<4xui32>
    return %3, %output : tensor<4xui32>, tensor<3x5xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xui32>, tensor<3x5xui64>) {
    %in = call @inputs() : () -> tensor<4xui32>
    %want:2 = call @expected() : () -> (tensor<4xui32>, tensor<3x5xui64>)
    %got:2 = call @computed(%in) : (tensor<4xui32>) -> (tensor<4xui32>, tensor<3x5xui64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xui32>, tensor<4xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xui64>, tensor<3x5xui64>) -> ()
    return %got#0, %got#1 : tensor<4xui32>, tensor<3x5xui64>
  }
  func.func private @inputs() -> (tensor<4xui32>) {
    %c0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
    return %c0 : tensor<4xui32>
  }
  func.func private @expected() -> (tensor<4xui32>, tensor<3x5xui64>) {
    %c0 = stablehlo.constant dense<[1, 2, 18, 4]> : tensor<4xui32>
    %c1 = stablehlo.constant dense<[[9662219624799024108, 10418227120389269672, 6433701140276733507, 9707638358252452699, 16980371968582007637], [8689340136409362794, 7556899152436148176, 13603513274698282504, 13570683694602936192, 16049617890281826590], [75563057951747533, 14398413899885339514, 14891337633427027608, 13922508688121047719, 1761991524758327805]]> : tensor<3x5xui64>
    return %c0, %c1 : tensor<4xui32>, tensor<3x5xui64>
  }
  func.func private @computed(%arg0: tensor<4xui32>) -> (tensor<4xui32> {jax.result_info = "result[0]"}, tensor<3x5xui64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4xui32>) -> tensor<2x2xui32>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %1, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui64>)
    %2 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %3 = stablehlo.reshape %2 : (tensor<2x2xui32>) -> tensor<4xui32>
    return %3, %output : tensor<4xui32>, tensor<3x5xui64>
  }
}

// -----

module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x3xf32>) {
    %in:4 = call @inputs() : () -> (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x3xf32>)
    %want = call @expected() : () -> tensor<4x3xf32>
    %got = call @computed(%in#0, %in#1, %in#2, %in#3) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x3xf32>) -> tensor<4x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
    return %got : tensor<4x3xf32>
  }
  func.func private @inputs() -> (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x3xf32>) {
    %c0 = stablehlo.constant dense<"0x975138BF9AF660C02F668AC010CA7BBFCDC98BC07D972C40C84F5D402CCB07410FA328407DA7E3BF145C27C0D6AE25C1FB6FE4BF7BEA07BFAAD13940BEDAEA3F22EDE13FE510243F1ACAFD3F38F88A40D4744CC0759AAFBF8D4C85C032649B40B6FF784045701040331F66C055D2043FFA3334BFFA4C783E877910BF71A9C73F"> : tensor<4x8xf32>
    %c1 = stablehlo.constant dense<"0x579E97BFD91324402964393F1F1561BF89CEABBE812FA9BF07441C40177C50BFD079623FF1AE96BFDD918EC0D8F82D4009294BC01F660240B356A13FAEFA9EC0FD6035C0266AC5BFEF931DC024F562C02F190E40AEF037BFED1A943FB450A5BF0A7E6A3F923810C048EBA2BDC56DDF3FB4760A3EC487AFBFD5A350C0FBBD003F8675843F896B46BFA2B513C0155AD03F023FEE40724A68BFD64E813F3DEB903F7161F6C0A840BE3ECFA607C018EE8440A50F43BF714915C0B8CE27BF79D6FF3EF500D7BFB2C721BED5FF81C0A1FE2CBFE0ED1440610ABD409EA607405FD8503F764863403BAB434099BA9F40B3DE4F40D909B5BEDE7C463F8998093FFC0A683FBBD8193FF13916C0F5F2C9C059F600C0D37FC2C037C5503EF9F85E3CEBDAA0C0D7200440CF6F2640753A933E9118A0400DAEB340048D67C0220C47401C49A93F82A2A03FF769334089140AC09478E3BF96B81EC0F6F010C0645097BE08608BC098C748C057C5DD3F5AFF59BEFD0D933F775EB5C0F57F16C04548D5BFD7E4C73D1422E1BF5E2D3340340633BEEC11513D695B263DE7EE0740341AB5BFE67F57409AA9B03FCA99EC3EE936003EF6CBC73F86F44240928A35408F54903F7B54284055CCB53E667A70406B78A3BD9F36C7C0CD6F8040C6A8A53ED9D860C05E3C18BF30B229C0BF9EC9406C1CBF3FA59896C029BAD13FBC1D99BFDE02B840251E4AC0"> : tensor<8x16xf32>
    %c2 = stablehlo.constant dense<"0xFFB6D7C0A1594A3E7BA485BF0BF89FBF188FCDC011E5A33F21A4A040CA44B7C0FDDF60402463DABF2781E140536DA73FB54310BFB93B5440B3FEC93FCB80E3BF"> : tensor<16xf32>
    %c3 = stablehlo.constant dense<"0x955C0840721BC4BFE1B1ABC06908C3406B3D86BF83DCE9BFBC11823F83B995C08DF181C045DDBFBFBC92C7BF06D85C3EF5875740BF06B6BF103CBD3F48FEE63F792450C039742F3FFDFD34C0C0444C4028C1AE3F74CD4A3D759C80C02129B23EF04413C07A8B07401749B7BE5CF81BC00EB33140E4880A407AD3E3BFFE1B5F40C82A65BFAE6D6DBF8E28BE3E748110C0F896A9BF057FF6BE3CE8924064F78F40F4CF46BF1E9A9A4016FA04BE9A24923F9EA52940F04A603F85DBE740D5E33A3F"> : tensor<16x3xf32>
    return %c0, %c1, %c2, %c3 : tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x3xf32>
  }
  func.func private @expected() -> (tensor<4x3xf32>) {
    %c0 = stablehlo.constant dense<"0xF4FF7F3FC0539D32C05549350000803FAB8D3D23A27587299E0CBC3D0EA0BC39D866683F699E303EBA084D3F4BF5D93C"> : tensor<4x3xf32>
    return %c0 : tensor<4x3xf32>
  }
  func.func private @computed(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<16x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<16xf32>) -> tensor<1x16xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf32>) -> tensor<4x16xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x16xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<4x16xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<4x16xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<4x16xf32>
    %8 = stablehlo.add %3, %7 : tensor<4x16xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<4x16xf32>
    %11 = stablehlo.tanh %10 : tensor<4x16xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %13 = stablehlo.add %12, %11 : tensor<4x16xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<4x16xf32>
    %16 = stablehlo.multiply %3, %15 : tensor<4x16xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_4 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<4x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %22 = stablehlo.subtract %16, %21 : tensor<4x16xf32>
    %23 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %24 = stablehlo.subtract %16, %23 : tensor<4x16xf32>
    %25 = stablehlo.multiply %24, %24 : tensor<4x16xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_6 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %29 = stablehlo.divide %27, %28 : tensor<4x1xf32>
    %cst_7 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %31 = stablehlo.add %29, %30 : tensor<4x1xf32>
    %32 = stablehlo.sqrt %31 : tensor<4x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x16xf32>
    %34 = stablehlo.divide %22, %33 : tensor<4x16xf32>
    %35 = stablehlo.dot_general %34, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xf32>, tensor<16x3xf32>) -> tensor<4x3xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_8) applies stablehlo.maximum across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %38 = stablehlo.maximum %37, %36 : tensor<4xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %41 = stablehlo.subtract %35, %40 : tensor<4x3xf32>
    %42 = stablehlo.exponential %41 : tensor<4x3xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %46 = stablehlo.divide %42, %45 : tensor<4x3xf32>
    return %46 : tensor<4x3xf32>
  }
}
