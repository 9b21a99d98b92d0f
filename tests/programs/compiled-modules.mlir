// A compiled module may hold ops of any dialect, also in syntax that nobody here knows: it is carried as text.
// RUN: tfrt opt --allow-unregistered-dialect %s
// RUN: tfrt opt --allow-unregistered-dialect --mlir-print-op-generic %s
// RUN: tfrt inspect %s

module @known attributes {tfrt.compiled} {
  func @first(%a: f32) -> f32 {
    %0 = "std.addf"(%a, %a) : (f32, f32) -> f32
    return %0 : f32
  }
}

module @unknown attributes {tfrt.compiled} {
  func @second(%a: memref<?xf32>, %b: f32) {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>]} outs(%a : memref<?xf32>) {
    ^bb0(%out: f32):
      linalg.yield %b : f32
    }
    return
  }
}

func @main() -> (i32, i32) {
  %a = "my.execute"() {kernel = @known::@first} : () -> i32
  %b = "my.execute"() {kernel = @unknown::@second} : () -> i32
  tfrt.return %a, %b : i32, i32
}
