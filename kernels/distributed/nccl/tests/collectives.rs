//! The conformance suite over NCCL: over the host device, over the emulated library, and over the
//! library of the system if there is one; and members that fail.
//!
//! This binary also runs itself, with the emulated libraries in its path.

use std::env;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use tfrt_async::{AnyRef, AsyncValueRef, Chain};
use tfrt_distributed::collective::conformance::{Extent, run_without_order};
use tfrt_distributed::collective::{AllReduceKeepsInput, Collectives, GroupMember, Reduction};
use tfrt_distributed::fabric::CommunicatorType;
use tfrt_distributed::message::DistributedContextConfiguration;
use tfrt_distributed::{DistributedContext, RemoteError, Server, ServerConfig};
use tfrt_gpu::api::driver::CopyEndpoint;
use tfrt_gpu::eager::EagerGpu;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::{Gpu, GpuChoice};
use tfrt_gpu::values::{Buffer, GpuContext};
use tfrt_host::HostContext;
use tfrt_nccl::{DeviceCollectives, NcclCollectives};
use tfrt_queue::create_queue;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer};

/// The environment variable that makes this binary run the suite over the libraries in its path.
const MEMBERS_VARIABLE: &str = "TFRT_TEST_MEMBERS";

/// The time after which nothing is in progress any more that cannot end: far less than the patience
/// of the host device.
const BOUND: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    if let Ok(members) = env::var(MEMBERS_VARIABLE) {
        return match over_libraries(&members) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("failed: {}", error.message());
                ExitCode::FAILURE
            }
        };
    }
    let mut trials = vec![
        Trial::test("tensors_of_the_host_conform", tensors_of_the_host_conform),
        Trial::test("tensors_of_the_device_are_combined", || {
            Ok(tensors_of_the_device_are_combined()?)
        }),
        Trial::test("buffers_of_another_device_are_refused", || {
            Ok(buffers_of_another_device_are_refused()?)
        }),
        Trial::test(
            "tensors_of_the_host_are_copied_through_pinned_memory",
            || Ok(tensors_of_the_host_are_copied_through_pinned_memory()?),
        ),
        Trial::test("a_call_that_fails_ends_the_group", || {
            Ok(a_call_that_fails_ends_the_group()?)
        }),
        Trial::test("a_member_that_aborts_ends_the_others", || {
            Ok(a_member_that_aborts_ends_the_others()?)
        }),
        Trial::test("a_lost_member_ends_the_group", || {
            Ok(a_lost_member_ends_the_group()?)
        }),
        Trial::test("without_a_gpu_the_error_says_so", || {
            Ok(without_a_gpu_the_error_says_so()?)
        }),
    ];
    for members in ["1", "2"] {
        let name = format!("the_emulated_library_conforms_with_{members}_members");
        trials.push(Trial::test(name, || over_emulated_cuda(members)));
    }
    match over_nccl() {
        Ok(trial) => trials.push(trial),
        Err(why) => println!("skipped: NCCL of the system: {why}"),
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Tasks in this process, on one GPU implementation.
struct Cluster {
    host: Arc<HostContext>,
    contexts: Vec<Arc<DistributedContext>>,
    _servers: Vec<Arc<Server>>,
}

impl Cluster {
    fn new(size: usize, gpu: Option<Arc<Gpu>>) -> Result<Self, Error> {
        let queue = create_queue("mstd:2").map_err(Error::other)?;
        let host = HostContext::builder().queue(queue).build();
        if let Some(gpu) = gpu {
            Gpu::install(&host, gpu);
        }
        let in_process = CommunicatorType::find("in_process");
        let in_process = in_process.ok_or_else(|| Error::new("it is always linked"))?;
        let addresses = (0..size).map(|_| (in_process.free_address)());
        let addresses: Vec<String> = addresses.collect::<Result<_, _>>()?;
        let configs = DistributedContextConfiguration::local_cluster(&addresses);
        let servers = addresses
            .iter()
            .map(|address| Server::new(&host, ServerConfig::new("in_process", address)));
        let servers: Vec<Arc<Server>> = servers.collect::<Result<_, _>>()?;
        let (sender, done) = channel();
        servers[0].initialize_single_client(Some(1), &configs[0], move |outcome| {
            // This thread waits for it.
            let _ = sender.send(outcome);
        });
        let first = done.recv().map_err(Error::other)?;
        let first = first.map_err(|errors| errors.to_value(&host))?;
        let others = servers[1..].iter().map(|server| server.context(1));
        let others: Vec<_> = others
            .collect::<Result<_, _>>()
            .map_err(RemoteError::into_plain)?;
        Ok(Self {
            contexts: std::iter::once(first).chain(others).collect(),
            host,
            _servers: servers,
        })
    }

    fn members(&self) -> Result<Vec<Arc<dyn GroupMember>>, Error> {
        let contexts = self.contexts.iter();
        contexts
            .map(|context| NcclCollectives.open("group1", context))
            .collect()
    }

    /// Runs the suite with a thread for each member.
    fn conform(&self) -> Result<(), Error> {
        let members = self.members()?;
        let outcomes: Vec<Result<usize, Error>> = thread::scope(|scope| {
            let run = |member: &Arc<dyn GroupMember>| {
                run_without_order(&self.host, &**member, Extent::from_environment())
            };
            let running: Vec<_> = members
                .iter()
                .map(|member| scope.spawn(move || run(member)))
                .collect();
            let outcomes = running.into_iter().map(|one| {
                let joined = one.join();
                joined.unwrap_or_else(|_| Err(Error::new("a member panicked")))
            });
            outcomes.collect()
        });
        for outcome in outcomes {
            let count = outcome?;
            require(count > 500, "more than 500 operations", &count)?;
        }
        Ok(())
    }

    /// Waits for operations, and returns their errors.
    fn errors(&self, started: &[AsyncValueRef<Chain>]) -> Result<Vec<Option<String>>, Error> {
        let values: Vec<AnyRef> = started.iter().map(|done| done.clone().into()).collect();
        self.host.await_available(&values)?;
        let errors = values.iter().map(AnyRef::error_if_present);
        Ok(errors
            .map(|error| error.map(|error| error.message().to_owned()))
            .collect())
    }
}

fn require(holds: bool, expected: &str, found: &dyn std::fmt::Debug) -> Result<(), Error> {
    match holds {
        true => Ok(()),
        false => Err(Error::new(format!("expected {expected}, found {found:?}"))),
    }
}

/// Returns a host device, with calls that fail.
fn host_device(failures: &[(&str, u64, u32)]) -> Arc<HostDevice> {
    let failures = failures.iter();
    let failures = failures.map(|&(name, count, status)| (name.to_owned(), count, status));
    HostDevice::new(Options {
        num_devices: 8,
        failures: failures.collect(),
        ..Options::default()
    })
}

fn tensors_of_the_host_conform() -> Result<(), Failed> {
    for size in 1..=8 {
        let device = host_device(&[]);
        let cluster = Cluster::new(size, Some(HostDevice::gpu(&device)))?;
        AllReduceKeepsInput::set(&cluster.host, size.is_multiple_of(2));
        cluster.conform()?;
        drop(cluster);
        // Threads of members end soon after them.
        wait_until("nothing left on the device", || device.num_live() == 0)?;
    }
    Ok(())
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) -> Result<(), Error> {
    let end = Instant::now() + BOUND;
    while !holds() {
        if Instant::now() > end {
            return Err(Error::new(format!("expected {what} within {BOUND:?}")));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn all_reduce(member: &Arc<dyn GroupMember>, key: &str) -> Result<AsyncValueRef<Chain>, Error> {
    let tensor = DenseHostTensor::vector(&[1.0_f32; 10])?;
    Ok(member.all_reduce(key, Reduction::Sum, tensor.clone(), tensor))
}

fn a_call_that_fails_ends_the_group() -> Result<(), Error> {
    // The fourth call is that of a member in its second operation. The other members wait for it on
    // the device.
    let device = host_device(&[("ncclGroupEnd", 4, 2)]);
    let cluster = Cluster::new(3, Some(HostDevice::gpu(&device)))?;
    let members = cluster.members()?;
    let start = Instant::now();
    for (key, fails) in [("first", false), ("second", true), ("third", true)] {
        let started = members.iter().map(|member| all_reduce(member, key));
        let started: Vec<_> = started.collect::<Result<_, _>>()?;
        let errors = cluster.errors(&started)?;
        for error in &errors {
            let expected = fails.then_some("'ncclGroupEnd()': ncclSystemError");
            require(
                error.as_deref() == expected,
                &format!("{expected:?} in the {key} operation"),
                &errors,
            )?;
        }
    }
    require(start.elapsed() < BOUND, "errors soon", &start.elapsed())?;
    drop(members);
    // Opened again, the group works.
    let members = cluster.members()?;
    let started = members.iter().map(|member| all_reduce(member, "first"));
    let started: Vec<_> = started.collect::<Result<_, _>>()?;
    let errors = cluster.errors(&started)?;
    require(errors.iter().all(Option::is_none), "no error", &errors)
}

fn tensors_of_the_host_are_copied_through_pinned_memory() -> Result<(), Error> {
    // Copies of pageable memory would wait for the other members, and nothing could abort them.
    let device = host_device(&[("cuMemHostAlloc", 1, 2)]);
    let cluster = Cluster::new(1, Some(HostDevice::gpu(&device)))?;
    let members = cluster.members()?;
    let errors = cluster.errors(&[all_reduce(&members[0], "k")?])?;
    let is_refused = |error: &Option<String>| {
        let error = error.as_deref();
        error.is_some_and(|error| error.contains("cuMemHostAlloc"))
    };
    require(errors.iter().all(is_refused), "no memory", &errors)?;
    drop(members);
    // Blocks are used again.
    let device = host_device(&[("cuMemHostAlloc", 3, 2)]);
    let cluster = Cluster::new(1, Some(HostDevice::gpu(&device)))?;
    let members = cluster.members()?;
    for _ in 0..10 {
        let errors = cluster.errors(&[all_reduce(&members[0], "k")?])?;
        require(errors.iter().all(Option::is_none), "no error", &errors)?;
    }
    Ok(())
}

fn buffers_of_another_device_are_refused() -> Result<(), Error> {
    let gpu = HostDevice::gpu(&host_device(&[]));
    let cluster = Cluster::new(1, Some(Arc::clone(&gpu)))?;
    let on_device = |ordinal: i32| -> Result<Device, Error> {
        Ok(Device {
            gpu: EagerGpu::open(&gpu, ordinal)?,
            group: DeviceCollectives::open("group1", &cluster.contexts[0])?,
            host: Arc::clone(&cluster.host),
        })
    };
    let own = on_device(0)?;
    let other = EagerGpu::open(&gpu, 3)?;
    let here = own.upload(&[1, 2])?;
    let there = other.allocator().allocate(8, other.stream())?;
    let beside = GpuContext::create(own.gpu.context().device())?;
    let beside = Buffer::pinned(&beside, 8)?;
    let (on_own, on_other) = (own.gpu.stream(), other.stream());
    let elsewhere = "on device 3 (CUDA)";
    for (what, buffers, stream, found) in [
        ("input", (&there, &here), on_own, elsewhere),
        ("output", (&here, &there), on_own, elsewhere),
        ("stream", (&here, &here), on_other, elsewhere),
        (
            "input",
            (&beside, &here),
            on_own,
            "in another context of it",
        ),
    ] {
        let group = &own.group;
        let refused = group.all_reduce(what, Reduction::Sum, DType::I32, buffers, stream);
        let error = refused.error_if_present();
        let error = error.map(|error| error.message().to_owned());
        let expected = format!(
            "expected the {what} in the primary context of device 0 (CUDA), found it {found}"
        );
        require(error.as_ref() == Some(&expected), &expected, &error)?;
    }
    let sum = own
        .group
        .all_reduce("k", Reduction::Sum, DType::I32, (&here, &here), on_own);
    let errors = cluster.errors(&[sum])?;
    require(errors == [None], "no error", &errors)
}

fn a_member_that_aborts_ends_the_others() -> Result<(), Error> {
    let device = host_device(&[]);
    let cluster = Cluster::new(3, Some(HostDevice::gpu(&device)))?;
    let members = cluster.members()?;
    // The others wait for an operation that member 2 does not start.
    let started = members[..2].iter().map(|member| all_reduce(member, "k"));
    let started: Vec<_> = started.collect::<Result<_, _>>()?;
    members[2].abort(&Error::new("member 2 has had enough"));
    let errors = cluster.errors(&started)?;
    let expected = Some("member 2 has had enough".to_owned());
    require(
        errors == vec![expected; 2],
        "the error of member 2",
        &errors,
    )?;
    drop(members);
    drop(cluster);
    wait_until("nothing left on the device", || device.num_live() == 0)
}

fn a_lost_member_ends_the_group() -> Result<(), Error> {
    let device = host_device(&[]);
    let cluster = Cluster::new(2, Some(HostDevice::gpu(&device)))?;
    // Member 1 never opens the group: member 0 waits for its rank.
    let context = &cluster.contexts[0];
    let member = NcclCollectives.open("group1", context)?;
    let started = all_reduce(&member, "k")?;
    let lost = context.group("group1").map_err(RemoteError::into_plain)?[1];
    let cause = RemoteError::new(ErrorCode::Unavailable, "the task is lost");
    for callback in context.health().mark_lost(lost, cause) {
        callback();
    }
    let errors = cluster.errors(&[started])?;
    let is_loss = |error: &Option<String>| {
        let error = error.as_deref();
        error.is_some_and(|error| error.contains("the task is lost"))
    };
    require(errors.iter().all(is_loss), "the loss", &errors)?;
    drop(member);
    drop(cluster);
    wait_until("nothing left on the device", || device.num_live() == 0)
}

fn without_a_gpu_the_error_says_so() -> Result<(), Error> {
    if Gpu::open(GpuChoice::Cuda).is_ok() {
        println!("skipped: there is a GPU");
        return Ok(());
    }
    let cluster = Cluster::new(1, None)?;
    match NcclCollectives.open("group1", &cluster.contexts[0]) {
        Err(error) => require(
            error.message().starts_with("no GPU: "),
            "a missing GPU",
            &error,
        ),
        Ok(member) => Err(Error::new(format!("expected an error, found {member:?}"))),
    }
}

/// A member, and what it computes with.
struct Device {
    gpu: EagerGpu,
    group: DeviceCollectives,
    host: Arc<HostContext>,
}

impl Device {
    /// Enqueues a copy to new memory of the device.
    fn upload(&self, elements: &[i32]) -> Result<Buffer, Error> {
        let source = HostBuffer::copied(self.host.allocator(), elements)?;
        let buffer = self
            .gpu
            .allocator()
            .allocate(source.len_bytes(), self.gpu.stream())?;
        let current = self.gpu.context().set_current()?;
        self.gpu.context().gpu().driver.copy_async(
            &current,
            &CopyEndpoint::Device(buffer.pointer()),
            &CopyEndpoint::Host(source),
            buffer.num_bytes(),
            self.gpu.stream().handle(),
        )?;
        Ok(buffer)
    }

    /// Copies memory of the device, after the work of the stream.
    fn download(&self, buffer: &Buffer) -> Result<Vec<i32>, Error> {
        let target = HostBuffer::zeroed(self.host.allocator(), buffer.num_bytes(), 64)?;
        let current = self.gpu.context().set_current()?;
        self.gpu.context().gpu().driver.copy_async(
            &current,
            &CopyEndpoint::Host(target.clone()),
            &CopyEndpoint::Device(buffer.pointer()),
            buffer.num_bytes(),
            self.gpu.stream().handle(),
        )?;
        self.gpu.stream().synchronize()?;
        Ok(target.elements::<i32>()?.to_vec())
    }
}

fn tensors_of_the_device_are_combined() -> Result<(), Error> {
    const SIZE: usize = 3;
    let device = host_device(&[]);
    let gpu = HostDevice::gpu(&device);
    let cluster = Cluster::new(SIZE, Some(Arc::clone(&gpu)))?;
    let devices = cluster.contexts.iter().enumerate().map(|(index, context)| {
        Ok(Device {
            gpu: EagerGpu::open(&gpu, index as i32)?,
            group: DeviceCollectives::open("group1", context)?,
            host: Arc::clone(&cluster.host),
        })
    });
    let devices: Vec<Device> = devices.collect::<Result<_, Error>>()?;
    // Operations follow the copies to their inputs, and precede those of their outputs.
    let (mut chains, mut buffers) = (Vec::new(), Vec::new());
    for (index, device) in devices.iter().enumerate() {
        let (group, stream) = (&device.group, device.gpu.stream());
        let own = 10_i32.pow(index as u32);
        let input = device.upload(&[own, 2 * own, 3 * own])?;
        let sum = device.upload(&[0; 3])?;
        let gathered = device.upload(&[0; 3 * SIZE])?;
        let scattered = device.upload(&[0])?;
        let shared = device.upload(&[index as i32; 4])?;
        chains.extend([
            group.all_reduce("sum", Reduction::Sum, DType::I32, (&input, &sum), stream),
            group.all_gather("all", (&input, &gathered), stream),
            group.reduce_scatter(
                "part",
                Reduction::Max,
                DType::I32,
                (&input, &scattered),
                stream,
            ),
            group.broadcast("one", 1, &shared, stream),
        ]);
        buffers.push([sum, gathered, scattered, shared]);
    }
    let errors = cluster.errors(&chains)?;
    require(errors.iter().all(Option::is_none), "no error", &errors)?;
    for (index, (device, buffers)) in devices.iter().zip(&buffers).enumerate() {
        let found: Result<Vec<_>, _> = buffers.iter().map(|one| device.download(one)).collect();
        let found = found?;
        let expected = [
            vec![111, 222, 333],
            vec![1, 2, 3, 10, 20, 30, 100, 200, 300],
            vec![100 * (index as i32 + 1)],
            vec![1; 4],
        ];
        require(found == expected, &format!("{expected:?}"), &found)?;
    }
    // What a member refuses fails on all, and the group goes on.
    let [first, ..] = &devices[..] else {
        return Err(Error::new("there are members"));
    };
    let short = first.upload(&[0])?;
    let refused = devices.iter().zip(&buffers).enumerate();
    let refused = refused.map(|(index, (device, [sum, ..]))| {
        let output = if index == 0 { &short } else { sum };
        let stream = device.gpu.stream();
        let group = &device.group;
        group.all_reduce("bad", Reduction::Sum, DType::I32, (sum, output), stream)
    });
    let refused: Vec<_> = refused.collect();
    let errors = cluster.errors(&refused)?;
    let expected = Some("expected 12 bytes as output, found 4".to_owned());
    require(errors == vec![expected; SIZE], "the refusal", &errors)?;
    let [sum, ..] = &buffers[0];
    let stream = first.gpu.stream();
    for (reduction, dtype, expected) in [
        (
            Reduction::Mean,
            DType::I32,
            "expected `sum`, `prod`, `min` or `max` of device memory, found the reduction `mean`",
        ),
        (
            Reduction::Sum,
            DType::I16,
            "expected elements that NCCL reduces, found i16",
        ),
        (
            Reduction::Sum,
            DType::I64,
            "expected whole elements of type i64, found 12 bytes",
        ),
    ] {
        let group = &first.group;
        let refused = group.all_reduce("worse", reduction, dtype, (sum, sum), stream);
        let error = refused
            .error_if_present()
            .map(|error| error.message().to_owned());
        require(error.as_deref() == Some(expected), expected, &error)?;
    }
    Ok(())
}

/// Runs the suite over the libraries of CUDA.
fn over_libraries(members: &str) -> Result<(), Error> {
    let size = members.parse().map_err(Error::other)?;
    Cluster::new(size, Some(Gpu::open(GpuChoice::Cuda)?))?.conform()
}

/// Runs the suite in a child, over the emulated libraries.
fn over_emulated_cuda(members: &str) -> Result<(), Failed> {
    let folder = env::temp_dir().join(format!("tfrt-nccl-{}", std::process::id()));
    tfrt_emulated_cuda::install(&folder)?;
    let mut child = Command::new(env::current_exe()?)
        .env(MEMBERS_VARIABLE, members)
        .env("LD_LIBRARY_PATH", &folder)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    // Its end closes the pipe, and the host device waits for nothing longer than half a minute.
    let mut printed = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        std::io::Read::read_to_string(&mut stderr, &mut printed)?;
    }
    let status = child.wait()?;
    match status.success() && !printed.contains("emulated CUDA:") {
        true => Ok(()),
        false => Err(format!("{status}: {printed}").into()),
    }
}

/// Returns a trial over the NCCL of the system, or the reason why there is none.
fn over_nccl() -> Result<Trial, String> {
    let gpu = Gpu::open(GpuChoice::Cuda).map_err(|error| error.message().to_owned())?;
    let count = gpu.driver.init().and_then(|()| gpu.driver.device_count());
    let count = count.map_err(|error| error.to_string())?;
    gpu.ccl.unique_id().map_err(|error| error.to_string())?;
    let members = count.clamp(1, 8).to_string();
    Ok(Trial::test(
        "nccl_conforms_on_the_devices_of_the_system",
        move || Ok(over_libraries(&members)?),
    ))
}
