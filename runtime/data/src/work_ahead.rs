//! How many elements a stage works on at a time.

use tfrt_support::Error;

use crate::checked_work_ahead::CheckedWorkAhead;
use crate::dataset::invalid;

/// The largest number: all of the elements are held at once.
const MAX_NUM: i64 = 1 << 20;

/// How many elements a stage works on at a time: a given number, or one that the stage finds by
/// experiment while it runs.
///
/// The number -1 stands for the number of threads of the work queue, except for sources, which
/// have a maximum of their own. A number alone is what each
/// stage has always made of it: `parallel_map` tunes -1 and keeps other numbers, and `prefetch`
/// keeps all of them.
///
/// ```
/// use tfrt_data::{Dataset, WorkAhead};
///
/// let numbers = Dataset::range(0, 10, 1)?;
/// // Between one and eight elements, whatever is fastest.
/// let tuned = numbers.prefetch_with(WorkAhead::tuned(8), true)?;
/// // Always as many as there are threads.
/// let fixed = numbers.prefetch_with(WorkAhead::fixed(-1), true)?;
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkAhead {
    num: i64,
    /// Nothing if the stage decides.
    is_tuned: Option<bool>,
}

impl WorkAhead {
    /// This number, always.
    #[must_use]
    pub const fn fixed(num: i64) -> Self {
        Self {
            num,
            is_tuned: Some(false),
        }
    }

    /// Between one and this number, whatever is fastest.
    #[must_use]
    pub const fn tuned(max: i64) -> Self {
        Self {
            num: max,
            is_tuned: Some(true),
        }
    }

    /// This number, tuned or not, or as the stage decides.
    #[must_use]
    pub const fn new(num: i64, is_tuned: Option<bool>) -> Self {
        Self { num, is_tuned }
    }

    /// Checks the number, which must be -1, or at least `min`. `tunes_threads` says whether the
    /// stage tunes -1 by itself.
    pub(crate) fn check(
        self,
        name: &str,
        min: i64,
        tunes_threads: bool,
    ) -> Result<CheckedWorkAhead, Error> {
        let Self { num, is_tuned } = self;
        let max = match num {
            -1 => None,
            num if (min..=MAX_NUM).contains(&num) => Some(num as usize),
            _ => {
                let allowed = match min {
                    0 => format!("between -1 and {MAX_NUM}"),
                    _ => format!("-1 or between {min} and {MAX_NUM}"),
                };
                return Err(invalid(format!("{name} must be {allowed}, not {num}")));
            }
        };
        Ok(CheckedWorkAhead {
            max,
            is_tuned: is_tuned.unwrap_or(max.is_none() && tunes_threads),
        })
    }
}

impl From<i64> for WorkAhead {
    fn from(num: i64) -> Self {
        Self::new(num, None)
    }
}
