// What the command line says of mistakes in itself.
// RUN: tfrt run --functions=nobody %s
// RUN: tfrt run --work_queue_type=nonsense %s
// RUN: tfrt run no-such-file.mlir
// RUN: tfrt translate %s
// RUN: tfrt opt --pass-pipeline=canonicalise %s
// RUN: tfrt graph --function=nobody %s
// RUN: tfrt ops tfrt.ad.i32

func @main() {
  tfrt.return
}
