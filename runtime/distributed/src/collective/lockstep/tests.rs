//! Members over an engine in this process, where transfers meet by their number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use half::{bf16, f16};
use tfrt_async::{AsyncValueRef, Chain};

use super::super::conformance::{Extent, run_without_order};
use super::super::{Collectives, GroupMember, Reducible};
use super::*;
use crate::testing::{Cluster, wait};

/// The transfers of all members, by number.
#[derive(Debug, Default)]
struct Meetings {
    open: Mutex<HashMap<usize, Vec<Option<Transfer>>>>,
    /// The number of transfers that fail from this one on.
    fails_at: Option<usize>,
}

#[derive(Debug)]
struct Meeting {
    all: Arc<Meetings>,
    place: MemberPlace,
    control: Control,
    next: AtomicUsize,
}

impl Engine for Meeting {
    fn reduces(&self, dtype: DType) -> bool {
        !matches!(dtype, DType::I16 | DType::Ui16)
    }

    fn start(&self, transfer: Transfer) {
        if let Some(error) = self.control.failure() {
            return (transfer.done)(Err(error));
        }
        // ordering: calls come one after the other.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if self.all.fails_at == Some(number) {
            let error = Error::new("the engine failed");
            self.control.abort(&error);
            return (transfer.done)(Err(error));
        }
        let mut open = self.all.open.lock().unwrap_or_else(PoisonError::into_inner);
        let size = self.place.size;
        let meeting = open.entry(number).or_insert_with(|| {
            let mut empty = Vec::new();
            empty.resize_with(size, || None);
            empty
        });
        meeting[self.place.index] = Some(transfer);
        if !meeting.iter().all(Option::is_some) {
            return;
        }
        let meeting = open.remove(&number).expect("it is open");
        drop(open);
        perform(meeting.into_iter().flatten().collect());
    }

    fn end(&self, error: &Error) {
        let mut open = self.all.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_member = open.values_mut();
        let own: Vec<Transfer> = of_member
            .filter_map(|meeting| meeting[self.place.index].take())
            .collect();
        drop(open);
        for transfer in own {
            (transfer.done)(Err(error.clone()));
        }
    }
}

/// Performs the transfers that the members of a group have started together.
fn perform(mut transfers: Vec<Transfer>) {
    let inputs = transfers.iter();
    let inputs: Vec<Vec<u8>> = inputs
        .map(|transfer| transfer.input.read().unwrap().to_vec())
        .collect();
    let kinds = transfers.iter();
    let kinds: Vec<TransferKind> = kinds.map(|transfer| transfer.kind.clone()).collect();
    for (member, transfer) in transfers.iter_mut().enumerate() {
        let mut output = transfer.output.write().unwrap();
        if let TransferKind::Exchange { receives, .. } = &kinds[member] {
            for (from, range) in receives {
                let sent = sent_to(member, &kinds[*from]);
                output[range.clone()].copy_from_slice(&inputs[*from][sent]);
            }
            continue;
        }
        assert_eq!(kinds[member], kinds[0], "the members differ");
        let result = match &kinds[member] {
            TransferKind::AllReduce { dtype, combine } => reduce(*dtype, *combine, &inputs),
            TransferKind::ReduceScatter { dtype, combine } => {
                let reduced = reduce(*dtype, *combine, &inputs);
                let block_bytes = reduced.len() / inputs.len();
                reduced[member * block_bytes..][..block_bytes].to_vec()
            }
            _ => inputs.concat(),
        };
        output.copy_from_slice(&result);
    }
    for transfer in transfers {
        (transfer.done)(Ok(()));
    }
}

/// Returns what a member sends to another one.
fn sent_to(member: usize, kind: &TransferKind) -> std::ops::Range<usize> {
    let TransferKind::Exchange { sends, .. } = kind else {
        panic!("the members differ");
    };
    let mut sends = sends.iter();
    let sent = sends.find(|(to, _)| *to == member);
    sent.expect("the other one receives").1.clone()
}

