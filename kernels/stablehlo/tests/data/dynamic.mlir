module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %6 : tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_0, %4, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %6 = stablehlo.multiply %arg2, %5 : tensor<?x?xf32>
    %7 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %8, %10, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %cst, %11, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %13 = stablehlo.add %6, %12 : tensor<?x?xf32>
    return %13 : tensor<?x?xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0xA3DFA6C0555180C08FAA82C0"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0xA3DF16C1AAA2E0C01E55E5C0"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x5F0587BF0102DEC0B31211BFBBC937C03C922B40F5B6374023A88540B15A1340"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xBE0A8EBF01024EC1989508BEBBC997C03C92CB40F5B6D74023A81541B15AB340"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>, %arg1: tensor<?x3xf32>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %5 = stablehlo.convert %4 : (tensor<i32>) -> tensor<i64>
    %6 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%6, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n),args[1].shape = (n, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %7 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%7, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n),args[1].shape = (n, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %8 = stablehlo.compare EQ, %5, %3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%8, %5, %3, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'n' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b, n),args[1].shape = (n, 3). Obtained dimension variables: 'b' = {2} from specification 'b' for dimension args[0].shape[0] (= {2}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>, tensor<i64>) -> ()
    %9 = call @_wrapped_jax_export_main(%1, %3, %arg0, %arg1) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    return %9 : tensor<?x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>, %arg3: tensor<?x3xf32>) -> (tensor<?x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg2 : tensor<?x?xf32>
    %1 = stablehlo.dot_general %0, %arg3, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    return %1 : tensor<?x3xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>, tensor<3x3xf32>) {
    %c0 = stablehlo.constant dense<"0x51E822BE98142540B4869040"> : tensor<1x3xf32>
    %c1 = stablehlo.constant dense<"0xF5FAFABFF65FEA3F101803BEDA3D8A4010AF20C07A9667BF55238B3F8B3A463F13639DC0"> : tensor<3x3xf32>
    return %c0, %c1 : tensor<1x3xf32>, tensor<3x3xf32>
  }
  func.func public @expected0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x3A0CC63FCED318C0D1978B40"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>, tensor<2x3xf32>) {
    %c0 = stablehlo.constant dense<"0xB34C8A3F3103B6BE582038BF198BEEBE972B283FBD5FAEC06B099540956525C0"> : tensor<4x2xf32>
    %c1 = stablehlo.constant dense<"0xDB2BD7C05DD37BBE0AEB8B408D24C7BF26EC944068779540"> : tensor<2x3xf32>
    return %c0, %c1 : tensor<4x2xf32>, tensor<2x3xf32>
  }
  func.func public @expected1() -> (tensor<4x3xf32>) {
    %c0 = stablehlo.constant dense<"0xBD7DACC0CE19EBBF1DD20E40A01FA44043DDF6BF46539FC0CB45A8C0C5FA5240A824C4401B2DF14041CE0DC03CC1DAC0"> : tensor<4x3xf32>
    return %c0 : tensor<4x3xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2]"}, tensor<?x1x?xf32> {jax.result_info = "result[3]"}, tensor<?xf32> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:5 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1x?xf32>, tensor<?xf32>)
    return %6#0, %6#1, %6#2, %6#3, %6#4 : tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1x?xf32>, tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2]"}, tensor<?x1x?xf32> {jax.result_info = "result[3]"}, tensor<?xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.multiply %arg1, %arg0 : tensor<i64>
    %1 = stablehlo.convert %0 : (tensor<i64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_reshape %arg2, %2 : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %4 = stablehlo.concatenate %arg2, %arg2, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %5 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %6 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %7 = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %9 = stablehlo.reshape %8 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %7, %c, %9, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %arg2, %10, dims = [0, 2] : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x1x?xf32>
    %12 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<f32>
    %13 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %14 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.dynamic_broadcast_in_dim %12, %15, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %17 = stablehlo.divide %13, %16 : tensor<?xf32>
    return %3, %4, %5, %11, %17 : tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x1x?xf32>, tensor<?xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x00A525C0CFA6ECC0B4276DC0"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<3xf32>, tensor<2x3xf32>, tensor<3x1xf32>, tensor<1x1x3xf32>, tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x00A525C0CFA6ECC0B4276DC0"> : tensor<3xf32>
    %c1 = stablehlo.constant dense<"0x00A525C0CFA6ECC0B4276DC000A525C0CFA6ECC0B4276DC0"> : tensor<2x3xf32>
    %c2 = stablehlo.constant dense<"0x00A525C0CFA6ECC0B4276DC0"> : tensor<3x1xf32>
    %c3 = stablehlo.constant dense<"0x00A525C0CFA6ECC0B4276DC0"> : tensor<1x1x3xf32>
    %c4 = stablehlo.constant dense<"0x00A525C0CFA6ECC0B4276DC0"> : tensor<3xf32>
    return %c0, %c1, %c2, %c3, %c4 : tensor<3xf32>, tensor<2x3xf32>, tensor<3x1xf32>, tensor<1x1x3xf32>, tensor<3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xABFC6340FCD11CC0690691C02F6B80C0D2AB0D3A1869A0BDC06E2740C9E53D40"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<8xf32>, tensor<8x2xf32>, tensor<2x4xf32>, tensor<4x1x2xf32>, tensor<2xf32>) {
    %c0 = stablehlo.constant dense<"0xABFC6340FCD11CC0690691C02F6B80C0D2AB0D3A1869A0BDC06E2740C9E53D40"> : tensor<8xf32>
    %c1 = stablehlo.constant dense<"0xABFC6340FCD11CC0690691C02F6B80C0D2AB0D3A1869A0BDC06E2740C9E53D40ABFC6340FCD11CC0690691C02F6B80C0D2AB0D3A1869A0BDC06E2740C9E53D40"> : tensor<8x2xf32>
    %c2 = stablehlo.constant dense<"0xABFC6340690691C0D2AB0D3AC06E2740FCD11CC02F6B80C01869A0BDC9E53D40"> : tensor<2x4xf32>
    %c3 = stablehlo.constant dense<"0xABFC6340FCD11CC0690691C02F6B80C0D2AB0D3A1869A0BDC06E2740C9E53D40"> : tensor<4x1x2xf32>
    %c4 = stablehlo.constant dense<"0xE8CED23ED9C564BF"> : tensor<2xf32>
    return %c0, %c1, %c2, %c3, %c4 : tensor<8xf32>, tensor<8x2xf32>, tensor<2x4xf32>, tensor<4x1x2xf32>, tensor<2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?xi64> {jax.result_info = "result[0]"}, tensor<?xf32> {jax.result_info = "result[1]"}, tensor<?xi64> {jax.result_info = "result[2]"}, tensor<?x?xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:4 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> (tensor<?xi64>, tensor<?xf32>, tensor<?xi64>, tensor<?x?xf32>)
    return %6#0, %6#1, %6#2, %6#3 : tensor<?xi64>, tensor<?xf32>, tensor<?xi64>, tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?xi64> {jax.result_info = "result[0]"}, tensor<?xf32> {jax.result_info = "result[1]"}, tensor<?xi64> {jax.result_info = "result[2]"}, tensor<?x?xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %c_1 = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xi64>
    %3 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %c_1, %4, dims = [] : (tensor<i64>, tensor<1xi32>) -> tensor<?xi64>
    %6 = stablehlo.multiply %5, %2 : tensor<?xi64>
    %7 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %c_0, %8, dims = [] : (tensor<i64>, tensor<1xi32>) -> tensor<?xi64>
    %10 = stablehlo.add %9, %6 : tensor<?xi64>
    %11 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %12 = call @argmax(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?xi64>
    %13 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %14 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %c, %15, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = "stablehlo.dynamic_gather"(%arg2, %13, %16) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi64>, tensor<2xi32>) -> tensor<?xf32>
    %18 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %19 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %21 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.concatenate %19, %21, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %23 = stablehlo.dynamic_broadcast_in_dim %17, %22, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %10, %11, %12, %23 : tensor<?xi64>, tensor<?xf32>, tensor<?xi64>, tensor<?x?xf32>
  }
  func.func private @argmax(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<?x?xf32>) -> tensor<?xi64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_iota %4, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi64>
    %6:2 = stablehlo.reduce(%arg2 init: %cst), (%5 init: %c) across dimensions = [1] : (tensor<?x?xf32>, tensor<?x?xi64>, tensor<f32>, tensor<i64>) -> (tensor<?xf32>, tensor<?xi64>)
     reducer(%arg3: tensor<f32>, %arg5: tensor<f32>) (%arg4: tensor<i64>, %arg6: tensor<i64>)  {
      %7 = stablehlo.compare GT, %arg3, %arg5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %9 = stablehlo.or %7, %8 : tensor<i1>
      %10 = stablehlo.compare EQ, %arg3, %arg5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.compare LT, %arg4, %arg6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %12 = stablehlo.and %10, %11 : tensor<i1>
      %13 = stablehlo.or %9, %12 : tensor<i1>
      %14 = stablehlo.select %9, %arg3, %arg5 : tensor<i1>, tensor<f32>
      %15 = stablehlo.select %13, %arg4, %arg6 : tensor<i1>, tensor<i64>
      stablehlo.return %14, %15 : tensor<f32>, tensor<i64>
    }
    return %6#1 : tensor<?xi64>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0xE7FD32C007C8F0BE28B759C0"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<1xi64>, tensor<1xf32>, tensor<1xi64>, tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<[0]> : tensor<1xi64>
    %c1 = stablehlo.constant dense<"0x0867D5C0"> : tensor<1xf32>
    %c2 = stablehlo.constant dense<[1]> : tensor<1xi64>
    %c3 = stablehlo.constant dense<"0xE7FD32C007C8F0BE28B759C0"> : tensor<1x3xf32>
    return %c0, %c1, %c2, %c3 : tensor<1xi64>, tensor<1xf32>, tensor<1xi64>, tensor<1x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x20D95C3EADEA5CC0C47266C038D9CB4051FFC63D08FBF63F4EA8F3408DE11640"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<4xi64>, tensor<4xf32>, tensor<4xi64>, tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
    %c1 = stablehlo.constant dense<"0x1B1D4FC0AC3F31407FB501408A8C1F41"> : tensor<4xf32>
    %c2 = stablehlo.constant dense<[0, 1, 1, 0]> : tensor<4xi64>
    %c3 = stablehlo.constant dense<"0x20D95C3EADEA5CC020D95C3EADEA5CC020D95C3EADEA5CC020D95C3EADEA5CC0"> : tensor<4x2xf32>
    return %c0, %c1, %c2, %c3 : tensor<4xi64>, tensor<4xf32>, tensor<4xi64>, tensor<4x2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2]"}, tensor<?x?xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:4 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
    return %6#0, %6#1, %6#2, %6#3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2]"}, tensor<?x?xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %c_1 = stablehlo.constant dense<2> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %0 = call @_pad(%arg0, %arg1, %arg2, %c_2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>, tensor<i64>) -> tensor<?x?xf32>
    %1 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %2:2 = call @divmod(%arg0, %arg1, %arg0, %c_1) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    %3 = stablehlo.convert %2#0 : (tensor<i64>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %4, %6, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = "stablehlo.dynamic_gather"(%arg2, %1, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi64>, tensor<2xi32>) -> tensor<?x?xf32>
    %9 = stablehlo.convert %arg0 : tensor<i64>
    %10 = stablehlo.add %9, %c_0 : tensor<i64>
    %11:2 = call @divmod_0(%arg0, %arg1, %10, %c_1) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    %12 = stablehlo.convert %11#0 : (tensor<i64>) -> tensor<i32>
    %13 = stablehlo.reshape %12 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.dynamic_iota %13, dim = 0 : (tensor<1xi32>) -> tensor<?xi64>
    %15 = stablehlo.convert %arg0 : tensor<i64>
    %16 = stablehlo.add %15, %c_0 : tensor<i64>
    %17:2 = call @divmod_0(%arg0, %arg1, %16, %c_1) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    %18 = stablehlo.convert %17#0 : (tensor<i64>) -> tensor<i32>
    %19 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %c_1, %19, dims = [] : (tensor<i64>, tensor<1xi32>) -> tensor<?xi64>
    %21 = stablehlo.multiply %20, %14 : tensor<?xi64>
    %22 = stablehlo.convert %arg0 : tensor<i64>
    %23 = stablehlo.add %22, %c_0 : tensor<i64>
    %24:2 = call @divmod_0(%arg0, %arg1, %23, %c_1) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    %25 = stablehlo.convert %24#0 : (tensor<i64>) -> tensor<i32>
    %26 = stablehlo.reshape %25 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %c_2, %26, dims = [] : (tensor<i64>, tensor<1xi32>) -> tensor<?xi64>
    %28 = stablehlo.add %27, %21 : tensor<?xi64>
    %29 = stablehlo.convert %arg0 : tensor<i64>
    %30 = stablehlo.add %29, %c_0 : tensor<i64>
    %31:2 = call @divmod_0(%arg0, %arg1, %30, %c_1) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    %32 = stablehlo.convert %31#0 : (tensor<i64>) -> tensor<i32>
    %33 = stablehlo.reshape %32 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.concatenate %33, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %35 = stablehlo.dynamic_broadcast_in_dim %28, %34, dims = [0] : (tensor<?xi64>, tensor<2xi32>) -> tensor<?x1xi64>
    %36 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %37 = stablehlo.reshape %36 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.concatenate %c, %37, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = "stablehlo.dynamic_gather"(%arg2, %35, %38) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x1xi64>, tensor<2xi32>) -> tensor<?x?xf32>
    %40 = call @sort(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0, %8, %39, %40 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func private @_pad(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>, %arg3: tensor<i64>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<2> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.convert %arg3 : (tensor<i64>) -> tensor<f32>
    %1 = stablehlo.concatenate %c_1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %c, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.concatenate %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.dynamic_pad %arg2, %0, %1, %4, %5 : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %6 : tensor<?x?xf32>
  }
  func.func private @divmod(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<i64>, %arg3: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    %0 = stablehlo.convert %arg2 : tensor<i64>
    %1 = call @floor_divide(%arg0, %arg1, %0, %arg3) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = call @remainder(%arg0, %arg1, %0, %arg3) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<i64>
    return %1, %2 : tensor<i64>, tensor<i64>
  }
  func.func private @floor_divide(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<i64>, %arg3: tensor<i64>) -> tensor<i64> {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.divide %arg2, %arg3 : tensor<i64>
    %1 = stablehlo.sign %arg2 : tensor<i64>
    %2 = stablehlo.sign %arg3 : tensor<i64>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %4 = stablehlo.remainder %arg2, %arg3 : tensor<i64>
    %5 = stablehlo.compare NE, %4, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %6 = stablehlo.and %3, %5 : tensor<i1>
    %7 = stablehlo.subtract %0, %c : tensor<i64>
    %8 = call @_where(%arg0, %arg1, %6, %7, %0) : (tensor<i64>, tensor<i64>, tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    return %8 : tensor<i64>
  }
  func.func private @_where(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<i1>, %arg3: tensor<i64>, %arg4: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg2, %arg3, %arg4 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @remainder(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<i64>, %arg3: tensor<i64>) -> tensor<i64> {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.compare EQ, %arg3, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %1 = call @_where(%arg0, %arg1, %0, %c, %arg3) : (tensor<i64>, tensor<i64>, tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %2 = stablehlo.remainder %arg2, %1 : tensor<i64>
    %3 = stablehlo.compare NE, %2, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %4 = stablehlo.compare LT, %2, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %5 = stablehlo.compare LT, %1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %7 = stablehlo.and %6, %3 : tensor<i1>
    %8 = stablehlo.add %2, %1 : tensor<i64>
    %9 = stablehlo.select %7, %8, %2 : tensor<i1>, tensor<i64>
    return %9 : tensor<i64>
  }
  func.func private @divmod_0(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<i64>, %arg3: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
    %0 = call @floor_divide(%arg0, %arg1, %arg2, %arg3) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = call @remainder(%arg0, %arg1, %arg2, %arg3) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<i64>
    return %0, %1 : tensor<i64>, tensor<i64>
  }
  func.func private @sort(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.sort"(%arg2) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %1 = stablehlo.compare EQ, %arg3, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %cst_0, %arg3 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg3, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.select %3, %cst, %2 : tensor<i1>, tensor<f32>
      %5 = stablehlo.compare EQ, %arg4, %cst_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %cst_0, %arg4 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %8 = stablehlo.select %7, %cst, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0xB352AFBE49B3273E45F10EC0"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<4x4xf32>, tensor<0x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000000000000000000000B352AFBE49B3273E45F10EC0000000000000000000000000000000000000000000000000000000000000000000000000"> : tensor<4x4xf32>
    %c1 = stablehlo.constant dense<> : tensor<0x3xf32>
    %c2 = stablehlo.constant dense<"0xB352AFBE49B3273E45F10EC0"> : tensor<1x3xf32>
    %c3 = stablehlo.constant dense<"0x45F10EC0B352AFBE49B3273E"> : tensor<1x3xf32>
    return %c0, %c1, %c2, %c3 : tensor<4x4xf32>, tensor<0x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xEC1C52406FA77DBF3C39A940256384BF8CCA87BF7A0AA1BF3644F03F20910F3F"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<7x6xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x000000000000000000000000000000000000000000000000EC1C52406FA77DBF000000000000000000000000000000003C39A940256384BF000000000000000000000000000000008CCA87BF7A0AA1BF000000000000000000000000000000003644F03F20910F3F00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"> : tensor<7x6xf32>
    %c1 = stablehlo.constant dense<"0xEC1C52406FA77DBF3C39A940256384BF"> : tensor<2x2xf32>
    %c2 = stablehlo.constant dense<"0xEC1C52406FA77DBF8CCA87BF7A0AA1BF"> : tensor<2x2xf32>
    %c3 = stablehlo.constant dense<"0x6FA77DBFEC1C5240256384BF3C39A9407A0AA1BF8CCA87BF20910F3F3644F03F"> : tensor<4x2xf32>
    return %c0, %c1, %c2, %c3 : tensor<7x6xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4x2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:2 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
    return %6#0, %6#1 : tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg2 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %1 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_1, %2, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %4 = stablehlo.maximum %3, %0 : tensor<?xf32>
    %5 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %4, %7, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %9 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %12 = stablehlo.reshape %11 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %10, %12, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %8, %13, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %15 = stablehlo.subtract %arg2, %14 : tensor<?x?xf32>
    %16 = stablehlo.exponential %15 : tensor<?x?xf32>
    %17 = stablehlo.reduce(%16 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %18 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %19 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %19, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %17, %20, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %22 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %23 = stablehlo.reshape %22 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %25 = stablehlo.reshape %24 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %23, %25, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %21, %26, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %28 = stablehlo.divide %16, %27 : tensor<?x?xf32>
    %29 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %30 = stablehlo.reshape %29 : (tensor<i32>) -> tensor<1xi32>
    %31 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %32 = stablehlo.reshape %31 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.concatenate %30, %32, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = stablehlo.dynamic_broadcast_in_dim %cst, %33, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %35 = stablehlo.add %arg2, %34 : tensor<?x?xf32>
    %36 = call @standardize(%arg0, %arg1, %35) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %28, %36 : tensor<?x?xf32>, tensor<?x?xf32>
  }
  func.func private @standardize(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %cst = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f32>
    %1 = stablehlo.reduce(%arg2 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %2 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %1, %4, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %6 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %7 = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %7, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %0, %8, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %10 = stablehlo.divide %5, %9 : tensor<?x1xf32>
    %11 = stablehlo.multiply %arg2, %arg2 : tensor<?x?xf32>
    %12 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<f32>
    %13 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
    %14 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %13, %16, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %18 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %19 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %19, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %12, %20, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %22 = stablehlo.divide %17, %21 : tensor<?x1xf32>
    %23 = stablehlo.multiply %10, %10 : tensor<?x1xf32>
    %24 = stablehlo.subtract %22, %23 : tensor<?x1xf32>
    %25 = call @clip(%arg0, %arg1, %24, %c) : (tensor<i64>, tensor<i64>, tensor<?x1xf32>, tensor<i64>) -> tensor<?x1xf32>
    %26 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %27 = stablehlo.reshape %26 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %29 = stablehlo.reshape %28 : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %27, %29, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.dynamic_broadcast_in_dim %10, %30, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %32 = stablehlo.subtract %arg2, %31 : tensor<?x?xf32>
    %33 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %34 = stablehlo.reshape %33 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.concatenate %34, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = stablehlo.dynamic_broadcast_in_dim %cst, %35, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %37 = stablehlo.add %25, %36 : tensor<?x1xf32>
    %38 = stablehlo.rsqrt %37 : tensor<?x1xf32>
    %39 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %40 = stablehlo.reshape %39 : (tensor<i32>) -> tensor<1xi32>
    %41 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %42 = stablehlo.reshape %41 : (tensor<i32>) -> tensor<1xi32>
    %43 = stablehlo.concatenate %40, %42, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %44 = stablehlo.dynamic_broadcast_in_dim %38, %43, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %45 = stablehlo.multiply %32, %44 : tensor<?x?xf32>
    return %45 : tensor<?x?xf32>
  }
  func.func private @clip(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x1xf32>, %arg3: tensor<i64>) -> tensor<?x1xf32> {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.convert %arg3 : (tensor<i64>) -> tensor<f32>
    %1 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.concatenate %2, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %4 = stablehlo.dynamic_broadcast_in_dim %0, %3, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x1xf32>
    %5 = stablehlo.maximum %4, %arg2 : tensor<?x1xf32>
    return %5 : tensor<?x1xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x53A883407B7CD4BF24E75E3F"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<1x3xf32>, tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x95A6753F0C57433B3361193D"> : tensor<1x3xf32>
    %c1 = stablehlo.constant dense<"0x13CEA23FA4EF95BFE6E6CDBD"> : tensor<1x3xf32>
    return %c0, %c1 : tensor<1x3xf32>, tensor<1x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x590BBA40F69C38BFF885CC3F94E69640EF85D43F65A6F3BF50FCC5C064BEE540"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<4x2xf32>, tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xFFA07F3FD9FFBD3A35952D3DAC26753F8CF2783F7AAEE13C3947D235E6FF7F3F"> : tensor<4x2xf32>
    %c1 = stablehlo.constant dense<"0xF9FF7F3FF9FF7FBFE0FF7FBFE0FF7F3FE4FF7F3FE4FF7FBFFDFF7FBFFDFF7F3F"> : tensor<4x2xf32>
    return %c0, %c1 : tensor<4x2xf32>, tensor<4x2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<2x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:2 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> (tensor<2x?xf32>, tensor<?x?xf32>)
    return %6#0, %6#1 : tensor<2x?xf32>, tensor<?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<2x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %c_1 = stablehlo.constant dense<[-1, 0]> : tensor<2xi64>
    %0 = stablehlo.convert %arg0 : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %2 = stablehlo.compare LT, %c_1, %1, SIGNED : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
    %3 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i64>) -> tensor<2xi64>
    %4 = stablehlo.add %c_1, %3 : tensor<2xi64>
    %5 = stablehlo.select %2, %4, %c_1 : tensor<2xi1>, tensor<2xi64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2xi64>) -> tensor<2x1xi64>
    %7 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %c, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = "stablehlo.dynamic_gather"(%arg2, %6, %9) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<2x1xi64>, tensor<2xi32>) -> tensor<2x?xf32>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %12 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %13 = stablehlo.reshape %12 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst, %13, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %15 = "stablehlo.scatter"(%arg2, %11, %14) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %16 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %16 : tensor<f32>
    }) : (tensor<?x?xf32>, tensor<1xi64>, tensor<?xf32>) -> tensor<?x?xf32>
    return %10, %15 : tensor<2x?xf32>, tensor<?x?xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x9D3DA53F8405724087E7B6BF"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<2x3xf32>, tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x9D3DA53F8405724087E7B6BF9D3DA53F8405724087E7B6BF"> : tensor<2x3xf32>
    %c1 = stablehlo.constant dense<"0xCE9E1240C20299401C9EDBBE"> : tensor<1x3xf32>
    return %c0, %c1 : tensor<2x3xf32>, tensor<1x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0293AE40CC80C73F4EFA183E1E262DC008628D3FD9D3BABF34162BBFD3C29BC0"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<2x2xf32>, tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x34162BBFD3C29BC00293AE40CC80C73F"> : tensor<2x2xf32>
    %c1 = stablehlo.constant dense<"0x0293CE4066C023404EFA183E1E262DC008628D3FD9D3BABF34162BBFD3C29BC0"> : tensor<4x2xf32>
    return %c0, %c1 : tensor<2x2xf32>, tensor<4x2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2][0]"}, tensor<?x?xi32> {jax.result_info = "result[2][1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6:4 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>)
    return %6#0, %6#1, %6#2, %6#3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>
  }
  func.func @reduce_window_float32_reducer_3(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @reduce_window_float32_reducer(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?xf32> {jax.result_info = "result[0]"}, tensor<?x?xf32> {jax.result_info = "result[1]"}, tensor<?x?xf32> {jax.result_info = "result[2][0]"}, tensor<?x?xi32> {jax.result_info = "result[2][1]"}) {
    %0 = call @cumsum(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %1 = call @cumsum_1(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %2 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %3:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%arg2, %2) {api_version = 2 : i32} : (tensor<?x?xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
    return %0, %1, %3#0, %3#1 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi32>
  }
  func.func private @cumsum(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = call @cumsum_0(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_1 = stablehlo.constant dense<-1> : tensor<i64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.convert %arg0 : tensor<i64>
    %2 = stablehlo.add %1, %c_1 : tensor<i64>
    %3 = stablehlo.convert %2 : (tensor<i64>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %4, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.reshape %5 : (tensor<2xi32>) -> tensor<1x2xi32>
    %7 = stablehlo.concatenate %c_0, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.reshape %7 : (tensor<2xi32>) -> tensor<1x2xi32>
    %9 = stablehlo.concatenate %6, %8, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %10 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %11 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %11, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg2, %0, %12, %13, %14, %15, %9) {api_version = 2 : i32, called_computations = [@reduce_window_float32_reducer]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    return %16 : tensor<?x?xf32>
  }
  func.func private @cumsum_1(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = call @cumsum_2(%arg0, %arg1, %arg2) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func private @cumsum_2(%arg0: tensor<i64>, %arg1: tensor<i64>, %arg2: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = stablehlo.concatenate %c_1, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.reshape %1 : (tensor<2xi32>) -> tensor<1x2xi32>
    %3 = stablehlo.convert %arg1 : tensor<i64>
    %4 = stablehlo.add %3, %c_0 : tensor<i64>
    %5 = stablehlo.convert %4 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.reshape %7 : (tensor<2xi32>) -> tensor<1x2xi32>
    %9 = stablehlo.concatenate %2, %8, dim = 0 : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %10 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %11 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %c, %11, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = stablehlo.concatenate %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %16 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg2, %0, %12, %13, %14, %15, %9) {api_version = 2 : i32, called_computations = [@reduce_window_float32_reducer_3]} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    return %16 : tensor<?x?xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x6A5FBCBFFF92F53EA02770C0"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xi32>) {
    %c0 = stablehlo.constant dense<"0x6A5FBCBFFF92F53EA02770C0"> : tensor<1x3xf32>
    %c1 = stablehlo.constant dense<"0x6A5FBCBF54F57DBF7AD297C0"> : tensor<1x3xf32>
    %c2 = stablehlo.constant dense<"0xFF92F53E6A5FBCBFA02770C0"> : tensor<1x3xf32>
    %c3 = stablehlo.constant dense<[[1, 0, 2]]> : tensor<1x3xi32>
    return %c0, %c1, %c2, %c3 : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xi32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x9402633E71B4FE3F75976BBF9161EEBFB020EEBF07B33440FF4F93C026BF66BF"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xi32>) {
    %c0 = stablehlo.constant dense<"0x9402633E71B4FE3FD0D632BF0097023E0CC623C077DC3C400533E5C0AE2C0340"> : tensor<4x2xf32>
    %c1 = stablehlo.constant dense<"0x9402633E628A0D4075976BBFA61632C0B020EEBFBC8A763FFF4F93C0E427B0C0"> : tensor<4x2xf32>
    %c2 = stablehlo.constant dense<"0x71B4FE3F9402633E75976BBF9161EEBF07B33440B020EEBF26BF66BFFF4F93C0"> : tensor<4x2xf32>
    %c3 = stablehlo.constant dense<[[1, 0], [0, 1], [1, 0], [1, 0]]> : tensor<4x2xi32>
    return %c0, %c1, %c2, %c3 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xi32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x2x?xf32>, %arg1: tensor<3x2x3xf32>) -> (tensor<?x3x?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x2x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x2x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 2, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, 2, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[2] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6 = call @_wrapped_jax_export_main(%1, %3, %arg0, %arg1) : (tensor<i64>, tensor<i64>, tensor<?x2x?xf32>, tensor<3x2x3xf32>) -> tensor<?x3x?xf32>
    return %6 : tensor<?x3x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x2x?xf32>, %arg3: tensor<3x2x3xf32>) -> (tensor<?x3x?xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x2x?xf32>, tensor<3x2x3xf32>) -> tensor<?x3x?xf32>
    return %0 : tensor<?x3x?xf32>
  }
  func.func public @inputs0() -> (tensor<1x2x3xf32>, tensor<3x2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x330DA1BFF12DDD3E25B855BE25A454C03DD9C340E567083F"> : tensor<1x2x3xf32>
    %c1 = stablehlo.constant dense<"0xEFD580C0BD272BC0EFE3953E6661EB3FCED880C0A193084007D683C0CD8518C0A2CB2340B54BA3407E1C82BEC5B96DBFC76F7340E8D14DC0A871553FF221333F2FCA4140E94E653F"> : tensor<3x2x3xf32>
    return %c0, %c1 : tensor<1x2x3xf32>, tensor<3x2x3xf32>
  }
  func.func public @expected0() -> (tensor<1x3x3xf32>) {
    %c0 = stablehlo.constant dense<"0xB670EF41AB21CEC1E4B2FD4061233CBF5F2876C1E482EE4100EF2FBE065D2541945D0341"> : tensor<1x3x3xf32>
    return %c0 : tensor<1x3x3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2x2xf32>, tensor<3x2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x42974CBF2DFDEB3FEB4C58C07C4D1C40652701C04ECA2EC01C2D8DBF01510D3EB86E0840C15423BF40420D4041373B400E72A2BE01753CC09B973040548B533F"> : tensor<4x2x2xf32>
    %c1 = stablehlo.constant dense<"0xFF0ECBC05DC03DC078E5DB3EF3B383C02AD502C0C670A4C01F789A3F557C393FB443073F1FF58A40286687BF23175EBFA2E9C14004C479C0D1FF0B40A07F7CC0C771353F791DCB40"> : tensor<3x2x3xf32>
    return %c0, %c1 : tensor<4x2x2xf32>, tensor<3x2x3xf32>
  }
  func.func public @expected1() -> (tensor<4x3x2xf32>) {
    %c0 = stablehlo.constant dense<"0x99B41EC0A75B084173FBEC3FC81A87C1AA10A2410FB941404162CB400A48C94116DBEDBFDB9715C1756DFF3F003E3840D11BD1C1EC98D5C165906AC05A9B0941AEAB2641455F0C41596023C1A85013C0237CADC0F175094135B1FF3F33343BBF"> : tensor<4x3x2xf32>
    return %c0 : tensor<4x3x2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?xf32>
    return %6 : tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %3:4 = stablehlo.while(%iterArg = %arg2, %iterArg_2 = %c_1, %iterArg_3 = %arg0, %iterArg_4 = %2) : tensor<?x?xf32>, tensor<i64>, tensor<i64>, tensor<?xf32>
    cond {
      %4 = stablehlo.compare LT, %iterArg_2, %iterArg_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = stablehlo.add %iterArg_2, %c_0 : tensor<i64>
      %5 = stablehlo.convert %arg0 : tensor<i64>
      %6 = stablehlo.compare LT, %iterArg_2, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %7 = stablehlo.add %iterArg_2, %5 : tensor<i64>
      %8 = stablehlo.select %6, %7, %iterArg_2 : tensor<i1>, tensor<i64>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<i64>) -> tensor<1xi64>
      %10 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
      %11 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
      %12 = stablehlo.concatenate %c, %11, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %13 = "stablehlo.dynamic_gather"(%iterArg, %9, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<1xi64>, tensor<2xi32>) -> tensor<?xf32>
      %14 = stablehlo.add %iterArg_4, %13 : tensor<?xf32>
      stablehlo.return %iterArg, %4, %iterArg_3, %14 : tensor<?x?xf32>, tensor<i64>, tensor<i64>, tensor<?xf32>
    }
    return %3#3 : tensor<?xf32>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0xC466503FA23014C07EE2E440"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0xC466503FA23014C07EE2E440"> : tensor<3xf32>
    return %c0 : tensor<3xf32>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xD1D3D0BFE25B1EBFFBC1693FE2E280C0501956403F689B40DBAE11409FB77D3F"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<2xf32>) {
    %c0 = stablehlo.constant dense<"0x60E79C4054C3993F"> : tensor<2xf32>
    return %c0 : tensor<2xf32>
  }
}

// -----

module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> (tensor<?x?x2xi16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %3 = stablehlo.convert %2 : (tensor<i32>) -> tensor<i64>
    %4 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %5 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%5, %1, %3) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (b, n). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'n' = {1} from specification 'n' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>, tensor<i64>) -> ()
    %6 = call @_wrapped_jax_export_main(%1, %3, %arg0) : (tensor<i64>, tensor<i64>, tensor<?x?xf32>) -> tensor<?x?x2xi16>
    return %6 : tensor<?x?x2xi16>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "b"}, %arg1: tensor<i64> {jax.global_constant = "n"}, %arg2: tensor<?x?xf32>) -> (tensor<?x?x2xi16> {jax.result_info = "result"}) {
    %0 = stablehlo.bitcast_convert %arg2 : (tensor<?x?xf32>) -> tensor<?x?x2xi16>
    return %0 : tensor<?x?x2xi16>
  }
  func.func public @inputs0() -> (tensor<1x3xf32>) {
    %c0 = stablehlo.constant dense<"0x3D52E5BED4402A40293417C1"> : tensor<1x3xf32>
    return %c0 : tensor<1x3xf32>
  }
  func.func public @expected0() -> (tensor<1x3x2xi16>) {
    %c0 = stablehlo.constant dense<[[[21053, -16667], [16596, 16426], [13353, -16105]]]> : tensor<1x3x2xi16>
    return %c0 : tensor<1x3x2xi16>
  }
  func.func public @inputs1() -> (tensor<4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xAAA5BFBE5EB4443F649CBEC0F4A5A33F00D9C3BE935FD4BDA8BC9B3E45DADC3F"> : tensor<4x2xf32>
    return %c0 : tensor<4x2xf32>
  }
  func.func public @expected1() -> (tensor<4x2x2xi16>) {
    %c0 = stablehlo.constant dense<[[[-23126, -16705], [-19362, 16196]], [[-25500, -16194], [-23052, 16291]], [[-9984, -16701], [24467, -16940]], [[-17240, 16027], [-9659, 16348]]]> : tensor<4x2x2xi16>
    return %c0 : tensor<4x2x2xi16>
  }
}
