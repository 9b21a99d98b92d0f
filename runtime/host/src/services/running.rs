//! Which kernels of a request run, for whoever wants to name the one that takes too long.
//!
//! Only a request that [asks for it](crate::RequestContextBuilder::watch_kernels) keeps a list.
//! For every other request, a kernel costs one look at whether there is one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_support::Place;

use crate::kernel::location::LocationSource;

/// The kernels of a request that have begun and not ended.
#[derive(Debug, Default)]
pub(crate) struct RunningKernels(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    num_begun: u64,
    /// By the order in which they began.
    running: Vec<(u64, Location)>,
    /// The last one that has ended.
    ended: Option<Location>,
}

/// Where a kernel is in its program.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) source: Option<Arc<dyn LocationSource>>,
    pub(crate) token: u32,
}

impl Location {
    fn place(&self) -> Place {
        let source = self.source.as_ref();
        source.map_or(Place::Unknown, |source| source.place(self.token))
    }
}

impl RunningKernels {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, location: Location) -> u64 {
        let mut state = self.state();
        let number = state.num_begun;
        state.num_begun += 1;
        state.running.push((number, location));
        number
    }

    fn end(&self, number: u64) {
        let mut state = self.state();
        // Few run at once, and the last one usually ends first.
        let place = state.running.iter().rposition(|(of, _)| *of == number);
        let ended = place.map(|place| state.running.remove(place).1);
        let before = std::mem::replace(&mut state.ended, ended);
        drop(state);
        // Without the lock: the last reference to a program may be dropped.
        drop(before);
    }

    /// Returns the place of the kernel that began last among those that run, or else of the one
    /// that ended last. A kernel that calls a function begins before the kernels of the function.
    pub(crate) fn place(&self) -> Place {
        let state = self.state();
        let running = state.running.last().map(|(_, location)| location);
        let location = running.or(state.ended.as_ref()).cloned();
        drop(state);
        location.map_or(Place::Unknown, |location| location.place())
    }
}

/// A kernel of a request that keeps a list of them, until it is dropped.
#[derive(Debug)]
pub struct RunningKernel {
    list: Arc<RunningKernels>,
    number: u64,
}

impl RunningKernel {
    #[cold]
    pub(crate) fn begin(list: &Arc<RunningKernels>, location: Location) -> Self {
        Self {
            number: list.begin(location),
            list: Arc::clone(list),
        }
    }
}

impl Drop for RunningKernel {
    #[cold]
    fn drop(&mut self) {
        self.list.end(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExecutionContext, HostContext, RequestContextBuilder};

    #[derive(Debug)]
    struct Program;

    impl LocationSource for Program {
        fn place(&self, token: u32) -> Place {
            Place::Text(format!("node {token}").into())
        }

        fn debug_name(&self, _: u32) -> Option<String> {
            None
        }
    }

    #[test]
    fn the_innermost_kernel_is_named_and_else_the_last_one() {
        let request = RequestContextBuilder::new(HostContext::builder().build());
        let request = request.watch_kernels().build();
        let ctx = ExecutionContext::new(Arc::clone(&request)).for_callee(Arc::new(Program));
        let place = || request.running_place().to_string();
        assert_eq!(place(), "UnknownLocation");
        let outer = ctx.enter_kernel(1);
        let inner = ctx.enter_kernel(2);
        assert_eq!(place(), "node 2");
        drop(inner);
        assert_eq!(place(), "node 1");
        // A kernel whose work goes on elsewhere ends later than one that began after it.
        let later = ctx.enter_kernel(3);
        drop(outer);
        assert_eq!(place(), "node 3");
        drop(later);
        assert_eq!(place(), "node 3");
    }

    #[test]
    fn a_request_keeps_no_list_unless_it_is_asked_to() {
        let request = RequestContextBuilder::new(HostContext::builder().build()).build();
        let ctx = ExecutionContext::new(Arc::clone(&request)).for_callee(Arc::new(Program));
        assert!(ctx.enter_kernel(7).is_none());
        assert_eq!(ctx.location_token(), 7);
        assert_eq!(request.running_place().to_string(), "UnknownLocation");
    }
}
