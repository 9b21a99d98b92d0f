//! The guide page: programs over many tasks.
//!
//! # Tasks, jobs, clusters
//!
//! A *task* is a process that takes part. Tasks with the same purpose form a *job*, and the jobs
//! form the *cluster*. Task 1 of the job `worker` is called `/job:worker/task:1`, and its processor
//! `/job:worker/task:1/device:CPU:0`. All tasks are given the same cluster: the address of each
//! task, and the groups that work together.
//!
//! # Two tasks
//!
//! Every task runs a [`Server`](tfrt::distributed::Server). One of them, the client, creates a
//! *context* on all of them, and runs a program in it. Here both tasks are in one process. With two
//! processes, each creates its own server, and only the client runs the rest:
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::mpsc::channel;
//! use std::time::Duration;
//! use tfrt::distributed::fabric::CommunicatorType;
//! use tfrt::distributed::message::DistributedContextConfiguration;
//! use tfrt::distributed::{DistContext, Server, ServerConfig};
//! use tfrt::executor::Program;
//! use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//!
//! tfrt::link!(tfrt_kernels, tfrt_distributed_kernels, tfrt_grpc);
//!
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let new_host = || -> Result<_, Box<dyn std::error::Error>> {
//!     let queue = tfrt::queue::create_queue("mstd:2")?;
//!     Ok(HostContext::builder().registry(Arc::clone(&kernels)).queue(queue).build())
//! };
//! // Free ports of this machine; in earnest, "host-a:7001" and "host-b:7001".
//! let grpc = CommunicatorType::find("grpc_communicator").ok_or("`tfrt_grpc` is not linked")?;
//! let addresses = [(grpc.free_address)()?, (grpc.free_address)()?];
//! let cluster = DistributedContextConfiguration::local_cluster(&addresses);
//!
//! // The worker is complete with this.
//! let worker = Server::new(&new_host()?, ServerConfig::new("grpc_communicator", &addresses[1]))?;
//!
//! // The client may be started before the worker: it waits for a while.
//! let host = new_host()?;
//! let client = Server::new(&host, ServerConfig::new("grpc_communicator", &addresses[0]))?;
//! let (sender, initialized) = channel();
//! client.initialize_single_client(None, &cluster[0], move |outcome| sender.send(outcome).unwrap());
//! let context = initialized.recv_timeout(Duration::from_secs(60))??;
//!
//! // A program finds the context in its request.
//! let source = r#"
//!     func @main() -> (!tfrt.chain, !tfrt_dist.remote_object_id) {
//!       %ch = tfrt.new.chain
//!       %context = tfrt_dist.get_distributed_context
//!       %worker = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:1"}
//!       %there = tfrt_dist.register_tfrt_function (%ch, %context, %worker) "answer" "func @answer() -> i32 {\0A %x = tfrt.constant.i32 42\0A tfrt.return %x : i32\0A}"
//!       %spec = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:1/device:CPU:0"]}
//!       %done, %id = tfrt_dist.remote_execute [%there, %context, %worker, %spec] "answer" () : () -> !tfrt_dist.remote_object_id
//!       tfrt.return %done, %id : !tfrt.chain, !tfrt_dist.remote_object_id
//!     }
//! "#;
//! let file = tfrt::text::compile(source, "answer.mlir", &kernels)?;
//! let main = Program::load(&host, &file)?.function("main").ok_or("no function `main`")?;
//! let request = RequestContextBuilder::new(Arc::clone(&host))
//!     .context_data(DistContext::with_server(Arc::clone(&context), client))
//!     .build();
//! let ctx = ExecutionContext::new(request);
//! let results = main.execute(&ctx, &[]);
//! host.await_values(&results)?;
//!
//! // The number lives on the worker, under the id that the client has.
//! let id = results[1].as_result::<tfrt::distributed::RemoteObjectId>()?;
//! let there = worker.context(context.id())?.objects().get(id);
//! assert_eq!(there.get::<i32>(), Some(&42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Without `tfrt_grpc`, the communicator `in_process` connects tasks of one process, for tests.
//!
//! # Processes
//!
//! With `--features grpc`, the tool runs tasks as processes. On one machine, `tfrt launch` chooses
//! ports, passes all addresses to every task, and prefixes each line of output with the name of its
//! task. If a task fails, the launcher ends the others, and no task outlives the launcher:
//!
//! ```text
//! $ tfrt launch -n 2 -- tfrt run --distributed sum.mlir
//! [worker/0] --- Running 'main':
//! [worker/1] --- Running 'main':
//! [worker/0] DenseHostTensor dtype = i32, shape = [2], values = [2, 40]
//! …
//! ```
//!
//! Here every task runs the program, and finds the others by `tfrt_dist.get_distributed_context`;
//! all tasks are in the group `all`. On several machines, `srun`, `mpirun` or Kubernetes start
//! `tfrt run --distributed`, which finds its cluster in their environment, or in
//! `--cluster worker=host-a:7700,host-b:7700 --task 1`. The task that leads tells which tasks are
//! missing, whenever that changes, and after `--meeting-timeout` seconds all of them give up.
//!
//! `tfrt worker` is a task that only serves the requests of others. A run that is told where
//! workers are is their client, `/job:client/task:0`. These are two processes:
//!
//! ```text
//! $ tfrt worker --cluster worker=127.0.0.1:7700 --task 0
//! $ tfrt run --cluster worker=127.0.0.1:7700 program.mlir
//! ```
//!
//! The client may be started first: it waits for the workers. They may run on other machines, where
//! `--tls-cert` or `--insecure-network` lets them listen, and `--allow-programs=any` lets them take
//! programs that they do not know. Then the client listens at the address by which its machine
//! reaches the workers, or at `--listen`; its certificate names `/job:client/task:0`. Workers serve
//! one client after another; a client that is lost takes its contexts with it. If the cluster of a
//! worker has the client as the task that leads, as in
//! `--cluster client=host-a:7700 --cluster worker=host-b:7700`, the worker ends with the exit
//! status 3 when it loses the client.
//!
//! `tfrt run --spawn 2` starts two workers for one program. `tfrt cluster status`, `ping`,
//! `devices` and `programs` show the running tasks. Tasks of one user on one machine may have Unix
//! sockets as their addresses: `--cluster worker=unix:/run/tfrt/0,unix:/run/tfrt/1`.
//!
//! `tfrt launch --trace` records traces of all tasks and merges them into one file, with aligned
//! clocks and an arrow for each message; so does `tfrt trace` with `--spawn`. Tasks on several
//! machines write a trace each, with `tfrt trace` or `tfrt worker --trace`, and
//! `tfrt cluster trace` merges the files.
//!
//! ```text
//! $ tfrt launch -n 2 --trace sum.json -- tfrt run --distributed sum.mlir
//! ```
//!
//! # What programs do
//!
//! | to | use |
//! |---|---|
//! | run a function on another task | [`tfrt_dist.register_tfrt_function`, `tfrt_dist.remote_execute`](crate::remote) |
//! | move tensors between tasks | `corert.transfer` to a device of the cluster, or from it to `CPU:0` |
//! | run single operations there | `tfrt_dist.create_remote_op_handler`, and `corert.executeop` with that handler |
//! | send a tensor | [`tfrt_dist.serialize`, `tfrt_dist.send_bytes`](crate::payloads), and `recv_bytes`, `deserialize` at the other end |
//! | combine the tensors of a group | [`tfrt_dist.cpu.allreduce`, `reduce_scatter`, `broadcast`, `allgather`](crate::collectives) |
//!
//! The client creates the ids of remote objects itself. So it can send a request that uses a result
//! before the request that creates the result has been answered, and a long sequence of calls costs
//! one round trip. An object is deleted when the client drops the last copy of its id.
//!
//! Chains on another task order the effects there: pass the first result of one remote function to
//! the next one.
//!
//! # Training on several tasks
//!
//! Each task learns from its share of a batch, and an all-reduce adds the gradients up, so that the
//! weights stay the same on all tasks. From Rust, a task opens a group and gets a
//! [`GroupMember`](tfrt::distributed::collective::GroupMember), whose operations return values. If a
//! task dies, they become errors that name it. The survivors then
//! [regroup](tfrt::distributed::collective::regroup), restore a checkpoint, and go on:
//!
//! ```
//! # use std::error::Error;
//! # use std::sync::Arc;
//! # use std::sync::mpsc::channel;
//! # use std::time::Duration;
//! use tfrt::distributed::collective::{Collectives, Reduction, RingCollectives, regroup};
//! # use tfrt::distributed::fabric::CommunicatorType;
//! # use tfrt::distributed::message::DistributedContextConfiguration;
//! # use tfrt::distributed::{DistributedContext, Server, ServerConfig};
//! # use tfrt::prelude::*;
//! # use tfrt_tensor::DenseHostTensor;
//! # tfrt::link!(tfrt_grpc);
//! # fn main() -> Result<(), Box<dyn Error>> {
//! # let host = HostContext::builder().queue(tfrt::queue::create_queue("mstd:2")?).build();
//! # let grpc = CommunicatorType::find("grpc_communicator").ok_or("`tfrt_grpc` is not linked")?;
//! # let addresses = [(grpc.free_address)()?, (grpc.free_address)()?, (grpc.free_address)()?];
//! # let cluster = DistributedContextConfiguration::local_cluster(&addresses);
//! # let servers = addresses.map(|address| {
//! #     let config = ServerConfig { failure_timeout: Duration::from_secs(2), ..ServerConfig::new("grpc_communicator", address) };
//! #     Server::new(&host, config)
//! # });
//! # let [first, second, third] = servers;
//! # let servers = [first?, second?, third?];
//! # let (sender, initialized) = channel();
//! # for (server, config) in servers.iter().zip(&cluster) {
//! #     let sender = sender.clone();
//! #     server.initialize_multi_client(config, move |outcome| sender.send(outcome).unwrap());
//! # }
//! # let mut contexts: Vec<Arc<DistributedContext>> = Vec::new();
//! # for _ in &servers { contexts.push(initialized.recv_timeout(Duration::from_secs(60))??); }
//! # contexts.sort_by_key(|context| context.cluster().own_name());
//! // Here, three tasks share a process; in a real cluster, each process has only its own context.
//! let mut members = Vec::new();
//! for context in &contexts {
//!     members.push(RingCollectives.open("group1", context)?);
//! }
//! // The third task dies: the sum of the others is an error that names it.
//! servers[2].shut_down();
//! let gradient = DenseHostTensor::vector(&[0.5_f32, 1.5])?;
//! let sum = members[0].all_reduce("step 7", Reduction::Sum, gradient.clone(), gradient);
//! let error = host.await_values(&[sum.into()]).unwrap_err();
//! assert!(error.message().contains("/job:worker/task:2"));
//!
//! // The survivors agree on a group of their own.
//! let (sender, survivors) = channel();
//! for context in &contexts[..2] {
//!     let sender = sender.clone();
//!     regroup(context, "group1", move |group| sender.send(group).unwrap());
//! }
//! let group = survivors.recv_timeout(Duration::from_secs(60))??;
//! assert_eq!(group, "group1~2");
//! let mut sums = Vec::new();
//! for context in &contexts[..2] {
//!     let member = RingCollectives.open(&group, context)?;
//!     let gradient = DenseHostTensor::vector(&[0.5_f32, 1.5])?;
//!     sums.push((member.all_reduce("step 7", Reduction::Sum, gradient.clone(), gradient.clone()), gradient));
//! }
//! for (done, sum) in sums {
//!     host.await_values(&[done.into()])?;
//!     assert_eq!(*sum.elements::<f32>()?, [1.0, 3.0]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The example `learn_together` of `tfrt-models` trains a network that recognises digits on one,
//! two and four processes, and on four of which one is killed: all end with the same weights, up
//! to rounding.
//!
//! ## Back ends
//!
//! [`ServerConfig::collectives`](tfrt::distributed::ServerConfig) chooses how the members of a
//! group exchange tensors; `tfrt worker` and `tfrt run --distributed` have the flag
//! `--collectives`. All tasks must choose alike. The results have the same bits with each of them,
//! except where the table says otherwise.
//!
//! | name | crate | for |
//! |---|---|---|
//! | `ring` | none | any tasks: messages over their network; the default |
//! | `shm` | `tfrt-shm` | tasks of one machine and one user, on Linux: through shared memory |
//! | `tree` | none | small tensors, over the network: members reduce along a binomial tree |
//! | `recursive_doubling` | none | small tensors, over the network: partners exchange all elements, in the fewest steps |
//! | `mpi` | `tfrt-mpi` | ranks that `mpirun` has started; MPI is loaded at run time |
//! | `nccl` | `tfrt-nccl` | tasks with GPUs; NCCL is loaded at run time, and reduces in its own order |
//! | `auto` | | `shm` if it is linked and all addresses are of this machine, otherwise `ring` |
//!
//! `tree` and `recursive_doubling` use their algorithms for all-reduce, reduce-scatter and
//! barriers; everything else goes around the ring. They send all elements in each step, so they
//! suit small tensors, and combine elements in an order of their own: the last bits of
//! floating-point results may differ from those of the ring, but all members have equal bits. So a
//! group must allow it: `order = "any"` in the file of the cluster
//! ([`CollectiveGroupConfiguration::order`](tfrt::distributed::message::CollectiveGroupConfiguration)),
//! or `--any-order` if the cluster comes from flags or the environment. Other groups are refused.
//!
//! # When something fails
//!
//! - *A kernel on another task fails*: the error is the value of the object, and of everything that
//!   uses it.
//! - *An execution is lost* on its way: it is sent again, with a number, so it runs only once. A
//!   payload is not: its chain is an error.
//! - *A task dies*, or is cut off: the others notice within
//!   [`ServerConfig::failure_timeout`](tfrt::distributed::ServerConfig). Values that wait for the
//!   task become the error `task /job:worker/task:1 is lost: …`; everything else continues.
//!   Collectives of its groups fail on every member; the survivors can regroup. A lost task cannot
//!   rejoin: start it again, and create a new context.
//! - *A request is cancelled*: so are its executions on other tasks, and those that they have
//!   started on third ones. Unavailable results become errors.
//! - *A receiver is slow*: unclaimed payloads have a limit
//!   ([`ServerConfig::max_unclaimed_bytes`](tfrt::distributed::ServerConfig)), and those that are
//!   arriving count, too. Beyond it, a payload is refused before it arrives: its send stays
//!   pending, and it is sent again until there is room. One that a receiver waits for always
//!   arrives.
//! - *The client dies*: the others drop its context and everything in it.
//! - *A context is closed*: its requests are cancelled, waits become the error `Cancelled: context
//!   7 is closed`, and its objects are forgotten. Kernels that run, and answers under way, have
//!   [`ServerConfig::drain_timeout`](tfrt::distributed::ServerConfig) to end; then requests without
//!   an answer become the same error, and connections are cut. Debug builds warn of payloads that
//!   nobody has claimed, receivers without a payload, and objects that were not deleted; `tfrt
//!   cluster status` shows their numbers.
//!
//! # Other engines
//!
//! With `--features flight`, `tfrt worker --flight` and `tfrt run --distributed --flight` exchange
//! tensors with other engines over
//! [Arrow Flight](https://arrow.apache.org/docs/format/Flight.html), at the address of the task (`GrpcOptions::flight` of `tfrt-grpc`). A tensor is one record batch
//! with one row, whose column has the type `arrow.fixed_shape_tensor`. Its name is the path `[id of
//! the context, key]`: what an engine puts there, `tfrt_dist.recv_bytes` receives on this task, and
//! an engine gets what `tfrt_dist.send_bytes` sends to this task under the key. Each tensor is
//! received once.
//!
//! ```python
//! import numpy as np, pyarrow as pa, pyarrow.flight as flight
//!
//! client = flight.FlightClient("grpc://host-a:7700")
//! tensor = pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((1, 2, 3), np.float32))
//! batch = pa.record_batch([tensor], ["x"])  # one row, which is a tensor of the shape [2, 3]
//! writer, _ = client.do_put(flight.FlightDescriptor.for_path("7", "input"), batch.schema)
//! with writer:
//!     writer.write_batch(batch)
//! result = client.do_get(flight.Ticket(b"7/result")).read_all()  # waits for the tensor
//! ```
//!
//! `GetFlightInfo`, `GetSchema` and `ListFlights` describe the tensors that wait for a receiver. A
//! tensor is one message, so
//! [`GrpcOptions::max_message_bytes`](https://docs.rs/tfrt-grpc) limits its size. Elements are
//! integers, Booleans, or floating-point numbers with 16, 32 or 64 bits, except `bf16`, which Arrow
//! does not have. Callers need the credentials of the cluster: a token as the header
//! `authorization: Bearer TOKEN`, or the certificate of a task of the context.
//!
//! # Security
//!
//! Anyone who can connect to a task can run programs on it. So a task listens on loopback addresses
//! only, unless it has certificates ([`GrpcOptions::tls`](https://docs.rs/tfrt-grpc)), or
//! `GrpcOptions::allow_insecure_network` declares that the network is trusted.
//!
//! [`ServerConfig::programs`](tfrt::distributed::ServerConfig) limits the programs that others may
//! send. `tfrt worker` accepts any at a loopback address or a Unix socket, and elsewhere those of
//! `--program FILE`, unless `--allow-programs any` is given.
//!
//! With certificates, connections use TLS 1.3, and both ends prove their identity: the certificate
//! of task 1 has the URI `tfrt://CLUSTER/job/worker/task/1` among its subject alternative names,
//! and one authority signs those of all tasks. If the authority chooses other names, a file says
//! which task each of them is (`TaskNames`, `--tls-names FILE`). A task then accepts requests only
//! from its own cluster, creates contexts only for the task that requests them, and sends nothing
//! to a task other than the one in the configuration. Host names are not checked, so tasks may
//! move. A token (`GrpcOptions::token`) is a second secret, which all tasks share; without TLS, it
//! only protects against those who cannot read the network traffic.
//!
//! # Discovery of the cluster
//!
//! [`discover`](tfrt::distributed::discovery::discover) creates the configuration of a task from a
//! file, from flags, or from the environment of `srun`, `mpirun`, `torchrun`, Kubernetes or
//! TensorFlow's tools. It checks the configuration before anything connects.
//!
//! If the addresses are not known before the tasks start, the tasks find each other in a folder
//! that all of them share, or on an etcd server (with `--features etcd`). Each publishes its
//! address, and waits for the others:
//!
//! ```console
//! $ tfrt worker --cluster-folder /shared/run --cluster-size 4 --task 0 --listen node1:0
//! $ tfrt worker --cluster-etcd etcd:2379/run --cluster-size 4 --task 0 --listen node1:0
//! $ tfrt cluster status --cluster-folder /shared/run
//! ```
//!
//! `--cluster-size ps=1 --cluster-size worker=4` describes several jobs. With port 0, the system
//! chooses the port. Entries of an earlier run in the same place do no harm: a task takes an
//! address only from an entry whose process has seen its own
//! ([`Meeting`](tfrt::distributed::discovery::Meeting)). Entries on an etcd server belong to
//! leases, and disappear with their tasks.
