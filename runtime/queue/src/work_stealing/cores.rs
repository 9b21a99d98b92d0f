//! Binding threads to the cores of the machine.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::thread;

/// The size of the system's sets of cores, which is more than any machine has.
const MAX_CORES: usize = 1024;

/// One or more cores of the machine, by the system's numbers for them.
///
/// They are written as numbers and ranges, as in the tools of the system: `0-3,8`.
///
/// ```
/// use tfrt_queue::cores::Cores;
///
/// let cores: Cores = "0-2,8".parse()?;
/// assert_eq!(cores.len(), 4);
/// assert_eq!(cores.to_string(), "0,1,2,8");
/// assert!("3-1".parse::<Cores>().is_err());
/// # Ok::<(), tfrt_queue::cores::ParseCoresError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores(Box<[usize]>);

impl Cores {
    /// Returns the number of cores. A core that is listed twice counts twice.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the core of thread number `thread`: threads take the cores in turn.
    pub(super) fn nth(&self, thread: usize) -> usize {
        self.0[thread % self.0.len()]
    }
}

impl FromStr for Cores {
    type Err = ParseCoresError;

    fn from_str(text: &str) -> Result<Self, ParseCoresError> {
        let number = |digits: &str| {
            // `parse` accepts a plus sign.
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            let core: Option<usize> = digits.parse().ok();
            core.filter(|core| is_number && *core < MAX_CORES)
                .ok_or(ParseCoresError)
        };
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last || cores.len() > MAX_CORES {
                return Err(ParseCoresError);
            }
            cores.extend(first..=last);
        }
        Ok(Self(cores.into()))
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, core) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{core}")?;
        }
        Ok(())
    }
}

/// A text that is not a list of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseCoresError;

impl fmt::Display for ParseCoresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected numbers and ranges of cores below {MAX_CORES}, such as `0-3,8`"
        )
    }
}

impl std::error::Error for ParseCoresError {}

tfrt_support::convert_errors!(ParseCoresError);

/// The reason why threads of a queue cannot be bound to cores.
///
/// ```
/// use tfrt_queue::WorkStealingQueue;
///
/// // No machine that runs this example has so many cores.
/// let error = WorkStealingQueue::bound_to_cores(1, 1, &"1023".parse()?).err();
/// let text = error.map(|error| error.to_string());
/// assert_eq!(text.as_deref(), Some("cannot bind a thread to core 1023"));
/// # Ok::<(), tfrt_queue::cores::ParseCoresError>(())
/// ```
#[derive(Debug)]
pub struct BindError {
    core: usize,
    source: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot bind a thread to core {}", self.core)
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

tfrt_support::convert_errors!(BindError);

/// Tries to bind a thread to each of `cores`. The calling thread belongs to the user, so a
/// temporary one is bound.
pub(super) fn check(cores: &Cores) -> Result<(), BindError> {
    let bind_to_each = || {
        let mut cores = cores.0.iter();
        cores.try_for_each(|&core| {
            bind_this_thread(core).map_err(|source| BindError { core, source })
        })
    };
    thread::scope(|scope| {
        let checking = thread::Builder::new().spawn_scoped(scope, bind_to_each);
        let checking = checking.map_err(|source| BindError {
            core: cores.nth(0),
            source,
        })?;
        checking.join().expect("binding does not panic")
    })
}

/// Binds this thread to one core.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn bind_this_thread(core: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Binds this thread to one core.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn bind_this_thread(_core: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn cores_are_numbers_and_ranges() {
        let shown = |text: &str| text.parse::<Cores>().map(|cores| cores.to_string());
        assert_eq!(shown("0"), Ok("0".into()));
        assert_eq!(shown("2-4,0,7-7"), Ok("2,3,4,0,7".into()));
        for text in [
            "", ",", "1,", "-", "1-", "-1", "2-1", "+1", "x", "1 ", "1024",
        ] {
            assert_eq!(shown(text), Err(ParseCoresError), "{text:?}");
        }
    }

    #[test]
    fn threads_take_the_cores_in_turn() {
        let cores: Cores = "4-6".parse().unwrap();
        assert_eq!([0, 1, 2, 3].map(|thread| cores.nth(thread)), [4, 5, 6, 4]);
    }
}
