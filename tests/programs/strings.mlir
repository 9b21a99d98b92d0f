// RUN: tfrt run %s

// Strings hold bytes: text and what is none go the same ways, and who asks for text is told where there is none. This
// transcript shows U+FFFD for the bytes that are no text.

func @bytes() -> (!tfrt.chain, i1) {
  %c0 = tfrt.new.chain
  %a = "tfrt_test.get_string"() { value = "caf\C3\A9 \FF" } : () -> !tfrt.string
  %b = "tfrt_test.get_string"() { value = "\00\D8%c" } : () -> !tfrt.string
  %number = tfrt.constant.i32 450
  %c = "tfrt_test.format_string"(%b, %number) : (!tfrt.string, i32) -> !tfrt.string
  %d = "tfrt_test.append_string"(%a, %c) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  %c1 = "tfrt_test.print_string"(%d, %c0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %e = "tfrt_test.get_string"() { value = "caf\C3\A9 \FF\00\D8\C2" } : () -> !tfrt.string
  %same = "tfrt_test.string_equal"(%d, %e) : (!tfrt.string, !tfrt.string) -> i1
  tfrt.return %c1, %same : !tfrt.chain, i1
}

func @tensor() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = "tfrt_sht.create_tensor"() { shape = [2], values = ["text", "\FF\FE"] } : () -> !t.tensor
  %c1 = tfrt_dht.print_tensor %a, %c0
  tfrt.return %c1 : !tfrt.chain
}

func @no_text() -> !tfrt.string {
  %path = "tfrt_test.get_string"() { value = "no/\FF" } : () -> !tfrt.string
  // expected-error @+1 {{operand `path` of `tfrt_test.read_string_from_file`: expected UTF-8 text, found byte 0xff at offset 3}}
  %text = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  tfrt.return %text : !tfrt.string
}
