//! The collectives of tensors in host memory, as transfers of an engine.

use std::ops::Range;
use std::sync::Arc;

use half::{bf16, f16};
use tfrt_async::{AsyncValueRef, Chain, Value};
use tfrt_host::HostContext;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Element, HostBuffer, Shape};

use super::super::all_gather::{Layout, check_axis};
use super::super::back_end::check_position;
use super::super::direct::MemberPlace;
use super::super::split::{chunk, chunk_bytes};
use super::super::{GroupMember, Reducible, Reduction, checks, write_all, writes_input};
use super::agreement::{Agreed, Announcement};
use super::member::LockstepMember;
use super::{Combine, Engine, Transfer, TransferKind};

/// An operation that can start as soon as all members have agreed on it.
struct Prepared<T> {
    announcement: Announcement,
    plan: Planning<T>,
}

/// Plans an operation once all members have agreed on it.
type Planning<T> = Box<dyn FnOnce(&Agreed) -> Result<Plan<T>, Error> + Send>;

/// What remains of an operation.
enum Plan<T> {
    /// Nothing is transferred.
    Done(T),
    /// The operation fails, for a reason that all members find.
    Refused(Error),
    Transfer {
        kind: TransferKind,
        input: HostBuffer,
        output: HostBuffer,
        /// Makes the result from the output.
        finish: Box<dyn FnOnce(HostBuffer) -> Result<T, Error> + Send>,
    },
}

impl<T> Prepared<T> {
    /// Returns an operation that does not depend on what the others announce.
    fn new(announcement: Announcement, plan: Plan<T>) -> Self
    where
        Plan<T>: Send + 'static,
    {
        Self {
            announcement,
            plan: Box::new(|_| Ok(plan)),
        }
    }
}

impl LockstepMember {
    /// Starts an operation, unless it cannot be prepared. The others are then told.
    fn start<T: Value>(&self, key: &str, prepared: Result<Prepared<T>, Error>) -> AsyncValueRef<T> {
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let error = self.refuse(key, &error).err().unwrap_or(error);
                return AsyncValueRef::error(error);
            }
        };
        let (promise, value) = AsyncValueRef::unconstructed();
        let resolve = |outcome: Result<T, Error>| match outcome {
            Ok(result) => promise.emplace(result),
            Err(error) => promise.set_error(error),
        };
        let Prepared { announcement, plan } = prepared;
        // Waiters run on the work queue.
        let (later, engine) = (self.later(), self.engine().cloned());
        self.take_turn(key, &announcement, move |turn| {
            let planned = turn.and_then(|turn| match plan(&turn.agreed) {
                Ok(plan) => Ok((turn, plan)),
                Err(error) => {
                    turn.fail(&error);
                    Err(error)
                }
            });
            match (planned, engine) {
                (Ok((turn, Plan::Done(result))), _) => later(Box::new(move || {
                    drop(turn);
                    resolve(Ok(result));
                })),
                (Ok((turn, Plan::Refused(error))), _) => later(Box::new(move || {
                    drop(turn);
                    resolve(Err(error));
                })),
                (
                    Ok((
                        turn,
                        Plan::Transfer {
                            kind,
                            input,
                            output,
                            finish,
                        },
                    )),
                    Ok(engine),
                ) => {
                    let result = output.clone();
                    let done = move |outcome: Result<(), Error>| {
                        later(Box::new(move || {
                            let outcome = outcome.and_then(|()| finish(result));
                            drop(turn);
                            resolve(outcome);
                        }));
                    };
                    engine.start(Transfer {
                        kind,
                        input,
                        output,
                        done: Box::new(done),
                    });
                }
                (Err(error), _) | (_, Err(error)) => later(Box::new(|| resolve(Err(error)))),
            }
        });
        value
    }

    /// Starts an operation that is prepared with the engine, unless there is none.
    fn start_with<T: Value>(
        &self,
        key: &str,
        prepare: impl FnOnce(Setting) -> Result<Prepared<T>, Error>,
    ) -> AsyncValueRef<T> {
        let setting = self.engine().map(|engine| Setting {
            place: self.place(),
            host: Arc::clone(self.context.host()),
            engine: Arc::clone(engine),
        });
        self.start(key, setting.and_then(prepare))
    }
}

/// What operations are prepared with.
struct Setting {
    place: MemberPlace,
    host: Arc<HostContext>,
    engine: Arc<dyn Engine>,
}

