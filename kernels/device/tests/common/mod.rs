//! Runs device functions as PTX, and makes numbers for them.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

use tfrt_device::kernel::{FunctionKernel, KernelForm};
use tfrt_device::ptx::{self, GpuTarget, LaunchForm, OperandLayout};
use tfrt_device::tree::{Function, Scalar, ToValue};
use tfrt_ptx::{Arena, Launch, Memory, Module, Program};

/// The path that expansions in tests name.
pub mod device {
    pub use tfrt_device::__private;
}

/// A generator of random numbers: SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// A type of device functions.
pub trait Number: Copy + ToValue + std::fmt::Debug + 'static {
    const TY: Scalar;
    const EDGES: &'static [Self];
    fn of_bits(bits: u64) -> Self;
}

macro_rules! numbers {
    ($($ty:ident $variant:ident |$bits:ident| $of:expr, $edges:expr;)+) => {$(
        impl Number for $ty {
            const TY: Scalar = Scalar::$variant;
            const EDGES: &'static [Self] = &$edges;
            fn of_bits($bits: u64) -> Self {
                $of
            }
        }
    )+};
}

numbers! {
    bool Bool |bits| bits & 1 == 1, [false, true];
    i32 I32 |bits| bits as i32, [0, 1, -1, 2, 31, 32, 33, 1000, -7, i32::MIN, i32::MIN + 1, i32::MAX];
    u32 U32 |bits| bits as u32, [0, 1, 2, 31, 32, 33, 1 << 31, u32::MAX];
    i64 I64 |bits| bits as i64, [0, 1, -1, 2, 63, 64, 65, -7, 1 << 32, i64::MIN, i64::MIN + 1, i64::MAX];
    u64 U64 |bits| bits, [0, 1, 2, 63, 64, 65, 1 << 32, 1 << 63, u64::MAX];
    f32 F32 |bits| f32::from_bits(bits as u32), [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-3, 88.7, -103.9, 1e10, 3e9, -3e9, 1e20,
        f32::MIN_POSITIVE, -f32::MIN_POSITIVE, 1e-45, -1e-45, f32::MAX, f32::MIN, f32::INFINITY,
        f32::NEG_INFINITY, f32::NAN, 8388607.5, 2147483648.0, -2147483648.0, 4294967296.0,
    ];
    f64 F64 |bits| f64::from_bits(bits), [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-3, 709.7, -745.0, 1e10, 1e300, 9.3e18,
        f64::MIN_POSITIVE, 5e-324, -5e-324, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY,
        f64::NAN, 4503599627370495.5, 2147483648.0, -9223372036854775808.0, 18446744073709551616.0,
    ];
}

/// Returns edge cases and random numbers: small ones, and any bits.
pub fn sample<T: Number>(random: &mut Random, index: usize) -> T {
    if let Some(edge) = T::EDGES.get(index) {
        return *edge;
    }
    match random.below(4) {
        0 => T::EDGES[random.below(T::EDGES.len())],
        1 => T::of_bits(random.next()),
        _ => {
            let small = (random.next() >> 11) as f64 / (1_u64 << 53) as f64 * 20.0 - 10.0;
            match T::TY {
                Scalar::F32 => T::of_bits(u64::from((small as f32).to_bits())),
                Scalar::F64 => T::of_bits(small.to_bits()),
                _ => T::of_bits(small as i64 as u64),
            }
        }
    }
}

