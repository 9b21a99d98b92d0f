// The smallest program that prints. Text, BEF and standard input are all the same to `tfrt run`.
// RUN: tfrt run %s
// RUN: tfrt run --work_queue_type=mstd:2 --host_allocator_type=malloc %s
// RUN: tfrt run -functions hello -print_error_code %s

func @hello() {
  %ready = tfrt.new.chain
  %done = "tfrt_test.print_hello"(%ready) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}
