module @jit_abs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000803F0000C03F0000807F0000807F0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.abs %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_abs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F000000000000F83F000000000000F07F000000000000F07F000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.abs %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_neg attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000008000000000000080BF0000C03F000080FF0000807F0000C0FF000020C09A9999BE0000E8C0"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_neg attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000000000000000000000000000F0BF000000000000F83F000000000000F0FF000000000000F07F000000000000F8FF00000000000004C0333333333333D3BF0000000000001DC0"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_sign attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F000080BF0000803F000080BF0000C07F0000803F0000803F0000803F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sign %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_sign attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F0BF000000000000F03F000000000000F0BF000000000000F87F000000000000F03F000000000000F03F000000000000F03F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.sign %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_floor attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F000000C00000807F000080FF0000C07F00000040000000000000E040"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.floor %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_floor attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F00000000000000C0000000000000F07F000000000000F0FF000000000000F87F000000000000004000000000000000000000000000001C40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.floor %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_ceil attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F000080BF0000807F000080FF0000C07F000040400000803F00000041"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.ceil %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_ceil attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F0BF000000000000F07F000000000000F0FF000000000000F87F0000000000000840000000000000F03F0000000000002040"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.ceil %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_round attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F000000C00000807F000080FF0000C07F00004040000000000000E040"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.round_nearest_afz %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_round attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F00000000000000C0000000000000F07F000000000000F0FF000000000000F87F000000000000084000000000000000000000000000001C40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.round_nearest_afz %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_is_finite attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xi1>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xi1>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    return %got : tensor<10xi1>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, false, false, false, true, true, true]> : tensor<10xi1>
    return %c0 : tensor<10xi1>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xi1> {jax.result_info = "result"}) {
    %0 = stablehlo.is_finite %arg0 : (tensor<10xf32>) -> tensor<10xi1>
    return %0 : tensor<10xi1>
  }
}

// -----

module @jit_is_finite attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xi1>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xi1>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    return %got : tensor<10xi1>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, false, false, false, true, true, true]> : tensor<10xi1>
    return %c0 : tensor<10xi1>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xi1> {jax.result_info = "result"}) {
    %0 = stablehlo.is_finite %arg0 : (tensor<10xf64>) -> tensor<10xi1>
    return %0 : tensor<10xi1>
  }
}

// -----

module @jit_tanh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000000000000080D6F7423FCBB767BF0000803F000080BF0000C07FC2927C3FED26953EF0FF7F3F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_tanh attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x0000000000000000000000000000008094F314B5FA5EE83F78F56D78F9F6ECBF000000000000F03F000000000000F0BF000000000000F87FC1710A265892EF3FF914D9A7DDA4D23F430A76E2FDFFEF3F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_exp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000803F0000803F54F82D403C7C643E0000807F000000000000C07F7FEB42412CC8AC3F5B03B044"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_exp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F03F000000000000F03F6A57148B0ABF05401D5C4B72878FCC3F000000000000F07F0000000000000000000000000000F87FBBE031D96F5D2840961A8C8C0599F53FD9E8535D6B009640"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_expm1 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000000000000080A8F0DB3FF1E046BF0000807F000080BF0000C07F7FEB3241B120B33E5BE3AF44"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential_minus_one %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_expm1 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080D4AE2816157EFB3FF9286D231EDCE8BF000000000000F07F000000000000F0BF000000000000F87FBBE031D96F5D2640576A30321664D63FD9E8535D6BFC9540"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential_minus_one %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_logistic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000003F0000003FA8263B3FC2CD3A3E0000803F000000000000C0FF8F946C3FAA0E133F7ED17F3F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<10xf32>
    %1 = stablehlo.exponential %0 : tensor<10xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.add %2, %1 : tensor<10xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %5 = stablehlo.divide %4, %3 : tensor<10xf32>
    return %5 : tensor<10xf32>
  }
}

// -----

module @jit_logistic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000E03F000000000000E03FBDA2D5F5D464E73FB01B5A35B859C73F000000000000F03F0000000000000000000000000000F8FFF896B5DD9192ED3F8B6AE445D561E23F9E099BB62FFAEF3F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<10xf64>
    %1 = stablehlo.exponential %0 : tensor<10xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %3 = stablehlo.add %2, %1 : tensor<10xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %5 = stablehlo.divide %4, %3 : tensor<10xf64>
    return %5 : tensor<10xf64>
  }
}

// -----