/// Returns a kernel that applies a function to each element.
pub fn elementwise(function: &'static Function) -> &'static FunctionKernel {
    Box::leak(Box::new(FunctionKernel {
        name: "test.kernel",
        form: KernelForm::Elementwise,
        function,
    }))
}

/// Runs a function on the interpreter of PTX for columns of operands, as bits.
pub fn run(function: &'static Function, columns: &[Vec<u64>]) -> Vec<u64> {
    let kernel = elementwise(function);
    let form = LaunchForm::Elementwise(vec![OperandLayout::Linear; columns.len()]);
    let target = GpuTarget::for_capability(9, 0).unwrap();
    let text = ptx::emit(kernel, &form, target).unwrap();
    write_for_assembler(kernel, function.name, &form);
    let count = columns[0].len();
    let tys: Vec<Scalar> = function
        .parameters
        .iter()
        .map(|parameter| parameter.ty)
        .collect();
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = Program::place(module, |_| None).unwrap();
    let entry = program.module().kernel(&ptx::entry_name(kernel)).unwrap();
    let mut memory = Arena::new();
    let result_size = function.result.size_bytes();
    let result = memory.allocate(count * result_size);
    let mut parameters = (count as u64).to_le_bytes().to_vec();
    parameters.extend(result.to_le_bytes());
    for (column, ty) in columns.iter().zip(&tys) {
        let size = ty.size_bytes();
        let address = memory.allocate(count * size);
        let bytes: Vec<u8> = column
            .iter()
            .flat_map(|bits| bits.to_le_bytes()[..size].to_vec())
            .collect();
        memory.write(address, &bytes).unwrap();
        parameters.extend(address.to_le_bytes());
    }
    let blocks = count.div_ceil(256) as u32;
    let launch = Launch::new([blocks, 1, 1], [256, 1, 1], &parameters);
    if let Err(fault) = program.launch(entry, &launch, &mut memory) {
        panic!("{fault}\n{text}");
    }
    let mut bytes = vec![0; count * result_size];
    memory.read(result, &mut bytes).unwrap();
    bytes
        .chunks(result_size)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..result_size].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect()
}

/// Writes the text for each architecture into the folder `TFRT_PTX_FOLDER`, if it is set, for
/// `ptxas.sh`.
pub fn write_for_assembler(kernel: &FunctionKernel, name: &str, form: &LaunchForm) {
    let Some(folder) = std::env::var_os("TFRT_PTX_FOLDER") else {
        return;
    };
    let form_name: String = format!("{form:?}")
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char
            } else {
                '_'
            }
        })
        .collect();
    for (major, minor) in [(7, 0), (7, 5), (8, 0), (8, 6), (9, 0), (10, 0)] {
        let target = GpuTarget::for_capability(major, minor).unwrap();
        let text = ptx::emit(kernel, form, target).unwrap();
        let ty = kernel.function.result;
        let file = format!("{name}-{ty}-{form_name}.sm_{major}{minor}.ptx");
        std::fs::write(std::path::Path::new(&folder).join(file), text).unwrap();
    }
}

/// Returns bits in which all NaNs are one.
pub fn canonical(ty: Scalar, bits: u64) -> u64 {
    match ty {
        Scalar::F32 if f32::from_bits(bits as u32).is_nan() => 0x7fff_ffff,
        Scalar::F64 if f64::from_bits(bits).is_nan() => 0x7fff_ffff_ffff_ffff,
        _ => bits,
    }
}

/// Compares a device function on the processor with its PTX, for edge cases and random numbers.
#[macro_export]
macro_rules! check {
    ($function:path, ($($operand:ident: $ty:ty),+)) => {{
        use tfrt_device::tree::{DeviceFunction, ToValue};
        let function = <$function as DeviceFunction>::FUNCTION;
        let mut random = $crate::common::Random(7);
        let mut columns: Vec<Vec<u64>> = Vec::new();
        let count = 1500;
        let edges: &[usize] = &[$(<$ty as $crate::common::Number>::EDGES.len()),+];
        let mut expected = Vec::new();
        let mut spacing = 1;
        let mut position = 0;
        $(
            // All combinations of edge cases first.
            let len = edges[position];
            let $operand: Vec<$ty> = (0..count)
                .map(|row| {
                    let edge = row / spacing % len;
                    let all: usize = edges.iter().product();
                    $crate::common::sample(&mut random, if row < all { edge } else { usize::MAX })
                })
                .collect();
            columns.push($operand.iter().map(|x| x.to_value().bits).collect());
            spacing *= len;
            position += 1;
        )+
        let _ = (spacing, position);
        for row in 0..count {
            expected.push($function($($operand[row]),+).to_value());
        }
        let found = $crate::common::run(function, &columns);
        for row in 0..count {
            let ty = expected[row].ty;
            let (cpu, gpu) = (
                $crate::common::canonical(ty, expected[row].bits),
                $crate::common::canonical(ty, found[row]),
            );
            assert!(
                cpu == gpu,
                "{}{:?}: {cpu:#x} on the processor, {gpu:#x} on the device",
                function.name,
                ($($operand[row],)+)
            );
        }
    }};
}
