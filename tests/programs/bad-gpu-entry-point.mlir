// Options of passes that make no sense.
// RUN: tfrt opt --tfrt-set-entry-point %s
// RUN: tfrt opt --tfrt-set-entry-point=platform=APPLE %s
// RUN: tfrt opt --tfrt-set-entry-point=platform=CUDA %s
// RUN: tfrt opt '--tfrt-set-entry-point=platform=CUDA function_name=h' %s
// RUN: tfrt opt '--tfrt-set-entry-point=platform=CUDA function_name=f buffer_sizes=1,many' %s
// RUN: tfrt opt --tfrt-set-entry-point=platforms=CUDA %s
// RUN: tfrt opt --tfrt-set-entry-point=CUDA %s
// RUN: tfrt opt --pass-pipeline=tfrt-set-entry-point{platform=CUDA %s

func.func @f() {
  tfrt.return
}
func.func @g() {
  tfrt.return
}
