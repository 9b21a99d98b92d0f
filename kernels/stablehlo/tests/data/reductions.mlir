module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want:4 = call @expected() : () -> (tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>)
    %got:4 = call @computed(%in) : (tensor<2x3x4xf32>) -> (tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840ABE134C0693B24C00C9AC1BF3E76603FDEAD1DBF5CB3243F56E5633F477565BF26D4F6BDB7A91E3F3BFA80BE1D5AC13FA59AB3403E51E33F33732B3E0DDEA1C0BCF9943F92E1BAC06C4487C03B172440"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x940FF0C02A19E6BF362B744046FE3640C3FDD44017705CC076F889C044DF7BBF"> : tensor<2x4xf32>
    %c1 = stablehlo.constant dense<"0x30DD3CBEE563A2421D57BA41"> : tensor<3xf32>
    %c2 = stablehlo.constant dense<"0xA59AB340"> : tensor<f32>
    %c3 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840ABE134C0693B24C00C9AC1BF3E76603FDEAD1DBF5CB3243F56E5633F477565BF26D4F6BDB7A91E3F3BFA80BE1D5AC13FA59AB3403E51E33F33732B3E0DDEA1C0BCF9943F92E1BAC06C4487C03B172440"> : tensor<2x3x4xf32>
    return %c0, %c1, %c2, %c3 : tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<2x4xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}, tensor<2x3x4xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x1x1xf32>) -> tensor<f32>
    %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    return %0, %1, %4, %5 : tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want:2 = call @expected() : () -> (tensor<2x4xi64>, tensor<2x3xi64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xf32>) -> (tensor<2x4xi64>, tensor<2x3xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi64>, tensor<2x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got#0, %got#1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840ABE134C0693B24C00C9AC1BF3E76603FDEAD1DBF5CB3243F56E5633F477565BF26D4F6BDB7A91E3F3BFA80BE1D5AC13FA59AB3403E51E33F33732B3E0DDEA1C0BCF9943F92E1BAC06C4487C03B172440"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[2, 2, 0, 0], [1, 1, 1, 2]]> : tensor<2x4xi64>
    %c1 = stablehlo.constant dense<[[0, 0, 3], [2, 3, 1]]> : tensor<2x3xi64>
    return %c0, %c1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<2x4xi64> {jax.result_info = "result[0]"}, tensor<2x3xi64> {jax.result_info = "result[1]"}) {
    %0 = call @argmax(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x4xi64>
    %1 = call @argmin(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x3xi64>
    return %0, %1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xf32>) -> tensor<2x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3x4xi64>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x3x4xf32>, tensor<2x3x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i64>
    }
    return %1#1 : tensor<2x4xi64>
  }
  func.func private @argmin(%arg0: tensor<2x3x4xf32>) -> tensor<2x3xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi64>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [2] : (tensor<2x3x4xf32>, tensor<2x3x4xi64>, tensor<f32>, tensor<i64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i64>
    }
    return %1#1 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x2xf32>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want = call @expected() : () -> tensor<2x3x2xf32>
    %got = call @computed(%in) : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> ()
    return %got : tensor<2x3x2xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840ABE134C0693B24C00C9AC1BF3E76603FDEAD1DBF5CB3243F56E5633F477565BF26D4F6BDB7A91E3F3BFA80BE1D5AC13FA59AB3403E51E33F33732B3E0DDEA1C0BCF9943F92E1BAC06C4487C03B172440"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x3x2xf32>) {
    %c0 = stablehlo.constant dense<"0x9EDDCCC0BCC6D540B297BFC0CB4D24BFD4EA6A3F80F8C7BBD0B4F940207768C00274ACBF42BBD1C0C8730EC13AE3D4BF"> : tensor<2x3x2xf32>
    return %c0 : tensor<2x3x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<2x3x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x2xf32>
    return %1 : tensor<2x3x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x4xf32>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want = call @expected() : () -> tensor<1x3x4xf32>
    %got = call @computed(%in) : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> ()
    return %got : tensor<1x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840ABE134C0693B24C00C9AC1BF3E76603FDEAD1DBF5CB3243F56E5633F477565BF26D4F6BDB7A91E3F3BFA80BE1D5AC13FA59AB3403E51E33F33732B3E0DDEA1C0BCF9943F92E1BAC06C4487C03B172440"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<1x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x73FF8D40083E384073FF8D40083E3840A59AB3403E51E33F33732B3E3E76603FBCF9943F3B17244056E5633F3B172440"> : tensor<1x3x4xf32>
    return %c0 : tensor<1x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<1x3x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1xf32>) -> tensor<f32>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 2]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
    return %2 : tensor<1x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf32>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want = call @expected() : () -> tensor<2x3x4xf32>
    %got = call @computed(%in) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got : tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840ABE134C0693B24C00C9AC1BF3E76603FDEAD1DBF5CB3243F56E5633F477565BF26D4F6BDB7A91E3F3BFA80BE1D5AC13FA59AB3403E51E33F33732B3E0DDEA1C0BCF9943F92E1BAC06C4487C03B172440"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x02E981C0C81F003E73FF8D40083E3840D859DCC06C391CC0E0313B40985B7040940FF0C02A19E6BF362B744046FE364026D4F6BDB7A91E3F3BFA80BE1D5AC13F54BFAF400D5319408602ADBD0C0F63C0C3FDD44017705CC076F889C044DF7BBF"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
  func.func private @cumsum(%arg0: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
    return %1 : tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want:4 = call @expected() : () -> (tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>)
    %got:4 = call @computed(%in) : (tensor<2x3x4xf64>) -> (tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xf64>, tensor<2x4xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<f64>, tensor<f64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF7CB7EE102B4A00C011B242C47F91FE3FA47BBF89BF171B4080F9B99E48D3E43F0C5D076B16B402C02771B65CDE170CC0CEAB16CC4A8AC5BFDD701C99DEF8E0BF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40E46EE6E1EC80094070D3D136B6080A408F04BCD621C1F6BFA0641BBE6DB2F83FBF7A49F67A5BD9BF10AC00FDB8A9F2BFD94460FD6B47F0BF920AFB5C73310FC0"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x404458C8250B02C09160AC21586800C0F68258FC1699F73F210A2FD5D8CBEFBFC83EA013C635E5BF92E171AEBC7E034050B9F5ADBE9117C088D9EFFF3362EF3F"> : tensor<2x4xf64>
    %c1 = stablehlo.constant dense<"0xFDF6643E2EEA52C01057AC4B546878404F71F58FE87EF53F"> : tensor<3xf64>
    %c2 = stablehlo.constant dense<"0xA47BBF89BF171B40"> : tensor<f64>
    %c3 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF7CB7EE102B4A00C011B242C47F91FE3FA47BBF89BF171B4080F9B99E48D3E43F0C5D076B16B402C02771B65CDE170CC0CEAB16CC4A8AC5BFDD701C99DEF8E0BF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40E46EE6E1EC80094070D3D136B6080A408F04BCD621C1F6BFA0641BBE6DB2F83FBF7A49F67A5BD9BF10AC00FDB8A9F2BFD94460FD6B47F0BF920AFB5C73310FC0"> : tensor<2x3x4xf64>
    return %c0, %c1, %c2, %c3 : tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<2x4xf64> {jax.result_info = "result[0]"}, tensor<3xf64> {jax.result_info = "result[1]"}, tensor<f64> {jax.result_info = "result[2]"}, tensor<2x3x4xf64> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xf64>) -> tensor<1x1x1xf64>
    %3 = stablehlo.reshape %2 : (tensor<1x1x1xf64>) -> tensor<f64>
    %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<f64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
    return %0, %1, %4, %5 : tensor<2x4xf64>, tensor<3xf64>, tensor<f64>, tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want:2 = call @expected() : () -> (tensor<2x4xi64>, tensor<2x3xi64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xf64>) -> (tensor<2x4xi64>, tensor<2x3xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi64>, tensor<2x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got#0, %got#1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF7CB7EE102B4A00C011B242C47F91FE3FA47BBF89BF171B4080F9B99E48D3E43F0C5D076B16B402C02771B65CDE170CC0CEAB16CC4A8AC5BFDD701C99DEF8E0BF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40E46EE6E1EC80094070D3D136B6080A408F04BCD621C1F6BFA0641BBE6DB2F83FBF7A49F67A5BD9BF10AC00FDB8A9F2BFD94460FD6B47F0BF920AFB5C73310FC0"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[0, 1, 1, 1], [1, 1, 2, 0]]> : tensor<2x4xi64>
    %c1 = stablehlo.constant dense<[[2, 0, 1], [0, 2, 3]]> : tensor<2x3xi64>
    return %c0, %c1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<2x4xi64> {jax.result_info = "result[0]"}, tensor<2x3xi64> {jax.result_info = "result[1]"}) {
    %0 = call @argmax(%arg0) : (tensor<2x3x4xf64>) -> tensor<2x4xi64>
    %1 = call @argmin(%arg0) : (tensor<2x3x4xf64>) -> tensor<2x3xi64>
    return %0, %1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xf64>) -> tensor<2x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3x4xi64>
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x3x4xf64>, tensor<2x3x4xi64>, tensor<f64>, tensor<i64>) -> (tensor<2x4xf64>, tensor<2x4xi64>)
     reducer(%arg1: tensor<f64>, %arg3: tensor<f64>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f64>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<f64>, tensor<i64>
    }
    return %1#1 : tensor<2x4xi64>
  }
  func.func private @argmin(%arg0: tensor<2x3x4xf64>) -> tensor<2x3xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi64>
    %cst = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [2] : (tensor<2x3x4xf64>, tensor<2x3x4xi64>, tensor<f64>, tensor<i64>) -> (tensor<2x3xf64>, tensor<2x3xi64>)
     reducer(%arg1: tensor<f64>, %arg3: tensor<f64>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f64>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<f64>, tensor<i64>
    }
    return %1#1 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x2xf64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want = call @expected() : () -> tensor<2x3x2xf64>
    %got = call @computed(%in) : (tensor<2x3x4xf64>) -> tensor<2x3x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x2xf64>, tensor<2x3x2xf64>) -> ()
    return %got : tensor<2x3x2xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF7CB7EE102B4A00C011B242C47F91FE3FA47BBF89BF171B4080F9B99E48D3E43F0C5D076B16B402C02771B65CDE170CC0CEAB16CC4A8AC5BFDD701C99DEF8E0BF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40E46EE6E1EC80094070D3D136B6080A408F04BCD621C1F6BFA0641BBE6DB2F83FBF7A49F67A5BD9BF10AC00FDB8A9F2BFD94460FD6B47F0BF920AFB5C73310FC0"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x3x2xf64>) {
    %c0 = stablehlo.constant dense<"0x9AD5A608A77D0940D00BD237E3E0F23F8C7FC9C0E925E43F5A771274BAE61A40789C3FBA4C1218C0D01B224C715BE6BFE9F1CFAC609CF8BF007D6177FF71743F40986051108503407BBEFDB3412E13C0CCA7F9DB01A404C07F96D5AD94AA13C0"> : tensor<2x3x2xf64>
    return %c0 : tensor<2x3x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<2x3x2xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %2 : tensor<f64>
    }) : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x2xf64>
    return %1 : tensor<2x3x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x4xf64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want = call @expected() : () -> tensor<1x3x4xf64>
    %got = call @computed(%in) : (tensor<2x3x4xf64>) -> tensor<1x3x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x3x4xf64>, tensor<1x3x4xf64>) -> ()
    return %got : tensor<1x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF7CB7EE102B4A00C011B242C47F91FE3FA47BBF89BF171B4080F9B99E48D3E43F0C5D076B16B402C02771B65CDE170CC0CEAB16CC4A8AC5BFDD701C99DEF8E0BF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40E46EE6E1EC80094070D3D136B6080A408F04BCD621C1F6BFA0641BBE6DB2F83FBF7A49F67A5BD9BF10AC00FDB8A9F2BFD94460FD6B47F0BF920AFB5C73310FC0"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<1x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF30040A34EE97DC9B00A4048D09DB31BF30040A34EE97DC9B00A40A47BBF89BF171B4070D3D136B6080A40A47BBF89BF171B4048D09DB31BF3004048D09DB31BF3004048D09DB31BF3004048D09DB31BF3004048D09DB31BF30040"> : tensor<1x3x4xf64>
    return %c0 : tensor<1x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<1x3x4xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xf64>) -> tensor<1x1x1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1xf64>) -> tensor<f64>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 2]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %3 : tensor<f64>
    }) : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<1x3x4xf64>
    return %2 : tensor<1x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want = call @expected() : () -> tensor<2x3x4xf64>
    %got = call @computed(%in) : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got : tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF7CB7EE102B4A00C011B242C47F91FE3FA47BBF89BF171B4080F9B99E48D3E43F0C5D076B16B402C02771B65CDE170CC0CEAB16CC4A8AC5BFDD701C99DEF8E0BF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40E46EE6E1EC80094070D3D136B6080A408F04BCD621C1F6BFA0641BBE6DB2F83FBF7A49F67A5BD9BF10AC00FDB8A9F2BFD94460FD6B47F0BF920AFB5C73310FC0"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x48D09DB31BF300409243BA38CDC9DCBF88A54874278514C06249666D21D3F1BF8019E355141EB53F2C2114760C5FF73F7058DB55604AFA3F88322578F4A5DDBF404458C8250B02C09160AC21586800C0F68258FC1699F73F210A2FD5D8CBEFBF3E4F0508EFA20BC0542103B11757D63FED4DDD71369F0BC0A34EE97DC9B00A40D002F7301110D1BF9A37F22C99D30C401AA89DAEE37F13C07A807B2E00851340C83EA013C635E5BF92E171AEBC7E034050B9F5ADBE9117C088D9EFFF3362EF3F"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    return %0 : tensor<2x3x4xf64>
  }
  func.func private @cumsum(%arg0: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %2 : tensor<f64>
    }) : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3x4xf64>
    return %1 : tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want:4 = call @expected() : () -> (tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>)
    %got:4 = call @computed(%in) : (tensor<2x3x4xi8>) -> (tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi8>, tensor<2x4xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xi8>, tensor<3xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<i8>, tensor<i8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[81, 113, -28, 85], [106, 30, -66, -36], [13, -39, -80, -63]], [[112, -16, 26, -4], [76, -78, -38, 28], [76, 1, 54, 76]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[-56, 104, 82, -14], [8, -93, 42, 100]]> : tensor<2x4xi8>
    %c1 = stablehlo.constant dense<[0, 0, 0]> : tensor<3xi8>
    %c2 = stablehlo.constant dense<113> : tensor<i8>
    %c3 = stablehlo.constant dense<[[[81, 113, -28, 85], [106, 30, -66, -36], [13, -39, -80, -63]], [[112, -16, 26, -4], [76, -78, -38, 28], [76, 1, 54, 76]]]> : tensor<2x3x4xi8>
    return %c0, %c1, %c2, %c3 : tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<2x4xi8> {jax.result_info = "result[0]"}, tensor<3xi8> {jax.result_info = "result[1]"}, tensor<i8> {jax.result_info = "result[2]"}, tensor<2x3x4xi8> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<2x4xi8>
    %c_0 = stablehlo.constant dense<1> : tensor<i8>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<3xi8>
    %2 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xi8>) -> tensor<1x1x1xi8>
    %3 = stablehlo.reshape %2 : (tensor<1x1x1xi8>) -> tensor<i8>
    %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<i8>
    %c_1 = stablehlo.constant dense<0> : tensor<i8>
    %5 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<2x3x4xi8>
    return %0, %1, %4, %5 : tensor<2x4xi8>, tensor<3xi8>, tensor<i8>, tensor<2x3x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want:2 = call @expected() : () -> (tensor<2x4xi64>, tensor<2x3xi64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xi8>) -> (tensor<2x4xi64>, tensor<2x3xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi64>, tensor<2x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got#0, %got#1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[81, 113, -28, 85], [106, 30, -66, -36], [13, -39, -80, -63]], [[112, -16, 26, -4], [76, -78, -38, 28], [76, 1, 54, 76]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[1, 0, 0, 0], [0, 2, 2, 2]]> : tensor<2x4xi64>
    %c1 = stablehlo.constant dense<[[2, 2, 2], [1, 1, 1]]> : tensor<2x3xi64>
    return %c0, %c1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<2x4xi64> {jax.result_info = "result[0]"}, tensor<2x3xi64> {jax.result_info = "result[1]"}) {
    %0 = call @argmax(%arg0) : (tensor<2x3x4xi8>) -> tensor<2x4xi64>
    %1 = call @argmin(%arg0) : (tensor<2x3x4xi8>) -> tensor<2x3xi64>
    return %0, %1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xi8>) -> tensor<2x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<-128> : tensor<i8>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<2x3x4xi8>, tensor<2x3x4xi64>, tensor<i8>, tensor<i64>) -> (tensor<2x4xi8>, tensor<2x4xi64>)
     reducer(%arg1: tensor<i8>, %arg3: tensor<i8>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i8>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<i8>, tensor<i64>
    }
    return %1#1 : tensor<2x4xi64>
  }
  func.func private @argmin(%arg0: tensor<2x3x4xi8>) -> tensor<2x3xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<127> : tensor<i8>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [2] : (tensor<2x3x4xi8>, tensor<2x3x4xi64>, tensor<i8>, tensor<i64>) -> (tensor<2x3xi8>, tensor<2x3xi64>)
     reducer(%arg1: tensor<i8>, %arg3: tensor<i8>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i8>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<i8>, tensor<i64>
    }
    return %1#1 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x2xi8>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want = call @expected() : () -> tensor<2x3x2xi8>
    %got = call @computed(%in) : (tensor<2x3x4xi8>) -> tensor<2x3x2xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x2xi8>, tensor<2x3x2xi8>) -> ()
    return %got : tensor<2x3x2xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[81, 113, -28, 85], [106, 30, -66, -36], [13, -39, -80, -63]], [[112, -16, 26, -4], [76, -78, -38, 28], [76, 1, 54, 76]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<2x3x2xi8>) {
    %c0 = stablehlo.constant dense<[[[-20, -45], [-36, 11], [-106, 113]], [[82, 12], [91, 120], [-125, -126]]]> : tensor<2x3x2xi8>
    return %c0 : tensor<2x3x2xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<2x3x2xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<i8>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i8>
      stablehlo.return %2 : tensor<i8>
    }) : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<2x3x2xi8>
    return %1 : tensor<2x3x2xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x4xi8>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want = call @expected() : () -> tensor<1x3x4xi8>
    %got = call @computed(%in) : (tensor<2x3x4xi8>) -> tensor<1x3x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x3x4xi8>, tensor<1x3x4xi8>) -> ()
    return %got : tensor<1x3x4xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[81, 113, -28, 85], [106, 30, -66, -36], [13, -39, -80, -63]], [[112, -16, 26, -4], [76, -78, -38, 28], [76, 1, 54, 76]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<1x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[112, 113, 81, 85], [106, 81, 81, 81], [81, 81, 81, 81]]]> : tensor<1x3x4xi8>
    return %c0 : tensor<1x3x4xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<1x3x4xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xi8>) -> tensor<1x1x1xi8>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1xi8>) -> tensor<i8>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 2]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<i8>
      stablehlo.return %3 : tensor<i8>
    }) : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<1x3x4xi8>
    return %2 : tensor<1x3x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xi8>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want = call @expected() : () -> tensor<2x3x4xi8>
    %got = call @computed(%in) : (tensor<2x3x4xi8>) -> tensor<2x3x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> ()
    return %got : tensor<2x3x4xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[81, 113, -28, 85], [106, 30, -66, -36], [13, -39, -80, -63]], [[112, -16, 26, -4], [76, -78, -38, 28], [76, 1, 54, 76]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[81, 113, -28, 85], [-69, -113, -94, 49], [-56, 104, 82, -14]], [[112, -16, 26, -4], [-68, -94, -12, 24], [8, -93, 42, 100]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<2x3x4xi8> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<2x3x4xi8>) -> tensor<2x3x4xi8>
    return %0 : tensor<2x3x4xi8>
  }
  func.func private @cumsum(%arg0: tensor<2x3x4xi8>) -> tensor<2x3x4xi8> {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<i8>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i8>
      stablehlo.return %2 : tensor<i8>
    }) : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<2x3x4xi8>
    return %1 : tensor<2x3x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>) {
    %in = call @inputs() : () -> tensor<2x3x4xi32>
    %want:4 = call @expected() : () -> (tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>)
    %got:4 = call @computed(%in) : (tensor<2x3x4xi32>) -> (tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi32>, tensor<2x4xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<i32>, tensor<i32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[41, 80, 109, -52], [-5, -51, -9, -100], [52, -49, 83, 58]], [[-27, -1, 47, -9], [-55, -91, 21, 17], [69, -72, -86, 61]]]> : tensor<2x3x4xi32>
    return %c0 : tensor<2x3x4xi32>
  }
  func.func private @expected() -> (tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[88, -20, 183, -94], [-13, -164, -18, 69]]> : tensor<2x4xi32>
    %c1 = stablehlo.constant dense<[1874870336, 2045264380, -1227712640]> : tensor<3xi32>
    %c2 = stablehlo.constant dense<109> : tensor<i32>
    %c3 = stablehlo.constant dense<[[[41, 80, 109, -52], [-5, -51, -9, -100], [52, -49, 83, 58]], [[-27, -1, 47, -9], [-55, -91, 21, 17], [69, -72, -86, 61]]]> : tensor<2x3x4xi32>
    return %c0, %c1, %c2, %c3 : tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>) -> (tensor<2x4xi32> {jax.result_info = "result[0]"}, tensor<3xi32> {jax.result_info = "result[1]"}, tensor<i32> {jax.result_info = "result[2]"}, tensor<2x3x4xi32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x4xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xi32>) -> tensor<1x1x1xi32>
    %3 = stablehlo.reshape %2 : (tensor<1x1x1xi32>) -> tensor<i32>
    %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
    return %0, %1, %4, %5 : tensor<2x4xi32>, tensor<3xi32>, tensor<i32>, tensor<2x3x4xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %in = call @inputs() : () -> tensor<2x3x4xi32>
    %want:2 = call @expected() : () -> (tensor<2x4xi64>, tensor<2x3xi64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xi32>) -> (tensor<2x4xi64>, tensor<2x3xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi64>, tensor<2x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got#0, %got#1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[41, 80, 109, -52], [-5, -51, -9, -100], [52, -49, 83, 58]], [[-27, -1, 47, -9], [-55, -91, 21, 17], [69, -72, -86, 61]]]> : tensor<2x3x4xi32>
    return %c0 : tensor<2x3x4xi32>
  }
  func.func private @expected() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[2, 0, 0, 2], [2, 0, 0, 2]]> : tensor<2x4xi64>
    %c1 = stablehlo.constant dense<[[3, 3, 1], [0, 1, 2]]> : tensor<2x3xi64>
    return %c0, %c1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>) -> (tensor<2x4xi64> {jax.result_info = "result[0]"}, tensor<2x3xi64> {jax.result_info = "result[1]"}) {
    %0 = call @argmax(%arg0) : (tensor<2x3x4xi32>) -> tensor<2x4xi64>
    %1 = call @argmin(%arg0) : (tensor<2x3x4xi32>) -> tensor<2x3xi64>
    return %0, %1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xi32>) -> tensor<2x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<-2147483648> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<2x3x4xi32>, tensor<2x3x4xi64>, tensor<i32>, tensor<i64>) -> (tensor<2x4xi32>, tensor<2x4xi64>)
     reducer(%arg1: tensor<i32>, %arg3: tensor<i32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<i32>, tensor<i64>
    }
    return %1#1 : tensor<2x4xi64>
  }
  func.func private @argmin(%arg0: tensor<2x3x4xi32>) -> tensor<2x3xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<2147483647> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [2] : (tensor<2x3x4xi32>, tensor<2x3x4xi64>, tensor<i32>, tensor<i64>) -> (tensor<2x3xi32>, tensor<2x3xi64>)
     reducer(%arg1: tensor<i32>, %arg3: tensor<i32>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<i32>, tensor<i64>
    }
    return %1#1 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x2xi32>) {
    %in = call @inputs() : () -> tensor<2x3x4xi32>
    %want = call @expected() : () -> tensor<2x3x2xi32>
    %got = call @computed(%in) : (tensor<2x3x4xi32>) -> tensor<2x3x2xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> ()
    return %got : tensor<2x3x2xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[41, 80, 109, -52], [-5, -51, -9, -100], [52, -49, 83, 58]], [[-27, -1, 47, -9], [-55, -91, 21, 17], [69, -72, -86, 61]]]> : tensor<2x3x4xi32>
    return %c0 : tensor<2x3x4xi32>
  }
  func.func private @expected() -> (tensor<2x3x2xi32>) {
    %c0 = stablehlo.constant dense<[[[165, -52], [21, 32], [86, 141]], [[-106, 76], [-214, 13], [-89, -25]]]> : tensor<2x3x2xi32>
    return %c0 : tensor<2x3x2xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>) -> (tensor<2x3x2xi32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x2xi32>
    return %1 : tensor<2x3x2xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x4xi32>) {
    %in = call @inputs() : () -> tensor<2x3x4xi32>
    %want = call @expected() : () -> tensor<1x3x4xi32>
    %got = call @computed(%in) : (tensor<2x3x4xi32>) -> tensor<1x3x4xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x3x4xi32>, tensor<1x3x4xi32>) -> ()
    return %got : tensor<1x3x4xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[41, 80, 109, -52], [-5, -51, -9, -100], [52, -49, 83, 58]], [[-27, -1, 47, -9], [-55, -91, 21, 17], [69, -72, -86, 61]]]> : tensor<2x3x4xi32>
    return %c0 : tensor<2x3x4xi32>
  }
  func.func private @expected() -> (tensor<1x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[109, 80, 109, 41], [41, 41, 41, 41], [83, 61, 83, 61]]]> : tensor<1x3x4xi32>
    return %c0 : tensor<1x3x4xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>) -> (tensor<1x3x4xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xi32>) -> tensor<1x1x1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1xi32>) -> tensor<i32>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 2]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<i32>
      stablehlo.return %3 : tensor<i32>
    }) : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<1x3x4xi32>
    return %2 : tensor<1x3x4xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xi32>) {
    %in = call @inputs() : () -> tensor<2x3x4xi32>
    %want = call @expected() : () -> tensor<2x3x4xi32>
    %got = call @computed(%in) : (tensor<2x3x4xi32>) -> tensor<2x3x4xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> ()
    return %got : tensor<2x3x4xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[41, 80, 109, -52], [-5, -51, -9, -100], [52, -49, 83, 58]], [[-27, -1, 47, -9], [-55, -91, 21, 17], [69, -72, -86, 61]]]> : tensor<2x3x4xi32>
    return %c0 : tensor<2x3x4xi32>
  }
  func.func private @expected() -> (tensor<2x3x4xi32>) {
    %c0 = stablehlo.constant dense<[[[41, 80, 109, -52], [36, 29, 100, -152], [88, -20, 183, -94]], [[-27, -1, 47, -9], [-82, -92, 68, 8], [-13, -164, -18, 69]]]> : tensor<2x3x4xi32>
    return %c0 : tensor<2x3x4xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>) -> (tensor<2x3x4xi32> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<2x3x4xi32>) -> tensor<2x3x4xi32>
    return %0 : tensor<2x3x4xi32>
  }
  func.func private @cumsum(%arg0: tensor<2x3x4xi32>) -> tensor<2x3x4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<2x3x4xi32>, tensor<i32>) -> tensor<2x3x4xi32>
    return %1 : tensor<2x3x4xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want:4 = call @expected() : () -> (tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>)
    %got:4 = call @computed(%in) : (tensor<2x3x4xui16>) -> (tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xui16>, tensor<2x4xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xui16>, tensor<3xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<ui16>, tensor<ui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3x4xui16>, tensor<2x3x4xui16>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 95, 1, 78], [115, 91, 56, 57], [49, 6, 86, 64]], [[62, 111, 87, 115], [10, 114, 67, 48], [66, 4, 111, 75]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[251, 192, 143, 199], [138, 229, 265, 238]]> : tensor<2x4xui16>
    %c1 = stablehlo.constant dense<[47468, 22016, 43008]> : tensor<3xui16>
    %c2 = stablehlo.constant dense<115> : tensor<ui16>
    %c3 = stablehlo.constant dense<[[[87, 95, 1, 78], [115, 91, 56, 57], [49, 6, 86, 64]], [[62, 111, 87, 115], [10, 114, 67, 48], [66, 4, 111, 75]]]> : tensor<2x3x4xui16>
    return %c0, %c1, %c2, %c3 : tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<2x4xui16> {jax.result_info = "result[0]"}, tensor<3xui16> {jax.result_info = "result[1]"}, tensor<ui16> {jax.result_info = "result[2]"}, tensor<2x3x4xui16> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui16>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<2x4xui16>
    %c_0 = stablehlo.constant dense<1> : tensor<ui16>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<3xui16>
    %2 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xui16>) -> tensor<1x1x1xui16>
    %3 = stablehlo.reshape %2 : (tensor<1x1x1xui16>) -> tensor<ui16>
    %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<ui16>
    %c_1 = stablehlo.constant dense<0> : tensor<ui16>
    %5 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<2x3x4xui16>
    return %0, %1, %4, %5 : tensor<2x4xui16>, tensor<3xui16>, tensor<ui16>, tensor<2x3x4xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want:2 = call @expected() : () -> (tensor<2x4xi64>, tensor<2x3xi64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xui16>) -> (tensor<2x4xi64>, tensor<2x3xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi64>, tensor<2x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got#0, %got#1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 95, 1, 78], [115, 91, 56, 57], [49, 6, 86, 64]], [[62, 111, 87, 115], [10, 114, 67, 48], [66, 4, 111, 75]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[1, 0, 2, 0], [2, 1, 2, 0]]> : tensor<2x4xi64>
    %c1 = stablehlo.constant dense<[[2, 2, 1], [0, 0, 1]]> : tensor<2x3xi64>
    return %c0, %c1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<2x4xi64> {jax.result_info = "result[0]"}, tensor<2x3xi64> {jax.result_info = "result[1]"}) {
    %0 = call @argmax(%arg0) : (tensor<2x3x4xui16>) -> tensor<2x4xi64>
    %1 = call @argmin(%arg0) : (tensor<2x3x4xui16>) -> tensor<2x3xi64>
    return %0, %1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xui16>) -> tensor<2x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<0> : tensor<ui16>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<2x3x4xui16>, tensor<2x3x4xi64>, tensor<ui16>, tensor<i64>) -> (tensor<2x4xui16>, tensor<2x4xi64>)
     reducer(%arg1: tensor<ui16>, %arg3: tensor<ui16>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<ui16>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<ui16>, tensor<i64>
    }
    return %1#1 : tensor<2x4xi64>
  }
  func.func private @argmin(%arg0: tensor<2x3x4xui16>) -> tensor<2x3xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<65535> : tensor<ui16>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [2] : (tensor<2x3x4xui16>, tensor<2x3x4xi64>, tensor<ui16>, tensor<i64>) -> (tensor<2x3xui16>, tensor<2x3xi64>)
     reducer(%arg1: tensor<ui16>, %arg3: tensor<ui16>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<ui16>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<ui16>, tensor<i64>
    }
    return %1#1 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x2xui16>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want = call @expected() : () -> tensor<2x3x2xui16>
    %got = call @computed(%in) : (tensor<2x3x4xui16>) -> tensor<2x3x2xui16>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x2xui16>, tensor<2x3x2xui16>) -> ()
    return %got : tensor<2x3x2xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 95, 1, 78], [115, 91, 56, 57], [49, 6, 86, 64]], [[62, 111, 87, 115], [10, 114, 67, 48], [66, 4, 111, 75]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<2x3x2xui16>) {
    %c0 = stablehlo.constant dense<[[[445, 192], [403, 263], [141, 150]], [[451, 317], [372, 301], [181, 186]]]> : tensor<2x3x2xui16>
    return %c0 : tensor<2x3x2xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<2x3x2xui16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<ui16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui16>) -> tensor<ui16>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%arg1: tensor<ui16>, %arg2: tensor<ui16>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui16>
      stablehlo.return %2 : tensor<ui16>
    }) : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<2x3x2xui16>
    return %1 : tensor<2x3x2xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x4xui16>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want = call @expected() : () -> tensor<1x3x4xui16>
    %got = call @computed(%in) : (tensor<2x3x4xui16>) -> tensor<1x3x4xui16>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x3x4xui16>, tensor<1x3x4xui16>) -> ()
    return %got : tensor<1x3x4xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 95, 1, 78], [115, 91, 56, 57], [49, 6, 86, 64]], [[62, 111, 87, 115], [10, 114, 67, 48], [66, 4, 111, 75]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<1x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 115, 87, 115], [115, 114, 87, 87], [111, 87, 111, 87]]]> : tensor<1x3x4xui16>
    return %c0 : tensor<1x3x4xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<1x3x4xui16> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xui16>) -> tensor<1x1x1xui16>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1xui16>) -> tensor<ui16>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 2]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<ui16>, %arg2: tensor<ui16>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<ui16>
      stablehlo.return %3 : tensor<ui16>
    }) : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<1x3x4xui16>
    return %2 : tensor<1x3x4xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xui16>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want = call @expected() : () -> tensor<2x3x4xui16>
    %got = call @computed(%in) : (tensor<2x3x4xui16>) -> tensor<2x3x4xui16>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xui16>, tensor<2x3x4xui16>) -> ()
    return %got : tensor<2x3x4xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 95, 1, 78], [115, 91, 56, 57], [49, 6, 86, 64]], [[62, 111, 87, 115], [10, 114, 67, 48], [66, 4, 111, 75]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[87, 95, 1, 78], [202, 186, 57, 135], [251, 192, 143, 199]], [[62, 111, 87, 115], [72, 225, 154, 163], [138, 229, 265, 238]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<2x3x4xui16> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<2x3x4xui16>) -> tensor<2x3x4xui16>
    return %0 : tensor<2x3x4xui16>
  }
  func.func private @cumsum(%arg0: tensor<2x3x4xui16>) -> tensor<2x3x4xui16> {
    %c = stablehlo.constant dense<0> : tensor<ui16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui16>) -> tensor<ui16>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<ui16>, %arg2: tensor<ui16>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui16>
      stablehlo.return %2 : tensor<ui16>
    }) : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<2x3x4xui16>
    return %1 : tensor<2x3x4xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>) {
    %in = call @inputs() : () -> tensor<2x3x4xui64>
    %want:4 = call @expected() : () -> (tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>)
    %got:4 = call @computed(%in) : (tensor<2x3x4xui64>) -> (tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xui64>, tensor<2x4xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xui64>, tensor<3xui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<ui64>, tensor<ui64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3x4xui64>, tensor<2x3x4xui64>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>
  }
  func.func private @inputs() -> (tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[4, 109, 54, 14], [75, 8, 66, 91], [8, 94, 71, 38]], [[26, 1, 23, 34], [105, 61, 23, 89], [54, 100, 90, 111]]]> : tensor<2x3x4xui64>
    return %c0 : tensor<2x3x4xui64>
  }
  func.func private @expected() -> (tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[87, 211, 191, 143], [185, 162, 136, 234]]> : tensor<2x4xui64>
    %c1 = stablehlo.constant dense<[6701752512, 47246925726000, 109450823616000]> : tensor<3xui64>
    %c2 = stablehlo.constant dense<111> : tensor<ui64>
    %c3 = stablehlo.constant dense<[[[4, 109, 54, 14], [75, 8, 66, 91], [8, 94, 71, 38]], [[26, 1, 23, 34], [105, 61, 23, 89], [54, 100, 90, 111]]]> : tensor<2x3x4xui64>
    return %c0, %c1, %c2, %c3 : tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui64>) -> (tensor<2x4xui64> {jax.result_info = "result[0]"}, tensor<3xui64> {jax.result_info = "result[1]"}, tensor<ui64> {jax.result_info = "result[2]"}, tensor<2x3x4xui64> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<ui64>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<2x4xui64>
    %c_0 = stablehlo.constant dense<1> : tensor<ui64>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<3xui64>
    %2 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xui64>) -> tensor<1x1x1xui64>
    %3 = stablehlo.reshape %2 : (tensor<1x1x1xui64>) -> tensor<ui64>
    %4 = stablehlo.reduce(%arg0 init: %3) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<ui64>
    %c_1 = stablehlo.constant dense<0> : tensor<ui64>
    %5 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.add across dimensions = [] : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<2x3x4xui64>
    return %0, %1, %4, %5 : tensor<2x4xui64>, tensor<3xui64>, tensor<ui64>, tensor<2x3x4xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %in = call @inputs() : () -> tensor<2x3x4xui64>
    %want:2 = call @expected() : () -> (tensor<2x4xi64>, tensor<2x3xi64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xui64>) -> (tensor<2x4xi64>, tensor<2x3xi64>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x4xi64>, tensor<2x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got#0, %got#1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[4, 109, 54, 14], [75, 8, 66, 91], [8, 94, 71, 38]], [[26, 1, 23, 34], [105, 61, 23, 89], [54, 100, 90, 111]]]> : tensor<2x3x4xui64>
    return %c0 : tensor<2x3x4xui64>
  }
  func.func private @expected() -> (tensor<2x4xi64>, tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[1, 0, 2, 1], [1, 2, 2, 2]]> : tensor<2x4xi64>
    %c1 = stablehlo.constant dense<[[0, 1, 0], [1, 2, 0]]> : tensor<2x3xi64>
    return %c0, %c1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui64>) -> (tensor<2x4xi64> {jax.result_info = "result[0]"}, tensor<2x3xi64> {jax.result_info = "result[1]"}) {
    %0 = call @argmax(%arg0) : (tensor<2x3x4xui64>) -> tensor<2x4xi64>
    %1 = call @argmin(%arg0) : (tensor<2x3x4xui64>) -> tensor<2x3xi64>
    return %0, %1 : tensor<2x4xi64>, tensor<2x3xi64>
  }
  func.func private @argmax(%arg0: tensor<2x3x4xui64>) -> tensor<2x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<0> : tensor<ui64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [1] : (tensor<2x3x4xui64>, tensor<2x3x4xi64>, tensor<ui64>, tensor<i64>) -> (tensor<2x4xui64>, tensor<2x4xi64>)
     reducer(%arg1: tensor<ui64>, %arg3: tensor<ui64>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<ui64>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<ui64>, tensor<i64>
    }
    return %1#1 : tensor<2x4xi64>
  }
  func.func private @argmin(%arg0: tensor<2x3x4xui64>) -> tensor<2x3xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<2x3x4xi64>
    %c = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [2] : (tensor<2x3x4xui64>, tensor<2x3x4xi64>, tensor<ui64>, tensor<i64>) -> (tensor<2x3xui64>, tensor<2x3xi64>)
     reducer(%arg1: tensor<ui64>, %arg3: tensor<ui64>) (%arg2: tensor<i64>, %arg4: tensor<i64>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<ui64>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i64>
      stablehlo.return %9, %10 : tensor<ui64>, tensor<i64>
    }
    return %1#1 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x2xui64>) {
    %in = call @inputs() : () -> tensor<2x3x4xui64>
    %want = call @expected() : () -> tensor<2x3x2xui64>
    %got = call @computed(%in) : (tensor<2x3x4xui64>) -> tensor<2x3x2xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x2xui64>, tensor<2x3x2xui64>) -> ()
    return %got : tensor<2x3x2xui64>
  }
  func.func private @inputs() -> (tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[4, 109, 54, 14], [75, 8, 66, 91], [8, 94, 71, 38]], [[26, 1, 23, 34], [105, 61, 23, 89], [54, 100, 90, 111]]]> : tensor<2x3x4xui64>
    return %c0 : tensor<2x3x4xui64>
  }
  func.func private @expected() -> (tensor<2x3x2xui64>) {
    %c0 = stablehlo.constant dense<[[[316, 225], [322, 266], [173, 109]], [[239, 169], [433, 313], [244, 201]]]> : tensor<2x3x2xui64>
    return %c0 : tensor<2x3x2xui64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui64>) -> (tensor<2x3x2xui64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<ui64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<ui64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 3>, window_strides = array<i64: 1, 1, 2>}> ({
    ^bb0(%arg1: tensor<ui64>, %arg2: tensor<ui64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui64>
      stablehlo.return %2 : tensor<ui64>
    }) : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<2x3x2xui64>
    return %1 : tensor<2x3x2xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x4xui64>) {
    %in = call @inputs() : () -> tensor<2x3x4xui64>
    %want = call @expected() : () -> tensor<1x3x4xui64>
    %got = call @computed(%in) : (tensor<2x3x4xui64>) -> tensor<1x3x4xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x3x4xui64>, tensor<1x3x4xui64>) -> ()
    return %got : tensor<1x3x4xui64>
  }
  func.func private @inputs() -> (tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[4, 109, 54, 14], [75, 8, 66, 91], [8, 94, 71, 38]], [[26, 1, 23, 34], [105, 61, 23, 89], [54, 100, 90, 111]]]> : tensor<2x3x4xui64>
    return %c0 : tensor<2x3x4xui64>
  }
  func.func private @expected() -> (tensor<1x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[54, 109, 54, 34], [105, 91, 66, 91], [90, 111, 90, 111]]]> : tensor<1x3x4xui64>
    return %c0 : tensor<1x3x4xui64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui64>) -> (tensor<1x3x4xui64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:1] : (tensor<2x3x4xui64>) -> tensor<1x1x1xui64>
    %1 = stablehlo.reshape %0 : (tensor<1x1x1xui64>) -> tensor<ui64>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 2, 1>, padding = dense<[[0, 0], [1, 1], [0, 2]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<ui64>, %arg2: tensor<ui64>):
      %3 = stablehlo.maximum %arg1, %arg2 : tensor<ui64>
      stablehlo.return %3 : tensor<ui64>
    }) : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<1x3x4xui64>
    return %2 : tensor<1x3x4xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xui64>) {
    %in = call @inputs() : () -> tensor<2x3x4xui64>
    %want = call @expected() : () -> tensor<2x3x4xui64>
    %got = call @computed(%in) : (tensor<2x3x4xui64>) -> tensor<2x3x4xui64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xui64>, tensor<2x3x4xui64>) -> ()
    return %got : tensor<2x3x4xui64>
  }
  func.func private @inputs() -> (tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[4, 109, 54, 14], [75, 8, 66, 91], [8, 94, 71, 38]], [[26, 1, 23, 34], [105, 61, 23, 89], [54, 100, 90, 111]]]> : tensor<2x3x4xui64>
    return %c0 : tensor<2x3x4xui64>
  }
  func.func private @expected() -> (tensor<2x3x4xui64>) {
    %c0 = stablehlo.constant dense<[[[4, 109, 54, 14], [79, 117, 120, 105], [87, 211, 191, 143]], [[26, 1, 23, 34], [131, 62, 46, 123], [185, 162, 136, 234]]]> : tensor<2x3x4xui64>
    return %c0 : tensor<2x3x4xui64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui64>) -> (tensor<2x3x4xui64> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<2x3x4xui64>) -> tensor<2x3x4xui64>
    return %0 : tensor<2x3x4xui64>
  }
  func.func private @cumsum(%arg0: tensor<2x3x4xui64>) -> tensor<2x3x4xui64> {
    %c = stablehlo.constant dense<0> : tensor<ui64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<ui64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<ui64>, %arg2: tensor<ui64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui64>
      stablehlo.return %2 : tensor<ui64>
    }) : (tensor<2x3x4xui64>, tensor<ui64>) -> tensor<2x3x4xui64>
    return %1 : tensor<2x3x4xui64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xi1>, tensor<3xi1>, tensor<i1>) {
    %in = call @inputs() : () -> tensor<3x4xi1>
    %want:3 = call @expected() : () -> (tensor<4xi1>, tensor<3xi1>, tensor<i1>)
    %got:3 = call @computed(%in) : (tensor<3x4xi1>) -> (tensor<4xi1>, tensor<3xi1>, tensor<i1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xi1>, tensor<4xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xi1>, tensor<3xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<i1>, tensor<i1>) -> ()
    return %got#0, %got#1, %got#2 : tensor<4xi1>, tensor<3xi1>, tensor<i1>
  }
  func.func private @inputs() -> (tensor<3x4xi1>) {
    %c0 = stablehlo.constant dense<[[true, false, true, false], [true, false, false, true], [true, false, true, false]]> : tensor<3x4xi1>
    return %c0 : tensor<3x4xi1>
  }
  func.func private @expected() -> (tensor<4xi1>, tensor<3xi1>, tensor<i1>) {
    %c0 = stablehlo.constant dense<[true, false, true, true]> : tensor<4xi1>
    %c1 = stablehlo.constant dense<[false, false, false]> : tensor<3xi1>
    %c2 = stablehlo.constant dense<false> : tensor<i1>
    return %c0, %c1, %c2 : tensor<4xi1>, tensor<3xi1>, tensor<i1>
  }
  func.func private @computed(%arg0: tensor<3x4xi1>) -> (tensor<4xi1> {jax.result_info = "result[0]"}, tensor<3xi1> {jax.result_info = "result[1]"}, tensor<i1> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<3x4xi1>, tensor<i1>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.and across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %2 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.and across dimensions = [0, 1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<i1>
    return %0, %1, %2 : tensor<4xi1>, tensor<3xi1>, tensor<i1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32>, tensor<3xf32>) {
    %in = call @inputs() : () -> tensor<3x4xf32>
    %want:2 = call @expected() : () -> (tensor<3xf32>, tensor<3xf32>)
    %got:2 = call @computed(%in) : (tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %got#0, %got#1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xA88D2EBFAEC510C0CFAAE13FA10DEEBE03A2E73F8E4711BE0A7A50C042C79CBE359B1F3E5F063840EF002EC083A4F1BD"> : tensor<3x4xf32>
    return %c0 : tensor<3x4xf32>
  }
  func.func private @expected() -> (tensor<3xf32>, tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x2C800E417DFE5F41F62A7B41"> : tensor<3xf32>
    %c1 = stablehlo.constant dense<"0x92CD2FBED641D7BF35332DBF"> : tensor<3xf32>
    return %c0, %c1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @computed(%arg0: tensor<3x4xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0:2 = stablehlo.reduce(%arg0 init: %cst), (%arg0 init: %cst_0) across dimensions = [1] : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<f32>, %arg4: tensor<f32>)  {
      %1 = stablehlo.multiply %arg3, %arg4 : tensor<f32>
      %2 = stablehlo.add %arg1, %1 : tensor<f32>
      %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %3 = stablehlo.multiply %arg2, %cst_1 : tensor<f32>
      %4 = stablehlo.add %3, %arg4 : tensor<f32>
      stablehlo.return %2, %4 : tensor<f32>, tensor<f32>
    }
    return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
  }
}

// -----

module @jit_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x4xf32>) {
    %in = call @inputs() : () -> tensor<3x4xf32>
    %want = call @expected() : () -> tensor<3x4xf32>
    %got = call @computed(%in) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    return %got : tensor<3x4xf32>
  }
  func.func private @inputs() -> (tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xA88D2EBFAEC510C0CFAAE13FA10DEEBE03A2E73F8E4711BE0A7A50C042C79CBE359B1F3E5F063840EF002EC083A4F1BD"> : tensor<3x4xf32>
    return %c0 : tensor<3x4xf32>
  }
  func.func private @expected() -> (tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x1786923DC863713C3329533FD803B63D2EC0493F1949E53D4EB6A23B188AC23D5E15713DB39F643FF2AF593B8154373D"> : tensor<3x4xf32>
    return %c0 : tensor<3x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x4xf32>) -> (tensor<3x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<3x4xf32>
    %6 = stablehlo.exponential %5 : tensor<3x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
    %10 = stablehlo.divide %6, %9 : tensor<3x4xf32>
    return %10 : tensor<3x4xf32>
  }
}

