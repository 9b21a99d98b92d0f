module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %want:7 = call @expected() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>)
    %got:7 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x751B5C3F9BB3C03FF95127BFF93F1C3FC0CA2EBD7852B83FC13E56BF51649ABE7284B93E0727843E6ED9D1BF4466B83E"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>) {
    %c0 = stablehlo.constant dense<"0x91E360BFF8E32C3EDEF000C0C978843E81BC16C0B024A03FDEA5E5BFD290173F15DBA83F473FD33FF0395FBF8C3F9D3E"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x9F4626C05CE535C0851F35BF8E4376BF2B4611C04080D0BFC871F6BD92FA983FB831183FC32B913FF20A1A40FC8CD3BE"> : tensor<2x3xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0x958A043FD70871C025578D3F13D719BFA1CCBD3E359D54C03108893F4E1CEBBE5F504FBC705E403FC29B9EBFBE08BA3E"> : tensor<2x3xcomplex<f32>>
    %c3 = stablehlo.constant dense<"0x2D5795BF5502FA3EEA13583F63C0A93FCD08ABBD90E0CD3F53FD2B3F7BA8A7BF1B536440C689A63F0D1EE8BEDAB889BD"> : tensor<2x3xcomplex<f32>>
    %c4 = stablehlo.constant dense<"0x837FDE3F1C17AB3FBF38AE3F2907B43E56011440446E413EFA0C753FFBC264BFF1F374BF8535B2BFEC7844BFC135593D"> : tensor<2x3xcomplex<f32>>
    %c5 = stablehlo.constant dense<[[false, false, false], [false, false, false]]> : tensor<2x3xi1>
    %c6 = stablehlo.constant dense<[[true, true, true], [true, true, true]]> : tensor<2x3xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<2x3xi1> {jax.result_info = "result[5]"}, tensor<2x3xi1> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xcomplex<f32>>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xcomplex<f32>>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xcomplex<f32>>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<2x3xcomplex<f32>>
    %4 = stablehlo.negate %arg0 : tensor<2x3xcomplex<f32>>
    %5 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xi1>
    %6 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xi1>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xi1>, tensor<2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %want:6 = call @expected() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>)
    %got:6 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x751B5C3F9BB3C03FF95127BFF93F1C3FC0CA2EBD7852B83FC13E56BF51649ABE7284B93E0727843E6ED9D1BF4466B83E"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>) {
    %c0 = stablehlo.constant dense<"0x39713F42D16987C2C2C215C00A3981402D208F41B3179A42357C4DBFBA2DB7BFBE21553F4B5BE13E5BAEC93F0AA5F03C"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x837FDEBFBF38AEBF560114C0FA0C75BFF1F3743FEC78443F"> : tensor<2x3xf32>
    %c2 = stablehlo.constant dense<"0x1C17ABBF2907B4BE446E41BEFBC2643F8535B23FC13559BD"> : tensor<2x3xf32>
    %c3 = stablehlo.constant dense<"0x837FDEBF1C17AB3FBF38AEBF2907B43E560114C0446E413EFA0C75BFFBC264BFF1F3743F8535B2BFEC78443FC135593D"> : tensor<2x3xcomplex<f32>>
    %c4 = stablehlo.constant dense<"0x22560C40EFF0B33F867F1440EE9DA73FF93CD83FD8F0443F"> : tensor<2x3xf32>
    %c5 = stablehlo.constant dense<[[true, true, true], [true, true, true]]> : tensor<2x3xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x3xf32> {jax.result_info = "result[1]"}, tensor<2x3xf32> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<2x3xf32> {jax.result_info = "result[4]"}, tensor<2x3xi1> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<2x3xcomplex<f32>>
    %1 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %2 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %3 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %4 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %5 = stablehlo.negate %4 : tensor<2x3xf32>
    %6 = stablehlo.complex %3, %5 : tensor<2x3xcomplex<f32>>
    %7 = stablehlo.abs %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %8 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %9 = stablehlo.is_finite %8 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %10 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %11 = stablehlo.is_finite %10 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %12 = stablehlo.and %9, %11 : tensor<2x3xi1>
    return %0, %1, %2, %6, %7, %12 : tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f32>>
    %want:12 = call @expected() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %got:12 = call @computed(%in) : (tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    return %c0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x8418273DAC212FBEB077763ED8D6B4BDFA27C73DC04B98BC4F5D763E8734993EA6B9EC3E4FF9234096AE0940EDDBE9BD"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x788E75BFAB212FBE146242BFD8D6B4BD001B67BFC14B98BCAC6842BF8734993E2EA309BF4FF923402C5D933FEDDBE9BD"> : tensor<2x3xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0x3A00493FD01B1FC01263AE3EE6E138C0F478573F89D843C0AF0F8A3EEEFE1840D13B063FC4FA773FCF4886BE2B498DBD"> : tensor<2x3xcomplex<f32>>
    %c3 = stablehlo.constant dense<"0x3EB9D83EC6D304C0BE652FBF06A617C07B82903E11EA3FC0E30CE4BDAAF0C23F1F4A603FC44E1E3F76EB113F6CB6F5BC"> : tensor<2x3xcomplex<f32>>
    %c4 = stablehlo.constant dense<"0x5C12F43EA973B3BF120F193EC08D96BFB82E7E3D57D0C2BF7EE1D63EBD44883FCE3B933FD4ED1A3F4567603F32CBF7BC"> : tensor<2x3xcomplex<f32>>
    %c5 = stablehlo.constant dense<"0xC29D5E3E45AD233F45C1D93DDC30563F8D18DB3C25EC273FC817A43E2F1F50BF904E2E3FD76AB7BE5DD9913F2A0D213D"> : tensor<2x3xcomplex<f32>>
    %c6 = stablehlo.constant dense<"0x6AF04ABFE40C1CBFEBDC77BFD00F80BE76267FBFF2BAA6BDCB213BBF64B12E3F55FF103F65FA523F1E647F3F7D2C8DBD"> : tensor<2x3xcomplex<f32>>
    %c7 = stablehlo.constant dense<"0xA96200C0AF35973EFE0385BFF10099BDE81D40BF1B76033EBC4A95BF1FF6153F4980DF3F73338B3FBEFE313F85641CBD"> : tensor<2x3xcomplex<f32>>
    %c8 = stablehlo.constant dense<"0xC5A1ADBEBF9CDFBF0077623E44BCB3BEC00C30BF84750FBE7346523FB5F0543FCC869D3F2180C5BF987E383F1AE2163D"> : tensor<2x3xcomplex<f32>>
    %c9 = stablehlo.constant dense<"0xED92543DE6B091BF326397BFFFC40DC01B71813F780FC9BE8F60B0BE46F0873F4893F73D6582843F85A5753F59F3D0BD"> : tensor<2x3xcomplex<f32>>
    %c10 = stablehlo.constant dense<"0x493587BF82BAF1BC3FC266BFB29E9DBDF05E7BBF23B2E8BB64A682BFA0D5993EA200A83FE9B30D3E0D82253F0E60FDBC"> : tensor<2x3xcomplex<f32>>
    %c11 = stablehlo.constant dense<"0x4F02843DC76B1DBE1CD04A3ED2C669BD9D0AB63D17EC7CBC65F7733EA5243C3ECFFB543F70BB963EA5DE2E3FF3253CBC"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[6]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[7]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[8]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[9]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[10]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[11]"}) {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xcomplex<f32>>
    %1 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xcomplex<f32>>
    %2 = stablehlo.log %arg0 : tensor<2x3xcomplex<f32>>
    %3 = stablehlo.log_plus_one %arg0 : tensor<2x3xcomplex<f32>>
    %4 = stablehlo.sqrt %arg0 : tensor<2x3xcomplex<f32>>
    %5 = stablehlo.rsqrt %arg0 : tensor<2x3xcomplex<f32>>
    %6 = stablehlo.sign %arg0 : tensor<2x3xcomplex<f32>>
    %7 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %8 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %10 = stablehlo.compare EQ, %7, %9, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %11 = stablehlo.sine %7 : tensor<2x3xf32>
    %12 = stablehlo.cosine %7 : tensor<2x3xf32>
    %13 = stablehlo.exponential_minus_one %8 : tensor<2x3xf32>
    %14 = stablehlo.negate %8 : tensor<2x3xf32>
    %15 = stablehlo.exponential_minus_one %14 : tensor<2x3xf32>
    %16 = stablehlo.subtract %13, %15 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %18 = stablehlo.divide %16, %17 : tensor<2x3xf32>
    %19 = stablehlo.add %13, %15 : tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %21 = stablehlo.add %19, %20 : tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %23 = stablehlo.divide %21, %22 : tensor<2x3xf32>
    %24 = stablehlo.multiply %11, %23 : tensor<2x3xf32>
    %25 = stablehlo.multiply %12, %18 : tensor<2x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %27 = stablehlo.complex %26, %25 : tensor<2x3xcomplex<f32>>
    %28 = stablehlo.complex %24, %25 : tensor<2x3xcomplex<f32>>
    %29 = stablehlo.select %10, %27, %28 : tensor<2x3xi1>, tensor<2x3xcomplex<f32>>
    %30 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %31 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %33 = stablehlo.compare EQ, %30, %32, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %34 = stablehlo.sine %30 : tensor<2x3xf32>
    %35 = stablehlo.cosine %30 : tensor<2x3xf32>
    %36 = stablehlo.exponential_minus_one %31 : tensor<2x3xf32>
    %37 = stablehlo.negate %31 : tensor<2x3xf32>
    %38 = stablehlo.exponential_minus_one %37 : tensor<2x3xf32>
    %39 = stablehlo.subtract %36, %38 : tensor<2x3xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %41 = stablehlo.divide %39, %40 : tensor<2x3xf32>
    %42 = stablehlo.add %36, %38 : tensor<2x3xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %44 = stablehlo.add %42, %43 : tensor<2x3xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %46 = stablehlo.divide %44, %45 : tensor<2x3xf32>
    %47 = stablehlo.multiply %35, %46 : tensor<2x3xf32>
    %48 = stablehlo.negate %34 : tensor<2x3xf32>
    %49 = stablehlo.multiply %48, %41 : tensor<2x3xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %51 = stablehlo.complex %47, %50 : tensor<2x3xcomplex<f32>>
    %52 = stablehlo.complex %47, %49 : tensor<2x3xcomplex<f32>>
    %53 = stablehlo.select %33, %51, %52 : tensor<2x3xi1>, tensor<2x3xcomplex<f32>>
    %54 = stablehlo.tan %arg0 : tensor<2x3xcomplex<f32>>
    %55 = stablehlo.tanh %arg0 : tensor<2x3xcomplex<f32>>
    %56 = stablehlo.negate %arg0 : tensor<2x3xcomplex<f32>>
    %57 = stablehlo.exponential %56 : tensor<2x3xcomplex<f32>>
    %cst_9 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %58 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<complex<f32>>) -> tensor<2x3xcomplex<f32>>
    %59 = stablehlo.add %58, %57 : tensor<2x3xcomplex<f32>>
    %cst_10 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %60 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<complex<f32>>) -> tensor<2x3xcomplex<f32>>
    %61 = stablehlo.divide %60, %59 : tensor<2x3xcomplex<f32>>
    return %0, %1, %2, %3, %4, %5, %6, %29, %53, %54, %55, %61 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f32>>
    %want:8 = call @expected() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %got:8 = call @computed(%in) : (tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    return %c0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x19B023BF688136C07CF4DABFED4137BF462D9DC0BC2575BF511932BFF90D953FD3CC493E672ABC3F1C08583FCA1F8EBD"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xA1212E3F4E8F2B4072C3F93F13A7203FE649A0405E63703FA5B06F3FAE815DBF3CD3873E37C88B3F1E59A73F457837BD"> : tensor<2x3xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0x93075DBF5700BCBF55169DBF627D69BF3C82BDBFD028BEBFAFF92DBF01997B3FD552073F21B4A03FA1F05E3F3268A8BD"> : tensor<2x3xcomplex<f32>>
    %c3 = stablehlo.constant dense<"0xD2C91B405700BC3F18133340627D693F0C494340D028BE3F5906104001997BBF7066853F21B4A0BF152F333F3268A83D"> : tensor<2x3xcomplex<f32>>
    %c4 = stablehlo.constant dense<"0x4AB599BF20CB7EBE082375BFE69CF6BDE31495BF54B0F2BC50CD76BF9832CA3E10C8953F81B2E93E28CB273FF6A708BD"> : tensor<2x3xcomplex<f32>>
    %c5 = stablehlo.constant dense<"0x8D56BFBF10891BBF4FF890BF59B453BE47F7C9BF5E5399BD56DD7FBF802F1E3FA125993FAB76613F8625353F7E4E2CBD"> : tensor<2x3xcomplex<f32>>
    %c6 = stablehlo.constant dense<"0x5700BC3FD2C91BC0627D693F181333C0D028BE3F0C4943C001997B3F5906104021B4A03F7066853F3268A83D152F33BF"> : tensor<2x3xcomplex<f32>>
    %c7 = stablehlo.constant dense<"0x98DEB0BEECE3A1BF3D1247BF231CA1BF6EC7EABE578FC3BF40A7E0BE2AC3793F05738B3EF61F8A3F7437803F812802BE"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[6]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[7]"}) {
    %0 = chlo.sinh %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %1 = chlo.cosh %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %2 = chlo.asin %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %3 = chlo.acos %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %4 = chlo.atan %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %5 = chlo.asinh %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %6 = chlo.acosh %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    %7 = chlo.atanh %arg0 : tensor<2x3xcomplex<f32>> -> tensor<2x3xcomplex<f32>>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<4xf32>, tensor<4xf32>)
    %want:2 = call @expected() : () -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    return %got#0, %got#1 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<4xf32>, tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x3103B6BE582038BF198BEEBE972B283F"> : tensor<4xf32>
    %c1 = stablehlo.constant dense<"0xBD5FAEC06B099540956525C0DB2BD7C0"> : tensor<4xf32>
    return %c0, %c1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x3103B6BEBD5FAEC0582038BF6B099540198BEEBE956525C0972B283FDB2BD7C0"> : tensor<4xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x3103B6BE00000000582038BF00000000198BEEBE00000000972B283F00000000"> : tensor<4xcomplex<f32>>
    return %c0, %c1 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<4xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
    %1 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    return %0, %1 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f32>>
    %want:7 = call @expected() : () -> (tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>)
    %got:7 = call @computed(%in) : (tensor<2x3xcomplex<f32>>) -> (tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<3x2xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<4x3xcomplex<f32>>, tensor<4x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<4x5xcomplex<f32>>, tensor<4x5xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    return %c0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFFA0C75BFFBC2643FBF38AEBF2907B4BEF1F3743F8535B23F560114C0446E41BEEC78443FC13559BD"> : tensor<3x2xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23F"> : tensor<4xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<4x3xcomplex<f32>>
    %c3 = stablehlo.constant dense<"0x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BE00000000000000000000000000000000FA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"> : tensor<4x5xcomplex<f32>>
    %c4 = stablehlo.constant dense<"0xFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BE"> : tensor<2x3xcomplex<f32>>
    %c5 = stablehlo.constant dense<"0x837FDE3F1C17AB3FBF38AE3F2907B43E56011440446E413EFA0C753FFBC264BFF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    %c6 = stablehlo.constant dense<"0x00000000000000000000803F000000000000004000000000"> : tensor<3xcomplex<f32>>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<3x2xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<4xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<4x3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<4x5xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<6xcomplex<f32>>
    %2 = stablehlo.slice %1 [1:5] : (tensor<6xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %3 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %4 = call @_pad(%arg0, %c) : (tensor<2x3xcomplex<f32>>, tensor<i64>) -> tensor<4x5xcomplex<f32>>
    %5 = stablehlo.reverse %arg0, dims = [0] : tensor<2x3xcomplex<f32>>
    %6 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %8 = stablehlo.compare GT, %6, %7, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %9 = stablehlo.negate %arg0 : tensor<2x3xcomplex<f32>>
    %10 = call @_where(%8, %arg0, %9) : (tensor<2x3xi1>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %11 = stablehlo.iota dim = 0 : tensor<3xcomplex<f32>>
    return %0, %2, %3, %4, %5, %10, %11 : tensor<3x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4x3xcomplex<f32>>, tensor<4x5xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>
  }
  func.func private @_pad(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<i64>) -> tensor<4x5xcomplex<f32>> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<complex<f32>>
    %1 = stablehlo.pad %arg0, %0, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4x5xcomplex<f32>>
    return %1 : tensor<4x5xcomplex<f32>>
  }
  func.func private @_where(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xcomplex<f32>>, %arg2: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x3xi1>, tensor<2x3xcomplex<f32>>
    return %0 : tensor<2x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f32>>
    %want:4 = call @expected() : () -> (tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %got:4 = call @computed(%in) : (tensor<2x3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    return %c0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x00832CC07AD6E2BE1AFBCEBEBB33853F36C6C5BFB4BB77BE"> : tensor<3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x383B7BC04753BFC0D56FD7BFF40C81BE"> : tensor<2xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0x837FDEBF1C17ABBF215C46C0E618D8BFBC2EADC0AE46F0BFFA0C75BFFBC2643F0048C8B9814B1240E35F443FAAE60E40"> : tensor<2x3xcomplex<f32>>
    %c3 = stablehlo.constant dense<"0x215C46C0E618D8BFB61D6BC0265F0ABF560114C0446E41BE0048C8B9814B12406EB6DC3FD76BAB3FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1, %c2, %c3 : tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<3xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %2 = call @cumsum(%arg0) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<complex<f32>>
    %4 = "stablehlo.reduce_window"(%arg0, %3) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<complex<f32>>, %arg2: tensor<complex<f32>>):
      %5 = stablehlo.add %arg1, %arg2 : tensor<complex<f32>>
      stablehlo.return %5 : tensor<complex<f32>>
    }) : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x3xcomplex<f32>>
    return %0, %1, %2, %4 : tensor<3xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @cumsum(%arg0: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
    %0 = call @cumsum_0(%arg0) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    return %0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @cumsum_0(%arg0: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<complex<f32>>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<complex<f32>>, %arg2: tensor<complex<f32>>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<complex<f32>>
      stablehlo.return %2 : tensor<complex<f32>>
    }) : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2x3xcomplex<f32>>
    return %1 : tensor<2x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %want:3 = call @expected() : () -> (tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>)
    %got:3 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2 : tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x751B5C3F9BB3C03FF95127BFF93F1C3FC0CA2EBD7852B83FC13E56BF51649ABE7284B93E0727843E6ED9D1BF4466B83E"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1 : tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x960FFF3FE80DF6C0DD4690408010243F226466C0449BDE3D919139BEA7D4273F"> : tensor<2x2xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x7C4DCB3F303687C01EEEAF3F508AE2BDFCC54F40F62F88C096CC82BF878773C084B88B3F701D1A3E2DBBC0BFFA8178C0072F17C03C2F75C03D93F53F8BF88DBF34515EBF1D5C3DC0"> : tensor<3x3xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0xC09901BFFB4E69BFF01798404C84A63FAE96BDBF32BE0EBE2026E2BD193220BE"> : tensor<2x2xcomplex<f32>>
    return %c0, %c1, %c2 : tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<2x3xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<3x3xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<2x2xcomplex<f32>> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    %3 = stablehlo.real %arg1 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %5 = stablehlo.convert %arg0 : tensor<2x3xcomplex<f32>>
    %6 = stablehlo.convert %4 : (tensor<3x2xf32>) -> tensor<3x2xcomplex<f32>>
    %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    return %1, %2, %7 : tensor<2x2xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<2x2xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x5xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<1x2x5xcomplex<f32>>, tensor<3x2x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<1x3x5xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<1x2x5xcomplex<f32>>, tensor<3x2x3xcomplex<f32>>) -> tensor<1x3x5xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<1x3x5xcomplex<f32>>, tensor<1x3x5xcomplex<f32>>) -> ()
    return %got : tensor<1x3x5xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<1x2x5xcomplex<f32>>, tensor<3x2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x3EE2A7BDB88EBA3F09C304BF3390C63FE049C73F00DC5CBF8AC41DC0781A9EBFC7FD973FFB1751BFE15DC1BF9439ABBF19E53C3975E1D5BC563E5F3F61327D3FDFA76EBF5A8520BEC52491BF6B3B933D"> : tensor<1x2x5xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x1E4793BFD8A199BF25E6074036AA043D5BA7243F34702240BC2C493F99C3E9BDB7995F3D07973EBF48138C3F4A1AA9BEA5A1E13F3184B0BE110EB5BEA2B8D6BE792D203F2B6C3F3E198BAF3F52A80DBF189A943E210FF83F9E2676BE5059083F7033C93F9FAE0D3FEE6E22BF8BFD03C0982919402752DC3E0359A13F5FDFF3BE02C4E83F8800053F67F84B3D7EDD66BF"> : tensor<3x2x3xcomplex<f32>>
    return %c0, %c1 : tensor<1x2x5xcomplex<f32>>, tensor<3x2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<1x3x5xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x7486B2C048FD72404C857340FA4CA040DEA3E140C99727C1C7ADB8C040E5393FA5244940E8FC604034630C40C1AD3AC0E9CE95BFA1859E3FAB4D7EC09E1934402AA1B640326F1EC058C1EBC058645AC0802D6DBF507BF8BE5E22A3406AA550BF4FFD0EC17E1ABDBF0430A340D490A0405AA70FC1E859AEC0"> : tensor<1x3x5xcomplex<f32>>
    return %c0 : tensor<1x3x5xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<1x2x5xcomplex<f32>>, %arg1: tensor<3x2x3xcomplex<f32>>) -> (tensor<1x3x5xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = stablehlo.real %arg0 : (tensor<1x2x5xcomplex<f32>>) -> tensor<1x2x5xf32>
    %1 = stablehlo.imag %arg0 : (tensor<1x2x5xcomplex<f32>>) -> tensor<1x2x5xf32>
    %2 = stablehlo.real %arg1 : (tensor<3x2x3xcomplex<f32>>) -> tensor<3x2x3xf32>
    %3 = stablehlo.imag %arg1 : (tensor<3x2x3xcomplex<f32>>) -> tensor<3x2x3xf32>
    %4 = stablehlo.add %0, %1 : tensor<1x2x5xf32>
    %5 = stablehlo.convolution(%4, %2) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x5xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
    %6 = stablehlo.subtract %3, %2 : tensor<3x2x3xf32>
    %7 = stablehlo.convolution(%0, %6) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x5xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
    %8 = stablehlo.add %2, %3 : tensor<3x2x3xf32>
    %9 = stablehlo.convolution(%1, %8) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x5xf32>, tensor<3x2x3xf32>) -> tensor<1x3x5xf32>
    %10 = stablehlo.subtract %5, %9 : tensor<1x3x5xf32>
    %11 = stablehlo.add %5, %7 : tensor<1x3x5xf32>
    %12 = stablehlo.complex %10, %11 : tensor<1x3x5xcomplex<f32>>
    return %12 : tensor<1x3x5xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f32>>, tensor<3xi64>)
    %want:3 = call @expected() : () -> (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    %got:3 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f32>>, tensor<3xi64>) -> (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>, tensor<3xi64>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi64>
    return %c0, %c1 : tensor<2x3xcomplex<f32>>, tensor<3xi64>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0xFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xF401863E1C17ABBF828E233F2907B4BEB00AA0BE446E41BEC2BC4240FBC2643F7E9E9E408535B23F1E8F9840C13559BD"> : tensor<2x3xcomplex<f32>>
    %c2 = stablehlo.constant dense<"0x1C17AB3F837FDEBF2907B43EBF38AEBF446E413E560114C0FA0C753FFBC264BFF1F374BF8535B2BFEC7844BFC135593D"> : tensor<2x3xcomplex<f32>>
    return %c0, %c1, %c2 : tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>, %arg1: tensor<3xi64>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f32>> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %3 = stablehlo.add %arg1, %2 : tensor<3xi64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3xi1>, tensor<3xi64>
    %5 = stablehlo.convert %4 : (tensor<3xi64>) -> tensor<3xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %7 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xcomplex<f32>>, tensor<3x1xi32>) -> tensor<3x3xcomplex<f32>>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %9 = stablehlo.compare LT, %arg1, %8, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_2 = stablehlo.constant dense<2> : tensor<i64>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %11 = stablehlo.add %arg1, %10 : tensor<3xi64>
    %12 = stablehlo.select %9, %11, %arg1 : tensor<3xi1>, tensor<3xi64>
    %13 = stablehlo.convert %12 : (tensor<3xi64>) -> tensor<3xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %16 = "stablehlo.scatter"(%arg0, %14, %15) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<complex<f32>>, %arg3: tensor<complex<f32>>):
      %26 = stablehlo.add %arg2, %arg3 : tensor<complex<f32>>
      stablehlo.return %26 : tensor<complex<f32>>
    }) : (tensor<2x3xcomplex<f32>>, tensor<3x1xi32>, tensor<3x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %18 = stablehlo.compare LT, %arg1, %17, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<2> : tensor<i64>
    %19 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %20 = stablehlo.add %arg1, %19 : tensor<3xi64>
    %21 = stablehlo.select %18, %20, %arg1 : tensor<3xi1>, tensor<3xi64>
    %22 = stablehlo.convert %21 : (tensor<3xi64>) -> tensor<3xi32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst_5 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %25 = "stablehlo.scatter"(%arg0, %23, %24) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<complex<f32>>, %arg3: tensor<complex<f32>>):
      %26 = stablehlo.multiply %arg2, %arg3 : tensor<complex<f32>>
      stablehlo.return %26 : tensor<complex<f32>>
    }) : (tensor<2x3xcomplex<f32>>, tensor<3x1xi32>, tensor<3x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    return %7, %16, %25 : tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f32>>
    %want = call @expected() : () -> tensor<2x3xcomplex<f32>>
    %got = call @computed(%in) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> ()
    return %got : tensor<2x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x837FDEBF1C17ABBFBF38AEBF2907B4BE560114C0446E41BEFA0C75BFFBC2643FF1F3743F8535B23FEC78443FC13559BD"> : tensor<2x3xcomplex<f32>>
    return %c0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x560114C0446E41BE837FDEBF1C17ABBFBF38AEBF2907B4BEFA0C75BFFBC2643FEC78443FC13559BDF1F3743F8535B23F"> : tensor<2x3xcomplex<f32>>
    return %c0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    return %0 : tensor<2x3xcomplex<f32>>
  }
  func.func private @sort(%arg0: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<complex<f32>>, %arg2: tensor<complex<f32>>):
      %1 = stablehlo.real %arg1 : (tensor<complex<f32>>) -> tensor<f32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.compare EQ, %1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.select %2, %cst_0, %1 : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare NE, %1, %1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f32>
      %6 = stablehlo.imag %arg1 : (tensor<complex<f32>>) -> tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.compare EQ, %6, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.select %7, %cst_3, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare NE, %6, %6, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %10 = stablehlo.select %9, %cst_4, %8 : tensor<i1>, tensor<f32>
      %11 = stablehlo.real %arg2 : (tensor<complex<f32>>) -> tensor<f32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.compare EQ, %11, %cst_5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %13 = stablehlo.select %12, %cst_6, %11 : tensor<i1>, tensor<f32>
      %14 = stablehlo.compare NE, %11, %11, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_7 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %15 = stablehlo.select %14, %cst_7, %13 : tensor<i1>, tensor<f32>
      %16 = stablehlo.imag %arg2 : (tensor<complex<f32>>) -> tensor<f32>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.compare EQ, %16, %cst_8, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %18 = stablehlo.select %17, %cst_9, %16 : tensor<i1>, tensor<f32>
      %19 = stablehlo.compare NE, %16, %16, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_10 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %20 = stablehlo.select %19, %cst_10, %18 : tensor<i1>, tensor<f32>
      %21 = stablehlo.compare LT, %10, %20, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %22 = stablehlo.compare LT, %5, %15, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %23 = stablehlo.compare EQ, %5, %15, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %24 = stablehlo.and %23, %21 : tensor<i1>
      %25 = stablehlo.or %22, %24 : tensor<i1>
      stablehlo.return %25 : tensor<i1>
    }) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    return %0 : tensor<2x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<3x3xcomplex<f32>>
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in) : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x554D3941E2DC7733FCF687C00D25B83E55A87A4041BD9640FCF687C00D25B8BE3F577141C0F205B3E3CD10C0888F62BE55A87A4042BD96C0E3CD10C0868F623EC456564103E5F4B2"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x17CD5940000000000000000000000000000000000000000094CF9FBFD870D8BD79456B40000000000000000000000000384F933F342DB1BF296087BEBFD2E2BEDB43494000000000"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<3x3xcomplex<f32>>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %3 = stablehlo.add %1, %2 : tensor<3x3xi64>
    %4 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %7 = stablehlo.select %5, %0, %6 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    %8 = call @tril(%7) : (tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %8 : tensor<3x3xcomplex<f32>>
  }
  func.func private @tril(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %2 = stablehlo.add %0, %1 : tensor<3x3xi64>
    %3 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<3x3xcomplex<f32>>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<3x3xi1>, tensor<3x3xcomplex<f32>>
    return %6 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x57905740771AF9BE000000000000000000000000000000006B1AA0BF0E57973D68736A40A40F9DBE0000000000000000B4EE703FA96AC4BFC4D499BE44BCD6BE3F374940C37A8EBD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xC3C28DBFD3900240DCDF353EE9C7ABBFFC3464BF94DAC73D99EB1C3FBDCBABBF2C1A363F09C8AFBF115D4BBFD8645A3F47BAD93F527BADBDD87B9EBE854AA23F9B3689BFC54B8E3E"> : tensor<3x3xcomplex<f32>>
    return %c0, %c1 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0xBFCAD0BE51FA0B3F6740DD3DA503C4BE32D686BEE49314BCBE82593D7E042BBEBF2C873E83A9F8BE4913A6BE2DEC543EF747DD3E0127C7BEA0D7083E7AF70F3F523FA1BE6DD68ABD"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x57905740771AF9BE000000000000000000000000000000006B1AA0BF0E57973D68736A40A40F9DBE0000000000000000B4EE703FA96AC4BFC4D499BE44BCD6BE3F374940C37A8EBD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xEDD76E3E7531813F46DF983ED76488BE73531D3F473390BF5067503F87342CBFBD0D69BF263CBCBE026C3C3DF5E8353F57C659BE55583C3F019F793F1398D8BDAC467BBFCF746B3F"> : tensor<3x3xcomplex<f32>>
    return %c0, %c1 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x63420E3D7AB1133E83B292BD2248063DA05F423EF33CEEBE0E924F3EA6AA1FBED7F759BE8FADADBD94C079BD8A09343EC61095BDCAF96D3E6E189F3EEF3CDBBC5914A3BE432C923E"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x57905740771AF9BE000000000000000000000000000000006B1AA0BF0E57973D68736A40A40F9DBE0000000000000000B4EE703FA96AC4BFC4D499BE44BCD6BE3F374940C37A8EBD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x8D078D3E555F07C07C007DBFFA98123E9A9AAFBF8D712EBF0841DBBF7FF5CD3E7250773E455A343ED546B93F3588B4BE6D0F94BE6C460140AE82A6BF6CAA3A3F1555A8BF0AED713E"> : tensor<3x3xcomplex<f32>>
    return %c0, %c1 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x3DCA143EA2F239BF2B7B87BC797F523E55BBF7BDB89B19BDBE2DC4BEC183503E19948D3D3CD9DE3D62ABBA3E91D793BDBC2D9FBD9EE9243F9B1DD1BE36BE763E3035D5BEB8C4AC3D"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x57905740771AF9BE000000000000000000000000000000006B1AA0BF0E57973D68736A40A40F9DBE0000000000000000B4EE703FA96AC4BFC4D499BE44BCD6BE3F374940C37A8EBD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xFC6807402DEF8A3E2D9645BFFF961840E1370BBF2D2553BEA8D69B3E2DD9ABBF8ABB8E3FA935CF3F7A3E423F1525A93E7EE118BE1A01633FE29A49C08D87FFBDE922833EDA25FEBF"> : tensor<3x3xcomplex<f32>>
    return %c0, %c1 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x31C5123F7444AB3E76DD88BE33671A3FF78C2FBEE8158EBDFFFAD13DABB700BE9CF0893ED338003F1FA1743E0506E23D2DB909BECD53DB3EE0B344BF29710EBE465DC33DA72121BF"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x57905740771AF9BE000000000000000000000000000000006B1AA0BF0E57973D68736A40A40F9DBE0000000000000000B4EE703FA96AC4BFC4D499BE44BCD6BE3F374940C37A8EBD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x9B32DA3EAB9002BE0C950DBD35A6CF3D2E3C133F117AEA3EF3C784BFC389EFBDFC773ABED9601D3DC25117BF5948783F71FBA63F0FC7C23F6AECF33FD223BF3F297CEBBECD471DBF"> : tensor<3x3xcomplex<f32>>
    return %c0, %c1 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x9B66043EE41C9DBCF54E053DB50CAE3C147A183EC58E653E28F397BEE9E99EBDEE531ABE2B76B9BCFA399CBD51CF263E9D85A13E70A5FE3E5605163FDCC21E3F4C3F02BF735B83BD"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x57905740771AF9BE000000000000000000000000000000006B1AA0BF0E57973D68736A40A40F9DBE0000000000000000B4EE703FA96AC4BFC4D499BE44BCD6BE3F374940C37A8EBD"> : tensor<3x3xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x5597CBBED4F50E3F53F204BE4FB87D3F0740D33F344BDCBE20CE7A3F0F30C9BE971CA2BF7769A2BFF664A3BEBD15F3BFA0A5FF3EFF5DC13FC12095BF372BABBE5293C53F64C8B13E"> : tensor<3x3xcomplex<f32>>
    return %c0, %c1 : tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x40CBBCBDA969373E10882EBD18B5AA3E7E792D3FAABFFBBD276E893EB72A1FBEF95C90BEE7A6BDBE39BCB2BE67B72DBF4AAF553ED434D63E7AC77EBE42F29C3D1EFD1D3F19E2B7BD"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f32>>, %arg1: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<8xcomplex<f32>>
    %want:2 = call @expected() : () -> (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>)
    %got:2 = call @computed(%in) : (tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> ()
    return %got#0, %got#1 : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<8xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0xD55C483EC8E785BE6963823F7392A83EAAC68ABF6BA71BC0D9A02BC0285D283F3A3C88BE515CB93F008F023F1CD2A2BFDCAD943EEC8E983F87D966BFF13C02BF"> : tensor<8xcomplex<f32>>
    return %c0 : tensor<8xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x1AD13AC0DDF558BF7886D33EBE0F5F3F6C97BCBE8CDB2BC04F958D403C8A1FC0E564983FB17F3D3FF499D7C02350C5BF5955E83FEA3EF140CDCD6F40283E6BC0"> : tensor<8xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x1AD1BABEDDF5D8BDCDCDEF3E283EEBBE5955683EEA3E713FF49957BF235045BEE564183EB17FBD3D4F950D3F3C8A9FBE6C973CBD8CDBABBE7886533DBE0FDF3D"> : tensor<8xcomplex<f32>>
    return %c0, %c1 : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<8xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    %1 = call @fft_0(%arg0) : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %0, %1 : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %0 : tensor<8xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %0 : tensor<8xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xf32>) {
    %in = call @inputs() : () -> tensor<8xf32>
    %want = call @expected() : () -> tensor<8xf32>
    %got = call @computed(%in) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<8xf32>, tensor<8xf32>) -> ()
    return %got : tensor<8xf32>
  }
  func.func private @inputs() -> (tensor<8xf32>) {
    %c0 = stablehlo.constant dense<"0x8022A74054A7A7C0C85551C08F9B494027D4183FB65B5BC01CB48BC075F7B13F"> : tensor<8xf32>
    return %c0 : tensor<8xf32>
  }
  func.func private @expected() -> (tensor<8xf32>) {
    %c0 = stablehlo.constant dense<"0x8022A74055A7A7C0C85551C08E9B494024D4183FB75B5BC01CB48BC074F7B13F"> : tensor<8xf32>
    return %c0 : tensor<8xf32>
  }
  func.func private @computed(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<5xcomplex<f32>>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @fft(%arg0: tensor<8xf32>) -> tensor<5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    return %0 : tensor<5xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<5xcomplex<f32>>) -> tensor<8xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [8] : (tensor<5xcomplex<f32>>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<8xf32>
    %want = call @expected() : () -> tensor<5xcomplex<f32>>
    %got = call @computed(%in) : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>) -> ()
    return %got : tensor<5xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<8xf32>) {
    %c0 = stablehlo.constant dense<"0x8022A74054A7A7C0C85551C08F9B494027D4183FB65B5BC01CB48BC075F7B13F"> : tensor<8xf32>
    return %c0 : tensor<8xf32>
  }
  func.func private @expected() -> (tensor<5xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x862BBEC000000000C46F0640377187BF024E57416A50534114D8E44089D8903F20CF134000000000"> : tensor<5xcomplex<f32>>
    return %c0 : tensor<5xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<8xf32>) -> (tensor<5xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    return %0 : tensor<5xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<8xf32>) -> tensor<5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    return %0 : tensor<5xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x6xcomplex<f32>>
    %want:2 = call @expected() : () -> (tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>)
    %got:2 = call @computed(%in) : (tensor<2x6xcomplex<f32>>) -> (tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>) -> ()
    return %got#0, %got#1 : tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x6xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x2F6D9B3F0B9B533FE286D23EAB6BBF3F1C4E9F3E3B1D55BF540A02407CF59DBF77C409BE51A495BD792FB73F0E8243BF43AE8DBE5CE4E3BF5DD1AC3E56ECE33ECA92263F6E3E6DBF0A09723E515762BF114FF5BE85EEA0BD7075A53F916CE1BE"> : tensor<2x6xcomplex<f32>>
    return %c0 : tensor<2x6xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x807BA84069CC14BFE533A83FAC1A58403E3A9B4081DD723FD9EE1EC0EEBDD83EC045C1BE7080CBBF9E4CA4BF18721840F874E13F198F6AC0BC7C7E3EB4DD0ABF85630F3F4CAEB7BED860FCBFC406F4BF05531CC022137EC050593C3EE4A375BE"> : tensor<2x6xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xABA4603FE265C6BDD2105BBECC42CB3E2BD980BDF6AA87BE22E9D3BEA07E903D53F84E3F01E9213E3045603EC811103FFB4D963E665F1CBFCB21FB3C96C223BDB26ED0BE176229BF9040A8BE2EAFA2BE5C2FBF3D66E874BD7EA8293D9C27B9BD"> : tensor<2x6xcomplex<f32>>
    return %c0, %c1 : tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x6xcomplex<f32>>) -> (tensor<2x6xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x6xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    %1 = call @fft_0(%arg0) : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    return %0, %1 : tensor<2x6xcomplex<f32>>, tensor<2x6xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    return %0 : tensor<2x6xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
    return %0 : tensor<2x6xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x6xf32>) {
    %in = call @inputs() : () -> tensor<2x6xf32>
    %want = call @expected() : () -> tensor<2x6xf32>
    %got = call @computed(%in) : (tensor<2x6xf32>) -> tensor<2x6xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x6xf32>, tensor<2x6xf32>) -> ()
    return %got : tensor<2x6xf32>
  }
  func.func private @inputs() -> (tensor<2x6xf32>) {
    %c0 = stablehlo.constant dense<"0x779C053F17B522C02724DCBF6B6507C02871FABE77471240C05E55C04BD808409B1D38C04B247B3FDC5FD7BF3DCD6FBF"> : tensor<2x6xf32>
    return %c0 : tensor<2x6xf32>
  }
  func.func private @expected() -> (tensor<2x6xf32>) {
    %c0 = stablehlo.constant dense<"0x799C053F18B522C02724DCBF6A6507C02771FABE78471240C05E55C04CD808409B1D38C04B247B3FDB5FD7BF3ECD6FBF"> : tensor<2x6xf32>
    return %c0 : tensor<2x6xf32>
  }
  func.func private @computed(%arg0: tensor<2x6xf32>) -> (tensor<2x6xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    return %1 : tensor<2x6xf32>
  }
  func.func private @fft(%arg0: tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    return %0 : tensor<2x4xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [6] : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    return %0 : tensor<2x6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x6xf32>
    %want = call @expected() : () -> tensor<2x4xcomplex<f32>>
    %got = call @computed(%in) : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>) -> ()
    return %got : tensor<2x4xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x6xf32>) {
    %c0 = stablehlo.constant dense<"0x779C053F17B522C02724DCBF6B6507C02871FABE77471240C05E55C04BD808409B1D38C04B247B3FDC5FD7BF3DCD6FBF"> : tensor<2x6xf32>
    return %c0 : tensor<2x6xf32>
  }
  func.func private @expected() -> (tensor<2x4xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x12E681C000000000D4456740C9E6A74004BBB8BE9E604740C4672F3F000000001DBFB6C000000000229DB7BF4A7BD0BF9C852CBF639E6CC0963621C100000000"> : tensor<2x4xcomplex<f32>>
    return %c0 : tensor<2x4xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x6xf32>) -> (tensor<2x4xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    return %0 : tensor<2x4xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    return %0 : tensor<2x4xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<3x5xcomplex<f32>>
    %want:2 = call @expected() : () -> (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>)
    %got:2 = call @computed(%in) : (tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> ()
    return %got#0, %got#1 : tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x5xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x20E9CDBED3248B3F9D36753E972A873F0B4DC4BEB43A84BEBDD2CB3FAED1D5BF9FC666BFAD504EBEC71BE63F792622BFDC1A453F1777C73F599185BED7224BBEBAB5D23F452B14BF30118ABFFC8E4D3F2FB90ABFEFD6A23FD977033F16D4E3BFC6B3813E32E168BCEE7730BFF80E8A3F231FE6BFB9D7A3BF"> : tensor<3x5xcomplex<f32>>
    return %c0 : tensor<3x5xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x94C6413F44F5753E58A1853E705158BEB0646440C6399AC0E7C147403825E04028205CC0164ACD40FFEEA43FA39291C0DF0A5D400468E53F21B91FC160213EC0D8556EC08F7C18C0FBFF8DC0D8AEE83F2738CEBFB31E8B40430A19C0CF3AEC40CEF0C3400C45EBBEA6E17B4089491B4056263DC0FA958B3E"> : tensor<3x5xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0xB1B14E3D7A2D833CF8CC6ABEB2F9DA3E1913553EA216EF3E9A9E733EE481A4BEF7898E3C50BD66BCA2F7DBBD0465943E7FC249BE3EE4943C3856863EC6A3253EDC00D13E54F4FABC263E23BE76FAFB3EDEEDAF3D14479BBE737797BEF831F83D71397EBE00A722BE125F2ABF46CE4ABE56C76B3E36B3F43D"> : tensor<3x5xcomplex<f32>>
    return %c0, %c1 : tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<3x5xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    %1 = call @fft_0(%arg0) : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    return %0, %1 : tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [3, 5] : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    return %0 : tensor<3x5xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [3, 5] : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
    return %0 : tensor<3x5xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xf32>) {
    %in = call @inputs() : () -> tensor<3x5xf32>
    %want = call @expected() : () -> tensor<3x5xf32>
    %got = call @computed(%in) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xf32>, tensor<3x5xf32>) -> ()
    return %got : tensor<3x5xf32>
  }
  func.func private @inputs() -> (tensor<3x5xf32>) {
    %c0 = stablehlo.constant dense<"0xF0FEC8BFF51C13408BAB96C0F8CAFFBF6C100FC0701494C0263AA1BF0FA863C071C5BBBF1CFE3E3F190E37C0D28A2FC0B81346C0C0832BC063059BC0"> : tensor<3x5xf32>
    return %c0 : tensor<3x5xf32>
  }
  func.func private @expected() -> (tensor<3x5xf32>) {
    %c0 = stablehlo.constant dense<"0xF0FEC8BFF61C13408BAB96C0F8CAFFBF6D100FC0711494C0273AA1BF10A863C074C5BBBF16FE3E3F1A0E37C0D48A2FC0BA1346C0C1832BC063059BC0"> : tensor<3x5xf32>
    return %c0 : tensor<3x5xf32>
  }
  func.func private @computed(%arg0: tensor<3x5xf32>) -> (tensor<3x5xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<3x3xcomplex<f32>>) -> tensor<3x5xf32>
    return %1 : tensor<3x5xf32>
  }
  func.func private @fft(%arg0: tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3, 5] : (tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<3x3xcomplex<f32>>) -> tensor<3x5xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [3, 5] : (tensor<3x3xcomplex<f32>>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<3x5xf32>
    %want = call @expected() : () -> tensor<3x3xcomplex<f32>>
    %got = call @computed(%in) : (tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> ()
    return %got : tensor<3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x5xf32>) {
    %c0 = stablehlo.constant dense<"0xF0FEC8BFF51C13408BAB96C0F8CAFFBF6C100FC0701494C0263AA1BF0FA863C071C5BBBF1CFE3E3F190E37C0D28A2FC0B81346C0C0832BC063059BC0"> : tensor<3x5xf32>
    return %c0 : tensor<3x5xf32>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0xBE670AC20000000038BA2740383FABBF31E2FEC027CEF5C0585B9F4007DDA7C0D6CE0B4196C44FC06AEF58BF9ACF1040585B9F4007DDA74030A3883EC6B064C07E3E11C008F024C1"> : tensor<3x3xcomplex<f32>>
    return %c0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<3x5xf32>) -> (tensor<3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3, 5] : (tensor<3x5xf32>) -> tensor<3x3xcomplex<f32>>
    return %0 : tensor<3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x2x3x4xcomplex<f32>>
    %want:2 = call @expected() : () -> (tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>)
    %got:2 = call @computed(%in) : (tensor<2x2x3x4xcomplex<f32>>) -> (tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>) -> ()
    return %got#0, %got#1 : tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x2x3x4xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0xACFA9CBFCC169E3D7EA26CBF40F84E40D1295CBFFE00D53EDDACC6BFEF08A0BECD5C17BF351BF9BD82B3A53F9B4555BE8B06A0BF58F2AA3D027D80BF6CA01CBEDA59C93F92266E3F5099883FE973053F905E01BDFB69C7BFDB24F8BEBC6A0ABFC5142D3F4A987E3F4301F53E93B14CBF13DCEC3F77BDB53F01DF5EBE67D8493E62E9233FFBC4D43D07CDC9BD9624FD3E527E2A3CFF36513EB940CEBF7CC5CDBFEEDBDE3F00DDC2BF0F76F93E7308A43E56D9633E149031BF0105823FA6B8B33EBE2FAFBE911FB4BF76386BBE365519BF9110A1BF3B22C33E3934153F77E0553FF461FE3D331574BE6915933FEC84483F27871440FEBF133FBAF46ABFED0B7D3F87D916400848993EC9D81FBE3E9711BFE2BEF83F2B6C1DBE6A5458BEC901AF3E3460B1BFACA36EBE2F3C9DBFD19CCBBD1CE80A3F6A68793F875BBEBE90FE5E3F82D9AFBE04B3CDBFAF39203FE44F1DBEA0B2283E586D24C0100E8C3E6E479F3ED4749F3E90F28D3F152E96BE7E510E4030984D3FDFBE1F3F93F91AC06551F2BF"> : tensor<2x2x3x4xcomplex<f32>>
    return %c0 : tensor<2x2x3x4xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x86439A3F7C4CEA3F44FC0741A132B2C0EDB7894020CC94BF196B30C002F1D740D54A1AC0AD6B60416844DBC06012B93EC1D5CB4046BC1F405F6F81C0000B88BD8FDD83C0C0B335BEDAA5B03FEE5187BF88322DC0408FDD3ED80BAFC01613A0C0B9F312C148F83940C4D98C40C850003FFBD6BBC0CF7388C0218B23C02015C340C27FDBC0C0305B3EF8FA7E40701E3640BE6933C0CC40DBBF208E06C14328B9C03D3BC0C08C15D83F9E5EF540077638C078FA424079B925C1904576BEB0F682BE047F024060214C3F18756AC0B4049BC0FCF90641BD1CA9C0224A7BC098E0823F28CC1EC1E81A71BE74E085C0C70DC24037B448C1B57FE240E58D6440727209C164EB4BC034CECD3F53DF19C0D160A6C0E0AF043FBE84B5C057119140B5A4CDC0D3F40A41B44AD73FB0E44AC0E4DF04C0ECB2B53FB885233F9562E9407C1D2DC0D0BF9340391F99BFE857BA3E3AD80EC03897AFBFCB5A89C0A3634540D8E5EB40916C1BC1D393ECC01A2B1F41BAB21B40E4DF02C1408C2FBDB086E7BE99E3C8C0"> : tensor<2x2x3x4xcomplex<f32>>
    %c1 = stablehlo.constant dense<"0x60AF4D3DFE329C3D7739EBBD02F68F3EE69F373E806546BD5B50B53ED7986DBE13D22FBE0045F2BB226569BEC96E55BE0AEEE6BDD8B4933CCC876B3D3F6D34BD1EB9CDBD1E9D153F7E942CBE006435BBD6E3873E08FBD43D9A2D92BE24C3763CA2EFC3BEB6F5F73DD90EDABD160E823EFA737ABEBEEF35BE06CD3B3E6816AB3C7E2780BE600E903D582E24BC509E2EBC4FFC013E4CF7DCBE6A94A33EB4F2F5BD2C5592BE6020123C2B68B3BE5AE076BEA837EFBD342B92BDA7FC293E40D3F23DB2FEAD3D4216083DC38627BEC8802E3DFCF7B33EA87B61BE104E1CBEF1B04EBE46F207BE2434893D746C413E7A1889BE68EAB03C520672BEC429CDBD6CD65DBEE0BAD3BE94BC20BC9A5E183E4243B7BE7ACD05BFCEFF963E9A8032BE855E813E7046B93E23878F3D0E979B3EFCD1E6BDF443723D9C07DA3C204307BE862AB1BD6D3BCFBEE3B79DBEC4599ABC12ED85BEDC7FAEBE0011EABA7939D43EF898CF3DC0FF443EA1294CBDC297033EE6439D3EF81E6ABDB92337BE2875783CA475BEBD"> : tensor<2x2x3x4xcomplex<f32>>
    return %c0, %c1 : tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x2x3x4xcomplex<f32>>) -> (tensor<2x2x3x4xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<2x2x3x4xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<2x2x3x4xcomplex<f32>>) -> tensor<2x2x3x4xcomplex<f32>>
    %1 = call @fft_0(%arg0) : (tensor<2x2x3x4xcomplex<f32>>) -> tensor<2x2x3x4xcomplex<f32>>
    return %0, %1 : tensor<2x2x3x4xcomplex<f32>>, tensor<2x2x3x4xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<2x2x3x4xcomplex<f32>>) -> tensor<2x2x3x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [2, 3, 4] : (tensor<2x2x3x4xcomplex<f32>>) -> tensor<2x2x3x4xcomplex<f32>>
    return %0 : tensor<2x2x3x4xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x2x3x4xcomplex<f32>>) -> tensor<2x2x3x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [2, 3, 4] : (tensor<2x2x3x4xcomplex<f32>>) -> tensor<2x2x3x4xcomplex<f32>>
    return %0 : tensor<2x2x3x4xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x4xf32>) {
    %in = call @inputs() : () -> tensor<2x2x3x4xf32>
    %want = call @expected() : () -> tensor<2x2x3x4xf32>
    %got = call @computed(%in) : (tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> ()
    return %got : tensor<2x2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x931B984045F4B63F87DC434098435FBFF021A6BD628C034045EA04C07B34894039D940C072D17E3F8402F1BECAB9B53FFBA38340673D3FC0996AE03F8391433F4E303C40ED92B03ED42787BF6A76F73F43E88D408CDB38403CD3683FD75DDC3F6BCD85C0826D96BFB0839DBE80A194BF0D6DD3BF4ACA9D3E6EB8D33FA8B1C8400CAFD3BFFDDE11C0220F5C40B0E9693F56090EC0E555A140D19238BEE51E09BFF08CB3BF75EE14C0EA563C3FEE671CC0EB46F940EE4EB53FEE8EACBE092BF6BF"> : tensor<2x2x3x4xf32>
    return %c0 : tensor<2x2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x921B984043F4B63F87DC43409B435FBFD621A6BD618C034046EA04C07B34894038D940C070D17E3F8602F1BECBB9B53FFBA38340683D3FC09A6AE03F8291433F4E303C40FB92B03ED32787BF6C76F73F43E88D408CDB384038D3683FD85DDC3F6CCD85C0816D96BFB6839DBE81A194BF0F6DD3BF56CA9D3E6FB8D33FA8B1C8400EAFD3BFFEDE11C0230F5C40B0E9693F56090EC0E555A140E09238BEE61E09BFF48CB3BF76EE14C0E8563C3FF0671CC0EB46F940EE4EB53FF68EACBE082BF6BF"> : tensor<2x2x3x4xf32>
    return %c0 : tensor<2x2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x2x3x4xf32>) -> (tensor<2x2x3x4xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<2x2x3x3xcomplex<f32>>) -> tensor<2x2x3x4xf32>
    return %1 : tensor<2x2x3x4xf32>
  }
  func.func private @fft(%arg0: tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [2, 3, 4] : (tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>>
    return %0 : tensor<2x2x3x3xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x2x3x3xcomplex<f32>>) -> tensor<2x2x3x4xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [2, 3, 4] : (tensor<2x2x3x3xcomplex<f32>>) -> tensor<2x2x3x4xf32>
    return %0 : tensor<2x2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x3xcomplex<f32>>) {
    %in = call @inputs() : () -> tensor<2x2x3x4xf32>
    %want = call @expected() : () -> tensor<2x2x3x3xcomplex<f32>>
    %got = call @computed(%in) : (tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x2x3x3xcomplex<f32>>, tensor<2x2x3x3xcomplex<f32>>) -> ()
    return %got : tensor<2x2x3x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<2x2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x931B984045F4B63F87DC434098435FBFF021A6BD628C034045EA04C07B34894039D940C072D17E3F8402F1BECAB9B53FFBA38340673D3FC0996AE03F8391433F4E303C40ED92B03ED42787BF6A76F73F43E88D408CDB38403CD3683FD75DDC3F6BCD85C0826D96BFB0839DBE80A194BF0D6DD3BF4ACA9D3E6EB8D33FA8B1C8400CAFD3BFFDDE11C0220F5C40B0E9693F56090EC0E555A140D19238BEE51E09BFF08CB3BF75EE14C0EA563C3FEE671CC0EB46F940EE4EB53FEE8EACBE092BF6BF"> : tensor<2x2x3x4xf32>
    return %c0 : tensor<2x2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x2x3x3xcomplex<f32>>) {
    %c0 = stablehlo.constant dense<"0x94F9E94100000000617330410AEC9040D8DDA43F00000000646B5940A740EE3E4493904050A88DC03405B34148B74E40646B5940A740EEBE35AC58C066FE87403405B34148B74EC0AEB7C8C000000000EBC50BC1EA6374C03F3479C1000000002CA72341BF0C19C1D2F52240EB162BC15D23D140A86BA33F2CA72341BF0C1941DCFC8540DD8669C05D23D140A86BA3BFDC9A7240000000001B2805C140F70B3E802BD8BE00000000D4930FC12A67AC400006F73E88FF88BF360556C1CE373C41D4930FC12A67ACC0FB5F1EC10F1A7CC1360556C1CE373CC1CC155CC000000000E4C481C16DA29141E8CD2BC100000000E8DA3AC1937F80C11CF19E404C6F32C1FFF94741BBBAA240E8DA3AC1937F80412003B840948D1B41FFF94741BBBAA2C0"> : tensor<2x2x3x3xcomplex<f32>>
    return %c0 : tensor<2x2x3x3xcomplex<f32>>
  }
  func.func private @computed(%arg0: tensor<2x2x3x4xf32>) -> (tensor<2x2x3x3xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>>
    return %0 : tensor<2x2x3x3xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [2, 3, 4] : (tensor<2x2x3x4xf32>) -> tensor<2x2x3x3xcomplex<f32>>
    return %0 : tensor<2x2x3x3xcomplex<f32>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %want:7 = call @expected() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>)
    %got:7 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x3FA69FB2BC1EF13F8CE2CB690B9EB03F1EE5A8983654E63FBE4CD667F211D53F063F40DF68D8D53FE2EC5570456CDB3F28FFF2F4B369F23F710CDD34B10AC7BF326AACE9EC57E93F24A5A4C13BA9E5BF27882C1DEEE0DDBF8321B771163BE3BF"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>) {
    %c0 = stablehlo.constant dense<"0x500320FE7B48F73F79C917BF02FBF23FCAC74E1ABBFBF03F0D544B90B331E6BF29F87E104915CD3F368023CFCB98F2BF728B7659C693054083A8393ECFA1E33F4A2405959DBEF13FEF2502C4D1A0D1BFBB33B508839FEDBF84413FB0C869E4BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x5C923ECEFAE9E5BF274DDE5141E7F03F507568F9ED61D5BF66D010FCD2A1F5BFF80141362D26DDBF533BA743772700C050621C249350D93FBB2EA8D82727EF3F9E179D523D65DEBFA81BA4500741F13F001BD51DC55A803F82012F33640CE23F"> : tensor<2x3xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0xD016B0D731B8D53FFB0690E11599F33F32136F5A4AE5E23F7C945353A401E3BF6D199374C590E43FDAD4BAA1BFF0E2BFAD25DA941EC2FE3F6B95E7F06F50E43F14C9322641BBE03FE99EDF397074BA3F58C554DB0F94C83FC199FE82B9C0D23F"> : tensor<2x3xcomplex<f64>>
    %c3 = stablehlo.constant dense<"0x32E104274C02DB3F92991D6CC45BF03F464F573A5FD6C1BFE19E1F318066F6BF20A0FA3E683503C0157A4DEE9357FABF6B2EC3E3234DF33F6606F185751AEC3F9EF2A7587F7C93BF0BFECEEDCE66DF3F5DAA6F5F0421DA3FB2601F0DC491DCBF"> : tensor<2x3xcomplex<f64>>
    %c4 = stablehlo.constant dense<"0x4574012EFDA6D8BF500B7B0822F1F1BFEC54E9377F46D7BF363D1B62565DF03FC60B035C1137BD3F6EFB382BDD73F93FBC17FABDD8BDF8BF9FEB708B7B64E9BFC6BCBB809C4AD4BF592447BFA5B1D9BF4FDF3DF4175EDD3F0F0082E823EBA23F"> : tensor<2x3xcomplex<f64>>
    %c5 = stablehlo.constant dense<[[false, false, false], [false, false, false]]> : tensor<2x3xi1>
    %c6 = stablehlo.constant dense<[[true, true, true], [true, true, true]]> : tensor<2x3xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>, %arg1: tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[4]"}, tensor<2x3xi1> {jax.result_info = "result[5]"}, tensor<2x3xi1> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xcomplex<f64>>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xcomplex<f64>>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xcomplex<f64>>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<2x3xcomplex<f64>>
    %4 = stablehlo.negate %arg0 : tensor<2x3xcomplex<f64>>
    %5 = stablehlo.compare EQ, %arg0, %arg1, FLOAT : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xi1>
    %6 = stablehlo.compare NE, %arg0, %arg1, FLOAT : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xi1>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xi1>, tensor<2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %want:6 = call @expected() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>)
    %got:6 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xf64>, tensor<2x3xf64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xi1>, tensor<2x3xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5 : tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x3FA69FB2BC1EF13F8CE2CB690B9EB03F1EE5A8983654E63FBE4CD667F211D53F063F40DF68D8D53FE2EC5570456CDB3F28FFF2F4B369F23F710CDD34B10AC7BF326AACE9EC57E93F24A5A4C13BA9E5BF27882C1DEEE0DDBF8321B771163BE3BF"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>) {
    %c0 = stablehlo.constant dense<"0xBD34CECD8F5CD03FDC9761EE2E3CF13F06876D341120F13F4DE1089622C0F2BFF28AA26F75BE0140A155BADF8DC3EABFA5315DB3A7B2FD3F474AE2AD2A68EC3FE93FAA4A2027DB3F27FD004FF2E4EF3F97672C8625A1B2BF4055900E50AFCB3F"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x4574012EFDA6D83FEC54E9377F46D73FC60B035C1137BDBFBC17FABDD8BDF83FC6BCBB809C4AD43F4FDF3DF4175EDDBF"> : tensor<2x3xf64>
    %c2 = stablehlo.constant dense<"0x500B7B0822F1F13F363D1B62565DF0BF6EFB382BDD73F9BF9FEB708B7B64E93F592447BFA5B1D93F0F0082E823EBA2BF"> : tensor<2x3xf64>
    %c3 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F1BFEC54E9377F46D73F363D1B62565DF03FC60B035C1137BDBF6EFB382BDD73F93FBC17FABDD8BDF83F9FEB708B7B64E9BFC6BCBB809C4AD43F592447BFA5B1D9BF4FDF3DF4175EDDBF0F0082E823EBA23F"> : tensor<2x3xcomplex<f64>>
    %c4 = stablehlo.constant dense<"0x7325BEDF8EF8F23FAE071D364B5EF13F621320FD9B84F93F39AC56581BCFFB3FD89C532ABF5EE03FC4D3D9C06D76DD3F"> : tensor<2x3xf64>
    %c5 = stablehlo.constant dense<[[true, true, true], [true, true, true]]> : tensor<2x3xi1>
    return %c0, %c1, %c2, %c3, %c4, %c5 : tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>, %arg1: tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}, tensor<2x3xf64> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[3]"}, tensor<2x3xf64> {jax.result_info = "result[4]"}, tensor<2x3xi1> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<2x3xcomplex<f64>>
    %1 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %2 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %3 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %4 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %5 = stablehlo.negate %4 : tensor<2x3xf64>
    %6 = stablehlo.complex %3, %5 : tensor<2x3xcomplex<f64>>
    %7 = stablehlo.abs %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %8 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %9 = stablehlo.is_finite %8 : (tensor<2x3xf64>) -> tensor<2x3xi1>
    %10 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %11 = stablehlo.is_finite %10 : (tensor<2x3xf64>) -> tensor<2x3xi1>
    %12 = stablehlo.and %9, %11 : tensor<2x3xi1>
    return %0, %1, %2, %6, %7, %12 : tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xi1>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f64>>
    %want:12 = call @expected() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %got:12 = call @computed(%in) : (tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#8, %want#8) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#11, %want#11) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10, %got#11 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    return %c0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x1BF5ADEC5D6FE43FE156C561D22EF53F5B855B2AE7FBE73F7AB4304BAAA5F3BF378F4E66F64292BFFF455559078BECBF9BB3316FAA560A4083CC7DFA08C50A40FD9BF264F038F43F4C80474F792BE13F0FB31E8CCC35E43F135ECCC552E897BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xCA15A4264421D7BFE156C561D22EF53F49F548AB3108D0BF7AB4304BAAA5F3BF3D3A99D90B49F0BFFF455559078BECBF9BB3316FAA56024083CC7DFA08C50A40F46FCA93C1E3D03F4C80474F792BE13FE199C2E76694D7BF135ECCC552E897BF"> : tensor<2x3xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0xF4401C1404CDC53FF5DFB625B9D6F33FE1872273E201B53F489B9A4BA7AAF3BFD7489383FADFDD3F5A0278805247FABF16C55E9C4DB0E13F1ABAF53CE957DE3F1FB23A38ED72E5BFC8959C1102E0EC3FD6FD33BF08D3E8BF46ED4B126C7D08C0"> : tensor<2x3xcomplex<f64>>
    %c3 = stablehlo.constant dense<"0x9FA7DDA0B97DE23F17ECC0A7EAC6E53FDC808F2D1D11E13FF31A1E4BAC97E4BF1E3639715B2DE33F64D598E1C200F1BFF95F45655D64EF3F5EA667AA7555D33FF0B5C05CF877D43F4B2A5ECD9EEFD23FC3A361AE9693E3BFBD7C0A9A1274B1BF"> : tensor<2x3xcomplex<f64>>
    %c4 = stablehlo.constant dense<"0x57F64F4E275CEC3FE70B434AAA3EE43FCC4680244F3DEB3F263C2EBE7C39E3BFFD5DD8BAD188EB3FCD054A189C94EDBFD131AB68F780F43F3054EEFD9CD0D33F9BD730D3EF98E43FC3130EB47EF5D33FA9A0E736D8E79B3F58177DA2BBB1E5BF"> : tensor<2x3xcomplex<f64>>
    %c5 = stablehlo.constant dense<"0x8F141D942EEBE73FC476E58C0913E1BFFA0ACABEED17E93F0E35CC93C1B5E13FC517A1FAAA43E13FCDD0C9BE168CE23FD17780990498E73FA3FF075716CDC6BFD6267D2BB921F43F8CD10204FA81E3BF2E690AC1164FAE3FE21F677E0890F73F"> : tensor<2x3xcomplex<f64>>
    %c6 = stablehlo.constant dense<"0x8741B422A9CAD43F2222751FA843EE3F747082171171D53FC9CD3E359326EEBF8C51C2F16F51B2BF87B8CA4100EBEFBF7F5698736578EC3F2727B4322538DD3FF57AE32D2BD5E33F83DA2DB3EF1CE93F430317AD91E5EFBFEC6C9E1C3E8CB4BF"> : tensor<2x3xcomplex<f64>>
    %c7 = stablehlo.constant dense<"0xACA0E38DCD68E43FDADDF7357656F43F1D0294A9C2DFE13F1DCF3D4B931AF2BFD641AFB82CA0D2BF137E35C767B102C08069FA1A084DF53F977D63218A03963FE54945F53895D53F97B2BCAE0C13D93F9D565F29FA5DDCBF71301E8E20F7A0BF"> : tensor<2x3xcomplex<f64>>
    %c8 = stablehlo.constant dense<"0x56197C18482BF93F76BAA948E07DE0BFC3E09C6E207BF73F6E409447D18FDB3F8569D77D00500440492769FD0124D1BFBD67646BC9AAA03FD3997EA15222ECBF8FF21F2EB871F03FF2E255A17974C0BFE6BB4BAE96B5EC3F0FFB9EC35AC390BF"> : tensor<2x3xcomplex<f64>>
    %c9 = stablehlo.constant dense<"0x323BB4F60444C03FFD9CD3B08E30EB3F7FE9C81A0431C23FDF16B3FDAC01EABF6AFC3F86A5C591BFD9519B1FD981EDBF3497B4981E2AA03F5B0E2F9B8C35F83F92C4F04EF8ABD13F10E0D7C0839BDA3FDD133F6A9D90DFBF7ED71D5C7C84A7BF"> : tensor<2x3xcomplex<f64>>
    %c10 = stablehlo.constant dense<"0x21F8FC6AF3B4F33FC452A3B71D2BF23F832E14CC94FBEE3FAF3F6316B15EF1BF71B712FB561421C0BB3A8EC1C1B8F73F1BBB620A58EAEF3FB8BC3494B137B73F11982A144DCAD63F2C14D5846C33D83FAF8758AF367FDBBF2C8C428AE0DF9EBF"> : tensor<2x3xcomplex<f64>>
    %c11 = stablehlo.constant dense<"0x3C4847F2352FE43F9A18B5D2DC17D33F6C67DD90F4BEE33FF691097EAE33D1BF6899D4FA4A4ADC3F78EB27571937E0BF72B52D19EB5CEB3F7FADBECC68EBBC3F1F45687CEA9DE23FA4BD9B160160B93F8CBA5B6D2DC8D83F0EE8B4EE53F581BF"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[4]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[5]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[6]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[7]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[8]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[9]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[10]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[11]"}) {
    %0 = stablehlo.exponential %arg0 : tensor<2x3xcomplex<f64>>
    %1 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xcomplex<f64>>
    %2 = stablehlo.log %arg0 : tensor<2x3xcomplex<f64>>
    %3 = stablehlo.log_plus_one %arg0 : tensor<2x3xcomplex<f64>>
    %4 = stablehlo.sqrt %arg0 : tensor<2x3xcomplex<f64>>
    %5 = stablehlo.rsqrt %arg0 : tensor<2x3xcomplex<f64>>
    %6 = stablehlo.sign %arg0 : tensor<2x3xcomplex<f64>>
    %7 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %8 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %10 = stablehlo.compare EQ, %7, %9, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %11 = stablehlo.sine %7 : tensor<2x3xf64>
    %12 = stablehlo.cosine %7 : tensor<2x3xf64>
    %13 = stablehlo.exponential_minus_one %8 : tensor<2x3xf64>
    %14 = stablehlo.negate %8 : tensor<2x3xf64>
    %15 = stablehlo.exponential_minus_one %14 : tensor<2x3xf64>
    %16 = stablehlo.subtract %13, %15 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %18 = stablehlo.divide %16, %17 : tensor<2x3xf64>
    %19 = stablehlo.add %13, %15 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %21 = stablehlo.add %19, %20 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %23 = stablehlo.divide %21, %22 : tensor<2x3xf64>
    %24 = stablehlo.multiply %11, %23 : tensor<2x3xf64>
    %25 = stablehlo.multiply %12, %18 : tensor<2x3xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %26 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %27 = stablehlo.complex %26, %25 : tensor<2x3xcomplex<f64>>
    %28 = stablehlo.complex %24, %25 : tensor<2x3xcomplex<f64>>
    %29 = stablehlo.select %10, %27, %28 : tensor<2x3xi1>, tensor<2x3xcomplex<f64>>
    %30 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %31 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %33 = stablehlo.compare EQ, %30, %32, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %34 = stablehlo.sine %30 : tensor<2x3xf64>
    %35 = stablehlo.cosine %30 : tensor<2x3xf64>
    %36 = stablehlo.exponential_minus_one %31 : tensor<2x3xf64>
    %37 = stablehlo.negate %31 : tensor<2x3xf64>
    %38 = stablehlo.exponential_minus_one %37 : tensor<2x3xf64>
    %39 = stablehlo.subtract %36, %38 : tensor<2x3xf64>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %40 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %41 = stablehlo.divide %39, %40 : tensor<2x3xf64>
    %42 = stablehlo.add %36, %38 : tensor<2x3xf64>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %43 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %44 = stablehlo.add %42, %43 : tensor<2x3xf64>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %45 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %46 = stablehlo.divide %44, %45 : tensor<2x3xf64>
    %47 = stablehlo.multiply %35, %46 : tensor<2x3xf64>
    %48 = stablehlo.negate %34 : tensor<2x3xf64>
    %49 = stablehlo.multiply %48, %41 : tensor<2x3xf64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %51 = stablehlo.complex %47, %50 : tensor<2x3xcomplex<f64>>
    %52 = stablehlo.complex %47, %49 : tensor<2x3xcomplex<f64>>
    %53 = stablehlo.select %33, %51, %52 : tensor<2x3xi1>, tensor<2x3xcomplex<f64>>
    %54 = stablehlo.tan %arg0 : tensor<2x3xcomplex<f64>>
    %55 = stablehlo.tanh %arg0 : tensor<2x3xcomplex<f64>>
    %56 = stablehlo.negate %arg0 : tensor<2x3xcomplex<f64>>
    %57 = stablehlo.exponential %56 : tensor<2x3xcomplex<f64>>
    %cst_9 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %58 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<complex<f64>>) -> tensor<2x3xcomplex<f64>>
    %59 = stablehlo.add %58, %57 : tensor<2x3xcomplex<f64>>
    %cst_10 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %60 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<complex<f64>>) -> tensor<2x3xcomplex<f64>>
    %61 = stablehlo.divide %60, %59 : tensor<2x3xcomplex<f64>>
    return %0, %1, %2, %3, %4, %5, %6, %29, %53, %54, %55, %61 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f64>>
    %want:8 = call @expected() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %got:8 = call @computed(%in) : (tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    return %c0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x7348328F36F4C53FFACDA3B6B1FCEE3F18F29F2B63CAC83F48667799EC23EDBFD00C116977BA623F30EEC9B6E019F0BF7D6A8627B024F93FD32D446E05FCFB3F41164EDD17FED23F467A22DBDE46DA3FF1A9B4006863DEBFB7D4F5C2D0F0A4BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xFCC5C291A0E4DD3F90BFCD19E6C1D63FD588735F4EC9E13F5805D4F9CF4ED4BFD1B07053459A94BF04B3F4A1D045BD3FB9FCDCB6A488FB3F336BB7860C8EF93FDA2C3EDBD4F2EE3FA50CD9862720C03F04843C46C0B3F13F5A4B1FC04EF9913F"> : tensor<2x3xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0x94B9C21C3C48D03F326CFB68DAA7EF3F727C4486402CD03F4958FE44FE75EDBFF7A8E5BA1913AFBF9E0D1EC62FEEF3BF4F2408BFF34FF03F881A57A7B23FF33F44C451FDA7FCD23F1CE22C7B9B22DA3F7FF0FE134A7BDEBF4907C9401148A5BF"> : tensor<2x3xcomplex<f64>>
    %c3 = stablehlo.constant dense<"0xB37E134DEC0FF53F326CFB68DAA7EFBFFC0DB332EB16F53F4958FE44FE75ED3F605A1B22941AFA3F9E0D1EC62FEEF33F9411782A0FA4E13F881A57A7B23FF3BF07BCEF54D162F43F1CE22C7B9B22DABF9CF4A1EC666000404907C9401148A53F"> : tensor<2x3xcomplex<f64>>
    %c4 = stablehlo.constant dense<"0xDE622993FD71F03F86435DDAA8CCEA3F4C84C4B7EEFAEC3F91BFA902B7ADEBBF9A3928FB56F5F7BFDBF73E70E65FE7BF762046AD5632F13F10949BE9EEB5CA3FA854B74D3DB5D63F2FDA9C671711D83FF7B27702798FDBBF73319DFE66429FBF"> : tensor<2x3xcomplex<f64>>
    %c5 = stablehlo.constant dense<"0x28774A39336BE73F1B769B415615F13FDBCBE446E961E43F0E66C3A8111EF0BFAC7B16332FB8F0BFB9A7BDB33DAAF7BF68C41AC64BBCF43FC47AC8AD179EDA3F1BF1E427D586D53F3BA3276C8CEED83F39E363815E70DCBF2A9DD3683B32A1BF"> : tensor<2x3xcomplex<f64>>
    %c6 = stablehlo.constant dense<"0x326CFB68DAA7EF3FB37E134DEC0FF53F4958FE44FE75ED3FFC0DB332EB16F5BF9E0D1EC62FEEF33F605A1B22941AFABF881A57A7B23FF33F9411782A0FA4E13F1CE22C7B9B22DA3F07BCEF54D162F43F4907C9401148A53F9CF4A1EC666000C0"> : tensor<2x3xcomplex<f64>>
    %c7 = stablehlo.constant dense<"0x927515839B3DC53FA8C55B5741FFEB3F19EED815BB38C63F45D892163786EABF65F89215FD82A0BF169C44A11C2EF0BFBA3ADF18DA4AE03FADE9355392CEF33F0914268B2BB0D13F6476BC5B5479DA3F3B27A43E03ACDFBF347D2A509DEFA7BF"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[4]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[5]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[6]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[7]"}) {
    %0 = chlo.sinh %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %1 = chlo.cosh %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %2 = chlo.asin %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %3 = chlo.acos %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %4 = chlo.atan %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %5 = chlo.asinh %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %6 = chlo.acosh %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    %7 = chlo.atanh %arg0 : tensor<2x3xcomplex<f64>> -> tensor<2x3xcomplex<f64>>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<4xf64>, tensor<4xf64>)
    %want:2 = call @expected() : () -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>)
    %got:2 = call @computed(%in#0, %in#1) : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    return %got#0, %got#1 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<4xf64>, tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x397DE59346440740DE9BE13A2DA8E1BFFA4E669DDC2410401E03B950A89505C0"> : tensor<4xf64>
    %c1 = stablehlo.constant dense<"0x908B079C0154F83F8AD1902AAACB08C01C813E3C5CE50D4012596340FD52FBBF"> : tensor<4xf64>
    return %c0, %c1 : tensor<4xf64>, tensor<4xf64>
  }
  func.func private @expected() -> (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x397DE59346440740908B079C0154F83FDE9BE13A2DA8E1BF8AD1902AAACB08C0FA4E669DDC2410401C813E3C5CE50D401E03B950A89505C012596340FD52FBBF"> : tensor<4xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x397DE593464407400000000000000000DE9BE13A2DA8E1BF0000000000000000FA4E669DDC24104000000000000000001E03B950A89505C00000000000000000"> : tensor<4xcomplex<f64>>
    return %c0, %c1 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<4xf64>, %arg1: tensor<4xf64>) -> (tensor<4xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<4xcomplex<f64>> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f64>>
    %1 = stablehlo.convert %arg0 : (tensor<4xf64>) -> tensor<4xcomplex<f64>>
    return %0, %1 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f64>>
    %want:7 = call @expected() : () -> (tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
    %got:7 = call @computed(%in) : (tensor<2x3xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<3x2xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<4x3xcomplex<f64>>, tensor<4x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<4x5xcomplex<f64>>, tensor<4x5xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#5, %want#5) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_close(%got#6, %want#6) {has_side_effect = true} : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6 : tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    return %c0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FBC17FABDD8BDF83F9FEB708B7B64E93FEC54E9377F46D73F363D1B62565DF0BFC6BCBB809C4AD43F592447BFA5B1D93FC60B035C1137BDBF6EFB382BDD73F9BF4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<3x2xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F"> : tensor<4xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<4x3xcomplex<f64>>
    %c3 = stablehlo.constant dense<"0x0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BF0000000000000000000000000000000000000000000000000000000000000000BC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"> : tensor<4x5xcomplex<f64>>
    %c4 = stablehlo.constant dense<"0xBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BF"> : tensor<2x3xcomplex<f64>>
    %c5 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BD3F6EFB382BDD73F93FBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDD3F0F0082E823EBA23F"> : tensor<2x3xcomplex<f64>>
    %c6 = stablehlo.constant dense<"0x00000000000000000000000000000000000000000000F03F000000000000000000000000000000400000000000000000"> : tensor<3xcomplex<f64>>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6 : tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<4xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<4x5xcomplex<f64>> {jax.result_info = "result[3]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[4]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[5]"}, tensor<3xcomplex<f64>> {jax.result_info = "result[6]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %1 = stablehlo.reshape %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<6xcomplex<f64>>
    %2 = stablehlo.slice %1 [1:5] : (tensor<6xcomplex<f64>>) -> tensor<4xcomplex<f64>>
    %3 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %4 = call @_pad(%arg0, %c) : (tensor<2x3xcomplex<f64>>, tensor<i64>) -> tensor<4x5xcomplex<f64>>
    %5 = stablehlo.reverse %arg0, dims = [0] : tensor<2x3xcomplex<f64>>
    %6 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %8 = stablehlo.compare GT, %6, %7, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %9 = stablehlo.negate %arg0 : tensor<2x3xcomplex<f64>>
    %10 = call @_where(%8, %arg0, %9) : (tensor<2x3xi1>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %11 = stablehlo.iota dim = 0 : tensor<3xcomplex<f64>>
    return %0, %2, %3, %4, %5, %10, %11 : tensor<3x2xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x3xcomplex<f64>>, tensor<4x5xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<3xcomplex<f64>>
  }
  func.func private @_pad(%arg0: tensor<2x3xcomplex<f64>>, %arg1: tensor<i64>) -> tensor<4x5xcomplex<f64>> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<complex<f64>>
    %1 = stablehlo.pad %arg0, %0, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<4x5xcomplex<f64>>
    return %1 : tensor<4x5xcomplex<f64>>
  }
  func.func private @_where(%arg0: tensor<2x3xi1>, %arg1: tensor<2x3xcomplex<f64>>, %arg2: tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x3xi1>, tensor<2x3xcomplex<f64>>
    return %0 : tensor<2x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f64>>
    %want:4 = call @expected() : () -> (tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %got:4 = call @computed(%in) : (tensor<2x3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    return %c0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xCD747A0998E7FE3F208133CE5FA3FE3FD98852DC8DC8E53F40E892E4D9E1E3BF20519F25EE55E2BF6E0B7D4A360BFABF"> : tensor<3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xE87EB84CF3F5BFBF14297BBA396400C077E1995904D6A7BFEF974478B506DABF"> : tensor<2xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13F9864F532BEF6E73FA0E1FC65BA3CB93F1F037507DC4FE43F542DD98411E0F7BFBC17FABDD8BDF83F9FEB708B7B64E93FEE0629DE7FD0FD3FE63E8A35A71EF33F1A8F19E1F978F63FE62E46164E87F23F"> : tensor<2x3xcomplex<f64>>
    %c3 = stablehlo.constant dense<"0x9864F532BEF6E73FA0E1FC65BA3CB93FF523D1C175F1CF3F521CAAC699E804C0C60B035C1137BDBF6EFB382BDD73F9BFEE0629DE7FD0FD3FE63E8A35A71EF33F124504E7F626C2BF57E436424154D73F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1, %c2, %c3 : tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>) -> (tensor<3xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %2 = call @cumsum(%arg0) : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %cst_1 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f64>>) -> tensor<complex<f64>>
    %4 = "stablehlo.reduce_window"(%arg0, %3) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<complex<f64>>, %arg2: tensor<complex<f64>>):
      %5 = stablehlo.add %arg1, %arg2 : tensor<complex<f64>>
      stablehlo.return %5 : tensor<complex<f64>>
    }) : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %0, %1, %2, %4 : tensor<3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @cumsum(%arg0: tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
    %0 = call @cumsum_0(%arg0) : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @cumsum_0(%arg0: tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<complex<f64>>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<complex<f64>>, %arg2: tensor<complex<f64>>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<complex<f64>>
      stablehlo.return %2 : tensor<complex<f64>>
    }) : (tensor<2x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %1 : tensor<2x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %want:3 = call @expected() : () -> (tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>)
    %got:3 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> ()
    return %got#0, %got#1, %got#2 : tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x3FA69FB2BC1EF13F8CE2CB690B9EB03F1EE5A8983654E63FBE4CD667F211D53F063F40DF68D8D53FE2EC5570456CDB3F28FFF2F4B369F23F710CDD34B10AC7BF326AACE9EC57E93F24A5A4C13BA9E5BF27882C1DEEE0DDBF8321B771163BE3BF"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1 : tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x031C6D5D1429F93F064A1AE17CFCA33F0F42BE8B312EE5BF810051AFDF3CEF3F6F12EFA75ED2F83F0EB1CA39E3FEF13F7111AF9120190540146BD15CAD7FF03F"> : tensor<2x2xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xB115638515180240B0D103DA4DC1FD3F20191EAD2E95FA3F2825B7DE7F6CDF3F4ED87CF77E02E3BF44146ED5ED0FE8BF01C8E9F9B590EC3F31ED02B7944EE5BF23EE50C045D0F13F3E412F982C66DFBFD04EA886F0FAE43FA2172EFFA547E2BF76EFE007D8B6E1BFAC86751E2DB6FABF18F7A1037F7FAC3FF16F3DD542B8EBBFC44A686BC9B5EA3FF30F77C0C520D3BF"> : tensor<3x3xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0x2A5E231C2510E43FE0B21A21B814ADBF75C5B5D4541BE93F1581058EE091F33FFD7E942CDF81FB3F09122A968CDDF13F36B6AD9680F50140C04EE9F966F9F33F"> : tensor<2x2xcomplex<f64>>
    return %c0, %c1, %c2 : tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>, %arg1: tensor<2x3xcomplex<f64>>) -> (tensor<2x2xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x2xcomplex<f64>> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %3 = stablehlo.real %arg1 : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xf64>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %5 = stablehlo.convert %arg0 : tensor<2x3xcomplex<f64>>
    %6 = stablehlo.convert %4 : (tensor<3x2xf64>) -> tensor<3x2xcomplex<f64>>
    %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
    return %1, %2, %7 : tensor<2x2xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<2x2xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x5xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<1x2x5xcomplex<f64>>, tensor<3x2x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<1x3x5xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<1x2x5xcomplex<f64>>, tensor<3x2x3xcomplex<f64>>) -> tensor<1x3x5xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<1x3x5xcomplex<f64>>, tensor<1x3x5xcomplex<f64>>) -> ()
    return %got : tensor<1x3x5xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<1x2x5xcomplex<f64>>, tensor<3x2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x42225BA78290E23F7614BA230409E2BF8B27A761DF83E4BF58112348F860D73FD795DA135D77F9BFE6EE80CC4C19F1BF8581522AAC25FA3FE99241544954E6BFFDD1BAF39D06EE3FE32126962C98E7BF23C5F045E747F8BFD911FB48E9A1D2BFB244EC41E995EF3F3E4C529B1764B83FBAC848F6B15BC6BFF898FC2A4531EF3F429590B3A47DE4BF7B11138F31EAEA3FAE111F7CD17BDB3F8B1A96A4DD25EDBF"> : tensor<1x2x5xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xEF24215B3D9EF03FFF5128BF5AC3F33F54F2519AA3F1C0BF2C531276FB5FCD3FAC4AC5DCDEF5C5BF38FB86F5463CF0BF06E0FAB651AEEC3F438F54F8D0F2ECBF05E30A879318E43F891F39E4D79DDBBFE020CD88E8B5EDBF7B87218919BFE63F7FA6A467CD1FD53F3897FF52A90EFF3F9408D90C63BB993F49464B2C5F59CF3FF7B2CF470E0BCB3F3E3CFE1E9EAEC3BF7B02EB2C0C9AF63F7CC7B6DDAB9BF93F01B42C8A79E6E83FC58788BA3215EDBF726E4D822CA6E13F388412C23286C43FDEA031356F2DD6BFD3E98D4C7829F7BFD83C748B139CEF3F28664ECDAEDCF43FA16BD8C7459DDA3FDCC84A34A4ECE13F742C47E6CBCDFD3F2C932E5ADA510040B069E4319FF2D43F806EF2060AFA05C04672945D6D29EA3F4E83303EEE7AD03F"> : tensor<3x2x3xcomplex<f64>>
    return %c0, %c1 : tensor<1x2x5xcomplex<f64>>, tensor<3x2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<1x3x5xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xCCCE38464079F8BF006BD612A517FE3F27E65419D913F0BF463E60555E36F73FE082E58D55C0D7BFFFC14496453F0CC0440DA91FB645D7BF1448A48DD69BDCBF56D605F3B857054061029993D4750140D63D823AE2F9EABFAC7727C4B7ACFA3F4CFFCF96445FD9BF1AFBBBCBE6BC02C0D69614675CAFF03F5D38A84F89DBF03F9225D2FC8704E63FB3E18BED2E59F7BF6134B54D19AFE4BF21BCB818F7BC0140F8973574BAA6D43FCDEC6672B2971140EFA9945D3FED10C06FDE40C9420B20C062FA1E605EAB144098E6321E3AEFFC3F9CAC43A0DEA20540DA374A3C3AC71C40807D9DA072D513C04F8B2308EFC406C0"> : tensor<1x3x5xcomplex<f64>>
    return %c0 : tensor<1x3x5xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<1x2x5xcomplex<f64>>, %arg1: tensor<3x2x3xcomplex<f64>>) -> (tensor<1x3x5xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = stablehlo.real %arg0 : (tensor<1x2x5xcomplex<f64>>) -> tensor<1x2x5xf64>
    %1 = stablehlo.imag %arg0 : (tensor<1x2x5xcomplex<f64>>) -> tensor<1x2x5xf64>
    %2 = stablehlo.real %arg1 : (tensor<3x2x3xcomplex<f64>>) -> tensor<3x2x3xf64>
    %3 = stablehlo.imag %arg1 : (tensor<3x2x3xcomplex<f64>>) -> tensor<3x2x3xf64>
    %4 = stablehlo.add %0, %1 : tensor<1x2x5xf64>
    %5 = stablehlo.convolution(%4, %2) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x5xf64>, tensor<3x2x3xf64>) -> tensor<1x3x5xf64>
    %6 = stablehlo.subtract %3, %2 : tensor<3x2x3xf64>
    %7 = stablehlo.convolution(%0, %6) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x5xf64>, tensor<3x2x3xf64>) -> tensor<1x3x5xf64>
    %8 = stablehlo.add %2, %3 : tensor<3x2x3xf64>
    %9 = stablehlo.convolution(%1, %8) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x5xf64>, tensor<3x2x3xf64>) -> tensor<1x3x5xf64>
    %10 = stablehlo.subtract %5, %9 : tensor<1x3x5xf64>
    %11 = stablehlo.add %5, %7 : tensor<1x3x5xf64>
    %12 = stablehlo.complex %10, %11 : tensor<1x3x5xcomplex<f64>>
    return %12 : tensor<1x3x5xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<2x3xcomplex<f64>>, tensor<3xi64>)
    %want:3 = call @expected() : () -> (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    %got:3 = call @computed(%in#0, %in#1) : (tensor<2x3xcomplex<f64>>, tensor<3xi64>) -> (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>, tensor<3xi64>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi64>
    return %c0, %c1 : tensor<2x3xcomplex<f64>>, tensor<3xi64>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x892EC0A5DF140340500B7B0822F1F13F9E2AFDE6CFE80240363D1B62565DF0BF44CF3FEA8E2CFE3F6EFB382BDD73F9BFEF857E2F762F16409FEB708B7B64E93FCCBB0BC8A9441140592447BFA5B1D93F164478013D540C400F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    %c2 = stablehlo.constant dense<"0x500B7B0822F1F1BF4574012EFDA6D83F363D1B62565DF03FEC54E9377F46D73F6EFB382BDD73F93FC60B035C1137BDBFBC17FABDD8BDF8BF9FEB708B7B64E9BFC6BCBB809C4AD4BF592447BFA5B1D9BF4FDF3DF4175EDD3F0F0082E823EBA23F"> : tensor<2x3xcomplex<f64>>
    return %c0, %c1, %c2 : tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>, %arg1: tensor<3xi64>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x3xcomplex<f64>> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_0 = stablehlo.constant dense<2> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %3 = stablehlo.add %arg1, %2 : tensor<3xi64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3xi1>, tensor<3xi64>
    %5 = stablehlo.convert %4 : (tensor<3xi64>) -> tensor<3xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %7 = "stablehlo.gather"(%arg0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xcomplex<f64>>, tensor<3x1xi32>) -> tensor<3x3xcomplex<f64>>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %9 = stablehlo.compare LT, %arg1, %8, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_2 = stablehlo.constant dense<2> : tensor<i64>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %11 = stablehlo.add %arg1, %10 : tensor<3xi64>
    %12 = stablehlo.select %9, %11, %arg1 : tensor<3xi1>, tensor<3xi64>
    %13 = stablehlo.convert %12 : (tensor<3xi64>) -> tensor<3xi32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %16 = "stablehlo.scatter"(%arg0, %14, %15) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<complex<f64>>, %arg3: tensor<complex<f64>>):
      %26 = stablehlo.add %arg2, %arg3 : tensor<complex<f64>>
      stablehlo.return %26 : tensor<complex<f64>>
    }) : (tensor<2x3xcomplex<f64>>, tensor<3x1xi32>, tensor<3x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %18 = stablehlo.compare LT, %arg1, %17, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<2> : tensor<i64>
    %19 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %20 = stablehlo.add %arg1, %19 : tensor<3xi64>
    %21 = stablehlo.select %18, %20, %arg1 : tensor<3xi1>, tensor<3xi64>
    %22 = stablehlo.convert %21 : (tensor<3xi64>) -> tensor<3xi32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %cst_5 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f64>>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %25 = "stablehlo.scatter"(%arg0, %23, %24) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<complex<f64>>, %arg3: tensor<complex<f64>>):
      %26 = stablehlo.multiply %arg2, %arg3 : tensor<complex<f64>>
      stablehlo.return %26 : tensor<complex<f64>>
    }) : (tensor<2x3xcomplex<f64>>, tensor<3x1xi32>, tensor<3x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %7, %16, %25 : tensor<3x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x3xcomplex<f64>>
    %want = call @expected() : () -> tensor<2x3xcomplex<f64>>
    %got = call @computed(%in) : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> ()
    return %got : tensor<2x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x4574012EFDA6D83F500B7B0822F1F13FEC54E9377F46D73F363D1B62565DF0BFC60B035C1137BDBF6EFB382BDD73F9BFBC17FABDD8BDF83F9FEB708B7B64E93FC6BCBB809C4AD43F592447BFA5B1D93F4FDF3DF4175EDDBF0F0082E823EBA2BF"> : tensor<2x3xcomplex<f64>>
    return %c0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xC60B035C1137BDBF6EFB382BDD73F9BFEC54E9377F46D73F363D1B62565DF0BF4574012EFDA6D83F500B7B0822F1F13F4FDF3DF4175EDDBF0F0082E823EBA2BFC6BCBB809C4AD43F592447BFA5B1D93FBC17FABDD8BDF83F9FEB708B7B64E93F"> : tensor<2x3xcomplex<f64>>
    return %c0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x3xcomplex<f64>>) -> (tensor<2x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = call @sort(%arg0) : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %0 : tensor<2x3xcomplex<f64>>
  }
  func.func private @sort(%arg0: tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<complex<f64>>, %arg2: tensor<complex<f64>>):
      %1 = stablehlo.real %arg1 : (tensor<complex<f64>>) -> tensor<f64>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %2 = stablehlo.compare EQ, %1, %cst, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %3 = stablehlo.select %2, %cst_0, %1 : tensor<i1>, tensor<f64>
      %4 = stablehlo.compare NE, %1, %1, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f64>
      %6 = stablehlo.imag %arg1 : (tensor<complex<f64>>) -> tensor<f64>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %7 = stablehlo.compare EQ, %6, %cst_2, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %8 = stablehlo.select %7, %cst_3, %6 : tensor<i1>, tensor<f64>
      %9 = stablehlo.compare NE, %6, %6, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %10 = stablehlo.select %9, %cst_4, %8 : tensor<i1>, tensor<f64>
      %11 = stablehlo.real %arg2 : (tensor<complex<f64>>) -> tensor<f64>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %12 = stablehlo.compare EQ, %11, %cst_5, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %13 = stablehlo.select %12, %cst_6, %11 : tensor<i1>, tensor<f64>
      %14 = stablehlo.compare NE, %11, %11, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_7 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %15 = stablehlo.select %14, %cst_7, %13 : tensor<i1>, tensor<f64>
      %16 = stablehlo.imag %arg2 : (tensor<complex<f64>>) -> tensor<f64>
      %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %17 = stablehlo.compare EQ, %16, %cst_8, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
      %18 = stablehlo.select %17, %cst_9, %16 : tensor<i1>, tensor<f64>
      %19 = stablehlo.compare NE, %16, %16, FLOAT : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %cst_10 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
      %20 = stablehlo.select %19, %cst_10, %18 : tensor<i1>, tensor<f64>
      %21 = stablehlo.compare LT, %10, %20, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %22 = stablehlo.compare LT, %5, %15, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %23 = stablehlo.compare EQ, %5, %15, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %24 = stablehlo.and %23, %21 : tensor<i1>
      %25 = stablehlo.or %22, %24 : tensor<i1>
      stablehlo.return %25 : tensor<i1>
    }) : (tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
    return %0 : tensor<2x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<3x3xcomplex<f64>>
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in) : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x27AA12B254102D40F665433CAA399BBC1E0F58B3FBFEFD3F980DA9525C3AEFBF5A1DBAB464020440A16B8D4548DF13401E0F58B3FBFEFD3F980DA9525C3AEF3F2226063D84120C40C0CC984E0F5F47BCD902439336BBF7BF9EFD2AA704AF0C405A1DBAB464020440A16B8D4548DF13C0D902439336BBF7BF9EFD2AA704AF0CC0DBF0006C0772274020E582DB63BB63BC"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xB2F3E6D31F7F0E4000000000000000000000000000000000000000000000000000000000000000000000000000000000EED7D8B18A79DF3FE7065FBC3B62D03F60F2115F08A1FC3F0000000000000000000000000000000000000000000000006A22A0CBEAFEE43F13FFCD3F13DAF4BF0582ABB06A54EABF6316E723F8D3F8BF1CD685DDF26804400000000000000000"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<3x3xcomplex<f64>>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %3 = stablehlo.add %1, %2 : tensor<3x3xi64>
    %4 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %7 = stablehlo.select %5, %0, %6 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %8 = call @tril(%7) : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %8 : tensor<3x3xcomplex<f64>>
  }
  func.func private @tril(%arg0: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
    %0 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %2 = stablehlo.add %0, %1 : tensor<3x3xi64>
    %3 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %6 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x53F0D3145A510E40470232114961DABF0000000000000000000000000000000000000000000000000000000000000000FE7224CBE787E03FFB15988ECFC4C93F532BFE745C8EFA3FA1CC59D52164E53F00000000000000000000000000000000702DEC56065DE03F257B35845DDDF5BF19646BAF287DC7BF3A52730DD6F2FBBFF2C17EC725250440B1238801FC37DA3F"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x865862B711B0B3BFDACD9666C073CCBF5DC8C36BCB0DE43F54A856752ADAD6BF5286560864DFF8BF5A4AED2A7688F13FBF706EAC9DC7CD3F29ABD9EBE9C4E93F208A6B4D903FD9BF09C3FDFE822FDBBFCB0DC538AC96E7BFA530B2783AC9FEBF54B26A53265ADEBF813AA39D869CE3BF78E70970DDF7F83F43203E8A8AC0FEBF2B987E9F5098683F45FE01D82D52CBBF"> : tensor<3x3xcomplex<f64>>
    return %c0, %c1 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xD9A6DE7079298CBFA77BFBF4EECBAEBF6E7505862B37C63F8F2B8AB7A449B3BF1297112D5EEFDBBFB261570563EFCE3F59CDD7A40FC4D23F1099C26275CCD83FFF9193579230D6BF4370B1A9B527BDBFD63B00D893C8E4BFB3AA65957970EDBF095EC314DD07D9BFC803E40EBFFFAC3F4D7C9144C097E03F6A859F310C95EFBFCE80B0C27940D93F0B7F4C54B87AEEBF"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x53F0D3145A510E40470232114961DABF0000000000000000000000000000000000000000000000000000000000000000FE7224CBE787E03FFB15988ECFC4C93F532BFE745C8EFA3FA1CC59D52164E53F00000000000000000000000000000000702DEC56065DE03F257B35845DDDF5BF19646BAF287DC7BF3A52730DD6F2FBBFF2C17EC725250440B1238801FC37DA3F"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x594C82BA6054BEBF4FE0DAC1933BC9BF7FC8C2373A66C53F1A27590BE883E93FD81A23EBAD59FBBF58085757A195E83F0490E6D44452D6BFBC97E0BAF3EDF0BFB6CED1A48AF1FEBF64033C446978FEBF6A13C2D0F2DDC4BF193308620367F3BF1F865AEBA97EF3BF7094DADEEDDDE2BFE19ABD1290C3B3BFF01095684221E2BF83306459A3A3F3BF95879D600609E7BF"> : tensor<3x3xcomplex<f64>>
    return %c0, %c1 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x227E16422AE0BC3F1C3422BA0338A5BF99E28B9624B5CB3FE76443BBD5FCD93FC6667F0C975CD5BFC32FBD0D5D5DC73FD8D4B7E7BF22E0BFEB01A9FBD88FEFBF314D621850E9F3BF669C1FC09DA4E7BFFAAE0707A5C0D9BFA3E7C09A5636F2BF76C5CF7E9045E0BFE5FF2A867F61C3BF5C82A44C68C6B0BFEC54411E346FCBBF2958952F56A5E0BFA340AACA3AC2C9BF"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x53F0D3145A510E40470232114961DABF0000000000000000000000000000000000000000000000000000000000000000FE7224CBE787E03FFB15988ECFC4C93F532BFE745C8EFA3FA1CC59D52164E53F00000000000000000000000000000000702DEC56065DE03F257B35845DDDF5BF19646BAF287DC7BF3A52730DD6F2FBBFF2C17EC725250440B1238801FC37DA3F"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xD6DC4A0C2F25D1BFB977A1AAA63CF2BF2F95DF62230DEA3FA8E8E2B15CE7F23F616898731051F33F649981CF489ED9BF1508FC5AABB4DABFE101B13AD0A2EFBF8D5DB9C811D7F43FA2576D035F65E1BFAE5E52B808D600400BCD9336C2C900C0EFFF2CAE02C7C43FF4078A9E2032DC3F94691150F437ABBF535E4E7E6CD8E03FE7F75EC23EFCFE3F9F240447F2D7B7BF"> : tensor<3x3xcomplex<f64>>
    return %c0, %c1 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x426DF0261C7D9FBF7D87BCE81E14D0BF1135497D2AD2C83F70AAB6023B2DD43FFA8F7124D778A23F5C7C4F828714BEBFABCF255DCFD9C43FB110268BCC80E1BF511F42351D02EE3F5E7387C5097DC03FBE7CDBA78E36FF3FD539BE71AE38F4BFDBB38378C9F4A13F6EE3CFC0DD1FC73F55B3FC958A7EABBF361F1C98E8A3C93FBC122D45AA29E83F8076E28C99FAB53F"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x53F0D3145A510E40470232114961DABF0000000000000000000000000000000000000000000000000000000000000000FE7224CBE787E03FFB15988ECFC4C93F532BFE745C8EFA3FA1CC59D52164E53F00000000000000000000000000000000702DEC56065DE03F257B35845DDDF5BF19646BAF287DC7BF3A52730DD6F2FBBFF2C17EC725250440B1238801FC37DA3F"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xFBB0D8E769B0E83F65F61C2A329ADFBFF8FF4442B1B4F4BF47AF58EF5C92F1BFB9D3687AAD6FE93F1EDA015F5BD6D13FDC989D50C380F7BFFDC4016FA3BFD13F20BCF3BF8A30E23F881A29A7A725DD3F043CC5084891F13F90C36AD9789DF7BFE9C6886ECBD0EEBF1D71948BD267F1BF42D7E8AE1462C03FEB72F2F3329CF43FA4A38797E8D1DCBF991EE4FA435AD53F"> : tensor<3x3xcomplex<f64>>
    return %c0, %c1 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xB702CBF53829CF3F043271A5DCFEA73F0DB302F855A0E9BF4178B2CACC26833FE1A70067DFCDD43FF32C48498297AD3F431545A47C41D7BFEED8058CE048C53F688AAD2B678FF13F6444DF959F62BC3FCF36D6779C3DD53FC689BB7CDA7BE4BF5DBB8C4760D6CCBF5C5551BB0B56DEBFD189FC000E6DC03F749947EB0194E23FC61AB63FA09CC3BF82C210094D26C43F"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x53F0D3145A510E40470232114961DABF0000000000000000000000000000000000000000000000000000000000000000FE7224CBE787E03FFB15988ECFC4C93F532BFE745C8EFA3FA1CC59D52164E53F00000000000000000000000000000000702DEC56065DE03F257B35845DDDF5BF19646BAF287DC7BF3A52730DD6F2FBBFF2C17EC725250440B1238801FC37DA3F"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x73F0C696D77EEB3F5DD12518969BDDBF58D44C76EBA4E93F3A821FE9F236BEBFF5CEDBE3D834FC3FBEA1D533BA64F63FFD6F8FAC5920DCBF808FA73087C6E0BF32D79AF0A9A0FD3F01F5A703D535EBBF803F1F1539C6F23F98FCE67E32E8D8BFCF8F95734E18F2BF38E3F7B147F2FB3FC152547EF171DD3F02934A295714F0BFBC51277128C9CABF00682F6A8E7CE6BF"> : tensor<3x3xcomplex<f64>>
    return %c0, %c1 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xC819EA48855CCE3F1688BFE665A5B8BF528596064254D43F174E5D231853C9BF0D0F53944D91EF3F444B7ACF04FCE73F75655C688688B9BF55EEDF614918C3BF34B9A703EA0AEA3FE765D6CC8E02E9BF671A1DFC130DF33FD3728B71E257C13FCED4ADDCE00BD6BF0A8DE3BE6319DB3F23F73C0CB724C13F6724074565FBE7BF4D57E2976D54C93F7CD0DEACDF77E1BF"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in:2 = call @inputs() : () -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in#0, %in#1) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x53F0D3145A510E40470232114961DABF0000000000000000000000000000000000000000000000000000000000000000FE7224CBE787E03FFB15988ECFC4C93F532BFE745C8EFA3FA1CC59D52164E53F00000000000000000000000000000000702DEC56065DE03F257B35845DDDF5BF19646BAF287DC7BF3A52730DD6F2FBBFF2C17EC725250440B1238801FC37DA3F"> : tensor<3x3xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x12974405BCF3EDBFA818964D28ADB3BF900159E519E7F13F8820A3A4301DF6BF724E1B0FEAB9E03F17417F6125C9F6BFE0F12C8637CDA7BF72D7485A59B7F6BFA3212092E40CF5BF301A77562B8FE5BFDD80A1C0DBE6EF3FB1618593ACA9EA3FCE21E341C9EEC1BF1A3F15424DA1D4BF075E54744D14BC3FFD92BA13A87406403FE53DAA91C1D53FA334A16A339DC1BF"> : tensor<3x3xcomplex<f64>>
    return %c0, %c1 : tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xA06584420186CFBFC4087A39CCA47A3F092694781C3DEE3F06680E917EFADEBF0EDAAA477314C63FD58D4F98E688F1BF28E5CA6762D3AABFAA87F29BA79CD7BFD9659B1B81D8E0BFCBE131818B4DE0BF15E2B9526F4BD3BF878F721BD7D2E63F7DFDF4254463A7BFED21E366BD80B4BF06CF5966997DE0BFDBA563A9620CF83FC5C538708516F03F8111BE706ABEE33F"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<8xcomplex<f64>>
    %want:2 = call @expected() : () -> (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>)
    %got:2 = call @computed(%in) : (tensor<8xcomplex<f64>>) -> (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>) -> ()
    return %got#0, %got#1 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<8xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x433B528E8A5DDFBF3658B04D5468D4BFA4181E69C28AE33FF9D27B474136E23F080CAAA9272603C080B4C91F60B7004010C11FF017BFDB3F1B28A2242890BABF1C04C8FC955905405413F84E1DDCF8BF3518E0B95323F4BF1A4661BDD4C1F13F45A310A47DFF7BBF36B8987A5C0FEC3F22B5AB4ABD81F33F35456B065B20FD3F"> : tensor<8xcomplex<f64>>
    return %c0 : tensor<8xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x6ED4CB8C160EE93F80FBEE7F22F5114065AD5E3DEEFCFCBFA02E81C44EAB0E40C06BFC406D2A12409C9E9F89954E04C0B48DF3968BF71FC00EAEC16EF02B07C0CF485F3C16A0F3BF475B62E5086A02C070332E7C05A500C012D6BA4C09470B404E657DD29E771240F227D2AA058F1CC00C2212C6250AE8BFA08F7652A3F6E23F"> : tensor<8xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x6ED4CB8C160EB93F80FBEE7F22F5E13F0C2212C6250AB8BFA08F7652A3F6B23F4E657DD29E77E23FF227D2AA058FECBF70332E7C05A5D0BF12D6BA4C0947DB3FCF485F3C16A0C3BF475B62E5086AD2BFB48DF3968BF7EFBF0EAEC16EF02BD7BFC06BFC406D2AE23F9C9E9F89954ED4BF65AD5E3DEEFCCCBFA02E81C44EABDE3F"> : tensor<8xcomplex<f64>>
    return %c0, %c1 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<8xcomplex<f64>>) -> (tensor<8xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<8xcomplex<f64>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
    %1 = call @fft_0(%arg0) : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
    return %0, %1 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
    return %0 : tensor<8xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [8] : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
    return %0 : tensor<8xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8xf64>) {
    %in = call @inputs() : () -> tensor<8xf64>
    %want = call @expected() : () -> tensor<8xf64>
    %got = call @computed(%in) : (tensor<8xf64>) -> tensor<8xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<8xf64>, tensor<8xf64>) -> ()
    return %got : tensor<8xf64>
  }
  func.func private @inputs() -> (tensor<8xf64>) {
    %c0 = stablehlo.constant dense<"0xCEAC82CD09A6FF3FB2134C2C85D7FEBF54E67779292F14C014C6340F98E7D83F4C77AC80EB2E15C0888E54043891C43F6146AFD48F5403C08682135F8204F23F"> : tensor<8xf64>
    return %c0 : tensor<8xf64>
  }
  func.func private @expected() -> (tensor<8xf64>) {
    %c0 = stablehlo.constant dense<"0xD0AC82CD09A6FF3FB3134C2C85D7FEBF54E67779292F14C011C6340F98E7D83F4C77AC80EB2E15C0888E54043891C43F6046AFD48F5403C08682135F8204F23F"> : tensor<8xf64>
    return %c0 : tensor<8xf64>
  }
  func.func private @computed(%arg0: tensor<8xf64>) -> (tensor<8xf64> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<8xf64>) -> tensor<5xcomplex<f64>>
    %1 = call @fft_0(%0) : (tensor<5xcomplex<f64>>) -> tensor<8xf64>
    return %1 : tensor<8xf64>
  }
  func.func private @fft(%arg0: tensor<8xf64>) -> tensor<5xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<8xf64>) -> tensor<5xcomplex<f64>>
    return %0 : tensor<5xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<5xcomplex<f64>>) -> tensor<8xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [8] : (tensor<5xcomplex<f64>>) -> tensor<8xf64>
    return %0 : tensor<8xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<8xf64>
    %want = call @expected() : () -> tensor<5xcomplex<f64>>
    %got = call @computed(%in) : (tensor<8xf64>) -> tensor<5xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) -> ()
    return %got : tensor<5xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<8xf64>) {
    %c0 = stablehlo.constant dense<"0xCEAC82CD09A6FF3FB2134C2C85D7FEBF54E67779292F14C014C6340F98E7D83F4C77AC80EB2E15C0888E54043891C43F6146AFD48F5403C08682135F8204F23F"> : tensor<8xf64>
    return %c0 : tensor<8xf64>
  }
  func.func private @expected() -> (tensor<5xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x89C4A9F14B1026C000000000000000005B9A9AA6F54519408582EB51978212406CBD835608941040F61A5147E3410A4052D5BF2073752040101EA8625E39E4BF1391717F8E0E25C00000000000000000"> : tensor<5xcomplex<f64>>
    return %c0 : tensor<5xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<8xf64>) -> (tensor<5xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<8xf64>) -> tensor<5xcomplex<f64>>
    return %0 : tensor<5xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<8xf64>) -> tensor<5xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<8xf64>) -> tensor<5xcomplex<f64>>
    return %0 : tensor<5xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x6xcomplex<f64>>
    %want:2 = call @expected() : () -> (tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>)
    %got:2 = call @computed(%in) : (tensor<2x6xcomplex<f64>>) -> (tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>) -> ()
    return %got#0, %got#1 : tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x6xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x813A26D16B09E63FAD5E07FFD0F3A8BF219DD427E82EF6BFD3E13FEF9BECC13F51EE717DE673E7BFAF4C25577A5DD33F9C55BB40DDDEDDBF062919D3F19F02405628FB6307DDE1BF4BCFA6EEF809FFBF92146B3FE59AEDBF5414571F9AA2B23F39E04601AE320640F50633B4BC54F63FEBEE36DBA05AE3BF81919AAA1EA16FBF569CE48B687CF3BFDDB3FFF3E4A4F7BFAD2B31F170D6ED3F1418960231D3D93FA4D01F26F394E8BFB902E2B4D373E7BF419DE7E6A4A5DA3FECC5C8A3996BE53F"> : tensor<2x6xcomplex<f64>>
    return %c0 : tensor<2x6xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x7235EE8FE90B0BC0EC1074CACF5AEB3F9EA5FA39DE29054030748678DDD4ECBF0840EA4670D9C13F8B910FD337EB09405FC7CA8728680140A95DB96976E810C038FD1570D0410F40DB8CAAE77BF20540020245D9C5AEF5BF267BAB131F0500C07A415028CB85F83FB8B5DBA3D942D03F44FCA6CE3C35F83F713711F3EBA10D407437FA48026D1340388DB7CE9088084060C346DC13E5A63FF649729DDA24FEBFE4784E49FAED124088CF116C619D0040BA262B9802C10F40E45DF811D480F23F"> : tensor<2x6xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0x4CCE9E0AF107E2BF480BF8868A3CC23FAD025CCC07E9CCBFDD4E8F6F295CD5BF25FE63F58AD6E43F24118EDF4F43DD3FD409B95F8B35D73F8A27F78C488BE6BF0A00E3B395CC973FB20BB58C7A47E13FD1DCF8F7D237DC3F24F8AEA59338C3BFA62BE01A3259D03F4AF2248577AEA53F7DC41C10572BE53FDA274B6DC5ABC83FDA4B13B74D3DE93F60BF17902C27D63F00AFB325C5867E3F50314CBE9118D4BF9AF4A2B6ADE6E93F255E7A340B5BE03F81FD19DF7D23D03FA1CF60F747C1E33F"> : tensor<2x6xcomplex<f64>>
    return %c0, %c1 : tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x6xcomplex<f64>>) -> (tensor<2x6xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x6xcomplex<f64>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xcomplex<f64>>) -> tensor<2x6xcomplex<f64>>
    %1 = call @fft_0(%arg0) : (tensor<2x6xcomplex<f64>>) -> tensor<2x6xcomplex<f64>>
    return %0, %1 : tensor<2x6xcomplex<f64>>, tensor<2x6xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<2x6xcomplex<f64>>) -> tensor<2x6xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [6] : (tensor<2x6xcomplex<f64>>) -> tensor<2x6xcomplex<f64>>
    return %0 : tensor<2x6xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<2x6xcomplex<f64>>) -> tensor<2x6xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [6] : (tensor<2x6xcomplex<f64>>) -> tensor<2x6xcomplex<f64>>
    return %0 : tensor<2x6xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x6xf64>) {
    %in = call @inputs() : () -> tensor<2x6xf64>
    %want = call @expected() : () -> tensor<2x6xf64>
    %got = call @computed(%in) : (tensor<2x6xf64>) -> tensor<2x6xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x6xf64>, tensor<2x6xf64>) -> ()
    return %got : tensor<2x6xf64>
  }
  func.func private @inputs() -> (tensor<2x6xf64>) {
    %c0 = stablehlo.constant dense<"0xC366C871A7AB03C0B6C981CE56CE14C0802E05F268620540CEC6149D5E0A02C02E9E63F5CE3816C0F93C713A7B8AE3BF61F04C70CD3CE33FFAAA3767F8EA0640F0E98488DD98F5BFA2DA9D672FA5E93F14413F2510E80EC00242A1C920EBF53F"> : tensor<2x6xf64>
    return %c0 : tensor<2x6xf64>
  }
  func.func private @expected() -> (tensor<2x6xf64>) {
    %c0 = stablehlo.constant dense<"0xC366C871A7AB03C0B5C981CE56CE14C07E2E05F268620540CEC6149D5E0A02C02D9E63F5CE3816C0FC3C713A7B8AE3BF60F04C70CD3CE33FFAAA3767F8EA0640F0E98488DD98F5BFA1DA9D672FA5E93F14413F2510E80EC00142A1C920EBF53F"> : tensor<2x6xf64>
    return %c0 : tensor<2x6xf64>
  }
  func.func private @computed(%arg0: tensor<2x6xf64>) -> (tensor<2x6xf64> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>>
    %1 = call @fft_0(%0) : (tensor<2x4xcomplex<f64>>) -> tensor<2x6xf64>
    return %1 : tensor<2x6xf64>
  }
  func.func private @fft(%arg0: tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>>
    return %0 : tensor<2x4xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<2x4xcomplex<f64>>) -> tensor<2x6xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [6] : (tensor<2x4xcomplex<f64>>) -> tensor<2x6xf64>
    return %0 : tensor<2x6xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x6xf64>
    %want = call @expected() : () -> tensor<2x4xcomplex<f64>>
    %got = call @computed(%in) : (tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4xcomplex<f64>>, tensor<2x4xcomplex<f64>>) -> ()
    return %got : tensor<2x4xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x6xf64>) {
    %c0 = stablehlo.constant dense<"0xC366C871A7AB03C0B6C981CE56CE14C0802E05F268620540CEC6149D5E0A02C02E9E63F5CE3816C0F93C713A7B8AE3BF61F04C70CD3CE33FFAAA3767F8EA0640F0E98488DD98F5BFA2DA9D672FA5E93F14413F2510E80EC00242A1C920EBF53F"> : tensor<2x6xf64>
    return %c0 : tensor<2x6xf64>
  }
  func.func private @expected() -> (tensor<2x4xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x86C7CFDC21D12AC00000000000000000B914451CA9B2FABF5B8245C5DC3309C06CAA61E52A76D7BFF84181122D342640D8342A9ECECE0540000000000000000080450AC44824DB3F00000000000000003A6378AE351812401E4F09FB3BC50BC092CF6E89F444FE3FEA92FA6BE43AEC3F268FD70CC84B23C00000000000000000"> : tensor<2x4xcomplex<f64>>
    return %c0 : tensor<2x4xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x6xf64>) -> (tensor<2x4xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>>
    return %0 : tensor<2x4xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<2x6xf64>) -> tensor<2x4xcomplex<f64>>
    return %0 : tensor<2x4xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<3x5xcomplex<f64>>
    %want:2 = call @expected() : () -> (tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>)
    %got:2 = call @computed(%in) : (tensor<3x5xcomplex<f64>>) -> (tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>) -> ()
    return %got#0, %got#1 : tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x5xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xEA6EA57BC703F9BF83F621A6E825E33FFEAEAC784F3DC43F31E9F13F7EB2F8BFAC074BFBEAA5E4BF3BB1962B6680FA3F34FE05DF483FF1BF96BA508883BCFABF4580D7311169D3BF4CECDA3958BBC33FB845AFB450F1E93F42412C64C56CC4BFF811C84729BCDEBF0274DFD32BA7CFBFAA9C11F8FA76E83FFF454978EA9BC8BFB0448935D18FE13FFB88F3D188F5FCBF01F327B300ECD7BF28D167AE1FB0B9BF1261732E6975F03F529C9426F5F2DC3F89BB072E6047CA3F4B428586D040F13F8EA6FA3CF7E3C43F641CE18E7A44094031C87F0D878BEDBF73A63EB6FD70BE3F6307129C4D98FD3F927D9508F216E93F"> : tensor<3x5xcomplex<f64>>
    return %c0 : tensor<3x5xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x303EED6E0FB6C43F11862BA424370240057C6D15D6111340482C3A934ADFBD3F4D3B21B2C2E322C0B9753A8C7EB20C40C2334EE9E9421E40467D850582A8F3BF67A306163AB8FABFBE681C4EF1F8D2BFD63C353E447D28C090F9D9924AF4F6BFACE43CF27B19DCBFE0802D1569710540A55B0A1C9C8819C0B667DD141CDB02C04E20E142082AE33F2C357DD4025EF83F593A9DB28D390B4076C1AEFB29560640788DB8627F99FC3FECEF4DBE59130AC00C7910A071940FC08265E290DD5511C06A06C4296DC104C0B7D2AE41C16011407BC232EF68CCF9BF15FA8E3102C11140A55549C454310BC0403EC8344F32C03F"> : tensor<3x5xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xE0DBC9ED8717863F11A061F3046EC33F086A5CF53D80BCBF964D1E20BD3C94BFF070E5F3AF23E03FF4DA052802F8B4BF969445022526E4BFE8D2B5B7429CCE3F9FD985C14A57D43FB095C6581CDD7F3F3CECD5F19881BE3FA6BBECB95FD0CBBFF4F4097C6B01CDBFE0B9F7E2BA46813FEA465832B484BBBF9EE8FE5602F0D23F1A4B04A4A723C6BF183676AC5689D23F29DA1911B4D7D0BF7A9F1323B97DD2BF0663D2B9371FEABF10E84E470B7CB8BF929385BE300ACD3F9F1265FB5FD3C73F7422F0E01971A43F2EB0A7E2E0FDB93F6B0C0B40623CDBBF5C2AECC0EA1CC4BFCCD11EBE0CF99DBFCDDE85055FDFC63F"> : tensor<3x5xcomplex<f64>>
    return %c0, %c1 : tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x5xcomplex<f64>>) -> (tensor<3x5xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<3x5xcomplex<f64>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xcomplex<f64>>
    %1 = call @fft_0(%arg0) : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xcomplex<f64>>
    return %0, %1 : tensor<3x5xcomplex<f64>>, tensor<3x5xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<3x5xcomplex<f64>>) -> tensor<3x5xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [3, 5] : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xcomplex<f64>>
    return %0 : tensor<3x5xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<3x5xcomplex<f64>>) -> tensor<3x5xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [3, 5] : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xcomplex<f64>>
    return %0 : tensor<3x5xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xf64>) {
    %in = call @inputs() : () -> tensor<3x5xf64>
    %want = call @expected() : () -> tensor<3x5xf64>
    %got = call @computed(%in) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xf64>, tensor<3x5xf64>) -> ()
    return %got : tensor<3x5xf64>
  }
  func.func private @inputs() -> (tensor<3x5xf64>) {
    %c0 = stablehlo.constant dense<"0x444D94E02C23EE3F8E5CD6ADDB6708409656BADC4C71F6BFCA9D24607D3FD73FF1C9BE7E3684E13FF29D60CB42871740FEC8D01C1430F03F721FE6D072311940525ED1B673D9AABFEE0E5888B09FEA3FE1C08BDDB37514C0BB4FDC6E66CDFE3FC0206B9EA0CB17C0C83D4572377A004019A39CFD98EE0740"> : tensor<3x5xf64>
    return %c0 : tensor<3x5xf64>
  }
  func.func private @expected() -> (tensor<3x5xf64>) {
    %c0 = stablehlo.constant dense<"0x454D94E02C23EE3F8E5CD6ADDB6708409556BADC4C71F6BFCA9D24607D3FD73FF3C9BE7E3684E13FF19D60CB42871740FFC8D01C1430F03F711FE6D072311940225ED1B673D9AABFF90E5888B09FEA3FE0C08BDDB37514C0BC4FDC6E66CDFE3FBF206B9EA0CB17C0C63D4572377A004017A39CFD98EE0740"> : tensor<3x5xf64>
    return %c0 : tensor<3x5xf64>
  }
  func.func private @computed(%arg0: tensor<3x5xf64>) -> (tensor<3x5xf64> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>>
    %1 = call @fft_0(%0) : (tensor<3x3xcomplex<f64>>) -> tensor<3x5xf64>
    return %1 : tensor<3x5xf64>
  }
  func.func private @fft(%arg0: tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3, 5] : (tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<3x3xcomplex<f64>>) -> tensor<3x5xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [3, 5] : (tensor<3x3xcomplex<f64>>) -> tensor<3x5xf64>
    return %0 : tensor<3x5xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<3x5xf64>
    %want = call @expected() : () -> tensor<3x3xcomplex<f64>>
    %got = call @computed(%in) : (tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> ()
    return %got : tensor<3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<3x5xf64>) {
    %c0 = stablehlo.constant dense<"0x444D94E02C23EE3F8E5CD6ADDB6708409656BADC4C71F6BFCA9D24607D3FD73FF1C9BE7E3684E13FF29D60CB42871740FEC8D01C1430F03F721FE6D072311940525ED1B673D9AABFEE0E5888B09FEA3FE1C08BDDB37514C0BB4FDC6E66CDFE3FC0206B9EA0CB17C0C83D4572377A004019A39CFD98EE0740"> : tensor<3x5xf64>
    return %c0 : tensor<3x5xf64>
  }
  func.func private @expected() -> (tensor<3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x745B3903F5C42A4000000000000000008A603E2AEDC00E40B0452F9D8463DE3FE70A963F880E19C065FFE78860D310C070CDEDC2DA10F7BF3DF907E683472FC0EA16C052F6A917C09AF4448919D10EC0768623BA3DC725400E3301901A0331C070CDEDC2DA10F7BF3DF907E683472F4087857EEBCE82254098E80A059FD6E4BF0A0300C7EAFD26C04CEE00091E882740"> : tensor<3x3xcomplex<f64>>
    return %c0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<3x5xf64>) -> (tensor<3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [3, 5] : (tensor<3x5xf64>) -> tensor<3x3xcomplex<f64>>
    return %0 : tensor<3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x2x3x4xcomplex<f64>>
    %want:2 = call @expected() : () -> (tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>)
    %got:2 = call @computed(%in) : (tensor<2x2x3x4xcomplex<f64>>) -> (tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>)
    stablehlo.custom_call @check.expect_almost_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>) -> ()
    stablehlo.custom_call @check.expect_almost_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>) -> ()
    return %got#0, %got#1 : tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x2x3x4xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0xC14211F95485DA3F9152127514C9F0BF8A4E51F7E5F1D1BF27D0D301455605C02615333AD21DE7BFB121FFD91D68CE3FD8EDF9B1536C693F37A3A89B00FBD7BFDD157B6143FDF43FE0CC0E2BCB25D63F25814BBC817C83BF521871376544C73FD925A6E1A056F1BF4F82D12DCEC6C8BF56B1899F89D2FFBF5352EDA3C46306C0820D609E8725D8BFEADA532E3E00ED3FE8C7E90FD42FF2BFB0A07B0D183BD73FDD5BF9C3D9A2FCBF447B332F70FFACBF22CC561C1E1F88BF480467585286A2BF12760727F4B6F7BF1B2328CE85D7E03F4F65AE4FFE82E53FC7566FEC2C9CE03FBF2ED176A221024040DE58A0562CD8BF40C78CB7B54FC63FCF50C468ED53F33F547CB25CE1D8F5BF8442DB5CFCE0EDBFB2A924CB2A80F13FA3F7EFF08FFCD6BFE20A36D56825EABF74D52B72D01ADF3FBD78996C14FCF5BF6470770C52AFC13FB948551081CFF0BFF06A5A3D3531E5BFAB4DBC7AE47105C034D3A78DBD7CCA3F341CCBE36EF3CE3F2A724E5967C7C7BF1560A852C99FE5BFCE13544B683ACD3FA4D7B0CA39AAF73FE864EAC08323EC3F454E8FAB4EEEE6BF4509AD9D894ACF3FA1507A1BD820D0BF46F9937C6B74E13FFDED8583F1B8E9BFE03F01506D09F83FED851B9926F8E8BFDCA63D3584F1EFBF9479EB2919E9D63F0657F2C90794FA3FC2EB9B2C3BDEFABF3E9D69B8B2BCB23FAEE3801E47B6E43F97EB139949D205400BF1441AB7E6F7BF4100EBB1626AF23F74736FAC87F6E6BF4A331A797118D4BF47B24BE15E4CEF3FA13651CBC3B9B23FD3FCC44FF69EF5BF1E65ACEA60FDC9BFFBAF2F19A9DED7BFECC5B309C6E9C83F0528D50A7DE1EDBFFF63CAD1B8FDE5BF62CBF53EC854D5BF63B972A1829C9D3FABDCA574E58FC5BF44FCF000C5BADB3F06CD777ABB95E43F8D5AFEB07CF4D43FBEB359AB6F4DE5BF504150FD2903F9BFD135BEB0C2D6ECBFC25A8F19575EE6BF5DA4148E30F1D1BFD21460083D85EC3F4EE7B4A37C93BCBFD875F468A3EAEFBFEC21F56633DDF5BF7048489EBDE3C5BF53BD167EE3FCD3BFAA2B3047360AF2BF553B765AD560FBBF83F22FECCE71DABF"> : tensor<2x2x3x4xcomplex<f64>>
    return %c0 : tensor<2x2x3x4xcomplex<f64>>
  }
  func.func private @expected() -> (tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x812177DC1F5625C03C28D23D7F6311C068601EB1207CE8BF7D3FDA79337702C0B8BA7865F429FC3F01E1CFFF0579034090BC9F31C9C6E0BF48035F0DEC2DE83FF66EDCF28C380C40E10E91523BD80CC08CDC85DA44812FC09016AED1017C08C0E80C9FBECD74FD3F34302BFE7EB9E93F2878AD0C86C718400026428E685BD3BFAD32B76AE68D24406DCD95243B28004048AC10B46DC2D0BFD603F8ABD09E0C40D88E9786D10A0FC076B0710C2385F4BF1EE5FA55703F12C058CBDBD5A0A5EEBF70DE546F1790E5BF04722B7F04BE17C0045ED5D379A829403A8CEDA36E91F93F2B384817C404E33FF787FE4ED638214087BBC607827A20408892A8587C2EEA3F4D63DECBB6AC17C0D097BCC45DF515C000D88CA79162C23FF6E78B85D71117C063BD819FE7FBE83F0E58566F990615C05C0CC288FA83134048C58CEB716903C000C7192F548EACBF6A80DEBD260C17C06FFA0BA1490409C0A0A0554F50D7ADBF00F86833587CF4BFEBB2F36EAC24204044DD5A2BD16419405B3F5A37553B1DC00E9989695BB125C0DECAB38082790C405A9AE3667C3C0FC024843124904B004005282156654B1240B47D713936A112C0F5A6F6C0FA861E40B727F05E569CF43FA0F01B2A8C66184000F23F1389BCA2BFEFAFBE1B164BF43F40C50D02E802C6BF9611015649B200C0F03ABDCF473821401481A7EE572BCDBFBF326787D15020C0501566F5F0F2F8BF14A3F325609A1740C05A88659869E23F0EF5018386B0FA3F8B7EDD5F61C61B406AA9ED341CE30BC0E616D10699381340E35F934937561940A2DC63E32A740140040D72884340264028E96EDFA8CBE4BF42CEB873F1C101C0BECE6CA72C3707C03BF10AF3240E09C07264C8952C8F03C06C083514065ED03F2465B171C8030140D86660AB3411D03FB48ABAEB707ED33F00F1FA9CD47009C0C666477EE6CE05C04886C229C71408409AED6AA8567AF43F3069EFD2447DF23F90BE33C65750CE3F984340F0C554FCBFF2FDE83C51FB1440C9CEB14DD1C50A40B2A773A86E5D2940D4F1C27C8D3602C0C6843F7D998E1B407C65E6B2C369FA3F"> : tensor<2x2x3x4xcomplex<f64>>
    %c1 = stablehlo.constant dense<"0xAC2CF425D572DCBFFA8A6D52542FC7BF08A67F97615E96BF86573F5E9D1EA03F7B7C50EEA2C6B23F58816AAAB2F6B93F48401476C052A0BF50FF224DEF9EB8BF3BEE9EE3DD67DB3FE8111D86F98AB53F7C31F9C79554C8BF3C323D396B6EA4BFE6096504E1B1C4BFA04042BB2E5CABBF70906B45925886BF8F02501D8B14C33F509F3DF75DD0C23F405F0B37D23AC3BF70A573080485D03F64DD021336CF89BF9B086AD433A3B33F1E2072A95426A13F0893AE91D800E5BFB7B91EE1AB52C0BF38D31B3F1FC09CBF0698E4FE05A8CFBFB4A4B35FADF8D53F06B7C5E55274A13F8DF50A1FB05B993F9E0AFE1373F6D63FAC3E8EE2FB1AE13FD0B2F3179F0BB13F00DABB748D0963BF8C007E52DEBACEBFD8E891C7E0EDD03F3C2A3C7AE37CD3BFB04AE1997550ABBFE4439A3E3B86D53F9F515D6B86ADC0BF40C0E334E0E463BFBAD97DBAF390CFBF1475FBB02747CDBFD065AD0B4E05CA3F0C07113AEDE1B9BF9AD3ABBFEFA7A03F10207394CC08CCBF007566DF6C83783FF3DF0FB274C2CEBF11CC0CE279ECDCBFE831CD55ACFBC23F4D6FA480FC59D43F9EDFEAD31D7BAB3FB18A811D8764C83FEEFC41F7F2D6C8BF9111ED99FDD2C4BFDB5A978515BAB53FE2B8EEF8F5A1B0BFC62E9A328078CF3F33C91609CCA0C93F4195B7DB24E4D03FB3A993EA4084D23F9C1B49236897C2BFB0230B32CB8C983F5EA3565704CBB13FC0F567715D44D03FC0EDFF6E61FB58BF1C561A9F3A7283BFA843345F17C1D5BF7117AC720C43B6BF954EFC14B5F5D63FEA3FFE24C80EAB3F505C125835597DBF2C2685848E45B73FB066EDB504ABDD3FEB8560723B14BABF3A0B9CC5B2D2853FFE68E6893BF4BEBF7C4B07A218B4C0BF388C3E7F36BA9BBF0113A1EF41ADB7BF54D477D98F35843FBCD72AA02EE3B2BF84582AFE105FD23FFF9899CCD79BB13F781A4D70F4E8E03F714259A6BC48B8BF42FD8BA6C1F9CB3F31DFCB3336D9C13FDE86ECECB5AFB63F78DED539466C853F1F928EE0C84DAB3F3C8C946E06A7A83F0789B4FDDD13BDBF3204D71BDA0DC03FF0B8F8E4EBFD893F00F65113E3F5C0BF"> : tensor<2x2x3x4xcomplex<f64>>
    return %c0, %c1 : tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x2x3x4xcomplex<f64>>) -> (tensor<2x2x3x4xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2x2x3x4xcomplex<f64>> {jax.result_info = "result[1]"}) {
    %0 = call @fft(%arg0) : (tensor<2x2x3x4xcomplex<f64>>) -> tensor<2x2x3x4xcomplex<f64>>
    %1 = call @fft_0(%arg0) : (tensor<2x2x3x4xcomplex<f64>>) -> tensor<2x2x3x4xcomplex<f64>>
    return %0, %1 : tensor<2x2x3x4xcomplex<f64>>, tensor<2x2x3x4xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<2x2x3x4xcomplex<f64>>) -> tensor<2x2x3x4xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [2, 3, 4] : (tensor<2x2x3x4xcomplex<f64>>) -> tensor<2x2x3x4xcomplex<f64>>
    return %0 : tensor<2x2x3x4xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<2x2x3x4xcomplex<f64>>) -> tensor<2x2x3x4xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [2, 3, 4] : (tensor<2x2x3x4xcomplex<f64>>) -> tensor<2x2x3x4xcomplex<f64>>
    return %0 : tensor<2x2x3x4xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x4xf64>) {
    %in = call @inputs() : () -> tensor<2x2x3x4xf64>
    %want = call @expected() : () -> tensor<2x2x3x4xf64>
    %got = call @computed(%in) : (tensor<2x2x3x4xf64>) -> tensor<2x2x3x4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x2x3x4xf64>, tensor<2x2x3x4xf64>) -> ()
    return %got : tensor<2x2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xEE115074B4C8EE3FB0891F057FADDA3F078EACBDE15912C082AFE575CB8EF8BF54BA699393E4E9BFEE74A2E5341709C0223BB9316673DFBF6CD68723E34801C0EA951700EA5704407E5FAF1E8A8F01C05736AD62DE941240F1518C41A4B20640D23EA6BA3A5DEF3F53931692DD75E43F70689B1D677310405C3161DCC3CAF2BF0C0B01E78712F33FCD376FC1E789E9BF6ABE18BA71421240EE745904201FEEBF0E025EF51267E9BF78862F65A5DA1FC0C774D85A0F5BE63F58BF7169D1FDF1BF9A1E1F20C886FA3FDD20AF21CFCE11C014BD17ECBD4D05C0915B3AA0C7060F400C6A2434F4D602C0D6B29E0F755BE13F06455C151C960540DE39B9B1C695C83F54A08B6A55DAC13F94A3937EF2BD0C40D0C2E5AA4033FABF2CA88B0B3206FB3FA1581CCD3DE5EABFC263CBB899540BC0E2B13BBB3436BC3F9CE9F3FD67C20F4043D6681859EEE0BF7B07416AF6DE00C0241634452743E4BFDF01678FCF79F7BF9AE5D2DF5154F83F72CB96C2BF2F08C0B84839FB278C0540C0175BA84BBEF33F"> : tensor<2x2x3x4xf64>
    return %c0 : tensor<2x2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xF5115074B4C8EE3FB2891F057FADDA3F068EACBDE15912C082AFE575CB8EF8BF55BA699393E4E9BFED74A2E5341709C0253BB9316673DFBF6CD68723E34801C0EA951700EA5704407E5FAF1E8A8F01C05636AD62DE941240F0518C41A4B20640D03EA6BA3A5DEF3F54931692DD75E43F70689B1D677310405B3161DCC3CAF2BF0D0B01E78712F33FCD376FC1E789E9BF6ABE18BA71421240ED745904201FEEBF06025EF51267E9BF78862F65A5DA1FC0CC74D85A0F5BE63F58BF7169D1FDF1BF991E1F20C886FA3FDC20AF21CFCE11C013BD17ECBD4D05C0915B3AA0C7060F400B6A2434F4D602C0DAB29E0F755BE13F05455C151C960540DD39B9B1C695C83F5AA08B6A55DAC13F92A3937EF2BD0C40CDC2E5AA4033FABF2DA88B0B3206FB3FA0581CCD3DE5EABFC063CBB899540BC0EAB13BBB3436BC3F9AE9F3FD67C20F4044D6681859EEE0BF7C07416AF6DE00C0241634452743E4BFDD01678FCF79F7BF98E5D2DF5154F83F72CB96C2BF2F08C0B64839FB278C0540C0175BA84BBEF33F"> : tensor<2x2x3x4xf64>
    return %c0 : tensor<2x2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x2x3x4xf64>) -> (tensor<2x2x3x4xf64> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>>
    %1 = call @fft_0(%0) : (tensor<2x2x3x3xcomplex<f64>>) -> tensor<2x2x3x4xf64>
    return %1 : tensor<2x2x3x4xf64>
  }
  func.func private @fft(%arg0: tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [2, 3, 4] : (tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>>
    return %0 : tensor<2x2x3x3xcomplex<f64>>
  }
  func.func private @fft_0(%arg0: tensor<2x2x3x3xcomplex<f64>>) -> tensor<2x2x3x4xf64> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [2, 3, 4] : (tensor<2x2x3x3xcomplex<f64>>) -> tensor<2x2x3x4xf64>
    return %0 : tensor<2x2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x3xcomplex<f64>>) {
    %in = call @inputs() : () -> tensor<2x2x3x4xf64>
    %want = call @expected() : () -> tensor<2x2x3x3xcomplex<f64>>
    %got = call @computed(%in) : (tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x2x3x3xcomplex<f64>>, tensor<2x2x3x3xcomplex<f64>>) -> ()
    return %got : tensor<2x2x3x3xcomplex<f64>>
  }
  func.func private @inputs() -> (tensor<2x2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xEE115074B4C8EE3FB0891F057FADDA3F078EACBDE15912C082AFE575CB8EF8BF54BA699393E4E9BFEE74A2E5341709C0223BB9316673DFBF6CD68723E34801C0EA951700EA5704407E5FAF1E8A8F01C05736AD62DE941240F1518C41A4B20640D23EA6BA3A5DEF3F53931692DD75E43F70689B1D677310405C3161DCC3CAF2BF0C0B01E78712F33FCD376FC1E789E9BF6ABE18BA71421240EE745904201FEEBF0E025EF51267E9BF78862F65A5DA1FC0C774D85A0F5BE63F58BF7169D1FDF1BF9A1E1F20C886FA3FDD20AF21CFCE11C014BD17ECBD4D05C0915B3AA0C7060F400C6A2434F4D602C0D6B29E0F755BE13F06455C151C960540DE39B9B1C695C83F54A08B6A55DAC13F94A3937EF2BD0C40D0C2E5AA4033FABF2CA88B0B3206FB3FA1581CCD3DE5EABFC263CBB899540BC0E2B13BBB3436BC3F9CE9F3FD67C20F4043D6681859EEE0BF7B07416AF6DE00C0241634452743E4BFDF01678FCF79F7BF9AE5D2DF5154F83F72CB96C2BF2F08C0B84839FB278C0540C0175BA84BBEF33F"> : tensor<2x2x3x4xf64>
    return %c0 : tensor<2x2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x2x3x3xcomplex<f64>>) {
    %c0 = stablehlo.constant dense<"0x357BE2C9A87910C00000000000000000CD6962F6207913C0DC393D4E69E02140F8B33BBCDA263E4000000000000000004442A90A047CFC3F794E1DA63001F13F9608B6DEEBFF0BC02EF2D2A2BF1124C0B1C663228CCA24C0F8EAF3A796080C404442A90A047CFC3F794E1DA63001F1BF929EC63B603D2F408A0C24DE9C6624C0B1C663228CCA24C0F8EAF3A796080CC060DE3C75183907C0000000000000000032B6745543412640F865D7AD406BEABFB19D1B3A1C2A2CC0000000000000000045ECA36A6C0029C0D5C7136F58ED374082A4181CADFC2340DCB60D4480BE07C0668685BF51A614C0BCB24294E430ED3F45ECA36A6C0029C0D5C7136F58ED37C02CDD5C5447B41340FEEDE1949B0A0B40668685BF51A614C0BCB24294E430EDBF4C75DD06AB5BE93F0000000000000000BC03EFE9D431EFBFFEFB4130805C324088107E42F504DEBF0000000000000000B0D8046CF53B08C0985195E1F21721401E2E60DEC40D0E40CAE451FB1034334011280F9D17B502C066AA017F846403C0B0D8046CF53B08C0985195E1F21721C0654E978289501D406D2E9A5C6B2B234011280F9D17B502C066AA017F84640340FCA8C235CC1717400000000000000000663200F823830840433B092FF5D518C07DB5D51AA6782DC0000000000000000062DD0ED46EF513C09CA0805851E10EC0E714EBA222B425404E5A4217481527404E670D5F0A4B21400DD57AC3634821C062DD0ED46EF513C09CA0805851E10E40887458787561FE3FE8026B78090104C04E670D5F0A4B21400DD57AC363482140"> : tensor<2x2x3x3xcomplex<f64>>
    return %c0 : tensor<2x2x3x3xcomplex<f64>>
  }
  func.func private @computed(%arg0: tensor<2x2x3x4xf64>) -> (tensor<2x2x3x3xcomplex<f64>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>>
    return %0 : tensor<2x2x3x3xcomplex<f64>>
  }
  func.func private @fft(%arg0: tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [2, 3, 4] : (tensor<2x2x3x4xf64>) -> tensor<2x2x3x3xcomplex<f64>>
    return %0 : tensor<2x2x3x3xcomplex<f64>>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>) {
    %in:2 = call @inputs() : () -> (tensor<6xi4>, tensor<6xi4>)
    %want:11 = call @expected() : () -> (tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>)
    %got:11 = call @computed(%in#0, %in#1) : (tensor<6xi4>, tensor<6xi4>) -> (tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    stablehlo.custom_call @check.expect_close(%got#8, %want#8) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10 : tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>
  }
  func.func private @inputs() -> (tensor<6xi4>, tensor<6xi4>) {
    %c0 = stablehlo.constant dense<[-3, -7, 1, -8, 1, -3]> : tensor<6xi4>
    %c1 = stablehlo.constant dense<[1, 2, 3, 1, 7, 2]> : tensor<6xi4>
    return %c0, %c1 : tensor<6xi4>, tensor<6xi4>
  }
  func.func private @expected() -> (tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>) {
    %c0 = stablehlo.constant dense<[-2, -5, 4, -7, -8, -1]> : tensor<6xi4>
    %c1 = stablehlo.constant dense<[-4, 7, -2, 7, -6, -5]> : tensor<6xi4>
    %c2 = stablehlo.constant dense<[-3, 2, 3, -8, 7, -6]> : tensor<6xi4>
    %c3 = stablehlo.constant dense<[-3, -3, 0, -8, 0, -1]> : tensor<6xi4>
    %c4 = stablehlo.constant dense<[1, 2, 3, 1, 7, 2]> : tensor<6xi4>
    %c5 = stablehlo.constant dense<[true, true, true, true, true, true]> : tensor<6xi1>
    %c6 = stablehlo.constant dense<[2, 6, -2, 7, -2, 2]> : tensor<6xi4>
    %c7 = stablehlo.constant dense<[1, 0, 1, 0, 1, 0]> : tensor<6xi4>
    %c8 = stablehlo.constant dense<"0x000040C00000E0C00000803F000000C10000803F000040C0"> : tensor<6xf32>
    %c9 = stablehlo.constant dense<[-3, -7, 1, -8, 1, -3]> : tensor<6xi8>
    %c10 = stablehlo.constant dense<[-6, 4, -8, 0, 0, 4]> : tensor<6xi4>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10 : tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>
  }
  func.func private @computed(%arg0: tensor<6xi4>, %arg1: tensor<6xi4>) -> (tensor<6xi4> {jax.result_info = "result[0]"}, tensor<6xi4> {jax.result_info = "result[1]"}, tensor<6xi4> {jax.result_info = "result[2]"}, tensor<6xi4> {jax.result_info = "result[3]"}, tensor<6xi4> {jax.result_info = "result[4]"}, tensor<6xi1> {jax.result_info = "result[5]"}, tensor<6xi4> {jax.result_info = "result[6]"}, tensor<6xi4> {jax.result_info = "result[7]"}, tensor<6xf32> {jax.result_info = "result[8]"}, tensor<6xi8> {jax.result_info = "result[9]"}, tensor<6xi4> {jax.result_info = "result[10]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<6xi4>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<6xi4>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<6xi4>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<6xi4>
    %4 = stablehlo.maximum %arg0, %arg1 : tensor<6xi4>
    %5 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<6xi4>, tensor<6xi4>) -> tensor<6xi1>
    %6 = stablehlo.not %arg0 : tensor<6xi4>
    %7 = stablehlo.and %arg0, %arg1 : tensor<6xi4>
    %8 = stablehlo.convert %arg0 : (tensor<6xi4>) -> tensor<6xf32>
    %9 = stablehlo.convert %arg0 : (tensor<6xi4>) -> tensor<6xi8>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<6xi4>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi4>, tensor<6xi1>, tensor<6xi4>, tensor<6xi4>, tensor<6xf32>, tensor<6xi8>, tensor<6xi4>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>) {
    %in = call @inputs() : () -> tensor<6xi4>
    %want:3 = call @expected() : () -> (tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>)
    %got:3 = call @computed(%in) : (tensor<6xi4>) -> (tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x2xi4>, tensor<3x2xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xi4>, tensor<3xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<6xi4>, tensor<6xi4>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>
  }
  func.func private @inputs() -> (tensor<6xi4>) {
    %c0 = stablehlo.constant dense<[-3, -7, 1, -8, 1, -3]> : tensor<6xi4>
    return %c0 : tensor<6xi4>
  }
  func.func private @expected() -> (tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>) {
    %c0 = stablehlo.constant dense<[[-3, -8], [-7, 1], [1, -3]]> : tensor<3x2xi4>
    %c1 = stablehlo.constant dense<[-3, 1, 1]> : tensor<3xi4>
    %c2 = stablehlo.constant dense<[-3, -7, 1, -8, 1, -3]> : tensor<6xi4>
    return %c0, %c1, %c2 : tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>
  }
  func.func private @computed(%arg0: tensor<6xi4>) -> (tensor<3x2xi4> {jax.result_info = "result[0]"}, tensor<3xi4> {jax.result_info = "result[1]"}, tensor<6xi4> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<6xi4>) -> tensor<2x3xi4>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xi4>) -> tensor<3x2xi4>
    %2 = stablehlo.slice %arg0 [0:6:2] : (tensor<6xi4>) -> tensor<3xi4>
    %3 = stablehlo.convert %arg0 : (tensor<6xi4>) -> tensor<6xi32>
    %4 = stablehlo.convert %3 : (tensor<6xi32>) -> tensor<6xi4>
    return %1, %2, %4 : tensor<3x2xi4>, tensor<3xi4>, tensor<6xi4>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>) {
    %in:2 = call @inputs() : () -> (tensor<6xui4>, tensor<6xui4>)
    %want:11 = call @expected() : () -> (tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>)
    %got:11 = call @computed(%in#0, %in#1) : (tensor<6xui4>, tensor<6xui4>) -> (tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#5, %want#5) {has_side_effect = true} : (tensor<6xi1>, tensor<6xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#6, %want#6) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#7, %want#7) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    stablehlo.custom_call @check.expect_close(%got#8, %want#8) {has_side_effect = true} : (tensor<6xf32>, tensor<6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#9, %want#9) {has_side_effect = true} : (tensor<6xi8>, tensor<6xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#10, %want#10) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4, %got#5, %got#6, %got#7, %got#8, %got#9, %got#10 : tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>
  }
  func.func private @inputs() -> (tensor<6xui4>, tensor<6xui4>) {
    %c0 = stablehlo.constant dense<[2, 6, 1, 4, 7, 5]> : tensor<6xui4>
    %c1 = stablehlo.constant dense<[1, 2, 3, 1, 7, 2]> : tensor<6xui4>
    return %c0, %c1 : tensor<6xui4>, tensor<6xui4>
  }
  func.func private @expected() -> (tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>) {
    %c0 = stablehlo.constant dense<[3, 8, 4, 5, 14, 7]> : tensor<6xui4>
    %c1 = stablehlo.constant dense<[1, 4, 14, 3, 0, 3]> : tensor<6xui4>
    %c2 = stablehlo.constant dense<[2, 12, 3, 4, 1, 10]> : tensor<6xui4>
    %c3 = stablehlo.constant dense<[2, 3, 0, 4, 1, 2]> : tensor<6xui4>
    %c4 = stablehlo.constant dense<[2, 6, 3, 4, 7, 5]> : tensor<6xui4>
    %c5 = stablehlo.constant dense<[false, false, true, false, false, false]> : tensor<6xi1>
    %c6 = stablehlo.constant dense<[13, 9, 14, 11, 8, 10]> : tensor<6xui4>
    %c7 = stablehlo.constant dense<[0, 2, 1, 0, 7, 0]> : tensor<6xui4>
    %c8 = stablehlo.constant dense<"0x000000400000C0400000803F000080400000E0400000A040"> : tensor<6xf32>
    %c9 = stablehlo.constant dense<[2, 6, 1, 4, 7, 5]> : tensor<6xi8>
    %c10 = stablehlo.constant dense<[4, 8, 8, 8, 0, 4]> : tensor<6xui4>
    return %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10 : tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>
  }
  func.func private @computed(%arg0: tensor<6xui4>, %arg1: tensor<6xui4>) -> (tensor<6xui4> {jax.result_info = "result[0]"}, tensor<6xui4> {jax.result_info = "result[1]"}, tensor<6xui4> {jax.result_info = "result[2]"}, tensor<6xui4> {jax.result_info = "result[3]"}, tensor<6xui4> {jax.result_info = "result[4]"}, tensor<6xi1> {jax.result_info = "result[5]"}, tensor<6xui4> {jax.result_info = "result[6]"}, tensor<6xui4> {jax.result_info = "result[7]"}, tensor<6xf32> {jax.result_info = "result[8]"}, tensor<6xi8> {jax.result_info = "result[9]"}, tensor<6xui4> {jax.result_info = "result[10]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<6xui4>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<6xui4>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<6xui4>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<6xui4>
    %4 = stablehlo.maximum %arg0, %arg1 : tensor<6xui4>
    %5 = stablehlo.compare LT, %arg0, %arg1, UNSIGNED : (tensor<6xui4>, tensor<6xui4>) -> tensor<6xi1>
    %6 = stablehlo.not %arg0 : tensor<6xui4>
    %7 = stablehlo.and %arg0, %arg1 : tensor<6xui4>
    %8 = stablehlo.convert %arg0 : (tensor<6xui4>) -> tensor<6xf32>
    %9 = stablehlo.convert %arg0 : (tensor<6xui4>) -> tensor<6xi8>
    %10 = stablehlo.shift_left %arg0, %arg1 : tensor<6xui4>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 : tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xui4>, tensor<6xi1>, tensor<6xui4>, tensor<6xui4>, tensor<6xf32>, tensor<6xi8>, tensor<6xui4>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>) {
    %in = call @inputs() : () -> tensor<6xui4>
    %want:3 = call @expected() : () -> (tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>)
    %got:3 = call @computed(%in) : (tensor<6xui4>) -> (tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x2xui4>, tensor<3x2xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3xui4>, tensor<3xui4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<6xui4>, tensor<6xui4>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>
  }
  func.func private @inputs() -> (tensor<6xui4>) {
    %c0 = stablehlo.constant dense<[2, 6, 1, 4, 7, 5]> : tensor<6xui4>
    return %c0 : tensor<6xui4>
  }
  func.func private @expected() -> (tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>) {
    %c0 = stablehlo.constant dense<[[2, 4], [6, 7], [1, 5]]> : tensor<3x2xui4>
    %c1 = stablehlo.constant dense<[2, 1, 7]> : tensor<3xui4>
    %c2 = stablehlo.constant dense<[2, 6, 1, 4, 7, 5]> : tensor<6xui4>
    return %c0, %c1, %c2 : tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>
  }
  func.func private @computed(%arg0: tensor<6xui4>) -> (tensor<3x2xui4> {jax.result_info = "result[0]"}, tensor<3xui4> {jax.result_info = "result[1]"}, tensor<6xui4> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<6xui4>) -> tensor<2x3xui4>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xui4>) -> tensor<3x2xui4>
    %2 = stablehlo.slice %arg0 [0:6:2] : (tensor<6xui4>) -> tensor<3xui4>
    %3 = stablehlo.convert %arg0 : (tensor<6xui4>) -> tensor<6xi32>
    %4 = stablehlo.convert %3 : (tensor<6xi32>) -> tensor<6xui4>
    return %1, %2, %4 : tensor<3x2xui4>, tensor<3xui4>, tensor<6xui4>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>) {
    %in = call @inputs() : () -> tensor<4xf32>
    %want = call @expected() : () -> tensor<4xf32>
    %got = call @computed(%in) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got : tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000000000BF0000404000002042"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @expected() -> (tensor<4xf32>) {
    %c0 = stablehlo.constant dense<"0x00000000C62C20BEF28C493E5EED7F3D"> : tensor<4xf32>
    return %c0 : tensor<4xf32>
  }
  func.func private @computed(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = chlo.bessel_i1e %arg0 : tensor<4xf32> -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3xf32>, tensor<3xf32>)
    %want = call @expected() : () -> tensor<3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %got : tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3xf32>, tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x0000803F0000004000004040"> : tensor<3xf32>
    %c1 = stablehlo.constant dense<"0x0000003F0000C03F00008040"> : tensor<3xf32>
    return %c0, %c1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @expected() -> (tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0xE6E99D40092C54BFBEC4373D"> : tensor<3xf32>
    return %c0 : tensor<3xf32>
  }
  func.func private @computed(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = chlo.polygamma %arg0, %arg1 : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3xf32>, tensor<3xf32>)
    %want = call @expected() : () -> tensor<3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %got : tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<3xf32>, tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x0000C03F000000400000E040"> : tensor<3xf32>
    %c1 = stablehlo.constant dense<"0x0000003F000040400000803F"> : tensor<3xf32>
    return %c0, %c1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @expected() -> (tensor<3xf32>) {
    %c0 = stablehlo.constant dense<"0x67D99840CB34CA3E9711813F"> : tensor<3xf32>
    return %c0 : tensor<3xf32>
  }
  func.func private @computed(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = chlo.zeta %arg0, %arg1 : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>, tensor<4xi32>) {
    %in = call @inputs() : () -> tensor<6xf32>
    %want:2 = call @expected() : () -> (tensor<4xf32>, tensor<4xi32>)
    %got:2 = call @computed(%in) : (tensor<6xf32>) -> (tensor<4xf32>, tensor<4xi32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    return %got#0, %got#1 : tensor<4xf32>, tensor<4xi32>
  }
  func.func private @inputs() -> (tensor<6xf32>) {
    %c0 = stablehlo.constant dense<"0x0000807F0000C07F000080FF000040400000008000000000"> : tensor<6xf32>
    return %c0 : tensor<6xf32>
  }
  func.func private @expected() -> (tensor<4xf32>, tensor<4xi32>) {
    %c0 = stablehlo.constant dense<"0x0000C07F0000807F0000404000000000"> : tensor<4xf32>
    %c1 = stablehlo.constant dense<[1, 0, 3, 5]> : tensor<4xi32>
    return %c0, %c1 : tensor<4xf32>, tensor<4xi32>
  }
  func.func private @computed(%arg0: tensor<6xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 4) : tensor<6xf32> -> (tensor<4xf32>, tensor<4xi32>)
    return %values, %indices : tensor<4xf32>, tensor<4xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf64>) {
    %in = call @inputs() : () -> tensor<4xf64>
    %want = call @expected() : () -> tensor<4xf64>
    %got = call @computed(%in) : (tensor<4xf64>) -> tensor<4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    return %got : tensor<4xf64>
  }
  func.func private @inputs() -> (tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x0000000000000000000000000000E0BF00000000000008400000000000004440"> : tensor<4xf64>
    return %c0 : tensor<4xf64>
  }
  func.func private @expected() -> (tensor<4xf64>) {
    %c0 = stablehlo.constant dense<"0x0000000000000000F0E90BCD9805C4BF5CA84B249E31C93FE86CE9B4ABFDAF3F"> : tensor<4xf64>
    return %c0 : tensor<4xf64>
  }
  func.func private @computed(%arg0: tensor<4xf64>) -> (tensor<4xf64> {jax.result_info = "result"}) {
    %0 = chlo.bessel_i1e %arg0 : tensor<4xf64> -> tensor<4xf64>
    return %0 : tensor<4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<3xf64>, tensor<3xf64>)
    %want = call @expected() : () -> tensor<3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()
    return %got : tensor<3xf64>
  }
  func.func private @inputs() -> (tensor<3xf64>, tensor<3xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F03F00000000000000400000000000000840"> : tensor<3xf64>
    %c1 = stablehlo.constant dense<"0x000000000000E03F000000000000F83F0000000000001040"> : tensor<3xf64>
    return %c0, %c1 : tensor<3xf64>, tensor<3xf64>
  }
  func.func private @expected() -> (tensor<3xf64>) {
    %c0 = stablehlo.constant dense<"0xDF45BEC93CBD134099AB408A8085EABF5DD79F9A96F8A63F"> : tensor<3xf64>
    return %c0 : tensor<3xf64>
  }
  func.func private @computed(%arg0: tensor<3xf64>, %arg1: tensor<3xf64>) -> (tensor<3xf64> {jax.result_info = "result"}) {
    %0 = chlo.polygamma %arg0, %arg1 : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
    return %0 : tensor<3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<3xf64>, tensor<3xf64>)
    %want = call @expected() : () -> tensor<3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<3xf64>, tensor<3xf64>) -> ()
    return %got : tensor<3xf64>
  }
  func.func private @inputs() -> (tensor<3xf64>, tensor<3xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F83F00000000000000400000000000001C40"> : tensor<3xf64>
    %c1 = stablehlo.constant dense<"0x000000000000E03F0000000000000840000000000000F03F"> : tensor<3xf64>
    return %c0, %c1 : tensor<3xf64>, tensor<3xf64>
  }
  func.func private @expected() -> (tensor<3xf64>) {
    %c0 = stablehlo.constant dense<"0x656783C32C1B13404D1F4C899946D93F38CF14DA3222F03F"> : tensor<3xf64>
    return %c0 : tensor<3xf64>
  }
  func.func private @computed(%arg0: tensor<3xf64>, %arg1: tensor<3xf64>) -> (tensor<3xf64> {jax.result_info = "result"}) {
    %0 = chlo.zeta %arg0, %arg1 : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
    return %0 : tensor<3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf64>, tensor<4xi32>) {
    %in = call @inputs() : () -> tensor<6xf64>
    %want:2 = call @expected() : () -> (tensor<4xf64>, tensor<4xi32>)
    %got:2 = call @computed(%in) : (tensor<6xf64>) -> (tensor<4xf64>, tensor<4xi32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<4xf64>, tensor<4xf64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    return %got#0, %got#1 : tensor<4xf64>, tensor<4xi32>
  }
  func.func private @inputs() -> (tensor<6xf64>) {
    %c0 = stablehlo.constant dense<"0x000000000000F07F000000000000F87F000000000000F0FF000000000000084000000000000000800000000000000000"> : tensor<6xf64>
    return %c0 : tensor<6xf64>
  }
  func.func private @expected() -> (tensor<4xf64>, tensor<4xi32>) {
    %c0 = stablehlo.constant dense<"0x000000000000F87F000000000000F07F00000000000008400000000000000000"> : tensor<4xf64>
    %c1 = stablehlo.constant dense<[1, 0, 3, 5]> : tensor<4xi32>
    return %c0, %c1 : tensor<4xf64>, tensor<4xi32>
  }
  func.func private @computed(%arg0: tensor<6xf64>) -> (tensor<4xf64> {jax.result_info = "result[0]"}, tensor<4xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 4) : tensor<6xf64> -> (tensor<4xf64>, tensor<4xi32>)
    return %values, %indices : tensor<4xf64>, tensor<4xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2xi1>, tensor<3x2xi32>) {
    %in = call @inputs() : () -> tensor<3x4xi1>
    %want:2 = call @expected() : () -> (tensor<3x2xi1>, tensor<3x2xi32>)
    %got:2 = call @computed(%in) : (tensor<3x4xi1>) -> (tensor<3x2xi1>, tensor<3x2xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x2xi1>, tensor<3x2xi1>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x2xi32>, tensor<3x2xi32>) -> ()
    return %got#0, %got#1 : tensor<3x2xi1>, tensor<3x2xi32>
  }
  func.func private @inputs() -> (tensor<3x4xi1>) {
    %c0 = stablehlo.constant dense<[[true, true, false, true], [false, true, false, false], [false, false, false, false]]> : tensor<3x4xi1>
    return %c0 : tensor<3x4xi1>
  }
  func.func private @expected() -> (tensor<3x2xi1>, tensor<3x2xi32>) {
    %c0 = stablehlo.constant dense<[[true, true], [true, false], [false, false]]> : tensor<3x2xi1>
    %c1 = stablehlo.constant dense<[[0, 1], [1, 0], [0, 1]]> : tensor<3x2xi32>
    return %c0, %c1 : tensor<3x2xi1>, tensor<3x2xi32>
  }
  func.func private @computed(%arg0: tensor<3x4xi1>) -> (tensor<3x2xi1> {jax.result_info = "result[0]"}, tensor<3x2xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<3x4xi1> -> (tensor<3x2xi1>, tensor<3x2xi32>)
    return %values, %indices : tensor<3x2xi1>, tensor<3x2xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>) {
    %in = call @inputs() : () -> tensor<8x16xf32>
    %want:4 = call @expected() : () -> (tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>)
    %got:4 = call @computed(%in) : (tensor<8x16xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<8x3xf32>, tensor<8x3xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8x3xi32>, tensor<8x3xi32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<2x16xf32>, tensor<2x16xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<2x16xi32>, tensor<2x16xi32>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>
  }
  func.func private @inputs() -> (tensor<8x16xf32>) {
    %c0 = stablehlo.constant dense<"0xDA398E40E50736C011F8DB3E8F208EC07137DE3E36DB463F82BA9BBFB892494047BEC2BE0E43B73F23B3CF3FFF7ABBBE365DF6C0B65A9FBFA6E6F63EDBFD43C0A7B2113ECB1590C06C52EE3F3BB4EC3F3E99983FE57CBDBF2CC4583F838874C03FF918C01FE69D3FC51F05C0BED04CBF66B2F0BDA5E348409FB005C00568E0BF008D0BC06792A1C08FC9F83E0DE4C9C06C8922C01E1173407973A1BD134CDDC0F24448C00F589C40F0D779BFCB06AE4057E8E6BFFB30EFC0671E283F3ADB59BFEF85323FB7E453C0792658C089CAF7BF16FB56C073501A40C7B54C4089964FBF37332B40822210C0235E8CBF73CFA5C05D366740D345E2BF30816840EBB3674078F0B93FFCBE183F0E0F4CC0351621409C58E53FC7BC51404C50823F4BD36CC09B205BC07C82334049A89D40384245BF226058BE1EA6773FDC96203F5F10653F6FAC48BFC94C103FE316DEBFC796BABEA14AFD3FFDF8EA3DEBABF8BFF5BC513FCCE857C0A26002C0AB0A4EC0BBD2453FCEAEEC3F64A597BFD32E31C05BADA93FD5F5293FD7D799C05822344090262B4048DC61BF2243A7BEA463DDBE5ED4C8BF292F943F42ED14C0B2F389BF8F4D833EBAE8A7C01C99DEBF19DE7DC0098CCEBF69E0E4BF59485EBF0325E53DC1A059C04346053F9F3DB0C09E6C1A40C1FD22BFEBA0FA3F3EC9C4C0D7306D40FC58A7BFA0C7113F249ED4BDDBF522BFEEEBE9BF"> : tensor<8x16xf32>
    return %c0 : tensor<8x16xf32>
  }
  func.func private @expected() -> (tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>) {
    %c0 = stablehlo.constant dense<"0xDA398E40B892494023B3CF3FA5E348406C52EE3F3BB4EC3FCB06AE400F589C401E11734030816840EBB367405D36674049A89D40C7BC51407C823340A14AFD3FCEAEEC3F5BADA93F5822344090262B40292F943FD7306D409E6C1A40EBA0FA3F"> : tensor<8x3xf32>
    %c1 = stablehlo.constant dense<[[0, 7, 10], [13, 2, 3], [11, 9, 5], [14, 15, 12], [10, 5, 9], [4, 12, 15], [2, 3, 8], [10, 6, 8]]> : tensor<8x3xi32>
    %c2 = stablehlo.constant dense<"0x008D0BC06792A1C0792658C00DE4C9C016FB56C09F3DB0C0EBABF8BF134CDDC09B205BC03EC9C4C0AB0A4EC073CFA5C0365DF6C0FB30EFC019DE7DC0DBFD43C069E0E4BFD7D799C00E0F4CC08F208EC06C8922C0E57CBDBF82BA9BBF838874C0CCE857C042ED14C0C51F05C0FC58A7BFBAE8A7C0D345E2BFD32E31C0EEEBE9BF"> : tensor<2x16xf32>
    %c3 = stablehlo.constant dense<[[2, 2, 3, 2, 3, 7, 5, 2, 4, 7, 5, 3, 0, 2, 6, 0], [7, 6, 4, 0, 2, 1, 0, 1, 5, 6, 1, 7, 6, 3, 5, 7]]> : tensor<2x16xi32>
    return %c0, %c1, %c2, %c3 : tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>
  }
  func.func @top_k_lt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func @top_k_gt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func private @computed(%arg0: tensor<8x16xf32>) -> (tensor<8x3xf32> {jax.result_info = "result[0][0]"}, tensor<8x3xi32> {jax.result_info = "result[0][1]"}, tensor<2x16xf32> {jax.result_info = "result[1][0]"}, tensor<2x16xi32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.iota dim = 1 : tensor<8x16xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1:2 = stablehlo.custom_call @ApproxTopK(%arg0, %0, %cst, %c) {backend_config = "", called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
    %2 = stablehlo.iota dim = 0 : tensor<8x16xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %3:2 = stablehlo.custom_call @ApproxTopK(%arg0, %2, %cst_1, %c_0) {backend_config = "", called_computations = [@top_k_lt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x16xf32>, tensor<2x16xi32>)
    return %1#0, %1#1, %3#0, %3#1 : tensor<8x3xf32>, tensor<8x3xi32>, tensor<2x16xf32>, tensor<2x16xi32>
  }
}
