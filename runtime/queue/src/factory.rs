//! Creating queues by name.

use std::sync::Arc;

use crate::error::CreateQueueError;
use crate::queue::ConcurrentWorkQueue;
use crate::single_threaded::SingleThreadedQueue;
use crate::work_stealing::WorkStealingQueue;

/// A kind of queue that can be created by name.
///
/// Any crate that is linked into the program can submit one:
///
/// ```
/// use std::sync::Arc;
/// use tfrt_queue::{QueueFactory, SingleThreadedQueue, create_queue};
///
/// inventory::submit! {
///     QueueFactory { name: "mine", create: |_argument| Ok(Arc::new(SingleThreadedQueue::new())) }
/// }
///
/// assert!(create_queue("mine:anything").is_ok());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QueueFactory {
    /// The part of a configuration before the first colon.
    pub name: &'static str,
    /// Creates the queue from the part after the colon, or returns an error that describes what is
    /// wrong with it.
    pub create: fn(argument: &str) -> Result<Arc<dyn ConcurrentWorkQueue>, CreateQueueError>,
}

inventory::collect!(QueueFactory);

/// Listed instead of submitted, so that no linker can leave them out.
const BUILT_IN: [QueueFactory; 2] = [
    QueueFactory {
        name: "s",
        create: |argument| Ok(Arc::new(SingleThreadedQueue::from_argument(argument)?)),
    },
    QueueFactory {
        name: "mstd",
        create: |argument| Ok(Arc::new(WorkStealingQueue::from_argument(argument)?)),
    },
];

/// Creates the queue that `config` describes: a name, or a name, a colon and an argument.
///
/// # Errors
/// Fails if no factory has the name, if the factory rejects the argument, or if it cannot create
/// the queue.
///
/// ```
/// use tfrt_queue::create_queue;
///
/// let queue = create_queue("mstd:3,5")?;
/// assert_eq!(queue.name(), "Multi-threaded C++ work queue (3 threads, 5 blocking threads)");
/// let error = create_queue("mstd:3x").map_err(|error| error.to_string());
/// assert_eq!(error.err().as_deref(), Some("Invalid argument for mstd work queue: 3x"));
/// # Ok::<(), tfrt_queue::CreateQueueError>(())
/// ```
pub fn create_queue(config: &str) -> Result<Arc<dyn ConcurrentWorkQueue>, CreateQueueError> {
    let (name, argument) = config.split_once(':').unwrap_or((config, ""));
    match factories().find(|factory| factory.name == name) {
        Some(factory) => (factory.create)(argument),
        None => {
            let mut known: Vec<_> = factories().map(|factory| factory.name).collect();
            known.sort_unstable();
            Err(CreateQueueError::Unknown {
                name: name.into(),
                known,
            })
        }
    }
}

fn factories() -> impl Iterator<Item = &'static QueueFactory> {
    BUILT_IN.iter().chain(inventory::iter::<QueueFactory>())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::error::Error;

    use super::*;

    fn name_or_error(config: &str) -> String {
        create_queue(config).map_or_else(|error| error.to_string(), |queue| queue.name())
    }

    #[test]
    fn a_config_is_a_name_and_an_argument() {
        assert_eq!(name_or_error("s"), "single-threaded");
        assert_eq!(
            name_or_error("mstd:4"),
            "Multi-threaded C++ work queue (4 threads, 256 blocking threads)"
        );
        assert_eq!(
            name_or_error("mstd:3,5"),
            "Multi-threaded C++ work queue (3 threads, 5 blocking threads)"
        );
    }

    #[test]
    fn a_bad_argument_is_named() {
        assert_eq!(name_or_error("s:1"), "Invalid argument for s work queue: 1");
        for argument in [
            "x",
            "3x",
            "3,",
            ",3",
            "3,5,7",
            "3,5x",
            "0",
            "2,0",
            "+3",
            "-1",
            "99999999999999999999",
        ] {
            assert_eq!(
                name_or_error(&format!("mstd:{argument}")),
                format!("Invalid argument for mstd work queue: {argument}")
            );
        }
    }

    #[test]
    fn a_factory_that_fails_is_named_with_the_cause() {
        let Err(error) = create_queue("mstd:1@1023") else {
            panic!("there is no such core");
        };
        assert_eq!(error.to_string(), "cannot create the mstd work queue");
        let cause = error.source().expect("it has a cause");
        assert_eq!(cause.to_string(), "cannot bind a thread to core 1023");
        assert!(
            cause
                .source()
                .is_some_and(|system| system.is::<std::io::Error>())
        );
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            name_or_error("fast:3"),
            "unknown work queue `fast`: expected one of `mstd`, `s`"
        );
    }
}