/// Calls a function that is generic over the element.
macro_rules! with_element {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            DType::I8 => $function::<i8>($($argument),*),
            DType::I16 => $function::<i16>($($argument),*),
            DType::I32 => $function::<i32>($($argument),*),
            DType::I64 => $function::<i64>($($argument),*),
            DType::Ui8 => $function::<u8>($($argument),*),
            DType::Ui16 => $function::<u16>($($argument),*),
            DType::Ui32 => $function::<u32>($($argument),*),
            DType::Ui64 => $function::<u64>($($argument),*),
            DType::F16 => $function::<f16>($($argument),*),
            DType::Bf16 => $function::<bf16>($($argument),*),
            DType::F32 => $function::<f32>($($argument),*),
            DType::F64 => $function::<f64>($($argument),*),
            other => Err(checks::cannot_be_reduced(other)),
        }
    };
}

/// Divides means.
fn finish<T: Reducible>(
    buffer: &mut HostBuffer,
    reduction: Reduction,
    size: usize,
) -> Result<(), Error> {
    reduction.finish_all(&mut buffer.elements_mut::<T>()?, size);
    Ok(())
}

/// The elements of a reduction as the engine gets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    /// As they are.
    Same(DType),
    /// As elements of 32 bits, of which the lower 16 are the result: sums and products wrap alike,
    /// and signs are kept.
    WidenedI16,
    WidenedU16,
}

impl Wire {
    fn of(dtype: DType, engine: &dyn Engine) -> Result<Self, Error> {
        match dtype {
            _ if engine.reduces(dtype) => Ok(Self::Same(dtype)),
            DType::I16 => Ok(Self::WidenedI16),
            DType::Ui16 => Ok(Self::WidenedU16),
            _ => Err(checks::cannot_be_reduced(dtype)),
        }
    }

    fn dtype(self) -> DType {
        match self {
            Self::Same(dtype) => dtype,
            Self::WidenedI16 => DType::I32,
            Self::WidenedU16 => DType::Ui32,
        }
    }

    fn widen(self, elements: HostBuffer, host: &HostContext) -> Result<HostBuffer, Error> {
        match self {
            Self::Same(_) => Ok(elements),
            Self::WidenedI16 => convert::<i16, i32>(&elements, host, i32::from),
            Self::WidenedU16 => convert::<u16, u32>(&elements, host, u32::from),
        }
    }

    fn narrow(self, elements: HostBuffer, host: &HostContext) -> Result<HostBuffer, Error> {
        match self {
            Self::Same(_) => Ok(elements),
            Self::WidenedI16 => convert::<i32, i16>(&elements, host, |element| element as i16),
            Self::WidenedU16 => convert::<u32, u16>(&elements, host, |element| element as u16),
        }
    }
}

fn convert<T: Element, U: Element>(
    elements: &HostBuffer,
    host: &HostContext,
    f: impl Fn(T) -> U,
) -> Result<HostBuffer, Error> {
    let elements = elements.elements::<T>()?;
    let allocator = host.allocator();
    Ok(HostBuffer::from_fn(allocator, elements.len(), |index| {
        f(elements[index])
    })?)
}

impl Setting {
    fn zeroed(&self, num_bytes: usize) -> Result<HostBuffer, Error> {
        Ok(HostBuffer::zeroed(self.host.allocator(), num_bytes, 64)?)
    }