fn reduce(dtype: DType, combine: Combine, inputs: &[Vec<u8>]) -> Vec<u8> {
    match dtype {
        DType::I8 => reduced::<i8>(combine, inputs),
        DType::Ui8 => reduced::<u8>(combine, inputs),
        DType::I32 => reduced::<i32>(combine, inputs),
        DType::Ui32 => reduced::<u32>(combine, inputs),
        DType::I64 => reduced::<i64>(combine, inputs),
        DType::Ui64 => reduced::<u64>(combine, inputs),
        DType::F16 => reduced::<f16>(combine, inputs),
        DType::Bf16 => reduced::<bf16>(combine, inputs),
        DType::F32 => reduced::<f32>(combine, inputs),
        DType::F64 => reduced::<f64>(combine, inputs),
        other => panic!("the engine does not reduce {other}"),
    }
}

fn reduced<T: Reducible>(combine: Combine, inputs: &[Vec<u8>]) -> Vec<u8> {
    let reduction = match combine {
        Combine::Sum => Reduction::Sum,
        Combine::Prod => Reduction::Prod,
        Combine::Max => Reduction::Max,
        Combine::Min => Reduction::Min,
    };
    let elements = |bytes: &[u8]| {
        let buffer = HostBuffer::from_owner(bytes.to_vec()).unwrap();
        let allocator = crate::testing::host("s").allocator().clone();
        let copy = HostBuffer::copied(&allocator, &buffer.read().unwrap()).unwrap();
        copy.elements::<T>().unwrap().to_vec()
    };
    let mut all = inputs.iter().map(|bytes| elements(bytes));
    let first = all.next().expect("a group has members");
    // From the last member on, unlike the ring.
    let combined = all.rev().fold(first, |so_far, other| {
        let pairs = so_far.into_iter().zip(other);
        pairs
            .map(|(one, other)| reduction.combine(one, other))
            .collect()
    });
    let bytes = combined.iter().map(|one| one.to_bytes());
    bytes
        .flat_map(|bytes| bytes.into_iter().take(size_of::<T>()))
        .collect()
}

/// Opens the group in all contexts.
fn open_all(cluster: &Cluster, all: &Arc<Meetings>) -> Vec<Arc<LockstepMember>> {
    let contexts = cluster.contexts();
    let open = |context| {
        let connect = |control: &Control, place: MemberPlace| {
            Ok(Arc::new(Meeting {
                all: Arc::clone(all),
                place,
                control: control.clone(),
                next: AtomicUsize::new(0),
            }) as Arc<dyn Engine>)
        };
        super::open("group1", context, Box::new(connect)).unwrap()
    };
    contexts.iter().map(open).collect()
}

/// Waits for an operation of each member.
fn outcomes(cluster: &Cluster, started: Vec<AsyncValueRef<Chain>>) -> Vec<Result<(), String>> {
    let outcomes = started.into_iter().map(|done| {
        let (sender, receiver) = std::sync::mpsc::channel();
        done.and_then(move |done| {
            let outcome = done.as_result().map(|_| ());
            // A test that failed does not wait any more.
            let _ = sender.send(outcome.map_err(|error| error.message().to_owned()));
        });
        wait(&cluster.host, &receiver)
    });
    outcomes.collect()
}

fn numbers(elements: &[f32]) -> DenseHostTensor {
    DenseHostTensor::vector(elements).unwrap()
}

