module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xf32>, tensor<5x1xi32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<5x1xi32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    return %c0, %c1 : tensor<5x4xf32>, tensor<5x1xi32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0B78E6840ACE7D640A3E7BF409938423EB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC02A0A2FC077FE23C06D2E1D3F08D906C0"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xf32>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<2x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    return %got : tensor<2x3xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[1, 9]> : tensor<2xi64>
    return %c0, %c1 : tensor<5x4xf32>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x55BF473FE23531C0D7D75F3E04D72F407DE6F2BF79A4A8BF"> : tensor<2x3xf32>
    return %c0 : tensor<2x3xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<2xi64>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x4xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0x5B85B33EE861AD3F5D321FC0C7099EC011ED89C05C86FF3FB99B11C0F01BD9BEBD3E233F06C0ED3F499A80BFC081BF3F3EE42AC0F0E58ABF13B044C09F4C59403C66A6BD71F20DC08F4F87BF98492ABF"> : tensor<5x4xf32>
    return %c0, %c1, %c2 : tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x5B85B33EE861AD3F5D321FC0C7099EC0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFBD3E233F06C0ED3F499A80BFC081BF3F3EE42AC0F0E58ABF13B044C09F4C5940"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0x5B85B33EE861AD3F5D321FC0C7099EC011ED89C05C86FF3FB99B11C0F01BD9BEBD3E233F06C0ED3F499A80BFC081BF3F3EE42AC0F0E58ABF13B044C09F4C59403C66A6BD71F20DC08F4F87BF98492ABF"> : tensor<5x4xf32>
    return %c0, %c1, %c2 : tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x7F9918C0069B9ABF84CDEFBF4B76E1C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFF0EE1EBDA31C294168E62D40D781A13F18DF00C098F960404B945CC0E0B8EE3E"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0x5B85B33EE861AD3F5D321FC0C7099EC011ED89C05C86FF3FB99B11C0F01BD9BEBD3E233F06C0ED3F499A80BFC081BF3F3EE42AC0F0E58ABF13B044C09F4C59403C66A6BD71F20DC08F4F87BF98492ABF"> : tensor<5x4xf32>
    return %c0, %c1, %c2 : tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x947E75BF5D235EC0847DC3BF337E2641C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFDACB1FC1D836C74101555B414B70F6BD0D67E0BFF9BE9FC04ED9923FB71E1FC1"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.multiply %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0x5B85B33EE861AD3F5D321FC0C7099EC011ED89C05C86FF3FB99B11C0F01BD9BEBD3E233F06C0ED3F499A80BFC081BF3F3EE42AC0F0E58ABF13B044C09F4C59403C66A6BD71F20DC08F4F87BF98492ABF"> : tensor<5x4xf32>
    return %c0, %c1, %c2 : tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C05D321FC0C7099EC0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BF11ED89C006C0ED3FB99B11C0F01BD9BE3EE42AC0F0E58ABF13B044C083753BC0"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.minimum %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0x5B85B33EE861AD3F5D321FC0C7099EC011ED89C05C86FF3FB99B11C0F01BD9BEBD3E233F06C0ED3F499A80BFC081BF3F3EE42AC0F0E58ABF13B044C09F4C59403C66A6BD71F20DC08F4F87BF98492ABF"> : tensor<5x4xf32>
    return %c0, %c1, %c2 : tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x5B85B33EE861AD3F6D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF40C081BF3F9614283F48369340C221BFBE9F4C5940"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf32>, tensor<2xi32>, tensor<2x2xf32>)
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>, tensor<2xi32>, tensor<2x2xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    %c1 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %c2 = stablehlo.constant dense<"0x5B85B33EE861AD3F11ED89C05C86FF3F"> : tensor<2x2xf32>
    return %c0, %c1, %c2 : tensor<5x4xf32>, tensor<2xi32>, tensor<2x2xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640F91FCB40FBA8C53F9614283F483693402DDF95C054C96EBF"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2x2xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5x4xf32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf32>) {
    %in = call @inputs() : () -> tensor<5x4xf32>
    %want = call @expected() : () -> tensor<5x4xf32>
    %got = call @computed(%in) : (tensor<5x4xf32>) -> tensor<5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
    return %got : tensor<5x4xf32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C0E23531C083753BC000E486BF55BF473F7DE6F2BF08D906C09614283F04D72F40C221BFBE79A4A8BFC5AF0140483693406D2E1D3F9938423EB78E6840ACE7D640A3E7BF40D7D75F3E"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>) -> (tensor<5x4xf32> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
  func.func private @sort(%arg0: tensor<5x4xf32>) -> tensor<5x4xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<5x4xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>) {
    %in = call @inputs() : () -> tensor<5x4xf32>
    %want:3 = call @expected() : () -> (tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>)
    %got:3 = call @computed(%in) : (tensor<5x4xf32>) -> (tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<5x2xf32>, tensor<5x2xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5x2xi32>, tensor<5x2xi32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>
  }
  func.func private @inputs() -> (tensor<5x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2A0A2FC077FE23C06D2E1D3F08D906C0C5AF014055BF473FE23531C0D7D75F3E00E486BF04D72F407DE6F2BF79A4A8BFB78E6840ACE7D640A3E7BF409938423E9614283F48369340C221BFBE83753BC0"> : tensor<5x4xf32>
    return %c0 : tensor<5x4xf32>
  }
  func.func private @expected() -> (tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>) {
    %c0 = stablehlo.constant dense<[[0, 1, 3, 2], [2, 3, 1, 0], [2, 3, 0, 1], [3, 0, 2, 1], [3, 2, 0, 1]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<"0x6D2E1D3F08D906C0C5AF014055BF473F04D72F4000E486BFACE7D640A3E7BF40483693409614283F"> : tensor<5x2xf32>
    %c2 = stablehlo.constant dense<[[2, 3], [0, 1], [1, 0], [1, 2], [1, 0]]> : tensor<5x2xi32>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>
  }
  func.func private @computed(%arg0: tensor<5x4xf32>) -> (tensor<5x4xi64> {jax.result_info = "result[0]"}, tensor<5x2xf32> {jax.result_info = "result[1][0]"}, tensor<5x2xi32> {jax.result_info = "result[1][1]"}) {
    %0 = call @argsort(%arg0) : (tensor<5x4xf32>) -> tensor<5x4xi64>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<5x4xf32> -> (tensor<5x2xf32>, tensor<5x2xi32>)
    return %0, %values, %indices : tensor<5x4xi64>, tensor<5x2xf32>, tensor<5x2xi32>
  }
  func.func private @argsort(%arg0: tensor<5x4xf32>) -> tensor<5x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<5x4xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.select %2, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.select %6, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %8 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %9 = stablehlo.select %8, %cst_4, %7 : tensor<i1>, tensor<f32>
      %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<5x4xf32>, tensor<5x4xi64>) -> (tensor<5x4xf32>, tensor<5x4xi64>)
    return %1#1 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xf64>, tensor<5x1xi32>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xf64>, tensor<5x1xi32>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<5x1xi32>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    return %c0, %c1 : tensor<5x4xf64>, tensor<5x1xi32>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF09588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C090996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<5x1xi32>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf64>, tensor<5x1xi32>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xf64>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<2x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xf64>, tensor<2xi64>) -> tensor<2x3xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    return %got : tensor<2x3xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[1, 9]> : tensor<2xi64>
    return %c0, %c1 : tensor<5x4xf64>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<2x3xf64>) {
    %c0 = stablehlo.constant dense<"0x71A8F5ECB0EF064063B9B6AB1266D5BFFC48DD828616014014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D40"> : tensor<2x3xf64>
    return %c0 : tensor<2x3xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<2xi64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x4xf64>, tensor<2xi64>) -> tensor<2x3xf64>
    return %0 : tensor<2x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040641D3412CB61F0BFD870ABFB284914C0AF27E15171A8F13F1F7E38A80FCB01C05C02189BD9B2EFBFF1BDF78A3704FDBF52E0E6B24365F0BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F34D7E8E36FAC0A400B704BF812C21740C9899017FD59B13F0085AF8C15A115C00EEA70720A7405C05D55049C38F70CC0"> : tensor<5x4xf64>
    return %c0, %c1, %c2 : tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D405C02189BD9B2EFBFF1BDF78A3704FDBF52E0E6B24365F0BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F34D7E8E36FAC0A400B704BF812C21740"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      stablehlo.return %arg4 : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040641D3412CB61F0BFD870ABFB284914C0AF27E15171A8F13F1F7E38A80FCB01C05C02189BD9B2EFBFF1BDF78A3704FDBF52E0E6B24365F0BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F34D7E8E36FAC0A400B704BF812C21740C9899017FD59B13F0085AF8C15A115C00EEA70720A7405C05D55049C38F70CC0"> : tensor<5x4xf64>
    return %c0, %c1, %c2 : tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x8736A0910A0F1040AB812B8E187A15C02C392C215AF5FCBFE6059739C237ED3F487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D40128D63589405E1BFE66727FEE07B13C0F9F285CFDB21F7BF13284731740A0BC0A6D8C889298F21406651ECDDBDA90340BD59025F5B8C1540A0CBAF467B35C2BF"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040641D3412CB61F0BFD870ABFB284914C0AF27E15171A8F13F1F7E38A80FCB01C05C02189BD9B2EFBFF1BDF78A3704FDBF52E0E6B24365F0BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F34D7E8E36FAC0A400B704BF812C21740C9899017FD59B13F0085AF8C15A115C00EEA70720A7405C05D55049C38F70CC0"> : tensor<5x4xf64>
    return %c0, %c1, %c2 : tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x1A71925D0C15104013ECC6DAE14C0640AF5C0210A83310C06C9C84F03E9402C0487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D400B357913DB0EF83F9C0226A8EF853240EC73986C9096FB3FBBBB62B23D3D5640992BE9FC6DB93240C9E52CBB95A5F43FB1A630F5F1601B40BD8F0648BB0F42C0"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %1 = stablehlo.multiply %arg3, %arg4 : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040641D3412CB61F0BFD870ABFB284914C0AF27E15171A8F13F1F7E38A80FCB01C05C02189BD9B2EFBFF1BDF78A3704FDBF52E0E6B24365F0BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F34D7E8E36FAC0A400B704BF812C21740C9899017FD59B13F0085AF8C15A115C00EEA70720A7405C05D55049C38F70CC0"> : tensor<5x4xf64>
    return %c0, %c1, %c2 : tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FB170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D40641D3412CB61F0BFD870ABFB284914C0563A806E0965F8BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %1 = stablehlo.minimum %arg3, %arg4 : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040641D3412CB61F0BFD870ABFB284914C0AF27E15171A8F13F1F7E38A80FCB01C05C02189BD9B2EFBFF1BDF78A3704FDBF52E0E6B24365F0BF229B7A2FD9B61BC0AA178A53EC340D40E6E105DB3B52E83F34D7E8E36FAC0A400B704BF812C21740C9899017FD59B13F0085AF8C15A115C00EEA70720A7405C05D55049C38F70CC0"> : tensor<5x4xf64>
    return %c0, %c1, %c2 : tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040CE87C0A269A2E2BF2CD70354D5D3F43FE96E21D707610040487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040AF27E15171A8F13F2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F34D7E8E36FAC0A400B704BF812C21740"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %1 = stablehlo.maximum %arg3, %arg4 : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<5x1xi32>, tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xf64>, tensor<2xi32>, tensor<2x2xf64>)
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xf64>, tensor<2xi32>, tensor<2x2xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>, tensor<2xi32>, tensor<2x2xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    %c1 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %c2 = stablehlo.constant dense<"0xFDA6A38D2D9CFE3FCE87C0A269A2E2BF641D3412CB61F0BFD870ABFB284914C0"> : tensor<2x2xf64>
    return %c0, %c1, %c2 : tensor<5x4xf64>, tensor<2xi32>, tensor<2x2xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C00409CB28D7C90DCD83F2E359BB6D9C2144077A5CCE9DC831440DAB155CE5D2AFB3F289B03A2C276F03FA02F16E7734E26C0"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>, %arg1: tensor<2xi32>, %arg2: tensor<2x2xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<f64>
      stablehlo.return %1 : tensor<f64>
    }) : (tensor<5x4xf64>, tensor<2xi32>, tensor<2x2xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xf64>) {
    %in = call @inputs() : () -> tensor<5x4xf64>
    %want = call @expected() : () -> tensor<5x4xf64>
    %got = call @computed(%in) : (tensor<5x4xf64>) -> tensor<5x4xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5x4xf64>, tensor<5x4xf64>) -> ()
    return %got : tensor<5x4xf64>
  }
  func.func private @inputs() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x09588EB36DB8F73FB170D359CB2513C02C0898BA97E408C068EE80D2BE5318C090996E5CFECF004014566DA17D70E6BF563A806E0965F8BFDF5A77912E26F2BF77A5CCE9DC831440DAB155CE5D2AFB3FB06A52B77C96F1BFFC48DD8286160140A2094AA471B01840DDF083C0AB1C004063B9B6AB1266D5BF78AC815E2E160D40487E36573E631E4071A8F5ECB0EF064046DC1BDA466C00402846F3EA26171740"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>) -> (tensor<5x4xf64> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
  func.func private @sort(%arg0: tensor<5x4xf64>) -> tensor<5x4xf64> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f64>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f64>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f64>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f64>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<5x4xf64>) -> tensor<5x4xf64>
    return %0 : tensor<5x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>) {
    %in = call @inputs() : () -> tensor<5x4xf64>
    %want:3 = call @expected() : () -> (tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>)
    %got:3 = call @computed(%in) : (tensor<5x4xf64>) -> (tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<5x2xf64>, tensor<5x2xf64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5x2xi32>, tensor<5x2xi32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>
  }
  func.func private @inputs() -> (tensor<5x4xf64>) {
    %c0 = stablehlo.constant dense<"0x90996E5CFECF0040B170D359CB2513C02C0898BA97E408C0DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF064063B9B6AB1266D5BFFC48DD8286160140A2094AA471B0184014566DA17D70E6BFB06A52B77C96F1BF78AC815E2E160D4009588EB36DB8F73FDDF083C0AB1C0040563A806E0965F8BF2846F3EA2617174077A5CCE9DC831440DAB155CE5D2AFB3F46DC1BDA466C004068EE80D2BE5318C0"> : tensor<5x4xf64>
    return %c0 : tensor<5x4xf64>
  }
  func.func private @expected() -> (tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>) {
    %c0 = stablehlo.constant dense<[[1, 2, 3, 0], [2, 3, 1, 0], [2, 1, 3, 0], [2, 0, 1, 3], [3, 1, 2, 0]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<"0x90996E5CFECF0040DF5A77912E26F2BF487E36573E631E4071A8F5ECB0EF0640A2094AA471B0184078AC815E2E160D402846F3EA26171740DDF083C0AB1C004077A5CCE9DC83144046DC1BDA466C0040"> : tensor<5x2xf64>
    %c2 = stablehlo.constant dense<[[0, 3], [0, 1], [0, 3], [3, 1], [0, 2]]> : tensor<5x2xi32>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>
  }
  func.func private @computed(%arg0: tensor<5x4xf64>) -> (tensor<5x4xi64> {jax.result_info = "result[0]"}, tensor<5x2xf64> {jax.result_info = "result[1][0]"}, tensor<5x2xi32> {jax.result_info = "result[1][1]"}) {
    %0 = call @argsort(%arg0) : (tensor<5x4xf64>) -> tensor<5x4xi64>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<5x4xf64> -> (tensor<5x2xf64>, tensor<5x2xi32>)
    return %0, %values, %indices : tensor<5x4xi64>, tensor<5x2xf64>, tensor<5x2xi32>
  }
  func.func private @argsort(%arg0: tensor<5x4xf64>) -> tensor<5x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<5x4xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %2 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %3 = stablehlo.select %2, %cst_0, %arg1 : tensor<i1>, tensor<f64>
      %4 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f64>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %6 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %7 = stablehlo.select %6, %cst_3, %arg2 : tensor<i1>, tensor<f64>
      %8 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %9 = stablehlo.select %8, %cst_4, %7 : tensor<i1>, tensor<f64>
      %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<5x4xf64>, tensor<5x4xi64>) -> (tensor<5x4xf64>, tensor<5x4xi64>)
    return %1#1 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xi8>, tensor<5x1xi32>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xi8>, tensor<5x1xi32>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<5x1xi32>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    return %c0, %c1 : tensor<5x4xi8>, tensor<5x1xi32>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [45, -47, 11, 7], [45, -47, 11, 7], [-64, 9, -70, -57], [56, 93, 71, -45]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<5x1xi32>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xi8>, tensor<5x1xi32>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xi8>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xi8>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<2x3xi8>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xi8>, tensor<2xi64>) -> tensor<2x3xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3xi8>, tensor<2x3xi8>) -> ()
    return %got : tensor<2x3xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[1, 9]> : tensor<2xi64>
    return %c0, %c1 : tensor<5x4xi8>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<2x3xi8>) {
    %c0 = stablehlo.constant dense<[[6, 91, 20], [6, 0, 32]]> : tensor<2x3xi8>
    return %c0 : tensor<2x3xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<2xi64>) -> (tensor<2x3xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x4xi8>, tensor<2xi64>) -> tensor<2x3xi8>
    return %0 : tensor<2x3xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-38, 113, -89, 88], [-53, 108, -72, 34], [2, -51, -22, -11], [29, 61, -39, -17], [-93, -43, -28, 77]]> : tensor<5x4xi8>
    return %c0, %c1, %c2 : tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[-38, 113, -89, 88], [-98, 6, 91, 20], [-65, 6, 0, 32], [2, -51, -22, -11], [29, 61, -39, -17]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i8>, %arg4: tensor<i8>):
      stablehlo.return %arg4 : tensor<i8>
    }) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-38, 113, -89, 88], [-53, 108, -72, 34], [2, -51, -22, -11], [29, 61, -39, -17], [-93, -43, -28, 77]]> : tensor<5x4xi8>
    return %c0, %c1, %c2 : tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[18, -50, -18, 43], [-98, 6, 91, 20], [-65, 6, 0, 32], [-6, 10, -83, 30], [-35, 70, -109, -74]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i8>, %arg4: tensor<i8>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-38, 113, -89, 88], [-53, 108, -72, 34], [2, -51, -22, -11], [29, 61, -39, -17], [-93, -43, -28, 77]]> : tensor<5x4xi8>
    return %c0, %c1, %c2 : tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[-80, 13, 81, -120], [-98, 6, 91, 20], [-65, 6, 0, 32], [94, 60, 16, -58], [-64, 37, -86, -55]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i8>, %arg4: tensor<i8>):
      %1 = stablehlo.multiply %arg3, %arg4 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-38, 113, -89, 88], [-53, 108, -72, 34], [2, -51, -22, -11], [29, 61, -39, -17], [-93, -43, -28, 77]]> : tensor<5x4xi8>
    return %c0, %c1, %c2 : tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[-38, 93, -89, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [-53, -51, -72, -11], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i8>, %arg4: tensor<i8>):
      %1 = stablehlo.minimum %arg3, %arg4 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-38, 113, -89, 88], [-53, 108, -72, 34], [2, -51, -22, -11], [29, 61, -39, -17], [-93, -43, -28, 77]]> : tensor<5x4xi8>
    return %c0, %c1, %c2 : tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 113, 71, 88], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, 108, 11, 34], [29, 61, -39, -17]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i8>, %arg4: tensor<i8>):
      %1 = stablehlo.maximum %arg3, %arg4 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<5x4xi8>, tensor<5x1xi32>, tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi8>, tensor<2xi32>, tensor<2x2xi8>)
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi8>, tensor<2xi32>, tensor<2x2xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>, tensor<2xi32>, tensor<2x2xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    %c1 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %c2 = stablehlo.constant dense<[[-38, 113], [-53, 108]]> : tensor<2x2xi8>
    return %c0, %c1, %c2 : tensor<5x4xi8>, tensor<2xi32>, tensor<2x2xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, -27, 120], [-64, 9, -123, 51]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>, %arg1: tensor<2xi32>, %arg2: tensor<2x2xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i8>, %arg4: tensor<i8>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<5x4xi8>, tensor<2xi32>, tensor<2x2xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi8>) {
    %in = call @inputs() : () -> tensor<5x4xi8>
    %want = call @expected() : () -> tensor<5x4xi8>
    %got = call @computed(%in) : (tensor<5x4xi8>) -> tensor<5x4xi8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi8>, tensor<5x4xi8>) -> ()
    return %got : tensor<5x4xi8>
  }
  func.func private @inputs() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[-98, -47, -70, -57], [-65, 6, 0, -45], [-64, 6, 11, 7], [45, 9, 71, 20], [56, 93, 91, 32]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>) -> (tensor<5x4xi8> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
  func.func private @sort(%arg0: tensor<5x4xi8>) -> tensor<5x4xi8> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<5x4xi8>) -> tensor<5x4xi8>
    return %0 : tensor<5x4xi8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>) {
    %in = call @inputs() : () -> tensor<5x4xi8>
    %want:3 = call @expected() : () -> (tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>)
    %got:3 = call @computed(%in) : (tensor<5x4xi8>) -> (tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5x2xi8>, tensor<5x2xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5x2xi32>, tensor<5x2xi32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>
  }
  func.func private @inputs() -> (tensor<5x4xi8>) {
    %c0 = stablehlo.constant dense<[[56, 93, 71, -45], [-98, 6, 91, 20], [-65, 6, 0, 32], [45, -47, 11, 7], [-64, 9, -70, -57]]> : tensor<5x4xi8>
    return %c0 : tensor<5x4xi8>
  }
  func.func private @expected() -> (tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>) {
    %c0 = stablehlo.constant dense<[[3, 0, 2, 1], [0, 1, 3, 2], [0, 2, 1, 3], [1, 3, 2, 0], [2, 0, 3, 1]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[93, 71], [91, 20], [32, 6], [45, 11], [9, -57]]> : tensor<5x2xi8>
    %c2 = stablehlo.constant dense<[[1, 2], [2, 3], [3, 1], [0, 2], [1, 3]]> : tensor<5x2xi32>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>
  }
  func.func private @computed(%arg0: tensor<5x4xi8>) -> (tensor<5x4xi64> {jax.result_info = "result[0]"}, tensor<5x2xi8> {jax.result_info = "result[1][0]"}, tensor<5x2xi32> {jax.result_info = "result[1][1]"}) {
    %0 = call @argsort(%arg0) : (tensor<5x4xi8>) -> tensor<5x4xi64>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<5x4xi8> -> (tensor<5x2xi8>, tensor<5x2xi32>)
    return %0, %values, %indices : tensor<5x4xi64>, tensor<5x2xi8>, tensor<5x2xi32>
  }
  func.func private @argsort(%arg0: tensor<5x4xi8>) -> tensor<5x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<5x4xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %2 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<5x4xi8>, tensor<5x4xi64>) -> (tensor<5x4xi8>, tensor<5x4xi64>)
    return %1#1 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xi64>, tensor<5x1xi32>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xi64>, tensor<5x1xi32>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<5x1xi32>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    return %c0, %c1 : tensor<5x4xi64>, tensor<5x1xi32>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [101, -15, -32, -87], [101, -15, -32, -87], [61, 9, -45, -2], [66, 69, -44, -53]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<5x1xi32>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xi64>, tensor<5x1xi32>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xi64>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xi64>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<2x3xi64>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xi64>, tensor<2xi64>) -> tensor<2x3xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3xi64>, tensor<2x3xi64>) -> ()
    return %got : tensor<2x3xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[1, 9]> : tensor<2xi64>
    return %c0, %c1 : tensor<5x4xi64>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<2x3xi64>) {
    %c0 = stablehlo.constant dense<[[-6, 66, 90], [-53, 95, 18]]> : tensor<2x3xi64>
    return %c0 : tensor<2x3xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<2xi64>) -> (tensor<2x3xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x4xi64>, tensor<2xi64>) -> tensor<2x3xi64>
    return %0 : tensor<2x3xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-70, 113, -4, -34], [32, 74, 105, 49], [-68, -8, 56, 81], [4, 87, -72, -25], [113, -57, 53, -54]]> : tensor<5x4xi64>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[-70, 113, -4, -34], [-11, -6, 66, 90], [-11, -53, 95, 18], [-68, -8, 56, 81], [4, 87, -72, -25]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      stablehlo.return %arg4 : tensor<i64>
    }) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-70, 113, -4, -34], [32, 74, 105, 49], [-68, -8, 56, 81], [4, 87, -72, -25], [113, -57, 53, -54]]> : tensor<5x4xi64>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[-4, 182, -48, -87], [-11, -6, 66, 90], [-11, -53, 95, 18], [65, 51, 129, 43], [65, 96, -117, -27]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-70, 113, -4, -34], [32, 74, 105, 49], [-68, -8, 56, 81], [4, 87, -72, -25], [113, -57, 53, -54]]> : tensor<5x4xi64>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[-4620, 7797, 176, 1802], [-11, -6, 66, 90], [-11, -53, 95, 18], [-219776, 8880, -188160, -345303], [244, 783, 3240, 50]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      %1 = stablehlo.multiply %arg3, %arg4 : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-70, 113, -4, -34], [32, 74, 105, 49], [-68, -8, 56, 81], [4, 87, -72, -25], [113, -57, 53, -54]]> : tensor<5x4xi64>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[-70, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [-68, -15, -32, -87], [4, 9, -72, -25]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      %1 = stablehlo.minimum %arg3, %arg4 : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[-70, 113, -4, -34], [32, 74, 105, 49], [-68, -8, 56, 81], [4, 87, -72, -25], [113, -57, 53, -54]]> : tensor<5x4xi64>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 113, -4, -34], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, 74, 105, 81], [61, 87, -45, -2]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      %1 = stablehlo.maximum %arg3, %arg4 : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) : (tensor<5x4xi64>, tensor<5x1xi32>, tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xi64>, tensor<2xi32>, tensor<2x2xi64>)
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xi64>, tensor<2xi32>, tensor<2x2xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>, tensor<2xi32>, tensor<2x2xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %c2 = stablehlo.constant dense<[[-70, 113], [32, 74]]> : tensor<2x2xi64>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<2xi32>, tensor<2x2xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -102, 26], [61, 9, -13, 72]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>, %arg1: tensor<2xi32>, %arg2: tensor<2x2xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i64>, %arg4: tensor<i64>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) : (tensor<5x4xi64>, tensor<2xi32>, tensor<2x2xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>) {
    %in = call @inputs() : () -> tensor<5x4xi64>
    %want = call @expected() : () -> tensor<5x4xi64>
    %got = call @computed(%in) : (tensor<5x4xi64>) -> tensor<5x4xi64>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    return %got : tensor<5x4xi64>
  }
  func.func private @inputs() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[-11, -53, -45, -87], [-11, -15, -44, -53], [61, -6, -32, -2], [66, 9, 66, 18], [101, 69, 95, 90]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
  func.func private @sort(%arg0: tensor<5x4xi64>) -> tensor<5x4xi64> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<5x4xi64>) -> tensor<5x4xi64>
    return %0 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>) {
    %in = call @inputs() : () -> tensor<5x4xi64>
    %want:3 = call @expected() : () -> (tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>)
    %got:3 = call @computed(%in) : (tensor<5x4xi64>) -> (tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5x2xi64>, tensor<5x2xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5x2xi32>, tensor<5x2xi32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>
  }
  func.func private @inputs() -> (tensor<5x4xi64>) {
    %c0 = stablehlo.constant dense<[[66, 69, -44, -53], [-11, -6, 66, 90], [-11, -53, 95, 18], [101, -15, -32, -87], [61, 9, -45, -2]]> : tensor<5x4xi64>
    return %c0 : tensor<5x4xi64>
  }
  func.func private @expected() -> (tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>) {
    %c0 = stablehlo.constant dense<[[3, 2, 0, 1], [0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 3, 1, 0]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[69, 66], [90, 66], [95, 18], [101, -15], [61, 9]]> : tensor<5x2xi64>
    %c2 = stablehlo.constant dense<[[1, 0], [3, 2], [2, 3], [0, 1], [0, 1]]> : tensor<5x2xi32>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>
  }
  func.func private @computed(%arg0: tensor<5x4xi64>) -> (tensor<5x4xi64> {jax.result_info = "result[0]"}, tensor<5x2xi64> {jax.result_info = "result[1][0]"}, tensor<5x2xi32> {jax.result_info = "result[1][1]"}) {
    %0 = call @argsort(%arg0) : (tensor<5x4xi64>) -> tensor<5x4xi64>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<5x4xi64> -> (tensor<5x2xi64>, tensor<5x2xi32>)
    return %0, %values, %indices : tensor<5x4xi64>, tensor<5x2xi64>, tensor<5x2xi32>
  }
  func.func private @argsort(%arg0: tensor<5x4xi64>) -> tensor<5x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<5x4xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %2 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<5x4xi64>, tensor<5x4xi64>) -> (tensor<5x4xi64>, tensor<5x4xi64>)
    return %1#1 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xui32>, tensor<5x1xi32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xui32>, tensor<5x1xi32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<5x1xi32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    return %c0, %c1 : tensor<5x4xui32>, tensor<5x1xi32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [3, 46, 110, 42], [3, 46, 110, 42], [73, 104, 8, 58], [15, 19, 108, 117]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<5x1xi32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xui32>, tensor<5x1xi32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xui32>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xui32>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<2x3xui32>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xui32>, tensor<2xi64>) -> tensor<2x3xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3xui32>, tensor<2x3xui32>) -> ()
    return %got : tensor<2x3xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[1, 9]> : tensor<2xi64>
    return %c0, %c1 : tensor<5x4xui32>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<2x3xui32>) {
    %c0 = stablehlo.constant dense<[[84, 11, 98], [5, 112, 110]]> : tensor<2x3xui32>
    return %c0 : tensor<2x3xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<2xi64>) -> (tensor<2x3xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x4xui32>, tensor<2xi64>) -> tensor<2x3xui32>
    return %0 : tensor<2x3xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[68, 110, 55, 100], [67, 51, 88, 101], [81, 74, 119, 72], [18, 110, 97, 44], [49, 79, 93, 84]]> : tensor<5x4xui32>
    return %c0, %c1, %c2 : tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[68, 110, 55, 100], [12, 84, 11, 98], [39, 5, 112, 110], [81, 74, 119, 72], [18, 110, 97, 44]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
      stablehlo.return %arg4 : tensor<ui32>
    }) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[68, 110, 55, 100], [67, 51, 88, 101], [81, 74, 119, 72], [18, 110, 97, 44], [49, 79, 93, 84]]> : tensor<5x4xui32>
    return %c0, %c1, %c2 : tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[83, 129, 163, 217], [12, 84, 11, 98], [39, 5, 112, 110], [151, 171, 317, 215], [91, 214, 105, 102]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<ui32>
      stablehlo.return %1 : tensor<ui32>
    }) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[68, 110, 55, 100], [67, 51, 88, 101], [81, 74, 119, 72], [18, 110, 97, 44], [49, 79, 93, 84]]> : tensor<5x4xui32>
    return %c0, %c1, %c2 : tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[1020, 2090, 5940, 11700], [12, 84, 11, 98], [39, 5, 112, 110], [16281, 173604, 1151920, 305424], [1314, 11440, 776, 2552]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %1 = stablehlo.multiply %arg3, %arg4 : tensor<ui32>
      stablehlo.return %1 : tensor<ui32>
    }) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[68, 110, 55, 100], [67, 51, 88, 101], [81, 74, 119, 72], [18, 110, 97, 44], [49, 79, 93, 84]]> : tensor<5x4xui32>
    return %c0, %c1, %c2 : tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 55, 100], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 88, 42], [18, 104, 8, 44]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %1 = stablehlo.minimum %arg3, %arg4 : tensor<ui32>
      stablehlo.return %1 : tensor<ui32>
    }) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    %c2 = stablehlo.constant dense<[[68, 110, 55, 100], [67, 51, 88, 101], [81, 74, 119, 72], [18, 110, 97, 44], [49, 79, 93, 84]]> : tensor<5x4xui32>
    return %c0, %c1, %c2 : tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[68, 110, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [81, 74, 119, 101], [73, 110, 97, 58]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<5x1xi32>, %arg2: tensor<5x4xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %1 = stablehlo.maximum %arg3, %arg4 : tensor<ui32>
      stablehlo.return %1 : tensor<ui32>
    }) : (tensor<5x4xui32>, tensor<5x1xi32>, tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in:3 = call @inputs() : () -> (tensor<5x4xui32>, tensor<2xi32>, tensor<2x2xui32>)
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in#0, %in#1, %in#2) : (tensor<5x4xui32>, tensor<2xi32>, tensor<2x2xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>, tensor<2xi32>, tensor<2x2xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    %c1 = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
    %c2 = stablehlo.constant dense<[[68, 110], [67, 51]]> : tensor<2x2xui32>
    return %c0, %c1, %c2 : tensor<5x4xui32>, tensor<2xi32>, tensor<2x2xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 178, 152], [73, 104, 75, 109]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>, %arg1: tensor<2xi32>, %arg2: tensor<2x2xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<ui32>, %arg4: tensor<ui32>):
      %1 = stablehlo.add %arg3, %arg4 : tensor<ui32>
      stablehlo.return %1 : tensor<ui32>
    }) : (tensor<5x4xui32>, tensor<2xi32>, tensor<2x2xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xui32>) {
    %in = call @inputs() : () -> tensor<5x4xui32>
    %want = call @expected() : () -> tensor<5x4xui32>
    %got = call @computed(%in) : (tensor<5x4xui32>) -> tensor<5x4xui32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xui32>, tensor<5x4xui32>) -> ()
    return %got : tensor<5x4xui32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[3, 5, 8, 42], [12, 19, 11, 58], [15, 46, 108, 98], [39, 84, 110, 110], [73, 104, 112, 117]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>) -> (tensor<5x4xui32> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
  func.func private @sort(%arg0: tensor<5x4xui32>) -> tensor<5x4xui32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<ui32>, %arg2: tensor<ui32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<5x4xui32>) -> tensor<5x4xui32>
    return %0 : tensor<5x4xui32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>) {
    %in = call @inputs() : () -> tensor<5x4xui32>
    %want:3 = call @expected() : () -> (tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>)
    %got:3 = call @computed(%in) : (tensor<5x4xui32>) -> (tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x4xi64>, tensor<5x4xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5x2xui32>, tensor<5x2xui32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5x2xi32>, tensor<5x2xi32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>
  }
  func.func private @inputs() -> (tensor<5x4xui32>) {
    %c0 = stablehlo.constant dense<[[15, 19, 108, 117], [12, 84, 11, 98], [39, 5, 112, 110], [3, 46, 110, 42], [73, 104, 8, 58]]> : tensor<5x4xui32>
    return %c0 : tensor<5x4xui32>
  }
  func.func private @expected() -> (tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>) {
    %c0 = stablehlo.constant dense<[[0, 1, 2, 3], [2, 0, 1, 3], [1, 0, 3, 2], [0, 3, 1, 2], [2, 3, 0, 1]]> : tensor<5x4xi64>
    %c1 = stablehlo.constant dense<[[117, 108], [98, 84], [112, 110], [110, 46], [104, 73]]> : tensor<5x2xui32>
    %c2 = stablehlo.constant dense<[[3, 2], [3, 1], [2, 3], [2, 1], [1, 0]]> : tensor<5x2xi32>
    return %c0, %c1, %c2 : tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>
  }
  func.func private @computed(%arg0: tensor<5x4xui32>) -> (tensor<5x4xi64> {jax.result_info = "result[0]"}, tensor<5x2xui32> {jax.result_info = "result[1][0]"}, tensor<5x2xi32> {jax.result_info = "result[1][1]"}) {
    %0 = call @argsort(%arg0) : (tensor<5x4xui32>) -> tensor<5x4xi64>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<5x4xui32> -> (tensor<5x2xui32>, tensor<5x2xi32>)
    return %0, %values, %indices : tensor<5x4xi64>, tensor<5x2xui32>, tensor<5x2xi32>
  }
  func.func private @argsort(%arg0: tensor<5x4xui32>) -> tensor<5x4xi64> {
    %0 = stablehlo.iota dim = 1 : tensor<5x4xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<ui32>, %arg2: tensor<ui32>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %2 = stablehlo.compare LT, %arg1, %arg2, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<5x4xui32>, tensor<5x4xi64>) -> (tensor<5x4xui32>, tensor<5x4xi64>)
    return %1#1 : tensor<5x4xi64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x4xi1>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xi1>, tensor<5x1xi32>)
    %want = call @expected() : () -> tensor<5x4xi1>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xi1>, tensor<5x1xi32>) -> tensor<5x4xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5x4xi1>, tensor<5x4xi1>) -> ()
    return %got : tensor<5x4xi1>
  }
  func.func private @inputs() -> (tensor<5x4xi1>, tensor<5x1xi32>) {
    %c0 = stablehlo.constant dense<[[true, false, true, false], [false, false, false, false], [true, false, true, true], [false, false, true, true], [false, true, false, false]]> : tensor<5x4xi1>
    %c1 = stablehlo.constant dense<[[0], [3], [3], [4], [-1]]> : tensor<5x1xi32>
    return %c0, %c1 : tensor<5x4xi1>, tensor<5x1xi32>
  }
  func.func private @expected() -> (tensor<5x4xi1>) {
    %c0 = stablehlo.constant dense<[[true, false, true, false], [false, false, true, true], [false, false, true, true], [false, true, false, false], [true, false, true, false]]> : tensor<5x4xi1>
    return %c0 : tensor<5x4xi1>
  }
  func.func private @computed(%arg0: tensor<5x4xi1>, %arg1: tensor<5x1xi32>) -> (tensor<5x4xi1> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xi1>, tensor<5x1xi32>) -> tensor<5x4xi1>
    return %0 : tensor<5x4xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<5x4xi1>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<2x3xi1>
    %got = call @computed(%in#0, %in#1) : (tensor<5x4xi1>, tensor<2xi64>) -> tensor<2x3xi1>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    return %got : tensor<2x3xi1>
  }
  func.func private @inputs() -> (tensor<5x4xi1>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<[[true, false, true, false], [false, false, false, false], [true, false, true, true], [false, false, true, true], [false, true, false, false]]> : tensor<5x4xi1>
    %c1 = stablehlo.constant dense<[1, 9]> : tensor<2xi64>
    return %c0, %c1 : tensor<5x4xi1>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<2x3xi1>) {
    %c0 = stablehlo.constant dense<[[false, false, false], [false, true, true]]> : tensor<2x3xi1>
    return %c0 : tensor<2x3xi1>
  }
  func.func private @computed(%arg0: tensor<5x4xi1>, %arg1: tensor<2xi64>) -> (tensor<2x3xi1> {jax.result_info = "result"}) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x4xi1>, tensor<2xi64>) -> tensor<2x3xi1>
    return %0 : tensor<2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3x5x4xf32>, tensor<3x2xi32>)
    %want = call @expected() : () -> tensor<3x2x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<3x5x4xf32>, tensor<3x2xi32>) -> tensor<3x2x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> ()
    return %got : tensor<3x2x4xf32>
  }
  func.func private @inputs() -> (tensor<3x5x4xf32>, tensor<3x2xi32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    %c1 = stablehlo.constant dense<[[1, 4], [0, 0], [2, 3]]> : tensor<3x2xi32>
    return %c0, %c1 : tensor<3x5x4xf32>, tensor<3x2xi32>
  }
  func.func private @expected() -> (tensor<3x2x4xf32>) {
    %c0 = stablehlo.constant dense<"0x6763A23E308EF23F5296E93DD3596D4001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E550758BFCFBD89BE7EE909C0A27C8D3ECE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B40"> : tensor<3x2x4xf32>
    return %c0 : tensor<3x2x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x5x4xf32>, %arg1: tensor<3x2xi32>) -> (tensor<3x2x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3x2xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3x2xi1>, tensor<3x2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<3x5x4xf32>, tensor<3x2x1xi32>) -> tensor<3x2x4xf32>
    return %6 : tensor<3x2x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3x5x4xf32>, tensor<3x2xi32>)
    %want = call @expected() : () -> tensor<3x5x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<3x5x4xf32>, tensor<3x2xi32>) -> tensor<3x5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> ()
    return %got : tensor<3x5x4xf32>
  }
  func.func private @inputs() -> (tensor<3x5x4xf32>, tensor<3x2xi32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    %c1 = stablehlo.constant dense<[[1, 4], [0, 0], [2, 3]]> : tensor<3x2xi32>
    return %c0, %c1 : tensor<3x5x4xf32>, tensor<3x2xi32>
  }
  func.func private @expected() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893FDA98E83F184759406599CE3FEAACA6408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E0CC40D315E83FAE9208C0361B68C02BFE094046C82E40085A583F94AF51402536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940E7B94A40C5C2A13F02C094BF8C315940487872BEE67E00C03C1468BF890ABB402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x5x4xf32>, %arg1: tensor<3x2xi32>) -> (tensor<3x5x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3x2xi32>, tensor<3x2xi32>) -> tensor<3x2xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x2xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3x2xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3x2xi1>, tensor<3x2xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<3x2xi32>) -> tensor<3x2x1xi32>
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<3x2x4xf32>
    %8 = "stablehlo.scatter"(%arg0, %5, %7) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %9 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<3x5x4xf32>, tensor<3x2x1xi32>, tensor<3x2x4xf32>) -> tensor<3x5x4xf32>
    return %8 : tensor<3x5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3x5x4xf32>, tensor<2xi64>)
    %want = call @expected() : () -> tensor<3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<3x5x4xf32>, tensor<2xi64>) -> tensor<3xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %got : tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3x5x4xf32>, tensor<2xi64>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    %c1 = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
    return %c0, %c1 : tensor<3x5x4xf32>, tensor<2xi64>
  }
  func.func private @expected() -> (tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x59651F3F616F5CC00F051AC0"> : tensor<3xf32>
    return %c0 : tensor<3xf32>
  }
  func.func private @computed(%arg0: tensor<3x5x4xf32>, %arg1: tensor<2xi64>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:1] : (tensor<2xi64>) -> tensor<1xi64>
    %1 = stablehlo.reshape %0 : (tensor<1xi64>) -> tensor<i64>
    %2 = stablehlo.slice %arg1 [1:2] : (tensor<2xi64>) -> tensor<1xi64>
    %3 = stablehlo.reshape %2 : (tensor<1xi64>) -> tensor<i64>
    %4 = stablehlo.convert %1 : (tensor<i64>) -> tensor<i32>
    %5 = stablehlo.convert %3 : (tensor<i64>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %c, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<3> : tensor<i32>
    %7 = stablehlo.add %c_1, %c_2 : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.select %6, %7, %c_3 : tensor<i1>, tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %4, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<5> : tensor<i32>
    %10 = stablehlo.add %4, %c_5 : tensor<i32>
    %11 = stablehlo.select %9, %10, %4 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.compare LT, %5, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<4> : tensor<i32>
    %13 = stablehlo.add %5, %c_7 : tensor<i32>
    %14 = stablehlo.select %12, %13, %5 : tensor<i1>, tensor<i32>
    %15 = stablehlo.dynamic_slice %arg0, %8, %11, %14, sizes = [3, 1, 1] : (tensor<3x5x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x1x1xf32>
    %16 = stablehlo.reshape %15 : (tensor<3x1x1xf32>) -> tensor<3xf32>
    return %16 : tensor<3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5x4xf32>) {
    %in = call @inputs() : () -> tensor<3x5x4xf32>
    %want = call @expected() : () -> tensor<3x5x4xf32>
    %got = call @computed(%in) : (tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> ()
    return %got : tensor<3x5x4xf32>
  }
  func.func private @inputs() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @expected() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23F308EF2405296E93ED3596D418231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819A93F5093DE40AD1038C0EB1FB440"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x5x4xf32>) -> (tensor<3x5x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[0, 0, 2]> : tensor<3xi64>
    %c_0 = stablehlo.constant dense<[1, 1, 4]> : tensor<3xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %1 = stablehlo.compare LT, %c, %0, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_2 = stablehlo.constant dense<3> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %3 = stablehlo.add %c, %2 : tensor<3xi64>
    %4 = stablehlo.select %1, %3, %c : tensor<3xi1>, tensor<3xi64>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %6 = stablehlo.compare LT, %c_0, %5, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<5> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %8 = stablehlo.add %c_0, %7 : tensor<3xi64>
    %9 = stablehlo.select %6, %8, %c_0 : tensor<3xi1>, tensor<3xi64>
    %10 = stablehlo.convert %4 : (tensor<3xi64>) -> tensor<3xi32>
    %11 = stablehlo.convert %9 : (tensor<3xi64>) -> tensor<3xi32>
    %12 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %14 = stablehlo.concatenate %12, %13, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %16 = "stablehlo.scatter"(%arg0, %14, %15) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %17 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %17 : tensor<f32>
    }) : (tensor<3x5x4xf32>, tensor<3x2xi32>, tensor<3x4xf32>) -> tensor<3x5x4xf32>
    return %16 : tensor<3x5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5x4xf32>) {
    %in = call @inputs() : () -> tensor<3x5x4xf32>
    %want = call @expected() : () -> tensor<3x5x4xf32>
    %got = call @computed(%in) : (tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> ()
    return %got : tensor<3x5x4xf32>
  }
  func.func private @inputs() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @expected() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDFACC9641D01B0C45174E473DF3277E3E9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x5x4xf32>) -> (tensor<3x5x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %4 = "stablehlo.scatter"(%arg0, %2, %3) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %5 = stablehlo.exponential %arg1 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<3x5x4xf32>, tensor<2xi32>, tensor<4xf32>) -> tensor<3x5x4xf32>
    return %4 : tensor<3x5x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xi32>, tensor<4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<4xi32>, tensor<4xf32>)
    %want:2 = call @expected() : () -> (tensor<4xi32>, tensor<4xf32>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got#0, %got#1 : tensor<4xi32>, tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xi32>, tensor<4xf32>) {
    %c0 = stablehlo.constant dense<[3, 1, 2, 1]> : tensor<4xi32>
    %c1 = stablehlo.constant dense<"0x41FAE6BFF6CEF1BE8BB0EE40E44A1340"> : tensor<4xf32>
    return %c0, %c1 : tensor<4xi32>, tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xi32>, tensor<4xf32>) {
    %c0 = stablehlo.constant dense<[1, 1, 2, 3]> : tensor<4xi32>
    %c1 = stablehlo.constant dense<"0xF6CEF1BEE44A13408BB0EE4041FAE6BF"> : tensor<4xf32>
    return %c0, %c1 : tensor<4xi32>, tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xi32>, %arg1: tensor<4xf32>) -> (tensor<4xi32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %1 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<4xi32>, tensor<4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5x4xf32>) {
    %in = call @inputs() : () -> tensor<3x5x4xf32>
    %want = call @expected() : () -> tensor<3x5x4xf32>
    %got = call @computed(%in) : (tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> ()
    return %got : tensor<3x5x4xf32>
  }
  func.func private @inputs() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC026CF0540B626ABBE8806893F6763A23E308EF23F5296E93DD3596D408231A33FD18D963F8F639D3F54D68BC069E1FCBEB22747BF59651F3F456F82C001E09C404B57A03EAE9268C09B0DA4C0550758BFCFBD89BE7EE909C0A27C8D3E2536F6BF36D6D33FAE1C0BC09E8BECBDE7EF3B4056E1F640AE7741C0F95EB2BF9B3F21C04E971640616F5CC03CFEB9BFCBDEB5BD02E83BC071CE37C0A2A3B6BF6BA4C9C013C48AC0E79A9EBFA8AEE33EE6A90EBF0E4DAAC00C18B2BFCF4C1940CE73D53FD7E971BE01602AC01863F23F094FDEBFE67E60C00F051AC0890A8B402819293F50935E40AD10B8BFEB1F3440"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @expected() -> (tensor<3x5x4xf32>) {
    %c0 = stablehlo.constant dense<"0xEAD3BDC0B626ABBE8806893F26CF05405296E93D6763A23E308EF23FD3596D4054D68BC0D18D963F8F639D3F8231A33F456F82C0B22747BF69E1FCBE59651F3F9B0DA4C0AE9268C04B57A03E01E09C407EE909C0550758BFCFBD89BEA27C8D3EAE1C0BC02536F6BF9E8BECBD36D6D33FAE7741C0F95EB2BFE7EF3B4056E1F640616F5CC09B3F21C03CFEB9BF4E97164002E83BC071CE37C0A2A3B6BFCBDEB5BD6BA4C9C013C48AC0E79A9EBFA8AEE33E0E4DAAC00C18B2BFE6A90EBFCF4C194001602AC0D7E971BECE73D53F1863F23FE67E60C00F051AC0094FDEBF890A8B40AD10B8BF2819293FEB1F344050935E40"> : tensor<3x5x4xf32>
    return %c0 : tensor<3x5x4xf32>
  }
  func.func private @computed(%arg0: tensor<3x5x4xf32>) -> (tensor<3x5x4xf32> {jax.result_info = "result"}) {
    %0 = call @argsort(%arg0) : (tensor<3x5x4xf32>) -> tensor<3x5x4xi64>
    %1 = call @take_along_axis(%arg0, %0) : (tensor<3x5x4xf32>, tensor<3x5x4xi64>) -> tensor<3x5x4xf32>
    return %1 : tensor<3x5x4xf32>
  }
  func.func private @argsort(%arg0: tensor<3x5x4xf32>) -> tensor<3x5x4xi64> {
    %0 = stablehlo.iota dim = 2 : tensor<3x5x4xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 2 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.select %2, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.select %6, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %8 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %9 = stablehlo.select %8, %cst_4, %7 : tensor<i1>, tensor<f32>
      %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<3x5x4xf32>, tensor<3x5x4xi64>) -> (tensor<3x5x4xf32>, tensor<3x5x4xi64>)
    return %1#1 : tensor<3x5x4xi64>
  }
  func.func private @take_along_axis(%arg0: tensor<3x5x4xf32>, %arg1: tensor<3x5x4xi64>) -> tensor<3x5x4xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<3x5x4xi64>) -> tensor<3x5x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x5x4xi32>
    %2 = stablehlo.compare LT, %0, %1, SIGNED : (tensor<3x5x4xi32>, tensor<3x5x4xi32>) -> tensor<3x5x4xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x5x4xi32>
    %4 = stablehlo.add %0, %3 : tensor<3x5x4xi32>
    %5 = stablehlo.select %2, %4, %0 : tensor<3x5x4xi1>, tensor<3x5x4xi32>
    %6 = stablehlo.reshape %5 : (tensor<3x5x4xi32>) -> tensor<3x5x4x1xi32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x5x4x1xi32>
    %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<3x5x4x1xi32>, tensor<3x5x4x1xi32>) -> tensor<3x5x4x1xi1>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<3x5x4x1xi32>
    %11 = stablehlo.compare LE, %6, %10, SIGNED : (tensor<3x5x4x1xi32>, tensor<3x5x4x1xi32>) -> tensor<3x5x4x1xi1>
    %12 = stablehlo.and %8, %11 : tensor<3x5x4x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %13 = stablehlo.reduce(%12 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<3x5x4x1xi1>, tensor<i1>) -> tensor<3x5x4xi1>
    %14 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<3x5x4xf32>, tensor<3x5x4x1xi32>) -> tensor<3x5x4xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5x4xf32>
    %16 = stablehlo.select %13, %14, %15 : tensor<3x5x4xi1>, tensor<3x5x4xf32>
    return %16 : tensor<3x5x4xf32>
  }
}

// -----

module @jit_sort attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want = call @expected() : () -> tensor<6xf32>
    %got = call @computed(%in) : (tensor<6xf32>) -> tensor<6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    return %got : tensor<6xf32>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x0000C07F00000080000000000000807F000080FF0000803F"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x000080FF00000080000000000000803F0000807F0000C07F"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
  func.func private @sort(%arg0: tensor<6xf32>) -> tensor<6xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<6xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
