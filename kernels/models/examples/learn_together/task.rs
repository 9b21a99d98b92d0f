//! One of the tasks that learn together.
//!
//! In every step, each task computes the gradient of its share of the batch. An all-reduce adds the
//! gradients up, so that all tasks change their weights in the same way. If a task is lost, the
//! all-reduce fails on the others. They regroup, and go on from the last checkpoint of the first
//! survivor; the shares of the batches become larger.

use std::env;
use std::fs;
use std::io::stdin;
use std::net::TcpListener;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::distributed::collective::{
    Collectives, GroupMember, Reduction, RingCollectives, regroup,
};
use tfrt::distributed::discovery::{ALL_TASKS, Told, discover};
use tfrt::distributed::{DistributedContext, Server, ServerConfig};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_kernels::ops::element_wise::{mul, relu, sub};
use tfrt_kernels::ops::gradients::{relu_grad, sparse_softmax_cross_entropy};
use tfrt_kernels::ops::{layout::reshape, products::matmul, reductions::argmax};
use tfrt_models::random::Random;
use tfrt_tensor::file::{FileFormat, NamedTensor};
use tfrt_tensor::{DenseHostTensor, HostBuffer};

/// How much is learned.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// The number of batches.
    pub num_steps: i64,
    /// The number of digits in a step, which the tasks share.
    pub batch_len: i64,
    /// The number of neurons between the pixels and the ten outputs.
    pub num_hidden: i64,
    /// The number of digits that the network is tested with.
    pub num_tests: i64,
    /// The number of steps from one checkpoint to the next.
    pub steps_per_checkpoint: i64,
}

/// The folder of the checkpoints.
pub const FOLDER_VARIABLE: &str = "LEARN_TOGETHER_FOLDER";

/// The step in which the task waits to be killed, if it is not negative.
pub const HALT_VARIABLE: &str = "LEARN_TOGETHER_HALT";

/// The number of steps, if it is not that of the lesson.
pub const STEPS_VARIABLE: &str = "LEARN_TOGETHER_STEPS";

/// How long a task waits to be killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A task that was silent for this long counts as lost.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns `true` if this process is a task of a cluster.
pub fn is_one() -> bool {
    env::var_os("TFRT_TASK").is_some()
}

/// Joins the cluster that the environment describes, and learns.
pub fn run(mut lesson: Lesson) -> Result<()> {
    let variable = |name: &str| env::var(name).ok();
    if let Some(num_steps) = variable(STEPS_VARIABLE) {
        lesson.num_steps = num_steps.parse().map_err(Error::other)?;
    }
    let config = discover(&Told::default(), &variable).map_err(Error::other)?;
    if variable("TFRT_LISTENER").is_some() {
        // The launcher has opened the socket, so that nobody else takes the port.
        let listener = stdin().as_fd().try_clone_to_owned()?;
        tfrt_grpc::adopt(TcpListener::from(listener))?;
    }
    let registry = KernelRegistry::from_link().map_err(Error::other)?;
    let host = HostContext::builder()
        .registry(registry.into())
        .queue(create_queue("mstd:2").map_err(Error::other)?)
        .build();
    let address = config.own_address().unwrap_or_default();
    let server_config = ServerConfig {
        failure_timeout: FAILURE_TIMEOUT,
        ..ServerConfig::new(tfrt_grpc::TYPE_NAME, address)
    };
    let server = Server::new(&host, server_config)?;
    let context = wait(&host, |done| {
        let host = Arc::clone(&host);
        server.initialize_multi_client(&config, move |joined| {
            done(joined.map_err(|errors| errors.to_value(&host)));
        });
    })?;
    let folder = variable(FOLDER_VARIABLE).map_or_else(env::temp_dir, PathBuf::from);
    let checkpoint = folder.join(format!("task-{}.safetensors", config.task_id));
    let mut learner = Learner::new(lesson, context, checkpoint)?;
    learner.halt = variable(HALT_VARIABLE).and_then(|step| step.parse().ok());
    let num_right = loop {
        match learner.learn() {
            Ok(num_right) => break num_right,
            Err(error) => learner.go_on_without_the_lost(error)?,
        }
    };
    println!(
        "{num_right} of {} unseen digits are recognised",
        lesson.num_tests
    );
    // Those who left would be lost to the others. Whoever is lost now is not needed any more.
    let end = learner.member.barrier("end");
    let _ = host.await_available(&[end.into()]);
    Ok(())
}

