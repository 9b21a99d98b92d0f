module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want:7 = call @expected() : () -> (tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>)
    %got:7 = call @computed(%in) : (tensor<2x3x4xf32>) -> (tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<5x2x3x4xf32>, tensor<5x2x3x4xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<4x6xf32>
    %c1 = stablehlo.constant dense<"0x64EEEB3D113B48C0B10A74C02D4FA5405F69913FCAA47F3E4CA31A400944C43FC562D3BEF5328C40D6E6FAC08EC24EC0932FD43F1D6003C056D6B4BC2304B2BF414E403FC9DB4EBF45A9253FB4045240FA547EC0A42B1440F3723CBE19E708BF"> : tensor<4x2x3xf32>
    %c2 = stablehlo.constant dense<"0xA42B14402304B2BFF5328C402D4FA540F3723CBE414E403FD6E6FAC05F69913F19E708BFC9DB4EBF8EC24EC0CAA47F3E45A9253F932FD43F4CA31A4064EEEB3DB40452401D6003C00944C43F113B48C0FA547EC056D6B4BCC562D3BEB10A74C0"> : tensor<2x3x4xf32>
    %c3 = stablehlo.constant dense<"0x113B48C01D6003C0B10A74C056D6B4BC5F69913F414E403FCAA47F3EC9DB4EBF"> : tensor<2x2x2xf32>
    %c4 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC064EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF2D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<2x6x4xf32>
    %c5 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<5x2x3x4xf32>
    %c6 = stablehlo.constant dense<"0x64EEEB3D64EEEB3D64EEEB3D64EEEB3D113B48C0113B48C0113B48C0113B48C0B10A74C0B10A74C0B10A74C0B10A74C064EEEB3D64EEEB3D64EEEB3D64EEEB3D113B48C0113B48C0113B48C0113B48C0B10A74C0B10A74C0B10A74C0B10A74C0"> : tensor<2x3x4xf32>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<4x6xf32> {jax.result_info = "result[0]"}, tensor<4x2x3xf32> {jax.result_info = "result[1]"}, tensor<2x3x4xf32> {jax.result_info = "result[2]"}, tensor<2x2x2xf32> {jax.result_info = "result[3]"}, tensor<2x6x4xf32> {jax.result_info = "result[4]"}, tensor<5x2x3x4xf32> {jax.result_info = "result[5]"}, tensor<2x3x4xf32> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
    %1 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    %2 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xf32>
    %3 = stablehlo.slice %arg0 [0:2, 1:3, 0:4:2] : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
    %6 = stablehlo.slice %arg0 [0:1, 0:3, 0:1] : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
    return %0, %1, %2, %3, %4, %5, %7 : tensor<4x6xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>, tensor<2x2x2xf32>, tensor<2x6x4xf32>, tensor<5x2x3x4xf32>, tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x6x5xf32>, tensor<0xf32>) {
    %in = call @inputs() : () -> tensor<2x3x4xf32>
    %want:2 = call @expected() : () -> (tensor<5x6x5xf32>, tensor<0xf32>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xf32>) -> (tensor<5x6x5xf32>, tensor<0xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<5x6x5xf32>, tensor<5x6x5xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<0xf32>, tensor<0xf32>) -> ()
    return %got#0, %got#1 : tensor<5x6x5xf32>, tensor<0xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<5x6x5xf32>, tensor<0xf32>) {
    %c0 = stablehlo.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F113B48C00000803F0944C43F0000803F1D6003C00000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803FB10A74C00000803FC562D3BE0000803F56D6B4BC0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F5F69913F0000803FD6E6FAC00000803F414E403F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803FCAA47F3E0000803F8EC24EC00000803FC9DB4EBF0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F"> : tensor<5x6x5xf32>
    %c1 = stablehlo.constant dense<> : tensor<0xf32>
    return %c0, %c1 : tensor<5x6x5xf32>, tensor<0xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>) -> (tensor<5x6x5xf32> {jax.result_info = "result[0]"}, tensor<0xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [1, -1, 0], high = [2, 0, -2], interior = [0, 2, 1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<5x6x5xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3x4xf32>) -> tensor<24xf32>
    %2 = stablehlo.slice %1 [0:0] : (tensor<24xf32>) -> tensor<0xf32>
    return %0, %2 : tensor<5x6x5xf32>, tensor<0xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xf32>, tensor<2x3x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<i32>)
    %want:2 = call @expected() : () -> (tensor<1x2x3xf32>, tensor<2x3x4xf32>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<i32>) -> (tensor<1x2x3xf32>, tensor<2x3x4xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got#0, %got#1 : tensor<1x2x3xf32>, tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xf32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xD6E6FAC0414E403FF3723CBE8EC24EC0C9DB4EBF19E708BF"> : tensor<1x2x3xf32>
    %c1 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B144064EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240"> : tensor<2x3x4xf32>
    return %c0, %c1 : tensor<1x2x3xf32>, tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<i32>) -> (tensor<1x2x3xf32> {jax.result_info = "result[0]"}, tensor<2x3x4xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
    %10 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<2x3x4xf32>) -> tensor<1x2x4xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %12 = stablehlo.add %arg1, %c_6 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg1 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg1, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %15 = stablehlo.add %arg1, %c_8 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg1 : tensor<i1>, tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %arg1, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.add %arg1, %c_10 : tensor<i32>
    %19 = stablehlo.select %17, %18, %arg1 : tensor<i1>, tensor<i32>
    %20 = stablehlo.dynamic_update_slice %arg0, %10, %13, %16, %19 : (tensor<2x3x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf32>
    return %9, %20 : tensor<1x2x3xf32>, tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<i32>)
    %want = call @expected() : () -> tensor<1x2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<i32>) -> tensor<1x2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> ()
    return %got : tensor<1x2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<-3> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x4CA31A40932FD43F45A9253F0944C43F1D6003C0B4045240"> : tensor<1x2x3xf32>
    return %c0 : tensor<1x2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<i32>) -> (tensor<1x2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
    return %9 : tensor<1x2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<i64>)
    %want = call @expected() : () -> tensor<1x2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<1x2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> ()
    return %got : tensor<1x2x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<i64>) {
    %c0 = stablehlo.constant dense<"0x64EEEB3D4CA31A40932FD43F45A9253F113B48C00944C43F1D6003C0B4045240B10A74C0C562D3BE56D6B4BCFA547EC02D4FA540F5328C402304B2BFA42B14405F69913FD6E6FAC0414E403FF3723CBECAA47F3E8EC24EC0C9DB4EBF19E708BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<9> : tensor<i64>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<i64>
  }
  func.func private @expected() -> (tensor<1x2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xD6E6FAC0414E403FF3723CBE8EC24EC0C9DB4EBF19E708BF"> : tensor<1x2x3xf32>
    return %c0 : tensor<1x2x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<i64>) -> (tensor<1x2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i64>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i64>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i64>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i64>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i64>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i64>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x3xf32>
    return %9 : tensor<1x2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>) {
    %in = call @inputs() : () -> tensor<2x3x4xi1>
    %want:7 = call @expected() : () -> (tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>)
    %got:7 = call @computed(%in) : (tensor<2x3x4xi1>) -> (tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xi1>, tensor<4x6xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4x2x3xi1>, tensor<4x2x3xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3x4xi1>, tensor<2x3x4xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x2x2xi1>, tensor<2x2x2xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x6x4xi1>, tensor<2x6x4xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<5x2x3x4xi1>, tensor<5x2x3x4xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3x4xi1>, tensor<2x3x4xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>
  }
  func.func private @inputs() -> (tensor<2x3x4xi1>) {
    %c0 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]]> : tensor<2x3x4xi1>
    return %c0 : tensor<2x3x4xi1>
  }
  func.func private @expected() -> (tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>) {
    %c0 = stablehlo.constant dense<[[false, false, true, true, true, true], [false, true, false, false, true, false], [true, false, true, false, true, true], [true, true, true, false, true, true]]> : tensor<4x6xi1>
    %c1 = stablehlo.constant dense<[[[false, true, false], [true, true, true]], [[false, true, false], [false, true, false]], [[true, false, true], [true, true, true]], [[true, true, false], [false, true, true]]]> : tensor<4x2x3xi1>
    %c2 = stablehlo.constant dense<[[[false, true, false, true], [true, true, true, true], [true, true, false, true]], [[true, true, false, false], [true, false, true, true], [false, true, false, false]]]> : tensor<2x3x4xi1>
    %c3 = stablehlo.constant dense<[[[true, false], [false, true]], [[true, true], [true, true]]]> : tensor<2x2x2xi1>
    %c4 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false], [false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true], [true, false, true, false], [true, true, true, true], [true, false, true, true]]]> : tensor<2x6x4xi1>
    %c5 = stablehlo.constant dense<[[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]], [[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]], [[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]], [[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]], [[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]]]> : tensor<5x2x3x4xi1>
    %c6 = stablehlo.constant dense<[[[false, false, false, false], [true, true, true, true], [false, false, false, false]], [[false, false, false, false], [true, true, true, true], [false, false, false, false]]]> : tensor<2x3x4xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi1>) -> (tensor<4x6xi1> {jax.result_info = "result[0]"}, tensor<4x2x3xi1> {jax.result_info = "result[1]"}, tensor<2x3x4xi1> {jax.result_info = "result[2]"}, tensor<2x2x2xi1> {jax.result_info = "result[3]"}, tensor<2x6x4xi1> {jax.result_info = "result[4]"}, tensor<5x2x3x4xi1> {jax.result_info = "result[5]"}, tensor<2x3x4xi1> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x4xi1>) -> tensor<4x6xi1>
    %1 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xi1>) -> tensor<4x2x3xi1>
    %2 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xi1>
    %3 = stablehlo.slice %arg0 [0:2, 1:3, 0:4:2] : (tensor<2x3x4xi1>) -> tensor<2x2x2xi1>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3x4xi1>, tensor<2x3x4xi1>) -> tensor<2x6x4xi1>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<2x3x4xi1>) -> tensor<5x2x3x4xi1>
    %6 = stablehlo.slice %arg0 [0:1, 0:3, 0:1] : (tensor<2x3x4xi1>) -> tensor<1x3x1xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x3x1xi1>) -> tensor<2x3x4xi1>
    return %0, %1, %2, %3, %4, %5, %7 : tensor<4x6xi1>, tensor<4x2x3xi1>, tensor<2x3x4xi1>, tensor<2x2x2xi1>, tensor<2x6x4xi1>, tensor<5x2x3x4xi1>, tensor<2x3x4xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x6x5xi1>, tensor<0xi1>) {
    %in = call @inputs() : () -> tensor<2x3x4xi1>
    %want:2 = call @expected() : () -> (tensor<5x6x5xi1>, tensor<0xi1>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xi1>) -> (tensor<5x6x5xi1>, tensor<0xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x6x5xi1>, tensor<5x6x5xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<0xi1>, tensor<0xi1>) -> ()
    return %got#0, %got#1 : tensor<5x6x5xi1>, tensor<0xi1>
  }
  func.func private @inputs() -> (tensor<2x3x4xi1>) {
    %c0 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]]> : tensor<2x3x4xi1>
    return %c0 : tensor<2x3x4xi1>
  }
  func.func private @expected() -> (tensor<5x6x5xi1>, tensor<0xi1>) {
    %c0 = stablehlo.constant dense<[[[true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true]], [[true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, false], [true, true, true, true, true], [true, true, true, true, true], [false, true, false, true, true]], [[true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, false, true, true]], [[true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true]], [[true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true], [true, true, true, true, true]]]> : tensor<5x6x5xi1>
    %c1 = stablehlo.constant dense<> : tensor<0xi1>
    return %c0, %c1 : tensor<5x6x5xi1>, tensor<0xi1>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi1>) -> (tensor<5x6x5xi1> {jax.result_info = "result[0]"}, tensor<0xi1> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.pad %arg0, %c, low = [1, -1, 0], high = [2, 0, -2], interior = [0, 2, 1] : (tensor<2x3x4xi1>, tensor<i1>) -> tensor<5x6x5xi1>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3x4xi1>) -> tensor<24xi1>
    %2 = stablehlo.slice %1 [0:0] : (tensor<24xi1>) -> tensor<0xi1>
    return %0, %2 : tensor<5x6x5xi1>, tensor<0xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xi1>, tensor<2x3x4xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi1>, tensor<i32>)
    %want:2 = call @expected() : () -> (tensor<1x2x3xi1>, tensor<2x3x4xi1>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<2x3x4xi1>, tensor<i32>) -> (tensor<1x2x3xi1>, tensor<2x3x4xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<1x2x3xi1>, tensor<1x2x3xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3x4xi1>, tensor<2x3x4xi1>) -> ()
    return %got#0, %got#1 : tensor<1x2x3xi1>, tensor<2x3x4xi1>
  }
  func.func private @inputs() -> (tensor<2x3x4xi1>, tensor<i32>) {
    %c0 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]]> : tensor<2x3x4xi1>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xi1>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xi1>, tensor<2x3x4xi1>) {
    %c0 = stablehlo.constant dense<[[[true, true, true], [false, true, true]]]> : tensor<1x2x3xi1>
    %c1 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [false, false, true, true], [true, true, false, true]]]> : tensor<2x3x4xi1>
    return %c0, %c1 : tensor<1x2x3xi1>, tensor<2x3x4xi1>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi1>, %arg1: tensor<i32>) -> (tensor<1x2x3xi1> {jax.result_info = "result[0]"}, tensor<2x3x4xi1> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xi1>
    %10 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<2x3x4xi1>) -> tensor<1x2x4xi1>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %12 = stablehlo.add %arg1, %c_6 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg1 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg1, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %15 = stablehlo.add %arg1, %c_8 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg1 : tensor<i1>, tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %arg1, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.add %arg1, %c_10 : tensor<i32>
    %19 = stablehlo.select %17, %18, %arg1 : tensor<i1>, tensor<i32>
    %20 = stablehlo.dynamic_update_slice %arg0, %10, %13, %16, %19 : (tensor<2x3x4xi1>, tensor<1x2x4xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi1>
    return %9, %20 : tensor<1x2x3xi1>, tensor<2x3x4xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi1>, tensor<i32>)
    %want = call @expected() : () -> tensor<1x2x3xi1>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi1>, tensor<i32>) -> tensor<1x2x3xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x3xi1>, tensor<1x2x3xi1>) -> ()
    return %got : tensor<1x2x3xi1>
  }
  func.func private @inputs() -> (tensor<2x3x4xi1>, tensor<i32>) {
    %c0 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]]> : tensor<2x3x4xi1>
    %c1 = stablehlo.constant dense<-3> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xi1>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xi1>) {
    %c0 = stablehlo.constant dense<[[[false, true, true], [true, false, true]]]> : tensor<1x2x3xi1>
    return %c0 : tensor<1x2x3xi1>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi1>, %arg1: tensor<i32>) -> (tensor<1x2x3xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xi1>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xi1>
    return %9 : tensor<1x2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi1>, tensor<i64>)
    %want = call @expected() : () -> tensor<1x2x3xi1>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi1>, tensor<i64>) -> tensor<1x2x3xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x3xi1>, tensor<1x2x3xi1>) -> ()
    return %got : tensor<1x2x3xi1>
  }
  func.func private @inputs() -> (tensor<2x3x4xi1>, tensor<i64>) {
    %c0 = stablehlo.constant dense<[[[false, false, true, true], [true, true, false, true], [false, false, true, false]], [[true, false, true, false], [true, true, true, true], [true, false, true, true]]]> : tensor<2x3x4xi1>
    %c1 = stablehlo.constant dense<9> : tensor<i64>
    return %c0, %c1 : tensor<2x3x4xi1>, tensor<i64>
  }
  func.func private @expected() -> (tensor<1x2x3xi1>) {
    %c0 = stablehlo.constant dense<[[[true, true, true], [false, true, true]]]> : tensor<1x2x3xi1>
    return %c0 : tensor<1x2x3xi1>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi1>, %arg1: tensor<i64>) -> (tensor<1x2x3xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i64>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i64>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i64>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i64>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i64>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i64>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xi1>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x3xi1>
    return %9 : tensor<1x2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want:7 = call @expected() : () -> (tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>)
    %got:7 = call @computed(%in) : (tensor<2x3x4xi8>) -> (tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xi8>, tensor<4x6xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4x2x3xi8>, tensor<4x2x3xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x2x2xi8>, tensor<2x2x2xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x6x4xi8>, tensor<2x6x4xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<5x2x3x4xi8>, tensor<5x2x3x4xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[-14, -32, 41, -57, -60, 92], [67, 30, 66, -30, 58, -55], [-3, -68, -17, -26, -8, 4], [-93, -25, 85, -5, 19, -78]]> : tensor<4x6xi8>
    %c1 = stablehlo.constant dense<[[[-14, -60, 66], [-3, -8, 85]], [[-32, 92, -30], [-68, 4, -5]], [[41, 67, 58], [-17, -93, 19]], [[-57, 30, -55], [-26, -25, -78]]]> : tensor<4x2x3xi8>
    %c2 = stablehlo.constant dense<[[[-26, -17, -68, -3], [-25, -93, 4, -8], [-78, 19, -5, 85]], [[-57, 41, -32, -14], [30, 67, 92, -60], [-55, 58, -30, 66]]]> : tensor<2x3x4xi8>
    %c3 = stablehlo.constant dense<[[[-60, 67], [66, 58]], [[-8, -93], [85, 19]]]> : tensor<2x2x2xi8>
    %c4 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55], [-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78], [-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]> : tensor<2x6x4xi8>
    %c5 = stablehlo.constant dense<[[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]], [[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]], [[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]], [[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]], [[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]]> : tensor<5x2x3x4xi8>
    %c6 = stablehlo.constant dense<[[[-14, -14, -14, -14], [-60, -60, -60, -60], [66, 66, 66, 66]], [[-14, -14, -14, -14], [-60, -60, -60, -60], [66, 66, 66, 66]]]> : tensor<2x3x4xi8>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<4x6xi8> {jax.result_info = "result[0]"}, tensor<4x2x3xi8> {jax.result_info = "result[1]"}, tensor<2x3x4xi8> {jax.result_info = "result[2]"}, tensor<2x2x2xi8> {jax.result_info = "result[3]"}, tensor<2x6x4xi8> {jax.result_info = "result[4]"}, tensor<5x2x3x4xi8> {jax.result_info = "result[5]"}, tensor<2x3x4xi8> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x4xi8>) -> tensor<4x6xi8>
    %1 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xi8>) -> tensor<4x2x3xi8>
    %2 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xi8>
    %3 = stablehlo.slice %arg0 [0:2, 1:3, 0:4:2] : (tensor<2x3x4xi8>) -> tensor<2x2x2xi8>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> tensor<2x6x4xi8>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<2x3x4xi8>) -> tensor<5x2x3x4xi8>
    %6 = stablehlo.slice %arg0 [0:1, 0:3, 0:1] : (tensor<2x3x4xi8>) -> tensor<1x3x1xi8>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x3x1xi8>) -> tensor<2x3x4xi8>
    return %0, %1, %2, %3, %4, %5, %7 : tensor<4x6xi8>, tensor<4x2x3xi8>, tensor<2x3x4xi8>, tensor<2x2x2xi8>, tensor<2x6x4xi8>, tensor<5x2x3x4xi8>, tensor<2x3x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x6x5xi8>, tensor<0xi8>) {
    %in = call @inputs() : () -> tensor<2x3x4xi8>
    %want:2 = call @expected() : () -> (tensor<5x6x5xi8>, tensor<0xi8>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xi8>) -> (tensor<5x6x5xi8>, tensor<0xi8>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x6x5xi8>, tensor<5x6x5xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<0xi8>, tensor<0xi8>) -> ()
    return %got#0, %got#1 : tensor<5x6x5xi8>, tensor<0xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]> : tensor<2x3x4xi8>
    return %c0 : tensor<2x3x4xi8>
  }
  func.func private @expected() -> (tensor<5x6x5xi8>, tensor<0xi8>) {
    %c0 = stablehlo.constant dense<[[[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [-60, 1, 92, 1, 67], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [66, 1, -30, 1, 58]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [-8, 1, 4, 1, -93], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [85, 1, -5, 1, 19]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]]]> : tensor<5x6x5xi8>
    %c1 = stablehlo.constant dense<> : tensor<0xi8>
    return %c0, %c1 : tensor<5x6x5xi8>, tensor<0xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>) -> (tensor<5x6x5xi8> {jax.result_info = "result[0]"}, tensor<0xi8> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = stablehlo.pad %arg0, %c, low = [1, -1, 0], high = [2, 0, -2], interior = [0, 2, 1] : (tensor<2x3x4xi8>, tensor<i8>) -> tensor<5x6x5xi8>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3x4xi8>) -> tensor<24xi8>
    %2 = stablehlo.slice %1 [0:0] : (tensor<24xi8>) -> tensor<0xi8>
    return %0, %2 : tensor<5x6x5xi8>, tensor<0xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xi8>, tensor<2x3x4xi8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi8>, tensor<i32>)
    %want:2 = call @expected() : () -> (tensor<1x2x3xi8>, tensor<2x3x4xi8>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<2x3x4xi8>, tensor<i32>) -> (tensor<1x2x3xi8>, tensor<2x3x4xi8>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> ()
    return %got#0, %got#1 : tensor<1x2x3xi8>, tensor<2x3x4xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>, tensor<i32>) {
    %c0 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]> : tensor<2x3x4xi8>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xi8>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xi8>, tensor<2x3x4xi8>) {
    %c0 = stablehlo.constant dense<[[[4, -93, -25], [-5, 19, -78]]]> : tensor<1x2x3xi8>
    %c1 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-14, -32, 41, -57], [-60, 92, 67, 30]]]> : tensor<2x3x4xi8>
    return %c0, %c1 : tensor<1x2x3xi8>, tensor<2x3x4xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>, %arg1: tensor<i32>) -> (tensor<1x2x3xi8> {jax.result_info = "result[0]"}, tensor<2x3x4xi8> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xi8>
    %10 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<2x3x4xi8>) -> tensor<1x2x4xi8>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %12 = stablehlo.add %arg1, %c_6 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg1 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg1, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %15 = stablehlo.add %arg1, %c_8 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg1 : tensor<i1>, tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %arg1, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.add %arg1, %c_10 : tensor<i32>
    %19 = stablehlo.select %17, %18, %arg1 : tensor<i1>, tensor<i32>
    %20 = stablehlo.dynamic_update_slice %arg0, %10, %13, %16, %19 : (tensor<2x3x4xi8>, tensor<1x2x4xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xi8>
    return %9, %20 : tensor<1x2x3xi8>, tensor<2x3x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xi8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi8>, tensor<i32>)
    %want = call @expected() : () -> tensor<1x2x3xi8>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi8>, tensor<i32>) -> tensor<1x2x3xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> ()
    return %got : tensor<1x2x3xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>, tensor<i32>) {
    %c0 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]> : tensor<2x3x4xi8>
    %c1 = stablehlo.constant dense<-3> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xi8>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xi8>) {
    %c0 = stablehlo.constant dense<[[[-32, 41, -57], [92, 67, 30]]]> : tensor<1x2x3xi8>
    return %c0 : tensor<1x2x3xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>, %arg1: tensor<i32>) -> (tensor<1x2x3xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xi8>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xi8>
    return %9 : tensor<1x2x3xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xi8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi8>, tensor<i64>)
    %want = call @expected() : () -> tensor<1x2x3xi8>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi8>, tensor<i64>) -> tensor<1x2x3xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x3xi8>, tensor<1x2x3xi8>) -> ()
    return %got : tensor<1x2x3xi8>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>, tensor<i64>) {
    %c0 = stablehlo.constant dense<[[[-14, -32, 41, -57], [-60, 92, 67, 30], [66, -30, 58, -55]], [[-3, -68, -17, -26], [-8, 4, -93, -25], [85, -5, 19, -78]]]> : tensor<2x3x4xi8>
    %c1 = stablehlo.constant dense<9> : tensor<i64>
    return %c0, %c1 : tensor<2x3x4xi8>, tensor<i64>
  }
  func.func private @expected() -> (tensor<1x2x3xi8>) {
    %c0 = stablehlo.constant dense<[[[4, -93, -25], [-5, 19, -78]]]> : tensor<1x2x3xi8>
    return %c0 : tensor<1x2x3xi8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>, %arg1: tensor<i64>) -> (tensor<1x2x3xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i64>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i64>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i64>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i64>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i64>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i64>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xi8>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x3xi8>
    return %9 : tensor<1x2x3xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want:7 = call @expected() : () -> (tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>)
    %got:7 = call @computed(%in) : (tensor<2x3x4xui16>) -> (tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xui16>, tensor<4x6xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4x2x3xui16>, tensor<4x2x3xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3x4xui16>, tensor<2x3x4xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x2x2xui16>, tensor<2x2x2xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x6x4xui16>, tensor<2x6x4xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<5x2x3x4xui16>, tensor<5x2x3x4xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3x4xui16>, tensor<2x3x4xui16>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[46, 116, 65, 2, 86, 92], [45, 3, 99, 30, 110, 43], [46, 95, 16, 3, 91, 111], [119, 15, 17, 40, 85, 109]]> : tensor<4x6xui16>
    %c1 = stablehlo.constant dense<[[[46, 86, 99], [46, 91, 17]], [[116, 92, 30], [95, 111, 40]], [[65, 45, 110], [16, 119, 85]], [[2, 3, 43], [3, 15, 109]]]> : tensor<4x2x3xui16>
    %c2 = stablehlo.constant dense<[[[3, 16, 95, 46], [15, 119, 111, 91], [109, 85, 40, 17]], [[2, 65, 116, 46], [3, 45, 92, 86], [43, 110, 30, 99]]]> : tensor<2x3x4xui16>
    %c3 = stablehlo.constant dense<[[[86, 45], [99, 110]], [[91, 119], [17, 85]]]> : tensor<2x2x2xui16>
    %c4 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43], [46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109], [46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]> : tensor<2x6x4xui16>
    %c5 = stablehlo.constant dense<[[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]], [[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]], [[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]], [[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]], [[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]]> : tensor<5x2x3x4xui16>
    %c6 = stablehlo.constant dense<[[[46, 46, 46, 46], [86, 86, 86, 86], [99, 99, 99, 99]], [[46, 46, 46, 46], [86, 86, 86, 86], [99, 99, 99, 99]]]> : tensor<2x3x4xui16>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<4x6xui16> {jax.result_info = "result[0]"}, tensor<4x2x3xui16> {jax.result_info = "result[1]"}, tensor<2x3x4xui16> {jax.result_info = "result[2]"}, tensor<2x2x2xui16> {jax.result_info = "result[3]"}, tensor<2x6x4xui16> {jax.result_info = "result[4]"}, tensor<5x2x3x4xui16> {jax.result_info = "result[5]"}, tensor<2x3x4xui16> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x4xui16>) -> tensor<4x6xui16>
    %1 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xui16>) -> tensor<4x2x3xui16>
    %2 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xui16>
    %3 = stablehlo.slice %arg0 [0:2, 1:3, 0:4:2] : (tensor<2x3x4xui16>) -> tensor<2x2x2xui16>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3x4xui16>, tensor<2x3x4xui16>) -> tensor<2x6x4xui16>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<2x3x4xui16>) -> tensor<5x2x3x4xui16>
    %6 = stablehlo.slice %arg0 [0:1, 0:3, 0:1] : (tensor<2x3x4xui16>) -> tensor<1x3x1xui16>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x3x1xui16>) -> tensor<2x3x4xui16>
    return %0, %1, %2, %3, %4, %5, %7 : tensor<4x6xui16>, tensor<4x2x3xui16>, tensor<2x3x4xui16>, tensor<2x2x2xui16>, tensor<2x6x4xui16>, tensor<5x2x3x4xui16>, tensor<2x3x4xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x6x5xui16>, tensor<0xui16>) {
    %in = call @inputs() : () -> tensor<2x3x4xui16>
    %want:2 = call @expected() : () -> (tensor<5x6x5xui16>, tensor<0xui16>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xui16>) -> (tensor<5x6x5xui16>, tensor<0xui16>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x6x5xui16>, tensor<5x6x5xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<0xui16>, tensor<0xui16>) -> ()
    return %got#0, %got#1 : tensor<5x6x5xui16>, tensor<0xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]> : tensor<2x3x4xui16>
    return %c0 : tensor<2x3x4xui16>
  }
  func.func private @expected() -> (tensor<5x6x5xui16>, tensor<0xui16>) {
    %c0 = stablehlo.constant dense<[[[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [86, 1, 92, 1, 45], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [99, 1, 30, 1, 110]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [91, 1, 111, 1, 119], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [17, 1, 40, 1, 85]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]], [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]]]> : tensor<5x6x5xui16>
    %c1 = stablehlo.constant dense<> : tensor<0xui16>
    return %c0, %c1 : tensor<5x6x5xui16>, tensor<0xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>) -> (tensor<5x6x5xui16> {jax.result_info = "result[0]"}, tensor<0xui16> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<ui16>
    %0 = stablehlo.pad %arg0, %c, low = [1, -1, 0], high = [2, 0, -2], interior = [0, 2, 1] : (tensor<2x3x4xui16>, tensor<ui16>) -> tensor<5x6x5xui16>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3x4xui16>) -> tensor<24xui16>
    %2 = stablehlo.slice %1 [0:0] : (tensor<24xui16>) -> tensor<0xui16>
    return %0, %2 : tensor<5x6x5xui16>, tensor<0xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xui16>, tensor<2x3x4xui16>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui16>, tensor<i32>)
    %want:2 = call @expected() : () -> (tensor<1x2x3xui16>, tensor<2x3x4xui16>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<2x3x4xui16>, tensor<i32>) -> (tensor<1x2x3xui16>, tensor<2x3x4xui16>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<1x2x3xui16>, tensor<1x2x3xui16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3x4xui16>, tensor<2x3x4xui16>) -> ()
    return %got#0, %got#1 : tensor<1x2x3xui16>, tensor<2x3x4xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>, tensor<i32>) {
    %c0 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]> : tensor<2x3x4xui16>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xui16>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xui16>, tensor<2x3x4xui16>) {
    %c0 = stablehlo.constant dense<[[[111, 119, 15], [40, 85, 109]]]> : tensor<1x2x3xui16>
    %c1 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [46, 116, 65, 2], [86, 92, 45, 3]]]> : tensor<2x3x4xui16>
    return %c0, %c1 : tensor<1x2x3xui16>, tensor<2x3x4xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>, %arg1: tensor<i32>) -> (tensor<1x2x3xui16> {jax.result_info = "result[0]"}, tensor<2x3x4xui16> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xui16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xui16>
    %10 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<2x3x4xui16>) -> tensor<1x2x4xui16>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %12 = stablehlo.add %arg1, %c_6 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg1 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg1, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %15 = stablehlo.add %arg1, %c_8 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg1 : tensor<i1>, tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %arg1, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.add %arg1, %c_10 : tensor<i32>
    %19 = stablehlo.select %17, %18, %arg1 : tensor<i1>, tensor<i32>
    %20 = stablehlo.dynamic_update_slice %arg0, %10, %13, %16, %19 : (tensor<2x3x4xui16>, tensor<1x2x4xui16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xui16>
    return %9, %20 : tensor<1x2x3xui16>, tensor<2x3x4xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xui16>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui16>, tensor<i32>)
    %want = call @expected() : () -> tensor<1x2x3xui16>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xui16>, tensor<i32>) -> tensor<1x2x3xui16>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x3xui16>, tensor<1x2x3xui16>) -> ()
    return %got : tensor<1x2x3xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>, tensor<i32>) {
    %c0 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]> : tensor<2x3x4xui16>
    %c1 = stablehlo.constant dense<-3> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xui16>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xui16>) {
    %c0 = stablehlo.constant dense<[[[116, 65, 2], [92, 45, 3]]]> : tensor<1x2x3xui16>
    return %c0 : tensor<1x2x3xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>, %arg1: tensor<i32>) -> (tensor<1x2x3xui16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xui16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xui16>
    return %9 : tensor<1x2x3xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xui16>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui16>, tensor<i64>)
    %want = call @expected() : () -> tensor<1x2x3xui16>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xui16>, tensor<i64>) -> tensor<1x2x3xui16>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x2x3xui16>, tensor<1x2x3xui16>) -> ()
    return %got : tensor<1x2x3xui16>
  }
  func.func private @inputs() -> (tensor<2x3x4xui16>, tensor<i64>) {
    %c0 = stablehlo.constant dense<[[[46, 116, 65, 2], [86, 92, 45, 3], [99, 30, 110, 43]], [[46, 95, 16, 3], [91, 111, 119, 15], [17, 40, 85, 109]]]> : tensor<2x3x4xui16>
    %c1 = stablehlo.constant dense<9> : tensor<i64>
    return %c0, %c1 : tensor<2x3x4xui16>, tensor<i64>
  }
  func.func private @expected() -> (tensor<1x2x3xui16>) {
    %c0 = stablehlo.constant dense<[[[111, 119, 15], [40, 85, 109]]]> : tensor<1x2x3xui16>
    return %c0 : tensor<1x2x3xui16>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui16>, %arg1: tensor<i64>) -> (tensor<1x2x3xui16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i64>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i64>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i64>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i64>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i64>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i64>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xui16>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x3xui16>
    return %9 : tensor<1x2x3xui16>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want:7 = call @expected() : () -> (tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>)
    %got:7 = call @computed(%in) : (tensor<2x3x4xf64>) -> (tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xf64>, tensor<4x6xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4x2x3xf64>, tensor<4x2x3xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<2x2x2xf64>, tensor<2x2x2xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<2x6x4xf64>, tensor<2x6x4xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<5x2x3x4xf64>, tensor<5x2x3x4xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<4x6xf64>
    %c1 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0902FAC422BE0FCBFE0DB9B1CC71FF63F2A895AF60F1409C051EF779546B60E402A9D31FF34E5E83FD3243C1CC0B2FB3F7636A1A2A360E23FDDE02A52AA2F18405A6632F4EAA1EE3F58EA53851ABB05C02754B6D41290FA3F971B1365124B12401FDDB9DAC4EE78BF42ACE3425CC7E8BF213640036CED0DC090715564DCF3094062A3389D506D1740E0D56114F11AEEBFE847EE61C7D807C0D58536A9E279E3BFEA6A6CF5FB900AC04CB7E3E9D34A12409064E615CCE2E2BF"> : tensor<4x2x3xf64>
    %c2 = stablehlo.constant dense<"0xEA6A6CF5FB900AC0213640036CED0DC05A6632F4EAA1EE3F2A895AF60F1409C04CB7E3E9D34A124090715564DCF3094058EA53851ABB05C051EF779546B60E409064E615CCE2E2BF62A3389D506D17402754B6D41290FA3F2A9D31FF34E5E83FE0D56114F11AEEBF971B1365124B1240D3243C1CC0B2FB3FA67CB4EA8E7E02C0E847EE61C7D807C01FDDB9DAC4EE78BF7636A1A2A360E23F902FAC422BE0FCBFD58536A9E279E3BF42ACE3425CC7E8BFDDE02A52AA2F1840E0DB9B1CC71FF63F"> : tensor<2x3x4xf64>
    %c3 = stablehlo.constant dense<"0x902FAC422BE0FCBF1FDDB9DAC4EE78BFE0DB9B1CC71FF63F42ACE3425CC7E8BF51EF779546B60E4090715564DCF309402A9D31FF34E5E83F62A3389D506D1740"> : tensor<2x2x2xf64>
    %c4 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BFA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<2x6x4xf64>
    %c5 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BFA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BFA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BFA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BFA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<5x2x3x4xf64>
    %c6 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0A67CB4EA8E7E02C0A67CB4EA8E7E02C0A67CB4EA8E7E02C0902FAC422BE0FCBF902FAC422BE0FCBF902FAC422BE0FCBF902FAC422BE0FCBFE0DB9B1CC71FF63FE0DB9B1CC71FF63FE0DB9B1CC71FF63FE0DB9B1CC71FF63FA67CB4EA8E7E02C0A67CB4EA8E7E02C0A67CB4EA8E7E02C0A67CB4EA8E7E02C0902FAC422BE0FCBF902FAC422BE0FCBF902FAC422BE0FCBF902FAC422BE0FCBFE0DB9B1CC71FF63FE0DB9B1CC71FF63FE0DB9B1CC71FF63FE0DB9B1CC71FF63F"> : tensor<2x3x4xf64>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<4x6xf64> {jax.result_info = "result[0]"}, tensor<4x2x3xf64> {jax.result_info = "result[1]"}, tensor<2x3x4xf64> {jax.result_info = "result[2]"}, tensor<2x2x2xf64> {jax.result_info = "result[3]"}, tensor<2x6x4xf64> {jax.result_info = "result[4]"}, tensor<5x2x3x4xf64> {jax.result_info = "result[5]"}, tensor<2x3x4xf64> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x4xf64>) -> tensor<4x6xf64>
    %1 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
    %2 = stablehlo.reverse %arg0, dims = [0, 2] : tensor<2x3x4xf64>
    %3 = stablehlo.slice %arg0 [0:2, 1:3, 0:4:2] : (tensor<2x3x4xf64>) -> tensor<2x2x2xf64>
    %4 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> tensor<2x6x4xf64>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3] : (tensor<2x3x4xf64>) -> tensor<5x2x3x4xf64>
    %6 = stablehlo.slice %arg0 [0:1, 0:3, 0:1] : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<1x3x1xf64>) -> tensor<2x3x4xf64>
    return %0, %1, %2, %3, %4, %5, %7 : tensor<4x6xf64>, tensor<4x2x3xf64>, tensor<2x3x4xf64>, tensor<2x2x2xf64>, tensor<2x6x4xf64>, tensor<5x2x3x4xf64>, tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x6x5xf64>, tensor<0xf64>) {
    %in = call @inputs() : () -> tensor<2x3x4xf64>
    %want:2 = call @expected() : () -> (tensor<5x6x5xf64>, tensor<0xf64>)
    %got:2 = call @computed(%in) : (tensor<2x3x4xf64>) -> (tensor<5x6x5xf64>, tensor<0xf64>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<5x6x5xf64>, tensor<5x6x5xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<0xf64>, tensor<0xf64>) -> ()
    return %got#0, %got#1 : tensor<5x6x5xf64>, tensor<0xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<5x6x5xf64>, tensor<0xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F902FAC422BE0FCBF000000000000F03F7636A1A2A360E23F000000000000F03F1FDDB9DAC4EE78BF000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03FE0DB9B1CC71FF63F000000000000F03FDDE02A52AA2F1840000000000000F03F42ACE3425CC7E8BF000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F51EF779546B60E40000000000000F03F58EA53851ABB05C0000000000000F03F90715564DCF30940000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F2A9D31FF34E5E83F000000000000F03F2754B6D41290FA3F000000000000F03F62A3389D506D1740000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F000000000000F03F"> : tensor<5x6x5xf64>
    %c1 = stablehlo.constant dense<> : tensor<0xf64>
    return %c0, %c1 : tensor<5x6x5xf64>, tensor<0xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>) -> (tensor<5x6x5xf64> {jax.result_info = "result[0]"}, tensor<0xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.pad %arg0, %cst, low = [1, -1, 0], high = [2, 0, -2], interior = [0, 2, 1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<5x6x5xf64>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3x4xf64>) -> tensor<24xf64>
    %2 = stablehlo.slice %1 [0:0] : (tensor<24xf64>) -> tensor<0xf64>
    return %0, %2 : tensor<5x6x5xf64>, tensor<0xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xf64>, tensor<2x3x4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<i32>)
    %want:2 = call @expected() : () -> (tensor<1x2x3xf64>, tensor<2x3x4xf64>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<i32>) -> (tensor<1x2x3xf64>, tensor<2x3x4xf64>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<1x2x3xf64>, tensor<1x2x3xf64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got#0, %got#1 : tensor<1x2x3xf64>, tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xf64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x58EA53851ABB05C090715564DCF309404CB7E3E9D34A12402754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<1x2x3xf64>
    %c1 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC0A67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0"> : tensor<2x3x4xf64>
    return %c0, %c1 : tensor<1x2x3xf64>, tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<i32>) -> (tensor<1x2x3xf64> {jax.result_info = "result[0]"}, tensor<2x3x4xf64> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf64>
    %10 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<2x3x4xf64>) -> tensor<1x2x4xf64>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.compare LT, %arg1, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<2> : tensor<i32>
    %12 = stablehlo.add %arg1, %c_6 : tensor<i32>
    %13 = stablehlo.select %11, %12, %arg1 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.compare LT, %arg1, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_8 = stablehlo.constant dense<3> : tensor<i32>
    %15 = stablehlo.add %arg1, %c_8 : tensor<i32>
    %16 = stablehlo.select %14, %15, %arg1 : tensor<i1>, tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %17 = stablehlo.compare LT, %arg1, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_10 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.add %arg1, %c_10 : tensor<i32>
    %19 = stablehlo.select %17, %18, %arg1 : tensor<i1>, tensor<i32>
    %20 = stablehlo.dynamic_update_slice %arg0, %10, %13, %16, %19 : (tensor<2x3x4xf64>, tensor<1x2x4xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x4xf64>
    return %9, %20 : tensor<1x2x3xf64>, tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<i32>)
    %want = call @expected() : () -> tensor<1x2x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<i32>) -> tensor<1x2x3xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x2x3xf64>, tensor<1x2x3xf64>) -> ()
    return %got : tensor<1x2x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<i32>) {
    %c0 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<-3> : tensor<i32>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<i32>
  }
  func.func private @expected() -> (tensor<1x2x3xf64>) {
    %c0 = stablehlo.constant dense<"0xD3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0"> : tensor<1x2x3xf64>
    return %c0 : tensor<1x2x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<i32>) -> (tensor<1x2x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i32>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i32>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i32>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf64>
    return %9 : tensor<1x2x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x2x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<i64>)
    %want = call @expected() : () -> tensor<1x2x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<i64>) -> tensor<1x2x3xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x2x3xf64>, tensor<1x2x3xf64>) -> ()
    return %got : tensor<1x2x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<i64>) {
    %c0 = stablehlo.constant dense<"0xA67CB4EA8E7E02C0D3243C1CC0B2FB3F971B1365124B1240E0D56114F11AEEBF902FAC422BE0FCBF7636A1A2A360E23F1FDDB9DAC4EE78BFE847EE61C7D807C0E0DB9B1CC71FF63FDDE02A52AA2F184042ACE3425CC7E8BFD58536A9E279E3BF2A895AF60F1409C05A6632F4EAA1EE3F213640036CED0DC0EA6A6CF5FB900AC051EF779546B60E4058EA53851ABB05C090715564DCF309404CB7E3E9D34A12402A9D31FF34E5E83F2754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<9> : tensor<i64>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<i64>
  }
  func.func private @expected() -> (tensor<1x2x3xf64>) {
    %c0 = stablehlo.constant dense<"0x58EA53851ABB05C090715564DCF309404CB7E3E9D34A12402754B6D41290FA3F62A3389D506D17409064E615CCE2E2BF"> : tensor<1x2x3xf64>
    return %c0 : tensor<1x2x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<i64>) -> (tensor<1x2x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i64>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %3 = stablehlo.compare LT, %arg1, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<3> : tensor<i64>
    %4 = stablehlo.add %arg1, %c_2 : tensor<i64>
    %5 = stablehlo.select %3, %4, %arg1 : tensor<i1>, tensor<i64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6 = stablehlo.compare LT, %arg1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<4> : tensor<i64>
    %7 = stablehlo.add %arg1, %c_4 : tensor<i64>
    %8 = stablehlo.select %6, %7, %arg1 : tensor<i1>, tensor<i64>
    %9 = stablehlo.dynamic_slice %arg0, %2, %5, %8, sizes = [1, 2, 3] : (tensor<2x3x4xf64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x3xf64>
    return %9 : tensor<1x2x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %want:6 = call @expected() : () -> (tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>)
    %got:6 = call @computed() : () -> (tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @expected() -> (tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xi8>
    %c1 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi8>
    %c2 = stablehlo.constant dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xui32>
    %c3 = stablehlo.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xui32>
    %c4 = stablehlo.constant dense<"0x0000000000000000000000000000803F0000803F0000803F"> : tensor<2x3xf32>
    %c5 = stablehlo.constant dense<"0x000000000000803F00000040000000000000803F00000040"> : tensor<2x3xf32>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
  func.func private @computed() -> (tensor<2x3xi8> {jax.result_info = "result[0]"}, tensor<2x3xi8> {jax.result_info = "result[1]"}, tensor<2x3xui32> {jax.result_info = "result[2]"}, tensor<2x3xui32> {jax.result_info = "result[3]"}, tensor<2x3xf32> {jax.result_info = "result[4]"}, tensor<2x3xf32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<2x3xi8>
    %1 = stablehlo.iota dim = 1 : tensor<2x3xi8>
    %2 = stablehlo.iota dim = 0 : tensor<2x3xui32>
    %3 = stablehlo.iota dim = 1 : tensor<2x3xui32>
    %4 = stablehlo.iota dim = 0 : tensor<2x3xf32>
    %5 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xui32>, tensor<2x3xui32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<f32>, tensor<1x1xf32>) {
    %in = call @inputs() : () -> tensor<1xf32>
    %want:2 = call @expected() : () -> (tensor<f32>, tensor<1x1xf32>)
    %got:2 = call @computed(%in) : (tensor<1xf32>) -> (tensor<f32>, tensor<1x1xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<1x1xf32>, tensor<1x1xf32>) -> ()
    return %got#0, %got#1 : tensor<f32>, tensor<1x1xf32>
  }
  func.func private @inputs() -> (tensor<1xf32>) {
    %c0 = stablehlo.constant dense<"0xD8B6E3BF"> : tensor<1xf32>
    return %c0 : tensor<1xf32>
  }
  func.func private @expected() -> (tensor<f32>, tensor<1x1xf32>) {
    %c0 = stablehlo.constant dense<"0xD8B6E3BF"> : tensor<f32>
    %c1 = stablehlo.constant dense<"0xD8B6E3BF"> : tensor<1x1xf32>
    return %c0, %c1 : tensor<f32>, tensor<1x1xf32>
  }
  func.func private @computed(%arg0: tensor<1xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<1x1xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<1xf32>) -> tensor<f32>
    %1 = stablehlo.reshape %arg0 : (tensor<1xf32>) -> tensor<1x1xf32>
    return %0, %1 : tensor<f32>, tensor<1x1xf32>
  }
}
