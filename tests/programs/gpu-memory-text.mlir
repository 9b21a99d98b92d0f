// The text of globals and of views of memory.
// RUN: tfrt opt %s

memref.global @splat : memref<2xi32> = dense<7>
memref.global "private" constant @list : memref<2x2xf32> = dense<[[1.0, -2.5], [0.0, 3.0]]> {alignment = 64 : i64}
memref.global @declared : memref<4xi8>
memref.global @filled_later : memref<4xi8> = uninitialized

func.func @views(%m: memref<16xf32>, %at: index, %n: index) -> memref<4x4xf32> {
  %whole = memref.reinterpret_cast %m to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32>
  %part = memref.reinterpret_cast %m to offset: [%at], sizes: [%n, 4], strides: [-1, %n] {note = "x"} : memref<16xf32> to memref<?x4xf32>
  %scalar = memref.reinterpret_cast %m to offset: [2], sizes: [], strides: [] : memref<16xf32> to memref<f32>
  tfrt.return %whole : memref<4x4xf32>
}