module @jit_cos attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000803F0000803F40510A3FAADE903D0000C0FF0000C0FF0000C07FBF174DBFEF90743F7B63113F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.cosine %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_cos attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F03F000000000000F03F8C06B50F284AE13FA7F9C54FD51BB23F000000000000F8FF000000000000F8FF000000000000F87F7D8B85EFF7A2E9BFBA092FD41D92EE3FBE3FDC506F2CE23F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.cosine %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_sin attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000000000000080A46A573FD55B7FBF0000C0FF0000C0FF0000C07F7835193F6D4E973E6EB5523F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_sin attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080EE0C098F54EDEA3F8B6D2C9B7AEBEFBF000000000000F8FF000000000000F8FF000000000000F87FB1CACF0DAF26E33F33BABA95CDE9D23FB9272AB6AD56EA3F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_cbrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803FFF8592BF0000807F000080FF0000C07F05B9AD3FF55F2B3F71BCF73F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.cbrt %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_cbrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03FF482B0E1BF50F2BF000000000000F07F000000000000F0FF000000000000F87FEDB0579520B7F53F8CF76EA6FE6BE53F1BC6122C8EF7FE3F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.cbrt %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_log attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000803F0000C03F0000807F0000807F0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x000080FF000080FF000000001F99CF3E0000807F0000807FFFFFFFFF08926A3FC81B9ABF7591FD3F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.log %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_log attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F000000000000F83F000000000000F07F000000000000F07F000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F0FF000000000000F0FF00000000000000004C98BFEC23F3D93F000000000000F07F000000000000F07F000000000000F87F78E0E0F04052ED3F21A7BDFC7843F3BF4EC2A1982EB2FF3F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.log %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_log1p attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000803F0000C03F0000807F0000807F0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000001872313F08926A3F0000807F0000807FFFFFFFFF8A5AA03F9C54863EBC0D0740"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.log_plus_one %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_log1p attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F000000000000F83F000000000000F07F000000000000F07F000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000EF39FAFE422EE63F78E0E0F04052ED3F000000000000F07F000000000000F07F000000000000F87F603DB52E510BF43FDCB9E17B93CAD03FD99B5875B7E10040"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.log_plus_one %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_sqrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000803F0000C03F0000807F0000807F0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000803F71C49C3F0000807F0000807F0000C07FC262CA3F8C370C3F45532C40"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sqrt %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_sqrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F000000000000F83F000000000000F07F000000000000F07F000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F2E2109148E98F33F000000000000F07F000000000000F07F000000000000F87F535BDA3A584CF93F7284F874F186E13FF3D9A8A4688A0540"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.sqrt %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_rsqrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000803F0000C03F0000807F0000807F0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x0000807F0000807F0000803FEB05513F00000000000000000000C07F9BE8213FE8B1E93FEB26BE3E"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.rsqrt %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_rsqrt attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F000000000000F83F000000000000F07F000000000000F07F000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F07F000000000000F07F000000000000F03F3E2C0C70BD20EA3F00000000000000000000000000000000000000000000F87F0F494862133DE43FBFDC48183D36FD3F88BB3E66DDC4D73F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.rsqrt %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F000000C00000807F000080FF0000C07F00000040000000000000E040"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_tan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xCDCCCC3D0000003F000080BF00004040"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x447CCD3D7BDA0B3F2359C7BFB9F711BE"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.tan %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F00000000000000C0000000000000F07F000000000000F0FF000000000000F87F000000000000004000000000000000000000000000001C40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_tan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf64>) {
    %in = call @inputs() : () -> tensor<4xf64>
    %want = call @expected() : () -> tensor<4xf64>
    %got = call @computed(%in) : (tensor<4xf64>) -> tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return %got : tensor<4xf64>
  }
  func.func private @inputs() -> (tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x9A9999999999B93F000000000000E03F000000000000F0BF0000000000000840"> : tensor<4xf64>
    return %c0 : tensor<4xf64>
  }
  func.func private @expected() -> (tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x800B437788AFB93F4A47F35B4F7BE13FA6E3BE5C24EBF8BF6FB85412F73EC2BF"> : tensor<4xf64>
    return %c0 : tensor<4xf64>
  }
  func.func private @computed(%arg0: tensor<4xf64>) -> (tensor<4xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.tan %arg0 : tensor<4xf64>
    return %0 : tensor<4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>) {
    %in = call @inputs() : () -> tensor<8xi8>
    %want:6 = call @expected() : () -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>)
    %got:6 = call @computed(%in) : (tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>
  }
  func.func private @inputs() -> (tensor<8xi8>) {
    %c0 = stablehlo.constant dense<[0, 1, -1, 5, -7, 100, -128, 127]> : tensor<8xi8>
    return %c0 : tensor<8xi8>
  }
  func.func private @expected() -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 5, 7, 100, -128, 127]> : tensor<8xi8>
    %c1 = stablehlo.constant dense<[0, -1, 1, -5, 7, -100, -128, -127]> : tensor<8xi8>
    %c2 = stablehlo.constant dense<[0, 1, -1, 1, -1, 1, -1, 1]> : tensor<8xi8>
    %c3 = stablehlo.constant dense<[-1, -2, 0, -6, 6, -101, 127, -128]> : tensor<8xi8>
    %c4 = stablehlo.constant dense<[0, 1, 8, 2, 6, 3, 1, 7]> : tensor<8xi8>
    %c5 = stablehlo.constant dense<[8, 7, 0, 5, 0, 1, 0, 1]> : tensor<8xi8>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>
  }
  func.func private @computed(%arg0: tensor<8xi8>) -> (tensor<8xi8> {jax.result_info = "result[0]"}, tensor<8xi8> {jax.result_info = "result[1]"}, tensor<8xi8> {jax.result_info = "result[2]"}, tensor<8xi8> {jax.result_info = "result[3]"}, tensor<8xi8> {jax.result_info = "result[4]"}, tensor<8xi8> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.abs %arg0 : tensor<8xi8>
    %1 = stablehlo.negate %arg0 : tensor<8xi8>
    %2 = stablehlo.sign %arg0 : tensor<8xi8>
    %3 = stablehlo.not %arg0 : tensor<8xi8>
    %4 = stablehlo.popcnt %arg0 : tensor<8xi8>
    %5 = stablehlo.count_leading_zeros %arg0 : tensor<8xi8>
    return %0, %1, %2, %3, %4, %5 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>) {
    %in = call @inputs() : () -> tensor<8xi16>
    %want:6 = call @expected() : () -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>)
    %got:6 = call @computed(%in) : (tensor<8xi16>) -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>
  }
  func.func private @inputs() -> (tensor<8xi16>) {
    %c0 = stablehlo.constant dense<[0, 1, -1, 5, -7, 100, -32768, 32767]> : tensor<8xi16>
    return %c0 : tensor<8xi16>
  }
  func.func private @expected() -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 5, 7, 100, -32768, 32767]> : tensor<8xi16>
    %c1 = stablehlo.constant dense<[0, -1, 1, -5, 7, -100, -32768, -32767]> : tensor<8xi16>
    %c2 = stablehlo.constant dense<[0, 1, -1, 1, -1, 1, -1, 1]> : tensor<8xi16>
    %c3 = stablehlo.constant dense<[-1, -2, 0, -6, 6, -101, 32767, -32768]> : tensor<8xi16>
    %c4 = stablehlo.constant dense<[0, 1, 16, 2, 14, 3, 1, 15]> : tensor<8xi16>
    %c5 = stablehlo.constant dense<[16, 15, 0, 13, 0, 9, 0, 1]> : tensor<8xi16>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>
  }
  func.func private @computed(%arg0: tensor<8xi16>) -> (tensor<8xi16> {jax.result_info = "result[0]"}, tensor<8xi16> {jax.result_info = "result[1]"}, tensor<8xi16> {jax.result_info = "result[2]"}, tensor<8xi16> {jax.result_info = "result[3]"}, tensor<8xi16> {jax.result_info = "result[4]"}, tensor<8xi16> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.abs %arg0 : tensor<8xi16>
    %1 = stablehlo.negate %arg0 : tensor<8xi16>
    %2 = stablehlo.sign %arg0 : tensor<8xi16>
    %3 = stablehlo.not %arg0 : tensor<8xi16>
    %4 = stablehlo.popcnt %arg0 : tensor<8xi16>
    %5 = stablehlo.count_leading_zeros %arg0 : tensor<8xi16>
    return %0, %1, %2, %3, %4, %5 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
    %in = call @inputs() : () -> tensor<8xi32>
    %want:6 = call @expected() : () -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
    %got:6 = call @computed(%in) : (tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
  }
  func.func private @inputs() -> (tensor<8xi32>) {
    %c0 = stablehlo.constant dense<[0, 1, -1, 5, -7, 100, -2147483648, 2147483647]> : tensor<8xi32>
    return %c0 : tensor<8xi32>
  }
  func.func private @expected() -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 5, 7, 100, -2147483648, 2147483647]> : tensor<8xi32>
    %c1 = stablehlo.constant dense<[0, -1, 1, -5, 7, -100, -2147483648, -2147483647]> : tensor<8xi32>
    %c2 = stablehlo.constant dense<[0, 1, -1, 1, -1, 1, -1, 1]> : tensor<8xi32>
    %c3 = stablehlo.constant dense<[-1, -2, 0, -6, 6, -101, 2147483647, -2147483648]> : tensor<8xi32>
    %c4 = stablehlo.constant dense<[0, 1, 32, 2, 30, 3, 1, 31]> : tensor<8xi32>
    %c5 = stablehlo.constant dense<[32, 31, 0, 29, 0, 25, 0, 1]> : tensor<8xi32>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
  }
  func.func private @computed(%arg0: tensor<8xi32>) -> (tensor<8xi32> {jax.result_info = "result[0]"}, tensor<8xi32> {jax.result_info = "result[1]"}, tensor<8xi32> {jax.result_info = "result[2]"}, tensor<8xi32> {jax.result_info = "result[3]"}, tensor<8xi32> {jax.result_info = "result[4]"}, tensor<8xi32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.abs %arg0 : tensor<8xi32>
    %1 = stablehlo.negate %arg0 : tensor<8xi32>
    %2 = stablehlo.sign %arg0 : tensor<8xi32>
    %3 = stablehlo.not %arg0 : tensor<8xi32>
    %4 = stablehlo.popcnt %arg0 : tensor<8xi32>
    %5 = stablehlo.count_leading_zeros %arg0 : tensor<8xi32>
    return %0, %1, %2, %3, %4, %5 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>) {
    %in = call @inputs() : () -> tensor<8xi64>
    %want:6 = call @expected() : () -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>)
    %got:6 = call @computed(%in) : (tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
  }
  func.func private @inputs() -> (tensor<8xi64>) {
    %c0 = stablehlo.constant dense<[0, 1, -1, 5, -7, 100, -9223372036854775808, 9223372036854775807]> : tensor<8xi64>
    return %c0 : tensor<8xi64>
  }
  func.func private @expected() -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 5, 7, 100, -9223372036854775808, 9223372036854775807]> : tensor<8xi64>
    %c1 = stablehlo.constant dense<[0, -1, 1, -5, 7, -100, -9223372036854775808, -9223372036854775807]> : tensor<8xi64>
    %c2 = stablehlo.constant dense<[0, 1, -1, 1, -1, 1, -1, 1]> : tensor<8xi64>
    %c3 = stablehlo.constant dense<[-1, -2, 0, -6, 6, -101, 9223372036854775807, -9223372036854775808]> : tensor<8xi64>
    %c4 = stablehlo.constant dense<[0, 1, 64, 2, 62, 3, 1, 63]> : tensor<8xi64>
    %c5 = stablehlo.constant dense<[64, 63, 0, 61, 0, 57, 0, 1]> : tensor<8xi64>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
  }
  func.func private @computed(%arg0: tensor<8xi64>) -> (tensor<8xi64> {jax.result_info = "result[0]"}, tensor<8xi64> {jax.result_info = "result[1]"}, tensor<8xi64> {jax.result_info = "result[2]"}, tensor<8xi64> {jax.result_info = "result[3]"}, tensor<8xi64> {jax.result_info = "result[4]"}, tensor<8xi64> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.abs %arg0 : tensor<8xi64>
    %1 = stablehlo.negate %arg0 : tensor<8xi64>
    %2 = stablehlo.sign %arg0 : tensor<8xi64>
    %3 = stablehlo.not %arg0 : tensor<8xi64>
    %4 = stablehlo.popcnt %arg0 : tensor<8xi64>
    %5 = stablehlo.count_leading_zeros %arg0 : tensor<8xi64>
    return %0, %1, %2, %3, %4, %5 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>) {
    %in = call @inputs() : () -> tensor<5xui8>
    %want:4 = call @expected() : () -> (tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>)
    %got:4 = call @computed(%in) : (tensor<5xui8>) -> (tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>
  }
  func.func private @inputs() -> (tensor<5xui8>) {
    %c0 = stablehlo.constant dense<[0, 1, 5, 100, 255]> : tensor<5xui8>
    return %c0 : tensor<5xui8>
  }
  func.func private @expected() -> (tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 1, 1]> : tensor<5xui8>
    %c1 = stablehlo.constant dense<[255, 254, 250, 155, 0]> : tensor<5xui8>
    %c2 = stablehlo.constant dense<[0, 1, 2, 3, 8]> : tensor<5xui8>
    %c3 = stablehlo.constant dense<[8, 7, 5, 1, 0]> : tensor<5xui8>
    return %c0, %c1, %c2, %c3 : tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>
  }
  func.func private @computed(%arg0: tensor<5xui8>) -> (tensor<5xui8> {jax.result_info = "result[0]"}, tensor<5xui8> {jax.result_info = "result[1]"}, tensor<5xui8> {jax.result_info = "result[2]"}, tensor<5xui8> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<5xui8>
    %1 = stablehlo.compare EQ, %arg0, %0, UNSIGNED : (tensor<5xui8>, tensor<5xui8>) -> tensor<5xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<ui8>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui8>) -> tensor<5xui8>
    %c_1 = stablehlo.constant dense<1> : tensor<ui8>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui8>) -> tensor<5xui8>
    %4 = stablehlo.select %1, %2, %3 : tensor<5xi1>, tensor<5xui8>
    %5 = stablehlo.not %arg0 : tensor<5xui8>
    %6 = stablehlo.popcnt %arg0 : tensor<5xui8>
    %7 = stablehlo.count_leading_zeros %arg0 : tensor<5xui8>
    return %4, %5, %6, %7 : tensor<5xui8>, tensor<5xui8>, tensor<5xui8>, tensor<5xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>) {
    %in = call @inputs() : () -> tensor<5xui16>
    %want:4 = call @expected() : () -> (tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>)
    %got:4 = call @computed(%in) : (tensor<5xui16>) -> (tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5xui16>, tensor<5xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5xui16>, tensor<5xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5xui16>, tensor<5xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<5xui16>, tensor<5xui16>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>
  }
  func.func private @inputs() -> (tensor<5xui16>) {
    %c0 = stablehlo.constant dense<[0, 1, 5, 100, 65535]> : tensor<5xui16>
    return %c0 : tensor<5xui16>
  }
  func.func private @expected() -> (tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 1, 1]> : tensor<5xui16>
    %c1 = stablehlo.constant dense<[65535, 65534, 65530, 65435, 0]> : tensor<5xui16>
    %c2 = stablehlo.constant dense<[0, 1, 2, 3, 16]> : tensor<5xui16>
    %c3 = stablehlo.constant dense<[16, 15, 13, 9, 0]> : tensor<5xui16>
    return %c0, %c1, %c2, %c3 : tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>
  }
  func.func private @computed(%arg0: tensor<5xui16>) -> (tensor<5xui16> {jax.result_info = "result[0]"}, tensor<5xui16> {jax.result_info = "result[1]"}, tensor<5xui16> {jax.result_info = "result[2]"}, tensor<5xui16> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui16>) -> tensor<5xui16>
    %1 = stablehlo.compare EQ, %arg0, %0, UNSIGNED : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<ui16>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui16>) -> tensor<5xui16>
    %c_1 = stablehlo.constant dense<1> : tensor<ui16>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui16>) -> tensor<5xui16>
    %4 = stablehlo.select %1, %2, %3 : tensor<5xi1>, tensor<5xui16>
    %5 = stablehlo.not %arg0 : tensor<5xui16>
    %6 = stablehlo.popcnt %arg0 : tensor<5xui16>
    %7 = stablehlo.count_leading_zeros %arg0 : tensor<5xui16>
    return %4, %5, %6, %7 : tensor<5xui16>, tensor<5xui16>, tensor<5xui16>, tensor<5xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>) {
    %in = call @inputs() : () -> tensor<5xui32>
    %want:4 = call @expected() : () -> (tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>)
    %got:4 = call @computed(%in) : (tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<5xui32>, tensor<5xui32>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>
  }
  func.func private @inputs() -> (tensor<5xui32>) {
    %c0 = stablehlo.constant dense<[0, 1, 5, 100, 4294967295]> : tensor<5xui32>
    return %c0 : tensor<5xui32>
  }
  func.func private @expected() -> (tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 1, 1]> : tensor<5xui32>
    %c1 = stablehlo.constant dense<[4294967295, 4294967294, 4294967290, 4294967195, 0]> : tensor<5xui32>
    %c2 = stablehlo.constant dense<[0, 1, 2, 3, 32]> : tensor<5xui32>
    %c3 = stablehlo.constant dense<[32, 31, 29, 25, 0]> : tensor<5xui32>
    return %c0, %c1, %c2, %c3 : tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>
  }
  func.func private @computed(%arg0: tensor<5xui32>) -> (tensor<5xui32> {jax.result_info = "result[0]"}, tensor<5xui32> {jax.result_info = "result[1]"}, tensor<5xui32> {jax.result_info = "result[2]"}, tensor<5xui32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %1 = stablehlo.compare EQ, %arg0, %0, UNSIGNED : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %c_1 = stablehlo.constant dense<1> : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<5xui32>
    %4 = stablehlo.select %1, %2, %3 : tensor<5xi1>, tensor<5xui32>
    %5 = stablehlo.not %arg0 : tensor<5xui32>
    %6 = stablehlo.popcnt %arg0 : tensor<5xui32>
    %7 = stablehlo.count_leading_zeros %arg0 : tensor<5xui32>
    return %4, %5, %6, %7 : tensor<5xui32>, tensor<5xui32>, tensor<5xui32>, tensor<5xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>) {
    %in = call @inputs() : () -> tensor<5xui64>
    %want:4 = call @expected() : () -> (tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>)
    %got:4 = call @computed(%in) : (tensor<5xui64>) -> (tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5xui64>, tensor<5xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5xui64>, tensor<5xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5xui64>, tensor<5xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<5xui64>, tensor<5xui64>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>
  }
  func.func private @inputs() -> (tensor<5xui64>) {
    %c0 = stablehlo.constant dense<[0, 1, 5, 100, 18446744073709551615]> : tensor<5xui64>
    return %c0 : tensor<5xui64>
  }
  func.func private @expected() -> (tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 1, 1]> : tensor<5xui64>
    %c1 = stablehlo.constant dense<[18446744073709551615, 18446744073709551614, 18446744073709551610, 18446744073709551515, 0]> : tensor<5xui64>
    %c2 = stablehlo.constant dense<[0, 1, 2, 3, 64]> : tensor<5xui64>
    %c3 = stablehlo.constant dense<[64, 63, 61, 57, 0]> : tensor<5xui64>
    return %c0, %c1, %c2, %c3 : tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>
  }
  func.func private @computed(%arg0: tensor<5xui64>) -> (tensor<5xui64> {jax.result_info = "result[0]"}, tensor<5xui64> {jax.result_info = "result[1]"}, tensor<5xui64> {jax.result_info = "result[2]"}, tensor<5xui64> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %1 = stablehlo.compare EQ, %arg0, %0, UNSIGNED : (tensor<5xui64>, tensor<5xui64>) -> tensor<5xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<ui64>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %c_1 = stablehlo.constant dense<1> : tensor<ui64>
    %3 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<5xui64>
    %4 = stablehlo.select %1, %2, %3 : tensor<5xi1>, tensor<5xui64>
    %5 = stablehlo.not %arg0 : tensor<5xui64>
    %6 = stablehlo.popcnt %arg0 : tensor<5xui64>
    %7 = stablehlo.count_leading_zeros %arg0 : tensor<5xui64>
    return %4, %5, %6, %7 : tensor<5xui64>, tensor<5xui64>, tensor<5xui64>, tensor<5xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xi8>, tensor<8xi8>)
    %want:17 = call @expected() : () -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:17 = call @computed(%in#0, %in#1) : (tensor<8xi8>, tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xi8>, tensor<8xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#16, %want#16) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15, %got#16 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xi8>, tensor<8xi8>) {
    %c0 = stablehlo.constant dense<[7, -7, 7, -7, 0, 9, -128, 3]> : tensor<8xi8>
    %c1 = stablehlo.constant dense<[2, 2, -2, -2, 5, 0, -1, 40]> : tensor<8xi8>
    return %c0, %c1 : tensor<8xi8>, tensor<8xi8>
  }
  func.func private @expected() -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, -5, 5, -9, 5, 9, 127, 43]> : tensor<8xi8>
    %c1 = stablehlo.constant dense<[5, -9, 9, -5, -5, 9, -127, -37]> : tensor<8xi8>
    %c2 = stablehlo.constant dense<[14, -14, -14, 14, 0, 0, -128, 120]> : tensor<8xi8>
    %c3 = stablehlo.constant dense<[3, -3, -3, 3, 0, -1, -128, 0]> : tensor<8xi8>
    %c4 = stablehlo.constant dense<[1, -1, 1, -1, 0, 9, 0, 3]> : tensor<8xi8>
    %c5 = stablehlo.constant dense<[7, 2, 7, -2, 5, 9, -1, 40]> : tensor<8xi8>
    %c6 = stablehlo.constant dense<[2, -7, -2, -7, 0, 0, -128, 3]> : tensor<8xi8>
    %c7 = stablehlo.constant dense<[2, 0, 6, -8, 0, 0, -128, 0]> : tensor<8xi8>
    %c8 = stablehlo.constant dense<[7, -5, -1, -1, 5, 9, -1, 43]> : tensor<8xi8>
    %c9 = stablehlo.constant dense<[5, -5, -7, 7, 5, 9, 127, 43]> : tensor<8xi8>
    %c10 = stablehlo.constant dense<[28, -28, 0, 0, 0, 9, 0, 0]> : tensor<8xi8>
    %c11 = stablehlo.constant dense<[1, -2, 0, -1, 0, 9, -1, 0]> : tensor<8xi8>
    %c12 = stablehlo.constant dense<[1, 62, 0, 0, 0, 9, 0, 0]> : tensor<8xi8>
    %c13 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    %c16 = stablehlo.constant dense<[true, true, true, true, true, true, true, true]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15, %c16 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xi8>, %arg1: tensor<8xi8>) -> (tensor<8xi8> {jax.result_info = "result[0]"}, tensor<8xi8> {jax.result_info = "result[1]"}, tensor<8xi8> {jax.result_info = "result[2]"}, tensor<8xi8> {jax.result_info = "result[3]"}, tensor<8xi8> {jax.result_info = "result[4]"}, tensor<8xi8> {jax.result_info = "result[5]"}, tensor<8xi8> {jax.result_info = "result[6]"}, tensor<8xi8> {jax.result_info = "result[7]"}, tensor<8xi8> {jax.result_info = "result[8]"}, tensor<8xi8> {jax.result_info = "result[9]"}, tensor<8xi8> {jax.result_info = "result[10]"}, tensor<8xi8> {jax.result_info = "result[11]"}, tensor<8xi8> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}, tensor<8xi1> {jax.result_info = "result[16]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xi8>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xi8>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xi8>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xi8>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xi8>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xi8>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xi8>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xi8>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xi8>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xi8>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xi8>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xi8>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xi8>
    %13 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
    %14 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
    %16 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xi16>, tensor<8xi16>)
    %want:17 = call @expected() : () -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:17 = call @computed(%in#0, %in#1) : (tensor<8xi16>, tensor<8xi16>) -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xi16>, tensor<8xi16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#16, %want#16) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15, %got#16 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xi16>, tensor<8xi16>) {
    %c0 = stablehlo.constant dense<[7, -7, 7, -7, 0, 9, -128, 3]> : tensor<8xi16>
    %c1 = stablehlo.constant dense<[2, 2, -2, -2, 5, 0, -1, 40]> : tensor<8xi16>
    return %c0, %c1 : tensor<8xi16>, tensor<8xi16>
  }
  func.func private @expected() -> (tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, -5, 5, -9, 5, 9, -129, 43]> : tensor<8xi16>
    %c1 = stablehlo.constant dense<[5, -9, 9, -5, -5, 9, -127, -37]> : tensor<8xi16>
    %c2 = stablehlo.constant dense<[14, -14, -14, 14, 0, 0, 128, 120]> : tensor<8xi16>
    %c3 = stablehlo.constant dense<[3, -3, -3, 3, 0, -1, 128, 0]> : tensor<8xi16>
    %c4 = stablehlo.constant dense<[1, -1, 1, -1, 0, 9, 0, 3]> : tensor<8xi16>
    %c5 = stablehlo.constant dense<[7, 2, 7, -2, 5, 9, -1, 40]> : tensor<8xi16>
    %c6 = stablehlo.constant dense<[2, -7, -2, -7, 0, 0, -128, 3]> : tensor<8xi16>
    %c7 = stablehlo.constant dense<[2, 0, 6, -8, 0, 0, -128, 0]> : tensor<8xi16>
    %c8 = stablehlo.constant dense<[7, -5, -1, -1, 5, 9, -1, 43]> : tensor<8xi16>
    %c9 = stablehlo.constant dense<[5, -5, -7, 7, 5, 9, 127, 43]> : tensor<8xi16>
    %c10 = stablehlo.constant dense<[28, -28, 0, 0, 0, 9, 0, 0]> : tensor<8xi16>
    %c11 = stablehlo.constant dense<[1, -2, 0, -1, 0, 9, -1, 0]> : tensor<8xi16>
    %c12 = stablehlo.constant dense<[1, 16382, 0, 0, 0, 9, 0, 0]> : tensor<8xi16>
    %c13 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    %c16 = stablehlo.constant dense<[true, true, true, true, true, true, true, true]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15, %c16 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xi16>, %arg1: tensor<8xi16>) -> (tensor<8xi16> {jax.result_info = "result[0]"}, tensor<8xi16> {jax.result_info = "result[1]"}, tensor<8xi16> {jax.result_info = "result[2]"}, tensor<8xi16> {jax.result_info = "result[3]"}, tensor<8xi16> {jax.result_info = "result[4]"}, tensor<8xi16> {jax.result_info = "result[5]"}, tensor<8xi16> {jax.result_info = "result[6]"}, tensor<8xi16> {jax.result_info = "result[7]"}, tensor<8xi16> {jax.result_info = "result[8]"}, tensor<8xi16> {jax.result_info = "result[9]"}, tensor<8xi16> {jax.result_info = "result[10]"}, tensor<8xi16> {jax.result_info = "result[11]"}, tensor<8xi16> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}, tensor<8xi1> {jax.result_info = "result[16]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xi16>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xi16>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xi16>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xi16>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xi16>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xi16>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xi16>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xi16>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xi16>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xi16>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xi16>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xi16>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xi16>
    %13 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
    %14 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
    %16 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<8xi16>, tensor<8xi16>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xi32>, tensor<8xi32>)
    %want:17 = call @expected() : () -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:17 = call @computed(%in#0, %in#1) : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xi32>, tensor<8xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#16, %want#16) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15, %got#16 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xi32>, tensor<8xi32>) {
    %c0 = stablehlo.constant dense<[7, -7, 7, -7, 0, 9, -128, 3]> : tensor<8xi32>
    %c1 = stablehlo.constant dense<[2, 2, -2, -2, 5, 0, -1, 40]> : tensor<8xi32>
    return %c0, %c1 : tensor<8xi32>, tensor<8xi32>
  }
  func.func private @expected() -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, -5, 5, -9, 5, 9, -129, 43]> : tensor<8xi32>
    %c1 = stablehlo.constant dense<[5, -9, 9, -5, -5, 9, -127, -37]> : tensor<8xi32>
    %c2 = stablehlo.constant dense<[14, -14, -14, 14, 0, 0, 128, 120]> : tensor<8xi32>
    %c3 = stablehlo.constant dense<[3, -3, -3, 3, 0, -1, 128, 0]> : tensor<8xi32>
    %c4 = stablehlo.constant dense<[1, -1, 1, -1, 0, 9, 0, 3]> : tensor<8xi32>
    %c5 = stablehlo.constant dense<[7, 2, 7, -2, 5, 9, -1, 40]> : tensor<8xi32>
    %c6 = stablehlo.constant dense<[2, -7, -2, -7, 0, 0, -128, 3]> : tensor<8xi32>
    %c7 = stablehlo.constant dense<[2, 0, 6, -8, 0, 0, -128, 0]> : tensor<8xi32>
    %c8 = stablehlo.constant dense<[7, -5, -1, -1, 5, 9, -1, 43]> : tensor<8xi32>
    %c9 = stablehlo.constant dense<[5, -5, -7, 7, 5, 9, 127, 43]> : tensor<8xi32>
    %c10 = stablehlo.constant dense<[28, -28, 0, 0, 0, 9, 0, 0]> : tensor<8xi32>
    %c11 = stablehlo.constant dense<[1, -2, 0, -1, 0, 9, -1, 0]> : tensor<8xi32>
    %c12 = stablehlo.constant dense<[1, 1073741822, 0, 0, 0, 9, 0, 0]> : tensor<8xi32>
    %c13 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    %c16 = stablehlo.constant dense<[true, true, true, true, true, true, true, true]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15, %c16 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xi32>, %arg1: tensor<8xi32>) -> (tensor<8xi32> {jax.result_info = "result[0]"}, tensor<8xi32> {jax.result_info = "result[1]"}, tensor<8xi32> {jax.result_info = "result[2]"}, tensor<8xi32> {jax.result_info = "result[3]"}, tensor<8xi32> {jax.result_info = "result[4]"}, tensor<8xi32> {jax.result_info = "result[5]"}, tensor<8xi32> {jax.result_info = "result[6]"}, tensor<8xi32> {jax.result_info = "result[7]"}, tensor<8xi32> {jax.result_info = "result[8]"}, tensor<8xi32> {jax.result_info = "result[9]"}, tensor<8xi32> {jax.result_info = "result[10]"}, tensor<8xi32> {jax.result_info = "result[11]"}, tensor<8xi32> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}, tensor<8xi1> {jax.result_info = "result[16]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xi32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xi32>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xi32>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xi32>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xi32>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xi32>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xi32>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xi32>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xi32>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xi32>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xi32>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xi32>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xi32>
    %13 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %14 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %16 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xi64>, tensor<8xi64>)
    %want:17 = call @expected() : () -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:17 = call @computed(%in#0, %in#1) : (tensor<8xi64>, tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xi64>, tensor<8xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#16, %want#16) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15, %got#16 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xi64>, tensor<8xi64>) {
    %c0 = stablehlo.constant dense<[7, -7, 7, -7, 0, 9, -128, 3]> : tensor<8xi64>
    %c1 = stablehlo.constant dense<[2, 2, -2, -2, 5, 0, -1, 40]> : tensor<8xi64>
    return %c0, %c1 : tensor<8xi64>, tensor<8xi64>
  }
  func.func private @expected() -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, -5, 5, -9, 5, 9, -129, 43]> : tensor<8xi64>
    %c1 = stablehlo.constant dense<[5, -9, 9, -5, -5, 9, -127, -37]> : tensor<8xi64>
    %c2 = stablehlo.constant dense<[14, -14, -14, 14, 0, 0, 128, 120]> : tensor<8xi64>
    %c3 = stablehlo.constant dense<[3, -3, -3, 3, 0, -1, 128, 0]> : tensor<8xi64>
    %c4 = stablehlo.constant dense<[1, -1, 1, -1, 0, 9, 0, 3]> : tensor<8xi64>
    %c5 = stablehlo.constant dense<[7, 2, 7, -2, 5, 9, -1, 40]> : tensor<8xi64>
    %c6 = stablehlo.constant dense<[2, -7, -2, -7, 0, 0, -128, 3]> : tensor<8xi64>
    %c7 = stablehlo.constant dense<[2, 0, 6, -8, 0, 0, -128, 0]> : tensor<8xi64>
    %c8 = stablehlo.constant dense<[7, -5, -1, -1, 5, 9, -1, 43]> : tensor<8xi64>
    %c9 = stablehlo.constant dense<[5, -5, -7, 7, 5, 9, 127, 43]> : tensor<8xi64>
    %c10 = stablehlo.constant dense<[28, -28, 0, 0, 0, 9, 0, 3298534883328]> : tensor<8xi64>
    %c11 = stablehlo.constant dense<[1, -2, 0, -1, 0, 9, -1, 0]> : tensor<8xi64>
    %c12 = stablehlo.constant dense<[1, 4611686018427387902, 0, 0, 0, 9, 0, 0]> : tensor<8xi64>
    %c13 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[false, true, false, true, true, false, true, true]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    %c16 = stablehlo.constant dense<[true, true, true, true, true, true, true, true]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15, %c16 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xi64>, %arg1: tensor<8xi64>) -> (tensor<8xi64> {jax.result_info = "result[0]"}, tensor<8xi64> {jax.result_info = "result[1]"}, tensor<8xi64> {jax.result_info = "result[2]"}, tensor<8xi64> {jax.result_info = "result[3]"}, tensor<8xi64> {jax.result_info = "result[4]"}, tensor<8xi64> {jax.result_info = "result[5]"}, tensor<8xi64> {jax.result_info = "result[6]"}, tensor<8xi64> {jax.result_info = "result[7]"}, tensor<8xi64> {jax.result_info = "result[8]"}, tensor<8xi64> {jax.result_info = "result[9]"}, tensor<8xi64> {jax.result_info = "result[10]"}, tensor<8xi64> {jax.result_info = "result[11]"}, tensor<8xi64> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}, tensor<8xi1> {jax.result_info = "result[16]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xi64>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xi64>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xi64>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xi64>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xi64>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xi64>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xi64>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xi64>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xi64>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xi64>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xi64>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xi64>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xi64>
    %13 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
    %14 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
    %16 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16 : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xui8>, tensor<8xui8>)
    %want:16 = call @expected() : () -> (tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:16 = call @computed(%in#0, %in#1) : (tensor<8xui8>, tensor<8xui8>) -> (tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xui8>, tensor<8xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15 : tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xui8>, tensor<8xui8>) {
    %c0 = stablehlo.constant dense<[7, 7, 7, 7, 0, 9, 128, 3]> : tensor<8xui8>
    %c1 = stablehlo.constant dense<[2, 2, 2, 2, 5, 0, 1, 40]> : tensor<8xui8>
    return %c0, %c1 : tensor<8xui8>, tensor<8xui8>
  }
  func.func private @expected() -> (tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, 9, 9, 9, 5, 9, 129, 43]> : tensor<8xui8>
    %c1 = stablehlo.constant dense<[5, 5, 5, 5, 251, 9, 127, 219]> : tensor<8xui8>
    %c2 = stablehlo.constant dense<[14, 14, 14, 14, 0, 0, 128, 120]> : tensor<8xui8>
    %c3 = stablehlo.constant dense<[3, 3, 3, 3, 0, 255, 128, 0]> : tensor<8xui8>
    %c4 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 0, 3]> : tensor<8xui8>
    %c5 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 128, 40]> : tensor<8xui8>
    %c6 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 1, 3]> : tensor<8xui8>
    %c7 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 0, 0]> : tensor<8xui8>
    %c8 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 129, 43]> : tensor<8xui8>
    %c9 = stablehlo.constant dense<[5, 5, 5, 5, 5, 9, 129, 43]> : tensor<8xui8>
    %c10 = stablehlo.constant dense<[28, 28, 28, 28, 0, 9, 0, 0]> : tensor<8xui8>
    %c11 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 192, 0]> : tensor<8xui8>
    %c12 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui8>
    %c13 = stablehlo.constant dense<[false, false, false, false, true, false, false, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[true, true, true, true, false, true, true, false]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15 : tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xui8>, %arg1: tensor<8xui8>) -> (tensor<8xui8> {jax.result_info = "result[0]"}, tensor<8xui8> {jax.result_info = "result[1]"}, tensor<8xui8> {jax.result_info = "result[2]"}, tensor<8xui8> {jax.result_info = "result[3]"}, tensor<8xui8> {jax.result_info = "result[4]"}, tensor<8xui8> {jax.result_info = "result[5]"}, tensor<8xui8> {jax.result_info = "result[6]"}, tensor<8xui8> {jax.result_info = "result[7]"}, tensor<8xui8> {jax.result_info = "result[8]"}, tensor<8xui8> {jax.result_info = "result[9]"}, tensor<8xui8> {jax.result_info = "result[10]"}, tensor<8xui8> {jax.result_info = "result[11]"}, tensor<8xui8> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xui8>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xui8>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xui8>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xui8>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xui8>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xui8>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xui8>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xui8>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xui8>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xui8>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xui8>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xui8>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xui8>
    %13 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
    %14 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xui8>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xui16>, tensor<8xui16>)
    %want:16 = call @expected() : () -> (tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:16 = call @computed(%in#0, %in#1) : (tensor<8xui16>, tensor<8xui16>) -> (tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xui16>, tensor<8xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15 : tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xui16>, tensor<8xui16>) {
    %c0 = stablehlo.constant dense<[7, 7, 7, 7, 0, 9, 128, 3]> : tensor<8xui16>
    %c1 = stablehlo.constant dense<[2, 2, 2, 2, 5, 0, 1, 40]> : tensor<8xui16>
    return %c0, %c1 : tensor<8xui16>, tensor<8xui16>
  }
  func.func private @expected() -> (tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, 9, 9, 9, 5, 9, 129, 43]> : tensor<8xui16>
    %c1 = stablehlo.constant dense<[5, 5, 5, 5, 65531, 9, 127, 65499]> : tensor<8xui16>
    %c2 = stablehlo.constant dense<[14, 14, 14, 14, 0, 0, 128, 120]> : tensor<8xui16>
    %c3 = stablehlo.constant dense<[3, 3, 3, 3, 0, 65535, 128, 0]> : tensor<8xui16>
    %c4 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 0, 3]> : tensor<8xui16>
    %c5 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 128, 40]> : tensor<8xui16>
    %c6 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 1, 3]> : tensor<8xui16>
    %c7 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 0, 0]> : tensor<8xui16>
    %c8 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 129, 43]> : tensor<8xui16>
    %c9 = stablehlo.constant dense<[5, 5, 5, 5, 5, 9, 129, 43]> : tensor<8xui16>
    %c10 = stablehlo.constant dense<[28, 28, 28, 28, 0, 9, 256, 0]> : tensor<8xui16>
    %c11 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui16>
    %c12 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui16>
    %c13 = stablehlo.constant dense<[false, false, false, false, true, false, false, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[true, true, true, true, false, true, true, false]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15 : tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xui16>, %arg1: tensor<8xui16>) -> (tensor<8xui16> {jax.result_info = "result[0]"}, tensor<8xui16> {jax.result_info = "result[1]"}, tensor<8xui16> {jax.result_info = "result[2]"}, tensor<8xui16> {jax.result_info = "result[3]"}, tensor<8xui16> {jax.result_info = "result[4]"}, tensor<8xui16> {jax.result_info = "result[5]"}, tensor<8xui16> {jax.result_info = "result[6]"}, tensor<8xui16> {jax.result_info = "result[7]"}, tensor<8xui16> {jax.result_info = "result[8]"}, tensor<8xui16> {jax.result_info = "result[9]"}, tensor<8xui16> {jax.result_info = "result[10]"}, tensor<8xui16> {jax.result_info = "result[11]"}, tensor<8xui16> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xui16>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xui16>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xui16>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xui16>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xui16>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xui16>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xui16>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xui16>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xui16>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xui16>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xui16>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xui16>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xui16>
    %13 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xi1>
    %14 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<8xui16>, tensor<8xui16>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xui16>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xui32>, tensor<8xui32>)
    %want:16 = call @expected() : () -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:16 = call @computed(%in#0, %in#1) : (tensor<8xui32>, tensor<8xui32>) -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xui32>, tensor<8xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15 : tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xui32>, tensor<8xui32>) {
    %c0 = stablehlo.constant dense<[7, 7, 7, 7, 0, 9, 128, 3]> : tensor<8xui32>
    %c1 = stablehlo.constant dense<[2, 2, 2, 2, 5, 0, 1, 40]> : tensor<8xui32>
    return %c0, %c1 : tensor<8xui32>, tensor<8xui32>
  }
  func.func private @expected() -> (tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, 9, 9, 9, 5, 9, 129, 43]> : tensor<8xui32>
    %c1 = stablehlo.constant dense<[5, 5, 5, 5, 4294967291, 9, 127, 4294967259]> : tensor<8xui32>
    %c2 = stablehlo.constant dense<[14, 14, 14, 14, 0, 0, 128, 120]> : tensor<8xui32>
    %c3 = stablehlo.constant dense<[3, 3, 3, 3, 0, 4294967295, 128, 0]> : tensor<8xui32>
    %c4 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 0, 3]> : tensor<8xui32>
    %c5 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 128, 40]> : tensor<8xui32>
    %c6 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 1, 3]> : tensor<8xui32>
    %c7 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 0, 0]> : tensor<8xui32>
    %c8 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 129, 43]> : tensor<8xui32>
    %c9 = stablehlo.constant dense<[5, 5, 5, 5, 5, 9, 129, 43]> : tensor<8xui32>
    %c10 = stablehlo.constant dense<[28, 28, 28, 28, 0, 9, 256, 0]> : tensor<8xui32>
    %c11 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui32>
    %c12 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui32>
    %c13 = stablehlo.constant dense<[false, false, false, false, true, false, false, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[true, true, true, true, false, true, true, false]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15 : tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xui32>, %arg1: tensor<8xui32>) -> (tensor<8xui32> {jax.result_info = "result[0]"}, tensor<8xui32> {jax.result_info = "result[1]"}, tensor<8xui32> {jax.result_info = "result[2]"}, tensor<8xui32> {jax.result_info = "result[3]"}, tensor<8xui32> {jax.result_info = "result[4]"}, tensor<8xui32> {jax.result_info = "result[5]"}, tensor<8xui32> {jax.result_info = "result[6]"}, tensor<8xui32> {jax.result_info = "result[7]"}, tensor<8xui32> {jax.result_info = "result[8]"}, tensor<8xui32> {jax.result_info = "result[9]"}, tensor<8xui32> {jax.result_info = "result[10]"}, tensor<8xui32> {jax.result_info = "result[11]"}, tensor<8xui32> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xui32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xui32>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xui32>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xui32>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xui32>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xui32>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xui32>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xui32>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xui32>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xui32>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xui32>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xui32>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xui32>
    %13 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
    %14 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xui64>, tensor<8xui64>)
    %want:16 = call @expected() : () -> (tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:16 = call @computed(%in#0, %in#1) : (tensor<8xui64>, tensor<8xui64>) -> (tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<8xui64>, tensor<8xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#13, %want#13) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#14, %want#14) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#15, %want#15) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12, %got#13, %got#14, %got#15 : tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xui64>, tensor<8xui64>) {
    %c0 = stablehlo.constant dense<[7, 7, 7, 7, 0, 9, 128, 3]> : tensor<8xui64>
    %c1 = stablehlo.constant dense<[2, 2, 2, 2, 5, 0, 1, 40]> : tensor<8xui64>
    return %c0, %c1 : tensor<8xui64>, tensor<8xui64>
  }
  func.func private @expected() -> (tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[9, 9, 9, 9, 5, 9, 129, 43]> : tensor<8xui64>
    %c1 = stablehlo.constant dense<[5, 5, 5, 5, 18446744073709551611, 9, 127, 18446744073709551579]> : tensor<8xui64>
    %c2 = stablehlo.constant dense<[14, 14, 14, 14, 0, 0, 128, 120]> : tensor<8xui64>
    %c3 = stablehlo.constant dense<[3, 3, 3, 3, 0, 18446744073709551615, 128, 0]> : tensor<8xui64>
    %c4 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 0, 3]> : tensor<8xui64>
    %c5 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 128, 40]> : tensor<8xui64>
    %c6 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 1, 3]> : tensor<8xui64>
    %c7 = stablehlo.constant dense<[2, 2, 2, 2, 0, 0, 0, 0]> : tensor<8xui64>
    %c8 = stablehlo.constant dense<[7, 7, 7, 7, 5, 9, 129, 43]> : tensor<8xui64>
    %c9 = stablehlo.constant dense<[5, 5, 5, 5, 5, 9, 129, 43]> : tensor<8xui64>
    %c10 = stablehlo.constant dense<[28, 28, 28, 28, 0, 9, 256, 3298534883328]> : tensor<8xui64>
    %c11 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui64>
    %c12 = stablehlo.constant dense<[1, 1, 1, 1, 0, 9, 64, 0]> : tensor<8xui64>
    %c13 = stablehlo.constant dense<[false, false, false, false, true, false, false, true]> : tensor<8xi1>
    %c14 = stablehlo.constant dense<[true, true, true, true, false, true, true, false]> : tensor<8xi1>
    %c15 = stablehlo.constant dense<[false, false, false, false, false, false, false, false]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15 : tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xui64>, %arg1: tensor<8xui64>) -> (tensor<8xui64> {jax.result_info = "result[0]"}, tensor<8xui64> {jax.result_info = "result[1]"}, tensor<8xui64> {jax.result_info = "result[2]"}, tensor<8xui64> {jax.result_info = "result[3]"}, tensor<8xui64> {jax.result_info = "result[4]"}, tensor<8xui64> {jax.result_info = "result[5]"}, tensor<8xui64> {jax.result_info = "result[6]"}, tensor<8xui64> {jax.result_info = "result[7]"}, tensor<8xui64> {jax.result_info = "result[8]"}, tensor<8xui64> {jax.result_info = "result[9]"}, tensor<8xui64> {jax.result_info = "result[10]"}, tensor<8xui64> {jax.result_info = "result[11]"}, tensor<8xui64> {jax.result_info = "result[12]"}, tensor<8xi1> {jax.result_info = "result[13]"}, tensor<8xi1> {jax.result_info = "result[14]"}, tensor<8xi1> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<8xui64>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<8xui64>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<8xui64>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<8xui64>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<8xui64>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<8xui64>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<8xui64>
    %7 = stablehlo.and %arg0, %arg1 : tensor<8xui64>
    %8 = stablehlo.or %arg0, %arg1 : tensor<8xui64>
    %9 = stablehlo.xor %arg0, %arg1 : tensor<8xui64>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<8xui64>
    %11 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<8xui64>
    %12 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<8xui64>
    %13 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
    %14 = stablehlo.compare GT, %arg0, %arg1, UNSIGNED : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
    %15 = stablehlo.compare EQ, %arg0, %arg1, UNSIGNED : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xui64>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %in:2 = call @inputs() : () -> (tensor<10xf32>, tensor<10xf32>)
    %want:13 = call @expected() : () -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    %got:13 = call @computed(%in#0, %in#1) : (tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @inputs() -> (tensor<10xf32>, tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    %c1 = stablehlo.constant dense<"0x0000803F000000400000C07F000040C00000803F0000A04000000040000020C09A99993E00000040"> : tensor<10xf32>
    return %c0, %c1 : tensor<10xf32>, tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %c0 = stablehlo.constant dense<"0x0000803F000000400000C07F000090C00000807F000080FF0000C07F000000009A99193F00001441"> : tensor<10xf32>
    %c1 = stablehlo.constant dense<"0x000080BF000000C00000C07F0000C03F0000807F000080FF0000C07F0000A040000000000000A840"> : tensor<10xf32>
    %c2 = stablehlo.constant dense<"0x00000000000000800000C07F000090400000807F000080FF0000C07F0000C8C0EC51B83D00006841"> : tensor<10xf32>
    %c3 = stablehlo.constant dense<"0x00000000000000800000C07F0000003F0000807F000080FF0000C07F000080BF0000803F00006840"> : tensor<10xf32>
    %c4 = stablehlo.constant dense<"0x00000000000000800000C07F0000C0BF0000C0FF0000C0FF0000C07F00000000000000000000A03F"> : tensor<10xf32>
    %c5 = stablehlo.constant dense<"0x0000803F000000400000C07F0000C0BF0000807F0000A0400000C07F000020409A99993E0000E840"> : tensor<10xf32>
    %c6 = stablehlo.constant dense<"0x00000000000000800000C07F000040C00000803F000080FF0000C07F000020C09A99993E00000040"> : tensor<10xf32>
    %c7 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, false, false]> : tensor<10xi1>
    %c8 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, true, false]> : tensor<10xi1>
    %c9 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, false, true]> : tensor<10xi1>
    %c10 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, true, true]> : tensor<10xi1>
    %c11 = stablehlo.constant dense<[false, false, false, false, false, false, false, false, true, false]> : tensor<10xi1>
    %c12 = stablehlo.constant dense<[true, true, true, true, true, true, true, true, false, true]> : tensor<10xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @computed(%arg0: tensor<10xf32>, %arg1: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result[0]"}, tensor<10xf32> {jax.result_info = "result[1]"}, tensor<10xf32> {jax.result_info = "result[2]"}, tensor<10xf32> {jax.result_info = "result[3]"}, tensor<10xf32> {jax.result_info = "result[4]"}, tensor<10xf32> {jax.result_info = "result[5]"}, tensor<10xf32> {jax.result_info = "result[6]"}, tensor<10xi1> {jax.result_info = "result[7]"}, tensor<10xi1> {jax.result_info = "result[8]"}, tensor<10xi1> {jax.result_info = "result[9]"}, tensor<10xi1> {jax.result_info = "result[10]"}, tensor<10xi1> {jax.result_info = "result[11]"}, tensor<10xi1> {jax.result_info = "result[12]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<10xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<10xf32>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<10xf32>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<10xf32>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<10xf32>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<10xf32>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<10xf32>
    %7 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %8 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %9 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %10 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %11 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %12 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %in:2 = call @inputs() : () -> (tensor<10xf64>, tensor<10xf64>)
    %want:13 = call @expected() : () -> (tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    %got:13 = call @computed(%in#0, %in#1) : (tensor<10xf64>, tensor<10xf64>) -> (tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12 : tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @inputs() -> (tensor<10xf64>, tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    %c1 = stablehlo.constant dense<"0x000000000000F03F0000000000000040000000000000F87F00000000000008C0000000000000F03F0000000000001440000000000000004000000000000004C0333333333333D33F0000000000000040"> : tensor<10xf64>
    return %c0, %c1 : tensor<10xf64>, tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %c0 = stablehlo.constant dense<"0x000000000000F03F0000000000000040000000000000F87F00000000000012C0000000000000F07F000000000000F0FF000000000000F87F0000000000000000333333333333E33F0000000000802240"> : tensor<10xf64>
    %c1 = stablehlo.constant dense<"0x000000000000F0BF00000000000000C0000000000000F87F000000000000F83F000000000000F07F000000000000F0FF000000000000F87F000000000000144000000000000000000000000000001540"> : tensor<10xf64>
    %c2 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F87F0000000000001240000000000000F07F000000000000F0FF000000000000F87F00000000000019C00AD7A3703D0AB73F0000000000002D40"> : tensor<10xf64>
    %c3 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F87F000000000000E03F000000000000F07F000000000000F0FF000000000000F87F000000000000F0BF000000000000F03F0000000000000D40"> : tensor<10xf64>
    %c4 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F87F000000000000F8BF000000000000F8FF000000000000F8FF000000000000F87F00000000000000000000000000000000000000000000F43F"> : tensor<10xf64>
    %c5 = stablehlo.constant dense<"0x000000000000F03F0000000000000040000000000000F87F000000000000F8BF000000000000F07F0000000000001440000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    %c6 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F87F00000000000008C0000000000000F03F000000000000F0FF000000000000F87F00000000000004C0333333333333D33F0000000000000040"> : tensor<10xf64>
    %c7 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, false, false]> : tensor<10xi1>
    %c8 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, true, false]> : tensor<10xi1>
    %c9 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, false, true]> : tensor<10xi1>
    %c10 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, true, true]> : tensor<10xi1>
    %c11 = stablehlo.constant dense<[false, false, false, false, false, false, false, false, true, false]> : tensor<10xi1>
    %c12 = stablehlo.constant dense<[true, true, true, true, true, true, true, true, false, true]> : tensor<10xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12 : tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @computed(%arg0: tensor<10xf64>, %arg1: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result[0]"}, tensor<10xf64> {jax.result_info = "result[1]"}, tensor<10xf64> {jax.result_info = "result[2]"}, tensor<10xf64> {jax.result_info = "result[3]"}, tensor<10xf64> {jax.result_info = "result[4]"}, tensor<10xf64> {jax.result_info = "result[5]"}, tensor<10xf64> {jax.result_info = "result[6]"}, tensor<10xi1> {jax.result_info = "result[7]"}, tensor<10xi1> {jax.result_info = "result[8]"}, tensor<10xi1> {jax.result_info = "result[9]"}, tensor<10xi1> {jax.result_info = "result[10]"}, tensor<10xi1> {jax.result_info = "result[11]"}, tensor<10xi1> {jax.result_info = "result[12]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<10xf64>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<10xf64>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<10xf64>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<10xf64>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<10xf64>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<10xf64>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<10xf64>
    %7 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xi1>
    %8 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xi1>
    %9 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xi1>
    %10 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xi1>
    %11 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xi1>
    %12 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %in:2 = call @inputs() : () -> (tensor<10xf16>, tensor<10xf16>)
    %want:13 = call @expected() : () -> (tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    %got:13 = call @computed(%in#0, %in#1) : (tensor<10xf16>, tensor<10xf16>) -> (tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<10xf16>, tensor<10xf16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12 : tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @inputs() -> (tensor<10xf16>, tensor<10xf16>) {
    %c0 = stablehlo.constant dense<"0x00000080003C00BE007C00FC007E0041CD344047"> : tensor<10xf16>
    %c1 = stablehlo.constant dense<"0x003C0040007E00C2003C0045004000C1CD340040"> : tensor<10xf16>
    return %c0, %c1 : tensor<10xf16>, tensor<10xf16>
  }
  func.func private @expected() -> (tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %c0 = stablehlo.constant dense<"0x003C0040007E80C4007C00FC007E0000CD38A048"> : tensor<10xf16>
    %c1 = stablehlo.constant dense<"0x00BC00C0007E003E007C00FC007E004500004045"> : tensor<10xf16>
    %c2 = stablehlo.constant dense<"0x00000080007E8044007C00FC007E40C6C32D404B"> : tensor<10xf16>
    %c3 = stablehlo.constant dense<"0x00000080007E0038007C00FC007E00BC003C4043"> : tensor<10xf16>
    %c4 = stablehlo.constant dense<"0x00000080007E00BE00FE00FE007E00000000003D"> : tensor<10xf16>
    %c5 = stablehlo.constant dense<"0x003C0040007E00BE007C0045007E0041CD344047"> : tensor<10xf16>
    %c6 = stablehlo.constant dense<"0x00000080007E00C2003C00FC007E00C1CD340040"> : tensor<10xf16>
    %c7 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, false, false]> : tensor<10xi1>
    %c8 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, true, false]> : tensor<10xi1>
    %c9 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, false, true]> : tensor<10xi1>
    %c10 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, true, true]> : tensor<10xi1>
    %c11 = stablehlo.constant dense<[false, false, false, false, false, false, false, false, true, false]> : tensor<10xi1>
    %c12 = stablehlo.constant dense<[true, true, true, true, true, true, true, true, false, true]> : tensor<10xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12 : tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @computed(%arg0: tensor<10xf16>, %arg1: tensor<10xf16>) -> (tensor<10xf16> {jax.result_info = "result[0]"}, tensor<10xf16> {jax.result_info = "result[1]"}, tensor<10xf16> {jax.result_info = "result[2]"}, tensor<10xf16> {jax.result_info = "result[3]"}, tensor<10xf16> {jax.result_info = "result[4]"}, tensor<10xf16> {jax.result_info = "result[5]"}, tensor<10xf16> {jax.result_info = "result[6]"}, tensor<10xi1> {jax.result_info = "result[7]"}, tensor<10xi1> {jax.result_info = "result[8]"}, tensor<10xi1> {jax.result_info = "result[9]"}, tensor<10xi1> {jax.result_info = "result[10]"}, tensor<10xi1> {jax.result_info = "result[11]"}, tensor<10xi1> {jax.result_info = "result[12]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<10xf16>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<10xf16>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<10xf16>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<10xf16>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<10xf16>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<10xf16>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<10xf16>
    %7 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xi1>
    %8 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xi1>
    %9 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xi1>
    %10 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xi1>
    %11 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xi1>
    %12 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<10xf16>, tensor<10xf16>) -> tensor<10xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %in:2 = call @inputs() : () -> (tensor<10xbf16>, tensor<10xbf16>)
    %want:13 = call @expected() : () -> (tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    %got:13 = call @computed(%in#0, %in#1) : (tensor<10xbf16>, tensor<10xbf16>) -> (tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<10xbf16>, tensor<10xbf16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#12, %want#12) {has_side_effect = true} : (tensor<10xi1>, tensor<10xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11, %got#12 : tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @inputs() -> (tensor<10xbf16>, tensor<10xbf16>) {
    %c0 = stablehlo.constant dense<"0x00000080803FC0BF807F80FFC07F20409A3EE840"> : tensor<10xbf16>
    %c1 = stablehlo.constant dense<"0x803F0040C07F40C0803FA040004020C09A3E0040"> : tensor<10xbf16>
    return %c0, %c1 : tensor<10xbf16>, tensor<10xbf16>
  }
  func.func private @expected() -> (tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
    %c0 = stablehlo.constant dense<"0x803F0040C07F90C0807F80FFC07F00001A3F1441"> : tensor<10xbf16>
    %c1 = stablehlo.constant dense<"0x80BF00C0C07FC03F807F80FFC07FA0400000A840"> : tensor<10xbf16>
    %c2 = stablehlo.constant dense<"0x00000080C07F9040807F80FFC07FC8C0B93D6841"> : tensor<10xbf16>
    %c3 = stablehlo.constant dense<"0x00000080C07F003F807F80FFC07F80BF803F6840"> : tensor<10xbf16>
    %c4 = stablehlo.constant dense<"0x00000080C07FC0BFC0FFC0FFC07F00000000A03F"> : tensor<10xbf16>
    %c5 = stablehlo.constant dense<"0x803F0040C07FC0BF807FA040C07F20409A3EE840"> : tensor<10xbf16>
    %c6 = stablehlo.constant dense<"0x00000080C07F40C0803F80FFC07F20C09A3E0040"> : tensor<10xbf16>
    %c7 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, false, false]> : tensor<10xi1>
    %c8 = stablehlo.constant dense<[true, true, false, false, false, true, false, false, true, false]> : tensor<10xi1>
    %c9 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, false, true]> : tensor<10xi1>
    %c10 = stablehlo.constant dense<[false, false, false, true, true, false, false, true, true, true]> : tensor<10xi1>
    %c11 = stablehlo.constant dense<[false, false, false, false, false, false, false, false, true, false]> : tensor<10xi1>
    %c12 = stablehlo.constant dense<[true, true, true, true, true, true, true, true, false, true]> : tensor<10xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12 : tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
  func.func private @computed(%arg0: tensor<10xbf16>, %arg1: tensor<10xbf16>) -> (tensor<10xbf16> {jax.result_info = "result[0]"}, tensor<10xbf16> {jax.result_info = "result[1]"}, tensor<10xbf16> {jax.result_info = "result[2]"}, tensor<10xbf16> {jax.result_info = "result[3]"}, tensor<10xbf16> {jax.result_info = "result[4]"}, tensor<10xbf16> {jax.result_info = "result[5]"}, tensor<10xbf16> {jax.result_info = "result[6]"}, tensor<10xi1> {jax.result_info = "result[7]"}, tensor<10xi1> {jax.result_info = "result[8]"}, tensor<10xi1> {jax.result_info = "result[9]"}, tensor<10xi1> {jax.result_info = "result[10]"}, tensor<10xi1> {jax.result_info = "result[11]"}, tensor<10xi1> {jax.result_info = "result[12]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<10xbf16>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<10xbf16>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<10xbf16>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<10xbf16>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<10xbf16>
    %5 = stablehlo.maximum %arg0, %arg1 : tensor<10xbf16>
    %6 = stablehlo.minimum %arg0, %arg1 : tensor<10xbf16>
    %7 = stablehlo.compare LT, %arg0, %arg1, FLOAT : (tensor<10xbf16>, tensor<10xbf16>) -> tensor<10xi1>
    %8 = stablehlo.compare LE, %arg0, %arg1, FLOAT : (tensor<10xbf16>, tensor<10xbf16>) -> tensor<10xi1>
    %9 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<10xbf16>, tensor<10xbf16>) -> tensor<10xi1>
    %10 = stablehlo.compare GE, %arg0, %arg1, FLOAT : (tensor<10xbf16>, tensor<10xbf16>) -> tensor<10xi1>
    %11 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<10xbf16>, tensor<10xbf16>) -> tensor<10xi1>
    %12 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<10xbf16>, tensor<10xbf16>) -> tensor<10xi1>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12 : tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
  }
}

