// What has a meaning in the language of Graphviz, or in XML, is drawn as it stands.
// RUN: tfrt graph %s

func @"a \"quoted\" & <odd> \\name"() -> !tfrt.chain {
  %text = "tfrt_test.get_string"() {value = "<b> & \"c\" \\N \n d"} : () -> !tfrt.string
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_string"(%text, %ch) {note = "}>{"} : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %done : !tfrt.chain
}

func private @"declared -> only"() -> i32 attributes {tfrt.native}

func @empty() {
  tfrt.return
}
