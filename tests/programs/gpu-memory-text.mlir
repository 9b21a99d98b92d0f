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

// Layouts: maps, which may have names, and strides. A map of each dimension to itself is none.
#rows = affine_map<(i, j)[offset] -> (i * 8 + j + offset)>

func.func @layouts(%a: memref<4x4xf32, #rows>, %b: memref<4x4xf32, affine_map<(i, j) -> (i, j)>, 1>, %at: index) -> memref<4x4xf32, strided<[8, 1], offset: ?>> {
  %part = memref.reinterpret_cast %b to offset: [%at], sizes: [4, 4], strides: [8, 1] : memref<4x4xf32, 1> to memref<4x4xf32, strided<[8, 1], offset: ?>>
  %x = memref.load %a[%at, %at] : memref<4x4xf32, #rows>
  tfrt.return %part : memref<4x4xf32, strided<[8, 1], offset: ?>>
}
