//! A device for tests: a program, its memory, and arguments by value.
#![allow(dead_code, reason = "each test target uses a part of it")]

use tfrt_ptx::{Arena, Fault, Launch, Memory, Module, Program, Report};

pub struct Device {
    pub memory: Arena,
    pub program: Program,
}

/// A value of a kernel's parameter.
#[derive(Clone)]
pub enum Arg {
    Address(u64),
    I32(i32),
    I64(i64),
    F32(f32),
    Bytes(Vec<u8>),
}

/// Numbers that memory holds.
pub trait Number: Copy {
    const SIZE: usize;
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            const SIZE: usize = size_of::<$ty>();
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}
numbers!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

impl Device {
    pub fn load(text: &str) -> Self {
        let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let mut memory = Arena::new();
        let program = Program::place(module, |variable| {
            Some(memory.allocate(variable.size() as usize))
        })
        .unwrap();
        program.initialise(&mut memory).unwrap();
        Self { memory, program }
    }

    pub fn upload<T: Number>(&mut self, values: &[T]) -> u64 {
        let address = self.memory.allocate(values.len() * T::SIZE);
        self.write(address, values);
        address
    }

    pub fn write<T: Number>(&mut self, address: u64, values: &[T]) {
        let mut bytes = Vec::new();
        values.iter().for_each(|value| value.write(&mut bytes));
        self.memory.write(address, &bytes).unwrap();
    }

    pub fn download<T: Number>(&mut self, address: u64, len: usize) -> Vec<T> {
        let mut bytes = vec![0; len * T::SIZE];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(T::SIZE).map(T::read).collect()
    }

    pub fn try_run(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[Arg],
    ) -> Result<Report, Fault> {
        let id = self
            .program
            .module()
            .kernel(kernel)
            .unwrap_or_else(|| panic!("no kernel {kernel}"));
        let places = self.program.module().parameters(id);
        assert_eq!(places.len(), args.len(), "{kernel}");
        let mut parameters = vec![0; places.last().map_or(0, |last| last.offset + last.size)];
        for (place, arg) in places.iter().zip(args) {
            let bytes = match arg {
                Arg::Address(value) => value.to_le_bytes().to_vec(),
                Arg::I64(value) => value.to_le_bytes().to_vec(),
                Arg::I32(value) => value.to_le_bytes().to_vec(),
                Arg::F32(value) => value.to_le_bytes().to_vec(),
                Arg::Bytes(bytes) => bytes.clone(),
            };
            parameters[place.offset..place.offset + place.size].copy_from_slice(&bytes);
        }
        let launch = Launch {
            dynamic_shared: shared,
            max_steps: 100_000_000,
            ..Launch::new(grid, block, &parameters)
        };
        self.program.launch(id, &launch, &mut self.memory)
    }

    pub fn run(
        &mut self,
        kernel: &str,
        grid: u32,
        block: u32,
        shared: u32,
        args: &[Arg],
    ) -> Report {
        self.try_run(kernel, [grid, 1, 1], [block, 1, 1], shared, args)
            .unwrap_or_else(|fault| panic!("{fault}"))
    }
}

/// Random bits, from a fixed seed.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// Numbers from -2 to 2.
    pub fn floats(&mut self, len: usize) -> Vec<f32> {
        (0..len)
            .map(|_| (self.bits() >> 40) as f32 / (1 << 22) as f32 - 2.0)
            .collect()
    }
}