// -----

module @jit_pow attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<4xf32>, tensor<4xf32>)
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>, tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x00000040000040400000003F00001041"> : tensor<4xf32>
    %c1 = stablehlo.constant dense<"0x000040400000C0BF000000400000003F"> : tensor<4xf32>
    return %c0, %c1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x00000041A311453E0000803E00004040"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit_atan2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in:2 = call @inputs() : () -> (tensor<10xf32>, tensor<10xf32>)
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>, tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    %c1 = stablehlo.constant dense<"0x0000803F000000400000C07F000040C00000803F0000A04000000040000020C09A99993E00000040"> : tensor<10xf32>
    return %c0, %c1 : tensor<10xf32>, tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000C07F74632BC0DB0FC93FDB0FC9BF0000C07FE4CB1640DB0F493FC69BA63F"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>, %arg1: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.atan2 %arg0, %arg1 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_nextafter attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in:2 = call @inputs() : () -> (tensor<10xf32>, tensor<10xf32>)
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>, tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    %c1 = stablehlo.constant dense<"0x0000803F000000400000C07F000040C00000803F0000A04000000040000020C09A99993E00000040"> : tensor<10xf32>
    return %c0, %c1 : tensor<10xf32>, tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x01000000010000000000C07F0100C0BFFFFF7F7FFFFF7FFF0000C07FFFFF1F409A99993EFFFFE740"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>, %arg1: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = chlo.next_after %arg0, %arg1 : tensor<10xf32>, tensor<10xf32> -> tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F0000C0BF0000807F000080FF0000C07F000020409A99993E0000E840"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000800000803F000080BF00000040000080BF0000C07F000000409A99993E00000040"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %2 = stablehlo.clamp %0, %arg0, %1 : tensor<10xf32>
    return %2 : tensor<10xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf32>) {
    %in = call @inputs() : () -> tensor<10xf32>
    %want = call @expected() : () -> tensor<10xf32>
    %got = call @computed(%in) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf32>, tensor<10xf32>) -> ()
    return %got : tensor<10xf32>
  }
  func.func private @inputs() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x000000000000008019049E3F2606EDBF0000807F000080FF0000C07F1F854540859EBD3EB7330F41"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @expected() -> (tensor<10xf32>) {
    %c0 = stablehlo.constant dense<"0x000000000000008000009E3F0000EDBF0000807F000080FF0000C07F0080454000A0BD3E00400F41"> : tensor<10xf32>
    return %c0 : tensor<10xf32>
  }
  func.func private @computed(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<10xf32>
    return %0 : tensor<10xf32>
  }
}

