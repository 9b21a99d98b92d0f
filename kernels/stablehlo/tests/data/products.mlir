module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x5xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
    %want = call @expected() : () -> tensor<2x3x5xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> ()
    return %got : tensor<2x3x5xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>) {
    %c0 = stablehlo.constant dense<"0x0D73C0BF344882BE228A7A3F69686840BDD3BBBFA82AA7C0D1C356BF770E3D3D1540A83EF4CD7C403737733F7F141C40F16953C018A32640B33CC9400A66144015BB423F9F86EC3ECF90AB40D30432C03AA7AABE3FB8B03F24D90E4015EFA7BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<"0xD8056C3F967155BF2D0BB93E82E4CABE9D2F5BC0CCB881BDC0692840E2AA39C0912839BF8A46FF3F026A4DC029440C3F808B4BC05CD95940E607DE40F222C240AD5428BF441E0E403EDAB93EACD59C3EAD95944051487DC0D79D4A404A7416BE4B38874094CB0F3F2D2701C004D8543F414E0D4065BBDB3D1D68BB3FC252C8BF55DACCC0F6CD2C40193D06401D9AE33E4128523E02F846406B87AFBF90A707C0"> : tensor<2x4x5xf32>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  }
  func.func private @expected() -> (tensor<2x3x5xf32>) {
    %c0 = stablehlo.constant dense<"0xE8278C41BF3FA2BF98ACA440CCBCAD4074B6484144AEF93FDC3550C17A298B41F8AFC23F533133C1D7C73C4140991041A1250FC19BE3903F2D76614197D068C0610CC6BF955E25C20246A041A3EBACC0BB792641D2774EC17AB520C234979941A73DA34156CEF43F9F57A7C07B3292C179C42E411E78C640"> : tensor<2x3x5xf32>
    return %c0 : tensor<2x3x5xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) -> (tensor<2x3x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return %0 : tensor<2x3x5xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
    %want = call @expected() : () -> tensor<3x5xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<3x5xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5xf32>, tensor<3x5xf32>) -> ()
    return %got : tensor<3x5xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>) {
    %c0 = stablehlo.constant dense<"0x0D73C0BF344882BE228A7A3F69686840BDD3BBBFA82AA7C0D1C356BF770E3D3D1540A83EF4CD7C403737733F7F141C40F16953C018A32640B33CC9400A66144015BB423F9F86EC3ECF90AB40D30432C03AA7AABE3FB8B03F24D90E4015EFA7BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<"0xD8056C3F967155BF2D0BB93E82E4CABE9D2F5BC0CCB881BDC0692840E2AA39C0912839BF8A46FF3F026A4DC029440C3F808B4BC05CD95940E607DE40F222C240AD5428BF441E0E403EDAB93EACD59C3EAD95944051487DC0D79D4A404A7416BE4B38874094CB0F3F2D2701C004D8543F414E0D4065BBDB3D1D68BB3FC252C8BF55DACCC0F6CD2C40193D06401D9AE33E4128523E02F846406B87AFBF90A707C0"> : tensor<2x4x5xf32>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  }
  func.func private @expected() -> (tensor<3x5xf32>) {
    %c0 = stablehlo.constant dense<"0xAC1B5E41102634C002C910C235B5CB414481E44084AF4541D656CFC17A41B6C134C2A541FC491341A0615B41C4B573404CC5D9C1EDE040411E59A241"> : tensor<3x5xf32>
    return %c0 : tensor<3x5xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) -> (tensor<3x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<3x5xf32>
    return %0 : tensor<3x5xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
    %want = call @expected() : () -> tensor<3x5xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<3x5xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5xf32>, tensor<3x5xf32>) -> ()
    return %got : tensor<3x5xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>) {
    %c0 = stablehlo.constant dense<"0x0D73C0BF344882BE228A7A3F69686840BDD3BBBFA82AA7C0D1C356BF770E3D3D1540A83EF4CD7C403737733F7F141C40F16953C018A32640B33CC9400A66144015BB423F9F86EC3ECF90AB40D30432C03AA7AABE3FB8B03F24D90E4015EFA7BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<"0xD8056C3F967155BF2D0BB93E82E4CABE9D2F5BC0CCB881BDC0692840E2AA39C0912839BF8A46FF3F026A4DC029440C3F808B4BC05CD95940E607DE40F222C240AD5428BF441E0E403EDAB93EACD59C3EAD95944051487DC0D79D4A404A7416BE4B38874094CB0F3F2D2701C004D8543F414E0D4065BBDB3D1D68BB3FC252C8BF55DACCC0F6CD2C40193D06401D9AE33E4128523E02F846406B87AFBF90A707C0"> : tensor<2x4x5xf32>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  }
  func.func private @expected() -> (tensor<3x5xf32>) {
    %c0 = stablehlo.constant dense<"0xE8278C41BF3FA2BF98ACA440CCBCAD4074B6484144AEF93FDC3550C17A298B41F8AFC23F533133C1D7C73C4140991041A1250FC19BE3903F2D766141"> : tensor<3x5xf32>
    return %c0 : tensor<3x5xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) -> (tensor<3x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:3, 0:4] : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xf32>) -> tensor<1x4x5xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    return %4 : tensor<3x5xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>)
    %want = call @expected() : () -> tensor<5xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<5xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5xf32>, tensor<5xf32>) -> ()
    return %got : tensor<5xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<2x4x5xf32>) {
    %c0 = stablehlo.constant dense<"0x0D73C0BF344882BE228A7A3F69686840BDD3BBBFA82AA7C0D1C356BF770E3D3D1540A83EF4CD7C403737733F7F141C40F16953C018A32640B33CC9400A66144015BB423F9F86EC3ECF90AB40D30432C03AA7AABE3FB8B03F24D90E4015EFA7BF"> : tensor<2x3x4xf32>
    %c1 = stablehlo.constant dense<"0xD8056C3F967155BF2D0BB93E82E4CABE9D2F5BC0CCB881BDC0692840E2AA39C0912839BF8A46FF3F026A4DC029440C3F808B4BC05CD95940E607DE40F222C240AD5428BF441E0E403EDAB93EACD59C3EAD95944051487DC0D79D4A404A7416BE4B38874094CB0F3F2D2701C004D8543F414E0D4065BBDB3D1D68BB3FC252C8BF55DACCC0F6CD2C40193D06401D9AE33E4128523E02F846406B87AFBF90A707C0"> : tensor<2x4x5xf32>
    return %c0, %c1 : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  }
  func.func private @expected() -> (tensor<5xf32>) {
    %c0 = stablehlo.constant dense<"0xE8278C41BF3FA2BF98ACA440CCBCAD4074B64841"> : tensor<5xf32>
    return %c0 : tensor<5xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>) -> (tensor<5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:4] : (tensor<2x3x4xf32>) -> tensor<1x1x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x4xf32>) -> tensor<4xf32>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xf32>) -> tensor<1x4x5xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<5xf32>
    return %4 : tensor<5xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x5xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>)
    %want = call @expected() : () -> tensor<2x3x5xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<2x3x5xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x5xf64>, tensor<2x3x5xf64>) -> ()
    return %got : tensor<2x3x5xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>) {
    %c0 = stablehlo.constant dense<"0x756E2E35CD19E2BFD5430E29D0890C40441BBCF935A510C0E10E507D9A9A0C4005FE409A23AFFEBFDA61EED2F76A0AC0270E5CE6D13D0E40208D5789579AD2BFD50BC4D2A3340FC0BEC9DEA01C38F1BFC981C4D962580640D72F39951A9C0C40EDBF50483080F4BFCA6AC096DE80F33FD30BE102562301400E0D5F9C2BF1FEBF018633ECAE0AF13F88F904FC737BB8BF334D28FFAABAF9BFD0D35B8A839FF7BF2168FCF8C1BDC93F28077A326FEDB63F97BD7394BD24FBBFA98D36740372F4BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<"0x4F2DE20F58B80A40E7EB37030487E43F67E4D810053E054090A54AECFED70C40C06B6F95B143FC3F4CF04AAA29401B4095632800ABCE03C07A77A158DE660340CA73D8CEB48AEEBFBCB9E757F7441640A43D8A86C0671440825B5235567317C0E8E26AD5B64007C0C64468B913E3FF3F3B47FFB2F1F402402964DB5673AD0140082163605836CBBF1AFA3A5286D8F53FF8E1ADD05358FF3F32F3F0A90EE7CDBFCA827D48BEA7084060E7CBF02C1D1BC08E8D4E050E6CFE3F4AA7C22038D108C09E1BCFCF1D0207409E2D41FF25F4E5BF70C49980B55405C05EC7D57B82F2F13FACEC97A63BDF05C0682334C40BE805C07649586FBACE12C07EF23850F582B4BF5E31CAA9F7D8F73F7167A1BE788D0840C2A27C363536DBBFF06B0DBC052609403976D9F48A96AB3F77EF2CBF50E9D1BFBBD55B06F187FB3F62C93AE5C3660940"> : tensor<2x4x5xf64>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<2x4x5xf64>
  }
  func.func private @expected() -> (tensor<2x3x5xf64>) {
    %c0 = stablehlo.constant dense<"0xA08ACCFFF72B224023A2FFD5D9E12C40C21055B8702038409593B9326FEE1AC0C68F2E638B5420402E8A9557758524C04C371610F64E2EC00677B4A8367C38C0988261D3D39C0940B2734D8B777E29C008B5DC25D1A7FC3FF2059EC623F930C0DD31F407083430C09048A24213B3DDBFFCFFABA06F651CC0E86CF2F8DFEF34C0DAB871AA08A31440CE2DF2BD7D5205404E8FF2073E1D0F40FE0E14E1FD252CC003A9C79B461219402A9F5E6A84A91BC050CAC27A37D0B0BF7667D55F750925C01011705810BBE5BF56D775F76912124049622202F98EF8BF8684F2F76102FBBFEE2A54AB528C20C0DCEE2151F40508C0"> : tensor<2x3x5xf64>
    return %c0 : tensor<2x3x5xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<2x4x5xf64>) -> (tensor<2x3x5xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<2x3x5xf64>
    return %0 : tensor<2x3x5xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>)
    %want = call @expected() : () -> tensor<3x5xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<3x5xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5xf64>, tensor<3x5xf64>) -> ()
    return %got : tensor<3x5xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>) {
    %c0 = stablehlo.constant dense<"0x756E2E35CD19E2BFD5430E29D0890C40441BBCF935A510C0E10E507D9A9A0C4005FE409A23AFFEBFDA61EED2F76A0AC0270E5CE6D13D0E40208D5789579AD2BFD50BC4D2A3340FC0BEC9DEA01C38F1BFC981C4D962580640D72F39951A9C0C40EDBF50483080F4BFCA6AC096DE80F33FD30BE102562301400E0D5F9C2BF1FEBF018633ECAE0AF13F88F904FC737BB8BF334D28FFAABAF9BFD0D35B8A839FF7BF2168FCF8C1BDC93F28077A326FEDB63F97BD7394BD24FBBFA98D36740372F4BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<"0x4F2DE20F58B80A40E7EB37030487E43F67E4D810053E054090A54AECFED70C40C06B6F95B143FC3F4CF04AAA29401B4095632800ABCE03C07A77A158DE660340CA73D8CEB48AEEBFBCB9E757F7441640A43D8A86C0671440825B5235567317C0E8E26AD5B64007C0C64468B913E3FF3F3B47FFB2F1F402402964DB5673AD0140082163605836CBBF1AFA3A5286D8F53FF8E1ADD05358FF3F32F3F0A90EE7CDBFCA827D48BEA7084060E7CBF02C1D1BC08E8D4E050E6CFE3F4AA7C22038D108C09E1BCFCF1D0207409E2D41FF25F4E5BF70C49980B55405C05EC7D57B82F2F13FACEC97A63BDF05C0682334C40BE805C07649586FBACE12C07EF23850F582B4BF5E31CAA9F7D8F73F7167A1BE788D0840C2A27C363536DBBFF06B0DBC052609403976D9F48A96AB3F77EF2CBF50E9D1BFBBD55B06F187FB3F62C93AE5C3660940"> : tensor<2x4x5xf64>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<2x4x5xf64>
  }
  func.func private @expected() -> (tensor<3x5xf64>) {
    %c0 = stablehlo.constant dense<"0x324F18F2C7B327C0473F9C15AF9933407C561370C0CA3A40DD97805DA0BF06C06BFECAFBE4A217C0B3D6C62648F10FC072C3A222DC1136C0D0392FE0068D38C0A00DFAD580441DC0C474D49028DA2AC09A04ED405E3C1940162CC056138232C0255A73272EE431C0323D6945EB7921C0B67B9EE4343424C0"> : tensor<3x5xf64>
    return %c0 : tensor<3x5xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<2x4x5xf64>) -> (tensor<3x5xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<3x5xf64>
    return %0 : tensor<3x5xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>)
    %want = call @expected() : () -> tensor<3x5xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<3x5xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x5xf64>, tensor<3x5xf64>) -> ()
    return %got : tensor<3x5xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>) {
    %c0 = stablehlo.constant dense<"0x756E2E35CD19E2BFD5430E29D0890C40441BBCF935A510C0E10E507D9A9A0C4005FE409A23AFFEBFDA61EED2F76A0AC0270E5CE6D13D0E40208D5789579AD2BFD50BC4D2A3340FC0BEC9DEA01C38F1BFC981C4D962580640D72F39951A9C0C40EDBF50483080F4BFCA6AC096DE80F33FD30BE102562301400E0D5F9C2BF1FEBF018633ECAE0AF13F88F904FC737BB8BF334D28FFAABAF9BFD0D35B8A839FF7BF2168FCF8C1BDC93F28077A326FEDB63F97BD7394BD24FBBFA98D36740372F4BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<"0x4F2DE20F58B80A40E7EB37030487E43F67E4D810053E054090A54AECFED70C40C06B6F95B143FC3F4CF04AAA29401B4095632800ABCE03C07A77A158DE660340CA73D8CEB48AEEBFBCB9E757F7441640A43D8A86C0671440825B5235567317C0E8E26AD5B64007C0C64468B913E3FF3F3B47FFB2F1F402402964DB5673AD0140082163605836CBBF1AFA3A5286D8F53FF8E1ADD05358FF3F32F3F0A90EE7CDBFCA827D48BEA7084060E7CBF02C1D1BC08E8D4E050E6CFE3F4AA7C22038D108C09E1BCFCF1D0207409E2D41FF25F4E5BF70C49980B55405C05EC7D57B82F2F13FACEC97A63BDF05C0682334C40BE805C07649586FBACE12C07EF23850F582B4BF5E31CAA9F7D8F73F7167A1BE788D0840C2A27C363536DBBFF06B0DBC052609403976D9F48A96AB3F77EF2CBF50E9D1BFBBD55B06F187FB3F62C93AE5C3660940"> : tensor<2x4x5xf64>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<2x4x5xf64>
  }
  func.func private @expected() -> (tensor<3x5xf64>) {
    %c0 = stablehlo.constant dense<"0xA08ACCFFF72B224023A2FFD5D9E12C40C21055B8702038409593B9326FEE1AC0C68F2E638B5420402E8A9557758524C04C371610F64E2EC00677B4A8367C38C0988261D3D39C0940B2734D8B777E29C008B5DC25D1A7FC3FF2059EC623F930C0DD31F407083430C09048A24213B3DDBFFCFFABA06F651CC0"> : tensor<3x5xf64>
    return %c0 : tensor<3x5xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<2x4x5xf64>) -> (tensor<3x5xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:3, 0:4] : (tensor<2x3x4xf64>) -> tensor<1x3x4xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x3x4xf64>) -> tensor<3x4xf64>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xf64>) -> tensor<1x4x5xf64>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xf64>) -> tensor<4x5xf64>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf64>, tensor<4x5xf64>) -> tensor<3x5xf64>
    return %4 : tensor<3x5xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>)
    %want = call @expected() : () -> tensor<5xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xf64>, tensor<2x4x5xf64>) -> tensor<5xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<5xf64>, tensor<5xf64>) -> ()
    return %got : tensor<5xf64>
  }
  func.func private @inputs() -> (tensor<2x3x4xf64>, tensor<2x4x5xf64>) {
    %c0 = stablehlo.constant dense<"0x756E2E35CD19E2BFD5430E29D0890C40441BBCF935A510C0E10E507D9A9A0C4005FE409A23AFFEBFDA61EED2F76A0AC0270E5CE6D13D0E40208D5789579AD2BFD50BC4D2A3340FC0BEC9DEA01C38F1BFC981C4D962580640D72F39951A9C0C40EDBF50483080F4BFCA6AC096DE80F33FD30BE102562301400E0D5F9C2BF1FEBF018633ECAE0AF13F88F904FC737BB8BF334D28FFAABAF9BFD0D35B8A839FF7BF2168FCF8C1BDC93F28077A326FEDB63F97BD7394BD24FBBFA98D36740372F4BF"> : tensor<2x3x4xf64>
    %c1 = stablehlo.constant dense<"0x4F2DE20F58B80A40E7EB37030487E43F67E4D810053E054090A54AECFED70C40C06B6F95B143FC3F4CF04AAA29401B4095632800ABCE03C07A77A158DE660340CA73D8CEB48AEEBFBCB9E757F7441640A43D8A86C0671440825B5235567317C0E8E26AD5B64007C0C64468B913E3FF3F3B47FFB2F1F402402964DB5673AD0140082163605836CBBF1AFA3A5286D8F53FF8E1ADD05358FF3F32F3F0A90EE7CDBFCA827D48BEA7084060E7CBF02C1D1BC08E8D4E050E6CFE3F4AA7C22038D108C09E1BCFCF1D0207409E2D41FF25F4E5BF70C49980B55405C05EC7D57B82F2F13FACEC97A63BDF05C0682334C40BE805C07649586FBACE12C07EF23850F582B4BF5E31CAA9F7D8F73F7167A1BE788D0840C2A27C363536DBBFF06B0DBC052609403976D9F48A96AB3F77EF2CBF50E9D1BFBBD55B06F187FB3F62C93AE5C3660940"> : tensor<2x4x5xf64>
    return %c0, %c1 : tensor<2x3x4xf64>, tensor<2x4x5xf64>
  }
  func.func private @expected() -> (tensor<5xf64>) {
    %c0 = stablehlo.constant dense<"0x9F8ACCFFF72B224022A2FFD5D9E12C40C21055B8702038409593B9326FEE1AC0C68F2E638B542040"> : tensor<5xf64>
    return %c0 : tensor<5xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x4xf64>, %arg1: tensor<2x4x5xf64>) -> (tensor<5xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:4] : (tensor<2x3x4xf64>) -> tensor<1x1x4xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x1x4xf64>) -> tensor<4xf64>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xf64>) -> tensor<1x4x5xf64>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xf64>) -> tensor<4x5xf64>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf64>, tensor<4x5xf64>) -> tensor<5xf64>
    return %4 : tensor<5xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x5xi32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>)
    %want = call @expected() : () -> tensor<2x3x5xi32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi32>, tensor<2x4x5xi32>) -> tensor<2x3x5xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x5xi32>, tensor<2x3x5xi32>) -> ()
    return %got : tensor<2x3x5xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>) {
    %c0 = stablehlo.constant dense<[[[66, 60, -69, 103], [-98, -41, -43, 63], [-71, 112, -59, 89]], [[28, -45, -8, -75], [-6, 52, -55, 111], [46, -20, -37, 70]]]> : tensor<2x3x4xi32>
    %c1 = stablehlo.constant dense<[[[-13, 107, 1, 54, 98], [109, -46, -5, 58, -10], [-32, 36, 96, 2, -14], [67, 11, -32, 92, 34]], [[48, 78, -80, 87, -70], [-98, 117, -39, -94, 54], [-34, -9, 110, 25, -97], [49, -65, -30, -54, 101]]]> : tensor<2x4x5xi32>
    return %c0, %c1 : tensor<2x3x4xi32>, tensor<2x4x5xi32>
  }
  func.func private @expected() -> (tensor<2x3x5xi32>) {
    %c0 = stablehlo.constant dense<[[[14791, 2951, -10154, 16382, 10336], [2402, -9455, -6037, -1960, -6450], [20982, -13894, -9143, 10732, -4226]], [[2351, 1866, 885, 10516, -11189], [1925, -1104, -10928, -12779, 19774], [8856, -2969, -9070, 1177, 6359]]]> : tensor<2x3x5xi32>
    return %c0 : tensor<2x3x5xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>, %arg1: tensor<2x4x5xi32>) -> (tensor<2x3x5xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xi32>, tensor<2x4x5xi32>) -> tensor<2x3x5xi32>
    return %0 : tensor<2x3x5xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xi32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>)
    %want = call @expected() : () -> tensor<3x5xi32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi32>, tensor<2x4x5xi32>) -> tensor<3x5xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xi32>, tensor<3x5xi32>) -> ()
    return %got : tensor<3x5xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>) {
    %c0 = stablehlo.constant dense<[[[66, 60, -69, 103], [-98, -41, -43, 63], [-71, 112, -59, 89]], [[28, -45, -8, -75], [-6, 52, -55, 111], [46, -20, -37, 70]]]> : tensor<2x3x4xi32>
    %c1 = stablehlo.constant dense<[[[-13, 107, 1, 54, 98], [109, -46, -5, 58, -10], [-32, 36, 96, 2, -14], [67, 11, -32, 92, 34]], [[48, 78, -80, 87, -70], [-98, 117, -39, -94, 54], [-34, -9, 110, 25, -97], [49, -65, -30, -54, 101]]]> : tensor<2x4x5xi32>
    return %c0, %c1 : tensor<2x3x4xi32>, tensor<2x4x5xi32>
  }
  func.func private @expected() -> (tensor<3x5xi32>) {
    %c0 = stablehlo.constant dense<[[17142, 4817, -9269, 26898, -853], [4327, -10559, -16965, -14739, 13324], [29838, -16863, -18213, 11909, 2133]]> : tensor<3x5xi32>
    return %c0 : tensor<3x5xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>, %arg1: tensor<2x4x5xi32>) -> (tensor<3x5xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xi32>, tensor<2x4x5xi32>) -> tensor<3x5xi32>
    return %0 : tensor<3x5xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xi32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>)
    %want = call @expected() : () -> tensor<3x5xi32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi32>, tensor<2x4x5xi32>) -> tensor<3x5xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xi32>, tensor<3x5xi32>) -> ()
    return %got : tensor<3x5xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>) {
    %c0 = stablehlo.constant dense<[[[66, 60, -69, 103], [-98, -41, -43, 63], [-71, 112, -59, 89]], [[28, -45, -8, -75], [-6, 52, -55, 111], [46, -20, -37, 70]]]> : tensor<2x3x4xi32>
    %c1 = stablehlo.constant dense<[[[-13, 107, 1, 54, 98], [109, -46, -5, 58, -10], [-32, 36, 96, 2, -14], [67, 11, -32, 92, 34]], [[48, 78, -80, 87, -70], [-98, 117, -39, -94, 54], [-34, -9, 110, 25, -97], [49, -65, -30, -54, 101]]]> : tensor<2x4x5xi32>
    return %c0, %c1 : tensor<2x3x4xi32>, tensor<2x4x5xi32>
  }
  func.func private @expected() -> (tensor<3x5xi32>) {
    %c0 = stablehlo.constant dense<[[14791, 2951, -10154, 16382, 10336], [2402, -9455, -6037, -1960, -6450], [20982, -13894, -9143, 10732, -4226]]> : tensor<3x5xi32>
    return %c0 : tensor<3x5xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>, %arg1: tensor<2x4x5xi32>) -> (tensor<3x5xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:3, 0:4] : (tensor<2x3x4xi32>) -> tensor<1x3x4xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x3x4xi32>) -> tensor<3x4xi32>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xi32>) -> tensor<1x4x5xi32>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xi32>) -> tensor<4x5xi32>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xi32>, tensor<4x5xi32>) -> tensor<3x5xi32>
    return %4 : tensor<3x5xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xi32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>)
    %want = call @expected() : () -> tensor<5xi32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi32>, tensor<2x4x5xi32>) -> tensor<5xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5xi32>, tensor<5xi32>) -> ()
    return %got : tensor<5xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi32>, tensor<2x4x5xi32>) {
    %c0 = stablehlo.constant dense<[[[66, 60, -69, 103], [-98, -41, -43, 63], [-71, 112, -59, 89]], [[28, -45, -8, -75], [-6, 52, -55, 111], [46, -20, -37, 70]]]> : tensor<2x3x4xi32>
    %c1 = stablehlo.constant dense<[[[-13, 107, 1, 54, 98], [109, -46, -5, 58, -10], [-32, 36, 96, 2, -14], [67, 11, -32, 92, 34]], [[48, 78, -80, 87, -70], [-98, 117, -39, -94, 54], [-34, -9, 110, 25, -97], [49, -65, -30, -54, 101]]]> : tensor<2x4x5xi32>
    return %c0, %c1 : tensor<2x3x4xi32>, tensor<2x4x5xi32>
  }
  func.func private @expected() -> (tensor<5xi32>) {
    %c0 = stablehlo.constant dense<[14791, 2951, -10154, 16382, 10336]> : tensor<5xi32>
    return %c0 : tensor<5xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi32>, %arg1: tensor<2x4x5xi32>) -> (tensor<5xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:4] : (tensor<2x3x4xi32>) -> tensor<1x1x4xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x4xi32>) -> tensor<4xi32>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xi32>) -> tensor<1x4x5xi32>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xi32>) -> tensor<4x5xi32>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xi32>, tensor<4x5xi32>) -> tensor<5xi32>
    return %4 : tensor<5xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x5xui8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>)
    %want = call @expected() : () -> tensor<2x3x5xui8>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xui8>, tensor<2x4x5xui8>) -> tensor<2x3x5xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x5xui8>, tensor<2x3x5xui8>) -> ()
    return %got : tensor<2x3x5xui8>
  }
  func.func private @inputs() -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>) {
    %c0 = stablehlo.constant dense<[[[10, 64, 56, 66], [71, 12, 38, 68], [13, 97, 97, 63]], [[96, 51, 67, 55], [16, 21, 65, 9], [75, 38, 51, 107]]]> : tensor<2x3x4xui8>
    %c1 = stablehlo.constant dense<[[[103, 56, 46, 97, 61], [88, 13, 85, 67, 25], [91, 64, 87, 99, 30], [97, 119, 62, 86, 92]], [[50, 96, 49, 106, 93], [64, 21, 99, 76, 68], [86, 119, 61, 46, 104], [77, 56, 21, 55, 112]]]> : tensor<2x4x5xui8>
    return %c0, %c1 : tensor<2x3x4xui8>, tensor<2x4x5xui8>
  }
  func.func private @expected() -> (tensor<2x3x5xui8>) {
    %c0 = stablehlo.constant dense<[[[240, 30, 16, 94, 234], [247, 64, 32, 149, 251], [237, 78, 196, 253, 148]], [[141, 92, 147, 191, 180], [235, 232, 105, 121, 188], [119, 91, 251, 125, 223]]]> : tensor<2x3x5xui8>
    return %c0 : tensor<2x3x5xui8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui8>, %arg1: tensor<2x4x5xui8>) -> (tensor<2x3x5xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xui8>, tensor<2x4x5xui8>) -> tensor<2x3x5xui8>
    return %0 : tensor<2x3x5xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xui8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>)
    %want = call @expected() : () -> tensor<3x5xui8>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xui8>, tensor<2x4x5xui8>) -> tensor<3x5xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xui8>, tensor<3x5xui8>) -> ()
    return %got : tensor<3x5xui8>
  }
  func.func private @inputs() -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>) {
    %c0 = stablehlo.constant dense<[[[10, 64, 56, 66], [71, 12, 38, 68], [13, 97, 97, 63]], [[96, 51, 67, 55], [16, 21, 65, 9], [75, 38, 51, 107]]]> : tensor<2x3x4xui8>
    %c1 = stablehlo.constant dense<[[[103, 56, 46, 97, 61], [88, 13, 85, 67, 25], [91, 64, 87, 99, 30], [97, 119, 62, 86, 92]], [[50, 96, 49, 106, 93], [64, 21, 99, 76, 68], [86, 119, 61, 46, 104], [77, 56, 21, 55, 112]]]> : tensor<2x4x5xui8>
    return %c0, %c1 : tensor<2x3x4xui8>, tensor<2x4x5xui8>
  }
  func.func private @expected() -> (tensor<3x5xui8>) {
    %c0 = stablehlo.constant dense<[[125, 122, 163, 29, 158], [226, 40, 137, 14, 183], [100, 169, 191, 122, 115]]> : tensor<3x5xui8>
    return %c0 : tensor<3x5xui8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui8>, %arg1: tensor<2x4x5xui8>) -> (tensor<3x5xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0, 2] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xui8>, tensor<2x4x5xui8>) -> tensor<3x5xui8>
    return %0 : tensor<3x5xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x5xui8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>)
    %want = call @expected() : () -> tensor<3x5xui8>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xui8>, tensor<2x4x5xui8>) -> tensor<3x5xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xui8>, tensor<3x5xui8>) -> ()
    return %got : tensor<3x5xui8>
  }
  func.func private @inputs() -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>) {
    %c0 = stablehlo.constant dense<[[[10, 64, 56, 66], [71, 12, 38, 68], [13, 97, 97, 63]], [[96, 51, 67, 55], [16, 21, 65, 9], [75, 38, 51, 107]]]> : tensor<2x3x4xui8>
    %c1 = stablehlo.constant dense<[[[103, 56, 46, 97, 61], [88, 13, 85, 67, 25], [91, 64, 87, 99, 30], [97, 119, 62, 86, 92]], [[50, 96, 49, 106, 93], [64, 21, 99, 76, 68], [86, 119, 61, 46, 104], [77, 56, 21, 55, 112]]]> : tensor<2x4x5xui8>
    return %c0, %c1 : tensor<2x3x4xui8>, tensor<2x4x5xui8>
  }
  func.func private @expected() -> (tensor<3x5xui8>) {
    %c0 = stablehlo.constant dense<[[240, 30, 16, 94, 234], [247, 64, 32, 149, 251], [237, 78, 196, 253, 148]]> : tensor<3x5xui8>
    return %c0 : tensor<3x5xui8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui8>, %arg1: tensor<2x4x5xui8>) -> (tensor<3x5xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:3, 0:4] : (tensor<2x3x4xui8>) -> tensor<1x3x4xui8>
    %1 = stablehlo.reshape %0 : (tensor<1x3x4xui8>) -> tensor<3x4xui8>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xui8>) -> tensor<1x4x5xui8>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xui8>) -> tensor<4x5xui8>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xui8>, tensor<4x5xui8>) -> tensor<3x5xui8>
    return %4 : tensor<3x5xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5xui8>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>)
    %want = call @expected() : () -> tensor<5xui8>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xui8>, tensor<2x4x5xui8>) -> tensor<5xui8>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<5xui8>, tensor<5xui8>) -> ()
    return %got : tensor<5xui8>
  }
  func.func private @inputs() -> (tensor<2x3x4xui8>, tensor<2x4x5xui8>) {
    %c0 = stablehlo.constant dense<[[[10, 64, 56, 66], [71, 12, 38, 68], [13, 97, 97, 63]], [[96, 51, 67, 55], [16, 21, 65, 9], [75, 38, 51, 107]]]> : tensor<2x3x4xui8>
    %c1 = stablehlo.constant dense<[[[103, 56, 46, 97, 61], [88, 13, 85, 67, 25], [91, 64, 87, 99, 30], [97, 119, 62, 86, 92]], [[50, 96, 49, 106, 93], [64, 21, 99, 76, 68], [86, 119, 61, 46, 104], [77, 56, 21, 55, 112]]]> : tensor<2x4x5xui8>
    return %c0, %c1 : tensor<2x3x4xui8>, tensor<2x4x5xui8>
  }
  func.func private @expected() -> (tensor<5xui8>) {
    %c0 = stablehlo.constant dense<[240, 30, 16, 94, 234]> : tensor<5xui8>
    return %c0 : tensor<5xui8>
  }
  func.func private @computed(%arg0: tensor<2x3x4xui8>, %arg1: tensor<2x4x5xui8>) -> (tensor<5xui8> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1, 0:4] : (tensor<2x3x4xui8>) -> tensor<1x1x4xui8>
    %1 = stablehlo.reshape %0 : (tensor<1x1x4xui8>) -> tensor<4xui8>
    %2 = stablehlo.slice %arg1 [0:1, 0:4, 0:5] : (tensor<2x4x5xui8>) -> tensor<1x4x5xui8>
    %3 = stablehlo.reshape %2 : (tensor<1x4x5xui8>) -> tensor<4x5xui8>
    %4 = stablehlo.dot_general %1, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xui8>, tensor<4x5xui8>) -> tensor<5xui8>
    return %4 : tensor<5xui8>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x5xi32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xi8>, tensor<2x4x5xi8>)
    %want = call @expected() : () -> tensor<2x3x5xi32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4xi8>, tensor<2x4x5xi8>) -> tensor<2x3x5xi32>
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x5xi32>, tensor<2x3x5xi32>) -> ()
    return %got : tensor<2x3x5xi32>
  }
  func.func private @inputs() -> (tensor<2x3x4xi8>, tensor<2x4x5xi8>) {
    %c0 = stablehlo.constant dense<[[[-38, 111, 102, 86], [-31, 74, 52, 97], [-10, 36, 105, 100]], [[108, -78, -94, -80], [118, -9, 33, -9], [-84, 100, 9, -33]]]> : tensor<2x3x4xi8>
    %c1 = stablehlo.constant dense<[[[-90, -75, 20, 69, -60], [16, -20, 43, -33, 94], [32, -62, 80, 41, 106], [102, -28, 52, 25, -5]], [[-99, 79, -19, -85, 111], [-12, -74, -4, 91, 64], [43, -35, -36, -43, 71], [77, -37, -34, 96, 114]]]> : tensor<2x4x5xi8>
    return %c0, %c1 : tensor<2x3x4xi8>, tensor<2x4x5xi8>
  }
  func.func private @expected() -> (tensor<2x3x5xi32>) {
    %c0 = stablehlo.constant dense<[[[17232, -8102, 16645, 47, 23096], [15532, -5095, 11766, -24, 13843], [15036, -9280, 14948, 4927, 14614]], [[-19958, 20554, 4364, -19916, -8798], [-10848, 9166, -3088, -13132, 13839], [4962, -13130, 1994, 12685, -6047]]]> : tensor<2x3x5xi32>
    return %c0 : tensor<2x3x5xi32>
  }
  func.func private @computed(%arg0: tensor<2x3x4xi8>, %arg1: tensor<2x4x5xi8>) -> (tensor<2x3x5xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xi8>, tensor<2x4x5xi8>) -> tensor<2x3x5xi32>
    return %0 : tensor<2x3x5xi32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4x6xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x4x5xf32>, tensor<2x6x3x5xf32>)
    %want = call @expected() : () -> tensor<2x3x4x6xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x4x5xf32>, tensor<2x6x3x5xf32>) -> tensor<2x3x4x6xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x3x4x6xf32>, tensor<2x3x4x6xf32>) -> ()
    return %got : tensor<2x3x4x6xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4x5xf32>, tensor<2x6x3x5xf32>) {
    %c0 = stablehlo.constant dense<"0x4F61CDC0076101BA413309C0678ACB3E268B293F37122FC0DA1FF6BF392D1840A109863F929B02C05CD4C3405AAEDD407A658CC04EC7673F0CDDF0402F82164031C6293FA3C91FBF90D1CFBF173623BFE77AD3BFBC050F4019E498BFF566A9BF9AD066C0105718BEDEAB2BC0EED00ABF51074840E1838C3F84D0C13F29BD883FB0C9353E7F93C3BE2A656CBF1FC011408E2C50C099B580402860D13D1FC00FC004D5BBBF6FFB01C0C213F63E6CD309C0084A5B401F1316C08029DAC00A5A0CC06BD1C0C048F4F4BDBC5B4B4061BDF83F9A6880C05F5A12C0B3BFAA40E49D743F26714A3C96C34A409176EB402BF178404F24D63E4433883F69F5EC3FB746EBBF2E464BC0A31F213E54DD35C003D03CBE1EA5933E55BDE040CF6623C05B11BBBE865EFCBE60EDA73F98F848407D58BCBF18B31DC01B829DC0CED431C048FECD3F4B3A0C3E9DF642C089248FBFAB5EC13DA769C13F0ADDE3BF855640BFDA91AEC0EA105DC0FB4C9B40BF0FD2C058B781BF2058283F07C08FBF8F2A1BC01DA23BBE360F74BCC1437CBEA742B4C07769E2BE802E24C0A154D2BF0E512E3F330AF63F662E2C40649FBEBF966831400E5B6140073C5A40F06A8540B1C4DFBEBABB05BFE5681E40B42F83C06DD7203F12BCCBBF709D8DBF762FA7C009FC2AC054D47BBD"> : tensor<2x3x4x5xf32>
    %c1 = stablehlo.constant dense<"0x40952A40C9153E404FC376BE9B5F11BF8B7D1FC041819A3FD1233EBFE0A8E83F7429A84068E9C6BDFCBE8FC0854825C06EFB8BC056D865C0AB9C7A4016132E3FCFEF91C0A8FEFA3FF2FD71401C318ABF4DCA01C0948D81BFEB935A3FA0BFF53F52FC6240BBCB6840F898634095BE824011F9FD3F90F792C03B29C9BE4917713FD81E93BF4BF62E4079528ABF51BE31C018A78A40E3BEFF3F0C63283F9BED3140AF014C402FF5823F7DEFEBC093B601C08E53AFBF71F73CC09395183F1FE764402934BABF4CE359C0FCB0C2401F5AADBFB1BA6CC04089363F4D76A33F9F5E07C060C417407321BBBFE23431C06528093FD6FC13402366F3BFA1EB7D3F699A8FBEA4920741200B08C067E18440CCCE20BED9B4C2BE498F0A406DA52B405A4473408F677C3F5E8DE6BFC374CEBFF3B4C33FC810DF3F8036864063ADA03F648D4B402A9C91403622FD3E179D8EC0D46B62C071078AC0EDCA9840D4B322C07A836C40CAEBE03F74AAA44011984040A03D9DBE969F19BF4FD1823EB599063F3ACECBBFE077C8BDA67E9A40C067A3C0D684463F8B222EC0FDA40F3F974021407DFA30BEDA691440E59F98C0BB8A5440049AE7BF3401EF3FC11E0C3FC736F8C0102A11C0B659293F842E95403E9F5C3F12E9453F209E87C0DC638940B97AAD40A890AF3DFEC528BFC46D9BC0FF9829409CB501418BAF09408EA172405929D03F801F3DC011528040D3096DC068CA21BF7C28563FC78429400EBD9F3F618B943FA93412C02F8F77C05DDE3C3E7E5B08C047187BC0CD0F73C09735BCBFFAD8B1C0645B81C020F99CC0ABF90B3F7BAA9C3F7FAFC0404BC38FC08D7B02C0AD382F40777B26BF69227BBF8E14A440AEF281BF4AFD5DC03CDA7CC018E8803FF16C6A3FF5AE83C032323DC06454CD3FA2ABDD3F4EFFF6BF57EEEE3F9897DB3F042DABC03BAA6FBF82689F3FA20FDCBF6456CDC0F55A59BFE26610400CB89740AD50D2C0FCE0FA40016958C008BD37404EF76C4044BD3C40"> : tensor<2x6x3x5xf32>
    return %c0, %c1 : tensor<2x3x4x5xf32>, tensor<2x6x3x5xf32>
  }
  func.func private @expected() -> (tensor<2x3x4x6xf32>) {
    %c0 = stablehlo.constant dense<"0xC5BD93C121E1F8C07666AB401D310741497437C1109981C1715811C1FEDF8D41ABABCC3F16E0A641002B8FC1C5272FC063609541CAF322C2803B60405B4C62C2CB99704231D5E0413F622E415D9901C1563855C0CAF287C0B8CCB1BFD254F7BF64E046C1073574C16AE17C3F115B63C15796B54051309941B42889417B294741D4EAE5C02DD20541EEC818C11B1076C1A98A0FBFFC2300C11C9402C01309B54022192ABF02623F41B8B253410A2EB5C0787994C10879163FB10CBFC1B5691F3EBF15F74114D9F4C1EB0A2AC19146AC4080444DC1067B5C41819E6B42039054C2CB866141B7E60941498DBAC181C252C1B3F2DA4120C3D7C1711D1C42621C4F415EDCEE402CBB96417905EBC1AC315341CF2A22C29E4EC7C176B45CC12EBD4442636514C0DA66DFC0092EB2C1105C3A419E06F2C0A94F62C01E24A740F014AFC00241F541E88F8CC14A454CC0B7637B40A43EA9C097318041C9579C4164BAFEC0EAB72EC02154B7C029D214BF26C15B406F5999C1BF743941FEA857C1DA981041BA2394C02E33DB40E523CBC05559184091AE894037C824C1BDCD01C0DFAC8ABC6A68BDC1AEBAE241A3E19BC1B41542C26BA58C41A44E39424903C0C19ACB1C4212891142684E5C425735DC4153CDCAC15689A7C18D38D841021C39C0095AB9C1ACE15A41B57194411247F24028F356C18E11EE4014CE1C409277BC412E7FA8411672AD417A3A1EBDBA328141CCB25F41F3C31441AEAF1AC115870040774CF941632F5D411B2BFCC0E02612C1D2D805C2B94E89C11E72ACC197D289BF8C3D07C2"> : tensor<2x3x4x6xf32>
    return %c0 : tensor<2x3x4x6xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x6x3x5xf32>) -> (tensor<2x3x4x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4x5xf32>, tensor<2x6x3x5xf32>) -> tensor<2x3x4x6xf32>
    return %0 : tensor<2x3x4x6xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x3xf32>) {
    %in = call @inputs() : () -> tensor<2x3x3xf32>
    %want = call @expected() : () -> tensor<2x3x3xf32>
    %got = call @computed(%in) : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> ()
    return %got : tensor<2x3x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>) {
    %c0 = stablehlo.constant dense<"0x8CE6BF40EE24A840C077A640EE24A840F74DC0428AFA6242C077A6408AFA62429FB86242ECF72342678CD03E2D3D2942678CD03E1A93FB415D6AE8412D3D29425D6AE84164D79542"> : tensor<2x3x3xf32>
    return %c0 : tensor<2x3x3xf32>
  }
  func.func private @expected() -> (tensor<2x3x3xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FDA61140"> : tensor<2x3x3xf32>
    return %c0 : tensor<2x3x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<2x3x3xf32>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %3 = stablehlo.add %1, %2 : tensor<3x3xi64>
    %4 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %8 = stablehlo.select %6, %0, %7 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    return %8 : tensor<2x3x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>)
    %want = call @expected() : () -> tensor<2x3x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got : tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0x38593EC02297FCBE726CA7BE8C59B940F12479403CD909BED41B684076B415C0535E81BF58C32E401A666EC0D84156BF379A7DC00870B43EB5B89C40116710C0B7792D3F2B492CC0A1B65CC07A486DC0FDA78B4037CBE240217DB93F3B8709C0"> : tensor<2x3x4xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x2E11A8C10E9ECF41BF282FC279D632409C7C1641147470C1848CBF4178720E40535E81BF58C32E401A666EC0D84156BF2B6DFBC1650930C28B457FC039B63741F1D9ACC123851BC243912DC17978E840FDA78B4037CBE240217DB93F3B8709C0"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>)
    %want = call @expected() : () -> tensor<2x3x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got : tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0xD5560740576180BF55DE1940AD7B5F3F13D0563FAA31E93F8B86DEBFF9469BBF553DA5C089ADA9BF408B88C0F63ADEBE7ADD37C0FE7E9B3E3D0BAE3FEF5488C04B261CC0AB1D35C0A5530F408ECFA340BA7E2340472D86BFFFA38C40B65A91C0"> : tensor<2x3x4xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0xB2105D3FC7B2D1BECE547B3F3D85B63E61FED8BDAC83903ED8C0CDBE20B153BED58FADBF65BBD7BE0FF560BF83AB5CBCCCBDE5BE3F4B423D3B78593E13592ABFA32BDCBEFB5501BFC73FCB3ECCA36B3F94F95840AE00093F4305D93EB03F08C0"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    return %1 : tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>)
    %want = call @expected() : () -> tensor<2x3x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got : tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0x39F08F407BFCFBBF3E7405C12D7AFE407F7D9740261F46C074CC013F4FBC24BFDB029D3E3F658EC0CBD802C077B2B33FD9072B3FF940664028FE743E7986E140A36B09C0D32A473F6EF7B7C0009A70C0B5137F40A40435C07EC7CB3F94C23DBE"> : tensor<2x3x4xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x39F08F407BFCFBBF3E7405C12D7AFE40B85B9DC08471903F7D3B9341EAA78DC1FF938C414A87CDC06269A9C2552DA242D9072B3FF940664028FE743E7986E14002240CC0BE920C3F1F74B8C002A686C06A052C419241EBC16B8BEB410630CAC1"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>)
    %want = call @expected() : () -> tensor<2x3x4xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> ()
    return %got : tensor<2x3x4xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0xAC8D48C04CBA85BF3977C5BF0426BBBF5AB110401480FA3F41BBDDBFEB292EC0C7D5583FA99F99BE246E45407FE8FE406CD72140FE61D5BD392104BF3B7C24C0C8142EC0E1A740C007CF97BFE905A4BFDACB0E40333799BF32A417BF9BE869C0"> : tensor<2x3x4xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x3x4xf32>
  }
  func.func private @expected() -> (tensor<2x3x4xf32>) {
    %c0 = stablehlo.constant dense<"0x72B8C6BF512015BFD40936BF578A77BF9889093EDA6F763EC46C0DBF5F299FBF762E373EDEC781BDD2C9263F7458D73F7E6E1ABFBEF4063F1449403E81379F3F385CB0BF60266DBD33E7D03C19EE9D3FF8FA7A3F90A506BF674385BE688FCDBF"> : tensor<2x3x4xf32>
    return %c0 : tensor<2x3x4xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    return %1 : tensor<2x3x4xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>)
    %want = call @expected() : () -> tensor<2x4x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> ()
    return %got : tensor<2x4x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0x17E19D40CBAEC23F59BBAB40880019404B018F40A3D63EBFE3B1094043DD01412AEB6AC0F9D76140AD00A34087B6A13FB9EB124098B0754059B200C03E49A03F387F2AC02DB804C02585F2BF06ABE0BE2D0EE63E03CEB13F88498BC00892C240"> : tensor<2x4x3xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x4x3xf32>
  }
  func.func private @expected() -> (tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0xF7F0004036F095BE021E113F83EA793FC9177E3EB89A61BFBCE9603F71B9263FD7B5F5BFC672B83FD83E563ECDE51EBF3C94B73E5D382E3F0FE75CC07547483EE461F4BE3404D1BE038497BEC26399BD2DC59C3F392B5E3E8E5947BF537C7240"> : tensor<2x4x3xf32>
    return %c0 : tensor<2x4x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return %0 : tensor<2x4x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>)
    %want = call @expected() : () -> tensor<2x4x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> ()
    return %got : tensor<2x4x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0xD13C634099C30E4067BF8CBF3E3F8CBEE77CD73F3DD5A13FD538A5C018C81140966F0F417EC1B5C032C743404258913FE5BDAFBED2128740B00269C03654003F0A30904031361BBF46D6A4BF8836B53EE164AFBF698F98402FEA32C0F7352C40"> : tensor<2x4x3xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x4x3xf32>
  }
  func.func private @expected() -> (tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0xD060AA3F9C25BB3E66CE6DBED083BABE9E6EC23C46B7883E24E140C07D5A57BF2659F23FA1042CC0C3653B3ECE92753E36AEC93F87680D405AC5CCBFD28CAF3E2AE8853FA06688BE2217D43EB6831C3F24231ABF818DEBBE689FC9BFFD56973F"> : tensor<2x4x3xf32>
    return %c0 : tensor<2x4x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return %1 : tensor<2x4x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>)
    %want = call @expected() : () -> tensor<2x4x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> ()
    return %got : tensor<2x4x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0x150B77C08F0304407A94A5BE43E5FEC061F996BC1D9552C07367AFBF38D497400F875CC03E4551C02D2A8E402316B73E5922984045717F3F0B282EC0016951BE71B67240D1C23940E936333B960A1A3E44B7B1BE295AE4BFFBA4BE40CEB1B53C"> : tensor<2x4x3xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x4x3xf32>
  }
  func.func private @expected() -> (tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0x3DB9DEBF2C50823EA2E18BBD68B33FC0B3D5C93E3AE631BF65ED39BF5B25693F084D3ABFAF8BE2BF75B0D73EB9AB9A3D9567FB3F9B24A23FB40C99BF78F7ABBF1A55F8BE6F3FA33FF7F21F3E6AAF293E7E2D1CBEB12C99BEFCDB863F97AC1F3C"> : tensor<2x4x3xf32>
    return %c0 : tensor<2x4x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return %0 : tensor<2x4x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>)
    %want = call @expected() : () -> tensor<2x4x3xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> ()
    return %got : tensor<2x4x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x3xf32>, tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0x0CBA1C40000000000000000024530940E016194100000000A1F407401089AE400B84974059E1CC400000000000000000AE4A823DB56FB340000000004177D340A864A340FAA61140"> : tensor<2x3x3xf32>
    %c1 = stablehlo.constant dense<"0x4F475FC00252BCBFB1630F405545FD3F1493D8BE0EF403C05508973D9E2FA5C0957D80C06FB51D402539BDBF9D06943F6E7F70403C3D00407130823DD80BD240CACE0340E9F38BBF8D8410407007A13F12F528C05B72663E7A4502BFAC11C2C0"> : tensor<2x4x3xf32>
    return %c0, %c1 : tensor<2x3x3xf32>, tensor<2x4x3xf32>
  }
  func.func private @expected() -> (tensor<2x4x3xf32>) {
    %c0 = stablehlo.constant dense<"0x785AB6BF8AB1293E75E46B3F2CD94E3F6BD166BE17CE09BFF2B2F63CD1D70BBF82DD6DBE4FCD803FF8A4C2BE1C3D6C3E9240163F548CB33E91A31DC03C3A833FE917B63E6D2B88C09293B43E19A4613E706C2BC007F90F3D70ACBABD2CFE23C0"> : tensor<2x4x3xf32>
    return %c0 : tensor<2x4x3xf32>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf32>, %arg1: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    return %1 : tensor<2x4x3xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x5x4x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>)
    %want = call @expected() : () -> tensor<2x5x4x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x5x4x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x5x4x2xf32>, tensor<2x5x4x2xf32>) -> ()
    return %got : tensor<2x5x4x2xf32>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    %c1 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    return %c0, %c1 : tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>
  }
  func.func private @expected() -> (tensor<2x5x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xA1CB72C1453A23425FEC523F12569C428AEF7E420DD018C2D9C5A641AF8655C2C0ADC1401AAFB741029821C268CFCA3DD32DDAC11A5D2642AF86D13F76B5CC412256E4405A0D51410CE9E6C1900734C25C42D2410EA24AC2D2F34E4298AA54C2527E84C10E3AB741FBC0A9412EE3914255862DC1D8A2004311D41D41E49392419031B1C15F6C3BC1992425BFF94E86C155CEB8C2FA2655C17D7B2FC138D0A9C0D8468F418E0F9EC1E3178A40E174BD4010ED4D41ED222842569BD4C0F6D3D3C10A6D03C17F7B5241DF433EC259E258C2211E32C2F8949FC22331A7C09BAD1141DCC60F4144FEA0C0235365422471E341BBFA464205A948C2A0BB0CC1DEAACDBF6341C741517B68C062694841499D1FC20EFC9742828F1941FC9C28429125BBC0CED857C260EA3741C206164087DBB0C233A06841046E0BC2C78E3F41B1732C42"> : tensor<2x5x4x2xf32>
    return %c0 : tensor<2x5x4x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf32>, %arg1: tensor<3x2x4x2xf32>) -> (tensor<2x5x4x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x5x4x2xf32>
    return %0 : tensor<2x5x4x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>)
    %want = call @expected() : () -> tensor<2x2x3x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x2x3x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x2x3x2xf32>, tensor<2x2x3x2xf32>) -> ()
    return %got : tensor<2x2x3x2xf32>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    %c1 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    return %c0, %c1 : tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>
  }
  func.func private @expected() -> (tensor<2x2x3x2xf32>) {
    %c0 = stablehlo.constant dense<"0xC0ADC1401AAFB741029821C268CFCA3DD32DDAC11A5D2642527E84C10E3AB741FBC0A9412EE3914255862DC1D8A200430A6D03C17F7B5241DF433EC259E258C2211E32C2F8949FC26341C741517B68C062694841499D1FC20EFC9742828F1941"> : tensor<2x2x3x2xf32>
    return %c0 : tensor<2x2x3x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf32>, %arg1: tensor<3x2x4x2xf32>) -> (tensor<2x2x3x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x2x3x2xf32>
    return %0 : tensor<2x2x3x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x8x2x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>)
    %want = call @expected() : () -> tensor<2x8x2x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x8x2x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x8x2x2xf32>, tensor<2x8x2x2xf32>) -> ()
    return %got : tensor<2x8x2x2xf32>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    %c1 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    return %c0, %c1 : tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>
  }
  func.func private @expected() -> (tensor<2x8x2x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0577EE419DFA26C16475DAC10819A441A6AEE9C1D6E94441FCC82CC22A94AA42E8A84A424A0E10C2D3F363C1479302C26543BA41DFA28D4023A374C1393C1442F40DB2419466213FD8F9B24173DF11C11023CC41EEA632416D65A441D7116842156058C1F682F140CF98E2C0FAF226419C3215C19052D33F842A02C1BBFD2D4019FF22427F5E15C157A412C280F2BBC034DC12422321BD418707934075262441617243C172A4BA3F3082284250AA78C037DC9C41AA1B44C23DF1C5C0CE3403C2CB0C24C17BEF0441CC390C425C8DE5C1C22D46C01B5CC241FA6AAC4193C614428A583CC13C8AD23F10EBFEC1F4CB93406E41E7400C926B40B07082C12D06A4C2"> : tensor<2x8x2x2xf32>
    return %c0 : tensor<2x8x2x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf32>, %arg1: tensor<3x2x4x2xf32>) -> (tensor<2x8x2x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 0], [2, -1]], lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x8x2x2xf32>
    return %0 : tensor<2x8x2x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x5x4x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>)
    %want = call @expected() : () -> tensor<2x5x4x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x5x4x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x5x4x2xf32>, tensor<2x5x4x2xf32>) -> ()
    return %got : tensor<2x5x4x2xf32>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    %c1 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    return %c0, %c1 : tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>
  }
  func.func private @expected() -> (tensor<2x5x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x720C3B40B45DB641EC75A841E088B4BF73B4B640D8D5124204D830414E35ACC1625D4F40BC88B0403A4E1441A8BCE3C1D6B2A240C2E4BFC17D5047412D17264220AF24C12AA82D411E85C5C14EB1D7C11DE4D0C0594F8D418A2DB64018E11EC1B16533419C87C640B250AE413E113BC0ADD17FC158C01C42CA9118C1AA810C42D97D8F401228E6C1285D46C010C794C12C97FBC0535EBDC27299E83F4E2C11C25A5DE041727092C180521D42F4B3FBC1E8017341D88D82BF78601D417707A0C106F44EC19AC40D41F8F2CBC0CECA48C29C9B064060C626C212EDA540676CF041054AF5C1EE73BA41123BBBC09871D3416C26D83F002E2A413A4A6B41C030543F8039E43F545097415A8F3640DCECE0C03EEF5041AA59D442CC04A441E70100411834A7408F7D3BC26EE5CAC088F3BEBF7C022B41E0A45AC09DDE9E4018AB6442"> : tensor<2x5x4x2xf32>
    return %c0 : tensor<2x5x4x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf32>, %arg1: tensor<3x2x4x2xf32>) -> (tensor<2x5x4x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:3, 0:2, 0:2, 0:2] : (tensor<3x2x4x2xf32>) -> tensor<3x2x2x2xf32>
    %1 = stablehlo.convolution(%arg0, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<2x5x4x2xf32>
    return %1 : tensor<2x5x4x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x5x4x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>)
    %want = call @expected() : () -> tensor<1x5x4x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<1x5x4x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x5x4x2xf32>, tensor<1x5x4x2xf32>) -> ()
    return %got : tensor<1x5x4x2xf32>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    %c1 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    return %c0, %c1 : tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>
  }
  func.func private @expected() -> (tensor<1x5x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0xA1CB72C18E0F9EC15FEC523FE174BD408AEF7E42ED222842D9C5A641F6D3D3C1C0ADC1407F7B5241029821C259E258C2D32DDAC1F8949FC2AF86D13F9BAD11412256E44044FEA0C00CE9E6C12471E3415C42D24105A948C2D2F34E42DEAACDBF527E84C1517B68C0FBC0A941499D1FC255862DC1828F194111D41D419125BBC09031B1C160EA3741992425BF87DBB0C255CEB8C2046E0BC27D7B2FC1B1732C42"> : tensor<1x5x4x2xf32>
    return %c0 : tensor<1x5x4x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf32>, %arg1: tensor<3x2x4x2xf32>) -> (tensor<1x5x4x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<1x5x4x2xf32>
    return %0 : tensor<1x5x4x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2x4x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3x2x4x2xf32>, tensor<2x5x4x4xf32>)
    %want = call @expected() : () -> tensor<3x2x4x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<3x2x4x2xf32>, tensor<2x5x4x4xf32>) -> tensor<3x2x4x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x2x4x2xf32>, tensor<3x2x4x2xf32>) -> ()
    return %got : tensor<3x2x4x2xf32>
  }
  func.func private @inputs() -> (tensor<3x2x4x2xf32>, tensor<2x5x4x4xf32>) {
    %c0 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    %c1 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    return %c0, %c1 : tensor<3x2x4x2xf32>, tensor<2x5x4x4xf32>
  }
  func.func private @expected() -> (tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x40E0F543C29F5745FFB817C426950FC4999F30458CE51745B25C35C4F8A13AC5E724DA44B1A5F2445C50DBC3392D8EC404B047455E482145B24A0BC58C47CCC4CD2865C47400AFC43CC4A144C60D4945C0502045D8BC30C5BD80724419F3974443D80FC51575124358D6A0C39E1873C3FD651B45A2EE8EC5E46C3AC508590245E44291C41CA532447A583FC4936926C5067007C5A422234485B7EE44B99643C592BD1EC46D27ADC463B348C4A4F55E44CD004DC43AA8B2C409491E45AA651145"> : tensor<3x2x4x2xf32>
    return %c0 : tensor<3x2x4x2xf32>
  }
  func.func private @computed(%arg0: tensor<3x2x4x2xf32>, %arg1: tensor<2x5x4x4xf32>) -> (tensor<3x2x4x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg1, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x5x4x2xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x4x2xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<2x5x4x2xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5x4x2xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<2x5x4x2xf32>
    %5 = stablehlo.convolution(%arg1, %4) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<2x5x4x2xf32>) -> tensor<3x2x4x2xf32>
    return %5 : tensor<3x2x4x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x10x8x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>)
    %want = call @expected() : () -> tensor<2x10x8x2xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x10x8x2xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x10x8x2xf32>, tensor<2x10x8x2xf32>) -> ()
    return %got : tensor<2x10x8x2xf32>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) {
    %c0 = stablehlo.constant dense<"0x0E2108BFCF875FBFA60BADBF6558A2C08E068CBF24B0FABD49F7A03E0F2260C0E2AFF93FD9EF6FC0F1AB30BF9BCC80404BA808C0C499C9BF03D85340EA9197BFD96F6ABF899C2E3F750E4F407267D9C0C46C23C011B446C0A7F755C0D08828C0D36A25C0597A6D3FE7202FC0BFE5C03E4AFC9D3F4FA00FC041A2CD3EB60AA140407B7D3F7DBEFABFF0594CBEBA1534C033D7543F246E2940A3E220C0124F24BF615C5A402E42C3BFE488133F6CDB48C0B2A920C08602C9BF3EEDD04044139DBF0F81CBBF2D44D8BF7F5DFEBE8EE0FB3F5687113FDA8CC540B331243F68F38A409E83543F158BE83FEA958AC0CF29C3BEB6CE53BE4B973ABF25ADCEC0741429406DAA94BF2A38A8BFC0F843BF312A2FBF67539C3FC70974C094C232C0D5345F3F7E9DDF3EADA290BFE361DCBFA53520C05E4433BE5DB362404F254BC0103D9240610B224026F0ADBFB25916400BBA8CC0303BA6C061A377C0B7579DBF34EA79BF8FD0C5BF98B6983E8BF9CCC0D436BE3FBB4088C042C4FDBFDA889EBF11FE5DC0B09D83C0ED2A41C0898412BD9C8DE23F93AAD83F39F13EC09AFB17C07DC130C059BAAC3FA397C3C0DAC26D40422ABABFD06F16C0AA59823F4B4346404E8D833F7F204A400960CE3E32176C401B126F40A7CC98BEED298A40ED07FD3ECE77853E46EC30C076C85DBFBF4B154039077CC0A374F93F58DE853FCC2A553FC1D2D3C0C5949EBE8DEEF83FC37C12C00AB68A3E874BE4C04FE80040CC5FFEBFF04C274051E8B0C054EA044029F835BF580F1B407DBC31C0CD7CEDBF7C46D740CF591FC0A68E07C03E6A54BFCE5444C055916440ED99A540393007C0F8B2A5C0070561409CCF544031C21D40DA0C5E409A9026C0BE6701BFE1DF84C0C52488C0175F3C40"> : tensor<2x5x4x4xf32>
    %c1 = stablehlo.constant dense<"0xE10101C0C0D6DA409DE1633E52ECF5BFA7311940D3EBAC409EACBA3F1FB169C00F778E3FB30E84408F67BDBF0D8A14C0732843408EFDD63E26B053C09CD291BF531611C0CA88633FB579A83EC6E25C4075410840691996C0CC489C3F04362C40C10EAF3F7EC545409E09D3BF498F36C0CD923240B8914CC0CB50CFC08BDB4440230B0BC0100F6BBFBE3486C055807EC0A8105EC0537D8ABF64148E3F0297DCC0D16A104093F162C05BBB4CC0F3250240834665BE667F93C0B614B140463D25C0"> : tensor<3x2x4x2xf32>
    return %c0, %c1 : tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>
  }
  func.func private @expected() -> (tensor<2x10x8x2xf32>) {
    %c0 = stablehlo.constant dense<"0x866DD1C1ED849B41071D7840109521427037ACC174913341AFA305C0E056CA41304A1B42F103AEC197C79241FA1C5EC1EA5CE2C07197FAC01E0CC7BF2CE24C410577EE419DFA26C1757802C1D9BC2CC10A2CB241BCEE6CC1915D95BF64AF44C12A3999C17577FA41CF7B0DC0422D3740AEAB844136A082C15DC71E41905ED0C1A7AEE9C1D5E944413129EBC1FFE24A424007ED3F03BBC6414C8DC8413ACE2E428AD15CC154450A42C46D3141B213953FE2BF4E42779ED1C11095A841069C85C1E8A84A424A0E10C243A8643F3354FFC14BBD1541455163404B1BB2C07D738CC0583E72C18F4B3ABF39824C3F0E0E6C4139C3D0C1994AC34194A45D40C24CA0406543BA41DFA28D40C0E75D4084D77442120615C198195F41D69244C14DC2C0C1880E96C19736C1C158A1E2C05CD23AC17FF69CC1F6D683C17B34D5C040BCCF40F40DB2419466213FF0FDD7C0A64248C131ADC2C013118A3FD2C6E4C08E859F4155F9E841CA8C59402F772DC1011656C11A96CA41875FDFC1AE9B8C41CF4F26C21023CC41EEA6324105EBED409E1E6E41885C47C01455D5C0764902C292AD84C257D55141308A2C423779A7C040A820427AB6254257FF9C415E973D4239CF8B41156058C1F682F140F4948C403BFDC23EA2F80EC2938091C0E01DED4051E6F341E19637C110DB20411F842FC1105FD24107DF08C2E7AEF14119BB24C11CD10A429C3215C19052D33FC60E67410E16B5C0C03F01BF6EF890C1F75F00420CF314C1A49CB4C1750A06414896A6C0C0C5584050FA54C168B4B84083DC1BC15D1CADC2FF043840F97E003FE38187BEBC6274C08785AFC0DA15D2415C7C0EC10CDB574022FC5D4197161840BC5701C14BFA0AC01A2C32C26CEB5841AFD9C43E5C051D4232D36CC14A7333C1A9594DC1EAD1F6413A148FC016E89541BE8FF5419CBAE14158EBA6404932FE4144DACF41A42945C06B77B1C196D9CD41AC199041472D144219FF22427F5E15C1C6C2D1C07356CAC1D3DD0A40FCD882C09236D640EF516DC1FDD7F0C1D3599B41E48903C1C4CC064237B18341526763C1A1350840726962C134DC12422321BD41F0E38B41582E5142C955FBBF4754BBC08C069A4160973F3F19444EC1BD2428C2608EE4BF18DEB0C14CA61440328580C165760AC14451FDC1617243C172A4BA3F55A72641D94612C153019441DB624D4180F353C1B1B8A2C0B5B0FD418A38A840A711883FF6F024C22F243AC0374687C153395841FE6F25C138DC9C41AA1B44C274E5E2C0A6EA7CC216C09EC07E92B7411AB102C2045895C0A0A1673FAF6BF341A02C0ABE0CED99425C5D07C2CCC75DC0B44D9FC04BF30642CB0C24C17BEF0441DD66AC40456E43C0EDC5FAC0B74160C103EF5D4082505041E059ED41941FCDC1F47BC440D0E1D7C101993842E5DD9FC12A2226C1750183C1C32D46C01B5CC241EB2A0C41DE38A24162515BC1E2B3A34149CC9F41E391CFC108AB4C414754874195D35A413EEE15C1E40717415CF99FC0522EBDC1E5346F428A583CC13C8AD23F93CE4CC034378F41CD3B0EC2D76056C15CBF7C41DDBA87413D51E5C16C8854C147936A419DB8414158A608420BCE01C2C5BD8741EF813CC26C41E74008926B40904E954160120DC2EEC556410B2437C29D7A0542AADBAFC2A1DF0BC2FAF93AC2906998C10B9D54C2702567424E72774094CB58426175FA4124E704C2F1E584413DEB1640B1059A413354D5C144884542CD4399C17377F841ED33D8419C9E7DC1EC2721C05C073DC10D47C6C136BD034263E7B5C068875141"> : tensor<2x10x8x2xf32>
    return %c0 : tensor<2x10x8x2xf32>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf32>, %arg1: tensor<3x2x4x2xf32>) -> (tensor<2x10x8x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x4x2xf32>) -> tensor<2x10x8x2xf32>
    return %0 : tensor<2x10x8x2xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x3xf64>) {
    %in = call @inputs() : () -> tensor<2x3x3xf64>
    %want = call @expected() : () -> tensor<2x3x3xf64>
    %got = call @computed(%in) : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> ()
    return %got : tensor<2x3x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>) {
    %c0 = stablehlo.constant dense<"0x9497C77AB7121E409F7B2D0870FC0D407A8B5E63FE7522409F7B2D0870FC0D4020417522AB1C3B406C594C4A291A30407A8B5E63FE7522406C594C4A291A30405652360361193A40F22A5359498D4D400978C89FDFDA49406C2E171C78F130400978C89FDFDA4940F1D4A1A353604B409AC95E46BEC139406C2E171C78F130409AC95E46BEC13940F33F6EDE07364740"> : tensor<2x3x3xf64>
    return %c0 : tensor<2x3x3xf64>
  }
  func.func private @expected() -> (tensor<2x3x3xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404CB6710EC74F0240A5B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409AF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    return %c0 : tensor<2x3x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>) -> (tensor<2x3x3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<2x3x3xf64>
    %1 = stablehlo.iota dim = 0 : tensor<3x3xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x3xi64>
    %3 = stablehlo.add %1, %2 : tensor<3x3xi64>
    %4 = stablehlo.iota dim = 1 : tensor<3x3xi64>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<3x3xi64>, tensor<3x3xi64>) -> tensor<3x3xi1>
    %6 = stablehlo.broadcast_in_dim %5, dims = [1, 2] : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %8 = stablehlo.select %6, %0, %7 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    return %8 : tensor<2x3x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>)
    %want = call @expected() : () -> tensor<2x3x4xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got : tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0xA824D30087F10C401C5315BB8580FBBFF90EB56DA823FEBFC791E6CCC4F1E03FD16EC33B08BEA53FAE7BE3A7E97607C0C17F54E8A944FB3F4C673763A48018C0A6F62E1EFAC6F4BFC79C4B67A063F3BF44989731C63BEABF6B42CDAE557EED3FD0640544F8780DC03AA03160AC3FFC3FD2C5840F774BE1BF4E726B07DB35FFBF8EB883CFE36610C09C7648FB05650CC03F9B76B9AB4BF13F754ADA90E32107C0C0719421FDA6C83F524B16C2D27C09402BD500658EC80840AF0C471A8AB91240"> : tensor<2x3x4xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x1BEE6C5BEDF10E407C62DA0057A0044076A92D014D1310C077848D94775E21405C8761736A1E0840A08546318162C4BF6AD7E9305BA50C4057AECF14787820C0A6F62E1EFAC6F4BFC79C4B67A063F3BF44989731C63BEABF6B42CDAE557EED3F65E5D6C372103C40A48D6D7F6BA55740429DF89A689D4D40DEDE888455B35D4000AD779C092213C0C0F18C40F3AF2DC02FE08BCF78CD23C0685F6DCB8F7C33C0C0719421FDA6C83F524B16C2D27C09402BD500658EC80840AF0C471A8AB91240"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    return %0 : tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>)
    %want = call @expected() : () -> tensor<2x3x4xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got : tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0x16167368B471ECBF67EAE1E8270B0AC00C631CD61B7E0840B0BFBC00D3B8ED3F699CE9838DF90A400C71988D6CFBA03F96D3AF960CB20C40E517954D345004401D63D8A5B0310140DC59EC034A2BF83F024656EBEC16F33FDBCBB886165FE63FC600872ADFAFE53F5A84AE6EC1C307405CE2AFCB3493F8BF5D1D3C5506D41440D43952990866D4BFAE364F2E30A60740E49CBAEC8853D1BF7034C74110AEE7BF337571BC0B6318402A4BDC1A75B2EDBFF646264438A70EC08CA0F71E522301C0"> : tensor<2x3x4xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xD273BA4D56BFD4BFD675417B14FFF2BF36A7DF6E78DDF13FBFE9A6DCF0ADD53F1F895C31504CE83F1134C4CCC218D53F450F81117E3FDA3F140A56E31A72DA3FE3E885C58927DF3F1B5BB56722A3F83F69B1CAAE7A2AF2BFC6B4288293C2DCBFFF8C07DB4191B63F2790AFCEBBBAD83FCFA436229B92C9BFE7A16F3A7CACE53FA0E34AFD2DEBD2BFA79EFBD20AA6BD3F0034AED6A444D63F23D35FDF3C79FBBF93C4B4A6B8A6F43F756554FBBB07DABF349171039C7BEBBF2130082D1325DD3F"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    return %1 : tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>)
    %want = call @expected() : () -> tensor<2x3x4xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got : tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0xABB122B63174EEBF8A57D0D6BFDC1940E1B0A7D93BD9E33FBC808E0EE16E06403666BB83D40908C0517C27C5D9ECF03FA509F81E901D0040BEBCFF16999E15409158F1B8E2B500C0420854B3ADF7FC3FD6E0A9584D0CED3FC6D855496A8508C07A8746CD80E2ADBF256FEACC284BE9BF5D495CC885E71BC06CA3303A72BCFC3F188730DA82EEF93F2CE4BD78A111F5BFC77B7DF20F1010C091BA8BAB31C211407E1A0BD03289E93F66F035DD9C660840AC0DF43082EC10403ABB8C0EE700F9BF"> : tensor<2x3x4xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0xABB122B63174EEBF8A57D0D6BFDC1940E1B0A7D93BD9E33FBC808E0EE16E064074DDA0A9EF42FBBF1697B711651F1FC0B6E5EE0B16AAF23FED92AB274925F93F249467634C0F14408E35B16C2A2A01C09E286BE4AECD0EC0D74C8DBA2F1A30C07A8746CD80E2ADBF256FEACC284BE9BF5D495CC885E71BC06CA3303A72BCFC3FDFED0E164B1B0040C552C48767FF0F40656EBC730A7445403AD85B2FF18F1EC01BBA9723C0D718C01CE4320729C622C0332F7138019060C03DC72DE4B2903540"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    return %0 : tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3x4xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>)
    %want = call @expected() : () -> tensor<2x3x4xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> ()
    return %got : tensor<2x3x4xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0x20C477A0E07D034018E0B0687A26E7BF58117A1AC804C8BFE8151EC52D70D0BF07137BB4003570BF30E33AE52BBC0A40479015ED5EC6D73F4EE0ECA34584DDBFDC0F0FD32D8CEABF5AECD7791162F03F846AF3C2117A05C06CFF0CB3AA20F8BF11781BE76313C4BF29B924E12429FBBF2832AA0157BFD6BFBBBF22E13951FDBF46EE2986280C18404885F3CABFE50F402A0F361E0399F53F85B2CC30EA96C4BF3DA8C50A074A1A40D221DF02E400EF3F31711362A1ACD0BF5D101F43A219ED3F"> : tensor<2x3x4xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x3x4xf64>
  }
  func.func private @expected() -> (tensor<2x3x4xf64>) {
    %c0 = stablehlo.constant dense<"0x6F11D10AD786F23F65BB918330ADEDBFDE844A21BC7AE83FDDB63A045338DC3F298BBAAF3225BF3F4BFAFF8DD172E03F54501E456B17DE3FC0C17F4B64BDC03FD11B7FBCA033D1BFFAC140A1253BD53FC6EF56D004D5EBBFB724CB026C44DFBFD446811B9025EBBF9C0079DD898FF3BF0DE8B7DD61B1DDBF76AFD742D63FB2BFCC019DCC357CE13FF399D5995560F13F775764393D92DF3FA3B7F213DC85CFBF8F19F2812387F33FEE7D5B279C07C73F84A6575092C5A8BF7096C593AB9DC53F"> : tensor<2x3x4xf64>
    return %c0 : tensor<2x3x4xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    return %1 : tensor<2x3x4xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>)
    %want = call @expected() : () -> tensor<2x4x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> ()
    return %got : tensor<2x4x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0xB25DBD38DC5EED3FDECE7BF97EEC1040F2A6FB733821ADBF0A15543820311940A004B27C232B05C060C1B2993EA80040B4066F45390B08C04EC3EA5622CE1540A778F6E9F9BBEFBF355A1EF93C58C6BF26D017F5822E064059BF6D2BD0200E400FD7770C5FAF0AC09E334F089A9DF0BF66409D4C34BD10C058320CA3D25CDA3FB5C45BB0A976D3BF42468A86B3BFF0BF66E86E99546D00C004FFC9C40486F2BF709EA95BDAE901C09A09D013E263F93FAB5DA5A0FF3012400FD5DE382F2B17C0"> : tensor<2x4x3xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x4x3xf64>
  }
  func.func private @expected() -> (tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0x28AAD203526CD53FC7B7CBB56B08E83FD57E96A92718EEBFC376620B0C60024048C47C09F26CF2BF0176C6979E3FEFBF35C41F1EAC89F1BFDE0F9D7BB021F63FE372474E4767C3BFDEAEE7E3634CB0BF8C0679E7C436E23F476BC9A32DC2EB3F18F1C922B3C4DBBFB46A8AC65C81E33F3E8AE4116203F0BF7B087FD3CC6EAB3FF3355AD04994CBBFC7A2DEB3FD10B3BF716441260D18D1BFFA6928F91083CA3F1CA9591FEA57DCBF7FB84E1FC16BCA3F5E32C83F2864F03F44634D44345AFDBF"> : tensor<2x4x3xf64>
    return %c0 : tensor<2x4x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    return %0 : tensor<2x4x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>)
    %want = call @expected() : () -> tensor<2x4x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> ()
    return %got : tensor<2x4x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0xD5A2B10C0944D6BFE48898A87E12F4BFEC27B9A739A2F73F49AAF513A8D706C08E4ED72B9D1DDCBF7223561E41F308C027D3F5F482B80040FEB9BEEE8B0FD33FBE62AC3FCC00DFBF52B99688DEC4F13F0464A6DD92A9E7BF49B0148B56A512C0C802BBD45598FC3FF59BF21787ACEB3F104336115295DDBF901152F760A30740BA43D0C86F3E0D40DAF97408FC360AC0F5BF546FEEBE02C00AEF2E8342911240F689DA82B606114085D744F8AFB801C0F6F4E95548560CC09EC30D1B6E9AFEBF"> : tensor<2x4x3xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x4x3xf64>
  }
  func.func private @expected() -> (tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0xFE30AC8D95CCDEBF0C17AA85F0EEDDBFB9DCDE8C90A0DE3F0F1312EBC1318B3F66F555B963DDD73F339FAB9BA92AF0BFBE22B0CED678EC3FD98F37834CBDC03FFD2B18FEB216C4BFDC19F5761BD5FF3F881B80A69C4EE13F12B0C785D429F8BF06E629BADF17B3BF73607089DE42D83F410911CD8BF9B5BF919E44FD6871F1BFFC444361F427FE3FBDC50D4CFE78E3BF69BEB53437DAF0BF786DD79A9016E33FC6C9436F664BE93FBAB315ED4886DD3F2D78CC930BB0E7BF6CD35A4A80BBD6BF"> : tensor<2x4x3xf64>
    return %c0 : tensor<2x4x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    return %1 : tensor<2x4x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>)
    %want = call @expected() : () -> tensor<2x4x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> ()
    return %got : tensor<2x4x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0x545E6ABADAE8F7BF58F96F0F400213C040EECA31BBEFB73FA8D918526BB90EC01549784EA20C0DC071ECCECF8EFC0540FA060CD1836500C0F698AE30E771CBBFF2AC4F055632FE3F8CD7EEDD72840340D469DCA74D2DF0BF115701B4ECF0C03FA4F3B85D4BCF03C0ADD4374FF3F71440C40620579532FF3FF8481A224E7A0AC084D3A014A2EE883FCA25DDC20F2001408C4F44800003F73FC7A50DEA35F31540F49431AAC37710408C8DCA6CFFE2F9BFE8DAB163661FD1BFAC454F52CAC10EC0"> : tensor<2x4x3xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x4x3xf64>
  }
  func.func private @expected() -> (tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0xBA2F9653678FBABFCD2E963572B5EEBF16A7CA7401059F3FADA753BA82E6FEBF2ABCD68DCF0DF2BFD4DA11D91E7EEC3FAB5DE91D8868F5BFE489A4A61E8FD4BFC56478C1EB90E33F49183F814C4FEE3F4D3A25183342CCBFE695E1C046F4A53FEEAFC0CE1EC8F8BF9C5042025A89F43F144088B2852CD73FB8F2EE6452F6C2BF6B8B57A3E2FDDCBF224BF9010F71D93F578B2FA4F53CEABF8C170CEDEDD0EC3F463BC0520877E83F0EA8F1EA82BBE4BFEFB1F5944A7CE73FCD16C803BDD8E6BF"> : tensor<2x4x3xf64>
    return %c0 : tensor<2x4x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    return %0 : tensor<2x4x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x4x3xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>)
    %want = call @expected() : () -> tensor<2x4x3xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    stablehlo.custom_call @check.expect_almost_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x3xf64>, tensor<2x4x3xf64>) -> ()
    return %got : tensor<2x4x3xf64>
  }
  func.func private @inputs() -> (tensor<2x3x3xf64>, tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0x0D72815B82EF0540000000000000000000000000000000004D3BE23642DFF53F684C96FCD91814400000000000000000CBF4BB155CEE0A404DB6710EC74F0240A4B5D4A669B10840B06FA2C368C01E4000000000000000000000000000000000105EA24B93E71A409BF65BE72CAC08400000000000000000FB9E91EE8DA10140DA91B45F3F5C0C40E24A713B308A1540"> : tensor<2x3x3xf64>
    %c1 = stablehlo.constant dense<"0xBA6146778EF2E73FBBAFD1B3FCFEDC3FAE78A1B78C38204097F11CF302BCD23F000CFEA7781E19C0C882CBA34C2100C07B76EC3D3092D53F4E16B73CF5240EC077312CBF1FD004C0A123BCCCEE8CF1BFE842E46D2E68F03FF0D41BFAE3BEDFBFF40163C4715705C036E80B7583E70240A26D83A210E7F9BF1FBE32CF81F7F7BF48A927294A8E10C0D49503DD47DD02C0A8D8A528F848FF3F474C19C86F6913C0A4502EACA854CBBFC6ACDBD9B33901407E7CBF1AE919F2BF6D42EA7E1705E73F"> : tensor<2x4x3xf64>
    return %c0, %c1 : tensor<2x3x3xf64>, tensor<2x4x3xf64>
  }
  func.func private @expected() -> (tensor<2x4x3xf64>) {
    %c0 = stablehlo.constant dense<"0x3167900BAE77D13FDBEB98384C4C903F2C0975628C8B02406EF02DBD8054BB3FACD1BBEF8076F4BF83B730BA9EE1C63FEBD5CEB1DC77BF3FBB4718F1B911E9BFBCDF8584AB57D9BF953EBCD45D9AD9BF85F01E173B07D43F9618B964484AA63F872134763D35D6BFA599B4C82C5EF83F5699A2F37394F2BF8DB1040596F0C8BFBAA7F8E9ED58EDBFE81E17CBCD6FCF3F57D4F94E0D47D03FAA6F30D9A70601C049E3C8940B1EF43F7B45A15EB8ECD13F5A22E0E2E748EFBF291ED13BD033E53F"> : tensor<2x4x3xf64>
    return %c0 : tensor<2x4x3xf64>
  }
  func.func private @computed(%arg0: tensor<2x3x3xf64>, %arg1: tensor<2x4x3xf64>) -> (tensor<2x4x3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3xf64>
    return %1 : tensor<2x4x3xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x5x4x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>)
    %want = call @expected() : () -> tensor<2x5x4x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x5x4x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x5x4x2xf64>, tensor<2x5x4x2xf64>) -> ()
    return %got : tensor<2x5x4x2xf64>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    %c1 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    return %c0, %c1 : tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>
  }
  func.func private @expected() -> (tensor<2x5x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0xCC73AE8173BE44403D81E3294D913840E1ED20B3971040406305D07778762EC0399FC9CC916142C0928695D38DBDF2BF16E469C208C61A40B6A455D6B83C34406C0641281C9C414020C323FA5C962840671172BEE4213CC01D3B597C8A0230406581A315023828C0495FC803B75224C0F257ACE390663840E35ABEEC64134040EFB99547B4883440B13DBD3A99864240CEA351125F344FC092E74F2A76C912407EEF16CFE76D45402AC84BF816A82E40516D2884FD213E40D99BB16B292327C032EF40A78C3032C0C1524F34C5154740AB7F1D3DE0D125408A5F94DB28333BC0C0534A78B36F41C0D6B8EE0E6DAD4AC02BE02C0D335753C05064A9CA3E234B40DEA981DC09AD4D406D9C32B4BF9F40C0E6DD1A7A8C174140B21DB32BE6DC3CC045B5F554589956C044A85FC1869732402A0E35AECD0C39C03DF662404212434059DE26265BD83DC010F508CD312F34409FC7C0B8203E29406A8229E3904B41C018B8D7A675AA50C0CA313C21AB9053405682C8394CE84B40EAF4BB5C98A638C00544D12C345743C0870E7B2B2CEB07C088C4E1FA2E9420C0500C169D436CC53FB33C969440B13340807996CC49D043C01F1F8D423649F8BFE3E5B55890F90D40EE88DA2DDCBB41C0F013FB1282C03AC0E0CE5E6BF5B649C0FC22D3528E873A40B215876F280E36C0C721BF9C22A43C401AF6C9BE046113C0028EB93CFAEE21C048919A296ABF10C00A3D7F56AEDD47404D2F32ECBCF620C0F0750D7FF2413640837E9FC3CEC75040EF608380A58555C0AE2CA5AD915EFA3F9524C06275CB3240A0559761624E45400A47C7D8AD5F27C0C4516C87A2571A40DFE587487D6018C0F0C55BBADF5C52C054A18D47807720400741E95F2A9130C0103BE990327F4140"> : tensor<2x5x4x2xf64>
    return %c0 : tensor<2x5x4x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf64>, %arg1: tensor<3x2x4x2xf64>) -> (tensor<2x5x4x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x5x4x2xf64>
    return %0 : tensor<2x5x4x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x2x3x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>)
    %want = call @expected() : () -> tensor<2x2x3x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x2x3x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x2x3x2xf64>, tensor<2x2x3x2xf64>) -> ()
    return %got : tensor<2x2x3x2xf64>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    %c1 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    return %c0, %c1 : tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>
  }
  func.func private @expected() -> (tensor<2x2x3x2xf64>) {
    %c0 = stablehlo.constant dense<"0x6C0641281C9C414020C323FA5C962840671172BEE4213CC01D3B597C8A0230406581A315023828C0495FC803B75224C032EF40A78C3032C0C1524F34C5154740AB7F1D3DE0D125408A5F94DB28333BC0C0534A78B36F41C0D6B8EE0E6DAD4AC00544D12C345743C0870E7B2B2CEB07C088C4E1FA2E9420C0500C169D436CC53FB33C969440B13340807996CC49D043C048919A296ABF10C00A3D7F56AEDD47404D2F32ECBCF620C0F0750D7FF2413640837E9FC3CEC75040EF608380A58555C0"> : tensor<2x2x3x2xf64>
    return %c0 : tensor<2x2x3x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf64>, %arg1: tensor<3x2x4x2xf64>) -> (tensor<2x2x3x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x2x3x2xf64>
    return %0 : tensor<2x2x3x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x8x2x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>)
    %want = call @expected() : () -> tensor<2x8x2x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x8x2x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x8x2x2xf64>, tensor<2x8x2x2xf64>) -> ()
    return %got : tensor<2x8x2x2xf64>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    %c1 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    return %c0, %c1 : tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>
  }
  func.func private @expected() -> (tensor<2x8x2x2xf64>) {
    %c0 = stablehlo.constant dense<"0x9DD02E31F74036409BC69BA6A25624402E902B5B35822AC0897D5658B11E29C0356078923ED051C0BEC3D520E69723C051F5F543D02212C0D739E574732F35C0ED0B8099A3423BC03580BFBB48E720C08B6FB5BFE71244C0C11F6C29ABBA3A408F75D17B3D234040020A3B47BBB83640870540745AD436402FA46689344B36C05153182DDDA84C40D1EBFD491FFE1FC01A3A50F30C3948C05B4B66E95FAFFABF62F0AA5F803B28C0917179EE97F51640DFD3E09B2E230D40343D23647B9D45C0EB1E0D27D4BC1FC0DAAB892F03B62340F904FDD445093CC01E53D433E7732740547018F7423A3CC02F06CB2926793A400E257E54936D5340ADFA5229C5A838C0746BC03694CD3EC07A42500F90BB2940CB1C75E79E653A40D4F3690805B431C09BA8F3F6C4033CC032BC2E90866C40C0A84ECAC5A71341C07321EBD32EE020C0A17953FBB9303CC0EDBA1F10DFDF17C020461F3F547B40C03C2DB9F5E75D4040CAEDE44FB0E223400F537766D6FF14C09C46D309D2AB4440B19806C4808337405C1C0C226EA20D40012EAB76E264494083DEA47D3858434087773591E64131C02907B81458FD1BC056268C891AAC28C057C1D5CA558F46C0DE3E1F81D2C05040CE19D2D2CF202FC0B9FCB2D8FC901EC0E30334F8F2511BC08706AD5E747823408B3C83DD30E24B4053AAF12A3801F1BF59021223EC643AC0ACF6504AD0883040"> : tensor<2x8x2x2xf64>
    return %c0 : tensor<2x8x2x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf64>, %arg1: tensor<3x2x4x2xf64>) -> (tensor<2x8x2x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 0], [2, -1]], lhs_dilate = [2, 1], rhs_dilate = [1, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x8x2x2xf64>
    return %0 : tensor<2x8x2x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x5x4x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>)
    %want = call @expected() : () -> tensor<2x5x4x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x5x4x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x5x4x2xf64>, tensor<2x5x4x2xf64>) -> ()
    return %got : tensor<2x5x4x2xf64>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    %c1 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    return %c0, %c1 : tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>
  }
  func.func private @expected() -> (tensor<2x5x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x8A3277C51EEA3B40E929FEB934E707C0927FE00BCADD2040688966B80F341BC0892B490EED43D03FBC82E8D9A3973B40F47E82002C081A401D631B59D53B1EC0F7F390C46C103E4024314FC9DE8747C0FC753C9B836548C070A8BC03795F41C07ED3081AA1514040FCEE7944E24331405F6B7134999F9A3F2D10A3F9B16039C0A31DDD8B9F1E3640823248DDCF9522C03E48AD6465B044C0EE58CB94DFB123402C952BE2B6BD4240995CE09339563540C40FCBB0396726C08722E086371735C0C0434960DBE73740BA439C6EBDC02FC0E6274A92468535C03CC42403FE412BC0D5E7BFACFCB549C0D18D956A3BAB36C046C68601EAAD43C05FCB66FBDE2C2DC09A696EA602AC0CC02C59A3314B5221C08191082BB4160E40BD743A2E9BC41640B533E68A9019E33F31234507175E444041C3D1FCEAF83BC0FB777BB0572F21C01995766BCD531CC07E5B9E20EE1D2440040348EBA5592B4085027010A87F2EC0FC0DFB95C77327C0094013F0D6D33740E828BEFE66CA3340FAC9D88CB9182FC09EB1DE80431C40C0359C02B9158E2DC0098DB4757D3022C0F381D8620D7D134062DCF985ACC841C08D89FE194F0A38C00C98D013452F31C0F0EDE3DEC22F3AC08BC0AC0BDE1A26C0916EF5D5FBD630C0019C01BCFA7A45C0B0689D1105C540C0812C1276717F204038E48E2617AB34C04D3CBBE260453BC0AEE10CC169343CC02AD64A5FD7D72740CAF2992B944C25400CE3387BD50832C0FCB1393F91573040F8CC366D101AF63F1DC9665A142D33C03BA6F4D850401740B33F80FBFD5630C0835E944AC1A9444099D5EFDF8AAC1B407C17CE8C11AC25C0308A887E0ABB43C03E122F24787C37C00E96DDAF3F9743C0AFEC886893A326C0B61F344ADC7930C0"> : tensor<2x5x4x2xf64>
    return %c0 : tensor<2x5x4x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf64>, %arg1: tensor<3x2x4x2xf64>) -> (tensor<2x5x4x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:3, 0:2, 0:2, 0:2] : (tensor<3x2x4x2xf64>) -> tensor<3x2x2x2xf64>
    %1 = stablehlo.convolution(%arg0, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x2x2xf64>) -> tensor<2x5x4x2xf64>
    return %1 : tensor<2x5x4x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x5x4x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>)
    %want = call @expected() : () -> tensor<1x5x4x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<1x5x4x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x5x4x2xf64>, tensor<1x5x4x2xf64>) -> ()
    return %got : tensor<1x5x4x2xf64>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    %c1 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    return %c0, %c1 : tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>
  }
  func.func private @expected() -> (tensor<1x5x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0xCC73AE8173BE444010F508CD312F3440E1ED20B3971040406A8229E3904B41C0399FC9CC916142C0CA313C21AB90534016E469C208C61A40EAF4BB5C98A638C06C0641281C9C4140870E7B2B2CEB07C0671172BEE4213CC0500C169D436CC53F6581A315023828C0807996CC49D043C0F257ACE390663840E3E5B55890F90D40EFB99547B4883440F013FB1282C03AC0CEA351125F344FC0FC22D3528E873A407EEF16CFE76D4540C721BF9C22A43C40516D2884FD213E40028EB93CFAEE21C032EF40A78C3032C00A3D7F56AEDD4740AB7F1D3DE0D12540F0750D7FF2413640C0534A78B36F41C0EF608380A58555C02BE02C0D335753C09524C06275CB3240DEA981DC09AD4D400A47C7D8AD5F27C0E6DD1A7A8C174140DFE587487D6018C045B5F554589956C054A18D47807720402A0E35AECD0C39C0103BE990327F4140"> : tensor<1x5x4x2xf64>
    return %c0 : tensor<1x5x4x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf64>, %arg1: tensor<3x2x4x2xf64>) -> (tensor<1x5x4x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<1x5x4x2xf64>
    return %0 : tensor<1x5x4x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3x2x4x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<3x2x4x2xf64>, tensor<2x5x4x4xf64>)
    %want = call @expected() : () -> tensor<3x2x4x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<3x2x4x2xf64>, tensor<2x5x4x4xf64>) -> tensor<3x2x4x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<3x2x4x2xf64>, tensor<3x2x4x2xf64>) -> ()
    return %got : tensor<3x2x4x2xf64>
  }
  func.func private @inputs() -> (tensor<3x2x4x2xf64>, tensor<2x5x4x4xf64>) {
    %c0 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    %c1 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    return %c0, %c1 : tensor<3x2x4x2xf64>, tensor<2x5x4x4xf64>
  }
  func.func private @expected() -> (tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x515E475044DB544015FED1B3BB7686C026BA60412D528C405B8C73F0CB5A95C0E5DEC31CB9B883C0E0EE5B77B3D76440C1363FAACD3FA1C03A33F0F40537A540C1A856253BEF95C0C5AE0971C38A8B40DABF54DC67C79DC044F6C4D82F7787C0D094620322929FC012704FEE6A419640119F4B20CF7590C07EB1D997656784C03343A0412964B3C058C226450982A64060C0CE11B2F8A040C5D0789F06F794C0FC9661C18A9289C09D9B3BF6C95A8340306DBD4EC571A640926EF033CCA39AC062D96A279C1FA4C01EFC6ACFC6159EC074E17DC9CAAEA0C0800C8AE8AE89994036B388737F66AB4077E4729194DAA1C0EBDFD6B5C82C8F4029B5FE8C77C18840DEB50E2636CF55C0487C82710C7096C07A905F18B844A2C0DA6CB72352097D405487BB380725B1407ABB275E0228ABC0573BA25B70F16DC07B799803376E9240EA933C353EB789C0977379EF59BE94C078793336BD0B87C05C5F1D2C50137AC0A18C580F56948140AEF1C65D0C85A240FFD42199B3C987C05484B1B314799540"> : tensor<3x2x4x2xf64>
    return %c0 : tensor<3x2x4x2xf64>
  }
  func.func private @computed(%arg0: tensor<3x2x4x2xf64>, %arg1: tensor<2x5x4x4xf64>) -> (tensor<3x2x4x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg1, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x5x4x2xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x5x4x2xf64>
    %2 = stablehlo.multiply %1, %0 : tensor<2x5x4x2xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x5x4x2xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<2x5x4x2xf64>
    %5 = stablehlo.convolution(%arg1, %4) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<2x5x4x2xf64>) -> tensor<3x2x4x2xf64>
    return %5 : tensor<3x2x4x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x10x8x2xf64>) {
    %in:2 = call @inputs() : () -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>)
    %want = call @expected() : () -> tensor<2x10x8x2xf64>
    %got = call @computed(%in#0, %in#1) : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x10x8x2xf64>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<2x10x8x2xf64>, tensor<2x10x8x2xf64>) -> ()
    return %got : tensor<2x10x8x2xf64>
  }
  func.func private @inputs() -> (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) {
    %c0 = stablehlo.constant dense<"0x18338E1895CD0AC0AE513DF158720F40E877936FDA6C0A4013FEB01EA09BE63FC4E08E2D9A0F15C08C289E81641A09C06A8EB515DD700740C804CA3EB58E1440B88655FD9E79EC3FF9C1400C87EF0D40C0ECFD012D2CFDBFF0EB78F6602EE2BFBEA54819FC356C3FB41B104E034FF43FD643A9C8805812C090343B03759306401EC25701BABD0F40CECC4029D4910BC0B663047D9A4310C0DE1AABC4AED3F03F228CA6482F68FFBF42BA355430731CC052ED41E7EF670340EEC705DBC6DFDD3FBC6B9FCE09E1F6BF5753D538805C19406DFBADF96BABDA3FFF04B404131502C05335AD59D06BD33F91911C822FF608C01385D729ED4702C066E4E848A08BF23FB3CE98D0FC99FABFB33592C591A5F5BF40A911A5FF0614400FF6AB9FAEA104400AD6A9D48F440340C0F4C8811962F93F77520D69DE3DF73FFAD7A7F9A07A1140A037305FCB05AEBF00872CAF23441640F830DE6E69D506C0DDFA0064CE7BE8BFACED2D4B0C8B10C0D3C2E7694880F0BF9418B3E09EE2F83F0DBA5BFE3A6A114035699402F8D6FFBF553D91979B4B903FE45B7036FA3DF1BFC2F7DB41F5B901C0B17BF41F8C8B0CC047A9A9353C4BC73F9DFBA857E7C814C068E630BD6A39D53FFC971F715117B03F93FD46886F92FFBF8C2624D5FD4208C0AA81498B979C10C054B37E8BB87416401F0A3EC6891A10C0B30966FB42B11240DC72F816D3CEFC3F3768D8F31679F1BFDDD7418314C50BC0FE59CF7D1405094012EFC90C7DC11440F017245EA56A06C05EF36851F6ADECBF36A643292D3D0940021A191E1B1EF03F609C6F4BE1FF17401CD1D65BEF5DFBBFC00E69A3AC07FA3F243A0D92B3050EC02C674D53942619404C1779C5368701C03CA141EDDF7E1AC0421FBE9C8D25D8BF28984E3C4BC5DABFC9395BBCA2FC164095F107726A43F0BF782789F5B86BA3BF03F291462D7CFC3FA7B49E06060913409CFE0F59B947C8BF91FF8C5B8DF208403C9CED3139DEF83FC25505934770ECBF4D4E0470E9C7CD3FA74AD1938305B63FD5B0312C0EFC05C06C2223C4DA200D40E09E461BA0A010C069BCAA6FA91B0C40723FBECDF3E70640F80D47A08EDDD1BFF162AFDBE35E02C0288AB7769FBCE5BFE369B67A74B1F63F8A0982DE59D501401D8EE008528BEB3FD48DB586AFCF0740F4D9988AC1C1FABF0239FD16F384E63FE5082E55F5D112C0037391E1B8530240D0EF7D4CEB68DD3FAD52415393F2F3BFF2943F4184E00B40FCD5A195BC980040D6993547FBE520C01252E69C5DA1BE3FB7178A6ED57511C01C21B3EA8E9909400414541770DE1D4082513362BDE3F8BF8F5370D36DA3CC3F34004DAF6619E8BF54B43FA1CAD6F03FD005C2E237F0FE3FCA33F90085E40E40D4F94878B7B207C0367388E80FDC1240D179139C385B06C0BAFD345CBB99EA3F0865D57C4BCE0B40883AD79EE41D0140C05C69BC9A8606C0943B3D639ED800C019B617441F31F6BF684F7E1F25A6C3BFB6AD5579E1860B40150E70B4E3000FC0B9AC9EFDD366F63F2CEAEE5B5747FD3F40DD227740CCFA3FC3E793E4F861F63F1CEBEFF4453812407ABF465D306AF73FA75B615828910440F0071505DC0CFB3F6F45AF4F718415400380AE3D33CC16C0F18FCF6C46C50E40C12280A1170FE9BFA1F7A0C6E5F2EABF4D5C7911774407C0D4450FEAA16C16C09EFDA450B954F2BF82526BE7BA7E00C0DF418FEC68B8F73F50BB3452CAAA11C09AF97F6AEA2D114000013BCF0B1BEA3F92A644E074CCE7BF71885A72B20601C0E85E58A399E402C0A832086B411F0BC0"> : tensor<2x5x4x4xf64>
    %c1 = stablehlo.constant dense<"0x16C041C61A21FABF669930693D96923F8B239356E206E1BF2CF60E874EF910C0810B9DAEFE84E9BFB33FC140B76F05C0C37D0A7787B2DE3FFC1E4DE7356016404EC4B6634700FE3F46CD5C513C0FEEBF4DB9B61FA47F13C03E94AF7708FA10C049D2C3329D3D14C0859D45A9596C0140D6A9C609965C02C0DE597D1ADB09C83F9A0D306E4FDBFDBF7129A40F7E82D13FE4A7D8BFF3D110403A566FCC4E7000C0364FE2C1A85DF0BFD6CF4B4F2D5A03C0EB6D8C6163FD0440460A67A4019E08C0A9F7D18E0C310BC08A01B48FE6A610C066C088A4D4E610C020539681599AF63FCCD1BA205AD41E401B57149397E307C031E7792B4CD606409AB36AE7341BE83F5A26249FD3720AC0CCA5510B2B90EABF501C4304295CE6BF1A6ADB23AC9300C0AA566006D32A1740A4EC3A369ADF16C08A472A062D4AF23F72F0CDAE8BD3EF3F26266BE752D2FBBFFE8B15665DB4DC3F4E8BF042011005400266BFC43C53DD3FAC08C5F31708F43FF4E2293C40A1004071C24DDB796218C01445B0DD93BD1140"> : tensor<3x2x4x2xf64>
    return %c0, %c1 : tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>
  }
  func.func private @expected() -> (tensor<2x10x8x2xf64>) {
    %c0 = stablehlo.constant dense<"0x86B9CBAAE5003040A7A93141B39824402A5687DBCE443C406C775D83C68C37C044433E169DC43AC0C2014D0CDC15394021F27D2B01394540097E15ED15AEE8BF23AF198E8FF82240E8D91DFF05C910C0E4BAB16425C430C0851385FB56E6F53F5458994E139C33C08792909E5C850C40C1F754DE783C38C075D113A08C663A409DD02E31F74036409BC69BA6A2562440AF77E1D796413540603FC225852833C0F3E1827A371A5140DF0E50856437294068B1ECA339781C407B0074DD31E531C0E39FBBC2584141C06E025CE6B1641A40E4CACF48CDE52C40BB97259B8F96F4BF0592E756925540C06F9AD7D9AD99314011EB39C62A6D314082425CBCB81EC9BF356078923ED051C0BEC3D520E69723C045619425E0F83FC0DBB245FE68041A40FA3E5135082942C01DA77D586F953C405CC3B7C63438424088B26120008A4240F0E396142C703B408DA676B48DB03BC09D99B296161601C0F23B32E4B7BC3EC0005AA12A1D3D20C00BAC7D2C20812FC0F275B0948A9C19C0C6F2A651BF8F4540ED0B8099A3423BC03580BFBB48E720C0D18881E928F42DC0FBE018EB78882D40793ECDF07D604C408E39848F348921C0476CF59D77803BC054A6E1A235181B40AE1AAA0ABB2B39C0885EBF67DDEC27402A1E541E17F93640343867F6B1E31DC0903ADD1FB83401C0AC0D73939934004097CB01A7DD9D20C0299A147948E920408F75D17B3D234040020A3B47BBB8364032892E7AB6BE424006368BE6E42E2340814EEAB697BF1CC037DF68F2E0CD4E4008BC2B78C33B234026333A149A023140BA193A0025522DC0313FACFCA6E23FC0F9539139698E37C019100C73F54E42C0FF54EA4A8A411240F3F02E6DE1693C404281499AF9EB3F4022BC73F1F9DB3A405153182DDDA84C40D1EBFD491FFE1FC0189012A4A220EEBF58DCAED8EAB831C054C501246C8F21404A0D43848CA921C089C9F493DA4F28402C422293AE8F33C0DAEFBF688AC047C0A27718DAF40D3040222FCA54CE6D3840280E5C56989001C04AAF562D5C6A454059326ECA95CA2C409825216D086D2A40348B8C80FC2B30C062F0AA5F803B28C0917179EE97F5164076D4BCE1DD6FF8BFC74EAF43F898284050893597DB7036C0ECC74C83CAB72FC077B0E17809E335C0243029A5F73E47400C9F5FC68EAD1440E5100F75B9C34BC04D7AF2FA1C1936C072CD27BE990C08C0896972DEE70947C0A85B805F03D73E40273687B810873540F7635FEA7DE80940EB1E0D27D4BC1FC0DAAB892F03B623404E8735994ECBEDBF92922A0532B22140653FEADF4DBE3BC0AD4A8646A6E03E408EC02748A2372B405E97A9EEF4652440BE583360EB1A3BC02D02A7BAD4060740B90425207D3530C0733B52EFF22F38405199AF6B188B43403B5BED9A06D444C0BD61E01E04763BC02423291820251CC0547018F7423A3CC02F06CB2926793A40C0E15D18438F404067F1622967782CC06722DBB5C6463240A4D4B0B4BEDDE53F105CEF0F72AC43404853C152D3AF00405D689E90E34B4640F403432923D924C0125BF9E8B94428C080C6128DC13335C091E67BC58E5234C056DBC1F7946721409483627F3EFC50C0CEF7C5118FC74940F0147A70F4A54C40EA53DB5F842617C084F338A9B12501C0790B7796D9B230C0F8F3DC1151404440C5AE948D60CAFB3F1B65BCE4E808EC3FC85BC307215023C0F0A58A0009AE26C0679840D0178A41C0AAD55B4C18E63DC069050B4185892940A306473D940F50C005520E58DF8C23C0FE24FA0966522EC05103FE5527683740A0143054CFA12D4041238A86AE0AC53FDC118DAB512021C0447A6A7AAE2417C03B5F43B614A123C01B68D80A556A3040AFA30961E1FA1AC04F0DAE46099C1CC0EB6D07EC221A15C0B0B9260F157BF23F82CC7971A79208C09DEB476EE231E6BFCD6D4BAB5F8428C04FBBDEE2BB821D404C32F97962092BC0D9D564315D003640746BC03694CD3EC07A42500F90BB2940EA1DAFC7C6E239409D6814A7E3B122C0D839341E1DB832C0B71E4640A2D00140DD069E25931039406ED413D4B46D32C021DCBFF8035BE03F0B7FBF6926B620C0F7B647B837991AC0855C57E219C8F63F201145C5950D3CC0EA855767C0A43F404470C9955DF440401C2FEA3BAEFA21C09BA8F3F6C4033CC032BC2E90866C40C07FC4BA6604EE38C09265AFAE177326C03764EC9550DC43C00941779FA23214C0EDCBAFAB8D6CFABFE06C53AD30EF23C0A2B1B349967222C08210116BA34B0640D49353F3FBCD35C0DB395C5BA662404075968C77144C36C0D2D7C8F925BE14C0E53F01ACDA743D4034C75D909E99D7BFA17953FBB9303CC0EDBA1F10DFDF17C018C1F419FBCC17C0A14FF6CA12012240252BCEC6DB80EC3FEEC835D3FBAA08C06FB7C921D74F2B407A3650C402DE2EC0FA5BC1B769033BC0A832F78546BB3740EC4C42952EE7304044AE4D7FED6D0340C9F0AC34253E42407AC66FE7AE0829C0084A4E1180E210C0093E8C4E594028C0CAEDE44FB0E223400F537766D6FF14C0DB308EFB4EA2094095EC2DBFE63F43407AB709CF569A3FC0B8392D895F3221C0B3924F5427ED39C06D30C250F003B8BF8F631A1AAD114340EF80AA7499F82DC04AAD28C33C5B3540B287C811AB021EC08B848C20659449C06626D83BE2D03E40BCE7AFD89DDF1AC0A03C7AB2254B20405C1C0C226EA20D40012EAB76E26449409E5C5DDD62213D40F76F81144D85FDBF7F32A381A93B33C029B9EAE36D4241C03906427D27AE36C0A3D2D0A903101C40D0C0D83B1C1E23400FC1DA7F23D32EC0009237B0363816C0724D21E8704A0FC01397ECA5F138284009810841987037C006B8DF967E8F28C033138F401AB216C02907B81458FD1BC056268C891AAC28C0D02448B5AD96C1BFA96C7DFA03D445403BBE2147AA1E32406EB0AD5B04EAD9BF305FF759075341C09A9F6A41C07932403379201DBF7D46C02722820F425B3740DCD9309B648BF2BF75DF6C9114C845C072926229662C30C060757B9EFE8C4340B98FCF8D23641040C63282B8E14C3240CE19D2D2CF202FC0B9FCB2D8FC901EC038F36176655131C007F370715E772F401FFD09D9E9F143C01FB16B3E8E203240D556D307966436408C3E78DA165E00C07DE4A970D1F92440FED88725D4FD17C0DB5B82FCE04B2C40B890B1EB5B5734C0680E2FAF3E192940F9F33DAAE1A60BC0D80756D3E37634402B5D5A916D8639C08B3C83DD30E24B4053AAF12A3801F1BFAD95132395592340B9D0DF59868B244032812FE97199E83FE37996C4A40443C042E3090B7FE31A40DCCAB6B4DE24364098E64D5ADB0842C03B398475340C194041D95988952E354065577564F8B3F2BFCD0DFCA3F94931C038E7F27C0BD93CC01B1F04E1302230C031D0AE69BFD63D4058220AEB9E4715C03CD950F63EDD3E40B5D6FA1594663940EA951EB393E813C0A95F77C887DB32407F2D228A63391840F332578C6A6236C0331BE0440DD7334089C854A0FA864840E8B102F4229F38C00EC4FA417F9737C02EA077E0B4580BC02504C4DFF45B30C0D1C44CF4BA5912405F7B879910152CC0E7491D7AA1503440"> : tensor<2x10x8x2xf64>
    return %c0 : tensor<2x10x8x2xf64>
  }
  func.func private @computed(%arg0: tensor<2x5x4x4xf64>, %arg1: tensor<3x2x4x2xf64>) -> (tensor<2x10x8x2xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf64>, tensor<3x2x4x2xf64>) -> tensor<2x10x8x2xf64>
    return %0 : tensor<2x10x8x2xf64>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x9xf32>) {
    %in:2 = call @inputs() : () -> (tensor<1x2x9xf32>, tensor<3x2x3xf32>)
    %want = call @expected() : () -> tensor<1x3x9xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<1x2x9xf32>, tensor<3x2x3xf32>) -> tensor<1x3x9xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x3x9xf32>, tensor<1x3x9xf32>) -> ()
    return %got : tensor<1x3x9xf32>
  }
  func.func private @inputs() -> (tensor<1x2x9xf32>, tensor<3x2x3xf32>) {
    %c0 = stablehlo.constant dense<"0x99B7DA400A503C40A59F4240143187C0EEE7B5BE94E91BC08B7BE1BFCCAB394052591AC0E9D5C7BE4839B7C0005AF3BE08448A3ED95107C0E0370AC0BB18B5405A4568C0EEB749C0"> : tensor<1x2x9xf32>
    %c1 = stablehlo.constant dense<"0x7C541BC05A2C664082BFC9406E1C7F3F9DB909C0CD3FA4BFA8714C40CFEC2EC09E7B8B40D3FD8740D4AD573E291DF83F83F30F4045349540F5E049C092CA62406A1690BFFD6813C0"> : tensor<3x2x3xf32>
    return %c0, %c1 : tensor<1x2x9xf32>, tensor<3x2x3xf32>
  }
  func.func private @expected() -> (tensor<1x3x9xf32>) {
    %c0 = stablehlo.constant dense<"0xF2464D42DEAACD41A1F4DEC10340B9C17E899A3F6ED0BDC13F1A034171FC874150C748C1424B88C11716BA4193F224C2726B5A41A604D5C1C11E20BF69F7AAC0138EDCC08D8469BEDCDB10420F42CD417BF25B4167B20DC1FCC69A409A94C5C19411E4C1E7484242E28360C1"> : tensor<1x3x9xf32>
    return %c0 : tensor<1x3x9xf32>
  }
  func.func private @computed(%arg0: tensor<1x2x9xf32>, %arg1: tensor<3x2x3xf32>) -> (tensor<1x3x9xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x9xf32>, tensor<3x2x3xf32>) -> tensor<1x3x9xf32>
    return %0 : tensor<1x3x9xf32>
  }
}

