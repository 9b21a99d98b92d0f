//! The state of one thread of a block.

use crate::module::Function;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Ready,
    /// At an operation of its warp.
    Warp,
    /// At a barrier, which waits for this number of threads, or for all.
    Barrier {
        id: u32,
        num_threads: Option<u32>,
    },
    Done,
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) pc: u32,
    /// The start of its registers, parameters and local memory.
    pub(super) registers: usize,
    pub(super) params: usize,
    pub(super) local: usize,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) position: [u32; 3],
    pub(super) index: u32,
    pub(super) state: State,
    pub(super) frame: Frame,
    pub(super) callers: Vec<Frame>,
    pub(super) registers: Vec<u64>,
    pub(super) params: Vec<u8>,
    pub(super) local: Vec<u8>,
    /// Its predicate at a barrier that gathers them.
    pub(super) vote: bool,
}

impl Thread {
    pub(super) fn new(index: u32, position: [u32; 3]) -> Self {
        let (frame, callers) = (Frame::default(), Vec::new());
        let (registers, params, local) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            position,
            index,
            state: State::Done,
            frame,
            callers,
            registers,
            params,
            local,
            vote: false,
        }
    }

    pub(super) fn start(&mut self, kernel: u32, function: &Function, parameters: &[u8]) {
        self.state = State::Ready;
        self.frame = Frame {
            function: kernel,
            ..Frame::default()
        };
        self.callers.clear();
        self.registers.clear();
        self.registers.resize(function.num_registers, 0);
        self.params.clear();
        self.params.extend_from_slice(parameters);
        self.params
            .resize(function.param_bytes.max(parameters.len()), 0);
        self.local.clear();
        self.local.resize(function.local_bytes, 0xaa);
    }

    /// Returns which thread of its warp it is.
    pub(super) fn lane(&self) -> u32 {
        self.index & 31
    }

    /// Bytes that it holds.
    pub(super) fn num_bytes(&self) -> usize {
        self.registers.len() * 8 + self.params.len() + self.local.len()
    }

    #[inline]
    pub(super) fn set(&mut self, to: Option<u32>, value: u64) {
        if let Some(register) = to {
            self.registers[self.frame.registers + register as usize] = value;
        }
    }
}
