// Functions under the name that they got in 2022, in custom and generic form.
// RUN: tfrt run %s
// RUN: tfrt opt %s
// RUN: tfrt opt --func-dialect %s
// RUN: tfrt opt --func-dialect --mlir-print-op-generic %s
// RUN: tfrt opt --pass-pipeline=func.func(canonicalize) %s

func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}

func.func @custom() -> i32 {
  %a = tfrt.constant.i32 20
  %b = tfrt.call @native_add(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}

"func.func"() ({
  %a = "tfrt.constant.i32"() {value = 2 : i32} : () -> i32
  "tfrt.return"(%a) : (i32) -> ()
}) {function_type = () -> i32, sym_name = "generic", sym_visibility = "public"} : () -> ()
