// An error is a value: it reaches what depends on it and nothing else, and the comment expects it.
// RUN: tfrt run %s
// RUN: tfrt run --print_error_code %s

func @division() -> (i32, i32) {
  %eight = tfrt.constant.i32 8
  %zero = tfrt.constant.i32 0
  %quotient, %remainder = tfrt.div.i32 %eight, %zero // expected-error {{Divide by zero}}
  %sum = tfrt.add.i32 %quotient, %eight
  tfrt.return %eight, %sum : i32, i32
}