    fn all_reduce(
        self,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> Result<Prepared<Chain>, Error> {
        checks::all_reduce(reduction, &input, &output)?;
        let combine = Combine::of(reduction)?;
        let (dtype, len) = (input.dtype(), input.num_elements());
        let announcement = Announcement::all_reduce(reduction, dtype, len);
        if len == 0 {
            return Ok(Prepared::new(announcement, Plan::Done(Chain)));
        }
        let wire = Wire::of(dtype, &*self.engine)?;
        let elements = wire.widen(input.buffer().clone(), &self.host)?;
        let result = self.zeroed(elements.len_bytes())?;
        let (host, size) = (self.host, self.place.size);
        let finish = move |result: HostBuffer| {
            let mut result = wire.narrow(result, &host)?;
            with_element!(dtype, finish(&mut result, reduction, size))?;
            let bytes = result.read()?;
            write_all(&output, &bytes)?;
            if writes_input(&host, &input, &output) {
                write_all(&input, &bytes)?;
            }
            Ok(Chain)
        };
        let plan = Plan::Transfer {
            kind: TransferKind::AllReduce {
                dtype: wire.dtype(),
                combine,
            },
            input: elements,
            output: result,
            finish: Box::new(finish),
        };
        Ok(Prepared::new(announcement, plan))
    }

    fn reduce_scatter(
        self,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> Result<Prepared<Chain>, Error> {
        checks::reduce_scatter(self.place, reduction, &input, &output)?;
        let combine = Combine::of(reduction)?;
        let (dtype, len) = (input.dtype(), input.num_elements());
        let announcement = Announcement::reduce_scatter(reduction, dtype, len);
        if len == 0 {
            return Ok(Prepared::new(announcement, Plan::Done(Chain)));
        }
        let wire = Wire::of(dtype, &*self.engine)?;
        let MemberPlace { index, size } = self.place;
        // Blocks of the size of the first chunk, which is the largest.
        let element_bytes = tfrt_tensor::element_bytes(dtype)?;
        let block_bytes = chunk(len, size, 0).len() * element_bytes;
        let mut blocks = self.zeroed(block_bytes * size)?;
        let (mut places, elements) = (blocks.write()?, input.buffer().read()?);
        for (member, place) in places.chunks_exact_mut(block_bytes).enumerate() {
            let chunk = &elements[chunk_bytes(len, size, member, element_bytes)];
            place[..chunk.len()].copy_from_slice(chunk);
        }
        drop((places, elements));
        let blocks = wire.widen(blocks, &self.host)?;
        let result = self.zeroed(blocks.len_bytes() / size)?;
        let own_bytes = chunk(len, size, index).len() * element_bytes;
        let host = self.host;
        let finish = move |result: HostBuffer| {
            let mut result = wire.narrow(result, &host)?;
            with_element!(dtype, finish(&mut result, reduction, size))?;
            write_all(&output, &result.read()?[..own_bytes])?;
            Ok(Chain)
        };
        let plan = Plan::Transfer {
            kind: TransferKind::ReduceScatter {
                dtype: wire.dtype(),
                combine,
            },
            input: blocks,
            output: result,
            finish: Box::new(finish),
        };
        Ok(Prepared::new(announcement, plan))
    }

    fn broadcast(
        self,
        tensor: DenseHostTensor,
        sender: Result<usize, Error>,
    ) -> Result<Prepared<Chain>, Error> {
        let sender = sender?;
        let MemberPlace { index, size } = self.place;
        let announcement = Announcement::broadcast(sender, tensor.dtype(), tensor.num_elements());
        let num_bytes = tensor.buffer().len_bytes();
        if num_bytes == 0 || size == 1 {
            return Ok(Prepared::new(announcement, Plan::Done(Chain)));
        }
        let is_sender = index == sender;
        let (input, output) = match is_sender {
            true => (tensor.buffer().clone(), self.zeroed(0)?),
            false => (self.zeroed(0)?, self.zeroed(num_bytes)?),
        };
        let finish = move |result: HostBuffer| {
            if !is_sender {
                write_all(&tensor, &result.read()?)?;
            }
            Ok(Chain)
        };
        let plan = Plan::Transfer {
            kind: TransferKind::broadcast(self.place, sender, num_bytes),
            input,
            output,
            finish: Box::new(finish),
        };
        Ok(Prepared::new(announcement, plan))
    }

    fn all_gather(
        self,
        input: DenseHostTensor,
        output: DenseHostTensor,
        axis: u64,
    ) -> Result<Prepared<Chain>, Error> {
        let layout = checks::all_gather(self.place, &input, &output, axis)?;
        let announcement = Announcement::all_gather(axis, input.dtype(), input.num_elements());
        let num_bytes = input.buffer().len_bytes();
        if num_bytes == 0 {
            return Ok(Prepared::new(announcement, Plan::Done(Chain)));
        }
        let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
        let gathered = self.zeroed(num_bytes * self.place.size)?;
        let finish = move |gathered: HostBuffer| {
            let mut output = output.clone();
            let mut result = output.buffer_mut().write()?;
            let gathered = gathered.read()?;
            for (member, elements) in gathered.chunks_exact(num_bytes).enumerate() {
                layout.scatter(member, element_bytes, elements, &mut result);
            }
            Ok(Chain)
        };
        let plan = Plan::Transfer {
            kind: TransferKind::AllGather,
            input: input.into_buffer(),
            output: gathered,
            finish: Box::new(finish),
        };
        Ok(Prepared::new(announcement, plan))
    }

    fn all_gather_any(
        self,
        input: DenseHostTensor,
        axis: u64,
    ) -> Result<Prepared<DenseHostTensor>, Error> {
        let announcement = Announcement::all_gather_any(axis, &input);
        let axis = check_axis(axis, &input)?;
        Ok(Prepared {
            announcement,
            plan: Box::new(move |agreed| self.plan_gathering(&input, axis, agreed)),
        })
    }

    /// Plans an all-gather of tensors whose shapes all members know.
    fn plan_gathering(
        self,
        input: &DenseHostTensor,
        axis: usize,
        agreed: &Agreed,
    ) -> Result<Plan<DenseHostTensor>, Error> {
        let shapes = agreed.dims.iter();
        let shapes = shapes.map(|dims| checks::shape_to_gather(input.shape(), axis, dims));
        let shapes: Result<Vec<Shape>, Error> = shapes.collect();
        let layout = shapes.and_then(|shapes| Ok((Layout::new(&shapes, axis)?, shapes)));
        let (layout, shapes) = match layout {
            Ok(known) => known,
            Err(error) => return Ok(Plan::Refused(error)),
        };
        let dtype = input.dtype();
        let mut result =
            DenseHostTensor::zeroed(self.host.allocator(), dtype, Shape::new(layout.dims())?)?;
        let element_bytes = tfrt_tensor::element_bytes(dtype)?;
        // The result was allocated: its parts can be counted.
        let lens = shapes
            .iter()
            .map(|shape| shape.num_elements() * element_bytes);
        let lens: Vec<usize> = lens.collect();
        // Blocks of the size of the largest tensor.
        let block_bytes = lens.iter().copied().max().unwrap_or(0);
        if block_bytes == 0 {
            return Ok(Plan::Done(result));
        }
        let all_bytes = block_bytes.checked_mul(self.place.size);
        let mut block = self.zeroed(block_bytes)?;
        let own = input.buffer().read()?;
        block.write()?[..own.len()].copy_from_slice(&own);
        let finish = move |gathered: HostBuffer| {
            let mut elements = result.buffer_mut().write()?;
            let gathered = gathered.read()?;
            let blocks = gathered.chunks_exact(block_bytes).zip(lens);
            for (member, (block, len)) in blocks.enumerate() {
                layout.scatter(member, element_bytes, &block[..len], &mut elements);
            }
            drop(elements);
            Ok(result)
        };
        Ok(Plan::Transfer {
            kind: TransferKind::AllGather,
            input: block,
            output: self.zeroed(all_bytes.unwrap_or(usize::MAX))?,
            finish: Box::new(finish),
        })
    }

    fn all_to_all(
        self,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> Result<Prepared<Chain>, Error> {
        let chunk_len = checks::all_to_all(self.place, &input, &output)?;
        let (dtype, len) = (input.dtype(), input.num_elements());
        let announcement = Announcement::all_to_all(dtype, len);
        if len == 0 {
            return Ok(Prepared::new(announcement, Plan::Done(Chain)));
        }
        let MemberPlace { index, size } = self.place;
        let element_bytes = tfrt_tensor::element_bytes(dtype)?;
        let own = chunk_bytes(len, size, index, element_bytes);
        let own_bytes = chunk_len * element_bytes;
        let mut result = self.zeroed(output.buffer().len_bytes())?;
        result.write()?[index * own_bytes..][..own_bytes]
            .copy_from_slice(&input.buffer().read()?[own]);
        let others = (0..size).filter(|member| *member != index);
        let part = |bytes: Range<usize>, member| (!bytes.is_empty()).then_some((member, bytes));
        let sends = others
            .clone()
            .filter_map(|member| part(chunk_bytes(len, size, member, element_bytes), member));
        let receives =
            others.filter_map(|member| part(member * own_bytes..(member + 1) * own_bytes, member));
        let plan = Plan::Transfer {
            kind: TransferKind::Exchange {
                sends: sends.collect(),
                receives: receives.collect(),
            },
            input: input.into_buffer(),
            output: result,
            finish: Box::new(move |result| {
                write_all(&output, &result.read()?)?;
                Ok(Chain)
            }),
        };
        Ok(Prepared::new(announcement, plan))
    }
}

impl GroupMember for LockstepMember {
    fn index(&self) -> usize {
        self.place().index
    }

    fn size(&self) -> usize {
        self.place().size
    }

    fn all_reduce(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        self.start_with(key, |setting| setting.all_reduce(reduction, input, output))
    }

    fn reduce_scatter(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        self.start_with(key, |setting| {
            setting.reduce_scatter(reduction, input, output)
        })
    }

    fn broadcast(&self, key: &str, tensor: DenseHostTensor, sender: usize) -> AsyncValueRef<Chain> {
        let sender = check_position(sender, self.size(), self.group());
        self.start_with(key, |setting| setting.broadcast(tensor, sender))
    }

    fn all_gather(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<Chain> {
        self.start_with(key, |setting| setting.all_gather(input, output, axis))
    }

    fn all_gather_any(
        &self,
        key: &str,
        input: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<DenseHostTensor> {
        self.start_with(key, |setting| setting.all_gather_any(input, axis))
    }

    fn all_to_all(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        self.start_with(key, |setting| setting.all_to_all(input, output))
    }

    fn send(&self, key: &str, to: usize, tensor: &DenseHostTensor) -> AsyncValueRef<Chain> {
        self.ring.send(key, to, tensor)
    }

    fn recv(&self, key: &str, from: usize) -> AsyncValueRef<DenseHostTensor> {
        self.ring.recv(key, from)
    }

    fn barrier(&self, key: &str) -> AsyncValueRef<Chain> {
        let prepared = Prepared::new(Announcement::barrier(), Plan::Done(Chain));
        self.start(key, Ok(prepared))
    }

    fn abandon(&self, key: &str, error: &Error) -> Result<(), Error> {
        self.refuse(key, error)
    }

    fn abort(&self, error: &Error) {
        self.end(error);
    }
}
