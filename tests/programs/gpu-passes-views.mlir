// Views of memory become buffers. A view that changes neither the place nor the size is its source.
// RUN: tfrt opt --allow-unregistered-dialect --test-gpu-async-conversion %s
// RUN: tfrt opt --allow-unregistered-dialect --tfrt-streamify-ops=ops=wrap.use %s

func.func @views(%m: memref<64xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %whole = memref.view %m[%c0][] : memref<64xi8> to memref<16xf32>
  "wrap.use"(%whole) : (memref<16xf32>) -> ()
  %start = memref.view %m[%c0][] : memref<64xi8> to memref<8xf32>
  %part = memref.view %m[%c16][] : memref<64xi8> to memref<8xf32>
  "wrap.use"(%start, %part) : (memref<8xf32>, memref<8xf32>) -> ()
  %any = memref.view %m[%c0][%n] : memref<64xi8> to memref<?xf32>
  "wrap.use"(%any) : (memref<?xf32>) -> ()
  tfrt.return
}

func.func @casts(%m: memref<16xf32>, %at: index) {
  %whole = memref.reinterpret_cast %m to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32>
  %part = memref.reinterpret_cast %m to offset: [8], sizes: [2, 4], strides: [4, 1] : memref<16xf32> to memref<2x4xf32>
  %any = memref.reinterpret_cast %m to offset: [%at], sizes: [2, 4], strides: [4, 1] : memref<16xf32> to memref<2x4xf32>
  "wrap.use"(%whole, %part, %any) : (memref<4x4xf32>, memref<2x4xf32>, memref<2x4xf32>) -> ()
  tfrt.return
}