// -----

module @jit_pow attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<4xf64>, tensor<4xf64>)
    %want = call @expected() : () -> tensor<4xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return %got : tensor<4xf64>
  }
  func.func private @inputs() -> (tensor<4xf64>, tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000400000000000000840000000000000E03F0000000000002240"> : tensor<4xf64>
    %c1 = stablehlo.constant dense<"0x0000000000000840000000000000F8BF0000000000000040000000000000E03F"> : tensor<4xf64>
    return %c0, %c1 : tensor<4xf64>, tensor<4xf64>
  }
  func.func private @expected() -> (tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000020402644C05C34A2C83F000000000000D03F0000000000000840"> : tensor<4xf64>
    return %c0 : tensor<4xf64>
  }
  func.func private @computed(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>) -> (tensor<4xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<4xf64>
    return %0 : tensor<4xf64>
  }
}

// -----

module @jit_atan2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in:2 = call @inputs() : () -> (tensor<10xf64>, tensor<10xf64>)
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>, tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    %c1 = stablehlo.constant dense<"0x000000000000F03F0000000000000040000000000000F87F00000000000008C0000000000000F03F0000000000001440000000000000004000000000000004C0333333333333D33F0000000000000040"> : tensor<10xf64>
    return %c0, %c1 : tensor<10xf64>, tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F87FAEF597736E6C05C0182D4454FB21F93F182D4454FB21F9BF000000000000F87FD221337F7CD90240182D4454FB21E93F0D9A99C178D3F43F"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>, %arg1: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.atan2 %arg0, %arg1 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit_nextafter attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in:2 = call @inputs() : () -> (tensor<10xf64>, tensor<10xf64>)
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<10xf64>, tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>, tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    %c1 = stablehlo.constant dense<"0x000000000000F03F0000000000000040000000000000F87F00000000000008C0000000000000F03F0000000000001440000000000000004000000000000004C0333333333333D33F0000000000000040"> : tensor<10xf64>
    return %c0, %c1 : tensor<10xf64>, tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x01000000000000000100000000000000000000000000F87F010000000000F8BFFFFFFFFFFFFFEF7FFFFFFFFFFFFFEFFF000000000000F87FFFFFFFFFFFFF0340333333333333D33FFFFFFFFFFFFF1C40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>, %arg1: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = chlo.next_after %arg0, %arg1 : tensor<10xf64>, tensor<10xf64> -> tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F8BF000000000000F07F000000000000F0FF000000000000F87F0000000000000440333333333333D33F0000000000001D40"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000080000000000000F03F000000000000F0BF0000000000000040000000000000F0BF000000000000F87F0000000000000040333333333333D33F0000000000000040"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f64>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %2 = stablehlo.clamp %0, %arg0, %1 : tensor<10xf64>
    return %2 : tensor<10xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<10xf64>) {
    %in = call @inputs() : () -> tensor<10xf64>
    %want = call @expected() : () -> tensor<10xf64>
    %got = call @computed(%in) : (tensor<10xf64>) -> tensor<10xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<10xf64>, tensor<10xf64>) -> ()
    return %got : tensor<10xf64>
  }
  func.func private @inputs() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000000000000000000000808D976E1283C0F33F54E3A59BC4A0FDBF000000000000F07F000000000000F0FF000000000000F87F703D0AD7A3B00840DCB5847CD0B3D73F5839B4C876E62140"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @expected() -> (tensor<10xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000000000000000000000800000000000C0F33F0000000000A0FDBF000000000000F07F000000000000F0FF000000000000F87F0000000000B008400000000000B4D73F0000000000E82140"> : tensor<10xf64>
    return %c0 : tensor<10xf64>
  }
  func.func private @computed(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<10xf64>
    return %0 : tensor<10xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>)
    %want = call @expected() : () -> tensor<3x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    return %got : tensor<3x4xf32>
  }
  func.func private @inputs() -> (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<[[true, true, true, true], [true, true, true, false], [false, false, false, true]]> : tensor<3x4xi1>
    %c1 = stablehlo.constant dense<"0xDBC2383E21A98040DF01BDBF2A43EEBF6F19BC3F6C0B893F92EAA13E5EA632C023B9B3BD8B7F05406B0B81C076B9AFBF"> : tensor<3x4xf32>
    %c2 = stablehlo.constant dense<"0x7384B6C05C9777C07BCEB0C0CC8C34BF885973C0BE54503F09C5F03E1F900FBFE39BF1C0ABDBCEBFB2FE14BEE80AAE3E"> : tensor<3x4xf32>
    return %c0, %c1, %c2 : tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>
  }
  func.func private @expected() -> (tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xDBC2383E21A98040DF01BDBF2A43EEBF6F19BC3F6C0B893F92EAA13E1F900FBFE39BF1C0ABDBCEBFB2FE14BE76B9AFBF"> : tensor<3x4xf32>
    return %c0 : tensor<3x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x4xi1>, %arg1: tensor<3x4xf32>, %arg2: tensor<3x4xf32>) -> (tensor<3x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x4xi1>, tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %in:2 = call @inputs() : () -> (tensor<8xi1>, tensor<8xi1>)
    %want:4 = call @expected() : () -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    %got:4 = call @computed(%in#0, %in#1) : (tensor<8xi1>, tensor<8xi1>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<8xi1>, tensor<8xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @inputs() -> (tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[false, false, false, false, true, false, false, false]> : tensor<8xi1>
    %c1 = stablehlo.constant dense<[true, true, true, false, true, false, false, false]> : tensor<8xi1>
    return %c0, %c1 : tensor<8xi1>, tensor<8xi1>
  }
  func.func private @expected() -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
    %c0 = stablehlo.constant dense<[false, false, false, false, true, false, false, false]> : tensor<8xi1>
    %c1 = stablehlo.constant dense<[true, true, true, false, true, false, false, false]> : tensor<8xi1>
    %c2 = stablehlo.constant dense<[true, true, true, false, false, false, false, false]> : tensor<8xi1>
    %c3 = stablehlo.constant dense<[true, true, true, true, false, true, true, true]> : tensor<8xi1>
    return %c0, %c1, %c2, %c3 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
  func.func private @computed(%arg0: tensor<8xi1>, %arg1: tensor<8xi1>) -> (tensor<8xi1> {jax.result_info = "result[0]"}, tensor<8xi1> {jax.result_info = "result[1]"}, tensor<8xi1> {jax.result_info = "result[2]"}, tensor<8xi1> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.and %arg0, %arg1 : tensor<8xi1>
    %1 = stablehlo.or %arg0, %arg1 : tensor<8xi1>
    %2 = stablehlo.xor %arg0, %arg1 : tensor<8xi1>
    %3 = stablehlo.not %arg0 : tensor<8xi1>
    return %0, %1, %2, %3 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi1>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xi1>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return %got : tensor<6xi1>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, false, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, false, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xi1> {jax.result_info = "result"}) {
    return %arg0 : tensor<6xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi8>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xi8>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    return %got : tensor<6xi8>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[false, true, true, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[0, 1, 1, 1, 1, 1]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xi8>
    return %0 : tensor<6xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui8>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xui8>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    return %got : tensor<6xui8>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, false, true, false, false, false]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xui8>) {
    %c0 = stablehlo.constant dense<[1, 0, 1, 0, 0, 0]> : tensor<6xui8>
    return %c0 : tensor<6xui8>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi32>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xi32>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got : tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[false, true, false, true, false, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xi32>) {
    %c0 = stablehlo.constant dense<[0, 1, 0, 1, 0, 1]> : tensor<6xi32>
    return %c0 : tensor<6xi32>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui64>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xui64>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui64>, tensor<6xui64>) -> ()
    return %got : tensor<6xui64>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[false, false, false, false, true, false]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xui64>) {
    %c0 = stablehlo.constant dense<[0, 0, 0, 0, 1, 0]> : tensor<6xui64>
    return %c0 : tensor<6xui64>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xui64>
    return %0 : tensor<6xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf16>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xf16>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xf16>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
    return %got : tensor<6xf16>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[false, false, false, true, false, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xf16>) {
    %c0 = stablehlo.constant dense<"0x000000000000003C0000003C"> : tensor<6xf16>
    return %c0 : tensor<6xf16>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xf16>
    return %0 : tensor<6xf16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, false, false]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x0000803F0000803F0000803F0000803F0000000000000000"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>) {
    %in = call @inputs() : () -> tensor<6xi1>
    %want = call @expected() : () -> tensor<6xf64>
    %got = call @computed(%in) : (tensor<6xi1>) -> tensor<6xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    return %got : tensor<6xf64>
  }
  func.func private @inputs() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[false, false, false, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @expected() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000000000000000000000000000000000000000000000000000F03F000000000000F03F000000000000F03F"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @computed(%arg0: tensor<6xi1>) -> (tensor<6xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi1>) -> tensor<6xf64>
    return %0 : tensor<6xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi1>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xi1>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return %got : tensor<6xi1>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[28, 25, -87, -18, 116, -10]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<6xi8>
    %1 = stablehlo.compare NE, %arg0, %0, SIGNED : (tensor<6xi8>, tensor<6xi8>) -> tensor<6xi1>
    %2 = stablehlo.convert %1 : tensor<6xi1>
    return %2 : tensor<6xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi8>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xi8>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    return %got : tensor<6xi8>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-54, -48, 56, -92, 113, 92]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-54, -48, 56, -92, 113, 92]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xi8> {jax.result_info = "result"}) {
    return %arg0 : tensor<6xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui8>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xui8>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    return %got : tensor<6xui8>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[24, 2, 67, 20, 4, 30]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xui8>) {
    %c0 = stablehlo.constant dense<[24, 2, 67, 20, 4, 30]> : tensor<6xui8>
    return %c0 : tensor<6xui8>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi8>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi32>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xi32>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got : tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-2, 65, -88, -95, 58, -19]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xi32>) {
    %c0 = stablehlo.constant dense<[-2, 65, -88, -95, 58, -19]> : tensor<6xi32>
    return %c0 : tensor<6xi32>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi8>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui64>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xui64>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui64>, tensor<6xui64>) -> ()
    return %got : tensor<6xui64>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[76, 94, 99, 73, 9, 112]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xui64>) {
    %c0 = stablehlo.constant dense<[76, 94, 99, 73, 9, 112]> : tensor<6xui64>
    return %c0 : tensor<6xui64>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi8>) -> tensor<6xui64>
    return %0 : tensor<6xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf16>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xf16>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xf16>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
    return %got : tensor<6xf16>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-77, 44, 60, -6, -83, 15]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xf16>) {
    %c0 = stablehlo.constant dense<"0xD0D48051805300C630D5804B"> : tensor<6xf16>
    return %c0 : tensor<6xf16>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi8>) -> tensor<6xf16>
    return %0 : tensor<6xf16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-5, 92, 50, -25, -88, 29]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x0000A0C00000B842000048420000C8C10000B0C20000E841"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi8>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>) {
    %in = call @inputs() : () -> tensor<6xi8>
    %want = call @expected() : () -> tensor<6xf64>
    %got = call @computed(%in) : (tensor<6xi8>) -> tensor<6xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    return %got : tensor<6xf64>
  }
  func.func private @inputs() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-39, 50, 90, -22, 98, 14]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @expected() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000008043C00000000000004940000000000080564000000000000036C000000000008058400000000000002C40"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @computed(%arg0: tensor<6xi8>) -> (tensor<6xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi8>) -> tensor<6xf64>
    return %0 : tensor<6xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi1>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xi1>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return %got : tensor<6xi1>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[63, 91, 94, 109, 119, 18]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<ui16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui16>) -> tensor<6xui16>
    %1 = stablehlo.compare NE, %arg0, %0, UNSIGNED : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xi1>
    %2 = stablehlo.convert %1 : tensor<6xi1>
    return %2 : tensor<6xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi8>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xi8>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    return %got : tensor<6xi8>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[49, 112, 36, 0, 69, 90]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[49, 112, 36, 0, 69, 90]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xi8>
    return %0 : tensor<6xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui8>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xui8>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    return %got : tensor<6xui8>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[89, 97, 77, 16, 101, 50]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xui8>) {
    %c0 = stablehlo.constant dense<[89, 97, 77, 16, 101, 50]> : tensor<6xui8>
    return %c0 : tensor<6xui8>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi32>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xi32>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got : tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[101, 97, 116, 1, 103, 75]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xi32>) {
    %c0 = stablehlo.constant dense<[101, 97, 116, 1, 103, 75]> : tensor<6xi32>
    return %c0 : tensor<6xi32>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui64>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xui64>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui64>, tensor<6xui64>) -> ()
    return %got : tensor<6xui64>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[58, 95, 114, 61, 10, 87]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xui64>) {
    %c0 = stablehlo.constant dense<[58, 95, 114, 61, 10, 87]> : tensor<6xui64>
    return %c0 : tensor<6xui64>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xui64>
    return %0 : tensor<6xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf16>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xf16>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xf16>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
    return %got : tensor<6xf16>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[27, 27, 23, 23, 109, 43]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xf16>) {
    %c0 = stablehlo.constant dense<"0xC04EC04EC04DC04DD0566051"> : tensor<6xf16>
    return %c0 : tensor<6xf16>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xf16>
    return %0 : tensor<6xf16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[12, 21, 47, 41, 37, 113]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x000040410000A84100003C4200002442000014420000E242"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>) {
    %in = call @inputs() : () -> tensor<6xui16>
    %want = call @expected() : () -> tensor<6xf64>
    %got = call @computed(%in) : (tensor<6xui16>) -> tensor<6xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    return %got : tensor<6xf64>
  }
  func.func private @inputs() -> (tensor<6xui16>) {
    %c0 = stablehlo.constant dense<[103, 68, 118, 40, 16, 32]> : tensor<6xui16>
    return %c0 : tensor<6xui16>
  }
  func.func private @expected() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x0000000000C0594000000000000051400000000000805D40000000000000444000000000000030400000000000004040"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @computed(%arg0: tensor<6xui16>) -> (tensor<6xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xui16>) -> tensor<6xf64>
    return %0 : tensor<6xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi1>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xi1>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return %got : tensor<6xi1>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[-81, 109, -52, -3, -56, 115]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<6xi64>
    %1 = stablehlo.compare NE, %arg0, %0, SIGNED : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
    %2 = stablehlo.convert %1 : tensor<6xi1>
    return %2 : tensor<6xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi8>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xi8>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    return %got : tensor<6xi8>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[-66, 13, 109, 14, 97, 97]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[-66, 13, 109, 14, 97, 97]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xi8>
    return %0 : tensor<6xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui8>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xui8>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    return %got : tensor<6xui8>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[68, 63, 26, 27, 82, 7]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xui8>) {
    %c0 = stablehlo.constant dense<[68, 63, 26, 27, 82, 7]> : tensor<6xui8>
    return %c0 : tensor<6xui8>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi32>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xi32>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got : tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[108, 93, -18, -10, 57, 103]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xi32>) {
    %c0 = stablehlo.constant dense<[108, 93, -18, -10, 57, 103]> : tensor<6xi32>
    return %c0 : tensor<6xi32>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui64>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xui64>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui64>, tensor<6xui64>) -> ()
    return %got : tensor<6xui64>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[79, 85, 46, 6, 65, 14]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xui64>) {
    %c0 = stablehlo.constant dense<[79, 85, 46, 6, 65, 14]> : tensor<6xui64>
    return %c0 : tensor<6xui64>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xui64>
    return %0 : tensor<6xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf16>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xf16>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xf16>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
    return %got : tensor<6xf16>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[19, 109, 64, -45, 73, 77]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xf16>) {
    %c0 = stablehlo.constant dense<"0xC04CD0560054A0D19054D054"> : tensor<6xf16>
    return %c0 : tensor<6xf16>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xf16>
    return %0 : tensor<6xf16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[49, 48, -32, 57, -71, 38]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x0000444200004042000000C20000644200008EC200001842"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>) {
    %in = call @inputs() : () -> tensor<6xi64>
    %want = call @expected() : () -> tensor<6xf64>
    %got = call @computed(%in) : (tensor<6xi64>) -> tensor<6xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    return %got : tensor<6xf64>
  }
  func.func private @inputs() -> (tensor<6xi64>) {
    %c0 = stablehlo.constant dense<[102, 113, -35, -27, 36, -13]> : tensor<6xi64>
    return %c0 : tensor<6xi64>
  }
  func.func private @expected() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000008059400000000000405C4000000000008041C00000000000003BC000000000000042400000000000002AC0"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @computed(%arg0: tensor<6xi64>) -> (tensor<6xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xi64>) -> tensor<6xf64>
    return %0 : tensor<6xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi1>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xi1>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return %got : tensor<6xi1>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0xDA5784C017EA1AC01ECA9E4074E000C0D1624AC08788813F"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xi1> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.compare NE, %arg0, %0, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %2 = stablehlo.convert %1 : tensor<6xi1>
    return %2 : tensor<6xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi8>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xi8>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    return %got : tensor<6xi8>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x1F1987401A968BC0102520BF4BB5F2BFD10EA9C01E1B0D40"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[4, -4, 0, -1, -5, 2]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xi8>
    return %0 : tensor<6xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui8>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xui8>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    return %got : tensor<6xui8>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x180A903D27785B3E9D7110401AA3AE3F1617CF3FD47FDB3E"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xui8>) {
    %c0 = stablehlo.constant dense<[0, 0, 2, 1, 1, 0]> : tensor<6xui8>
    return %c0 : tensor<6xui8>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi32>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xi32>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got : tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x3CC954C0E27D69C0083680406CBAC2BFB102603FC29BCFBD"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xi32>) {
    %c0 = stablehlo.constant dense<[-3, -3, 4, -1, 0, 0]> : tensor<6xi32>
    return %c0 : tensor<6xi32>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui64>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xui64>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui64>, tensor<6xui64>) -> ()
    return %got : tensor<6xui64>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x5766A93F980EC33FA4F3F13F96D5673F119EE83E7D87883D"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xui64>) {
    %c0 = stablehlo.constant dense<[1, 1, 1, 0, 0, 0]> : tensor<6xui64>
    return %c0 : tensor<6xui64>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xui64>
    return %0 : tensor<6xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf16>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xf16>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xf16>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
    return %got : tensor<6xf16>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0xBDE361407AA8024023EB923F5269D8BF43AB84C04C4F3640"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xf16>) {
    %c0 = stablehlo.constant dense<"0x0F431540973CC3BE25C4B241"> : tensor<6xf16>
    return %c0 : tensor<6xf16>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf16>
    return %0 : tensor<6xf16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0xCF8E3940CB20D8BE5915D03F7D09164061961F40D7E73040"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0xCF8E3940CB20D8BE5915D03F7D09164061961F40D7E73040"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    return %arg0 : tensor<6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xf64>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    return %got : tensor<6xf64>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x0AF5AEBFFA6F91408B586FC06A73254080ABBD3F20BC2740"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x00000040A1DEF5BF00000040FF2D12400000006011EB0DC0000000406DAE04400000000070B5F73F0000000084F70440"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf32>) -> tensor<6xf64>
    return %0 : tensor<6xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi1>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xi1>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    return %got : tensor<6xi1>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0xB7B6CE42508C164047472A6C37D01140484DEC87F77B0BC09438435E994314C07A4F9A64F79A0340134E0D7D3C5C08C0"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xi1>) {
    %c0 = stablehlo.constant dense<[true, true, true, true, true, true]> : tensor<6xi1>
    return %c0 : tensor<6xi1>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xi1> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6xf64>
    %1 = stablehlo.compare NE, %arg0, %0, FLOAT : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
    %2 = stablehlo.convert %1 : tensor<6xi1>
    return %2 : tensor<6xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi8>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xi8>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    return %got : tensor<6xi8>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0xA820364FFF0DA3BF26F54E1E492704404A1FA7D6BEB913C04E800D26DC5119C0D663966088E4E83FCD80707C4F0BC13F"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xi8>) {
    %c0 = stablehlo.constant dense<[0, 2, -4, -6, 0, 0]> : tensor<6xi8>
    return %c0 : tensor<6xi8>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf64>) -> tensor<6xi8>
    return %0 : tensor<6xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui8>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xui8>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    return %got : tensor<6xui8>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0xE2CD5035DB98E73F5CDE742A3E98BD3F3A29300502A7044084F3066F742912404C24B0526BFFDF3F461B5F9E2D520740"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xui8>) {
    %c0 = stablehlo.constant dense<[0, 0, 2, 4, 0, 2]> : tensor<6xui8>
    return %c0 : tensor<6xui8>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf64>) -> tensor<6xui8>
    return %0 : tensor<6xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi32>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xi32>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got : tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x451CA84DC6B813C06656F81ACF45F83F3C85A313BB93C7BFF0F952336C83F33F118B14663ABE07C0519E95F73996FFBF"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xi32>) {
    %c0 = stablehlo.constant dense<[-4, 1, 0, 1, -2, -1]> : tensor<6xi32>
    return %c0 : tensor<6xi32>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf64>) -> tensor<6xi32>
    return %0 : tensor<6xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui64>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xui64>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<6xui64>, tensor<6xui64>) -> ()
    return %got : tensor<6xui64>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x91FADCCF1EFA074050B0D6128747054088DC0A5158C2E23F6829429698CA0240182DD1B15717F13FF6154EBAEB4EF03F"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xui64>) {
    %c0 = stablehlo.constant dense<[2, 2, 0, 2, 1, 1]> : tensor<6xui64>
    return %c0 : tensor<6xui64>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf64>) -> tensor<6xui64>
    return %0 : tensor<6xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf16>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xf16>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xf16>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf16>, tensor<6xf16>) -> ()
    return %got : tensor<6xf16>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0xE86BBD674B4D18402CB3FADFA5B610C0343684AF454F0540F6B74526832ED1BFEA8A81E0B68CA5BFD9E8204EFB6511C0"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xf16>) {
    %c0 = stablehlo.constant dense<"0x13462EC454414CB463A959C4"> : tensor<6xf16>
    return %c0 : tensor<6xf16>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf64>) -> tensor<6xf16>
    return %0 : tensor<6xf16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0xC3BFE68FDC16F6BF553E773834D60140B297A931F4ABCFBFD0DF2B05F81FCF3FB9C65734A7E8EBBF9A2BC630ADB50B40"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0xE4B6B0BFA2B10E40A25F7DBEC0FF783E3A455FBF6AAD5D40"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<6xf64>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want = call @expected() : () -> tensor<6xf64>
    %got = call @computed(%in) : (tensor<6xf64>) -> tensor<6xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf64>, tensor<6xf64>) -> ()
    return %got : tensor<6xf64>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x1891A3AFAD7DB0BFE2FE524CAD671AC015EF0100189C00C0F79F3EA724A017C01A18A59B358223C08739F2B20E72F9BF"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x1891A3AFAD7DB0BFE2FE524CAD671AC015EF0100189C00C0F79F3EA724A017C01A18A59B358223C08739F2B20E72F9BF"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<6xf64> {jax.result_info = "result"}) {
    return %arg0 : tensor<6xf64>
  }
}

