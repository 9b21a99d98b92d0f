// Panics of the library's code, wherever the program runs it.

func @kernel() -> i32 {
  %a = "plugin.panic"() : () -> i32 // expected-error {{kernel 'plugin.panic' panicked: at the library}}
  tfrt.return %a : i32
}

// Among kernels of both sides that run in place.
func @twice() -> (i32, i32) {
  %a = tfrt.constant.i32 3
  %b = "plugin.add"(%a, %a) : (i32, i32) -> i32
  %c = "plugin.panic_twice"(%b) : (i32) -> i32 // expected-error {{kernel 'plugin.panic_twice' panicked: no message}}
  %d = "plugin.add"(%c, %b) : (i32, i32) -> i32
  %e = tfrt.add.i32 %b, %b
  tfrt.return %d, %e : i32, i32
}

func @sync_kernel() -> i32 attributes { tfrt.sync } {
  %a = "plugin.panic_sync"() : () -> i32
  tfrt.return %a : i32
}

func @blocking_kernel() -> i32 {
  %a = "plugin.panic_blocking"() : () -> i32 // expected-error {{kernel 'plugin.panic_blocking' panicked: at the library, on the pool}}
  tfrt.return %a : i32
}

func @future() -> i32 {
  %a = tfrt.constant.i32 7
  %later = "plugin.later"(%a) : (i32) -> i32
  %b = "plugin.panic_async"(%later) : (i32) -> i32 // expected-error {{kernel 'plugin.panic_async' panicked: at the library, awaiting 7}}
  tfrt.return %b : i32
}

func @careless() -> i32 {
  %a = tfrt.constant.i32 8
  %b = "plugin.careless"(%a) : (i32) -> i32
  %c = tfrt.add.i32 %b, %b
  tfrt.return %c : i32
}