#[test]
fn operations_conform_whatever_the_order_in_which_they_start() {
    for size in 1..=8 {
        let cluster = Cluster::new("mstd:2", size);
        let members = open_all(&cluster, &Arc::default());
        let outcomes: Vec<Result<usize, Error>> = thread::scope(|scope| {
            let run = |member| run_without_order(&cluster.host, member, Extent::from_environment());
            let running = members
                .iter()
                .map(|member| scope.spawn(move || run(&**member)));
            let running: Vec<_> = running.collect();
            running.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for outcome in outcomes {
            assert!(outcome.unwrap() > 500);
        }
    }
}

#[test]
fn members_that_differ_fail_alike_and_go_on() {
    let cluster = Cluster::new("mstd:2", 3);
    let members = open_all(&cluster, &Arc::default());
    let reduce = |member: &Arc<LockstepMember>, key: &str, tensor: DenseHostTensor| {
        member.all_reduce(key, Reduction::Sum, tensor.clone(), tensor)
    };
    let started = members.iter().enumerate();
    let started = started.map(|(index, member)| {
        let len = if index == 2 { 8 } else { 7 };
        reduce(member, "k", numbers(&vec![1.0; len]))
    });
    let expected = "allreduce key k of group group1: member 2 has f32[8], member 0 has f32[7]";
    assert_eq!(
        outcomes(&cluster, started.collect()),
        vec![Err(expected.to_owned()); 3]
    );
    // A member that cannot start, with a shape, a function or another member at fault.
    let [first, others @ ..] = &members[..] else {
        panic!("there are three members");
    };
    let refused = first.all_reduce("l", Reduction::Sum, numbers(&[1.0]), numbers(&[1.0, 2.0]));
    let mut started = vec![refused];
    started.extend(
        others
            .iter()
            .map(|member| reduce(member, "l", numbers(&[1.0]))),
    );
    let refused = outcomes(&cluster, started);
    assert!(refused[0].is_err() && refused.windows(2).all(|pair| pair[0] == pair[1]));
    // The group works.
    let sums: Vec<DenseHostTensor> = members.iter().map(|_| numbers(&[1.5])).collect();
    let pairs = members.iter().zip(&sums);
    let started = pairs.map(|(member, sum)| reduce(member, "k", sum.clone()));
    assert_eq!(outcomes(&cluster, started.collect()), vec![Ok(()); 3]);
    for sum in sums {
        assert_eq!(*sum.elements::<f32>().unwrap(), [4.5]);
    }
}

#[test]
fn a_key_is_in_use_until_the_operation_ends() {
    let cluster = Cluster::new("mstd:2", 2);
    let members = open_all(&cluster, &Arc::default());
    let first = members[0].barrier("k");
    let second = members[0].barrier("k");
    assert_eq!(
        outcomes(&cluster, vec![second]),
        [Err("barrier key k of group group1 is in use".to_owned())]
    );
    let why = tfrt_support::Error::new("no");
    let abandoned = members[0].abandon("k", &why).unwrap_err();
    assert_eq!(
        abandoned.message(),
        "cannot abandon key k of group group1: it is in use"
    );
    let other = members[1].barrier("k");
    assert_eq!(outcomes(&cluster, vec![first, other]), vec![Ok(()); 2]);
    members[0].abandon("k", &why).unwrap();
    let told = members[1].barrier("k");
    assert_eq!(outcomes(&cluster, vec![told]), [Err("no".to_owned())]);
    let again = members.iter().map(|member| member.barrier("k")).collect();
    assert_eq!(outcomes(&cluster, again), vec![Ok(()); 2]);
}

#[test]
fn an_engine_that_fails_on_a_member_ends_the_group_on_all() {
    let cluster = Cluster::new("mstd:2", 2);
    let all = Arc::new(Meetings {
        fails_at: Some(1),
        ..Meetings::default()
    });
    let members = open_all(&cluster, &all);
    for (key, expected) in [("first", Ok(())), ("second", Err(())), ("third", Err(()))] {
        let started = members.iter().map(|member| {
            let tensor = numbers(&[1.0]);
            member.all_reduce(key, Reduction::Sum, tensor.clone(), tensor)
        });
        for outcome in outcomes(&cluster, started.collect()) {
            let outcome = outcome.map_err(|error| assert_eq!(error, "the engine failed"));
            assert_eq!(outcome, expected, "{key}");
        }
    }
    drop(members);
    // Opened again, it is a new group.
    let members = open_all_again(&cluster);
    let again = members.iter().map(|member| member.barrier("k")).collect();
    assert_eq!(outcomes(&cluster, again), vec![Ok(()); 2]);
}

/// Opens the group once more.
fn open_all_again(cluster: &Cluster) -> Vec<Arc<dyn GroupMember>> {
    let contexts = cluster.servers.iter();
    let contexts = contexts.map(|server| server.context(1).unwrap());
    contexts
        .map(|context| {
            super::super::RingCollectives
                .open("group1", &context)
                .unwrap()
        })
        .collect()
}