/// Waits for a result that is passed to a callback.
fn wait<T: Send + 'static>(
    host: &HostContext,
    start: impl FnOnce(Box<dyn FnOnce(Result<T>) + Send>),
) -> Result<T> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let (promise, done) = AsyncValueRef::<Chain>::unconstructed();
    start(Box::new(move |result| {
        // The receiver is there until the chain is ready.
        let _ = sender.send(result);
        promise.emplace(Chain);
    }));
    host.await_values(&[done.into()])?;
    receiver.recv().map_err(Error::other)?
}

/// A network of two layers, which learns together with others.
struct Learner {
    lesson: Lesson,
    context: Arc<DistributedContext>,
    member: Arc<dyn GroupMember>,
    group: String,
    checkpoint: PathBuf,
    eager: Arc<EagerContext>,
    first: TensorHandle,
    second: TensorHandle,
    rate: TensorHandle,
    /// The number of steps that were learned.
    step: i64,
    /// Whether the weights have to come from a checkpoint first.
    must_restore: bool,
    /// The step in which the task waits to be killed.
    halt: Option<i64>,
}

impl Learner {
    fn new(lesson: Lesson, context: Arc<DistributedContext>, checkpoint: PathBuf) -> Result<Self> {
        let eager = EagerContext::builder(Arc::clone(context.host())).build()?;
        // The same numbers on all tasks.
        let weights = |rows: i64, columns: i64, bound: f32| {
            let mut random = Random::new(rows.unsigned_abs(), 0);
            let numbers = (0..rows * columns).map(|_| random.between(-bound, bound));
            let numbers = eager.tensor(numbers.collect::<Vec<f32>>())?;
            reshape(&eager, &numbers, &eager.tensor([rows, columns])?)
        };
        Ok(Self {
            first: weights(784, lesson.num_hidden, 0.08)?,
            second: weights(lesson.num_hidden, 10, 0.2)?,
            rate: eager.tensor(0.256 / lesson.batch_len as f32)?,
            member: RingCollectives.open(ALL_TASKS, &context)?,
            group: ALL_TASKS.to_owned(),
            lesson,
            context,
            checkpoint,
            eager,
            step: 0,
            must_restore: false,
            halt: None,
        })
    }

    /// Learns the steps that are left, and returns how many unseen digits are recognised.
    fn learn(&mut self) -> Result<i64> {
        if self.must_restore {
            self.restore()?;
        }
        while self.step < self.lesson.num_steps {
            if self.step % self.lesson.steps_per_checkpoint == 0 {
                self.save()?;
                println!("step {}", self.step);
            }
            if Some(self.step) == self.halt {
                std::thread::sleep(PATIENCE);
                return Err(Error::new("expected to be killed"));
            }
            self.learn_batch()?;
            self.step += 1;
        }
        self.save()?;
        self.test()
    }

    /// Returns the share of this task in a number of digits.
    fn share(&self, count: i64) -> Range<i64> {
        let (index, size) = (self.member.index() as i64, self.member.size() as i64);
        index * count / size..(index + 1) * count / size
    }

    fn digits(&self, range: &Range<i64>, seed: i64) -> Result<[TensorHandle; 2]> {
        let draw = self.eager.op("digits.Draw")?.attr("first", range.start)?;
        let draw = draw
            .attr("count", range.end - range.start)?
            .attr("seed", seed)?;
        draw.results(2).ready()?.call_array(&[])
    }

    fn product(
        &self,
        a: &TensorHandle,
        b: &TensorHandle,
        turned: [bool; 2],
    ) -> Result<TensorHandle> {
        matmul(&self.eager, a, b, Some(turned[0]), Some(turned[1]))
    }

    fn learn_batch(&mut self) -> Result<()> {
        let eager = &self.eager;
        let start = self.step * self.lesson.batch_len;
        let share = self.share(self.lesson.batch_len);
        let [images, labels] = self.digits(&(start + share.start..start + share.end), 1)?;
        let hidden = relu(eager, &self.product(&images, &self.first, [false, false])?)?;
        let guesses = self.product(&hidden, &self.second, [false, false])?;
        let [_, slope] = sparse_softmax_cross_entropy(eager, &guesses, &labels)?;
        let back = self.product(&slope, &self.second, [false, true])?;
        let back = relu_grad(eager, &back, &hidden)?;
        let gradients = [
            self.product(&images, &back, [true, false])?,
            self.product(&hidden, &slope, [true, false])?,
        ];
        self.add_up(&gradients)?;
        let [first, second] = &gradients;
        self.first = sub(eager, &self.first, &mul(eager, first, &self.rate)?)?;
        self.second = sub(eager, &self.second, &mul(eager, second, &self.rate)?)?;
        Ok(())
    }

