// RUN: tfrt opt --tfrt-print-stream --canonicalize %s
// RUN: tfrt opt --canonicalize --tfrt-print-stream --verify-each=false %s
// RUN: tfrt opt --pass-pipeline=func(canonicalize,tfrt-print-stream),inline %s
// RUN: tfrt opt --pass-pipeline=inline,canonicalise %s
// RUN: tfrt opt --inline --pass-pipeline=func(inline) %s

func @f(%x: i32) -> i32 {
  %unused = tfrt.add.i32 %x, %x
  tfrt.return %x : i32
}
