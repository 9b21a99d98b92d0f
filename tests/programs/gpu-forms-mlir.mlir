// The custom forms of MLIR's ops that GPU programs begin as.
// RUN: tfrt opt --allow-unregistered-dialect %s
// RUN: tfrt opt --allow-unregistered-dialect --mlir-print-op-generic %s

gpu.module @m attributes {binary = "x"} {
  gpu.func @k(%a: memref<?xf32>, %n: index) kernel attributes {tfrt.note} {
    "gpu.barrier"() : () -> ()
    gpu.return
  }
}
memref.global "private" @later : memref<2xf32>
memref.global @without : memref<2xf32> = uninitialized {alignment = 64 : i64}

func.func @memory(%i: index, %v: f32) -> f32 {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloca(%i) {alignment = 16 : i64} : memref<?xf32>
  memref.store %v, %a[%i] : memref<8xf32>
  %x = memref.load %a[%i] {tfrt.note} : memref<8xf32>
  %bytes = memref.alloc() : memref<64xi8>
  %view = memref.view %bytes[%i][] : memref<64xi8> to memref<16xf32>
  %g = memref.get_global @later : memref<2xf32>
  memref.dealloc %a : memref<8xf32>
  tfrt.return %x : f32
}
func.func @branches(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^one(%x : i32), ^two
^one(%y: i32):
  cf.br ^three(%y : i32)
^two:
  cf.br ^one(%x : i32)
^three(%z: i32):
  tfrt.return %z : i32
}
func.func @constants() {
  %0 = arith.constant 1 : index
  %1 = arith.constant {tfrt.note} 1.5 : f32
  %2 = arith.constant true
  %3 = arith.constant dense<1> : tensor<2xi32>
  %4 = builtin.unrealized_conversion_cast to i32
  %5:2 = builtin.unrealized_conversion_cast %0, %1 : index, f32 to i32, i64 {tfrt.note}
  tfrt.return
}
func.func @device(%m: memref<8xf32>, %s: i32, %i: index, %h: memref<?xf32>) {
  %t = gpu.wait async
  %a, %u = gpu.alloc async [%t] host_shared (%i) : memref<?xf32>
  %b = gpu.alloc () : memref<8xf32>
  %v = gpu.launch_func async [%t, %u] @m::@k blocks in (%i, %i, %i) threads in (%i, %i, %i) dynamic_shared_memory_size %s args(%a : memref<?xf32>, %i : index)
  gpu.launch_func @m::@k blocks in (%i, %i, %i) threads in (%i, %i, %i)
  gpu.memcpy %m, %b : memref<8xf32>, memref<8xf32>
  gpu.dealloc %b : memref<8xf32>
  gpu.wait [%v]
  tfrt.return
}
func.func @regions(%f: !async.value<f32>) {
  %t = async.execute {
  }
  %u, %x:2 = async.execute [%t] (%f as %g: !async.value<f32>) -> (!async.value<f32>, !async.value<f32>) attributes {tfrt.note} {
    async.yield %g, %g : f32, f32
  }
  async.await %u : !async.token
  %y = async.await %x#1 : !async.value<f32>
  tfrt_gpu.streamify attributes {tfrt.note} {
  ^bb0(%ch: !tfrt.chain, %s: !tfrt_gpu.stream):
    tfrt.return %ch : !tfrt.chain
  }
  tfrt.return
}
// What a form cannot show stays generic.
func.func @generic(%m: memref<8xf32>, %i: index) {
  %0 = "memref.load"(%m, %i) : (memref<8xf32>, index) -> f64
  "gpu.wait"(%i) : (index) -> ()
  "gpu.launch_func"(%i) {kernel = @m::@k} : (index) -> ()
  "async.execute"() : () -> ()
  tfrt.return
}
