// A worker computes and prints a number: `tfrt run --cluster worker=HOST:PORT answer.mlir`.

func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %context = tfrt_dist.get_distributed_context
  %worker = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}

  // The worker receives this function, and runs it.
  %there = tfrt_dist.register_tfrt_function (%ch, %context, %worker) "answer" "func @answer() -> !tfrt.chain {\0A %ch = tfrt.new.chain\0A %x = tfrt.constant.i32 42\0A %printed = tfrt.print.i32 %x, %ch\0A tfrt.return %printed : !tfrt.chain\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %done, %id = tfrt_dist.remote_execute [%there, %context, %worker, %spec] "answer" () : () -> !tfrt_dist.remote_object_id
  tfrt.return %done : !tfrt.chain
}
