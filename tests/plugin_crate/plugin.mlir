// Values and their code pass between the program and the library, both ways.

func private @plugin_sub(i32, i32) -> i32 attributes { tfrt.native }

func @numbers() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 3
  %b = plugin.add %a, %a
  %c = tfrt.add.i32 %b, %a
  %later = "plugin.later"(%c) : (i32) -> i32
  %sum = "plugin.add_later"(%later, %a) : (i32, i32) -> i32
  %difference = tfrt.call @plugin_sub(%sum, %a) : (i32, i32) -> i32
  tfrt.return %b, %sum, %difference : i32, i32, i32
}

func @in_step() -> i32 attributes { tfrt.sync } {
  %a = "tfrt.constant_s.i32"() { value = 4 : i32 } : () -> i32
  %b = "plugin.add_sync"(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}

func @strings() -> !tfrt.chain {
  %ready = tfrt.new.chain
  %name = "tfrt_test.get_string"() { value = "library" } : () -> !tfrt.string
  %greeting = "plugin.greet"(%name) : (!tfrt.string) -> !tfrt.string
  %done = "tfrt_test.print_string"(%greeting, %ready) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

func @types_of_the_runtime() -> !tfrt.chain {
  %ready = tfrt.new.chain
  %device = tfrt.get_device %ready { device_name = "CPU:0" }
  %name = "plugin.device_name"(%device) : (!tfrt.device) -> !tfrt.string
  %done = "tfrt_test.print_string"(%name, %ready) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

func @own_type() -> !tfrt.chain {
  %ready = tfrt.new.chain
  %tally = "plugin.tally"() { first = 1 : i32 } : () -> !plugin.tally
  %two = tfrt.constant.i32 2
  %entered = "plugin.enter"(%tally, %two, %ready) : (!plugin.tally, i32, !tfrt.chain) -> !tfrt.chain
  %done = "plugin.print"(%tally, %entered) : (!plugin.tally, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

func @errors() -> (i32, !tfrt.chain) {
  %ready = tfrt.new.chain
  %name = "tfrt_test.get_string"() { value = "it was not there" } : () -> !tfrt.string
  %failed = "plugin.fail"(%name) : (!tfrt.string) -> i32 // expected-error {{failed: it was not there}}
  %sum = plugin.add %failed, %failed
  %text = "plugin.explain"(%sum) {bef.nonstrict} : (i32) -> !tfrt.string
  %done = "tfrt_test.print_string"(%text, %ready) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %sum, %done : i32, !tfrt.chain
}

func @tensors() -> (i32, i32, !tfrt.chain) {
  %ready = tfrt.new.chain
  %tensor = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %num_elements = "plugin.num_elements"(%tensor) : (!t.tensor) -> i32
  %mismatched = "plugin.mismatched"() : () -> !t.tensor
  %none = "plugin.num_elements"(%mismatched) : (!t.tensor) -> i32 // expected-error {{found another type of this name, `DenseHostTensor`}}
  %failed = tfrt_dht.fill_tensor_with_constant.f32 %mismatched, %ready 1.0 : f32 // expected-error {{another type of this name}}
  tfrt.return %num_elements, %none, %failed : i32, i32, !tfrt.chain
}