// -----

module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<1x3x2x2x1xf32>) {
    %in:2 = call @inputs() : () -> (tensor<1x2x3x3x2xf32>, tensor<3x2x2x2x2xf32>)
    %want = call @expected() : () -> tensor<1x3x2x2x1xf32>
    %got = call @computed(%in#0, %in#1) : (tensor<1x2x3x3x2xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x2x2x1xf32>
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<1x3x2x2x1xf32>, tensor<1x3x2x2x1xf32>) -> ()
    return %got : tensor<1x3x2x2x1xf32>
  }
  func.func private @inputs() -> (tensor<1x2x3x3x2xf32>, tensor<3x2x2x2x2xf32>) {
    %c0 = stablehlo.constant dense<"0x71B49D3ECD9D24BF41993DC0FE5799C0D9E134C0226D8B401C68BC400CA5F93F9CB26340BF76C6BF8C026DBECF29593F8C9B4FC0BC113EC0AC43953E51FE75BFF1334CC0A86D943FD1324ABF9719444059A97EBCA7A266BF241BC43E531504BFCD4300C0E4599ABF72E30F402E43F83FABF476400587A2C063F296BF6A329FBFDAEB033FDEA0ADBFF10FC5BFC9541640"> : tensor<1x2x3x3x2xf32>
    %c1 = stablehlo.constant dense<"0x6EC5083F20F15FC0D41C80405B603F408766DCBF189B1F40BE260DC0542258405D4B27BF4F251AC0A8458FBF180A13C03290133F177B063F32F9DB3D86BDD5BF60BB2FC173988E3EDB09B6C062893B3FC61C59401C58523F2D8B95BF60250ABF5B62CCBEA6E8D2BFD82CE0BF566331C08D2064405E1E3FBDA79A3740090A40BF07B35D3E97DA02BFA3BAB13FCCB61E40D917383F6A5F01C04AC015C0C6479F40A61157BF03915FBF06A48C408DDE504068FECC3F475E99BF2FE8E140E5E6963F"> : tensor<3x2x2x2x2xf32>
    return %c0, %c1 : tensor<1x2x3x3x2xf32>, tensor<3x2x2x2x2xf32>
  }
  func.func private @expected() -> (tensor<1x3x2x2x1xf32>) {
    %c0 = stablehlo.constant dense<"0xFFC64EC2D76CC341FD9BC6BFD7255B41F3DFBD419244AC4294E1D5C282480DC2F9D69FC1F2E52942DD54A14118301E41"> : tensor<1x3x2x2x1xf32>
    return %c0 : tensor<1x3x2x2x1xf32>
  }
  func.func private @computed(%arg0: tensor<1x2x3x3x2xf32>, %arg1: tensor<3x2x2x2x2xf32>) -> (tensor<1x3x2x2x1xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {stride = [1, 1, 1], pad = [[0, 0], [0, 0], [0, 0]], lhs_dilate = [1, 1, 1], rhs_dilate = [1, 1, 1], reverse = [false, false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x3x3x2xf32>, tensor<3x2x2x2x2xf32>) -> tensor<1x3x2x2x1xf32>
    return %0 : tensor<1x3x2x2x1xf32>
  }
}