    /// Adds up the gradients of all tasks, in place.
    fn add_up(&self, gradients: &[TensorHandle]) -> Result<()> {
        let mut sums: Vec<AnyRef> = Vec::new();
        for (number, gradient) in gradients.iter().enumerate() {
            let (tensor, key) = (self.dense(gradient)?, format!("{}.{number}", self.step));
            let sum = self
                .member
                .all_reduce(&key, Reduction::Sum, tensor.clone(), tensor);
            sums.push(sum.into());
        }
        self.context.host().await_values(&sums)
    }

    fn dense(&self, handle: &TensorHandle) -> Result<DenseHostTensor> {
        let tensor = self.eager.wait(handle)?.try_read::<DenseHostTensor>();
        Ok(tensor.map_err(Error::other)?.clone())
    }

    fn test(&self) -> Result<i64> {
        let eager = &self.eager;
        let [images, labels] = self.digits(&self.share(self.lesson.num_tests), 2)?;
        let hidden = relu(eager, &self.product(&images, &self.first, [false, false])?)?;
        let guesses = self.product(&hidden, &self.second, [false, false])?;
        let guesses = argmax(eager, &guesses, &eager.tensor(1)?, Some(DType::I32))?;
        let (guesses, labels) = (
            eager.to_vec::<i32>(&guesses)?,
            eager.to_vec::<i32>(&labels)?,
        );
        let num_right = guesses.iter().zip(&labels).filter(|(a, b)| a == b).count();
        let all = DenseHostTensor::vector(&[num_right as i64])?;
        let sum = self
            .member
            .all_reduce("right", Reduction::Sum, all.clone(), all.clone());
        self.context.host().await_values(&[sum.into()])?;
        Ok(all.elements::<i64>()?[0])
    }

    /// Writes the weights, after the step that all tasks have learned.
    fn save(&self) -> Result<()> {
        let tensors = [
            NamedTensor::new("first", self.dense(&self.first)?),
            NamedTensor::new("second", self.dense(&self.second)?),
            NamedTensor::new("step", DenseHostTensor::vector(&[self.step])?),
        ];
        let bytes = FileFormat::Safetensors
            .write(&tensors)
            .map_err(Error::other)?;
        // Nobody sees a part of a file.
        let unfinished = self.checkpoint.with_extension("unfinished");
        fs::write(&unfinished, bytes)?;
        Ok(fs::rename(&unfinished, &self.checkpoint)?)
    }

    /// Makes a group of the survivors.
    fn go_on_without_the_lost(&mut self, error: Error) -> Result<()> {
        println!("in step {}: {}", self.step, error.message());
        let host = self.context.host();
        let group = wait(host, |done| regroup(&self.context, &self.group, done))?;
        if group == self.group {
            // Nobody is lost: there is another reason, and it would come again.
            return Err(error);
        }
        self.member = RingCollectives.open(&group, &self.context)?;
        self.group = group;
        self.must_restore = true;
        Ok(())
    }

    /// Restores the last checkpoint of the first member.
    fn restore(&mut self) -> Result<()> {
        let host = Arc::clone(self.context.host());
        let [first, second] = [self.dense(&self.first)?, self.dense(&self.second)?];
        let mut restored = [first, second, DenseHostTensor::vector(&[0_i64])?];
        if self.member.index() == 0 {
            restored = read(&self.checkpoint, host.allocator())?;
        }
        let keys = ["restore first", "restore second", "restore step"];
        let sent = keys.into_iter().zip(&restored);
        let sent = sent.map(|(key, tensor)| self.member.broadcast(key, tensor.clone(), 0).into());
        host.await_values(&sent.collect::<Vec<AnyRef>>())?;
        let [first, second, step] = restored;
        self.step = step.elements::<i64>()?[0];
        self.first = self.eager.tensor(first)?;
        self.second = self.eager.tensor(second)?;
        self.must_restore = false;
        println!("{} tasks go on with step {}", self.member.size(), self.step);
        Ok(())
    }
}

/// Reads the weights of a checkpoint, and the number of steps that they come from.
pub fn read(
    checkpoint: &Path,
    allocator: &Arc<dyn tfrt::host::allocator::HostAllocator>,
) -> Result<[DenseHostTensor; 3]> {
    let file = HostBuffer::from_owner(fs::read(checkpoint)?)?;
    let tensors = FileFormat::Safetensors
        .read(&file, allocator)
        .map_err(Error::other)?;
    let find = |name: &str| -> Result<DenseHostTensor> {
        let named = tensors.iter().find(|tensor| tensor.name == name);
        let tensor: Option<&DenseHostTensor> = named.and_then(|named| named.tensor.downcast_ref());
        let tensor = tensor.ok_or_else(|| Error::new(format!("no tensor `{name}`")))?;
        Ok(tensor.copied(allocator)?)
    };
    Ok([find("first")?, find("second")?, find("step")?])
}
