// Names and files that were nearly right: the message says what was probably meant.
// RUN: tfrt run --functions=mian %s
// RUN: tfrt run --work_queue_type=mtsd:2 %s
// RUN: tfrt ops tfrt_tutorial.
// RUN: tfrt translate --bef-to-mlir %s
// RUN: tfrt translate --mlir-to-bef ../golden/host/01-empty.bef

func @main() {
  tfrt.return
}