// -----

module @jit_logsumexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<f32>) {
    %in = call @inputs() : () -> tensor<3x4xf32>
    %want = call @expected() : () -> tensor<f32>
    %got = call @computed(%in) : (tensor<3x4xf32>) -> tensor<f32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    return %got : tensor<f32>
  }
  func.func private @inputs() -> (tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xA88D2EBFAEC510C0CFAAE13FA10DEEBE03A2E73F8E4711BE0A7A50C042C79CBE359B1F3E5F063840EF002EC083A4F1BD"> : tensor<3x4xf32>
    return %c0 : tensor<3x4xf32>
  }
  func.func private @expected() -> (tensor<f32>) {
    %c0 = stablehlo.constant dense<"0xA8F16240"> : tensor<f32>
    return %c0 : tensor<f32>
  }
  func.func private @computed(%arg0: tensor<3x4xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.maximum %cst_0, %0 : tensor<f32>
    %2 = stablehlo.is_finite %1 : (tensor<f32>) -> tensor<i1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.select %2, %1, %cst_1 : tensor<i1>, tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<3x4xf32>
    %6 = stablehlo.subtract %arg0, %5 : tensor<3x4xf32>
    %7 = stablehlo.exponential %6 : tensor<3x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %9 = stablehlo.abs %8 : tensor<f32>
    %10 = stablehlo.log %9 : tensor<f32>
    %11 = stablehlo.add %10, %3 : tensor<f32>
    return %11 : tensor<f32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32>) {
    %in = call @inputs() : () -> tensor<3x4xf32>
    %want = call @expected() : () -> tensor<3xf32>
    %got = call @computed(%in) : (tensor<3x4xf32>) -> tensor<3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %got : tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xA88D2EBFAEC510C0CFAAE13FA10DEEBE03A2E73F8E4711BE0A7A50C042C79CBE359B1F3E5F063840EF002EC083A4F1BD"> : tensor<3x4xf32>
    return %c0 : tensor<3x4xf32>
  }
  func.func private @expected() -> (tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x62AA0340CA9D51403D047B40"> : tensor<3xf32>
    return %c0 : tensor<3xf32>
  }
  func.func private @computed(%arg0: tensor<3x4xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = call @_var(%arg0, %c) : (tensor<3x4xf32>, tensor<i64>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @_var(%arg0: tensor<3x4xf32>, %arg1: tensor<i64>) -> tensor<3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<3x4xf32>
    %6 = chlo.square %5 : tensor<3x4xf32> -> tensor<3x4xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %11 = stablehlo.divide %9, %10 : tensor<3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %13 = call @_where(%12, %11, %cst_4) : (tensor<i1>, tensor<3xf32>, tensor<f64>) -> tensor<3xf32>
    return %13 : tensor<3xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<3xf32>, %arg2: tensor<f64>) -> tensor<3xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<f64>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x2x2xf32>) {
    %in = call @inputs() : () -> tensor<1x6x6x2xf32>
    %want = call @expected() : () -> tensor<1x2x2x2xf32>
    %got = call @computed(%in) : (tensor<1x6x6x2xf32>) -> tensor<1x2x2x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> ()
    return %got : tensor<1x2x2x2xf32>
  }
  func.func private @inputs() -> (tensor<1x6x6x2xf32>) {
    %c0 = stablehlo.constant dense<"0xE44CA5C0602CFA3F0DA54FC01769ADC003EA35BEA14A5440CF5892C020E750C073B50EC005DD58C047B3913FBA031BC0E4870AC041FDDF3F0E0F11C00430A63F86813AC008BB68C00034B0C0EBACB2407DF575BF40573B3FA8C4BEBD86B3F53E0AA3183E5830B740527947C0308495C0D74B42C0CF2180C0AE6A0F403B831D40959238C05A7B85C0EE3D88BF438C8540DE5607C18539CA3F858B4EC020C047401EF64EC009335BBF519A90C02EA23BC0620A8540158D1D40963D9ABFB61227C034CEB5C0082A97BF9DDEBDBD851B81BE7D1090BE306357C0E7974BBEF79BEDBDB5C97740D734B340476AD2BE782113C007A047BE9A53E9BF1B8C0EC05B2C34BE805048C0B8BEE83F429D9FBEA201403F797F0CBF03A20BC01C0236C05C3A36BF"> : tensor<1x6x6x2xf32>
    return %c0 : tensor<1x6x6x2xf32>
  }
  func.func private @expected() -> (tensor<1x2x2x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0AA3183E5830B740AE6A0F40EBACB2400AA3183E5830B740620A8540D734B340"> : tensor<1x2x2x2xf32>
    return %c0 : tensor<1x2x2x2xf32>
  }
  func.func private @computed(%arg0: tensor<1x6x6x2xf32>) -> (tensor<1x2x2x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-1.000000e+02> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
    return %0 : tensor<1x2x2x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x6x6x2xf32>) {
    %in = call @inputs() : () -> tensor<1x6x6x2xf32>
    %want = call @expected() : () -> tensor<1x6x6x2xf32>
    %got = call @computed(%in) : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x6x6x2xf32>, tensor<1x6x6x2xf32>) -> ()
    return %got : tensor<1x6x6x2xf32>
  }
  func.func private @inputs() -> (tensor<1x6x6x2xf32>) {
    %c0 = stablehlo.constant dense<"0xE44CA5C0602CFA3F0DA54FC01769ADC003EA35BEA14A5440CF5892C020E750C073B50EC005DD58C047B3913FBA031BC0E4870AC041FDDF3F0E0F11C00430A63F86813AC008BB68C00034B0C0EBACB2407DF575BF40573B3FA8C4BEBD86B3F53E0AA3183E5830B740527947C0308495C0D74B42C0CF2180C0AE6A0F403B831D40959238C05A7B85C0EE3D88BF438C8540DE5607C18539CA3F858B4EC020C047401EF64EC009335BBF519A90C02EA23BC0620A8540158D1D40963D9ABFB61227C034CEB5C0082A97BF9DDEBDBD851B81BE7D1090BE306357C0E7974BBEF79BEDBDB5C97740D734B340476AD2BE782113C007A047BE9A53E9BF1B8C0EC05B2C34BE805048C0B8BEE83F429D9FBEA201403F797F0CBF03A20BC01C0236C05C3A36BF"> : tensor<1x6x6x2xf32>
    return %c0 : tensor<1x6x6x2xf32>
  }
  func.func private @expected() -> (tensor<1x6x6x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0000000000000000000000000000000000000000000000000000000000000000000000000000000047B311400000000000000000000000000000000000000000000000000000000000000000EBAC3241000000000000000000000000000000000AA3183F5830B74100000000000000000000000000000000AE6A8F4000000000000000000000000000000000438C05410000000000000000000000000000000000000000000000000000000000000000620A854100000000000000000000000000000000000000009DDE3DBE0000000000000000000000000000000000000000B5C97741D734334200000000000000000000000000000000000000000000000000000000B8BE6840000000000000000000000000000000000000000000000000"> : tensor<1x6x6x2xf32>
    return %c0 : tensor<1x6x6x2xf32>
  }
  func.func private @computed(%arg0: tensor<1x6x6x2xf32>) -> (tensor<1x6x6x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<1x3x3x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<1x3x3x2xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.pad %arg0, %cst_2, low = [0, 0, 0, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x7x7x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = "stablehlo.select_and_scatter"(%6, %5, %cst_3) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.compare GE, %arg1, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }, {
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<1x7x7x2xf32>, tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x7x7x2xf32>
    %8 = stablehlo.slice %7 [0:1, 0:6, 0:6, 0:2] : (tensor<1x7x7x2xf32>) -> tensor<1x6x6x2xf32>
    return %8 : tensor<1x6x6x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x2x2xf64>) {
    %in = call @inputs() : () -> tensor<1x6x6x2xf64>
    %want = call @expected() : () -> tensor<1x2x2x2xf64>
    %got = call @computed(%in) : (tensor<1x6x6x2xf64>) -> tensor<1x2x2x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x2x2x2xf64>, tensor<1x2x2x2xf64>) -> ()
    return %got : tensor<1x2x2x2xf64>
  }
  func.func private @inputs() -> (tensor<1x6x6x2xf64>) {
    %c0 = stablehlo.constant dense<"0xB4873CC22A57FABFC2163CF25B74E63FEEC12F67773A8BBFFD60D19E015910C0695CDDCE4AC6C93FB58C5067441D10C000698FED4697FDBF2ED2E4C70842ECBF9CB382503DE718C0DD9DEC29C691D13F789CF23322FDDC3F7E430D853457DEBF52E292B9025EF4BF7ADB977ED7EEF1BF468156C6DB6F07C03E9E630228E4E9BF2009676C7E86FABFB0C0553A859AD13F0AAF6C4E36E60CC07F2AED8BDB9DE63FC6EEBDBB7E7FDB3F920EE7A8182EDBBF6F40E3E8F214F5BFD8E4B4102783FA3F8F8BAA0CA8F913C0090860F50C1AF63FF2125F86E354E73FDC32D6794134EB3F16E19E272566F23FF46B0983FB5FFFBF4233628A7DE8E8BF9F7DEA3A2C94FE3F3E2292EDB1ABF43FD238B7442CD8E33F998325E6FD2B12C0AD6EE18E8ED1F93FB18B85D23A110C40D7BD77F16B3B08409AB20474C973E63F56E8B14C30B112C045F882CEFE9E064075FCAB22DC45DCBFBE19EB7DE6631EC0DD6AC7E31F1BF23F5F16C4A3F3E711C0407B7BB7541D0FC0666772F75F7AFEBF4A71B4D9CC8A0E40E858439DF2CCF1BFE5BF8EA6E303EA3F2E4211F1C1F91440BA7CA903DC201340BC6AAEEF06D8D3BF187424E29E2FE7BF34A26D07CA420EC01946B91AC0AA00C0ACB703AACD6AF43F58B17F56BDFEF23FA2EB3EF66D2AD53FFDD8DDB60FE0074074E5AAD76D8902C02C6764D68B88C5BF3A5998C5C18C01408C602022FC09FC3F34717D0EE4B30940FD39CB35960EF33F645F9890E0B3EDBF042FA1559E62F13F8F5016E4F10F08C06E32F1476BAC13C083D8DF7A4BDFFB3FBE343CE9832CC5BF"> : tensor<1x6x6x2xf64>
    return %c0 : tensor<1x6x6x2xf64>
  }
  func.func private @expected() -> (tensor<1x2x2x2xf64>) {
    %c0 = stablehlo.constant dense<"0x16E19E272566F23F090860F50C1AF63F3E2292EDB1ABF43F9F7DEA3A2C94FE3F2E4211F1C1F91440BA7CA903DC20134045F882CEFE9E06409F7DEA3A2C94FE3F"> : tensor<1x2x2x2xf64>
    return %c0 : tensor<1x2x2x2xf64>
  }
  func.func private @computed(%arg0: tensor<1x6x6x2xf64>) -> (tensor<1x2x2x2xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-1.000000e+02> : tensor<f64>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<1x6x6x2xf64>, tensor<f64>) -> tensor<1x2x2x2xf64>
    return %0 : tensor<1x2x2x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x6x6x2xf64>) {
    %in = call @inputs() : () -> tensor<1x6x6x2xf64>
    %want = call @expected() : () -> tensor<1x6x6x2xf64>
    %got = call @computed(%in) : (tensor<1x6x6x2xf64>) -> tensor<1x6x6x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x6x6x2xf64>, tensor<1x6x6x2xf64>) -> ()
    return %got : tensor<1x6x6x2xf64>
  }
  func.func private @inputs() -> (tensor<1x6x6x2xf64>) {
    %c0 = stablehlo.constant dense<"0xB4873CC22A57FABFC2163CF25B74E63FEEC12F67773A8BBFFD60D19E015910C0695CDDCE4AC6C93FB58C5067441D10C000698FED4697FDBF2ED2E4C70842ECBF9CB382503DE718C0DD9DEC29C691D13F789CF23322FDDC3F7E430D853457DEBF52E292B9025EF4BF7ADB977ED7EEF1BF468156C6DB6F07C03E9E630228E4E9BF2009676C7E86FABFB0C0553A859AD13F0AAF6C4E36E60CC07F2AED8BDB9DE63FC6EEBDBB7E7FDB3F920EE7A8182EDBBF6F40E3E8F214F5BFD8E4B4102783FA3F8F8BAA0CA8F913C0090860F50C1AF63FF2125F86E354E73FDC32D6794134EB3F16E19E272566F23FF46B0983FB5FFFBF4233628A7DE8E8BF9F7DEA3A2C94FE3F3E2292EDB1ABF43FD238B7442CD8E33F998325E6FD2B12C0AD6EE18E8ED1F93FB18B85D23A110C40D7BD77F16B3B08409AB20474C973E63F56E8B14C30B112C045F882CEFE9E064075FCAB22DC45DCBFBE19EB7DE6631EC0DD6AC7E31F1BF23F5F16C4A3F3E711C0407B7BB7541D0FC0666772F75F7AFEBF4A71B4D9CC8A0E40E858439DF2CCF1BFE5BF8EA6E303EA3F2E4211F1C1F91440BA7CA903DC201340BC6AAEEF06D8D3BF187424E29E2FE7BF34A26D07CA420EC01946B91AC0AA00C0ACB703AACD6AF43F58B17F56BDFEF23FA2EB3EF66D2AD53FFDD8DDB60FE0074074E5AAD76D8902C02C6764D68B88C5BF3A5998C5C18C01408C602022FC09FC3F34717D0EE4B30940FD39CB35960EF33F645F9890E0B3EDBF042FA1559E62F13F8F5016E4F10F08C06E32F1476BAC13C083D8DF7A4BDFFB3FBE343CE9832CC5BF"> : tensor<1x6x6x2xf64>
    return %c0 : tensor<1x6x6x2xf64>
  }
  func.func private @expected() -> (tensor<1x6x6x2xf64>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000D8E4B41027830A400000000000000000090860F50C1A06400000000000000000000000000000000016E19E2725660240000000000000000000000000000000009F7DEA3A2C941E405D335BE48A011F40000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000045F882CEFE9E16400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004A71B4D9CC8A1E40000000000000000000000000000000002E4211F1C1F93440BA7CA903DC2033400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000FDD8DDB60FE01740000000000000000000000000000000000000000000000000000000000000000034717D0EE4B31940FD39CB35960E0340000000000000000000000000000000000000000000000000000000000000000083D8DF7A4BDF0B400000000000000000"> : tensor<1x6x6x2xf64>
    return %c0 : tensor<1x6x6x2xf64>
  }
  func.func private @computed(%arg0: tensor<1x6x6x2xf64>) -> (tensor<1x6x6x2xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %9 = stablehlo.maximum %arg1, %arg2 : tensor<f64>
      stablehlo.return %9 : tensor<f64>
    }) : (tensor<1x6x6x2xf64>, tensor<f64>) -> tensor<1x3x3x2xf64>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<1x3x3x2xf64>
    %3 = stablehlo.multiply %2, %1 : tensor<1x3x3x2xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<1x3x3x2xf64>
    %5 = stablehlo.multiply %4, %3 : tensor<1x3x3x2xf64>
    %cst_2 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %6 = stablehlo.pad %arg0, %cst_2, low = [0, 0, 0, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x6x6x2xf64>, tensor<f64>) -> tensor<1x7x7x2xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = "stablehlo.select_and_scatter"(%6, %5, %cst_3) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %9 = stablehlo.compare GE, %arg1, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }, {
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %9 = stablehlo.add %arg1, %arg2 : tensor<f64>
      stablehlo.return %9 : tensor<f64>
    }) : (tensor<1x7x7x2xf64>, tensor<1x3x3x2xf64>, tensor<f64>) -> tensor<1x7x7x2xf64>
    %8 = stablehlo.slice %7 [0:1, 0:6, 0:6, 0:2] : (tensor<1x7x7x2xf64>) -> tensor<1x6x6x2xf64>
    return %8 : tensor<1x6x6x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x2x2xi32>) {
    %in = call @inputs() : () -> tensor<1x6x6x2xi32>
    %want = call @expected() : () -> tensor<1x2x2x2xi32>
    %got = call @computed(%in) : (tensor<1x6x6x2xi32>) -> tensor<1x2x2x2xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x2x2xi32>, tensor<1x2x2x2xi32>) -> ()
    return %got : tensor<1x2x2x2xi32>
  }
  func.func private @inputs() -> (tensor<1x6x6x2xi32>) {
    %c0 = stablehlo.constant dense<[[[[49, -80], [73, 107], [-46, -83], [-69, -88], [75, -90], [50, 74]], [[-54, -50], [-42, 67], [106, 66], [-41, 57], [54, -7], [-72, -31]], [[79, 13], [-75, 101], [13, -24], [-93, 25], [21, -67], [86, 10]], [[-82, -58], [-40, 64], [68, 80], [33, 100], [-32, 28], [38, -20]], [[0, 55], [89, 102], [-36, 57], [66, 106], [39, -56], [62, -63]], [[-17, 7], [59, -64], [53, -69], [-15, -74], [-95, -29], [111, 23]]]]> : tensor<1x6x6x2xi32>
    return %c0 : tensor<1x6x6x2xi32>
  }
  func.func private @expected() -> (tensor<1x2x2x2xi32>) {
    %c0 = stablehlo.constant dense<[[[[106, 107], [106, 66]], [[89, 102], [68, 106]]]]> : tensor<1x2x2x2xi32>
    return %c0 : tensor<1x2x2x2xi32>
  }
  func.func private @computed(%arg0: tensor<1x6x6x2xi32>) -> (tensor<1x2x2x2xi32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<-100> : tensor<i32>
    %0 = "stablehlo.reduce_window"(%arg0, %c) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<i32>
      stablehlo.return %1 : tensor<i32>
    }) : (tensor<1x6x6x2xi32>, tensor<i32>) -> tensor<1x2x2x2xi32>
    return %0 : tensor<1x2x2x2xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf16>) {
    %in = call @inputs() : () -> tensor<4x3xf16>
    %want = call @expected() : () -> tensor<3xf16>
    %got = call @computed(%in) : (tensor<4x3xf16>) -> tensor<3xf16>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3xf16>, tensor<3xf16>) -> ()
    return %got : tensor<3xf16>
  }
  func.func private @inputs() -> (tensor<4x3xf16>) {
    %c0 = stablehlo.constant dense<"0x87C47EC10B3CE8BF91C43B42ED3DEB3DB5BD2C42C2B99442"> : tensor<4x3xf16>
    return %c0 : tensor<4x3xf16>
  }
  func.func private @expected() -> (tensor<3xf16>) {
    %c0 = stablehlo.constant dense<"0xBFB78EBEFD3D"> : tensor<3xf16>
    return %c0 : tensor<3xf16>
  }
  func.func private @computed(%arg0: tensor<4x3xf16>) -> (tensor<3xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x3xf16>) -> tensor<4x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.divide %1, %2 : tensor<3xf32>
    %4 = stablehlo.convert %3 : (tensor<3xf32>) -> tensor<3xf16>
    return %4 : tensor<3xf16>
  }
}
