//! The C ABI: pointers of callers, statuses, and the macro that exports functions.

use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use tfrt_gpu::api::{DevicePtr, GpuError, GpuResult, Status};

use crate::emulator::{Emulator, emulator};

/// A pointer to a result. Values exist only as arguments of C functions, so A1 holds for them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Returns the pointer of a caller in this crate's tests.
    #[cfg(test)]
    pub(crate) fn to(result: &mut T) -> Self {
        Self(result)
    }

    /// Likewise.
    #[cfg(test)]
    pub(crate) fn from_raw(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// Writes the result.
    pub(crate) fn set(self, call: &'static str, value: T) -> GpuResult<()> {
        if self.0.is_null() {
            return Err(null(call));
        }
        // SAFETY: A1, and the pointer is not null.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }
}

/// A pointer to values that a function reads. Values exist only as arguments of C functions, so A1
/// holds for them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Reads the value at an index.
    pub(crate) fn get(self, call: &'static str, index: usize) -> GpuResult<T> {
        if self.0.is_null() {
            return Err(null(call));
        }
        // SAFETY: A1; the caller has passed more than `index` values.
        let place = unsafe { self.0.add(index) };
        // SAFETY: as above.
        Ok(unsafe { place.read_unaligned() })
    }

    /// Reads the first values.
    pub(crate) fn list(self, call: &'static str, len: usize) -> GpuResult<Vec<T>> {
        (0..len).map(|index| self.get(call, index)).collect()
    }

    /// Returns `true` if there is nothing to read.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns values at an address that was read from an argument, for which A1 holds likewise.
    pub(crate) fn at(address: u64) -> Self {
        Self(ptr::with_exposed_provenance(address as usize))
    }

    /// Returns the same address, for values of another type.
    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }
}

impl In<u8> {
    /// Reads the bytes before the first NUL.
    pub(crate) fn text(self, call: &'static str) -> GpuResult<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            match self.get(call, bytes.len())? {
                0 => return Ok(bytes),
                byte => bytes.push(byte),
            }
        }
    }
}

/// Reads memory of the caller at an address that was an argument, or lies in one.
pub(crate) fn read_host(address: u64, num_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; num_bytes];
    let from = ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: A1; both ranges have so many bytes, and the second one is new.
    unsafe { ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), num_bytes) };
    bytes
}

/// Writes memory of the caller, likewise.
pub(crate) fn write_host(address: u64, bytes: &[u8]) {
    let to = ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: A1; both ranges have so many bytes, and `bytes` belongs to this library.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Returns a device address as the host device knows it.
pub(crate) fn device(address: u64) -> DevicePtr {
    // SAFETY: the host device looks addresses up among its blocks, and accesses nothing else.
    unsafe { DevicePtr::from_raw(address) }
}

#[cold]
fn null(call: &'static str) -> GpuError {
    GpuError::new(call, Status::INVALID_VALUE).with_details("a pointer is null")
}

/// A library, by the statuses that its functions return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Driver,
    Blas,
    Dnn,
    Solver,
    Fft,
    Ccl,
}

impl Library {
    /// Returns the status of an error; one of another library is a failed execution.
    fn code(self, status: Status) -> u32 {
        match (self, status) {
            (Self::Driver, Status::Driver(code))
            | (Self::Blas, Status::Blas(code))
            | (Self::Dnn, Status::Dnn(code))
            | (Self::Solver, Status::Solver(code))
            | (Self::Fft, Status::Fft(code))
            | (Self::Ccl, Status::Ccl(code)) => code,
            (library, _) => library.failed(),
        }
    }

    /// Returns the status of a failed execution.
    fn failed(self) -> u32 {
        match self {
            Self::Driver => 999,
            Self::Blas => 13,
            Self::Dnn => 5000,
            Self::Solver | Self::Fft => 6,
            Self::Ccl => 1,
        }
    }
}

/// Runs the body of a function, and returns its status.
pub(crate) fn run(
    library: Library,
    symbol: &'static str,
    body: impl FnOnce(&'static Emulator) -> GpuResult<()>,
) -> u32 {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let emulator = emulator();
        let result = body(emulator);
        let code = result
            .as_ref()
            .map_or_else(|error| library.code(error.status), |()| 0);
        emulator.log(symbol, code, result.err());
        code
    }));
    result.unwrap_or_else(|_| {
        // `eprintln!` would panic if standard error is closed.
        let _ = writeln!(io::stderr(), "emulated CUDA: `{symbol}` panicked");
        library.failed()
    })
}

/// Exports C functions. The body has the emulator and the symbol, and returns a result.
macro_rules! exports {
    ($library:ident: $(
        fn $name:ident($($argument:ident: $ty:ty),* $(,)?) |$emulator:ident, $call:ident| $body:block
    )*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $ty),*) -> std::ffi::c_uint {
            const $call: &str = stringify!($name);
            $crate::abi::run($crate::abi::Library::$library, $call, |$emulator| $body)
        }
    )*};
}

pub(crate) use exports;
