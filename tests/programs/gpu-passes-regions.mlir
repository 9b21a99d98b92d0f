// Regions that start others, functions that stay, and casts of sizes.
// RUN: tfrt opt --async-to-tfrt --split-input-file %s
// RUN: tfrt opt --func-tfrt-streamify --split-input-file %s
// RUN: tfrt opt --allow-unregistered-dialect --cast-tfrt-streamify --split-input-file %s

// Tokens vanish, also where another region waits for them.
func.func @nested() {
  %t1 = async.execute {
    async.yield
  }
  %t2 = async.execute {
    async.await %t1 : !async.token
    %t3 = async.execute [%t1] {
      async.yield
    }
    async.yield
  }
  tfrt.return
}

// -----

// What waits is not where the function ends, so the function stays.
func.func @blocks(%p: i1) {
  %t = gpu.wait async
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  gpu.wait [%t]
  cf.br ^bb2
^bb2:
  tfrt.return
}

// -----

// The size of shared memory, as a number and by way of an index.
func.func @sizes() -> (ui32, ui32) {
  %a = arith.constant 64 : i32
  %b = arith.constant 128 : index
  %c = builtin.unrealized_conversion_cast %b : index to i32
  %x = builtin.unrealized_conversion_cast %a : i32 to ui32
  %y = builtin.unrealized_conversion_cast %c : i32 to ui32
  tfrt.return %x, %y : ui32, ui32
}
