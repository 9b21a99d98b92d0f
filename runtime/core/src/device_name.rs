//! Names of devices, and parts of names, which stand for every device that they fit.
//!
//! ```text
//!  CPU:0                              a device of this host
//!  /job:worker/task:1/device:CPU:0    a device of a task of a cluster
//!  CPU   CPU:*   /task:1              parts: each stands for the devices that have it
//! ```

/// A name of a device, or a part of one.
///
/// ```
/// use tfrt_core::DevicePattern;
///
/// let names = ["CPU:0", "CPU:1", "/job:worker/task:1/device:CPU:0"];
/// let matching = |pattern| DevicePattern::new(pattern).matching(names);
/// assert_eq!(matching("CPU:1"), [1]);
/// assert_eq!(matching("cpu"), [0, 1, 2]);
/// assert_eq!(matching("/task:1"), [2]);
/// // A device of this host does not say which task it belongs to.
/// assert_eq!(matching("/job:worker/task:7/device:CPU:1"), [1]);
/// assert!(matching("GPU:0").is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DevicePattern<'a> {
    whole: &'a str,
    /// None if the name has a part that names of devices do not have.
    parts: Option<Parts<'a>>,
}

/// What a name says.
#[derive(Clone, Copy, Debug, Default)]
struct Parts<'a> {
    job: Option<&'a str>,
    task: Option<&'a str>,
    device_type: Option<&'a str>,
    number: Option<&'a str>,
}

/// How well a device fits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    No,
    /// Its name says nothing about the job or the task that was asked for.
    Open,
    Yes,
}

impl<'a> DevicePattern<'a> {
    /// Creates a name, or a part of one.
    #[must_use]
    pub fn new(name: &'a str) -> Self {
        Self {
            whole: name,
            parts: Parts::of(name),
        }
    }

    /// Returns the indices of the names that it stands for: of the one that is the same, if there
    /// is one; otherwise of those that say all that is asked for; otherwise of those that
    /// contradict nothing.
    pub fn matching<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<usize> {
        let (mut same, mut exact, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for (index, name) in names.into_iter().enumerate() {
            if name == self.whole {
                same.push(index);
            }
            match self.fit(name) {
                Fit::Yes => exact.push(index),
                Fit::Open => open.push(index),
                Fit::No => {}
            }
        }
        let mut sets = [same, exact, open].into_iter();
        sets.find(|set| !set.is_empty()).unwrap_or_default()
    }

    fn fit(&self, name: &str) -> Fit {
        let (Some(wanted), Some(found)) = (self.parts, Parts::of(name)) else {
            return Fit::No;
        };
        let is_any = |wanted: Option<&str>| wanted.is_none_or(|wanted| wanted == "*");
        let is_type = |ty: &str| {
            found
                .device_type
                .is_some_and(|found| found.eq_ignore_ascii_case(ty))
        };
        if !is_any(wanted.device_type) && !wanted.device_type.is_some_and(is_type) {
            return Fit::No;
        }
        if !is_any(wanted.number) && wanted.number != found.number {
            return Fit::No;
        }
        let mut fit = Fit::Yes;
        for (wanted, found) in [(wanted.job, found.job), (wanted.task, found.task)] {
            match found {
                _ if is_any(wanted) => {}
                None => fit = Fit::Open,
                Some(_) if wanted == found => {}
                Some(_) => return Fit::No,
            }
        }
        fit
    }
}

impl<'a> Parts<'a> {
    fn of(name: &'a str) -> Option<Self> {
        let mut parts = Self::default();
        let Some(rest) = name.strip_prefix('/') else {
            parts.set_device(name);
            return Some(parts);
        };
        for part in rest.split('/') {
            match part.split_once(':')? {
                ("job", job) => parts.job = Some(job),
                ("task", task) => parts.task = Some(task),
                ("device", device) => parts.set_device(device),
                _ => return None,
            }
        }
        Some(parts)
    }

    fn set_device(&mut self, device: &'a str) {
        let (device_type, number) = match device.split_once(':') {
            Some((device_type, number)) => (device_type, Some(number)),
            None => (device, None),
        };
        (self.device_type, self.number) = (Some(device_type), number);
    }
}

/// Returns the error message for a request for a device that does not exist.
///
/// ```
/// use tfrt_core::no_such_device;
///
/// let message = no_such_device("GPU:3", ["CPU:0", "GPU:0"]);
/// assert_eq!(message, "device 'GPU:3' is not there; there are CPU:0, GPU:0");
/// ```
#[must_use]
pub fn no_such_device<'n>(wanted: &str, existing: impl IntoIterator<Item = &'n str>) -> String {
    let existing: Vec<&str> = existing.into_iter().collect();
    let are = if existing.len() == 1 { "is" } else { "are" };
    let existing = existing.join(", ");
    format!("device '{wanted}' is not there; there {are} {existing}")
}

#[cfg(test)]
mod tests {
    use super::DevicePattern;

    #[test]
    fn job_and_task_are_compared() {
        let names = [
            "CPU:0",
            "/job:w/task:1/device:CPU:0",
            "/job:w/task:12/device:CPU:0",
            "/job:v/task:1/device:GPU:1",
        ];
        let matching = |pattern| DevicePattern::new(pattern).matching(names);
        assert_eq!(matching("/job:w/task:1/device:CPU:0"), [1]);
        assert_eq!(matching("/task:1"), [1, 3]);
        assert_eq!(matching("/job:w"), [1, 2]);
        assert_eq!(matching("/job:w/device:CPU:*"), [1, 2]);
        assert_eq!(matching("/task:*/device:*:1"), [3]);
        assert_eq!(matching("CPU:0"), [0]);
        assert_eq!(matching("CPU:*"), [0, 1, 2]);
        // Only the device of this host may belong to a task that nobody else does.
        assert_eq!(matching("/job:w/task:3/device:CPU:0"), [0]);
        assert!(matching("/job:w/task:3/device:GPU:1").is_empty());
        assert!(matching("/rack:3").is_empty());
    }
}