// -----

module @jit_erf attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xCDCCCC3D0000003F9A9999BE6666663F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xF552E63D7B3F053FC641A8BE2D024C3F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit_erfc attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xCDCCCC3D0000003F9A9999BE6666663F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xA135633F0C81F53E7110AA3F4FF74F3E"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = chlo.erfc %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit_erf_inv attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xCDCCCC3D0000003F9A9999BE6666663F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x21FAB53DFE30F43E3D808BBE09E0943F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit_lgamma attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xCDCCCC3D0000003F9A9999BE6666663F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x722C10408086123FE07FBB3F00F0873D"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit_digamma attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xCDCCCC3D0000003F9A9999BE6666663F"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0xB3C726C14C54FBBF77400740E74241BF"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = chlo.digamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2xi32>) {
    %in = call @inputs() : () -> tensor<3x2xf32>
    %want = call @expected() : () -> tensor<3x2xi32>
    %got = call @computed(%in) : (tensor<3x2xf32>) -> tensor<3x2xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    return %got : tensor<3x2xi32>
  }
  func.func private @inputs() -> (tensor<3x2xf32>) {
    %c0 = stablehlo.constant dense<"0x910580409AC0103EF72061C0489D34C0E71359404F1DF23E"> : tensor<3x2xf32>
    return %c0 : tensor<3x2xf32>
  }
  func.func private @expected() -> (tensor<3x2xi32>) {
    %c0 = stablehlo.constant dense<[[1082131857, 1041285274], [-1067376393, -1070293688], [1079579623, 1056054607]]> : tensor<3x2xi32>
    return %c0 : tensor<3x2xi32>
  }
  func.func private @computed(%arg0: tensor<3x2xf32>) -> (tensor<3x2xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x2xf32>) -> tensor<3x2xi32>
    return %0 : tensor<3x2xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x4xi8>) {
    %in = call @inputs() : () -> tensor<3xi32>
    %want = call @expected() : () -> tensor<3x4xi8>
    %got = call @computed(%in) : (tensor<3xi32>) -> tensor<3x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x4xi8>, tensor<3x4xi8>) -> ()
    return %got : tensor<3x4xi8>
  }
  func.func private @inputs() -> (tensor<3xi32>) {
    %c0 = stablehlo.constant dense<[98, -72, 10]> : tensor<3xi32>
    return %c0 : tensor<3xi32>
  }
  func.func private @expected() -> (tensor<3x4xi8>) {
    %c0 = stablehlo.constant dense<[[98, 0, 0, 0], [-72, -1, -1, -1], [10, 0, 0, 0]]> : tensor<3x4xi8>
    return %c0 : tensor<3x4xi8>
  }
  func.func private @computed(%arg0: tensor<3xi32>) -> (tensor<3x4xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3xi32>) -> tensor<3x4xi8>
    return %0 : tensor<3x4xi8>
  }
}
